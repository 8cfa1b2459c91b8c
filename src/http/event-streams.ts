/** Begins streams of events (Server-Sent Events, WHATWG HTML, section 9.2), and writes their events. */
import type { View } from '../dataset/view.ts'
import { ApiError } from '../operation/errors.ts'
import type { StreamOperation } from '../operation/operation.ts'
import { lowerBound } from '../index/bisect.ts'
import { timestampText } from '../sea/time.ts'
import { CHANGE_WORDS, noChanges, type Change, type Changes } from '../snapshot/row-changes.ts'
import type { Connections } from './connections.ts'
import type { Exchange } from './exchange.ts'
import type { Feed, Holder, Listeners } from './listeners.ts'
import type { Counters } from './counters.ts'

/** A client may ask for a refused stream again after this many seconds. */
export const FULL_RETRY_SECONDS = 10
const TOO_MANY = new ApiError(
  'service_unavailable',
  'Too many streams of events are open. Try again later',
  null,
  FULL_RETRY_SECONDS,
)
const TOO_MANY_OF_ONE = new ApiError(
  'rate_limit_exceeded',
  'Too many streams of events are open with this key. Close one first',
  null,
  FULL_RETRY_SECONDS,
)

/** A server that stops is down for a moment, or another one takes its place. */
const STOPPING_RETRY_SECONDS = 5
const STOPPING = new ApiError(
  'service_unavailable',
  'This server is stopping. Open the stream again',
  null,
  STOPPING_RETRY_SECONDS,
)

/** Begins every stream: a client comes again these milliseconds after its stream has ended. */
const RETRY = 'retry: 5000\n\n'
/** Keeps a silent connection open; clients ignore it. */
const COMMENT = Buffer.from(': \n\n')

const SNAPSHOT_ID = /^[0-9a-f]{24}$/

export interface Streaming {
  readonly operation: StreamOperation
  readonly listeners: Listeners
  readonly connections: Connections
}

interface BegunStream {
  readonly head: string
  /** The snapshot that is served. */
  readonly view: View
  /** Ids of buoys, ascending; null for all. */
  readonly buoys: readonly number[] | null
  readonly holder: Holder & { readonly place: number }
}

/** @throws ApiError 429 and 503 where too many are open, 503 while the server stops */
export function beginStream(
  { listeners, connections }: Streaming,
  counters: Counters,
  exchange: Exchange,
  { head, view, buoys, holder }: BegunStream,
): void {
  if (listeners.isEnding) throw STOPPING
  if (exchange.method === 'HEAD') {
    exchange.send(head, null)
    return
  }
  const { place } = holder
  const tooMany = connections.streamBegins(place)
  if (tooMany !== null) {
    counters.count(tooMany === 'in all' ? 'streams_refused_in_all' : 'streams_refused_of_one')
    throw tooMany === 'in all' ? TOO_MANY : TOO_MANY_OF_ONE
  }
  counters.count('streams')
  const since = exchange.header('last-event-id')
  // A browser repeats the last id that it was sent, and gives up after a 400: an unknown id counts as none.
  const text = eventText(view, SNAPSHOT_ID.test(since) ? since : '', buoys, true)!
  const options = { holder, buoys, onOver: () => connections.streamEnds(place) }
  listeners.add(head, Buffer.from(RETRY + text), options, (events) => exchange.later(events))
}

export function feedOf(view: View): Feed {
  const id = view.dataset.snapshotId
  /** Events about all buoys, by the last snapshot that the client knows. */
  const events = new Map<string, Uint8Array | null>()
  const bytesOf = (since: string, buoys: readonly number[] | null): Uint8Array | null => {
    const text = eventText(view, since, buoys, false)
    return text === null ? null : Buffer.from(text)
  }
  return {
    id,
    comment: COMMENT,
    event(since, buoys) {
      if (buoys !== null) return bytesOf(since, buoys)
      let bytes = events.get(since)
      if (bytes === undefined) events.set(since, (bytes = bytesOf(since, null)))
      return bytes
    },
  }
}

interface Counts {
  added: number
  changed: number
  removed: number
}

/**
 * The event that announces `view` to a client that knows `since` ('' for none). `buoys`: the ids that
 * count, ascending; null counts all. Null if none differs, unless it `isFirst`. The changes are null if
 * `since` is not held.
 */
function eventText(
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

/** −1 for a buoy that does not differ. */
function placeOf({ buoy }: Changes, id: number): number {
  const at = lowerBound(buoy, id)
  return buoy[at] === id ? at : -1
}

/** `ids`: the buoys that count, all of which changed; null counts all. */
function summaryOf(changes: Changes, ids: readonly number[] | null): object {
  const { first, change, added, changed, removed, passes, forecast } = changes
  const buoys: Counts = { added: 0, changed: 0, removed: 0 }
  const readings: Counts = { added: 0, changed: 0, removed: 0 }
  const count = (at: number): void => {
    buoys[CHANGE_WORDS[change[at] as Change]]++
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
