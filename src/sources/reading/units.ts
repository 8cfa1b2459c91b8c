/**
 * Values in whatever unit a self-describing table names, rounded once to the code of their column, as
 * computed floats have more digits than mean anything. An unknown unit is never guessed.
 */
import type { FileReport } from '../source.ts'
import units from './units.json' with { type: 'json' }
import { type MeasureName, MEASURES } from '../../sea/columns.ts'
import {
  type CodeLimits,
  codeLimits,
  codeOf as codeWithLimits,
  NO_CODE,
  OUTSIDE,
} from '../../sea/row-batch.ts'

/** A value in the contract's unit is `value × factor + offset`. */
interface Conversion {
  readonly factor: number
  readonly offset: number
}

/** All spellings of units that become one of the contract's, as `normal` returns them. */
type Spellings = readonly (Partial<Conversion> & { readonly spellings: readonly string[] })[]

const CONVERSIONS: { readonly [unit: string]: ReadonlyMap<string, Conversion> } = Object.fromEntries(
  Object.entries(units as { [unit: string]: Spellings }).map(([unit, all]) => [
    unit,
    new Map(
      all.flatMap(({ spellings, factor = 1, offset = 0 }) =>
        spellings.map((spelling): [string, Conversion] => [spelling, { factor, offset }]),
      ),
    ),
  ]),
)

/** "m s-1", "m.s**-1", "meters per second", "degrees_C" in one spelling of each. */
function normal(unit: string): string {
  return (
    unit
      .slice(0, 60)
      // NFKC makes a letter of this sign for degrees.
      .replaceAll('º', '°')
      .normalize('NFKC')
      .toLowerCase()
      .replaceAll(/\*\*|\^/g, '')
      .replaceAll(/\u2212|\u2010/g, '-')
      .replaceAll('\u2215', '/')
      .replaceAll(/[\s._]+/g, ' ')
      .trim()
      .replace(/ (s|sec|second|h|hr|hour)-1$/, '/$1')
      .replace(/ ?(?:\/| per ) ?/, '/')
      .replace(/^° ([cf])$/, '°$1')
  )
}

/** How values in a unit become the measure's; null for an unknown unit. */
export function conversionOf(measure: MeasureName, unit: string): Conversion | null {
  return CONVERSIONS[MEASURES[measure].unit].get(normal(unit)) ?? null
}

/** Whether a text is a unit of any measure, or says how times are counted; `1` may as well be a value. */
export const isUnit = (text: string): boolean =>
  /^utc$| since /i.test(text) || (text.length <= LONGEST_UNIT && UNITS.has(normal(text)))

const UNITS: ReadonlySet<string> = new Set(
  Object.values(CONVERSIONS)
    .flatMap((known) => [...known.keys()])
    .filter((unit) => unit !== '1'),
)
const LONGEST_UNIT = Math.max(...[...UNITS].map((unit) => unit.length)) + 5

/** Seconds of a unit of time such as `hours`; null for an unknown one. */
export function secondsOfUnit(word: string): number | null {
  return CONVERSIONS.time.get(word.toLowerCase())?.factor ?? null
}

/** Whether words say where waves or wind go to, in place of where they come from. */
export function saysGoesTo(words: string): boolean {
  return /(?:^|[_ ])to_direction(?:[_ ]|$)|\btowards?\b|\bto (?:which|direction)\b/i.test(words)
}

/** How the values of one column of a table become codes of a measure. */
export interface ValueColumn {
  readonly name: MeasureName
  readonly factor: number
  readonly offset: number
  /** 180 if the column is about where waves or wind go to. */
  readonly turn: number
  /** Values that mark "missing", in the table's unit. */
  readonly missing: readonly number[]
  readonly scale: number
  readonly limits: CodeLimits
  readonly isDirection: boolean
  readonly outside: string
}

interface ValueOptions {
  missing?: readonly number[]
  goesTo?: boolean
  /** The value in the unit is `written × factor + offset`. */
  factor?: number
  offset?: number
  /** Directions below 0 and above 360 are out of limits; by default −360 to 0 is another notation. */
  isWithinCircle?: boolean
}

