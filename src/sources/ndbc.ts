/**
 * NDBC, the United States' national network, as its public folders serve it: `realtime2/STATION.txt` (the
 * last 45 days, newest first), `stdmet/STATIONhYEAR.txt` (the quality-controlled archive in five generations
 * of headers), `latest_obs/` with any number of copies of `latest_obs.txt` (the newest row of every station
 * that reported lately, with its position), `activestations*.xml` and `station_table*.txt` (positions and
 * names).
 *
 * The newest row of a station is often one of wind alone, so that its newest waves stand in an older copy or
 * in what earlier builds saw; who builds from `latest_obs.txt` alone says that the source is not complete.
 *
 * `period` is DPD, the dominant period, as is `peak_period`: NDBC has no significant period, and its average
 * period APD is a different quantity, so a row with APD alone has no period. There is no maximum height.
 */
import { join } from 'node:path'
import { SaxesParser } from 'saxes'
import { MEASURES, RowBatch } from '../sea/columns.ts'
import { type FileReport, type OpenSource, type Report, type Sink, type SourceContext } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { Stations } from './reading/stations.ts'
import {
  cleanName,
  decode,
  degreesOf,
  digitsAt,
  epochSeconds,
  Fields,
  lineText,
  listFolder,
  measureColumn,
  type MeasureColumn,
  NO_CODE,
  readMeasures,
  readText,
  splitBlanks,
  textOf,
  textsOf,
} from './reading/text.ts'

const SOURCE = 'NDBC'

/** The station lists have 0.3 MB; ten times as many stations with longer notes still fit. */
const MAX_LIST_BYTES = 64 * 2 ** 20

/** Rows of one station that are held at once: 40 years of ten-minute rows are 2.1 million. */
const MAX_STATION_ROWS = 4_000_000

/**
 * Rows of all copies of `latest_obs.txt` that are held at once, at 36 bytes: 4,000 copies of a thousand
 * stations.
 */
const MAX_LATEST_ROWS = 4_000_000
/** Folders below `latest_obs` in each other. */
const MAX_DEPTH = 4

const BATCH_ROWS = 8192

/**
 * The rows of one wave sample lie within this of its first row, each at most the step after the one before,
 * in seconds.
 */
const SAMPLE_SECONDS = 1200
const REPEAT_STEP_SECONDS = 600

/** `41001.txt`, `46240h2009.txt.gz`, `46097h201908qc.txt`: the identifier is the first group. */
const DATA_FILE = /^([0-9a-z]{3,8}?)(?:h\d{4}(?:\d{2})?(?:qc)?)?\.txt(?:\.gz)?$/i
const ACTIVE_STATIONS = /^activestations.*\.xml(?:\.gz)?$/i
const STATION_TABLE = /^station_table.*\.txt(?:\.gz)?$/i
const LATEST_FILE = /^latest_obs.*\.txt(?:\.gz)?$/i
const LATEST_FOLDER = 'latest_obs'

