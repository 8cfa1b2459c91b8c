/**
 * Satellite altimetry along the track (`docs/sources-beyond-buoys.md`): Copernicus Marine's L3 product, or
 * boxes of CFOSAT's L2P. A mission's points in order of time are cut into passes, also across files. Without
 * `virtual_buoys.csv` virtual buoys are points of a grid that a pass ever reaches, so none is on land.
 */
import { join } from 'node:path'
import { MEASURES } from '../sea/columns.ts'
import { type Bounds, EARTH_RADIUS_KM, haversineKm, wrapLongitude } from '../sea/geo.ts'
import {
  type Mission,
  missionOfFileCode,
  MISSIONS,
  type OrbitPhase,
  ownCycle,
  passAt,
} from '../sea/missions.ts'
import { codeLimits, codeOf, NO_CODE, OUTSIDE, RowBatch } from '../sea/row-batch.ts'
import { BuildError } from '../system/build-error.ts'
import { entryOf } from '../system/entry-of.ts'
import { flagsOf, IN_DEGREES, readTimes } from './reading/cf.ts'
import { loadNetcdf, type NetcdfFile, type Variable } from './reading/netcdf.ts'
import {
  doubtIgnored,
  listSource,
  type TakeDoubt,
  takeDoubts,
  UnusableFile,
  WholeFiles,
} from './reading/source-files.ts'
import { isoTime } from './reading/times.ts'
import { conversionOf } from './reading/units.ts'
import type { FileReport, OpenSource, Sink, SourceContext } from './source.ts'
import { readTable, STATION_COLUMNS } from './reading/text-table.ts'

/** Degrees are kept as whole millionths, the digits of the product. */
const MICRO = 1e6

/** The columns of a track. */
const TRACK = {
  /** Epoch seconds. */
  time: Uint32Array,
  /** Millionths of a degree; longitude −180…180. */
  lat: Int32Array,
  lng: Int32Array,
  /** Significant wave height, mm. */
  height: Uint16Array,
  /** 1 where the point is the middle of a box. */
  box: Uint8Array,
}
type Track = { [name in keyof typeof TRACK]: InstanceType<(typeof TRACK)[name]> }
const TRACK_COLUMNS = Object.keys(TRACK) as (keyof Track)[]

const SOURCE = 'Satellite altimetry'

/** A pass with at least this many valid points within this distance gives a reading. */
const REACH_KM = 25

const MIN_POINTS = 3

/** A CFOSAT SWIM L2P box is the height of 70 km along the track: half of it lies on either side. */
const BOX_REACH_KM = 35

/** The grid of virtual buoys: multiples of this many degrees, between these latitudes. */
const GRID_STEP = 4

const GRID_MAX_LAT = 72
const MAX_VIRTUAL_BUOYS = 100_000

interface VirtualPoint {
  identifier: string
  name: string
  lat: number
  lng: number
}

function gridPoints(): VirtualPoint[] {
  const points: VirtualPoint[] = []
  const hundredths = (degrees: number, width: number): string =>
    `${degrees < 0 ? '-' : '+'}${String(Math.abs(degrees) * 100).padStart(width, '0')}`
  for (let lat = -GRID_MAX_LAT; lat <= GRID_MAX_LAT; lat += GRID_STEP) {
    for (let lng = -180; lng < 180; lng += GRID_STEP) {
      points.push({
        identifier: `V${hundredths(lat, 4)}${hundredths(lng, 5)}`,
        name: `Virtual ${Math.abs(lat).toFixed(2)}${lat < 0 ? 'S' : 'N'} ${Math.abs(lng).toFixed(2)}${lng < 0 ? 'W' : 'E'}`,
        lat,
        lng,
      })
    }
  }
  return points
}

async function readVirtualBuoys(path: string, report: SourceContext['report']): Promise<VirtualPoint[]> {
  const points: VirtualPoint[] = []
  const known = new Set<string>()
  await readTable(path, report.file(path), STATION_COLUMNS, 4, (place) => {
    if (known.has(place.identifier)) return 'a virtual buoy with this identifier is listed above'
    if (known.size === MAX_VIRTUAL_BUOYS) return `more than ${MAX_VIRTUAL_BUOYS} virtual buoys`
    known.add(place.identifier)
    points.push(place)
    return null
  })
  return points
}

