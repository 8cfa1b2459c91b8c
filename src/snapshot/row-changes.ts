/**
 * What distinguishes two snapshots, and the readings of a buoy that differ between two months. Rows that both
 * months have are found as equal bytes, many at a time.
 */
import { lowerBound } from '../index/bisect.ts'
import type { MonthRows } from '../index/segments.ts'
import { MEASURE_NAMES, type Codes } from '../sea/columns.ts'

/** How a buoy or a reading differs. */
export const CHANGED = 0
export const ADDED = 1
export const REMOVED = 2
export const CHANGE_WORDS = { [CHANGED]: 'changed', [ADDED]: 'added', [REMOVED]: 'removed' } as const
export type Change = typeof CHANGED | typeof ADDED | typeof REMOVED

/**
 * The changes from snapshot `since` to `until`, plain and in shared memory, so that they can be posted. All
 * readings of a buoy in a month that differ are one span.
 */
export interface Changes {
  since: string
  until: string
  /** Whether the satellite passes, and the forecast, differ in anything. */
  passes: boolean
  forecast: boolean
  /** Ids of buoys that differ in anything, ascending, and how. */
  buoy: Uint32Array
  change: Uint8Array
  /** The spans of `buoy[i]` are `first[i]` to `first[i + 1]`, ascending in time. */
  first: Uint32Array
  /** By span: its month, and times of the first and last reading that differ, epoch seconds. */
  month: Uint16Array
  from: Uint32Array
  to: Uint32Array
  /** Readings that are new, that differ, and that are gone. */
  added: Uint32Array
  changed: Uint32Array
  removed: Uint32Array
  /** Readings that differ in the spans before each, and in all of them. */
  before: Uint32Array
}

export function reversed(changes: Changes): Changes {
  const { since, until, added, removed, change } = changes
  const turned = [CHANGED, REMOVED, ADDED]
  return {
    ...changes,
    since: until,
    until: since,
    added: removed,
    removed: added,
    change: change.map((kind) => turned[kind]),
  }
}

export function noChanges(id: string): Changes {
  const none = new Uint32Array(0)
  return {
    since: id,
    until: id,
    passes: false,
    forecast: false,
    buoy: none,
    change: new Uint8Array(0),
    first: Uint32Array.of(0),
    month: new Uint16Array(0),
    from: none,
    to: none,
    added: none,
    changed: none,
    removed: none,
    before: Uint32Array.of(0),
  }
}

/** Fewer rows are compared one by one. */
const ROWS_A_BLOCK = 128

/** Rows [from, to) of a month. */
export interface Range {
  from: number
  to: number
}

export const NO_ROWS = { from: 0, to: 0 }

export function rangeOf({ buoys, start }: MonthRows, buoy: number): Range {
  const at = lowerBound(buoys, buoy)
  return buoys[at] === buoy ? { from: start[at], to: start[at + 1] } : NO_ROWS
}

/**
 * Calls `visit` with each reading of a buoy that differs, ascending in time, until it returns false; `row` is
 * one of `b`, or of `a` where the reading is gone. Pass `columns` of both months to ask about many buoys.
 */
export function eachDifference(
  a: MonthRows | null,
  rangeA: Range,
  b: MonthRows | null,
  rangeB: Range,
  visit: (change: Change, row: number, time: number) => boolean,
  columns = new BothColumns(a, b),
): void {
  let [i, j] = [rangeA.from, rangeB.from]
  const isLong = Math.min(rangeA.to - i, rangeB.to - j) >= ROWS_A_BLOCK
  const bytes = isLong ? columns.bytes : null
  let nextBlock = i
  while (i < rangeA.to || j < rangeB.to) {
    if (bytes !== null && i >= nextBlock) {
      const same = sameRows(bytes, i, j, Math.min(rangeA.to - i, rangeB.to - j))
      if (same === 0) nextBlock = i + ROWS_A_BLOCK
      i += same
      j += same
      if (same > 0) continue
    }
    const timeA = i < rangeA.to ? a!.time[i] : Infinity
    const timeB = j < rangeB.to ? b!.time[j] : Infinity
    if (timeA < timeB) {
      if (!visit(REMOVED, i++, timeA)) return
    } else if (timeB < timeA) {
      if (!visit(ADDED, j++, timeB)) return
    } else {
      if (!isSameRow(columns.measures, i, j) && !visit(CHANGED, j, timeB)) return
      i++
      j++
    }
  }
}

interface ColumnPair {
  a: Codes
  maskA: number
  b: Codes
  maskB: number
}

/** The columns that one of two months has; none where one of the months is not there. */
export class BothColumns {
  readonly measures: readonly ColumnPair[]
  readonly #times: readonly [Uint32Array, Uint32Array] | null
  #bytes: readonly BytePair[] | null | undefined

  constructor(a: MonthRows | null, b: MonthRows | null) {
    const areThere = a !== null && b !== null
    this.measures = areThere ? pairsOf(a, b) : []
    this.#times = areThere ? [a.time, b.time] : null
  }

  /** The columns as bytes, made when many rows are compared. */
  get bytes(): readonly BytePair[] | null {
    if (this.#bytes === undefined) {
      this.#bytes = this.#times === null ? null : bytesOf(...this.#times, this.measures)
    }
    return this.#bytes
  }
}

function pairsOf(a: MonthRows, b: MonthRows): ColumnPair[] {
  return MEASURE_NAMES.map((name) => ({
    a: a.measures[name].codes,
    maskA: a.measures[name].mask,
    b: b.measures[name].codes,
    maskB: b.measures[name].mask,
  })).filter(({ maskA, maskB }) => maskA !== 0 || maskB !== 0)
}

function isSameRow(columns: readonly ColumnPair[], i: number, j: number): boolean {
  for (let k = 0; k < columns.length; k++) {
    const { a, maskA, b, maskB } = columns[k]
    if (a[i & maskA] !== b[j & maskB]) return false
  }
  return true
}

interface BytePair {
  a: Buffer
  b: Buffer
  /** Bytes of a row. */
  width: number
}

/** Times and measures; null where one of the months lacks a measure of the other. */
function bytesOf(timeA: Uint32Array, timeB: Uint32Array, columns: readonly ColumnPair[]): BytePair[] | null {
  const pairs = [bytePair(timeA, timeB)]
  for (const { a, maskA, b, maskB } of columns) {
    if (maskA !== maskB) return null
    if (maskA !== 0) pairs.push(bytePair(a, b))
  }
  return pairs
}

function bytePair(a: Codes | Uint32Array, b: Codes | Uint32Array): BytePair {
  const bytes = ({ buffer, byteOffset, byteLength }: typeof a): Buffer =>
    Buffer.from(buffer, byteOffset, byteLength)
  return { a: bytes(a), b: bytes(b), width: a.BYTES_PER_ELEMENT }
}

/**
 * A number of rows from `i` and `j` on that are surely the same: `most`, or a half, a quarter and so on; 0
 * below a block. Two snapshots half an hour apart differ mostly in the last rows of a buoy.
 */
function sameRows(pairs: readonly BytePair[], i: number, j: number, most: number): number {
  for (let rows = most; rows >= ROWS_A_BLOCK; rows >>= 1) {
    const isSame = pairs.every(
      ({ a, b, width }) => a.compare(b, j * width, (j + rows) * width, i * width, (i + rows) * width) === 0,
    )
    if (isSame) return rows
  }
  return 0
}
