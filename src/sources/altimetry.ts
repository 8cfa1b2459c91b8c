/**
 * Satellite altimetry along the track: a folder of NetCDF-4 files of Copernicus Marine's L3 product
 * (`global_vavh_l3_rt_s3a_20220201T000000_20220201T030000_20220627T133409.nc`, a mission and three hours
 * each), or boxes of CFOSAT's L2P.
 *
 * The points of all files of a mission are put in order and cut into passes, so that a pass over a file's
 * border is one. Each pass gives each virtual buoy near its track one reading: the median of the significant
 * wave heights around it, at the time of the nearest point. A box of CFOSAT is one height for 70 km of the
 * track, given at its middle: a virtual buoy whose nearest box lies within half of that gets the box's height
 * at its time. Altimeters measure neither period nor direction of waves.
 *
 * Virtual buoys are the points of `virtual_buoys.csv` (identifier,name,lat,lng) in the folder; without that
 * table, those points of a grid that a pass ever gives a reading, which keeps them off the land without a map
 * of it.
 */
import { join } from 'node:path'
import type { File } from 'h5wasm'
import { MEASURES, RowBatch } from '../sea/columns.ts'
import { EARTH_RADIUS_KM, haversineKm, wrapLongitude, type Bounds } from '../sea/geo.ts'
import {
  MISSIONS,
  missionOfFileCode,
  ownCycle,
  passAt,
  type Mission,
  type OrbitPhase,
} from '../sea/missions.ts'
import { readTable } from './csv.ts'
import {
  loadNetcdf,
  type Netcdf,
  readVariable,
  textAttribute,
  UnusableFile,
  type Variable,
  withFile,
} from './reading/netcdf.ts'
import { type FileReport, type OpenSource, type Sink, type SourceContext } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import { cleanName, degreesOf, listFolder } from './reading/text.ts'

const SOURCE = 'Satellite altimetry'
const TABLE = 'virtual_buoys.csv'

/**
 * A virtual buoy gets a reading from a pass with at least so many valid points within this distance of it.
 */
const REACH_KM = 25
const MIN_POINTS = 3
/**
 * A box stands for 70 km along the track (CFOSAT SWIM L2P): its height is that of all points within half of
 * it.
 */
const BOX_REACH_KM = 35

/** The grid of virtual buoys: multiples of this many degrees, between these latitudes. */
const GRID_STEP = 4
const GRID_MAX_LAT = 72

/** Points of one file: a day at 20 Hz has 1.7 million. */
const MAX_FILE_POINTS = 2_000_000
/** Points over all files, at 15 bytes each: eight missions for half a year. */
const MAX_POINTS = 70_000_000
const MAX_VIRTUAL_BUOYS = 100_000

/** Degrees are kept as whole millionths, the digits of the product. */
const MICRO = 1e6
const HEIGHT = MEASURES.significantHeight
const MAX_EPOCH = 0xffff_ffff

/** Names of the variables by product. `flag` is 0 where the height is valid. */
const LAYOUTS = [
  { time: 'time', lat: 'latitude', lng: 'longitude', height: 'VAVH', flag: null, isBox: false },
  {
    time: 'time_nadir_l2',
    lat: 'lat_nadir_l2',
    lng: 'lon_nadir_l2',
    height: 'nadir_swh_box',
    flag: 'flag_valid_swh_box',
    isBox: true,
  },
] as const

const FILE_NAME = /^global_vavh_l3_[a-z]+_([a-z0-9-]+)_\d{8}T\d{6}_/i
const OWN_CYCLE = /^(\d{1,4})_(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)_(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)$/
const TIME_UNITS = /^seconds since (\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.0*)?$/

/** Points of a file or of a mission: parallel arrays. */
interface Track {
  /** Epoch seconds. */
  time: Uint32Array
  /** Millionths of a degree; longitude −180…180. */
  lat: Int32Array
  lng: Int32Array
  /** Significant wave height as its column's code, mm. */
  height: Uint16Array
  /** 1 where the point is the middle of a box. */
  box: Uint8Array
}

interface FileTrack {
  mission: Mission
  track: Track
  /** The cycle that the file describes, where it does. */
  cycle: OrbitPhase | null
}

/** Opens `folder` as a set of altimetry files. */
export const openAltimetry: OpenSource = (folder) => ({
  read: (sink, context) => readAltimetry(folder, sink, context),
})

