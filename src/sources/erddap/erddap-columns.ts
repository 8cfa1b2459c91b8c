/**
 * What the columns of a table mean, by the operator's options, CF standard names or their own names; which
 * columns are flags, and which flags are good.
 */
import vocabulary from './vocabulary.json' with { type: 'json' }
import { type Static, Type } from 'typebox'
import { named, object, scalar } from '../schema.ts'
import { MEASURES, MEASURE_NAMES, type MeasureName } from '../../sea/columns.ts'
import type { TakeDoubt } from '../reading/source-files.ts'
import type { BuoyRecord } from '../../sea/records.ts'
import type { OpenTable } from './erddap-table.ts'
import { type ValueColumn, conversionOf, numberOf, saysGoesTo, valueColumn } from '../reading/units.ts'
import { isGoodMeaning, wordsOf } from '../reading/cf.ts'
import { IDENTIFIER } from '../reading/stations.ts'
import { type TimeReader, timeReader } from '../reading/times.ts'

export const ERDDAP_OPTIONS = object({
  source: Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\x00-\\x1f"]+$' })),
  network: Type.Optional(Type.Enum(['national', 'coastal'])),
  /** Measures by the names of their columns, before all other rules. */
  columns: Type.Optional(named(Type.Enum([...MEASURE_NAMES, 'meanPeriod', 'none']), { maxProperties: 100 })),
  /** The column with the identifier of the station. */
  station: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  /** Good flags, by the names of flag columns. */
  flags: Type.Optional(named(Type.Array(scalar(50), { minItems: 1, maxItems: 100 }), { maxProperties: 100 })),
})
export type ErddapOptions = Static<typeof ERDDAP_OPTIONS>

/** The meaning of a column: a measure, or the mean period that may stand in for one. */
export type Quantity = MeasureName | 'meanPeriod'

export const normal = (label: string): string =>
  label
    .replace(/_\d{1,2}$/, '')
    .replaceAll('_', '')
    .toLowerCase()

/** Attributes by variable; those of the dataset as a whole are under `NC_GLOBAL`. */
export type Info = ReadonlyMap<string, ReadonlyMap<string, string>>

export const NO_INFO: Info = new Map()

export interface TableFile {
  path: string
  stem: string
  info: Info
}

