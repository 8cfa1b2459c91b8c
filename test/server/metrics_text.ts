/** Reads the Prometheus text format 0.0.4, strictly: a line that is none of its forms is an error. */

export interface ParsedSample {
  name: string
  labels: { [name: string]: string }
  value: number
}

const COMMENT = /^# (HELP [a-z_]+ .+|TYPE [a-z_]+ (counter|gauge|histogram))$/
const SAMPLE = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? ([-+.0-9e]+|\+Inf|NaN)$/
const LABEL = /([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y

export function parseExposition(text: string): ParsedSample[] {
  if (!text.endsWith('\n')) throw new Error('the last line is not ended')
  return text
    .slice(0, -1)
    .split('\n')
    .flatMap((line) => {
      if (COMMENT.test(line)) return []
      const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
      if (name === undefined) throw new Error(`not a sample: ${JSON.stringify(line)}`)
      return { name, labels: parseLabels(labels), value: value === '+Inf' ? Infinity : Number(value) }
    })
}

function parseLabels(text: string): ParsedSample['labels'] {
  const labels: ParsedSample['labels'] = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const match = LABEL.exec(text)
    if (match === null) throw new Error(`not labels: ${JSON.stringify(text)}`)
    labels[match[1]] = match[2].replaceAll(/\\(.)/g, (_, character: string) =>
      character === 'n' ? '\n' : character,
    )
  }
  return labels
}

/** The sum of a metric over its series with these labels; 0 where there are none. */
export function sumOf(
  samples: readonly ParsedSample[],
  name: string,
  labels: ParsedSample['labels'] = {},
): number {
  return samples
    .filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    )
    .reduce((sum, { value }) => sum + value, 0)
}
