/** A month's rows as tables by buoy and time, one row for each time, new rows merged with earlier ones. */
import type { MonthRows } from '../index/segments.ts'
import {
  MEASURE_NAMES,
  MEASURES,
  rowNames,
  WEATHER_MEASURES,
  type Codes,
  type Column,
  type MeasureName,
} from '../sea/columns.ts'
import { monthText } from '../sea/time.ts'
import { missingColumn, type RowColumns } from '../sea/row-batch.ts'
import type { Part } from '../snapshot/snapshot-format.ts'
import { entryOf } from '../system/entry-of.ts'

/** Runs of at least this many rows are copied as a whole. */
const LONG_RUN_ROWS = 16

/** A month's rows in two tables: readings, which have a significant height, and weather, which has none. */
export interface MonthTables {
  readings: MonthTable
  weather: MonthTable
  /** Rows left out, as they are later than the time of the data. */
  later: number
  /** By buoy: rows that differ from the kept row of their feed and time, and the first such time. */
  twice: ReadonlyMap<number, Twice>
}

interface Twice {
  rows: number
  time: number
}

/** Rows of one buoy and feed that arrived together and lie together in one chunk. */
export interface SpooledRun {
  handle: number
  feed: number
  chunk: number
  from: number
  to: number
  ascending: boolean
}

/** Spooled rows and the measures that they may have. */
export interface Chunk extends Rows {
  readonly names: readonly MeasureName[]
}

interface Run {
  rows: Rows
  from: number
  to: number
}

interface BuoyRows {
  runs: SpooledRun[]
  base: Run[]
}

/** Makes the tables of a month from the spooled runs and the earlier rows; see `Spool.take`. */
export function monthTables(
  month: number,
  runs: readonly SpooledRun[],
  chunks: readonly Chunk[],
  idOf: (handle: number) => number,
  asOf: number,
  base: readonly MonthRows[],
): MonthTables {
  const names = rowNames(
    (name) =>
      chunks.some((chunk) => chunk.names.includes(name)) ||
      base.some(({ measures }) => measures[name].mask !== 0),
  )
  const { byBuoy, capacity } = rowsByBuoy(runs, idOf, base, names)
  const readings = new TableWriter(month, capacity, byBuoy.size, names)
  const ofWeather = WEATHER_MEASURES.filter((name) => names.includes(name))
  const weather = new TableWriter(month, capacity, byBuoy.size, ofWeather)
  const twice = new Map<number, Twice>()
  let later = 0
  for (const [id, buoy] of [...byBuoy].sort(([a], [b]) => a - b)) {
    const onTwice = (time: number): unknown => entryOf(twice, id, () => ({ rows: 0, time })).rows++
    const add = (newer: Run[], older: Run): Run[] => addOlder(newer, older, names)
    // Earlier rows are in order already, readings and weather apart, as they are written again.
    const ordered =
      buoy.runs.length === 0 ? buoy.base : buoy.base.reduce(add, inOrder(buoy.runs, chunks, names, onTwice))
    for (const run of ordered) later += writeRun(run, asOf, readings, weather)
    readings.endBuoy(id)
    weather.endBuoy(id)
  }
  return { readings: readings.table(), weather: weather.table(), later, twice }
}

function rowsByBuoy(
  runs: readonly SpooledRun[],
  idOf: (handle: number) => number,
  base: readonly MonthRows[],
  names: readonly MeasureName[],
): { byBuoy: Map<number, BuoyRows>; capacity: number } {
  const byBuoy = new Map<number, BuoyRows>()
  let capacity = 0
  const rowsOf = (id: number): BuoyRows => entryOf(byBuoy, id, () => ({ runs: [], base: [] }))
  for (const run of runs) {
    const id = idOf(run.handle)
    if (id === 0) continue
    capacity += run.to - run.from
    rowsOf(id).runs.push(run)
  }
  for (const table of base) {
    const rows = wholeColumns(table, names)
    capacity += table.time.length
    table.buoys.forEach((id, i) =>
      rowsOf(id).base.push({ rows, from: table.start[i], to: table.start[i + 1] }),
    )
  }
  return { byBuoy, capacity }
}

