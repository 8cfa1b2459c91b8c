/** Buckets of a zone's clock, and statistics of the rows in them. */
import { lowerBound } from './bisect.ts'
import type { Codes, Measure } from '../sea/columns.ts'
import { civilFromDays, DAY, daysFromCivil, HOUR } from '../sea/time.ts'
import type { Zone } from '../sea/zones.ts'
import type { Segments } from './segments.ts'
import { circularMean, hundredths, isDirection, type Aggregation } from './statistics.ts'

const HOURS_OF_DAY = 24

/**
 * Begins of the buckets of `days` days from day `first` on (days since 1970), and the end of the last, into
 * `into`: each bucket begins at the first instant at which the clock shows its first second or later, and
 * lasts until the next one begins. So a day may have 23 or 25 hours, an hour that is shown twice is one
 * bucket, and what the clock skips is empty.
 *
 * @param hours of a bucket: a divisor of 24, or whole days
 * @returns the number of buckets
 */
export function layBuckets(
  zone: Zone,
  first: number,
  days: number,
  hours: number,
  into: Float64Array,
): number {
  const most = Math.max(1, hours / HOURS_OF_DAY)
  let n = 0
  let next = zone.firstInstant(first * DAY)
  // Days that begin at midnight before this instant have 24 hours.
  let steadyUntil = -Infinity
  for (let day = 0; day < days; day += most) {
    const midnight = (first + day) * DAY
    const length = Math.min(most, days - day) * DAY
    const start = next
    if (start + length < steadyUntil) next = start + length
    else {
      next = zone.firstInstant(midnight + length)
      const isMidnight = next + zone.offsetAt(next) === midnight + length
      steadyUntil = isMidnight ? zone.steadyUntil(next) : -Infinity
    }
    if (hours >= HOURS_OF_DAY) {
      into[n++] = start
      continue
    }
    const isPlain = start + zone.offsetAt(start) === midnight && zone.steadyUntil(start) >= next
    for (let hour = 0; hour < HOURS_OF_DAY; hour += hours) {
      into[n++] = isPlain ? start + hour * HOUR : zone.firstInstant(midnight + hour * HOUR)
    }
  }
  into[n] = next
  return n
}

/** Lengths of the buckets of a range, in hours; `1mo` is a month of the calendar. */
export const RANGE_BUCKETS = { '1h': 1, '3h': 3, '1d': HOURS_OF_DAY, '1mo': 28 * HOURS_OF_DAY } as const
export type RangeBucket = keyof typeof RANGE_BUCKETS

/**
 * Begins of the buckets that hold the instants from `start` to `end`, and the end of the last; some may be
 * outside.
 */
export function rangeBuckets(zone: Zone, bucket: RangeBucket, start: number, end: number): Float64Array {
  const dayOf = (epoch: number): number => Math.floor((epoch + zone.offsetAt(epoch)) / DAY)
  // Where the clock goes back over midnight, the new day has begun although the old one is shown again.
  const [first, last] = [dayOf(start), dayOf(end) + 2]
  if (bucket !== '1mo') {
    const hours = RANGE_BUCKETS[bucket]
    const edges = new Float64Array(((last - first) * HOURS_OF_DAY) / hours + 1)
    layBuckets(zone, first, last - first, hours, edges)
    return edges
  }
  const edges: number[] = []
  const { year, month } = civilFromDays(first)
  for (let months = year * 12 + month - 1; ; months++) {
    const day = daysFromCivil(Math.floor(months / 12), (months % 12) + 1, 1)
    edges.push(zone.firstInstant(day * DAY))
    if (day >= last) return Float64Array.from(edges)
  }
}

/** Rows [from, to) of one measure at ascending times (epoch seconds). */
export interface MeasureRows {
  readonly time: Uint32Array
  readonly codes: Codes
  readonly from: number
  readonly to: number
}

