/** The monthly parts: readings (rows with a significant height) and weather (rows without), one part per month that has any. */
import { MEASURE_NAMES, MEASURES, type Codes, type MeasureName, type RowColumns } from '../columns.ts'
import { monthText } from '../time.ts'
import { SnapshotError, type Column, type Part } from './format.ts'

/** Parallel arrays of rows. */
export interface Rows {
  time: Uint32Array
  columns: RowColumns
}

/** Rows of one month, by buoy: those of `buoys[i]` stand from `start[i]` to `start[i + 1]`, ascending in time. */
export interface MonthTable extends Rows {
  month: number
  buoys: Uint32Array
  start: Uint32Array
}

/**
 * A month's rows as a part. Columns that hold nothing are left out, and so is the peak period where it is the period in every
 * row (networks that know only one of them): together 4 of 22 bytes a row.
 */
export function monthPart(kind: 'readings' | 'weather', table: MonthTable): Part {
  const columns = new Map<string, Column>([
    ['buoy', table.buoys],
    ['start', table.start],
    ['time', table.time],
  ])
  const samePeak = sameCodes(table.columns.peakPeriod, table.columns.period)
  const aliases: Partial<Record<MeasureName, MeasureName>> = {}
  for (const name of MEASURE_NAMES) {
    const codes = table.columns[name]
    const { missing } = MEASURES[name]
    if (codes.every((code) => code === missing)) continue
    if (name === 'peakPeriod' && samePeak) aliases[name] = 'period'
    else columns.set(name, codes)
  }
  return { kind, meta: { month: monthText(table.month), aliases }, columns }
}

function sameCodes(a: Codes, b: Codes): boolean {
  return a.length === b.length && a.every((code, row) => code === b[row])
}

/** A month's rows as they are read: views, and for a column that is not there one missing value for all rows. */
export interface MonthRows {
  file: string
  month: number
  buoys: Uint32Array
  start: Uint32Array
  time: Uint32Array
  measures: { readonly [name in MeasureName]: MeasureColumn }
}

/** `codes[row & mask]`: a column that was left out is a single missing code, read with a mask of 0. */
export interface MeasureColumn {
  codes: Codes
  mask: number
}

const ABSENT = Object.fromEntries(
  MEASURE_NAMES.map((name) => {
    const { signed, missing } = MEASURES[name]
    return [name, { codes: signed ? Int16Array.of(missing) : Uint16Array.of(missing), mask: 0 }]
  }),
) as { [name in MeasureName]: MeasureColumn }

const ALL_ROWS = -1

/** @throws SnapshotError when a column is missing, of another type, or of another length than the rows. */
export function readMonth(part: Part, month: number, file: string): MonthRows {
  const unsigned = (name: string): Uint32Array => {
    const column = part.columns.get(name)
    if (!(column instanceof Uint32Array)) throw new SnapshotError(`${file}: has no column ${name}`)
    return column
  }
  const time = unsigned('time')
  const aliases = part.meta.aliases as Partial<Record<string, MeasureName>> | undefined
  const measure = (name: MeasureName): MeasureColumn => {
    const codes = part.columns.get(aliases?.[name] ?? name)
    if (codes === undefined) return ABSENT[name]
    const fits = MEASURES[name].signed ? codes instanceof Int16Array : codes instanceof Uint16Array
    if (!fits || codes.length !== time.length) {
      throw new SnapshotError(
        `${file}: column ${name} has ${codes.length} rows or another type, expected ${time.length}`,
      )
    }
    return { codes: codes as Codes, mask: ALL_ROWS }
  }
  return {
    file,
    month,
    buoys: unsigned('buoy'),
    start: unsigned('start'),
    time,
    measures: Object.fromEntries(MEASURE_NAMES.map((name) => [name, measure(name)])) as MonthRows['measures'],
  }
}
