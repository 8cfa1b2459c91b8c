/**
 * The list of exported files, `files.json`: what a snapshot was exported as. It is written last, and a file
 * that it does not name is not part of the export.
 *
 *   files.json                                     the list
 *   readings/NETWORK/2025-HASH.parquet             readings of a network in a year that is over, or .csv
 *   readings/NETWORK/2026-03-HASH.parquet          and in a month of the last year
 *   buoys-HASH.parquet, buoys-HASH.geojson         all buoys
 *
 * A file is named by the hash of its bytes and never changes. A build that exports puts the list beside its
 * snapshot as well, as `files-ID.json`, for servers to show.
 */
import { join } from 'node:path'
import { LAST_SECOND, parseTimestamp, timestampText } from '../sea/time.ts'
import { BuildError } from '../system/build-error.ts'
import { readRegularFileSync } from '../system/regular-files.ts'

export const LIST_FILE = 'files.json'
const LIST_FORMAT = 'groundswell-files'
const LIST_VERSION = 2
/** Lists in which every file of readings is one of a month. */
const MONTHS_VERSION = 1
/** Ten networks over all months that 32 bits of seconds can name take 8 MB. */
export const MAX_LIST_BYTES = 64 * 2 ** 20

export const EXPORT_FORMATS = ['parquet', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

const KINDS = ['readings', 'buoys'] as const
const FILE_FORMATS = [...EXPORT_FORMATS, 'geojson'] as const
type FileFormat = (typeof FILE_FORMATS)[number]

/** Digits of a file's hash in its name. */
const NAME_DIGITS = 32
const CONTENT =
  /^(?:readings\/[a-z0-9][a-z0-9-]{0,79}\/\d{4}(?:-\d{2})?-[0-9a-f]{32}\.(?:parquet|csv)|buoys-[0-9a-f]{32}\.(?:parquet|csv|geojson))$/
const SHA256 = /^[0-9a-f]{64}$/
const SNAPSHOT_ID = /^[0-9a-f]{24}$/
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/

const OF_SNAPSHOT = /^files-([0-9a-f]{24})\.json$/

/** Name of the list that lies next to a snapshot. */
export const snapshotList = (id: string): string => `files-${id}.json`

/** The snapshot that a file of this kind belongs to; null for other files. */
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
  /** Name of the network that the readings are from; null for buoys. */
  network: string | null
  /** Year of the readings, UTC; null for buoys. */
  year: number | null
  /** `2026-03`; null for readings of a whole year, and for buoys. */
  month: string | null
  rows: number
  bytes: number
  sha256: string
  /** Times of the first and the last reading, epoch seconds; null for buoys. */
  start: number | null
  end: number | null
  /** The snapshot that the file was first exported from: its data have not changed since. */
  snapshot: string
  /** Hash of what the file was made from. */
  madeFrom: string
}

/** A network as its files show it. */
export interface ExportedNetwork {
  name: string
  /** The name on the wire. */
  source: string
  credit: string | null
  licence: string | null
  /** Hash of all that the files of its readings have from the catalogue. */
  madeFrom: string
}

/** A month of readings that a snapshot has. */
export interface ExportedMonth {
  month: string
  /** SHA-256 of the snapshot's part. */
  part: string
}

export interface FileList {
  /** The bucket that holds the files; null for a folder, because its place is nobody else's business. */
  address: string | null
  snapshot: string
  /** The data's time, epoch seconds. */
  asOf: number
  format: ExportFormat
  /** The list has only what changed after this snapshot; null where it has everything. */
  since: string | null
  networks: ExportedNetwork[]
  months: ExportedMonth[]
  /** By kind, network and month. */
  files: ExportedFile[]
  /** With `since`: the network had readings in the month, and has none now. */
  removed: { network: string; month: string }[]
}

type Span = Pick<ExportedFile, 'year' | 'month'>

/** `2026-03` or `2025`: what a file of readings covers. */
export const spanText = ({ year, month }: Span): string => month ?? String(year)

/** The path of a file with these bytes. */
export function readingsPath(folder: string, span: Span, sha256: string, format: ExportFormat): string {
  return `readings/${folder}/${spanText(span)}-${sha256.slice(0, NAME_DIGITS)}.${format}`
}

export function buoysPath(sha256: string, format: FileFormat): string {
  return `buoys-${sha256.slice(0, NAME_DIGITS)}.${format}`
}

/** Encodes a list; the same list gives the same bytes. */
export function encodeList(list: FileList): Buffer {
  const { address, snapshot, asOf, format, since, networks, months, files, removed } = list
  const text = (time: number | null): string | null => (time === null ? null : timestampText(time))
  const document = {
    format: LIST_FORMAT,
    version: LIST_VERSION,
    address,
    as: format,
    snapshot,
    as_of: timestampText(asOf),
    since,
    networks: networks.map(({ madeFrom, ...network }) => ({ ...network, made_from: madeFrom })),
    months,
    files: files.map(({ start, end, madeFrom, ...file }) => ({
      ...file,
      start: text(start),
      end: text(end),
      made_from: madeFrom,
    })),
    removed,
  }
  return Buffer.from(`${JSON.stringify(document, null, 1)}\n`)
}