/** A column of flags. A value is taken if its flag is in `good` or missing. */
interface Flag {
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

const FLAG_LABEL =
  /_?(?:qc_?agg|rollup_?qc|qartod|qc|qf|quality_?control|(?:qc_?|quality_?)?flag(?:primary)?)$/i

/** Flags of the whole row; CDIP's are for its waves alone. */
const ROW_FLAG = /^(?:waveflagprimary|flagprimary|qc?_?flag|flag|quality_?control|qc)$/i

/** The flag columns of a measured column, or the name of a flag column with an unknown meaning. */
export function flagsOf(
  measuredField: number,
  name: MeasureName,
  labels: readonly string[],
  info: Info,
  given: NonNullable<ErddapOptions['flags']>,
): Flag[] | string {
  const label = labels[measuredField]
  const ancillary = wordsOf(info.get(label)?.get('ancillary_variables') ?? '')
  const isWave = !['waterTemperature', 'windSpeed', 'windDirection', 'gustSpeed'].includes(name)
  const flags: Flag[] = []
  for (const [field, other] of labels.entries()) {
    if (field === measuredField) continue
    const isItsOwn =
      FLAG_LABEL.test(other) && normal(other.replace(FLAG_LABEL, '')) === normal(label) && other !== label
    const isOfRow = ROW_FLAG.test(other) && (isWave || !/^wave/i.test(other))
    const isNamed =
      ancillary.includes(other) && (FLAG_LABEL.test(other) || info.get(other)?.has('flag_meanings'))
    if (!isItsOwn && !isOfRow && isNamed !== true) continue
    const good = goodFlags(other, info, given)
    if (good === null) return other
    const missing = numberOf(info.get(other)?.get('_FillValue') ?? '')
    flags.push({ field, good, missing: missing === null || Number.isNaN(missing) ? [] : [missing] })
  }
  return flags
}

/** What nobody has controlled is as good as its source, in tables. */
const UNCONTROLLED = /^(?:not_qced|no_qc(?:_performed)?|no_quality_control|blank|changes)$/i
const isGoodWord = (word: string): boolean => isGoodMeaning(word) || UNCONTROLLED.test(word)

/** The good values of a flag column; null where nothing gives their meaning. */
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
  const [values, meanings] = ['flag_values', 'flag_meanings'].map((name) =>
    wordsOf(info.get(label)?.get(name) ?? ''),
  )
  if (values.length > 0 && values.length === meanings.length) {
    return new Set(values.filter((_, i) => isGoodWord(meanings[i])).map(plainFlag))
  }
  // Words of another number, and masks of bits, tell nothing that is certain.
  if (meanings.length > 0) return null
  const described = [...(info.get(label)?.get('comment') ?? '').matchAll(/\b(\d{1,3}) ?[:=] ?(\w+)/g)]
  if (described.length > 1)
    return new Set(described.filter(([, , word]) => isGoodWord(word)).map(([, flag]) => flag))
  // CDIP: 1 is good.
  if (/flagprimary$/i.test(label)) return new Set(['1'])
  // IOOS QARTOD: passed, not evaluated.
  if (/(?:qc_?agg|rollup_?qc|qartod)$/i.test(label)) return new Set(['1', '2'])
  // Copernicus and EMODnet: good, probably good, changed, nominal, interpolated.
  if (/^[A-Z0-9]+_QC$/.test(label)) return new Set(['1', '2', '5', '7', '8'])
  // Canada's MEDS: not controlled, good, changed, acceptable.
  if (/^q_flag$/i.test(label)) return new Set(['0', '1', '5', '6'])
  // Irish Marine Institute: unknown, good, probably good.
  if (/^qc_?flag$/i.test(label)) return new Set(['0', '1', '2'])
  return null
}

interface Meaning {
  readonly name: Quantity
  /** Of words with the same meaning the first is preferred. */
  readonly rank: number
}

function meaningsOf(words: { readonly [name in Quantity]: readonly string[] }): ReadonlyMap<string, Meaning> {
  const quantities = Object.keys(words) as Quantity[]
  return new Map(
    quantities.flatMap((name) => words[name].map((word, rank): [string, Meaning] => [word, { name, rank }])),
  )
}

/** CF standard names by preference; `to_direction` stands for where waves and wind go. */
const STANDARD_NAMES = meaningsOf(vocabulary.standardNames)

/**
 * Names of columns, compared without case, `_` and a sensor's number ("significant_wave_height_3"). A name
 * with capitals is compared as it is: in small letters it means something else.
 */
const OWN_NAMES = meaningsOf(vocabulary.labels)

/** Names of columns with the station's identifier, compared like `OWN_NAMES`. */
const STATION_LABELS = vocabulary.station

const NAME_LABELS = vocabulary.name

/** Own names that many use for other things than these: a standard name counts more. */
const GENERIC: readonly string[] = vocabulary.generic

/** Own names that are by definition where waves and wind come from. */
const FROM_LABELS: readonly string[] = vocabulary.from

export interface MeasuredColumn {
  field: number
  column: ValueColumn
  flags: Flag[]
  fault: string
  flagged: string
}

interface Layout {
  time: { field: number; read: TimeReader }
  /** The column of the identifier, or the identifier of all rows. */
  station: number | string
  /** Columns; −1 for one that the table does not have. */
  name: number
  lat: number
  lng: number
  depth: number
  /** Metres in one unit of depth. */
  metres: number
  measured: MeasuredColumn[]
  /** The place of the whole table, used where its rows give none. */
  place: { name: string; lat: number; lng: number }
}

