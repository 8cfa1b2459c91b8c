/** `readings/*.csv`, rows of buoys by the hundred million, and `forecast/*.csv`, points of the sea. */
import {
  MEASURE_NAMES,
  MEASURES,
  type MeasureName,
  FORECAST_MEASURES,
  FORECAST_NAMES,
  type ForecastName,
} from '../../sea/columns.ts'
import { NO_CODE } from '../../sea/row-batch.ts'
import { pointKey } from '../../sea/geo.ts'
import type { ForecastRecord } from '../../sea/records.ts'
import { cleanName, degreesOf, digitsAt, isText } from '../reading/fields.ts'
import { labelOf } from '../reading/known-names.ts'
import { eachRow, knownColumn, type MeasuredColumn, readValues } from '../reading/measured-values.ts'
import type { TakeDoubt } from '../reading/source-files.ts'
import { labelsFault, type SeparatedTable, Unfit } from '../reading/text-table.ts'
import { epochSeconds, isoSeconds } from '../reading/times.ts'
import { WaitingRows } from '../reading/stations.ts'
import type { FileReport, Sink } from '../source.ts'
import { NO_COMMENTS, openText, type OpenTable } from '../tables/text-form.ts'

/** Epoch seconds of a cell with 9 or 10 digits (fewer are days, dates or minutes) or ISO 8601 with a zone; −1 for anything else. */
function secondsAt(bytes: Uint8Array, from: number, to: number): number {
  const digits = to - from
  if (digits > 10) return isoSeconds(bytes, from, to, 'offset')
  const seconds = digitsAt(bytes, from, to)
  if (digits < 9 || seconds > 0xffff_ffff) return -1
  return digits === 10 && isDateWithHour(seconds) ? -1 : seconds
}

/** 2024031014 is more likely ten o'clock of a day in 2024 than a second of 2034. */
function isDateWithHour(number: number): boolean {
  const year = Math.floor(number / 1e6)
  const part = (unit: number): number => Math.floor(number / unit) % 100
  return year >= 1975 && year < 2100 && epochSeconds(year, part(1e4), part(100), part(1), 0, 0) >= 0
}

const TIME_FAULT = 'is neither ISO 8601 with Z or an offset nor whole epoch seconds of 9 or 10 digits'

function secondsOf(text: string): number {
  const bytes = Buffer.from(text)
  return secondsAt(bytes, 0, bytes.length)
}

/** A cell with a time. @throws Unfit */
export function moment(text: string): number {
  const seconds = secondsOf(text)
  if (seconds < 0) throw new Unfit(TIME_FAULT)
  return seconds
}

type Columns = readonly (readonly [label: string, name: MeasureName])[]

const READING_KEYS = ['source', 'identifier', 'time']
const READING_COLUMNS: Columns = MEASURE_NAMES.map((name) => [labelOf(name), name])

export type Handles = Map<string, Map<string, number>>

/** A table of numbers and its measured columns, in the contract's units. */
interface Numbers {
  table: OpenTable & { readonly source: SeparatedTable }
  measured: MeasuredColumn[]
}

/** Opens a table with `keys` and at least none of the other columns; a faulty header is one bad line. */
function openNumbers(
  bytes: Buffer,
  file: FileReport,
  keys: readonly string[],
  columns: Columns,
  more: readonly string[] = [],
): Numbers | null {
  const form = { separator: null, header: { at: 0, line: 1 } }
  const table = openText(bytes, form, { units: false, decimalComma: true, comment: NO_COMMENTS }, file)
  if (table === null) return null
  const { labels } = table
  const fault = labelsFault(labels, [...keys, ...more, ...columns.map(([label]) => label)], keys)
  if (fault !== null) {
    file.bad(1, fault)
    return null
  }
  const measured = columns
    .filter(([label]) => labels.includes(label))
    .map(([label, name]) => knownColumn(name, labels.indexOf(label), label))
  return { table, measured }
}

