/**
 * NDBC, the United States' national network, as its public folders serve it: `realtime2/STATION.txt` (the last 45 days, newest first),
 * `stdmet/STATIONhYEAR.txt` (the quality-controlled archive in five generations of headers), `activestations*.xml` and
 * `station_table*.txt` (positions and names).
 *
 * `period` is DPD, the dominant period, as is `peak_period`: NDBC has no significant period, and its average period APD is a
 * different quantity, so a row with APD alone has no period. There is no maximum height.
 */
import { join } from 'node:path'
import { SaxesParser } from 'saxes'
import { RowBatch } from '../columns.ts'
import {
  BuildError,
  type FileReport,
  type OpenSource,
  type Report,
  type Sink,
  type SourceContext,
} from './source.ts'
import {
  cleanName,
  decode,
  degreesOf,
  digitsAt,
  epochSeconds,
  Fields,
  listFolder,
  measureColumn,
  type MeasureColumn,
  NO_CODE,
  readMeasures,
  readText,
  splitBlanks,
  textsOf,
} from './text.ts'

const SOURCE = 'NDBC'

/** The station lists have 0.3 MB; ten times as many stations with longer notes still fit. */
const MAX_LIST_BYTES = 64 * 2 ** 20

/** Rows of one station that are held at once: 40 years of ten-minute rows are 2.1 million. */
const MAX_STATION_ROWS = 4_000_000

const BATCH_ROWS = 8192

/** A station that sends one sample twice does so in rows this close, in seconds. */
const REPEAT_SECONDS = 600

/** `41001.txt`, `46240h2009.txt.gz`, `46097h201908qc.txt`: the identifier is the first group. */
const DATA_FILE = /^([0-9a-z]{3,8}?)(?:h\d{4}(?:\d{2})?(?:qc)?)?\.txt(?:\.gz)?$/i
const ACTIVE_STATIONS = /^activestations.*\.xml(?:\.gz)?$/i
const STATION_TABLE = /^station_table.*\.txt(?:\.gz)?$/i

/** Feeds of a station: the archive is quality-controlled and wins at equal times. */
const ARCHIVE_FEED = 0
const REALTIME_FEED = 1

/** Opens `folder` as a mirror of NDBC's public data. */
export const openNdbc: OpenSource = (folder) => ({
  read: (sink, context) => readNdbc(folder, sink, context),
})

async function readNdbc(folder: string, sink: Sink, context: SourceContext): Promise<void> {
  const { report } = context
  const root = await listFolder(folder)
  if (root === null) throw new BuildError(`ndbc: there is no folder ${folder}`)
  const stations = await readStations(folder, root.files, report)
  const paths = new Map<string, string[]>()
  const ignored: string[] = []
  for (const sub of ['stdmet', 'realtime2']) {
    const names = (await listFolder(join(folder, sub)))?.files ?? []
    for (const name of names) {
      const identifier = identifierOf(name)
      if (identifier === null) ignored.push(join(sub, name))
      else append(paths, identifier, join(folder, sub, name))
    }
  }
  for (const name of root.files) {
    if (ACTIVE_STATIONS.test(name) || STATION_TABLE.test(name)) continue
    const identifier = identifierOf(name)
    // Beside the data lie texts of any kind: only a listed station makes a file of this folder a data file.
    if (identifier === null || !stations.has(identifier)) ignored.push(name)
    else append(paths, identifier, join(folder, name))
  }
  for (const name of root.folders) if (name !== 'stdmet' && name !== 'realtime2') ignored.push(name)
  warnOfSome(report, 'ignored', ignored)
  if (paths.size === 0) throw new BuildError(`ndbc: ${folder} holds no data files`)

  sink.source({
    name: SOURCE,
    network: 'national',
    credit: 'NOAA National Data Buoy Center (NDBC) and its partners',
    licence: 'Public domain (work of the United States government)',
  })
  const placeless: string[] = []
  const batch = new RowBatch(BATCH_ROWS)
  for (const identifier of [...paths.keys()].sort()) {
    const station = stations.get(identifier)
    if (station?.lat === undefined || station.lng === undefined) {
      placeless.push(identifier)
      continue
    }
    const buoy = sink.buoy({
      source: SOURCE,
      identifier,
      name: station.name === '' ? `Station ${identifier}` : station.name,
      lat: station.lat,
      lng: station.lng,
    })
    await readStation(buoy, paths.get(identifier) ?? [], batch, sink, report)
  }
  warnOfSome(report, 'left out for want of a position', placeless)
}

