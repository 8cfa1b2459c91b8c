/**
 * Files of standard meteorological data, in any generation of their header, and spectral wave summaries:
 * their rows as codes.
 */
import { BLANK, digitsAt, type Fields } from '../reading/fields.ts'
import type { TakeDoubt } from '../reading/source-files.ts'
import type { FileReport } from '../source.ts'
import { NO_CODE, RowBatch } from '../../sea/row-batch.ts'
import { type MeasureName, MEASURES } from '../../sea/columns.ts'
import { knownColumn, readValues } from '../reading/measured-values.ts'
import { linesOf, TextTable } from '../reading/text-table.ts'
import { epochSeconds } from '../reading/times.ts'
import { conversionOf, degreesOfPoint } from '../reading/units.ts'
import { BuildError } from '../../system/build-error.ts'

/** A column by the header's name since 2007. */
interface Known {
  readonly label: string
  readonly name: MeasureName
  readonly unit: string
  /**
   * The archive's marks of "missing", which differ by column: the same number is a measurement in another.
   */
  readonly missing?: readonly number[]
  /** Its cells are points of the compass. */
  readonly isPoint?: boolean
  /** A column that is left out where its unit is another one: waves do not depend on it. */
  readonly isWeather?: boolean
}

/** Annual files say statute miles in their row of units or nothing, and NDBC's manual nautical ones. */
const VISIBILITY = 'VIS'

/**
 * APD, the average period, serves only to compare samples; it stands in for the peak period, which NDBC does
 * not have.
 */
const STANDARD: readonly Known[] = [
  { label: 'WVHT', name: 'significantHeight', unit: 'm', missing: [99] },
  { label: 'DPD', name: 'period', unit: 's', missing: [99] },
  { label: 'APD', name: 'peakPeriod', unit: 's', missing: [99] },
  { label: 'MWD', name: 'direction', unit: 'degree', missing: [999] },
  { label: 'WTMP', name: 'waterTemperature', unit: '°C', missing: [999] },
  { label: 'WDIR', name: 'windDirection', unit: 'degree', missing: [999] },
  { label: 'WSPD', name: 'windSpeed', unit: 'm/s', missing: [99] },
  { label: 'GST', name: 'gustSpeed', unit: 'm/s', missing: [99] },
  { label: 'ATMP', name: 'airTemperature', unit: '°C', missing: [999], isWeather: true },
  { label: 'DEWP', name: 'dewPoint', unit: '°C', missing: [999], isWeather: true },
  { label: 'PRES', name: 'pressure', unit: 'hPa', missing: [9999], isWeather: true },
  { label: VISIBILITY, name: 'visibility', unit: 'nmi', missing: [99], isWeather: true },
]
/** WVHT and DPD. */
const STANDARD_REQUIRED = 2
const DPD = 1
/** A row has one of these at least: waves, water temperature, wind or weather. */
const USED = [0, 4, 5, 6, 7, 8, 9, 10, 11]

/** WVHT and APD identify the sample of a row. */
const SUMMARY: readonly Known[] = [
  { label: 'WVHT', name: 'significantHeight', unit: 'm' },
  { label: 'APD', name: 'peakPeriod', unit: 's' },
  { label: 'SwH', name: 'swellHeight', unit: 'm' },
  { label: 'WWH', name: 'windWaveHeight', unit: 'm' },
  { label: 'SwP', name: 'swellPeriod', unit: 's' },
  { label: 'WWP', name: 'windWavePeriod', unit: 's' },
  { label: 'SwD', name: 'swellDirection', unit: 'degree', isPoint: true },
  { label: 'WWD', name: 'windWaveDirection', unit: 'degree', isPoint: true },
]
const [SWELL, WIND_WAVES] = [2, 3]

/** Heights are rounded to tenths. */
const ROUNDING_MM = 100

/** Rows of one station that are held at once; 40 years of ten-minute rows are 2.1 million. */
const MAX_STATION_ROWS = 4_000_000

/** Rows of a station in the order of its files, and the file of each. */
export class StationRows {
  readonly rows: RowBatch
  readonly files: FileReport[] = []

  constructor(capacity: number) {
    this.rows = new RowBatch(capacity)
  }

  /** @throws BuildError for more rows than a station can have */
  add({ time, names, codes }: RowCodes, file: FileReport): void {
    if (this.files.length >= MAX_STATION_ROWS)
      throw new BuildError(`ndbc: a station has more than ${MAX_STATION_ROWS} rows`)
    this.rows.addCodes(time, names, codes)
    this.files.push(file)
  }

  /** Drops the rows from `from` on. */
  clear(from: number): void {
    this.rows.clear(from)
    this.files.length = from
  }
}

export interface RowCodes {
  time: number
  /** `codes[i]` belongs to `names[i]`. */
  readonly names: readonly MeasureName[]
  readonly codes: Int32Array
}

/** A row of a file; the next row overwrites it. */
export interface Line extends RowCodes {
  readonly isRealtime: boolean
  /** The text under a label, empty where the file has no such column. */
  readonly text: (label: string) => string
}

/** Takes a row, or returns its fault. */
type TakeLine = (line: Line) => string | null

