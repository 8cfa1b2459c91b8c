/**
 * Rows on their way from the sources to the monthly parts, by UTC month. Rows past a budget of memory go to
 * files and come back month by month: a build needs room for its largest month.
 */
import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { MonthRows } from '../index/segments.ts'
import { MEASURE_NAMES, MEASURES, type MeasureName } from '../sea/columns.ts'
import { missingColumn, type RowBatch, type RowColumns } from '../sea/row-batch.ts'
import { monthOf, monthStart } from '../sea/time.ts'
import { isAscending, monthTables, type Chunk, type MonthTables, type SpooledRun } from './month-tables.ts'
import { entryOf } from '../system/entry-of.ts'

const CHUNK_ROWS = 8192
const rowBytes = (names: readonly MeasureName[]): number => 4 + names.length * 2
const DEFAULT_BUDGET_BYTES = 768 * 2 ** 20

export class Spool {
  readonly #dir: string
  readonly #budgetBytes: number
  readonly #months = new Map<number, Month>()
  #memoryBytes = 0

  /** `budgetBytes` of rows are held in memory; `dir` is made only when they are more. */
  constructor(dir: string, budgetBytes = DEFAULT_BUDGET_BYTES) {
    this.#dir = dir
    this.#budgetBytes = budgetBytes
  }

  add(handle: number, feed: number, batch: RowBatch): void {
    const { time, length } = batch
    // Asked once: it looks at all rows, and a batch may have many months.
    const names = batch.names()
    for (let from = 0; from < length;) {
      const month = monthOf(time[from])
      const rows = entryOf(this.#months, month, () => new Month(join(this.#dir, `month-${month}`)))
      if (rows.space(names) === 0) this.#memoryBytes += rows.beginChunk(names)
      const [chunk, at] = [rows.chunks.at(-1)!, rows.used]
      const most = Math.min(length, from + rows.space(names))
      const [begin, end] = [monthStart(month), monthStart(month + 1)]
      let to = from + 1
      while (to < most && time[to] >= begin && time[to] < end) to++
      chunk.time.set(time.subarray(from, to), at)
      for (const name of chunk.names) chunk.columns[name].set(batch.columns[name].subarray(from, to), at)
      rows.used = at + to - from
      rows.runs.push({
        handle,
        feed,
        chunk: rows.spilled.length + rows.chunks.length - 1,
        from: at,
        to: rows.used,
        ascending: isAscending(chunk.time, at, rows.used),
      })
      from = to
    }
    if (this.#memoryBytes > this.#budgetBytes) this.#spill()
  }

  months(): number[] {
    return [...this.#months.keys()].sort((a, b) => a - b)
  }

  /**
   * Takes a month out. `idOf` gives a handle's buoy id, 0 to leave the buoy out; rows after `asOf` are left
   * out. A new row replaces the one of its time in `base` (rows by buoy id); without any value it removes it.
   */
  take(
    month: number,
    idOf: (handle: number) => number,
    asOf: number,
    base: readonly MonthRows[] = [],
  ): MonthTables {
    const rows = this.#months.get(month)
    this.#months.delete(month)
    if (rows === undefined) return monthTables(month, [], [], idOf, asOf, base)
    for (const { time } of rows.chunks) this.#memoryBytes -= time.buffer.byteLength
    const tables = monthTables(month, rows.runs, rows.load(), idOf, asOf, base)
    rows.discard()
    return tables
  }

  close(): void {
    for (const month of this.#months.values()) month.discard()
    this.#months.clear()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  #spill(): void {
    mkdirSync(this.#dir, { recursive: true })
    for (const month of this.#months.values()) month.spill()
    this.#memoryBytes = 0
  }
}

class Month {
  readonly runs: SpooledRun[] = []
  chunks: Chunk[] = []
  /** Rows in the last chunk. */
  used = 0
  /** The measures of each chunk in the file. */
  readonly spilled: (readonly MeasureName[])[] = []
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  /** Rows with these measures that the last chunk has room for. */
  space(names: readonly MeasureName[]): number {
    const last = this.chunks.at(-1)
    const fits = last !== undefined && names.every((name) => last.names.includes(name))
    return fits ? CHUNK_ROWS - this.used : 0
  }

  /** Adds an empty chunk. Returns its bytes. */
  beginChunk(names: readonly MeasureName[]): number {
    this.used = 0
    return this.chunks[this.chunks.push(newChunk(names)) - 1].time.buffer.byteLength
  }

  spill(): void {
    if (this.chunks.length === 0) return
    for (const { time } of this.chunks)
      appendFileSync(this.#file, new Uint8Array(time.buffer), { mode: 0o600 })
    this.spilled.push(...this.chunks.map(({ names }) => names))
    this.chunks = []
  }

  load(): Chunk[] {
    if (this.spilled.length === 0) return this.chunks
    const { buffer, byteOffset } = readFileSync(this.#file)
    let at = byteOffset
    const chunks = this.spilled.map((names) => {
      const chunk = newChunk(names, buffer, at)
      at += CHUNK_ROWS * rowBytes(names)
      return chunk
    })
    return [...chunks, ...this.chunks]
  }

  discard(): void {
    if (this.spilled.length > 0) rmSync(this.#file, { force: true })
  }
}

/** The column of a measure that a chunk does not have. */
const ABSENT = Object.fromEntries(
  MEASURE_NAMES.map((name) => [name, missingColumn(MEASURES[name], CHUNK_ROWS)]),
) as RowColumns

/** A chunk is one buffer, so that it goes to a file and comes back in one piece. */
function newChunk(
  names: readonly MeasureName[],
  buffer: ArrayBufferLike = new ArrayBuffer(CHUNK_ROWS * rowBytes(names)),
  at = 0,
): Chunk {
  const columns = Object.fromEntries(
    names.map((name, i) => {
      const offset = at + CHUNK_ROWS * (4 + 2 * i)
      return [
        name,
        MEASURES[name].signed
          ? new Int16Array(buffer, offset, CHUNK_ROWS)
          : new Uint16Array(buffer, offset, CHUNK_ROWS),
      ]
    }),
  ) as Partial<RowColumns>
  return { names, time: new Uint32Array(buffer, at, CHUNK_ROWS), columns: { ...ABSENT, ...columns } }
}
