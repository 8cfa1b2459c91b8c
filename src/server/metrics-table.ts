/**
 * Every metric once: the text of `/metrics`, `docs/metrics.md` and the tests are made from this table. A row
 * describes a metric and reads its value from the figures of the moment. Names and units follow the
 * conventions of OpenTelemetry and Prometheus; no label holds a key, a buoy, an address or a path.
 */
import type { Metric, Sample } from './exposition.ts'
import type { Figures, SourceFigures } from './figures.ts'
import { DURATION_BOUNDS_S } from '../http/request-counts.ts'
import { DELAY_BOUNDS_S, type WorkerFigureName } from './worker-figures.ts'

type Values = number | boolean | null | readonly (readonly [...labels: string[], value: number])[]

function metric(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: (figures: Figures) => Values,
  labels: readonly string[] = [],
): Metric {
  const unit = /_(seconds|bytes)(_total)?$/.exec(name)?.[1] ?? ''
  return { name, type, help, unit, labels, read: (figures) => samplesOf(read(figures)) }
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

/** One sample for each source that was fetched. */
const byFetch =
  (of: (fetch: NonNullable<SourceFigures['fetch']>) => number) =>
  ({ sources }: Figures): Values =>
    sources.flatMap(({ name, fetch }) => (fetch === null ? [] : [[name, of(fetch)] as const]))

/** The sum by route of something that is counted for each series of requests. */
function byRoute({ requests }: Figures, of: (series: Figures['requests'][number]) => number): Values {
  const sums = new Map<string, number>()
  for (const series of requests) sums.set(series.route, (sums.get(series.route) ?? 0) + of(series))
  return [...sums]
}

const all = (numbers: readonly number[]): number => numbers.reduce((sum, value) => sum + value, 0)

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
    'groundswell_worker_requests_total',
    'counter',
    'Requests by worker, all that the histogram counts',
    ({ requestsByWorker }) => requestsByWorker.map((count, worker) => [String(worker), count]),
    ['worker'],
  ),
  metric(
    'groundswell_response_body_bytes_total',
    'counter',
    'Bytes of bodies that were answered, as sent, without heads',
    (figures) => byRoute(figures, ({ bytes }) => bytes),
    ['http_route'],
  ),
  metric(
    'groundswell_not_modified_total',
    'counter',
    'Answers 304, to clients that had the answer already',
    ({ requests }) =>
      all(requests.filter(({ status }) => status === '304').map(({ buckets }) => all(buckets))),
  ),
  metric(
    'groundswell_answer_cache_total',
    'counter',
    'Answers that were kept already (hit), and that had to be made (miss), with the answer cache on',
    ({ totals }) => [
      ['hit', totals.kept],
      ['miss', totals.made],
    ],
    ['result'],
  ),
  metric('groundswell_answer_cache_bytes', 'gauge', 'What kept answers take', byWorker('cache_bytes'), [
    'worker',
  ]),
  metric(
    'groundswell_authentication_failures_total',
    'counter',
    'Requests refused because they had no key (missing), or none that is in force (invalid)',
    ({ totals }) => [
      ['missing', totals.unauthorized - totals.bad_keys],
      ['invalid', totals.bad_keys],
    ],
    ['reason'],
  ),
  metric(
    'groundswell_quota_refusals_total',
    'counter',
    'Requests refused because an hourly quota was used up: of their key, of their address on the public operations, or of their address in the open explorer',
    ({ totals }) => [
      ['key', totals.rate_limited - totals.rate_limited_addresses - totals.explorer_refused],
      ['address', totals.rate_limited_addresses],
      ['explorer', totals.explorer_refused],
    ],
    ['of'],
  ),
  metric(
    'groundswell_explorer_reads_total',
    'counter',
    'Requests of the pages of this server without a key, where the explorer is open, those refused for their quota included',
    ({ totals }) => totals.explorer_reads,
  ),
  metric(
    'groundswell_faults_total',
    'counter',
    'Requests that failed by a fault of the program; the log has each',
    ({ totals }) => totals.faults,
  ),
  metric(
    'groundswell_long_requests_total',
    'counter',
    'Requests with a long answer: made in slices (taken), or refused because too many were (refused)',
    ({ totals }) => [
      ['taken', totals.long],
      ['refused', totals.long_refused],
    ],
    ['result'],
  ),
  metric(
    'groundswell_long_requests',
    'gauge',
    'Requests with a long answer under way: waiting for their turn, or begun',
    ({ workers }) => [
      ['waiting', all(workers.rows.map((row) => row.long_waiting))],
      ['begun', all(workers.rows.map((row) => row.long_begun))],
    ],
    ['state'],
  ),
]

