/** The document of `/status`, and the reason of `/readyz`: how a server is, for its operator. */
import { readFailure } from '../snapshot/failure.ts'
import { holdStatus } from '../snapshot/retained.ts'
import { countConnections } from '../http/connections.ts'
import { timestampText } from '../sea/time.ts'
import { doubtCounts, silentSources, type ReportDocument } from '../builder/report-document.ts'
import type { Counters } from '../http/counters.ts'
import { snapshotStatus } from '../snapshot/inspection.ts'
import type { LoadedSnapshot } from '../snapshot/read-snapshot.ts'
import type { KeyFigures } from './key-service.ts'
import type { ReloadState } from './reload.ts'
import type { SupplyStatus } from './supply.ts'
import type { CommonStart } from './worker-settings.ts'

export interface Observed {
  /** Epoch seconds. */
  now: number
  snapshot: LoadedSnapshot | null
  /** Oldest first; the last is the served one. */
  held: readonly LoadedSnapshot[]
  reload: ReloadState
  engine: { kind: string; warning: string | null }
  workers: { wanted: number; serving: number; replaced: number }
  counters: Counters
  common: CommonStart
  /** The newest report of a build; reads the folder. */
  report: () => ReportDocument | null
  supply: SupplyStatus
  keys: KeyFigures
  /** `backend`: `memory`, or one that replicas share. */
  quota: { backend: string; isUp: boolean }
  isDraining: boolean
  isOpen: boolean
  hasKeys: boolean
  /** Why this process cannot go on; null while it can. */
  failure: string | null
}

/** Why requests should not be sent here now; null when they should. */
export function notReady({
  failure,
  hasKeys,
  isDraining,
  isOpen,
  snapshot,
  workers,
}: Observed): string | null {
  if (failure !== null) return failure
  if (isDraining) return 'stopping'
  // A snapshot is the served one only after each worker has answered questions about it.
  if (snapshot === null) return 'no snapshot is loaded'
  if (!hasKeys) return 'the keys are not known yet: their address has to answer once'
  if (!isOpen) return 'the port is not open yet'
  return workers.serving === 0 ? `0 of ${workers.wanted} workers are serving` : null
}

/** The document of `/status`, without what only the server itself knows. */
export function statusOf(observed: Observed): object {
  const { now, snapshot, held, reload, engine, workers, counters, common, report, isDraining } = observed
  const { open, refused, streamsByThread } = countConnections(common.connections)
  const sums = counters.sums()
  const newest = report()
  return {
    ...snapshotStatus(snapshot, now),
    held_snapshots: held.map(({ id, asOf }) => ({ id, as_of: timestampText(asOf) })),
    hold: holdStatus(common.config.snapshots),
    failed_build: readFailure(common.config.snapshots),
    reload: reloadStatus(reload),
    engine: { name: engine.kind, warning: engine.warning },
    workers,
    memory: process.memoryUsage(),
    answered: {
      requests: sums.requests,
      unauthorized: sums.unauthorized,
      rate_limited: sums.rate_limited,
      faults: sums.faults,
    },
    explorer: {
      access: common.anonymousAccess,
      quota: common.config['explorer-quota'],
      reads: sums.explorer_reads,
      refused: sums.explorer_refused,
    },
    connections: { open, refused },
    listeners: {
      open: streamsByThread.reduce((sum, streams) => sum + streams, 0),
      limit: common.maxListeners,
      begun: sums.streams,
      events: sums.events,
      refused: { in_all: sums.streams_refused_in_all, by_key: sums.streams_refused_of_one },
    },
    draining: isDraining,
    silent_sources: silentSources(newest, now),
    losses: newest?.losses ?? null,
    doubts: doubtCounts(newest).filter(({ grave, other }) => grave + other > 0),
  }
}

function reloadStatus({ at, error, took, loaded, refused, loading }: ReloadState): object {
  return {
    last_at: at === null ? null : timestampText(at),
    last_error: error,
    last_seconds: took,
    loaded,
    refused,
    loading: loading === null ? null : { id: loading.id, since: timestampText(loading.since) },
  }
}
