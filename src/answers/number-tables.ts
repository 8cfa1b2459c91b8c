/** Numbers by a few digits at a time, and compass points, as text. */
import { TextTable, padded } from './literals.ts'

const COMPASS = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ')
/** By `compassIndex`: a full turn is north again, and the missing code falls on the last. */
export const COMPASS_TEXT = TextTable.of(30, (index) => (index > 16 ? 'null' : `"${COMPASS[index & 15]}"`))

/** Compass point (16 points, 11.25° is NNE) of a direction in hundredths of a degree. */
export function compassPoint(hundredths: number): string {
  return COMPASS[compassIndex(hundredths) & 15]
}

/** Index into `COMPASS_TEXT` of a direction in hundredths of a degree or of its missing code. */
export function compassIndex(hundredths: number): number {
  return ((hundredths + 1125) / 2250) >>> 0
}

/** Four characters as the 32-bit number whose little-endian bytes they are. */
const fourCharacters = (text: string): number =>
  text.charCodeAt(0) | (text.charCodeAt(1) << 8) | (text.charCodeAt(2) << 16) | (text.charCodeAt(3) << 24)

/** `0042` and `002a`, four ASCII characters in 32 bits. */
export const FOUR_DIGITS = Uint32Array.from({ length: 10000 }, (_, n) => fourCharacters(padded(n, 4)))
/** `2a`, two ASCII characters in 16 bits. A table that stays in the processor's first cache. */
const TWO_HEX = Uint16Array.from(
  { length: 256 },
  (_, n) => fourCharacters(n.toString(16).padStart(4, '0')) >>> 16,
)
/** Four hexadecimal digits of 16 bits. */
export function fourHex(value: number): number {
  return TWO_HEX[value >>> 8] | (TWO_HEX[value & 0xff] << 16)
}
/** Whole numbers below 10,000 without leading zeros, and how many digits they have. */
export const SHORT_INTEGERS = {
  words: FOUR_DIGITS.map((digits, n) => digits >>> ((4 - String(n).length) * 8)),
  lengths: Uint8Array.from({ length: 10000 }, (_, n) => String(n).length),
}

/** What stands behind the whole part: nothing, `.5`, `.05`. */
export const HUNDREDTH_TEXT = {
  words: Uint32Array.from({ length: 100 }, (_, n) => fourCharacters(behindPoint(n).padEnd(4, '\0'))),
  lengths: Uint8Array.from({ length: 100 }, (_, n) => behindPoint(n).length),
}

/** `.005`, four characters, and how many are left without zeros at the end: none, `.5`, `.05`. */
export const THOUSANDTH_TEXT = {
  words: Uint32Array.from({ length: 1000 }, (_, n) => fourCharacters(`.${padded(n, 3)}`)),
  lengths: Uint8Array.from({ length: 1000 }, (_, n) => String(n / 1000).length - 1),
}

function behindPoint(hundredths: number): string {
  return String(hundredths / 100).slice(1)
}