async function readAltimetry(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const listing = await listFolder(folder)
  if (listing === null) throw new BuildError(`altimetry: there is no folder ${folder}`)
  const names = listing.files.filter((name) => /\.nc4?$/i.test(name))
  const ignored = listing.files.length - names.length - (listing.files.includes(TABLE) ? 1 : 0)
  if (ignored > 0) report.warn(`altimetry: ${ignored} files of ${folder} ignored: not .nc`)
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
  const netcdf = await loadNetcdf()
  for (const name of names) {
    const path = join(folder, name)
    const file = report.file(path)
    try {
      const found = withFile(netcdf, path, (opened) => trackOf(netcdf, opened, name, file))
      total += found.track.time.length
      if (total > MAX_POINTS) throw new BuildError(`altimetry: ${folder} holds too many points; split it`)
      const ofMission = tracks.get(found.mission)
      if (ofMission === undefined) tracks.set(found.mission, [found])
      else ofMission.push(found)
      file.end()
    } catch (error) {
      if (!(error instanceof UnusableFile)) throw error
      report.warn(`${path}: ${error.message}; the file is left out`)
    }
  }
  for (const mission of MISSIONS) {
    const files = tracks.get(mission)
    if (files !== undefined) sendPasses(mission, files, buoys, sink, report)
  }
  buoys.sendRows()
}

/**
 * The valid points of a file. @throws UnusableFile when anything of it is not as described, before any point
 * is taken.
 */
function trackOf(netcdf: Netcdf, file: File, name: string, report: FileReport): FileTrack {
  const { attrs } = file
  const known = (code: string | undefined): Mission | undefined =>
    code === undefined ? undefined : missionOfFileCode(code)
  const mission = known(FILE_NAME.exec(name)?.[1]) ?? known(textAttribute(attrs.platform))
  if (mission === undefined) throw new UnusableFile('is of a mission whose passes cannot be numbered')
  const variables = new Set(file.keys())
  const layout = LAYOUTS.find(({ time, lat, lng, height }) =>
    [time, lat, lng, height].every((variable) => variables.has(variable)),
  )
  if (layout === undefined)
    throw new UnusableFile(`lacks one of ${Object.values(LAYOUTS[0]).filter(Boolean).join(', ')}`)
  const read = (variable: string): Variable =>
    readVariable(netcdf, file, variable, { rank: 1, maxValues: MAX_FILE_POINTS })
  const [time, lat, lng, height] = [layout.time, layout.lat, layout.lng, layout.height].map(read)
  const flag = layout.flag === null ? null : read(layout.flag)
  const count = time.values.length
  if ([lat, lng, height, flag ?? time].some(({ values }) => values.length !== count))
    throw new UnusableFile('its variables differ in length')
  const units = TIME_UNITS.exec(time.units)
  const epoch = units === null ? NaN : Date.parse(`${units[1]}T${units[2]}Z`) / 1000
  if (Number.isNaN(epoch)) throw new UnusableFile('its times are not in "seconds since DATE TIME"')

  const track = emptyTrack(count)
  let taken = 0
  for (let i = 0; i < count; i++) {
    const second = Math.round(epoch + time.at(i))
    const [south, east, metres] = [lat.at(i), lng.at(i), height.at(i)]
    const code = Math.round(metres * HEIGHT.scale)
    // A missing value is NaN, of which no comparison holds.
    const valid =
      second >= 0 &&
      second <= MAX_EPOCH &&
      Math.abs(south) <= 90 &&
      Math.abs(east) <= 360 &&
      code >= HEIGHT.min * HEIGHT.scale &&
      code <= HEIGHT.max * HEIGHT.scale &&
      (flag === null || flag.at(i) === 0)
    if (!valid) {
      report.skipped('no valid significant wave height at a point of a track')
      continue
    }
    track.time[taken] = second
    track.lat[taken] = Math.round(south * MICRO)
    track.lng[taken] = Math.round(wrapLongitude(east) * MICRO)
    track.height[taken] = code
    track.box[taken] = Number(layout.isBox)
    taken++
  }
  report.rows(taken)
  return { mission, track: slice(track, taken), cycle: cycleOf(mission, textAttribute(attrs.cycle)) }
}

function cycleOf({ passesOfOwnCycle }: Mission, text: string | undefined): OrbitPhase | null {
  const match = OWN_CYCLE.exec(text ?? '')
  if (match === null || passesOfOwnCycle === undefined) return null
  const [begin, end] = [Date.parse(match[2]) / 1000, Date.parse(match[3]) / 1000]
  return end > begin ? ownCycle(Number(match[1]), begin, end, passesOfOwnCycle) : null
}

const emptyTrack = (count: number): Track => ({
  time: new Uint32Array(count),
  lat: new Int32Array(count),
  lng: new Int32Array(count),
  height: new Uint16Array(count),
  box: new Uint8Array(count),
})

const slice = ({ time, lat, lng, height, box }: Track, count: number): Track => ({
  time: time.slice(0, count),
  lat: lat.slice(0, count),
  lng: lng.slice(0, count),
  height: height.slice(0, count),
  box: box.slice(0, count),
})

/**
 * The points of several files in order of time, one for each second: that of the file whose name comes last.
 */
