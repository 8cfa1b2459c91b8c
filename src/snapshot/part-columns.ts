/**
 * A part of a snapshot as bytes and back.
 *
 *   header   map    {format, version, byte_order, kind, meta, columns: [{name, type, length, offset}, …]}
 *   column   nil…   as many as it takes
 *            bin32  with a payload that begins at `offset`, a multiple of 64, little endian
 *   …
 *
 * The padding makes a column a typed-array view on the file's bytes. The machine must be little endian, too.
 */
import type { Column, ColumnsOf, ColumnTypes } from '../sea/columns.ts'
import {
  expect,
  expectVersion,
  firstValue,
  FORMAT_VERSION,
  isCount,
  list,
  pack,
  PART_KINDS,
  record,
  SnapshotError,
  type Part,
} from './snapshot-format.ts'

const PART_FORMAT = 'groundswell-part'
/** Cache lines, and the widest alignment that any typed array asks for. */
const COLUMN_ALIGNMENT_BYTES = 64
/** A part has each of its columns once; the catalogue has 17. */
const MAX_COLUMNS = 64
const BIN32 = 0xc6
const NIL = 0xc0
const BIN32_HEADER_BYTES = 5

const COLUMN_TYPES = {
  u8: Uint8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const

type ColumnType = keyof typeof COLUMN_TYPES

if (new Uint8Array(new Uint16Array([1]).buffer)[0] !== 1) {
  throw new SnapshotError('snapshots are little endian and this machine is not')
}

/**
 * Reads a part as views on `bytes`, which begin at a multiple of 64 of their buffer and may be shared.
 * @param values that the header may have
 * @throws SnapshotError naming `file`, when anything about the bytes is not as described above
 */
export function decodePart(bytes: Uint8Array, file: string, values?: number): Part {
  const { value, end } = firstValue(bytes, file, values)
  const { format, version, byte_order: order, ...header } = record(value, `${file}: header`)
  expect(format === PART_FORMAT, file, 'is not a part of a snapshot')
  expectVersion(version, file)
  expect(order === 'little', file, 'byte order is not little endian')
  const kind = PART_KINDS.find((known) => known === header.kind)
  expect(kind !== undefined, file, 'unknown kind of part')
  const meta = record(header.meta, `${file}: meta`)
  return { kind, meta, columns: decodeColumns(bytes, list(header.columns, `${file}: columns`), end, file) }
}

/** The columns as views on `bytes`; they and their padding are all that follows the header. */
function decodeColumns(
  bytes: Uint8Array,
  described: readonly unknown[],
  headerEnd: number,
  file: string,
): Map<string, Column> {
  const most = described.length <= MAX_COLUMNS
  expect(most, file, `has ${described.length} columns, at most ${MAX_COLUMNS} are read`)
  const columns = new Map<string, Column>()
  let end = headerEnd
  for (const entry of described) {
    const { name, type, length, offset } = record(entry, `${file}: column`)
    const isKnown = typeof name === 'string' && typeof type === 'string' && Object.hasOwn(COLUMN_TYPES, type)
    expect(isKnown, file, 'a column has no name or an unknown type')
    expect(!columns.has(name), file, `column ${name} occurs twice`)
    const isPlace = isCount(length) && isCount(offset) && offset % COLUMN_ALIGNMENT_BYTES === 0
    expect(isPlace, file, `column ${name} has an impossible offset`)
    const ColumnArray = COLUMN_TYPES[type as ColumnType]
    const size = length * ColumnArray.BYTES_PER_ELEMENT
    const last = offset + size
    expect(last <= bytes.length, file, `column ${name} ends at byte ${last} of ${bytes.length}`)
    expect(isFramed(bytes, end, offset, size), file, `column ${name} is not framed as a byte string`)
    columns.set(name, new ColumnArray(bytes.buffer as ArrayBuffer, bytes.byteOffset + offset, length))
    end = last
  }
  expect(end === bytes.length, file, `${bytes.length - end} bytes after the last column`)
  return columns
}

/** Whether nil bytes and the head of a byte string of `size` bytes fill the gap from `end` to `offset`. */
function isFramed(bytes: Uint8Array, end: number, offset: number, size: number): boolean {
  const head = offset - BIN32_HEADER_BYTES
  if (head < end) return false
  for (let at = end; at < head; at++) {
    if (bytes[at] !== NIL) return false
  }
  return bytes[head] === BIN32 && new DataView(bytes.buffer, bytes.byteOffset).getUint32(head + 1) === size
}

/** A column of a type. @throws SnapshotError when it is missing or of another type */
export function column<C extends Column>(
  part: Part,
  name: string,
  type: abstract new (...args: never[]) => C,
  file: string,
): C {
  const found = part.columns.get(name)
  if (!(found instanceof type)) throw new SnapshotError(`${file}: has no column ${name} of the right type`)
  return found
}

/** Columns by name, each of its type. @throws SnapshotError when one is missing or of another type */
export function columnsOf<Types extends ColumnTypes>(
  part: Part,
  types: Types,
  file: string,
): ColumnsOf<Types> {
  const entries = Object.entries(types).map(([name, type]) => [name, column(part, name, type, file)])
  return Object.fromEntries(entries) as ColumnsOf<Types>
}

/** @throws SnapshotError unless each of `columns` has `length` values */
export function expectLength(length: number, columns: readonly { length: number }[], file: string): void {
  expect(
    columns.every((each) => each.length === length),
    file,
    'its columns differ in length',
  )
}

/** 0, then the sum up to each number: where the rows of each begin, and where the last end. */
export function sums(numbers: readonly number[]): Uint32Array<ArrayBuffer> {
  let sum = 0
  return Uint32Array.from([0, ...numbers.map((number) => (sum += number))])
}

/** A part as bytes, which `decodePart` reads back. */
export function encodePart(part: Part): Uint8Array {
  const columns = [...part.columns]
  let offsets = columns.map(() => 0)
  // The offsets are in the header and so change its length: repeat until they are stable.
  for (;;) {
    const header = encodeHeader(part, columns, offsets)
    let end = header.length
    const next = columns.map(([, column]) => {
      const offset = Math.ceil((end + BIN32_HEADER_BYTES) / COLUMN_ALIGNMENT_BYTES) * COLUMN_ALIGNMENT_BYTES
      end = offset + column.byteLength
      return offset
    })
    if (next.every((offset, i) => offset === offsets[i])) return assemble(header, columns, offsets, end)
    offsets = next
  }
}

function encodeHeader({ kind, meta }: Part, columns: [string, Column][], offsets: number[]): Uint8Array {
  return pack({
    format: PART_FORMAT,
    version: FORMAT_VERSION,
    byte_order: 'little',
    kind,
    meta,
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

function columnType(column: Column): ColumnType {
  for (const [type, ColumnArray] of Object.entries(COLUMN_TYPES)) {
    if (column instanceof ColumnArray) return type as ColumnType
  }
  throw new SnapshotError('a column has a type that parts do not know')
}
