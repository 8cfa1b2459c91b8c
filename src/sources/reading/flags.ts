/** Which columns of a table are flags of which values, and which flags are good. */
import { isGoodMeaning, wordsOf } from './cf.ts'
import { conventionOf, normal } from './known-names.ts'
import { plainText } from './units.ts'
import type { MeasureName } from '../../sea/columns.ts'
import type { TableSpec } from '../tables/column-map.ts'
import type { OpenTable } from './text-table.ts'

/** Attributes by variable; attributes of the whole dataset are under `NC_GLOBAL`. */
export type Info = ReadonlyMap<string, ReadonlyMap<string, string>>

/** A column of flags; a value is taken if its flag is good. */
export interface Flag {
  field: number
  good: ReadonlySet<string>
}

export const isGood = (table: Pick<OpenTable, 'text'>, { field, good }: Flag): boolean =>
  good.has(plainText(table.text(field)))

export const goodSet = (values: readonly (number | string)[]): Set<string> =>
  new Set(values.map((value) => plainText(String(value))))

const FLAG_LABEL =
  /_?(?:qc_?agg|rollup_?qc|qartod|qc|qf|quality_?control|(?:qc_?|quality_?)?flag(?:primary)?)$/i

/** `QF_waves` and `QF_sst`: of a group of measures, or of one. */
const FLAG_PREFIX = /^(?:qf|qc|flag)_(.+)$/i

/** Flags of the whole row; CDIP's are for its waves alone. */
const ROW_FLAG = /^(?:waveflagprimary|flagprimary|qc?_?flag|flag|quality_?control|qc)$/i

/** The flag columns of a measured column, or the name of a flag column with an unknown meaning. */
export function flagsOf(
  measuredField: number,
  name: MeasureName,
  labels: readonly string[],
  info: Info,
  given: NonNullable<TableSpec['flags']>,
): Flag[] | string {
  const label = labels[measuredField] ?? ''
  const ancillary = wordsOf(info.get(label)?.get('ancillary_variables') ?? '')
  const isWave = !['waterTemperature', 'windSpeed', 'windDirection', 'gustSpeed'].includes(name)
  const flags: Flag[] = []
  for (const [field, other] of labels.entries()) {
    if (field === measuredField) continue
    const isItsOwn =
      FLAG_LABEL.test(other) && normal(other.replace(FLAG_LABEL, '')) === normal(label) && other !== label
    const flagged = FLAG_PREFIX.exec(other)?.[1] ?? ''
    const isOfGroup = isWave ? /^waves?$/i.test(flagged) : /^wind$/i.test(flagged) && /^wind|^gust/.test(name)
    const isPrefixed = isOfGroup || (flagged !== '' && normal(flagged) === normal(label))
    const isOfRow = ROW_FLAG.test(other) && (isWave || !/^wave/i.test(other))
    const isNamed =
      ancillary.includes(other) && (FLAG_LABEL.test(other) || info.get(other)?.has('flag_meanings'))
    if (!isItsOwn && !isPrefixed && !isOfRow && isNamed !== true) continue
    const good = goodFlags(other, info, given)
    if (good === null) return other
    // A flag that is not given says nothing against its value.
    flags.push({ field, good: goodSet([...good, '', info.get(other)?.get('_FillValue') ?? '']) })
  }
  return flags
}

/** In tables a value that nobody has controlled is as good as its source. */
const UNCONTROLLED = /^(?:not_qced|no_qc(?:_performed)?|no_quality_control|blank|changes)$/i
const isGoodWord = (word: string): boolean => isGoodMeaning(word) || UNCONTROLLED.test(word)

/** The good values of a flag column; null where nothing gives their meaning. */
function goodFlags(
  label: string,
  info: Info,
  given: NonNullable<TableSpec['flags']>,
): readonly (number | string)[] | null {
  if (Object.hasOwn(given, label)) return given[label]
  const [values, meanings] = ['flag_values', 'flag_meanings'].map((name) =>
    wordsOf(info.get(label)?.get(name) ?? ''),
  )
  if (values.length > 0 && values.length === meanings.length)
    return values.filter((_, i) => isGoodWord(meanings[i]))
  // Words of another number, and masks of bits, have no certain meaning.
  if (meanings.length > 0) return null
  const described = [...(info.get(label)?.get('comment') ?? '').matchAll(/\b(\d{1,3}) ?[:=] ?(\w+)/g)]
  if (described.length > 1) return described.filter(([, , word]) => isGoodWord(word)).map(([, flag]) => flag)
  return conventionOf(label)
}
