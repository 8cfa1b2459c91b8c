/** Indexes and fragments of a snapshot, made once into shared memory (`server/make-ready.ts`). */
import { openDataset, openParts, type Dataset, type Indexes } from './dataset.ts'
import { openFragments, type RenderedFragments, type SnapshotFragments } from './fragments.ts'
import type { LoadedSnapshot } from '../snapshot/read-snapshot.ts'
import type { Steps } from '../system/steps.ts'

/** Plain enough to be posted to a worker, which then sees the same bytes. */
export interface Derived {
  readonly indexes: Indexes
  readonly fragments: RenderedFragments
}

export interface ReadySnapshot extends LoadedSnapshot {
  readonly derived: Derived
}

export interface OpenedSnapshot {
  readonly dataset: Dataset
  readonly fragments: SnapshotFragments
}

/** Takes over equal parts from `before`. @throws SnapshotError for a missing or malformed part */
export function* openReady(snapshot: ReadySnapshot, before: Dataset | null = null): Steps<OpenedSnapshot> {
  const { indexes, fragments } = snapshot.derived
  const dataset = openDataset(snapshot, yield* openParts(snapshot, before?.parts), indexes)
  yield
  return { dataset, fragments: yield* openFragments(fragments) }
}
