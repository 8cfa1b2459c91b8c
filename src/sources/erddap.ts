/**
 * Tables of ERDDAP servers (tabledap), through which CDIP, the Irish Marine Institute, NERACOOS, PacIOOS,
 * EMODnet and many others publish: a folder of answers as `.csv`, `.csvp` or `.json`. Beside them may lie the
 * servers' descriptions of datasets (`info/DATASET/index.csv` or `.json`), here as `DATASET_info.csv`, which
 * is of all files whose names begin with DATASET. A sub-folder is a set of its own, in which `info.csv` is of
 * all files. `stations.csv` (identifier,name,lat,lng) says what tables do not.
 *
 * Columns are known by their CF standard name where a description tells it, else by their name. Units are
 * converted by the units string; a column in an unknown unit, or with flags that nothing explains, is left
 * out. `period` is the significant period, where there is none the peak period, and the mean period only
 * where a table has neither, which is said.
 */
import { join } from 'node:path'
import { MEASURE_NAMES, MEASURES, type MeasureName } from '../sea/columns.ts'
import { readTable, WaitingRows } from './csv.ts'
import { parseDocument } from './json.ts'
import { type FileReport, type OpenSource, type Report, type Sink, type SourceContext } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord, Network } from '../sea/records.ts'
import { IDENTIFIER, Stations, UNCOUNTED } from './reading/stations.ts'
import {
  cleanName,
  degreesOf,
  dropUnusable,
  Fields,
  listFolder,
  NO_CODE,
  readText,
  splitSeparated,
  textOf,
  textsOf,
} from './reading/text.ts'
import {
  codeOf,
  numberAt,
  numberOf,
  timeReader,
  type TimeReader,
  valueColumn,
  type ValueColumn,
} from './reading/units.ts'

const COMMA = 44
const QUOTE = 34
const BEYOND_ASCII = /[\u0080-\u00ff]/

/** Descriptions have 15 kB; what `JSON.parse` makes of a text takes up to fifteen times its size. */
const MAX_INFO_BYTES = 4 * 2 ** 20
const MAX_JSON_BYTES = 64 * 2 ** 20

/** As many as a line of text may have; real tables have 70. */
const MAX_COLUMNS = 256

const STATION_LIST = 'stations.csv'
const TABLE_FILE = /\.(?:csvp?|json)(?:\.gz)?$/i
const INFO_FILE = /^(.*?)[_.-]?(?:info|index)\.(?:csv|json)(?:\.gz)?$/i

/** Water deeper than this is not what swimmers call the water's temperature, m. */
const MAX_TEMPERATURE_DEPTH = 5

/** What an operator may say of the tables of a folder. */
export interface ErddapOptions {
  /** Name of the network, as on the wire. */
  source?: string
  network?: Network
  /** Measures by the names of their columns, before all other rules. */
  columns?: { [label: string]: MeasureName | 'meanPeriod' | 'none' }
  /** Flags of values that are taken, by the names of flag columns. */
  flags?: { [label: string]: (number | string)[] }
}

/** JSON schema (draft 7) of `ErddapOptions`. */
export const ERDDAP_OPTIONS: { readonly [keyword: string]: unknown } = {
  type: 'object',
  additionalProperties: false,
  properties: {
    source: { type: 'string', minLength: 1, maxLength: 100, pattern: '^[^\\x00-\\x1f"]+$' },
    network: { enum: ['national', 'coastal'] },
    columns: {
      type: 'object',
      maxProperties: 100,
      additionalProperties: { enum: [...MEASURE_NAMES, 'meanPeriod', 'none'] },
    },
    flags: {
      type: 'object',
      maxProperties: 100,
      additionalProperties: {
        type: 'array',
        minItems: 1,
        maxItems: 100,
        items: { type: ['number', 'string'], maxLength: 50 },
      },
    },
  },
}

/** Opens `folder` as answers of ERDDAP servers. */
export const openErddap: OpenSource = (folder, options = {}) => ({
  read: (sink, context) => readErddap(folder, options, sink, context),
})

/** A column's meaning: a measure, or the mean period that may stand in for one. */
type Quantity = MeasureName | 'meanPeriod'

