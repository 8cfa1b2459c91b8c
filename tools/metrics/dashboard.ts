/** The text of `deploy/grafana-dashboard.json`: rows of panels over the metrics of one or several servers. */
import { fileURLToPath } from 'node:url'

export const DASHBOARD_FILE = fileURLToPath(new URL('../../deploy/grafana-dashboard.json', import.meta.url))

type Unit = 'reqps' | 's' | 'bytes' | 'percentunit' | 'short' | 'Bps' | 'bool' | 'cps'

interface Panel {
  title: string
  unit: Unit
  /** Expression and legend of each line. */
  lines: readonly (readonly [expr: string, legend: string])[]
  /** One number in place of a graph. */
  isStat?: true
}

const WIDTH = 24
const GRAPH = { w: 8, h: 8 }
const STAT = { w: 4, h: 4 }

const DURATION = 'http_server_request_duration_seconds'
/** Of the servers that are chosen. */
const I = '{instance=~"$instance"}'
const NOT_MODIFIED = '{instance=~"$instance",http_response_status_code="304"}'
const and = (labels: string): string => `{instance=~"$instance", ${labels}}`
const quantile = (q: number): string =>
  `histogram_quantile(${q}, sum by (le) (rate(${DURATION}_bucket${I}[$__rate_interval])))`

const ROWS: readonly { title: string; panels: readonly Panel[] }[] = [
  {
    title: 'Now',
    panels: [
      { title: 'Ready', unit: 'bool', isStat: true, lines: [[`min(groundswell_ready${I})`, 'ready']] },
      {
        title: 'Requests',
        unit: 'reqps',
        isStat: true,
        lines: [[`sum(rate(${DURATION}_count${I}[$__rate_interval]))`, 'requests']],
      },
      { title: 'p99', unit: 's', isStat: true, lines: [[quantile(0.99), 'p99']] },
      {
        title: 'Errors of the server',
        unit: 'percentunit',
        isStat: true,
        lines: [
          [
            `sum(rate(${DURATION}_count${and('http_response_status_code=~"5.."')}[$__rate_interval])) / sum(rate(${DURATION}_count${I}[$__rate_interval]))`,
            '5xx',
          ],
        ],
      },
      {
        title: 'Age of the data',
        unit: 's',
        isStat: true,
        lines: [[`max(groundswell_snapshot_age_seconds${I})`, 'age']],
      },
      {
        title: 'Silent inputs',
        unit: 'short',
        isStat: true,
        lines: [
          [
            `count(max by (input) (groundswell_input_silent${I}) == 1) or vector(0) and max(groundswell_ready${I})`,
            'silent',
          ],
        ],
      },
    ],
  },
  {
    title: 'Requests',
    panels: [
      {
        title: 'Requests by route',
        unit: 'reqps',
        lines: [[`sum by (http_route) (rate(${DURATION}_count${I}[$__rate_interval]))`, '{{http_route}}']],
      },
      {
        title: 'Requests by status',
        unit: 'reqps',
        lines: [
          [
            `sum by (http_response_status_code) (rate(${DURATION}_count${I}[$__rate_interval]))`,
            '{{http_response_status_code}}',
          ],
        ],
      },
      {
        title: 'Duration',
        unit: 's',
        lines: [
          [quantile(0.5), 'p50'],
          [quantile(0.99), 'p99'],
          [quantile(0.999), 'p99.9'],
        ],
      },
      {
        title: 'p99 by route',
        unit: 's',
        lines: [
          [
            `histogram_quantile(0.99, sum by (http_route, le) (rate(${DURATION}_bucket${I}[$__rate_interval])))`,
            '{{http_route}}',
          ],
        ],
      },
      {
        title: 'Bytes of bodies',
        unit: 'Bps',
        lines: [
          [
            `sum by (http_route) (rate(groundswell_response_body_bytes_total${I}[$__rate_interval]))`,
            '{{http_route}}',
          ],
        ],
      },
      {
        title: 'Kept answers and 304',
        unit: 'reqps',
        lines: [
          [
            `sum by (result) (rate(groundswell_answer_cache_total${I}[$__rate_interval]))`,
            'cache {{result}}',
          ],
          [`sum(rate(http_server_request_duration_seconds_count${NOT_MODIFIED}[$__rate_interval]))`, '304'],
        ],
      },
      {
        title: 'Refusals',
        unit: 'reqps',
        lines: [
          [`sum by (of) (rate(groundswell_quota_refusals_total${I}[$__rate_interval]))`, 'quota of {{of}}'],
          [
            `sum by (reason) (rate(groundswell_authentication_failures_total${I}[$__rate_interval]))`,
            'key {{reason}}',
          ],
          [
            `sum(rate(groundswell_long_requests_total${and('result="refused"')}[$__rate_interval]))`,
            'long answers',
          ],
          [`sum(rate(groundswell_faults_total${I}[$__rate_interval]))`, 'faults'],
        ],
      },
      {
        title: 'Connections',
        unit: 'short',
        lines: [
          [`groundswell_connections${I}`, '{{instance}}'],
          [
            `increase(groundswell_connections_refused_total${I}[$__rate_interval])`,
            '{{instance}} refused, {{limit}}',
          ],
        ],
      },
      {
        title: 'Long answers and slow readers',
        unit: 'short',
        lines: [
          [`sum by (state) (groundswell_long_requests${I})`, 'long answers {{state}}'],
          [`sum(groundswell_answers_waiting${I})`, 'bodies that wait'],
        ],
      },
    ],
  },
  {
    title: 'Data',
    panels: [
      {
        title: 'Age of the data',
        unit: 's',
        lines: [[`groundswell_snapshot_age_seconds${I}`, '{{instance}}']],
      },
      {
        title: 'Newest reading by source',
        unit: 's',
        lines: [[`max by (source) (groundswell_source_newest_reading_age_seconds${I})`, '{{source}}']],
      },
      {
        title: 'Load and swap',
        unit: 's',
        lines: [
          [`groundswell_snapshot_load_seconds${I}`, '{{instance}} load'],
          [`groundswell_snapshot_swap_seconds${I}`, '{{instance}} swap'],
        ],
      },
      {
        title: 'Rows',
        unit: 'short',
        lines: [[`max by (kind) (groundswell_snapshot_rows${I})`, '{{kind}}']],
      },
      {
        title: 'Rows and bad lines by input',
        unit: 'short',
        lines: [
          [`max by (input) (groundswell_input_rows${I})`, '{{input}}'],
          [`max by (input) (groundswell_input_bad_lines${I})`, '{{input}} bad'],
          [`max by (source, reason) (groundswell_source_suspect_readings${I})`, '{{source}}: {{reason}}'],
        ],
      },
      {
        title: 'Fetched files',
        unit: 'short',
        lines: [[`max by (input, outcome) (groundswell_input_fetch_files${I})`, '{{input}} {{outcome}}']],
      },
      {
        title: 'Builds and loads',
        unit: 'short',
        lines: [
          [`increase(groundswell_builds_total${I}[1h])`, '{{instance}} builds {{outcome}}'],
          [`increase(groundswell_snapshot_loads_total${I}[1h])`, '{{instance}} loads {{outcome}}'],
        ],
      },
      {
        title: 'Mirror',
        unit: 'bool',
        lines: [[`groundswell_mirror_up${I}`, '{{instance}} reaches its source']],
      },
      {
        title: 'Keys and quotas',
        unit: 'short',
        lines: [
          [`groundswell_keys${I}`, '{{instance}} keys'],
          [`groundswell_keys_backend_up${I}`, '{{instance}} {{backend}} of keys up'],
          [`groundswell_quota_backend_up${I}`, '{{instance}} {{backend}} of quotas up'],
        ],
      },
    ],
  },
  {
    title: 'Process',
    panels: [
      {
        title: 'Memory',
        unit: 'bytes',
        lines: [
          [`process_resident_memory_bytes${I}`, '{{instance}} resident'],
          [`sum by (instance, kind) (groundswell_shared_memory_bytes${I})`, '{{instance}} {{kind}}'],
        ],
      },
      {
        title: 'Heap',
        unit: 'bytes',
        lines: [[`groundswell_heap_bytes${I}`, '{{instance}} {{thread}}']],
      },
      {
        title: 'Busy workers',
        unit: 'percentunit',
        lines: [
          [
            `rate(groundswell_event_loop_busy_seconds_total${I}[$__rate_interval])`,
            '{{instance}} {{worker}}',
          ],
        ],
      },
      {
        title: 'Delay of the event loop, p99',
        unit: 's',
        lines: [
          [
            `histogram_quantile(0.99, sum by (instance, worker, le) (rate(groundswell_event_loop_delay_seconds_bucket${I}[$__rate_interval])))`,
            '{{instance}} {{worker}}',
          ],
        ],
      },
      {
        title: 'Processor',
        unit: 'short',
        lines: [[`rate(process_cpu_seconds_total${I}[$__rate_interval])`, '{{instance}}']],
      },
      {
        title: 'Workers',
        unit: 'short',
        lines: [
          [`groundswell_workers${I}`, '{{instance}} {{state}}'],
          [`increase(groundswell_workers_replaced_total${I}[$__rate_interval])`, '{{instance}} replaced'],
          [
            `increase(groundswell_log_lines_dropped_total${I}[$__rate_interval])`,
            '{{instance}} log lines dropped',
          ],
        ],
      },
    ],
  },
]

