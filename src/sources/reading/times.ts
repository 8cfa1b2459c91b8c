/** Times as sources write them, as epoch seconds: dates, ISO 8601, and counts since a moment. */
import { DAY, daysFromCivil, daysInMonth, HOUR, MINUTE } from '../../sea/calendar.ts'
import { LIBERTIES, readIsoTime } from '../../sea/iso-time.ts'
import { LAST_SECOND } from '../../sea/time.ts'
import type { Zone } from '../../sea/zones.ts'
import { numberOf, secondsOfUnit } from './units.ts'

const FIRST_YEAR = 1970
const LAST_YEAR = 2106

/** Epoch seconds of a UTC date, or −1 for no real moment, or one before 1970 or after February 2106. */
export function epochSeconds(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number {
  if (year < FIRST_YEAR || year > LAST_YEAR || month < 1 || month > 12 || day < 1) return -1
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return -1
  if (day > daysInMonth(year, month)) return -1
  return inRange(daysFromCivil(year, month, day) * DAY + hour * HOUR + minute * MINUTE + second)
}

function inRange(seconds: number): number {
  return seconds >= 0 && seconds <= LAST_SECOND ? seconds : -1
}

const STRICT = LIBERTIES.blankForT + LIBERTIES.hoursAlone + LIBERTIES.looseZone
const LOOSE = STRICT + LIBERTIES.comma

/**
 * Reads `YYYY-MM-DDThh:mm[:ss[.s]]` (or a blank for T) as epoch seconds with a fraction cut off, or −1. `zone`
 * is 'offset' (`Z`, `UTC`, `±hh`, `±hhmm`, `±hh:mm`, after a blank too) or 'any'. A time without a zone is
 * `ahead` seconds ahead of UTC.
 */
export function isoSeconds(
  bytes: Uint8Array,
  from: number,
  to: number,
  zone: 'offset' | 'any',
  ahead = 0,
): number {
  const time = readIsoTime(bytes, from, to, STRICT)
  if (time === null || (zone === 'offset' && time.offset === null)) return -1
  return inRange(time.local - (time.offset ?? ahead))
}

const MAX_TEXT = 50
const encoder = new TextEncoder()

/**
 * Reads `YYYY-MM-DDThh:mm[:ss[.s]][Z|±hh:mm]` as epoch seconds with a fraction cut off, or −1. A time without
 * a zone is `offset` seconds ahead of UTC.
 */
export function isoTime(text: string, offset = 0): number {
  if (text.length > MAX_TEXT) return -1
  const bytes = encoder.encode(text)
  const time = readIsoTime(bytes, 0, bytes.length, LOOSE)
  return time === null ? -1 : inRange(time.local - (time.offset ?? offset))
}

/**
 * The reader of a station's times on the wall clock of a zone: −1 for one that the clock leaps over. Of the two
 * moments of an hour that comes twice, it takes the one that goes on in the direction of the times before.
 */
export function wallClockReader(place: Zone): (text: string) => number {
  let last = -1
  let isFalling = false
  return (text) => {
    const bytes = encoder.encode(text.slice(0, MAX_TEXT + 1))
    const time = bytes.length > MAX_TEXT ? null : readIsoTime(bytes, 0, bytes.length, LOOSE)
    if (time === null) return -1
    const first = time.offset === null ? place.firstInstant(time.local) : time.local - time.offset
    const second = time.local - place.offsetAt(first + DAY / 2)
    if (time.offset === null && first + place.offsetAt(first) !== time.local) return -1
    const comesTwice =
      time.offset === null && second > first && second + place.offsetAt(second) === time.local
    const takesSecond = isFalling ? second < last || last < 0 : first <= last
    const moment = comesTwice && takesSecond && second !== last ? second : first
    if (last >= 0 && moment !== last) isFalling = moment < last
    last = moment
    return inRange(moment)
  }
}

const SINCE =
  /^([a-z]+) since (\d{4}-\d\d?-\d\d?)(?:[T ](\d\d?:\d\d)(?::(\d\d?)(?:\.\d+)?)?)? ?(?:Z|UTC|GMT|[+-]?0?0:?00)?$/i

/** A count of time since a moment: a time is `start + count × step`, in epoch seconds. */
interface TimeUnit {
  readonly start: number
  /** Seconds. */
  readonly step: number
}

/** The unit "seconds since 1970-01-01T00:00:00Z" and its like; null for any other text. */
export function timeUnit(unit: string): TimeUnit | null {
  const [, word, date, clock, second] = (unit.length <= 80 && SINCE.exec(unit.trim())) || []
  const step = word === undefined ? null : secondsOfUnit(word)
  if (step === null) return null
  const [year, month, day] = date.split('-').map(Number)
  const [hour, minute] = (clock ?? '00:00').split(':').map(Number)
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month) || hour > 23) return null
  // The count may begin before 1970, where `epochSeconds` gives up.
  const start = daysFromCivil(year, month, day) * DAY + hour * HOUR + minute * MINUTE + Number(second ?? 0)
  return { start, step }
}

/** The moment of a count, rounded to the second; −1 where the time column cannot hold it. */
export function momentOf({ start, step }: TimeUnit, count: number): number {
  return Number.isNaN(count) ? -1 : inRange(Math.round(start + count * step))
}

/** Reads a cell of a column of times as epoch seconds, or −1. */
export type TimeReader = (text: string) => number

export const isIsoUnit = (unit: string): boolean => /^(utc|gmt|iso ?8601)?$/i.test(unit.trim())

/**
 * The reader of times in a unit: "UTC" or none is ISO 8601, "seconds since 1970-01-01T00:00:00Z" a count, any
 * other null. Times without a zone are `offset` seconds ahead of UTC.
 */
export function timeReader(unit: string, offset = 0): TimeReader | null {
  if (isIsoUnit(unit)) return (text) => isoTime(text, offset)
  const count = timeUnit(unit)
  return count === null ? null : (text) => momentOf(count, numberOf(text) ?? NaN)
}