const CONNECTIONS: readonly Metric[] = [
  metric(
    'groundswell_connections',
    'gauge',
    'Open connections of clients',
    ({ connections }) => connections.open,
  ),
  metric(
    'groundswell_connections_limit',
    'gauge',
    'Connections that may be open at a time',
    ({ connections }) => connections.limit,
  ),
  metric(
    'groundswell_connections_refused_total',
    'counter',
    'Connections refused beyond the limit of all (total), or of one address (address); they never asked anything',
    ({ connections }) => [
      ['total', connections.refusedInAll],
      ['address', connections.refusedByAddress],
    ],
    ['limit'],
  ),
  metric(
    'groundswell_connections_reset_total',
    'counter',
    "Connections reset because they took nothing while the system's memory for TCP was tight (engine node)",
    ({ connections }) => connections.reset,
  ),
  metric(
    'groundswell_answers_waiting',
    'gauge',
    'Answers whose body waits for a client that is slow to read',
    ({ workers }) => all(workers.rows.map((row) => row.bodies_waiting)),
  ),
  metric(
    'groundswell_held_bytes',
    'gauge',
    'Bytes of answers that are held for clients that are slow to read',
    ({ workers }) => all(workers.rows.map((row) => row.held_bytes)),
  ),
  metric(
    'groundswell_answers_not_held_total',
    'counter',
    'Answers to slow readers that found no room to be held: made again as they were read, or their connection cut',
    ({ workers }) => all(workers.rows.map((row) => row.not_held)),
  ),
]

const LISTENERS: readonly Metric[] = [
  metric(
    'groundswell_listeners',
    'gauge',
    'Open streams of events, by worker; their connections are not among groundswell_connections',
    ({ listeners }) => listeners.byWorker.map((open, worker) => [String(worker), open]),
    ['worker'],
  ),
  metric(
    'groundswell_listeners_limit',
    'gauge',
    'Streams of events that may be open at a time',
    ({ listeners }) => listeners.limit,
  ),
  metric(
    'groundswell_listeners_refused_total',
    'counter',
    'Streams refused beyond the limit of all (total), or of one key or address (key)',
    ({ totals }) => [
      ['total', totals.streams_refused_in_all],
      ['key', totals.streams_refused_of_one],
    ],
    ['limit'],
  ),
  metric(
    'groundswell_listeners_ended_total',
    'counter',
    'Streams that are over, by why: the client left (client) or did not read (slow), its key was revoked (key), its quota used up (quota), the server stopped (drain), a worker died (lost)',
    ({ totals }) => [
      ['client', totals.streams_client],
      ['slow', totals.streams_slow],
      ['key', totals.streams_key],
      ['quota', totals.streams_quota],
      ['drain', totals.streams_drain],
      ['lost', totals.streams_lost],
    ],
    ['reason'],
  ),
  metric(
    'groundswell_events_sent_total',
    'counter',
    'Events that went into streams, the first of each included, comments not',
    ({ totals }) => totals.events,
  ),
]

