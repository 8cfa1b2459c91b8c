/** The meaning of a table's columns, by the map, by CF standard names and by well-known names. */
import { basename } from 'node:path'
import { MEASURES, MEASURE_NAMES, type MeasureName } from '../../sea/columns.ts'
import { entryOf } from '../../system/entry-of.ts'
import { fieldOf, type HeaderCell, namesMeasure, namesTime, readHeaderCell } from '../reading/header.ts'
import { formatOf, isFrom, type Quantity } from '../reading/known-names.ts'
import type { TakeDoubt } from '../reading/source-files.ts'
import { IDENTIFIER } from '../reading/stations.ts'
import type { MeasuredColumn } from '../reading/measured-values.ts'
import { bandColumns, type BandFields, bandFields } from './bands.ts'
import {
  conversionOf,
  degreesOfPoint,
  isUnit,
  numberOf,
  saysGoesTo,
  type ValueColumn,
  valueColumn,
} from '../reading/units.ts'
import type { OpenTable } from '../reading/text-table.ts'
import type { FileReport } from '../source.ts'
import type { At, MappedTable, ValueSpec } from './column-map.ts'
import { type Flagged, flagsOf, goodSet, type Attributes } from '../reading/flags.ts'
import { chooseColumns } from './measured-columns.ts'
import type { Ask, Columns, Question } from './questions.ts'
import { sampleOf } from './sample.ts'
import { textOf, timeFields, type Times, timesOf } from './time-columns.ts'

export type { Ask, Question }
export { textOf }

/** A table of a file, before its columns are known. */
export interface FoundTable {
  readonly table: OpenTable
  readonly map: MappedTable
  /** Path of its file, without `.gz`. */
  readonly path: string
  readonly info: Attributes
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
  /** The first line that is not UTF-8, "line 3: …", in a text whose encoding nobody has named. */
  readonly odd?: string | null
  /**
   * The table below a second header with the same columns in another order or unit; null where there is none.
   */
  readonly below?: (doubt: TakeDoubt) => FoundTable | null
  /** Ranks the rows, as in `Sink.rows`. */
  readonly feed?: number
}

export interface Layout {
  time: Times
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
  /** The columns of wave spectra; null where there are none. */
  bands: BandFields | null
  /** The place of the whole table, used where its rows give none. */
  place: { name: string; lat: number; lng: number }
}

const NINES = [99, 99.9, 99.99, 999, 999.9, 999.99, 9999, 9999.9, 9999.99, 99_999]
/** Numbers that people write for "missing"; 99 and 99.9 alone can be speeds. */
const USUAL_MISSING = [...NINES.map((nines) => -nines), ...NINES.filter((nines) => nines >= 999)]

/** The layout of a table, or the fault of its header. `ask` takes what only its operator can say. */
export function layoutOf(
  found: FoundTable,
  known: ReadonlyMap<string, unknown>,
  doubt: TakeDoubt,
  ask: Ask = () => undefined,
): Layout | string {
  const { table, map, info, look, odd } = found
  const { labels, units, written } = table
  const { values = {} } = map
  const attribute = (label: string, name: string): string => info.get(label)?.get(name) ?? ''
  const lacking: At[] = []
  const columnOf = (at: At): number => {
    const field = table.column(at)
    if (field < 0) lacking.push(at)
    return field
  }
  const bands = bandFields(table, map.spectra)
  if (typeof bands === 'string') return bands
  // The columns of spectra are nothing else: their words mean nothing to the readings.
  const ofBands = new Set(bands === null ? [] : bandColumns(bands))
  const words = (look === null ? labels : written).map((text, i) => (ofBands.has(i) ? '' : text))
  const cells = words.map(readHeaderCell)
  if (odd !== undefined && odd !== null) {
    doubt('notUtf8', odd)
    ask({ about: 'encoding', column: '', why: `it is not UTF-8: ${odd}`, can: [] })
  }
  const timed = timeFields(cells, map.time?.at, columnOf, look !== null)
  const sample = look === null ? null : sampleOf(look(), fieldsToSee(cells, timed))
  const columns: Columns = { cells, sample, ask, doubt }
  const time = timesOf(timed, { table, map, ...columns })
  if (typeof time === 'string') return time

  const chosen = chooseColumns({ ...columns, labels, info, map, columnOf })
  if (!('period' in values)) standInForPeriod(chosen, labels, doubt)
  const measured = MEASURE_NAMES.flatMap((name) => {
    const field = chosen.get(name)
    return field === undefined ? [] : (measuredColumn(name, field, found, columns) ?? [])
  })
  for (const value of Object.values(values)) {
    if (value?.quality !== undefined) columnOf(value.quality.at)
  }

  const cfRole = labels.findIndex((label) => attribute(label, 'cf_role') === 'timeseries_id')
  const ownColumn = cfRole >= 0 ? cfRole : fieldOf('station', cells)
  const [name, lat, lng] = (['name', 'lat', 'lng'] as const).map((role) => {
    const place = map[role]
    if (place === undefined) return fieldOf(role, cells)
    return place === null ? -1 : columnOf(typeof place === 'object' ? place.at : place)
  })
  const station = stationOf(found, ownColumn, columnOf, known)
  const several = sample === null ? null : severalStations(station, name, found, columns, known)
  if (several !== null) return several
  const layout: Layout = {
    time,
    station,
    name,
    lat,
    lng,
    factors: [factorOf('lat', lat, found, columns), factorOf('lng', lng, found, columns)],
    ...depthOf(labels, units, cells, chosen, attribute),
    measured,
    bands,
    place: placeOf(info),
  }
  for (const label of labels) {
    if (Number(attribute(label, 'scale_factor') || 1) !== 1) doubt('scaled', label)
  }
  if (lacking.length > 0 && found.look !== null)
    return `the header lacks ${lacking.map((at) => JSON.stringify(at)).join(', ')}; it has ${labels.join(', ')}`
  if (labels.length > 0 && measured.length + ofBands.size > 0) doubt('columns', accountOf(layout, labels))
  return layout
}

