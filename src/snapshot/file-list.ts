/**
 * The list of exported files, `files.json`. It is written last, and a file that it does not name is not part
 * of the export.
 *
 *   files.json                                     the list
 *   readings/NETWORK/2025-HASH.parquet             readings of a network in a year that is over, or .csv
 *   readings/NETWORK/2026-03-HASH.parquet          and in a month of the last year
 *   buoys-HASH.parquet, buoys-HASH.geojson         all buoys
 *
 * A file is named by the hash of its bytes and never changes. Servers show the list that a build puts next to
 * its snapshot, `files-ID.json`.
 */
import { join } from 'node:path'
import { LAST_SECOND, parseTimestamp, timestampText } from '../sea/time.ts'
import { BuildError } from '../system/build-error.ts'
import { readRegularFileSync } from '../system/regular-files.ts'

export const LIST_FILE = 'files.json'
const LIST_FORMAT = 'groundswell-files'
const LIST_VERSION = 2
/** Ten networks over all months of 32-bit times take 8 MB. */
export const MAX_LIST_BYTES = 64 * 2 ** 20

export const EXPORT_FORMATS = ['parquet', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

const KINDS = ['readings', 'buoys'] as const
const FILE_FORMATS = [...EXPORT_FORMATS, 'geojson'] as const
type FileFormat = (typeof FILE_FORMATS)[number]

const NAME_DIGITS = 32
const CONTENT =
  /^(?:readings\/[a-z0-9][a-z0-9-]{0,79}\/\d{4}(?:-\d{2})?-[0-9a-f]{32}\.(?:parquet|csv)|buoys-[0-9a-f]{32}\.(?:parquet|csv|geojson))$/
const SHA256 = /^[0-9a-f]{64}$/
const SNAPSHOT_ID = /^[0-9a-f]{24}$/
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/

const OF_SNAPSHOT = /^files-([0-9a-f]{24})\.json$/

/** Name of the list that lies next to a snapshot. */
export const snapshotList = (id: string): string => `files-${id}.json`

/** The snapshot that a list belongs to; null for other files. */
export function listedSnapshot(file: string): string | null {
  return OF_SNAPSHOT.exec(file)?.[1] ?? null
}

/** Whether a path below the target is that of a file named by its content, which collecting may remove. */
export const isContent = (path: string): boolean => CONTENT.test(path)

export interface ExportedFile {
  /** From the folder of the list, with slashes. */
  path: string
  kind: (typeof KINDS)[number]
  format: FileFormat
  /** Name of the readings' network; null for buoys. */
  network: string | null
  /** Year of the readings, UTC; null for buoys. */
  year: number | null
  /** `2026-03`; null for readings of a whole year, and for buoys. */
  month: string | null
  rows: number
  bytes: number
  sha256: string
  /** The snapshot of the first export of this file: its data have not changed since. */
  snapshot: string
  /** Times of the first and the last reading, as on the wire; null for buoys. */
  start: string | null
  end: string | null
  /** Hash of what the file was made from. */
  made_from: string
}

export interface ExportedNetwork {
  name: string
  /** The name on the wire. */
  source: string
  credit: string | null
  licence: string | null
  /** Hash of all that the files of the network's readings have from the catalogue. */
  made_from: string
}

export interface ExportedMonth {
  month: string
  /** SHA-256 of the snapshot's part. */
  part: string
}

export interface FileList {
  /** The bucket that holds the files; null for a folder, which stays private. */
  address: string | null
  /** The format of the readings. */
  as: ExportFormat
  snapshot: string
  /** The data's time, as on the wire. */
  as_of: string
  networks: ExportedNetwork[]
  months: ExportedMonth[]
  /** By kind, network and month. */
  files: ExportedFile[]
}

type Span = Pick<ExportedFile, 'year' | 'month'>

/** `2026-03` or `2025`: what a file of readings covers. */
export const spanText = ({ year, month }: Span): string => month ?? String(year)

export function readingsPath(folder: string, span: Span, sha256: string, format: ExportFormat): string {
  return `readings/${folder}/${spanText(span)}-${sha256.slice(0, NAME_DIGITS)}.${format}`
}

export function buoysPath(sha256: string, format: FileFormat): string {
  return `buoys-${sha256.slice(0, NAME_DIGITS)}.${format}`
}

/** The same list gives the same bytes. */
export function encodeList(list: FileList): Buffer {
  return Buffer.from(`${JSON.stringify({ format: LIST_FORMAT, version: LIST_VERSION, ...list }, null, 1)}\n`)
}

/** @param where what a message begins with @throws BuildError where the bytes are not a list */
export function decodeList(bytes: Uint8Array, where: string): FileList {
  const list = listOf(bytes)
  if (list === null) {
    throw new BuildError(
      `${where}: is not a list of exported files that this program can read; export to another place, or remove it`,
    )
  }
  return list
}

type Check = (value: unknown) => boolean

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= 2000
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isNull: Check = (value) => value === null
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)
const like =
  (pattern: RegExp): Check =>
  (value) =>
    isText(value) && pattern.test(value)
