/**
 * The text of every code of a measured column, half a megabyte a table, once for all threads: for rows that
 * come together. For a single row `code-text.ts` is faster.
 */
import { writeHundredths, writeSignedHundredths, writeThousandths } from './code-text.ts'
import { TextTable } from './literals.ts'

/** Columns of thousandths (heights, periods): the number, or `null` for the missing code. */
export const THOUSANDTHS = TextTable.shared('texts of thousandths', 65536, writeThousandths)
/** Unsigned columns of hundredths (directions). */
export const HUNDREDTHS = TextTable.shared('texts of hundredths', 65536, writeHundredths)
/** Signed columns of hundredths (temperature), indexed by the code's 16 bits. */
export const SIGNED_HUNDREDTHS = TextTable.shared('texts of signed hundredths', 65536, (view, at, bits) =>
  writeSignedHundredths(view, at, (bits << 16) >> 16),
)
