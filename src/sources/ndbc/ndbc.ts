/**
 * NDBC, the United States' national network, as its public folders serve it (`docs/sources-networks.md`). A
 * newest row often has wind alone, so a source of `latest_obs.txt` alone is configured as not complete.
 * `period` is DPD, the dominant period, and never the average period APD. Times are UTC.
 */
import { basename, join } from 'node:path'
import {
  ACTIVE_STATIONS,
  IDENTIFIER,
  MAX_LIST_BYTES,
  readStations,
  type Station,
  STATION_TABLE,
} from './station-lists.ts'
import { BATCH_ROWS, sendRows, type StationHandle } from './ndbc-samples.ts'
import { BuildError } from '../../system/build-error.ts'
import type { BuoyRecord } from '../../sea/records.ts'
import type { FileReport, OpenSource, Report, Sink, SourceContext } from '../source.ts'
import { RowBatch } from '../../sea/row-batch.ts'
import { readSummaries, type Summary } from './ndbc-spec.ts'
import { openRows, StationRows, WIDTH } from './ndbc-rows.ts'
import { type RowHead, Stations, UNCOUNTED } from '../reading/stations.ts'
import { degreesOf, textOf } from '../reading/fields.ts'
import {
  type FolderListing,
  listFolder,
  listSource,
  readText,
  doubtIgnored,
} from '../reading/source-files.ts'
import { entryOf } from '../../system/entry-of.ts'

const SOURCE = 'NDBC'

/** Rows of one station that are held at once; 40 years of ten-minute rows are 2.1 million. */
const MAX_STATION_ROWS = 4_000_000

/** Rows of all copies of `latest_obs.txt`, at 36 bytes: 4,000 copies of a thousand stations. */
const MAX_LATEST_ROWS = 4_000_000

/** Levels of nested folders from `latest_obs` down. */
const MAX_DEPTH = 4

/** `41001.txt`, `46240h2009.txt.gz`, `46097h201908qc.txt`: the identifier is the first group. */
const DATA_FILE = /^([0-9a-z]{3,8}?)(?:h\d{4}(?:\d{2})?(?:qc)?)?\.txt(?:\.gz)?$/i

/** `4100132024.txt.gz`, `440358732024.txt`: 41001 and 4403587 in March 2024. The digit of the month is a, b or c from October on. */
const MONTH_FILE = /^([0-9a-z]{5}|[0-9]{7})[1-9abcm](?:19|20)\d\d\.txt(?:\.gz)?$/i

/** `44013.spec`: the spectral wave summary that goes with `44013.txt`. */
const SUMMARY_FILE = /^([0-9a-z]{3,8})\.spec(?:\.gz)?$/i

const LATEST_FILE = /^latest_obs.*\.txt(?:\.gz)?$/i
const LATEST_FOLDER = 'latest_obs'

/** Feeds of a station: the archive is quality-controlled and wins at equal times. */
const ARCHIVE_FEED = 0

const REALTIME_FEED = 1

export const openNdbc: OpenSource = (folder) => ({
  read: (sink, context) => readNdbc(folder, sink, context),
})

async function readNdbc(folder: string, sink: Sink, context: SourceContext): Promise<void> {
  const { report } = context
  const root = await listSource('ndbc', folder)
  const latestPaths = root.files.filter((name) => LATEST_FILE.test(name)).map((name) => join(folder, name))
  const copies = await listBelow(folder, LATEST_FOLDER, MAX_DEPTH)
  latestPaths.push(...copies.files.filter(isLatest).map((name) => join(folder, name)))
  const ignored = [...copies.files.filter((name) => !isLatest(name)), ...copies.folders]
  const stations = await readStations(folder, root.files, report)
  if (stations === null && latestPaths.length === 0) {
    throw new BuildError(`ndbc: ${folder} holds neither activestations*.xml nor station_table*.txt`)
  }
  const known = stations ?? new Map<string, Station>()
  const paths = new Map<string, string[]>()
  const summaries: string[] = []
  const names: string[] = []
  for (const sub of ['stdmet', 'realtime2']) {
    // The archive has the months of this year in folders: `stdmet/Jan`.
    const { files, folders } = await listBelow(folder, sub, 2)
    names.push(...files)
    ignored.push(...folders)
  }
  const isList = (name: string): boolean =>
    ACTIVE_STATIONS.test(name) || STATION_TABLE.test(name) || LATEST_FILE.test(name)
  for (const name of [...names, ...root.files.filter((one) => !isList(one))]) {
    const identifier = identifierOf(basename(name))
    // Other text files may lie in the folder itself: only a listed station makes one of them a data file.
    const isData = identifier !== null && (name !== basename(name) || known.has(identifier))
    if (SUMMARY_FILE.test(basename(name))) summaries.push(name)
    else if (isData) entryOf(paths, identifier, () => []).push(join(folder, name))
    else ignored.push(name)
  }
  for (const name of summaries) {
    // A summary adds to the readings of its station and makes none.
    const dataPaths = paths.get(SUMMARY_FILE.exec(basename(name))![1].toUpperCase())
    if (dataPaths === undefined) ignored.push(name)
    else dataPaths.push(join(folder, name))
  }
  const folders = new Set(['stdmet', 'realtime2', LATEST_FOLDER])
  ignored.push(...root.folders.filter((name) => !folders.has(name)))
  doubtIgnored(report, ignored)
  if (paths.size + latestPaths.length === 0) throw new BuildError(`ndbc: ${folder} holds no data files`)

  sink.source({
    name: SOURCE,
    network: 'national',
    credit: 'NOAA National Data Buoy Center (NDBC) and its partners',
    licence: 'Public domain (work of the United States government)',
  })
  const latest = await readLatest(latestPaths, report)
  const handles = announce(sink, report, known, latest, [...paths.keys()])
  const batch = new RowBatch(BATCH_ROWS)
  const feeds = [new StationRows(8192), new StationRows(8192)]
  for (const [identifier, buoy] of handles) {
    for (const rows of feeds) rows.clear()
    const rows = latest.rows.get(identifier)
    // Rows of the station's own file come later, and count where both have a time.
    if (rows !== undefined) feeds[REALTIME_FEED].append(rows, latest.file)
    latest.rows.delete(identifier)
    await readStation({ buoy, identifier }, paths.get(identifier) ?? [], feeds, batch, sink, report)
  }
}

