/** Plain decimal numbers. Strict: `1e2`, `+5`, ` 5`, `.5` and `Infinity` are not numbers. */

const ZERO = 0x30

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
  return /^-?[0-9]+$/.test(text) ? Number(text) + 0 : NaN
}

/** Digits of the largest id (a reading's) and some more: beyond them numbers are not exact. */
const MAX_ID_DIGITS = 16

/** The id that a text is, or NaN where it is a name. */
export function idOf(text: string): number {
  const id = text.length <= MAX_ID_DIGITS ? integerOf(text) : NaN
  return id >= 0 ? id : NaN
}

/** The number that a text is, as `-?[0-9]+(\.[0-9]+)?`; NaN when it is none. Never a negative zero. */
export function decimalOf(text: string): number {
  return /^-?[0-9]+(?:\.[0-9]+)?$/.test(text) ? Number(text) + 0 : NaN
}
