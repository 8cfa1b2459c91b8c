/** What distinguishes two snapshots, and the readings of a buoy that differ between two months. */
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

/** A column of two months. */
interface ColumnPair {
  a: Codes
  maskA: number
  b: Codes
  maskB: number
}

/** The columns that one of two months has; none if one of the months is missing. */
export function columnPairs(a: MonthRows | null, b: MonthRows | null): ColumnPair[] {
  if (a === null || b === null) return []
  return MEASURE_NAMES.map((name) => ({
    a: a.measures[name].codes,
    maskA: a.measures[name].mask,
    b: b.measures[name].codes,
    maskB: b.measures[name].mask,
  })).filter(({ maskA, maskB }) => maskA !== 0 || maskB !== 0)
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
  columns: readonly ColumnPair[] = columnPairs(a, b),
): void {
  let [i, j] = [rangeA.from, rangeB.from]
  while (i < rangeA.to || j < rangeB.to) {
    const timeA = i < rangeA.to ? a!.time[i] : Infinity
    const timeB = j < rangeB.to ? b!.time[j] : Infinity
    if (timeA < timeB) {
      if (!visit(REMOVED, i++, timeA)) return
    } else if (timeB < timeA) {
      if (!visit(ADDED, j++, timeB)) return
    } else {
      if (!isSameRow(columns, i, j) && !visit(CHANGED, j, timeB)) return
      i++
      j++
    }
  }
}

function isSameRow(columns: readonly ColumnPair[], i: number, j: number): boolean {
  for (let k = 0; k < columns.length; k++) {
    const { a, maskA, b, maskB } = columns[k]
    if (a[i & maskA] !== b[j & maskB]) return false
  }
  return true
}
