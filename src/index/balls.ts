/**
 * The points that a page by distance may consist of, found without a look at all points: points lie in balls
 * of some neighbours each, and a ball that lies wholly before the page, behind it, or within the radius is
 * only counted. What is left, some hundred points for a page of 50 of 1,200, is for the caller to put in
 * order.
 */
import { SAME_CHORD } from './sphere.ts'

/** Points of a ball at most. */
const BALL_POINTS = 8
/** What rounding may do to a ball's radius, and to a squared chord. */
const MARGIN = 1e-9
const SQUARED_MARGIN = 10 * SAME_CHORD
/** Distances are counted in steps of a chord of 1/64, some 100 km. */
const STEPS_PER_CHORD = 64
/** Two opposite points are 2 apart. */
const STEPS = 2 * STEPS_PER_CHORD + 1

export interface BallColumns {
  /** Ordinals by ball, and x, y, z of each point on the unit sphere. */
  readonly ordinals: Uint32Array
  readonly vectors: Float64Array
  /** Of each ball x, y, z of its centre, and its radius. */
  readonly balls: Float64Array
  /** Of each ball the points that are active. */
  readonly activeCounts: Uint8Array
}

/** `from`: x, y, z of each ordinal; `active`: 1 where it is. */
export function ballColumns(from: Float64Array, active: Uint8Array): BallColumns {
  const count = active.length
  const ordinals = Uint32Array.from({ length: count }, (_, ordinal) => ordinal)
  gather(ordinals, from)
  const vectors = new Float64Array(3 * count)
  const balls = new Float64Array(4 * Math.ceil(count / BALL_POINTS))
  const activeCounts = new Uint8Array(Math.ceil(count / BALL_POINTS))
  for (let i = 0; i < count; i++) {
    const ordinal = ordinals[i]
    vectors.set(from.subarray(3 * ordinal, 3 * ordinal + 3), 3 * i)
    activeCounts[Math.floor(i / BALL_POINTS)] += active[ordinal]
  }
  for (let ball = 0; ball < activeCounts.length; ball++) {
    const first = ball * BALL_POINTS
    balls.set(enclosing(vectors, first, Math.min(first + BALL_POINTS, count)), 4 * ball)
  }
  return { ordinals, vectors, balls, activeCounts }
}

/** Centre and radius of a ball around the points from `first` to before `end`. */
function enclosing(vectors: Float64Array, first: number, end: number): [...centre: number[], radius: number] {
  const centre = [0, 0, 0]
  for (let i = 3 * first; i < 3 * end; i++) centre[i % 3] += vectors[i] / (end - first)
  let radius = 0
  for (let i = first; i < end; i++) {
    const [x, y, z] = vectors.subarray(3 * i, 3 * i + 3)
    radius = Math.max(radius, Math.hypot(x - centre[0], y - centre[1], z - centre[2]))
  }
  return [...centre, radius + MARGIN]
}

export class Balls {
  /** As in `BallColumns`. */
  readonly #ordinals: Uint32Array
  readonly #vectors: Float64Array
  readonly #balls: Float64Array
  readonly #activeCounts: Uint8Array
  readonly #active: Uint8Array
  /** Of each ball in the search under way: the nearest and the farthest that its points can be. */
  readonly #reach: Float64Array
  /** Of each step: points that are certainly no farther, and points that may be no nearer. */
  readonly #surely = new Uint32Array(STEPS)
  readonly #perhaps = new Uint32Array(STEPS)
  /**
   * Points that came before those that `collect` found last, and the squared chords that these lie between.
   */
  before = 0
  least = 0
  most = 0

  /** `columns` as `ballColumns` gave them; `active`: 1 for each ordinal that is. */
  constructor({ ordinals, vectors, balls, activeCounts }: BallColumns, active: Uint8Array) {
    this.#ordinals = ordinals
    this.#vectors = vectors
    this.#balls = balls
    this.#activeCounts = activeCounts
    this.#active = active
    this.#reach = new Float64Array(2 * activeCounts.length)
  }