/**
 * CF standard names, the first that a table has counts. Those with `to_direction` say where waves and wind
 * go.
 */
const STANDARD_NAMES: { readonly [name in Quantity]: readonly string[] } = {
  significantHeight: [
    'sea_surface_wave_significant_height',
    'significant_height_of_wind_and_swell_waves',
    'sea_surface_wave_mean_height_of_highest_third',
  ],
  maximumHeight: ['sea_surface_wave_maximum_height'],
  period: ['sea_surface_wave_significant_period', 'sea_surface_wave_mean_period_of_highest_third'],
  peakPeriod: ['sea_surface_wave_period_at_variance_spectral_density_maximum'],
  meanPeriod: [
    'sea_surface_wave_mean_period',
    'sea_surface_wave_zero_upcrossing_period',
    'sea_surface_wave_mean_period_from_variance_spectral_density_second_frequency_moment',
    'sea_surface_wave_mean_period_from_variance_spectral_density_first_frequency_moment',
  ],
  direction: [
    'sea_surface_wave_from_direction_at_variance_spectral_density_maximum',
    'sea_surface_wave_to_direction_at_variance_spectral_density_maximum',
    'sea_surface_wave_from_direction',
    'sea_surface_wave_to_direction',
  ],
  waterTemperature: ['sea_surface_temperature', 'sea_water_temperature'],
  windSpeed: ['wind_speed'],
  windDirection: ['wind_from_direction', 'wind_to_direction'],
  gustSpeed: ['wind_speed_of_gust'],
}

/**
 * Names of columns without case, `_` and a sensor's number at the end ("significant_wave_height_3"); one with
 * capitals is compared as it is, for in small letters it is said of something else.
 */
const LABELS: { readonly [name in Quantity]: readonly string[] } = {
  significantHeight: [
    'significantwaveheight',
    'significantheight',
    'wavesignificantheight',
    'waveheight',
    'wavehs',
    'hs',
    'hsig',
    'hm0',
    'swh',
    'wvht',
    'VAVH',
    'VHM0',
  ],
  maximumHeight: ['maximumwaveheight', 'maxwaveheight', 'wavemaximumheight', 'wavehmax', 'hmax', 'VZMX'],
  period: ['significantwaveperiod', 'waveth13', 'th13', 'VAVT'],
  peakPeriod: ['dominantwaveperiod', 'peakwaveperiod', 'peakperiod', 'wavetp', 'tp', 'dpd', 'VTPK'],
  meanPeriod: ['waveperiod', 'meanwaveperiod', 'tm02', 'tz', 'VTM02'],
  direction: [
    'dominantwavedirection',
    'peakwavedirection',
    'peakdirection',
    'wavedp',
    'VPED',
    'meanwavedirection',
    'wavedirection',
    'mwd',
    'VMDR',
  ],
  waterTemperature: [
    'seasurfacetemperature',
    'seatemperature',
    'watertemperature',
    'seawatertemperature',
    'wtmp',
    'sst',
    'TEMP',
  ],
  windSpeed: ['windspeed', 'windspd', 'wspd', 'WSPD'],
  windDirection: ['windfromdirection', 'winddirection', 'winddir', 'wdir', 'wd', 'WDIR'],
  gustSpeed: ['windgust', 'windspeedofgust', 'gust', 'gst', 'GSPD'],
}

/** Names of columns that say whose a row is, compared like `LABELS`. */
const STATION_LABELS = [
  'stationid',
  'station',
  'platformcode',
  'platformid',
  'buoyid',
  'wmoplatformcode',
  'wmoid',
  'platform',
]
const NAME_LABELS = [
  'metastationname',
  'stationname',
  'platformname',
  'mooringsitedesc',
  'stationlongname',
  'name',
]

const normal = (label: string): string =>
  label
    .replace(/_\d{1,2}$/, '')
    .replaceAll('_', '')
    .toLowerCase()

/**
 * Attributes of a dataset's variables, by the variable's name; those of the dataset as a whole stand under
 * `NC_GLOBAL`.
 */
type Info = ReadonlyMap<string, ReadonlyMap<string, string>>
const NO_INFO: Info = new Map()

