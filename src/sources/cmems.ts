/**
 * Copernicus Marine's In Situ service (`docs/sources-networks.md`): OceanSITES NetCDF-4 files of a platform
 * and a day or month, in nested folders. Variables are found by name or CF standard name; the good value
 * nearest to the best depth counts. A mean period never stands in for `period`.
 */
import { IDENTIFIER, Stations, WaitingRows } from './reading/stations.ts'
import { join } from 'node:path'
import variables from './cmems-variables.json' with { type: 'json' }
import type { File } from 'h5wasm'
import type { MeasureName } from '../sea/columns.ts'
import { NO_CODE } from '../sea/row-batch.ts'
import {
  isVariable,
  loadNetcdf,
  type Netcdf,
  readVariable,
  textAttribute,
  type Variable,
  withFile,
} from './reading/netcdf.ts'
import { type FileReport, type OpenSource, type Report, type Sink, type SourceContext } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { cleanName } from './reading/fields.ts'
import { dropUnusable } from './reading/measured-values.ts'
import { listFolder, missingFolder, UnusableFile, doubtIgnored, WholeFiles } from './reading/source-files.ts'
import { codeOf, valueColumn } from './reading/units.ts'
import { momentOf, timeUnit } from './reading/times.ts'

const SOURCE = 'Copernicus Marine'

/** Levels of nested folders: `monthly/MO/202307` has three. */
const MAX_DEPTH = 5
const MAX_FILES = 200_000

/** Times of one file: forty years of ten-minute rows are 2.1 million. */
const MAX_TIMES = 4_000_000
/** Values of one variable over all depths. */
const MAX_VALUES = 20_000_000

/**
 * The service's reference table 2: good, probably good, changed, nominal, interpolated. The others are 0 (not
 * checked), 3 and 4 (bad), 6 (below detection) and 9 (missing).
 */
const GOOD_FLAGS: ReadonlySet<number> = new Set([1, 2, 5, 7, 8])

interface Quantity {
  readonly measure: MeasureName
  /** Variables and CF standard names by preference: the first variable of a file with good values counts. */
  readonly variables: readonly (readonly [name: string, standardName: string])[]
  /** Depth of the best measurement and the deepest that counts, m: a thermocline may lie between. */
  readonly depth: number
  readonly deepest?: number
}

const QUANTITIES = variables as unknown as readonly Quantity[]
const MEASURES_READ = QUANTITIES.map(({ measure }) => measure)

export const openCmems: OpenSource = (folder) => ({
  read: (sink, context) => readCmems(folder, sink, context),
})

interface Head {
  path: string
  identifier: string
  name: string
  type: string
  /** When the file was made, as ISO 8601 text; of two files with the same times the later one counts. */
  updated: string
  /** The newest good one; NaN if there is none. */
  position: { time: number; lat: number; lng: number }
  hasWaves: boolean
}

async function readCmems(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const paths: string[] = []
  const ignored: string[] = []
  if (!(await findFiles(folder, '', paths, ignored))) throw missingFolder('cmems', folder)
  doubtIgnored(report, ignored, 'not .nc')
  if (paths.length === 0) throw new BuildError(`cmems: ${folder} holds no .nc files`)

  const netcdf = await loadNetcdf()
  const heads: Head[] = []
  const files = new WholeFiles('cmems', report)
  for (const path of paths) {
    report.reads?.(path)
    await files.use(path, () => void heads.push(withFile(netcdf, path, (file) => headOf(netcdf, file, path))))
  }
  files.expectUsed()
  sink.source({
    name: SOURCE,
    network: 'national',
    credit: 'Generated using E.U. Copernicus Marine Service Information',
    licence: 'Copernicus Marine Service licence',
  })
  const handles = announce(heads, sink, report)

  heads.sort((a, b) => (a.updated < b.updated ? -1 : a.updated > b.updated ? 1 : 0))
  for (const { path, identifier } of heads) {
    const buoy = handles.get(identifier)
    if (buoy === undefined) continue
    await files.use(path, () => {
      const file = report.file(path)
      const rows = withFile(netcdf, path, (opened) => rowsOf(netcdf, opened, path, file, report))
      sendRows(rows, file, buoy, new WaitingRows(sink))
      file.end()
    })
  }
}

