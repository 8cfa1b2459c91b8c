/** Gathers the figures of the moment for `/metrics`. */
import { statSync } from 'node:fs'
import { newestReport, type ReportDocument } from '../builder/report-document.ts'
import { readHold } from '../snapshot/retained.ts'
import { countConnections } from '../http/connections.ts'
import type { MirrorFigures } from '../snapshot/mirror/mirror.ts'
import { readRequests } from '../http/request-counts.ts'
import { readWorkers } from './worker-figures.ts'
import { ROUTED } from '../routes.ts'
import { countListeners } from '../http/listener-counts.ts'
import { routeNames } from '../http/request-recorder.ts'
import type { ScheduleState } from './build-schedule.ts'
import type { KeyFigures } from './key-service.ts'
import { notReady, type Observed } from './status.ts'
import type { CommonStart } from './worker-settings.ts'

/** Networks and inputs that are shown, each as a series of some metrics, and reasons of one network. */
const MOST_SHOWN = 200
const MOST_REASONS = 20

interface QuotaFigures {
  /** `memory`, or a backend that replicas share. */
  readonly backend: string
  readonly isUp: boolean
}

export interface MetricsOptions {
  dir: string
  version: string
  clock: () => number
  common: CommonStart
  mirror: () => MirrorFigures | null
  keys: () => KeyFigures
  quota: () => QuotaFigures
  observed: () => Observed
  /** Null where this process starts no builds. */
  builds: () => ScheduleState | null
}

/** All that `/metrics` shows, at one moment. To add a metric: a row in `metrics-table.ts`. */
export type Figures = ReturnType<typeof figuresOf>

// oxlint-disable-next-line typescript/explicit-function-return-type -- `Figures` is what it returns
export function figuresOf(
  { dir, version, clock, common, mirror, keys, quota, observed, builds }: MetricsOptions,
  report: ReportDocument | null,
) {
  const routes = routeNames(ROUTED, common.config['base-path'])
  const now = observed()
  const { snapshot, held, reload, workers, totals } = now
  return {
    /** Epoch seconds. */
    now: clock(),
    version,
    common,
    isReady: notReady(now) === null,
    requests: readRequests(common.requests, routes),
    totals: totals.sums(),
    workers: { ...workers, rows: readWorkers(common.workerFigures) },
    connections: countConnections(common.connections),
    listenersByWorker: countListeners(common.listeners).byThread,
    snapshot,
    held,
    reload,
    /** Times are those of the newest readings; −1 for none. */
    networks: (snapshot?.newest ?? []).slice(0, MOST_SHOWN),
    report,
    builds: builds(),
    isHeld: readHold(dir) !== null,
    mirror: mirror(),
    keys: keys(),
    quota: quota(),
  }
}

/** Read again only when the folder has changed. Never throws: an unreadable report gives no figures. */
export function reportOf(dir: string): () => ReportDocument | null {
  let mark = -1
  let known: ReportDocument | null = null
  return () => {
    const changed = statSync(dir, { throwIfNoEntry: false })?.mtimeMs ?? -1
    if (changed === mark) return known
    mark = changed
    try {
      const report = newestReport(dir)
      known = {
        ...report,
        sources: report.sources.slice(0, MOST_SHOWN),
        networks: report.networks
          .slice(0, MOST_SHOWN)
          .map((network) => ({ ...network, doubtful: network.doubtful.slice(0, MOST_REASONS) })),
      }
    } catch {
      known = null
    }
    return known
  }
}
