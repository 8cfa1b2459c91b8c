/** One snapshot as a worker serves it, and what distinguishes it from another one. */
import type { Changes } from '../snapshot/row-changes.ts'
import type { Dataset } from './dataset.ts'
import type { SnapshotFragments } from './fragments.ts'

export interface View {
  readonly dataset: Dataset
  readonly fragments: SnapshotFragments
  /** What distinguishes this snapshot from another one; null where the server does not hold that one. */
  readonly changesSince?: (id: string) => ChangesSince | null
}

export interface ChangesSince {
  readonly changes: Changes
  /** The snapshot that the changes are counted from. */
  readonly before: Dataset
}