const oneOf =
  (known: readonly unknown[]): Check =>
  (value) =>
    known.includes(value)
const listOfAll =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const object =
  (members: { readonly [name: string]: Check }): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(members).every(([name, check]) => check((value as { [name: string]: unknown })[name]))

const isTime: Check = (value) => {
  const time = isText(value) ? parseTimestamp(value) : null
  if (time === null || time.epoch < 0 || time.epoch > LAST_SECOND) return false
  return timestampText(time.epoch) === value
}

const isFile = object({
  path: like(CONTENT),
  kind: oneOf(KINDS),
  format: oneOf(FILE_FORMATS),
  rows: isCount,
  bytes: isCount,
  sha256: like(SHA256),
  snapshot: like(SNAPSHOT_ID),
  made_from: like(SHA256),
})
const isOfBuoys = object({ network: isNull, year: isNull, month: isNull, start: isNull, end: isNull })
const isOfReadings = object({
  network: isText,
  year: isCount,
  month: orNull(like(MONTH)),
  start: isTime,
  end: isTime,
})
const isList = object({
  format: oneOf([LIST_FORMAT]),
  version: oneOf([LIST_VERSION]),
  address: orNull(isText),
  as: oneOf(EXPORT_FORMATS),
  snapshot: like(SNAPSHOT_ID),
  as_of: isTime,
  // Earlier lists may be of changes alone.
  since: (value) => value === null || value === undefined,
  networks: listOfAll(
    object({
      name: isText,
      source: isText,
      credit: orNull(isText),
      licence: orNull(isText),
      made_from: like(SHA256),
    }),
  ),
  months: listOfAll(object({ month: like(MONTH), part: like(SHA256) })),
  files: listOfAll(isFile),
})

function listOf(bytes: Uint8Array): FileList | null {
  let document: unknown
  try {
    document = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
  } catch {
    return null
  }
  if (!isList(document)) return null
  const { address, as, snapshot, as_of, networks, months, files } = document as FileList
  const areWhole = files.every(
    (file) =>
      file.path.includes(file.sha256.slice(0, NAME_DIGITS)) &&
      (file.kind === 'buoys' ? isOfBuoys(file) : isOfReadings(file)),
  )
  return areWhole ? { address, as, snapshot, as_of, networks, months, files } : null
}

/** The list of a snapshot, or null. @throws BuildError for one that cannot be read */
export function readSnapshotList(dir: string, id: string): FileList | null {
  const path = join(dir, snapshotList(id))
  let bytes: Buffer
  try {
    bytes = readRegularFileSync(path, MAX_LIST_BYTES)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    throw new BuildError(`${path}: cannot be read (${code})`)
  }
  return decodeList(bytes, path)
}

/** The value of `data` for clients, empty without a list. */
export function listAnswer(list: FileList | null): Buffer {
  const files = list?.files ?? []
  const sources = new Map(list?.networks.map(({ name, source }) => [name, source]))
  return Buffer.from(
    JSON.stringify({
      address: list?.address ?? null,
      snapshot: list?.snapshot ?? null,
      as_of: list?.as_of ?? null,
      sources: list?.networks.map(({ source, credit, licence }) => ({ source, credit, licence })) ?? [],
      files: files.map(
        ({ path, kind, format, network, year, month, rows, bytes, sha256, start, end, snapshot }) => ({
          path,
          kind,
          format,
          source: network === null ? null : (sources.get(network) ?? network),
          year,
          month,
          rows,
          bytes,
          sha256,
          start,
          end,
          snapshot,
        }),
      ),
      count: files.length,
    }),
  )
}
