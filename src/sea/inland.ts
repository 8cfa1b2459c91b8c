/**
 * Whether a position is inside land, by a coarse mask of Natural Earth's outlines (`npm run basemap` makes
 * it): lakes are water, and so is everything within 25 km of water.
 */
import { inflateSync } from 'node:zlib'
import { haversineKm, wrapLongitude } from './geo.ts'
import mask from './inland.json' with { type: 'json' }

const { cellsPerDegree, insideKm } = mask
const WIDTH = 360 * cellsPerDegree
const HEIGHT = 180 * cellsPerDegree

/** Waters with buoys that the outlines draw as land: south, west, north and east in degrees. */
const WATERS: readonly (readonly [name: string, s: number, w: number, n: number, e: number])[] = [
  ['Caspian Sea', 36.5, 46.6, 47.2, 54.8],
  ['Hood Canal', 47.3, -123.2, 47.7, -122.8],
  ['Potomac', 38.5, -77.3, 39, -76.9],
  ['Lake Mohave and Lake Havasu', 34.2, -114.8, 36.1, -114.1],
  ['Lake Powell', 36.9, -111.6, 37.9, -110.2],
  ['Clear Lake', 38.9, -123, 39.1, -122.6],
  ['Okanagan Lake', 49.3, -119.8, 50.4, -119.2],
  ['Lake Mendota', 43, -89.5, 43.2, -89.3],
  ['Lake Texoma', 33.7, -97, 34.2, -96.4],
  ['Lake George', 43.4, -73.8, 43.9, -73.4],
  ['Moosehead Lake', 45.4, -69.9, 45.9, -69.4],
  ['Loch Ness', 57, -4.8, 57.5, -4.2],
  ['Lago di Garda', 45.4, 10.5, 45.95, 10.95],
  ['Lago Maggiore and Lago di Como', 45.7, 8.4, 46.3, 9.5],
  ['Lac de Neuchâtel', 46.7, 6.6, 47.05, 7.1],
  ['Zürichsee', 47.1, 8.4, 47.4, 9],
  ['Chiemsee', 47.8, 12.3, 47.95, 12.6],
  ['Lago Trasimeno', 43, 12, 43.3, 12.3],
  ['Ohrid and Prespa', 40.7, 20.5, 41.2, 21.2],
  ['Biwa-ko', 35, 135.8, 35.6, 136.3],
  ['Danau Toba', 2.3, 98.4, 3, 99.2],
  ['Lake Taupo', -39, 175.6, -38.6, 176.1],
]

let cells: Uint8Array | undefined

const isInside = (row: number, column: number): boolean => {
  const at = row * WIDTH + column
  cells ??= inflateSync(Buffer.from(mask.cells, 'base64'))
  return ((cells[at >> 3] >> (at & 7)) & 1) === 1
}

const rowOf = (lat: number): number => Math.min(HEIGHT - 1, Math.floor((90 - lat) * cellsPerDegree))
const columnOf = (lng: number): number => Math.floor((wrapLongitude(lng) + 180) * cellsPerDegree) % WIDTH

/** Whether a place on the globe, in degrees, is more than 25 km inside land. */
export function isInland(lat: number, lng: number): boolean {
  if (!isInside(rowOf(lat), columnOf(lng))) return false
  const east = wrapLongitude(lng)
  return !WATERS.some(([, s, w, n, e]) => lat >= s && lat <= n && east >= w && east <= e)
}

/** Kilometres from a place inside land to the nearest water, in tens. */
export function kmFromWater(lat: number, lng: number): number {
  const [row, column] = [rowOf(lat), columnOf(lng)]
  let nearest = Infinity
  for (let to = 0; to < HEIGHT; to++) {
    const northKm = (Math.abs(to - row) / cellsPerDegree) * 111
    if (northKm >= nearest) continue
    // Away from the place on both sides, until a cell is no longer inside land.
    for (const step of [1, -1]) {
      let span = 0
      while (span < WIDTH / 2 && isInside(to, (column + step * span + WIDTH) % WIDTH)) span++
      const cell = [90 - (to + 0.5) / cellsPerDegree, lng + (step * span) / cellsPerDegree]
      nearest = Math.min(nearest, haversineKm(lat, lng, cell[0], cell[1]))
    }
  }
  return Math.round((nearest + insideKm) / 10) * 10
}
