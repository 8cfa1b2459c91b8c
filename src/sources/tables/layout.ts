/** The meaning of a table's columns, by the map, by CF standard names and by well-known names. */
import { basename } from 'node:path'
import { MEASURES, MEASURE_NAMES, type MeasureName } from '../../sea/columns.ts'
import {
  fieldOf,
  isFrom,
  isGeneric,
  type Meaning,
  normal,
  offsetWord,
  ownMeaning,
  type Quantity,
  STANDARD_NAMES,
} from '../reading/known-names.ts'
import type { TakeDoubt } from '../reading/source-files.ts'
import { IDENTIFIER } from '../reading/stations.ts'
import { formatsOf, namesZone, type TimeReader, timeReader, timeUnit } from '../reading/times.ts'
import type { MeasuredColumn } from '../reading/measured-values.ts'
import { conversionOf, numberOf, saysGoesTo, valueColumn } from '../reading/units.ts'
import { type At, type Clock, type MappedTable, offsetSeconds, type ValueSpec } from './column-map.ts'
import { flagsOf, goodSet, type Info } from '../reading/flags.ts'
import type { OpenTable } from '../reading/text-table.ts'
import type { FileReport } from '../source.ts'

/** A table of a file, before its columns are known. */
export interface FoundTable {
  readonly table: OpenTable
  readonly map: MappedTable
  /** Of its file, without `.gz`. */
  readonly path: string
  readonly info: Info
  /**
   * Another look at the first rows, for tables of people: their times may be in any format, units may be
   * missing, and nines mark what is missing. Null for answers of servers, whose times are UTC unless they say
   * otherwise.
   */
  readonly look: (() => OpenTable | null) | null
  /**
   * The identifier that a cell stands for; null for a row of something else, which it has counted as skipped.
   */
  readonly identify?: (cell: string, file: FileReport) => string | null
  /** Ranks the rows, as in `Sink.rows`. */
  readonly feed?: number
}

/** What a table does not say, or says in more ways than one. Nothing is read by it until a map says it. */
export interface Question {
  readonly about: 'time' | 'timeFormat' | 'zone' | 'station' | 'measure' | 'flags' | 'encoding'
  /** Its column as the header writes it; empty for a question about the whole table. */
  readonly column: string
  /** In words. */
  readonly why: string
  /** What it can be: measures, or formats of times; empty for anything. */
  readonly can: readonly string[]
}
export type Ask = (question: Question) => void

export interface Layout {
  time: { fields: readonly number[]; unit: string; reader: () => TimeReader; isOfStation: boolean }
  /** The column of the identifier, or the identifier of all rows. */
  station: number | string
  /** Columns; −1 for one that the table does not have. */
  name: number
  lat: number
  lng: number
  depth: number
  /** The factors of latitude and longitude. */
  factors: readonly [number, number]
  /** Metres in one unit of depth. */
  metres: number
  measured: MeasuredColumn[]
  /** The place of the whole table, used where its rows give none. */
  place: { name: string; lat: number; lng: number }
}

const NINES = [99, 99.9, 99.99, 999, 999.9, 999.99, 9999, 9999.9, 9999.99, 99_999]
/** What people write for "missing"; 99 and 99.9 alone can be speeds. */
const USUAL_MISSING = [...NINES.map((nines) => -nines), ...NINES.filter((nines) => nines >= 999)]

/** Units of speeds and visibilities, which people write in several: one that is not given is not guessed. */
const NEVER_USUAL: ReadonlySet<string> = new Set(['km/h', 'km'])

