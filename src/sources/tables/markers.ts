/**
 * Values that mark "missing" without a word: nines far above all other values of their column, single
 * negative directions, and a direction of 0 beside a temperature of 0. Only a whole column shows them, so
 * they are taken out when its file has been read.
 */
import { MEASURES, type MeasureName } from '../../sea/columns.ts'
import type { RowBatch } from '../../sea/row-batch.ts'
import type { FileReport } from '../source.ts'

/** Numbers of nines that can be real values, too; greater ones are always missing. */
const NINES: ReadonlySet<number> = new Set([99, 99.9, 99.99])
/** Other values reach at most this share of a marker: between lies no storm. */
const FAR_BELOW = 0.5
/** Different negative directions make -180 to 180 a convention. */
const FEWEST_NEGATIVE = 3

/** A row of a station by its number and its index in the batch. */
interface Place {
  readonly station: number
  readonly row: number
}

/** Values of a column so far, in the table's own unit. */
class ColumnMarks {
  readonly #name: MeasureName
  readonly #isDirection: boolean
  #most = -Infinity
  readonly #nines = new Map<number, Place[]>()
  readonly #negatives = new Map<number, Place[]>()

  constructor(name: MeasureName) {
    this.#name = name
    this.#isDirection = MEASURES[name].unit === 'degree'
  }

  /** Notes a value that has a code. */
  see(value: number, station: number, row: number): void {
    if (value >= 0 && value < 99) {
      if (value > this.#most) this.#most = value
      return
    }
    const isSuspect = this.#isDirection ? value < 0 : NINES.has(value)
    if (!isSuspect) {
      if (value > this.#most) this.#most = value
      return
    }
    const known = this.#isDirection ? this.#negatives : this.#nines
    const places = known.get(value)
    if (places === undefined) known.set(value, [{ station, row }])
    else places.push({ station, row })
  }

  /** The rows in which the column's value is missing, with the reason. */
  *missing(): Generator<{ name: MeasureName; reason: string; places: readonly Place[] }> {
    const { unit } = MEASURES[this.#name]
    const nines = [...this.#nines].sort(([a], [b]) => b - a)
    for (const [value, places] of nines) {
      // A single value may be a storm.
      const isAlone = this.#most === -Infinity && places.length === 1
      const isFar = !isAlone && this.#most <= value * FAR_BELOW
      if (isFar) yield { name: this.#name, reason: `${this.#name} of ${value}, far above all others`, places }
      else this.#most = Math.max(this.#most, value)
    }
    this.#nines.clear()
    const isConvention = this.#most <= 180 && this.#negatives.size >= FEWEST_NEGATIVE
    for (const [value, places] of this.#negatives) {
      if (!isConvention || value < -180)
        yield { name: this.#name, reason: `${this.#name} below 0 ${unit}`, places }
    }
    this.#negatives.clear()
  }
}

/** Marks of the columns of one table. */
export class Marks {
  readonly #columns: readonly ColumnMarks[]

  constructor(names: readonly MeasureName[]) {
    this.#columns = names.map((name) => new ColumnMarks(name))
  }

  see(column: number, value: number, station: number, row: number): void {
    this.#columns[column].see(value, station, row)
  }

  takeOut(batchOf: (station: number) => RowBatch | undefined, file: FileReport): void {
    for (const column of this.#columns) {
      for (const { name, reason, places } of column.missing()) {
        for (const { station, row } of places) {
          const batch = batchOf(station)
          if (batch !== undefined) batch.columns[name][row] = MEASURES[name].missing
        }
        file.skipped(reason, undefined, places.length)
      }
    }
  }
}

/**
 * Takes zeros of a direction and a temperature in one row out, where the rows before and behind have neither.
 */
export function takeOutZeros({ length, columns }: RowBatch, file: FileReport): void {
  const { direction, waterTemperature } = columns
  const [far, cold] = [MEASURES.direction.missing, MEASURES.waterTemperature.missing]
  const isZero = (row: number): boolean => direction[row] === 0 && waterTemperature[row] === 0
  const isOther = (row: number): boolean =>
    direction[row] !== 0 &&
    direction[row] !== far &&
    waterTemperature[row] !== 0 &&
    waterTemperature[row] !== cold
  const next = (row: number, step: number): number => {
    let at = row + step
    while (at >= 0 && at < length && isZero(at)) at += step
    return at
  }
  for (let row = 0; row < length; row++) {
    if (!isZero(row)) continue
    const [before, behind] = [next(row, -1), next(row, 1)]
    const beside = [before, behind].filter((at) => at >= 0 && at < length)
    if (beside.length === 0 || !beside.every(isOther)) {
      row = behind
      continue
    }
    direction.fill(far, row, behind)
    waterTemperature.fill(cold, row, behind)
    file.skipped('a direction and a temperature of 0 at once', undefined, behind - row)
    row = behind
  }
}
