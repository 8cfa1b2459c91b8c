/** The beginning of a part: what it holds but its columns, and some of these, without reading the rest. */
import { closeSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { openRegularFileSync } from '../system/regular-files.ts'
import { SnapshotError, type Part, type PartEntry } from './snapshot-format.ts'
import { decodeHead } from './part-columns.ts'

/** Bytes that are read first: more than the header of a month or a year takes. */
const FIRST_BYTES = 64 * 1024

/**
 * Reads the header of a part and the columns `names`. Its hash is not checked: for a builder that wrote it.
 * @throws SnapshotError when it cannot be read or is malformed
 */
export function readPartHead(dir: string, { file, bytes }: PartEntry, names: readonly string[]): Part {
  let handle: number
  try {
    handle = openRegularFileSync(join(dir, file))
  } catch (error) {
    throw new SnapshotError(`${file}: cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unfit'})`)
  }
  try {
    for (let size = Math.min(bytes, FIRST_BYTES); ; size = Math.min(bytes, size * 4)) {
      const head = new Uint8Array(size)
      const read = readSync(handle, head, 0, size, 0)
      const part = decodeHead(head.subarray(0, read), file, names, size === bytes)
      if (part !== null) return part
    }
  } finally {
    closeSync(handle)
  }
}
