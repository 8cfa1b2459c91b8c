/**
 * Copernicus Marine's In Situ service (`docs/sources-networks.md`): OceanSITES NetCDF-4 files of a platform
 * and a day or month, in nested folders. Variables are found by name or CF standard name; the good value
 * nearest to the best depth counts. A mean period never stands in for `period`.
 */
import type { Static } from 'typebox'
import { named, object, Type } from '../system/schema.ts'
import { type Fix, IDENTIFIER, Stations } from './reading/stations.ts'
import { WaitingRows } from './reading/waiting-rows.ts'
import { join } from 'node:path'
import variables from './cmems-variables.json' with { type: 'json' }
import { MEASURE_NAMES, type MeasureName } from '../sea/columns.ts'
import { NO_CODE } from '../sea/row-batch.ts'
import { flagsOf, IN_DEGREES, OCEANSITES_GOOD, readTimes } from './reading/cf.ts'
import { loadNetcdf, type NetcdfFile, type Variable } from './reading/netcdf.ts'
import { type FileReport, type OpenSource, type Report, type Sink, type SourceContext } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import { compareText } from '../system/text.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { cleanName } from './reading/fields.ts'
import { dropUnusable } from './reading/measured-values.ts'
import { type TakeDoubt, takeDoubts, listOnly, UnusableFile, WholeFiles } from './reading/source-files.ts'
import { codeOf, conversionOf, saysGoesTo, valueColumn } from './reading/units.ts'

const SOURCE = 'Copernicus Marine'

/** Levels of nested folders: `monthly/MO/202307` has three. */
const MAX_DEPTH = 5
const MAX_FILES = 200_000
const DATA_FILE = /\.nc4?$/i

/** Attributes with the code of a platform, and codes that stand for none. */
const CODES = ['platform_code', 'wmo_platform_code', 'site_code']
const NO_CODES = /^(?:.|unknown|undefined|none|null|nan|n\/?a|-+|\?+|0+|9+)$/i

const HINT = '; wmo_platform_code or site_code may tell them apart'

/** Rows that are kept of all files, at some 50 bytes each, until all stations are known. */
const MAX_HELD_ROWS = 4_000_000

/** Positions that are kept of one file. */
const MAX_FIXES = 16

/** Times of one file: forty years of ten-minute rows are 2.1 million. */
const MAX_TIMES = 4_000_000
/** Values of one variable over all depths. */
const MAX_VALUES = 20_000_000

/** Names in words, or standard names. */
const AT_SEA_LEVEL = /\bat[ _](?:mean[ _])?sea[ _]level|_at_(?:mean_)?sea_level/i

export const CMEMS_OPTIONS = object({
  /** Measures by the names of variables, before all other rules. */
  columns: Type.Optional(named(Type.Enum([...MEASURE_NAMES, 'none']), { maxProperties: 100 })),
})
type Columns = NonNullable<Static<typeof CMEMS_OPTIONS>['columns']>

interface Quantity {
  readonly measure: MeasureName
  /** Variables and CF standard names by preference: a row takes the first variable with a good value. */
  readonly variables: readonly (readonly [name: string, standardName: string])[]
  /** Standard names that fit the variables, as a pattern. */
  readonly fits: string
  /** Variables that count only where their file says that they are at sea level. */
  readonly ifAtSeaLevel?: readonly string[]
  /** Depth of the best measurement and the deepest that counts, m: a thermocline may be between. */
  readonly depth: number
  readonly deepest?: number
}

const QUANTITIES = variables as unknown as readonly Quantity[]
const MEASURES_READ = QUANTITIES.map(({ measure }) => measure)
/** Names that mean the same in every file, whatever their standard names. */
const OWN_NAMES = new Set(QUANTITIES.flatMap(({ variables }) => variables.map(([name]) => name)))

export const openCmems: OpenSource = (folder, options: Static<typeof CMEMS_OPTIONS> = {}) => ({
  read: (sink, context) => readCmems(folder, options.columns ?? {}, sink, context),
})

interface Head {
  path: string
  identifier: string
  name: string
  type: string
  /** When the file was made, as ISO 8601 text: if two files have the same times, the later one counts. */
  updated: string
  /** At most MAX_FIXES of the good positions, from the first to the last. */
  fixes: readonly Fix[]
  hasWaves: boolean
  /** The rows, where there is room for them; else the file is read again. */
  held: FileRows | null
}