function announce(heads: readonly Head[], sink: Sink, report: Report): Map<string, number> {
  const withWaves = new Set(heads.filter(({ hasWaves }) => hasWaves).map(({ identifier }) => identifier))
  const waveless = new Set<string>()
  const stations = new Stations()
  const known = new Map<string, Partial<BuoyRecord>>()
  for (const { identifier, name, type, position } of heads) {
    if (withWaves.has(identifier)) {
      stations.see(identifier, position.time, position.lat, position.lng, name)
      if (type !== '') known.set(identifier, { type })
    } else waveless.add(identifier)
  }
  // The service also has tide gauges, profilers and ships, none of which is a wave buoy.
  const [first] = waveless
  if (first !== undefined)
    report.doubt({ what: 'platforms without waves are left out', times: waveless.size, examples: [first] })
  return stations.announce(sink, SOURCE, report, known)
}

/** Adds the .nc files of a folder and those below it to `found`; false if the folder does not exist. */
async function findFiles(
  folder: string,
  sub: string,
  found: string[],
  ignored: string[],
  depth = MAX_DEPTH,
): Promise<boolean> {
  const listing = await listFolder(join(folder, sub))
  if (listing === null) return false
  for (const name of listing.files) {
    if (/\.nc4?$/i.test(name)) found.push(join(folder, sub, name))
    else ignored.push(join(sub, name))
  }
  if (found.length > MAX_FILES) throw new BuildError(`cmems: more than ${MAX_FILES} files; split them`)
  for (const name of listing.folders) {
    if (depth > 1) await findFiles(folder, join(sub, name), found, ignored, depth - 1)
    else ignored.push(join(sub, name))
  }
  return true
}

function headOf(netcdf: Netcdf, file: File, path: string): Head {
  const { attrs } = file
  const attribute = (name: string): string => cleanName(textAttribute(attrs[name]) ?? '')
  const identifier = attribute('platform_code') || attribute('wmo_platform_code')
  if (!IDENTIFIER.test(identifier)) throw new UnusableFile('does not name its platform')
  const times = readTimes(netcdf, file)
  const lat = readPositions(netcdf, file, 'LATITUDE', times)
  const lng = readPositions(netcdf, file, 'LONGITUDE', times)
  const isGood = flagsOf(netcdf, file, 'POSITION', times.length)
  let newest = -1
  for (let i = 0; i < times.length; i++) {
    const isNewer = times[i] >= 0 && (newest < 0 || times[i] >= times[newest])
    if (isNewer && Math.abs(lat(i)) <= 90 && lng(i) >= -180 && lng(i) <= 360 && isGood(i)) newest = i
  }
  return {
    path,
    identifier,
    updated: attribute('date_update'),
    name: attribute('platform_name') || attribute('site_code') || attribute('platform_code'),
    type: attribute('source'),
    // A 32-bit float resolves a metre at best.
    position: {
      time: newest < 0 ? 0 : times[newest],
      lat: newest < 0 ? NaN : Math.round(lat(newest) * 1e5) / 1e5,
      lng: newest < 0 ? NaN : Math.round(lng(newest) * 1e5) / 1e5,
    },
    hasWaves: hasHeights(netcdf, file),
  }
}

function hasHeights(netcdf: Netcdf, file: File): boolean {
  const keys = file.keys()
  // Names decide for nearly all files; attributes of all variables take as long as everything else.
  if (QUANTITIES[0].variables.some(([name]) => keys.includes(name))) return true
  return candidatesOf(namesOf(netcdf, file), QUANTITIES[0]).length > 0
}

/** Epoch seconds of the rows, −1 where the time is not good. */
function readTimes(netcdf: Netcdf, file: File): Float64Array {
  const variable = readVariable(netcdf, file, 'TIME', { rank: 1, maxValues: MAX_TIMES })
  const unit = timeUnit(variable.units)
  if (unit === null) throw new UnusableFile('its times are in an unknown unit')
  const count = variable.shape[0]
  const isGood = flagsOf(netcdf, file, 'TIME', count)
  return Float64Array.from({ length: count }, (_, i) => (isGood(i) ? momentOf(unit, variable.at(i)) : -1))
}