function identifierOf(fileName: string): string | null {
  return DATA_FILE.exec(fileName)?.[1].toUpperCase() ?? null
}

function append(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** One remark for any number of names, so that a whole mirror does not drown the report. */
function warnOfSome(report: Report, what: string, names: readonly string[]): void {
  if (names.length === 0) return
  const rest = names.length > 12 ? ', …' : ''
  report.warn(`ndbc: ${names.length} ${what}: ${JSON.stringify(names.slice(0, 12)).slice(1, -1)}${rest}`)
}

interface Station {
  /** Empty where no list has one. */
  name: string
  lat?: number
  lng?: number
}

interface StationList {
  /** Lists written later come first. */
  created: string
  stations: Map<string, Station>
}

/**
 * Joins all station lists: the active stations by age, newest first, then the station table, which also knows dead stations. What a
 * list leaves open, the next one fills.
 */
async function readStations(
  folder: string,
  names: readonly string[],
  report: Report,
): Promise<Map<string, Station>> {
  const active: StationList[] = []
  const tables: StationList[] = []
  for (const name of names) {
    const isActive = ACTIVE_STATIONS.test(name)
    if (!isActive && !STATION_TABLE.test(name)) continue
    const path = join(folder, name)
    const file = report.file(path)
    const text = decode(await readText(path, file, MAX_LIST_BYTES))
    if (isActive) active.push(parseActiveStations(text, file))
    else tables.push({ created: name, stations: parseStationTable(text, file) })
    file.end()
  }
  if (active.length + tables.length === 0) {
    throw new BuildError(`ndbc: ${folder} holds neither activestations*.xml nor station_table*.txt`)
  }
  const stations = new Map<string, Station>()
  const newestFirst = (a: StationList, b: StationList): number =>
    a.created < b.created ? 1 : a.created > b.created ? -1 : 0
  for (const list of [...active.sort(newestFirst), ...tables.sort(newestFirst)]) {
    for (const [identifier, found] of list.stations) {
      const known = stations.get(identifier)
      if (known === undefined) stations.set(identifier, found)
      else {
        if (known.name === '') known.name = found.name
        if (known.lat === undefined) place(known, found.lat, found.lng)
      }
    }
  }
  return stations
}

function place(station: Station, lat: number | undefined, lng: number | undefined): void {
  if (lat === undefined || lng === undefined) return
  // Where the list's owner has no position for a glider, it writes 30 N 90 W, which is New Orleans.
  if (lat === 30 && lng === -90) return
  station.lat = lat
  station.lng = lng
}

function parseActiveStations(text: string, file: FileReport): StationList {
  const list: StationList = { created: '', stations: new Map() }
  const parser = new SaxesParser()
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'stations') list.created = attributes['created'] ?? ''
    if (name !== 'station') return
    const identifier = (attributes['id'] ?? '').toUpperCase()
    const lat = degreesOf(attributes['lat'] ?? '', 90)
    const lng = degreesOf(attributes['lon'] ?? '', 180)
    if (!/^[0-9A-Z]{3,8}$/.test(identifier) || Number.isNaN(lat) || Number.isNaN(lng)) {
      file.bad(parser.line, 'a station without a valid id, lat or lon')
      return
    }
    const station: Station = { name: cleanName(attributes['name'] ?? '') }
    place(station, lat, lng)
    list.stations.set(identifier, station)
    file.rows(1)
  })
  try {
    parser.write(text).close()
  } catch {
    file.bad(parser.line, 'not well-formed XML; the rest of the file is not read')
  }
  return list
}

