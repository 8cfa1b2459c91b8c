/** The manifest of a snapshot as bytes and back: which parts make it, its id and the data's time. */
import { LAST_SECOND, monthOf, monthText } from '../sea/time.ts'
import {
  expect,
  expectVersion,
  firstValue,
  FORMAT_VERSION,
  isCount,
  list,
  MAX_PART_BYTES,
  pack,
  PART_KINDS,
  partFile,
  record,
  sha256,
  type Meta,
  type PartEntry,
  type PartKind,
} from './snapshot-format.ts'

export const MANIFEST_FILE = 'manifest.msgpack'
const MANIFEST_FORMAT = 'groundswell-snapshot'
const LAST_MONTH = monthOf(LAST_SECOND)
/** Four single parts, three kinds of 1,634 months and one of 137 years, 200 bytes each, are 1 MB. */
export const MAX_MANIFEST_BYTES = 2 ** 20

/** Two days of half-hourly builds. */
export const MOST_EARLIER = 100

const SHA256 = /^[0-9a-f]{64}$/
const SNAPSHOT_ID = /^[0-9a-f]{24}$/
const MONTHLY: ReadonlySet<PartKind> = new Set(['readings', 'weather', 'aggregates', 'spectra'])

export interface Manifest {
  id: string
  /** The data's time, epoch seconds: "now" for everything that is fresh, active or complete. */
  asOf: number
  /** Whether any of the data is made up; absent where all of it was measured. */
  demo?: boolean
  parts: PartEntry[]
  /** Ids of the snapshots that its builder kept then, oldest first. The id does not depend on them. */
  earlier?: readonly string[]
}

/** The manifest's bytes. Its id is a hash of the data, so equal data has an equal id. */
export function encodeManifest(manifest: Omit<Manifest, 'id'>): { id: string; bytes: Uint8Array } {
  const id = manifestId(manifest)
  // A build of the same data may publish again what is kept.
  const earlier = manifest.earlier?.filter((one) => one !== id)
  return { id, bytes: pack({ ...manifestBody(manifest), id, ...(earlier !== undefined && { earlier }) }) }
}

/**
 * Reads a manifest: whole numbers within the bounds, one part of each kind and month at most.
 * @throws SnapshotError when the bytes are not a manifest, or do not agree with the id in them
 */
export function decodeManifest(bytes: Uint8Array, file: string): Manifest {
  const { format, version, as_of: asOf, demo, ...body } = record(firstValue(bytes, file).value, file)
  expect(format === MANIFEST_FORMAT, file, 'is not a manifest of a snapshot')
  expectVersion(version, file)
  const isTime = isCount(asOf) && asOf <= LAST_SECOND
  expect(isTime, file, `has no as_of: whole epoch seconds from 0 to ${LAST_SECOND}`)
  expect(demo === undefined || demo === true, file, 'demo has to be true or absent')
  const parts = list(body.parts, `${file}: parts`).map((entry) => decodeEntry(entry, file))
  const manifest = { asOf, ...(demo === true && { demo }), parts }
  const id = manifestId(manifest)
  expect(body.id === id, file, 'its id does not agree with its content')
  expectDistinct(parts, file)
  const { earlier } = body
  expect(earlier === undefined || isListOfIds(earlier), file, 'its list of earlier snapshots is malformed')
  return { id, ...manifest, ...(earlier !== undefined && { earlier }) }
}

function isListOfIds(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length <= MOST_EARLIER &&
    value.every((id) => typeof id === 'string' && SNAPSHOT_ID.test(id))
  )
}

function decodeEntry(entry: unknown, where: string): PartEntry {
  const { kind: named, file, bytes, sha256: hash, rows, month } = record(entry, `${where}: part`)
  const kind = PART_KINDS.find((known) => known === named)
  expect(
    kind !== undefined &&
      typeof hash === 'string' &&
      SHA256.test(hash) &&
      file === partFile(kind, hash) &&
      isCount(bytes) &&
      isCount(rows) &&
      (month === null || (isCount(month) && month <= LAST_MONTH)),
    where,
    "a part's entry is malformed",
  )
  const isMonthly = MONTHLY.has(kind)
  expect((month !== null) === isMonthly, where, `${file} has ${isMonthly ? 'no' : 'a'} month in the manifest`)
  expect(bytes <= MAX_PART_BYTES, where, `${file} has ${bytes} bytes, a part has at most ${MAX_PART_BYTES}`)
  return { kind, file, bytes, sha256: hash, rows, month }
}

/** @throws SnapshotError unless there is one catalogue, and each kind and month and each file once */
function expectDistinct(parts: readonly PartEntry[], file: string): void {
  const kinds = new Set<string>()
  const files = new Set<string>()
  for (const part of parts) {
    const kindAndMonth = `${part.kind} ${part.month}`
    const isNew = !kinds.has(kindAndMonth) && !files.has(part.file)
    const ofMonth = part.month === null ? '' : ` of ${monthText(part.month)}`
    expect(isNew, file, `names ${part.kind}${ofMonth} twice`)
    kinds.add(kindAndMonth)
    files.add(part.file)
  }
  expect(kinds.has('catalog null'), file, 'names no catalogue')
}

function manifestId(manifest: Omit<Manifest, 'id'>): string {
  return sha256(pack(manifestBody(manifest))).slice(0, 24)
}

function manifestBody({ asOf, demo, parts }: Omit<Manifest, 'id'>): Meta {
  return {
    format: MANIFEST_FORMAT,
    version: FORMAT_VERSION,
    as_of: asOf,
    ...(demo === true && { demo: true }),
    parts,
  }
}
