/** The grammar of date-times, read from bytes: ISO 8601 and the deviations that a caller allows. */
import { DAY, daysFromCivil, daysInMonth, HOUR, MINUTE } from './calendar.ts'

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