/** `57.567 N 76.257 W` at the start of the seventh of ten fields. */
const TABLE_LOCATION = /^(\d{1,3}(?:\.\d+)?) ([NS]) (\d{1,3}(?:\.\d+)?) ([EW])/

function parseStationTable(text: string, file: FileReport): Map<string, Station> {
  const stations = new Map<string, Station>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('#') || line.trim() === '') continue
    const cells = line.split('|')
    const identifier = cells[0].trim().toUpperCase()
    if (cells.length < 7 || !/^[0-9A-Z]{3,8}$/.test(identifier)) {
      file.bad(index + 1, 'not a line of the station table')
      continue
    }
    const station: Station = { name: cleanName(cells[4]) }
    const location = TABLE_LOCATION.exec(cells[6].trim())
    if (location !== null) {
      const lat = degreesOf(location[1], 90) * (location[2] === 'S' ? -1 : 1)
      const lng = degreesOf(location[3], 180) * (location[4] === 'W' ? -1 : 1)
      if (!Number.isNaN(lat) && !Number.isNaN(lng)) place(station, lat, lng)
    }
    stations.set(identifier, station)
    file.rows(1)
  }
  return stations
}

/** The rows of one feed of a station, in the order of its files; codes as in the snapshot, NO_CODE where missing. */
class StationRows {
  length = 0
  time: Float64Array = new Float64Array(8192)
  /** The values of each row side by side, in the order of READ. */
  codes: Int32Array = new Int32Array(8192 * READ.length)
  /** Row at which each file begins. */
  readonly files: { first: number; file: FileReport }[] = []

  add(time: number, codes: Int32Array): void {
    if (this.length === this.time.length) {
      const longer = new Float64Array(this.length * 2)
      longer.set(this.time)
      this.time = longer
      const wider = new Int32Array(this.codes.length * 2)
      wider.set(this.codes)
      this.codes = wider
    }
    this.time[this.length] = time
    this.codes.set(codes, this.length * READ.length)
    this.length++
  }

  fileOf(row: number): FileReport {
    let found = this.files[0]
    for (const entry of this.files) if (entry.first <= row) found = entry
    return found.file
  }
}

/**
 * What is read of a row, by the header's names since 2007. APD is read for the comparison of samples only.
 * The archive marks "missing" by nines, column by column: in another column the same number is a measurement.
 */
const READ = [
  { label: 'WVHT', measure: 'significantHeight', nines: 99, metresPerSecond: false },
  { label: 'DPD', measure: 'period', nines: 99, metresPerSecond: false },
  { label: 'APD', measure: 'period', nines: 99, metresPerSecond: false },
  { label: 'MWD', measure: 'direction', nines: 999, metresPerSecond: false },
  { label: 'WTMP', measure: 'waterTemperature', nines: 999, metresPerSecond: false },
  { label: 'WDIR', measure: 'windDirection', nines: 999, metresPerSecond: false },
  { label: 'WSPD', measure: 'windSpeed', nines: 99, metresPerSecond: true },
  { label: 'GST', measure: 'gustSpeed', nines: 99, metresPerSecond: true },
] as const
const WVHT = 0
const DPD = 1
const APD = 2
const MWD = 3
const WTMP = 4
const WDIR = 5
const WSPD = 6
const GST = 7

/** Names of the header before 2007. */
const OLD_LABELS: { readonly [label: string]: string } = { WD: 'WDIR', BAR: 'PRES', YYYY: 'YY' }

interface Header {
  fieldCount: number
  realtime: boolean
  /** Five fields: year, month, day, hour, minute; −1 for a minute that the generation does not have. */
  time: readonly number[]
  columns: readonly MeasureColumn[]
  /** For each of READ its place in `columns`, or −1. */
  places: readonly number[]
}

