// A coarse mask of the land's inside, for the checks of a build: `src/sea/inland.json`. A cell of a tenth of
// a degree is in it where no water is within 25 km of its centre. Lakes are water.
import { deflateSync } from 'node:zlib'
import { lakesOf, landOf } from './shapes.mjs'

const PER_DEGREE = 10
const WIDTH = 360 * PER_DEGREE
const HEIGHT = 180 * PER_DEGREE
/** Kilometres from water: positions are rounded, and the outlines leave out islets and small bays. */
const INSIDE_KM = 25
const CELL_KM = 111.195 / PER_DEGREE

const centreLat = (row) => 90 - (row + 0.5) / PER_DEGREE

/** Sets the cells whose centres lie in the polygons. */
function fill(cells, polygons, value) {
  for (const polygon of polygons) {
    const crossings = new Map()
    for (const ring of polygon) {
      for (let i = 1; i < ring.length; i++) noteCrossings(crossings, ring[i - 1], ring[i])
    }
    for (const [row, places] of crossings) {
      places.sort((a, b) => a - b)
      for (let i = 1; i < places.length; i += 2) {
        const from = Math.ceil((places[i - 1] + 180) * PER_DEGREE - 0.5)
        const to = Math.floor((places[i] + 180) * PER_DEGREE - 0.5)
        for (let column = Math.max(0, from); column <= Math.min(WIDTH - 1, to); column++) {
          cells[row * WIDTH + column] = value
        }
      }
    }
  }
}

/** Longitudes at which an edge crosses the rows' centres, by row. */
function noteCrossings(crossings, [lngA, latA], [lngB, latB]) {
  const [south, north] = [Math.min(latA, latB), Math.max(latA, latB)]
  const first = Math.max(0, Math.ceil((90 - north) * PER_DEGREE - 0.5))
  for (let row = first; row < HEIGHT && centreLat(row) > south; row++) {
    // Half open, so that a corner counts once.
    if (centreLat(row) > north) continue
    const lng = lngA + ((centreLat(row) - latA) / (latB - latA)) * (lngB - lngA)
    if (!crossings.has(row)) crossings.set(row, [])
    crossings.get(row).push(lng)
  }
}

/** Cells with land alone within `INSIDE_KM`, as one bit each, from north to south and west to east. */
function insideOf(cells) {
  const bits = new Uint8Array((WIDTH * HEIGHT) / 8)
  const reach = Math.floor(INSIDE_KM / CELL_KM)
  // Water cells before a column, so that a stretch of a row is looked up at once.
  const water = Array.from({ length: HEIGHT }, (_, row) => {
    const before = new Uint32Array(WIDTH + 1)
    for (let column = 0; column < WIDTH; column++) {
      before[column + 1] = before[column] + (cells[row * WIDTH + column] === 0 ? 1 : 0)
    }
    return before
  })
  const hasWater = (row, from, to) => {
    const before = water[row]
    if (to - from >= WIDTH) return before[WIDTH] > 0
    if (from < 0) return before[WIDTH] - before[from + WIDTH] > 0 || before[to] > 0
    if (to > WIDTH) return before[WIDTH] - before[from] > 0 || before[to - WIDTH] > 0
    return before[to] - before[from] > 0
  }
  for (let row = 0; row < HEIGHT; row++) {
    const around = []
    for (let near = Math.max(0, row - reach); near <= Math.min(HEIGHT - 1, row + reach); near++) {
      const km = Math.sqrt(INSIDE_KM ** 2 - ((near - row) * CELL_KM) ** 2)
      around.push([near, Math.floor(km / (CELL_KM * Math.cos((centreLat(near) * Math.PI) / 180)))])
    }
    for (let column = 0; column < WIDTH; column++) {
      const isInside = around.every(([near, span]) => !hasWater(near, column - span, column + span + 1))
      const at = row * WIDTH + column
      if (isInside) bits[at >> 3] |= 1 << (at & 7)
    }
  }
  return bits
}

/** The mask as JSON: bits of the cells, packed by deflate, as base64. */
export function inlandMask() {
  const cells = new Uint8Array(WIDTH * HEIGHT)
  fill(cells, landOf('10m'), 1)
  // Neither scale has all lakes of the other.
  for (const scale of ['50m', '110m']) fill(cells, lakesOf(scale), 0)
  const packed = deflateSync(insideOf(cells), { level: 9 }).toString('base64')
  return `${JSON.stringify({ cellsPerDegree: PER_DEGREE, insideKm: INSIDE_KM, cells: packed })}\n`
}
