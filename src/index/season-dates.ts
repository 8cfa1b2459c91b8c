/**
 * Seasons as dates of a zone's clock (contract, operation 10; decisions, operation 10): which days, from
 * which instant to which, and of which years.
 */
import { civilFromDays, DAY, daysFromCivil, daysInMonth, isLeapYear } from '../sea/time.ts'
import type { Zone } from '../sea/zones.ts'

/**
 * First and last day of a season. An end before the start lies in the next year; a season is never over a
 * year long.
 */
export interface SeasonDates {
  readonly startMonth: number
  readonly startDay: number
  readonly endMonth: number
  readonly endDay: number
}

/** Most seasons in one answer (contract, "Limits"). */
export const MOST_SEASONS = 13
/** Seasons in an answer to a request without years (contract, operation 10). */
export const DEFAULT_SEASONS = 10

const A_LEAP_YEAR = 2024

/** Last day that the month (1 to 12) has in any year: 29 for February. */
export function lastDayOfMonth(month: number): number {
  return daysInMonth(A_LEAP_YEAR, month)
}

/** Whether some year has this day; integers expected. 29 February is one, 30 February is none. */
export function isDayOfYear(month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= lastDayOfMonth(month)
}

/** The season of `year` (the year in which it starts): from `start` to before `end`, epoch seconds. */
export interface SeasonSpan {
  readonly start: number
  readonly end: number
}

/**
 * The instants between which a season lies. One that is 29 February alone is empty in other years: both are
 * equal.
 */
export function seasonSpan(zone: Zone, dates: SeasonDates, year: number): SeasonSpan {
  const { first, days } = seasonDays(dates, year)
  return { start: zone.firstInstant(first * DAY), end: zone.firstInstant((first + days) * DAY) }
}

/** The latest year with a season that is over at `asOf` (epoch seconds): its last day is over in the zone. */
export function lastCompleteSeason(zone: Zone, dates: SeasonDates, asOf: number): number {
  let { year } = civilFromDays(Math.floor((asOf + zone.offsetAt(asOf)) / DAY))
  while (seasonSpan(zone, dates, year).end > asOf) year--
  return year
}

export interface SeasonYears {
  readonly startYear: number
  readonly endYear: number
}

/**
 * The years to answer: without an end the last complete season's, without a start the nine before the end as
 * well. A string is the reason for refusing the years.
 */
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

/** Day numbers since 1970 of a season: the first, and how many there are (0 to 366). */
export function seasonDays(dates: SeasonDates, year: number): { first: number; days: number } {
  const { startMonth, startDay, endMonth, endDay } = dates
  const endYear = isOverNewYear(dates) ? year + 1 : year
  // The 29th of a February without one counts as 1 March, which is right for a start only.
  const first = daysFromCivil(year, startMonth, startDay)
  const last = daysFromCivil(endYear, endMonth, Math.min(endDay, daysInMonth(endYear, endMonth)))
  return { first, days: last - first + 1 }
}

/**
 * How many days of this year's season come before the ordinal that is kept for 29 February and stays empty,
 * or Infinity when the season does not span that date or the year has it.
 */
export function daysBeforeLeapGap(dates: SeasonDates, year: number, first: number): number {
  const startsBefore = dates.startMonth <= 2
  const endsAfter = dates.endMonth > 2 || (dates.endMonth === 2 && dates.endDay === 29)
  const spans = isOverNewYear(dates) ? startsBefore || endsAfter : startsBefore && endsAfter
  if (!spans) return Infinity
  const leapYear = startsBefore ? year : year + 1
  return isLeapYear(leapYear) ? Infinity : daysFromCivil(leapYear, 3, 1) - first
}
