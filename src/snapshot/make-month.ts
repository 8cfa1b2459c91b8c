/** Makes a monthly part of a build's rows. */
import { MEASURE_NAMES, MEASURES, type Codes, type Column, type MeasureName } from '../sea/columns.ts'
import type { RowColumns } from '../sea/row-batch.ts'
import { monthText } from '../sea/time.ts'
import type { Part } from './snapshot-format.ts'

export interface Rows {
  time: Uint32Array
  columns: RowColumns
}

/** Rows of one month: those of `buoys[i]` stand from `start[i]` to `start[i + 1]`, ascending in time. */
export interface MonthTable extends Rows {
  month: number
  buoys: Uint32Array
  start: Uint32Array
}

/** Leaves out empty columns, and the peak period where it equals the period in every row. */
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
