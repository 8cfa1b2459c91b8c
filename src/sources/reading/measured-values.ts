/**
 * Measured values of a line as codes of their columns, without a string or a float in between: "2.30" becomes
 * 2300 by integer arithmetic, since a national archive has hundreds of millions of lines.
 */
import { Fields } from './fields.ts'
import type { FileReport } from '../source.ts'
import { type MeasureName, MEASURES } from '../../sea/columns.ts'
import { type CodeLimits, codeLimits, codeWithin, NO_CODE, OUTSIDE } from '../../sea/row-batch.ts'

const PLUS = 43
const MINUS = 45
const POINT = 46

/** What `decimal` returns for text that is not a number. */
export const MALFORMED = -0x40000000

/** `decimal` counts in this many parts of a unit: finer than any format here writes. */
const PARTS = 10_000

/**
 * Larger values saturate here: beyond every limit and every missing marker, and products with it stay in 31
 * bits.
 */
const SATURATED = 2000 * PARTS

/**
 * Reads plain decimal text ("-1.5", "+0.2", "07", ".5", "3.") as a count of ten-thousandths; MALFORMED for
 * anything else. Digits past the fourth decimal are cut off: they decide no rounding to a half that lies on a
 * ten-thousandth.
 */
export function decimal(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  const negative = bytes[at] === MINUS
  if (negative || bytes[at] === PLUS) at++
  const first = at
  let value = 0
  for (; at < to; at++) {
    const digit = bytes[at] - 48
    if (digit < 0 || digit > 9) break
    if (value < 2000) value = value * 10 + digit
  }
  let digits = at - first
  value = value < 2000 ? value * PARTS : SATURATED
  if (at < to && bytes[at] === POINT) {
    at++
    let place = PARTS
    for (; at < to; at++) {
      const digit = bytes[at] - 48
      if (digit < 0 || digit > 9) break
      digits++
      place = (place / 10) | 0
      value += digit * place
    }
  }
  if (at !== to || digits === 0) return MALFORMED
  return negative ? -value : value
}

/** One column of a file that holds a measure: where it is and how its text becomes a code. */
export interface MeasureColumn {
  readonly name: MeasureName
  /** 0-based field of the line, −1 where it has none. */
  readonly field: number
  /** Code = ten-thousandths × times / over. */
  readonly times: number
  readonly over: number
  /** Values from here to there, in ten-thousandths, mark "missing". */
  readonly missingFrom: number
  readonly missingTo: number
  readonly limits: CodeLimits
  readonly reasons: { readonly outside: string; readonly malformed: string }
}

interface ColumnOptions {
  /** Values (in units of the text) from the first to the second, inclusive, mark "missing". */
  missing?: readonly [number, number]
  /** The text is in metres a second and becomes km/h. */
  metresPerSecond?: boolean
}

/**
 * Describes the column `field` with the header `label`, which holds `name` in the contract's unit unless
 * `options` name another.
 */
export function measureColumn(
  name: MeasureName,
  field: number,
  label: string,
  options: ColumnOptions = {},
): MeasureColumn {
  const { scale, min, max, unit } = MEASURES[name]
  const metresPerSecond = options.metresPerSecond ?? false
  const [missingFrom, missingTo] = options.missing ?? [1, 0]
  return {
    name,
    field,
    // 3.6 km/h in 1 m/s; the fraction is in lowest terms so that the product stays in 31 bits.
    times: metresPerSecond ? 36 : 1,
    over: ((metresPerSecond ? 10 : 1) * PARTS) / scale,
    missingFrom: Math.round(missingFrom * PARTS),
    missingTo: Math.round(missingTo * PARTS),
    limits: codeLimits(MEASURES[name]),
    reasons: {
      outside: `${label} outside ${min} to ${max} ${unit}`,
      malformed: `${label} is not a decimal number`,
    },
  }
}

/** The columns of a header that are named in `wanted`, each in the contract's unit. */
export function measureColumns(
  labels: readonly string[],
  wanted: readonly (readonly [label: string, name: MeasureName])[],
): MeasureColumn[] {
  return wanted.flatMap(([label, name]) => {
    const field = labels.indexOf(label)
    return field < 0 ? [] : [measureColumn(name, field, label)]
  })
}

/** Where a line's fields lie: a table of separated fields, or any other. */
interface Line {
  readonly bytes: Uint8Array
  readonly fields: Fields
}

/**
 * Reads the measured fields of a line into `codes` from `base` on, one per column, NO_CODE where nothing was measured: an
 * empty field, the word `MM`, a marker of the column, or a value beyond the measure's limits, which is
 * counted as skipped. A value with more decimals than its column keeps is rounded to the nearest that it
 * does, halves away from zero. Returns what is wrong with the line, or null; `fields.wrong` is then the field
 * that is to blame.
 */
export function readMeasures(
  { bytes, fields }: Line,
  columns: readonly MeasureColumn[],
  codes: Int32Array,
  file: FileReport,
  base = 0,
): string | null {
  const { starts, ends } = fields
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]
    codes[base + i] = NO_CODE
    if (column.field < 0) continue
    const from = starts[column.field]
    const to = ends[column.field]
    if (to === from || (bytes[from] === 77 && bytes[from + 1] === 77 && to - from === 2)) continue
    const value = decimal(bytes, from, to)
    if (value === MALFORMED) {
      fields.wrong = column.field
      return column.reasons.malformed
    }
    if (value >= column.missingFrom && value <= column.missingTo) continue
    const size = Math.floor((2 * Math.abs(value) * column.times + column.over) / (2 * column.over))
    const code = codeWithin(column.limits, value < 0 ? -size : size)
    if (code === OUTSIDE) file.skipped(column.reasons.outside)
    else codes[base + i] = code
  }
  return null
}

/** Measures that describe a wave sample and mean nothing without its significant height. */
const WAVE_MEASURES: ReadonlySet<MeasureName> = new Set([
  'significantHeight',
  'maximumHeight',
  'period',
  'peakPeriod',
  'direction',
])

/**
 * Takes wave values without a significant height out of a row and counts that, as they make no reading
 * (contract: "Reading"). Returns whether a value is left. `codes[i]` belongs to `names[i]`.
 */
export function dropUnusable(names: readonly MeasureName[], codes: Int32Array, file: FileReport): boolean {
  const height = names.indexOf('significantHeight')
  const hasWaves = height >= 0 && codes[height] !== NO_CODE
  let isUsable = false
  let dropped = false
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] === NO_CODE) continue
    if (hasWaves || !WAVE_MEASURES.has(names[i])) isUsable = true
    else {
      codes[i] = NO_CODE
      dropped = true
    }
  }
  if (dropped) file.skipped('wave values without a significant height')
  else if (!isUsable) file.skipped('a row without a value')
  return isUsable
}
