/**
 * Every metric once, for `/metrics`, `docs/metrics.md` and the tests. Names and units follow OpenTelemetry
 * and Prometheus; no label holds a key, a buoy, an address or a path.
 */
import { readdirSync } from 'node:fs'
import { openFilesLimit } from './worker-settings.ts'
import { memoryLimit } from '../snapshot/catalog-summary.ts'
import type { Figures, Metric, Sample } from './metrics.ts'
import { DURATION_BOUNDS_S } from '../http/request-counts.ts'
import type { WorkerFigureName } from './worker-figures.ts'

type Values = number | boolean | null | readonly (readonly [...labels: string[], value: number])[]

/** A counter where the name ends in `_total`, else a gauge. @param series `NAME{LABEL,LABEL}` */
function metric(series: string, help: string, read: (figures: Figures) => Values): Metric {
  const [name, labels = ''] = series.split(/[{}]/)
  return {
    name,
    type: name.endsWith('_total') ? 'counter' : 'gauge',
    help,
    unit: /_(seconds|bytes)(_total)?$/.exec(name)?.[1] ?? '',
    labels: labels.split(',').filter((label) => label !== ''),
    read: (figures) => samplesOf(read(figures)),
  }
}

function samplesOf(values: Values): readonly Sample[] {
  if (values === null) return []
  if (typeof values !== 'object') return [{ labels: [], value: Number(values) }]
  return values.map((entry) => ({
    labels: entry.slice(0, -1) as string[],
    value: entry[entry.length - 1] as number,
  }))
}

const byWorker =
  (name: WorkerFigureName) =>
  ({ workers }: Figures): Values =>
    workers.rows.map((row, worker) => [String(worker), row[name]])

/** Outcomes of the files of a fetch, as the report calls them. */
const OUTCOMES = ['fetched', 'unchanged', 'not_due', 'failed', 'removed'] as const

function byRoute({ requests }: Figures, countOf: (series: Figures['requests'][number]) => number): Values {
  const sums = new Map<string, number>()
  for (const series of requests) sums.set(series.route, (sums.get(series.route) ?? 0) + countOf(series))
  return [...sums]
}

const all = (numbers: readonly number[]): number => numbers.reduce((sum, value) => sum + value, 0)

/** Null on systems other than Linux. */
function openFiles(): number | null {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return null
  }
}

const REQUESTS: readonly Metric[] = [
  {
    name: 'http_server_request_duration_seconds',
    type: 'histogram',
    unit: 'seconds',
    help: 'Requests by method, route and status, and the time from their arrival to the first bytes of their answer',
    labels: ['http_request_method', 'http_route', 'http_response_status_code'],
    bounds: DURATION_BOUNDS_S,
    read: ({ requests }) =>
      requests.map(({ method, route, status, buckets, seconds }) => ({
        labels: [method, route, status],
        buckets,
        sum: seconds,
      })),
  },
  metric(
    'groundswell_response_body_bytes_total{http_route}',
    'Bytes of response bodies, as sent',
    (figures) => byRoute(figures, ({ bytes }) => bytes),
  ),
  metric(
    'groundswell_answer_cache_total{result}',
    'Answers from the answer cache (hit), and made ones (miss) while it is on',
    ({ counters }) => [
      ['hit', counters.kept],
      ['miss', counters.made],
    ],
  ),
  metric(
    'groundswell_authentication_failures_total{reason}',
    'Requests refused without a key (missing), or without one in force (invalid)',
    ({ counters }) => [
      ['missing', counters.unauthorized - counters.bad_keys],
      ['invalid', counters.bad_keys],
    ],
  ),
  metric(
    'groundswell_quota_refusals_total{of}',
    'Requests refused for the hourly quota of their key, of their address on the public operations, or of their address in the open explorer',
    ({ counters }) => [
      ['key', counters.rate_limited - counters.rate_limited_addresses - counters.explorer_refused],
      ['address', counters.rate_limited_addresses],
      ['explorer', counters.explorer_refused],
    ],
  ),
  metric(
    'groundswell_faults_total',
    'Requests that failed by a fault of the program, which the log has',
    ({ counters }) => counters.faults,
  ),
  metric(
    'groundswell_long_requests_total{result}',
    'Requests with a long answer: taken, or refused because too many were made',
    ({ counters }) => [
      ['taken', counters.long],
      ['refused', counters.long_refused],
    ],
  ),
  metric(
    'groundswell_long_requests{state}',
    'Requests with a long answer under way: waiting for their turn, or begun',
    ({ workers }) => [
      ['waiting', all(workers.rows.map((row) => row.long_waiting))],
      ['begun', all(workers.rows.map((row) => row.long_begun))],
    ],
  ),
]

