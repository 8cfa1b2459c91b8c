/**
 * A lock between processes of one machine, of containers, or of machines that share a folder. It has one holder at a
 * time, and fences: a process that stood still and lost the lock cannot put anything in place afterwards.
 * `PATH/HOLDER/`: the lock is held, by the process that the folder's name describes.
 * `PATH/HOLDER/beat`: a number that goes up while the holder of a long lock lives.
 * `PATH.HOLDER/`: a process is about to take the lock, or has just given it back.
 * The lock is taken by a rename of PATH.HOLDER to PATH: a folder can replace an empty folder or none, and no other. The
 * name of a HOLDER never comes again, so taking the lock from a dead holder cannot take it from another.
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
import { basename, dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { errorCode } from './file-faults.ts'
import { randomName } from './replace-file.ts'
import { startThread } from './thread.ts'

const LOOK_AGAIN_MS = 20
/** A holder that cannot be asked counts as dead after this without a heartbeat (one a second). */
const QUIET_MS = 20_000
/** A PATH.HOLDER of this age was left by a process that died: taking and giving back are far shorter. */
const LEFTOVER_MS = 600_000

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
  isHeld(): boolean
  release(): void
}

export interface LockOptions {
  /** The wait for a holder that lives. One that cannot be asked counts as dead after `quietMs` in silence. */
  readonly patienceMs: number
  /** Whether the lock is held for seconds or more, whatever the event loop is busy with. */
  readonly longWork?: boolean
  readonly quietMs?: number
}

/** Blocks the thread while it waits. @throws LockError */
export function lock(path: string, options: LockOptions): Lock {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  const attempt = attemptsAt(path, options)
  for (;;) {
    const taken = attempt()
    if (taken !== null) return taken
    Atomics.wait(pause, 0, 0, LOOK_AGAIN_MS)
  }
}

/** As {@link lock}, without blocking. */
export async function lockInTurn(path: string, options: LockOptions): Promise<Lock> {
  const attempt = attemptsAt(path, options)
  for (;;) {
    const taken = attempt()
    if (taken !== null) return taken
    await setTimeout(LOOK_AGAIN_MS)
  }
}

/** What takes the lock, or says null: try again in a moment. @throws LockError */
function attemptsAt(path: string, options: LockOptions): () => Lock | null {
  const { patienceMs, longWork = false, quietMs = QUIET_MS } = options
  const own = newName()
  let [sign, hasMoved, waitedMs, silentMs, lookedAt] = ['', false, 0, 0, performance.now()]
  const isWorthWaiting = (): boolean => {
    const now = performance.now()
    // A look that comes late, as after a sleep of this machine, has not seen the time in between.
    const passed = Math.min(now - lookedAt, 2 * LOOK_AGAIN_MS)
    lookedAt = now
    waitedMs += passed
    const [holder = ''] = entriesOf(path)
    const seen = `${holder} ${textOf(join(path, holder, 'beat'))}`
    hasMoved ||= sign !== '' && seen !== sign
    silentMs = seen === sign ? silentMs + passed : 0
    sign = seen
    const life = holder === '' ? 'dead' : lifeOf(holder)
    if (holder !== '' && (life === 'dead' || (life === 'unknown' && silentMs >= quietMs)))
      takeAway(path, holder)
    return (life === 'unknown' && !hasMoved) || waitedMs < patienceMs
  }
  return () => {
    try {
      if (takePlace(path, own)) return held(path, own, longWork)
      if (isWorthWaiting()) return null
    } catch (error) {
      discard(`${path}.${own}`)
      throw error
    }
    discard(`${path}.${own}`)
    throw new LockError(`${path}: held by another process${holderText(path)}`)
  }
}

/** @returns whether the lock is ours now. @throws LockError where nobody can have it */
function takePlace(path: string, own: string): boolean {
  const waiting = `${path}.${own}`
  try {
    // Whoever may write beside the lock may take its folders over.
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
    throw new LockError(`${path}: cannot be written (${code}); where it is no folder, remove it`)
  }
}

/** One thread beats for all locks: the thread that works may be busy for minutes. */
let heartbeats: Worker | null = null

function held(path: string, own: string, isLong: boolean): Lock {
  const folder = join(path, own)
  const beat = join(folder, 'beat')
  if (isLong) {
    // Without heartbeats another process takes the lock after a while, and this one then finds it gone.
    heartbeats ??= startThread(new URL('./lock-heartbeat', import.meta.url), null).on('error', () => {})
    heartbeats.unref()
    // On a full disk the work fails too, and reports it.
    orElse(null, () => writeFileSync(beat, ''))
    heartbeats.postMessage({ add: beat })
  }
  removeLeftovers(path)
  return {
    folder,
    isHeld: () => existsSync(folder),
    release() {
      if (isLong) heartbeats?.postMessage({ remove: beat })
      takeAway(path, own)
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

/** What cannot be removed now is removed by a later holder. */
function discard(folder: string): void {
  orElse(null, () => rmSync(folder, { recursive: true, force: true }))
}

/** Removes what processes left behind that died while they took the lock or gave it back. */
function removeLeftovers(path: string): void {
  const prefix = `${basename(path)}.`
  // By the clock of the file system, as the times of the folders are.
  const now = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  for (const entry of entriesOf(dirname(path))) {
    const holder = entry.slice(prefix.length)
    if (!entry.startsWith(prefix) || holder.split('.').length !== 5) continue
    const place = join(dirname(path), entry)
    const made = statSync(place, { throwIfNoEntry: false })?.mtimeMs ?? now
    if (lifeOf(holder) === 'dead' || now - made > LEFTOVER_MS) discard(place)
  }
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
  const host = hostname()
    .replaceAll(/[^A-Za-z0-9-]/g, '_')
    .slice(0, 40)
  return [process.pid, startOf(String(process.pid)), SPACE, host, randomName()].join('.')
}

function lifeOf(holder: string): 'alive' | 'dead' | 'unknown' {
  const [pid, start, space] = holder.split('.')
  if (SPACE === '' || space !== SPACE) return 'unknown'
  return startOf(pid) === start ? 'alive' : 'dead'
}

/** Fields 3 and 22 of proc(5): empty for a process that has ended, also where its parent has not looked yet. */
function startOf(pid: string): string {
  const stat = textOf(`/proc/${pid}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ['Z', 'X'].includes(fields[0]) ? '' : (fields[19] ?? '')
}

function holderText(path: string): string {
  const [pid, , space, host] = (entriesOf(path)[0] ?? '').split('.')
  if (host === undefined) return ''
  return ` (${pid} on ${host}${space === SPACE ? '' : ' of another container or machine'})`
}
