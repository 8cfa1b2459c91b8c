/**
 * Year-over-year seasonal series of one buoy.
 *
 * Buckets follow the wall clock of a zone and never overlap: each begins at the first instant at which the
 * clock shows its first second or later, and lasts until the next one begins. So a day may have 23 or 25
 * hours, an hour that is shown twice is one bucket, and a skipped hour is not a bucket.
 */
import type { Aggregates, DayValues } from './day-aggregates.ts'
import { lowerBound } from './bisect.ts'
import { yearDays } from './days.ts'
import type { Codes, Measure } from '../sea/columns.ts'
import { DAY, daysFromCivil, HOUR } from '../sea/time.ts'
import {
  daysBeforeLeapGap,
  isOverNewYear,
  MOST_SEASONS,
  seasonDays,
  seasonSpan,
  type SeasonDates,
  type SeasonSpan,
  type SeasonYears,
} from './season-dates.ts'
import { circularMean, hundredths, isDirection, type Aggregation } from './statistics.ts'
import type { Zone } from '../sea/zones.ts'

export type Bucket = 'hour' | 'day' | 'week'

const DAYS_OF_LEAP_YEAR = 366
const HOURS_OF_DAY = 24

/** Rows [from, to) of one measure at ascending times (epoch seconds). */
export interface SeriesRows {
  readonly time: Uint32Array
  readonly codes: Codes
  readonly from: number
  readonly to: number
}

/** Lists of rows, each ascending in time over its segments; a bucket takes the samples of all lists. */
export type SeriesLists = () => readonly (readonly SeriesRows[])[]

export interface SeriesQuery extends SeasonYears {
  readonly zone: Zone
  readonly dates: SeasonDates
  readonly bucket: Bucket
  readonly aggregation: Aggregation
  readonly measure: Measure
  /** The snapshot's time, epoch seconds. */
  readonly asOf: number
  /** The buoy's days as known without its rows, or null. */
  readonly known: KnownDays | null
}

export interface KnownDays {
  readonly aggregates: Aggregates
  readonly ordinal: number
}

export interface SeriesYear {
  readonly year: number
  /** Whether the season's last day is over at `asOf`. */
  readonly complete: boolean
}

export const MOST_BUCKETS: { readonly [bucket in Bucket]: number } = {
  hour: DAYS_OF_LEAP_YEAR * HOURS_OF_DAY,
  day: DAYS_OF_LEAP_YEAR,
  week: Math.ceil(DAYS_OF_LEAP_YEAR / 7),
}

/** Whether the days of a season are known, so that it costs no pass over its rows. */
export function isKnown({ known, bucket, dates, zone }: SeriesQuery, year: number): boolean {
  if (known === null || bucket !== 'day') return false
  const years = isOverNewYear(dates) ? [year, year + 1] : [year]
  return years.every((each) => known.aggregates.knows(each, known.ordinal, zone))
}

/** The present season in arrays valid up to `length`, at most 176 KB; empty buckets have no point. */
export class Series {
  length = 0
  /** Hundredths of the unit, halves rounded away from 0; directions in whole degrees, or `NO_VALUE`. */
  value = new Int32Array(0)
  /** Samples in the bucket, at least 1. */
  count = new Uint32Array(0)