function parseHeader(bytes: Uint8Array, fields: Fields): Header | null {
  const labels = textsOf(bytes, fields)
    .map((label, index) => (index === 0 ? label.replace('#', '') : label))
    .map((label) => OLD_LABELS[label] ?? label)
  const time = ['YY', 'MM', 'DD', 'hh', 'mm'].map((label) => labels.indexOf(label))
  if (time.slice(0, 4).includes(-1) || !labels.includes('WVHT') || !labels.includes('DPD')) return null
  // Only the real-time files have the pressure tendency, and only they write MM and never nines.
  const realtime = labels.includes('PTDY')
  const columns: MeasureColumn[] = []
  const places = READ.map(({ label, measure, nines, metresPerSecond }) => {
    const field = labels.indexOf(label)
    if (field < 0) return -1
    const missing = realtime ? {} : { missing: [nines, nines] as const }
    return columns.push(measureColumn(measure, field, label, { metresPerSecond, ...missing })) - 1
  })
  return { fieldCount: fields.count, realtime, time, columns, places }
}

async function readStation(
  buoy: number,
  paths: readonly string[],
  batch: RowBatch,
  sink: Sink,
  report: Report,
): Promise<void> {
  const feeds = [new StationRows(), new StationRows()]
  const files: FileReport[] = []
  for (const path of paths) {
    const file = report.file(path)
    files.push(file)
    parseRows(await readText(path, file), feeds, file)
  }
  for (const [feed, rows] of feeds.entries()) sendRows(buoy, rows, feed, batch, sink)
  // Only now, for the rule on repeats is applied over all files of a feed and still counts.
  for (const file of files) file.end()
}

/** Appends the rows of a file to the feed that its header names. */
function parseRows(bytes: Uint8Array, feeds: readonly StationRows[], file: FileReport): void {
  const fields = new Fields()
  let line = 1
  let at = 0
  do {
    splitBlanks(bytes, at, fields)
    at = fields.next
    line++
  } while (fields.count === 0 && at < bytes.length)
  const header = parseHeader(bytes, fields)
  if (header === null) {
    file.bad(line - 1, 'no header line of an NDBC standard meteorological file')
    return
  }
  const { columns, places, fieldCount } = header
  const [yearField, monthField, dayField, hourField, minuteField] = header.time
  const rows = feeds[header.realtime ? REALTIME_FEED : ARCHIVE_FEED]
  rows.files.push({ first: rows.length, file })
  const read = new Int32Array(columns.length)
  const codes = new Int32Array(READ.length)
  const { starts, ends } = fields
  let understood = 0
  for (; at < bytes.length; at = fields.next, line++) {
    splitBlanks(bytes, at, fields)
    // The unit line, and remarks between the rows.
    if (fields.count === 0 || bytes[starts[0]] === 35) continue
    if (fields.count !== fieldCount) {
      file.bad(line, 'wrong number of fields')
      continue
    }
    const year = digitsAt(bytes, starts[yearField], ends[yearField])
    const time = epochSeconds(
      // Years had two digits until 1998.
      year >= 0 && year < 100 ? 1900 + year : year,
      digitsAt(bytes, starts[monthField], ends[monthField]),
      digitsAt(bytes, starts[dayField], ends[dayField]),
      digitsAt(bytes, starts[hourField], ends[hourField]),
      minuteField < 0 ? 0 : digitsAt(bytes, starts[minuteField], ends[minuteField]),
      0,
    )
    if (time < 0) {
      file.bad(line, 'no valid date and time')
      continue
    }
    const fault = readMeasures(bytes, fields, columns, read, file)
    if (fault !== null) {
      file.bad(line, fault)
      continue
    }
    understood++
    for (let i = 0; i < codes.length; i++) codes[i] = places[i] < 0 ? NO_CODE : read[places[i]]
    if (codes[WVHT] === NO_CODE && !hasWeather(codes, 0))
      file.skipped('neither waves, wind nor water temperature')
    else if (rows.length < MAX_STATION_ROWS) rows.add(time, codes)
    else throw new BuildError(`ndbc: a station has more than ${MAX_STATION_ROWS} rows`)
  }
  file.rows(understood)
}

