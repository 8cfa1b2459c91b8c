/** Year-over-year seasonal series of one buoy, in buckets of a zone's clock (`buckets.ts`). */
import type { Aggregates, DayValues } from './day-aggregates.ts'
import { layBuckets, Samples, type MeasureRows } from './buckets.ts'
import { yearDays } from './days.ts'
import type { Measure } from '../sea/columns.ts'
import { daysFromCivil } from '../sea/time.ts'
import {
  daysBeforeLeapGap,
  isOverNewYear,
  MOST_SEASONS,
  seasonDays,
  seasonSpan,
  type SeasonDates,
  type SeasonYears,
} from './season-dates.ts'
import { isDirection, type Aggregation } from './statistics.ts'
import type { Zone } from '../sea/zones.ts'

export type Bucket = 'hour' | 'day' | 'week'

const DAYS_OF_LEAP_YEAR = 366
const HOURS_OF_DAY = 24

/** Lists of rows, each ascending in time over its segments. */
export type SeriesLists = () => readonly (readonly MeasureRows[])[]

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

/** Lengths of buckets. */
const HOURS: { readonly [bucket in Bucket]: number } = { hour: 1, day: HOURS_OF_DAY, week: 7 * HOURS_OF_DAY }

/** Whether the days of a season are known, so that it costs no pass over its rows. */
function isKnown({ known, bucket, dates, zone }: SeriesQuery, year: number): boolean {
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
  #opened: Samples | null = null
  /** Bucket i of the season is [#edges[i], #edges[i + 1]), with the ordinal `#ordinals[i]`. */
  #edges = new Float64Array(0)
  #ordinals = new Uint16Array(0)
  #buckets = 0
  #bucket = new Uint16Array(0)
  readonly #days: DayValues = {
    value: new Int32Array(DAYS_OF_LEAP_YEAR),
    count: new Int32Array(DAYS_OF_LEAP_YEAR),
  }

  /** @throws RangeError on more than 13 years, on none, and on the minimum or maximum of a direction. */
  constructor(query: SeriesQuery, lists: SeriesLists) {
    const { startYear, endYear, measure, aggregation } = query
    if (endYear < startYear || endYear - startYear >= MOST_SEASONS) throw new RangeError('years out of range')
    if (isDirection(measure) && aggregation !== 'median' && aggregation !== 'avg') {
      throw new RangeError('a direction has no minimum or maximum')
    }
    this.#query = query
    this.#lists = lists
  }

  get #samples(): Samples {
    const { measure, aggregation } = this.#query
    return (this.#opened ??= new Samples(this.#lists(), measure, aggregation))
  }

  #makeRoom(): void {
    if (this.#edges.length > 0) return
    const most = Math.ceil((DAYS_OF_LEAP_YEAR * HOURS_OF_DAY) / HOURS[this.#query.bucket])
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

  #workOut(year: number, { start, end }: { start: number; end: number }): void {
    const samples = this.#samples
    if (!samples.seek(start, end)) return
    this.#layOut(year)
    for (let i = 0; i < this.#buckets; i++) {
      const count = samples.gather(this.#edges[i + 1])
      if (count > 0) this.#add(i, count, samples.statistic(count))
    }
  }

  #add(bucket: number, samples: number, value: number): void {
    const point = this.length++
    this.#bucket[point] = bucket
    this.count[point] = samples
    this.value[point] = value
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
    const samples = this.#samples
    samples.seek(start, end)
    const count = samples.gather(end)
    this.#days.count[at] = count
    this.#days.value[at] = count > 0 ? samples.statistic(count) : 0
  }

  #layOut(year: number): void {
    this.#makeRoom()
    const { zone, dates, bucket } = this.#query
    const { first, days } = seasonDays(dates, year)
    const hours = HOURS[bucket]
    this.#buckets = layBuckets(zone, first, days, hours, this.#edges)
    const leapGap = daysBeforeLeapGap(dates, year, first)
    for (let i = 0; i < this.#buckets; i++) {
      const day = Math.floor((i * hours) / HOURS_OF_DAY)
      const skipped = bucket !== 'week' && day >= leapGap ? HOURS_OF_DAY / hours : 0
      this.#ordinals[i] = i + skipped + 1
    }
  }
}
