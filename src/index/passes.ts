/**
 * Satellite passes by what lists filter on, newest first: numbers in, rows of the part out. Nothing is made
 * per request.
 */

import { partitionPoint } from './bisect.ts'
import type { Steps } from '../system/steps.ts'

/**
 * Parallel arrays over the passes; those of the observations of pass `i` run from `first[i]` to `first[i +
 * 1]`.
 */
export interface PassColumns {
  /** Index in the catalogue of missions. */
  mission: Uint8Array
  cycle: Uint32Array
  number: Uint16Array
  /** Epoch seconds. */
  started: Uint32Array
  ended: Uint32Array
  /** Degrees; west greater than east over the antimeridian. */
  south: Float64Array
  west: Float64Array
  north: Float64Array
  east: Float64Array
  first: Uint32Array
  /** Id of the virtual buoy, and time of its reading; ascending by both within a pass. */
  buoy: Uint32Array
  time: Uint32Array
}

interface PassGroup {
  readonly all: Uint32Array
  /** Passes with an observation inside the active window. */
  readonly fresh: Uint32Array
}

const NO_ROWS = new Uint32Array(0)
const NO_PASSES: PassGroup = { all: NO_ROWS, fresh: NO_ROWS }
const NO_DEGREES = new Float64Array(0)
const NO_COLUMNS: PassColumns = {
  mission: new Uint8Array(0),
  cycle: NO_ROWS,
  number: new Uint16Array(0),
  started: NO_ROWS,
  ended: NO_ROWS,
  south: NO_DEGREES,
  west: NO_DEGREES,
  north: NO_DEGREES,
  east: NO_DEGREES,
  first: Uint32Array.of(0),
  buoy: NO_ROWS,
  time: NO_ROWS,
}

/** What lists ask of passes. Arrays are by row unless their comment names another index. */
export interface PassIndexes {
  /** Virtual buoys touched. */
  readonly buoyCount: Uint32Array
  readonly everywhere: PassGroup
  /** By the mission's index in the catalogue of missions. */
  readonly byMission: ReadonlyMap<number, PassGroup>
  /** By buoy: the pass that gave it its newest observation, or −1. */
  readonly newest: Int32Array
}

/** Passes of a step, which takes some 100 µs. */
const PASSES_PER_STEP = 256

/**
 * `columns` is null when the snapshot has no passes. `ordinalOf` finds a buoy by its id (−1 for none) among
 * `buoys`; a pass is fresh with an observation at or after `activeSince`, in epoch seconds.
 */
export function* passIndexes(
  columns: PassColumns | null,
  buoys: number,
  ordinalOf: (id: number) => number,
  activeSince: number,
): Steps<PassIndexes> {
  const { mission, first, buoy, time } = columns ?? NO_COLUMNS
  const count = mission.length
  const buoyCount = new Uint32Array(count)
  const newest = new Int32Array(buoys).fill(-1)
  const isFresh = new Uint8Array(count)
  const newestTime = new Float64Array(buoys).fill(-1)
  for (let row = 0; row < count; row++) {
    for (let o = first[row]; o < first[row + 1]; o++) {
      if (o === first[row] || buoy[o] !== buoy[o - 1]) buoyCount[row]++
      if (time[o] >= activeSince) isFresh[row] = 1
      const ordinal = ordinalOf(buoy[o])
      // If two passes have one time, the pass that began later stands first.
      if (ordinal !== -1 && time[o] > newestTime[ordinal]) {
        newestTime[ordinal] = time[o]
        newest[ordinal] = row
      }
    }
    if (row % PASSES_PER_STEP === 0) yield
  }
  const group = (rows: number[]): PassGroup => ({
    all: Uint32Array.from(rows),
    fresh: Uint32Array.from(rows.filter((row) => isFresh[row] === 1)),
  })
  const rows = [...buoyCount.keys()]
  return {
    buoyCount,
    everywhere: group(rows),
    byMission: new Map(
      [...new Set(mission)].map((index) => [index, group(rows.filter((row) => mission[row] === index))]),
    ),
    newest,
  }
}

export class Passes {
  readonly columns: PassColumns
  readonly count: number
  readonly buoyCount: Uint32Array
  readonly everywhere: PassGroup
  readonly #byMission: ReadonlyMap<number, PassGroup>
  readonly #newest: Int32Array

  /** `indexes` as `passIndexes` gave them for the same columns, null where the snapshot has no passes. */
  constructor(columns: PassColumns | null, indexes: PassIndexes) {
    this.columns = columns ?? NO_COLUMNS
    this.count = this.columns.mission.length
    this.buoyCount = indexes.buoyCount
    this.everywhere = indexes.everywhere
    this.#byMission = indexes.byMission
    this.#newest = indexes.newest
  }

  ofMission(index: number): PassGroup {
    return this.#byMission.get(index) ?? NO_PASSES
  }

  /** How many of `rows` (newest first) began at or after `since`, epoch seconds. */
  countSince(rows: Uint32Array, since: number): number {
    const { started } = this.columns
    return partitionPoint(0, rows.length, (i) => started[rows[i]] >= since)
  }

  observationCount(row: number): number {
    const { first } = this.columns
    return first[row + 1] - first[row]
  }

  /** The pass that gave a buoy its newest observation, or −1. */
  newestOf(ordinal: number): number {
    return this.#newest[ordinal]
  }
}