  readonly #query: SeriesQuery
  readonly #lists: SeriesLists
  #cursors: readonly Cursor[] | null = null
  readonly #circular: boolean
  /** Bucket i of the season is [#edges[i], #edges[i + 1]), with the ordinal `#ordinals[i]`. */
  #edges = new Float64Array(0)
  #ordinals = new Uint16Array(0)
  #buckets = 0
  #bucket = new Uint16Array(0)
  #codes = new Int32Array(64)
  readonly #days: DayValues = {
    value: new Int32Array(DAYS_OF_LEAP_YEAR),
    count: new Int32Array(DAYS_OF_LEAP_YEAR),
  }

  /** @throws RangeError on more than 13 years, on none, and on the minimum or maximum of a direction. */
  constructor(query: SeriesQuery, lists: SeriesLists) {
    const { startYear, endYear, measure, aggregation } = query
    if (endYear < startYear || endYear - startYear >= MOST_SEASONS) throw new RangeError('years out of range')
    this.#circular = isDirection(measure)
    if (this.#circular && aggregation !== 'median' && aggregation !== 'avg') {
      throw new RangeError('a direction has no minimum or maximum')
    }
    this.#query = query
    this.#lists = lists
  }

  get #rows(): readonly Cursor[] {
    return (this.#cursors ??= this.#lists().map((list) => new Cursor(list)))
  }

  #makeRoom(): void {
    if (this.#edges.length > 0) return
    const most = MOST_BUCKETS[this.#query.bucket]
    this.#edges = new Float64Array(most + 1)
    this.#ordinals = new Uint16Array(most)
    this.#bucket = new Uint16Array(most)
    this.value = new Int32Array(most)
    this.count = new Uint32Array(most)
  }

  /** Buckets of the season worked out last, with and without points. */
  get buckets(): number {
    return this.#buckets
  }

  bucketAt(index: number): { start: number; end: number; ordinal: number } {
    return { start: this.#edges[index], end: this.#edges[index + 1] - 1, ordinal: this.#ordinals[index] }
  }

  bucketOf(point: number): number {
    return this.#bucket[point]
  }

  /** First second of a point's bucket; the wall clock at this second is the label. */
  start(point: number): number {
    return this.#edges[this.#bucket[point]]
  }

  /** Last second of a point's bucket. */
  end(point: number): number {
    return this.#edges[this.#bucket[point] + 1] - 1
  }

  /**
   * Ordinal of a point's bucket in its season, from 1. Days count as in a leap year when the season spans 29
   * February; hour h of the day with ordinal d is 24 (d − 1) + h + 1; weeks count from the season's start.
   */
  ordinal(point: number): number {
    return this.#ordinals[this.#bucket[point]]
  }

  /** Works out the season of `year`, later than that of the last call. */
  season(year: number): SeriesYear {
    const { zone, dates, asOf } = this.#query
    const span = seasonSpan(zone, dates, year)
    this.length = 0
    if (isKnown(this.#query, year)) this.#takeKnown(year)
    else this.#workOut(year, span)
    return { year, complete: span.end <= asOf }
  }

  #workOut(year: number, { start, end }: SeasonSpan): void {
    const { measure } = this.#query
    let lists = 0
    for (const cursor of this.#rows) lists += cursor.seek(start, end)
    if (lists === 0) return
    this.#layOut(year)
    for (let i = 0; i < this.#buckets; i++) {
      const samples = this.#gather(this.#edges[i + 1], measure.missing)
      if (samples > 0) this.#add(i, samples, this.#statistic(samples))
    }
  }

  #add(bucket: number, samples: number, value: number): void {
    const point = this.length++
    this.#bucket[point] = bucket
    this.count[point] = samples
    this.value[point] = value
  }

  #statistic(samples: number): number {
    const { aggregation, measure } = this.#query
    return this.#circular
      ? circularMean(this.#codes, samples)
      : hundredths(this.#codes, samples, aggregation, measure.scale)
  }

  /** Makes the points of known days; the one or two days in two years of UTC come from the rows. */
  #takeKnown(year: number): void {
    const { dates } = this.#query
    const { first, days } = seasonDays(dates, year)
    const last = isOverNewYear(dates) ? year + 1 : year
    for (let civil = year; civil <= last; civil++) this.#readYear(civil, first, days)
    this.#layOut(year)
    const { value, count } = this.#days
    for (let day = 0; day < days; day++) if (count[day] > 0) this.#add(day, count[day], value[day])
  }

  /** Reads the days of a calendar year that are in the season of `days` days from `first` on. */
  #readYear(year: number, first: number, days: number): void {
    const { known, zone, measure, aggregation } = this.#query
    const { from: firstKnown, to: behindKnown, edges } = yearDays(zone, year)
    const into = this.#days
    // The season's first day in the year, counted from 1 January, and the day behind its last.
    const january = daysFromCivil(year, 1, 1)
    const start = Math.max(0, first - january)
    const end = Math.min(edges.length - 1, first + days - january)
    const at = january - first
    const from = Math.max(start, firstKnown)
    const to = Math.min(end, behindKnown)
    if (start < from && start < end) this.#readEdge(edges[start], edges[start + 1], at + start)
    if (from < to) {
      const asked = { ordinal: known!.ordinal, measure, aggregation, zone }
      known!.aggregates.read(year, asked, from, to, into, at + from)
    }
    if (to < end && to >= start) this.#readEdge(edges[to], edges[to + 1], at + to)
  }

  /** Works out the day [start, end), which lies in two years of UTC, into place `at`. */
  #readEdge(start: number, end: number, at: number): void {
    for (const cursor of this.#rows) cursor.seek(start, end)
    const samples = this.#gather(end, this.#query.measure.missing)
    this.#days.count[at] = samples
    this.#days.value[at] = samples > 0 ? this.#statistic(samples) : 0
  }

  #layOut(year: number): void {
    this.#makeRoom()
    const { zone, dates, bucket } = this.#query
    const { first, days } = seasonDays(dates, year)
    const edges = this.#edges
    const ordinals = this.#ordinals
    let n = 0
    if (bucket === 'week') {
      for (let day = 0; day < days; day += 7) {
        edges[n] = zone.firstInstant((first + day) * DAY)
        ordinals[n] = ++n
      }
    } else {
      const leapGap = daysBeforeLeapGap(dates, year, first)
      let next = zone.firstInstant(first * DAY)
      // Days that begin at midnight before this instant have 24 hours.
      let steadyUntil = -Infinity
      for (let day = 0; day < days; day++) {
        const midnight = (first + day) * DAY
        const start = next
        if (start + DAY < steadyUntil) next = start + DAY
        else {
          next = zone.firstInstant(midnight + DAY)
          const isMidnight = next + zone.offsetAt(next) === midnight + DAY
          steadyUntil = isMidnight ? zone.steadyUntil(next) : -Infinity
        }
        const before = day >= leapGap ? day + 1 : day
        if (bucket === 'day') {
          edges[n] = start
          ordinals[n++] = before + 1
          continue
        }
        const plain = start + zone.offsetAt(start) === midnight && zone.steadyUntil(start) >= next
        for (let hour = 0; hour < HOURS_OF_DAY; hour++) {
          edges[n] = plain ? start + hour * HOUR : zone.firstInstant(midnight + hour * HOUR)
          ordinals[n++] = before * HOURS_OF_DAY + hour + 1
        }
      }
    }
    edges[n] = zone.firstInstant((first + days) * DAY)
    this.#buckets = n
  }

  /** Puts the codes of all rows left before `end` into `#codes`; returns their number. */
  #gather(end: number, missing: number): number {
    let n = 0
    for (const cursor of this.#rows) {
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
}

/** A position in a list of rows that only moves on. */
class Cursor {
  readonly #list: readonly SeriesRows[]
  #segment = 0
  #row = 0

  constructor(list: readonly SeriesRows[]) {
    this.#list = list
    this.#row = list[0]?.from ?? 0
  }

  /** Moves on to the first row at or after `start`; returns 1 if it lies before `end`, else 0. */
  seek(start: number, end: number): 0 | 1 {
    for (; this.#segment < this.#list.length; this.#nextSegment()) {
      const { time, to } = this.#list[this.#segment]
      if (this.#row >= to || time[to - 1] < start) continue
      this.#row = lowerBound(time, start, this.#row, to - 1)
      return time[this.#row] < end ? 1 : 0
    }
    return 0
  }

  /** Rows of the present segment that come next and lie before `end`; 0 when the list has none left. */
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
