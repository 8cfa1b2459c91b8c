/** Numbers, codes of measured columns and compass points as text, a few digits a store. */
import { type Measure, MISSING_I16, MISSING_U16 } from '../sea/columns.ts'
import { ShortTexts, wordsOf } from './literals.ts'
import { civilFromDays, DAY, MINUTE } from '../sea/time.ts'

const COMPASS = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ')
/** Compass points by `compassIndex`. A full turn is north again, and the missing code falls on the last. */
export const COMPASS_TEXT = ShortTexts.make(30, (index) => (index > 16 ? 'null' : `"${COMPASS[index & 15]}"`))

/** Compass point (16 points, 11.25° is NNE) of a direction in hundredths of a degree. */
export function compassPoint(hundredths: number): string {
  return COMPASS[compassIndex(hundredths) & 15]
}

/** Index into `COMPASS_TEXT` of a direction in hundredths of a degree or of its missing code. */
export function compassIndex(hundredths: number): number {
  return ((hundredths + 1125) / 2250) >>> 0
}

const fourCharacters = (text: string): number =>
  text.charCodeAt(0) | (text.charCodeAt(1) << 8) | (text.charCodeAt(2) << 16) | (text.charCodeAt(3) << 24)

/** `0042` and `002a`, four ASCII characters in 32 bits. */
export const FOUR_DIGITS = Uint32Array.from({ length: 10000 }, (_, n) =>
  fourCharacters(String(n).padStart(4, '0')),
)
/** `2a`, two ASCII characters in 16 bits. */
const TWO_HEX = Uint16Array.from(
  { length: 256 },
  (_, n) => fourCharacters(n.toString(16).padStart(4, '0')) >>> 16,
)

export function fourHex(value: number): number {
  return TWO_HEX[value >>> 8] | (TWO_HEX[value & 0xff] << 16)
}

/** Whole numbers below 10,000 without leading zeros, and how many digits they have. */
export const SHORT_INTEGERS = {
  words: FOUR_DIGITS.map((digits, n) => digits >>> ((4 - String(n).length) * 8)),
  lengths: Uint8Array.from({ length: 10000 }, (_, n) => String(n).length),
}

/** The text after the whole part: nothing, `.5`, `.05`. */
export const HUNDREDTH_TEXT = {
  words: Uint32Array.from({ length: 100 }, (_, n) => fourCharacters(behindPoint(n).padEnd(4, '\0'))),
  lengths: Uint8Array.from({ length: 100 }, (_, n) => behindPoint(n).length),
}

/** `.005`, four characters, and how many are left without zeros at the end: none, `.5`, `.05`. */
export const THOUSANDTH_TEXT = {
  words: Uint32Array.from({ length: 1000 }, (_, n) => fourCharacters(`.${String(n).padStart(3, '0')}`)),
  lengths: Uint8Array.from({ length: 1000 }, (_, n) => String(n / 1000).length - 1),
}

function behindPoint(hundredths: number): string {
  return String(hundredths / 100).slice(1)
}

const DASH = 0x2d
/** `null` in little-endian bytes. */
const NULL = 0x6c6c756e

/** Writes thousandths (heights, periods) at `at`, and up to four bytes more. @returns where the text ends */
export function writeThousandths(view: DataView, at: number, code: number): number {
  if (code === MISSING_U16) return writeNull(view, at)
  const whole = (code / 1000) >>> 0
  const rest = code - whole * 1000
  view.setUint32(at, SHORT_INTEGERS.words[whole], true)
  const point = at + SHORT_INTEGERS.lengths[whole]
  view.setUint32(point, THOUSANDTH_TEXT.words[rest], true)
  return point + THOUSANDTH_TEXT.lengths[rest]
}

/** Writes hundredths (directions) in the same way as thousandths. */
export function writeHundredths(view: DataView, at: number, code: number): number {
  return code === MISSING_U16 ? writeNull(view, at) : writePositive(view, at, code)
}

/** Writes signed hundredths (temperatures) in the same way as thousandths. */
export function writeSignedHundredths(view: DataView, at: number, code: number): number {
  if (code >= 0) return writePositive(view, at, code)
  if (code === MISSING_I16) return writeNull(view, at)
  view.setUint8(at, DASH)
  return writePositive(view, at + 1, -code)
}

function writePositive(view: DataView, at: number, hundredths: number): number {
  const whole = (hundredths / 100) >>> 0
  const rest = hundredths - whole * 100
  view.setUint32(at, SHORT_INTEGERS.words[whole], true)
  const point = at + SHORT_INTEGERS.lengths[whole]
  view.setUint32(point, HUNDREDTH_TEXT.words[rest], true)
  return point + HUNDREDTH_TEXT.lengths[rest]
}

