/** `readings/*.csv`, rows of buoys by the hundred million, and `forecast/*.csv`, points of the sea. */
import { MEASURE_NAMES, MEASURES } from '../../sea/columns.ts'
import { NO_CODE } from '../../sea/row-batch.ts'
import { pointKey } from '../../sea/geo.ts'
import type { ForecastRecord } from '../../sea/records.ts'
import { FORECAST_MEASURES, FORECAST_NAMES, type ForecastName } from '../../sea/forecast-names.ts'
import { cleanName, degreesOf, digitsAt } from '../reading/fields.ts'
import { dropUnusable, measureColumns, readMeasures } from '../reading/measured-values.ts'
import { labelsFault, SeparatedTable } from '../reading/text-table.ts'
import { epochSeconds, isoSeconds } from '../reading/times.ts'
import type { TakeDoubt } from '../reading/source-files.ts'
import { WaitingRows } from '../reading/stations.ts'
import type { FileReport, Sink } from '../source.ts'

/** Epoch seconds of a cell with 9 or 10 digits (fewer are days, dates or minutes) or ISO 8601 with a zone; −1 for anything else. */
function timeOf({ bytes, fields }: SeparatedTable, column: number): number {
  return secondsAt(bytes, fields.starts[column], fields.ends[column])
}

export function secondsOf(text: string): number {
  const bytes = Buffer.from(text)
  return secondsAt(bytes, 0, bytes.length)
}

function secondsAt(bytes: Uint8Array, from: number, to: number): number {
  const digits = to - from
  if (digits > 10) return isoSeconds(bytes, from, to, 'offset')
  const seconds = digitsAt(bytes, from, to)
  if (digits < 9 || seconds > 0xffff_ffff) return -1
  return digits === 10 && isDateWithHour(seconds) ? -1 : seconds
}

/** 2024031014 is more likely ten o'clock of a day in 2024 than a second of 2034. */
function isDateWithHour(number: number): boolean {
  const [year, month, day, hour] = [1e6, 1e4, 100, 1].map(
    (unit, i) => Math.floor(number / unit) % (i === 0 ? 1e4 : 100),
  )
  return year >= 1975 && year < 2100 && epochSeconds(year, month, day, hour, 0, 0) >= 0
}

const TIME_FAULT = 'is neither ISO 8601 with Z or an offset nor whole epoch seconds of 9 or 10 digits'

/** Two cells as they are written: what follows from them is looked up once for each run of lines. */
function pairOf({ bytes, fields: { starts, ends } }: SeparatedTable, a: number, b: number): string {
  return `${bytes.toString('latin1', starts[a], ends[a])}\0${bytes.toString('latin1', starts[b], ends[b])}`
}

const labelOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const MEASURE_COLUMNS = MEASURE_NAMES.map((name) => [labelOf(name), name] as const)
const READING_KEYS = ['source', 'identifier', 'time']
const READING_COLUMNS = [...READING_KEYS, ...MEASURE_COLUMNS.map(([label]) => label)]

export type Handles = Map<string, Map<string, number>>

/** Sends the rows of a file; a file with a faulty header is one bad line. */
export function sendReadings(
  bytes: Buffer,
  file: FileReport,
  handles: Handles,
  sink: Sink,
  doubt: TakeDoubt,
): void {
  const table = new SeparatedTable(bytes)
  const headerFault = labelsFault(table.labels, READING_COLUMNS, READING_KEYS)
  if (headerFault !== null) {
    file.bad(1, headerFault)
    file.end()
    return
  }
  const columns = measureColumns(table.labels, MEASURE_COLUMNS)
  const names = columns.map(({ name }) => name)
  const codes = new Int32Array(columns.length)
  const [source, identifier, timeColumn] = table.columns(READING_KEYS)
  const waiting = new WaitingRows(sink, doubt)
  let buoy = ''
  let handle: number | undefined
  let understood = 0
  while (table.next(file)) {
    const pair = pairOf(table, source, identifier)
    if (pair !== buoy) {
      buoy = pair
      handle = handles.get(cleanName(table.text(source)))?.get(table.text(identifier).trim())
    }
    if (handle === undefined) {
      const text = `${table.text(source)},${table.text(identifier)}`
      file.bad(table.line, 'this source and identifier are not in buoys.csv', text)
      continue
    }
    const time = timeOf(table, timeColumn)
    const fault = time < 0 ? `time ${TIME_FAULT}` : readMeasures(table, columns, codes, file)
    if (fault !== null) {
      file.bad(table.line, fault, table.text(time < 0 ? timeColumn : table.fields.wrong))
      continue
    }
    understood++
    if (dropUnusable(names, codes, file)) waiting.add(handle, time, names, codes)
  }
  file.rows(understood)
  waiting.end(file.end())
}

