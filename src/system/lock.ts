/**
 * A lock between processes of one machine, of containers, or of machines that share a folder. It has one
 * holder at a time, and no process holds it after its own end.
 * `PATH/HOLDER/`: the lock is held, by the process that the folder's name describes.
 * `PATH/HOLDER/beat`: a number that goes up while the holder of a long lock lives.
 * `PATH.HOLDER/`: a process is about to take the lock, or has just given it back.
 * The lock is taken by a rename of PATH.HOLDER to PATH: a folder can replace an empty folder or none, in one
 * step, and no other. The name of a HOLDER never comes again, so taking the lock from a dead holder cannot
 * take it from another. A stalled process that has lost the lock finds its folder gone, with its files.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { errorCode } from './file-faults.ts'
import { randomName } from './random-name.ts'
import { startThread } from './thread.ts'

const LOOK_AGAIN_MS = 20
/** A holder that cannot be asked counts as dead after this without a heartbeat (one a second). */
const QUIET_MS = 20_000
/** A PATH.HOLDER of this age was left by a process that died: taking and giving back are far shorter. */
const LEFTOVER_MS = 600_000

const HEARTBEAT_FILE = 'beat'

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
  const taking = new Taking(path, options)
  for (;;) {
    const taken = taking.attempt()
    if (taken !== null) return taken
    Atomics.wait(pause, 0, 0, LOOK_AGAIN_MS)
  }
}

/** As {@link lock}, without blocking. */
export async function lockInTurn(path: string, options: LockOptions): Promise<Lock> {
  const taking = new Taking(path, options)
  for (;;) {
    const taken = taking.attempt()
    if (taken !== null) return taken
    await setTimeout(LOOK_AGAIN_MS)
  }
}

class Taking {
  readonly #path: string
  readonly #options: LockOptions
  readonly #own = nameOf(self())
  #sign = ''
  #hasMoved = false
  #waitedMs = 0
  /** Time without a new heartbeat. */
  #quietMs = 0
  #lookedAt = performance.now()

  constructor(path: string, options: LockOptions) {
    this.#path = path
    this.#options = options
  }

