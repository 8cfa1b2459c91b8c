/** The text of `docs/metrics.md`, made from the table of metrics; `npm run metrics` writes it. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DURATION_BOUNDS_S, METHODS, OTHER_ROUTES, STATUSES } from '../src/http/request-counts.ts'
import { METRIC_GROUPS, METRICS, type Metric } from '../src/server/metrics-table.ts'

export const METRICS_PAGE = fileURLToPath(new URL('../docs/metrics.md', import.meta.url))

export function metricsPage(): string {
  return `${HEAD}\n${METRIC_GROUPS.map(({ title, metrics }) => section(title, metrics)).join('\n')}`
}

const HEAD = `# Metrics

Made from \`src/server/metrics-table.ts\` by \`npm run metrics\`; a test compares. Alerts, their runbook and the dashboard are in
[operations.md](operations.md).

\`GET /metrics\` on the admin port answers ${METRICS.length} metrics in the Prometheus text format 0.0.4. The rules of the port
hold: \`Host\` is an address, \`localhost\` or a name of \`--admin-name\`, and with \`--admin-token-file\` the token
is required.

\`\`\`yaml
scrape_configs:
  - job_name: groundswell
    scrape_interval: 15s
    authorization: { credentials_file: /etc/prometheus/groundswell-token }
    static_configs: [{ targets: ['127.0.0.1:8081'] }]
\`\`\`

A scrape takes about a millisecond of the main thread, which serves nobody. Scrapes in quick succession
get the same text again, so that they take a tenth of that thread at most.

## How requests are counted and timed

Every request is counted and timed, whatever its answer: also 304, 404, 429 and 503, kept answers, pages, refusals of the
engine, and answers that come later. Not counted are what never became a request: connections that were refused
(\`groundswell_connections_refused_total\`), and what the engine itself answers before it hands anything over:
malformed requests, heads beyond 16 KiB, HTTP/1.0.

Each worker writes its own counts; a scrape adds them up. A worker that is replaced goes on with the counts of the
one before, so no counter falls while the process lives.

- \`http_route\` is the path of the operation (\`/v2/buoys/{buoy_id}\`), never the path of a request. Further values:
  \`${OTHER_ROUTES[0]}\` for pages and files, \`${OTHER_ROUTES[1]}\` for unknown paths, \`${OTHER_ROUTES[2]}\` for what was not routed: other methods, and
  refusals of the engine.
- \`http_request_method\` is one of ${list(METHODS)}.
- \`http_response_status_code\` is one of ${list(STATUSES.filter((status) => status !== 0).map(String))}, else \`_OTHER\`.
  \`499\` stands for a client that went before its answer began.
- A duration lasts from the moment at which the engine hands the request over to the one at which the first bytes of
  the answer are handed back. The network and slow readers are not in it.
- Buckets end at ${DURATION_BOUNDS_S.map((bound) => time(bound)).join(', ')}: most answers take microseconds.

## Labels

No label holds a key, a buoy, an address or a path, so the number of series is bounded: 2,000 of a metric at
most, and in practice some 300 in all. Names of sources and inputs come from the configuration and the data: 200 of
them at most, each cut at 120 characters.

`

function section(title: string, metrics: readonly Metric[]): string {
  const rows = metrics.map(
    ({ name, type, help, unit, labels }) =>
      `| \`${name}\` | ${type} | ${unit} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  )
  return `## ${title}\n\n| Name | Type | Unit | Labels | What it says |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`
}

function list(values: readonly string[]): string {
  return values.map((value) => `\`${value}\``).join(', ')
}

function time(seconds: number): string {
  if (seconds < 1e-3) return `${Math.round(seconds * 1e6)} µs`
  return seconds < 1 ? `${seconds * 1000} ms` : `${seconds} s`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(METRICS_PAGE, metricsPage())
