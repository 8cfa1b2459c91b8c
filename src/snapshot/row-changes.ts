/** What distinguishes two snapshots. */

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
  /** Readings that differ before each span, and in all spans. */
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