  /** Null: try again in a moment. @throws LockError */
  attempt(): Lock | null {
    try {
      if (takePlace(this.#path, this.#own))
        return held(this.#path, this.#own, this.#options.longWork === true)
      if (this.#isWorthWaiting()) return null
    } catch (error) {
      discard(waitingPlace(this.#path, this.#own))
      throw error
    }
    discard(waitingPlace(this.#path, this.#own))
    throw new LockError(`${this.#path}: held by another process${holderText(this.#path)}`)
  }

  #isWorthWaiting(): boolean {
    const { patienceMs, quietMs = QUIET_MS } = this.#options
    const now = performance.now()
    // A look that comes late, as after a sleep of this machine, has not seen the time in between.
    const passed = Math.min(now - this.#lookedAt, 2 * LOOK_AGAIN_MS)
    this.#lookedAt = now
    this.#waitedMs += passed
    const holders = entriesOf(this.#path)
    const sign = holders.map((holder) => `${holder} ${heartbeatOf(join(this.#path, holder))}`).join('\n')
    if (sign !== this.#sign) {
      this.#hasMoved ||= this.#sign !== ''
      this.#sign = sign
      this.#quietMs = 0
    } else this.#quietMs += passed
    const lives = holders.map((holder) => lifeOf(holder))
    for (const [i, life] of lives.entries()) {
      if (life === 'dead' || (life === 'unknown' && this.#quietMs >= quietMs))
        takeAway(this.#path, holders[i])
    }
    const mayBeDead = !this.#hasMoved && lives.includes('unknown')
    return mayBeDead || this.#waitedMs < patienceMs
  }
}

/** One thread beats for all locks: the thread that works may be busy for minutes. */
class Heartbeats {
  #thread: Worker | null = null

  add(file: string): void {
    this.#thread ??= this.#start()
    this.#thread.postMessage({ add: file })
  }

  remove(file: string): void {
    this.#thread?.postMessage({ remove: file })
  }

  #start(): Worker {
    const thread = startThread(new URL('./lock-heartbeat', import.meta.url), null)
    thread.unref()
    // Without a heartbeat another process takes the lock after a while, and this one then finds it gone.
    thread.on('error', () => {})
    return thread
  }
}

const HEARTBEATS = new Heartbeats()

// --- The folders ---

/** @returns whether the lock is ours now. @throws LockError where nobody can have it */
function takePlace(path: string, own: string): boolean {
  const waiting = waitingPlace(path, own)
  try {
    const folder = statSync(dirname(path))
    makeFolder(waiting, folder)
    makeFolder(join(waiting, own), folder)
    renameSync(waiting, path)
    return true
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false
    // Another process has taken this one for dead and removed its folder.
    if (code === 'ENOENT' && existsSync(dirname(path))) return false
    throw new LockError(
      code === 'ENOTDIR'
        ? `${path}: is not a lock of this version; remove it when no other process works there`
        : `${path}: cannot be written (${code})`,
    )
  }
}

/** Whoever may write next to the lock may take the folder over: it gets the rights of `like`. */
function makeFolder(folder: string, like: Stats): void {
  try {
    mkdirSync(folder)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return
    throw error
  }
  if (process.geteuid?.() === 0) chownSync(folder, like.uid, like.gid)
  chmodSync(folder, like.mode & 0o777)
}

function waitingPlace(path: string, holder: string): string {
  return `${path}.${holder}`
}

function held(path: string, own: string, isLong: boolean): Lock {
  const folder = join(path, own)
  const heartbeat = join(folder, HEARTBEAT_FILE)
  if (isLong) {
    // On a full disk the work fails too, and reports it.
    try {
      writeFileSync(heartbeat, '')
      HEARTBEATS.add(heartbeat)
    } catch {}
  }
  removeLeftovers(path)
  return {
    folder,
    isHeld: () => existsSync(folder),
    release() {
      HEARTBEATS.remove(heartbeat)
      takeAway(path, own)
      try {
        rmdirSync(path)
      } catch {
        // Another process has the lock by now.
      }
    },
  }
}

/** Does nothing where `holder` does not have the lock. */
function takeAway(path: string, holder: string): void {
  const away = waitingPlace(path, nameOf(self()))
  try {
    renameSync(join(path, holder), away)
  } catch {
    return
  }
  discard(away)
}

function discard(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // A later holder removes it.
  }
}

/** Removes what processes left behind that died while they took the lock or gave it back. */
function removeLeftovers(path: string): void {
  const prefix = `${basename(path)}.`
  const folder = dirname(path)
  // By the clock of the file system, as the times of the folders are.
  const now = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  for (const entry of entriesOf(folder)) {
    if (!entry.startsWith(prefix)) continue
    const holder = entry.slice(prefix.length)
    if (readName(holder) === null) continue
    const place = join(folder, entry)
    const made = statSync(place, { throwIfNoEntry: false })?.mtimeMs ?? now
    if (lifeOf(holder) === 'dead' || now - made > LEFTOVER_MS) discard(place)
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

// --- Who holds it ---

interface Process {
  pid: number
  /** Kernel ticks since boot at its start; empty without a /proc. */
  start: string
  /** Number of its pid namespace. */
  space: string
  boot: string
  host: string
}

let known: Process | null = null

function self(): Process {
  return (known ??= {
    pid: process.pid,
    start: statOf(process.pid)?.start ?? '',
    space: firstMatch(/\d+/, () => readlinkSync('/proc/self/ns/pid')),
    boot: firstMatch(/^[0-9a-f-]+/, () => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')),
    host: hostname()
      .replaceAll(/[^A-Za-z0-9-]/g, '_')
      .slice(0, 40),
  })
}

function firstMatch(pattern: RegExp, read: () => string): string {
  try {
    return pattern.exec(read())?.[0] ?? ''
  } catch {
    return ''
  }
}

function nameOf({ pid, start, space, boot, host }: Process): string {
  return [pid, start, space, boot, host, randomName()].join('.')
}

const NAME = /^([1-9]\d{0,9})\.(\d*)\.(\d*)\.([0-9a-f-]*)\.([A-Za-z0-9_-]*)\.[0-9a-f]{16}$/

function readName(name: string): Process | null {
  const match = NAME.exec(name)
  if (match === null) return null
  const [, pid, start, space, boot, host] = match
  return { pid: Number(pid), start, space, boot, host }
}

/** Only processes of this pid namespace and boot are known: elsewhere a number is another process. */
function lifeOf(holder: string): 'alive' | 'dead' | 'unknown' {
  const other = readName(holder)
  const { space, boot } = self()
  if (other === null || space === '' || boot === '' || other.space !== space || other.boot !== boot) {
    return 'unknown'
  }
  try {
    process.kill(other.pid, 0)
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return 'dead'
  }
  const now = statOf(other.pid)
  if (now === null || other.start === '') return 'unknown'
  // Another process may have the number by now. A killed one keeps it until its parent has looked.
  return now.start !== other.start || now.state === 'Z' || now.state === 'X' ? 'dead' : 'alive'
}

/** Fields 3 and 22 of proc(5). The name before them is in brackets and may hold blanks. */
function statOf(pid: number): { state: string; start: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', start: fields[19] ?? '' }
  } catch {
    return null
  }
}

function holderText(path: string): string {
  const holder = readName(entriesOf(path)[0] ?? '')
  if (holder === null) return ''
  const { pid, host, space, boot } = holder
  const where = space === self().space && boot === self().boot ? '' : ' of another container or machine'
  return ` (${pid} on ${host}${where})`
}

// --- Heartbeats ---

function heartbeatOf(folder: string): string {
  try {
    // Opened anew: a network file system may answer questions about a name from its memory for a while.
    const file = openSync(join(folder, HEARTBEAT_FILE), 'r')
    try {
      return readFileSync(file, 'latin1')
    } finally {
      closeSync(file)
    }
  } catch {
    return ''
  }
}
