/** Times and quality flags of NetCDF variables, by their attributes in the forms of CF and its users. */
import { entryOf } from '../../system/entry-of.ts'
import type { NetcdfFile } from './netcdf.ts'
import { momentOf, timeUnit } from './times.ts'
import { type TakeDoubt, UnusableFile } from './source-files.ts'

/** Units of latitudes and longitudes; many files name none. */
export const IN_DEGREES = /^(?:deg|°|$)/i

const STANDARD_CALENDAR = /^(?:standard|gregorian|proleptic_gregorian)?$/i
const UTC = /^(?:UTC|GMT|Z|UTC?[+-]0+(?::?00)?)?$/i

/**
 * Epoch seconds of the variable `name`, −1 where there is none. @throws UnusableFile for times of no known
 * kind
 */
export function readTimes(file: NetcdfFile, name: string, maxTimes: number, doubt: TakeDoubt): Float64Array {
  const wanted = { rank: 1, maxValues: maxTimes, isCoordinate: true } as const
  const { units, text, values, valueAt } = file.read(name, wanted)
  const unit = timeUnit(units)
  if (unit === null) throw new UnusableFile('its times are in an unknown unit')
  if (!STANDARD_CALENDAR.test(text('calendar')))
    throw new UnusableFile('its times are of another calendar than the standard one')
  if (!UTC.test(text('time_zone')) || /\blocal\b/i.test(text('long_name')))
    throw new UnusableFile('its times are not in UTC')
  if (/\bTAI\b/.test(text('long_name'))) doubt('atomicTime', name)
  const times = Float64Array.from(values, (_, i) => momentOf(unit, valueAt(i)))
  if (times.length > 0 && times.every((time) => time < 0))
    throw new UnusableFile('none of its times is between 1970 and February 2106')
  // Half of the step between 32-bit floats of this size.
  const last = Math.abs(valueAt(values.length - 1))
  const off = 2 ** (Math.floor(Math.log2(last)) - 24) * unit.step
  if (values instanceof Float32Array && off >= 1)
    doubt('coarseTime', `${name} up to ${Math.round(off)} s early or late`)
  return times
}

/** Meanings of flags that say nothing against a value. */
const GOOD_MEANINGS: ReadonlySet<string> = new Set(
  (
    'good probably_good quality_good valid ok pass passed acceptable correct nominal interpolated changed ' +
    'not_evaluated unknown'
  ).split(' '),
)
/** Meanings of flags that nobody has set. `no_qc_performed`, the word of Copernicus, is not among them. */
const UNCHECKED: ReadonlySet<string> = new Set(['not_evaluated', 'unknown'])

/**
 * OceanSITES' table 2, also that of Copernicus and IMOS: good, probably good, changed, nominal, interpolated.
 */
export const OCEANSITES_GOOD: readonly number[] = [1, 2, 5, 7, 8]

/** Names of flags after that of their variable. */
const ENDINGS = ['_QC', '_quality_control', '_qc', '_quality_flag', '_flag']
/** Attributes that name other variables, flags among them. */
const REFERENCES = ['ancillary_variables', 'ancillary_variable', 'quality_flag']
const FLAG_NAME = /(?:^|_)(?:qc|quality|flags?|validation)(?:_|$)/i

export const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '')

/** "Good_data", "value_changed" and "interpolated_values" without their noun. */
const meaningOf = (word: string): string => word.toLowerCase().replace(/^values?_|_(?:data|values?)$/g, '')

/** Whether this meaning of a flag says nothing against a value. */
export const isGoodMeaning = (word: string): boolean => GOOD_MEANINGS.has(meaningOf(word))

/**
 * Whether the flag of a value calls it good: by the flags' own words, else by OceanSITES' numbers. Always
 * true where the file has no flags for it: none by the variable's name or its attributes, and none of
 * `others`, names with their good numbers.
 * @throws UnusableFile for flags of another number than the values
 */
export function flagsOf(
  file: NetcdfFile,
  name: string,
  count: number,
  doubt: TakeDoubt,
  others: { readonly [label: string]: readonly number[] } = {},
): (index: number) => boolean {
  const isThere = (one: string): boolean => file.names.includes(one)
  const label =
    ENDINGS.map((end) => name + end).find(isThere) ??
    [...referencesOf(file, name), ...Object.keys(others)].find(isThere)
  if (label === undefined) return () => true
  const texts = file.texts(label, count)
  const flags = texts === null ? file.read(label, { rank: 2, maxValues: Math.max(count, 1) }) : null
  const cells: ArrayLike<string | number> = texts ?? flags!.values
  if (cells.length !== count && cells.length !== 1)
    throw new UnusableFile(`${label} has another length than ${name}`)
  const attribute = (one: string): readonly (string | number)[] =>
    flags?.numbers(one) ?? wordsOf(file.attributeOf(label, one) ?? '')
  const meanings = wordsOf(file.attributeOf(label, 'flag_meanings') ?? '').map(meaningOf)
  const [values, masks] = [attribute('flag_values'), attribute('flag_masks')]
  const told = new Map(
    values.length === meanings.length ? values.map((value, i) => [value, meanings[i]]) : [],
  )
  // Each bit is a condition of its own.
  const bad = masks
    .filter((_, i) => !GOOD_MEANINGS.has(meanings[i]))
    .reduce<number>((all, mask) => all | Number(mask), 0)
  const isMasked = told.size === 0 && masks.length > 0 && masks.length === meanings.length
  const isNumber = (flag: string | number): boolean => /^\d+$/.test(String(flag))
  const isUsual = others[label] !== undefined || label.endsWith('_QC')
  if (!isUsual && !isMasked && told.size === 0 && Array.from(cells).some(isNumber))
    doubt('unknownFlags', label)
  const unchecked = new Set([...told.keys()].filter((flag) => UNCHECKED.has(told.get(flag)!)))
  if (unchecked.size > 0)
    doubt('unchecked', label, Array.from(cells).filter((flag) => unchecked.has(flag)).length)
  const isGood = (flag: string | number): boolean => {
    if (told.size > 0 && (flags !== null || told.has(flag))) return GOOD_MEANINGS.has(told.get(flag) ?? '')
    if (isMasked) return (Number(flag) & bad) === 0
    return isNumber(flag)
      ? (others[label] ?? OCEANSITES_GOOD).includes(Number(flag))
      : isGoodMeaning(String(flag))
  }
  const judged = new Map<string | number, boolean>()
  return (index) => {
    const flag = cells[cells.length === 1 ? 0 : index]
    return entryOf(judged, flag, () => isGood(flag))
  }
}

/** Variables of flags that the attributes of a variable name. */
const referencesOf = (file: NetcdfFile, name: string): string[] =>
  REFERENCES.flatMap((attribute) => wordsOf(file.attributeOf(name, attribute) ?? '')).filter((one) =>
    FLAG_NAME.test(one),
  )
