/** Addresses in the memory of `day-writer.wat` and `day-writer.ts`. */
export const LAYOUT = {
  /** Whole numbers below 10,000, four bytes each. */
  WHOLE_NUMBERS: 0,
  /** How many digits they have, one byte each. */
  WHOLE_NUMBERS_LENGTHS: 40_000,
  /** Hundredths behind the point, four bytes each, and how many characters they have, one byte each. */
  HUNDREDTHS: 50_000,
  HUNDREDTHS_LENGTHS: 50_400,
  /** Of the days of a season, four bytes each. */
  VALUES: 50_560,
  COUNTS: 52_032,
  /** What is written; texts of seasons lie behind it. */
  OUTPUT: 54_016,
} as const
