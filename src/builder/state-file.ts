/**
 * Files with a folder's state: JSON lines under a head that gives away a cut or changed file.
 *
 *   {"format":"groundswell-…","version":1,"lines":N,"sha256":"…"}    the hash of all that follows
 */
import { join } from 'node:path'
import { readRegularFileSync } from '../system/regular-files.ts'
import { errorCode } from '../system/file-faults.ts'
import type { Lock } from '../system/lock.ts'
import { BuildError } from '../system/build-error.ts'
import { sha256, SnapshotError } from '../snapshot/snapshot-format.ts'
import { holds, writeDurably } from '../snapshot/write-snapshot.ts'

/** Bytes; the state of 900,000 buoys, the most that can have an id, takes less. */
export const MAX_STATE_BYTES = 512 * 1024 * 1024

type Head = { [name: string]: unknown }

interface StateFormat {
  readonly format: string
  readonly version: number
}

/**
 * The entries of a file, null where there is none.
 * @throws SnapshotError naming a file that is not whole; BuildError for another version's file
 */
export function readStateFile(dir: string, file: string, { format, version }: StateFormat): unknown[] | null {
  let bytes: Buffer
  try {
    bytes = readRegularFileSync(join(dir, file), MAX_STATE_BYTES)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new SnapshotError(`${file}: cannot be read (${errorCode(error)})`)
  }
  const end = bytes.indexOf('\n')
  const head = parse(bytes.toString('utf8', 0, Math.max(end, 0))) as Head | null | undefined
  if (head?.format !== format) throw new SnapshotError(`${file}: is not what its name says`)
  if (head.version !== version) {
    throw new BuildError(
      `${join(dir, file)}: has version ${String(head.version)}, this program reads version ${version}: use the one that wrote it`,
    )
  }
  const body = bytes.subarray(end + 1)
  if (head.sha256 !== sha256(body))
    throw new SnapshotError(`${file}: its lines do not have the hash that its head names`)
  const entries = body.toString('utf8').split('\n').slice(0, -1).map(parse)
  if (entries.length !== head.lines || entries.includes(undefined))
    throw new SnapshotError(`${file}: a line is not JSON`)
  return entries
}

/** Replaces a file whole, unless it has these entries. @throws BuildError when it cannot be written */
export function writeStateFile(
  dir: string,
  file: string,
  { format, version }: StateFormat,
  entries: readonly unknown[],
  lock: Lock,
): void {
  const body = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  const head = { format, version, lines: entries.length, sha256: sha256(body) }
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body])
  if (!holds(join(dir, file), bytes)) writeDurably(dir, file, bytes, lock.folder)
}

/** The line's value, undefined for text that is not JSON. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