interface TableFile {
  path: string
  /** Name without its ending. */
  stem: string
  info: Info
}

async function readErddap(
  folder: string,
  options: ErddapOptions,
  sink: Sink,
  { report }: SourceContext,
): Promise<void> {
  const listing = await listFolder(folder)
  if (listing === null) throw new BuildError(`erddap: there is no folder ${folder}`)
  const files = await listTables(folder, listing.files, report)
  for (const name of listing.folders) {
    const below = join(folder, name)
    files.push(...(await listTables(below, (await listFolder(below))?.files ?? [], report)))
  }
  if (files.length === 0) throw new BuildError(`erddap: ${folder} holds no .csv, .csvp or .json`)
  const known = new Map<string, BuoyRecord>()
  const source = options.source ?? 'ERDDAP'
  if (listing.files.includes(STATION_LIST)) {
    await readStations(join(folder, STATION_LIST), report.file(join(folder, STATION_LIST)), source, known)
  }

  const stations = new Stations()
  const signatures: string[] = []
  for (const file of files) {
    report.reads?.(file.path)
    const signature = await readRows(file, options, known, UNCOUNTED, null, (row) => {
      stations.see(row.identifier, row.time, row.lat, row.lng, row.name)
    })
    signatures.push(signature)
  }
  sink.source({ name: source, network: options.network ?? 'national', ...termsOf(files) })
  const { handles, placeless } = stations.announce(sink, source, known)
  report.withoutPosition('erddap', placeless)
  // In one feed a later row takes the place of an earlier one of its time; rows of other feeds fill what is
  // missing. So tables with other measures are other feeds, and so are rows without waves: where a table has
  // a depth, each depth is a row.
  const feeds = [...new Set(signatures)].sort(wavesFirst)
  for (const [i, file] of files.entries()) {
    const counted = report.file(file.path)
    const feed = feeds.indexOf(signatures[i])
    const waves = new WaitingRows(sink, feed)
    const others = new WaitingRows(sink, feeds.length + feed)
    await readRows(file, options, known, counted, report, ({ identifier, time }, names, codes) => {
      const handle = handles.get(identifier)
      if (handle === undefined) return
      const height = names.indexOf('significantHeight')
      const rows = height >= 0 && codes[height] !== NO_CODE ? waves : others
      rows.add(handle, time, names, codes)
    })
    waves.flush()
    others.flush()
    counted.end()
  }
}

function wavesFirst(a: string, b: string): number {
  const waves = (signature: string): number => (signature.includes('significantHeight') ? 0 : 1)
  return waves(a) - waves(b) || (a < b ? -1 : 1)
}

/** The tables of a folder, each with the description whose name its own begins with, the longest first. */
async function listTables(folder: string, names: readonly string[], report: Report): Promise<TableFile[]> {
  const infos: { stem: string; info: Info }[] = []
  const tables: { path: string; stem: string }[] = []
  let ignored = 0
  for (const name of names) {
    const path = join(folder, name)
    const [, stem] = INFO_FILE.exec(name) ?? []
    if (stem !== undefined) {
      const file = report.file(path)
      infos.push({ stem, info: readInfo(await readText(path, file, MAX_INFO_BYTES), file) })
      file.end()
    } else if (TABLE_FILE.test(name)) {
      if (name !== STATION_LIST) tables.push({ path, stem: name.replace(TABLE_FILE, '') })
    } else ignored++
  }
  if (ignored > 0) report.warn(`erddap: ${ignored} in ${folder} ignored: not .csv, .csvp or .json`)
  infos.sort((a, b) => b.stem.length - a.stem.length)
  return tables.map(({ path, stem }) => ({
    path,
    stem,
    info: infos.find((one) => stem.startsWith(one.stem))?.info ?? NO_INFO,
  }))
}

async function readStations(
  path: string,
  file: FileReport,
  source: string,
  known: Map<string, BuoyRecord>,
): Promise<void> {
  const columns = ['identifier', 'name', 'lat', 'lng']
  await readTable(path, file, columns, columns, (cell) => {
    const [identifier, name] = [cell('identifier'), cleanName(cell('name'))]
    const [lat, lng] = [degreesOf(cell('lat'), 90), degreesOf(cell('lng'), 180)]
    if (!IDENTIFIER.test(identifier) || name === '') return 'a station without a valid identifier or name'
    if (Number.isNaN(lat) || Number.isNaN(lng)) return 'lat and lng are not a position'
    known.set(identifier, { source, identifier, name, lat, lng })
    return null
  })
}

