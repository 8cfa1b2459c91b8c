/** The buckets of a season, and what is usual in each. */
import type { Season, SeriesYear } from '../../../clients/typescript/groundswell.ts'
import { dayOfYear } from '../format.ts'
import { texts } from '../language.ts'

const DAY_S = 86_400
const DAYS_OF_WEEK = 7

/** First moments of the buckets of a season, as epoch seconds in a year that stands for all. */
export function bucketStarts({ start, end }: Season, bucket: 'day' | 'week'): number[] {
  // Daily buckets keep a place for 29 February, which a season that begins later has in the next year; weeks
  // run on without it.
  const year = (bucket === 'day' ? 2024 : 2023) - (start.month > 2 ? 1 : 0)
  const first = Date.UTC(year, start.month - 1, start.day) / 1000
  const endIn = (each: number): number => {
    const lastDay = new Date(Date.UTC(each, end.month, 0)).getUTCDate()
    return Date.UTC(each, end.month - 1, Math.min(end.day, lastDay)) / 1000
  }
  const last = endIn(year) < first ? endIn(year + 1) : endIn(year)
  const step = bucket === 'day' ? DAY_S : DAYS_OF_WEEK * DAY_S
  return Array.from({ length: Math.ceil((last - first + DAY_S) / step) }, (_, i) => first + i * step)
}

/** `21 Nov`, or `Week from 19 Nov`. */
export function bucketText(at: number, bucket: 'day' | 'week'): string {
  const day = dayOfYear(new Date(at * 1000))
  return bucket === 'day' ? day : texts.season.weekFrom(day)
}

type Point = SeriesYear['points'][number]

/**
 * The means of all readings of two seasons over the buckets that both have: as a half year beside a whole one
 * would compare summer with winter. A bucket that is not over by `now` (epoch milliseconds) is not the same
 * part of both. Null where they have none in common.
 */
export function commonMeans(
  own: readonly Point[],
  other: readonly Point[],
  now: number,
): [number, number] | null {
  const isWhole = ({ value, bucket_end: end }: Point): boolean => value !== null && Date.parse(end) <= now
  const theirs = new Map(other.filter(isWhole).map((point) => [point.bucket_index, point]))
  const pairs = own.filter(isWhole).flatMap((point): [Point, Point][] => {
    const beside = theirs.get(point.bucket_index)
    return beside === undefined ? [] : [[point, beside]]
  })
  if (pairs.length === 0) return null
  const meanOf = (side: 0 | 1): number => {
    const points = pairs.map((pair) => pair[side])
    const samples = points.reduce((sum, { sample_count: count }) => sum + count, 0)
    return points.reduce((sum, { value, sample_count: count }) => sum + (value ?? 0) * count, 0) / samples
  }
  return [meanOf(0), meanOf(1)]
}

/** With fewer years their extremes would pass for usual. */
const LEAST_YEARS = 5
const LOW_SHARE = 0.1
const HIGH_SHARE = 0.9

/** Usual values by bucket; null where too few years have a value. */
export interface Usual {
  median: (number | null)[]
  low: (number | null)[]
  high: (number | null)[]
  /** First and last year with a value. */
  from: number
  to: number
}

/** Usual heights of each of `length` buckets; null if no bucket has enough years. */
export function usual(years: readonly SeriesYear[], length: number): Usual | null {
  const used = years.filter(({ point_count: count }) => count > 0)
  if (used.length < LEAST_YEARS) return null
  const values = Array.from({ length }, (): number[] => [])
  for (const { points } of used) {
    for (const { bucket_index: at, value } of points) {
      if (value !== null) values[at - 1]?.push(value)
    }
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