const CONNECTIONS: readonly Metric[] = [
  metric('groundswell_connections', 'Open connections of clients', ({ connections }) => connections.open),
  metric(
    'groundswell_connections_limit',
    'Connections that may be open at a time',
    ({ common }) => common.maxConnections,
  ),
  metric(
    'groundswell_connections_refused_total',
    'Connections refused beyond the limit',
    ({ connections }) => connections.refused,
  ),
  metric(
    'groundswell_answers_not_held_total',
    'Answers to slow readers that were cut, because the buffers had no room for them',
    ({ workers }) => all(workers.rows.map((row) => row.not_held)),
  ),
]

const SNAPSHOT: readonly Metric[] = [
  metric(
    'groundswell_snapshot_age_seconds',
    "Time since the time of the served snapshot's data",
    ({ snapshot, now }) => (snapshot === null ? null : now - snapshot.asOf),
  ),
  metric(
    'groundswell_snapshot_load_seconds',
    'Time that reading and checking the newest served snapshot took',
    ({ reload }) => reload.loadTook,
  ),
  metric(
    'groundswell_snapshot_swap_seconds',
    'How long the workers then took to get it ready next to the one before and to switch',
    ({ reload }) => reload.swapTook,
  ),
  metric(
    'groundswell_snapshot_loads_total{outcome}',
    'Loads of a snapshot that was then served, or refused',
    ({ reload }) => [
      ['served', reload.loaded],
      ['refused', reload.refused],
    ],
  ),
  metric(
    'groundswell_snapshot_refused',
    "Whether the folder's current snapshot was refused, so that an older one or none is served",
    ({ reload }) => reload.error !== null,
  ),
  metric(
    'groundswell_snapshot_held',
    'Whether a rollback holds the folder, so that builds are kept and not published',
    ({ isHeld }) => isHeld,
  ),
]

const SOURCES: readonly Metric[] = [
  metric(
    'groundswell_source_newest_reading_age_seconds{source}',
    'Time since the newest reading of a source',
    ({ networks, now }) =>
      networks.filter(([, newest]) => newest >= 0).map(([name, newest]) => [name, now - newest]),
  ),
  metric(
    'groundswell_input_silent{input}',
    'Whether the newest build could not read an input (a configured source), and carried its last state over',
    ({ report }) => (report?.sources ?? []).map(({ name, refused }) => [name, Number(refused !== null)]),
  ),
  metric('groundswell_input_rows{input}', 'Rows that the newest build read of an input', ({ report }) =>
    (report?.sources ?? []).map(({ name, rows }) => [name, rows]),
  ),
  metric(
    'groundswell_input_bad_lines{input}',
    'Lines of an input that the newest build found malformed',
    ({ report }) => (report?.sources ?? []).map(({ name, bad_lines: bad }) => [name, bad]),
  ),
  metric(
    'groundswell_input_fetch_files{input,outcome}',
    'Files of the last fetch of an input by outcome',
    ({ report }) =>
      (report?.sources ?? []).flatMap(({ name, fetch }) =>
        OUTCOMES.flatMap((outcome) => (fetch ? [[name, outcome, fetch[outcome]] as const] : [])),
      ),
  ),
]