const FORECAST_COLUMNS = FORECAST_NAMES.map((name) => [labelOf(name), name] as const)
const FORECAST_KEYS = ['lat', 'lng', 'run', 'time']
const LINE_COLUMNS = [...FORECAST_KEYS, 'model', ...FORECAST_COLUMNS.map(([label]) => label)]

/** The lines of one point's newest run, in the files' order: a time and one code for each quantity. */
interface PointLines {
  lat: number
  lng: number
  runAt: number
  model: string
  times: number[]
  codes: number[]
}

export type ForecastPoints = Map<string, PointLines>

/** Adds the lines of a file to its points. If a point has several runs, only the newest is kept. */
export function gatherForecasts(bytes: Buffer, file: FileReport, points: ForecastPoints): void {
  const table = new SeparatedTable(bytes)
  const headerFault = labelsFault(table.labels, LINE_COLUMNS, FORECAST_KEYS)
  if (headerFault !== null) {
    file.bad(1, headerFault)
    return
  }
  const given = FORECAST_COLUMNS.filter(([label]) => table.labels.includes(label))
  const columns = measureColumns(
    table.labels,
    given.map(([label, name]) => [label, FORECAST_MEASURES[name]]),
  )
  const quantities = given.map(([, name]) => FORECAST_NAMES.indexOf(name))
  const codes = new Int32Array(columns.length)
  const [latColumn, lngColumn, runColumn, timeColumn, modelColumn] = table.columns([
    ...FORECAST_KEYS,
    'model',
  ])
  let position = ''
  let lat = NaN
  let lng = NaN
  while (table.next(file)) {
    const pair = pairOf(table, latColumn, lngColumn)
    if (pair !== position) {
      position = pair
      lat = degreesOf(table.text(latColumn), 90)
      lng = degreesOf(table.text(lngColumn), 180)
    }
    const runAt = timeOf(table, runColumn)
    const time = timeOf(table, timeColumn)
    if (Number.isNaN(lat) || Number.isNaN(lng)) {
      const text = `${table.text(latColumn)},${table.text(lngColumn)}`
      file.bad(table.line, 'lat and lng are not numbers from -90 to 90 and -180 to 180', text)
      continue
    }
    if (runAt < 0 || time < 0) {
      const text = table.text(runAt < 0 ? runColumn : timeColumn)
      file.bad(table.line, `run or time ${TIME_FAULT}`, text)
      continue
    }
    const fault = readMeasures(table, columns, codes, file)
    if (fault !== null) {
      file.bad(table.line, fault, table.text(table.fields.wrong))
      continue
    }
    file.rows(1)
    const point = pointOf(points, { lat, lng, runAt, table, modelColumn })
    if (point === null) {
      file.skipped('an older run of the same forecast point')
      continue
    }
    point.times.push(time)
    const first = point.codes.length
    for (let i = 0; i < FORECAST_NAMES.length; i++) point.codes.push(NO_CODE)
    for (let i = 0; i < codes.length; i++) point.codes[first + quantities[i]] = codes[i]
  }
}

interface PointLine {
  lat: number
  lng: number
  runAt: number
  table: SeparatedTable
  /** −1 where the file has no such column. */
  modelColumn: number
}

/** The point that a line of this run belongs to; null where a newer run of it is known. */
function pointOf(
  points: ForecastPoints,
  { lat, lng, runAt, table, modelColumn }: PointLine,
): PointLines | null {
  const key = pointKey(lat, lng)
  const known = points.get(key)
  if (known !== undefined && runAt <= known.runAt) return runAt === known.runAt ? known : null
  const model = modelColumn === -1 ? '' : table.text(modelColumn)
  const point = { lat, lng, runAt, model, times: [], codes: [] }
  points.set(key, point)
  return point
}

/** The lines in order of time; of two with one time the later one counts. */
export function forecastOf({ lat, lng, runAt, model, times: given, codes }: PointLines): ForecastRecord {
  const lineOf = new Map(given.map((time, i) => [time, i]))
  const times = [...lineOf.keys()].sort((a, b) => a - b)
  const valuesOf = (name: ForecastName, quantity: number): (number | null)[] => {
    const { scale } = MEASURES[FORECAST_MEASURES[name]]
    return times.map((time) => {
      const code = codes[lineOf.get(time)! * FORECAST_NAMES.length + quantity]
      return code === NO_CODE ? null : code / scale
    })
  }
  const values = Object.fromEntries(FORECAST_NAMES.map((name, i) => [name, valuesOf(name, i)]))
  return { lat, lng, runAt, ...(model !== '' && { model }), times, values }
}
