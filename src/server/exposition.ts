/** The text of `/metrics`: the Prometheus exposition format 0.0.4. */
import { type Figures, figuresOf, type MetricsOptions, reportOf } from './collect-metrics.ts'
import { type Metric, METRICS, type Sample } from './metrics-table.ts'

/** The bound on one metric, whatever the input. */
export const MOST_SERIES = 2000
const LABEL_CHARACTERS = 120

/** Share of the main thread's time that scrapes may take: sooner ones get the same text again. */
const SHARE = 1 / 10

/** The text of the moment, by the table. */
export function metricsText(options: MetricsOptions): () => string {
  const report = reportOf(options.dir)
  let text = ''
  let until = -Infinity
  return () => {
    const began = performance.now()
    if (began < until) return text
    text = exposition(METRICS, figuresOf(options, report()))
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
    lines.push(`# HELP ${name} ${escapedHelp(help)}`, `# TYPE ${name} ${type}`)
    // Prometheus would refuse everything for names that are the same once they are cut.
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

function escapedHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function number(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  return String(value)
}