/** Unknown columns whose cells are looked at. */
const MOST_UNKNOWN = 40

/** The columns whose cells decide: times, flags, stations, positions, zones and what is not known. */
function fieldsToSee(cells: readonly HeaderCell[], timed: readonly number[]): ReadonlySet<number> {
  const unknown = cells.flatMap((cell, i) => (cell.unknown.length > 0 && cell.meaning === null ? [i] : []))
  const decisive = cells.flatMap(({ isFlag, roles }, i) => {
    const isSeen = isFlag || roles.some((role) => ['station', 'name', 'lng', 'lat', 'zone'].includes(role))
    return isSeen ? [i] : []
  })
  const index = cells[0]?.text === '' ? [0] : []
  return new Set(
    [...timed, ...index, ...decisive, ...unknown.slice(0, MOST_UNKNOWN)].filter((field) => field >= 0),
  )
}

/** The column of the identifier, or the identifier of all rows. */
function stationOf(
  { map, path, info }: FoundTable,
  ownColumn: number,
  columnOf: (at: At) => number,
  known: ReadonlyMap<string, unknown>,
): number | string {
  const { station } = map
  if (typeof station === 'object') return station.is
  if (station !== undefined) return columnOf(station)
  const inName = map.file.exec(basename(path))?.[1]
  return inName ?? (ownColumn >= 0 ? ownColumn : identifierOf(path, info, known))
}

const MOST_STATIONS_SEEN = 50

/**
 * Why all rows cannot be of one station, in words; null where they can. Several names are several stations. A
 * column of few words that nobody has explained may name them, too, which is only asked.
 */
function severalStations(
  station: number | string,
  name: number,
  { table, map }: FoundTable,
  { cells, sample, ask, doubt }: Columns,
  known: ReadonlyMap<string, unknown>,
): string | null {
  if (typeof station === 'number' || sample === null) return null
  const wordsIn = (field: number): string[] => [...new Set(sample.texts(field))].filter((text) => text !== '')
  const listed = (words: readonly string[]): string => words.slice(0, 3).join(', ')
  const own = fieldOf('station', cells)
  for (const field of [name, own].filter((one) => one >= 0)) {
    const names = wordsIn(field)
    if (names.length < 2 || (field === own && map.station !== undefined && known.size > 0)) continue
    const which = table.written[field]
    const why = `"${which}" names ${names.length} stations (${listed(names)}), but all rows are read as one: say "station": ${JSON.stringify(which)}, or "name": null for one station`
    ask({ about: 'station', column: which, why, can: [] })
    return why
  }
  if (map.station !== undefined) return null
  for (const [field, cell] of cells.entries()) {
    if (cell.unknown.length === 0 || namesMeasure(cell) || namesTime(cell) || cell.isFlag || cell.isUnits)
      continue
    const words = wordsIn(field)
    const rows = sample.texts(field).length
    const isFew = words.length > 1 && words.length <= MOST_STATIONS_SEEN && words.length * 2 <= rows
    if (
      !isFew ||
      words.some((word) => numberOf(word) !== null || degreesOfPoint(word) !== null || word.includes(':'))
    )
      continue
    doubt('otherStations', `${table.written[field]}: ${listed(words)}`)
    ask({
      about: 'station',
      column: table.written[field],
      why: `it has ${words.length} words (${listed(words)}), which may be stations`,
      can: [],
    })
  }
  return null
}

