/**
 * UTC time as epoch seconds; text exists only in requests, in sources and in answers. The Gregorian calendar in
 * integers is Howard Hinnant's ("chrono-compatible low-level date algorithms"). Texts are read by one grammar:
 * ISO 8601, and the deviations that a caller allows.
 */

export const MINUTE = 60
export const HOUR = 3600
export const DAY = 86400

/** Days from 1970-01-01 to a date; month 1…12. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146097 + dayOfEra - 719468
}

export interface CivilDate {
  year: number
  month: number
  day: number
}

/** The date that lies `days` after 1970-01-01, from the year −399 on. */
export function civilFromDays(days: number): CivilDate {
  // `| 0` keeps V8 to integers: a date takes 24 ns, with `Math.floor` 60.
  const z = days + 719468 + 146097
  const era = (z / 146097) | 0
  const dayOfEra = z - era * 146097
  const yearOfEra =
    ((dayOfEra - ((dayOfEra / 1460) | 0) + ((dayOfEra / 36524) | 0) - ((dayOfEra / 146096) | 0)) / 365) | 0
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0))
  const shifted = ((5 * dayOfYear + 2) / 153) | 0
  const month = shifted < 10 ? shifted + 3 : shifted - 9
  return {
    year: yearOfEra + (era - 1) * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - (((153 * shifted + 2) / 5) | 0) + 1,
  }
}

export function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}

const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

export function daysInMonth(year: number, month: number): number {
  return month === 2 && isLeapYear(year) ? 29 : DAYS_IN_MONTH[month - 1]
}

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

/** `2026-03-27` of an instant. */
export const dateText = (epoch: number): string => timestampText(epoch).slice(0, DATE_LENGTH)

/** `2026-03-27T09:00:00Z`, whole seconds. */
export function timestampText(epoch: number): string {
  // A window around the first or last moment with four digits a year ends there.
  const whole = Math.min(END_OF_TEXT - 1, Math.max(FIRST_TEXT, Math.floor(epoch)))
  return `${new Date(whole * 1000).toISOString().slice(0, TIMESTAMP_LENGTH)}Z`
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

const DATE_LENGTH = 10
const TIMESTAMP_LENGTH = 19
/** Bytes of the longest timestamp: nine digits of a fraction, and an offset. */
const MAX_TIMESTAMP = 35
const written = new Uint8Array(3 * MAX_TIMESTAMP)

/** Epoch seconds of midnight of a `YYYY-MM-DD`, or null when the calendar has no such date. */
export function parseDate(text: string): number | null {
  const [, year = NaN, month = NaN, day = NaN] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number)
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) return null
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
    const date = parseDate(text)
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

/** Additions to `YYYY-MM-DDThh:mm[:ss[.fraction]]` and `Z` or `±hh:mm`; sum up those that are allowed. */
export const LIBERTIES = {
  blankForT: 1,
  hoursAlone: 2,
  /** A comma before the fraction. */
  comma: 4,
  /** A blank before the zone, and the word `UTC`. */
  looseZone: 8,
  /** A plus sign in a URL that was not encoded. */
  blankForPlus: 16,
} as const

export interface IsoTime {
  /** Seconds from 1970 of the date and the clock as they are written, without the fraction. */
  local: number
  /** 0 up to 1. */
  fraction: number
  /** Seconds ahead of UTC; null where the text does not tell. */
  offset: number | null
}

const MAX_FRACTION = 9

const BLANK = 0x20
const PLUS = 0x2b
const COMMA = 0x2c
const DASH = 0x2d
const POINT = 0x2e
const COLON = 0x3a
const ZERO = 0x30
/** Setting this bit makes a capital letter a small one. */
const SMALL = 0x20
const [T, Z] = [0x74, 0x7a]

/** The date-time in [from, to), or null. Years run from 0000 to 9999. */
export function readIsoTime(bytes: Uint8Array, from: number, to: number, allowed: number): IsoTime | null {
  const middle = bytes[from + 10]
  const isMiddle = (middle | SMALL) === T || (middle === BLANK && (allowed & LIBERTIES.blankForT) !== 0)
  if (to - from < 16 || !isMiddle) return null
  if (bytes[from + 4] !== DASH || bytes[from + 7] !== DASH || bytes[from + 13] !== COLON) return null
  let at = from + 16
  let second = 0
  let fraction = 0
  if (at < to && bytes[at] === COLON) {
    second = at + 3 <= to ? twoDigits(bytes, at + 1) : -1
    at += 3
    if (at < to && (bytes[at] === POINT || (bytes[at] === COMMA && (allowed & LIBERTIES.comma) !== 0))) {
      const first = ++at
      for (; at < to && isDigit(bytes[at]); at++) fraction = fraction * 10 + bytes[at] - ZERO
      if (at === first || at - first > MAX_FRACTION) return null
      fraction /= 10 ** (at - first)
    }
  }
  const local = secondsOf(bytes, from, second)
  if (Number.isNaN(local)) return null
  if (at >= to) return at === to ? { local, fraction, offset: null } : null
  const offset = offsetOf(bytes, at, to, allowed)
  return Number.isNaN(offset) ? null : { local, fraction, offset }
}

/** The last date and its midnight: a row of an archive mostly has the date of the row before. */
let lastDate = -(2 ** 30)
let lastMidnight = 0

/** NaN if the moment does not exist. */
function secondsOf(bytes: Uint8Array, from: number, second: number): number {
  const high = twoDigits(bytes, from)
  const low = twoDigits(bytes, from + 2)
  const year = high < 0 || low < 0 ? -1 : high * 100 + low
  const month = twoDigits(bytes, from + 5)
  const day = twoDigits(bytes, from + 8)
  const hour = twoDigits(bytes, from + 11)
  const minute = twoDigits(bytes, from + 14)
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return NaN
  const date = (year * 128 + month) * 128 + day
  if (date !== lastDate) {
    if (year < 0 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return NaN
    lastDate = date
    lastMidnight = daysFromCivil(year, month, day) * DAY
  }
  return lastMidnight + hour * HOUR + minute * MINUTE + second
}

/** Seconds ahead of UTC of the zone that fills [from, to), or NaN. */
function offsetOf(bytes: Uint8Array, from: number, to: number, allowed: number): number {
  let at = from
  const isLoose = (allowed & LIBERTIES.looseZone) !== 0
  if (isLoose && bytes[at] === BLANK) at++
  if ((bytes[at] | SMALL) === Z) return at + 1 === to ? 0 : NaN
  if (isLoose && to - at === 3 && isWordUtc(bytes, at)) return 0
  const sign = bytes[at]
  const isPlus = sign === PLUS || (sign === BLANK && (allowed & LIBERTIES.blankForPlus) !== 0)
  if (at + 3 > to || (!isPlus && sign !== DASH)) return NaN
  const hours = twoDigits(bytes, at + 1)
  at += 3
  let minutes = 0
  if (at < to) {
    if (bytes[at] === COLON) at++
    minutes = at + 2 === to ? twoDigits(bytes, at) : -1
  } else if ((allowed & LIBERTIES.hoursAlone) === 0) return NaN
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return NaN
  return (isPlus ? 1 : -1) * (hours * HOUR + minutes * MINUTE)
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= ZERO + 9

/** Two digits as a number, or −1. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = bytes[at] - ZERO
  const ones = bytes[at + 1] - ZERO
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1
}

const UTC = [0x75, 0x74, 0x63]

function isWordUtc(bytes: Uint8Array, at: number): boolean {
  return UTC.every((letter, i) => (bytes[at + i] | SMALL) === letter)
}
