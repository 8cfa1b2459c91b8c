/** The text of `/metrics`: gathers the figures of the moment and writes them. */
import { readdirSync, statSync } from 'node:fs'
import { newestReport } from '../builder/report-files.ts'
import type { NetworkDocument, ReportDocument, SourceDocument } from '../builder/report-document.ts'
import { parseTimestamp } from '../sea/time.ts'
import { readHold } from '../snapshot/retained.ts'
import { countConnections } from '../http/connections.ts'
import { openFilesLimit } from '../http/connections.ts'
import { exposition } from './exposition.ts'
import type {
  BuildFigures,
  Figures,
  ProcessFigures,
  QuotaFigures,
  SnapshotFigures,
  NetworkFigures,
  SourceFigures,
} from './figures.ts'
import type { MirrorFigures } from '../snapshot/mirror/mirror.ts'
import { readRequests, requestsByWorker } from '../http/request-counts.ts'
import { METRICS } from './metrics-table.ts'
import { readWorkers } from './worker-figures.ts'
import { ROUTED } from '../routes.ts'
import { countListeners } from '../http/listener-counts.ts'
import { routeNames } from '../http/request-recorder.ts'
import { memoryLimit } from '../snapshot/snapshot-memory.ts'
import type { LoadedSnapshot } from '../snapshot/read-snapshot.ts'
import type { ServedKeys } from './key-service.ts'
import { notReady, type Observed } from './status.ts'
import type { CommonStart } from './worker-settings.ts'

/** Share of the main thread's time that scrapes may take: a text is given again until it is that old. */
const SHARE = 1 / 10

/** Sources that are shown: each is a series of some metrics. */
const MOST_SOURCES = 200

export interface MetricsOptions {
  /** Folder of the snapshots. */
  dir: string
  version: string
  /** Epoch seconds. */
  clock: () => number
  common: CommonStart
  mirror: () => MirrorFigures | null
  keys: ServedKeys
  quota: () => QuotaFigures
  observed: () => Observed
  /** Builds that this process starts; null where it starts none. */
  builds: () => BuildFigures | null
}

/** Makes the text; asked again and again without a pause, it takes a tenth of the thread's time. */
export function metricsText(options: MetricsOptions): () => string {
  const builtNow = builtOf(options.dir)
  const routes = routeNames(ROUTED, options.common.basePath)
  const figures = (): Figures => figuresOf(options, builtNow, routes)
  let text = ''
  let until = -Infinity
  return () => {
    const began = performance.now()
    if (began < until) return text
    text = exposition(METRICS, figures())
    const now = performance.now()
    until = now + (now - began) / SHARE
    return text
  }
}

function figuresOf(
  { dir, version, clock, common, mirror, keys, quota, observed, builds }: MetricsOptions,
  builtNow: ReturnType<typeof builtOf>,
  routes: readonly string[],
): Figures {
  const now = observed()
  const { snapshot, held, reload, workers, totals } = now
  const connections = countConnections(common.connections)
  const { built, sources, suspect } = builtNow()
  const rows = readWorkers(common.workerFigures)
  return {
    now: clock(),
    version,
    isReady: notReady(now) === null,
    requests: readRequests(common.requests, routes),
    requestsByWorker: requestsByWorker(common.requests, routes.length),
    totals: totals.sums(),
    workers: { ...workers, rows },
    connections: {
      open: connections.open,
      limit: common.maxConnections,
      refusedInAll: connections.refused.in_all,
      refusedByAddress: connections.refused.by_address,
      reset: connections.reset,
    },
    listeners: { byWorker: countListeners(common.listeners).byThread, limit: common.maxListeners },
    snapshot: snapshot && snapshotFigures(snapshot),
    reload: {
      served: reload.loaded,
      refused: reload.refused,
      isRefused: reload.error !== null,
      isLoading: reload.loading !== null,
      loadSeconds: reload.loadTook,
      swapSeconds: reload.swapTook,
    },
    networks: (snapshot?.newest ?? [])
      .slice(0, MOST_SOURCES)
      .map(([name, newest]) => ({ name, newest, suspect: suspect.get(name) ?? [] })),
    sources,
    built,
    builds: builds(),
    snapshotsHeld: held.length,
    isHeld: readHold(dir) !== null,
    mirror: mirror(),
    keys: keys.state,
    quota: quota(),
    process: processFigures(clock(), sharedBytes(common, held)),
    log: { dropped: rows.reduce((sum, { dropped_lines: dropped }) => sum + dropped, 0) },
  }
}

