/**
 * Codes of measured columns as text, out of tables that stay in the processor's first caches. For a single
 * row: each of the tables by code (`code-tables.ts`) is half a megabyte, so that one look into it mostly
 * misses the cache; for rows that come together they are faster.
 */
import { MISSING_I16, MISSING_U16 } from '../sea/columns.ts'
import { HUNDREDTH_TEXT, SHORT_INTEGERS, THOUSANDTH_TEXT } from './number-tables.ts'

const DASH = 0x2d
/** `null` as the 32-bit number whose little-endian bytes it is. */
const NULL = 0x6c6c756e

/**
 * Writes a code of thousandths (heights, periods) at `at`; up to four bytes behind its text may be written, too.
 * @returns where its text ends
 */
export function writeThousandths(view: DataView, at: number, code: number): number {
  if (code === MISSING_U16) return writeNull(view, at)
  const whole = (code / 1000) >>> 0
  const rest = code - whole * 1000
  view.setUint32(at, SHORT_INTEGERS.words[whole], true)
  const point = at + SHORT_INTEGERS.lengths[whole]
  view.setUint32(point, THOUSANDTH_TEXT.words[rest], true)
  return point + THOUSANDTH_TEXT.lengths[rest]
}

/** Likewise of hundredths (directions). */
export function writeHundredths(view: DataView, at: number, code: number): number {
  return code === MISSING_U16 ? writeNull(view, at) : writePositive(view, at, code)
}

/** Likewise of signed hundredths (temperatures). */
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
