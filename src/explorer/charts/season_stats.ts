/** What is usual in a season: the median over the years, and between which values eight of ten years lie. */
import type { SeriesYear } from '../../../clients/typescript/groundswell.ts'

/** With fewer years their extremes would pass for what is usual. */
const LEAST_YEARS = 5
const LOW_SHARE = 0.1
const HIGH_SHARE = 0.9

/** By bucket; null where too few years have a value. */
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
