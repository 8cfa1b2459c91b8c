/** Times as sources write them, as epoch seconds: dates, ISO 8601, and counts since a moment. */
import {
  DAY,
  daysFromCivil,
  daysInMonth,
  HOUR,
  LAST_SECOND,
  LOOSE_TIME,
  MINUTE,
  readIsoTime,
} from '../../sea/time.ts'
import type { Zone } from '../../sea/zones.ts'
import { leadOf, plainName } from './known-names.ts'
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

const MAX_TEXT = 50

/** A lead over UTC, "+10:00", in seconds. */
export function leadSeconds(lead: string): number {
  return (lead.startsWith('-') ? -1 : 1) * (Number(lead.slice(1, 3)) * 3600 + Number(lead.slice(4)) * 60)
}

/**
 * A text's time: seconds from 1970 on its own clock, and the clock's lead over UTC, null if the text has
 * none.
 */
export type Written = { readonly local: number; readonly offset: number | null } | null

export const isoWritten = (text: string): Written =>
  text.length > MAX_TEXT ? null : readIsoTime(text, LOOSE_TIME)

/**
 * Reads `YYYY-MM-DDThh:mm[:ss[.s]][Z|±hh:mm]` as epoch seconds with a fraction cut off, or −1. A time without
 * a zone is `ahead` seconds ahead of UTC; null refuses it.
 */
export function isoTime(text: string, ahead: number | null = 0): number {
  const time = isoWritten(text)
  const offset = time?.offset ?? ahead
  return time === null || offset === null ? -1 : inRange(time.local - offset)
}

/** Beginnings of the names of months, in English and in other languages of networks. */
const MONTHS = [
  'jan ene gen',
  'feb fev',
  'mar maa mrt',
  'apr abr avr',
  'may mai mag mei maj',
  'jun juin giu',
  'jul juil lug',
  'aug ago aou',
  'sep set',
  'oct okt ott out',
  'nov',
  'dec dic dez des',
].map((words) => words.split(' '))

/** The month of a name in full or short, from 1; NaN for no month, and for two. */
function monthOf(word: string): number {
  const name = plainName(word)
  const begins = (beginning: string): boolean => name.startsWith(beginning)
  const found = MONTHS.flatMap((words, i) => (words.some(begins) ? [i + 1] : []))
  return found.length === 1 ? found[0] : NaN
}

/** The pattern of each word of a format, and the part of a time that it gives. */
const TOKENS: { readonly [token: string]: readonly [part: string, pattern: string] } = {
  YYYY: ['year', '\\d{4}'],
  YY: ['year', '\\d{2}'],
  MMM: ['month', '\\p{L}{3,10}\\.?'],
  MM: ['month', '\\d{1,2}'],
  DD: ['day', '\\d{1,2}'],
  HH: ['hour', '\\d{1,2}'],
  hh: ['hour', '\\d{1,2}'],
  mm: ['minute', '\\d{2}'],
  ss: ['second', '\\d{2}(?:\\.\\d{1,9})?'],
  A: ['half', '[ap]\\.?m\\.?'],
}
/** Pattern of a zone after a time. */
const ZONE = '[a-z]{1,5}(?: ?[+-]\\d{1,2}(?::?\\d\\d)?)?|[+-]\\d{1,2}:?\\d\\d'
/** Years of two digits from this one on are of the last century: no buoy measured before. */
const FIRST_SHORT_YEAR = 70
const TOKEN = /YYYY|YY|MMM|MM|DD|HH|hh|mm|ss|A/g

const tokensOf = (format: string): readonly string[] => format.match(TOKEN) ?? []

/** The pattern of times in a format such as `DD-MMM-YYYY HH:mm`; null for a text that is not a format. */
export function patternOf(format: string): RegExp | null {
  const tokens = tokensOf(format)
  const parts = tokens.map((token) => TOKENS[token][0])
  const isWhole = ['year', 'month', 'day'].every((part) => parts.includes(part))
  const isHalved = parts.includes('half') === tokens.includes('hh')
  if (!isWhole || !isHalved || new Set(parts).size < parts.length) return null
  if (!/^[-/., :T_]*$/.test(format.replaceAll(TOKEN, ''))) return null
  const digits = /YYYYMM|MMDD|DDMM/.test(format) ? '\\d{2}' : '\\d{1,2}'
  // Minutes in a column of their own may have one digit.
  const isApart = format.includes(' mm')
  const patternOfToken = (token: string): string => {
    const pattern = TOKENS[token][1].replace('\\d{1,2}', digits)
    return isApart && (token === 'mm' || token === 'ss') ? pattern.replace('\\d{2}', '\\d{1,2}') : pattern
  }
  const source = format
    .replaceAll(/[./]/g, '\\$&')
    .replaceAll(/ +/g, ' +')
    .replaceAll(TOKEN, (token) => `(${patternOfToken(token)})`)
  return new RegExp(`^${source}(?: ?(${ZONE}))?$`, 'iu')
}