export function dashboardText(): string {
  let id = 0
  let y = 0
  const panels = ROWS.flatMap(({ title, panels: inRow }) => {
    const row = {
      id: ++id,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
      panels: [],
    }
    y += 1
    let x = 0
    let height = 0
    const placed = inRow.map((panel) => {
      const { w, h } = panel.isStat === true ? STAT : GRAPH
      if (x + w > WIDTH) {
        x = 0
        y += height
      }
      const made = panelJson(panel, ++id, { x, y, w, h })
      x += w
      height = h
      return made
    })
    y += height
    return [row, ...placed]
  })
  return `${JSON.stringify({ ...DASHBOARD, panels }, null, 2)}\n`
}

function panelJson({ title, unit, lines, isStat }: Panel, id: number, gridPos: object): object {
  return {
    id,
    type: isStat === true ? 'stat' : 'timeseries',
    title,
    datasource: { type: 'prometheus', uid: '${datasource}' },
    gridPos,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: lines.map(([expr, legendFormat], i) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + i),
      expr,
      legendFormat,
    })),
  }
}

const DASHBOARD = {
  uid: 'groundswell',
  title: 'groundswell',
  tags: ['groundswell'],
  schemaVersion: 39,
  editable: true,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  templating: {
    list: [
      { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
      {
        name: 'instance',
        label: 'Server',
        type: 'query',
        datasource: { type: 'prometheus', uid: '${datasource}' },
        query: { query: 'label_values(groundswell_ready, instance)', refId: 'A' },
        refresh: 2,
        multi: true,
        includeAll: true,
        allValue: '.*',
      },
    ],
  },
}
