/**
 * What is made of a snapshot's parts for answers: indexes and fragments. They are made once, on a thread that
 * serves nothing, into shared memory; a serving thread only opens them.
 */
import { indexesOf, openDataset, openParts, type Dataset, type Indexes, type OpenedParts } from './dataset.ts'
import { openFragments, type RenderedFragments, type SnapshotFragments } from './fragments.ts'
import { renderFragments } from './render.ts'
import type { LoadedSnapshot } from '../snapshot/read-snapshot.ts'
import type { Steps } from '../system/steps.ts'

/** Plain enough to be posted to a worker, which then sees the same bytes. */
export interface Derived {
  readonly indexes: Indexes
  readonly fragments: RenderedFragments
}

/** A snapshot that can be opened by any thread. */
export interface ReadySnapshot extends LoadedSnapshot {
  readonly derived: Derived
}

/** What a thread answers from. */
export interface OpenedSnapshot {
  readonly dataset: Dataset
  readonly fragments: SnapshotFragments
}

/** What a thread that makes snapshots ready keeps of the last one: much of it is the same in the next. */
export interface Made {
  readonly indexes: Indexes
  /** The parts that do not hold rows. */
  readonly parts: OpenedParts
}

/** `activeWithin` is in seconds. @throws SnapshotError when a part is missing or malformed */
export function* makeReady(snapshot: LoadedSnapshot, activeWithin: number): Steps<ReadySnapshot> {
  return (yield* makeReadyUpon(snapshot, activeWithin, null)).ready
}

/**
 * Makes a snapshot ready upon what was made of an earlier one, and gives what was made of this one, too.
 * `pictures` is where the pictures of missions are, with `{slug}` for the mission.
 */
export function* makeReadyUpon(
  snapshot: LoadedSnapshot,
  activeWithin: number,
  before: Made | null,
  pictures?: string,
): Steps<{ ready: ReadySnapshot; made: Made }> {
  const parts = yield* openParts(snapshot, before?.parts)
  const indexes = yield* indexesOf(snapshot, parts, activeWithin, before?.indexes)
  const fragments = yield* renderFragments(openDataset(snapshot, parts, indexes), pictures)
  return {
    ready: { ...snapshot, derived: { indexes, fragments } },
    made: { indexes, parts: withoutRows(parts) },
  }
}

/**
 * Parts of rows are opened fast, and a thread that kept them would keep their memory, also where nobody
 * serves the snapshot.
 */
function withoutRows(parts: OpenedParts): OpenedParts {
  const rows = new Set(['readings', 'weather', 'aggregates'])
  return new Map([...parts].filter(([, { kind }]) => !rows.has(kind)))
}

/**
 * Opens a snapshot, and takes over the parts that are the same in `before`.
 * @throws SnapshotError when a part is missing or malformed
 */
export function* openReady(snapshot: ReadySnapshot, before: Dataset | null = null): Steps<OpenedSnapshot> {
  const { indexes, fragments } = snapshot.derived
  const dataset = openDataset(snapshot, yield* openParts(snapshot, before?.parts), indexes)
  yield
  return { dataset, fragments: yield* openFragments(fragments) }
}
