/** Seasons as dates of a zone's clock: days, instants and years. */
import { civilFromDays, DAY, daysFromCivil, daysInMonth, isLeapYear } from '../sea/time.ts'
import type { Zone } from '../sea/zones.ts'

/** First and last day of a season, at most a year long: an end before the start lies in the next year. */
export interface SeasonDates {
  readonly startMonth: number
  readonly startDay: number
  readonly endMonth: number
  readonly endDay: number
}

/** Most seasons in one answer. */
export const MOST_SEASONS = 13
/** Seasons in an answer to a request without years. */
export const DEFAULT_SEASONS = 10

const A_LEAP_YEAR = 2024

/** Last day of a month (1 to 12) in any year: 29 for February. */
export function lastDayOfMonth(month: number): number {
  return daysInMonth(A_LEAP_YEAR, month)
}

/** Whether some year has this day, as it has 29 February; integers expected. */
export function isDayOfYear(month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= lastDayOfMonth(month)
}

/** The season that starts in `year`: [start, end), epoch seconds. */
export interface SeasonSpan {
  readonly start: number
  readonly end: number
}

/** Start and end are equal for 29 February alone in a year without it. */
export function seasonSpan(zone: Zone, dates: SeasonDates, year: number): SeasonSpan {
  const { first, days } = seasonDays(dates, year)
  return { start: zone.firstInstant(first * DAY), end: zone.firstInstant((first + days) * DAY) }
}

/** The latest year with a season of which the last day is over in the zone at `asOf` (epoch seconds). */
export function lastCompleteSeason(zone: Zone, dates: SeasonDates, asOf: number): number {
  let { year } = civilFromDays(Math.floor((asOf + zone.offsetAt(asOf)) / DAY))
  while (seasonSpan(zone, dates, year).end > asOf) year--
  return year
}

export interface SeasonYears {
  readonly startYear: number
  readonly endYear: number
}

/** Years to answer: by default ten up to the last complete season. A string is the reason for a refusal. */
export function seasonYears(
  startYear: number | undefined,
  endYear: number | undefined,
  lastComplete: number,
): SeasonYears | 'start after end' | 'too many seasons' {
  const end = endYear ?? lastComplete
  const start = startYear ?? end - DEFAULT_SEASONS + 1
  if (start > end) return 'start after end'
  if (end - start + 1 > MOST_SEASONS) return 'too many seasons'
  return { startYear: start, endYear: end }
}

export function isOverNewYear({ startMonth, startDay, endMonth, endDay }: SeasonDates): boolean {
  return endMonth < startMonth || (endMonth === startMonth && endDay < startDay)
}

/** First day of a season, since 1970, and its number of days (0 to 366). */
export function seasonDays(dates: SeasonDates, year: number): { first: number; days: number } {
  const { startMonth, startDay, endMonth, endDay } = dates
  const endYear = isOverNewYear(dates) ? year + 1 : year
  // A missing 29 February counts as 1 March, which is right for a start only.
  const first = daysFromCivil(year, startMonth, startDay)
  const last = daysFromCivil(endYear, endMonth, Math.min(endDay, daysInMonth(endYear, endMonth)))
  return { first, days: last - first + 1 }
}

/** Days of a season before the ordinal left empty for 29 February; Infinity where none is left empty. */
export function daysBeforeLeapGap(dates: SeasonDates, year: number, first: number): number {
  const startsBefore = dates.startMonth <= 2
  const endsAfter = dates.endMonth > 2 || (dates.endMonth === 2 && dates.endDay === 29)
  const spans = isOverNewYear(dates) ? startsBefore || endsAfter : startsBefore && endsAfter
  if (!spans) return Infinity
  const leapYear = startsBefore ? year : year + 1
  return isLeapYear(leapYear) ? Infinity : daysFromCivil(leapYear, 3, 1) - first
}
