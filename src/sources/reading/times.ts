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

/**
 * Seconds from 1970 on the clock that a text has, and how far this is ahead of UTC, null where it does not
 * say.
 */
type Written = { readonly local: number; readonly offset: number | null } | null

const isoWritten = (text: string): Written => (text.length > MAX_TEXT ? null : readIsoTime(text, LOOSE_TIME))

/**
 * Reads `YYYY-MM-DDThh:mm[:ss[.s]][Z|±hh:mm]` as epoch seconds with a fraction cut off, or −1. A time without
 * a zone is `ahead` seconds ahead of UTC; null refuses it.
 */
export function isoTime(text: string, ahead: number | null = 0): number {
  const time = isoWritten(text)
  const offset = time?.offset ?? ahead
  return time === null || offset === null ? -1 : inRange(time.local - offset)
}

const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec'

/** The pattern of each word of a format, and the part of a time that it gives. */
const TOKENS: { readonly [token: string]: readonly [part: string, pattern: string] } = {
  YYYY: ['year', '\\d{4}'],
  YY: ['year', '\\d{2}'],
  MMM: ['month', '[a-z]{3,9}\\.?'],
  MM: ['month', '\\d{1,2}'],
  DD: ['day', '\\d{1,2}'],
  HH: ['hour', '\\d{1,2}'],
  hh: ['hour', '\\d{1,2}'],
  mm: ['minute', '\\d{2}'],
  ss: ['second', '\\d{2}(?:\\.\\d{1,9})?'],
  A: ['half', '[ap]\\.?m\\.?'],
}
const TOKEN = /YYYY|YY|MMM|MM|DD|HH|hh|mm|ss|A/g

/** The reader of times in a format such as `DD-MMM-YYYY HH:mm`; null for a text that is not a format. */
function formatReader(format: string): ((text: string) => Written) | null {
  const tokens: readonly string[] = format.match(TOKEN) ?? []
  const parts = tokens.map((token) => TOKENS[token][0])
  const isWhole = ['year', 'month', 'day'].every((part) => parts.includes(part))
  const isHalved = parts.includes('half') === tokens.includes('hh')
  if (!isWhole || !isHalved || new Set(parts).size < parts.length) return null
  if (!/^[-/., :T_]*$/.test(format.replaceAll(TOKEN, ''))) return null
  const digits = /YYYYMM|MMDD/.test(format) ? '\\d{2}' : '\\d{1,2}'
  const source = format
    .replaceAll(/[./]/g, '\\$&')
    .replaceAll(/ +/g, ' +')
    .replaceAll(TOKEN, (token) => `(${TOKENS[token][1].replace('\\d{1,2}', digits)})`)
  const pattern = new RegExp(`^${source}(?: ?(?:Z|UTC|GMT))?$`, 'i')
  return (text) => {
    const found = text.length > MAX_TEXT ? null : pattern.exec(text)
    if (found === null) return null
    const part = (name: string): string => (parts.includes(name) ? found[parts.indexOf(name) + 1] : '0')
    const [year, day, hour, minute, second] = ['year', 'day', 'hour', 'minute', 'second'].map((name) =>
      Math.floor(Number(part(name))),
    )
    const word = part('month').slice(0, 3).toLowerCase()
    const month = tokens.includes('MMM') ? MONTHS.indexOf(word) / 3 + 1 : Number(word)
    if (!Number.isInteger(month) || (isTwelve(tokens) && (hour < 1 || hour > 12))) return null
    const clock = isTwelve(tokens) ? (hour % 12) + (/^p/i.test(part('half')) ? 12 : 0) : hour
    const local = epochSeconds(year < 100 ? year + 2000 : year, month, day, clock, minute, second)
    return local < 0 ? null : { local, offset: /(?:Z|UTC|GMT)$/i.test(text) ? 0 : null }
  }
}

const isTwelve = (tokens: readonly string[]): boolean => tokens.includes('hh')

const DATES = [
  'YYYY-MM-DD',
  'YYYY/MM/DD',
  'YYYYMMDD',
  'DD/MM/YYYY',
  'MM/DD/YYYY',
  'DD-MM-YYYY',
  'MM-DD-YYYY',
  'DD.MM.YYYY',
].concat(['DD-MMM-YYYY', 'DD/MMM/YYYY', 'DD MMM YYYY', 'DD-MMM-YY', 'DD/MM/YY', 'MM/DD/YY'])
const HOURS = ['', ' HH', ' HH:mm', ' HH:mm:ss', ' HHmm', 'HHmm', 'HHmmss', ' hh:mm A', ' hh:mm:ss A']

/**
 * The formats that read most of the texts, `ISO` alone where it reads them all: several where day and month
 * can be either. None where fewer than half are read, and where other formats read what these do not: dates
 * in two orders.
 */
export function formatsOf(texts: readonly string[]): string[] {
  const counts = ['seconds', 'milliseconds'].map((unit) => `${unit} since 1970-01-01`)
  if (texts.every((text) => /^\d{9,10}$/.test(text))) return [counts[0]]
  if (texts.every((text) => /^\d{12,13}$/.test(text))) return [counts[1]]
  const all = ['ISO', ...DATES.flatMap((date) => HOURS.map((hour) => date + hour))].flatMap((format) => {
    const read = format === 'ISO' ? isoWritten : formatReader(format)!
    const unread = texts.filter((text) => read(text) === null)
    return unread.length === texts.length ? [] : [{ format, unread }]
  })
  const least = Math.min(...all.map(({ unread }) => unread.length))
  const best = all.filter(({ unread }) => unread.length === least)
  const isMixed = best.some(({ unread }) =>
    unread.some((text) => all.some((other) => !other.unread.includes(text))),
  )
  const formats = isMixed || least * 2 > texts.length ? [] : best.map(({ format }) => format)
  return formats.includes('ISO') ? ['ISO'] : formats
}

/** Whether a text in one of the formats names its zone itself; null for one that is not a time in it. */
export function namesZone(text: string, format: string): boolean | null {
  const time = isIsoUnit(format) ? isoWritten(text) : formatReader(format)?.(text)
  return time == null ? null : time.offset !== null
}

/**
 * The reader of a station's times on the wall clock of a zone: −1 for one that the clock leaps over. Of the
 * two moments of an hour that comes twice, it takes the one that goes on in the direction of the times
 * before.
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