/** Returns the number of rows after `asOf`, which are left out. */
function writeRun(
  { rows, from, to }: Run,
  asOf: number,
  readings: TableWriter,
  weather: TableWriter,
): number {
  let end = to
  while (end > from && rows.time[end - 1] > asOf) end--
  for (let row = from; row < end;) {
    const begin = row
    const reading = isReading(rows, row)
    for (row++; row < end && isReading(rows, row) === reading;) row++
    if (reading) readings.copy(rows, begin, row)
    else weather.copyMeasured(rows, begin, row)
  }
  return to - end
}

function wholeColumns({ time, measures }: MonthRows, names: readonly MeasureName[]): Rows {
  const columns = emptyColumns(0, names)
  for (const name of names) {
    const { codes, mask } = measures[name]
    columns[name] = mask === 0 ? missingColumn(MEASURES[name], time.length) : codes
  }
  return { time, columns }
}

/**
 * `runs` with the rows of `base` at other times. A new row replaces the old one whole, as half a
 * correction would keep what a source takes back (NDBC: the first of two equal samples).
 */
function addOlder(runs: Run[], base: Run, names: readonly MeasureName[]): Run[] {
  const last = base.rows.time[base.to - 1]
  if (runs.length === 0 || runs[0].rows.time[runs[0].from] > last) return [base, ...runs]
  const capacity = runs.reduce((sum, { from, to }) => sum + to - from, base.to - base.from)
  const merged: Rows = { time: new Uint32Array(capacity), columns: emptyColumns(capacity, names) }
  let length = 0
  let old = base.from
  const copy = (rows: Rows, row: number): void => copyRow(merged, length++, rows, row, names)
  for (const { rows, from, to } of runs) {
    for (let row = from; row < to; row++) {
      while (old < base.to && base.rows.time[old] < rows.time[row]) copy(base.rows, old++)
      copy(rows, row)
      if (old < base.to && base.rows.time[old] === rows.time[row]) old++
    }
  }
  while (old < base.to) copy(base.rows, old++)
  return [{ rows: merged, from: 0, to: length }]
}

class TableWriter {
  readonly #month: number
  readonly #rows: Rows
  readonly #measures: readonly MeasureName[]
  readonly #buoys: Uint32Array
  readonly #start: Uint32Array
  #length = 0
  #buoyCount = 0

  constructor(month: number, capacity: number, buoys: number, measures: readonly MeasureName[]) {
    this.#month = month
    this.#measures = measures
    this.#rows = { time: new Uint32Array(capacity), columns: emptyColumns(capacity, measures) }
    this.#buoys = new Uint32Array(buoys)
    this.#start = new Uint32Array(buoys + 1)
  }