/** The reader of times in a format; null for a text that is not a format. */
export function formatReader(format: string): ((text: string) => Written) | null {
  const pattern = patternOf(format)
  if (pattern === null) return null
  const tokens = tokensOf(format)
  const parts = tokens.map((token) => TOKENS[token][0])
  return (text) => {
    const found = text.length > MAX_TEXT ? null : pattern.exec(text)
    if (found === null) return null
    const part = (name: string): string => (parts.includes(name) ? found[parts.indexOf(name) + 1] : '0')
    const [year, day, hour, minute, second] = ['year', 'day', 'hour', 'minute', 'second'].map((name) =>
      Math.floor(Number(part(name))),
    )
    const month = tokens.includes('MMM') ? monthOf(part('month')) : Number(part('month'))
    if (!Number.isInteger(month) || (isTwelve(tokens) && (hour < 1 || hour > 12))) return null
    const clock = isTwelve(tokens) ? (hour % 12) + (/^p/i.test(part('half')) ? 12 : 0) : hour
    const century = year < FIRST_SHORT_YEAR ? 2000 : 1900
    const local = epochSeconds(year < 100 ? year + century : year, month, day, clock, minute, second)
    const zoneText = found.at(-1)
    // "+0100" behind a clock is a lead; other words are not.
    const lead = zoneText === undefined ? null : leadOf(zoneText.replace(/^([+-])/, 'UTC$1'))
    if (local < 0 || (zoneText !== undefined && lead === null)) return null
    return { local, offset: lead === null ? null : leadSeconds(lead) }
  }
}

const isTwelve = (tokens: readonly string[]): boolean => tokens.includes('hh')

/** Whether a text in one of the formats names its zone itself; null for one that is not a time in it. */
export function namesZone(text: string, format: string): boolean | null {
  const time = isIsoUnit(format) ? isoWritten(text) : formatReader(format)?.(text)
  return time == null ? null : time.offset !== null
}

/**
 * The reader of a station's times on the wall clock of a zone: −1 for a time that the clock skips. In an hour
 * that comes twice it takes the moment that continues the direction of the earlier times.
 */
function wallClockReader(read: (text: string) => Written, place: Zone): TimeReader {
  let last = -1
  let isFalling = false
  return (text) => {
    const time = read(text)
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

const isIsoUnit = (unit: string): boolean => /^(utc|gmt|iso ?8601|iso)?$/i.test(unit.trim())

/**
 * The reader of times in a unit: "UTC" or none is ISO 8601, "seconds since 1970-01-01T00:00:00Z" a count,
 * "DD-MMM-YYYY HH:mm" a format, any other null. `clock` is for times without a zone: their
 * seconds ahead of UTC, or the zone of their wall clock; then the reader is for one station.
 */
export function timeReader(unit: string, clock: number | Zone = 0): TimeReader | null {
  if (isIsoUnit(unit) && clock === 0) return isoTime
  const count = timeUnit(unit)
  const other = count === null ? formatReader(unit) : countWritten(count)
  const read = isIsoUnit(unit) ? isoWritten : other
  if (read === null) return null
  if (typeof clock !== 'number') return wallClockReader(read, clock)
  return (text) => {
    const time = read(text)
    return time === null ? -1 : inRange(time.local - (time.offset ?? clock))
  }
}

const countWritten =
  ({ start, step }: TimeUnit) =>
  (text: string): Written => {
    const count = numberOf(text) ?? NaN
    return Number.isNaN(count) ? null : { local: Math.round(start + count * step), offset: null }
  }

export const isTimeFormat = (unit: string): boolean => timeReader(unit) !== null
