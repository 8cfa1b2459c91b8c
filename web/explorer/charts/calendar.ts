/** The days of a season by the numbers of its buckets, which count from 1, and what is usual in each. */
import type { Season, SeriesYear } from '../../../clients/typescript/groundswell.ts'

const DAY_MS = 86_400_000
const DAYS_OF_WEEK = 7
/** Daily buckets keep a place for 29 February; weeks run on without it. */
const LEAP_YEAR = 2024
const COMMON_YEAR = 2023

/** Epoch milliseconds of a season's first day in a year that stands for all. */
function startOf({ start }: Season, bucket: 'day' | 'week'): number {
  return Date.UTC(referenceYear(start.month, bucket), start.month - 1, start.day)
}

/** A season that begins after February has the leap day, if any, in the next year. */
function referenceYear(month: number, bucket: 'day' | 'week'): number {
  const year = bucket === 'day' ? LEAP_YEAR : COMMON_YEAR
  return month > 2 ? year - 1 : year
}

const daysOf = (bucket: 'day' | 'week'): number => (bucket === 'day' ? 1 : DAYS_OF_WEEK)

/** Buckets of a season. */
export function bucketsOf(season: Season, bucket: 'day' | 'week'): number {
  const start = startOf(season, bucket)
  const year = new Date(start).getUTCFullYear()
  const { month, day } = season.end
  const inYear = (each: number): number => Date.UTC(each, month - 1, Math.min(day, lastDay(each, month)))
  const end = inYear(year) < start ? inYear(year + 1) : inYear(year)
  return Math.ceil(((end - start) / DAY_MS + 1) / daysOf(bucket))
}

function lastDay(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** First days of months within a season: the place on the axis, and the month from 0. */
export function monthStarts(season: Season, bucket: 'day' | 'week'): { at: number; month: number }[] {
  const start = startOf(season, bucket)
  const last = bucketsOf(season, bucket)
  const found: { at: number; month: number }[] = []
  const first = new Date(start)
  for (let ahead = first.getUTCDate() === 1 ? 0 : 1; ; ahead++) {
    const day = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + ahead, 1)
    const at = (day - start) / DAY_MS / daysOf(bucket) + 1
    if (at > last) return found
    found.push({ at, month: new Date(day).getUTCMonth() })
  }
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** `21 Nov`, or `Week from 19 Nov`. */
export function bucketText(season: Season, bucket: 'day' | 'week', at: number): string {
  const day = DAY.format(new Date(startOf(season, bucket) + (at - 1) * daysOf(bucket) * DAY_MS))
  return bucket === 'day' ? day : `Week from ${day}`
}

/** With fewer years their extremes would pass for what is usual. */
const LEAST_YEARS = 5
const LOW_SHARE = 0.1
const HIGH_SHARE = 0.9

/** Usual values by bucket; null where too few years have a value. */
export interface Usual {
  median: (number | null)[]
  low: (number | null)[]
  high: (number | null)[]
  /** First and last year with a value, and how many there are. */
  from: number
  to: number
  years: number
}

/** What is usual at each of `length` buckets; null where no bucket has enough years. */
export function usual(years: readonly SeriesYear[], length: number): Usual | null {
  const used = years.filter(({ point_count: count }) => count > 0)
  if (used.length < LEAST_YEARS) return null
  const values = Array.from({ length }, (): number[] => [])
  for (const { points } of used) {
    for (const { bucket_index: at, value } of points) if (value !== null) values[at - 1]?.push(value)
  }
  for (const list of values) list.sort((a, b) => a - b)
  const share = (part: number): (number | null)[] =>
    values.map((list) => (list.length < LEAST_YEARS ? null : quantile(list, part)))
  const median = share(0.5)
  if (median.every((value) => value === null)) return null
  const numbers = used.map(({ year }) => year)
  return {
    median,
    low: share(LOW_SHARE),
    high: share(HIGH_SHARE),
    from: Math.min(...numbers),
    to: Math.max(...numbers),
    years: used.length,
  }
}

/**
 * The value below which a share of the ascending `values` lies, linear between two of them (type 7 of Hyndman
 * and Fan, as R, NumPy and spreadsheets have it).
 */
export function quantile(values: readonly number[], share: number): number {
  const at = (values.length - 1) * share
  const low = values[Math.floor(at)] ?? NaN
  const high = values[Math.ceil(at)] ?? NaN
  return low + (high - low) * (at - Math.floor(at))
}