  /**
   * Counts the points (`activeOnly`: the active ones) within a squared chord of `reach` around x, y, z, and
   * writes those that may stand from `from` up to `to` by distance into `ordinals`, with their squared
   * chords. `before` tells how many others come before them. `isWithin` decides where a point lies on the
   * border.
   * @returns how many are written, and how many points there are in all
   */
  collect(
    { x, y, z, reach, from, to, activeOnly }: Wanted,
    isWithin: (ordinal: number) => boolean,
    ordinals: Uint32Array,
    squared: Float64Array,
  ): { written: number; count: number } {
    const count = this.#measure(x, y, z, reach, activeOnly, isWithin)
    if (from >= count) return { written: 0, count }
    const nearest = this.#startOf(from)
    const farthest = this.#endOf(to)
    const least = nearest * nearest - SQUARED_MARGIN
    const most = Math.min(farthest * farthest + SQUARED_MARGIN, reach + SAME_CHORD)
    const [vectors, active, ball] = [this.#vectors, this.#active, this.#reach]
    const border = reach - SAME_CHORD
    let before = 0
    let written = 0
    for (let i = 0, at = 0; i < ball.length; i += 2, at += BALL_POINTS) {
      if (ball[i] > farthest + MARGIN || ball[i] * ball[i] > most) continue
      if (ball[i + 1] < nearest - MARGIN) {
        before += this.#pointsOf(i >> 1, activeOnly)
        continue
      }
      const end = Math.min(at + BALL_POINTS, this.#ordinals.length)
      for (let point = at; point < end; point++) {
        const dx = x - vectors[3 * point]
        const dy = y - vectors[3 * point + 1]
        const dz = z - vectors[3 * point + 2]
        const distance = dx * dx + dy * dy + dz * dz
        const ordinal = this.#ordinals[point]
        if (distance > most || (activeOnly && active[ordinal] === 0)) continue
        if (distance < least) {
          before++
          continue
        }
        if (distance > border && !isWithin(ordinal)) continue
        ordinals[written] = ordinal
        squared[written++] = distance
      }
    }
    this.before = before
    this.least = least
    this.most = most
    return { written, count }
  }

  /** Works out how near and how far each ball is, and counts the points within reach. */
  #measure(
    x: number,
    y: number,
    z: number,
    reach: number,
    activeOnly: boolean,
    isWithin: (ordinal: number) => boolean,
  ): number {
    const [balls, bounds, surely, perhaps] = [this.#balls, this.#reach, this.#surely, this.#perhaps]
    surely.fill(0)
    perhaps.fill(0)
    const chord = Math.sqrt(reach)
    let count = 0
    for (let ball = 0; ball < this.#activeCounts.length; ball++) {
      const dx = x - balls[4 * ball]
      const dy = y - balls[4 * ball + 1]
      const dz = z - balls[4 * ball + 2]
      const radius = balls[4 * ball + 3]
      const distance = Math.sqrt(dx * dx + dy * dy + dz * dz)
      const near = distance > radius ? distance - radius : 0
      const far = Math.min(2, distance + radius)
      bounds[2 * ball] = near
      bounds[2 * ball + 1] = far
      const points = this.#pointsOf(ball, activeOnly)
      perhaps[Math.floor(Math.min(2, near) * STEPS_PER_CHORD)] += points
      if (far < chord - MARGIN) {
        surely[Math.floor(far * STEPS_PER_CHORD)] += points
        count += points
      } else if (near <= chord + MARGIN) {
        count += this.#countWithin(ball, x, y, z, reach, activeOnly, isWithin)
      }
    }
    return count
  }

  #countWithin(
    ball: number,
    x: number,
    y: number,
    z: number,
    reach: number,
    activeOnly: boolean,
    isWithin: (ordinal: number) => boolean,
  ): number {
    const vectors = this.#vectors
    const first = ball * BALL_POINTS
    const end = Math.min(first + BALL_POINTS, this.#ordinals.length)
    let count = 0
    for (let point = first; point < end; point++) {
      const dx = x - vectors[3 * point]
      const dy = y - vectors[3 * point + 1]
      const dz = z - vectors[3 * point + 2]
      const distance = dx * dx + dy * dy + dz * dz
      const ordinal = this.#ordinals[point]
      if (distance > reach + SAME_CHORD || (activeOnly && this.#active[ordinal] === 0)) continue
      if (distance <= reach - SAME_CHORD || isWithin(ordinal)) count++
    }
    return count
  }

  #pointsOf(ball: number, activeOnly: boolean): number {
    return activeOnly
      ? this.#activeCounts[ball]
      : Math.min(BALL_POINTS, this.#ordinals.length - ball * BALL_POINTS)
  }

  /** A chord that at most `from` points are nearer than. */
  #startOf(from: number): number {
    let sum = 0
    for (let step = 0; step < STEPS; step++) {
      sum += this.#perhaps[step]
      if (sum > from) return step / STEPS_PER_CHORD
    }
    return 2
  }

  /** A chord that at least `to` points within reach are no farther than; 2, if there are not so many. */
  #endOf(to: number): number {
    let sum = 0
    for (let step = 0; step < STEPS; step++) {
      sum += this.#surely[step]
      if (sum >= to) return (step + 1) / STEPS_PER_CHORD
    }
    return 2
  }
}

export interface Wanted {
  readonly x: number
  readonly y: number
  readonly z: number
  /** Squared chord; Infinity for the whole globe. */
  readonly reach: number
  readonly from: number
  readonly to: number
  readonly activeOnly: boolean
}

/**
 * Puts ordinals in an order in which each `BALL_POINTS` that follow each other lie close together: halves
 * along the axis on which they are farthest apart, and so on.
 */
function gather(ordinals: Uint32Array, vectors: Float64Array): void {
  const balls = Math.ceil(ordinals.length / BALL_POINTS)
  if (balls <= 1) return
  const least = [Infinity, Infinity, Infinity]
  const most = [-Infinity, -Infinity, -Infinity]
  for (const ordinal of ordinals) {
    for (let axis = 0; axis < 3; axis++) {
      const value = vectors[3 * ordinal + axis]
      if (value < least[axis]) least[axis] = value
      if (value > most[axis]) most[axis] = value
    }
  }
  const widths = most.map((value, axis) => value - least[axis])
  const axis = widths.indexOf(Math.max(...widths))
  ordinals.sort((a, b) => vectors[3 * a + axis] - vectors[3 * b + axis])
  const half = Math.ceil(balls / 2) * BALL_POINTS
  gather(ordinals.subarray(0, half), vectors)
  gather(ordinals.subarray(half), vectors)
}
