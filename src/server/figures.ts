/**
 * All that `/metrics` shows, as plain figures of one moment. To add a metric: a row in `table.ts`, and, where
 * its value is not here yet, a member here, which `process/figures.ts` fills.
 */
import type { MirrorFigures } from '../snapshot/mirror/mirror.ts'
import type { RequestSeries } from '../http/request-counts.ts'
import type { WorkerFigures } from './worker-figures.ts'

/** Times are epoch seconds. */
export interface Figures {
  now: number
  version: string
  isReady: boolean
  requests: readonly RequestSeries[]
  requestsByWorker: readonly number[]
  totals: {
    readonly unauthorized: number
    readonly bad_keys: number
    readonly rate_limited: number
    readonly rate_limited_addresses: number
    readonly explorer_reads: number
    readonly explorer_refused: number
    readonly faults: number
    readonly kept: number
    readonly made: number
    readonly long: number
    readonly long_refused: number
    readonly parked: number
    readonly parked_late: number
    readonly events: number
    readonly streams_refused_of_one: number
    readonly streams_refused_in_all: number
    readonly streams_client: number
    readonly streams_slow: number
    readonly streams_key: number
    readonly streams_quota: number
    readonly streams_drain: number
    readonly streams_lost: number
  }
  workers: { wanted: number; serving: number; replaced: number; rows: readonly WorkerFigures[] }
  connections: { open: number; limit: number; refusedInAll: number; refusedByAddress: number; reset: number }
  /** Open streams of events. */
  listeners: { byWorker: readonly number[]; limit: number }
  snapshot: SnapshotFigures | null
  reload: ReloadFigures
  /** Networks of the served snapshot, and the time of each one's newest reading; −1 for none. */
  networks: readonly NetworkFigures[]
  /** Sources of the configuration, as the newest build found them. */
  sources: readonly SourceFigures[]
  /** The newest build that left a report; null without one. */
  built: { at: number; seconds: number; rows: number; badLines: number } | null
  /** Builds that this process has started; null where it starts none. */
  builds: BuildFigures | null
  /** Snapshots that are held: the served one, and older ones for those who pin them. */
  snapshotsHeld: number
  /** Whether a rollback holds the folder. */
  isHeld: boolean
  /** What is known of the source that is mirrored; null where nothing is. */
  mirror: MirrorFigures | null
  keys: KeyFigures
  quota: QuotaFigures
  process: ProcessFigures
  log: { dropped: number }
}

export interface SnapshotFigures {
  id: string
  asOf: number
  publishedAt: number
  parts: number
  bytes: number
  /** By kind of part. */
  rows: readonly (readonly [kind: string, rows: number])[]
}

export interface ReloadFigures {
  served: number
  refused: number
  /** Whether the folder's snapshot is one that was refused. */
  isRefused: boolean
  isLoading: boolean
  /**
   * Seconds that loading the last snapshot took, and that the workers took to swap; null before the first.
   */
  loadSeconds: number | null
  swapSeconds: number | null
}

export interface NetworkFigures {
  name: string
  newest: number
  /** Suspect readings in what the newest build wrote, by reason. */
  suspect: readonly (readonly [reason: string, readings: number])[]
}

export interface SourceFigures {
  name: string
  isSilent: boolean
  rows: number
  badLines: number
  fetch: {
    at: number
    seconds: number
    bytes: number
    files: readonly (readonly [outcome: string, files: number])[]
  } | null
}

export interface BuildFigures {
  published: number
  failed: number
  failedInRow: number
  isRunning: boolean
  nextAt: number
}

export interface KeyFigures {
  /** Where the keys come from: `file`, or a backend that replicas share. */
  backend: string
  count: number
  /** Whether the last look at the backend gave a good set; the last good one stays in force. */
  isUp: boolean
}

export interface QuotaFigures {
  /** Where calls are counted: `memory`, or a backend that replicas share. */
  backend: string
  isUp: boolean
  /** The figures of replicas that share quotas; null where calls are counted in memory. */
  leases: { replicas: number; calls: number; failedCalls: number; admittedAlone: number } | null
}

export interface ProcessFigures {
  startedAt: number
  cpuSeconds: number
  residentBytes: number
  /** Memory of the machine or its container. */
  memoryBytes: number
  heapBytes: number
  /** Open files, and how many may be open; null where the system does not tell. */
  openFiles: number | null
  maxFiles: number | null
  /** Memory that all threads share, by what it holds. */
  shared: readonly (readonly [kind: string, bytes: number])[]
}
