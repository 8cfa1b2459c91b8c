/** Files of standard meteorological data: their header in any generation, and their rows as codes. */
import { BLANK, digitsAt } from '../reading/fields.ts'
import type { FileReport } from '../source.ts'
import { NO_CODE } from '../../sea/row-batch.ts'
import { knownColumn, type MeasuredColumn, readValues } from '../reading/measured-values.ts'
import { linesOf, TextTable } from '../reading/text-table.ts'
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

  add(time: number, codes: Int32Array): void {
    if (this.length === this.time.length) {
      const longer = new StationRows(this.length * 2)
      longer.time.set(this.time)
      longer.codes.set(this.codes)
      this.time = longer.time
      this.codes = longer.codes
    }
    this.time[this.length] = time
    this.codes.set(codes, this.length++ * WIDTH)
  }

  begin(file: FileReport): void {
    this.files.push({ first: this.length, file })
  }

  /** Ends the newest file, whose rows go where it does not count. */
  end(): void {
    const { first, file } = this.files.at(-1)!
    if (file.end()) return
    this.length = first
    this.files.pop()
  }

  fileOf(row: number): FileReport {
    return this.files.findLast(({ first }) => first <= row)!.file
  }
}

/** Names of the header before 2007, and of the years in `latest_obs.txt`. */
const OLD_LABELS: { readonly [label: string]: string } = { WD: 'WDIR', BAR: 'PRES', YYYY: 'YY' }

interface Layout {
  readonly isRealtime: boolean
  readonly columns: readonly MeasuredColumn[]
}

/** A row; both it and its codes are used again. */
export interface Line extends Layout {
  time: number
  codes: Int32Array
  /** The text under a label, empty where the file has no such column. */
  readonly text: (label: string) => string
}

/** What a kind of file measures by its labels; null where the labels are not those of the kind. */
export type LayoutOf = (labels: readonly string[]) => Layout | null

const standardLayout: LayoutOf = (labels) => {
  if (!labels.includes('WVHT') || !labels.includes('DPD')) return null
  const columns = READ.map(({ label, unit, measure, nines }) =>
    knownColumn(measure, labels.indexOf(label), label, { unit, missing: [nines] }),
  )
  // Only real-time files have the pressure tendency. They write MM; those that others keep may have nines.
  return { isRealtime: labels.includes('PTDY'), columns }
}

/** Takes a row, or returns what is wrong with it. */
type TakeLine = (line: Line) => string | null

/** Reads the rows with waves, wind or water temperature, of `station` or of any. */
export function readRows(bytes: Buffer, file: FileReport, station: string | undefined, take: TakeLine): void {
  const fault = readLines(bytes, file, standardLayout, (line) => {
    const { codes } = line
    if (codes[DPD] === 0) {
      codes[DPD] = NO_CODE
      file.skipped('dominant period of 0 s', station)
    }
    if ([WVHT, WTMP, WDIR, WSPD, GST].some((place) => codes[place] !== NO_CODE)) return take(line)
    file.skipped('neither waves, wind nor water temperature', station)
    return null
  })
  if (fault > 0) file.bad(fault, 'no header line of an NDBC standard meteorological file')
}

/** Reads the lines below the header; returns the number of the line that should have been the header, else 0. */
export function readLines(bytes: Buffer, file: FileReport, layoutOf: LayoutOf, take: TakeLine): number {
  const [header = { at: 0, line: 1 }] = linesOf(bytes, 0)
  const table = new TextTable(bytes, file, { separator: BLANK, header })
  const { starts, ends } = table.fields
  const labels = table.labels.map((label) => OLD_LABELS[label] ?? label)
  const layout = layoutOf(labels)
  const clock = ['YY', 'MM', 'DD', 'hh', 'mm'].map((label) => labels.indexOf(label))
  if (layout === null || clock.slice(0, 4).includes(-1) || table.headerFault !== null) return header.line
  const other = otherUnit(labels, table.units)
  if (other !== undefined) {
    file.bad(table.line, `${other.label} is not in ${other.unit}`)
    return 0
  }
  const codes = new Int32Array(layout.columns.length)
  const line: Line = { ...layout, time: 0, codes, text: (label) => table.text(labels.indexOf(label)) }
  let understood = 0
  while (table.next()) {
    const [year, month, day, hour, minute] = clock.map((field) =>
      field < 0 ? 0 : digitsAt(bytes, starts[field], ends[field]),
    )
    line.time = epochSeconds(year >= 0 && year < 100 ? 1900 + year : year, month, day, hour, minute, 0)
    if (line.time >= 0 && !readValues(table, layout.columns, codes, file)) continue
    const fault = line.time < 0 ? 'no valid date and time' : take(line)
    if (fault === null) understood++
    else file.bad(table.line, fault, table.lineText())
  }
  file.rows(understood)
  return 0
}

/** Spellings of units differ (degT, deg); a unit that is known and another one makes other values. */
function otherUnit(labels: readonly string[], units: readonly string[]): (typeof READ)[number] | undefined {
  return READ.find(({ label, measure, unit }) => {
    const factor = conversionOf(measure, units[labels.indexOf(label)] ?? '')?.factor
    return factor !== undefined && factor !== conversionOf(measure, unit)?.factor
  })
}
