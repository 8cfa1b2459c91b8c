/**
 * The points that a page by distance may consist of, out of any number, without putting all in order: their
 * distances are counted in steps, by code of WebAssembly that takes four at a time (`distance-steps.wat`),
 * and only points of the steps that the page has a part of are found. A page of 50 anywhere
 * among 1,200 points takes 4.4 µs.
 */
import { WASM } from '../system/wasm.ts'
import { CODE } from './distance-steps-code.ts'
import { LAYOUT } from './distance-steps-layout.ts'

/** Points that are looked at together. */
const GROUP = 8
/** Columns of four bytes that lie before the found points: three coordinates, and half of one for the steps. */
const FOUND_AFTER = 3.5
/** Three coordinates, a step, and a place among the found. */
const POINT_BYTES = 18
/** Of the counts, the first of those that are beyond. */
const BEYOND = (LAYOUT.COUNTS >> 2) + LAYOUT.STEPS
const PAGE_BYTES = 65_536
/** All that there can be: 240 million points. */
const MOST_PAGES = 65_536
/** A coordinate that is farther from everything than a point is. */
const NOWHERE = 1000
/** A squared chord that all points are within, and no other. */
const EVERYWHERE = 5
/** The squared chord of two opposite points, and what rounding may do to it. */
const FARTHEST = 4 + 1e-5
/** Single precision makes at most a fifth of this of a squared chord. */
const MARGIN = 1e-5
/** With steps of less than this by 511 rounding would reach beyond the next step. */
const LEAST_REACH = 0.02

type Collect = (
  bytes: number,
  x: number,
  y: number,
  z: number,
  surely: number,
  within: number,
  scale: number,
  from: number,
  to: number,
) => number

export interface DistanceColumns {
  /** All points, those that are active first. */
  readonly ordinals: Uint32Array
  /** x, y, z of each of them on the unit sphere. */
  readonly vectors: Float64Array
}

/** `vectors`: x, y, z of each ordinal; `active`: 1 where it is. */
export function distanceColumns(vectors: Float64Array, active: Uint8Array): DistanceColumns {
  const ordinals = Uint32Array.from({ length: active.length }, (_, ordinal) => ordinal)
  ordinals.sort((a, b) => active[b] - active[a] || a - b)
  return {
    ordinals,
    vectors: Float64Array.from(
      { length: vectors.length },
      (_, i) => vectors[3 * ordinals[Math.floor(i / 3)] + (i % 3)],
    ),
  }
}

const memory = new WASM.Memory({ initial: 1, maximum: MOST_PAGES })
const { collect } = new WASM.Instance(new WASM.Module(Buffer.from(CODE, 'base64')), { points: { memory } })
  .exports as { collect: Collect }
/** On all of the memory, which grows with the points. */
let words = new Uint32Array(memory.buffer)
/** Numbers of those made so far. One is named by its number, which does not keep its snapshot in memory. */
let made = 0
/** Whose points lie in the memory, and how many of them. */
let owner = 0
let loaded = 0

export interface Wanted {
  /** Of the centre, on the unit sphere. */
  readonly x: number
  readonly y: number
  readonly z: number
  /** Squared chord; Infinity for the whole globe. */
  readonly reach: number
  /** Places by distance, from 0; `to` is behind the last. */
  readonly from: number
  readonly to: number
  /** Whether other points count as if there were none. */
  readonly activeOnly: boolean
}

export class DistanceSteps {
  /** Of what `collect` did last: all points within reach, and those that come before the found ones. */
  count = 0
  before = 0
  /** Squared chords that the found ones lie between. */
  least = 0
  most = 0
  readonly #number = ++made
  readonly #ordinals: Uint32Array
  readonly #vectors: Float64Array
  readonly #activeCount: number

  /** `columns` as `distanceColumns` gave them; `active`: 1 for each ordinal that is. */
  constructor({ ordinals, vectors }: DistanceColumns, active: Uint8Array) {
    this.#ordinals = ordinals
    this.#vectors = vectors
    this.#activeCount = active.reduce((sum, one) => sum + one, 0)
  }

  /**
   * Counts the points within reach, and writes those that may stand from `from` up to `to` by distance into
   * `ordinals`, with their squared chords.
   * @returns how many are written; -1 where a point is so close to the border that single precision cannot tell
   */
  collect(
    { x, y, z, reach, from, to, activeOnly }: Wanted,
    ordinals: Uint32Array,
    squared: Float64Array,
  ): number {
    const points = activeOnly ? this.#activeCount : this.#ordinals.length
    this.count = 0
    if (points === 0) return 0
    if (owner !== this.#number || loaded !== points) this.#load(points)
    const isEverywhere = reach === Infinity
    const within = isEverywhere ? EVERYWHERE : reach + MARGIN
    const surely = isEverywhere ? EVERYWHERE : reach - MARGIN
    const scale = LAYOUT.LAST_STEP / Math.max(LEAST_REACH, Math.min(FARTHEST, within))
    const bytes = columnBytes(points)
    const written = collect(bytes, x, y, z, surely, within, scale, from, to)
    if (words[LAYOUT.BORDER >> 2] !== 0) return -1
    this.count =
      roundedUp(points) - (words[BEYOND] + words[BEYOND + 1] + words[BEYOND + 2] + words[BEYOND + 3])
    this.before = words[LAYOUT.BEFORE >> 2]
    this.least = (words[LAYOUT.FIRST >> 2] - 1) / scale
    this.most = (words[LAYOUT.LAST >> 2] + 1) / scale
    const found = (LAYOUT.POINTS + FOUND_AFTER * bytes) >> 2
    const vectors = this.#vectors
    for (let i = 0; i < written; i++) {
      const point = words[found + i]
      const dx = x - vectors[3 * point]
      const dy = y - vectors[3 * point + 1]
      const dz = z - vectors[3 * point + 2]
      ordinals[i] = this.#ordinals[point]
      squared[i] = dx * dx + dy * dy + dz * dz
    }
    return written
  }

  /** Puts the first `points` into the memory, a column for each coordinate. */
  #load(points: number): void {
    const bytes = columnBytes(points)
    const more = LAYOUT.POINTS + roundedUp(points) * POINT_BYTES - memory.buffer.byteLength
    if (more > 0) {
      memory.grow(Math.ceil(more / PAGE_BYTES))
      words = new Uint32Array(memory.buffer)
    }
    const vectors = this.#vectors
    for (let axis = 0; axis < 3; axis++) {
      const column = new Float32Array(memory.buffer, LAYOUT.POINTS + axis * bytes, bytes >> 2)
      column.fill(NOWHERE, points)
      for (let i = 0; i < points; i++) column[i] = vectors[3 * i + axis]
    }
    owner = this.#number
    loaded = points
  }
}

const roundedUp = (points: number): number => Math.ceil(points / GROUP) * GROUP

const columnBytes = (points: number): number => roundedUp(points) * Float32Array.BYTES_PER_ELEMENT