function writeNull(view: DataView, at: number): number {
  view.setUint32(at, NULL, true)
  return at + 4
}

/**
 * Texts of all codes, half a megabyte a table, for rows that come together. A single row is written faster by
 * the functions above: one look into a large table usually misses the processor's cache.
 */

/** Columns of thousandths (heights, periods): the number, or `null` for the missing code. */
export const THOUSANDTHS = ShortTexts.shared('texts of thousandths', 65536, writeThousandths)
/** Unsigned columns of hundredths (directions). */
export const HUNDREDTHS = ShortTexts.shared('texts of hundredths', 65536, writeHundredths)
/** Signed columns of hundredths (temperature), indexed by the code's 16 bits. */
export const SIGNED_HUNDREDTHS = ShortTexts.shared('texts of signed hundredths', 65536, (view, at, bits) =>
  writeSignedHundredths(view, at, (bits << 16) >> 16),
)
/** Unsigned columns of tenths (pressure). */
const TENTHS = ShortTexts.shared('texts of tenths', 65536, (view, at, code) =>
  code === MISSING_U16 ? writeNull(view, at) : writePositive(view, at, code * 10),
)

/** The texts of a column's codes, by their 16 bits. */
export function codeTexts({ scale, signed }: Pick<Measure, 'scale' | 'signed'>): ShortTexts {
  if (signed) return SIGNED_HUNDREDTHS
  if (scale === 10) return TENTHS
  return scale === 1000 ? THOUSANDTHS : HUNDREDTHS
}

// Dates and times.
const Z = 0x5a
/** `-` before and after two digits. */
const DASHES = 0x2d00002d
const MINUTES_A_DAY = DAY / MINUTE
/** `T09:30:0` of each minute of a day. */
const MINUTE_WORDS = wordsOf(
  Array.from({ length: MINUTES_A_DAY }, (_, minute) => `T${clockText(minute)}:0`).join(''),
)

/** The day that was written last: most times of an answer are of a few days. */
let knownDay = NaN
/** `2026-03-` of it in eight bytes, and in two halves. */
const yearAndMonth = new Float64Array(1)
const yearAndMonthHalves = new Uint32Array(yearAndMonth.buffer)
let dayWord = 0
let monthWord = 0

function know(day: number): void {
  const { year, month, day: dayOfMonth } = civilFromDays(day)
  knownDay = day
  yearAndMonthHalves[0] = FOUR_DIGITS[year]
  yearAndMonthHalves[1] = DASHES | (twoDigits(month) << 8)
  dayWord = twoDigits(dayOfMonth)
  monthWord = MONTH_WORDS[month - 1]
}

function twoDigits(value: number): number {
  return FOUR_DIGITS[value] >>> 16
}

/** `2026-03-27T09:00:00Z`, 20 bytes, of whole epoch seconds from 0 to 2^32 − 1. */
export function writeTime(view: DataView, at: number, epoch: number): void {
  const minutes = (epoch / MINUTE) >>> 0
  const day = (minutes / MINUTES_A_DAY) >>> 0
  if (day !== knownDay) know(day)
  view.setFloat64(at, yearAndMonth[0], true)
  view.setUint16(at + 8, dayWord, true)
  view.setFloat64(at + 10, MINUTE_WORDS[minutes - day * MINUTES_A_DAY], true)
  view.setUint16(at + 17, twoDigits(epoch - minutes * MINUTE), true)
  view.setUint8(at + 19, Z)
}

function clockText(minutes: number): string {
  const text = (value: number): string => String(value).padStart(2, '0')
  return `${text(Math.floor(minutes / 60))}:${text(minutes % 60)}`
}

const COLON = 0x3a
export const CLOCK_BYTES = 5

/** `05:00` of a whole number of minutes below 6,000. */
export function writeClock(view: DataView, at: number, minutes: number): void {
  const hours = (minutes / 60) >>> 0
  view.setUint16(at, twoDigits(hours), true)
  view.setUint8(at + 2, COLON)
  view.setUint16(at + 3, twoDigits(minutes - hours * 60), true)
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
/** `Mar ` in 32 bits. */
const MONTH_WORDS = MONTHS.map((month) => Buffer.from(`${month} `).readUInt32LE())
export const DAY_LABEL_BYTES = 6

/** `Mar 27` of a day since 1970. */
export function writeDayLabel(view: DataView, at: number, day: number): void {
  if (day !== knownDay) know(day)
  view.setUint32(at, monthWord, true)
  view.setUint16(at + 4, dayWord, true)
}