/** Sends the rows of a file. */
export function sendReadings(
  bytes: Buffer,
  file: FileReport,
  handles: Handles,
  sink: Sink,
  doubt: TakeDoubt,
): void {
  const numbers = openNumbers(bytes, file, READING_KEYS, READING_COLUMNS)
  if (numbers === null) {
    file.end()
    return
  }
  const { table, measured } = numbers
  const lines = table.source
  const [source, identifier, timeColumn] = lines.columns(READING_KEYS)
  const keys = [source, identifier]
  const { starts, ends } = lines.fields
  const waiting = new WaitingRows(sink, doubt)
  let buoy = keys.map(() => bytes.subarray(0, 0))
  let handle: number | undefined
  const headOf = (): number | null => {
    // What follows from two cells is looked up once for each run of lines.
    if (keys.some((field, i) => !isText(bytes, starts[field], ends[field], buoy[i]))) {
      buoy = keys.map((field) => bytes.subarray(starts[field], ends[field]))
      handle = handles.get(cleanName(table.text(source)))?.get(table.text(identifier).trim())
    }
    if (handle === undefined) {
      const cells = keys.map((field) => lines.text(field)).join(',')
      file.bad(lines.line, 'this source and identifier are not in buoys.csv', cells)
      return null
    }
    const time = secondsAt(bytes, starts[timeColumn], ends[timeColumn])
    if (time >= 0) return time
    file.bad(lines.line, `time ${TIME_FAULT}`, lines.text(timeColumn))
    return null
  }
  eachRow(table, measured, file, headOf, (time, names, codes) => waiting.add(handle!, time, names, codes))
  waiting.end(file.end())
}

const FORECAST_COLUMNS: Columns = FORECAST_NAMES.map((name) => [labelOf(name), FORECAST_MEASURES[name]])
const FORECAST_KEYS = ['lat', 'lng', 'run', 'time']

/** The newest run of one point, its lines in the order of the files. */
interface PointLines {
  lat: number
  lng: number
  runAt: number
  model: string
  lines: Map<number, ReadonlyMap<string, number>>
}

export type ForecastPoints = Map<string, PointLines>

/** Adds the lines of a file to its points. If a point has several runs, only the newest is kept. */
export function gatherForecasts(bytes: Buffer, file: FileReport, points: ForecastPoints): void {
  const numbers = openNumbers(bytes, file, FORECAST_KEYS, FORECAST_COLUMNS, ['model'])
  if (numbers === null) return
  const { table, measured } = numbers
  const codes = new Int32Array(measured.length)
  const labels = measured.map(({ field }) => table.labels[field])
  const columns = [...FORECAST_KEYS, 'model'].map((label) => table.labels.indexOf(label))
  while (table.next()) {
    const [lat, lng] = [table.text(columns[0]), table.text(columns[1])].map((text, i) =>
      degreesOf(text, 90 * (i + 1)),
    )
    const [runAt, time] = [2, 3].map((i) => secondsOf(table.text(columns[i])))
    if (Number.isNaN(lat) || Number.isNaN(lng)) {
      const text = `${table.text(columns[0])},${table.text(columns[1])}`
      file.bad(table.row(), 'lat and lng are not numbers from -90 to 90 and -180 to 180', text)
    } else if (runAt < 0 || time < 0)
      file.bad(table.row(), `run or time ${TIME_FAULT}`, table.text(columns[runAt < 0 ? 2 : 3]))
    else if (readValues(table, measured, codes, file)) {
      file.rows(1)
      const key = pointKey(lat, lng)
      const known = points.get(key)
      if (known === undefined || runAt > known.runAt) {
        const model = columns[4] < 0 ? '' : table.text(columns[4])
        points.set(key, { lat, lng, runAt, model, lines: new Map() })
      } else if (runAt < known.runAt) {
        file.skipped('an older run of the same forecast point')
        continue
      }
      points.get(key)!.lines.set(time, new Map(labels.map((label, i) => [label, codes[i]])))
    }
  }
}

/** The lines in order of time; of two with one time the later one counts. */
export function forecastOf({ lat, lng, runAt, model, lines }: PointLines): ForecastRecord {
  const times = [...lines.keys()].sort((a, b) => a - b)
  const valuesOf = (name: ForecastName): (number | null)[] =>
    times.map((time) => {
      const code = lines.get(time)?.get(labelOf(name)) ?? NO_CODE
      return code === NO_CODE ? null : code / MEASURES[FORECAST_MEASURES[name]].scale
    })
  const values = Object.fromEntries(FORECAST_NAMES.map((name) => [name, valuesOf(name)]))
  return { lat, lng, runAt, ...(model !== '' && { model }), times, values }
}
