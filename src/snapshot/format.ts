/**
 * The bytes of a snapshot, told once; `write.ts` and `read.ts` face this description.
 *
 *   DIR/manifest.msgpack           which parts make the snapshot, its id and the data's time
 *   DIR/KIND-HASH.msgpack          parts, named by their content, never changed
 *
 * A part is a MessagePack sequence that any MessagePack tool can read:
 *
 *   header   map    {format, version, byte_order, kind, meta, columns: [{name, type, length, offset}, …]}
 *   column   nil…   as many as it takes
 *            bin32  whose payload begins at `offset`, a multiple of 64, little endian
 *   …
 *
 * The padding makes a column a typed-array view on the file's bytes, without a copy: MessagePack libraries
 * give typed arrays back either as unaligned bytes or as copies. Numbers inside are little endian, and so
 * must be the machine.
 */
import { createHash } from 'node:crypto'
import { Packr } from 'msgpackr/pack'
import { Unpackr } from 'msgpackr/unpack'
import type { Column } from '../sea/columns.ts'
import { LAST_SECOND, monthOf, monthText } from '../sea/time.ts'
import { plainEnd } from './plain.ts'

export const PART_FORMAT = 'groundswell-part'
export const MANIFEST_FORMAT = 'groundswell-snapshot'
/** Raised with every change that an older reader would misread. */
export const FORMAT_VERSION = 1
export const MANIFEST_FILE = 'manifest.msgpack'
/** Cache lines, and the widest alignment any typed array asks for. */
export const COLUMN_ALIGNMENT = 64

/*
 * Bounds of what a reader takes, whoever wrote it: each keeps a lie with a right hash from costing memory or
 * time without end, and none is near what honest snapshots hold. Times are those of 32 bits (1970 to 2106);
 * counts of rows are bounded by the bytes of their columns.
 */
/** The last month that a time can lie in. */
export const LAST_MONTH = monthOf(LAST_SECOND)
/** A part is one buffer, and typed arrays end at 2 GiB on some machines. */
export const MAX_PART_BYTES = 2 ** 31 - 1
/**
 * One catalogue, one of each kind without months, and two kinds of 1,634 months, some 200 bytes each: 0.7 MB.
 */
export const MAX_MANIFEST_BYTES = 2 ** 20
/** A part has its columns once each; the catalogue has 17. */
export const MAX_COLUMNS = 64
/** Names, slugs, identifiers, zones, credits: UTF-16 units of one text. */
export const MAX_TEXT_LENGTH = 2000
/**
 * Values beside the columns: a catalogue of all the buoys that can have an id has four texts of each, and its
 * registry as many.
 */
const HEADER_BOUNDS = { depth: 8, values: 8_000_000 }

const COLUMN_TYPES = {
  u8: Uint8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const

export type ColumnType = keyof typeof COLUMN_TYPES

export const PART_KINDS = ['catalog', 'readings', 'weather', 'passes', 'forecast', 'tides'] as const
export type PartKind = (typeof PART_KINDS)[number]

/**
 * Of these a header may have so many, and so many more for each row: serving threads unpack headers between
 * requests, 0.1 µs a value. The columns of a part are described in five values each; catalogues have four
 * texts a buoy beside sources, spots and months, tides have three a harbour.
 */
const HEADER_VALUES: { readonly [kind in PartKind]: { least: number; perRow: number } } = {
  catalog: { least: 200_000, perRow: 8 },
  readings: { least: 2000, perRow: 0 },
  weather: { least: 2000, perRow: 0 },
  passes: { least: 2000, perRow: 0 },
  forecast: { least: 2000, perRow: 0 },
  tides: { least: 4000, perRow: 8 },
}

/** A part as the manifest names it. */
export interface PartEntry {
  kind: PartKind
  file: string
  bytes: number
  sha256: string
  rows: number
  /** Months since January 1970, of the parts that are cut by month. */
  month: number | null
}

export interface Manifest {
  id: string
  /** The data's time, epoch seconds: "now" for everything that is fresh, active or complete. */
  asOf: number
  parts: PartEntry[]
}

/** What a part holds beside its columns: small, plain, and ordered as it was written. */
export type Meta = { [key: string]: unknown }

export interface Part {
  kind: PartKind
  meta: Meta
  columns: Map<string, Column>
}

/**
 * Bytes that are no snapshot, or not the one that was announced. The message says which file and what was
 * expected.
 */
export class SnapshotError extends Error {
  override name = 'SnapshotError'
}

if (new Uint8Array(new Uint16Array([1]).buffer)[0] !== 1) {
  throw new SnapshotError('snapshots are little endian and this machine is not')
}

// Plain maps, no record extension: readable by every MessagePack tool, and the same bytes for the same input.
const packer = new Packr({ useRecords: false, variableMapSize: true })
const unpacker = new Unpackr({ useRecords: false, mapsAsObjects: true })

const BIN32 = 0xc6
const NIL = 0xc0
const BIN32_HEADER = 5

/**
 * A value as bytes within a header, for what few readers look at: the others pass over it without unpacking
 * it.
 */
export function nested(value: unknown): Uint8Array {
  return packer.pack(value)
}

/** What `nested` was given. @throws SnapshotError when `bytes` are not that. */
export function unnested(bytes: unknown, what: string): unknown {
  if (!(bytes instanceof Uint8Array)) throw new SnapshotError(`${what}: is no bytes`)
  return firstValue(bytes, what).value
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
  return Uint8Array.from(
    packer.pack({
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
    }),
  )
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
    bytes[offset - BIN32_HEADER] = BIN32
    view.setUint32(offset - BIN32_HEADER + 1, column.byteLength)
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), offset)
  })
  return bytes
}

