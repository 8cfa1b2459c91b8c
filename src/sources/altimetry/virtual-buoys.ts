/** Virtual buoys: fixed sea points, and the readings that passes near them give. */
import { EARTH_RADIUS_KM, haversineKm } from '../../sea/geo.ts'
import { RowBatch } from '../../sea/row-batch.ts'
import type { Sink, SourceContext } from '../source.ts'
import { readTable, STATION_COLUMNS } from '../reading/text-table.ts'
import { entryOf } from '../../system/entry-of.ts'

/** Degrees are kept as whole millionths, the digits of the product. */
export const MICRO = 1e6

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

export const SOURCE = 'Satellite altimetry'

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

export function gridPoints(): VirtualPoint[] {
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

export async function readVirtualBuoys(
  path: string,
  report: SourceContext['report'],
): Promise<VirtualPoint[]> {
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
export class VirtualBuoys {
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

  /** Takes the pass of the points from `from` up to `to`; returns which buoys got a reading, and when. */
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
    // Single points describe a place better than the box around it.
    for (const [index, box] of boxes) if (!near.has(index)) near.set(index, box)
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
