/**
 * Rows on their way from the sources to the monthly parts: collected per calendar month (UTC), each month
 * sorted, merged and cut when it is asked for. Memory stays bounded: when the rows of all months together
 * pass the budget they go to files in `dir` and come back month by month, so a build needs room for its
 * largest month, not for its history.
 */
import { closeSync, mkdirSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import {
  MEASURE_NAMES,
  MEASURES,
  missingColumn,
  type MeasureName,
  type RowBatch,
  type RowColumns,
} from '../sea/columns.ts'
import { monthOf, monthStart } from '../sea/time.ts'
import type { MonthTable, Rows } from '../snapshot/months.ts'
import type { MonthRows } from '../index/segments.ts'

const CHUNK_ROWS = 8192
const LONG_RUN = 16
/** Bytes of a row: time and nine measures. */
const ROW_BYTES = 4 + MEASURE_NAMES.length * 2

/** A month's rows in two tables: readings, which have a significant height, and weather, which have not. */
export interface MonthTables {
  readings: MonthTable
  weather: MonthTable
}

/** Rows of one buoy and feed that arrived together and lie together in one chunk. */
interface Run {
  handle: number
  feed: number
  chunk: number
  from: number
  to: number
  ascending: boolean
}

/** The measures a row without significant height keeps: they feed the series of those metrics only. */
export const WEATHER_MEASURES = ['waterTemperature', 'windSpeed', 'windDirection', 'gustSpeed'] as const

export class Spool {
  readonly #dir: string
  readonly #budget: number
  readonly #months = new Map<number, Month>()
  #inMemory = 0

  /** `budget` in bytes of rows held in memory; `dir` is made only when the budget is passed. */
  constructor(dir: string, budget = 768 * 1024 * 1024) {
    this.#dir = dir
    this.#budget = budget
  }

  add(handle: number, feed: number, batch: RowBatch): void {
    const { time, length } = batch
    for (let from = 0; from < length;) {
      const month = monthOf(time[from])
      const [begin, end] = [monthStart(month), monthStart(month + 1)]
      let to = from + 1
      while (to < length && time[to] >= begin && time[to] < end) to++
      this.#append(month, handle, feed, batch, from, to)
      from = to
    }
    if (this.#inMemory > this.#budget) this.#spill()
  }

  months(): number[] {
    return [...this.#months.keys()].sort((a, b) => a - b)
  }

  /**
   * Takes a month out of the spool. `idOf` maps a handle to the buoy's id, 0 to leave the buoy out; rows
   * after `asOf` are left out too. `base` holds what the month had before, by buoy id: a new row replaces the
   * one of its time, one without any value removes it.
   */
  take(
    month: number,
    idOf: (handle: number) => number,
    asOf: number,
    base: readonly MonthRows[] = [],
  ): MonthTables {
    const rows = this.#months.get(month)
    this.#months.delete(month)
    if (rows === undefined) return cut(month, [], [], idOf, asOf, base)
    this.#inMemory -= rows.chunks.length * CHUNK_ROWS * ROW_BYTES
    const tables = cut(month, rows.runs, rows.load(), idOf, asOf, base)
    rows.discard()
    return tables
  }

  /** Removes what went to files. */
  close(): void {
    for (const month of this.#months.values()) month.discard()
    this.#months.clear()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  #append(month: number, handle: number, feed: number, batch: RowBatch, from: number, to: number): void {
    let rows = this.#months.get(month)
    if (rows === undefined) {
      rows = new Month(join(this.#dir, `month-${month}`))
      this.#months.set(month, rows)
    }
    while (from < to) {
      if (rows.space() === 0) {
        rows.chunks.push(newChunk())
        rows.used = 0
        this.#inMemory += CHUNK_ROWS * ROW_BYTES
      }
      const chunk = rows.chunks[rows.chunks.length - 1]
      const at = rows.used
      const next = Math.min(to, from + rows.space())
      chunk.time.set(batch.time.subarray(from, next), at)
      for (const name of MEASURE_NAMES) chunk.columns[name].set(batch.columns[name].subarray(from, next), at)
      rows.used = at + next - from
      rows.runs.push({
        handle,
        feed,
        chunk: rows.spilled + rows.chunks.length - 1,
        from: at,
        to: rows.used,
        ascending: isAscending(chunk.time, at, rows.used),
      })
      from = next
    }
  }

  #spill(): void {
    mkdirSync(this.#dir, { recursive: true })
    for (const month of this.#months.values()) month.spill()
    this.#inMemory = 0
  }
}

class Month {
  readonly runs: Run[] = []
  chunks: Rows[] = []
  /** Rows used of the last chunk. */
  used = 0
  /** Chunks that went to the file. */
  spilled = 0
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  space(): number {
    return this.chunks.length === 0 ? 0 : CHUNK_ROWS - this.used
  }

  spill(): void {
    if (this.chunks.length === 0) return
    const file = openSync(this.#file, 'a', 0o600)
    try {
      for (const chunk of this.chunks) writeAll(file, new Uint8Array(chunk.time.buffer))
    } finally {
      closeSync(file)
    }
    this.spilled += this.chunks.length
    this.chunks = []
  }

  load(): Rows[] {
    if (this.spilled === 0) return this.chunks
    const file = openSync(this.#file, 'r')
    try {
      const chunks = Array.from({ length: this.spilled }, () => {
        const chunk = newChunk()
        readAll(file, new Uint8Array(chunk.time.buffer))
        return chunk
      })
      return [...chunks, ...this.chunks]
    } finally {
      closeSync(file)
    }
  }

  discard(): void {
    if (this.spilled > 0) rmSync(this.#file, { force: true })
  }
}

/** A chunk is one buffer, so that it goes to a file and comes back in one piece. */
function newChunk(): Rows {
  const buffer = new ArrayBuffer(CHUNK_ROWS * ROW_BYTES)
  const columns = Object.fromEntries(
    MEASURE_NAMES.map((name, i) => {
      const offset = CHUNK_ROWS * (4 + 2 * i)
      return [
        name,
        MEASURES[name].signed
          ? new Int16Array(buffer, offset, CHUNK_ROWS)
          : new Uint16Array(buffer, offset, CHUNK_ROWS),
      ]
    }),
  ) as RowColumns
  return { time: new Uint32Array(buffer, 0, CHUNK_ROWS), columns }
}

function cut(
  month: number,
  runs: Run[],
  chunks: Rows[],
  idOf: (handle: number) => number,
  asOf: number,
  base: readonly MonthRows[],
): MonthTables {
  const byBuoy = new Map<number, { runs: Run[]; base: Stretch[] }>()
  let capacity = 0
  const ofBuoy = (id: number): { runs: Run[]; base: Stretch[] } => {
    let rows = byBuoy.get(id)
    if (rows === undefined) byBuoy.set(id, (rows = { runs: [], base: [] }))
    return rows
  }
  for (const run of runs) {
    const id = idOf(run.handle)
    if (id === 0) continue
    capacity += run.to - run.from
    ofBuoy(id).runs.push(run)
  }
  for (const table of base) {
    const rows = wholeColumns(table)
    capacity += table.time.length
    table.buoys.forEach((id, i) =>
      ofBuoy(id).base.push({ rows, from: table.start[i], to: table.start[i + 1] }),
    )
  }
  const readings = new TableWriter(month, capacity, byBuoy.size, MEASURE_NAMES)
  const weather = new TableWriter(month, capacity, byBuoy.size, WEATHER_MEASURES)
  for (const id of [...byBuoy.keys()].sort((a, b) => a - b)) {
    const rows = byBuoy.get(id)!
    // What a buoy had before is in order by itself, readings and weather apart, as they are written again.
    const stretches =
      rows.runs.length === 0 ? rows.base : rows.base.reduce(addOlder, inOrder(rows.runs, chunks))
    for (const { rows: from, from: first, to } of stretches) {
      const end = rowsUpTo(from.time, first, to, asOf)
      for (let row = first; row < end;) {
        const begin = row
        const reading = isReading(from, row)
        for (row++; row < end && isReading(from, row) === reading;) row++
        if (reading) readings.copy(from, begin, row)
        else weather.copyMeasured(from, begin, row)
      }
    }
    readings.endBuoy(id)
    weather.endBuoy(id)
  }
  return { readings: readings.table(), weather: weather.table() }
}

/** A month as it was read, with a column for every measure. */
function wholeColumns({ time, measures }: MonthRows): Rows {
  const columns = Object.fromEntries(
    MEASURE_NAMES.map((name) => {
      const { codes, mask } = measures[name]
      return [name, mask === 0 ? missingColumn(MEASURES[name], time.length) : codes]
    }),
  ) as RowColumns
  return { time, columns }
}

/**
 * `stretches` with the rows that `base` has at other times. A new row replaces the old one of its time whole:
 * sources correct themselves (NDBC takes back the first of two equal samples), and half a correction would
 * keep what was taken back.
 */
function addOlder(stretches: Stretch[], base: Stretch): Stretch[] {
  const last = base.rows.time[base.to - 1]
  if (stretches.length === 0 || stretches[0].rows.time[stretches[0].from] > last) return [base, ...stretches]
  const capacity = stretches.reduce((sum, { from, to }) => sum + to - from, base.to - base.from)
  const merged: Rows = { time: new Uint32Array(capacity), columns: emptyColumns(capacity, MEASURE_NAMES) }
  let length = 0
  let old = base.from
  const copy = (rows: Rows, row: number): void => {
    merged.time[length] = rows.time[row]
    for (const name of MEASURE_NAMES) merged.columns[name][length] = rows.columns[name][row]
    length++
  }
  for (const { rows, from, to } of stretches) {
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
  readonly #time: Uint32Array
  readonly #columns: RowColumns
  readonly #measures: readonly MeasureName[]
  readonly #buoys: Uint32Array
  readonly #start: Uint32Array
  #length = 0
  #buoyCount = 0

  constructor(month: number, capacity: number, buoys: number, measures: readonly MeasureName[]) {
    this.#month = month
    this.#measures = measures
    this.#time = new Uint32Array(capacity)
    this.#columns = emptyColumns(capacity, measures)
    this.#buoys = new Uint32Array(buoys)
    this.#start = new Uint32Array(buoys + 1)
  }

  /**
   * Long runs are copied whole, which is some ten times as fast as value by value; short ones are not worth
   * the views.
   */
  copy(rows: Rows, from: number, to: number): void {
    if (to - from < LONG_RUN) {
      for (let row = from; row < to; row++) this.#copyRow(rows, row)
      return
    }
    this.#time.set(rows.time.subarray(from, to), this.#length)
    for (const name of this.#measures) {
      this.#columns[name].set(rows.columns[name].subarray(from, to), this.#length)
    }
    this.#length += to - from
  }

  /** Only the rows that measured something. */
  copyMeasured(rows: Rows, from: number, to: number): void {
    for (let row = from; row < to; row++) if (hasWeather(rows, row)) this.#copyRow(rows, row)
  }

  #copyRow(rows: Rows, row: number): void {
    const at = this.#length++
    this.#time[at] = rows.time[row]
    for (const name of this.#measures) this.#columns[name][at] = rows.columns[name][row]
  }

  endBuoy(id: number): void {
    if (this.#length === this.#start[this.#buoyCount]) return
    this.#buoys[this.#buoyCount] = id
    this.#start[++this.#buoyCount] = this.#length
  }

  table(): MonthTable {
    const columns = Object.fromEntries(
      MEASURE_NAMES.map((name) => [name, this.#columns[name].subarray(0, this.#length)]),
    ) as RowColumns
    return {
      month: this.#month,
      buoys: this.#buoys.subarray(0, this.#buoyCount),
      start: this.#start.subarray(0, this.#buoyCount + 1),
      time: this.#time.subarray(0, this.#length),
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

/** End of the rows that are not after `asOf`; `from` to `to` ascend in time. */
function rowsUpTo(time: Uint32Array, from: number, to: number, asOf: number): number {
  let end = to
  while (end > from && time[end - 1] > asOf) end--
  return end
}

function hasWeather({ columns }: Rows, row: number): boolean {
  return WEATHER_MEASURES.some((name) => columns[name][row] !== MEASURES[name].missing)
}

interface Stretch {
  rows: Rows
  from: number
  to: number
}

/** The runs of one buoy as stretches of strictly ascending times. */
function inOrder(runs: Run[], chunks: Rows[]): Stretch[] {
  const stretches = runs
    .map((run) => ({ rows: chunks[run.chunk], from: run.from, to: run.to, ascending: run.ascending }))
    .sort((a, b) => a.rows.time[a.from] - b.rows.time[b.from])
  const sorted = stretches.every(
    ({ rows, from, ascending }, i) =>
      ascending && (i === 0 || rows.time[from] > stretches[i - 1].rows.time[stretches[i - 1].to - 1]),
  )
  return sorted ? stretches : [merge(runs, chunks)]
}

/**
 * One row for each time: of each feed the row that came last, whole; the lowest feed wins, the others fill
 * what is missing there.
 */
function merge(runs: Run[], chunks: Rows[]): Stretch {
  const places: { time: number; feed: number; order: number; rows: Rows; row: number }[] = []
  for (const run of runs) {
    const rows = chunks[run.chunk]
    for (let row = run.from; row < run.to; row++) {
      places.push({ time: rows.time[row], feed: run.feed, order: places.length, rows, row })
    }
  }
  places.sort((a, b) => a.time - b.time || a.feed - b.feed || b.order - a.order)
  const time = new Uint32Array(places.length)
  const columns = emptyColumns(places.length, MEASURE_NAMES)
  let length = 0
  let feed = -1
  for (const place of places) {
    if (length === 0 || time[length - 1] !== place.time) time[length++] = place.time
    else if (place.feed === feed) continue
    feed = place.feed
    const at = length - 1
    for (const name of MEASURE_NAMES) {
      if (columns[name][at] === MEASURES[name].missing)
        columns[name][at] = place.rows.columns[name][place.row]!
    }
  }
  return { rows: { time, columns }, from: 0, to: length }
}

function isAscending(time: Uint32Array, from: number, to: number): boolean {
  for (let row = from + 1; row < to; row++) if (time[row] <= time[row - 1]) return false
  return true
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
}

function readAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) {
    const read = readSync(file, bytes, at, bytes.length - at, null)
    if (read === 0) throw new Error('a spooled month ended before its rows did')
    at += read
  }
}
