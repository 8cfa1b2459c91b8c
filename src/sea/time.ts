/** UTC time as epoch seconds; text exists only in requests and in answers. */
import { civilFromDays, DAY, daysFromCivil, daysInMonth, MINUTE } from './calendar.ts'
import { LIBERTIES, readIsoTime } from './iso-time.ts'
import { digitsAt } from './numerals.ts'

export { civilFromDays, DAY, daysFromCivil, daysInMonth, HOUR, isLeapYear, MINUTE } from './calendar.ts'

/** The last second of 32 bits, in 2106. */
export const LAST_SECOND = 0xffff_ffff

/** Months since January 1970: the number that names a part of the snapshot. */
export function monthOf(epoch: number): number {
  const { year, month } = civilFromDays(Math.floor(epoch / DAY))
  return (year - 1970) * 12 + month - 1
}

export function monthStart(month: number): number {
  return daysFromCivil(1970 + Math.floor(month / 12), (((month % 12) + 12) % 12) + 1, 1) * DAY
}

/** `2026-03` for a month counted from January 1970. */
export function monthText(month: number): string {
  return dateText(monthStart(month)).slice(0, 7)
}

const pad2 = (value: number): string => (value < 10 ? `0${value}` : String(value))

/** `2026-03-27` of an instant. */
export function dateText(epoch: number): string {
  return dayText(Math.floor(epoch / DAY))
}

/** Texts of the days from 1970 to 2106 as they come up, 64 days a list: making one is slow. */
const dayTexts: (string | undefined)[][] = Array.from({ length: 777 }, () => [])

function dayText(day: number): string {
  const texts = dayTexts[Math.floor(day / 64)] as (string | undefined)[] | undefined
  const known = texts?.[day & 63]
  if (known !== undefined) return known
  const { year, month, day: dayOfMonth } = civilFromDays(day)
  const text = `${String(year).padStart(4, '0')}-${pad2(month)}-${pad2(dayOfMonth)}`
  if (texts !== undefined) texts[day & 63] = text
  return text
}

const MINUTE_TEXTS = Array.from({ length: 1440 }, (_, i) => `T${pad2(Math.floor(i / 60))}:${pad2(i % 60)}:`)
const SECOND_TEXTS = Array.from({ length: 60 }, (_, i) => `${pad2(i)}Z`)

/** `2026-03-27T09:00:00Z`, whole seconds. */
export function timestampText(epoch: number): string {
  // A window around the first or last moment with four digits a year ends there.
  const whole = Math.min(END_OF_TEXT - 1, Math.max(FIRST_TEXT, Math.floor(epoch)))
  const day = Math.floor(whole / DAY)
  const second = whole - day * DAY
  const minute = Math.floor(second / MINUTE)
  return dayText(day) + MINUTE_TEXTS[minute] + SECOND_TEXTS[second - minute * MINUTE]
}

export interface ParsedTime {
  /** Epoch seconds, with a fraction where the text had one. */
  epoch: number
  /** A date alone means that whole UTC day. */
  wholeDay: boolean
  /** Set where it is relative to a moment that changes. */
  moves?: true
}

/** The moment a range ends at: a date alone means its last second. */
export function endOf({ epoch, wholeDay }: ParsedTime): number {
  return wholeDay ? epoch + DAY - 1 : epoch
}

const encoder = new TextEncoder()

const DASH = 0x2d
const DATE_LENGTH = 10
/** Bytes of the longest timestamp: nine digits of a fraction, and an offset. */
const MAX_TIMESTAMP = 35
const written = new Uint8Array(3 * MAX_TIMESTAMP)

/** Epoch seconds of midnight of a `YYYY-MM-DD`, or null when the calendar has no such date. */
export function parseDate(text: string): number | null {
  return text.length === DATE_LENGTH ? dateAtStart(text) : null
}

function dateAtStart(text: string): number | null {
  const year = digitsAt(text, 0, 4)
  const month = digitsAt(text, 5, 2)
  const day = digitsAt(text, 8, 2)
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return null
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null
  return daysFromCivil(year, month, day) * DAY
}

/** Midnight before the year 0000 and after 9999: times outside have no text of four digits a year. */
const FIRST_TEXT = -62167219200
const END_OF_TEXT = 253402300800

/**
 * ISO 8601 with `Z`, an offset or milliseconds, or a date alone; UTC without a zone. Null for any other text,
 * and outside the years 0000 to 9999.
 */
export function parseTimestamp(text: string): ParsedTime | null {
  if (text.length === DATE_LENGTH) {
    const date = dateAtStart(text)
    return date === null ? null : { epoch: date, wholeDay: true }
  }
  if (text.length > MAX_TIMESTAMP) return null
  const time = readIsoTime(written, 0, encoder.encodeInto(text, written).written, LIBERTIES.blankForPlus)
  if (time === null) return null
  const epoch = time.local + time.fraction - (time.offset ?? 0)
  return epoch >= FIRST_TEXT && epoch < END_OF_TEXT ? { epoch, wholeDay: false } : null
}

const STEPS: readonly [seconds: number, unit: string][] = [
  [86_400, 'days'],
  [3600, 'hours'],
  [60, 'minutes'],
]

export function ageText(seconds: number): string {
  const [size, unit] = STEPS.find(([step]) => seconds >= 2 * step) ?? [1, 'seconds']
  return `${Math.round(seconds / size)} ${unit}`
}