/** A buoy's rows of one measure, segment by segment; months without the measure are left out. */
export function rowsOf(segments: Segments, ordinal: number, { name }: Measure): MeasureRows[] {
  const rows: MeasureRows[] = []
  for (let segment = segments.first[ordinal]; segment < segments.first[ordinal + 1]; segment++) {
    const { time, measures } = segments.months[segments.month[segment]]
    const { codes, mask } = measures[name]
    if (mask !== 0) rows.push({ time, codes, from: segments.from[segment], to: segments.to[segment] })
  }
  return rows
}

/** Rows of the segments that overlap [start, end): at least as many as a pass over it reads. */
export function rowsWithin(list: readonly MeasureRows[], start: number, end: number): number {
  let rows = 0
  for (const { time, from, to } of list) {
    if (from < to && time[from] < end && time[to - 1] >= start) rows += to - from
  }
  return rows
}

/** The samples of one measure, bucket after bucket. */
export class Samples {
  readonly #measure: Measure
  readonly #cursors: readonly Cursor[]
  #codes = new Int32Array(64)

  /** @param lists ascending in time, each over its segments; a bucket takes the samples of all */
  constructor(lists: readonly (readonly MeasureRows[])[], measure: Measure) {
    this.#measure = measure
    this.#cursors = lists.map((list) => new Cursor(list))
  }

  /** Moves on to the first rows at or after `start`. @returns whether any is before `end` */
  seek(start: number, end: number): boolean {
    let found = 0
    for (const cursor of this.#cursors) found += cursor.seek(start, end)
    return found > 0
  }

  /** Takes all samples that are left before `end`. @returns their number */
  gather(end: number): number {
    const { missing } = this.#measure
    let n = 0
    for (const cursor of this.#cursors) {
      for (let rows = cursor.rowsBefore(end); rows > 0; rows = cursor.rowsBefore(end)) {
        if (n + rows > this.#codes.length) {
          const larger = new Int32Array(2 * (n + rows))
          larger.set(this.#codes)
          this.#codes = larger
        }
        n = cursor.take(rows, this.#codes, n, missing)
      }
    }
    return n
  }

  /**
   * Of the `n` samples gathered last: hundredths of the unit, or whole degrees of directions, or `NO_VALUE`.
   */
  statistic(n: number, aggregation: Aggregation): number {
    return isDirection(this.#measure)
      ? circularMean(this.#codes, n)
      : hundredths(this.#codes, n, aggregation, this.#measure.scale)
  }
}

/** A position in a list of rows that only moves on. */
class Cursor {
  readonly #list: readonly MeasureRows[]
  #segment = 0
  #row = 0

  constructor(list: readonly MeasureRows[]) {
    this.#list = list
    this.#row = list[0]?.from ?? 0
  }

  /** Moves on to the first row at or after `start`; returns 1 if it is before `end`, else 0. */
  seek(start: number, end: number): 0 | 1 {
    for (; this.#segment < this.#list.length; this.#nextSegment()) {
      const { time, to } = this.#list[this.#segment]
      if (this.#row >= to || time[to - 1] < start) continue
      this.#row = lowerBound(time, start, this.#row, to - 1)
      return time[this.#row] < end ? 1 : 0
    }
    return 0
  }

  /** Next rows of the current segment that are before `end`; 0 when the list has none left. */
  rowsBefore(end: number): number {
    for (; this.#segment < this.#list.length; this.#nextSegment()) {
      const { time, to } = this.#list[this.#segment]
      let row = this.#row
      if (row >= to) continue
      while (row < to && time[row] < end) row++
      return row - this.#row
    }
    return 0
  }

  /** Appends the codes of the next `rows` rows, without missing ones, at `n`; returns the new end. */
  take(rows: number, target: Int32Array, n: number, missing: number): number {
    const { codes } = this.#list[this.#segment]
    const stop = this.#row + rows
    for (let row = this.#row; row < stop; row++) {
      const code = codes[row]
      if (code !== missing) target[n++] = code
    }
    this.#row = stop
    return n
  }

  #nextSegment(): void {
    this.#segment++
    this.#row = this.#list[this.#segment]?.from ?? 0
  }
}
