/** A lock between processes: one holder at a time, and none that outlives its process. */
import { readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { hostname } from 'node:os'

const LOOK_AGAIN_MS = 20

/** A lock that is held by somebody else, or cannot be made; the message names it. */
export class LockError extends Error {
  override name = 'LockError'
}

/**
 * Takes the lock `path`; returns what gives it back. Waits up to `patienceMs` for another holder, and passes over one that
 * has died.
 *
 * The lock is a symbolic link whose target is no path but the text that says who holds it: made in one step, so
 * that a process killed at any moment leaves either no lock or one that names it.
 */
export function lock(path: string, patienceMs: number): () => void {
  const own = JSON.stringify({ pid: process.pid, host: hostname(), start: processStart(process.pid) })
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let waited = 0; !linked(path, own); waited += LOOK_AGAIN_MS) {
    if (waited >= patienceMs) throw new LockError(`${path}: held by another process${holderText(path)}`)
    if (isStale(path)) breakLock(path, own)
    Atomics.wait(pause, 0, 0, LOOK_AGAIN_MS)
  }
  return () => {
    rmSync(path, { force: true })
  }
}

function linked(path: string, text: string): boolean {
  try {
    symlinkSync(text, path)
    return true
  } catch (error) {
    const code = errorCode(error)
    if (code === 'EEXIST') return false
    throw new LockError(`${path}: cannot be written (${code})`)
  }
}

// Between finding a dead holder and removing its lock another process may have done the same and taken the lock
// itself. So removing is done under a second lock, after looking again. Nobody waits for that one: the loop comes
// round, and clears it too if the process that was breaking the first has died over it.
function breakLock(path: string, own: string): void {
  const breaking = `${path}.break`
  if (!linked(breaking, own)) {
    if (isStale(breaking)) rmSync(breaking, { force: true })
    return
  }
  try {
    if (isStale(path)) rmSync(path, { force: true })
  } finally {
    rmSync(breaking, { force: true })
  }
}

/** What a lock says of its holder; null when it cannot be read. */
function readHolder(path: string): { pid?: unknown; host?: unknown; start?: unknown } | null {
  try {
    const holder: unknown = JSON.parse(readlinkSync(path))
    return typeof holder === 'object' ? holder : null
  } catch {
    return null
  }
}

/** Who holds a lock, for a person who has to judge whether it is still wanted: a holder on another machine cannot be asked. */
function holderText(path: string): string {
  const holder = readHolder(path)
  return holder === null ? '' : ` (${String(holder.pid)} on ${String(holder.host)})`
}

// A lock that cannot be read is held: it has just been given back, or is for a person to judge.
function isStale(path: string): boolean {
  const holder = readHolder(path)
  if (holder === null) return false
  const { pid, host, start } = holder
  if (host !== hostname() || typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'ESRCH'
  }
  // The number may since have gone to another process, which started at another time.
  const now = processStart(pid)
  return typeof start === 'string' && start !== '' && now !== '' && now !== start
}

/** When a process started, in the kernel's ticks since boot; empty where there is no /proc. */
function processStart(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // proc(5): field 22; the fields after the name, which stands in brackets and may hold blanks, begin with
    // number 3.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

/** The code of a fault of the file system (`ENOENT`), for messages. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}