const BUILDS: readonly Metric[] = [
  metric(
    'groundswell_builds_total{outcome}',
    'Builds that this process has started, by outcome, without `serve`',
    ({ supply: { builds } }) =>
      builds && [
        ['succeeded', builds.built],
        ['failed', builds.failed],
      ],
  ),
  metric(
    'groundswell_builds_failed_in_row',
    'Builds that have failed since the last one that succeeded',
    ({ supply: { builds } }) => builds && builds.failures_in_row,
  ),
  metric(
    'groundswell_build_lost_buoys',
    'Buoys that the newest build lacks of the snapshot before it; `/status` names the first',
    ({ report }) => report && report.losses.buoys,
  ),
  metric(
    'groundswell_build_lost_readings',
    'Past readings that the newest build lacks, of buoys that lost more than a hundredth of theirs',
    ({ report }) => report && report.losses.readings,
  ),
]

const MIRROR: readonly Metric[] = [
  metric(
    'groundswell_mirror_up',
    'Whether the last look at the mirrored source gave a whole snapshot',
    ({ supply }) => supply.isUp,
  ),
]

const ACCESS: readonly Metric[] = [
  metric('groundswell_keys', 'API keys in force', ({ keys }) => keys.count),
  metric(
    'groundswell_keys_backend_up{backend}',
    'Whether the last look at the store of keys gave a good set, else the last good one stays in force',
    ({ keys }) => [[keys.backend, Number(keys.isUp)]],
  ),
  metric(
    'groundswell_quota_backend_up{backend}',
    'Whether the backend that counts calls can be reached, always 1 for memory',
    ({ quota }) => [[quota.backend, Number(quota.isUp)]],
  ),
]

const PROCESS: readonly Metric[] = [
  metric('groundswell_ready', 'Whether `/readyz` answers 200', ({ isReady }) => isReady),
  metric('groundswell_workers{state}', 'Workers: serving, and wanted', ({ workers }) => [
    ['serving', workers.serving],
    ['wanted', workers.wanted],
  ]),
  metric(
    'groundswell_workers_replaced_total',
    'Workers that have ended and were replaced',
    ({ workers }) => workers.replaced,
  ),
  metric(
    'groundswell_event_loop_busy_seconds_total{worker}',
    'Time in which the event loop of a worker did not wait',
    byWorker('busy_seconds'),
  ),
  metric(
    'groundswell_heap_bytes{thread}',
    'JavaScript heap in use, by thread: `main`, or the number of a worker',
    ({ workers }) => [
      ['main', process.memoryUsage().heapUsed],
      ...workers.rows.map((row, worker) => [String(worker), row.heap_bytes] as const),
    ],
  ),
  metric(
    'groundswell_heap_limit_bytes{worker}',
    'What the heap of a worker may grow to before the worker ends',
    byWorker('heap_limit_bytes'),
  ),
  metric(
    'groundswell_log_lines_dropped_total',
    'Lines of the access log that were dropped because standard output was not read fast enough',
    ({ workers }) => all(workers.rows.map((row) => row.dropped_lines)),
  ),
  metric('process_resident_memory_bytes', 'Memory of the process that is in RAM', () =>
    process.memoryUsage.rss(),
  ),
  metric(
    'groundswell_memory_limit_bytes',
    'Memory of the machine, or of the container where that is less',
    () => memoryLimit(0).bytes,
  ),
  metric('process_cpu_seconds_total', 'Processor time of the process, all threads', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }),
  metric('process_open_fds', 'Open files and connections', openFiles),
  metric('process_max_fds', 'How many may be open', openFilesLimit),
]

/** In the order of `/metrics`. */
export const METRIC_GROUPS: readonly { title: string; metrics: readonly Metric[] }[] = [
  { title: 'Requests', metrics: REQUESTS },
  { title: 'Connections and slow readers', metrics: CONNECTIONS },
  { title: 'Snapshot', metrics: SNAPSHOT },
  { title: 'Sources', metrics: SOURCES },
  { title: 'Builds', metrics: BUILDS },
  { title: 'Mirror', metrics: MIRROR },
  { title: 'Keys and quotas', metrics: ACCESS },
  { title: 'Process', metrics: PROCESS },
]

export const METRICS: readonly Metric[] = METRIC_GROUPS.flatMap(({ metrics }) => metrics)
