/**
 * Year-over-year seasonal series of one buoy: dates of its seasons, and buckets of a zone's clock
 * (`buckets.ts`).
 */
import { type Aggregates, type DayValues, yearDays } from './day-aggregates.ts'
import {
  HOUR_STEPS,
  layDays,
  layStretches,
  type MeasureRows,
  rowsWithin,
  Samples,
  type Stretches,
} from './buckets.ts'
import type { Measure } from '../sea/columns.ts'
import { daysFromCivil, civilFromDays, DAY, daysInMonth, HOUR, isLeapYear } from '../sea/time.ts'
import type { Aggregation } from './statistics.ts'
import type { Zone } from '../sea/zones.ts'

/** First and last day of a season, at most a year long: an end before the start is in the next year. */
export interface SeasonDates {
  readonly startMonth: number
  readonly startDay: number
  readonly endMonth: number
  readonly endDay: number
}

export const MOST_SEASONS = 13
/** Seasons in an answer to a request without years. */
export const DEFAULT_SEASONS = 10

const A_LEAP_YEAR = 2024

/** Last day of a month (1 to 12) in any year: 29 for February. */
export function lastDayOfMonth(month: number): number {
  return daysInMonth(A_LEAP_YEAR, month)
}

/** The season that starts in `year`, epoch seconds; empty for 29 February alone in a year without it. */
function seasonSpan(zone: Zone, dates: SeasonDates, year: number): { start: number; end: number } {
  const { first, days } = seasonDays(dates, year)
  return { start: zone.firstInstant(first * DAY), end: zone.firstInstant((first + days) * DAY) }
}

/** The latest year with a season of which the last day is over in the zone at `asOf` (epoch seconds). */
export function lastCompleteSeason(zone: Zone, dates: SeasonDates, asOf: number): number {
  let { year } = civilFromDays(Math.floor((asOf + zone.offsetAt(asOf)) / DAY))
  while (seasonSpan(zone, dates, year).end > asOf) year--
  return year
}

function isOverNewYear({ startMonth, startDay, endMonth, endDay }: SeasonDates): boolean {
  return endMonth < startMonth || (endMonth === startMonth && endDay < startDay)
}

/** First day of a season, since 1970, and its number of days (0 to 366). */
function seasonDays(dates: SeasonDates, year: number): { first: number; days: number } {
  const { startMonth, startDay, endMonth, endDay } = dates
  const endYear = isOverNewYear(dates) ? year + 1 : year
  // A missing 29 February counts as 1 March, which is right for a start only.
  const first = daysFromCivil(year, startMonth, startDay)
  const last = daysFromCivil(endYear, endMonth, Math.min(endDay, daysInMonth(endYear, endMonth)))
  return { first, days: last - first + 1 }
}

/** Days of a season before the ordinal left empty for 29 February; Infinity where none is left empty. */
function daysBeforeLeapGap(dates: SeasonDates, year: number, first: number): number {
  const startsBefore = dates.startMonth <= 2
  const endsAfter = dates.endMonth > 2 || (dates.endMonth === 2 && dates.endDay === 29)
  const spans = isOverNewYear(dates) ? startsBefore || endsAfter : startsBefore && endsAfter
  if (!spans) return Infinity
  const leapYear = startsBefore ? year : year + 1
  return isLeapYear(leapYear) ? Infinity : daysFromCivil(leapYear, 3, 1) - first
}

export type Bucket = 'hour' | 'day' | 'week'

const DAYS_OF_LEAP_YEAR = 366
const HOURS_OF_DAY = 24

/** Lists of rows, each ascending in time over its segments. */
export type SeriesLists = () => readonly (readonly MeasureRows[])[]

export interface SeriesQuery {
  readonly startYear: number
  readonly endYear: number
  readonly zone: Zone
  readonly dates: SeasonDates
  readonly bucket: Bucket
  readonly aggregation: Aggregation
  readonly measure: Measure
  /** The snapshot's time, epoch seconds. */
  readonly asOf: number
  /** The buoy's days as known without its rows, or null. */
  readonly known: { readonly aggregates: Aggregates; readonly ordinal: number } | null
}