/** Whether the values at `base` hold wind or water temperature. */
function hasWeather(codes: Int32Array, base: number): boolean {
  return (
    codes[base + WTMP] !== NO_CODE ||
    codes[base + WDIR] !== NO_CODE ||
    codes[base + WSPD] !== NO_CODE ||
    codes[base + GST] !== NO_CODE
  )
}

/** Sends the rows of a feed in time order, each wave sample once. */
function sendRows(buoy: number, rows: StationRows, feed: number, batch: RowBatch, sink: Sink): void {
  const order = timeOrder(rows)
  const isSample = chooseSamples(rows, order)
  const { codes } = rows
  for (const row of order) {
    const base = row * READ.length
    const hasWaves = isSample[row] === 1
    // A repeat goes on as a row even when nothing is left of it: an earlier build, which did not know the second of the two
    // yet, may have taken it for the sample.
    if (!hasWaves && codes[base + WVHT] !== NO_CODE) rows.fileOf(row).skipped('waves repeat a sample')
    if (batch.length === BATCH_ROWS) {
      sink.rows(buoy, batch, feed)
      batch.clear()
    }
    const to = batch.add(rows.time[row])
    const { columns } = batch
    if (hasWaves) {
      columns.significantHeight[to] = codes[base + WVHT]
      put(columns.period, to, codes[base + DPD])
      put(columns.peakPeriod, to, codes[base + DPD])
      put(columns.direction, to, codes[base + MWD])
    }
    put(columns.waterTemperature, to, codes[base + WTMP])
    put(columns.windDirection, to, codes[base + WDIR])
    put(columns.windSpeed, to, codes[base + WSPD])
    put(columns.gustSpeed, to, codes[base + GST])
  }
  if (batch.length > 0) sink.rows(buoy, batch, feed)
  batch.clear()
}

function put(column: Uint16Array | Int16Array, row: number, code: number): void {
  if (code !== NO_CODE) column[row] = code
}

/** Rows by time; of rows with one time only the last that was read, for files of one feed overlap by an hour or a day. */
function timeOrder(rows: StationRows): number[] {
  const { time, length } = rows
  const order = Array.from({ length }, (_, row) => row)
  // The sort is stable and linear on the few ascending or descending stretches that files are made of.
  order.sort((a, b) => time[a] - time[b])
  return order.filter((row, at) => at + 1 === length || time[row] !== time[order[at + 1]])
}

/**
 * Marks the rows that stand for a wave sample. A hull sends one sample twice, first without DPD and ten minutes later with it: in time
 * order a run of wave rows, each within REPEAT_SECONDS of the one before it and with equal WVHT, APD and MWD, is one sample, and
 * its row is the first that has DPD, else the first.
 */
function chooseSamples(rows: StationRows, order: readonly number[]): Uint8Array {
  const { time, codes, length } = rows
  const isSample = new Uint8Array(length)
  let previous = -1
  let chosen = -1
  for (const row of order) {
    const base = row * READ.length
    if (codes[base + WVHT] === NO_CODE) continue
    const before = previous * READ.length
    const repeats =
      previous >= 0 &&
      time[row] - time[previous] <= REPEAT_SECONDS &&
      codes[base + WVHT] === codes[before + WVHT] &&
      codes[base + APD] === codes[before + APD] &&
      codes[base + MWD] === codes[before + MWD]
    previous = row
    if (repeats && (codes[chosen * READ.length + DPD] !== NO_CODE || codes[base + DPD] === NO_CODE)) continue
    if (repeats) isSample[chosen] = 0
    isSample[row] = 1
    chosen = row
  }
  return isSample
}
