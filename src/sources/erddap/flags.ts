/** Columns of quality flags: which belong to a measured column, and which of their values are good. */
import type { ErddapOptions } from './options.ts'
import { type Info, normal } from './description.ts'
import type { MeasureName } from '../../sea/columns.ts'
import type { OpenTable } from './table.ts'
import { numberOf } from '../reading/units.ts'

/** A column of flags. A value is taken if its flag is in `good` or missing. */
export interface Flag {
  field: number
  good: ReadonlySet<string>
  missing: readonly number[]
}

export function isGood(table: OpenTable, { field, good, missing }: Flag): boolean {
  const text = table.text(field)
  const flag = numberOf(text)
  if (flag === null) return good.has(text)
  return Number.isNaN(flag) || missing.includes(flag) || good.has(String(flag))
}

const FLAG_LABEL = /_?(?:qc_?agg|rollup_?qc|qartod|qc|(?:qc_?)?flag(?:primary)?)$/i

/** Flags of the whole row; CDIP's are for its waves alone. */
const ROW_FLAG = /^(?:waveflagprimary|flagprimary|qc_?flag|flag)$/i

/** The flag columns of a measured column, or the name of one whose meaning is unknown. */
export function flagsOf(
  measuredField: number,
  name: MeasureName,
  labels: readonly string[],
  info: Info,
  given: NonNullable<ErddapOptions['flags']>,
): Flag[] | string {
  const label = labels[measuredField]
  const ancillary = (info.get(label)?.get('ancillary_variables') ?? '').split(/[\s,]+/)
  const isWave = !['waterTemperature', 'windSpeed', 'windDirection', 'gustSpeed'].includes(name)
  const flags: Flag[] = []
  for (const [field, other] of labels.entries()) {
    if (field === measuredField) continue
    const isItsOwn =
      FLAG_LABEL.test(other) && normal(other.replace(FLAG_LABEL, '')) === normal(label) && other !== label
    const isOfRow = ROW_FLAG.test(other) && (isWave || !/^wave/i.test(other))
    if (!isItsOwn && !isOfRow && !(ancillary.includes(other) && FLAG_LABEL.test(other))) continue
    const good = goodFlags(other, info, given)
    if (good === null) return other
    const missing = numberOf(info.get(other)?.get('_FillValue') ?? '')
    flags.push({ field, good, missing: missing === null || Number.isNaN(missing) ? [] : [missing] })
  }
  return flags
}

/** Meanings of flags by which nothing is known to be wrong with a value. */
const GOOD_MEANINGS = new Set(
  (
    'quality_good good good_data good_value probably_good probably_good_data probably_good_value pass passed ' +
    'not_evaluated not_qced no_qc no_qc_performed no_quality_control unknown changed value_changed changed_value ' +
    'interpolated interpolated_value value_interpolated nominal nominal_value value_nominal'
  ).split(' '),
)

/** The good values of a flag column; null where nothing says what they mean. */
function goodFlags(
  label: string,
  info: Info,
  given: NonNullable<ErddapOptions['flags']>,
): ReadonlySet<string> | null {
  const plainFlag = (flag: number | string): string => {
    const number = numberOf(String(flag).trim())
    return number === null || Number.isNaN(number) ? String(flag).trim() : String(number)
  }
  if (Object.hasOwn(given, label)) return new Set(given[label].map(plainFlag))
  const values = (info.get(label)?.get('flag_values') ?? '').split(/[\s,]+/).filter((word) => word !== '')
  const meanings = (info.get(label)?.get('flag_meanings') ?? '').split(/[\s,]+/).filter((word) => word !== '')
  if (values.length > 0 && values.length === meanings.length) {
    return new Set(values.filter((_, i) => GOOD_MEANINGS.has(meanings[i].toLowerCase())).map(plainFlag))
  }
  // CDIP: 1 is good.
  if (/flagprimary$/i.test(label)) return new Set(['1'])
  // IOOS QARTOD: passed, not evaluated.
  if (/(?:qc_?agg|rollup_?qc|qartod)$/i.test(label)) return new Set(['1', '2'])
  // Copernicus and EMODnet: good, probably good, changed, nominal, interpolated.
  if (/^[A-Z0-9]+_QC$/.test(label)) return new Set(['1', '2', '5', '7', '8'])
  // Irish Marine Institute: unknown, good, probably good.
  if (/^qc_?flag$/i.test(label)) return new Set(['0', '1', '2'])
  return null
}
