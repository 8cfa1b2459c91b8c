/**
 * The events of a stream (Server-Sent Events, WHATWG HTML, section 9.2): the snapshot that is served, and how
 * much distinguishes it from the one that a client has heard of last.
 */
import { lowerBound } from '../index/bisect.ts'
import { timestampText } from '../sea/time.ts'
import { ADDED, CHANGED, noChanges, REMOVED, type Changes } from '../snapshot/row-changes.ts'
import { CHANGE_WORDS } from './changes-json.ts'
import type { View } from './view.ts'

/** Milliseconds after which a client whose stream has ended comes again. */
const RETRY_MS = 5000

/** Begins every stream. */
export const RETRY = `retry: ${RETRY_MS}\n\n`
/** Keeps a silent connection open. Clients ignore it. */
export const COMMENT = ': \n\n'

interface Counts {
  added: number
  changed: number
  removed: number
}

interface Summary {
  buoys: Counts
  readings: Counts
  passes: boolean
  forecast: boolean
}

/**
 * The text of the event that announces `view` to a client that heard of the snapshot `since` last ('' for
 * none). Only the buoys with the ids `buoys`, ascending, count; null counts all. The text is null where none
 * of these differs, unless it `isFirst`. The changes are null where the server does not hold `since`.
 */
export function eventText(
  { dataset, changesSince }: View,
  since: string,
  buoys: readonly number[] | null,
  isFirst: boolean,
): string | null {
  const { snapshotId, asOf } = dataset
  const changes = since === snapshotId ? noChanges(since) : (changesSince?.(since)?.changes ?? null)
  const ids = changes === null || buoys === null ? null : buoys.filter((id) => placeOf(changes, id) !== -1)
  if (!isFirst && ids?.length === 0) return null
  const data = {
    snapshot: snapshotId,
    as_of: timestampText(asOf),
    since: changes === null ? null : since,
    changes: changes === null ? null : summaryOf(changes, ids),
    ...(buoys === null ? {} : { ids }),
  }
  return `event: snapshot\nid: ${snapshotId}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Where a buoy stands among those that differ, or −1. */
function placeOf({ buoy }: Changes, id: number): number {
  const at = lowerBound(buoy, id)
  return buoy[at] === id ? at : -1
}

/** Only the buoys with the ids `ids` count, all of which changed; null counts all. */
function summaryOf(changes: Changes, ids: readonly number[] | null): Summary {
  const { first, change, added, changed, removed, passes, forecast } = changes
  const buoys: Counts = { added: 0, changed: 0, removed: 0 }
  const readings: Counts = { added: 0, changed: 0, removed: 0 }
  const count = (at: number): void => {
    buoys[CHANGE_WORDS[change[at] as typeof ADDED | typeof CHANGED | typeof REMOVED]]++
    for (let span = first[at]; span < first[at + 1]; span++) {
      readings.added += added[span]
      readings.changed += changed[span]
      readings.removed += removed[span]
    }
  }
  if (ids === null) for (let at = 0; at < change.length; at++) count(at)
  else for (const id of ids) count(placeOf(changes, id))
  return { buoys, readings, passes, forecast }
}
