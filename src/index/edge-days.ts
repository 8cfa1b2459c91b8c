/**
 * Days at the ends of calendar years, which lie in two years of UTC, so that a build knows nothing of them.
 * They are worked out from rows when they are first asked for, and then kept as long as their snapshot:
 * sixteen bytes a buoy, year, measure and aggregation.
 */
import type { Measure } from '../sea/columns.ts'
import type { Aggregation } from './statistics.ts'

/** The first day of a year and the last one, each with its value and its samples. */
const NUMBERS = 4
/** In place of the samples of a day that nobody has asked for. */
export const UNASKED = -1

/** By year: `NUMBERS` of each buoy. */
export type EdgeYears = (Int32Array | undefined)[]

export class EdgeDays {
  readonly #buoys: number
  readonly #kept = new Map<string, EdgeYears>()

  /** Of so many buoys. */
  constructor(buoys: number) {
    this.#buoys = buoys
  }

  of({ name }: Measure, aggregation: Aggregation): EdgeYears {
    const key = `${name} ${aggregation}`
    let years = this.#kept.get(key)
    if (years === undefined) this.#kept.set(key, (years = []))
    return years
  }

  /** Value and samples of both days of a year, of all buoys. */
  year(years: EdgeYears, year: number): Int32Array {
    return (years[year] ??= new Int32Array(this.#buoys * NUMBERS).fill(UNASKED))
  }

  /** Where the value of a day stands, its samples behind it. */
  static placeOf(ordinal: number, isLast: boolean): number {
    return ordinal * NUMBERS + (isLast ? 2 : 0)
  }
}