/** Describes the column `label` with values of `name` in `unit`; null for an unknown unit. */
export function valueColumn(
  name: MeasureName,
  label: string,
  unit: string,
  { missing = [], goesTo = false, factor = 1, offset = 0, isWithinCircle = false }: ValueOptions = {},
): ValueColumn | null {
  const conversion = conversionOf(name, unit)
  if (conversion === null) return null
  const { scale, min, max, unit: measured } = MEASURES[name]
  return {
    name,
    factor: factor * conversion.factor,
    offset: offset * conversion.factor + conversion.offset,
    turn: goesTo ? 180 : 0,
    missing,
    scale,
    limits: codeLimits(MEASURES[name]),
    isDirection: measured === 'degree' && !isWithinCircle,
    outside: `${label} outside ${min} to ${max} ${measured}`,
  }
}

/** Whether a value marks "missing". A marker kept as a 32-bit float has seven digits, which may differ. */
export function isMissing({ missing }: ValueColumn, value: number): boolean {
  for (const marker of missing) {
    if (Math.abs(value - marker) <= Math.abs(marker) * 1e-6) return true
  }
  return false
}

/**
 * The code of a value in the column's unit. NO_CODE stands for a marker of "missing", for what is not finite,
 * and for a value beyond the measure's limits, which is counted as skipped.
 */
export function codeOf(column: ValueColumn, value: number, file: FileReport): number {
  if (!Number.isFinite(value) || (column.missing.length > 0 && isMissing(column, value))) return NO_CODE
  let converted = value * column.factor + column.offset
  if (column.isDirection) {
    // Within a full circle it is another notation; beyond, a mark of "missing".
    if (Math.abs(converted) > 360) {
      file.skipped(column.outside)
      return NO_CODE
    }
    converted = (converted + column.turn + 360) % 360
  }
  const code = codeWithLimits(column.scale, column.limits, converted)
  if (code !== OUTSIDE) return code
  file.skipped(column.outside)
  return NO_CODE
}

/** Reads a number ("-1.5", "9.96921E36"); NaN for nothing, "NaN" and "null", null for anything else. */
export function numberOf(text: string): number | null {
  if (text === '' || text === 'NaN' || text === 'null') return NaN
  if (text.length > 40 || !/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i.test(text)) return null
  return Number(text)
}

const POINTS = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ')

/** The middle of the sector of a point of the compass; null for any other word. */
export function degreesOfPoint(word: string): number | null {
  const point = POINTS.indexOf(word.toUpperCase())
  return point < 0 ? null : point * 22.5
}

/** The same text for "1.0" and "1"; empty for nothing. */
export function plainText(text: string): string {
  const number = numberOf(text.trim())
  if (number === null) return text.trim()
  return Number.isNaN(number) ? '' : String(number)
}

/**
 * Other words than these two for a cell without a value, in capitals: of databases, spreadsheets, NDBC,
 * Météo-France and people.
 */
export const NO_VALUE: ReadonlySet<string> = new Set('NULL \\N NAN N/A NA MM MQ - -- ---'.split(' '))

/** Powers of ten that a float holds exactly. */
const TENS = Array.from({ length: 16 }, (_, i) => 10 ** i)

/**
 * As `numberOf`, from bytes: up to 15 digits are the quotient of two exact floats, rounded once. NaN for a
 * word without a value, too. With `comma` one may stand in place of the point.
 */
export function numberAt(bytes: Buffer, from: number, to: number, comma = false): number | null {
  // Most cells of NDBC are `MM`.
  if (to === from || (to - from === 2 && bytes[from] === 77 && bytes[from + 1] === 77)) return NaN
  let at = from
  const negative = bytes[at] === 45
  if (negative) at++
  let value = 0
  let digits = 0
  let decimals = 0
  let isFraction = false
  for (; at < to && digits < 16; at++) {
    const digit = bytes[at] - 48
    if ((digit === -2 || (comma && digit === -4)) && !isFraction) isFraction = true
    else if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit
      digits++
      if (isFraction) decimals++
    } else break
  }
  if (at < to || digits === 0 || digits > 15) {
    const text = bytes.toString('latin1', from, to)
    return NO_VALUE.has(text.toUpperCase()) ? NaN : numberOf(comma ? text.replace(',', '.') : text)
  }
  return (negative ? -value : value) / TENS[decimals]
}
