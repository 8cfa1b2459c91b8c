/** Dates and times as text, by day, hour, minute and second. */
import { padded, TextTable, word } from './literals.ts'
import { civilFromDays, HOUR, MINUTE } from '../sea/time.ts'

/** `09:00:` by minute of the day. */
export const MINUTE_TEXT = TextTable.of(
  1440,
  (minute) => `${padded(Math.floor(minute / 60), 2)}:${padded(minute % 60, 2)}:`,
)
/** `-27T09:` by hour since the day before the month's first. */
export const DAY_AND_HOUR = TextTable.of(
  32 * 24,
  (hour) => `-${padded(Math.floor(hour / 24), 2)}T${padded(hour % 24, 2)}:`,
)
/** `00:00Z"` by second of the hour. */
export const WITHIN_HOUR = TextTable.of(
  HOUR,
  (second) => `${padded(Math.floor(second / MINUTE), 2)}:${padded(second % MINUTE, 2)}Z"`,
)
/** `00Z"` by second of the minute. */
export const SECOND_TEXT = TextTable.of(60, (second) => `${padded(second, 2)}Z"`)

/** `"2026-03-` and `27T` by day since 1970, filled as days come up; every time we hold lies before 2106. */
export const DATE_HEAD = new Float64Array(49711)
export const DATE_TAIL = new Float64Array(49711)
export const DAY_OF_MONTH = new Uint8Array(49711)
/** `Mar 27` by day. */
export const DAY_LABEL = new Float64Array(49711)
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
/** ` 05:00` by hour. */
export const FULL_HOUR = TextTable.of(24, (hour) => ` ${padded(hour, 2)}:00`)
/** Minutes that a clock is ahead of UTC or behind it, at most. */
export const MOST_SHIFT = 16 * 60
/** `+01:00"` by minutes ahead of UTC. */
export const SHIFT_TEXT = TextTable.of(2 * MOST_SHIFT + 1, (index) => {
  const ahead = Math.abs(index - MOST_SHIFT)
  return `${index < MOST_SHIFT ? '-' : '+'}${padded(Math.floor(ahead / 60), 2)}:${padded(ahead % 60, 2)}"`
})

/** Fills the tables of a day. */
export function fillDate(day: number): void {
  const { year, month, day: dayOfMonth } = civilFromDays(day)
  DAY_OF_MONTH[day] = dayOfMonth
  DAY_LABEL[day] = dayLabel(day)
  DATE_HEAD[day] = word(`"${padded(year, 4)}-${padded(month, 2)}`)
  DATE_TAIL[day] = word(`-${padded(dayOfMonth, 2)}T`)
}

/** `2026-03-` by day since 1970, filled as days come up. */
const PLAIN_DATE_HEAD = new Float64Array(49711)

/** `2026-03-`, without a quote in front; the other tables of the day are filled, too. */
export function plainDateHead(day: number): number {
  if (PLAIN_DATE_HEAD[day] === 0) {
    fillDate(day)
    const { year, month } = civilFromDays(day)
    PLAIN_DATE_HEAD[day] = word(`${padded(year, 4)}-${padded(month, 2)}-`)
  }
  return PLAIN_DATE_HEAD[day]
}

export function dayLabel(day: number): number {
  const { month, day: dayOfMonth } = civilFromDays(day)
  return word(`${MONTHS[month - 1]} ${padded(dayOfMonth, 2)}`)
}
