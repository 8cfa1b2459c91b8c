/** Faults as Prometheus sees them: the series of a healthy server, and for each alert what is different. */

/** Values by series, in promtool's notation. */
export type SeriesTable = { readonly [series: string]: string }

const AT = 'job="groundswell", instance="a:8081"'
const REQUESTS = (status: string): string =>
  `http_server_request_duration_seconds_count{${AT}, http_response_status_code="${status}"}`
const BUCKET = (le: string): string => `http_server_request_duration_seconds_bucket{${AT}, le="${le}"}`

/**
 * The alerts are looked at after this many values: one a minute, longer than most alerts look back and wait.
 */
export const MINUTES = 45
/** Alerts that wait for an hour to a day see one value in this many minutes. */
export const SLOW_MINUTES = 40
export const SLOW_ALERTS: readonly string[] = [
  'GroundswellSnapshotHeld',
  'GroundswellSourceSilent',
  'GroundswellFetchFailing',
  'GroundswellBadLines',
]

const constant = (value: number): string => `${value}x${MINUTES}`
const rising = (by: number): string => `0+${by}x${MINUTES}`

/** 600 requests a minute, all well. */
export const HEALTHY: SeriesTable = {
  [`up{${AT}}`]: constant(1),
  [`groundswell_ready{${AT}}`]: constant(1),
  [`groundswell_workers{${AT}, state="serving"}`]: constant(2),
  [`groundswell_workers{${AT}, state="wanted"}`]: constant(2),
  [`groundswell_workers_replaced_total{${AT}}`]: constant(0),
  [REQUESTS('200')]: rising(590),
  [REQUESTS('429')]: rising(8),
  [REQUESTS('503')]: rising(2),
  [BUCKET('0.01')]: rising(600),
  [BUCKET('0.1')]: rising(600),
  [BUCKET('+Inf')]: rising(600),
  [`groundswell_faults_total{${AT}}`]: constant(0),
  [`groundswell_event_loop_busy_seconds_total{${AT}, worker="0"}`]: rising(20),
  [`groundswell_long_requests_total{${AT}, result="taken"}`]: rising(60),
  [`groundswell_long_requests_total{${AT}, result="refused"}`]: constant(3),
  [`groundswell_connections{${AT}}`]: constant(500),
  [`groundswell_connections_limit{${AT}}`]: constant(10_000),
  [`groundswell_connections_refused_total{${AT}, limit="total"}`]: constant(3),
  [`groundswell_answers_not_held_total{${AT}}`]: constant(9),
  // As a schedule of half an hour leaves it.
  [`groundswell_snapshot_age_seconds{${AT}}`]: constant(2400),
  [`groundswell_snapshot_refused{${AT}}`]: constant(0),
  [`groundswell_snapshot_held{${AT}}`]: constant(0),
  [`groundswell_input_silent{${AT}, input="ndbc"}`]: constant(0),
  [`groundswell_source_newest_reading_age_seconds{${AT}, source="NDBC"}`]: constant(5400),
  [`groundswell_input_fetch_files{${AT}, input="ndbc", outcome="failed"}`]: constant(0),
  [`groundswell_input_fetch_files{${AT}, input="ndbc", outcome="fetched"}`]: constant(900),
  [`groundswell_input_bad_lines{${AT}, input="ndbc"}`]: constant(5),
  [`groundswell_input_rows{${AT}, input="ndbc"}`]: constant(50_000),
  [`groundswell_builds_failed_in_row{${AT}}`]: constant(2),
  [`groundswell_mirror_up{${AT}}`]: constant(1),
  [`groundswell_quota_backend_up{${AT}, backend="redis"}`]: constant(1),
  [`groundswell_keys_backend_up{${AT}, backend="file"}`]: constant(1),
  [`groundswell_quota_refusals_total{${AT}, of="key"}`]: rising(8),
  [`groundswell_authentication_failures_total{${AT}, reason="invalid"}`]: rising(2),
  [`process_resident_memory_bytes{${AT}}`]: constant(2e9),
  [`groundswell_memory_limit_bytes{${AT}}`]: constant(8e9),
  [`groundswell_heap_bytes{${AT}, thread="main"}`]: constant(2e7),
  [`groundswell_heap_bytes{${AT}, thread="0"}`]: constant(5e7),
  [`groundswell_heap_limit_bytes{${AT}, worker="0"}`]: constant(4e9),
  [`process_open_fds{${AT}}`]: constant(600),
  [`process_max_fds{${AT}}`]: constant(20_000),
  [`groundswell_log_lines_dropped_total{${AT}}`]: constant(0),
}