const IDENTIFIER = /^[0-9A-Z]{3,8}$/

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
  const ignored: string[] = []
  const latestPaths = root.files.filter((name) => LATEST_FILE.test(name)).map((name) => join(folder, name))
  await findLatest(folder, LATEST_FOLDER, MAX_DEPTH, latestPaths, ignored)
  const stations = await readStations(folder, root.files, report)
  if (stations === null && latestPaths.length === 0) {
    throw new BuildError(`ndbc: ${folder} holds neither activestations*.xml nor station_table*.txt`)
  }
  const known = stations ?? new Map<string, Station>()
  const paths = new Map<string, string[]>()
  for (const sub of ['stdmet', 'realtime2']) {
    const names = (await listFolder(join(folder, sub)))?.files ?? []
    for (const name of names) {
      const identifier = identifierOf(name)
      if (identifier === null) ignored.push(join(sub, name))
      else append(paths, identifier, join(folder, sub, name))
    }
  }
  for (const name of root.files) {
    if (ACTIVE_STATIONS.test(name) || STATION_TABLE.test(name) || LATEST_FILE.test(name)) continue
    const identifier = identifierOf(name)
    // Beside the data lie texts of any kind: only a listed station makes a file of this folder a data file.
    if (identifier === null || !known.has(identifier)) ignored.push(name)
    else append(paths, identifier, join(folder, name))
  }
  const folders = new Set(['stdmet', 'realtime2', LATEST_FOLDER])
  ignored.push(...root.folders.filter((name) => !folders.has(name)))
  warnOfSome(report, 'ignored', ignored)
  if (paths.size + latestPaths.length === 0) throw new BuildError(`ndbc: ${folder} holds no data files`)

  sink.source({
    name: SOURCE,
    network: 'national',
    credit: 'NOAA National Data Buoy Center (NDBC) and its partners',
    licence: 'Public domain (work of the United States government)',
  })
  const latest = await readLatest(latestPaths, report)
  const { handles, placeless } = announce(sink, known, latest, [...paths.keys()])
  const batch = new RowBatch(BATCH_ROWS)
  const feeds = [new StationRows(8192), new StationRows(8192)]
  for (const [identifier, buoy] of handles) {
    for (const rows of feeds) rows.clear()
    const rows = latest.rows.get(identifier)
    // The rows of a file of the station come after them, and count where both have a time.
    if (rows !== undefined) feeds[REALTIME_FEED].append(rows, latest.files.at(-1)!)
    latest.rows.delete(identifier)
    await readStation({ buoy, identifier }, paths.get(identifier) ?? [], feeds, batch, sink, report)
  }
  for (const file of latest.files) file.end()
  report.withoutPosition('ndbc', placeless)
}

/** Adds the copies of `latest_obs.txt` in a folder and those below it to `found`, in order of their names. */
async function findLatest(
  folder: string,
  sub: string,
  depth: number,
  found: string[],
  ignored: string[],
): Promise<void> {
  const listing = await listFolder(join(folder, sub))
  if (listing === null) return
  for (const name of listing.files) {
    if (LATEST_FILE.test(name)) found.push(join(folder, sub, name))
    else ignored.push(join(sub, name))
  }
  for (const name of listing.folders) {
    if (depth > 1) await findLatest(folder, join(sub, name), depth - 1, found, ignored)
    else ignored.push(join(sub, name))
  }
}

/**
 * Makes all stations with a position known; what the station lists say of them counts before the position in
 * `latest_obs.txt`.
 */
function announce(
  sink: Sink,
  known: ReadonlyMap<string, Station>,
  latest: Latest,
  identifiers: readonly string[],
): { handles: Map<string, number>; placeless: string[] } {
  const records = new Map<string, Partial<BuoyRecord>>()
  for (const identifier of new Set([...identifiers, ...latest.rows.keys()])) {
    const { name = '', ...place } = known.get(identifier) ?? {}
    records.set(identifier, { ...place, name: name === '' ? `Station ${identifier}` : name })
    // A station without a row in any copy is known by its own files.
    latest.positions.see(identifier, 0, NaN, NaN, '')
  }
  return latest.positions.announce(sink, SOURCE, records)
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
  /** The word of the list of active stations: "buoy", "fixed", "oilrig", "dart", "tao", "usv", "other". */
  type?: string
}

interface StationList {
  /** Lists written later come first. */
  created: string
  stations: Map<string, Station>
}

/**
 * Joins all station lists: the active stations by age, newest first, then the station table, which also knows
 * dead stations. What a list leaves open, the next one fills. Null where there is no list.
 */