/** The layout of a table, or the fault of its header. `ask` takes what only its operator can say. */
export function layoutOf(
  found: FoundTable,
  known: ReadonlyMap<string, unknown>,
  doubt: TakeDoubt,
  ask: Ask = () => undefined,
): Layout | string {
  const { table, map, path, info } = found
  const { labels, units } = table
  const { values = {} } = map
  const attribute = (label: string, name: string): string => info.get(label)?.get(name) ?? ''
  const lacking: At[] = []
  const columnOf = (at: At): number => {
    const field = table.column(at)
    if (field < 0) lacking.push(at)
    return field
  }
  const time = timeOf(found, columnOf, ask)
  if (typeof time === 'string') return time

  const chosen = chooseColumns(table, info, values, columnOf, doubt)
  if (!('period' in values)) standInForPeriod(chosen, labels, doubt)
  const measured = MEASURE_NAMES.flatMap((name) => {
    const field = chosen.get(name)
    return field === undefined ? [] : (measuredColumn(name, field, found, doubt, ask) ?? [])
  })
  for (const value of Object.values(values)) {
    if (value?.quality !== undefined) columnOf(value.quality.at)
  }

  const cfRole = labels.findIndex((label) => attribute(label, 'cf_role') === 'timeseries_id')
  const ownColumn = cfRole >= 0 ? cfRole : fieldOf('station', labels)
  const { station } = map
  const position = (place: typeof map.lat): number =>
    typeof place === 'object' ? columnOf(place.at) : columnOf(place!)
  const [lat, lng] = (['lat', 'lng'] as const).map((name) =>
    map[name] === undefined ? fieldOf(name, labels) : position(map[name]),
  )
  const stationOf = (): Layout['station'] => {
    if (typeof station === 'object') return station.is
    if (station !== undefined) return columnOf(station)
    const inName = map.file.exec(basename(path))?.[1]
    return inName ?? (ownColumn >= 0 ? ownColumn : identifierOf(path, info, known))
  }
  const layout: Layout = {
    time,
    station: stationOf(),
    name: map.name === undefined ? fieldOf('name', labels) : columnOf(map.name),
    lat,
    lng,
    factors: [map.lat, map.lng].map((place) => (typeof place === 'object' ? place.factor : 1)) as [
      number,
      number,
    ],
    ...depthOf(labels, units, chosen, attribute),
    measured,
    place: placeOf(info),
  }
  for (const label of labels) {
    if (Number(attribute(label, 'scale_factor') || 1) !== 1) doubt('scaled', label)
  }
  if (lacking.length > 0 && found.look !== null)
    return `the header lacks ${lacking.map((at) => JSON.stringify(at)).join(', ')}; it has ${labels.join(', ')}`
  if (labels.length > 0 && measured.length > 0) doubt('columns', accountOf(layout, labels))
  return layout
}

/** Which column is what: "Hs is significantHeight; Flag, Spread are not used". */
function accountOf(
  { time, station, name, lat, lng, depth, measured }: Layout,
  labels: readonly string[],
): string {
  const used = new Map<number, string[]>()
  const take = (field: number, what: string): unknown => used.set(field, [...(used.get(field) ?? []), what])
  for (const field of time.fields) take(field, `time (${time.unit === '' ? 'ISO' : time.unit})`)
  if (typeof station === 'number') take(station, 'station')
  const places = { name, lat, lng, depth }
  for (const [what, field] of Object.entries(places)) take(field, what)
  for (const { field, column, flags } of measured) {
    take(field, column.name)
    for (const flag of flags) used.set(flag.field, ['flag'])
  }
  const taken = labels.flatMap((label, i) =>
    used.has(i) ? [`${label} is ${used.get(i)!.join(' and ')}`] : [],
  )
  const others = labels.filter((label, i) => label !== '' && !used.has(i))
  return [...taken, ...(others.length === 0 ? [] : [`not used: ${others.join(', ')}`])].join('; ')
}

/** Rows that decide the format of times: the first ones, and one in `ONE_IN` of the others. */
const LOOKED_AT = 2000
const ONE_IN = 50

