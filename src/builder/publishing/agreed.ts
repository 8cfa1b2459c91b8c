/**
 * What a folder and the store that it is published to last agreed on: `published.json` in the folder. What
 * the folder has built since is ahead of the store; a higher number in the store is ahead of the folder.
 *
 *   {"format":"groundswell-published","version":1,"to":"s3://…","number":N,
 *    "commit":"…","after":N,"held":false}
 */
import { join } from 'node:path'
import { syncFolder, writeDurably } from '../../snapshot/write-snapshot.ts'
import { readRegularFileSync } from '../../system/regular-files.ts'
import { errorCode } from '../../system/file-faults.ts'
import type { Lock } from '../../system/lock.ts'
import { BuildError } from '../../system/build-error.ts'

const AGREED_FILE = 'published.json'

const FORMAT = 'groundswell-published'
const MAX_BYTES = 8192

export interface Agreed {
  /** Address of the store. */
  to: string
  /** Number of the commit; 0 before there is one. */
  number: number
  /** The `builder` of that commit; empty before there is one. */
  commit: string
  /** Kept snapshots with a higher sequence number are not published yet. */
  after: number
  /** Whether a rollback held then. */
  held: boolean
}

/** Null for a folder that was never published. @throws BuildError for a file that cannot be understood */
export function readAgreed(dir: string): Agreed | null {
  const path = join(dir, AGREED_FILE)
  let text: string
  try {
    text = readRegularFileSync(path, MAX_BYTES).toString('utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new BuildError(`${path}: cannot be read (${errorCode(error)})`)
  }
  const agreed = parse(text)
  if (agreed === null) {
    throw new BuildError(
      `${path}: cannot be understood; remove it, and the next build compares folder and store anew`,
    )
  }
  return agreed
}

function parse(text: string): Agreed | null {
  try {
    const { format, to, number, commit, after, held } = JSON.parse(text) as { [name: string]: unknown }
    const isAgreed =
      format === FORMAT &&
      typeof to === 'string' &&
      typeof commit === 'string' &&
      Number.isSafeInteger(number) &&
      Number.isSafeInteger(after) &&
      typeof held === 'boolean'
    return isAgreed ? { to, number: number as number, commit, after: after as number, held } : null
  } catch {
    return null
  }
}

/** @throws BuildError when it cannot be written */
export function writeAgreed(dir: string, { to, number, commit, after, held }: Agreed, lock: Lock): void {
  const text = `${JSON.stringify({ format: FORMAT, version: 1, to, number, commit, after, held })}\n`
  writeDurably(dir, AGREED_FILE, Buffer.from(text), lock.folder)
  syncFolder(dir)
}
