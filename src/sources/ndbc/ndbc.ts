/**
 * NDBC, the United States' national network, as its public folders serve it (`docs/sources-networks.md`). A
 * newest row often has wind alone, so a source of `latest_obs.txt` alone is configured as not complete.
 * `period` is DPD, the dominant period, and never the average period APD. Times are UTC.
 */
import { basename, join, sep } from 'node:path'
import { IDENTIFIER, isStationList, readStations } from './station-lists.ts'
import { sendRows, type StationHandle } from './ndbc-samples.ts'
import { BuildError } from '../../system/build-error.ts'
import type { BuoyRecord } from '../../sea/records.ts'
import type { OpenSource, Report, Sink, SourceContext } from '../source.ts'
import { readSpectra, spectraFile, type SpectraFile } from './ndbc-spectra.ts'
import { type Line, readRows, readSummary, type RowCodes, StationRows } from './ndbc-rows.ts'
import { Stations } from '../reading/stations.ts'
import { degreesOf } from '../reading/fields.ts'
import { listSource, readText, doubtIgnored, takeDoubts } from '../reading/source-files.ts'
import { entryOf } from '../../system/entry-of.ts'

const SOURCE = 'NDBC'

/**
 * Rows of all copies of `latest_obs.txt` and `hour_HH.txt`, at 42 bytes: 4,000 copies of a thousand stations.
 */
const MAX_SHARED_ROWS = 4_000_000
/** Bytes of one copy. */
const MAX_SHARED_BYTES = 64 * 2 ** 20

/** Levels of nested folders, with the source's own: `latest_obs/2026/06/22`. */
const MAX_LEVELS = 5

/**
 * Folders by their files, as NDBC names them: files of a station, and of all stations at a time. '' is the
 * source's own.
 */
const STATION_FOLDERS = new Set(['stdmet', 'realtime2', '5day2'])
const SHARED_FOLDERS = new Set(['', 'latest_obs', 'hourly2'])

/**
 * `41001.txt`, `41001_5day.txt`, `46240h2009.txt.gz`, `46097h201908qc.txt`: the identifier is the first
 * group.
 */
const DATA_FILE = /^([0-9a-z]{3,8}?)(?:_5day|h\d{4}(?:\d{2})?(?:qc)?)?\.txt(?:\.gz)?$/i

/**
 * `4100132024.txt.gz`, `440358732024.txt`: 41001 and 4403587 in March 2024. The digit of the month is a, b or
 * c from October on.
 */
const MONTH_FILE = /^([0-9a-z]{5}|[0-9]{7})[1-9abcm](?:19|20)\d\d\.txt(?:\.gz)?$/i

/** `44013.spec`: the spectral wave summary that goes with `44013.txt`. */
const SUMMARY_FILE = /^([0-9a-z]{3,8})(?:_5day)?\.spec(?:\.gz)?$/i

/** Rows of all stations: `latest_obs.txt`, and `hour_07.txt`, which has no positions. */
const SHARED_FILE = /^(?:latest_obs.*|hour_\d\d)\.txt(?:\.gz)?$/i

/** Feeds of a station: the archive is quality-controlled and wins at equal times. */
const ARCHIVE_FEED = 0
const REALTIME_FEED = 1

export const openNdbc: OpenSource = (folder) => ({
  read: (sink, context) => readNdbc(folder, sink, context),
})

async function readNdbc(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const { known, shared, paths, spectra } = await findFiles(folder, report)
  sink.source({
    name: SOURCE,
    network: 'national',
    credit: 'NOAA National Data Buoy Center (NDBC) and its partners',
    licence: 'Public domain (work of the United States government)',
  })
  sink.listed(SOURCE, [...known.keys()])
  const stations = new Stations()
  const newest = await readShared(shared, stations, report)
  // A station without a row in any copy is known by its own files.
  for (const identifier of [...paths.keys(), ...spectra.keys(), ...newest.keys()])
    stations.see(identifier, 0, NaN, NaN, `Station ${identifier}`)
  const archive = new StationRows(8192)
  for (const [identifier, buoy] of stations.announce(sink, SOURCE, report, known)) {
    archive.clear(0)
    // Rows of the station's own file come later, and count where both have a time.
    const realtime = newest.get(identifier) ?? new StationRows(64)
    newest.delete(identifier)
    await readStation({ buoy, identifier }, paths.get(identifier) ?? [], [archive, realtime], sink, report)
    await readSpectra({ buoy, identifier }, spectra.get(identifier) ?? [], sink, report)
  }
}

interface FoundFiles {
  /** The facts of stations in the lists. */
  known: Map<string, Partial<BuoyRecord>>
  shared: string[]
  /** Files of stations, summaries last. */
  paths: Map<string, string[]>
  spectra: Map<string, SpectraFile[]>
}