function timeOf(
  { table, map, look }: FoundTable,
  columnOf: (at: At) => number,
  ask: Ask,
): Layout['time'] | string {
  const { labels, units } = table
  const { at, unit: given } = map.time ?? {}
  const dated = labels.findIndex((label) => /^date(utc|gmt|local)?$/.test(normal(label)))
  const clock = fieldOf('clock', labels)
  const isSplit = look !== null && dated >= 0 && clock >= 0
  const own = isSplit ? [dated, clock] : [fieldOf('time', labels)]
  const fields = at !== undefined ? [at].flat().map(columnOf) : own
  const [first] = fields
  const column = labels[first] ?? ''
  const unclear = (about: Question['about'], why: string, can: readonly string[] = []): string => {
    ask({ about, column, why, can })
    return why
  }
  if (first < 0)
    return at === undefined
      ? unclear(
          'time',
          `no column is the time: one of ${labels.join(', ')} must be called time, or named in "time"`,
        )
      : `the header lacks ${JSON.stringify(at)}, the time; it has ${labels.join(', ')}`
  const ownUnit = units[first] ?? ''
  let unit = given ?? ownUnit
  let wall: Clock = map.clock
  if (look !== null) {
    const probe = look()
    const texts: string[] = []
    for (let row = 0; probe?.next() === true; row++) {
      if (row < LOOKED_AT || row % ONE_IN === 0) texts.push(textOf(probe, fields))
    }
    if (given === undefined && timeUnit(ownUnit) === null) {
      const formats = formatsOf(texts)
      if (texts.length > 0 && formats.length !== 1)
        return unclear('timeFormat', unknownFormat(column, formats, texts), formats)
      unit = formats[0] ?? 'ISO'
    }
    const word = offsetWord(fields.map((field) => `${labels[field]} ${units[field]}`).join(' '))
    wall ??= word === null ? null : offsetSeconds(word)
    const isTold = timeUnit(unit) !== null || texts.every((text) => namesZone(text, unit) !== false)
    if (wall === null && !isTold)
      return unclear(
        'zone',
        `the times of "${column}" name no zone: say "offset" ("+00:00" for UTC) or "zone" in "time"`,
      )
  }
  const moments = wall ?? 0
  if (timeReader(unit, moments) === null) return 'the column time is in an unknown unit'
  return {
    fields,
    unit,
    reader: () => timeReader(unit, moments)!,
    isOfStation: typeof moments !== 'number',
  }
}

function unknownFormat(label: string, formats: readonly string[], texts: readonly string[]): string {
  const example = JSON.stringify(texts[0].slice(0, 40))
  return formats.length === 0
    ? `the times of "${label}" are in no one format (${example}): say it in "time", such as "unit": "DD/MM/YYYY HH:mm"`
    : `the times of "${label}" (${example}) can be ${formats.join(' or ')}: say which in "time" with "unit"`
}

/** The cells of several columns as one text. */
export const textOf = (table: OpenTable, fields: readonly number[]): string =>
  fields.length === 1 ? table.text(fields[0]) : fields.map((field) => table.text(field)).join(' ')

