/** Indexes a loaded snapshot, once for all serving threads, which import nothing of this. */
import { usualOf } from '../climate/usual.ts'
import { buildGroups, passIndexes } from '../index/groups.ts'
import { latestOf } from '../index/latest.ts'
import { searchColumns } from '../index/search-columns.ts'
import { segmentColumns, Segments } from '../index/segments.ts'
import type { LoadedSnapshot } from '../snapshot/read-snapshot.ts'
import type { Steps } from '../system/steps.ts'
import { toShared } from '../system/thread-memory.ts'
import { findId, type Indexes, openDataset, type OpenedParts, openParts, sorted } from '../dataset/dataset.ts'
import type { IndexedSnapshot } from '../dataset/view.ts'
import { renderFragments } from '../dataset/render-fragments.ts'

/** The indexes that the next snapshot takes over from the last one. */
export interface TakenOver {
  readonly indexes: Indexes
  readonly parts: OpenedParts
}

/**
 * Indexes a snapshot, with parts of the indexes of an earlier one. `activeWithin` is in seconds.
 * @throws SnapshotError when a part is missing or malformed
 */
export function* indexSnapshot(
  snapshot: LoadedSnapshot,
  activeWithin: number,
  before: TakenOver | null = null,
): Steps<{ indexed: IndexedSnapshot; forNext: TakenOver }> {
  const parts = yield* openParts(snapshot, before?.parts)
  const indexes = yield* indexesOf(snapshot, parts, activeWithin, before?.indexes)
  const fragments = yield* renderFragments(openDataset(snapshot, parts, indexes))
  return {
    indexed: { ...snapshot, indexes, fragments },
    forNext: { indexes, parts: withoutRows(parts) },
  }
}

/** A thread that kept parts of rows would keep their memory, also where nobody serves them. */
function withoutRows(parts: OpenedParts): OpenedParts {
  const rows = new Set(['readings', 'weather', 'aggregates', 'spectra'])
  return new Map([...parts].filter(([, { kind }]) => !rows.has(kind)))
}

/**
 * The indexes over a snapshot's `parts`; what is the same in `before` is taken from there. `activeWithin` is
 * in seconds. @throws SnapshotError when a part is missing
 */
function* indexesOf(
  snapshot: LoadedSnapshot,
  parts: OpenedParts,
  activeWithin: number,
  before: Indexes | null = null,
): Steps<Indexes> {
  const opened = sorted(parts)
  const { catalog } = opened
  const { id } = catalog
  const readings = yield* segmentColumns(id, opened.readings)
  const weather = yield* segmentColumns(id, opened.weather)
  const spectra = yield* segmentColumns(id, opened.spectra)
  const segments = new Segments(opened.readings, readings)
  const activeSince = snapshot.asOf - activeWithin
  const active = activeBuoys(id.length, segments, activeSince)
  yield
  const countries = Array.from(catalog.country, (country) => catalog.countries[country]?.name ?? '')
  const indexes: Indexes = {
    readings,
    weather,
    spectra,
    active,
    latest: yield* latestOf(segments, catalog.source, catalog.sources.length),
    usual: yield* usualOf(segments),
    groups: buildGroups(catalog, active),
    search: toShared(yield* searchColumns(catalog.words, { ...catalog, countries }, before?.search)),
    passes: yield* passIndexes(opened.passes, id.length, (wanted) => findId(id, wanted), activeSince),
  }
  yield
  return toShared(indexes)
}

function activeBuoys(count: number, readings: Segments, since: number): Uint8Array {
  return Uint8Array.from({ length: count }, (_, ordinal) => {
    const newest = readings.newestTime(ordinal)
    return newest >= 0 && newest >= since ? 1 : 0
  })
}