async function readCmems(
  folder: string,
  columns: Columns,
  sink: Sink,
  { report }: SourceContext,
): Promise<void> {
  const form = { wanted: DATA_FILE, called: '.nc', levels: MAX_DEPTH }
  const paths = (await listOnly('cmems', folder, report, form)).map((name) => join(folder, name))
  if (paths.length > MAX_FILES) throw new BuildError(`cmems: more than ${MAX_FILES} files; split them`)

  const open = await loadNetcdf()
  const heads: Head[] = []
  const files = new WholeFiles('cmems', report)
  let held = 0
  for (const path of paths) {
    report.reads?.(path)
    const doubt = takeDoubts(report, path)
    await files.use(path, () => {
      const head = open(path, (file): Head => {
        const times = goodTimes(file, doubt)
        const read = headOf(file, path, times, columns, doubt)
        if (!read.hasWaves || held + times.length > MAX_HELD_ROWS) return read
        held += times.length
        return { ...read, held: readRows(file, times, columns, report.file(path), doubt) }
      })
      // Now it is known that the file does not lead to another one.
      heads.push(head)
    })
  }
  files.expectUsed()
  sink.source({
    name: SOURCE,
    network: 'national',
    credit: 'Generated using E.U. Copernicus Marine Service Information',
    licence: 'Copernicus Marine Service licence',
  })
  const handles = announce(heads, sink, report)

  heads.sort((a, b) => compareText(a.identifier, b.identifier) || compareText(a.updated, b.updated))
  let known = new Map<number, number>()
  let last = ''
  for (const { path, identifier, held: rows } of heads) {
    const buoy = handles.get(identifier)
    if (buoy === undefined) continue
    if (identifier !== last) known = new Map()
    last = identifier
    await files.use(path, () => {
      const doubt = takeDoubts(report, path)
      const found =
        rows ??
        open(path, (file) => {
          // The first reading of the file has reported its doubts about times.
          const times = goodTimes(file, () => undefined)
          return readRows(file, times, columns, report.file(path), doubt)
        })
      doubt('replaced', identifier, replacedOf(found, known))
      sendRows(found, buoy, new WaitingRows(sink, doubt))
    })
  }
}

/**
 * Counts the times for which an earlier file of the platform has a different wave height, and notes this
 * file's.
 */
function replacedOf({ times, codes: [heights] }: FileRows, known: Map<number, number>): number {
  let replaced = 0
  heights?.forEach((height, i) => {
    if (times[i] < 0 || height === NO_CODE) return
    if ((known.get(times[i]) ?? height) !== height) replaced++
    known.set(times[i], height)
  })
  return replaced
}

function announce(heads: readonly Head[], sink: Sink, report: Report): Map<string, number> {
  const withWaves = new Set(heads.filter(({ hasWaves }) => hasWaves).map(({ identifier }) => identifier))
  const waveless = new Set<string>()
  const stations = new Stations()
  const known = new Map<string, Partial<BuoyRecord>>()
  for (const { identifier, name, type, fixes } of heads) {
    if (withWaves.has(identifier)) {
      stations.see(identifier, 0, NaN, NaN, name)
      for (const { time, lat, lng } of fixes) stations.see(identifier, time, lat, lng, name)
      if (type !== '') known.set(identifier, { type })
    } else waveless.add(identifier)
  }
  // The service also has tide gauges, profilers and ships, none of which is a wave buoy.
  const [first = ''] = waveless
  takeDoubts(report)('waveless', first, waveless.size)
  return stations.announce(sink, SOURCE, report, known, { hint: HINT })
}

function headOf(
  file: NetcdfFile,
  path: string,
  times: Float64Array,
  columns: Columns,
  doubt: TakeDoubt,
): Head {
  const attribute = (name: string): string => cleanName(file.attribute(name) ?? '')
  const codes = CODES.map(attribute)
  const identifier = codes.find((code) => IDENTIFIER.test(code) && !NO_CODES.test(code))
  if (identifier === undefined) throw new UnusableFile(`does not name its platform in ${CODES.join(', ')}`)
  const lat = readPositions(file, 'LATITUDE', times, doubt)
  const lng = readPositions(file, 'LONGITUDE', times, doubt)
  const good = [...times.keys()].filter((i) => times[i] >= 0 && !Number.isNaN(lat(i) + lng(i)))
  const step = Math.ceil(good.length / MAX_FIXES)
  // A 32-bit float resolves a metre at best.
  const rounded = (degrees: number): number => Math.round(degrees * 1e5) / 1e5
  return {
    path,
    identifier,
    updated: attribute('date_update'),
    name: attribute('platform_name') || attribute('site_code') || (codes[0] === identifier ? identifier : ''),
    type: attribute('source'),
    fixes: good
      .filter((_, k) => (good.length - 1 - k) % step === 0)
      .map((i) => ({ time: times[i], lat: rounded(lat(i)), lng: rounded(lng(i)) })),
    hasWaves: hasHeights(file, columns),
    held: null,
  }
}