const INFO_LABELS = ['Row Type', 'Variable Name', 'Attribute Name', 'Data Type', 'Value']

function readInfo(bytes: Buffer, file: FileReport): Info {
  const info = new Map<string, Map<string, string>>()
  const table = openTable(bytes, file)
  if (table === null) return info
  if (INFO_LABELS.some((label, i) => table.labels[i] !== label)) {
    file.bad(1, 'it is not the description of a dataset')
    return info
  }
  let understood = 0
  table.each((line, fault) => {
    if (fault !== null) {
      file.bad(line, fault)
      return
    }
    understood++
    const [kind, variable, name, , value] = INFO_LABELS.map((_, field) => table.text(field))
    if (kind !== 'attribute') return
    const attributes = info.get(variable) ?? new Map<string, string>()
    info.set(variable, attributes.set(name, value))
  })
  file.rows(understood)
  return info
}

/** What the descriptions say of credit and licence. */
function termsOf(files: readonly TableFile[]): { credit?: string; licence?: string } {
  const all = (name: string): string =>
    [...new Set(files.map(({ info }) => cleanName(info.get('NC_GLOBAL')?.get(name) ?? '')))]
      .filter((text) => text !== '')
      .slice(0, 5)
      .join('; ')
  const [credit, licence] = [all('institution'), all('license')]
  return { ...(credit !== '' && { credit }), ...(licence !== '' && { licence }) }
}

/** A table of any of the forms; `text` and `number` read the row that `each` is at. */
interface OpenTable {
  labels: string[]
  /** By column; where the form tells none, all empty. */
  units: string[]
  /** A cell as text; empty where it is missing. */
  text(field: number): string
  /** NaN where it is missing, null where it is no number. */
  number(field: number): number | null
  /** Calls for each row with its line (in JSON: its number), and what is wrong with it. */
  each(visit: (line: number, fault: string | null) => void): void
}

/** ERDDAP says "no matching results" as an error, in plain text or in a page of the server. */
const NO_ROWS = /no matching results|nRows ?= ?0\b|no data matches/i

/** Opens the bytes as a table; null where they are none, which is reported. */
function openTable(bytes: Buffer, file: FileReport): OpenTable | null {
  const head = bytes.subarray(0, 4000).toString('latin1').trimStart()
  if (head.startsWith('<') || /^Error\b/.test(head)) {
    if (NO_ROWS.test(head)) file.skipped('an answer without rows')
    else file.bad(1, 'an error message of the server instead of a table')
    return null
  }
  return head.startsWith('{') ? openJsonTable(bytes, file) : openCsvTable(bytes, file)
}

function openJsonTable(bytes: Buffer, file: FileReport): OpenTable | null {
  if (bytes.length > MAX_JSON_BYTES) {
    file.bad(1, `more than ${MAX_JSON_BYTES} bytes of JSON; ask for CSV`)
    return null
  }
  const document = parseDocument(bytes, file)
  if (document === undefined) return null
  const { table } = document as { table?: { [name: string]: unknown } | null }
  const { columnNames, columnUnits, rows } = table ?? {}
  if (!Array.isArray(columnNames) || !Array.isArray(rows)) {
    file.bad(1, 'no table with columnNames and rows')
    return null
  }
  if (columnNames.length > MAX_COLUMNS) {
    file.bad(1, 'too many columns')
    return null
  }
  const labels = (columnNames as unknown[]).map((name) => (typeof name === 'string' ? name : ''))
  const units = Array.isArray(columnUnits) ? (columnUnits as unknown[]) : []
  let row: unknown[] = []
  return {
    labels,
    units: labels.map((_, i) => (typeof units[i] === 'string' ? units[i] : '')),
    text(field) {
      const cell = row[field]
      return typeof cell === 'string' ? cell.trim() : typeof cell === 'number' ? String(cell) : ''
    },
    number(field) {
      const cell = row[field]
      if (typeof cell === 'number') return cell
      if (cell === null || cell === undefined) return NaN
      return typeof cell === 'string' ? numberOf(cell.trim()) : null
    },
    each(visit) {
      for (const [i, entry] of (rows as unknown[]).entries()) {
        const isRow = Array.isArray(entry) && entry.length === labels.length
        if (isRow) row = entry as unknown[]
        visit(i + 1, isRow ? null : 'wrong number of fields')
      }
    },
  }
}