/** A coordinate by row; a platform that never moves may have it once. */
function readPositions(
  netcdf: Netcdf,
  file: File,
  name: string,
  times: Float64Array,
): (row: number) => number {
  const variable = readVariable(netcdf, file, name, { rank: 1, maxValues: MAX_TIMES })
  const count = variable.shape[0]
  if (count !== times.length && count !== 1) throw new UnusableFile(`${name} has another length than TIME`)
  return (row) => variable.at(count === 1 ? 0 : row)
}

/** Whether the flag of a value is a good one; always true where a file has no flags for it. */
function flagsOf(netcdf: Netcdf, file: File, name: string, count: number): (index: number) => boolean {
  const label = `${name}_QC`
  if (!file.keys().includes(label)) return () => true
  const { values } = readVariable(netcdf, file, label, { rank: 2, maxValues: MAX_VALUES })
  if (values.length !== count && values.length !== 1)
    throw new UnusableFile(`${label} has another length than ${name}`)
  return (index) => GOOD_FLAGS.has(values[values.length === 1 ? 0 : index])
}

/** Standard names by variable, in the order of the file; empty where a variable has none. */
function namesOf(netcdf: Netcdf, file: File): Map<string, string> {
  const names = new Map<string, string>()
  for (const name of file.keys()) {
    if (name.endsWith('_QC')) continue
    const found = file.get(name)
    names.set(name, isVariable(netcdf, found) ? (textAttribute(found.attrs['standard_name']) ?? '') : '')
  }
  return names
}

function candidatesOf(names: ReadonlyMap<string, string>, { variables }: Quantity): string[] {
  const found = new Set<string>()
  for (const [variable, standardName] of variables) {
    if (names.has(variable)) found.add(variable)
    for (const [name, own] of names) if (own === standardName) found.add(name)
  }
  return [...found]
}

interface FileRows {
  times: Float64Array
  /** Codes by row for each of QUANTITIES; null where the file has no values of it. */
  codes: (Int32Array | null)[]
}

function rowsOf(netcdf: Netcdf, file: File, path: string, counted: FileReport, report: Report): FileRows {
  const times = readTimes(netcdf, file)
  const depths = readDepths(netcdf, file)
  const names = namesOf(netcdf, file)
  const codes = QUANTITIES.map((quantity) => {
    for (const name of candidatesOf(names, quantity)) {
      const goesTo = /_to_direction(_|$)/.test(names.get(name) ?? '')
      const shown = cleanName(name).slice(0, 60)
      const variable = readVariable(netcdf, file, name, { rank: 2, maxValues: MAX_VALUES })
      const column = valueColumn(quantity.measure, quantity.measure, variable.units, { goesTo })
      if (column === null) {
        report.doubt({
          what: 'a variable in an unknown unit is left out',
          examples: [`${path}: ${shown} in ${JSON.stringify(variable.units)}`],
        })
        continue
      }
      if (variable.shape[0] !== times.length) throw new UnusableFile(`${shown} has another length than TIME`)
      const isGood = flagsOf(netcdf, file, name, variable.values.length)
      const found = new Int32Array(times.length).fill(NO_CODE)
      let any = false
      for (let row = 0; row < times.length; row++) {
        if (times[row] < 0) continue
        const at = bestLevel(variable, isGood, depths, row, quantity, counted)
        if (at < 0) continue
        found[row] = codeOf(column, variable.at(at), counted)
        any = true
      }
      if (any) return found
    }
    return null
  })
  return { times, codes }
}

/** Metres below the surface of a value in a table of rows and levels; NaN where the file does not tell. */
type Depths = (row: number, level: number, levels: number) => number

function readDepths(netcdf: Netcdf, file: File): Depths {
  // Pressure in decibars is depth in metres, to a hundredth.
  const name = ['DEPH', 'PRES'].find((one) => file.keys().includes(one))
  if (name === undefined) return () => NaN
  const variable = readVariable(netcdf, file, name, { rank: 2, maxValues: MAX_VALUES })
  const { shape, values } = variable
  if (shape.length === 2) {
    return (row, level, levels) => (shape[1] === levels ? variable.at(row * levels + level) : NaN)
  }
  return (row, level, levels) =>
    values.length === levels ? variable.at(level) : levels === 1 ? variable.at(row) : NaN
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
    if (Number.isNaN(variable.at(index))) continue
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

function sendRows({ times, codes }: FileRows, file: FileReport, buoy: number, waiting: WaitingRows): void {
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
  waiting.flush()
  file.rows(understood)
}
