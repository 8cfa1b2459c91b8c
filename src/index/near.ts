/**
 * Points near a position on the globe, exact: a scan over unit vectors. Comparing squared chords costs three
 * multiplications, about 1 ns a point. Points lie by bands of latitude: a radius scans the bands that it
 * touches, and the nearest few come from the bands around the position, outwards until a whole band is too far
 * away. So the scan beats a KD-tree also among 60,000 points.
 *
 * Squared chords put points in order; only where two of them hardly differ does the great circle decide, and
 * at equal distance the lower ordinal comes first.
 */
import { EARTH_RADIUS_KM, FARTHEST_KM, haversineKm } from '../sea/geo.ts'

const RADIANS = Math.PI / 180
/** Bands to a degree of latitude. */
const BANDS_PER_DEGREE = 4
const BANDS = 180 * BANDS_PER_DEGREE
/** Degrees by which the search is wider than the reach: what rounding may do to a band's border. */
const MARGIN = 1e-9
/** Only the great circle distinguishes squared chords this close together. */
const SAME_CHORD = 1e-13
/** Up to here a chord tells the distance to a millionth of a km; beyond, the sphere is too steep. */
const FAR_CHORD = 3.5
/** Hundredths of a km this close to a half are rounded by the great circle. */
const NEAR_HALF = 1e-4
/** A step holds two or three of 1,200 points all over the globe. */
const STEPS = 512
/** Of a point that was not found. */
const NO_STEP = 0xffff
/** Shorter runs are sorted by insertion. */
const SHORT_RUN = 12

/** Points by band of latitude from south to north. */
export interface NearColumns {
  /** The first point of each band, and where the last band ends. */
  readonly start: Uint32Array
  readonly ordinal: Uint32Array
  /** x, y, z of each point on the unit sphere. */
  readonly vectors: Float64Array
}

/** Sorted by counting: it is linear, and ordinals ascend within a band. Degrees. */
export function nearColumns(lat: Float64Array, lng: Float64Array): NearColumns {
  const start = new Uint32Array(BANDS + 1)
  for (const each of lat) start[bandOf(each) + 1]++
  for (let band = 1; band <= BANDS; band++) start[band] += start[band - 1]
  const ordinal = new Uint32Array(lat.length)
  const vectors = new Float64Array(3 * lat.length)
  const next = start.slice()
  for (let at = 0; at < lat.length; at++) {
    const i = next[bandOf(lat[at])]++
    ordinal[i] = at
    writeUnitVector(vectors, 3 * i, lat[at], lng[at])
  }
  return { start, ordinal, vectors }
}

export class NearPoints {
  /** What was found last, nearest first. */
  readonly ordinals: Uint32Array
  readonly #lat: Float64Array
  readonly #lng: Float64Array
  readonly #start: Uint32Array
  readonly #ordinal: Uint32Array
  readonly #vectors: Float64Array
  /** Squared chords of what was found, the step of each, and how many lie in each step. */
  readonly #squared: Float64Array
  readonly #steps: Uint16Array
  readonly #counts = new Uint32Array(STEPS)
  /** The position asked about: degrees, and its unit vector. */
  readonly #asked = Float64Array.of(0, 0, 1, 0, 0)

  /** `columns` as `nearColumns` gave them for the same points. */
  constructor(lat: Float64Array, lng: Float64Array, columns: NearColumns = nearColumns(lat, lng)) {
    this.#lat = lat
    this.#lng = lng
    this.#start = columns.start
    this.#ordinal = columns.ordinal
    this.#vectors = columns.vectors
    // One more: insertion shifts the last one out.
    this.ordinals = new Uint32Array(lat.length + 1)
    this.#squared = new Float64Array(lat.length + 1)
    this.#steps = new Uint16Array(lat.length)
  }

