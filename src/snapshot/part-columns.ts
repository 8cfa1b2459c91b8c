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
import type { Column } from '../sea/columns.ts'
import {
  expect,
  expectVersion,
  firstValue,
  isCount,
  list,
  PART_KINDS,
  record,
  SnapshotError,
  type Meta,
  type Part,
} from './snapshot-format.ts'

export const PART_FORMAT = 'groundswell-part'
/** Cache lines, and the widest alignment that any typed array asks for. */
export const COLUMN_ALIGNMENT_BYTES = 64
/** A part has each of its columns once; the catalogue has 17. */
const MAX_COLUMNS = 64
export const BIN32 = 0xc6
export const NIL = 0xc0
export const BIN32_HEADER_BYTES = 5

export const COLUMN_TYPES = {
  u8: Uint8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const

export type ColumnType = keyof typeof COLUMN_TYPES

if (new Uint8Array(new Uint16Array([1]).buffer)[0] !== 1) {
  throw new SnapshotError('snapshots are little endian and this machine is not')
}

/**
 * Reads a part as views on `bytes`, which begin at a multiple of 64 of their buffer and may be shared.
 * @throws SnapshotError naming `file`, when anything about the bytes is not as described above
 */
export function decodePart(bytes: Uint8Array, file: string): Part {
  const { header, end } = decodeHeader(bytes, file)
  return { ...kindAndMeta(header, file), columns: decodeColumns(bytes, header, end, file) }
}

export function decodeHeader(bytes: Uint8Array, file: string): { header: Meta; end: number } {
  const { value, end } = firstValue(bytes, file)
  const header = record(value, `${file}: header`)
  if (header.format !== PART_FORMAT) throw new SnapshotError(`${file}: is not a part of a snapshot`)
  expectVersion(header.version, file)
  if (header.byte_order !== 'little') throw new SnapshotError(`${file}: byte order is not little endian`)
  return { header, end }
}

export function kindAndMeta(header: Meta, file: string): Pick<Part, 'kind' | 'meta'> {
  const kind = PART_KINDS.find((known) => known === header.kind)
  if (kind === undefined) throw new SnapshotError(`${file}: unknown kind of part`)
  return { kind, meta: record(header.meta, `${file}: meta`) }
}

export interface DescribedColumn {
  name: string
  ColumnArray: (typeof COLUMN_TYPES)[ColumnType]
  length: number
  /** Of its first byte, in a file of the size that was given. */
  offset: number
}

/** The columns that a header describes, within `size` bytes. @throws SnapshotError naming `file` */
export function describedColumns({ columns }: Meta, size: number, file: string): DescribedColumn[] {
  const described = list(columns, `${file}: columns`)
  if (described.length > MAX_COLUMNS) {
    throw new SnapshotError(`${file}: has ${described.length} columns, at most ${MAX_COLUMNS} are read`)
  }
  const names = new Set<string>()
  return described.map((entry) => {
    const { name, type, length, offset } = record(entry, `${file}: column`)
    if (typeof name !== 'string' || typeof type !== 'string' || !Object.hasOwn(COLUMN_TYPES, type)) {
      throw new SnapshotError(`${file}: a column has no name or an unknown type`)
    }
    if (names.has(name)) throw new SnapshotError(`${file}: column ${name} occurs twice`)
    names.add(name)
    const ColumnArray = COLUMN_TYPES[type as ColumnType]
    if (!isCount(length) || !isCount(offset) || offset % COLUMN_ALIGNMENT_BYTES !== 0) {
      throw new SnapshotError(`${file}: column ${name} has an impossible offset`)
    }
    const end = offset + length * ColumnArray.BYTES_PER_ELEMENT
    if (end > size) throw new SnapshotError(`${file}: column ${name} ends at byte ${end} of ${size}`)
    return { name, ColumnArray, length, offset }
  })
}

/** The columns as views on `bytes`; they and their padding are all that follows the header. */
function decodeColumns(
  bytes: Uint8Array,
  header: Meta,
  headerEnd: number,
  file: string,
): Map<string, Column> {
  const columns = new Map<string, Column>()
  let end = headerEnd
  for (const { name, ColumnArray, length, offset } of describedColumns(header, bytes.length, file)) {
    const size = length * ColumnArray.BYTES_PER_ELEMENT
    if (offset < end + BIN32_HEADER_BYTES || !isFramed(bytes, end, offset, size)) {
      throw new SnapshotError(`${file}: column ${name} is not framed as a byte string`)
    }
    end = offset + size
    columns.set(name, new ColumnArray(bytes.buffer as ArrayBuffer, bytes.byteOffset + offset, length))
  }
  if (end !== bytes.length) {
    throw new SnapshotError(`${file}: ${bytes.length - end} bytes behind the last column`)
  }
  return columns
}

/** Whether nil bytes and the head of a byte string of `size` bytes fill the gap from `end` to `offset`. */
function isFramed(bytes: Uint8Array, end: number, offset: number, size: number): boolean {
  const head = offset - BIN32_HEADER_BYTES
  for (let at = end; at < head; at++) if (bytes[at] !== NIL) return false
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
export function columnsOf<Types extends { [name: string]: abstract new (...args: never[]) => Column }>(
  part: Part,
  types: Types,
  file: string,
): { [name in keyof Types]: InstanceType<Types[name]> } {
  const entries = Object.entries(types).map(([name, type]) => [name, column(part, name, type, file)])
  return Object.fromEntries(entries) as { [name in keyof Types]: InstanceType<Types[name]> }
}

/** @throws SnapshotError unless each of `columns` has `length` values */
export function expectLength(length: number, columns: readonly { length: number }[], file: string): void {
  expect(
    columns.every((each) => each.length === length),
    file,
    'its columns differ in length',
  )
}
