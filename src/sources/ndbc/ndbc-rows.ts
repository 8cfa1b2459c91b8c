/** Files of standard meteorological data: their header in any generation, and their rows as codes. */
import { digitsAt, Fields, lineText, splitBlanks, textOf, textsOf } from '../reading/fields.ts'
import type { FileReport } from '../source.ts'
import { NO_CODE } from '../../sea/row-batch.ts'
import { type MeasureColumn, measureColumn, readMeasures } from '../reading/measured-values.ts'
import { epochSeconds } from '../reading/times.ts'
import { conversionOf } from '../reading/units.ts'

/**
 * Columns by the header's names since 2007; APD serves only to compare samples. The archive's nines for
 * "missing" differ by column, as the same number is a measurement in another.
 */
const READ = [
  { label: 'WVHT', unit: 'm', measure: 'significantHeight', nines: 99 },
  { label: 'DPD', unit: 's', measure: 'period', nines: 99 },
  { label: 'APD', unit: 's', measure: 'period', nines: 99 },
  { label: 'MWD', unit: 'degree', measure: 'direction', nines: 999 },
  { label: 'WTMP', unit: '°C', measure: 'waterTemperature', nines: 999 },
  { label: 'WDIR', unit: 'degree', measure: 'windDirection', nines: 999 },
  { label: 'WSPD', unit: 'm/s', measure: 'windSpeed', nines: 99 },
  { label: 'GST', unit: 'm/s', measure: 'gustSpeed', nines: 99 },
] as const

export const WIDTH = READ.length
export const WVHT = 0
export const DPD = 1
export const APD = 2
export const MWD = 3
export const WTMP = 4
export const WDIR = 5
export const WSPD = 6
export const GST = 7

/** Rows of one feed of a station in the order of its files; snapshot codes, NO_CODE where missing. */
export class StationRows {
  length = 0
  time: Float64Array
  /** The values of each row, in the order of READ. */
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
  /** Fields of year, month, day, hour, minute; −1 for a minute that the generation does not have. */
  time: readonly number[]
  /** In the order of READ. */
  columns: readonly MeasureColumn[]
}

/** What a kind of file measures by its labels; null where the labels are not those of the kind. */
export type Columns = (labels: readonly string[]) => Pick<Header, 'realtime' | 'columns'> | null

function parseHeader(bytes: Uint8Array, fields: Fields, columnsOf: Columns): Header | null {
  const labels = textsOf(bytes, fields)
    .map((label, index) => (index === 0 ? label.replace('#', '') : label))
    .map((label) => OLD_LABELS[label] ?? label)
  const time = ['YY', 'MM', 'DD', 'hh', 'mm'].map((label) => labels.indexOf(label))
  const columns = columnsOf(labels)
  if (columns === null || time.slice(0, 4).includes(-1) || fields.count !== labels.length) return null
  return { labels, time, ...columns }
}

const standardColumns: Columns = (labels) => {
  if (!labels.includes('WVHT') || !labels.includes('DPD')) return null
  const columns = READ.map(({ label, unit, measure, nines }) =>
    measureColumn(measure, labels.indexOf(label), label, {
      ...(unit === 'm/s' && { unit }),
      missing: [nines, nines],
    }),
  )
  // Only real-time files have the pressure tendency. They write MM; those that others keep may have nines.
  return { realtime: labels.includes('PTDY'), columns }
}

/** Finds the header, or reports that it is missing. Returns a reader of the lines below (of `station`). */
export function openRows(bytes: Uint8Array, file: FileReport, station?: string): RowReader | null {
  const reader = openLines(bytes, file, standardColumns, station)
  if (!(reader instanceof RowReader))
    file.bad(reader, 'no header line of an NDBC standard meteorological file')
  return reader instanceof RowReader ? reader : null
}

/** A reader of the lines below the header, or the line that should have been the header. */
export function openLines(
  bytes: Uint8Array,
  file: FileReport,
  columnsOf: Columns,
  station?: string,
): RowReader | number {
  const fields = new Fields()
  let line = 1
  let at = 0
  do {
    splitBlanks(bytes, at, fields)
    at = fields.next
    line++
  } while (fields.count === 0 && at < bytes.length)
  const header = parseHeader(bytes, fields, columnsOf)
  if (header === null) return line - 1
  splitBlanks(bytes, at, fields)
  const units = bytes[at] === HASH && fields.count === header.labels.length ? textsOf(bytes, fields) : []
  // Spellings differ (degT, deg); a unit that is known and another one makes other values.
  const other = READ.find(({ label, measure, unit }) => {
    const factor = conversionOf(measure, units[header.labels.indexOf(label)] ?? '')?.factor
    return factor !== undefined && factor !== conversionOf(measure, unit)?.factor
  })
  if (other !== undefined) file.bad(line, `${other.label} is not in ${other.unit}`)
  return other === undefined ? new RowReader(bytes, at, line, header, file, station) : line
}

const HASH = 35

class RowReader {
  time = 0
  readonly fields: Fields = new Fields()
  readonly header: Header
  readonly bytes: Uint8Array
  readonly #file: FileReport
  readonly #station: string | undefined
  #at: number
  #line: number
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
    this.bytes = bytes
    this.#at = at
    this.#line = line
    this.header = header
    this.#file = file
  }

  /** Puts the next row with waves, wind or water temperature at `base` of `codes`; false at the end. */
  next(codes: Int32Array, base: number): boolean {
    while (this.any(codes, base)) {
      if (codes[base + DPD] === 0) {
        codes[base + DPD] = NO_CODE
        this.#file.skipped('dominant period of 0 s', this.#station)
      }
      if (codes[base + WVHT] !== NO_CODE || hasWeather(codes, base)) return true
      this.#file.skipped('neither waves, wind nor water temperature', this.#station)
    }
    return false
  }

  /** The same with a row of any kind. */
  any(codes: Int32Array, base: number): boolean {
    while (this.#at < this.bytes.length) {
      if (!this.#read(codes, base)) continue
      this.#understood++
      return true
    }
    this.#file.rows(this.#understood)
    return false
  }

  refuse(reason: string): void {
    this.#understood--
    this.#file.bad(this.#line - 1, reason)
  }

  /** Reads a line and moves on. False if it is not a row, which is reported unless it is a comment. */
  #read(codes: Int32Array, base: number): boolean {
    const bytes = this.bytes
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
    const fault = readMeasures(this, header.columns, codes, this.#file, base)
    if (fault !== null) {
      this.#file.bad(line, fault, textOf(bytes, fields, fields.wrong))
      return false
    }
    return true
  }
}

function hasWeather(codes: Int32Array, base: number): boolean {
  return (
    codes[base + WTMP] !== NO_CODE ||
    codes[base + WDIR] !== NO_CODE ||
    codes[base + WSPD] !== NO_CODE ||
    codes[base + GST] !== NO_CODE
  )
}
