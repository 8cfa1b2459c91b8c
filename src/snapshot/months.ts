/**
 * The monthly parts: readings (rows with a significant height) and weather (rows without), one part per month
 * that has any.
 */
import {
  MEASURE_NAMES,
  MEASURES,
  type Codes,
  type Measure,
  type MeasureName,
  type RowColumns,
} from '../sea/columns.ts'
import type { MeasureColumn, MonthRows } from '../index/segments.ts'
import { monthText } from '../sea/time.ts'
import { column, record, SnapshotError, type Part } from './format.ts'
import type { Column } from '../sea/columns.ts'

/** Parallel arrays of rows. */
export interface Rows {
  time: Uint32Array
  columns: RowColumns
}

/**
 * Rows of one month, by buoy: those of `buoys[i]` stand from `start[i]` to `start[i + 1]`, ascending in time.
 */
export interface MonthTable extends Rows {
  month: number
  buoys: Uint32Array
  start: Uint32Array
}

/**
 * A month's rows as a part. Columns that hold nothing are left out, and so is the peak period where it is the
 * period in every row (networks that know only one of them): together 4 of 22 bytes a row.
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

const ABSENT = Object.fromEntries(
  MEASURE_NAMES.map((name) => {
    const { signed, missing } = MEASURES[name]
    return [name, { codes: signed ? Int16Array.of(missing) : Uint16Array.of(missing), mask: 0 }]
  }),
) as { [name in MeasureName]: MeasureColumn }

const ALL_ROWS = -1

/** @throws SnapshotError when a column is missing, of another type, or of another length than the rows. */
export function readMonth(part: Part, month: number, file: string): MonthRows {
  if (part.meta.month !== monthText(month)) {
    throw new SnapshotError(`${file}: is not of ${monthText(month)}, which the manifest says`)
  }
  const time = column(part, 'time', Uint32Array, file)
  const aliases = readAliases(part, file)
  const measure = (name: MeasureName): MeasureColumn => {
    const codes = part.columns.get(aliases.get(name) ?? name)
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
    buoys: column(part, 'buoy', Uint32Array, file),
    start: column(part, 'start', Uint32Array, file),
    time,
    measures: Object.fromEntries(MEASURE_NAMES.map((name) => [name, measure(name)])) as MonthRows['measures'],
  }
}

/** Measures whose column is that of another one, which has to mean the same. */
function readAliases(part: Part, file: string): Map<MeasureName, MeasureName> {
  const measureOf = (name: unknown): Measure | undefined => {
    const known = MEASURE_NAMES.find((measure) => measure === name)
    return known === undefined ? undefined : MEASURES[known]
  }
  return new Map(
    Object.entries(record(part.meta.aliases, `${file}: aliases`)).map(([name, other]) => {
      const [measure, same] = [measureOf(name), measureOf(other)]
      if (
        measure === undefined ||
        same === undefined ||
        !isAlike(measure, same) ||
        !part.columns.has(same.name)
      ) {
        throw new SnapshotError(`${file}: an alias is not of a measure for another of its kind`)
      }
      return [measure.name, same.name]
    }),
  )
}

function isAlike(a: Measure, b: Measure): boolean {
  return a.unit === b.unit && a.scale === b.scale && a.signed === b.signed && a.max === b.max
}
