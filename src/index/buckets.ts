/** Buckets of a zone's clock, and statistics of the rows in them. */
import { lowerBound } from './bisect.ts'
import type { Codes, Measure } from '../sea/columns.ts'
import { DAY, HOUR, monthOf, monthStart } from '../sea/time.ts'
import type { Zone } from '../sea/zones.ts'
import type { Segments } from './segments.ts'
import { circularMean, hundredths, isDirection, type Aggregation } from './statistics.ts'

const HOURS_OF_DAY = 24

/**
 * Begins of the buckets of `days` days from day `first` on (days since 1970), and the end of the last, into
 * `into`: each bucket begins at the first instant at which the clock shows its first second or later, and
 * lasts until the next one begins. So a day may have 23 or 25 hours, and one that the clock skips is empty.
 *
 * @param length of a bucket, whole days
 * @returns the number of buckets
 */
export function layDays(zone: Zone, first: number, days: number, length: number, into: Float64Array): number {
  let n = 0
  let next = zone.firstInstant(first * DAY)
  // Days that begin at midnight before this instant have 24 hours.
  let steadyUntil = -Infinity
  for (let day = 0; day < days; day += length) {
    const seconds = Math.min(length, days - day) * DAY
    const start = next
    if (start + seconds < steadyUntil) next = start + seconds
    else {
      const midnight = (first + day) * DAY + seconds
      next = zone.firstInstant(midnight)
      const isMidnight = next + zone.offsetAt(next) === midnight
      steadyUntil = isMidnight ? zone.steadyUntil(next) : -Infinity
    }
    into[n++] = start
  }
  into[n] = next
  return n
}

/** Beginnings of a wall clock's buckets in local seconds: what the clock shows, counted as if it were UTC. */
interface ClockSteps {
  /** The begin of the bucket that holds a local second. */
  readonly begin: (local: number) => number
  /** The begin of the bucket after one that begins at `start`. */
  readonly next: (begin: number) => number
}

const stepsOf = (seconds: number): ClockSteps => {
  return { begin: (local) => Math.floor(local / seconds) * seconds, next: (begin) => begin + seconds }
}

export const HOUR_STEPS = stepsOf(HOUR)

/** Lengths of the buckets of a range, in hours; `1mo` is a month of the calendar. */
export const RANGE_BUCKETS = { '1h': 1, '3h': 3, '1d': HOURS_OF_DAY, '1mo': 28 * HOURS_OF_DAY } as const
export type RangeBucket = keyof typeof RANGE_BUCKETS

const RANGE_STEPS: { readonly [bucket in RangeBucket]: ClockSteps } = {
  '1h': HOUR_STEPS,
  '3h': stepsOf(3 * HOUR),
  '1d': stepsOf(DAY),
  '1mo': {
    begin: (local) => monthStart(monthOf(local)),
    next: (begin) => monthStart(monthOf(begin) + 1),
  },
}

/** Stretches of time in each of which a clock shows one bucket, ordered by bucket and then by time. */
export interface Stretches {
  /** First seconds, epoch. */
  readonly from: Float64Array | number[]
  /** The seconds after the last ones, epoch. */
  readonly until: Float64Array | number[]
  /** Begins of their buckets, local seconds. */
  readonly local: Float64Array | number[]
}

/**
 * Lays the time from `start` to before `end` out in the buckets of a clock. A bucket into which the clock
 * goes back past the begin of another has several stretches, such as hours where it goes back by two of them
 * (Troll) or at 45 minutes past (Chatham). A bucket that is shown twice in a row has one stretch.
 *
 * @returns the number of stretches
 */
export function layStretches(
  zone: Zone,
  { begin, next }: ClockSteps,
  start: number,
  end: number,
  into: Stretches,
): number {
  let n = 0
  for (let at = start; at < end;) {
    const offset = zone.offsetAt(at)
    const change = Math.min(end, zone.steadyUntil(at))
    for (let first = begin(at + offset); at < change; first = next(first)) {
      const until = Math.min(change, next(first) - offset)
      n = addStretch(into, n, at, until, first)
      at = until
    }
  }
  return n
}

/** Adds a stretch after the `n` others. @returns the new count */
function addStretch(into: Stretches, n: number, start: number, end: number, bucket: number): number {
  const { from, until, local } = into
  let place = n
  while (place > 0 && local[place - 1] > bucket) place--
  if (place > 0 && local[place - 1] === bucket && until[place - 1] === start) {
    until[place - 1] = end
    return n
  }
  for (const column of [from, until, local]) {
    for (let i = n; i > place; i--) column[i] = column[i - 1]
  }
  from[place] = start
  until[place] = end
  local[place] = bucket
  return n + 1
}

/** The buckets that hold the instants from `start` to `end`, each whole; some may be outside. */
export function rangeStretches(zone: Zone, bucket: RangeBucket, start: number, end: number): Stretches {
  const steps = RANGE_STEPS[bucket]
  const bucketAt = (epoch: number): number => steps.begin(epoch + zone.offsetAt(epoch))
  // No clock goes back by as much as a day.
  const first = steps.begin(bucketAt(start) - DAY)
  const last = steps.next(bucketAt(end)) + DAY
  const stretches: Stretches = { from: [], until: [], local: [] }
  layStretches(zone, steps, zone.firstInstant(first), zone.firstInstant(last), stretches)
  return stretches
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
  return segments.runs(ordinal).flatMap(({ month: { time, measures }, from, count }) => {
    const { codes, mask } = measures[name]
    return mask === 0 ? [] : { time, codes, from, to: from + count }
  })
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
  /** Epoch seconds: the cursors are at the first rows from this time on. */
  #at = -Infinity

  /** @param lists ascending in time, each over its segments; a bucket takes the samples of all */
  constructor(lists: readonly (readonly MeasureRows[])[], measure: Measure) {
    this.#measure = measure
    this.#cursors = lists.map((list) => new Cursor(list))
  }

  /** Moves to the first rows at or after `start`, also back. @returns whether any is before `end` */
  seek(start: number, end: number): boolean {
    let found = 0
    for (const cursor of this.#cursors) {
      if (start < this.#at) cursor.rewind()
      found += cursor.seek(start, end)
    }
    this.#at = start
    return found > 0
  }

  /** Takes all samples that are left before `end`, behind the `n` taken last. @returns how many there are */
  gather(end: number, n = 0): number {
    const { missing } = this.#measure
    this.#at = end
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
   * Statistic of the `n` samples gathered last: hundredths of the unit, whole degrees of directions, or
   * `NO_VALUE`.
   */
  statistic(n: number, aggregation: Aggregation): number {
    return isDirection(this.#measure)
      ? circularMean(this.#codes, n)
      : hundredths(this.#codes, n, aggregation, this.#measure.scale)
  }
}

/** A position in a list of rows. */
class Cursor {
  readonly #list: readonly MeasureRows[]
  #segment = 0
  #row = 0

  constructor(list: readonly MeasureRows[]) {
    this.#list = list
    this.#row = list[0]?.from ?? 0
  }

  rewind(): void {
    this.#segment = 0
    this.#row = this.#list[0]?.from ?? 0
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
