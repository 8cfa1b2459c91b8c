/**
 * Strict parsers of decoded text; `MALFORMED` is text of another form. Lenient coercion would take `1e2`, `
 * 5` or `Infinity` for integers. Ranges and lists are left to the schema.
 */
import type { Bounds } from '../sea/geo.ts'
import { decimalOf, integerOf } from '../sea/numerals.ts'
import { DAY, HOUR, MINUTE, parseDate, parseTimestamp, type ParsedTime } from '../sea/time.ts'

export const MALFORMED = Symbol('malformed')
export type Malformed = typeof MALFORMED

/** Code points; names and identifiers are far shorter. */
export const MAX_TEXT = 100

/** `hasControlCharacter` negated, as a pattern of JSON Schema. */
export const WITHOUT_CONTROL_CHARACTERS = '^[^\\u0000-\\u001f\\u007f]*$'

/** Four names and numbers of any useful length. */
export const MAX_BOUNDS_TEXT = 400

/** Each word has room several times. */
export const MAX_WORDS_TEXT = 400

/** What a number of a duration counts; seconds without a letter. */
const DURATION = /^([1-9][0-9]{0,8})([smhd]?)$/
const SECONDS_OF: { readonly [letter: string]: number } = { '': 1, s: 1, m: MINUTE, h: HOUR, d: DAY }
/** `DURATION` as a pattern of JSON Schema. */
export const DURATION_PATTERN = '^[1-9][0-9]{0,8}[smhd]?$'

const TIME_OF_DAY = /^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/
const ZERO = 0x30
const COMMA = 0x2c

export interface LatLng {
  lat: number
  lng: number
}

export function parseInteger(text: string): number | Malformed {
  return numberOr(integerOf(text))
}

export function parseNumber(text: string): number | Malformed {
  return numberOr(decimalOf(text))
}

function numberOr(value: number): number | Malformed {
  return Number.isNaN(value) ? MALFORMED : value
}

/** `true`, `false`, `1` or `0`, in any case. */
export function parseBoolean(text: string): boolean | Malformed {
  if (/^(?:true|1)$/i.test(text)) return true
  return /^(?:false|0)$/i.test(text) ? false : MALFORMED
}

export function parsePlain(text: string): string | Malformed {
  return hasControlCharacter(text) ? MALFORMED : text
}

/** One of `words`; another short word comes back as it is, for the schema to refuse. */
export function parseWord<W extends string>(words: readonly W[], text: string): W | Malformed {
  const isWord = (words as readonly string[]).includes(text)
  return isWord || (!hasControlCharacter(text) && text.length <= MAX_TEXT) ? (text as W) : MALFORMED
}

function hasControlCharacter(value: string): boolean {
  // oxlint-disable-next-line no-control-regex -- refusing them is the point
  return /[\u0000-\u001f\u007f]/.test(value)
}

/** `now`, `now-24h`, `now+3d`; a plus that is not encoded arrives as a blank. */
export const MOVING_PATTERN = '^now([+-][0-9]{1,6}[mhd])?$'
const MOVING = /^now(?:([-+ ])([0-9]{1,6})([mhd]))?$/

/** `now`: what a time that moves is relative to, epoch seconds. */
export function parseTime(text: string, now: number): ParsedTime | Malformed {
  if (!text.startsWith('now')) return parseTimestamp(text) ?? MALFORMED
  const [, sign, count = '0', unit = 'm'] = MOVING.exec(text) ?? []
  if (sign === undefined && text !== 'now') return MALFORMED
  const seconds = Number(count) * SECONDS_OF[unit]
  return { epoch: sign === '-' ? now - seconds : now + seconds, wholeDay: false, moves: true }
}

/** Epoch seconds of the first second of `YYYY-MM-DD`, UTC. */
export function parseDay(text: string): number | Malformed {
  return parseDate(text) ?? MALFORMED
}

export function parseTimeOfDay(text: string): number | Malformed {
  return TIME_OF_DAY.test(text) ? Number(text.slice(0, 2)) * HOUR + Number(text.slice(3)) * MINUTE : MALFORMED
}

/** `lat,lng`. */
export function parsePoint(text: string): LatLng | Malformed {
  const [lat, lng = NaN, ...more] = text.split(',').map(decimalOf)
  return Number.isNaN(lat) || Number.isNaN(lng) || more.length > 0 ? MALFORMED : { lat, lng }
}

/** A JSON object with the numbers `north`, `south`, `east` and `west`. */
export function parseBounds(text: string): Bounds | Malformed {
  if (text.length > MAX_BOUNDS_TEXT) return MALFORMED
  const box = parseJsonObject(text)
  if (box === null) return MALFORMED
  const { north, south, east, west } = box
  if (!isFiniteNumber(north) || !isFiniteNumber(south) || !isFiniteNumber(east) || !isFiniteNumber(west)) {
    return MALFORMED
  }
  return south > north ? MALFORMED : { north, south, east, west }
}

/** `west,south,east,north`. */
export function parseBbox(text: string): Bounds | Malformed {
  const sides = text.split(',', 5).map(decimalOf)
  if (sides.length !== 4 || !sides.every(Number.isFinite)) return MALFORMED
  const [west, south, east, north] = sides
  return south > north ? MALFORMED : { north, south, east, west }
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function parseJsonObject(value: string): { [key: string]: unknown } | null {
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as { [key: string]: unknown })
      : null
  } catch {
    return null
  }
}

/** Integers that are not negative, separated by commas; those beyond 2^53 are not exact. */
export function parseIntegers(text: string): number[] | Malformed {
  const values: number[] = []
  let value = NaN
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - ZERO
    if (digit >= 0 && digit <= 9) value = value >= 0 ? value * 10 + digit : digit
    else if (digit === COMMA - ZERO && value >= 0) {
      values.push(value)
      value = NaN
    } else return MALFORMED
  }
  if (!(value >= 0)) return MALFORMED
  values.push(value)
  return values
}

/** Texts without control characters, separated by commas. */
export function parseTexts(text: string): string[] | Malformed {
  return hasControlCharacter(text) ? MALFORMED : text.split(',')
}

/** Some of `words`, separated by commas, as a number with a bit for each, the first word's the lowest. */
export function parseWordSet(words: readonly string[], text: string): number | Malformed {
  if (text.length > MAX_WORDS_TEXT) return MALFORMED
  let set = 0
  for (const word of text.split(',')) {
    const index = words.indexOf(word)
    if (index === -1) return MALFORMED
    set |= 1 << index
  }
  return set
}

/** `90`, `90s`, `15m`, `2h` or `7d` as seconds. */
export function parseDuration(text: string): number | Malformed {
  const match = DURATION.exec(text)
  return match === null ? MALFORMED : Number(match[1]) * SECONDS_OF[match[2]]
}
