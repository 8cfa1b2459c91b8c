/**
 * The rows of each buoy over all monthly parts as one sequence, counted from its oldest row: numbers in,
 * positions out.
 *
 * Months stay apart in memory, so that closed ones are shared between snapshots. A buoy's months are its
 * segments; a prefix sum of their lengths makes counts and page borders subtractions, whatever lies between
 * them. Finding a time costs one binary search over the segments and one interpolated search inside a month.
 */
import { likelyRow, lowerBound, nearerRow, timeBoundBetween, timeBoundNear } from './bisect.ts'
import type { Codes, MeasureName } from '../sea/columns.ts'
import type { Steps } from '../system/steps.ts'

/**
 * A month's rows as they are read: views, and for a column that is not there one missing value for all rows.
 */
export interface MonthRows {
  file: string
  month: number
  buoys: Uint32Array
  start: Uint32Array
  time: Uint32Array
  measures: { readonly [name in MeasureName]: MeasureColumn }
}

/** `codes[row & mask]`: a column that was left out is a single missing code, read with a mask of 0. */
export interface MeasureColumn {
  codes: Codes
  mask: number
}

export interface SegmentColumns {
  /** Segments of ordinal `i` are `first[i]` to `first[i + 1]`. */
  readonly first: Uint32Array
  /**
   * Per segment: index of its month, its rows there, the buoy's rows before it, and the times of its first
   * and last row.
   */
  readonly month: Uint16Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly before: Uint32Array
  readonly oldest: Uint32Array
  readonly newest: Uint32Array
}

export class Segments implements SegmentColumns {
  static #made = 0
  /** Serial number among the objects that this thread has made. */
  readonly serial = Segments.#made++
  readonly months: readonly MonthRows[]
  readonly first: Uint32Array
  readonly month: Uint16Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly before: Uint32Array
  readonly oldest: Uint32Array
  readonly newest: Uint32Array

  /** V8 would drop reads without a use. */
  touched = 0
  /** The segment of the row that `rowAt` or `closestRow` found last. */
  found = 0

  /** `columns` as `segmentColumns` gave them for the same months. */
  constructor(months: readonly MonthRows[], columns: SegmentColumns) {
    this.months = months
    this.first = columns.first
    this.month = columns.month
    this.from = columns.from
    this.to = columns.to
    this.before = columns.before
    this.oldest = columns.oldest
    this.newest = columns.newest
  }

  /** How many rows a buoy has. */
  count(ordinal: number): number {
    const last = this.first[ordinal + 1] - 1
    return last < this.first[ordinal] ? 0 : this.before[last] + this.to[last] - this.from[last]
  }

  /** The segment that holds the buoy's row at `position`, 0 ≤ position < count. */
  segmentOf(ordinal: number, position: number): number {
    return lowerBound(this.before, position + 1, this.first[ordinal], this.first[ordinal + 1]) - 1
  }

  /** The time of the buoy's row at `position`. */
  timeAt(ordinal: number, position: number): number {
    const segment = this.segmentOf(ordinal, position)
    return this.months[this.month[segment]].time[this.from[segment] + position - this.before[segment]]
  }

  /** How many of the buoy's rows are older than `time`: the position of the first that is not. */
  positionOf(ordinal: number, time: number): number {
    const segment = this.#segmentFrom(ordinal, time)
    if (segment === this.first[ordinal + 1]) return this.count(ordinal)
    return this.before[segment] + this.#rowFrom(segment, time) - this.from[segment]
  }

  /** The row of exactly `time` in the month of `found`, or −1. */
  rowAt(ordinal: number, time: number): number {
    const segment = this.#segmentFrom(ordinal, time)
    if (segment === this.first[ordinal + 1]) return -1
    this.found = segment
    const row = this.#touchedRowFrom(segment, time)
    return this.months[this.month[segment]].time[row] === time ? row : -1
  }

  /** The row closest in time, on a tie the earlier, in the month of `found`; −1 when the buoy has none. */
  closestRow(ordinal: number, time: number): number {
    const segment = this.#segmentFrom(ordinal, time)
    const first = this.first[ordinal]
    if (segment === this.first[ordinal + 1]) return segment === first ? -1 : this.#lastRow(segment - 1)
    const row = this.#touchedRowFrom(segment, time)
    this.found = segment
    const times = this.months[this.month[segment]].time
    const after = times[row] - time
    if (row !== this.from[segment]) return time - times[row - 1] <= after ? row - 1 : row
    return segment === first || time - this.newest[segment - 1] > after ? row : this.#lastRow(segment - 1)
  }

