/**
 * The list of exported files, `files.json`. It is written last, and a file that it does not name is not part
 * of the export.
 *
 *   files.json                                     the list
 *   readings/NETWORK/2025-HASH.parquet             readings of a network in a year that is over
 *   readings/NETWORK/2026-03-HASH.parquet          and in a month of the last year
 *   buoys-HASH.parquet                             all buoys
 *
 * A file is named by the hash of its bytes and never changes. Servers show the list that a build puts next to
 * its snapshot, `files-ID.json`.
 */
import { join } from 'node:path'
import { BuildError } from '../system/build-error.ts'
import { errorCode, whyNotRead } from '../system/file-faults.ts'
import { readRegularFileSync } from '../system/regular-files.ts'
import { isCount, MAX_TEXT_LENGTH } from './snapshot-format.ts'

export const LIST_FILE = 'files.json'
const LIST_FORMAT = 'groundswell-files'
const LIST_VERSION = 4
/** Ten networks over all months of 32-bit times take 8 MB. */
export const MAX_LIST_BYTES = 64 * 2 ** 20

const NAME_DIGITS = 32
const CONTENT = /^(?:readings\/[a-z0-9][a-z0-9-]{0,79}\/\d{4}(?:-\d{2})?|buoys)-[0-9a-f]{32}\.parquet$/
const SHA256 = /^[0-9a-f]{64}$/
const SNAPSHOT_ID = /^[0-9a-f]{24}$/
/** As on the wire. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/

const OF_SNAPSHOT = /^files-([0-9a-f]{24})\.json$/

/** Name of the list next to a snapshot. */
export const snapshotList = (id: string): string => `files-${id}.json`

/** The snapshot that a list belongs to; null for other files. */
export function listedSnapshot(file: string): string | null {
  return OF_SNAPSHOT.exec(file)?.[1] ?? null
}

/** Whether a path below the target is that of a file named by its content, which collecting may remove. */
export const isContent = (path: string): boolean => CONTENT.test(path)

type Guard<T> = (value: unknown) => value is T
type Guarded<G> = G extends Guard<infer T> ? T : never

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_TEXT_LENGTH
const orNull =
  <T>(guard: Guard<T>): Guard<T | null> =>
  (value): value is T | null =>
    value === null || guard(value)
const like =
  (pattern: RegExp): Guard<string> =>
  (value): value is string =>
    isText(value) && pattern.test(value)
const oneOf =
  <T>(known: readonly T[]): Guard<T> =>
  (value): value is T =>
    known.includes(value as T)
const listOf =
  <T>(guard: Guard<T>): Guard<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.every(guard)
const object =
  <M extends { [name: string]: Guard<unknown> }>(
    members: M,
  ): Guard<{ [name in keyof M]: Guarded<M[name]> }> =>
  (value): value is { [name in keyof M]: Guarded<M[name]> } =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(members).every(([name, guard]) => guard((value as { [name: string]: unknown })[name]))

const isFile = object({
  /** From the folder of the list, with slashes. */
  path: like(CONTENT),
  kind: oneOf(['readings', 'buoys'] as const),
  format: oneOf(['parquet'] as const),
  /** Name of the readings' network; null for buoys, as the next four are. */
  network: orNull(isText),
  /** Year of the readings, UTC. */
  year: orNull(isCount),
  /** `2026-03`; null for readings of a whole year, too. */
  month: orNull(like(MONTH)),
  /** Times of the first and the last reading. */
  start: orNull(like(TIME)),
  end: orNull(like(TIME)),
  rows: isCount,
  bytes: isCount,
  sha256: like(SHA256),
  /** The snapshot of the first export of this file: its data have not changed since. */
  snapshot: like(SNAPSHOT_ID),
})
export type ExportedFile = Guarded<typeof isFile>

const isNetwork = object({
  name: isText,
  /** The name on the wire. */
  source: isText,
  credit: orNull(isText),
  licence: orNull(isText),
  /** Hash of all that the files of the network's readings have from the catalogue. */
  made_from: like(SHA256),
})
export type ExportedNetwork = Guarded<typeof isNetwork>

/** `part`: SHA-256 of the snapshot's part. */
const isMonth = object({ month: like(MONTH), part: like(SHA256) })

const MEMBERS = {
  /** Always null: the files are in a folder, which stays private. */
  address: orNull(isText),
  snapshot: like(SNAPSHOT_ID),
  /** The data's time. */
  as_of: like(TIME),
  networks: listOf(isNetwork),
  months: listOf(isMonth),
  /** By kind, network and month. */
  files: listOf(isFile),
}
const isList = object({ format: oneOf([LIST_FORMAT]), version: oneOf([LIST_VERSION]), ...MEMBERS })
export type FileList = { [name in keyof typeof MEMBERS]: Guarded<(typeof MEMBERS)[name]> }

type Span = Pick<ExportedFile, 'year' | 'month'>

/** `2026-03` or `2025`: what a file of readings covers. */
export const spanText = ({ year, month }: Span): string => month ?? String(year)

/** The path of a file of readings, or of `buoys`, by the hash of its bytes. */
export function pathOf(name: string, sha256: string): string {
  return `${name}-${sha256.slice(0, NAME_DIGITS)}.parquet`
}

/** The same list gives the same bytes. */
export function encodeList(list: FileList): Buffer {
  return Buffer.from(`${JSON.stringify({ format: LIST_FORMAT, version: LIST_VERSION, ...list }, null, 1)}\n`)
}

/** @param where what a message begins with @throws BuildError where the bytes are not a list */
export function decodeList(bytes: Uint8Array, where: string): FileList {
  let list: unknown
  try {
    list = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
  } catch {
    list = null
  }
  if (isList(list) && list.files.every(isWhole)) {
    const { address, snapshot, as_of, networks, months, files } = list
    return { address, snapshot, as_of, networks, months, files }
  }
  throw new BuildError(
    `${where}: is not a list of exported files that this program can read; export to another place, or remove it`,
  )
}

function isWhole({ path, kind, sha256, network, year, month, start, end }: ExportedFile): boolean {
  const ofReadings = [network, year, start, end]
  return (
    path.includes(sha256.slice(0, NAME_DIGITS)) &&
    (kind === 'buoys' ? [...ofReadings, month].every((value) => value === null) : !ofReadings.includes(null))
  )
}

/** The list of a snapshot, or null. @throws BuildError for one that cannot be read */
export const readSnapshotList = (dir: string, id: string): FileList | null =>
  readListFile(join(dir, snapshotList(id)))

/** A list, or null where there is none. @throws BuildError for one that cannot be read */
export function readListFile(path: string): FileList | null {
  let bytes: Buffer
  try {
    bytes = readRegularFileSync(path, MAX_LIST_BYTES)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new BuildError(`${path}: ${whyNotRead(error)}`)
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
      files: files.map(({ path, kind, format, network, ...rest }) => {
        return { path, kind, format, source: network && (sources.get(network) ?? network), ...rest }
      }),
      count: files.length,
    }),
  )
}
