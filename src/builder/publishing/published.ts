/**
 * `published.json`: what a folder published last, or took from its store. Later builds are ahead of it.
 *
 *   {"format":"groundswell-published","version":2,"to":"s3://…","commit":"…","tried":["…"],"after":N}
 */
import { join } from 'node:path'
import { syncFolder, writeDurably } from '../../snapshot/write-snapshot.ts'
import { readRegularFileSync } from '../../system/regular-files.ts'
import { errorCode, isSystemFault } from '../../system/file-faults.ts'
import type { Lock } from '../../system/lock.ts'
import { BuildError } from '../../system/build-error.ts'

const PUBLISHED_FILE = 'published.json'

const FORMAT = 'groundswell-published'
const MAX_BYTES = 8192
/** Names of commits that may still arrive; the oldest are forgotten. */
const MOST_TRIED = 100

export interface Published {
  to: string
  /** Name of the commit; empty before there is one. */
  commit: string
  /** Names of commits that were put since, whether the store took them or not. */
  tried: string[]
  /** Kept snapshots with a higher sequence number are not published yet. */
  after: number
}

/** Null for a folder that was never published. @throws BuildError for an unreadable file */
export function readPublished(dir: string): Published | null {
  const path = join(dir, PUBLISHED_FILE)
  try {
    const note = JSON.parse(readRegularFileSync(path, MAX_BYTES).toString('utf8')) as {
      [name: string]: unknown
    }
    const { format, to, commit, tried = [], after } = note
    if (format === FORMAT && Array.isArray(tried) && Number.isSafeInteger(after)) {
      return { to: String(to), commit: String(commit), tried: tried.map(String), after: after as number }
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    if (isSystemFault(error)) throw new BuildError(`${path}: cannot be read (${error.code})`)
  }
  throw new BuildError(
    `${path}: cannot be understood; remove it, and the next build compares folder and store anew`,
  )
}

/** @throws BuildError when it cannot be written */
export function writePublished(dir: string, { to, commit, tried, after }: Published, lock: Lock): void {
  const note = { format: FORMAT, version: 2, to, commit, tried: tried.slice(-MOST_TRIED), after }
  writeDurably(dir, PUBLISHED_FILE, Buffer.from(`${JSON.stringify(note)}\n`), lock.folder)
  syncFolder(dir)
}