const SNAPSHOT: readonly Metric[] = [
  metric(
    'groundswell_snapshot_info',
    'gauge',
    'The served snapshot; 1',
    ({ snapshot }) => (snapshot === null ? [] : [[snapshot.id, 1]]),
    ['snapshot_id'],
  ),
  metric(
    'groundswell_snapshot_age_seconds',
    'gauge',
    "Time since the time of the served snapshot's data",
    ({ snapshot, now }) => (snapshot === null ? null : now - snapshot.asOf),
  ),
  metric(
    'groundswell_snapshot_as_of_timestamp_seconds',
    'gauge',
    "The time of the served snapshot's data",
    ({ snapshot }) => snapshot?.asOf ?? null,
  ),
  metric(
    'groundswell_snapshot_published_timestamp_seconds',
    'gauge',
    'When the served snapshot was published',
    ({ snapshot }) => snapshot?.publishedAt ?? null,
  ),
  metric(
    'groundswell_snapshot_rows',
    'gauge',
    'Rows of the served snapshot by kind: buoys of the catalogue, readings, passes and so on',
    ({ snapshot }) => snapshot?.rows ?? null,
    ['kind'],
  ),
  metric(
    'groundswell_snapshot_bytes',
    'gauge',
    'Bytes of the served snapshot, in memory as on the disk',
    ({ snapshot }) => snapshot?.bytes ?? null,
  ),
  metric(
    'groundswell_snapshot_load_seconds',
    'gauge',
    'How long the last snapshot that was served took to be read and checked',
    ({ reload }) => reload.loadSeconds,
  ),
  metric(
    'groundswell_snapshot_swap_seconds',
    'gauge',
    'How long the workers then took to get it ready beside the one before and to switch',
    ({ reload }) => reload.swapSeconds,
  ),
  metric(
    'groundswell_snapshot_loads_total',
    'counter',
    'Attempts to load a snapshot: it was then served, or refused',
    ({ reload }) => [
      ['served', reload.served],
      ['refused', reload.refused],
    ],
    ['outcome'],
  ),
  metric(
    'groundswell_snapshot_refused',
    'gauge',
    "Whether the folder's current snapshot was refused, so that an older one or none is served",
    ({ reload }) => reload.isRefused,
  ),
  metric(
    'groundswell_snapshot_loading',
    'gauge',
    'Whether a snapshot is being loaded',
    ({ reload }) => reload.isLoading,
  ),
  metric(
    'groundswell_snapshots',
    'gauge',
    'Snapshots in memory: the served one, and older ones for requests that pin them',
    ({ snapshotsHeld }) => snapshotsHeld,
  ),
  metric(
    'groundswell_snapshot_held',
    'gauge',
    'Whether a rollback holds the folder, so that builds are kept and not published',
    ({ isHeld }) => isHeld,
  ),
]

const SOURCES: readonly Metric[] = [
  metric(
    'groundswell_source_newest_reading_timestamp_seconds',
    'gauge',
    "Time of a source's newest reading in the served snapshot",
    ({ networks }) => networks.flatMap(({ name, newest }) => (newest < 0 ? [] : [[name, newest] as const])),
    ['source'],
  ),
  metric(
    'groundswell_source_newest_reading_age_seconds',
    'gauge',
    'Time since that reading',
    ({ networks, now }) =>
      networks.flatMap(({ name, newest }) => (newest < 0 ? [] : [[name, now - newest] as const])),
    ['source'],
  ),
  metric(
    'groundswell_source_suspect_readings',
    'gauge',
    'Readings that the newest build wrote and found suspect, by reason; they are kept',
    ({ networks }) =>
      networks.flatMap(({ name, suspect }) =>
        suspect.map(([reason, readings]) => [name, reason, readings] as const),
      ),
    ['source', 'reason'],
  ),
  metric(
    'groundswell_input_silent',
    'gauge',
    'Whether the newest build could not read an input (a source as the configuration calls it), and carried over what it gave last',
    ({ sources }) => sources.map(({ name, isSilent }) => [name, Number(isSilent)]),
    ['input'],
  ),
  metric(
    'groundswell_input_rows',
    'gauge',
    'Rows that the newest build read of an input',
    ({ sources }) => sources.map(({ name, rows }) => [name, rows]),
    ['input'],
  ),
  metric(
    'groundswell_input_bad_lines',
    'gauge',
    'Lines of an input that the newest build found malformed',
    ({ sources }) => sources.map(({ name, badLines }) => [name, badLines]),
    ['input'],
  ),
  metric(
    'groundswell_input_fetch_timestamp_seconds',
    'gauge',
    'When the newest build that fetched an input ended',
    byFetch(({ at }) => at),
    ['input'],
  ),
  metric(
    'groundswell_input_fetch_seconds',
    'gauge',
    'How long that fetch of the input took',
    byFetch(({ seconds }) => seconds),
    ['input'],
  ),
  metric(
    'groundswell_input_fetch_bytes',
    'gauge',
    'Bytes that came with that fetch',
    byFetch(({ bytes }) => bytes),
    ['input'],
  ),
  metric(
    'groundswell_input_fetch_files',
    'gauge',
    'Files of that fetch by outcome',
    ({ sources }) =>
      sources.flatMap(({ name, fetch }) =>
        (fetch?.files ?? []).map(([outcome, files]) => [name, outcome, files] as const),
      ),
    ['input', 'outcome'],
  ),
]