function hasHeights(file: NetcdfFile, columns: Columns): boolean {
  const [heights] = QUANTITIES
  // Names decide for nearly all files; attributes of all variables take as long as everything else.
  if (heights.variables.some(([name]) => file.names.includes(name) && !Object.hasOwn(columns, name)))
    return true
  return candidatesOf(namesOf(file), heights, columns).length > 0
}

/** Epoch seconds of the rows, −1 where the time is not good. */
function goodTimes(file: NetcdfFile, doubt: TakeDoubt): Float64Array {
  const times = readTimes(file, 'TIME', MAX_TIMES, doubt)
  const isGood = flagsOf(file, 'TIME', times.length, doubt)
  return times.map((time, i) => (isGood(i) ? time : -1))
}

/** A coordinate by row, NaN where it is not good; a platform that never moves may have it once. */
function readPositions(
  file: NetcdfFile,
  name: string,
  times: Float64Array,
  doubt: TakeDoubt,
): (row: number) => number {
  const variable = file.read(name, { rank: 1, maxValues: MAX_TIMES, isCoordinate: true })
  const [count] = variable.shape
  if (count !== times.length && count !== 1) throw new UnusableFile(`${name} has another length than TIME`)
  if (!IN_DEGREES.test(variable.units)) throw new UnusableFile(`${name} is not in degrees`)
  const isGood = flagsOf(file, name, times.length, doubt, { POSITION_QC: OCEANSITES_GOOD })
  return (row) => (isGood(row) ? variable.valueAt(count === 1 ? 0 : row) : NaN)
}

/** Standard names by variable, in the order of the file; empty where a variable has none. */
function namesOf(file: NetcdfFile): Map<string, string> {
  const names = new Map<string, string>()
  for (const name of file.names) {
    if (!name.endsWith('_QC')) names.set(name, file.attributeOf(name, 'standard_name') ?? '')
  }
  return names
}

/** The variables of a quantity: by the operator's names, else by their own names, else by standard names. */
function candidatesOf(
  names: ReadonlyMap<string, string>,
  { measure, variables }: Quantity,
  columns: Columns,
): string[] {
  const chosen = [...names.keys()].filter((name) => columns[name] === measure)
  if (chosen.length > 0) return chosen
  const found = new Set<string>()
  for (const [variable, standardName] of variables) {
    if (names.has(variable)) found.add(variable)
    for (const [name, own] of names) {
      if (own === standardName && !OWN_NAMES.has(name)) found.add(name)
    }
  }
  return [...found].filter((name) => !Object.hasOwn(columns, name))
}

interface FileRows {
  file: FileReport
  times: Float64Array
  /** Codes by row for each of QUANTITIES; null where the file has no values of it. */
  codes: (Int32Array | null)[]
}

function readRows(
  file: NetcdfFile,
  times: Float64Array,
  columns: Columns,
  counted: FileReport,
  doubt: TakeDoubt,
): FileRows {
  const depths = readDepths(file, doubt)
  const names = namesOf(file)
  const codes = QUANTITIES.map((quantity) => {
    const found = new Int32Array(times.length).fill(NO_CODE)
    let filled = 0
    const candidates = candidatesOf(names, quantity, columns)
    const [first = '', second = ''] = candidates
    if (
      second !== '' &&
      !OWN_NAMES.has(first) &&
      !Object.hasOwn(columns, first) &&
      names.get(first) === names.get(second)
    )
      doubt('twins', `${second} after ${first}`)
    for (const name of candidates) {
      const shown = cleanName(name).slice(0, 60)
      const standardName = names.get(name) ?? ''
      const variable = file.read(name, { rank: 2, maxValues: MAX_VALUES })
      const isNamed = Object.hasOwn(columns, name)
      const described = `${standardName} ${variable.text('long_name')}`
      if (!isNamed && quantity.ifAtSeaLevel?.includes(name) === true && !AT_SEA_LEVEL.test(described)) {
        doubt('notAtSeaLevel', `${shown} with ${described.trim().slice(0, 100)}`, times.length)
        continue
      }
      const isDirection = /direction$/i.test(quantity.measure)
      const isOwn = OWN_NAMES.has(name) && !isNamed
      const words = standardName || variable.text('long_name')
      const isTurned = isDirection && !isOwn && saysGoesTo(words)
      const column = valueColumn(quantity.measure, quantity.measure, variable.units, { goesTo: isTurned })
      if (column === null) {
        doubt('unknownUnit', `${shown} in ${JSON.stringify(variable.units)}`)
        continue
      }
      if (variable.shape[0] !== times.length) throw new UnusableFile(`${shown} has another length than TIME`)
      if (variable.shape.length > 1 && variable.along !== '' && variable.along !== 'TIME')
        throw new UnusableFile(`the rows of ${shown} are not its times`)
      const isGood = flagsOf(file, name, variable.values.length, doubt)
      let taken = 0
      for (let row = 0; row < times.length; row++) {
        if (times[row] < 0 || found[row] !== NO_CODE) continue
        const at = bestLevel(variable, isGood, depths, row, quantity, counted)
        if (at < 0) continue
        found[row] = codeOf(column, variable.valueAt(at), counted)
        if (found[row] !== NO_CODE) taken++
      }
      const isMisfit = standardName !== '' && !new RegExp(quantity.fits).test(standardName)
      if (isOwn && (isMisfit || (isDirection && saysGoesTo(words))))
        doubt('contradicted', `${shown} with ${words.slice(0, 100)}`)
      if (isTurned) doubt('turned', shown, taken)
      if (isDirection && /\bmagnetic/i.test(variable.text('long_name') + variable.text('reference_datum')))
        doubt('magnetic', shown, taken)
      if (filled > 0) doubt('filled', `${shown} besides ${first}`, taken)
      if (variable.invalid > 0)
        counted.skipped('a value outside the valid range that its file gives', undefined, variable.invalid)
      filled += taken
      if (filled === times.length) break
    }
    return filled > 0 ? found : null
  })
  return { file: counted, times, codes }
}

