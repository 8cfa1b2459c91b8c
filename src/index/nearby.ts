/**
 * The nearest of many points within a reach that never changes: cells of the globe twice as wide as the
 * reach, so that a circle mostly touches four. A tree answers any reach and any number of points; this
 * answers one question some twenty times as fast.
 */
import { EARTH_RADIUS_KM, haversineKm } from '../sea/geo.ts'
import { asked, isNearer, locate, RADIANS, SAME_CHORD, squaredChordOf, writeUnitVector } from './sphere.ts'

/** Degrees by which the search is wider than the reach: what rounding may do to a cell's border. */
const MARGIN = 1e-9
export class Nearby {
  readonly #lat: Float64Array
  readonly #lng: Float64Array
  readonly #reachKm: number
  /** The reach as degrees of latitude and as squared chord. */
  readonly #reach: number
  readonly #chord: number
  /**
   * By whole degree of latitude away from the equator: how far the reach goes east and west of there and of
   * all before, degrees.
   */
  readonly #aside: Float64Array
  /** Cells in rows from south to north: the first cell of each row, then the first point of each cell. */
  readonly #rows: number
  readonly #firstCell: Uint32Array
  readonly #start: Uint32Array
  /** Points by cell: their ordinals, and x, y, z on the unit sphere side by side. */
  readonly #ordinal: Uint32Array
  readonly #vector: Float64Array

  /** Over the points that `include` takes; `reachKm` is far below a quarter of the globe. */
  constructor(
    lat: Float64Array,
    lng: Float64Array,
    reachKm: number,
    include: (ordinal: number) => boolean = anyPoint,
  ) {
    const angle = reachKm / EARTH_RADIUS_KM
    this.#lat = lat
    this.#lng = lng
    this.#reachKm = reachKm
    this.#reach = angle / RADIANS + MARGIN
    this.#chord = squaredChordOf(reachKm)
    this.#aside = Float64Array.from({ length: 91 }, (_, degree) => asideAt(degree, this.#reach))
    this.#rows = Math.max(1, Math.floor(90 / this.#reach))
    this.#firstCell = new Uint32Array(this.#rows + 1)
    for (let row = 0; row < this.#rows; row++) {
      const middle = ((row + 0.5) * 180) / this.#rows - 90
      const columns = Math.max(1, Math.floor((180 / this.#reach) * Math.cos(middle * RADIANS)))
      this.#firstCell[row + 1] = this.#firstCell[row] + columns
    }
    // Sorted by counting, by cell, ordinals ascending in each: a fifth of the time of a sort.
    const cellOf = new Int32Array(lat.length).fill(-1)
    this.#start = new Uint32Array(this.#firstCell[this.#rows] + 1)
    for (let ordinal = 0; ordinal < lat.length; ordinal++) {
      if (!include(ordinal)) continue
      cellOf[ordinal] = this.#cellOf(lat[ordinal], lng[ordinal])
      this.#start[cellOf[ordinal] + 1]++
    }
    for (let cell = 1; cell < this.#start.length; cell++) this.#start[cell] += this.#start[cell - 1]
    const count = this.#start[this.#start.length - 1]
    this.#ordinal = new Uint32Array(count)
    this.#vector = new Float64Array(count * 3)
    const next = this.#start.slice()
    for (let ordinal = 0; ordinal < lat.length; ordinal++) {
      if (cellOf[ordinal] === -1) continue
      const i = next[cellOf[ordinal]]++
      this.#ordinal[i] = ordinal
      writeUnitVector(this.#vector, i * 3, lat[ordinal], lng[ordinal])
    }
  }

  /**
   * The nearest point within reach (inclusive) that `accept` takes, or −1; at equal distance the lower
   * ordinal. `accept` is asked only of points that would be the nearest so far.
   */
  nearest(lat: number, lng: number, accept: (ordinal: number) => boolean = anyPoint): number {
    locate(lat, lng)
    const x = asked[2]
    const y = asked[3]
    const z = asked[4]
    const vector = this.#vector
    const aside = this.#aside[Math.ceil(Math.abs(lat))]
    const last = this.#rowOf(lat + this.#reach)
    let found = -1
    let foundChord = this.#chord
    for (let row = this.#rowOf(lat - this.#reach); row <= last; row++) {
      const first = this.#firstCell[row]
      const columns = this.#firstCell[row + 1] - first
      let west = Math.floor(((lng - aside + 180) / 360) * columns)
      const east = Math.floor(((lng + aside + 180) / 360) * columns)
      if (east - west >= columns - 1) west = east - columns + 1
      // Columns from `west` to `east` in two runs of cells where they cross the antimeridian.
      for (let column = west; column <= east;) {
        const from = column < 0 ? column + columns : column >= columns ? column - columns : column
        const to = Math.min(columns - 1, from + east - column)
        column += to - from + 1
        const end = this.#start[first + to + 1]
        for (let i = this.#start[first + from]; i < end; i++) {
          const dx = x - vector[i * 3]
          const dy = y - vector[i * 3 + 1]
          const dz = z - vector[i * 3 + 2]
          const chord = dx * dx + dy * dy + dz * dz
          if (chord > foundChord + SAME_CHORD) continue
          const ordinal = this.#ordinal[i]
          const isNearer = chord < foundChord - SAME_CHORD || this.#isNearer(lat, lng, ordinal, found)
          if (!isNearer || !accept(ordinal)) continue
          found = ordinal
          foundChord = chord
        }
      }
    }
    return found
  }

  /**
   * By the great circle: whether a point is nearer than `found`, of equals the lower ordinal, or within reach
   * where none is found.
   */
  #isNearer(lat: number, lng: number, ordinal: number, found: number): boolean {
    if (found !== -1) return isNearer(this.#lat, this.#lng, lat, lng, ordinal, found)
    return haversineKm(lat, lng, this.#lat[ordinal], this.#lng[ordinal]) <= this.#reachKm
  }

  #rowOf(lat: number): number {
    const row = Math.floor(((lat + 90) / 180) * this.#rows)
    return row < 0 ? 0 : row >= this.#rows ? this.#rows - 1 : row
  }

  #cellOf(lat: number, lng: number): number {
    const row = this.#rowOf(lat)
    const first = this.#firstCell[row]
    const columns = this.#firstCell[row + 1] - first
    return first + Math.min(columns - 1, Math.floor(((lng + 180) / 360) * columns))
  }
}

const anyPoint = (): boolean => true

/** How far `reach` goes east and west of a latitude, all in degrees; around a pole it goes all around. */
function asideAt(lat: number, reach: number): number {
  const sine = Math.sin(reach * RADIANS)
  const cosine = Math.cos(lat * RADIANS)
  return sine >= cosine ? 180 : Math.asin(sine / cosine) / RADIANS + MARGIN
}
