/**
 * A lock between processes of one machine, of containers, or of machines that share a folder. It has one
 * holder at a time, and fences: a process that stood still and lost the lock cannot put anything in place
 * afterwards. `PATH/HOLDER/`: the lock is held, by the process that the folder's name describes.
 * `PATH/HOLDER/beat`: a number that goes up while the holder lives.
 * `PATH.HOLDER/`: a process is about to take the lock, or has just given it back.
 * The lock is taken by a rename of PATH.HOLDER to PATH: a folder can replace an empty folder or none, and no
 * other. The name of a HOLDER never comes again, so taking the lock from a dead holder cannot take it from
 * another.
 */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { errorCode } from './file-faults.ts'
import { randomName } from './replace-file.ts'
import { finish, type Steps } from './steps.ts'
import { startThread } from './thread.ts'

const LOOK_AGAIN_MS = 20
/** A holder that cannot be asked counts as dead after this without a heartbeat (one a second). */
const QUIET_MS = 20_000

/** A lock that another process holds, or that cannot be made. The message names it. */
export class LockError extends Error {
  override name = 'LockError'
}

export interface Lock {
  /**
   * The holder's own folder. A file renamed from here into its place comes there under the lock or not at all
   * (ENOENT): whoever takes the lock over removes the folder first.
   */
  readonly folder: string
  /** Whether nobody has taken the lock over; for steps other than renaming. */
  readonly isHeld: () => boolean
  release(): void
}

export interface LockOptions {
  /**
   * The wait for a holder that lives. A holder that cannot be asked counts as dead after `quietMs` in
   * silence.
   */
  readonly patienceMs: number
  readonly quietMs?: number
}

/** Blocks the thread while it waits. @throws LockError */
export function lock(path: string, options: LockOptions): Lock {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  return finish(taking(path, options, () => Atomics.wait(pause, 0, 0, LOOK_AGAIN_MS)))
}

/** As {@link lock}, without blocking. */
export async function lockInTurn(path: string, options: LockOptions): Promise<Lock> {
  for (const attempts = taking(path, options); ; await setTimeout(LOOK_AGAIN_MS)) {
    const { done, value } = attempts.next()
    if (done === true) return value
  }
}

/** Each step is an attempt. @throws LockError */
function* taking(path: string, options: LockOptions, pause: () => unknown = () => {}): Steps<Lock> {
  const { patienceMs, quietMs = QUIET_MS } = options
  const own = newName()
  let [sign, hasMoved, waitedMs, silentMs, lookedAt] = ['', false, 0, 0, performance.now()]
  try {
    while (!takePlace(path, own)) {
      // A look that comes late, as after a sleep of this machine, has not seen the time in between.
      const passed = Math.min(performance.now() - lookedAt, 2 * LOOK_AGAIN_MS)
      lookedAt = performance.now()
      waitedMs += passed
      const [holder = ''] = entriesOf(path)
      const seen = `${holder} ${textOf(join(path, holder, 'beat'))}`
      hasMoved ||= sign !== '' && seen !== sign
      silentMs = seen === sign ? silentMs + passed : 0
      sign = seen
      const life = holder === '' ? 'alive' : lifeOf(holder)
      if (life === 'dead' || (life === 'unknown' && silentMs >= quietMs)) takeAway(path, holder)
      const isWorthWaiting = (life === 'unknown' && !hasMoved) || waitedMs < patienceMs
      const [pid, , , host] = holder.split('.')
      if (!isWorthWaiting) throw new LockError(`${path}: held by another process (${pid} on ${host ?? '?'})`)
      yield void pause()
    }
    return held(path, own)
  } catch (error) {
    discard(`${path}.${own}`)
    throw error
  }
}

/** @returns whether the lock is ours now. @throws LockError where nobody can have it */
function takePlace(path: string, own: string): boolean {
  const waiting = `${path}.${own}`
  try {
    // Everybody who may write beside the lock may take its folders over.
    const { uid, gid, mode } = statSync(dirname(path))
    for (const folder of [waiting, join(waiting, own)]) {
      if (existsSync(folder)) continue
      mkdirSync(folder)
      if (process.geteuid?.() === 0) chownSync(folder, uid, gid)
      chmodSync(folder, mode & 0o777)
    }
    renameSync(waiting, path)
    return true
  } catch (error) {
    const code = errorCode(error)
    // ENOENT: another process has taken this one for dead and removed its folder.
    if (['ENOTEMPTY', 'EEXIST'].includes(code) || (code === 'ENOENT' && existsSync(dirname(path))))
      return false
    throw new LockError(`${path}: cannot be written (${code}); if it is not a folder, remove it`)
  }
}

/** One thread beats for all locks: the thread that works may be busy for minutes. */
let heartbeats: ReturnType<typeof startThread> | null = null

function held(path: string, own: string): Lock {
  const folder = join(path, own)
  const beat = join(folder, 'beat')
  // Without heartbeats another process takes the lock after a while, and this one then finds it gone.
  heartbeats ??= startThread(new URL('./lock-heartbeat', import.meta.url), null).on('error', () => {})
  heartbeats.unref()
  // On a full disk the work fails too, and reports it.
  orElse(null, () => writeFileSync(beat, ''))
  heartbeats.postMessage({ add: beat })
  // Empty folders of processes that died while they took the lock or gave it back.
  const prefix = `${path}.`
  for (const entry of entriesOf(dirname(path)).map((name) => join(dirname(path), name))) {
    if (entry.startsWith(prefix) && lifeOf(entry.slice(prefix.length)) === 'dead') discard(entry)
  }
  return {
    folder,
    isHeld: () => existsSync(folder),
    release() {
      heartbeats?.postMessage({ remove: beat })
      takeAway(path, own)
      // A lock that could not be moved away would count as held while this process lives.
      discard(folder)
      // Another process may have the lock by now.
      orElse(null, () => rmdirSync(path))
    },
  }
}

/** Does nothing where `holder` does not have the lock. */
function takeAway(path: string, holder: string): void {
  const away = `${path}.${newName()}`
  orElse(null, () => renameSync(join(path, holder), away))
  discard(away)
}

/** A later holder removes what cannot be removed now. */
function discard(folder: string): void {
  orElse(null, () => rmSync(folder, { recursive: true, force: true }))
}

const entriesOf = (folder: string): string[] => orElse([], () => readdirSync(folder))
const textOf = (path: string): string => orElse('', () => readFileSync(path, 'latin1'))

function orElse<T>(otherwise: T, attempt: () => T): T {
  try {
    return attempt()
  } catch {
    return otherwise
  }
}

/** The pid namespace and the boot in which a pid means a process; empty where there is no /proc. */
const SPACE = orElse('', () => {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  return `${readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')}-${boot}`
})

/** A holder's name: pid, kernel ticks since boot at its start, space, host, and a random name. */
function newName(): string {
  const host = hostname().replaceAll(/[^\w-]/g, '_')
  return [process.pid, startOf(process.pid), SPACE, host, randomName()].join('.')
}

function lifeOf(holder: string): 'alive' | 'dead' | 'unknown' {
  const [pid, start, space] = holder.split('.')
  if (SPACE === '' || space !== SPACE) return 'unknown'
  return startOf(pid) === start ? 'alive' : 'dead'
}

/**
 * Fields 3 and 22 of proc(5): empty for a process that has ended, also where its parent has not looked yet.
 */
function startOf(pid: string | number): string {
  const stat = textOf(`/proc/${pid}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ['Z', 'X'].includes(fields[0]) ? '' : (fields[19] ?? '')
}