export interface SeriesYear {
  readonly year: number
  /** Whether the season's last day is over at `asOf`. */
  readonly complete: boolean
}

const DAYS_OF_WEEK = 7
/** Of a season. */
const MOST_BUCKETS: { readonly [bucket in Bucket]: number } = {
  hour: DAYS_OF_LEAP_YEAR * HOURS_OF_DAY,
  day: DAYS_OF_LEAP_YEAR,
  week: Math.ceil(DAYS_OF_LEAP_YEAR / DAYS_OF_WEEK),
}
/** Hours around a season's, where a clock goes back over midnight. */
const HOURS_AROUND = 3
/** Stretches of hours that are shown again, or around the season's. */
const MORE_STRETCHES = 64
/** Replaces the ordinal of an hour outside the season. */
const OUTSIDE = 0

/** Whether the days of a season are known, so that it needs no pass over its rows. */
function isKnown({ known, bucket, dates, zone }: SeriesQuery, year: number): boolean {
  if (known === null || bucket !== 'day') return false
  const years = isOverNewYear(dates) ? [year, year + 1] : [year]
  return years.every((each) => known.aggregates.knows(each, known.ordinal, zone))
}

/** Rows of an answer that is made at once: some 0.3 ms of reading, and ten seasons of days in 0.5 ms. */
const MOST_ROWS_AT_ONCE = 20_000
const MOST_POINTS_AT_ONCE = 4000

/** Whether a series takes no longer than a map, by the rows it reads and the points it has at most. */
export function isShort(query: SeriesQuery, lists: SeriesLists): boolean {
  let rows = 0
  let points = 0
  for (let year = query.startYear; year <= query.endYear; year++) {
    if (isKnown(query, year)) points += knownPoints(query, year)
    else {
      const { start, end } = seasonSpan(query.zone, query.dates, year)
      const read = lists().reduce((sum, list) => sum + rowsWithin(list, start, end), 0)
      rows += read
      points += Math.min(read, MOST_BUCKETS[query.bucket])
    }
    if (rows > MOST_ROWS_AT_ONCE || points > MOST_POINTS_AT_ONCE) return false
  }
  return true
}

/** Days of a known season between its first and last sample. */
function knownPoints({ known, dates }: SeriesQuery, year: number): number {
  const { first, days } = seasonDays(dates, year)
  const last = isOverNewYear(dates) ? year + 1 : year
  let points = 0
  for (let civil = year; civil <= last; civil++) {
    const from = first - daysFromCivil(civil, 1, 1)
    points += known!.aggregates.daysWithin(civil, known!.ordinal, from, from + days)
  }
  return points
}

/** The current season in arrays valid up to `length`, at most 176 KB; empty buckets have no point. */
export class Series {
  length = 0
  /** Hundredths of the unit, halves rounded away from 0; directions in whole degrees, or `NO_VALUE`. */
  readonly value: Int32Array
  /** Samples in the bucket, at least 1. */
  readonly count: Uint32Array

