/** Plain decimal numbers. Strict: `1e2`, `+5`, ` 5`, `.5` and `Infinity` are not numbers. */

const ZERO = 0x30
const MINUS = 0x2d
const POINT = 0x2e
const PATTERN = /^-?[0-9]+(?:\.[0-9]+)?$/

/** `count` digits (at most nine) from `at` on as a whole number, or −1. */
export function digitsAt(text: string, at: number, count: number): number {
  let value = 0
  for (let i = 0; i < count; i++) {
    const digit = text.charCodeAt(at + i) - ZERO
    // NaN, which is past the end of the text, is refused too.
    if (!(digit >= 0 && digit <= 9)) return -1
    value = value * 10 + digit
  }
  return value
}

/** The integer that a text is, as `-?[0-9]+`, or NaN. Never a negative zero. */
export function integerOf(text: string): number {
  return text.includes('.') ? NaN : decimalOf(text)
}

/** Digits of the largest id (a reading's) and some more. */
const MAX_ID_DIGITS = 16

/** The id that a text is, or NaN for a name. */
export function idOf(text: string): number {
  const id = text.length <= MAX_ID_DIGITS ? integerOf(text) : NaN
  return id >= 0 ? id : NaN
}

/** Digits up to which a number, and the power of ten that divides it, are exact as doubles. */
const EXACT_DIGITS = 15

/** The number that a text is, as `-?[0-9]+(\.[0-9]+)?`, or NaN. Never a negative zero; rounds as `Number`. */
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