/** What is different by alert. Nothing else may fire then. */
export const FAULTS: { readonly [alert: string]: SeriesTable } = {
  GroundswellDown: { [`up{${AT}}`]: constant(0) },
  GroundswellNotReady: { [`groundswell_ready{${AT}}`]: constant(0) },
  GroundswellWorkersMissing: { [`groundswell_workers{${AT}, state="serving"}`]: constant(1) },
  GroundswellWorkersReplaced: { [`groundswell_workers_replaced_total{${AT}}`]: `0x${MINUTES - 5} 1x5` },
  GroundswellErrorRatio: { [REQUESTS('503')]: rising(20) },
  GroundswellFaults: { [`groundswell_faults_total{${AT}}`]: `0x${MINUTES - 5} 1x5` },
  GroundswellSlow: { [BUCKET('0.01')]: rising(580) },
  GroundswellBusy: { [`groundswell_event_loop_busy_seconds_total{${AT}, worker="0"}`]: rising(58) },
  GroundswellLongRequestsRefused: {
    [`groundswell_long_requests_total{${AT}, result="refused"}`]: rising(30),
  },
  GroundswellConnectionsNearLimit: { [`groundswell_connections{${AT}}`]: constant(9000) },
  GroundswellConnectionsRefused: {
    [`groundswell_connections_refused_total{${AT}, limit="total"}`]: rising(100),
  },
  GroundswellSlowReaders: { [`groundswell_answers_not_held_total{${AT}}`]: rising(120) },
  GroundswellSnapshotTooOld: { [`groundswell_snapshot_age_seconds{${AT}}`]: constant(9000) },
  GroundswellSnapshotRefused: { [`groundswell_snapshot_refused{${AT}}`]: constant(1) },
  GroundswellSnapshotHeld: { [`groundswell_snapshot_held{${AT}}`]: constant(1) },
  GroundswellSourceSilent: { [`groundswell_input_silent{${AT}, input="ndbc"}`]: constant(1) },
  GroundswellSourceOld: {
    [`groundswell_source_newest_reading_age_seconds{${AT}, source="NDBC"}`]: constant(30_000),
  },
  GroundswellFetchFailing: {
    [`groundswell_input_fetch_files{${AT}, input="ndbc", outcome="failed"}`]: constant(2),
  },
  GroundswellBadLines: { [`groundswell_input_bad_lines{${AT}, input="ndbc"}`]: constant(3000) },
  GroundswellBuildsFailing: { [`groundswell_builds_failed_in_row{${AT}}`]: constant(3) },
  GroundswellMirrorAway: { [`groundswell_mirror_up{${AT}}`]: constant(0) },
  GroundswellQuotaBackendAway: { [`groundswell_quota_backend_up{${AT}, backend="redis"}`]: constant(0) },
  GroundswellKeysBackendAway: { [`groundswell_keys_backend_up{${AT}, backend="file"}`]: constant(0) },
  GroundswellQuotaRefusals: { [`groundswell_quota_refusals_total{${AT}, of="key"}`]: rising(300) },
  GroundswellBadKeys: { [`groundswell_authentication_failures_total{${AT}, reason="invalid"}`]: rising(120) },
  GroundswellMemory: { [`process_resident_memory_bytes{${AT}}`]: constant(7e9) },
  GroundswellHeap: { [`groundswell_heap_bytes{${AT}, thread="0"}`]: constant(3.5e9) },
  GroundswellOpenFiles: { [`process_open_fds{${AT}}`]: constant(17_000) },
  GroundswellLogLinesDropped: { [`groundswell_log_lines_dropped_total{${AT}}`]: rising(5) },
}