  readonly #query: SeriesQuery
  readonly #lists: SeriesLists
  #opened: Samples | null = null
  /** Stretches of the season's buckets: neighbours with the same ordinal are one bucket. */
  readonly #stretches: Stretches
  readonly #ordinals: Uint16Array
  #laid = 0
  /** The first stretch of each point. */
  readonly #first: Uint16Array
  readonly #days: DayValues = {
    value: new Int32Array(DAYS_OF_LEAP_YEAR),
    count: new Int32Array(DAYS_OF_LEAP_YEAR),
  }

  constructor(query: SeriesQuery, lists: SeriesLists) {
    this.#query = query
    this.#lists = lists
    const isHourly = query.bucket === 'hour'
    const most = MOST_BUCKETS[query.bucket] + (isHourly ? MORE_STRETCHES : 0)
    const column = (): Float64Array => new Float64Array(most + 1)
    const edges = column()
    // A day or week lasts until the next one begins.
    this.#stretches = { from: edges, until: isHourly ? column() : edges.subarray(1), local: column() }
    this.#ordinals = new Uint16Array(most)
    this.#first = new Uint16Array(most)
    this.value = new Int32Array(most)
    this.count = new Uint32Array(most)
  }

  get #samples(): Samples {
    return (this.#opened ??= new Samples(this.#lists(), this.#query.measure))
  }

  /**
   * First and last second of the bucket of a point (the wall clock at the first is the label), and its
   * ordinal in the season, from 1. Days count as in a leap year when the season spans 29 February; hour h of
   * the day with ordinal d is 24 (d − 1) + h + 1; weeks count from the season's start.
   */
  bucket(point: number): { start: number; end: number; ordinal: number } {
    return this.bucketAt(this.placeOf(point))
  }

  /** The place of a point's bucket among those of the season, empty ones too: of days one below `places`. */
  placeOf(point: number): number {
    return this.#first[point]
  }

  get places(): number {
    return this.#laid
  }

  bucketAt(first: number): { start: number; end: number; ordinal: number } {
    const { from, until } = this.#stretches
    return { start: from[first], end: until[this.#after(first) - 1] - 1, ordinal: this.#ordinals[first] }
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
    const { from, until } = this.#stretches
    let at = start
    for (let first = 0, after = 0; first < this.#laid; first = after) {
      after = this.#after(first)
      if (this.#ordinals[first] === OUTSIDE) continue
      let count = 0
      for (let i = first; i < after; i++) {
        if (from[i] !== at) samples.seek(from[i], until[i])
        at = until[i]
        count = samples.gather(at, count)
      }
      if (count > 0) this.#add(first, count, samples.statistic(count, this.#query.aggregation))
    }
  }

  /** The stretch after the last one of the bucket that begins with `first`. */
  #after(first: number): number {
    let after = first + 1
    while (after < this.#laid && this.#ordinals[after] === this.#ordinals[first]) after++
    return after
  }

  /** @param first stretch of its bucket */
  #add(first: number, samples: number, value: number): void {
    const point = this.length++
    this.#first[point] = first
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
    for (let day = 0; day < days; day++) {
      if (count[day] > 0) this.#add(day, count[day], value[day])
    }
  }

  /** Reads the days of a calendar year that are in the season of `days` days from `first` on. */
  #readYear(year: number, first: number, days: number): void {
    const { known, zone, measure, aggregation } = this.#query
    const { from: firstKnown, to: behindKnown, edges } = yearDays(zone, year)
    const into = this.#days
    // The season's first day in the year, counted from 1 January, and the day after its last.
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
    this.#days.value[at] = count > 0 ? samples.statistic(count, this.#query.aggregation) : 0
  }

  #layOut(year: number): void {
    const { zone, dates, bucket } = this.#query
    const { first, days } = seasonDays(dates, year)
    const leapGap = daysBeforeLeapGap(dates, year, first)
    const ordinals = this.#ordinals
    if (bucket !== 'hour') {
      const length = bucket === 'week' ? DAYS_OF_WEEK : 1
      this.#laid = layDays(zone, first, days, length, this.#stretches.from as Float64Array)
      for (let i = 0; i < this.#laid; i++) ordinals[i] = i + (length === 1 && i >= leapGap ? 2 : 1)
      return
    }
    const start = zone.firstInstant(first * DAY) - HOURS_AROUND * HOUR
    const end = zone.firstInstant((first + days) * DAY) + HOURS_AROUND * HOUR
    this.#laid = layStretches(zone, HOUR_STEPS, start, end, this.#stretches)
    const { local } = this.#stretches
    for (let i = 0; i < this.#laid; i++) {
      const hour = local[i] / HOUR - first * HOURS_OF_DAY
      const skipped = hour >= leapGap * HOURS_OF_DAY ? HOURS_OF_DAY : 0
      const isInside = hour >= 0 && hour < days * HOURS_OF_DAY
      ordinals[i] = isInside ? hour + skipped + 1 : OUTSIDE
    }
  }
}
