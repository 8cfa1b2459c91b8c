/**
 * What is made of a snapshot's parts for answers: indexes and fragments. They are made once, on a thread that
 * serves nothing, into shared memory (`server/make-ready.ts`); a serving thread only opens them.
 */
import { openDataset, openParts, type Dataset, type Indexes } from './dataset.ts'
import { openFragments, type RenderedFragments, type SnapshotFragments } from './fragments.ts'
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
