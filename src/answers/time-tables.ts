/** Dates and times as text, by day, hour, minute and second. */
import { padded, TextTable, word } from './literals.ts'
import { civilFromDays, daysInMonth, HOUR, MINUTE } from '../sea/time.ts'
import { sharedOnce } from '../system/thread-memory.ts'

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

/** Every time we hold lies before 2106. */
const DAYS = 49711
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const dates = sharedOnce('dates', DAYS * (4 * 8 + 1), fillDates)
const [plainHeads, heads, tails, labels] = doublesOf(dates)
/** `2026-03-` by day since 1970, without a quote in front. */
export const PLAIN_DATE_HEAD = plainHeads
/** `"2026-03` by day. */
export const DATE_HEAD = heads
/** `-27T` by day. */
export const DATE_TAIL = tails
/** `Mar 27` by day. */
export const DAY_LABEL = labels
export const DAY_OF_MONTH = daysOfMonthOf(dates)

/** ` 05:00` by hour. */
export const FULL_HOUR = TextTable.of(24, (hour) => ` ${padded(hour, 2)}:00`)
/** Minutes that a clock is ahead of UTC or behind it, at most. */
export const MOST_SHIFT = 16 * 60
/** `+01:00"` by minutes ahead of UTC. */
export const SHIFT_TEXT = TextTable.of(2 * MOST_SHIFT + 1, (index) => {
  const ahead = Math.abs(index - MOST_SHIFT)
  return `${index < MOST_SHIFT ? '-' : '+'}${padded(Math.floor(ahead / 60), 2)}:${padded(ahead % 60, 2)}"`
})

function doublesOf(memory: SharedArrayBuffer): Float64Array[] {
  return Array.from({ length: 4 }, (_, table) => new Float64Array(memory, table * DAYS * 8, DAYS))
}

function daysOfMonthOf(memory: SharedArrayBuffer): Uint8Array {
  return new Uint8Array(memory, 4 * DAYS * 8, DAYS)
}

/** Month after month: each text is made once, not for each of its days. */
function fillDates(memory: SharedArrayBuffer): void {
  const [plainHeads, heads, tails, labels] = doublesOf(memory)
  const daysOfMonth = daysOfMonthOf(memory)
  const tailOf = Array.from({ length: 32 }, (_, day) => word(`-${padded(day, 2)}T`))
  const labelOf = MONTHS.map((_, month) =>
    Array.from({ length: 32 }, (_day, day) => labelText(month + 1, day)),
  )
  for (let from = 0, at = 0; from < DAYS; from = at) {
    const { year, month } = civilFromDays(from)
    const text = `${padded(year, 4)}-${padded(month, 2)}`
    const [plainHead, head] = [word(`${text}-`), word(`"${text}`)]
    const end = Math.min(DAYS, from + daysInMonth(year, month))
    for (let day = 1; at < end; at++, day++) {
      plainHeads[at] = plainHead
      heads[at] = head
      tails[at] = tailOf[day]
      labels[at] = labelOf[month - 1][day]
      daysOfMonth[at] = day
    }
  }
}

function labelText(month: number, day: number): number {
  return word(`${MONTHS[month - 1]} ${padded(day, 2)}`)
}

/** `Mar 27` of any day. */
export function dayLabel(day: number): number {
  const { month, day: dayOfMonth } = civilFromDays(day)
  return labelText(month, dayOfMonth)
}
