/**
 * Values and times in whatever unit a table of measurements says that they are in, as self-describing formats
 * give them.
 *
 * Such tables carry computed floats with more digits than mean anything ("13.333333"), so values are rounded
 * once, to the code of their column; a unit that is not known here is never guessed.
 */
import { MEASURES, type MeasureName } from '../../sea/columns.ts'
import type { FileReport } from '../source.ts'
import { epochSeconds, NO_CODE } from './text.ts'

/** One of the contract's units is `value × factor + offset`. */
interface Conversion {
  readonly factor: number
  readonly offset: number
}

type Conversions = { readonly [unit: string]: number | Conversion }

/** By the contract's unit; keys as `normal` leaves them. */
const CONVERSIONS: { readonly [unit: string]: Conversions } = {
  m: {
    ...names(1, 'm', 'meter', 'meters', 'metre', 'metres'),
    ...names(0.1, 'dm', 'decimeter', 'decimeters', 'decimetre', 'decimetres'),
    ...names(0.01, 'cm', 'centimeter', 'centimeters', 'centimetre', 'centimetres'),
    ...names(0.001, 'mm', 'millimeter', 'millimeters', 'millimetre', 'millimetres'),
    ...names(0.3048, 'ft', 'foot', 'feet', 'international foot', 'international feet'),
  },
  s: {
    ...names(1, 's', 'sec', 'secs', 'second', 'seconds'),
    ...names(0.001, 'ms', 'msec', 'millisecond', 'milliseconds'),
  },
  degree: {
    ...names(1, '°', 'deg', 'degree', 'degrees', 'degt', 'deg true', 'angular degree', 'angular degrees'),
    ...names(1, 'degree true', 'degrees true', 'degree t', 'degrees t', 'arc degree'),
    ...names(180 / Math.PI, 'rad', 'radian', 'radians'),
  },
  '°C': {
    ...names(1, '°c', 'c', 'celsius', 'deg c', 'degc', 'degree c', 'degrees c', 'degree celsius'),
    ...names(1, 'degrees celsius', 'deg celsius'),
    ...names(
      { factor: 1, offset: -273.15 },
      'k',
      'kelvin',
      'kelvins',
      'degk',
      'deg k',
      'degree k',
      'degrees k',
      'degree kelvin',
      'degrees kelvin',
    ),
    ...names(
      { factor: 5 / 9, offset: -160 / 9 },
      '°f',
      'fahrenheit',
      'degf',
      'deg f',
      'degree f',
      'degrees f',
      'degree fahrenheit',
      'degrees fahrenheit',
    ),
  },
  'km/h': {
    ...names(1, 'km/h', 'km/hr', 'km/hour', 'kph', 'kilometer/hour', 'kilometers/hour', 'kilometre/hour'),
    ...names(1, 'kilometres/hour'),
    ...names(3.6, 'm/s', 'm/sec', 'mps', 'meter/second', 'meters/second', 'metre/second', 'metres/second'),
    ...names(0.036, 'cm/s', 'cm/sec', 'centimeters/second', 'centimetres/second'),
    ...names(1.852, 'kn', 'kt', 'kts', 'knot', 'knots', 'nautical miles/hour', 'international knot'),
    ...names(1.609344, 'mph', 'mp/h', 'mi/h', 'mile/hour', 'miles/hour'),
  },
}

function names(conversion: number | Conversion, ...units: string[]): Conversions {
  return Object.fromEntries(units.map((unit) => [unit, conversion]))
}

/** "m s-1", "m.s**-1", "meters per second", "degrees_C" in one spelling of each. */
function normal(unit: string): string {
  return unit
    .slice(0, 60)
    .toLowerCase()
    .replaceAll(/\*\*|\^/g, '')
    .replaceAll('⁻¹', '-1')
    .replaceAll('º', '°')
    .replaceAll(/[\s._]+/g, ' ')
    .trim()
    .replace(/ (s|sec|second|h|hr|hour)-1$/, '/$1')
    .replace(/ ?(?:\/| per ) ?/, '/')
    .replace(/^° ([cf])$/, '°$1')
}

/** Whether values of the measure can be read in this unit. */
function isKnownUnit(measure: MeasureName, unit: string): boolean {
  return Object.hasOwn(CONVERSIONS[MEASURES[measure].unit], normal(unit))
}