export function layoutOf(
  { labels, units }: OpenTable,
  { info, stem }: TableFile,
  options: ErddapOptions,
  known: ReadonlyMap<string, BuoyRecord>,
  doubt: TakeDoubt,
): Layout | string {
  const plain = labels.map(normal)
  const attribute = (label: string, name: string): string => info.get(label)?.get(name) ?? ''
  const find = (candidates: readonly string[]): number => {
    for (const candidate of candidates) {
      const field = plain.indexOf(candidate)
      if (field >= 0) return field
    }
    return -1
  }
  const timeField = find(['time'])
  if (timeField < 0) return 'the table has no column time'
  const read = timeReader(units[timeField])
  if (read === null) return 'the column time is in an unknown unit'

  const chosen = chooseColumns(labels, info, options.columns ?? {}, doubt)
  standInForPeriod(chosen, labels, doubt)
  const measured = MEASURE_NAMES.flatMap((name) => {
    const field = chosen.get(name)
    if (field === undefined) return []
    return measuredColumn(name, field, labels, units[field], info, options.flags ?? {}, doubt) ?? []
  })
  const cfRole = labels.findIndex((label) => attribute(label, 'cf_role') === 'timeseries_id')
  const named = options.station === undefined ? -1 : labels.indexOf(options.station)
  const stationField = named >= 0 ? named : cfRole >= 0 ? cfRole : find(STATION_LABELS)
  const depth = find(['depth', 'z', 'altitude'])
  const temperature = labels[chosen.get('waterTemperature') ?? -1] ?? ''
  const isOfSurface =
    /^(sst|sstp|seasurface.*)$/.test(normal(temperature)) ||
    /surface/.test(attribute(temperature, 'standard_name'))
  for (const label of labels) if (Number(attribute(label, 'scale_factor') || 1) !== 1) doubt('scaled', label)
  return {
    time: { field: timeField, read },
    station: stationField >= 0 ? stationField : identifierOf(stem, info, known),
    name: find(NAME_LABELS),
    lat: find(['latitude', 'lat']),
    lng: find(['longitude', 'lon', 'lng']),
    // A surface temperature stays at whatever depth the sea, or its mooring, has there.
    depth: isOfSurface ? -1 : depth,
    metres: conversionOf('significantHeight', (depth < 0 ? '' : units[depth]) || 'm')?.factor ?? NaN,
    measured,
    place: placeOf(info),
  }
}

/** Without a significant period the peak period stands for `period`, else the mean period, with a doubt. */
function standInForPeriod(chosen: Map<Quantity, number>, labels: readonly string[], doubt: TakeDoubt): void {
  if (chosen.has('period')) return
  const peak = chosen.get('peakPeriod')
  const mean = chosen.get('meanPeriod')
  const standIn = peak ?? mean
  if (standIn !== undefined) chosen.set('period', standIn)
  if (peak === undefined && mean !== undefined) doubt('meanPeriod', labels[mean])
}

function measuredColumn(
  name: MeasureName,
  field: number,
  labels: readonly string[],
  ownUnit: string,
  info: Info,
  goodFlags: NonNullable<ErddapOptions['flags']>,
  doubt: TakeDoubt,
): MeasuredColumn | null {
  const label = labels[field]
  const attribute = (attributeName: string): string => info.get(label)?.get(attributeName) ?? ''
  const unit = ownUnit || attribute('units')
  const [here, described] = [unit, attribute('units') || unit].map((one) => conversionOf(name, one)?.factor)
  if (here !== described) doubt('otherUnit', `${label} in ${unit}`)
  const isFrom = FROM_LABELS.includes(label) || FROM_LABELS.includes(normal(label))
  const saysTo =
    /to_?direction(_at_|$)/i.test(attribute('standard_name') || label) ||
    (attribute('standard_name') === '' && saysGoesTo(attribute('long_name')))
  if (isFrom && saysTo) doubt('ownName', `${label}: where it comes from`)
  const goesTo = saysTo && !isFrom
  const missing = ['_FillValue', 'missing_value']
    .map((marker) => numberOf(attribute(marker)))
    .filter((marker): marker is number => marker !== null && !Number.isNaN(marker))
  const column = valueColumn(name, name, unit, {
    missing,
    goesTo: goesTo && MEASURES[name].unit === 'degree',
  })
  if (column === null) {
    doubt(unit === '' ? 'noUnit' : 'unknownColumn', `${label} ${unit}`.trim())
    return null
  }
  const flags = flagsOf(field, name, labels, info, goodFlags)
  if (typeof flags === 'string') {
    doubt('unexplainedFlags', `${label} flags in ${flags}`)
    return null
  }
  return { field, column, flags, fault: `${name} is not a number`, flagged: `${name} flagged bad` }
}

