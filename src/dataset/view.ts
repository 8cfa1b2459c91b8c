/** What a loaded snapshot becomes in memory: indexed once for all threads, then opened as a view. */
import type { LoadedSnapshot } from '../snapshot/read-snapshot.ts'
import type { Changes } from '../snapshot/row-changes.ts'
import type { Steps } from '../system/steps.ts'
import { openDataset, openParts, type Dataset, type Indexes } from './dataset.ts'
import { openFragments, type IndexedFragments, type OpenedFragments } from './fragments.ts'

/** Plain, so that it can be posted to workers, which see the same bytes (`server/index-snapshot.ts`). */
export interface IndexedSnapshot extends LoadedSnapshot {
  readonly indexes: Indexes
  readonly fragments: IndexedFragments
}

/** A snapshot that is opened: what one thread answers from. */
export interface View {
  readonly dataset: Dataset
  readonly fragments: OpenedFragments
  /** Null when the server does not hold the other snapshot. */
  readonly changesSince?: (id: string) => ChangesSince | null
}

export interface ChangesSince {
  readonly changes: Changes
  readonly before: Dataset
}

/** Takes over equal parts from `before`. @throws SnapshotError for a missing or malformed part */
export function* openView(snapshot: IndexedSnapshot, before: Dataset | null = null): Steps<View> {
  const dataset = openDataset(snapshot, yield* openParts(snapshot, before?.parts), snapshot.indexes)
  yield
  return { dataset, fragments: yield* openFragments(snapshot.fragments) }
}