/** `name (unit)` of a `.csvp` header. */
const NAME_WITH_UNIT = /^(.*?) \((.*)\)$/

function openCsvTable(bytes: Buffer, file: FileReport): OpenTable | null {
  const fields = new Fields()
  splitSeparated(bytes, 0, COMMA, fields)
  let labels = textsOf(bytes, fields)
  if (fields.fault !== null || fields.count !== labels.length) {
    file.bad(1, fields.fault ?? 'too many columns')
    return null
  }
  const isInfo = INFO_LABELS.every((label, i) => labels[i] === label)
  const withUnits = labels.map((label) => NAME_WITH_UNIT.exec(label))
  let units = labels.map((_, i) => withUnits[i]?.[2] ?? '')
  let firstLine = 1 + fields.lines
  if (withUnits.some((match) => match?.[1].toLowerCase() === 'time')) {
    labels = labels.map((label, i) => withUnits[i]?.[1] ?? label)
  } else if (!isInfo) {
    splitSeparated(bytes, fields.next, COMMA, fields)
    units = textsOf(bytes, fields)
    if (units.length !== labels.length) {
      file.bad(firstLine, 'no line of units')
      return null
    }
    firstLine += fields.lines
  }
  const start = fields.next
  const text = (field: number): string => {
    const from = fields.starts[field]
    const plain = bytes.toString('latin1', from, fields.ends[field])
    // Most cells are short and ASCII, for which the way through UTF-8 takes five times as long.
    return bytes[from - 1] === QUOTE || BEYOND_ASCII.test(plain) ? textOf(bytes, fields, field) : plain
  }
  return {
    labels,
    units,
    text,
    number: (field) => numberAt(bytes, fields.starts[field], fields.ends[field]),
    each(visit) {
      let line = firstLine
      for (let at = start; at < bytes.length; at = fields.next, line += fields.lines) {
        splitSeparated(bytes, at, COMMA, fields)
        if (fields.count === 1 && fields.starts[0] === fields.ends[0] && labels.length > 1) continue
        visit(line, fields.fault ?? (fields.count === labels.length ? null : 'wrong number of fields'))
      }
    },
  }
}

interface MeasuredColumn {
  field: number
  column: ValueColumn
  flags: Flag[]
  fault: string
  flagged: string
}

/** A column of flags; a value whose flag is none of `good` is not taken, one without a flag is. */
interface Flag {
  field: number
  good: ReadonlySet<string>
  missing: readonly number[]
}

/** What the columns of a table mean. */
interface Layout {
  time: { field: number; read: TimeReader }
  /** The column of the identifier, or the identifier of all rows. */
  station: number | string
  /** −1 where there is none, as of the next three. */
  name: number
  lat: number
  lng: number
  depth: number
  measured: MeasuredColumn[]
  /** Of the whole table, where its rows do not say it. */
  place: { name: string; lat: number; lng: number }
}

interface RowHead {
  identifier: string
  time: number
  lat: number
  lng: number
  name: string
}

type TakeRow = (head: RowHead, names: readonly MeasureName[], codes: Int32Array) => void

/**
 * Hands over the rows of a table that hold something. `report` hears of columns that are not used as one
 * would expect.
 * @returns the measures that the table has, as one text.
 */