/**
 * Reads a part as views on `bytes`, which must begin at a multiple of 64 of its buffer and may be shared
 * memory.
 * @throws SnapshotError naming `file`, when anything about the bytes is not as described above.
 */
export function decodePart(bytes: Uint8Array, file: string): Part {
  const { value, end: headerEnd } = firstValue(bytes, file)
  const header = record(value, `${file}: header`)
  if (header.format !== PART_FORMAT) throw new SnapshotError(`${file}: is no part of a snapshot`)
  expectVersion(header.version, file)
  if (header.byte_order !== 'little') throw new SnapshotError(`${file}: byte order is not little endian`)
  const kind = PART_KINDS.find((known) => known === header.kind)
  if (kind === undefined) throw new SnapshotError(`${file}: unknown kind of part`)
  const meta = record(header.meta, `${file}: meta`)
  const columns = new Map<string, Column>()
  const described = list(header.columns, `${file}: columns`)
  if (described.length > MAX_COLUMNS) {
    throw new SnapshotError(`${file}: has ${described.length} columns, at most ${MAX_COLUMNS} are read`)
  }
  let end = headerEnd
  for (const entry of described) {
    const { name, type, length, offset } = record(entry, `${file}: column`)
    if (typeof name !== 'string' || typeof type !== 'string' || !Object.hasOwn(COLUMN_TYPES, type)) {
      throw new SnapshotError(`${file}: a column has no name or an unknown type`)
    }
    if (columns.has(name)) throw new SnapshotError(`${file}: column ${name} is there twice`)
    const ColumnArray = COLUMN_TYPES[type as ColumnType]
    if (
      !isCount(length) ||
      !isCount(offset) ||
      offset % COLUMN_ALIGNMENT !== 0 ||
      offset < end + BIN32_HEADER
    ) {
      throw new SnapshotError(`${file}: column ${name} has an impossible place`)
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
  return { kind, meta, columns }
}

/** Where a column's payload begins when what is before it ends at `end`. */
function columnOffset(end: number): number {
  return Math.ceil((end + BIN32_HEADER) / COLUMN_ALIGNMENT) * COLUMN_ALIGNMENT
}

/** Whether nil bytes and the head of a byte string of `size` bytes stand between `end` and `offset`. */
function isFramed(bytes: Uint8Array, end: number, offset: number, size: number): boolean {
  const head = offset - BIN32_HEADER
  for (let at = end; at < head; at++) if (bytes[at] !== NIL) return false
  return bytes[head] === BIN32 && new DataView(bytes.buffer, bytes.byteOffset).getUint32(head + 1) === size
}

/**
 * @throws SnapshotError where a part's header is none, or holds more than one of its kind and rows has to.
 */
export function expectHeader(bytes: Uint8Array, { kind, file, rows }: PartEntry): void {
  const { least, perRow } = HEADER_VALUES[kind]
  const values = Math.min(HEADER_BOUNDS.values, least + perRow * rows)
  const end = plainEnd(bytes, { ...HEADER_BOUNDS, values })
  if (typeof end === 'string') throw new SnapshotError(`${file}: is not MessagePack of a snapshot: ${end}`)
}

/** The manifest's bytes; its id is a hash of everything else in it, so equal data has an equal id. */
export function encodeManifest(manifest: Omit<Manifest, 'id'>): { id: string; bytes: Uint8Array } {
  const id = manifestId(manifest)
  return { id, bytes: Uint8Array.from(packer.pack({ ...manifestBody(manifest), id })) }
}

const SHA256 = /^[0-9a-f]{64}$/
const MONTHLY: ReadonlySet<PartKind> = new Set(['readings', 'weather'])

/**
 * What a manifest promises of itself: whole numbers within the bounds above, and of each kind and month one
 * part at most.
 * @throws SnapshotError when the bytes are no manifest, or do not agree with the id in them.
 */
export function decodeManifest(bytes: Uint8Array, file: string): Manifest {
  if (bytes.length > MAX_MANIFEST_BYTES) {
    throw new SnapshotError(`${file}: ${bytes.length} bytes are too many for a manifest`)
  }
  const body = record(firstValue(bytes, file).value, file)
  if (body.format !== MANIFEST_FORMAT) throw new SnapshotError(`${file}: is no manifest of a snapshot`)
  expectVersion(body.version, file)
  if (!isCount(body.as_of) || body.as_of > LAST_SECOND) {
    throw new SnapshotError(`${file}: has no as_of: whole epoch seconds from 0 to ${LAST_SECOND}`)
  }
  const parts = list(body.parts, `${file}: parts`).map((entry): PartEntry => {
    const part = record(entry, `${file}: part`)
    const kind = PART_KINDS.find((known) => known === part.kind)
    if (
      kind === undefined ||
      typeof part.file !== 'string' ||
      typeof part.sha256 !== 'string' ||
      !SHA256.test(part.sha256) ||
      part.file !== partFile(kind, part.sha256) ||
      !isCount(part.bytes) ||
      !isCount(part.rows) ||
      !(part.month === null || (isCount(part.month) && part.month <= LAST_MONTH))
    ) {
      throw new SnapshotError(`${file}: a part's entry is malformed`)
    }
    if ((part.month !== null) !== MONTHLY.has(kind)) {
      throw new SnapshotError(
        `${file}: ${part.file} has ${part.month === null ? 'no' : 'a'} month in the manifest`,
      )
    }
    if (part.bytes > MAX_PART_BYTES) {
      throw new SnapshotError(
        `${file}: ${part.file} has ${part.bytes} bytes, a part has at most ${MAX_PART_BYTES}`,
      )
    }
    return {
      kind,
      file: part.file,
      bytes: part.bytes,
      sha256: part.sha256,
      rows: part.rows,
      month: part.month,
    }
  })
  const manifest = { asOf: body.as_of, parts }
  const id = manifestId(manifest)
  if (body.id !== id) throw new SnapshotError(`${file}: its id does not agree with its content`)
  checkParts(parts, file)
  return { id, ...manifest }
}

/**
 * One catalogue, and each kind and month once: nothing can stand for two parts, nor be loaded as often as it
 * is named.
 */
function checkParts(parts: readonly PartEntry[], file: string): void {
  const places = new Set<string>()
  const files = new Set<string>()
  for (const part of parts) {
    const place = `${part.kind} ${part.month}`
    if (places.has(place) || files.has(part.file)) {
      throw new SnapshotError(
        `${file}: names ${part.kind}${part.month === null ? '' : ` of ${monthText(part.month)}`} twice`,
      )
    }
    places.add(place)
    files.add(part.file)
  }
  if (!places.has('catalog null')) throw new SnapshotError(`${file}: names no catalogue`)
}

/** A part's name: its kind and enough of its hash that no two contents ever share it. */
export function partFile(kind: PartKind, sha256: string): string {
  return `${kind}-${sha256.slice(0, 32)}.msgpack`
}

export function sha256(bytes: Uint8Array | Uint32Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function manifestId(manifest: Omit<Manifest, 'id'>): string {
  return sha256(packer.pack(manifestBody(manifest))).slice(0, 24)
}

function manifestBody({ asOf, parts }: Omit<Manifest, 'id'>): Meta {
  return {
    format: MANIFEST_FORMAT,
    version: FORMAT_VERSION,
    as_of: asOf,
    parts: parts.map(({ kind, file, bytes, sha256, rows, month }) => ({
      kind,
      file,
      bytes,
      sha256,
      rows,
      month,
    })),
  }
}

function expectVersion(version: unknown, file: string): void {
  if (version === FORMAT_VERSION) return
  throw new SnapshotError(
    `${file}: format version ${typeof version === 'number' ? version : 'unknown'}, this program reads version ${FORMAT_VERSION}`,
  )
}

/** The first value, and where its bytes end. */
function firstValue(bytes: Uint8Array, file: string): { value: unknown; end: number } {
  const end = plainEnd(bytes, HEADER_BOUNDS)
  if (typeof end === 'string') throw new SnapshotError(`${file}: is not MessagePack of a snapshot: ${end}`)
  try {
    return { value: unpacker.unpack(bytes.subarray(0, end)), end }
  } catch {
    throw new SnapshotError(`${file}: is not MessagePack`)
  }
}

/** `value` as a text of bounded length. @throws SnapshotError saying what was expected to be one. */
export function text(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new SnapshotError(`${what} holds something that is no text`)
  if (value.length > MAX_TEXT_LENGTH) {
    throw new SnapshotError(
      `${what} holds a text of ${value.length} characters, at most ${MAX_TEXT_LENGTH} are read`,
    )
  }
  return value
}

/** The texts of a list. @throws SnapshotError saying what was expected to be one. */
export function texts(value: unknown, what: string): string[] {
  return list(value, what).map((item) => text(item, what))
}

/** A column of a type. @throws SnapshotError when it is not there or of another type. */
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

/** `value` as a plain map. @throws SnapshotError saying what was expected to be one. */
export function record(value: unknown, what: string): Meta {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SnapshotError(`${what}: is no map`)
  }
  return value as Meta
}

/** `value` as a list. @throws SnapshotError saying what was expected to be one. */
export function list(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw new SnapshotError(`${what}: is no list`)
  return value
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function columnType(column: Column): ColumnType {
  for (const [type, ColumnArray] of Object.entries(COLUMN_TYPES)) {
    if (column instanceof ColumnArray) return type as ColumnType
  }
  throw new SnapshotError('a column has a type that parts do not know')
}