/** Reads the rows with waves, wind, water temperature or weather, of `station` or of any. */
export function readRows(
  bytes: Buffer,
  file: FileReport,
  doubt: TakeDoubt,
  station: string | undefined,
  take: TakeLine,
): void {
  const fault = readLines(bytes, file, doubt, STANDARD, STANDARD_REQUIRED, (line) => {
    const { codes } = line
    if (codes[DPD] === 0) {
      codes[DPD] = NO_CODE
      file.skipped('dominant period of 0 s', station)
    }
    if (USED.some((place) => codes[place] !== NO_CODE)) return take(line)
    file.skipped('neither waves, water temperature nor weather', station)
    return null
  })
  if (fault > 0) file.bad(fault, 'no header line of an NDBC standard meteorological file')
}

/**
 * Reads the rows of a summary that have a part of the sea. A point of the compass becomes the middle of its
 * sector.
 */
export function readSummary(
  bytes: Buffer,
  file: FileReport,
  doubt: TakeDoubt,
  station: string,
  into: StationRows,
): void {
  const fault = readLines(bytes, file, doubt, SUMMARY, SUMMARY.length, (line) => {
    const { codes, text } = line
    SUMMARY.forEach(({ label, name, isPoint = false }, place) => {
      if (!isPoint) return
      const word = text(label)
      const point = degreesOfPoint(word)
      if (point !== null) codes[place] = point * MEASURES[name].scale
      else if (word !== 'MM' && word !== 'N/A')
        file.skipped(`${label} is not a point of the compass`, station)
    })
    if (codes[0] !== NO_CODE && Math.max(codes[SWELL], codes[WIND_WAVES]) > codes[0] + ROUNDING_MM)
      file.skipped('swell or wind sea higher than the whole sea', station)
    else if (codes.subarray(SWELL).some((code) => code !== NO_CODE)) into.add(line, file)
    return null
  })
  // Readings do without it: a page of a web server in its place must not cost the whole source.
  if (fault > 0) file.skipped('no spectral wave summary', station)
}

/** Names of the header before 2007, and of the years in `latest_obs.txt`. */
const OLD_LABELS: { readonly [label: string]: string } = { WD: 'WDIR', BAR: 'PRES', YYYY: 'YY' }

/** Old files have no minutes. */
const CLOCK = ['YY', 'MM', 'DD', 'hh', 'mm']

/**
 * Reads the lines below the header, which must have the first `required` columns. Returns 0, or the number of
 * the line that should have been the header.
 */
function readLines(
  bytes: Buffer,
  file: FileReport,
  doubt: TakeDoubt,
  known: readonly Known[],
  required: number,
  take: TakeLine,
): number {
  const [header = { at: 0, line: 1 }] = linesOf(bytes, 0)
  const table = new TextTable(bytes, file, { separator: BLANK, header })
  const labels = table.labels.map((label) => OLD_LABELS[label] ?? label)
  const needed = [...CLOCK.slice(0, 4), ...known.slice(0, required).map(({ label }) => label)]
  if (table.headerFault !== null || !needed.every((label) => labels.includes(label))) return header.line
  // Spellings of units differ (degT, deg); only another known unit makes other values.
  const isOther = ({ label, name, unit }: Known): boolean => {
    const factor = conversionOf(name, table.units[labels.indexOf(label)] ?? '')?.factor
    if (factor === undefined) return label === VISIBILITY && labels.includes(label)
    return factor !== conversionOf(name, unit)?.factor
  }
  const others = known.filter(isOther)
  for (const { label, isWeather } of others) {
    const written = table.units[labels.indexOf(label)] || 'no unit'
    if (isWeather === true) doubt('otherWeather', `${label} in ${written}`)
  }
  const other = others.find(({ isWeather }) => isWeather !== true)
  const isLeftOut = (one: Known): boolean => others.includes(one)
  if (other === undefined) file.rows(readTable(bytes, file, table, labels, known, isLeftOut, take))
  else file.bad(table.line, `${other.label} is not in ${other.unit}`)
  return 0
}

/** Returns how many rows were understood. */
function readTable(
  bytes: Buffer,
  file: FileReport,
  table: TextTable,
  labels: readonly string[],
  known: readonly Known[],
  isLeftOut: (one: Known) => boolean,
  take: TakeLine,
): number {
  // Only real-time files have the pressure tendency. They write MM; other people's copies may have nines.
  const isRealtime = labels.includes('PTDY')
  const columns = known.map((one) => {
    const { label, name, isPoint = false, isWeather = false, unit, missing = [] } = one
    const field = isPoint || isLeftOut(one) ? -1 : labels.indexOf(label)
    // Nines of weather in a real-time file are a wrong value, not a mark.
    return knownColumn(name, field, label, { unit, missing: isWeather && isRealtime ? [] : missing })
  })
  const clock = CLOCK.map((label) => labels.indexOf(label))
  const line: Line = {
    isRealtime,
    time: 0,
    names: known.map(({ name }) => name),
    codes: new Int32Array(known.length),
    text: (label) => table.text(labels.indexOf(label)),
  }
  let understood = 0
  while (table.next()) {
    line.time = timeOf(bytes, table.fields, clock)
    if (line.time >= 0 && !readValues(table, columns, line.codes, file)) continue
    const fault = line.time < 0 ? 'no valid date and time' : take(line)
    if (fault === null) understood++
    else file.bad(table.line, fault, table.lineText())
  }
  return understood
}

/** Epoch seconds, or −1 for no real moment. */
function timeOf(bytes: Buffer, { starts, ends }: Fields, clock: readonly number[]): number {
  const [year, month, day, hour, minute] = clock.map((field) =>
    field < 0 ? 0 : digitsAt(bytes, starts[field], ends[field]),
  )
  return epochSeconds(year >= 0 && year < 100 ? 1900 + year : year, month, day, hour, minute, 0)
}