async function readRows(
  source: TableFile,
  options: ErddapOptions,
  known: ReadonlyMap<string, BuoyRecord>,
  file: FileReport,
  report: Report | null,
  take: TakeRow,
): Promise<string> {
  const table = openTable(await readText(source.path, file), file)
  if (table === null) return ''
  const warnings = new Set<string>()
  const warn = (what: string): void => void warnings.add(what)
  const layout = layoutOf(table, source, options, known, warn)
  if (typeof layout === 'string') {
    file.bad(1, layout)
    return ''
  }
  const { time, station, measured, depth } = layout
  const names = measured.map(({ column }) => column.name)
  if (names.length === 0) warn('none of its columns is one that is read')
  for (const warning of warnings) report?.warn(`erddap: ${source.path}: ${warning}`)
  if (names.length === 0) return ''
  const codes = new Int32Array(names.length)
  const temperature = names.indexOf('waterTemperature')
  const degrees = (field: number, given: number): number => (field < 0 ? given : (table.number(field) ?? NaN))
  let understood = 0
  table.each((line, lineFault) => {
    const identifier = typeof station === 'string' ? station : table.text(station)
    const seconds = lineFault === null ? time.read(table.text(time.field)) : -1
    const fault =
      lineFault ??
      (seconds < 0
        ? 'no valid time'
        : !IDENTIFIER.test(identifier)
          ? 'no valid identifier of a station'
          : readValues(table, measured, codes, file))
    if (fault !== null) {
      file.bad(line, fault, lineFault === null && seconds < 0 ? table.text(time.field) : undefined)
      return
    }
    understood++
    if (temperature >= 0 && depth >= 0 && codes[temperature] !== NO_CODE) {
      if (Math.abs(degrees(depth, 0)) > MAX_TEMPERATURE_DEPTH) {
        codes[temperature] = NO_CODE
        file.skipped(`a temperature deeper than ${MAX_TEMPERATURE_DEPTH} m`)
      }
    }
    if (!dropUnusable(names, codes, file)) return
    const { place } = layout
    take(
      {
        identifier,
        time: seconds,
        lat: degrees(layout.lat, place.lat),
        lng: degrees(layout.lng, place.lng),
        name: layout.name < 0 ? place.name : table.text(layout.name),
      },
      names,
      codes,
    )
  })
  file.rows(understood)
  return names.join(' ')
}

function readValues(
  table: OpenTable,
  measured: readonly MeasuredColumn[],
  codes: Int32Array,
  file: FileReport,
): string | null {
  for (let i = 0; i < measured.length; i++) {
    const { field, column, flags, fault, flagged } = measured[i]
    const value = table.number(field)
    if (value === null) return fault
    codes[i] = NO_CODE
    if (Number.isNaN(value)) continue
    if (flags.every((flag) => isGood(table, flag))) codes[i] = codeOf(column, value, file)
    else file.skipped(flagged)
  }
  return null
}

function isGood(table: OpenTable, { field, good, missing }: Flag): boolean {
  const text = table.text(field)
  const flag = numberOf(text)
  if (flag === null) return good.has(text)
  return Number.isNaN(flag) || missing.includes(flag) || good.has(String(flag))
}

