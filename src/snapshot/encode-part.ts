/** A part of a snapshot as bytes; `part-columns.ts` describes them, and reads them back. */
import type { Column } from '../sea/columns.ts'
import {
  BIN32,
  BIN32_HEADER_BYTES,
  COLUMN_ALIGNMENT_BYTES,
  COLUMN_TYPES,
  NIL,
  PART_FORMAT,
  type ColumnType,
} from './part-columns.ts'
import { FORMAT_VERSION, pack, SnapshotError, type Part } from './snapshot-format.ts'

export function encodePart(part: Part): Uint8Array {
  const columns = [...part.columns]
  // The offsets stand in the header and so change its length: repeat until they are stable.
  let offsets = columns.map(() => 0)
  let header = encodeHeader(part, columns, offsets)
  for (;;) {
    let at = header.length
    const next = columns.map(([, column]) => {
      const offset = columnOffset(at)
      at = offset + column.byteLength
      return offset
    })
    if (next.every((offset, i) => offset === offsets[i])) return assemble(header, columns, offsets, at)
    offsets = next
    header = encodeHeader(part, columns, offsets)
  }
}

function encodeHeader(part: Part, columns: [string, Column][], offsets: number[]): Uint8Array {
  return pack({
    format: PART_FORMAT,
    version: FORMAT_VERSION,
    byte_order: 'little',
    kind: part.kind,
    meta: part.meta,
    columns: columns.map(([name, column], i) => ({
      name,
      type: columnType(column),
      length: column.length,
      offset: offsets[i],
    })),
  })
}

function assemble(
  header: Uint8Array,
  columns: [string, Column][],
  offsets: number[],
  size: number,
): Uint8Array {
  const bytes = new Uint8Array(size).fill(NIL, header.length)
  const view = new DataView(bytes.buffer)
  bytes.set(header)
  columns.forEach(([, column], i) => {
    const offset = offsets[i]
    bytes[offset - BIN32_HEADER_BYTES] = BIN32
    view.setUint32(offset - BIN32_HEADER_BYTES + 1, column.byteLength)
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), offset)
  })
  return bytes
}

/** Where a column's payload begins when what is before it ends at `end`. */
function columnOffset(end: number): number {
  return Math.ceil((end + BIN32_HEADER_BYTES) / COLUMN_ALIGNMENT_BYTES) * COLUMN_ALIGNMENT_BYTES
}

function columnType(column: Column): ColumnType {
  for (const [type, ColumnArray] of Object.entries(COLUMN_TYPES)) {
    if (column instanceof ColumnArray) return type as ColumnType
  }
  throw new SnapshotError('a column has a type that parts do not know')
}