/** How the values of one column of a table become codes of a measure. */
export interface ValueColumn {
  readonly name: MeasureName
  readonly factor: number
  readonly offset: number
  /** 180 where the column says where waves or wind go to. */
  readonly turn: number
  /** Values that mark "missing", in the table's unit. */
  readonly missing: readonly number[]
  readonly scale: number
  /** Limits as codes. */
  readonly min: number
  readonly max: number
  readonly isDirection: boolean
  readonly outside: string
}

export interface ValueOptions {
  missing?: readonly number[]
  /** The column says where waves or wind go to, not where they come from. */
  goesTo?: boolean
}

/**
 * Describes the column `label` with values of `name` in `unit`; null where that is no known unit of such a
 * measure.
 */
export function valueColumn(
  name: MeasureName,
  label: string,
  unit: string,
  { missing = [], goesTo = false }: ValueOptions = {},
): ValueColumn | null {
  if (!isKnownUnit(name, unit)) return null
  const { scale, min, max, unit: measured } = MEASURES[name]
  const conversion = CONVERSIONS[measured][normal(unit)]
  const { factor, offset } = typeof conversion === 'number' ? { factor: conversion, offset: 0 } : conversion
  return {
    name,
    factor,
    offset,
    turn: goesTo ? 180 : 0,
    missing,
    scale,
    min: Math.round(min * scale),
    max: Math.round(max * scale),
    isDirection: measured === 'degree',
    outside: `${label} outside ${min} to ${max} ${measured}`,
  }
}

/**
 * The code of a value in the column's unit, NO_CODE where it marks "missing" or is not finite, or lies beyond
 * the measure's limits, which is counted as skipped.
 */
export function codeOf(column: ValueColumn, value: number, file: FileReport): number {
  if (!Number.isFinite(value)) return NO_CODE
  for (const marker of column.missing) {
    // A marker kept as a 32-bit float is written with seven digits, here and there differently.
    if (Math.abs(value - marker) <= Math.abs(marker) * 1e-6) return NO_CODE
  }
  let converted = value * column.factor + column.offset
  if (column.isDirection) {
    // A full turn either way is notation; anything farther is a marker of missing values.
    if (Math.abs(converted) > 360) {
      file.skipped(column.outside)
      return NO_CODE
    }
    converted = (converted + column.turn + 360) % 360
  }
  let code = roundHalfUp(converted * column.scale)
  if (column.isDirection && code === 360 * column.scale) code = 0
  if (code >= column.min && code <= column.max) return code
  file.skipped(column.outside)
  return NO_CODE
}

/**
 * As one rounds by hand: products of binary fractions come out a few last bits below the half that their
 * decimals make.
 */
function roundHalfUp(value: number): number {
  return Math.sign(value) * Math.floor(Math.abs(value) * (1 + 4 * Number.EPSILON) + 0.5)
}

/**
 * Reads a number as tables write them ("-1.5", "9.96921E36"); NaN for nothing, "NaN" and "null", null for
 * anything else.
 */
export function numberOf(text: string): number | null {
  if (text === '' || text === 'NaN' || text === 'null') return NaN
  if (text.length > 40 || !/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i.test(text)) return null
  return Number(text)
}

/** Powers of ten that a float holds exactly. */
const TENS = Array.from({ length: 16 }, (_, i) => 10 ** i)

/**
 * As `numberOf`, of bytes: up to 15 digits are the quotient of two exact floats, so they are rounded once, as
 * `Number` does.
 */
export function numberAt(bytes: Buffer, from: number, to: number): number | null {
  let at = from
  const negative = bytes[at] === 45
  if (negative) at++
  let value = 0
  let digits = 0
  let decimals = 0
  let isFraction = false
  for (; at < to && digits < 16; at++) {
    const digit = bytes[at] - 48
    if (digit === -2 && !isFraction) isFraction = true
    else if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit
      digits++
      if (isFraction) decimals++
    } else break
  }
  if (at < to || digits === 0 || digits > 15) return numberOf(bytes.toString('latin1', from, to))
  return (negative ? -value : value) / TENS[decimals]
}

const ISO_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)? ?(?:(Z|UTC)|([+-])(\d\d)(?::?(\d\d))?)?$/i

