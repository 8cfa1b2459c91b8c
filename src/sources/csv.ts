/**
 * Our own plain format, for whoever has a database of buoys: a folder of CSV tables in the contract's units, described for operators in
 * `data/fixtures/README.md`.
 *
 *     sources.csv        name,network,credit,licence
 *     buoys.csv          source,identifier,name,lat,lng,country,timezone,virtual
 *     readings/*.csv     source,identifier,time,significant_height,…
 *
 * The header names the columns, in any order; optional ones may be left out. Quoting is that of RFC 4180.
 */
import { join } from 'node:path'
import { type MeasureName, RowBatch } from '../columns.ts'
import {
  type BuoyRecord,
  BuildError,
  type FileReport,
  type Network,
  type OpenSource,
  type Sink,
  type SourceContext,
  type SourceInfo,
} from './source.ts'
import {
  cleanName,
  degreesOf,
  digitsAt,
  dropUnusable,
  Fields,
  isoSeconds,
  listFolder,
  measureColumn,
  type MeasureColumn,
  NO_CODE,
  readMeasures,
  readText,
  splitSeparated,
  textOf,
  textsOf,
} from './text.ts'

const COMMA = 44

/** `sources.csv` and `buoys.csv`: a million buoys fit. */
const MAX_TABLE_BYTES = 128 * 2 ** 20

/** Rows of one buoy that are handed over at once. */
const BATCH_ROWS = 8192
/** Rows over all buoys that wait to be handed over: a file may take its buoys in turns, row by row. */
const MAX_WAITING_ROWS = 262_144

const MEASURE_COLUMNS: { readonly [label: string]: MeasureName } = {
  significant_height: 'significantHeight',
  maximum_height: 'maximumHeight',
  period: 'period',
  peak_period: 'peakPeriod',
  direction: 'direction',
  water_temperature: 'waterTemperature',
  wind_speed: 'windSpeed',
  wind_direction: 'windDirection',
  gust_speed: 'gustSpeed',
}

/** Opens `folder` as a set of CSV tables. */
export const openCsv: OpenSource = (folder) => ({
  read: (sink, context) => readCsv(folder, sink, context),
})

/** Handles of the buoys by source and identifier. */
type Handles = Map<string, Map<string, number>>

async function readCsv(folder: string, sink: Sink, context: SourceContext): Promise<void> {
  const { report } = context
  const root = await listFolder(folder)
  if (root === null) throw new BuildError(`csv: there is no folder ${folder}`)
  const handles: Handles = new Map()
  const table = (name: string, columns: readonly string[], required: readonly string[], read: ReadLine) =>
    readTable(join(folder, name), report.file(join(folder, name)), columns, required, read)

  await table('sources.csv', ['name', 'network', 'credit', 'licence'], ['name', 'network'], (cell) => {
    const info = sourceOf(cell)
    if (typeof info === 'string') return info
    if (handles.has(info.name)) return 'a source with this name stands above'
    handles.set(info.name, new Map())
    sink.source(info)
    return null
  })
  const buoyColumns = ['source', 'identifier', 'name', 'lat', 'lng', 'country', 'timezone', 'virtual']
  const zones = new Set<string>()
  await table('buoys.csv', buoyColumns, ['source', 'identifier', 'name', 'lat', 'lng'], (cell) => {
    const record = buoyOf(cell, zones)
    if (typeof record === 'string') return record
    const ofSource = handles.get(record.source)
    if (ofSource === undefined) return 'this source is not in sources.csv'
    if (ofSource.has(record.identifier)) return 'a buoy with this source and identifier stands above'
    ofSource.set(record.identifier, sink.buoy(record))
    return null
  })

  const readings = (await listFolder(join(folder, 'readings')))?.files ?? []
  if (readings.length === 0) report.warn(`csv: ${folder} has no readings`)
  for (const name of readings) {
    const path = join(folder, 'readings', name)
    if (!/\.csv(\.gz)?$/i.test(name)) {
      report.warn(`csv: ignored ${JSON.stringify(path)}`)
      continue
    }
    const file = report.file(path)
    sendReadings(await readText(path, file), file, handles, sink)
    file.end()
  }
}

/** Cell of the current line by its column's name; empty where the table has no such column. */
type Cell = (column: string) => string
/** Takes in a line; returns what is wrong with it, or null. */
type ReadLine = (cell: Cell) => string | null

/**
 * Reads a small table line by line.
 * @throws BuildError when the file is missing or its header lacks a required column.
 */
