/** Measured values of the rows of a table as codes of their columns, and the rows that have a usable one. */
import type { FileReport } from '../source.ts'
import { type Flag, isGood } from './flags.ts'
import type { OpenTable } from './text-table.ts'
import { codeOf, degreesOfPoint, isMissing, type ValueColumn, valueColumn } from './units.ts'
import { type MeasureName, MEASURES, SWELL_NAMES } from '../../sea/columns.ts'
import { NO_CODE } from '../../sea/row-batch.ts'

export interface MeasuredColumn {
  field: number
  column: ValueColumn
  /** Words that mark "missing", besides the numbers of `column`. */
  missing: ReadonlySet<string>
  flags: Flag[]
  /**
   * The column with the unit of each value, −1 for none, and how values in a unit are read; null for an
   * unknown unit.
   */
  unitField: number
  inUnit: (unit: string) => ValueColumn | null
  fault: string
  flagged: string
  /** A number was read: a letter among numbers is no point of the compass. */
  isNumeric?: boolean
}

/** The column `field` (−1 for none) headed `label` of a kind with known units: by default the contract's. */
export function knownColumn(
  name: MeasureName,
  field: number,
  label: string,
  {
    unit = MEASURES[name].unit,
    missing = [],
  }: { unit?: string | undefined; missing?: readonly number[] } = {},
): MeasuredColumn {
  const column = valueColumn(name, label, unit, { missing, isWithinCircle: true })!
  const rest = { flags: [], missing: new Set<string>(), flagged: '' }
  const unitless = { unitField: -1, inUnit: () => column }
  return { field, column, fault: `${label} is not a decimal number`, ...rest, ...unitless }
}

/**
 * Reads the measured cells of a row into codes, and their written numbers into `values`, NaN without one.
 * False for a row with a faulty cell, which is reported.
 */
export function readValues(
  table: Pick<OpenTable, 'text' | 'number' | 'row'>,
  measured: readonly MeasuredColumn[],
  codes: Int32Array,
  file: FileReport,
  values?: Float64Array,
): boolean {
  for (let i = 0; i < measured.length; i++) {
    const one = measured[i]
    let value = table.number(one.field)
    codes[i] = NO_CODE
    if (values !== undefined) values[i] = NaN
    if (value === null) {
      const word = table.text(one.field).trim()
      if (one.missing.has(word)) continue
      if (one.column.isDirection && one.isNumeric !== true) value = degreesOfPoint(word)
      if (value === null) {
        file.bad(table.row(), one.fault, table.text(one.field))
        return false
      }
    } else if (value >= 0) one.isNumeric = true
    if (Number.isNaN(value) || (one.flags.length > 0 && isMissing(one.column, value))) continue
    const column = one.unitField < 0 ? one.column : one.inUnit(table.text(one.unitField).trim())
    if (column === null) {
      file.skipped('a value in an unknown unit')
      continue
    }
    if (values !== undefined) values[i] = value
    if (one.flags.length === 0 || one.flags.every((flag) => isGood(table, flag)))
      codes[i] = codeOf(column, value, file)
    else file.skipped(one.flagged)
  }
  return true
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
type TakeRow<Head> = (head: Head, names: readonly MeasureName[], codes: Int32Array) => void

/**
 * Hands over the rows of a table that have a usable value. `headOf` returns null for a row that it has
 * reported.
 */
export function eachRow<Head>(
  table: OpenTable,
  measured: readonly MeasuredColumn[],
  file: FileReport,
  headOf: () => Head | null,
  take: TakeRow<Head>,
): void {
  const names = measured.map(({ column }) => column.name)
  const codes = new Int32Array(measured.length)
  let understood = 0
  while (table.next()) {
    const head = headOf()
    if (head === null || !readValues(table, measured, codes, file)) continue
    understood++
    if (dropUnusable(names, codes, file)) take(head, names, codes)
  }
  file.rows(understood)
}
