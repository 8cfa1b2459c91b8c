/**
 * A part of a snapshot as bytes and back.
 *
 *   header   map    {format, version, byte_order, kind, meta, columns: [{name, type, length, offset}, …]}
 *   column   nil…   as many as it takes
 *            bin32  with a payload that begins at `offset`, a multiple of 64, little endian
 *   …
 *
 * The padding makes a column a typed-array view on the file's bytes, without a copy: MessagePack libraries
 * give typed arrays back either as unaligned bytes or as copies. Numbers inside are little endian, and so
 * must be the machine.
 */
import type { Column } from '../sea/columns.ts'
import {
  expectVersion,
  firstValue,
  FORMAT_VERSION,
  HEADER_BOUNDS,
  isCount,
  list,
  pack,
  PART_KINDS,
  record,
  SnapshotError,
  type Meta,
  type Part,
  type PartEntry,
  type PartKind,
} from './snapshot-format.ts'
import { plainEnd } from './plain-messagepack.ts'

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

/**
 * The header of a part may have `least` values, and `perRow` more for each row: serving threads unpack
 * headers between requests, 0.1 µs a value. A column is described in five values; a catalogue has four texts
 * a buoy in addition to sources, spots and months; tides have three texts a harbour.
 */
const HEADER_VALUES: { readonly [kind in PartKind]: { least: number; perRow: number } } = {
  catalog: { least: 200_000, perRow: 8 },
  readings: { least: 2000, perRow: 0 },
  weather: { least: 2000, perRow: 0 },
  // 600 zones have three values each.
  aggregates: { least: 4000, perRow: 0 },
  passes: { least: 2000, perRow: 0 },
  forecast: { least: 2000, perRow: 0 },
  tides: { least: 4000, perRow: 8 },
}

if (new Uint8Array(new Uint16Array([1]).buffer)[0] !== 1) {
  throw new SnapshotError('snapshots are little endian and this machine is not')
}

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

/**
 * Reads a part as views on `bytes`, which must begin at a multiple of 64 of its buffer and may be shared
 * memory.
 * @throws SnapshotError naming `file`, when anything about the bytes is not as described above
 */
export function decodePart(bytes: Uint8Array, file: string): Part {
  const { header, end } = decodeHeader(bytes, file)
  return { ...kindAndMeta(header, file), columns: decodeColumns(bytes, header.columns, end, file) }
}

/**
 * Reads the columns `names` out of the beginning of a part; null where that is too short, unless it
 * `isWhole`.
 * @throws SnapshotError naming `file`, when anything about the bytes is not as described above
 */
export function decodeHead(
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

function decodeHeader(bytes: Uint8Array, file: string): { header: Meta; end: number } {
  const { value, end } = firstValue(bytes, file)
  const header = record(value, `${file}: header`)
  if (header.format !== PART_FORMAT) throw new SnapshotError(`${file}: is not a part of a snapshot`)
  expectVersion(header.version, file)
  if (header.byte_order !== 'little') throw new SnapshotError(`${file}: byte order is not little endian`)
  return { header, end }
}

function kindAndMeta(header: Meta, file: string): Pick<Part, 'kind' | 'meta'> {
  const kind = PART_KINDS.find((known) => known === header.kind)
  if (kind === undefined) throw new SnapshotError(`${file}: unknown kind of part`)
  return { kind, meta: record(header.meta, `${file}: meta`) }
}

/** The columns that a header describes; they and the padding between them are all that follows it. */
function decodeColumns(
  bytes: Uint8Array,
  descriptions: unknown,
  headerEnd: number,
  file: string,
): Map<string, Column> {
  const columns = new Map<string, Column>()
  const described = list(descriptions, `${file}: columns`)
  if (described.length > MAX_COLUMNS) {
    throw new SnapshotError(`${file}: has ${described.length} columns, at most ${MAX_COLUMNS} are read`)
  }
  let end = headerEnd
  for (const entry of described) {
    const { name, type, length, offset } = record(entry, `${file}: column`)
    if (typeof name !== 'string' || typeof type !== 'string' || !Object.hasOwn(COLUMN_TYPES, type)) {
      throw new SnapshotError(`${file}: a column has no name or an unknown type`)
    }
    if (columns.has(name)) throw new SnapshotError(`${file}: column ${name} occurs twice`)
    const ColumnArray = COLUMN_TYPES[type as ColumnType]
    if (
      !isCount(length) ||
      !isCount(offset) ||
      offset % COLUMN_ALIGNMENT_BYTES !== 0 ||
      offset < end + BIN32_HEADER_BYTES
    ) {
      throw new SnapshotError(`${file}: column ${name} has an impossible offset`)
    }
    const size = length * ColumnArray.BYTES_PER_ELEMENT
    if (offset + size > bytes.length) {
      throw new SnapshotError(`${file}: column ${name} ends at byte ${offset + size} of ${bytes.length}`)
    }
    if (!isFramed(bytes, end, offset, size)) {
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

/** Where a column's payload begins when what is before it ends at `end`. */
function columnOffset(end: number): number {
  return Math.ceil((end + BIN32_HEADER_BYTES) / COLUMN_ALIGNMENT_BYTES) * COLUMN_ALIGNMENT_BYTES
}

/** Whether nil bytes and the head of a byte string of `size` bytes fill the gap from `end` to `offset`. */
function isFramed(bytes: Uint8Array, end: number, offset: number, size: number): boolean {
  const head = offset - BIN32_HEADER_BYTES
  for (let at = end; at < head; at++) if (bytes[at] !== NIL) return false
  return bytes[head] === BIN32 && new DataView(bytes.buffer, bytes.byteOffset).getUint32(head + 1) === size
}

/**
 * @throws SnapshotError when a header is not plain MessagePack, or larger than one of its kind and rows is
 */
export function expectHeader(bytes: Uint8Array, { kind, file, rows }: PartEntry): void {
  const { least, perRow } = HEADER_VALUES[kind]
  const values = Math.min(HEADER_BOUNDS.values, least + perRow * rows)
  const end = plainEnd(bytes, { ...HEADER_BOUNDS, values })
  if (typeof end === 'string') throw new SnapshotError(`${file}: is not MessagePack of a snapshot: ${end}`)
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

function columnType(column: Column): ColumnType {
  for (const [type, ColumnArray] of Object.entries(COLUMN_TYPES)) {
    if (column instanceof ColumnArray) return type as ColumnType
  }
  throw new SnapshotError('a column has a type that parts do not know')
}
