/**
 * The months (UTC) of a buoy's samples: how many there are, how many were to be expected, and whether the
 * month counts. A month counts with enough of its samples, and without five calendar days in a row that have
 * none (WMO-No. 1203, 4.4.1).
 */
import { lowerBound } from '../index/bisect.ts'
import { DAY, MINUTE, monthOf, monthStart } from '../sea/time.ts'
import type { Samples } from './samples.ts'

const MONTHS_OF_YEAR = 12
const FIRST_YEAR = 1970
/** Days in a row without a sample that a month may not have. */
const GAP_DAYS = 5
/** Fewer samples do not tell the interval of a month: it is taken to be that of the month before. */
export const LEAST_FOR_INTERVAL = 10
const LONGEST_INTERVAL_MINUTES = DAY / MINUTE

/** Why a month, or a year that is made of months, does not count. */
export type Lack = 'coverage' | 'gap' | 'months'

export interface Month {
  /** Months since January 1970. */
  readonly month: number
  readonly year: number
  /** 1 to 12. */
  readonly ofYear: number
  /** Places of its samples. */
  readonly from: number
  readonly to: number
  readonly count: number
  /** Sum of the codes. */
  readonly sum: number
  /** The usual interval between samples, seconds. */
  readonly interval: number
  readonly expected: number
  /** Null where the month counts. */
  readonly lack: Lack | null
}

/** The first month of the year of a month, which begins with `yearStart` (1 to 12). */
export function yearOf(month: number, yearStart: number): number {
  return FIRST_YEAR + Math.floor((month - (yearStart - 1)) / MONTHS_OF_YEAR)
}

export function firstMonthOf(year: number, yearStart: number): number {
  return (year - FIRST_YEAR) * MONTHS_OF_YEAR + yearStart - 1
}

/** The months from the first sample to the last, those without a sample included. */
export function monthsOf({ time, code, length }: Samples, minCoverage: number): Month[] {
  if (length === 0) return []
  const [first, last] = [monthOf(time[0]), monthOf(time[length - 1])]
  const edges = Array.from({ length: last - first + 2 }, (_, i) => lowerBound(time, monthStart(first + i)))
  const intervals = intervalsOf(time, edges)
  return intervals.map((interval, i): Month => {
    const [month, from, to] = [first + i, edges[i], edges[i + 1]]
    const expected = (monthStart(month + 1) - monthStart(month)) / interval
    let sum = 0
    for (let at = from; at < to; at++) sum += code[at]
    const count = to - from
    const isCovered = count >= minCoverage * expected
    const gap = isCovered && hasGap(time, from, to, month) ? 'gap' : null
    const lack = isCovered ? gap : 'coverage'
    const year = yearOf(month, 1)
    const ofYear = month - firstMonthOf(year, 1) + 1
    return { month, year, ofYear, from, to, count, sum, interval, expected, lack }
  })
}

/** The usual interval of each month, seconds: the most frequent one, in whole minutes and at most a day. */
function intervalsOf(time: Uint32Array, edges: readonly number[]): number[] {
  const counts = new Uint32Array(LONGEST_INTERVAL_MINUTES + 1)
  const found = edges.slice(0, -1).map((from, i) => {
    return edges[i + 1] - from < LEAST_FOR_INTERVAL ? 0 : usualInterval(time, from, edges[i + 1], counts)
  })
  let known = found.find((interval) => interval > 0) ?? DAY
  return found.map((interval) => {
    if (interval > 0) known = interval
    return known
  })
}

/**
 * The most frequent interval between the samples [from, to), the shortest of equally frequent ones, seconds.
 */
export function usualInterval(time: Uint32Array, from: number, to: number, counts: Uint32Array): number {
  counts.fill(0)
  for (let at = from + 1; at < to; at++) {
    const minutes = Math.round((time[at] - time[at - 1]) / MINUTE)
    counts[Math.min(LONGEST_INTERVAL_MINUTES, Math.max(1, minutes))]++
  }
  let best = LONGEST_INTERVAL_MINUTES
  for (let minutes = LONGEST_INTERVAL_MINUTES; minutes > 0; minutes--) {
    if (counts[minutes] >= counts[best]) best = minutes
  }
  return best * MINUTE
}

function hasGap(time: Uint32Array, from: number, to: number, month: number): boolean {
  const [start, end] = [monthStart(month), monthStart(month + 1)]
  let next = start / DAY
  for (let at = from; at < to; at++) {
    const day = Math.floor(time[at] / DAY)
    if (day - next >= GAP_DAYS) return true
    next = day + 1
  }
  return end / DAY - next >= GAP_DAYS
}

/** Share of the expected samples; a month has no more than all of its own. Null where none are expected. */
export function coverageOf(months: readonly Month[]): number | null {
  let [there, expected] = [0, 0]
  for (const month of months) {
    there += Math.min(month.count, month.expected)
    expected += month.expected
  }
  return expected === 0 ? null : there / expected
}
