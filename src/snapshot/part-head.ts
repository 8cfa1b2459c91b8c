/** The header of a part and some of its columns, without reading the rest. */
import { closeSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Column } from '../sea/columns.ts'
import { openRegularFileSync } from '../system/regular-files.ts'
import {
  COLUMN_ALIGNMENT_BYTES,
  COLUMN_TYPES,
  decodeHeader,
  decodePart,
  kindAndMeta,
  type ColumnType,
} from './part-columns.ts'
import { plainEnd } from './plain-messagepack.ts'
import {
  HEADER_BOUNDS,
  isCount,
  list,
  record,
  SnapshotError,
  type Part,
  type PartEntry,
} from './snapshot-format.ts'

/** More than the header of a month or a year takes. */
const FIRST_BYTES = 64 * 1024

/**
 * Reads the header of a part and the columns `names`, without a check of its hash.
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

/**
 * Reads the columns `names`; null where the beginning is too short, unless it `isWhole`.
 * @throws SnapshotError naming `file`, when its bytes are malformed
 */
function decodeHead(
  bytes: Uint8Array,
  file: string,
  names: readonly string[],
  isWhole: boolean,
): Part | null {
  if (isWhole) {
    const part = decodePart(bytes, file)
    return { ...part, columns: new Map([...part.columns].filter(([name]) => names.includes(name))) }
  }
  if (typeof plainEnd(bytes, HEADER_BOUNDS) === 'string') return null
  const { header } = decodeHeader(bytes, file)
  const columns = new Map<string, Column>()
  for (const entry of list(header.columns, `${file}: columns`)) {
    const { name, type, length, offset } = record(entry, `${file}: column`)
    if (!names.includes(name as string)) continue
    const ColumnArray = COLUMN_TYPES[type as ColumnType]
    if (
      !Object.hasOwn(COLUMN_TYPES, type as string) ||
      !isCount(length) ||
      !isCount(offset) ||
      offset % COLUMN_ALIGNMENT_BYTES !== 0
    ) {
      throw new SnapshotError(`${file}: column ${name as string} has an impossible offset`)
    }
    if (offset + length * ColumnArray.BYTES_PER_ELEMENT > bytes.length) return null
    columns.set(
      name as string,
      new ColumnArray(bytes.buffer as ArrayBuffer, bytes.byteOffset + offset, length),
    )
  }
  return { ...kindAndMeta(header, file), columns }
}