function snapshotFigures({ id, asOf, publishedAt, parts }: LoadedSnapshot): SnapshotFigures {
  const rows = new Map<string, number>()
  for (const { entry } of parts) rows.set(entry.kind, (rows.get(entry.kind) ?? 0) + entry.rows)
  return {
    id,
    asOf,
    publishedAt,
    parts: parts.length,
    bytes: parts.reduce((sum, { entry }) => sum + entry.bytes, 0),
    rows: [...rows],
  }
}

function sharedBytes(common: CommonStart, held: readonly LoadedSnapshot[]): ProcessFigures['shared'] {
  const counters = [common.quota, common.addresses, common.totals, common.connections, common.listeners]
  const metrics = [common.requests, common.workerFigures]
  const bytes = (buffers: readonly { byteLength: number }[]): number =>
    buffers.reduce((sum, { byteLength }) => sum + byteLength, 0)
  return [
    // Snapshots share parts.
    ['snapshot', bytes([...new Set(held.flatMap(({ parts }) => parts.map(({ bytes }) => bytes)))])],
    ['counters', bytes(counters)],
    ['metrics', bytes(metrics)],
    ['site', common.site.memory.byteLength],
  ]
}

/** @param now epoch seconds */
function processFigures(now: number, shared: ProcessFigures['shared']): ProcessFigures {
  const { rss, heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return {
    startedAt: now - process.uptime(),
    cpuSeconds: (user + system) / 1e6,
    residentBytes: rss,
    memoryBytes: memoryLimit(0).bytes,
    heapBytes: heapUsed,
    openFiles: openFiles(),
    maxFiles: openFilesLimit(),
    shared,
  }
}

/** Null on systems other than Linux. */
function openFiles(): number | null {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return null
  }
}

/** Inputs and networks that are shown, and reasons of one network. */
const MOST_SHOWN = 200
const MOST_REASONS = 20

interface Built {
  built: Figures['built']
  sources: readonly SourceFigures[]
  /** Suspect readings by the name of a network. */
  suspect: ReadonlyMap<string, NetworkFigures['suspect']>
}

const NOTHING: Built = { built: null, sources: [], suspect: new Map() }

/**
 * What the newest build in a folder reports. The report is read again only when the folder has changed, and
 * only if it can be read between two scrapes. Never throws: an unreadable report gives no figures.
 */
function builtOf(dir: string): () => Built {
  let mark = -1
  let known = NOTHING
  return () => {
    const changed = statSync(dir, { throwIfNoEntry: false })?.mtimeMs ?? -1
    if (changed === mark) return known
    mark = changed
    try {
      known = builtFigures(newestReport(dir))
    } catch {
      known = NOTHING
    }
    return known
  }
}

function builtFigures(report: ReportDocument): Built {
  const at = parseTimestamp(report.built_at)?.epoch ?? 0
  return {
    built: { at, seconds: report.seconds, rows: report.rows, badLines: report.bad_lines },
    sources: report.sources.slice(0, MOST_SHOWN).map((source) => sourceFigures(source, at)),
    suspect: new Map(
      report.networks.slice(0, MOST_SHOWN).map((network) => [network.name, suspectOf(network)]),
    ),
  }
}

function sourceFigures(
  { name, refused, rows, bad_lines: badLines, fetch }: SourceDocument,
  at: number,
): SourceFigures {
  return {
    name,
    isSilent: refused !== null,
    rows,
    badLines,
    fetch: fetch && {
      at,
      seconds: fetch.seconds,
      bytes: fetch.bytes,
      files: [
        ['fetched', fetch.fetched],
        ['unchanged', fetch.unchanged],
        ['not_due', fetch.not_due],
        ['failed', fetch.failed],
        ['removed', fetch.removed],
      ],
    },
  }
}

function suspectOf({ doubtful }: NetworkDocument): NetworkFigures['suspect'] {
  return doubtful.slice(0, MOST_REASONS).map(({ reason, readings }) => [reason, readings])
}