  /** Copies rows; long runs are copied as a whole, for short ones the views cost more. */
  copy(rows: Rows, from: number, to: number): void {
    if (to - from < LONG_RUN_ROWS) {
      for (let row = from; row < to; row++) copyRow(this.#rows, this.#length++, rows, row, this.#measures)
      return
    }
    this.#rows.time.set(rows.time.subarray(from, to), this.#length)
    for (const name of this.#measures) {
      this.#rows.columns[name].set(rows.columns[name].subarray(from, to), this.#length)
    }
    this.#length += to - from
  }

  /** Copies the rows that have a measure of the table. */
  copyMeasured(rows: Rows, from: number, to: number): void {
    const isMeasured = (name: MeasureName, row: number): boolean =>
      rows.columns[name][row] !== MEASURES[name].missing
    for (let row = from; row < to; row++) {
      if (this.#measures.some((name) => isMeasured(name, row)))
        copyRow(this.#rows, this.#length++, rows, row, this.#measures)
    }
  }

  endBuoy(id: number): void {
    if (this.#length === this.#start[this.#buoyCount]) return
    this.#buoys[this.#buoyCount] = id
    this.#start[++this.#buoyCount] = this.#length
  }

  table(): MonthTable {
    const columns = Object.fromEntries(
      MEASURE_NAMES.map((name) => [name, this.#rows.columns[name].subarray(0, this.#length)]),
    ) as RowColumns
    return {
      month: this.#month,
      buoys: this.#buoys.subarray(0, this.#buoyCount),
      start: this.#start.subarray(0, this.#buoyCount + 1),
      time: this.#rows.time.subarray(0, this.#length),
      columns,
    }
  }
}

function emptyColumns(capacity: number, measures: readonly MeasureName[]): RowColumns {
  return Object.fromEntries(
    MEASURE_NAMES.map((name) => [
      name,
      missingColumn(MEASURES[name], measures.includes(name) ? capacity : 0),
    ]),
  ) as RowColumns
}

function isReading({ columns }: Rows, row: number): boolean {
  return columns.significantHeight[row] !== MEASURES.significantHeight.missing
}

function copyRow(into: Rows, at: number, rows: Rows, row: number, names: readonly MeasureName[]): void {
  into.time[at] = rows.time[row]
  for (const name of names) into.columns[name][at] = rows.columns[name][row]
}

/** The rows of one buoy as runs of strictly ascending times. */
function inOrder(
  spooled: readonly SpooledRun[],
  chunks: readonly Rows[],
  names: readonly MeasureName[],
  onTwice: (time: number) => unknown,
): Run[] {
  const runs = spooled.map((run) => ({ ...run, rows: chunks[run.chunk] }))
  const sorted = runs.toSorted((a, b) => a.rows.time[a.from] - b.rows.time[b.from])
  const areApart = sorted.every(
    ({ rows, from, ascending }, i) =>
      ascending && (i === 0 || rows.time[from] > sorted[i - 1].rows.time[sorted[i - 1].to - 1]),
  )
  return areApart ? sorted : [merge(runs, names, onTwice)]
}

/** Makes one row for each time: the lowest feed's last row, with its gaps filled by the feeds above. */
function merge(
  runs: readonly (Run & SpooledRun)[],
  names: readonly MeasureName[],
  onTwice: (time: number) => unknown,
): Run {
  const candidates: { time: number; feed: number; order: number; rows: Rows; row: number }[] = []
  for (const { rows, feed, from, to } of runs) {
    for (let row = from; row < to; row++)
      candidates.push({ time: rows.time[row], feed, order: candidates.length, rows, row })
  }
  candidates.sort((a, b) => a.time - b.time || a.feed - b.feed || b.order - a.order)
  const time = new Uint32Array(candidates.length)
  const columns = emptyColumns(candidates.length, names)
  let length = 0
  let kept: (typeof candidates)[number] | null = null
  for (const candidate of candidates) {
    const codeOf = (name: MeasureName, { rows, row } = candidate): number => rows.columns[name][row]
    const before = kept
    if (before?.time !== candidate.time) time[length++] = candidate.time
    else if (before.feed === candidate.feed) {
      const differs = (name: MeasureName): boolean =>
        codeOf(name) !== MEASURES[name].missing && codeOf(name) !== codeOf(name, before)
      if (names.some(differs)) onTwice(candidate.time)
      continue
    }
    kept = candidate
    for (const name of names) {
      if (columns[name][length - 1] === MEASURES[name].missing) columns[name][length - 1] = codeOf(name)
    }
  }
  return { rows: { time, columns }, from: 0, to: length }
}

export function isAscending(time: Uint32Array, from: number, to: number): boolean {
  for (let row = from + 1; row < to; row++) {
    if (time[row] <= time[row - 1]) return false
  }
  return true
}

export interface Rows {
  time: Uint32Array
  columns: RowColumns
}

/** Rows of one month. `buoys[i]` has `start[i]` to before `start[i + 1]`, ascending in time. */
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