async function findFiles(folder: string, report: Report): Promise<FoundFiles> {
  const { files, folders: ignored } = await listSource('ndbc', folder, MAX_LEVELS)
  const folderOf = (name: string): string => (name === basename(name) ? '' : name.split(sep)[0])
  const lists = files.filter((name) => folderOf(name) === '' && isStationList(name))
  const shared = files.filter(
    (name) => SHARED_FILE.test(basename(name)) && SHARED_FOLDERS.has(folderOf(name)),
  )
  if (lists.length + shared.length === 0)
    throw new BuildError(`ndbc: ${folder} holds neither activestations*.xml nor station_table*.txt`)
  const known = await readStations(folder, lists, report)
  const paths = new Map<string, string[]>()
  const spectra = new Map<string, SpectraFile[]>()
  const taken = new Set([...lists, ...shared])
  const others = files.filter((name) => !taken.has(name))
  // A summary adds to the readings of its station and makes none.
  for (const name of others.sort((a, b) => rankOf(a) - rankOf(b))) {
    const ofSpectra = spectraFile(basename(name), join(folder, name))
    if (ofSpectra !== null && (known.has(ofSpectra.identifier) || paths.has(ofSpectra.identifier))) {
      entryOf(spectra, ofSpectra.identifier, () => []).push(ofSpectra)
      continue
    }
    const identifier = identifierOf(basename(name))
    // Other text files may be in the folder itself: only a listed station makes one of them a data file.
    const isData = folderOf(name) === '' ? known.has(identifier) : STATION_FOLDERS.has(folderOf(name))
    if (identifier === '' || (isSummary(name) ? !paths.has(identifier) : !isData)) ignored.push(name)
    else entryOf(paths, identifier, () => []).push(join(folder, name))
  }
  doubtIgnored(report, ignored)
  if (paths.size + spectra.size + shared.length === 0)
    throw new BuildError(`ndbc: ${folder} holds no data files`)
  return { known, shared: shared.map((name) => join(folder, name)), paths, spectra }
}

const isSummary = (name: string): boolean => SUMMARY_FILE.test(basename(name))

/** Data files come first: they make a station known. */
const rankOf = (name: string): number => Number(isSummary(name) || spectraFile(basename(name), name) !== null)

/** The station in a file's name, or nothing. */
function identifierOf(name: string): string {
  const [, word = ''] = DATA_FILE.exec(name) ?? MONTH_FILE.exec(name) ?? SUMMARY_FILE.exec(name) ?? []
  return word.toUpperCase()
}

/** Station, position and time of a row. */
interface RowHead {
  identifier: string
  /** Epoch seconds. */
  time: number
  lat: number
  lng: number
}

/** The rows of files of all stations, by station. */
async function readShared(
  paths: readonly string[],
  stations: Stations,
  report: Report,
): Promise<Map<string, StationRows>> {
  const newest = new Map<string, StationRows>()
  let count = 0
  for (const path of paths) {
    const file = report.file(path)
    const bytes = await readText(path, file, MAX_SHARED_BYTES)
    const found: (RowHead & RowCodes)[] = []
    readRows(bytes, file, takeDoubts(report, path), undefined, (line) => {
      const head = headOf(line)
      if (head === null) return 'a row without a valid station, LAT or LON'
      if (++count > MAX_SHARED_ROWS)
        throw new BuildError(`ndbc: latest_obs and hourly2 have more than ${MAX_SHARED_ROWS} rows`)
      found.push({ ...head, names: line.names, codes: line.codes.slice() })
      return null
    })
    for (const row of file.end() ? found : []) {
      stations.see(row.identifier, row.time, row.lat, row.lng, '')
      entryOf(newest, row.identifier, () => new StationRows(4)).add(row, file)
    }
  }
  return newest
}

function headOf({ time, text }: Line): RowHead | null {
  const identifier = text('STN').toUpperCase()
  const [lat, lng] = [degreesOf(text('LAT'), 90), degreesOf(text('LON'), 360)]
  const isPlaced = text('LAT') + text('LON') === '' || !Number.isNaN(lat + lng)
  return IDENTIFIER.test(identifier) && isPlaced ? { identifier, time, lat, lng } : null
}

/** Reads the files of a station after what `feeds` hold, and sends everything. */
async function readStation(
  station: StationHandle,
  paths: readonly string[],
  feeds: readonly StationRows[],
  sink: Sink,
  report: Report,
): Promise<void> {
  const { identifier } = station
  const summaries = new StationRows(64)
  const all = [...feeds, summaries]
  for (const path of paths) {
    const file = report.file(path)
    const bytes = await readText(path, file)
    const before = all.map(({ files }) => files.length)
    const doubt = takeDoubts(report, path)
    if (isSummary(path)) readSummary(bytes, file, doubt, identifier, summaries)
    else {
      readRows(bytes, file, doubt, identifier, (line) => {
        feeds[line.isRealtime ? REALTIME_FEED : ARCHIVE_FEED].add(line, file)
        return null
      })
    }
    if (!file.end()) all.forEach((rows, i) => rows.clear(before[i]))
  }
  sendRows(station, ARCHIVE_FEED, feeds[ARCHIVE_FEED], new StationRows(0), sink)
  sendRows(station, REALTIME_FEED, feeds[REALTIME_FEED], summaries, sink)
}
