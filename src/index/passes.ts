/** Satellite passes by mission, buoy and time, newest first: numbers in, rows of the part out. */

import type { ColumnsOf } from '../sea/columns.ts'
import { partitionPoint } from './bisect.ts'

/** Parallel arrays over the passes; observations of pass `i` are `first[i]` to before `first[i + 1]`. */
export const PASS_COLUMNS = {
  /** Index into the catalogue of missions. */
  mission: Uint8Array,
  cycle: Uint32Array,
  number: Uint16Array,
  /** Epoch seconds. */
  started: Uint32Array,
  ended: Uint32Array,
  /** Degrees; west greater than east over the antimeridian. */
  south: Float64Array,
  west: Float64Array,
  north: Float64Array,
  east: Float64Array,
  first: Uint32Array,
  /** Id of the virtual buoy and time of its reading, by observation; ascending within a pass. */
  buoy: Uint32Array,
  time: Uint32Array,
} as const
export type PassColumns = ColumnsOf<typeof PASS_COLUMNS>

export interface PassGroup {
  readonly all: Uint32Array
  /** Passes with an observation inside the active window. */
  readonly fresh: Uint32Array
}

const NO_ROWS = new Uint32Array(0)
const NO_PASSES: PassGroup = { all: NO_ROWS, fresh: NO_ROWS }
export const NO_COLUMNS = Object.fromEntries(
  Object.entries(PASS_COLUMNS).map(([name, Type]) => [name, new Type(name === 'first' ? 1 : 0)]),
) as unknown as PassColumns

/** By row unless a comment names another index. */
export interface PassIndexes {
  readonly buoyCount: Uint32Array
  readonly everywhere: PassGroup
  /** By the mission's index in the catalogue of missions. */
  readonly byMission: ReadonlyMap<number, PassGroup>
  /** By buoy: the pass that gave it its newest observation, or −1. */
  readonly newest: Int32Array
}

export class Passes {
  readonly columns: PassColumns
  readonly indexes: PassIndexes
  readonly count: number

  /** `indexes` as `passIndexes` made them of the same columns, which are null without passes. */
  constructor(columns: PassColumns | null, indexes: PassIndexes) {
    this.columns = columns ?? NO_COLUMNS
    this.indexes = indexes
    this.count = this.columns.mission.length
  }

  ofMission(index: number): PassGroup {
    return this.indexes.byMission.get(index) ?? NO_PASSES
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
}