function depthOf(
  labels: readonly string[],
  units: readonly string[],
  chosen: ReadonlyMap<Quantity, number>,
  attribute: (label: string, name: string) => string,
): Pick<Layout, 'depth' | 'metres'> {
  const depth = fieldOf('depth', labels)
  const temperature = labels[chosen.get('waterTemperature') ?? -1] ?? ''
  const isOfSurface =
    /^(sst|sstp|seasurface.*)$/.test(normal(temperature)) ||
    /surface/.test(attribute(temperature, 'standard_name'))
  return {
    // A surface temperature stays at whatever depth the sea, or its mooring, has there.
    depth: isOfSurface ? -1 : depth,
    metres: conversionOf('significantHeight', units[depth] || 'm')?.factor ?? NaN,
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
  { table, map, info, look }: FoundTable,
  doubt: TakeDoubt,
  ask: Ask,
): MeasuredColumn | null {
  const { labels, units } = table
  const label = labels[field] ?? ''
  // A peak period that stands in for the period is read by its own entry in the map.
  const given = map.values?.[name] ?? (name === 'period' ? map.values?.peakPeriod : undefined) ?? {}
  const { unit: told, factor = 1, offset = 0, missing = [], direction, quality }: Partial<ValueSpec> = given
  const attribute = (attributeName: string): string => info.get(label)?.get(attributeName) ?? ''
  const written = (units[field] ?? '') || attribute('units')
  const isUsual =
    told === undefined && written === '' && look !== null && !NEVER_USUAL.has(MEASURES[name].unit)
  const unit = told ?? (isUsual ? MEASURES[name].unit : written)
  if (isUsual) doubt(MEASURES[name].unit === 'm' ? 'metres' : 'usualUnit', label)
  const [here, described] = [unit, attribute('units') || unit].map((one) => conversionOf(name, one)?.factor)
  if (here !== described) doubt('otherUnit', `${label} in ${unit}`)
  const markers = [...missing, ...(map.missing ?? []), ...(look === null ? [] : USUAL_MISSING)]
  const numbers = ['_FillValue', 'missing_value'].map(attribute).concat(markers.map(String)).map(numberOf)
  const column = valueColumn(name, name, unit, {
    missing: numbers.filter((marker): marker is number => marker !== null && !Number.isNaN(marker)),
    goesTo: MEASURES[name].unit === 'degree' && (direction === undefined ? goesTo() : direction === 'to'),
    factor,
    offset,
  })
  if (column === null) {
    doubt(unit === '' ? 'noUnit' : 'unknownColumn', `${label} ${unit}`.trim())
    return null
  }
  const flags = flagsOf(field, name, labels, info, map.flags ?? {})
  if (typeof flags === 'string') {
    doubt('unexplainedFlags', `${label} flags in ${flags}`)
    ask({ about: 'flags', column: flags, why: `what the flags of ${label} mean is not known`, can: [] })
    return null
  }
  if (quality !== undefined) flags.push({ field: table.column(quality.at), good: goodSet(quality.good) })
  const words = new Set(markers.map((marker) => String(marker).trim()))
  const texts = { fault: `${name} is not a number`, flagged: `${name} flagged bad` }
  return { field, column, missing: words, flags, ...texts, isFound: false }

  function goesTo(): boolean {
    const saysTo =
      /to_?direction(_at_|$)/i.test(attribute('standard_name') || label) ||
      (attribute('standard_name') === '' && saysGoesTo(attribute('long_name')))
    if (isFrom(label) && saysTo) doubt('ownName', `${label}: where it comes from`)
    return saysTo && !isFrom(label)
  }
}

/**
 * The column of each quantity by the map, by standard name or own name. A well-known own name counts more
 * than a standard name that contradicts it. Only a period may share its column.
 */
function chooseColumns(
  { labels }: OpenTable,
  info: Info,
  given: NonNullable<MappedTable['values']>,
  columnOf: (at: At) => number,
  doubt: TakeDoubt,
): Map<Quantity, number> {
  const chosen = new Map<Quantity, number>()
  for (const [name, value] of Object.entries(given) as [MeasureName, ValueSpec | null][]) {
    const field = value === null ? -1 : columnOf(value.at)
    if (field >= 0) chosen.set(name, field)
  }
  const taken = new Set(chosen.values())
  const meant: (Meaning & { field: number; isOwn: boolean })[] = []
  labels.forEach((label, field) => {
    if (taken.has(field)) return
    const standardName = info.get(label)?.get('standard_name')
    const standard = STANDARD_NAMES.get(standardName ?? label)
    const own = ownMeaning(label)
    const isContradicted =
      own !== undefined && !isGeneric(label) && standardName !== undefined && standard?.name !== own.name
    const isOwn = isContradicted || standard === undefined
    const meaning = isOwn ? own : standard
    if (meaning === undefined || meaning.name in given) return
    if (isContradicted) doubt('ownName', `${label} with ${standardName}, read as ${own.name}`)
    meant.push({ ...meaning, field, isOwn })
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
function identifierOf(path: string, info: Info, known: ReadonlyMap<string, unknown>): string {
  const stem = basename(path).replace(/\.[^.]*$/, '')
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