/** Factor of latitudes or longitudes: by the map, or by the hemisphere of a header or a format. */
function factorOf(
  role: 'lat' | 'lng',
  field: number,
  { table, map, look }: FoundTable,
  { cells, sample, doubt }: Columns,
): number {
  const given = map[role]
  if (typeof given === 'object') return given.factor
  if (look === null || field < 0 || sample === null) return 1
  const words = role === 'lat' ? /\b(?:s|south)\b/i : /\b(?:w|west)\b|degrees?_west/i
  // A column of JSON that only its place names has no words.
  const isTold = words.test(cells[field]?.text ?? '') && cells[field].qualifiers.has('hemisphere')
  const format = formatOf(table.labels)
  const isOfFormat = role === 'lng' && format?.isWestward === true
  const isNegative = sample.texts(field).some((text) => text.startsWith('-'))
  if ((!isTold && !isOfFormat) || isNegative) return 1
  doubt('westward', `${table.labels[field]}${isTold ? '' : ` (${format!.of})`}`)
  return -1
}

/** Names the columns' meanings: "Hs is significantHeight; Flag, Spread are not used". */
function accountOf(
  { time, station, name, lat, lng, depth, measured, bands }: Layout,
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
  const ofBands = bands === null ? [] : bandColumns(bands)
  for (const field of ofBands) used.set(field, [])
  const taken = labels.flatMap((label, i) =>
    (used.get(i) ?? []).length > 0 ? [`${label} is ${used.get(i)!.join(' and ')}`] : [],
  )
  if (ofBands.length > 0) taken.push(`${ofBands.length} columns are wave spectra`)
  const others = labels.filter((label, i) => label !== '' && !used.has(i))
  return [...taken, ...(others.length === 0 ? [] : [`not used: ${others.join(', ')}`])].join('; ')
}

