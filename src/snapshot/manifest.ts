/** The manifest of a snapshot as bytes and back: which parts make it, its id and the data's time. */
import { LAST_SECOND, monthOf, monthText } from '../sea/time.ts'
import {
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
  SnapshotError,
  type Meta,
  type PartEntry,
  type PartKind,
} from './snapshot-format.ts'

export const MANIFEST_FILE = 'manifest.msgpack'
const MANIFEST_FORMAT = 'groundswell-snapshot'
/** The last month that a time can lie in. */
const LAST_MONTH = monthOf(LAST_SECOND)
/** Four single parts, two kinds of 1,634 months and one of 137 years, 200 bytes each, are 0.7 MB. */
export const MAX_MANIFEST_BYTES = 2 ** 20

const SHA256 = /^[0-9a-f]{64}$/
const MONTHLY: ReadonlySet<PartKind> = new Set(['readings', 'weather', 'aggregates'])

export interface Manifest {
  id: string
  /** The data's time, epoch seconds: "now" for everything that is fresh, active or complete. */
  asOf: number
  /** Whether any of the data is made up; absent where all of it was measured. */
  demo?: boolean
  parts: PartEntry[]
}

/** The manifest's bytes; its id is a hash of everything else in it, so equal data has an equal id. */
export function encodeManifest(manifest: Omit<Manifest, 'id'>): { id: string; bytes: Uint8Array } {
  const id = manifestId(manifest)
  return { id, bytes: pack({ ...manifestBody(manifest), id }) }
}

/**
 * Reads a manifest: whole numbers within the bounds, one part of each kind and month at most.
 * @throws SnapshotError when the bytes are not a manifest, or do not agree with the id in them
 */
export function decodeManifest(bytes: Uint8Array, file: string): Manifest {
  if (bytes.length > MAX_MANIFEST_BYTES) {
    throw new SnapshotError(`${file}: ${bytes.length} bytes are too many for a manifest`)
  }
  const body = record(firstValue(bytes, file).value, file)
  if (body.format !== MANIFEST_FORMAT) throw new SnapshotError(`${file}: is not a manifest of a snapshot`)
  expectVersion(body.version, file)
  if (!isCount(body.as_of) || body.as_of > LAST_SECOND) {
    throw new SnapshotError(`${file}: has no as_of: whole epoch seconds from 0 to ${LAST_SECOND}`)
  }
  if (body.demo !== undefined && body.demo !== true) {
    throw new SnapshotError(`${file}: demo has to be true or absent`)
  }
  const parts = list(body.parts, `${file}: parts`).map((entry) => decodeEntry(entry, file))
  const manifest = { asOf: body.as_of, ...(body.demo === true && { demo: true }), parts }
  const id = manifestId(manifest)
  if (body.id !== id) throw new SnapshotError(`${file}: its id does not agree with its content`)
  expectDistinct(parts, file)
  return { id, ...manifest }
}

function decodeEntry(entry: unknown, file: string): PartEntry {
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
}

/** @throws SnapshotError unless there is one catalogue, and each kind and month and each file once */
function expectDistinct(parts: readonly PartEntry[], file: string): void {
  const kinds = new Set<string>()
  const files = new Set<string>()
  for (const part of parts) {
    const kindAndMonth = `${part.kind} ${part.month}`
    if (kinds.has(kindAndMonth) || files.has(part.file)) {
      throw new SnapshotError(
        `${file}: names ${part.kind}${part.month === null ? '' : ` of ${monthText(part.month)}`} twice`,
      )
    }
    kinds.add(kindAndMonth)
    files.add(part.file)
  }
  if (!kinds.has('catalog null')) throw new SnapshotError(`${file}: names no catalogue`)
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
