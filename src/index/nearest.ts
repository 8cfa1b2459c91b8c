/**
 * The few nearest of many points, exact: cells of the globe, each with the only points that can be among the
 * nearest to a position within it.
 *
 * A cell's list holds what lies no farther from its centre than the last of the centre's own nearest plus
 * twice the way from the centre to a corner, in the order of distance from the centre; by the triangle
 * inequality nothing else can come first. The lists are made with the snapshot, on a thread that serves
 * nothing; where there are too many points for that, each is made when its cell is first asked about. One
 * point takes 0.25 µs instead of the tree's 5 to 11, twenty take 0.8 instead of 9 to 16. The tree
 * (`points.ts`) answers where distances are tied.
 */
import { EARTH_RADIUS_KM, FARTHEST_KM, haversineKm } from '../sea/geo.ts'
import type { Points } from './points.ts'
import type { Steps } from '../system/steps.ts'
import { sameNumbers } from '../system/thread-memory.ts'
import { asked, locate, SAME_CHORD, squaredChordOf, writeUnitVector } from './sphere.ts'

/** Most points that can be asked for here. */
export const MOST_NEAREST = 20
/** One more shows whether the last one is tied. */
const KEPT = MOST_NEAREST + 1

/** Degrees of a cell. Lists of 2° are shorter and no faster, and there are four times as many to make. */
const CELL_DEGREES = 4
const ROWS = 180 / CELL_DEGREES
const COLUMNS = 360 / CELL_DEGREES
const CELLS = ROWS * COLUMNS
/** What single precision and rounding may do to a chord. */
const MARGIN = 1e-6
/** Entries of all lists together, 8 bytes each; when they are full, all lists are made anew. */
const MAX_ENTRIES = 2 ** 21
/** Lists of more points than these are left to those who ask: all cells look at all points, 1 ns each. */
const MOST_LISTED_POINTS = 20_000
/** Entries of the lists that are made with the snapshot; 1,200 points take some 200,000. */
const MAX_SHARED_ENTRIES = 2 ** 20
/** Some 100 µs for 1,200 points. */
const CELLS_PER_STEP = 16
/** Shorter runs are sorted by insertion. */
const SHORT_RUN = 12

/** Chords up to here (140°) tell the distance to the micrometre; the nearer the antipode, the worse. */
const FAR_CHORD = 3.5
/** The squared sine of half the angle of 2,000 km. */
const NEAR_SQUARED_SINE = 0.0245

/** Hundredths of a km this near to a half are rounded by the great circle itself. */
const NEAR_HALF = 1e-4

export interface NearestColumns {
  /** The points: ordinals, and x, y, z of each on the unit sphere. */
  readonly ordinal: Uint32Array
  readonly vectors: Float64Array
  /** By cell: where its list begins (0 as long as it has none) and ends. */
  readonly start: Uint32Array
  readonly end: Uint32Array
  /** The lists: points, and their chords from the centre of the cell. The first entry stays empty. */
  readonly list: Uint32Array
  readonly chord: Float32Array
}

/**
 * Over the points that `accept` takes. Lists of `before` are those of the same points: mostly no buoy has
 * come or fallen silent between two snapshots.
 */