async function readStations(
  folder: string,
  names: readonly string[],
  report: Report,
): Promise<Map<string, Station> | null> {
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
  if (active.length + tables.length === 0) return null
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
        if (known.type === undefined && found.type !== undefined) known.type = found.type
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

/**
 * The parser keeps all open elements, and of one all attributes: the list has two levels and ten attributes.
 */
const MAX_ELEMENT_DEPTH = 20
const MAX_ATTRIBUTES = 100

class TooDeep extends Error {}

function parseActiveStations(text: string, file: FileReport): StationList {
  const list: StationList = { created: '', stations: new Map() }
  const parser = new SaxesParser()
  let attributesSeen = 0
  let depth = 0
  parser.on('attribute', () => {
    if (++attributesSeen > MAX_ATTRIBUTES) throw new TooDeep()
  })
  parser.on('closetag', () => {
    depth--
  })
  parser.on('opentag', ({ name, attributes }) => {
    attributesSeen = 0
    if (++depth > MAX_ELEMENT_DEPTH) throw new TooDeep()
    if (name === 'stations') list.created = attributes['created'] ?? ''
    if (name !== 'station') return
    const identifier = (attributes['id'] ?? '').toUpperCase()
    const lat = degreesOf(attributes['lat'] ?? '', 90)
    const lng = degreesOf(attributes['lon'] ?? '', 180)
    if (!IDENTIFIER.test(identifier) || Number.isNaN(lat) || Number.isNaN(lng)) {
      file.bad(parser.line, 'a station without a valid id, lat or lon')
      return
    }
    const station: Station = { name: cleanName(attributes['name'] ?? '') }
    const type = cleanName(attributes['type'] ?? '')
    if (type !== '') station.type = type
    place(station, lat, lng)
    list.stations.set(identifier, station)
    file.rows(1)
  })
  try {
    parser.write(text).close()
  } catch (error) {
    const what =
      error instanceof TooDeep
        ? `more than ${MAX_ELEMENT_DEPTH} nested elements or ${MAX_ATTRIBUTES} attributes of one`
        : 'not well-formed XML'
    file.bad(parser.line, `${what}; the rest of the file is not read`)
  }
  return list
}

/** The longest line has 700 characters, most of them a remark that is not read. */
const MAX_TABLE_LINE = 10_000

/** `57.567 N 76.257 W` at the start of the seventh of ten fields. */
const TABLE_LOCATION = /^(\d{1,3}(?:\.\d+)?) ([NS]) (\d{1,3}(?:\.\d+)?) ([EW])/

function parseStationTable(text: string, file: FileReport): Map<string, Station> {
  const stations = new Map<string, Station>()
  let number = 0
  for (let at = 0, next = 0; at < text.length; at = next) {
    const end = text.indexOf('\n', at)
    next = end < 0 ? text.length : end + 1
    number++
    const line = text.slice(at, Math.min(next, at + MAX_TABLE_LINE)).trimEnd()
    if (line.startsWith('#') || line.trim() === '') continue
    const cells = line.split('|')
    const identifier = cells[0].trim().toUpperCase()
    if (cells.length < 7 || !IDENTIFIER.test(identifier)) {
      file.bad(number, 'not a line of the station table')
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
const WIDTH = READ.length
const WVHT = 0
const DPD = 1
const APD = 2
const MWD = 3
const WTMP = 4
const WDIR = 5
const WSPD = 6
const GST = 7

/**
 * The rows of one feed of a station, in the order of its files; codes as in the snapshot, NO_CODE where
 * missing.
 */
class StationRows {
  length = 0
  time: Float64Array
  /** The values of each row side by side, in the order of READ. */
  codes: Int32Array
  /** Row at which each file begins. */
  readonly files: { first: number; file: FileReport }[] = []

  constructor(capacity: number) {
    this.time = new Float64Array(capacity)
    this.codes = new Int32Array(capacity * WIDTH)
  }

  clear(): void {
    this.length = 0
    this.files.length = 0
  }

  /** Makes room for so many rows more. */
  reserve(count: number): void {
    const needed = this.length + count
    if (needed <= this.time.length) return
    const capacity = Math.max(needed, this.time.length * 2)
    const longer = new Float64Array(capacity)
    longer.set(this.time.subarray(0, this.length))
    this.time = longer
    const wider = new Int32Array(capacity * WIDTH)
    wider.set(this.codes.subarray(0, this.length * WIDTH))
    this.codes = wider
  }

  append({ length, time, codes }: StationRows, file: FileReport): void {
    this.reserve(length)
    this.files.push({ first: this.length, file })
    this.time.set(time.subarray(0, length), this.length)
    this.codes.set(codes.subarray(0, length * WIDTH), this.length * WIDTH)
    this.length += length
  }

  fileOf(row: number): FileReport {
    let found = this.files[0]
    for (const entry of this.files) if (entry.first <= row) found = entry
    return found.file
  }
}

/** Names of the header before 2007, and of the years in `latest_obs.txt`. */
const OLD_LABELS: { readonly [label: string]: string } = { WD: 'WDIR', BAR: 'PRES', YYYY: 'YY' }

interface Header {
  labels: readonly string[]
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
  return fields.count === labels.length ? { labels, realtime, time, columns, places } : null
}

/**
 * Finds the header and makes a reader of the lines behind it, all of `station` if one is named; reports a
 * file without a header.
 */
function openRows(bytes: Uint8Array, file: FileReport, station?: string): RowReader | null {
  const fields = new Fields()
  let line = 1
  let at = 0
  do {
    splitBlanks(bytes, at, fields)
    at = fields.next
    line++
  } while (fields.count === 0 && at < bytes.length)
  const header = parseHeader(bytes, fields)
  if (header !== null) return new RowReader(bytes, at, line, header, file, station)
  file.bad(line - 1, 'no header line of an NDBC standard meteorological file')
  return null
}

const BLANK = 32
const LF = 10
const CR = 13
const HASH = 35
const MINUS = 45
const POINT = 46
const CAPITAL_M = 77

/** Plain values have up to so many decimals, and digits and point together so many bytes. */
const PLAIN_DECIMALS = 4
const PLAIN_BYTES = 7

/** Goes through the rows of a file. */
class RowReader {
  /** Epoch seconds of the row. */
  time = 0
  /** Fields of the line, where the row did not come by the short way. */
  readonly fields: Fields = new Fields()
  readonly header: Header
  readonly #bytes: Uint8Array
  readonly #file: FileReport
  readonly #station: string | undefined
  #at: number
  #line: number
  /**
   * Lines that end before this can go the short way: it looks for the end of a line without looking for that
   * of the file.
   */
  readonly #plainEnd: number
  readonly #plan: PlainPlan | null
  /** The last date, as one number, and its midnight. */
  #date = -1
  #midnight = 0
  readonly #read: Int32Array
  #understood = 0

  constructor(
    bytes: Uint8Array,
    at: number,
    line: number,
    header: Header,
    file: FileReport,
    station: string | undefined,
  ) {
    this.#station = station
    this.#bytes = bytes
    this.#at = at
    this.#line = line
    this.header = header
    this.#file = file
    this.#plan = plainPlan(header)
    this.#plainEnd = this.#plan === null ? 0 : bytes.lastIndexOf(LF) + 1
    this.#read = new Int32Array(header.columns.length)
  }

  /**
   * Puts the values of the next row with waves, wind or water temperature at `base` of `codes`, in the order
   * of READ; false at the end of the file.
   */
  next(codes: Int32Array, base: number): boolean {
    while (this.#at < this.#bytes.length) {
      const end = this.#at < this.#plainEnd ? this.#readPlain(codes, base) : -1
      if (end >= 0) {
        this.#at = end
        this.#line++
      } else if (!this.#readAny(codes, base)) continue
      this.#understood++
      if (isGarbled(codes, base)) {
        codes[base + WVHT] = NO_CODE
        this.#file.skipped(
          'waves garbled: height and average period are one number, and there is no other',
          this.#station,
        )
      }
      if (codes[base + DPD] === 0) {
        codes[base + DPD] = NO_CODE
        this.#file.skipped('dominant period of 0 s', this.#station)
      }
      if (codes[base + WVHT] !== NO_CODE || hasWeather(codes, base)) return true
      this.#file.skipped('neither waves, wind nor water temperature', this.#station)
    }
    this.#file.rows(this.#understood)
    return false
  }

  /** Reports the row that was read last as one that cannot be used. */
  refuse(reason: string): void {
    this.#understood--
    this.#file.bad(this.#line - 1, reason)
  }

  /**
   * Reads a line that is written as nearly all are, in one go over its bytes: blanks between fields, a date
   * of digits, and values that are whole codes within their limits. Returns where the next line begins, or −1
   * for any other line, of which nothing is said.
   */
  #readPlain(codes: Int32Array, base: number): number {
    const bytes = this.#bytes
    const { clockFields, tasks, factors, missing, least, most, circle } = this.#plan!
    let at = this.#at
    let date = 0
    let clock = 0
    for (let field = 0; field < clockFields; field++) {
      while (bytes[at] === BLANK) at++
      const first = at
      let value = 0
      for (let digit = bytes[at] - 48; digit >= 0 && digit <= 9; digit = bytes[at] - 48) {
        value = value * 10 + digit
        at++
        if (at - first > 4) return -1
      }
      if (at === first || bytes[at] > BLANK) return -1
      if (field === 0) date = value
      else if (field === 3) {
        if (value > 23) return -1
        clock = value * 3600
      } else if (field === 4) {
        if (value > 59) return -1
        clock += value * 60
      } else {
        if (value > 31) return -1
        date = date * 32 + value
      }
    }
    if (date !== this.#date && !this.#startDate(date)) return -1
    for (let i = 0; i < tasks.length; i++) {
      while (bytes[at] === BLANK) at++
      const task = tasks[i]
      const first = at
      if (task < 0) {
        while (bytes[at] > BLANK) at++
        if (at === first) return -1
        continue
      }
      const isNegative = bytes[at] === MINUS
      if (isNegative) at++
      else if (bytes[at] === CAPITAL_M) {
        if (bytes[at + 1] !== CAPITAL_M || bytes[at + 2] > BLANK) return -1
        at += 2
        codes[base + task] = NO_CODE
        continue
      }
      const digits = at
      let value = 0
      let decimals = 0
      let digit = bytes[at] - 48
      while (digit >= 0 && digit <= 9) {
        value = value * 10 + digit
        digit = bytes[++at] - 48
      }
      if (at === digits || at - digits > PLAIN_BYTES) return -1
      if (digit === POINT - 48) {
        const point = at
        digit = bytes[++at] - 48
        while (digit >= 0 && digit <= 9) {
          value = value * 10 + digit
          digit = bytes[++at] - 48
        }
        if (at - digits > PLAIN_BYTES) return -1
        decimals = at - point - 1
        if (decimals > PLAIN_DECIMALS) return -1
      }
      if (bytes[at] > BLANK) return -1
      const factor = factors[task * (PLAIN_DECIMALS + 1) + decimals]
      let code = (isNegative ? -value : value) * factor
      if (code === missing[task]) code = NO_CODE
      else {
        if (code === circle[task]) code = 0
        if (factor === 0 || code < least[task] || code > most[task]) return -1
      }
      codes[base + task] = code
    }
    while (bytes[at] === BLANK) at++
    if (bytes[at] === CR) at++
    if (bytes[at] !== LF) return -1
    for (const task of this.#plan!.absent) codes[base + task] = NO_CODE
    this.time = this.#midnight + clock
    return at + 1
  }

  /** Takes over `(year × 32 + month) × 32 + day`; false where there is no such day. */
  #startDate(date: number): boolean {
    const year = Math.floor(date / 1024)
    // Years had two digits until 1998.
    const midnight = epochSeconds(
      year < 100 ? 1900 + year : year,
      Math.floor(date / 32) % 32,
      date % 32,
      0,
      0,
      0,
    )
    // The column of times ends within a day.
    if (midnight < 0 || midnight > 0xffff_ffff - 86_400) return false
    this.#date = date
    this.#midnight = midnight
    return true
  }

  /**
   * Reads any line and goes on to the next; false where it is no row, which is reported when it should be
   * one.
   */
  #readAny(codes: Int32Array, base: number): boolean {
    const bytes = this.#bytes
    const { fields, header } = this
    const { starts, ends } = fields
    splitBlanks(bytes, this.#at, fields)
    this.#at = fields.next
    const line = this.#line++
    // The unit line, and remarks between the rows.
    if (fields.count === 0 || bytes[starts[0]] === HASH) return false
    if (fields.count !== header.labels.length) {
      this.#file.bad(line, 'wrong number of fields', lineText(bytes, starts[0], fields))
      return false
    }
    const [year, month, day, hour, minute] = header.time.map((field) =>
      field < 0 ? 0 : digitsAt(bytes, starts[field], ends[field]),
    )
    this.time = epochSeconds(year >= 0 && year < 100 ? 1900 + year : year, month, day, hour, minute, 0)
    if (this.time < 0) {
      this.#file.bad(line, 'no valid date and time', lineText(bytes, starts[0], fields))
      return false
    }
    const fault = readMeasures(bytes, fields, header.columns, this.#read, this.#file)
    if (fault !== null) {
      this.#file.bad(line, fault, textOf(bytes, fields, fields.wrong))
      return false
    }
    for (let i = 0; i < WIDTH; i++) {
      const place = header.places[i]
      codes[base + i] = place < 0 ? NO_CODE : this.#read[place]
    }
    return true
  }
}

/** How the lines of a file are read in one go. */
interface PlainPlan {
  /** Fields of date and time, which stand first. */
  clockFields: number
  /** For each field after them its place in READ, −1 for those that are not read. */
  tasks: Int8Array
  /** Places in READ of which the file has no field. */
  absent: readonly number[]
  /**
   * By place in READ and number of decimals: a value without its point times this is its code; 0 where that
   * is not exact.
   */
  factors: Int32Array
  /** By place in READ: codes that mark "missing" and a full circle, and the lowest and highest. */
  missing: Int32Array
  circle: Int32Array
  least: Int32Array
  most: Int32Array
}

/** No value has this code. */
const NEVER = -0x4000_0000

/** Null where date and time do not stand first and in their order. */
function plainPlan({ labels, realtime, time, places }: Header): PlainPlan | null {
  const clockFields = time[4] < 0 ? 4 : 5
  if (time.slice(0, clockFields).some((field, place) => field !== place)) return null
  const filled = (code: number): Int32Array => new Int32Array(WIDTH).fill(code)
  const plan: PlainPlan = {
    clockFields,
    tasks: new Int8Array(labels.length - clockFields).fill(-1),
    absent: places.flatMap((place, i) => (place < 0 ? [i] : [])),
    factors: new Int32Array(WIDTH * (PLAIN_DECIMALS + 1)),
    missing: filled(NEVER),
    circle: filled(NEVER),
    least: filled(0),
    most: filled(0),
  }
  READ.forEach(({ label, measure, nines, metresPerSecond }, i) => {
    const field = labels.indexOf(label)
    if (field >= clockFields) plan.tasks[field - clockFields] = i
    const { scale, min, max, unit } = MEASURES[measure]
    // 3.6 km/h in 1 m/s.
    const codesPerUnit = metresPerSecond ? (scale * 36) / 10 : scale
    for (let decimals = 0; decimals <= PLAIN_DECIMALS; decimals++) {
      const factor = codesPerUnit / 10 ** decimals
      if (Number.isInteger(factor)) plan.factors[i * (PLAIN_DECIMALS + 1) + decimals] = factor
    }
    if (!realtime) plan.missing[i] = nines * codesPerUnit
    if (unit === 'degree') plan.circle[i] = 360 * scale
    plan.least[i] = Math.round(min * scale)
    plan.most[i] = Math.round(max * scale)
  })
  return plan
}

/**
 * Whether a message that came garbled put one number into two fields (46075 in August 2023: a height of 12.2
 * m with an average period of 12.2 s and no dominant one). Of 194,000 wave rows of 78 stations, two are like
 * that.
 */
function isGarbled(codes: Int32Array, base: number): boolean {
  const height = codes[base + WVHT]
  return height !== NO_CODE && height === codes[base + APD] && codes[base + DPD] === NO_CODE && height > 0
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

/** What all copies of `latest_obs.txt` say, by station. */
interface Latest {
  files: FileReport[]
  rows: Map<string, StationRows>
  positions: Stations
}

/**
 * Reads the copies one after another; their reports are ended by who sends the rows, for the rule on repeats
 * still counts.
 */
async function readLatest(paths: readonly string[], report: Report): Promise<Latest> {
  const latest: Latest = { files: [], rows: new Map(), positions: new Stations() }
  const codes = new Int32Array(WIDTH)
  let count = 0
  for (const path of paths) {
    const file = report.file(path)
    latest.files.push(file)
    const bytes = await readText(path, file, MAX_LIST_BYTES)
    const reader = openRows(bytes, file)
    if (reader === null) continue
    const { fields, header } = reader
    const [stationField, latField, lngField] = ['STN', 'LAT', 'LON'].map((label) =>
      header.labels.indexOf(label),
    )
    if (stationField < 0 || latField < 0 || lngField < 0) {
      file.bad(1, 'the header lacks STN, LAT or LON')
      continue
    }
    while (reader.next(codes, 0)) {
      const identifier = textOf(bytes, fields, stationField).toUpperCase()
      const lat = degreesOf(textOf(bytes, fields, latField), 90)
      const lng = degreesOf(textOf(bytes, fields, lngField), 180)
      if (!IDENTIFIER.test(identifier) || Number.isNaN(lat) || Number.isNaN(lng)) {
        reader.refuse('a row without a valid station, LAT or LON')
        continue
      }
      if (++count > MAX_LATEST_ROWS)
        throw new BuildError(`ndbc: latest_obs has more than ${MAX_LATEST_ROWS} rows`)
      latest.positions.see(identifier, reader.time, lat, lng, '')
      let rows = latest.rows.get(identifier)
      if (rows === undefined) latest.rows.set(identifier, (rows = new StationRows(4)))
      rows.reserve(1)
      rows.time[rows.length] = reader.time
      rows.codes.set(codes, rows.length * WIDTH)
      rows.length++
    }
  }
  return latest
}

interface StationHandle {
  /** From the sink. */
  readonly buoy: number
  readonly identifier: string
}

/** Reads the files of a station behind what `feeds` hold, and sends it all. */
async function readStation(
  station: StationHandle,
  paths: readonly string[],
  feeds: readonly StationRows[],
  batch: RowBatch,
  sink: Sink,
  report: Report,
): Promise<void> {
  const files: FileReport[] = []
  for (const path of paths) {
    const file = report.file(path)
    files.push(file)
    const reader = openRows(await readText(path, file), file, station.identifier)
    if (reader === null) continue
    const rows = feeds[reader.header.realtime ? REALTIME_FEED : ARCHIVE_FEED]
    rows.files.push({ first: rows.length, file })
    for (;;) {
      rows.reserve(1)
      if (!reader.next(rows.codes, rows.length * WIDTH)) break
      if (rows.length >= MAX_STATION_ROWS)
        throw new BuildError(`ndbc: a station has more than ${MAX_STATION_ROWS} rows`)
      rows.time[rows.length++] = reader.time
    }
  }
  for (const [feed, rows] of feeds.entries()) sendRows(station, rows, feed, batch, sink)
  // Only now, for the rule on repeats is applied over all files of a feed and still counts.
  for (const file of files) file.end()
}

/** The measures of a row and where in READ they come from: those of a wave sample first. */
const SENT = [
  ['significantHeight', WVHT],
  ['period', DPD],
  ['peakPeriod', DPD],
  ['direction', MWD],
  ['waterTemperature', WTMP],
  ['windDirection', WDIR],
  ['windSpeed', WSPD],
  ['gustSpeed', GST],
] as const
const SAMPLE_MEASURES = 4

/** Sends the rows of a feed in time order, each wave sample once. */
function sendRows(
  { buoy, identifier }: StationHandle,
  rows: StationRows,
  feed: number,
  batch: RowBatch,
  sink: Sink,
): void {
  const order = timeOrder(rows)
  const isSample = chooseSamples(rows, order)
  const { codes, time } = rows
  for (const row of order) {
    // A repeat goes on as a row even when nothing is left of it: an earlier build, which did not know the
    // first of the two (it came late), may have taken it for the sample.
    if (isSample[row] === 0 && codes[row * WIDTH + WVHT] !== NO_CODE)
      rows.fileOf(row).skipped('waves repeat a sample', identifier)
  }
  const { columns } = batch
  columns.maximumHeight.fill(MEASURES.maximumHeight.missing)
  for (let from = 0; from < order.length; from += BATCH_ROWS) {
    const part = order.subarray(from, from + BATCH_ROWS)
    for (let i = 0; i < part.length; i++) batch.time[i] = time[part[i]]
    SENT.forEach(([name, place], index) => {
      sendColumn(columns[name], MEASURES[name].missing, place, index < SAMPLE_MEASURES ? isSample : null)
    })
    batch.length = part.length
    sink.rows(buoy, batch, feed)
    batch.clear()

    function sendColumn(
      column: Uint16Array | Int16Array,
      missing: number,
      place: number,
      wanted: Uint8Array | null,
    ): void {
      for (let i = 0; i < part.length; i++) {
        const code = codes[part[i] * WIDTH + place]
        column[i] = code === NO_CODE || (wanted !== null && wanted[part[i]] === 0) ? missing : code
      }
    }
  }
}

/**
 * Rows by time; of rows with one time only the last that was read, for files of one feed overlap by an hour
 * or a day.
 */
function timeOrder({ time, length }: StationRows): Uint32Array {
  const order = new Uint32Array(length)
  let ascends = 0
  let descends = 0
  for (let i = 1; i < length; i++) {
    if (time[i] > time[i - 1]) ascends++
    else if (time[i] < time[i - 1]) descends++
  }
  if (ascends === Math.max(length - 1, 0)) return order.map((_, i) => i)
  if (descends === length - 1) return order.map((_, i) => length - 1 - i)
  const sorted = Array.from({ length }, (_, row) => row)
  // The sort is stable and linear on the few ascending or descending stretches that files are made of.
  sorted.sort((a, b) => time[a] - time[b])
  let kept = 0
  for (let at = 0; at < length; at++) {
    const row = sorted[at]
    if (at + 1 === length || time[row] !== time[sorted[at + 1]]) order[kept++] = row
  }
  return order.subarray(0, kept)
}

/**
 * Marks the rows that stand for a wave sample. A hull sends one sample twice, first without DPD and ten
 * minutes later with it. Rows with waves are of one sample where they lie within SAMPLE_SECONDS of its first
 * row, each at most REPEAT_STEP_SECONDS after the one before, with equal WVHT and APD, MWD equal or missing
 * in all, and one DPD at most. Its first row stands for it, so that the time of the reading, and with it its
 * id, stays when a later row brings DPD; what that row lacks comes from the first of the others that has it.
 * A row without APD is a sample of its own: stations that send heights alone show equal ones for hours in
 * calm weather (44058).
 */
function chooseSamples({ time, codes, length }: StationRows, order: Uint32Array): Uint8Array {
  const isSample = new Uint8Array(length)
  let first = -1
  let previous = -1
  for (const row of order) {
    const base = row * WIDTH
    if (codes[base + WVHT] === NO_CODE) continue
    const sample = first * WIDTH
    const repeats =
      first >= 0 &&
      codes[base + APD] !== NO_CODE &&
      time[row] - time[previous] <= REPEAT_STEP_SECONDS &&
      time[row] - time[first] <= SAMPLE_SECONDS &&
      codes[base + WVHT] === codes[sample + WVHT] &&
      codes[base + APD] === codes[sample + APD] &&
      codes[base + MWD] === codes[sample + MWD] &&
      (codes[base + DPD] === NO_CODE || codes[sample + DPD] === NO_CODE)
    previous = row
    if (repeats) {
      for (let i = 0; i < WIDTH; i++) {
        if (codes[sample + i] === NO_CODE) codes[sample + i] = codes[base + i]
      }
    } else {
      isSample[row] = 1
      first = row
    }
  }
  return isSample
}
