/** The text of `docs/metrics.md`, made from the table of metrics; `npm run metrics` writes it. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DURATION_BOUNDS_S, METHODS, OTHER_ROUTES, STATUSES } from '../src/http/request-counts.ts'
import type { Metric } from '../src/server/metrics.ts'
import { METRIC_GROUPS, METRICS } from '../src/server/metrics-table.ts'

export const METRICS_PAGE = fileURLToPath(new URL('../docs/metrics.md', import.meta.url))

export function metricsPage(): string {
  return `${HEAD}\n${METRIC_GROUPS.map(({ title, metrics }) => section(title, metrics)).join('\n')}`
}

const HISTOGRAMS = METRICS.filter(({ type }) => type === 'histogram').map(({ name }) => name)

const HEAD = `# Metrics

\`npm run metrics\` makes this page from \`src/server/metrics-table.ts\`. [operations.md](operations.md) has alerts and the dashboard.

\`GET /metrics\` on the [admin port](health.md#health-and-status) answers ${METRICS.length} metrics in the Prometheus text format 0.0.4:

\`\`\`yaml
scrape_configs:
  - job_name: groundswell
    scrape_interval: 15s
    authorization: { credentials_file: /etc/prometheus/groundswell-token }
    static_configs: [{ targets: ['127.0.0.1:8081'] }]
\`\`\`

## How requests are counted and timed

Every request is counted and timed, except those that the engine refuses itself: malformed ones, heads beyond 16 KiB, HTTP/1.0.
No counter falls while the process lives.

- \`http_route\` is the path of the operation (\`/v2/buoys/{buoy_id}\`); \`${OTHER_ROUTES[0]}\` for pages and files,
  \`${OTHER_ROUTES[1]}\` for unknown paths, \`${OTHER_ROUTES[2]}\` for messages of assistants, \`${OTHER_ROUTES[3]}\` for the rest, such as other methods.
- \`http_request_method\` is one of ${list(METHODS)}.
- \`http_response_status_code\` is one of ${list(STATUSES.filter((status) => status !== 0).map(String))}, else \`_OTHER\`.
  \`499\`: the client went before its answer began.
- A duration lasts from the arrival at the engine to the first bytes of the answer, without network and slow readers.
- Buckets end at ${DURATION_BOUNDS_S.map((bound) => time(bound)).join(', ')}.

Names with \`_total\` are counters, ${list(HISTOGRAMS)} are
histograms, all others gauges. No label holds a key, a buoy, an address or a path. A metric has 2,000 series at most. Names
of sources and inputs are 200 at most, each cut at 120 characters.
`

function section(title: string, metrics: readonly Metric[]): string {
  const rows = metrics.map(
    ({ name, help, labels }) =>
      `| \`${name}\` | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  )
  return `## ${title}\n\n| Name | Labels | Meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`
}

function list(values: readonly string[]): string {
  return values.map((value) => `\`${value}\``).join(', ')
}

function time(seconds: number): string {
  if (seconds < 1e-3) return `${Math.round(seconds * 1e6)} µs`
  return seconds < 1 ? `${seconds * 1000} ms` : `${seconds} s`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(METRICS_PAGE, metricsPage())