  /**
   * Works as `closestRow`, but gives −1 if that row is more than `reach` seconds away. Mostly it does not
   * look at the rows, so nobody loads their cache lines for nothing.
   */
  closestRowWithin(ordinal: number, time: number, reach: number): number {
    const segment = this.#segmentFrom(ordinal, time)
    const isNear =
      (segment !== this.first[ordinal] && time - this.newest[segment - 1] <= reach) ||
      (segment !== this.first[ordinal + 1] && this.oldest[segment] - time <= reach)
    if (!isNear) return -1
    const row = this.closestRow(ordinal, time)
    return Math.abs(this.months[this.month[this.found]].time[row] - time) <= reach ? row : -1
  }

  #lastRow(segment: number): number {
    this.found = segment
    return this.to[segment] - 1
  }

  /**
   * As `#rowFrom`. Reads the values of the row where `time` is likely to be, since the caller will write that
   * row: so the cache misses of its columns and of the search for it overlap. Row "closest reading" of
   * `bench/micro.bench.ts`: 5.0 µs with, 6.1 without.
   */
  #touchedRowFrom(segment: number, time: number): number {
    const oldest = this.oldest[segment]
    const from = this.from[segment]
    if (oldest >= time) return from
    const { time: times, measures } = this.months[this.month[segment]]
    const { significantHeight, maximumHeight, period, waterTemperature, direction } = measures
    const last = this.to[segment] - 1
    const newest = this.newest[segment]
    const row = likelyRow(from, last, oldest, newest, time)
    this.touched =
      significantHeight.codes[row & significantHeight.mask] +
      maximumHeight.codes[row & maximumHeight.mask] +
      period.codes[row & period.mask] +
      waterTemperature.codes[row & waterTemperature.mask] +
      direction.codes[row & direction.mask]
    return timeBoundNear(times, from, last, nearerRow(times, from, last, oldest, newest, time, row), time)
  }

  /** The buoy's first segment with a newest row that is not older than `time`, or the one behind its last. */
  #segmentFrom(ordinal: number, time: number): number {
    // Reading the months' own columns instead missed the cache at every step.
    return lowerBound(this.newest, time, this.first[ordinal], this.first[ordinal + 1])
  }

  /** The first row of a segment that is not older than `time`, which its newest is not. */
  #rowFrom(segment: number, time: number): number {
    const oldest = this.oldest[segment]
    const from = this.from[segment]
    if (oldest >= time) return from
    const { time: times } = this.months[this.month[segment]]
    return timeBoundBetween(times, from, this.to[segment] - 1, oldest, this.newest[segment], time)
  }
}

/** Some 100 µs of work at ten years of months. */
const BUOYS_PER_STEP = 64

/**
 * The segments of `ids`, ascending, over `months`, ascending. Rows of buoys that are not among the ids are
 * not reachable.
 */
export function* segmentsOf(ids: Uint32Array, months: readonly MonthRows[]): Steps<Segments> {
  return new Segments(months, yield* segmentColumns(ids, months))
}

/** As `segmentsOf`, what threads can share of it. */
export function* segmentColumns(ids: Uint32Array, months: readonly MonthRows[]): Steps<SegmentColumns> {
  const count = months.reduce((sum, { buoys }) => sum + buoys.length, 0)
  const segments: SegmentColumns = {
    first: new Uint32Array(ids.length + 1),
    month: new Uint16Array(count),
    from: new Uint32Array(count),
    to: new Uint32Array(count),
    before: new Uint32Array(count),
    oldest: new Uint32Array(count),
    newest: new Uint32Array(count),
  }
  const cursors = months.map(() => 0)
  let segment = 0
  for (let ordinal = 0; ordinal < ids.length; ordinal++) {
    let before = 0
    for (let m = 0; m < months.length; m++) {
      const { buoys, start } = months[m]
      let at = cursors[m]
      while (at < buoys.length && buoys[at] < ids[ordinal]) at++
      cursors[m] = at
      if (buoys[at] !== ids[ordinal]) continue
      segments.month[segment] = m
      segments.from[segment] = start[at]
      segments.to[segment] = start[at + 1]
      segments.before[segment] = before
      segments.oldest[segment] = months[m].time[start[at]]
      segments.newest[segment] = months[m].time[start[at + 1] - 1]
      before += start[at + 1] - start[at]
      segment++
    }
    segments.first[ordinal + 1] = segment
    if (ordinal % BUOYS_PER_STEP === 0) yield
  }
  return segments
}