function depthOf(
  labels: readonly string[],
  units: readonly string[],
  cells: readonly HeaderCell[],
  chosen: ReadonlyMap<Quantity, number>,
  attribute: (label: string, name: string) => string,
): Pick<Layout, 'depth' | 'metres'> {
  const depth = fieldOf('depth', cells)
  const field = chosen.get('waterTemperature') ?? -1
  const temperature = labels[field] ?? ''
  const isOfSurface =
    /^(sst|sstp|seasurface.*)$/i.test(cells[field]?.meaning?.word ?? '') ||
    cells[field]?.qualifiers.has('surface') ||
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

/** Units of speeds and visibilities, which people write in several: a missing unit is not guessed. */
const NEVER_USUAL: ReadonlySet<string> = new Set(['km/h', 'km'])

/** A cell of a line of units without brackets and other words. */
function unitOf({ labels, units, written }: OpenTable, field: number, cell: HeaderCell | undefined): string {
  const isBeside = written[field] !== labels[field]
  const text = isBeside ? '' : (units[field] ?? '')
  if (text === '') return cell?.unit ?? ''
  return isUnit(text) ? text : readHeaderCell(`(${text})`).unit || text
}

function measuredColumn(
  name: MeasureName,
  field: number,
  { table, map, info, look }: FoundTable,
  { cells, sample, doubt, ask }: Columns,
): MeasuredColumn | null {
  const { labels, units } = table
  const label = labels[field] ?? ''
  const cell: HeaderCell | undefined = cells[field]
  // A peak period that stands in for the period is read by its own entry in the map.
  const given = map.values?.[name] ?? (name === 'period' ? map.values?.peakPeriod : undefined) ?? {}
  const {
    unit: told,
    unitAt,
    factor = 1,
    offset = 0,
    missing = [],
    direction,
    quality,
  }: Partial<ValueSpec> = given
  const attribute = (attributeName: string): string => info.get(label)?.get(attributeName) ?? ''
  const beside = look === null ? (units[field] ?? '') : unitOf(table, field, cell)
  const written = beside || attribute('units') || told || tableUnit()
  const unitField = unitAt === undefined ? unitColumn() : table.column(unitAt)
  const isUsual =
    told === undefined &&
    written === '' &&
    unitField < 0 &&
    look !== null &&
    !NEVER_USUAL.has(MEASURES[name].unit)
  const unit = told ?? (isUsual || unitField >= 0 ? written || MEASURES[name].unit : written)
  if (isUsual) doubt(MEASURES[name].unit === 'm' ? 'metres' : 'usualUnit', label)
  const factorOfUnit = (one: string): number | undefined => conversionOf(name, one)?.factor
  const own = tableUnit()
  const described = attribute('units') || own || unit
  const isDenied = factorOfUnit(unit) !== factorOfUnit(described)
  // The document's own unit counts before the map's, unless a factor of the map makes up for it.
  const isOwn = own !== '' && isDenied && factor === 1 && offset === 0
  if (isDenied && Math.abs(factorOfUnit(unit)! * factor - factorOfUnit(described)!) > 1e-12)
    doubt('otherUnit', `${label} in ${isOwn ? own : unit}`.trim())
  const usual = look === null ? [] : [...USUAL_MISSING, ...(formatOf(labels)?.missing ?? [])]
  const markers = [...missing, ...(map.missing ?? []), ...usual]
  const numbers = ['_FillValue', 'missing_value'].map(attribute).concat(markers.map(String)).map(numberOf)
  const options = {
    missing: numbers.filter((marker): marker is number => marker !== null && !Number.isNaN(marker)),
    goesTo: MEASURES[name].unit === 'degree' && (direction === undefined ? goesTo() : direction === 'to'),
    factor,
    offset,
  }
  const columnIn = (one: string): ValueColumn | null => valueColumn(name, name, one, options)
  const column = columnIn(isOwn ? own : unit)
  if (column === null) {
    doubt(unit === '' ? 'noUnit' : 'unknownColumn', `${label} ${unit}`.trim())
    ask({
      about: 'unit',
      column: label,
      why: unit === '' ? 'it has no unit' : `its unit ${unit} is not known`,
      can: [name],
    })
    return null
  }
  if (cell?.qualifiers.has('magnetic')) doubt('magnetic', label)
  const flagged: Flagged = { labels, cells, info, given: map.flags ?? {}, sample }
  const flags = flagsOf(field, name, flagged, doubt)
  if (typeof flags === 'string') {
    doubt('unexplainedFlags', `${label} flags in ${flags}`)
    ask({ about: 'flags', column: flags, why: `what the flags of ${label} mean is not known`, can: [] })
    return null
  }
  if (quality !== undefined) flags.push({ field: table.column(quality.at), good: goodSet(quality.good) })
  const words = new Set(markers.map((marker) => String(marker).trim()))
  const texts = { fault: `${name} is not a number`, flagged: `${name} flagged bad` }
  const known = new Map<string, ValueColumn | null>()
  const inUnit = (text: string): ValueColumn | null =>
    text === '' ? column : entryOf(known, text, () => columnIn(text))
  return { field, column, missing: words, flags, ...texts, unitField, inUnit }

  /** The unit that the document gives beside the rows, if it is one of this measure. */
  function tableUnit(): string {
    const text = table.unit ?? ''
    return text !== '' && conversionOf(name, text) !== null ? text : ''
  }

  /** The column of units of this one: that of its name, or the next one without a name. */
  function unitColumn(): number {
    return cells.findIndex(
      ({ isUnits, base }, i) => isUnits && (base === '' ? i === field + 1 : base === cell?.base),
    )
  }

  function goesTo(): boolean {
    const saysTo =
      /to_?direction(_at_|$)/i.test(attribute('standard_name') || label) ||
      cell?.qualifiers.has('to') === true ||
      (attribute('standard_name') === '' && saysGoesTo(attribute('long_name')))
    const isByDefinition = isFrom(cell?.meaning?.word ?? '')
    if (isByDefinition && saysTo) doubt('ownName', `${label}: where it comes from`)
    return saysTo && !isByDefinition
  }
}

/** A table's identifier: the longest listed one that begins its file's name, its description's, or that. */
function identifierOf(path: string, info: Attributes, known: ReadonlyMap<string, unknown>): string {
  const stem = basename(path).replace(/\.[^.]*$/, '')
  const isFront = (identifier: string): boolean =>
    stem.startsWith(identifier) && !/^[0-9A-Za-z]/.test(stem.slice(identifier.length))
  const [listed] = [...known.keys()].filter(isFront).sort((a, b) => b.length - a.length)
  if (listed !== undefined) return listed
  const described = info.get('NC_GLOBAL')?.get('station_name') ?? ''
  return IDENTIFIER.test(described) ? described : stem.slice(0, 64)
}

/** The position in a description of one station, or the middle of bounds that are hardly wider than one. */
function placeOf(info: Attributes): { name: string; lat: number; lng: number } {
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