async function readTable(
  path: string,
  file: FileReport,
  columns: readonly string[],
  required: readonly string[],
  read: ReadLine,
): Promise<void> {
  const bytes = await readText(path, file, MAX_TABLE_BYTES)
  const fields = new Fields()
  splitSeparated(bytes, 0, COMMA, fields)
  const labels = textsOf(bytes, fields)
  const fault = headerFault(labels, columns, required)
  if (fault !== null) throw new BuildError(`${path}: ${fault}`)
  const cell: Cell = (column) => textOf(bytes, fields, labels.indexOf(column)).trim()
  let line = 1 + fields.lines
  for (let at = fields.next; at < bytes.length; at = fields.next, line += fields.lines) {
    splitSeparated(bytes, at, COMMA, fields)
    if (isEmptyLine(fields)) continue
    const bad = fields.fault ?? (fields.count === labels.length ? read(cell) : 'wrong number of fields')
    if (bad === null) file.rows(1)
    else file.bad(line, bad)
  }
  file.end()
}

function isEmptyLine(fields: Fields): boolean {
  return fields.count === 1 && fields.starts[0] === fields.ends[0] && fields.fault === null
}

/** A column of another name is more likely misspelt than meant to be ignored, so it is a fault. */
function headerFault(
  labels: readonly string[],
  columns: readonly string[],
  required: readonly string[],
): string | null {
  const missing = required.find((column) => !labels.includes(column))
  if (missing !== undefined) return `the header lacks the column ${missing}`
  if (new Set(labels).size < labels.length) return 'the header names a column twice'
  const unknown = labels.findIndex((label) => !columns.includes(label))
  if (unknown >= 0) return `column ${unknown + 1} of the header is not one of ${columns.join(', ')}`
  return null
}

function isNetwork(text: string): text is Network {
  return text === 'national' || text === 'coastal' || text === 'satellite'
}