/** Metres below the surface of a value in a table of rows and levels; NaN where the file does not say. */
type Depths = (row: number, level: number, levels: number) => number

/** Variables of depths, and of pressure in the sea: a decibar is a metre, to a hundredth. */
const BARE_DIMENSION = 'This is a netCDF dimension but not a netCDF variable'
const DEPTHS = ['DEPH', 'DEPTH', 'depth', 'NOMINAL_DEPTH', 'PRES']

function readDepths(file: NetcdfFile, doubt: TakeDoubt): Depths {
  for (const name of DEPTHS.filter((one) => file.names.includes(one))) {
    // NetCDF-4 keeps a dimension without values under its name, as zeros.
    if (file.attributeOf(name, 'NAME')?.startsWith(BARE_DIMENSION) === true) continue
    const variable = file.read(name, { rank: 2, maxValues: MAX_VALUES, isCoordinate: true })
    const { shape, values, units, text, valueAt } = variable
    const isDecibar = name === 'PRES' && /^d(?:eci)?bars?$/i.test(units)
    const factor = units === '' || isDecibar ? 1 : (conversionOf('significantHeight', units)?.factor ?? 0)
    if (factor === 0 || /air/.test(text('standard_name'))) {
      doubt('noDepth', `${name} in ${units}`)
      continue
    }
    const scale = /up/i.test(text('positive')) ? -factor : factor
    if (shape.length === 2) {
      return (row, level, levels) => (shape[1] === levels ? valueAt(row * levels + level) * scale : NaN)
    }
    return (row, level, levels) => {
      if (values.length === levels) return valueAt(level) * scale
      return levels === 1 ? valueAt(row) * scale : NaN
    }
  }
  return () => NaN
}

/** Index of the row's good value that is measured nearest to its best depth, or −1. */
function bestLevel(
  variable: Variable,
  isGood: (index: number) => boolean,
  depths: Depths,
  row: number,
  { depth, deepest = Infinity }: Quantity,
  counted: FileReport,
): number {
  const levels = variable.shape[1] ?? 1
  let best = -1
  let least = Infinity
  let isFlagged = false
  for (let level = 0; level < levels; level++) {
    const index = row * levels + level
    if (Number.isNaN(variable.valueAt(index))) continue
    if (!isGood(index)) {
      isFlagged = true
      continue
    }
    const place = depths(row, level, levels)
    if (place > deepest) continue
    // A value at an unknown depth comes last, in the order of the file.
    const distance = Number.isNaN(place) ? Number.MAX_VALUE : Math.abs(place - depth)
    if (distance < least) {
      best = index
      least = distance
    }
  }
  if (best < 0 && isFlagged) counted.skipped('a value that its quality flag does not call good')
  return best
}

function sendRows({ file, times, codes }: FileRows, buoy: number, waiting: WaitingRows): void {
  const row = new Int32Array(codes.length)
  let understood = 0
  for (let i = 0; i < times.length; i++) {
    if (times[i] < 0) {
      file.bad(i + 1, 'no valid time, or one that is not flagged as good')
      continue
    }
    understood++
    for (let k = 0; k < row.length; k++) row[k] = codes[k]?.[i] ?? NO_CODE
    if (dropUnusable(MEASURES_READ, row, file)) waiting.add(buoy, times[i], MEASURES_READ, row)
  }
  file.rows(understood)
  waiting.end(file.end(), HINT)
}