/**
 * The column of each quantity by option, standard name or own name. A well-known own name counts more than a
 * standard name that contradicts it. Only a period may share its column.
 */
function chooseColumns(
  labels: readonly string[],
  info: Info,
  given: NonNullable<ErddapOptions['columns']>,
  doubt: TakeDoubt,
): Map<Quantity, number> {
  const chosen = new Map<Quantity, number>()
  const meant: (Meaning & { field: number; isOwn: boolean })[] = []
  labels.forEach((label, field) => {
    if (Object.hasOwn(given, label)) {
      const name = given[label]
      if (name !== 'none' && !chosen.has(name)) chosen.set(name, field)
      return
    }
    const standardName = info.get(label)?.get('standard_name')
    const standard = STANDARD_NAMES.get(standardName ?? label)
    const own = OWN_NAMES.get(label) ?? OWN_NAMES.get(normal(label))
    const isGeneric = GENERIC.includes(label) || GENERIC.includes(normal(label))
    const isContradicted =
      own !== undefined && !isGeneric && standardName !== undefined && standard?.name !== own.name
    if (isContradicted) doubt('ownName', `${label} with ${standardName}, read as ${own.name}`)
    const isOwn = isContradicted || standard === undefined
    const meaning = isOwn ? own : standard
    if (meaning !== undefined) meant.push({ ...meaning, field, isOwn })
  })
  meant.sort((a, b) => Number(a.isOwn) - Number(b.isOwn) || a.rank - b.rank)
  for (const { name, field } of meant) {
    const known = chosen.get(name)
    if (known === undefined) chosen.set(name, field)
    else doubt('second', `${labels[field]} for ${name}, beside ${labels[known]}`)
  }
  return chosen
}

/** A table's identifier: the longest listed one that begins its file's name, its description's, or that. */
function identifierOf(stem: string, info: Info, known: ReadonlyMap<string, BuoyRecord>): string {
  const isFront = (identifier: string): boolean =>
    stem.startsWith(identifier) && !/^[0-9A-Za-z]/.test(stem.slice(identifier.length))
  const [listed] = [...known.keys()].filter(isFront).sort((a, b) => b.length - a.length)
  if (listed !== undefined) return listed
  const described = info.get('NC_GLOBAL')?.get('station_name') ?? ''
  return IDENTIFIER.test(described) ? described : stem.slice(0, 64)
}

/** The position in a description of one station, or the middle of bounds that are hardly wider than one. */
function placeOf(info: Info): { name: string; lat: number; lng: number } {
  const global = info.get('NC_GLOBAL')
  const number = (name: string): number => numberOf(global?.get(name) ?? '') ?? NaN
  const middle = (least: number, most: number): number =>
    most - least <= 0.1 ? Math.round((least + most) * 5e4) / 1e5 : NaN
  const either = (own: number, boxed: number): number => (Number.isNaN(own) ? boxed : own)
  return {
    name: global?.get('station_name') ?? '',
    lat: either(number('latitude'), middle(number('geospatial_lat_min'), number('geospatial_lat_max'))),
    lng: either(number('longitude'), middle(number('geospatial_lon_min'), number('geospatial_lon_max'))),
  }
}