const BUILDS: readonly Metric[] = [
  metric(
    'groundswell_builds_total',
    'counter',
    'Builds that this process has started, by outcome; without the series where it starts none (`serve`)',
    ({ builds }) =>
      builds && [
        ['succeeded', builds.published],
        ['failed', builds.failed],
      ],
    ['outcome'],
  ),
  metric(
    'groundswell_builds_failed_in_row',
    'gauge',
    'Builds that have failed since the last one that succeeded',
    ({ builds }) => builds && builds.failedInRow,
  ),
  metric(
    'groundswell_build_running',
    'gauge',
    'Whether a build runs',
    ({ builds }) => builds && builds.isRunning,
  ),
  metric(
    'groundswell_build_next_timestamp_seconds',
    'gauge',
    'When the next build is due',
    ({ builds }) => builds && builds.nextAt,
  ),
  metric(
    'groundswell_build_timestamp_seconds',
    'gauge',
    "When the folder's newest build ended, whoever started it",
    ({ built }) => built && built.at,
  ),
  metric(
    'groundswell_build_seconds',
    'gauge',
    'How long that build took',
    ({ built }) => built && built.seconds,
  ),
  metric('groundswell_build_rows', 'gauge', 'Rows that it read', ({ built }) => built && built.rows),
  metric(
    'groundswell_build_bad_lines',
    'gauge',
    'Malformed lines that it found',
    ({ built }) => built && built.badLines,
  ),
]

const MIRROR: readonly Metric[] = [
  metric(
    'groundswell_mirror_up',
    'gauge',
    'Whether the last look at the source that is mirrored reached it',
    ({ mirror }) => mirror && mirror.isUp,
  ),
  metric(
    'groundswell_mirror_last_success_timestamp_seconds',
    'gauge',
    'When a look at that source last reached it',
    ({ mirror }) => mirror && mirror.lastSuccess,
  ),
  metric(
    'groundswell_mirror_fetched_bytes_total',
    'counter',
    'Bytes of parts fetched from that source',
    ({ mirror }) => mirror && mirror.fetchedBytes,
  ),
]

const ACCESS: readonly Metric[] = [
  metric('groundswell_keys', 'gauge', 'API keys in force', ({ keys }) => keys.count),
  metric(
    'groundswell_keys_backend_up',
    'gauge',
    'Whether the last look at where the keys are kept gave a good set; else the last good ones stay in force',
    ({ keys }) => [[keys.backend, Number(keys.isUp)]],
    ['backend'],
  ),
  metric(
    'groundswell_quota_backend_up',
    'gauge',
    'Whether the backend that counts calls can be reached; calls counted in memory always can',
    ({ quota }) => [[quota.backend, Number(quota.isUp)]],
    ['backend'],
  ),
  metric(
    'groundswell_quota_replicas',
    'gauge',
    'Replicas that share quotas, as far as this one knows',
    ({ quota: { leases } }) => leases && leases.replicas,
  ),
  metric(
    'groundswell_quota_lease_calls_total',
    'counter',
    'Calls to the backend of quotas, by outcome',
    ({ quota: { leases } }) =>
      leases && [
        ['succeeded', leases.calls - leases.failedCalls],
        ['failed', leases.failedCalls],
      ],
    ['outcome'],
  ),
  metric(
    'groundswell_quota_parked_total',
    'counter',
    'Requests that waited for a lease, and those of them that waited in vain',
    ({ quota: { leases }, totals }) =>
      leases && [
        ['waited', totals.parked],
        ['in_vain', totals.parked_late],
      ],
    ['result'],
  ),
  metric(
    'groundswell_quota_admitted_alone_total',
    'counter',
    'Requests that were admitted without a lease while the backend was away',
    ({ quota: { leases } }) => leases && leases.admittedAlone,
  ),
]

