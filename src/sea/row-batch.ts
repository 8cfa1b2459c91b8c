/** Rows on their way from a source to the snapshot, and the codes of their values. */
import { MEASURE_NAMES, MEASURES, rowNames, type Codes, type Measure, type MeasureName } from './columns.ts'

/** The code of "nothing was measured", outside of every measure's limits, in signed columns too. */
export const NO_CODE = -0x8000
/** A value beyond the measure's physical limits: outside of 16 bits, so it is never a code. */
export const OUTSIDE = 0x10000

export interface CodeLimits {
  readonly min: number
  readonly max: number
  /** A full circle, which is stored as 0; `NO_CODE` for what is not a direction. */
  readonly circle: number
}

export function codeLimits({ unit, scale, min, max }: Measure): CodeLimits {
  return {
    min: Math.round(min * scale),
    max: Math.round(max * scale),
    circle: unit === 'degree' ? 360 * scale : NO_CODE,
  }
}

/** The code of a value, rounded once: `NO_CODE` if it is not finite, `OUTSIDE` beyond the limits. */
export function codeOf(scale: number, { min, max, circle }: CodeLimits, value: number): number {
  if (!Number.isFinite(value)) return NO_CODE
  const code = roundHalfUp(value * scale)
  if (code >= min && code <= max) return code
  // A full circle is north.
  return code === circle && circle !== NO_CODE ? 0 : OUTSIDE
}

/** Rounds halves as decimals do: binary products come out a few last bits below the half. */
function roundHalfUp(value: number): number {
  return Math.sign(value) * Math.floor(Math.abs(value) * (1 + 4 * Number.EPSILON) + 0.5) + 0
}

function hasValue(codes: Codes, { missing }: Measure, length: number): boolean {
  for (let row = 0; row < length; row++) {
    if (codes[row] !== missing) return true
  }
  return false
}

export function missingColumn(measure: Measure, length: number): Codes {
  return (measure.signed ? new Int16Array(length) : new Uint16Array(length)).fill(measure.missing)
}

export type RowColumns = { [name in MeasureName]: Codes }

/** Rows of one buoy; rows without `significantHeight` are not readings. */
export class RowBatch {
  length = 0
  /** Epoch seconds, UTC. */
  time: Uint32Array
  columns: RowColumns
  /**
   * The names of the last codes and their columns, as looking up a column takes as long as reading a value.
   */
  #names: readonly MeasureName[] = []
  #named: Codes[] = []

  constructor(capacity = 8192) {
    this.time = new Uint32Array(capacity)
    this.columns = columnsOf(capacity)
  }

  /** Returns the new row, in which every measure is missing until `columns[name][row]` is set. */
  add(time: number): number {
    const row = this.length++
    if (row === this.time.length) this.#grow()
    this.time[row] = time
    return row
  }

  /** Adds a row with its codes, of which `codes[i]` belongs to `names[i]`. */
  addCodes(time: number, names: readonly MeasureName[], codes: Int32Array): void {
    const row = this.add(time)
    if (names !== this.#names) {
      this.#names = names
      this.#named = names.map((name) => this.columns[name])
    }
    for (let i = 0; i < codes.length; i++) {
      if (codes[i] !== NO_CODE) this.#named[i][row] = codes[i]
    }
  }

  /** Adds all rows of another batch. */
  append({ length, time, columns }: RowBatch): void {
    while (this.length + length > this.time.length) this.#grow()
    this.time.set(time.subarray(0, length), this.length)
    for (const name of MEASURE_NAMES) this.columns[name].set(columns[name].subarray(0, length), this.length)
    this.length += length
  }

  /** Drops the rows from `from` on; the columns are filled again, since `add` would do it row by row. */
  clear(from = 0): void {
    for (const name of MEASURE_NAMES) this.columns[name].fill(MEASURES[name].missing, from, this.length)
    this.length = from
  }

  /** The measures that rows may have: those of swell and of weather only if a row has one. */
  names(): readonly MeasureName[] {
    return rowNames((name) => hasValue(this.columns[name], MEASURES[name], this.length))
  }

  #grow(): void {
    const capacity = this.time.length * 2
    const time = new Uint32Array(capacity)
    time.set(this.time)
    this.time = time
    const columns = columnsOf(capacity)
    for (const name of MEASURE_NAMES) columns[name].set(this.columns[name])
    this.columns = columns
    this.#names = []
  }
}

function columnsOf(capacity: number): RowColumns {
  return Object.fromEntries(
    MEASURE_NAMES.map((name) => [name, missingColumn(MEASURES[name], capacity)]),
  ) as RowColumns
}

/** 1 where each time is later than the one before, -1 where each is earlier, else 0. */
export function directionOf(time: ArrayLike<number>, length: number): number {
  const direction = length > 1 ? Math.sign(time[1] - time[0]) : 1
  for (let i = 2; i < length; i++) {
    if (Math.sign(time[i] - time[i - 1]) !== direction) return 0
  }
  return direction
}

/** The numbers of rows by time, and in their own order within one time. */
export function orderOf({ length, time }: RowBatch): Uint32Array {
  const order = new Uint32Array(length).map((_, i) => i)
  return directionOf(time, length) === 1 ? order : order.sort((a, b) => time[a] - time[b])
}
