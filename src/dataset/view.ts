/** One snapshot as a worker serves it, and what distinguishes it from another one. */
import type { Changes } from '../snapshot/row-changes.ts'
import type { Dataset } from './dataset.ts'
import type { SnapshotFragments } from './fragments.ts'

export interface View {
  readonly dataset: Dataset
  readonly fragments: SnapshotFragments
  /** Null when the server does not hold the other snapshot. */
  readonly changesSince?: (id: string) => ChangesSince | null
}

export interface ChangesSince {
  readonly changes: Changes
  readonly before: Dataset
}
