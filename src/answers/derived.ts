/**
 * What is made of a snapshot's parts for answers: indexes and fragments. They are made once, on a thread that
 * serves nothing, into shared memory; a serving thread only opens them.
 */
import { indexesOf, openDataset, type Dataset, type Indexes } from './dataset.ts'
import { openFragments, type RenderedFragments, type SnapshotFragments } from './fragments.ts'
import { renderFragments } from './render.ts'
import type { LoadedSnapshot } from '../snapshot/read.ts'
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

/**
 * `activeWithin` in seconds; `before`: indexes of an earlier snapshot, much of which may be the same.
 * @throws SnapshotError when a part is missing or malformed
 */
export function* makeReady(
  snapshot: LoadedSnapshot,
  activeWithin: number,
  before: Indexes | null = null,
): Steps<ReadySnapshot> {
  const indexes = yield* indexesOf(snapshot, activeWithin, before)
  const fragments = yield* renderFragments(yield* openDataset(snapshot, indexes))
  return { ...snapshot, derived: { indexes, fragments } }
}

/**
 * Opens a snapshot beside the one `before`, whose parts it takes over where they are the same.
 * @throws SnapshotError when a part is missing or malformed
 */
export function* openReady(snapshot: ReadySnapshot, before: Dataset | null = null): Steps<OpenedSnapshot> {
  const { indexes, fragments } = snapshot.derived
  const dataset = yield* openDataset(snapshot, indexes, before)
  return { dataset, fragments: yield* openFragments(fragments) }
}
