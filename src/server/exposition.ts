/** Metrics as text: the Prometheus exposition format 0.0.4. */
import type { Figures } from './collect-metrics.ts'

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The bound on one metric, whatever the input. */
export const MOST_SERIES = 2000
const LABEL_CHARACTERS = 120

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
