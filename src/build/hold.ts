/**
 * The hold of a rollback: while `hold.json` lies in the folder, builds are kept but not published, until the
 * operator resumes. Written and removed under the builder's lock.
 *
 *   {"format":"groundswell-hold","version":1,"snapshot":ID,"since":"2026-03-27T12:00:00Z","after":N}
 */
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFileSync } from '../system/files.ts'
import { errorCode } from '../system/file-faults.ts'
import type { Lock } from '../system/lock.ts'
import { timestampText } from '../sea/time.ts'
import { lostLock, syncFolder, writeDurably } from '../snapshot/write.ts'

const HOLD_FILE = 'hold.json'

const FORMAT = 'groundswell-hold'
const MAX_BYTES = 4096

export interface Hold {
  /** Id of the snapshot that was published again; null where the file does not say. */
  snapshot: string | null
  /** As on the wire; null where the file does not say. */
  since: string | null
  /** Kept snapshots with a higher sequence number were built since. */
  after: number
}

/** Null when nothing is held. A file that cannot be understood holds too: only the operator ends a hold. */
export function readHold(dir: string): Hold | null {
  const unknown = { snapshot: null, since: null, after: Infinity }
  try {
    const { format, snapshot, since, after } = JSON.parse(
      readRegularFileSync(join(dir, HOLD_FILE), MAX_BYTES).toString('utf8'),
    ) as { [name: string]: unknown }
    const isHold =
      format === FORMAT &&
      typeof snapshot === 'string' &&
      typeof since === 'string' &&
      typeof after === 'number'
    return isHold ? { snapshot, since, after } : unknown
  } catch (error) {
    return errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR' ? null : unknown
  }
}

/** @param now epoch seconds */
export function writeHold(dir: string, snapshot: string, after: number, now: number, lock: Lock): void {
  const hold = { format: FORMAT, version: 1, snapshot, since: timestampText(Math.floor(now)), after }
  writeDurably(dir, HOLD_FILE, Buffer.from(`${JSON.stringify(hold)}\n`), lock.folder)
  syncFolder(dir)
}

/** @throws BuildError when the lock was taken over, and the hold may be another one's */
export function removeHold(dir: string, lock: Lock): void {
  const away = join(lock.folder, HOLD_FILE)
  try {
    renameSync(join(dir, HOLD_FILE), away)
  } catch (error) {
    if (!lock.isHeld()) throw lostLock(dir)
    if (errorCode(error) !== 'ENOENT') throw error
    return
  }
  rmSync(away, { force: true })
  syncFolder(dir)
}

/** What an operator has to know of a hold, to follow a snapshot's name. */
export function holdText({ since }: Hold, dir: string): string {
  return `held${since === null ? '' : ` since ${since}`} by a rollback, until: groundswell resume ${dir}`
}
