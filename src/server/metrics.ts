/** `/metrics`: the current figures, and their text in the Prometheus exposition format 0.0.4. */
import { statSync } from 'node:fs'
import { newestReport, type ReportDocument } from '../builder/report-document.ts'
import { shownHold } from '../snapshot/retained.ts'
import { countConnections } from '../http/connections.ts'
import { readWorkers } from './worker-figures.ts'
import { ROUTED } from '../routes.ts'
import {
  BUCKETS,
  BYTES,
  METHODS,
  OTHER,
  ROUTE_SERIES,
  routeNames,
  SECONDS,
  SERIES_CELLS,
  slabCells,
  STATUSES,
} from '../http/request-counts.ts'
import { notReady, type Observed } from './status.ts'

/** Networks and inputs that are shown, each as a series of some metrics. */
const MOST_SHOWN = 200

/** The bound on one metric, whatever the input. */
export const MOST_SERIES = 2000
const LABEL_CHARACTERS = 120

/** Share of the main thread's time that scrapes may take: sooner ones get the same text again. */
const SHARE = 1 / 10

/** Labels have the order of the metric's; a histogram's sample has its buckets and sum. */
export type Sample =
  | { labels: readonly string[]; value: number }
  | { labels: readonly string[]; buckets: readonly number[]; sum: number }

export interface Metric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** One sentence without a full stop. */
  readonly help: string
  /** As in the name: `seconds`, `bytes`; '' for a count or a state. */
  readonly unit: string
  readonly labels: readonly string[]
  /** Upper bounds without `+Inf`. Samples have one bucket more, and none is cumulated. */
  readonly bounds?: readonly number[]
  /** A metric without a value has no sample. */
  readonly read: (figures: Figures) => readonly Sample[]
}

/** All that `/metrics` shows, at one moment. To add a metric: a row in `metrics-table.ts`. */
export type Figures = ReturnType<typeof figuresOf>

// oxlint-disable-next-line typescript/explicit-function-return-type -- `Figures` is what it returns
function figuresOf(observed: Observed) {
  const { now, common, snapshot, reload, workers, counters, report, supply, keys, quota } = observed
  const { snapshots, 'base-path': basePath } = common.config
  return {
    now,
    common,
    isReady: notReady(observed) === null,
    requests: readRequests(common.requests, routeNames(ROUTED, basePath)),
    counters: counters.sums(),
    workers: { ...workers, rows: readWorkers(common.workerFigures) },
    connections: countConnections(common.connections),
    snapshot,
    reload,
    /** Times of the newest readings; −1 for none. */
    networks: (snapshot?.newest ?? []).slice(0, MOST_SHOWN),
    report: report(),
    supply,
    isHeld: shownHold(snapshots) !== null,
    keys,
    quota,
  }
}

/** Read again only when the folder has changed. Never throws: an unreadable report gives no figures. */
export function reportOf(dir: string): () => ReportDocument | null {
  let mark = -1
  let known: ReportDocument | null = null
  return () => {
    try {
      const changed = statSync(dir).mtimeMs
      if (changed === mark) return known
      mark = changed
      const report = newestReport(dir)
      known = { ...report, sources: report.sources.slice(0, MOST_SHOWN) }
    } catch {
      // Also for a folder that cannot be read, which is read again when it comes back.
      mark = -1
      known = null
    }
    return known
  }
}

/** The current text. */
export function metricsText(metrics: readonly Metric[], observed: () => Observed): () => string {
  let text = ''
  let until = -Infinity
  return () => {
    const began = performance.now()
    if (began < until) return text
    text = exposition(metrics, figuresOf(observed()))
    const now = performance.now()
    until = now + (now - began) / SHARE
    return text
  }
}

export function exposition(metrics: readonly Metric[], figures: Figures): string {
  const lines: string[] = []
  for (const metric of metrics) {
    const samples = metric.read(figures).slice(0, MOST_SERIES)
    if (samples.length === 0) continue
    const { name, type, help } = metric
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
    // Prometheus would refuse everything for two names that are equal once cut.
    const seen = new Set<string>()
    for (const sample of samples) {
      const labels = labelText(metric.labels, sample.labels)
      if (seen.has(labels)) continue
      seen.add(labels)
      if ('value' in sample) lines.push(`${name}${labels} ${number(sample.value)}`)
      else histogram(lines, metric, sample)
    }
  }
  return `${lines.join('\n')}\n`
}

function histogram(
  lines: string[],
  { name, labels, bounds = [] }: Metric,
  sample: Extract<Sample, { sum: number }>,
): void {
  let below = 0
  const names = [...labels, 'le']
  sample.buckets.forEach((count, i) => {
    below += count
    const bound = i < bounds.length ? number(bounds[i]) : '+Inf'
    lines.push(`${name}_bucket${labelText(names, [...sample.labels, bound])} ${number(below)}`)
  })
  const text = labelText(labels, sample.labels)
  lines.push(`${name}_sum${text} ${number(sample.sum)}`, `${name}_count${text} ${number(below)}`)
}

function labelText(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return ''
  return `{${names.map((name, i) => `${name}="${escapedLabel(values[i])}"`).join(',')}}`
}

/** Escapes a name that came from outside: cut, and without what would end the value or the line. */
function escapedLabel(text: string): string {
  const cut = text.slice(0, LABEL_CHARACTERS).replaceAll(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, '\uFFFD')
  return cut.replaceAll('\\', '\\\\').replaceAll('"', '\\"')
}

function number(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  return String(value)
}

interface RequestSeries {
  route: string
  method: string
  status: string
  /** Requests by bucket, not cumulated; the last is `+Inf`. */
  buckets: number[]
  seconds: number
  bytes: number
}

/** Series that have been seen, over all workers. @param routes names by ordinal */
export function readRequests(buffer: SharedArrayBuffer, routes: readonly string[]): RequestSeries[] {
  const cells = new Float64Array(buffer)
  const slab = slabCells(routes.length)
  const found: RequestSeries[] = []
  for (let series = 0; series < routes.length * ROUTE_SERIES; series++) {
    const buckets = Array.from({ length: BUCKETS }, () => 0)
    let [seconds, bytes, all] = [0, 0, 0]
    for (let at = series * SERIES_CELLS; at < cells.length; at += slab) {
      for (let bucket = 0; bucket < BUCKETS; bucket++) {
        const count = cells[at + bucket]
        buckets[bucket] += count
        all += count
      }
      seconds += cells[at + SECONDS]
      bytes += cells[at + BYTES]
    }
    if (all === 0) continue
    const status = STATUSES[series % STATUSES.length]
    found.push({
      route: routes[Math.floor(series / ROUTE_SERIES)],
      method: METHODS[Math.floor(series / STATUSES.length) % METHODS.length],
      status: status === 0 ? OTHER : String(status),
      buckets,
      seconds,
      bytes,
    })
  }
  return found
}