  /**
   * Finds the `limit` nearest points within `km` (inclusive) that `accept` takes. It is asked only of points
   * that would be among the nearest so far, so with a limit of 1 the last one taken is the nearest.
   * @returns how many there are
   */
  nearest(lat: number, lng: number, limit: number, km: number, accept = anyPoint): number {
    const { ordinals } = this
    this.#locate(lat, lng)
    const reach = squaredChordOf(km)
    const [squared, vectors] = [this.#squared, this.#vectors]
    const [start, byBand] = [this.#start, this.#ordinal]
    const [x, y, z] = [this.#asked[2], this.#asked[3], this.#asked[4]]
    let worst = reach + SAME_CHORD
    let count = 0
    // From band to band outwards, the nearer one first, until whole bands are too far away.
    for (let north = bandOf(lat), south = north - 1; ;) {
      const toNorth = north < BANDS ? Math.max(0, edgeOf(north) - lat) : Infinity
      const toSouth = south >= 0 ? lat - edgeOf(south + 1) : Infinity
      const gap = Math.min(toNorth, toSouth)
      if (gap === Infinity) return count
      const band = toNorth <= toSouth ? north++ : south--
      if (start[band] === start[band + 1]) continue
      // A chord is at least as long, and hardly longer up to some 20 degrees: no sine for each band.
      const angle = (gap - MARGIN) * RADIANS
      const least = angle - (angle * angle * angle) / 24
      if (angle > 0 && least * least > worst) return count
      for (let i = start[band]; i < start[band + 1]; i++) {
        const dx = x - vectors[3 * i]
        const dy = y - vectors[3 * i + 1]
        const dz = z - vectors[3 * i + 2]
        const chord = dx * dx + dy * dy + dz * dz
        if (chord > worst) continue
        const ordinal = byBand[i]
        if (chord > reach - SAME_CHORD && this.kmTo(ordinal) > km) continue
        if (count === limit && !this.#isBefore(chord, ordinal, squared[count - 1], ordinals[count - 1])) {
          continue
        }
        if (!accept(ordinal)) continue
        this.#insert(chord, ordinal, 0, count)
        if (count < limit) count++
        if (count === limit) worst = squared[count - 1] + SAME_CHORD
      }
    }
  }

  /**
   * Finds all points within `km` (inclusive) that `accept` takes, or that are not 0 in it; of those in `ordinals`, what stands from
   * `from` up to `to` is then in order.
   * @returns how many there are
   */
  within(
    lat: number,
    lng: number,
    km: number,
    accept: Accept | Uint8Array,
    from: number,
    to: number,
  ): number {
    const degrees = km / EARTH_RADIUS_KM / RADIANS + MARGIN
    const end = this.#start[bandOf(lat + degrees) + 1]
    this.#locate(lat, lng)
    const reach = km >= FARTHEST_KM ? Infinity : squaredChordOf(km)
    const perStep = (STEPS - 1) / (Math.min(4, reach) + SAME_CHORD)
    const steps = this.#steps
    const counts = this.#counts.fill(0)
    const vectors = this.#vectors
    const byBand = this.#ordinal
    const x = this.#asked[2]
    const y = this.#asked[3]
    const z = this.#asked[4]
    // Asking a mask spares a call for each point of the globe.
    const mask = accept instanceof Uint8Array ? accept : null
    const begin = this.#start[bandOf(lat - degrees)]
    let count = 0
    for (let i = begin; i < end; i++) {
      steps[i] = NO_STEP
      const dx = x - vectors[3 * i]
      const dy = y - vectors[3 * i + 1]
      const dz = z - vectors[3 * i + 2]
      const chord = dx * dx + dy * dy + dz * dz
      if (chord > reach + SAME_CHORD) continue
      const ordinal = byBand[i]
      if (mask === null ? !(accept as Accept)(ordinal) : mask[ordinal] === 0) continue
      if (chord > reach - SAME_CHORD && this.kmTo(ordinal) > km) continue
      const step = (chord * perStep) | 0
      counts[step]++
      steps[i] = step
      count++
    }
    this.#order(begin, end, from, Math.min(to, count))
    return count
  }

  #locate(lat: number, lng: number): void {
    this.#asked[0] = lat
    this.#asked[1] = lng
    writeUnitVector(this.#asked, 2, lat, lng)
  }

  /** Great-circle distance of a point from the position asked about last. */
  kmTo(ordinal: number): number {
    return haversineKm(this.#asked[0], this.#asked[1], this.#lat[ordinal], this.#lng[ordinal])
  }

  /**
   * Distance in hundredths of a km, rounded, of what `nearest` found at `place`. Mostly by the chord, which takes
   * one function where the great circle takes four.
   */
  hundredths(place: number): number {
    const chord = this.#squared[place]
    const hundredths = 200 * EARTH_RADIUS_KM * Math.asin(Math.sqrt(chord) / 2)
    const isClear = chord < FAR_CHORD && Math.abs(hundredths - Math.floor(hundredths) - 0.5) > NEAR_HALF
    return Math.round(isClear ? hundredths : 100 * this.kmTo(this.ordinals[place]))
  }

  /** Whether point `a` comes before point `b`, by their squared chords and ordinals. */
  #isBefore(chordA: number, a: number, chordB: number, b: number): boolean {
    const difference = chordA - chordB
    if (difference <= -SAME_CHORD) return true
    if (difference >= SAME_CHORD || a === b) return false
    const kmA = this.kmTo(a)
    const kmB = this.kmTo(b)
    return kmA === kmB ? a < b : kmA < kmB
  }

  /** Puts a point in its place among those from `low` to `at - 1`, which are in order. */
  #insert(chord: number, ordinal: number, low: number, at: number): void {
    const { ordinals } = this
    const squared = this.#squared
    const below = chord - SAME_CHORD
    const above = chord + SAME_CHORD
    for (; at > low; at--) {
      const before = squared[at - 1]
      if (before <= below) break
      if (before < above && !this.#isBefore(chord, ordinal, before, ordinals[at - 1])) break
      squared[at] = before
      ordinals[at] = ordinals[at - 1]
    }
    squared[at] = chord
    ordinals[at] = ordinal
  }

  /**
   * Puts in order what belongs between `from` and `to` of what was found among the points from `begin` to `end`.
   * Only the steps of the page are sorted, with one more on either side, as points that hardly differ may lie in
   * two.
   */
  #order(begin: number, end: number, from: number, to: number): void {
    if (from >= to) return
    const { ordinals } = this
    const squared = this.#squared
    const steps = this.#steps
    const counts = this.#counts
    let first = 0
    let before = 0
    while (before + counts[first] <= from) before += counts[first++]
    let last = first
    let upTo = before + counts[first]
    while (upTo < to) upTo += counts[++last]
    if (first > 0) before -= counts[--first]
    last++
    let kept = 0
    const vectors = this.#vectors
    const x = this.#asked[2]
    const y = this.#asked[3]
    const z = this.#asked[4]
    for (let i = begin; i < end; i++) {
      const step = steps[i]
      if (step < first || step > last) continue
      const dx = x - vectors[3 * i]
      const dy = y - vectors[3 * i + 1]
      const dz = z - vectors[3 * i + 2]
      squared[kept] = dx * dx + dy * dy + dz * dz
      ordinals[kept++] = this.#ordinal[i]
    }
    this.#sort(0, kept - 1)
    ordinals.copyWithin(before, 0, kept)
  }

  /** Quicksort of what was found from `low` to `high`. */
  #sort(low: number, high: number): void {
    const { ordinals } = this
    const squared = this.#squared
    while (high - low > SHORT_RUN) {
      const middle = (low + high) >>> 1
      const pivot = squared[middle]
      const pivotOrdinal = ordinals[middle]
      let i = low
      let j = high
      while (i <= j) {
        while (this.#isBefore(squared[i], ordinals[i], pivot, pivotOrdinal)) i++
        while (this.#isBefore(pivot, pivotOrdinal, squared[j], ordinals[j])) j--
        if (i > j) break
        const chord = squared[i]
        const ordinal = ordinals[i]
        squared[i] = squared[j]
        ordinals[i++] = ordinals[j]
        squared[j] = chord
        ordinals[j--] = ordinal
      }
      this.#sort(low, j)
      low = i
    }
    for (let i = low + 1; i <= high; i++) this.#insert(squared[i], ordinals[i], low, i)
  }
}

type Accept = (ordinal: number) => boolean

const anyPoint: Accept = () => true

/** The band of a latitude; those beyond a pole lie in the last. */
function bandOf(lat: number): number {
  return Math.min(BANDS - 1, Math.max(0, Math.floor((lat + 90) * BANDS_PER_DEGREE)))
}

/** The southern edge of a band, degrees. */
function edgeOf(band: number): number {
  return band / BANDS_PER_DEGREE - 90
}

/** The squared chord of a distance over the ground. */
function squaredChordOf(km: number): number {
  return km >= FARTHEST_KM ? 4 : (2 * Math.sin(km / (2 * EARTH_RADIUS_KM))) ** 2
}

/** Writes x, y and z of a position side by side. */
function writeUnitVector(target: Float64Array, at: number, lat: number, lng: number): void {
  const [phi, lambda] = [lat * RADIANS, lng * RADIANS]
  const cosine = Math.cos(phi)
  target[at] = cosine * Math.cos(lambda)
  target[at + 1] = cosine * Math.sin(lambda)
  target[at + 2] = Math.sin(phi)
}
