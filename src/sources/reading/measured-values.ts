/**
 * Measured values of a line as codes of their columns by integer arithmetic: "2.30" becomes 2300, without a
 * string or a float, since an archive has hundreds of millions of lines.
 */
import { decode, Fields } from './fields.ts'
import type { FileReport } from '../source.ts'
import type { SeparatedTable } from './text-table.ts'
import { type MeasureName, MEASURES, SWELL_NAMES } from '../../sea/columns.ts'
import { type CodeLimits, codeLimits, codeWithin, NO_CODE, OUTSIDE } from '../../sea/row-batch.ts'

const PLUS = 43
const MINUS = 45
const POINT = 46
const COMMA = 44

/** What `decimal` returns for text that is not a number. */
export const MALFORMED = -0x40000000

/** Parts of a unit that `decimal` counts in: finer than any format here writes. */
const PARTS = 10_000

/** Larger values saturate here, beyond every limit and marker, so that products stay in 31 bits. */
const SATURATED = 2000 * PARTS

/**
 * Reads plain decimal text ("-1.5", "+0,2", "07", ".5", "3.") as ten-thousandths; else MALFORMED. Further
 * digits are cut off, as they decide no rounding.
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
  if (at < to && (bytes[at] === POINT || bytes[at] === COMMA)) {
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

/** One column of a file that holds a measure. */
export interface MeasureColumn {
  readonly name: MeasureName
  /** 0-based field of the line, −1 where it has none. */
  readonly field: number
  /** Code = (ten-thousandths + plus) × times / over. */
  readonly plus: number
  readonly times: number
  readonly over: number
  /** Inclusive range of ten-thousandths that marks "missing". */
  readonly missingFrom: number
  readonly missingTo: number
  readonly limits: CodeLimits
  readonly reasons: { readonly outside: string; readonly malformed: string }
}

interface ColumnOptions {
  /** Inclusive range of values, in the text's unit, that marks "missing". */
  missing?: readonly [number, number]
  /** The text's unit where it is not the contract's: speeds become km/h, temperatures °C. */
  unit?: 'm/s' | 'K' | undefined
}

/** Describes the column `field` headed `label`; values of `name` are in the contract's unit by default. */
export function measureColumn(
  name: MeasureName,
  field: number,
  label: string,
  options: ColumnOptions = {},
): MeasureColumn {
  const { scale, min, max, unit } = MEASURES[name]
  const isSpeed = options.unit === 'm/s'
  const [missingFrom, missingTo] = options.missing ?? [1, 0]
  return {
    name,
    field,
    // km/h in 1 m/s, in lowest terms so that the product stays in 31 bits.
    times: isSpeed ? 36 : 1,
    over: ((isSpeed ? 10 : 1) * PARTS) / scale,
    plus: options.unit === 'K' ? Math.round(-273.15 * PARTS) : 0,
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

/** What databases, spreadsheets and Météo-France write for a cell without a value. */
const NO_VALUE: ReadonlySet<string> = new Set(['NULL', '\\N', 'NAN', 'N/A', 'MQ'])

interface Line {
  readonly bytes: Uint8Array
  readonly fields: Fields
}

/**
 * Reads the measured fields of a line into `codes` from `base` on, one per column. NO_CODE stands for an
 * empty field, `MM`, a marker, or a value beyond the measure's limits, which is counted as skipped. Further
 * decimals are rounded, halves away from zero. Returns what is wrong with the field `fields.wrong`, or null.
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
    const read = decimal(bytes, from, to)
    if (read === MALFORMED) {
      if (NO_VALUE.has(decode(bytes.subarray(from, to)).toUpperCase())) continue
      fields.wrong = column.field
      return column.reasons.malformed
    }
    if (read >= column.missingFrom && read <= column.missingTo) continue
    const value = read + column.plus
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
  ...SWELL_NAMES,
])

/**
 * Takes wave values without a significant height out of a row and counts that. Returns whether a value is
 * left. `codes[i]` belongs to `names[i]`.
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

/** Takes a row with a value: its head, and the codes of its measures, which are used again. */
export type TakeRow<Head> = (head: Head, names: readonly MeasureName[], codes: Int32Array) => void

/**
 * Hands over the rows of a table that have a usable value. `headOf` returns what is wrong with a line as text, or
 * null for a line that it has counted as skipped.
 */
export function eachRow<Head extends object>(
  table: SeparatedTable,
  columns: readonly MeasureColumn[],
  file: FileReport,
  headOf: () => Head | string | null,
  take: TakeRow<Head>,
): void {
  const names = columns.map(({ name }) => name)
  const codes = new Int32Array(columns.length)
  let understood = 0
  while (table.next(file)) {
    const head = headOf()
    const fault = typeof head === 'string' ? head : readMeasures(table, columns, codes, file)
    const isWhole = typeof head === 'string'
    if (fault !== null)
      file.bad(table.line, fault, isWhole ? table.lineText() : table.text(table.fields.wrong))
    else {
      understood++
      if (head !== null && dropUnusable(names, codes, file)) take(head as Head, names, codes)
    }
  }
  file.rows(understood)
}
