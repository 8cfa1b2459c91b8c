/** Usual values in each month and season, and in the whole year. */
import { isDirection } from '../index/statistics.ts'
import { coverageOf, type Lack, type Month } from './months.ts'
import { Distribution, type Extremes, extremesOf, type Samples } from './samples.ts'

export const PERCENTS = [1, 5, 10, 25, 50, 75, 90, 95, 99] as const
export const SEASONS = ['djf', 'mam', 'jja', 'son'] as const
export type By = 'month' | 'season' | 'none'

const MONTHS_OF_YEAR = 12
const MONTHS_OF_SEASON = 3
export const SECTORS = 16

/** A year of a period that does not count. */
interface YearLeftOut {
  readonly year: number
  readonly lack: Lack
  readonly coverage: number | null
}

/** Values are codes. */
export interface Period {
  readonly count: number
  readonly coverage: number | null
  /** Years that count, and the others between the first sample and the last. */
  readonly years: readonly number[]
  readonly yearsLeftOut: readonly YearLeftOut[]
  /** The intervals that its months have had, seconds, ascending, with the years of these months. */
  readonly intervals: readonly { readonly interval: number; readonly years: readonly number[] }[]
  /** Null for a direction. */
  readonly scalar: {
    readonly mean: number | null
    readonly standardDeviation: number | null
    /** Quantiles in hundredths of a code, in the order of `PERCENTS`; empty without a sample. */
    readonly quantiles: readonly number[]
    readonly extremes: Extremes | null
  } | null
  readonly circular: {
    /** Degrees; null where directions cancel out, or there are none. */
    readonly mean: number | null
    /** Length of the mean of the unit vectors, 0 to 1. */
    readonly resultant: number | null
    /** Samples in each sector of 22.5°, the first around north. */
    readonly sectors: readonly number[]
  } | null
}

/** The year that a month counts for: December belongs to the next year's season djf. */
export const seasonYear = ({ year, ofYear }: Month): number => (ofYear === MONTHS_OF_YEAR ? year + 1 : year)
export const seasonOf = (ofYear: number): number => Math.floor((ofYear % MONTHS_OF_YEAR) / MONTHS_OF_SEASON)

/** The periods of the year, and all of it. Values are exact, as they are made from counts of codes. */
export function climateOf(
  samples: Samples,
  months: readonly Month[],
  by: By,
): { periods: Period[]; overall: Period } {
  const yearOf = by === 'season' ? seasonYear : ({ year }: Month): number => year
  const means = Array.from({ length: MONTHS_OF_YEAR }, (_, i) =>
    meanOfMonths(months.filter(({ ofYear }) => ofYear === i + 1)),
  )
  const isCircular = isDirection(samples.measure)
  const scalars = isCircular ? null : scalarsOf(samples, months)
  const period = (ofYear: readonly number[]): Period => {
    const own = months.filter((month) => ofYear.includes(month.ofYear))
    return {
      count: own.reduce((sum, { count }) => sum + count, 0),
      coverage: coverageOf(own),
      ...yearsOf(own, yearOf, ofYear.length),
      intervals: intervalsOf(own, yearOf),
      scalar: scalars && { mean: meanOf(ofYear.map((month) => means[month - 1])), ...scalars(ofYear) },
      circular: isCircular ? circularOf(samples, own) : null,
    }
  }
  const all = Array.from({ length: MONTHS_OF_YEAR }, (_, i) => i + 1)
  const seasons = SEASONS.map((_, season) => all.filter((month) => seasonOf(month) === season))
  const parts = { month: all.map((month) => [month]), season: seasons, none: [] }
  return { periods: parts[by].map(period), overall: period(all) }
}

