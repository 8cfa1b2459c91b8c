/** The points of altimetry files: read, checked, and put in order of time. */
import { flagsOf, IN_DEGREES, readTimes } from '../reading/cf.ts'
import { isoTime } from '../reading/times.ts'
import type { File } from 'h5wasm'
import { type Bounds, wrapLongitude } from '../../sea/geo.ts'
import type { FileReport } from '../source.ts'
import { MEASURES } from '../../sea/columns.ts'
import { codeLimits, codeOf, NO_CODE, OUTSIDE } from '../../sea/row-batch.ts'
import { type Mission, missionOfFileCode, type OrbitPhase, ownCycle } from '../../sea/missions.ts'
import { type TakeDoubt, UnusableFile } from '../reading/source-files.ts'
import { conversionOf } from '../reading/units.ts'
import { type Netcdf, readVariable, textAttribute, type Variable } from '../reading/netcdf.ts'

/** Points of one file: a day at 20 Hz has 1.7 million. */
const MAX_FILE_POINTS = 2_000_000

/** Degrees are kept as whole millionths, the digits of the product. */
export const MICRO = 1e6

const HEIGHT = MEASURES.significantHeight
const HEIGHT_LIMITS = codeLimits(HEIGHT)

/** Names of the variables by product. */
const LAYOUTS = [
  { time: 'time', lat: 'latitude', lng: 'longitude', height: 'VAVH', isBox: false },
  {
    time: 'time_nadir_l2',
    lat: 'lat_nadir_l2',
    lng: 'lon_nadir_l2',
    height: 'nadir_swh_box',
    isBox: true,
  },
] as const

/** Flags of the heights by their names in products, with the numbers that are valid there. */
const FLAGS = { flag_valid_swh_box: [0], quality_flag: [0], validation_flag: [0] }

const FILE_NAME = /^global_vavh_l3_[a-z]+_([a-z0-9-]+)_\d{8}T\d{6}_/i
const OWN_CYCLE = /^(\d{1,4})_(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)_(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)$/

export interface Track {
  /** Epoch seconds. */
  time: Uint32Array
  /** Millionths of a degree; longitude −180…180. */
  lat: Int32Array
  lng: Int32Array
  /** Significant wave height, mm. */
  height: Uint16Array
  /** 1 where the point is the middle of a box. */
  box: Uint8Array
}

export interface FileTrack {
  mission: Mission
  track: Track
  /** The cycle that the file describes, where it does. */
  cycle: OrbitPhase | null
}

/** The valid points of a file. @throws UnusableFile for anything unexpected in it, before a point is taken */
export function trackOf(
  netcdf: Netcdf,
  file: File,
  name: string,
  report: FileReport,
  doubt: TakeDoubt,
): FileTrack {
  const { attrs } = file
  const known = (code: string | undefined): Mission | undefined =>
    code === undefined ? undefined : missionOfFileCode(code)
  const [named, told] = [known(FILE_NAME.exec(name)?.[1]), known(textAttribute(attrs.platform))]
  const mission = named ?? told
  if (mission === undefined) throw new UnusableFile('is of a mission whose passes cannot be numbered')
  if (told !== undefined && told !== mission)
    throw new UnusableFile('has another mission in its name than in its attribute platform')
  const variables = new Set(file.keys())
  const layout = LAYOUTS.find(({ time, lat, lng, height }) =>
    [time, lat, lng, height].every((variable) => variables.has(variable)),
  )
  if (layout === undefined)
    throw new UnusableFile(`lacks one of ${Object.values(LAYOUTS[0]).filter(Boolean).join(', ')}`)
  const read = (variable: string, isCoordinate: boolean): Variable =>
    readVariable(netcdf, file, variable, { rank: 1, maxValues: MAX_FILE_POINTS, isCoordinate })
  const times = readTimes(netcdf, file, layout.time, MAX_FILE_POINTS, doubt)
  const [lat, lng] = [read(layout.lat, true), read(layout.lng, true)]
  const height = read(layout.height, false)
  if ([lat, lng, height].some(({ values }) => values.length !== times.length))
    throw new UnusableFile('its variables differ in length')
  if ([lat, lng].some(({ units }) => !IN_DEGREES.test(units)))
    throw new UnusableFile('its positions are not in degrees')
  if (height.units === '') doubt('metres', layout.height)
  const factor = height.units === '' ? 1 : conversionOf('significantHeight', height.units)?.factor
  if (factor === undefined) throw new UnusableFile('its heights are in an unknown unit')
  const isGood = flagsOf(netcdf, file, layout.height, times.length, doubt, FLAGS)
  if (height.invalid > 0)
    report.skipped('a value outside the valid range that its file gives', undefined, height.invalid)

  const track = emptyTrack(times.length)
  let taken = 0
  for (let i = 0; i < times.length; i++) {
    const second = times[i]
    const [south, east] = [lat.at(i), lng.at(i)]
    const code = codeOf(HEIGHT.scale, HEIGHT_LIMITS, height.at(i) * factor)
    // A missing value is NaN, for which no comparison holds.
    const isPlaced = second >= 0 && Math.abs(south) <= 90 && Math.abs(east) <= 360
    if (!isPlaced || code === NO_CODE || code === OUTSIDE || !isGood(i)) continue
    track.time[taken] = second
    track.lat[taken] = Math.round(south * MICRO)
    track.lng[taken] = Math.round(wrapLongitude(east) * MICRO)
    track.height[taken] = code
    track.box[taken] = Number(layout.isBox)
    taken++
  }
  report.rows(taken)
  if (taken < times.length)
    report.skipped('no valid significant wave height at a point of a track', undefined, times.length - taken)
  return { mission, track: slice(track, taken), cycle: cycleOf(mission, textAttribute(attrs.cycle)) }
}