function joinTracks(files: readonly Track[]): Track {
  const joined = emptyTrack(files.reduce((sum, { time }) => sum + time.length, 0))
  let at = 0
  let isAscending = true
  // Files rarely overlap, so in this order there is mostly nothing to sort.
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

const TRACK_COLUMNS = ['time', 'lat', 'lng', 'height', 'box'] as const

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
  if (without > 0) {
    report.warn(`altimetry: ${without} of ${passes} passes of ${mission.name} give no virtual buoy a reading`)
  }
  if (unnumbered > 0) {
    report.warn(`altimetry: ${unnumbered} points of ${mission.name} are left out, their pass has no number`)
  }
  if (against > 0) {
    report.warn(
      `altimetry: ${against} of ${passes} passes of ${mission.name} run against the direction of their number; was its orbit changed?`,
    )
  }
}

/** The smallest box that holds the points from `from` up to `to`. */
function boundsOf({ lat, lng }: Track, from: number, to: number): Bounds {
  let [south, north] = [Infinity, -Infinity]
  for (let i = from; i < to; i++) {
    south = Math.min(south, lat[i])
    north = Math.max(north, lat[i])
  }
  // The smallest arc is what the widest gap between neighbouring longitudes leaves.
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
  const columns = ['identifier', 'name', 'lat', 'lng']
  await readTable(path, report.file(path), columns, columns, (cell) => {
    const identifier = cell('identifier')
    if (!/^[^"\p{Cc}]{1,64}$/u.test(identifier)) return 'identifier is not 1 to 64 characters without quotes'
    if (known.has(identifier)) return 'a virtual buoy with this identifier stands above'
    const name = cleanName(cell('name'))
    if (name === '') return 'a virtual buoy without a name'
    const lat = degreesOf(cell('lat'), 90)
    const lng = degreesOf(cell('lng'), 180)
    if (Number.isNaN(lat)) return 'lat is not a number from -90 to 90'
    if (Number.isNaN(lng)) return 'lng is not a number from -180 to 180'
    if (known.size === MAX_VIRTUAL_BUOYS) return `more than ${MAX_VIRTUAL_BUOYS} virtual buoys`
    known.add(identifier)
    points.push({ identifier, name, lat, lng })
    return null
  })
  return points
}

const RADIANS = Math.PI / 180

/** What a pass has near a virtual buoy. */
interface Nearby {
  /** Codes. */
  heights: number[]
  /** Distance of the nearest point, and its time. */
  km: number
  time: number
}

/**
 * The virtual buoys, found by the cell of one degree in which a point of a track lies, and the readings they
 * get.
 */
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
        for (let column = first; column <= last; column++) this.#reachInto(cellOf(row, column), index)
      }
    })
  }

  #reachInto(cell: number, index: number): void {
    const list = this.#cells.get(cell)
    if (list === undefined) this.#cells.set(cell, [index])
    else list.push(index)
  }

  /** Makes a point known as a buoy; returns its handle. */
  announce(index: number): number {
    let handle = this.#handles.get(index)
    if (handle === undefined) {
      handle = this.#sink.buoy({ source: SOURCE, virtual: true, ...this.#points[index] })
      this.#handles.set(index, handle)
    }
    return handle
  }

  /**
   * Takes the readings of one pass, the points from `from` up to `to`; returns which buoys got one, and when.
   */
  observe(track: Track, from: number, to: number): { buoy: number; time: number }[] {
    const near = new Map<number, Nearby>()
    const boxes = new Map<number, Nearby>()
    for (let i = from; i < to; i++) {
      const [lat, lng] = [track.lat[i] / MICRO, track.lng[i] / MICRO]
      const candidates = this.#cells.get(cellOf(Math.floor(lat), Math.floor(lng)))
      if (candidates === undefined) continue
      for (const index of candidates) {
        const km = haversineKm(lat, lng, this.#points[index].lat, this.#points[index].lng)
        const isBox = track.box[i] === 1
        if (km > (isBox ? BOX_REACH_KM : REACH_KM)) continue
        const kind = isBox ? boxes : near
        const point = { heights: [track.height[i]], km, time: track.time[i] }
        const found = kind.get(index)
        if (found === undefined || (isBox && km < found.km)) kind.set(index, point)
        else if (!isBox) {
          found.heights.push(track.height[i])
          if (km < found.km) Object.assign(found, { km, time: track.time[i] })
        }
      }
    }
    for (const [index, { heights }] of near) if (heights.length < MIN_POINTS) near.delete(index)
    // Single points say more of a place than a box around it does.
    for (const [index, box] of boxes) if (!near.has(index)) near.set(index, box)
    const observations: { buoy: number; time: number }[] = []
    for (const [index, { heights, time }] of near) {
      let readings = this.#readings.get(index)
      if (readings === undefined) {
        readings = new Map()
        this.#readings.set(index, readings)
      }
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

/** Of an even number of values the mean of the two in the middle, to the nearest whole. */
function medianOf(values: number[]): number {
  values.sort((a, b) => a - b)
  const middle = values.length >> 1
  return values.length % 2 === 1 ? values[middle] : Math.round((values[middle - 1] + values[middle]) / 2)
}
