/** What a build is asked to do. */
import type { Source } from '../sources/source.ts'
import type { Target } from '../bulk/target.ts'
import type { Store } from '../store/store.ts'
import type { BuildReport } from './report.ts'

/** A share of anything that the folder has may go; more means that the sources are broken. */
export const DEFAULT_ALLOWED_LOSS = 0.5

export interface BuildOptions {
  sources: Source[]
  out: string
  /** Epoch seconds; null: the newest reading in the input. */
  asOf: number | null
  /** The clock, epoch seconds; no byte of a snapshot depends on it unless a source makes its data up. */
  now: number
  report: BuildReport
  /** Takes only ids and slugs over from the folder's snapshot, not its rows. */
  fresh?: boolean
  /** Share of what the folder has of any kind that may be missing from the new snapshot, 0…1. */
  allowLoss?: number
  /** Manifests kept to roll back to. */
  keep?: number
  /**
   * Networks, most preferred first: of one buoy in two of them within `sameWithinKm` the first one's stays.
   */
  prefer?: readonly string[]
  sameWithinKm?: number
  /** Publishes to a store first, and in the folder only what the store has accepted. */
  publishTo?: { store: Store; singleWriter: boolean } | null
  /** Exports each snapshot there as files, for databases. */
  exportTo?: Target | null
  /** Readings later than this come from a clock gone wrong, epoch seconds; absent: any time is possible. */
  latest?: number
}
