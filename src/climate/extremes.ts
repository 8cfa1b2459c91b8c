/** Maxima of the years that are complete enough for return levels, and the years that are not. */
import { coverageOf, firstMonthOf, type Month, yearOf } from './months.ts'
import { extremesOf } from './distribution.ts'
import type { Samples } from './samples.ts'

/** Fewer maxima make no distribution. */
export const LEAST_YEARS = 15
/** A level of a longer period than this many times the years is far outside of what was measured. */
export const MOST_EXTRAPOLATION = 4
/**
 * Share of the expected samples that each quarter of a year needs: coverage alone lets a missing winter in.
 */
export const LEAST_QUARTER = 0.5

const MONTHS_OF_YEAR = 12
const MONTHS_OF_QUARTER = 3
const QUARTERS = [0, 3, 6, 9]

export interface YearMaximum {
  readonly year: number
  /** Place of its earliest greatest sample; −1 where it has none. */
  readonly at: number
  /** Of the samples that its months should have; `reason` is null where the year counts. */
  readonly coverage: number
  readonly reason: 'coverage' | 'quarter' | null
}

/**
 * The years of the samples, which begin with the month `yearStart` (1 to 12) of the year that they are named
 * by.
 */
export function yearMaxima(
  { code }: Samples,
  months: readonly Month[],
  minCoverage: number,
  yearStart: number,
): YearMaximum[] {
  if (months.length === 0) return []
  const [first, last] = [yearOf(months[0].month, yearStart), yearOf(months.at(-1)!.month, yearStart)]
  return Array.from({ length: last - first + 1 }, (_, i): YearMaximum => {
    const start = firstMonthOf(first + i, yearStart)
    const own = Array.from({ length: MONTHS_OF_YEAR }, (_, month) => monthAt(months, start + month))
    const isThin = QUARTERS.some(
      (from) => coverageOf(own.slice(from, from + MONTHS_OF_QUARTER))! < LEAST_QUARTER,
    )
    const coverage = coverageOf(own)!
    const extremes = extremesOf(code, own[0].from, own.at(-1)!.to)
    const thin = isThin ? 'quarter' : null
    return {
      year: first + i,
      at: extremes?.greatest ?? -1,
      coverage,
      reason: coverage < minCoverage ? 'coverage' : thin,
    }
  })
}

/** A month of the record, or one before or after it, which has no samples at the interval of the nearest. */
function monthAt(months: readonly Month[], month: number): Month {
  const place = month - months[0].month
  const known = months[Math.min(months.length - 1, Math.max(0, place))]
  if (known.month === month) return known
  const edge = place < 0 ? known.from : known.to
  return { ...known, month, from: edge, to: edge, count: 0, sum: 0, lack: 'coverage' }
}
