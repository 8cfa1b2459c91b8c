/**
 * The rows of each buoy over all monthly parts as one sequence from its oldest row.
 *
 * Closed months are shared between snapshots. The months of a buoy are its segments; a prefix sum of their
 * lengths makes counts and ends of pages subtractions, and a time costs two searches: segments, then rows.
 */
import { likelyRow, lowerBound, nearerRow, timeBoundNear } from './bisect.ts'
import type { Codes, MeasureName } from '../sea/columns.ts'

/** A month's rows, as views on its part. */
export interface MonthRows {
  file: string
  month: number
  buoys: Uint32Array
  start: Uint32Array
  time: Uint32Array
  measures: { readonly [name in MeasureName]: MeasureColumn }
}

/** `codes[row & mask]`: an absent column is a single missing code with a mask of 0. */
export interface MeasureColumn {
  codes: Codes
  mask: number
}

export interface SegmentColumns {
  /** Segments of ordinal `i` are `first[i]` to `first[i + 1]`. */
  readonly first: Uint32Array
  /** Per segment: its month, its rows there, the buoy's rows before, times of its first and last row. */
  readonly month: Uint16Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly before: Uint32Array
  readonly oldest: Uint32Array
  readonly newest: Uint32Array
}

/** Rows `from`, `from + step`, …, `count` of them. */
export interface Run {
  readonly from: number
  readonly step: number
  readonly count: number
}

/** A run of one buoy's rows in a month; `step` is 1 or −1. */
export interface MonthRun<Month = MonthRows> extends Run {
  readonly month: Month
}

export interface MonthRow<Month = MonthRows> {
  readonly month: Month
  readonly row: number
}

export class Segments<Month extends MonthRows = MonthRows> implements SegmentColumns {
  readonly months: readonly Month[]
  readonly first: Uint32Array
  readonly month: Uint16Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly before: Uint32Array
  readonly oldest: Uint32Array
  readonly newest: Uint32Array

  /** Gives the reads of `#rowFrom` a use: V8 would drop them. */
  touched = 0

  /** `columns` as `segmentColumns` made them of the same months. */
  constructor(months: readonly Month[], columns: SegmentColumns) {
    this.months = months
    this.first = columns.first
    this.month = columns.month
    this.from = columns.from
    this.to = columns.to
    this.before = columns.before
    this.oldest = columns.oldest
    this.newest = columns.newest
  }

  count(ordinal: number): number {
    const last = this.first[ordinal + 1] - 1
    return last < this.first[ordinal] ? 0 : this.before[last] + this.to[last] - this.from[last]
  }

  /** The segment of the buoy's row at `position`, 0 ≤ position < count. */
  #segmentOf(ordinal: number, position: number): number {
    return lowerBound(this.before, position + 1, this.first[ordinal], this.first[ordinal + 1]) - 1
  }

  /** The buoy's row at `position`, 0 ≤ position < count. */
  rowAt(ordinal: number, position: number): MonthRow<Month> {
    const segment = this.#segmentOf(ordinal, position)
    return this.#row(segment, this.from[segment] + position - this.before[segment])
  }

  timeAt(ordinal: number, position: number): number {
    const { month, row } = this.rowAt(ordinal, position)
    return month.time[row]
  }

  newestRow(ordinal: number): MonthRow<Month> | null {
    const behind = this.first[ordinal + 1]
    return behind === this.first[ordinal] ? null : this.#lastRow(behind - 1)
  }

  /** Epoch seconds; −1 for a buoy without rows. */
  newestTime(ordinal: number): number {
    const behind = this.first[ordinal + 1]
    return behind === this.first[ordinal] ? -1 : this.newest[behind - 1]
  }

  /** The buoy's rows at the positions [first, end), month by month, forwards or backwards in time. */
  runs(ordinal: number, first = 0, end = this.count(ordinal), isAscending = true): MonthRun<Month>[] {
    const runs: MonthRun<Month>[] = []
    if (first >= end) return runs
    const step = isAscending ? 1 : -1
    let segment = this.#segmentOf(ordinal, isAscending ? first : end - 1)
    for (let left = end - first; left > 0; segment += step) {
      const low = this.from[segment] + Math.max(0, first - this.before[segment])
      const high = Math.min(this.to[segment], this.from[segment] + end - this.before[segment])
      const month = this.months[this.month[segment]]
      runs.push({ month, from: isAscending ? low : high - 1, step, count: high - low })
      left -= high - low
    }
    return runs
  }

  /** Number of the buoy's rows older than `time`: the position of the first that is not. */
  positionOf(ordinal: number, time: number): number {
    const segment = this.#segmentFrom(ordinal, time)
    if (segment === this.first[ordinal + 1]) return this.count(ordinal)
    return this.before[segment] + this.#rowFrom(segment, time) - this.from[segment]
  }

  /**
   * Positions from `first` to before `end` of the rows between two moments, both included; null for an open
   * end.
   */
  between(ordinal: number, from: number | null, to: number | null): { first: number; end: number } {
    return {
      first: from === null ? 0 : this.positionOf(ordinal, Math.ceil(from)),
      // Times are whole seconds, so "up to and including" is "before the next second".
      end: to === null ? this.count(ordinal) : this.positionOf(ordinal, Math.floor(to) + 1),
    }
  }

  /** The row of exactly `time`. */
  rowOf(ordinal: number, time: number): MonthRow<Month> | null {
    const segment = this.#segmentFrom(ordinal, time)
    if (segment === this.first[ordinal + 1]) return null
    const found = this.#row(segment, this.#rowFrom(segment, time))
    return found.month.time[found.row] === time ? found : null
  }

  /** The row closest in time, the earlier on a tie; null when the buoy has none. */
  closestRow(ordinal: number, time: number): MonthRow<Month> | null {
    const segment = this.#segmentFrom(ordinal, time)
    const first = this.first[ordinal]
    if (segment === this.first[ordinal + 1]) return segment === first ? null : this.#lastRow(segment - 1)
    const row = this.#rowFrom(segment, time)
    const times = this.months[this.month[segment]].time
    const after = times[row] - time
    if (row === this.from[segment] && segment !== first && time - this.newest[segment - 1] <= after) {
      return this.#lastRow(segment - 1)
    }
    const isBefore = row !== this.from[segment] && time - times[row - 1] <= after
    return this.#row(segment, isBefore ? row - 1 : row)
  }

  /** As `closestRow`, but null beyond `reach` seconds, usually without reading the rows. */
  closestRowWithin(ordinal: number, time: number, reach: number): MonthRow<Month> | null {
    const segment = this.#segmentFrom(ordinal, time)
    const isNear =
      (segment !== this.first[ordinal] && time - this.newest[segment - 1] <= reach) ||
      (segment !== this.first[ordinal + 1] && this.oldest[segment] - time <= reach)
    const found = isNear ? this.closestRow(ordinal, time) : null
    return found !== null && Math.abs(found.month.time[found.row] - time) <= reach ? found : null
  }

  #row(segment: number, row: number): MonthRow<Month> {
    return { month: this.months[this.month[segment]], row }
  }

  #lastRow(segment: number): MonthRow<Month> {
    return this.#row(segment, this.to[segment] - 1)
  }

  /**
   * The first row of a segment at or after `time`; there must be one. Reads values where it is likely to be:
   * cache misses of row and search overlap.
   */
  #rowFrom(segment: number, time: number): number {
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

  /** The buoy's first segment with a row at or after `time`, or the one after its last. */
  #segmentFrom(ordinal: number, time: number): number {
    return lowerBound(this.newest, time, this.first[ordinal], this.first[ordinal + 1])
  }
}
