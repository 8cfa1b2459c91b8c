/** Finds the flag columns of measured columns, and their good flags. */
import { isGoodMeaning, wordsOf } from './cf.ts'
import type { HeaderCell } from './header.ts'
import { conventionOf } from './known-names.ts'
import type { TakeDoubt } from './source-files.ts'
import { numberOf, plainText } from './units.ts'
import type { MeasureName } from '../../sea/columns.ts'
import type { TableSpec } from '../tables/column-map.ts'
import type { Sample } from '../tables/sample.ts'
import type { OpenTable } from './text-table.ts'

/** Attributes by variable; attributes of the whole dataset are under `NC_GLOBAL`. */
export type Attributes = ReadonlyMap<string, ReadonlyMap<string, string>>

/** A column of flags; a value is taken if its flag is good. */
export interface Flag {
  field: number
  good: ReadonlySet<string>
}

export const isGood = (table: Pick<OpenTable, 'text'>, { field, good }: Flag): boolean =>
  good.has(plainText(table.text(field)))

export const goodSet = (values: readonly (number | string)[]): Set<string> =>
  new Set(values.map((value) => plainText(String(value))))

/** The columns of a table, for their flags. */
export interface Flagged {
  readonly labels: readonly string[]
  readonly cells: readonly HeaderCell[]
  readonly info: Attributes
  readonly given: NonNullable<TableSpec['flags']>
  /** Null for answers of servers, whose flags are named after their variables. */
  readonly sample: Sample | null
}

/** The flag columns of a measured column, or the name of a flag column with an unknown meaning. */
export function flagsOf(
  measuredField: number,
  name: MeasureName,
  flagged: Flagged,
  doubt: TakeDoubt,
): Flag[] | string {
  const { labels, cells, info } = flagged
  const ancillary = wordsOf(info.get(labels[measuredField] ?? '')?.get('ancillary_variables') ?? '')
  const flags: Flag[] = []
  for (const [field, label] of labels.slice(0, cells.length).entries()) {
    if (field === measuredField) continue
    const isNamed =
      ancillary.includes(label) && (cells[field].isFlag || info.get(label)?.has('flag_meanings'))
    if (isNamed !== true && !isFlagOf(field, measuredField, name, flagged)) continue
    const good = goodFlags(field, flagged, doubt)
    if (good === null) return label
    // A flag that is not given says nothing against its value.
    flags.push({ field, good: goodSet([...good, '', info.get(label)?.get('_FillValue') ?? '']) })
  }
  return flags
}

/** Flags of the whole row in answers of servers. */
const ROW_FLAG = /^(?:flagprimary|qc?_?flag|flag|quality_?control|qc)$/i

/** Whether a flag belongs to a measured column by its name or place: its own, its group's, or the row's. */
function isFlagOf(
  field: number,
  measuredField: number,
  name: MeasureName,
  { cells, labels, sample }: Flagged,
): boolean {
  const { isFlag, base, meaning, number, qualifiers } = cells[field]
  if (!isFlag || labels[field] === labels[measuredField]) return false
  const isOfWind = /^wind(?!Wave)|^gust/.test(name)
  if (qualifiers.has('wave') && meaning === null) return !isOfWind && name !== 'waterTemperature'
  if (qualifiers.has('wind') && meaning === null) return isOfWind
  const measured = cells[measuredField]
  if (base !== '') {
    const isSame = sample !== null && meaning !== null && meaning.name === measured?.meaning?.name
    return base === measured?.base || (isSame && number === (measured?.number ?? null))
  }
  if (sample === null) return ROW_FLAG.test(labels[field])
  const nameless = cells.flatMap((cell, i) => (cell.isFlag && cell.base === '' ? [i] : []))
  const isBehindEach =
    nameless.length > 1 &&
    nameless.every((i) => i > 0 && !cells[i - 1].isFlag && cells[i - 1].roles.length === 0)
  return isBehindEach ? measuredField === field - 1 : true
}

/** In tables an uncontrolled value is as good as its source. */
const UNCONTROLLED = /^(?:not_qced|no_qc(?:_performed)?|no_quality_control|blank|changes|not_checked)$/i
const isGoodWord = (word: string): boolean => {
  const plain = word.trim().replaceAll(/[\s-]+/g, '_')
  return isGoodMeaning(plain) || UNCONTROLLED.test(plain)
}
const BAD_WORD =
  /^(?:(?:probably|very)[_ -])?(?:bad|suspect|suspicious|fail|failed|missing|error|erroneous|wrong|questionable|doubtful|reject|rejected|invalid|spike|outlier|incorrect|poor|not[_ -]ok)(?:[_ -](?:data|values?))?$/i

/** Flags of QARTOD, OceanSITES, IODE and Argo: 1 is good, 2 not evaluated or probably good, and no other. */
const USUAL_NUMBERS: ReadonlySet<string> = new Set(['1', '2', '3', '4', '9'])

/** The good values of a flag column; null where nothing gives their meaning. */
function goodFlags(
  field: number,
  { labels, cells, info, given, sample }: Flagged,
  doubt: TakeDoubt,
): readonly (number | string)[] | null {
  const label = labels[field]
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
  const known = conventionOf(label)
  if (known !== null || sample === null) return known
  const seen = sample
    .texts(field)
    .map(plainText)
    .filter((text) => text !== '')
  const kinds = [...new Set(seen)]
  if (kinds.every((text) => isGoodWord(text) || BAD_WORD.test(text))) return kinds.filter(isGoodWord)
  const ones = seen.filter((text) => text === '1' || text === '2').length
  const isUsual =
    /q[cf]|quality|qartod/i.test(cells[field].text) &&
    kinds.every((text) => numberOf(text) !== null && USUAL_NUMBERS.has(text)) &&
    kinds.some((text) => Number(text) > 2) &&
    ones * 2 >= seen.length
  if (!isUsual) return null
  doubt('unknownFlags', label)
  return ['1', '2']
}