/** What the columns of a table mean, or why it cannot be read. */
function layoutOf(
  { labels, units }: OpenTable,
  { info, stem }: TableFile,
  options: ErddapOptions,
  known: ReadonlyMap<string, BuoyRecord>,
  warn: (what: string) => void,
): Layout | string {
  const plain = labels.map(normal)
  const attribute = (label: string, name: string): string => info.get(label)?.get(name) ?? ''
  const find = (candidates: readonly string[]): number => {
    for (const candidate of candidates) {
      const field = plain.indexOf(candidate)
      if (field >= 0) return field
    }
    return -1
  }
  const timeField = find(['time'])
  if (timeField < 0) return 'the table has no column time'
  const read = timeReader(units[timeField])
  if (read === null) return 'the column time is in an unknown unit'

  const measured: MeasuredColumn[] = []
  const chosen = chooseColumns(labels, info, options.columns ?? {})
  if (!chosen.has('period')) {
    const peak = chosen.get('peakPeriod')
    const mean = chosen.get('meanPeriod')
    const standIn = peak ?? mean
    if (standIn !== undefined) chosen.set('period', standIn)
    if (peak === undefined && mean !== undefined) {
      warn(`period is the mean period of column ${JSON.stringify(labels[mean])}, as there is no other`)
    }
  }
  for (const name of MEASURE_NAMES) {
    const field = chosen.get(name)
    if (field === undefined) continue
    const label = labels[field]
    const shown = JSON.stringify(label.slice(0, 60))
    const unit = units[field] || attribute(label, 'units')
    const goesTo = /to_?direction(_at_|$)/i.test(attribute(label, 'standard_name') || label)
    const missing = ['_FillValue', 'missing_value']
      .map((marker) => numberOf(attribute(label, marker)))
      .filter((marker): marker is number => marker !== null && !Number.isNaN(marker))
    const column = valueColumn(name, name, unit, {
      missing,
      goesTo: goesTo && MEASURES[name].unit === 'degree',
    })
    const flags = flagsOf(field, name, labels, info, options.flags ?? {})
    if (column === null) {
      const what = unit === '' ? 'no unit' : `the unknown unit ${JSON.stringify(unit.slice(0, 60))}`
      warn(`column ${shown} has ${what} and is left out`)
    } else if (typeof flags === 'string') {
      warn(`column ${shown} is left out: what the flags of ${JSON.stringify(flags)} mean is not known`)
    } else {
      measured.push({
        field,
        column,
        flags,
        fault: `${name} is not a number`,
        flagged: `${name} flagged bad`,
      })
    }
  }
  const cfRole = labels.findIndex((label) => attribute(label, 'cf_role') === 'timeseries_id')
  const stationField = cfRole >= 0 ? cfRole : find(STATION_LABELS)
  return {
    time: { field: timeField, read },
    station: stationField >= 0 ? stationField : identifierOf(stem, info, known),
    name: find(NAME_LABELS),
    lat: find(['latitude', 'lat']),
    lng: find(['longitude', 'lon', 'lng']),
    depth: find(['depth', 'z', 'altitude']),
    measured,
    place: placeOf(info),
  }
}

/**
 * The column of each quantity: by the operator's word, by standard name, by its own name. A column is taken
 * once, but for periods.
 */
function chooseColumns(
  labels: readonly string[],
  info: Info,
  given: NonNullable<ErddapOptions['columns']>,
): Map<Quantity, number> {
  const chosen = new Map<Quantity, number>()
  const free = new Set(labels.keys())
  labels.forEach((label, field) => {
    if (!Object.hasOwn(given, label)) return
    const name = given[label]
    free.delete(field)
    if (name !== 'none' && !chosen.has(name)) chosen.set(name, field)
  })
  const standardNames = labels.map((label) => info.get(label)?.get('standard_name') ?? label)
  const plain = labels.map(normal)
  const quantities = Object.keys(LABELS) as Quantity[]
  const choose = (
    candidates: (name: Quantity) => readonly string[],
    is: (field: number, word: string) => boolean,
  ) => {
    for (const name of quantities) {
      for (const word of candidates(name)) {
        if (chosen.has(name)) break
        const field = [...free].find((one) => is(one, word))
        if (field === undefined) continue
        chosen.set(name, field)
        free.delete(field)
      }
    }
  }
  choose(
    (name) => STANDARD_NAMES[name],
    (field, word) => standardNames[field] === word,
  )
  choose(
    (name) => LABELS[name],
    (field, word) => (/[A-Z]/.test(word) ? labels[field] === word : plain[field] === word),
  )
  return chosen
}

const FLAG_LABEL = /_?(?:qc_?agg|rollup_?qc|qartod|qc|(?:qc_?)?flag(?:primary)?)$/i
/** Flags of the row as a whole; those of CDIP are for its waves alone. */
const ROW_FLAG = /^(?:waveflagprimary|flagprimary|qc_?flag|flag)$/i

/** The columns of flags of the values of a column, or the name of one whose meaning is not known. */
function flagsOf(
  measuredField: number,
  name: MeasureName,
  labels: readonly string[],
  info: Info,
  given: NonNullable<ErddapOptions['flags']>,
): Flag[] | string {
  const label = labels[measuredField]
  const ancillary = (info.get(label)?.get('ancillary_variables') ?? '').split(/[\s,]+/)
  const isWave = !['waterTemperature', 'windSpeed', 'windDirection', 'gustSpeed'].includes(name)
  const flags: Flag[] = []
  for (const [field, other] of labels.entries()) {
    if (field === measuredField) continue
    const isItsOwn =
      FLAG_LABEL.test(other) && normal(other.replace(FLAG_LABEL, '')) === normal(label) && other !== label
    const isOfRow = ROW_FLAG.test(other) && (isWave || !/^wave/i.test(other))
    if (!isItsOwn && !isOfRow && !(ancillary.includes(other) && FLAG_LABEL.test(other))) continue
    const good = goodFlags(other, info, given)
    if (good === null) return other
    const missing = numberOf(info.get(other)?.get('_FillValue') ?? '')
    flags.push({ field, good, missing: missing === null || Number.isNaN(missing) ? [] : [missing] })
  }
  return flags
}