/** Statistics of all samples of some months of the year (1 to 12), in one pass. */
function scalarsOf(
  { code }: Samples,
  months: readonly Month[],
): (ofYear: readonly number[]) => Omit<NonNullable<Period['scalar']>, 'mean'> {
  const wider = (before: Extremes | null, next: Extremes | null): Extremes | null => {
    if (before === null || next === null) return before ?? next
    return {
      least: code[next.least] < code[before.least] ? next.least : before.least,
      greatest: code[next.greatest] > code[before.greatest] ? next.greatest : before.greatest,
    }
  }
  const extremes = months.map(({ from, to }) => extremesOf(code, from, to))
  const bounds = extremes.reduce(wider, null)
  const empty = (): Distribution =>
    bounds === null ? new Distribution(0, 0) : new Distribution(code[bounds.least], code[bounds.greatest])
  const parts = Array.from({ length: MONTHS_OF_YEAR }, empty)
  for (const { ofYear, from, to } of months) parts[ofYear - 1].add(code, from, to)
  return (ofYear) => {
    const distribution = empty()
    for (const month of ofYear) distribution.addAll(parts[month - 1])
    return {
      standardDeviation: distribution.standardDeviation,
      quantiles: distribution.quantiles(PERCENTS),
      // In the order of time, so the earliest of equal samples counts.
      extremes: extremes.filter((_, i) => ofYear.includes(months[i].ofYear)).reduce(wider, null),
    }
  }
}

/** The mean of the means of a month's years that count: a year of half-hours does not weigh double. */
const meanOfMonths = (months: readonly Month[]): number | null =>
  meanOf(months.filter(({ lack }) => lack === null).map(({ sum, count }) => sum / count))

function meanOf(values: readonly (number | null)[]): number | null {
  if (values.length === 0 || values.includes(null)) return null
  return values.reduce<number>((sum, value) => sum + value!, 0) / values.length
}

/** @param wanted months of each year that have to count */
function yearsOf(
  months: readonly Month[],
  yearOf: (month: Month) => number,
  wanted: number,
): Pick<Period, 'years' | 'yearsLeftOut'> {
  const years: number[] = []
  const yearsLeftOut: YearLeftOut[] = []
  for (const year of new Set(months.map(yearOf))) {
    const own = months.filter((month) => yearOf(month) === year)
    const counted = own.filter(({ lack }) => lack === null).length
    if (counted === wanted) years.push(year)
    else {
      const lack = wanted === 1 ? own[0].lack! : 'months'
      yearsLeftOut.push({ year, lack, coverage: coverageOf(own) })
    }
  }
  return { years, yearsLeftOut }
}

function intervalsOf(months: readonly Month[], yearOf: (month: Month) => number): Period['intervals'] {
  const there = months.filter(({ count }) => count > 0)
  const intervals = [...new Set(there.map(({ interval }) => interval))].sort((a, b) => a - b)
  return intervals.map((interval) => {
    const own = there.filter((month) => month.interval === interval)
    return { interval, years: [...new Set(own.map(yearOf))] }
  })
}

/** Resultant length below which directions count as cancelling out. */
const LEAST_RESULTANT = 1e-6

function circularOf({ code, measure }: Samples, months: readonly Month[]): Period['circular'] {
  const sectors = Array.from({ length: SECTORS }, () => 0)
  const counts = new Uint32Array(360 * measure.scale)
  let count = 0
  for (const { from, to } of months) {
    for (let i = from; i < to; i++) counts[code[i]]++
    count += to - from
  }
  let [east, north] = [0, 0]
  for (const [direction, there] of counts.entries()) {
    if (there === 0) continue
    const angle = (direction * Math.PI) / (180 * measure.scale)
    east += there * Math.sin(angle)
    north += there * Math.cos(angle)
    sectors[sectorOf(direction, measure.scale)] += there
  }
  const resultant = count === 0 ? null : Math.hypot(east, north) / count
  const isKnown = resultant !== null && resultant >= LEAST_RESULTANT
  const mean = isKnown ? ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360 : null
  return { mean, resultant, sectors }
}

/** The sector of 22.5° around a point of the compass, the first around north. */
export function sectorOf(code: number, scale: number): number {
  const width = (360 * scale) / SECTORS
  return Math.floor((code + width / 2) / width) % SECTORS
}
