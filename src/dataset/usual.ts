/** `include=usual`: how a buoy's last reading compares with others of the same time of the year. */
import { MEASURES } from '../sea/columns.ts'
import { timestampText } from '../sea/time.ts'
import type { Dataset } from './dataset.ts'
import { EXTRA_GROUPS } from './reading-json.ts'

/** Words of `include` for buoys with last readings: those of readings, and one more. */
export const BUOY_GROUPS = [...EXTRA_GROUPS, 'usual'] as const
const USUAL = 1 << EXTRA_GROUPS.length

export const includesUsual = (included: number | undefined): boolean => ((included ?? 0) & USUAL) !== 0

/** Hundredths of a code in a metre. */
const METRE = 100 * MEASURES.significantHeight.scale

/** Whether a buoy has `usual`. */
export const isUsualKnown = ({ usual }: Pick<Dataset, 'usual'>, ordinal: number): boolean =>
  usual.years[ordinal] > 0

/** The members, as numbers; NaN where there is none. */
export const MEMBERS = {
  higher_than_percent: ({ higherThanPercent }: Dataset['usual'], i: number) => higherThanPercent[i],
  percentile: ({ percentile }: Dataset['usual'], i: number) => percentile[i] / 10,
  median: ({ median }: Dataset['usual'], i: number) => median[i] / METRE,
  p90: ({ p90 }: Dataset['usual'], i: number) => p90[i] / METRE,
  years: ({ years }: Dataset['usual'], i: number) => years[i],
  first_year: ({ firstYear }: Dataset['usual'], i: number) => firstYear[i],
  highest_since: ({ highestSince }: Dataset['usual'], i: number) =>
    highestSince[i] === 0 ? NaN : highestSince[i],
  highest_since_missing_days: ({ missingDays }: Dataset['usual'], i: number) => missingDays[i],
} as const

export type Member = keyof typeof MEMBERS

/** The value of `usual` as JSON, null without one. */
export function usualJson(dataset: Dataset, ordinal: number): object | null {
  if (!isUsualKnown(dataset, ordinal)) return null
  const members = (Object.keys(MEMBERS) as Member[]).map((member) => {
    const value = MEMBERS[member](dataset.usual, ordinal)
    if (Number.isNaN(value)) return [member, null]
    return [member, member === 'highest_since' ? timestampText(value) : value]
  })
  return Object.fromEntries(members) as object
}
