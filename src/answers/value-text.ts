/**
 * Strict parsers of a parameter's decoded text. Each reads what stands in [from, to) of a longer text, in
 * place: cutting values out is most of what a query would cost. A parser answers `MALFORMED` where the text
 * is not of the parameter's form; ranges and lists are left to the schema.
 *
 * They are our own because lenient coercion takes `1e2`, ` 5` or `Infinity` for integers.
 */
import type { Bounds } from '../sea/geo.ts'
import { decimalAt, digitsAt, integerAt } from '../sea/numerals.ts'
import { DAY, HOUR, MINUTE, parseDate, parseTimestamp, type ParsedTime } from '../sea/time.ts'

/** The text is not of the parameter's form. */
export const MALFORMED = Symbol('malformed')
export type Malformed = typeof MALFORMED

/** Longest plain text we take, in code points: names and identifiers are far shorter. */
export const MAX_TEXT = 100

/** `hasControlCharacter` negated, as a pattern of JSON Schema. */
export const WITHOUT_CONTROL_CHARACTERS = '^[^\\u0000-\\u001f\\u007f]*$'

/** Longest JSON text of a box: four names and numbers of any useful length. */
export const MAX_BOUNDS_TEXT = 400

/** More digits than any number needs; the schema refuses what is out of range. */
const MAX_DIGITS = 400

/** Difference between a small letter of ASCII and its capital. */
const LOWER_TO_UPPER = 0x20

/** Longest list of words: each of them several times over. */
export const MAX_WORDS_TEXT = 400

/** What a number of a duration counts; seconds without a letter. */
const DURATION = /^([1-9][0-9]{0,8})([smhd]?)$/
const SECONDS_OF: { readonly [letter: string]: number } = { '': 1, s: 1, m: MINUTE, h: HOUR, d: DAY }
/** As a pattern of JSON Schema. */
export const DURATION_PATTERN = '^[1-9][0-9]{0,8}[smhd]?$'

const COLON = 0x3a
const COMMA = 0x2c
const MINUS = 0x2d

/** Decimal degrees. */
export interface LatLng {
  lat: number
  lng: number
}

export function parseInteger(text: string, from: number, to: number): number | Malformed {
  return numberOr(integerAt(text, from, to))
}

export function parseNumber(text: string, from: number, to: number): number | Malformed {
  return numberOr(decimalAt(text, from, to))
}

function numberOr(value: number): number | Malformed {
  return Number.isNaN(value) ? MALFORMED : value
}

/** `true`, `false`, `1` or `0`, in any case. */
export function parseBoolean(text: string, from: number, to: number): boolean | Malformed {
  if (isLetters('true', text, from, to) || isWord('1', text, from, to)) return true
  return isLetters('false', text, from, to) || isWord('0', text, from, to) ? false : MALFORMED
}

/** Whether `word` stands in [from, to). */
export function isWord(word: string, text: string, from: number, to: number): boolean {
  return word.length === to - from && text.startsWith(word, from)
}

/** Whether `letters`, lower case ASCII, stand in [from, to) in any case. */
function isLetters(letters: string, text: string, from: number, to: number): boolean {
  if (letters.length !== to - from) return false
  for (let i = 0; i < letters.length; i++) {
    const lower = letters.charCodeAt(i)
    const found = text.charCodeAt(from + i)
    if (found !== lower && found !== lower - LOWER_TO_UPPER) return false
  }
  return true
}

export function parsePlain(text: string, from: number, to: number): string | Malformed {
  const value = text.slice(from, to)
  return hasControlCharacter(value) ? MALFORMED : value
}

/** One of `words`; another short word comes back as it is, for the schema to refuse. */
export function parseWord<W extends string>(
  words: readonly W[],
  text: string,
  from: number,
  to: number,
): W | Malformed {
  for (const word of words) if (isWord(word, text, from, to)) return word
  const value = text.slice(from, to)
  return hasControlCharacter(value) || value.length > MAX_TEXT ? MALFORMED : (value as W)
}

function hasControlCharacter(value: string): boolean {
  // oxlint-disable-next-line no-control-regex -- refusing them is the point
  return /[\u0000-\u001f\u007f]/.test(value)
}

export function parseTime(text: string, from: number, to: number): ParsedTime | Malformed {
  return parseTimestamp(text, from, to) ?? MALFORMED
}

/** `YYYY-MM-DD` as epoch seconds of the day's first second, UTC. */
export function parseDay(text: string, from: number, to: number): number | Malformed {
  return parseDate(text, from, to) ?? MALFORMED
}

/** `HH:MM` as seconds of the day. */
export function parseTimeOfDay(text: string, from: number, to: number): number | Malformed {
  const hour = digitsAt(text, from, 2)
  const minute = digitsAt(text, from + 3, 2)
  const isTime =
    to - from === 5 &&
    text.charCodeAt(from + 2) === COLON &&
    hour >= 0 &&
    hour < 24 &&
    minute >= 0 &&
    minute < 60
  return isTime ? hour * HOUR + minute * MINUTE : MALFORMED
}

/** `lat,lng`. */
export function parsePoint(text: string, from: number, to: number): LatLng | Malformed {
  const comma = text.indexOf(',', from)
  if (comma === -1 || comma >= to) return MALFORMED
  const lat = decimalAt(text, from, comma)
  const lng = decimalAt(text, comma + 1, to)
  return Number.isNaN(lat) || Number.isNaN(lng) ? MALFORMED : { lat, lng }
}

/** A JSON object with the numbers `north`, `south`, `east` and `west`. */
export function parseBounds(text: string, from: number, to: number): Bounds | Malformed {
  if (to - from > MAX_BOUNDS_TEXT) return MALFORMED
  const box = parseJsonObject(text.slice(from, to))
  if (box === null) return MALFORMED
  const { north, south, east, west } = box
  if (!isFiniteNumber(north) || !isFiniteNumber(south) || !isFiniteNumber(east) || !isFiniteNumber(west)) {
    return MALFORMED
  }
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

/** Integers that are not negative, separated by commas. */
export function parseIntegers(text: string, from: number, to: number): number[] | Malformed {
  const values: number[] = []
  for (let at = from; at <= to;) {
    let end = at
    while (end < to && text.charCodeAt(end) !== COMMA) end++
    const value = end - at > MAX_DIGITS ? NaN : integerAt(text, at, end)
    // A sign is refused even before a zero.
    if (!(value >= 0) || text.charCodeAt(at) === MINUS) return MALFORMED
    values.push(value)
    at = end + 1
  }
  return values
}

/** Texts without control characters, separated by commas. */
export function parseTexts(text: string, from: number, to: number): string[] | Malformed {
  const value = text.slice(from, to)
  return hasControlCharacter(value) ? MALFORMED : value.split(',')
}

/** Some of `words`, separated by commas, as a number with a bit for each, the first word's the lowest. */
export function parseWordSet(
  words: readonly string[],
  text: string,
  from: number,
  to: number,
): number | Malformed {
  if (to - from > MAX_WORDS_TEXT) return MALFORMED
  let set = 0
  for (const word of text.slice(from, to).split(',')) {
    const index = words.indexOf(word)
    if (index === -1) return MALFORMED
    set |= 1 << index
  }
  return set
}

/** `90`, `90s`, `15m`, `2h` or `7d` as seconds. */
export function parseDuration(text: string, from: number, to: number): number | Malformed {
  const match = DURATION.exec(text.slice(from, to))
  return match === null ? MALFORMED : Number(match[1]) * SECONDS_OF[match[2]]
}