const RADIANS = Math.PI / 180

interface Nearby {
  /** Codes. */
  heights: number[]
  /** Distance of the nearest point, and its time. */
  km: number
  time: number
}

/** The virtual buoys and their readings; a cell of one degree around a point leads to the buoys near it. */
class VirtualBuoys {
  readonly #points: readonly VirtualPoint[]
  readonly #sink: Sink
  /** Indexes of the points that reach into a cell, by row of latitude times 360 plus longitude. */
  readonly #cells = new Map<number, number[]>()
  readonly #handles = new Map<number, number>()
  /** Codes of heights by time, by point. */
  readonly #readings = new Map<number, Map<number, number>>()

  constructor(points: readonly VirtualPoint[], sink: Sink) {
    this.#points = points
    this.#sink = sink
    points.forEach(({ lat, lng }, index) => {
      const reach = Math.max(REACH_KM, BOX_REACH_KM) / EARTH_RADIUS_KM
      const sine = Math.sin(reach) / Math.cos(lat * RADIANS)
      const tall = reach / RADIANS
      // Around a pole every longitude is near.
      const wide = Math.abs(lat) + tall < 90 ? Math.asin(sine) / RADIANS : 180
      for (let row = Math.floor(lat - tall); row <= Math.floor(lat + tall); row++) {
        const [first, last] = wide === 180 ? [0, 359] : [Math.floor(lng - wide), Math.floor(lng + wide)]
        for (let column = first; column <= last; column++)
          entryOf(this.#cells, cellOf(row, column), () => []).push(index)
      }
    })
  }

  announce(index: number): number {
    return entryOf(this.#handles, index, () =>
      this.#sink.buoy({ source: SOURCE, virtual: true, ...this.#points[index] }),
    )
  }

  /** Nearby points, and boxes, of each virtual buoy by its index, among the points from `from` up to `to`. */
  #nearby(track: Track, from: number, to: number): [near: Map<number, Nearby>, boxes: Map<number, Nearby>] {
    const [near, boxes] = [new Map<number, Nearby>(), new Map<number, Nearby>()]
    for (let i = from; i < to; i++) {
      const [lat, lng] = [track.lat[i] / MICRO, track.lng[i] / MICRO]
      for (const index of this.#cells.get(cellOf(Math.floor(lat), Math.floor(lng))) ?? []) {
        const km = haversineKm(lat, lng, this.#points[index].lat, this.#points[index].lng)
        const isBox = track.box[i] === 1
        if (km > (isBox ? BOX_REACH_KM : REACH_KM)) continue
        const kind = isBox ? boxes : near
        const found = entryOf(kind, index, () => ({ heights: [], km: Infinity, time: 0 }))
        // The nearest box counts, but all points do.
        if (isBox && km < found.km) found.heights = [track.height[i]]
        else if (!isBox) found.heights.push(track.height[i])
        if (km < found.km) Object.assign(found, { km, time: track.time[i] })
      }
    }
    return [near, boxes]
  }

  /** Takes the pass of the points from `from` up to `to`; returns which buoys got a reading, and when. */
  observe(track: Track, from: number, to: number): { buoy: number; time: number }[] {
    const [near, boxes] = this.#nearby(track, from, to)
    for (const [index, { heights }] of near) {
      if (heights.length < MIN_POINTS) near.delete(index)
    }
    // Single points describe a place better than the box around it.
    for (const [index, box] of boxes) {
      if (!near.has(index)) near.set(index, box)
    }
    const observations: { buoy: number; time: number }[] = []
    for (const [index, { heights, time }] of near) {
      const readings = entryOf(this.#readings, index, () => new Map())
      // A buoy has one reading a second, whichever mission came first.
      if (readings.has(time)) continue
      readings.set(time, medianOf(heights))
      observations.push({ buoy: this.announce(index), time })
    }
    return observations
  }

  sendRows(): void {
    const batch = new RowBatch(256)
    for (const [index, readings] of this.#readings) {
      batch.clear()
      for (const [time, code] of [...readings].sort(([a], [b]) => a - b)) {
        batch.columns.significantHeight[batch.add(time)] = code
      }
      this.#sink.rows(this.announce(index), batch)
    }
  }
}

function cellOf(row: number, column: number): number {
  return row * 360 + (((column % 360) + 360) % 360)
}

function medianOf(values: number[]): number {
  values.sort((a, b) => a - b)
  const middle = values.length >> 1
  return values.length % 2 === 1 ? values[middle] : Math.round((values[middle - 1] + values[middle]) / 2)
}

const TABLE = 'virtual_buoys.csv'

/** Points over all files, at 15 bytes each: eight missions for half a year. */
const MAX_POINTS = 70_000_000

export const openAltimetry: OpenSource = (folder) => ({
  read: (sink, context) => readAltimetry(folder, sink, context),
})

async function readAltimetry(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const listing = await listSource('altimetry', folder)
  const names = listing.files.filter((name) => /\.nc4?$/i.test(name))
  const ignored = listing.files.filter((name) => !names.includes(name) && name !== TABLE)
  doubtIgnored(report, [...ignored, ...listing.folders], 'not .nc')
  if (names.length === 0) throw new BuildError(`altimetry: ${folder} holds no .nc files`)

  sink.source({
    name: SOURCE,
    network: 'satellite',
    credit: 'Generated using E.U. Copernicus Marine Service Information',
    licence: 'Copernicus Marine Service licence',
  })
  const listed = listing.files.includes(TABLE)
  const points = listed ? await readVirtualBuoys(join(folder, TABLE), report) : gridPoints()
  const buoys = new VirtualBuoys(points, sink)
  if (listed) for (let i = 0; i < points.length; i++) buoys.announce(i)

  const tracks = new Map<Mission, FileTrack[]>()
  let total = 0
  const openNetcdf = await loadNetcdf()
  const files = new WholeFiles('altimetry', report)
  for (const name of names) {
    const path = join(folder, name)
    const file = report.file(path)
    await files.use(path, () => {
      const found = openNetcdf(path, (opened) => trackOf(opened, name, file, takeDoubts(report, path)))
      total += found.track.time.length
      if (total > MAX_POINTS) throw new BuildError(`altimetry: ${folder} holds too many points; split it`)
      entryOf(tracks, found.mission, () => []).push(found)
      file.end()
    })
  }
  files.expectUsed()
  for (const mission of MISSIONS) {
    const ofMission = tracks.get(mission)
    if (ofMission !== undefined) sendPasses(mission, ofMission, buoys, sink, report)
  }
  buoys.sendRows()
}

function sendPasses(
  mission: Mission,
  files: readonly FileTrack[],
  buoys: VirtualBuoys,
  sink: Sink,
  report: SourceContext['report'],
): void {
  const track = joinTracks(files.map((file) => file.track))
  const cycles = files.flatMap(({ cycle }) => (cycle === null ? [] : [cycle]))
  const phases = [...mission.phases, ...cycles.sort((a, b) => a.from - b.from)]
  const { time, lat } = track
  let unnumbered = 0
  let passes = 0
  let against = 0
  let without = 0
  for (let from = 0, to = 0; from < time.length; from = to) {
    const pass = passAt(phases, time[from])
    for (to = from + 1; to < time.length; to++) {
      const next = passAt(phases, time[to])
      if (next?.number !== pass?.number || next?.cycle !== pass?.cycle) break
    }
    if (pass === null || pass.cycle < 0) {
      unnumbered += to - from
      continue
    }
    passes++
    const climb = lat[to - 1] - lat[from]
    if (Math.abs(climb) > MICRO && climb > 0 !== (pass.number % 2 === 1)) against++
    const observations = buoys.observe(track, from, to)
    if (observations.length === 0) without++
    sink.pass({
      mission: mission.slug,
      ...pass,
      startedAt: time[from],
      endedAt: time[to - 1],
      bounds: boundsOf(track, from, to),
      observations,
    })
  }
  const doubt = takeDoubts(report)
  doubt('unobserved', mission.name, without)
  doubt('unnumbered', mission.name, unnumbered)
  doubt('against', mission.name, against)
}

/** Points of one file: a day at 20 Hz has 1.7 million. */
const MAX_FILE_POINTS = 2_000_000

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

interface FileTrack {
  mission: Mission
  track: Track
  /** The cycle that the file describes, where it does. */
  cycle: OrbitPhase | null
}

/** The valid points of a file. @throws UnusableFile for anything unexpected in it, before a point is taken */
function trackOf(file: NetcdfFile, name: string, report: FileReport, doubt: TakeDoubt): FileTrack {
  const known = (code: string | undefined): Mission | undefined =>
    code === undefined ? undefined : missionOfFileCode(code)
  const [named, told] = [known(FILE_NAME.exec(name)?.[1]), known(file.attribute('platform'))]
  const mission = named ?? told
  if (mission === undefined) throw new UnusableFile('is of a mission without numbered passes')
  if (told !== undefined && told !== mission)
    throw new UnusableFile('has another mission in its name than in its attribute platform')
  const variables = new Set(file.names)
  const layout = LAYOUTS.find(({ time, lat, lng, height }) =>
    [time, lat, lng, height].every((variable) => variables.has(variable)),
  )
  if (layout === undefined)
    throw new UnusableFile(`lacks one of ${Object.values(LAYOUTS[0]).filter(Boolean).join(', ')}`)
  const read = (variable: string, isCoordinate: boolean): Variable =>
    file.read(variable, { rank: 1, maxValues: MAX_FILE_POINTS, isCoordinate })
  const times = readTimes(file, layout.time, MAX_FILE_POINTS, doubt)
  const [lat, lng] = [read(layout.lat, true), read(layout.lng, true)]
  const height = read(layout.height, false)
  if ([lat, lng, height].some(({ values }) => values.length !== times.length))
    throw new UnusableFile('its variables differ in length')
  if ([lat, lng].some(({ units }) => !IN_DEGREES.test(units)))
    throw new UnusableFile('its positions are not in degrees')
  if (height.units === '') doubt('metres', layout.height)
  const factor = height.units === '' ? 1 : conversionOf('significantHeight', height.units)?.factor
  if (factor === undefined) throw new UnusableFile('its heights are in an unknown unit')
  const isGood = flagsOf(file, layout.height, times.length, doubt, FLAGS)
  if (height.invalid > 0)
    report.skipped('a value outside the valid range that its file gives', undefined, height.invalid)

  const track = emptyTrack(times.length)
  let taken = 0
  for (let i = 0; i < times.length; i++) {
    const second = times[i]
    const [south, east] = [lat.valueAt(i), lng.valueAt(i)]
    const code = codeOf(HEIGHT.scale, HEIGHT_LIMITS, height.valueAt(i) * factor)
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
  return { mission, track: slice(track, taken), cycle: cycleOf(mission, file.attribute('cycle')) }
}

function cycleOf({ passesOfOwnCycle }: Mission, text: string | undefined): OrbitPhase | null {
  const match = OWN_CYCLE.exec(text ?? '')
  if (match === null || passesOfOwnCycle === undefined) return null
  const [begin, end] = [isoTime(match[2]), isoTime(match[3])]
  return begin >= 0 && end > begin ? ownCycle(Number(match[1]), begin, end, passesOfOwnCycle) : null
}

const emptyTrack = (count: number): Track =>
  Object.fromEntries(TRACK_COLUMNS.map((name) => [name, new TRACK[name](count)])) as Track

function slice(track: Track, count: number): Track {
  const cut = emptyTrack(count)
  for (const name of TRACK_COLUMNS) cut[name].set(track[name].subarray(0, count))
  return cut
}

/** The points of several files in order of time, one for each second, from the file with the last name. */
function joinTracks(files: readonly Track[]): Track {
  const joined = emptyTrack(files.reduce((sum, { time }) => sum + time.length, 0))
  let at = 0
  let isAscending = true
  for (const file of files.filter(({ time }) => time.length > 0).sort((a, b) => a.time[0] - b.time[0])) {
    for (const name of TRACK_COLUMNS) joined[name].set(file[name], at)
    for (let i = at; i < at + file.time.length; i++) {
      if (i > 0 && joined.time[i] <= joined.time[i - 1]) isAscending = false
    }
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

function boundsOf({ lat, lng }: Track, from: number, to: number): Bounds {
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