const isLatest = (path: string): boolean => LATEST_FILE.test(basename(path))

/** What a folder within the source's has, which may be missing, by its path from the source's. */
async function listBelow(folder: string, sub: string, levels: number): Promise<FolderListing> {
  const { files, folders } = (await listFolder(join(folder, sub), levels)) ?? { files: [], folders: [] }
  const within = (name: string): string => join(sub, name)
  return { files: files.map(within), folders: folders.map(within) }
}

/** Announces all stations with a position, from the station lists before those in `latest_obs.txt`. */
function announce(
  sink: Sink,
  report: Report,
  known: ReadonlyMap<string, Station>,
  latest: Latest,
  identifiers: readonly string[],
): Map<string, number> {
  const records = new Map<string, Partial<BuoyRecord>>()
  for (const identifier of new Set([...identifiers, ...latest.rows.keys()])) {
    const { name = '', ...place } = known.get(identifier) ?? {}
    records.set(identifier, { ...place, name: name === '' ? `Station ${identifier}` : name })
    // A station without a row in any copy is known by its own files.
    latest.positions.see(identifier, 0, NaN, NaN, '')
  }
  return latest.positions.announce(sink, SOURCE, report, records)
}

function identifierOf(fileName: string): string | null {
  return (DATA_FILE.exec(fileName) ?? MONTH_FILE.exec(fileName))?.[1].toUpperCase() ?? null
}

interface Latest {
  /** Of the last copy: what is skipped of the rows is counted there. */
  file: FileReport
  rows: Map<string, StationRows>
  positions: Stations
}

/** Reads all copies. */
async function readLatest(paths: readonly string[], report: Report): Promise<Latest> {
  const latest: Latest = { file: UNCOUNTED, rows: new Map(), positions: new Stations() }
  const codes = new Int32Array(WIDTH)
  let count = 0
  for (const path of paths) {
    const file = report.file(path)
    latest.file = file
    const bytes = await readText(path, file, MAX_LIST_BYTES)
    const reader = openRows(bytes, file)
    if (reader === null) {
      file.end()
      continue
    }
    const { fields, header } = reader
    const [stationField, latField, lngField] = ['STN', 'LAT', 'LON'].map((label) =>
      header.labels.indexOf(label),
    )
    if (stationField < 0 || latField < 0 || lngField < 0) {
      file.bad(1, 'the header lacks STN, LAT or LON')
      file.end()
      continue
    }
    const found: (RowHead & { codes: Int32Array })[] = []
    while (reader.next(codes, 0)) {
      const identifier = textOf(bytes, fields, stationField).toUpperCase()
      const lat = degreesOf(textOf(bytes, fields, latField), 90)
      const lng = degreesOf(textOf(bytes, fields, lngField), 360)
      if (!IDENTIFIER.test(identifier) || Number.isNaN(lat) || Number.isNaN(lng)) {
        reader.refuse('a row without a valid station, LAT or LON')
        continue
      }
      if (++count > MAX_LATEST_ROWS)
        throw new BuildError(`ndbc: latest_obs has more than ${MAX_LATEST_ROWS} rows`)
      found.push({ identifier, time: reader.time, lat, lng, codes: codes.slice() })
    }
    for (const { identifier, time, lat, lng, codes: ofRow } of file.end() ? found : []) {
      latest.positions.see(identifier, time, lat, lng, '')
      const rows = entryOf(latest.rows, identifier, () => new StationRows(4))
      rows.reserve(1)
      rows.time[rows.length] = time
      rows.codes.set(ofRow, rows.length * WIDTH)
      rows.length++
    }
  }
  return latest
}

/** Reads the files of a station after what `feeds` hold, and sends everything. */
async function readStation(
  station: StationHandle,
  paths: readonly string[],
  feeds: readonly StationRows[],
  batch: RowBatch,
  sink: Sink,
  report: Report,
): Promise<void> {
  const summaries: Summary[] = []
  for (const path of paths) {
    const file = report.file(path)
    if (SUMMARY_FILE.test(basename(path))) {
      const found = readSummaries(await readText(path, file), file, station.identifier)
      if (file.end()) for (const summary of found) summaries.push(summary)
      continue
    }
    const reader = openRows(await readText(path, file), file, station.identifier)
    if (reader === null) {
      file.end()
      continue
    }
    const rows = feeds[reader.header.realtime ? REALTIME_FEED : ARCHIVE_FEED]
    const first = rows.length
    rows.files.push({ first, file })
    for (;;) {
      rows.reserve(1)
      if (!reader.next(rows.codes, rows.length * WIDTH)) break
      if (rows.length >= MAX_STATION_ROWS)
        throw new BuildError(`ndbc: a station has more than ${MAX_STATION_ROWS} rows`)
      rows.time[rows.length++] = reader.time
    }
    if (file.end()) continue
    rows.length = first
    rows.files.pop()
  }
  for (const [feed, rows] of feeds.entries()) {
    sendRows(station, rows, feed, batch, sink, feed === REALTIME_FEED ? summaries : [])
  }
}
