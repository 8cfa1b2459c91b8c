/** Plain decimal numbers. Strict: `1e2`, `+5`, ` 5`, `.5` and `Infinity` are not numbers. */

const PATTERN = /^-?[0-9]+(?:\.[0-9]+)?$/

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

/** The number that a text is, as `-?[0-9]+(\.[0-9]+)?`, or NaN. Never a negative zero. */
export function decimalOf(text: string): number {
  return PATTERN.test(text) ? Number(text) + 0 : NaN
}