/**
 * Reads `YYYY-MM-DDThh:mm[:ss[.s]][Z|±hh:mm]` as whole epoch seconds (a fraction is cut off), or −1. Without
 * a mark of its zone the time is `offset` seconds ahead of UTC.
 */
export function isoTime(text: string, offset = 0): number {
  const plain = text.length === 20 ? plainIsoTime(text) : -1
  if (plain >= 0) return plain
  const match = text.length <= 50 ? ISO_TIME.exec(text) : null
  if (match === null) return -1
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((digits) => Number(digits ?? 0))
  const local = epochSeconds(year, month, day, hour, minute, second)
  if (local < 0) return -1
  const [, , , , , , , utc, sign, hours, minutes] = match
  let ahead = utc === undefined ? offset : 0
  if (sign !== undefined) {
    if (Number(hours) > 23 || Number(minutes ?? 0) > 59) return -1
    ahead = (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes ?? 0) * 60)
  }
  return inRange(local - ahead)
}

/** `YYYY-MM-DDThh:mm:ssZ`, as servers write nearly all of their times, or −1 for anything else. */
function plainIsoTime(text: string): number {
  for (const [at, mark] of PLAIN_MARKS) if (text[at] !== mark) return -1
  const number = (from: number, to: number): number => {
    let value = 0
    for (let at = from; at < to; at++) {
      const digit = text.charCodeAt(at) - 48
      if (digit < 0 || digit > 9) return -1
      value = value * 10 + digit
    }
    return value
  }
  return epochSeconds(
    number(0, 4),
    number(5, 7),
    number(8, 10),
    number(11, 13),
    number(14, 16),
    number(17, 19),
  )
}

const PLAIN_MARKS = [
  [4, '-'],
  [7, '-'],
  [10, 'T'],
  [13, ':'],
  [16, ':'],
  [19, 'Z'],
] as const

function inRange(seconds: number): number {
  return seconds >= 0 && seconds <= 0xffff_ffff ? seconds : -1
}

const SINCE =
  /^([a-z]+) since (\d{4}-\d\d?-\d\d?)(?:[T ](\d\d?:\d\d)(?::(\d\d?)(?:\.\d+)?)?)? ?(?:Z|UTC|GMT|[+-]?0?0:?00)?$/i

const SECONDS_OF: Conversions = {
  ...names(0.001, 'milliseconds', 'millisecond', 'msec', 'ms'),
  ...names(1, 'seconds', 'second', 'secs', 'sec', 's'),
  ...names(60, 'minutes', 'minute', 'mins', 'min'),
  ...names(3600, 'hours', 'hour', 'hrs', 'hr', 'h'),
  ...names(86_400, 'days', 'day', 'd'),
}

/** Reads a cell of a column of times as epoch seconds, or −1. */
export type TimeReader = (text: string) => number

/**
 * The reader of times in a unit: "UTC" (or none) is ISO 8601, "seconds since 1970-01-01T00:00:00Z" and its
 * like are counts, which are rounded to the second. Null for any other unit. Times without a mark are
 * `offset` seconds ahead of UTC.
 */
export function timeReader(unit: string, offset = 0): TimeReader | null {
  if (/^(utc|gmt|iso ?8601)?$/i.test(unit.trim())) return (text) => isoTime(text, offset)
  const [, step, date, clock, second] = (unit.length <= 80 && SINCE.exec(unit.trim())) || []
  if (step === undefined || !Object.hasOwn(SECONDS_OF, step.toLowerCase())) return null
  const seconds = SECONDS_OF[step.toLowerCase()] as number
  const [hour, minute] = (clock ?? '00:00').split(':').map(Number)
  const [year, month, day] = date.split('-').map(Number)
  // The count may begin before 1970, where `epochSeconds` gives up.
  const start = new Date(Date.UTC(year, month - 1, day, hour, minute, Number(second ?? 0)))
  if (start.getUTCMonth() !== month - 1 || start.getUTCDate() !== day || hour > 23) return null
  return (text) => {
    const count = numberOf(text)
    return count === null || Number.isNaN(count)
      ? -1
      : inRange(Math.round(start.getTime() / 1000 + count * seconds))
  }
}