/** Words by which flags tell that nothing is wrong with a value, as far as was looked at. */
const GOOD_MEANINGS = new Set(
  (
    'quality_good good good_data good_value probably_good probably_good_data probably_good_value pass passed ' +
    'not_evaluated not_qced no_qc no_qc_performed no_quality_control unknown changed value_changed changed_value ' +
    'interpolated interpolated_value value_interpolated nominal nominal_value value_nominal'
  ).split(' '),
)

/** The flags of values that are taken; null where nothing says what the flags mean. */
function goodFlags(
  label: string,
  info: Info,
  given: NonNullable<ErddapOptions['flags']>,
): ReadonlySet<string> | null {
  const plainFlag = (flag: number | string): string => {
    const number = numberOf(String(flag).trim())
    return number === null || Number.isNaN(number) ? String(flag).trim() : String(number)
  }
  if (Object.hasOwn(given, label)) return new Set(given[label].map(plainFlag))
  const values = (info.get(label)?.get('flag_values') ?? '').split(/[\s,]+/).filter((word) => word !== '')
  const meanings = (info.get(label)?.get('flag_meanings') ?? '').split(/[\s,]+/).filter((word) => word !== '')
  if (values.length > 0 && values.length === meanings.length) {
    return new Set(values.filter((_, i) => GOOD_MEANINGS.has(meanings[i].toLowerCase())).map(plainFlag))
  }
  // CDIP: 1 is good.
  if (/flagprimary$/i.test(label)) return new Set(['1'])
  // IOOS QARTOD: passed, not evaluated.
  if (/(?:qc_?agg|rollup_?qc|qartod)$/i.test(label)) return new Set(['1', '2'])
  // Copernicus and EMODnet: good, probably good, changed, nominal, interpolated.
  if (/^[A-Z0-9]+_QC$/.test(label)) return new Set(['1', '2', '5', '7', '8'])
  // Irish Marine Institute: unknown, good, probably good.
  if (/^qc_?flag$/i.test(label)) return new Set(['0', '1', '2'])
  return null
}

/**
 * The identifier of all rows of a table: the longest of the list that its file's name begins with, the
 * description's, the name itself.
 */
function identifierOf(stem: string, info: Info, known: ReadonlyMap<string, BuoyRecord>): string {
  const isFront = (identifier: string): boolean =>
    stem.startsWith(identifier) && !/^[0-9A-Za-z]/.test(stem.slice(identifier.length))
  const [listed] = [...known.keys()].filter(isFront).sort((a, b) => b.length - a.length)
  if (listed !== undefined) return listed
  const described = info.get('NC_GLOBAL')?.get('station_name') ?? ''
  return IDENTIFIER.test(described) ? described : stem.slice(0, 64)
}

/** A description of one station tells its position, or a box that is hardly wider than one. */
function placeOf(info: Info): { name: string; lat: number; lng: number } {
  const global = info.get('NC_GLOBAL')
  const number = (name: string): number => numberOf(global?.get(name) ?? '') ?? NaN
  const middle = (least: number, most: number): number =>
    most - least <= 0.1 ? Math.round((least + most) * 5e4) / 1e5 : NaN
  const either = (own: number, boxed: number): number => (Number.isNaN(own) ? boxed : own)
  return {
    name: global?.get('station_name') ?? '',
    lat: either(number('latitude'), middle(number('geospatial_lat_min'), number('geospatial_lat_max'))),
    lng: either(number('longitude'), middle(number('geospatial_lon_min'), number('geospatial_lon_max'))),
  }
}