function sourceOf(cell: Cell): SourceInfo | string {
  const name = cleanName(cell('name'))
  const network = cell('network')
  if (!/^[^"]+$/.test(name)) return 'a source needs a name, without quotes'
  if (!isNetwork(network)) return 'network is not one of national, coastal, satellite'
  const credit = cleanName(cell('credit'))
  const licence = cleanName(cell('licence'))
  return { name, network, ...(credit !== '' && { credit }), ...(licence !== '' && { licence }) }
}

function buoyOf(cell: Cell, zones: Set<string>): BuoyRecord | string {
  const identifier = cell('identifier')
  if (!/^[^"\p{Cc}]{1,64}$/u.test(identifier)) return 'identifier is not 1 to 64 characters without quotes'
  const name = cleanName(cell('name'))
  if (name === '') return 'a buoy without a name'
  const lat = degreesOf(cell('lat'), 90)
  if (Number.isNaN(lat)) return 'lat is not a number from -90 to 90'
  const lng = degreesOf(cell('lng'), 180)
  if (Number.isNaN(lng)) return 'lng is not a number from -180 to 180'
  const country = cell('country')
  if (!/^([A-Z]{2})?$/.test(country)) return 'country is not two capital letters'
  const timezone = cell('timezone')
  if (timezone !== '' && !isZone(timezone, zones)) return 'timezone is no IANA time zone'
  const virtual = cell('virtual')
  if (!['', 'true', 'false', '1', '0'].includes(virtual)) return 'virtual is not true or false'
  return {
    source: cleanName(cell('source')),
    identifier,
    name,
    lat,
    lng,
    ...(country !== '' && { country }),
    ...(timezone !== '' && { timezone }),
    ...((virtual === 'true' || virtual === '1') && { virtual: true }),
  }
}

/** Whether this Node.js knows the zone; `zones` holds those that it did, for a look-up costs 0.05 ms. */
function isZone(name: string, zones: Set<string>): boolean {
  if (zones.has(name)) return true
  // Newer engines also take offsets for zones.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    Intl.DateTimeFormat('en', { timeZone: name })
  } catch {
    return false
  }
  zones.add(name)
  return true
}

const READING_COLUMNS = ['source', 'identifier', 'time', ...Object.keys(MEASURE_COLUMNS)]

function sendReadings(bytes: Uint8Array, file: FileReport, handles: Handles, sink: Sink): void {
  const fields = new Fields()
  splitSeparated(bytes, 0, COMMA, fields)
  const labels = textsOf(bytes, fields)
  const fault = headerFault(labels, READING_COLUMNS, ['source', 'identifier', 'time'])
  if (fault !== null) {
    file.bad(1, fault)
    return
  }
  const columns: MeasureColumn[] = []
  for (const [label, name] of Object.entries(MEASURE_COLUMNS)) {
    const field = labels.indexOf(label)
    if (field >= 0) columns.push(measureColumn(name, field, label))
  }
  const names = columns.map(({ name }) => name)
  const codes = new Int32Array(columns.length)
  const [sourceField, identifierField, timeField] = READING_COLUMNS.map((label) => labels.indexOf(label))
  const waiting = new WaitingRows(sink)
  const { starts, ends } = fields
  // Rows of one buoy mostly follow each other: then its two names need not be looked up again.
  const known = new Uint8Array(256)
  let knownLength = -1
  let handle: number | undefined
  let understood = 0
  let line = 1 + fields.lines
  for (let at = fields.next; at < bytes.length; at = fields.next, line += fields.lines) {
    splitSeparated(bytes, at, COMMA, fields)
    if (isEmptyLine(fields)) continue
    if (fields.fault !== null || fields.count !== labels.length) {
      file.bad(line, fields.fault ?? 'wrong number of fields')
      continue
    }
    if (!sameNames(bytes, fields, sourceField, identifierField, known, knownLength)) {
      knownLength = keepNames(bytes, fields, sourceField, identifierField, known)
      handle = handles
        .get(cleanName(textOf(bytes, fields, sourceField)))
        ?.get(textOf(bytes, fields, identifierField).trim())
    }
    if (handle === undefined) {
      file.bad(line, 'this source and identifier are not in buoys.csv')
      continue
    }
    const time = timeOf(bytes, starts[timeField], ends[timeField])
    if (time < 0) {
      file.bad(line, 'time is neither ISO 8601 with Z or an offset nor whole epoch seconds')
      continue
    }
    const bad = readMeasures(bytes, fields, columns, codes, file)
    if (bad !== null) {
      file.bad(line, bad)
      continue
    }
    understood++
    if (dropUnusable(names, codes, file)) waiting.add(handle, time, names, codes)
  }
  waiting.flush()
  file.rows(understood)
}

/** Epoch seconds in digits, or ISO 8601; −1 for anything else. */
function timeOf(bytes: Uint8Array, from: number, to: number): number {
  if (to - from > 10) return isoSeconds(bytes, from, to, 'offset')
  const seconds = digitsAt(bytes, from, to)
  return seconds <= 0xffff_ffff ? seconds : -1
}

/** Whether the two fields hold the bytes that `keepNames` put away, with one byte of length between them. */
function sameNames(
  bytes: Uint8Array,
  { starts, ends }: Fields,
  first: number,
  second: number,
  known: Uint8Array,
  knownLength: number,
): boolean {
  const firstLength = ends[first] - starts[first]
  if (firstLength + 1 + ends[second] - starts[second] !== knownLength || known[0] !== firstLength)
    return false
  for (let i = 0; i < firstLength; i++) if (known[1 + i] !== bytes[starts[first] + i]) return false
  const rest = starts[second] - 1 - firstLength
  for (let i = 1 + firstLength; i < knownLength; i++) if (known[i] !== bytes[rest + i]) return false
  return true
}

/** Puts the bytes of two fields away; returns how many they take, or −1 where they are too long to be kept. */
function keepNames(
  bytes: Uint8Array,
  { starts, ends }: Fields,
  first: number,
  second: number,
  known: Uint8Array,
): number {
  const firstLength = ends[first] - starts[first]
  const length = firstLength + 1 + ends[second] - starts[second]
  if (length > known.length) return -1
  known[0] = firstLength
  known.set(bytes.subarray(starts[first], ends[first]), 1)
  known.set(bytes.subarray(starts[second], ends[second]), 1 + firstLength)
  return length
}

/** Rows of many buoys in turns, gathered into batches of one buoy each. */
class WaitingRows {
  readonly #sink: Sink
  readonly #batches = new Map<number, RowBatch>()
  #length = 0

  constructor(sink: Sink) {
    this.#sink = sink
  }

  add(buoy: number, time: number, names: readonly MeasureName[], codes: Int32Array): void {
    let batch = this.#batches.get(buoy)
    if (batch === undefined) {
      batch = new RowBatch(64)
      this.#batches.set(buoy, batch)
    }
    const row = batch.add(time)
    for (let i = 0; i < codes.length; i++) if (codes[i] !== NO_CODE) batch.columns[names[i]][row] = codes[i]
    this.#length++
    if (batch.length === BATCH_ROWS) {
      this.#sink.rows(buoy, batch)
      this.#length -= batch.length
      batch.clear()
    } else if (this.#length >= MAX_WAITING_ROWS) this.flush()
  }

  /** Hands everything over and lets go of the memory. */
  flush(): void {
    for (const [buoy, batch] of this.#batches) if (batch.length > 0) this.#sink.rows(buoy, batch)
    this.#batches.clear()
    this.#length = 0
  }
}
