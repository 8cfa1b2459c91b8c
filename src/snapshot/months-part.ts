/**
 * The monthly parts: readings (rows with a significant height) and weather (rows without), one part of each
 * for every month that has any.
 */
import {
  MEASURE_NAMES,
  MEASURES,
  codeLimits,
  type Codes,
  type Column,
  type Measure,
  type MeasureName,
  type RowColumns,
} from '../sea/columns.ts'
import type { MeasureColumn, MonthRows } from '../index/segments.ts'
import { monthStart, monthText } from '../sea/time.ts'
import type { Steps } from '../system/steps.ts'
import { expect, record, SnapshotError, type Part, type PartEntry } from './snapshot-format.ts'
import { column } from './part-columns.ts'

/** Buoys of a slice, by their rows: some 0.1 ms. */
const BUOYS_A_SLICE = 50

/** Parallel arrays of rows. */
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

/**
 * A month's rows as a part. Columns that hold nothing are left out, and so is the peak period where it equals
 * the period in every row (networks that know only one of them): together 4 of 22 bytes a row.
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

/** @throws SnapshotError when a column is missing, of another type, or of another length than the rows */
export function readMonth(part: Part, month: number, file: string): MonthRows {
  if (part.meta.month !== monthText(month)) {
    throw new SnapshotError(`${file}: is not of ${monthText(month)}, as the manifest says`)
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

/** Measures that share the column of another one, which must have the same unit and scale. */
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

const isRequired = (name: MeasureName, kind: PartEntry['kind']): boolean =>
  name === 'significantHeight' && kind === 'readings'

/** What must hold of a month's rows. @throws SnapshotError saying what does not hold */
export function* checkMonth(rows: MonthRows, { file, month, kind, rows: count }: PartEntry): Steps<void> {
  const { buoys, start, time } = rows
  expect(time.length === count, file, `it has ${time.length} rows, the manifest says ${count}`)
  expect(
    start.length === buoys.length + 1 && start[0] === 0 && start[buoys.length] === count,
    file,
    'rows and buoys disagree',
  )
  const [begin, end] = [monthStart(month!), monthStart(month! + 1)]
  for (let i = 0; i < buoys.length; i++) {
    const [from, to] = [start[i], start[i + 1]]
    const isNext = i === 0 ? buoys[i] >= 1 : buoys[i] > buoys[i - 1]
    expect(to > from && isNext, file, 'buoys do not ascend')
    expect(time[from] >= begin && time[to - 1] < end, file, 'a row lies outside the month')
    for (let row = from + 1; row < to; row++) {
      if (time[row] <= time[row - 1]) throw new SnapshotError(`${file}: the times of a buoy do not ascend`)
    }
    if (i % BUOYS_A_SLICE === 0) yield
  }
  for (const name of MEASURE_NAMES) {
    const { codes, mask } = rows.measures[name]
    const required = isRequired(name, kind)
    expect(!required || mask !== 0 || count === 0, file, 'there are no significant heights')
    if (mask === 0) continue
    yield* checkCodes(codes, MEASURES[name], required, file)
  }
}

/** Looked at in one slice: some 50 µs. */
const CODES_A_SLICE = 65_536

function* checkCodes(codes: Codes, measure: Measure, required: boolean, file: string): Steps<void> {
  const { min, max } = codeLimits(measure)
  // Where each row has to have a value, the missing code is one outside the limits.
  const missing = required ? min : measure.missing
  for (let from = 0; from < codes.length; from += CODES_A_SLICE) {
    const to = Math.min(codes.length, from + CODES_A_SLICE)
    for (let row = from; row < to; row++) {
      const code = codes[row]
      if ((code < min || code > max) && code !== missing) {
        throw new SnapshotError(`${file}: ${measure.name} has a value outside its limits`)
      }
    }
    yield
  }
}
