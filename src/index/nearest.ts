/**
 * The few nearest of many points, exact: cells of the globe, each with the only points that can be among the
 * nearest to a position within it.
 *
 * A cell's list holds what lies no farther from its centre than the last of the centre's own nearest plus
 * twice the way from the centre to a corner, in the order of distance from the centre; by the triangle
 * inequality nothing else can come first. A list is made when its cell is first asked about (some 40 µs for
 * 1,200 points), so that a new snapshot costs nothing. From then on one point takes 0.25 µs instead of the
 * tree's 5 to 11, twenty take 0.8 instead of 9 to 16. The tree (`points.ts`) answers where distances are
 * tied.
 */
import { EARTH_RADIUS_KM, FARTHEST_KM, haversineKm } from '../sea/geo.ts'
import type { Points } from './points.ts'
import { asked, locate, SAME_CHORD, squaredChordOf, writeUnitVector } from './sphere.ts'

/** Most points that can be asked for here. */
export const MOST_NEAREST = 20
/** One more shows whether the last one is tied. */
const KEPT = MOST_NEAREST + 1

/** Degrees of a cell. Lists of 2° are shorter and no faster, and there are four times as many to make. */
const CELL_DEGREES = 4
const ROWS = 180 / CELL_DEGREES
const COLUMNS = 360 / CELL_DEGREES
/** What single precision and rounding may do to a chord. */
const MARGIN = 1e-6
/** Entries of all lists together, 8 bytes each; when they are full, all lists are made anew. */
const MAX_ENTRIES = 2 ** 21

/** Chords up to here (140°) tell the distance to the micrometre; the nearer the antipode, the worse. */
const FAR_CHORD = 3.5
/** The squared sine of half the angle of 2,000 km. */
const NEAR_SQUARED_SINE = 0.0245

/** Hundredths of a km this near to a half are rounded by the great circle itself. */
const NEAR_HALF = 1e-4

export class NearestPoints {
  /**
   * What `find` found last, nearest first, at equal distance the lower ordinal first: ordinals, and distances
   * in hundredths of a km, rounded.
   */
  readonly ordinals = new Uint32Array(KEPT)
  readonly hundredths = new Uint32Array(KEPT)

  readonly #lat: Float64Array
  readonly #lng: Float64Array
  readonly #accept: (ordinal: number) => boolean
  readonly #tree: Points
  /** The points: ordinals, and x, y, z of each on the unit sphere. */
  readonly #ordinal: Uint32Array
  readonly #vectors: Float64Array
  /** By cell: where its list begins (0 as long as it has none) and ends, and its centre. */
  readonly #start = new Uint32Array(ROWS * COLUMNS)
  readonly #end = new Uint32Array(ROWS * COLUMNS)
  readonly #centre = new Float64Array(3 * ROWS * COLUMNS)
  /** The lists: points, and their chords from the centre of the cell. The first entry stays empty. */
  #list = new Uint32Array(4096)
  #chord = new Float32Array(4096)
  #used = 1
  /** The nearest so far: points and squared chords. */
  readonly #point = new Uint32Array(KEPT + 1)
  readonly #squared = new Float64Array(KEPT + 1)