/**
 * Reads a list that anybody may have written.
 * @param where what a message begins with
 * @throws BuildError where it is not one of ours
 */
export function decodeList(bytes: Uint8Array, where: string): FileList {
  const list = listOf(bytes)
  if (list === null) {
    throw new BuildError(
      `${where}: is not a list of exported files that this program can read; export to another place, or remove it`,
    )
  }
  return list
}

type Fields = { readonly [name: string]: unknown }

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= 2000
const isTextOrNull = (value: unknown): value is string | null => value === null || isText(value)
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const matches = (value: unknown, pattern: RegExp): value is string => isText(value) && pattern.test(value)

/** Every entry as `read` makes it; null where one is not what it should be. */
function all<T>(value: unknown, read: (fields: Fields) => T | null): T[] | null {
  if (!Array.isArray(value)) return null
  const entries: T[] = []
  for (const entry of value as unknown[]) {
    const read1 = typeof entry === 'object' && entry !== null ? read(entry as Fields) : null
    if (read1 === null) return null
    entries.push(read1)
  }
  return entries
}

function listOf(bytes: Uint8Array): FileList | null {
  let fields: Fields
  try {
    fields = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')) as Fields
  } catch {
    return null
  }
  if (typeof fields !== 'object' || fields === null) return null
  const asOf = timeOf(fields.as_of)
  const as = EXPORT_FORMATS.find((known) => known === fields.as)
  const { address, snapshot, since } = fields
  const networks = all(fields.networks, networkOf)
  const months = all(fields.months, ({ month, part }) =>
    matches(month, MONTH) && matches(part, SHA256) ? { month, part } : null,
  )
  const files = all(fields.files, fileOf)
  const removed = all(fields.removed, ({ network, month }) =>
    isText(network) && matches(month, MONTH) ? { network, month } : null,
  )
  const isList =
    fields.format === LIST_FORMAT &&
    (fields.version === LIST_VERSION || fields.version === MONTHS_VERSION) &&
    isTextOrNull(address) &&
    matches(snapshot, SNAPSHOT_ID) &&
    (since === null || matches(since, SNAPSHOT_ID))
  if (!isList || as === undefined || asOf === null) return null
  if (networks === null || months === null || files === null || removed === null) return null
  return { address, snapshot, asOf, format: as, since, networks, months, files, removed }
}

function timeOf(value: unknown): number | null {
  const time = isText(value) ? parseTimestamp(value) : null
  return time !== null && time.epoch >= 0 && time.epoch <= LAST_SECOND ? time.epoch : null
}

function networkOf({ name, source, credit, licence, made_from: madeFrom }: Fields): ExportedNetwork | null {
  const isNetwork = isText(name) && isText(source) && isTextOrNull(credit) && isTextOrNull(licence)
  return isNetwork && matches(madeFrom, SHA256) ? { name, source, credit, licence, madeFrom } : null
}

function fileOf(fields: Fields): ExportedFile | null {
  const { path, network, month, rows, bytes, sha256, snapshot, made_from: madeFrom } = fields
  const kind = KINDS.find((known) => known === fields.kind)
  const format = FILE_FORMATS.find((known) => known === fields.format)
  const [start, end] = [timeOf(fields.start), timeOf(fields.end)]
  const year = kind === 'buoys' ? null : isText(month) ? Number(month.slice(0, 4)) : fields.year
  const isFile =
    matches(path, CONTENT) &&
    isTextOrNull(network) &&
    (month === null || matches(month, MONTH)) &&
    isCount(rows) &&
    isCount(bytes) &&
    matches(sha256, SHA256) &&
    path.includes(sha256.slice(0, NAME_DIGITS)) &&
    matches(snapshot, SNAPSHOT_ID) &&
    matches(madeFrom, SHA256)
  if (!isFile || kind === undefined || format === undefined) return null
  const isPlain = network === null && month === null && start === null && end === null
  const isDated = network !== null && isCount(year) && start !== null && end !== null
  if (kind === 'buoys' ? !isPlain : !isDated) return null
  const known = { path, kind, format, network, year: year as number | null }
  return { ...known, month, rows, bytes, sha256, start, end, snapshot, madeFrom }
}

/** The list of a snapshot; null where there is none. @throws BuildError for one that cannot be read */
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

/** The list as clients see it: the value of `data`. Without one it is empty. */
export function listAnswer(list: FileList | null): Buffer {
  const files = list?.files ?? []
  const sources = new Map(list?.networks.map(({ name, source }) => [name, source]))
  const text = (time: number | null): string | null => (time === null ? null : timestampText(time))
  return Buffer.from(
    JSON.stringify({
      address: list?.address ?? null,
      snapshot: list?.snapshot ?? null,
      as_of: text(list?.asOf ?? null),
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
          start: text(start),
          end: text(end),
          snapshot,
        }),
      ),
      count: files.length,
    }),
  )
}