function cycleOf({ passesOfOwnCycle }: Mission, text: string | undefined): OrbitPhase | null {
  const match = OWN_CYCLE.exec(text ?? '')
  if (match === null || passesOfOwnCycle === undefined) return null
  const [begin, end] = [isoTime(match[2]), isoTime(match[3])]
  return begin >= 0 && end > begin ? ownCycle(Number(match[1]), begin, end, passesOfOwnCycle) : null
}

const emptyTrack = (count: number): Track => ({
  time: new Uint32Array(count),
  lat: new Int32Array(count),
  lng: new Int32Array(count),
  height: new Uint16Array(count),
  box: new Uint8Array(count),
})
const TRACK_COLUMNS = ['time', 'lat', 'lng', 'height', 'box'] as const

function slice(track: Track, count: number): Track {
  const cut = emptyTrack(count)
  for (const name of TRACK_COLUMNS) cut[name].set(track[name].subarray(0, count))
  return cut
}

/** The points of several files in order of time, one for each second: that of the file with the last name. */
export function joinTracks(files: readonly Track[]): Track {
  const joined = emptyTrack(files.reduce((sum, { time }) => sum + time.length, 0))
  let at = 0
  let isAscending = true
  for (const file of files.filter(({ time }) => time.length > 0).sort((a, b) => a.time[0] - b.time[0])) {
    for (const name of TRACK_COLUMNS) joined[name].set(file[name], at)
    for (let i = at; i < at + file.time.length; i++)
      if (i > 0 && joined.time[i] <= joined.time[i - 1]) isAscending = false
    at += file.time.length
  }
  if (isAscending) return joined
  const order = new Uint32Array(at).map((_, i) => i).sort((a, b) => joined.time[a] - joined.time[b] || a - b)
  const sorted = emptyTrack(at)
  let kept = 0
  for (const from of order) {
    if (kept > 0 && sorted.time[kept - 1] === joined.time[from]) kept--
    for (const name of TRACK_COLUMNS) sorted[name][kept] = joined[name][from]
    kept++
  }
  return slice(sorted, kept)
}

export function boundsOf({ lat, lng }: Track, from: number, to: number): Bounds {
  let [south, north] = [Infinity, -Infinity]
  for (let i = from; i < to; i++) {
    south = Math.min(south, lat[i])
    north = Math.max(north, lat[i])
  }
  // The smallest arc leaves out the widest gap between neighbouring longitudes.
  const sorted = lng.slice(from, to).sort()
  const last = sorted.length - 1
  let [west, east] = [sorted[0], sorted[last]]
  let widest = sorted[0] + 360 * MICRO - sorted[last]
  for (let i = 0; i < last; i++) {
    if (sorted[i + 1] - sorted[i] <= widest) continue
    widest = sorted[i + 1] - sorted[i]
    west = sorted[i + 1]
    east = sorted[i]
  }
  return { south: south / MICRO, west: west / MICRO, north: north / MICRO, east: east / MICRO }
}
