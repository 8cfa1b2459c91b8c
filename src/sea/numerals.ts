/** Plain decimal numbers. Strict: `1e2`, `+5`, ` 5`, `.5` and `Infinity` are not numbers. */

const ZERO = 0x30
const MINUS = 0x2d
const POINT = 0x2e
const PATTERN = /^-?[0-9]+(?:\.[0-9]+)?$/

/** `count` digits from `at` on as a whole number, or −1 when one of them is none. At most nine. */
export function digitsAt(text: string, at: number, count: number): number {
  let value = 0
  for (let i = 0; i < count; i++) {
    const digit = text.charCodeAt(at + i) - ZERO
    // Written so that NaN, which is past the end of the text, is refused too.
    if (!(digit >= 0 && digit <= 9)) return -1
    value = value * 10 + digit
  }
  return value
}

/** The integer that a text is, as `-?[0-9]+`; NaN when it is none. Never a negative zero. */
export function integerOf(text: string): number {
  return text.includes('.') ? NaN : decimalOf(text)
}

/** Digits of the largest id (a reading's) and some more: beyond them numbers are not exact. */
const MAX_ID_DIGITS = 16

/** The id that a text is, or NaN where it is a name. */
export function idOf(text: string): number {
  const id = text.length <= MAX_ID_DIGITS ? integerOf(text) : NaN
  return id >= 0 ? id : NaN
}

/** Digits of which any number is exact as a double, as is the power of ten that their decimals divide it by. */
const EXACT_DIGITS = 15

/**
 * The number that a text is, as `-?[0-9]+(\.[0-9]+)?`; NaN when it is none. Never a negative zero. A usual one is
 * read digit by digit, in a fifth of the time of a pattern and `Number`, and rounds as that does.
 */
export function decimalOf(text: string): number {
  const { length } = text
  const first = text.charCodeAt(0) === MINUS ? 1 : 0
  if (length - first > EXACT_DIGITS) return PATTERN.test(text) ? Number(text) + 0 : NaN
  let value = 0
  let scale = 0
  for (let i = first; i < length; i++) {
    const digit = text.charCodeAt(i) - ZERO
    if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit
      scale *= 10
    } else if (digit === POINT - ZERO && scale === 0 && i > first && i < length - 1) scale = 1
    else return NaN
  }
  if (length === first) return NaN
  const magnitude = scale === 0 ? value : value / scale
  return first === 0 || magnitude === 0 ? magnitude : -magnitude
}
