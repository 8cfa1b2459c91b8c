/**
 * The few nearest of many points, exact: cells of the globe, each with the only points that can be among the
 * nearest of a place within it.
 *
 * A cell's list holds what lies no farther from its centre than the last of the centre's own nearest plus
 * twice the way from the centre to a corner, in the order of distance from the centre; by the triangle
 * inequality nothing else can come first. A list is made when its cell is first asked about (some 40 µs for
 * 1,200 points), so that a new snapshot costs nothing. From then on one point takes 0.25 µs instead of a
 * tree's 5 to 11, twenty take 0.8 instead of 9 to 16.
 */
import { EARTH_RADIUS_KM, FARTHEST_KM, haversineKm } from '../sea/geo.ts'
import type { Points } from './points.ts'

const RADIANS = Math.PI / 180
/** Most points that can be asked for here. */
export const MOST_NEAREST = 20
/** One more shows whether the last place is tied. */
const KEPT = MOST_NEAREST + 1

/** Degrees of a cell. Lists of 2° are shorter and no faster, and there are four times as many to make. */
const CELL = 4
const ROWS = 180 / CELL
const COLUMNS = 360 / CELL
/** Squared chords on the unit sphere this close together are told apart by the great circle only. */
const SAME_CHORD = 1e-13
/** What single precision and rounding may do to a chord. */
const MARGIN = 1e-6
/** Places in all lists together, 8 bytes each; when they are full, all lists are made anew. */
const MAX_PLACES = 2 ** 21

/** Chords up to here (140°) tell the distance to the micrometre; the nearer the antipode, the worse. */
const FAR_CHORD = 3.5
/** Of half of 2,000 km. */
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
  /** The points: ordinals, and where they are on the unit sphere. */
  readonly #ordinal: Uint32Array
  readonly #x: Float64Array
  readonly #y: Float64Array
  readonly #z: Float64Array
  /** By cell: where its list begins (0 as long as it has none) and ends, and its centre. */
  readonly #start = new Uint32Array(ROWS * COLUMNS)
  readonly #end = new Uint32Array(ROWS * COLUMNS)
  readonly #centre = new Float64Array(3 * ROWS * COLUMNS)
  /** The lists: points, and their chords from the centre of the cell. The first place stays empty. */
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
    this.#x = new Float64Array(count)
    this.#y = new Float64Array(count)
    this.#z = new Float64Array(count)
    for (let i = 0; i < count; i++) {
      const phi = lat[this.#ordinal[i]] * RADIANS
      const lambda = lng[this.#ordinal[i]] * RADIANS
      this.#x[i] = Math.cos(phi) * Math.cos(lambda)
      this.#y[i] = Math.cos(phi) * Math.sin(lambda)
      this.#z[i] = Math.sin(phi)
    }
  }

  /**
   * Finds the `limit` (at most `MOST_NEAREST`) nearest points within `maxKm`, inclusive; returns how many
   * there are.
   */
  find(lat: number, lng: number, limit: number, maxKm: number): number {
    const reach = maxKm >= FARTHEST_KM ? 2 : 2 * Math.sin(maxKm / (2 * EARTH_RADIUS_KM))
    const found = this.#collect(lat, lng, limit, reach * reach + SAME_CHORD)
    const count = Math.min(found, limit)
    // Ties, and a last one at the very limit, are for the great circle.
    let isClose = count > 0 && maxKm < FARTHEST_KM && this.#squared[count - 1] > reach * reach - SAME_CHORD
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
   * The points nearest to a place with squared chords up to `worst`, one more than asked for; returns how
   * many.
   */
  #collect(lat: number, lng: number, limit: number, worst: number): number {
    const cosine = Math.cos(lat * RADIANS)
    const x = cosine * Math.cos(lng * RADIANS)
    const y = cosine * Math.sin(lng * RADIANS)
    const z = Math.sin(lat * RADIANS)
    const row = Math.min(ROWS - 1, ((lat + 90) / CELL) >>> 0)
    const column = Math.min(COLUMNS - 1, ((lng + 180) / CELL) >>> 0)
    const cell = row * COLUMNS + column
    if (this.#start[cell] === 0) this.#makeList(cell, row, column)
    const [list, chords, squared, point] = [this.#list, this.#chord, this.#squared, this.#point]
    const [xs, ys, zs] = [this.#x, this.#y, this.#z]
    const end = this.#end[cell]
    const fromCentre = Math.sqrt(this.#squaredFromCentre(cell, x, y, z)) + MARGIN
    let count = 0
    for (let place = this.#start[cell]; place < end; place++) {
      // What is so much farther from the centre than the place is, is farther from the place too.
      const least = chords[place] - fromCentre
      if (least > 0 && least * least > worst) break
      const i = list[place]
      const dx = x - xs[i]
      const dy = y - ys[i]
      const dz = z - zs[i]
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
    const [south, west] = [row * CELL - 90, column * CELL - 180]
    const [x, y, z] = onSphere(south + CELL / 2, west + CELL / 2)
    this.#centre.set([x, y, z], 3 * cell)
    // The corners are what is farthest from the centre.
    const corner = Math.max(
      this.#squaredFromCentre(cell, ...onSphere(south, west)),
      this.#squaredFromCentre(cell, ...onSphere(south + CELL, west)),
    )
    const chords = new Float64Array(this.#ordinal.length)
    for (let i = 0; i < chords.length; i++) {
      chords[i] = Math.sqrt(this.#squaredFromCentre(cell, this.#x[i], this.#y[i], this.#z[i]))
    }
    const bound = smallest(chords, KEPT) + 2 * Math.sqrt(corner) + MARGIN
    const points: number[] = []
    for (let i = 0; i < chords.length; i++) if (chords[i] <= bound) points.push(i)
    points.sort((a, b) => chords[a] - chords[b])
    const start = this.#room(points.length)
    points.forEach((i, place) => {
      this.#list[start + place] = i
      this.#chord[start + place] = chords[i]
    })
    this.#start[cell] = start
    this.#end[cell] = start + points.length
  }

  /** Where the next list of `length` places begins. */
  #room(length: number): number {
    if (this.#used + length > MAX_PLACES) {
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
 * series of the arcsine, whose first term left out is below 1e-13: a fifth of the time.
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

function onSphere(lat: number, lng: number): [number, number, number] {
  const cosine = Math.cos(lat * RADIANS)
  return [cosine * Math.cos(lng * RADIANS), cosine * Math.sin(lng * RADIANS), Math.sin(lat * RADIANS)]
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