const PROCESS: readonly Metric[] = [
  metric(
    'groundswell_build_info',
    'gauge',
    'The program; 1',
    ({ version }) => [[version, process.version, 1]],
    ['version', 'node_version'],
  ),
  metric('groundswell_ready', 'gauge', 'Whether `/readyz` answers 200', ({ isReady }) => isReady),
  metric(
    'groundswell_workers',
    'gauge',
    'Workers: serving, and wanted',
    ({ workers }) => [
      ['serving', workers.serving],
      ['wanted', workers.wanted],
    ],
    ['state'],
  ),
  metric(
    'groundswell_workers_replaced_total',
    'counter',
    'Workers that have ended and were replaced',
    ({ workers }) => workers.replaced,
  ),
  {
    name: 'groundswell_event_loop_delay_seconds',
    type: 'histogram',
    unit: 'seconds',
    help: 'How late timers of a worker came, looked at four times a second',
    labels: ['worker'],
    bounds: DELAY_BOUNDS_S,
    read: ({ workers }) =>
      workers.rows.map(({ delays, delay_seconds: sum }, worker) => ({
        labels: [String(worker)],
        buckets: delays,
        sum,
      })),
  },
  metric(
    'groundswell_event_loop_busy_seconds_total',
    'counter',
    'Time in which the event loop of a worker did not wait',
    byWorker('busy_seconds'),
    ['worker'],
  ),
  metric(
    'groundswell_heap_bytes',
    'gauge',
    'JavaScript heap in use, by thread: `main`, or the number of a worker',
    ({ workers, process: { heapBytes } }) => [
      ['main', heapBytes],
      ...workers.rows.map((row, worker) => [String(worker), row.heap_bytes] as const),
    ],
    ['thread'],
  ),
  metric(
    'groundswell_heap_limit_bytes',
    'gauge',
    'What the heap of a worker may grow to before the worker ends',
    byWorker('heap_limit_bytes'),
    ['worker'],
  ),
  metric(
    'groundswell_shared_memory_bytes',
    'gauge',
    'Memory that all threads share, by what it holds',
    ({ process: { shared } }) => shared,
    ['kind'],
  ),
  metric(
    'groundswell_log_lines_dropped_total',
    'counter',
    'Lines of the access log that were dropped because standard output was not read fast enough',
    ({ log }) => log.dropped,
  ),
  metric(
    'process_resident_memory_bytes',
    'gauge',
    'Memory of the process that is in RAM',
    ({ process: { residentBytes } }) => residentBytes,
  ),
  metric(
    'groundswell_memory_limit_bytes',
    'gauge',
    'Memory of the machine, or of the container where that is less',
    ({ process: { memoryBytes } }) => memoryBytes,
  ),
  metric(
    'process_cpu_seconds_total',
    'counter',
    'Processor time of the process, all threads',
    ({ process: { cpuSeconds } }) => cpuSeconds,
  ),
  metric(
    'process_start_time_seconds',
    'gauge',
    'When the process started',
    ({ process: { startedAt } }) => startedAt,
  ),
  metric(
    'process_open_fds',
    'gauge',
    'Open files and connections',
    ({ process: { openFiles } }) => openFiles,
  ),
  metric('process_max_fds', 'gauge', 'How many may be open', ({ process: { maxFiles } }) => maxFiles),
]

/** The metrics by what they are about, in the order of `/metrics`. */
export const METRIC_GROUPS: readonly { title: string; metrics: readonly Metric[] }[] = [
  { title: 'Requests', metrics: REQUESTS },
  { title: 'Connections and slow readers', metrics: CONNECTIONS },
  { title: 'Streams of events', metrics: LISTENERS },
  { title: 'Snapshot', metrics: SNAPSHOT },
  { title: 'Sources', metrics: SOURCES },
  { title: 'Builds', metrics: BUILDS },
  { title: 'Mirror', metrics: MIRROR },
  { title: 'Keys and quotas', metrics: ACCESS },
  { title: 'Process', metrics: PROCESS },
]

export const METRICS: readonly Metric[] = METRIC_GROUPS.flatMap(({ metrics }) => metrics)
