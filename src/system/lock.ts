/**
 * A lock between processes of one machine, of several containers, or of several machines that share a folder:
 * one holder at a time, and none that outlives its process.
 *
 *   PATH/HOLDER/          the lock is held; the folder's name says by whom
 *   PATH/HOLDER/beat      a number that goes up while a holder of long work lives
 *   PATH.HOLDER/          somebody is about to take the lock, or has just given it back
 *
 * A folder takes the place of an empty one or of none in one step, and of no other: so the lock is taken. Its
 * holder is named by a folder of a name that never comes again: so taking it from the dead cannot hit anybody
 * else. A process that stood still for so long that the lock was taken from it finds that folder gone, and
 * with it everything that it was about to rename from there into place.
 */
import { randomBytes } from 'node:crypto'
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
import { startThread } from './thread.ts'

const LOOK_AGAIN_MS = 20
/**
 * A holder that we cannot ask, in another container or on another machine, is taken for dead when it gives no
 * sign for so long. Beats come every second; the rest is for a disk or a machine that is slow.
 */
const QUIET_MS = 20_000
/** What somebody was about to take, or gave back, and then died over: nobody needs so long for either. */
const LEFTOVER_MS = 600_000

const BEAT_FILE = 'beat'

/** A lock that is held by somebody else, or cannot be made; the message names it. */
export class LockError extends Error {
  override name = 'LockError'
}

export interface Lock {
  /**
   * A folder of the holder's alone, beside what the lock guards. A file that is written here and then renamed
   * into its place comes there under the lock or not at all (ENOENT): who takes the lock over takes the
   * folder away first.
   */
  readonly folder: string
  /** Whether nobody has taken the lock over; for steps that are no renaming. */
  isHeld(): boolean
  /** Gives the lock back, if it is still ours. */
  release(): void
}

export interface LockOptions {
  /**
   * How long to wait for a holder that lives. One that cannot be asked is watched for `quietMs` before it is
   * taken for dead.
   */
  readonly patienceMs: number
  /** Whether the lock is held for seconds or more, whatever the event loop is busy with. */
  readonly longWork?: boolean
  readonly quietMs?: number
}

/** Takes the lock `path`. Blocks while it waits. @throws LockError */
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

/** A name that no other process has ever used. */
export function randomName(): string {
  return randomBytes(8).toString('hex')
}

/** The code of a fault of the file system (`ENOENT`), for messages. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}

/** One try at the lock, and what has been seen of its holder meanwhile. */
class Taking {
  readonly #path: string
  readonly #options: LockOptions
  readonly #own = nameOf(self())
  /** What the holder's last sign of life was. */
  #sign = ''
  #hasMoved = false
  #waitedMs = 0
  /** Without a sign of life. */
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
    // A look that comes late, as after a sleep of this machine, has not seen what was in between.
    const passed = Math.min(now - this.#lookedAt, 2 * LOOK_AGAIN_MS)
    this.#lookedAt = now
    this.#waitedMs += passed
    const holders = entriesOf(this.#path)
    const sign = holders.map((holder) => `${holder} ${beatOf(join(this.#path, holder))}`).join('\n')
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

// --- The folders ---

/** @returns whether the lock is ours now. @throws LockError where it can be nobody's. */
function takePlace(path: string, own: string): boolean {
  const waiting = waitingPlace(path, own)
  try {
    const beside = statSync(dirname(path))
    makeFolder(waiting, beside)
    makeFolder(join(waiting, own), beside)
    renameSync(waiting, path)
    return true
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false
    // Somebody tidied up, and took us for dead.
    if (code === 'ENOENT' && existsSync(dirname(path))) return false
    throw new LockError(
      code === 'ENOTDIR'
        ? `${path}: is no lock of this version; remove it when nothing else works there`
        : `${path}: cannot be written (${code})`,
    )
  }
}

/** Whoever may write beside the lock may take it over, whatever account and mask its holder had. */
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
  const beat = join(folder, BEAT_FILE)
  if (isLong) {
    // A disk that is full for a beat is so for the work too, which then says so.
    try {
      writeFileSync(beat, '')
      BEATS.add(beat)
    } catch {}
  }
  removeLeftovers(path)
  return {
    folder,
    isHeld: () => existsSync(folder),
    release() {
      BEATS.remove(beat)
      takeAway(path, own)
      try {
        rmdirSync(path)
      } catch {
        // Somebody else has it by now.
      }
    },
  }
}

/** Ends a holder's hold in one step; does nothing when it has none. */
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
    // Whoever holds the lock later removes it.
  }
}

/** Removes what others left who died while they waited for the lock or gave it back. */
function removeLeftovers(path: string): void {
  const prefix = `${basename(path)}.`
  const folder = dirname(path)
  // Of one file system's clock.
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
  /** Kernel ticks since boot at its start; empty where there is no /proc. */
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

/**
 * Whether a holder lives. Only of a process of our own pid namespace and boot can we know: the same number
 * stands for another process elsewhere, whatever the host is called.
 */
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
  // Its number may have gone to another process; and a killed one keeps it until its parent has looked.
  return now.start !== other.start || now.state === 'Z' || now.state === 'X' ? 'dead' : 'alive'
}

/**
 * proc(5): state is field 3 and start field 22; the name before them stands in brackets and may hold blanks.
 */
function statOf(pid: number): { state: string; start: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', start: fields[19] ?? '' }
  } catch {
    return null
  }
}

/** Who holds a lock, for a person who has to judge. */
function holderText(path: string): string {
  const holder = readName(entriesOf(path)[0] ?? '')
  if (holder === null) return ''
  const { pid, host, space, boot } = holder
  const where = space === self().space && boot === self().boot ? '' : ' of another container or machine'
  return ` (${pid} on ${host}${where})`
}

// --- Signs of life ---

function beatOf(folder: string): string {
  try {
    // Opened anew each time: a network file system may answer for a while from memory what is asked of a name
    // alone.
    const file = openSync(join(folder, BEAT_FILE), 'r')
    try {
      return readFileSync(file, 'latin1')
    } finally {
      closeSync(file)
    }
  } catch {
    return ''
  }
}

/** One thread beats for all locks of the process: the one that works may not come to it for minutes. */
class Beats {
  #thread: Worker | null = null

  add(file: string): void {
    this.#thread ??= this.#start()
    this.#thread.postMessage({ add: file })
  }

  remove(file: string): void {
    this.#thread?.postMessage({ remove: file })
  }

  #start(): Worker {
    const thread = startThread(new URL('./beat', import.meta.url), null)
    thread.unref()
    // Without beats others may take the lock in time, and this process then finds it gone.
    thread.on('error', () => {})
    return thread
  }
}

const BEATS = new Beats()
