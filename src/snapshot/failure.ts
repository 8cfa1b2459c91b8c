/**
 * Why the newest build of a folder failed, `failure.json`, for servers and `doctor`, until a build succeeds:
 *
 *   {"format":"groundswell-failure","version":1,"at":"2026-03-27T12:00:00Z","reason":"…"}
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { timestampText } from '../sea/time.ts'
import { readRegularFileSync } from '../system/regular-files.ts'
import { writeDurably } from './write-snapshot.ts'
import { mirroredSource } from './mirror/mark.ts'

const FAILURE_FILE = 'failure.json'
const FORMAT = 'groundswell-failure'
const MAX_BYTES = 16_384
/** Characters of a reason: messages of several sources may be long. */
const REASON_LENGTH = 2000

interface BuildFailure {
  /** The time as on the wire. */
  at: string
  reason: string
}

/** Null where the newest build succeeded, or left no reason that can be read. */
export function readFailure(dir: string): BuildFailure | null {
  try {
    const text = readRegularFileSync(join(dir, FAILURE_FILE), MAX_BYTES).toString('utf8')
    const { format, at, reason } = JSON.parse(text) as Partial<BuildFailure> & { format?: unknown }
    const isFailure = format === FORMAT && typeof at === 'string' && typeof reason === 'string'
    return isFailure ? { at, reason } : null
  } catch {
    return null
  }
}

/** Notes why a build failed, as far as the folder can be written to: the build has its own error. */
export function noteFailure(dir: string, reason: string, now: number): void {
  const failure = {
    format: FORMAT,
    version: 1,
    at: timestampText(Math.floor(now)),
    reason: reason.slice(0, REASON_LENGTH),
  }
  try {
    if (mirroredSource(dir) === null)
      writeDurably(dir, FAILURE_FILE, Buffer.from(`${JSON.stringify(failure)}\n`))
  } catch {
    // A missing folder, a full disk: the reason is in the log alone.
  }
}

export function clearFailure(dir: string): void {
  rmSync(join(dir, FAILURE_FILE), { force: true })
}
