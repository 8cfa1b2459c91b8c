/**
 * Common to all files of a snapshot: names, bounds, and plain values out of MessagePack
 * (docs/snapshot-format.md).
 *
 *   DIR/manifest.msgpack           which parts make the snapshot, its id and the data's time
 *   DIR/KIND-HASH.msgpack          parts, named by their content, never changed
 */
import { createHash } from 'node:crypto'
import { Packr } from 'msgpackr/pack'
import { Unpackr } from 'msgpackr/unpack'
import type { Column } from '../sea/columns.ts'
import { plainEnd } from './plain-messagepack.ts'

/** Raised with every change that an older reader would misread. */
export const FORMAT_VERSION = 2

/*
 * Bounds of what a reader takes, whoever wrote it: a lie with a right hash must not cost memory or time
 * without end. Times have 32 bits (1970 to 2106), and the bytes of columns bound the number of rows.
 */
/** A part is one buffer, and on some machines typed arrays end at 2 GiB. */
export const MAX_PART_BYTES = 2 ** 31 - 1
/** Names, slugs, identifiers, zones, credits: UTF-16 units of one text. */
export const MAX_TEXT_LENGTH = 2000
/** A catalogue of all buoys that can have an id has four texts of each, and its registry as many. */
export const HEADER_BOUNDS = { depth: 8, values: 8_000_000 }

export const PART_KINDS = [
  'catalog',
  'readings',
  'weather',
  'aggregates',
  'spectra',
  'passes',
  'forecast',
  'tides',
] as const
export type PartKind = (typeof PART_KINDS)[number]

export interface PartEntry {
  kind: PartKind
  file: string
  bytes: number
  sha256: string
  rows: number
  /** Months since January 1970; January for a year; null for parts that are not cut by time. */
  month: number | null
}

/** A part's content other than columns: small, plain, and ordered as it was written. */
export type Meta = { [key: string]: unknown }

export interface Part {
  kind: PartKind
  meta: Meta
  columns: Map<string, Column>
}

/** Bytes that are not a snapshot, or not the published one. Messages name the file and what was expected. */
export class SnapshotError extends Error {
  override name = 'SnapshotError'
}

// Plain maps, no record extension: every MessagePack tool reads them, and equal input gives equal bytes.
const packer = new Packr({ useRecords: false, variableMapSize: true })
const unpacker = new Unpackr({ useRecords: false, mapsAsObjects: true })

/** MessagePack in bytes of its own. */
export function pack(value: unknown): Uint8Array {
  return Uint8Array.from(packer.pack(value))
}

/** The first value, and the end of its bytes. @throws SnapshotError naming the file */
export function firstValue(
  bytes: Uint8Array,
  file: string,
  values = HEADER_BOUNDS.values,
): { value: unknown; end: number } {
  const end = plainEnd(bytes, { ...HEADER_BOUNDS, values })
  if (typeof end === 'string') throw new SnapshotError(`${file}: is not MessagePack of a snapshot: ${end}`)
  try {
    return { value: unpacker.unpack(bytes.subarray(0, end)), end }
  } catch {
    throw new SnapshotError(`${file}: is not MessagePack`)
  }
}

/**
 * The value that a header holds as bytes, so that readers can skip it without unpacking. @throws
 * SnapshotError when `bytes` are something else
 */
export function unnested(bytes: unknown, what: string): unknown {
  expect(bytes instanceof Uint8Array, what, 'is not a byte string')
  return firstValue(bytes, what).value
}

/** A part's name: its kind and enough of its hash to be unique. */
export function partFile(kind: PartKind, sha256: string): string {
  return `${kind}-${sha256.slice(0, 32)}.msgpack`
}

/** In hexadecimal. */
export function sha256(bytes: Uint8Array | Uint32Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** @throws SnapshotError naming the file */
export function expectVersion(version: unknown, file: string): void {
  if (version === FORMAT_VERSION) return
  throw new SnapshotError(
    `${file}: has format version ${typeof version === 'number' ? version : 'unknown'}, this program reads version ${FORMAT_VERSION}; build into a new folder, with a copy of this one's registry.jsonl, which keeps the ids`,
  )
}

/** @throws SnapshotError with the file and `otherwise` */
export function expect(holds: boolean, file: string, otherwise: string): asserts holds {
  if (!holds) throw new SnapshotError(`${file}: ${otherwise}`)
}

/** `value` as a text of bounded length. @throws SnapshotError beginning with `what` */
export function text(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new SnapshotError(`${what} holds something that is not text`)
  if (value.length <= MAX_TEXT_LENGTH) return value
  throw new SnapshotError(
    `${what} holds a text of ${value.length} characters, at most ${MAX_TEXT_LENGTH} are read`,
  )
}

/** The texts of a list. @throws SnapshotError beginning with `what` */
export function texts(value: unknown, what: string): string[] {
  return list(value, what).map((item) => text(item, what))
}

/** A text or null. @throws SnapshotError beginning with `what` */
export function textOrNull(value: unknown, what: string): string | null {
  return value === null ? null : text(value, what)
}

/** `value` as a plain map. @throws SnapshotError beginning with `what` */
export function record(value: unknown, what: string): Meta {
  expect(typeof value === 'object' && value !== null && !Array.isArray(value), what, 'is not a map')
  return value as Meta
}

/** `value` as a list. @throws SnapshotError beginning with `what` */
export function list(value: unknown, what: string): unknown[] {
  expect(Array.isArray(value), what, 'is not a list')
  return value
}

/** Whether `value` is a whole number from 0 on. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