  /**
   * Over the points that `accept` takes; `tree` holds them too and answers where ties leave an answer open.
   */
  constructor(lat: Float64Array, lng: Float64Array, tree: Points, accept: (ordinal: number) => boolean) {
    this.#lat = lat
    this.#lng = lng
    this.#tree = tree
    this.#accept = accept
    this.#ordinal = Uint32Array.from(lat.keys()).filter(accept)
    const count = this.#ordinal.length
    this.#vectors = new Float64Array(3 * count)
    for (let i = 0; i < count; i++) {
      writeUnitVector(this.#vectors, 3 * i, lat[this.#ordinal[i]], lng[this.#ordinal[i]])
    }
  }

  /**
   * Finds the `limit` (at most `MOST_NEAREST`) nearest points within `maxKm`, inclusive; returns how many
   * there are.
   */
  find(lat: number, lng: number, limit: number, maxKm: number): number {
    const reach = squaredChordOf(maxKm)
    const found = this.#collect(lat, lng, limit, reach + SAME_CHORD)
    const count = Math.min(found, limit)
    // Ties, and a last point at the very limit, are for the great circle.
    let isClose = count > 0 && maxKm < FARTHEST_KM && this.#squared[count - 1] > reach - SAME_CHORD
    for (let i = 1; i < found; i++) isClose ||= this.#squared[i] - this.#squared[i - 1] < SAME_CHORD
    if (isClose) return this.#ask(lat, lng, limit, maxKm)
    for (let i = 0; i < count; i++) {
      const ordinal = this.#ordinal[this.#point[i]]
      this.ordinals[i] = ordinal
      const chord = this.#squared[i]
      let hundredths = 200 * EARTH_RADIUS_KM * halfAngle(chord)
      const part = hundredths - Math.floor(hundredths)
      if (chord > FAR_CHORD || (part > 0.5 - NEAR_HALF && part < 0.5 + NEAR_HALF)) {
        hundredths = 100 * haversineKm(lat, lng, this.#lat[ordinal], this.#lng[ordinal])
      }
      this.hundredths[i] = Math.round(hundredths)
    }
    return count
  }

  /**
   * Collects the points nearest to a position with squared chords up to `worst`, one more than asked for.
   * Returns how many.
   */
  #collect(lat: number, lng: number, limit: number, worst: number): number {
    locate(lat, lng)
    const x = asked[2]
    const y = asked[3]
    const z = asked[4]
    const row = Math.min(ROWS - 1, ((lat + 90) / CELL_DEGREES) >>> 0)
    const column = Math.min(COLUMNS - 1, ((lng + 180) / CELL_DEGREES) >>> 0)
    const cell = row * COLUMNS + column
    if (this.#start[cell] === 0) this.#makeList(cell, row, column)
    const [list, chords, squared, point] = [this.#list, this.#chord, this.#squared, this.#point]
    const vectors = this.#vectors
    const end = this.#end[cell]
    const fromCentre = Math.sqrt(this.#squaredFromCentre(cell, x, y, z)) + MARGIN
    let count = 0
    for (let entry = this.#start[cell]; entry < end; entry++) {
      // A point that is so much farther from the centre than the position is, is farther from the position
      // too.
      const least = chords[entry] - fromCentre
      if (least > 0 && least * least > worst) break
      const i = list[entry]
      const dx = x - vectors[3 * i]
      const dy = y - vectors[3 * i + 1]
      const dz = z - vectors[3 * i + 2]
      const chord = dx * dx + dy * dy + dz * dz
      if (chord > worst) continue
      let at = count
      for (; at > 0 && squared[at - 1] > chord; at--) {
        squared[at] = squared[at - 1]
        point[at] = point[at - 1]
      }
      squared[at] = chord
      point[at] = i
      if (count <= limit) count++
      if (count > limit) worst = squared[limit]
    }
    return count
  }

  #squaredFromCentre(cell: number, x: number, y: number, z: number): number {
    const dx = x - this.#centre[3 * cell]
    const dy = y - this.#centre[3 * cell + 1]
    const dz = z - this.#centre[3 * cell + 2]
    return dx * dx + dy * dy + dz * dz
  }

  #makeList(cell: number, row: number, column: number): void {
    const [south, west] = [row * CELL_DEGREES - 90, column * CELL_DEGREES - 180]
    writeUnitVector(this.#centre, 3 * cell, south + CELL_DEGREES / 2, west + CELL_DEGREES / 2)
    // The corners are what is farthest from the centre.
    const corners = new Float64Array(6)
    writeUnitVector(corners, 0, south, west)
    writeUnitVector(corners, 3, south + CELL_DEGREES, west)
    const corner = Math.max(
      this.#squaredFromCentre(cell, corners[0], corners[1], corners[2]),
      this.#squaredFromCentre(cell, corners[3], corners[4], corners[5]),
    )
    const vectors = this.#vectors
    const chords = new Float64Array(this.#ordinal.length)
    for (let i = 0; i < chords.length; i++) {
      chords[i] = Math.sqrt(
        this.#squaredFromCentre(cell, vectors[3 * i], vectors[3 * i + 1], vectors[3 * i + 2]),
      )
    }
    const bound = smallest(chords, KEPT) + 2 * Math.sqrt(corner) + MARGIN
    const points: number[] = []
    for (let i = 0; i < chords.length; i++) if (chords[i] <= bound) points.push(i)
    points.sort((a, b) => chords[a] - chords[b])
    const start = this.#room(points.length)
    points.forEach((i, entry) => {
      this.#list[start + entry] = i
      this.#chord[start + entry] = chords[i]
    })
    this.#start[cell] = start
    this.#end[cell] = start + points.length
  }

  /** Where the next list of `length` entries begins. */
  #room(length: number): number {
    if (this.#used + length > MAX_ENTRIES) {
      this.#start.fill(0)
      this.#used = 1
    }
    const start = this.#used
    this.#used += length
    if (this.#used > this.#list.length) {
      const [list, chord] = [this.#list, this.#chord]
      this.#list = new Uint32Array(2 * this.#used)
      this.#list.set(list)
      this.#chord = new Float32Array(2 * this.#used)
      this.#chord.set(chord)
    }
    return start
  }

  #ask(lat: number, lng: number, limit: number, maxKm: number): number {
    const { ordinals, km } = this.#tree.nearest(lat, lng, limit, maxKm, this.#accept)
    this.ordinals.set(ordinals)
    this.hundredths.set(km.map((distance) => Math.round(distance * 100)))
    return ordinals.length
  }
}

/**
 * Half the angle, in radians, that belongs to a squared chord of the unit sphere. Up to 2,000 km by the
 * series of the arcsine, whose first term left out is below 1e-13, in a fifth of the time.
 */
function halfAngle(squaredChord: number): number {
  const s = squaredChord / 4
  const sine = Math.sqrt(s)
  if (s > NEAR_SQUARED_SINE) return Math.asin(sine)
  return (
    sine *
    (1 + s * (1 / 6 + s * (3 / 40 + s * (5 / 112 + s * (35 / 1152 + s * (63 / 2816 + s * (231 / 13312)))))))
  )
}

/** The `k`-th smallest of `values`, or Infinity where there are fewer. */
function smallest(values: Float64Array, k: number): number {
  const least = new Float64Array(k + 1).fill(Infinity)
  for (const value of values) {
    if (value >= least[k - 1]) continue
    let at = k - 1
    for (; at > 0 && least[at - 1] > value; at--) least[at] = least[at - 1]
    least[at] = value
  }
  return least[k - 1]
}