export function* nearestColumns(
  lat: Float64Array,
  lng: Float64Array,
  accept: (ordinal: number) => boolean,
  before: NearestColumns | null = null,
): Steps<NearestColumns> {
  const ordinal = Uint32Array.from(lat.keys()).filter(accept)
  const vectors = new Float64Array(3 * ordinal.length)
  for (let i = 0; i < ordinal.length; i++) writeUnitVector(vectors, 3 * i, lat[ordinal[i]], lng[ordinal[i]])
  yield
  const isKnown =
    before !== null && sameNumbers(before.ordinal, ordinal) && sameNumbers(before.vectors, vectors)
  if (isKnown) return before
  const [start, end] = [new Uint32Array(CELLS), new Uint32Array(CELLS)]
  const lists = new CellLists(vectors)
  const [list, chord] = [new Entries(Uint32Array), new Entries(Float32Array)]
  list.room(1)
  chord.room(1)
  const cells = ordinal.length > 0 && ordinal.length <= MOST_LISTED_POINTS ? CELLS : 0
  for (let cell = 0; cell < cells; cell++) {
    const length = lists.find(cell)
    if (list.used + length > MAX_SHARED_ENTRIES) break
    start[cell] = list.used
    list.room(length).set(lists.points.subarray(0, length))
    chord.room(length).set(lists.chords.subarray(0, length))
    end[cell] = list.used
    if (cell % CELLS_PER_STEP === 0) yield
  }
  return { ordinal, vectors, start, end, list: list.all(), chord: chord.all() }
}

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
  /** By cell, as in `NearestColumns`; this thread's own. */
  readonly #start: Uint32Array
  readonly #end: Uint32Array
  /**
   * As in `NearestColumns`, and those that this thread has made: no list is ever written to shared memory.
   */
  #list: Uint32Array
  #chord: Float32Array
  #used: number
  #lists: CellLists | null = null
  /** The nearest so far: points and squared chords. */
  readonly #point = new Uint32Array(KEPT + 1)
  readonly #squared = new Float64Array(KEPT + 1)

  /**
   * Over the points that `accept` takes and `columns` were made of; `tree` holds them too and answers where
   * ties leave an answer open.
   */
  constructor(
    lat: Float64Array,
    lng: Float64Array,
    tree: Points,
    accept: (ordinal: number) => boolean,
    columns: NearestColumns,
  ) {
    this.#lat = lat
    this.#lng = lng
    this.#tree = tree
    this.#accept = accept
    this.#ordinal = columns.ordinal
    this.#vectors = columns.vectors
    this.#start = columns.start.slice()
    this.#end = columns.end.slice()
    this.#list = columns.list
    this.#chord = columns.chord
    this.#used = columns.list.length
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
    if (this.#start[cell] === 0) this.#makeList(cell)
    const cx = x - CENTRES[3 * cell]
    const cy = y - CENTRES[3 * cell + 1]
    const cz = z - CENTRES[3 * cell + 2]
    const fromCentre = Math.sqrt(cx * cx + cy * cy + cz * cz) + MARGIN
    const [list, chords, squared, point] = [this.#list, this.#chord, this.#squared, this.#point]
    const vectors = this.#vectors
    const end = this.#end[cell]
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

  #makeList(cell: number): void {
    this.#lists ??= new CellLists(this.#vectors)
    const length = this.#lists.find(cell)
    const start = this.#room(length)
    this.#list.set(this.#lists.points.subarray(0, length), start)
    this.#chord.set(this.#lists.chords.subarray(0, length), start)
    this.#start[cell] = start
    this.#end[cell] = start + length
  }

  /** Where the next list of `length` entries begins. */
  #room(length: number): number {
    if (this.#used + length > MAX_ENTRIES) {
      this.#start.fill(0)
      this.#list = new Uint32Array(0)
      this.#chord = new Float32Array(0)
      this.#used = 1
    }
    const start = this.#used
    this.#used += length
    // Shared lists have no room left, so what is written to is always a copy.
    if (this.#used > this.#list.length) {
      this.#list = grown(this.#list, new Uint32Array(2 * this.#used))
      this.#chord = grown(this.#chord, new Float32Array(2 * this.#used))
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

/** The centres of cells as x, y, z on the unit sphere. */
const CENTRES = new Float64Array(3 * CELLS)
for (let cell = 0; cell < CELLS; cell++) {
  const [south, west] = cornerOf(cell)
  writeUnitVector(CENTRES, 3 * cell, south + CELL_DEGREES / 2, west + CELL_DEGREES / 2)
}

/** South and west of a cell, degrees. */
function cornerOf(cell: number): [south: number, west: number] {
  const column = cell % COLUMNS
  return [((cell - column) / COLUMNS) * CELL_DEGREES - 90, column * CELL_DEGREES - 180]
}

/** Makes lists of cells, one after the other: 10 µs for 1,200 points. */
class CellLists {
  /** What `find` found last: points, the nearest to the centre first, and their chords from there. */
  readonly points: Uint32Array
  readonly chords: Float64Array
  readonly #vectors: Float64Array
  readonly #squared: Float64Array
  readonly #least = new Float64Array(KEPT)

  constructor(vectors: Float64Array) {
    const count = vectors.length / 3
    this.#vectors = vectors
    this.points = new Uint32Array(count)
    this.chords = new Float64Array(count)
    this.#squared = new Float64Array(count)
  }

  /** Returns how many points there are. */
  find(cell: number): number {
    const worst = this.#measure(cell)
    const bound = Math.sqrt(worst) + 2 * chordToCorner(cell) + MARGIN
    const [points, chords, squared] = [this.points, this.chords, this.#squared]
    const reach = bound * bound
    let length = 0
    for (let i = 0; i < squared.length; i++) {
      if (squared[i] > reach) continue
      points[length] = i
      chords[length++] = Math.sqrt(squared[i])
    }
    sortBoth(chords, points, 0, length - 1)
    return length
  }

  /**
   * Squared chords of all points from the centre; returns the one of the last of `KEPT`, Infinity for fewer.
   */
  #measure(cell: number): number {
    const [vectors, squared, least] = [this.#vectors, this.#squared, this.#least]
    const [x, y, z] = [CENTRES[3 * cell], CENTRES[3 * cell + 1], CENTRES[3 * cell + 2]]
    least.fill(Infinity)
    for (let i = 0; i < squared.length; i++) {
      const dx = x - vectors[3 * i]
      const dy = y - vectors[3 * i + 1]
      const dz = z - vectors[3 * i + 2]
      const chord = dx * dx + dy * dy + dz * dz
      squared[i] = chord
      if (chord >= least[KEPT - 1]) continue
      let at = KEPT - 1
      for (; at > 0 && least[at - 1] > chord; at--) least[at] = least[at - 1]
      least[at] = chord
    }
    return least[KEPT - 1]
  }
}

/** The chord from the centre of a cell to the corner farthest from there, which no point of it is beyond. */
function chordToCorner(cell: number): number {
  const [south, west] = cornerOf(cell)
  const corners = new Float64Array(6)
  writeUnitVector(corners, 0, south, west)
  writeUnitVector(corners, 3, south + CELL_DEGREES, west)
  const chordTo = (at: number): number =>
    Math.hypot(
      CENTRES[3 * cell] - corners[at],
      CENTRES[3 * cell + 1] - corners[at + 1],
      CENTRES[3 * cell + 2] - corners[at + 2],
    )
  return Math.max(chordTo(0), chordTo(3))
}

/** Sorts `keys` from `low` to `high`, and `values` with them. */
function sortBoth(keys: Float64Array, values: Uint32Array, low: number, high: number): void {
  while (high - low > SHORT_RUN) {
    const pivot = keys[(low + high) >>> 1]
    let i = low
    let j = high
    while (i <= j) {
      while (keys[i] < pivot) i++
      while (keys[j] > pivot) j--
      if (i > j) break
      const [key, value] = [keys[i], values[i]]
      keys[i] = keys[j]
      values[i++] = values[j]
      keys[j] = key
      values[j--] = value
    }
    sortBoth(keys, values, low, j)
    low = i
  }
  for (let i = low + 1; i <= high; i++) {
    const [key, value] = [keys[i], values[i]]
    let at = i
    for (; at > low && keys[at - 1] > key; at--) {
      keys[at] = keys[at - 1]
      values[at] = values[at - 1]
    }
    keys[at] = key
    values[at] = value
  }
}

/** A column that grows. */
class Entries<T extends Uint32Array | Float32Array> {
  used = 0
  #column: T

  constructor(Column: new (length: number) => T) {
    this.#column = new Column(4096)
  }

  /** The next `length` entries. */
  room(length: number): T {
    const from = this.used
    this.used += length
    if (this.used > this.#column.length) {
      const Column = this.#column.constructor as new (length: number) => T
      this.#column = grown(this.#column, new Column(2 * this.used))
    }
    return this.#column.subarray(from, this.used) as T
  }

  /** All that is used. */
  all(): T {
    return this.#column.slice(0, this.used) as T
  }
}

function grown<T extends Uint32Array | Float32Array>(from: T, to: T): T {
  to.set(from)
  return to
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
