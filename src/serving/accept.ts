/**
 * Which of the formats of an operation a client prefers (RFC 9110, section 12.5.1). Only what a header names
 * takes the place of JSON: a wildcard alone, nothing of ours and what is malformed mean JSON.
 */
import type { Format } from '../answers/shape.ts'

/** Browsers send some 140 characters; a longer value means JSON. */
const MAX_HEADER = 1000
const MAX_KNOWN = 64
const WEIGHT = /^q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/
const RANGE = /^(?:\*\/\*|[\w!#$&^.+-]+\/(?:\*|[\w!#$&^.+-]+))$/

const MEDIA_TYPES: { readonly [range: string]: Format } = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'application/geo+json': 'geojson',
  'application/vnd.apache.parquet': 'parquet',
}

/** The format for a value of `Accept`; of equal weights the one named first wins. */
export function preferredFormat(accept: string, offered: readonly Format[]): Format {
  if (accept === '' || accept === '*/*' || accept.length > MAX_HEADER) return 'json'
  let best: Format = 'json'
  let bestWeight = 0
  for (const member of accept.toLowerCase().split(',')) {
    const [range, ...parameters] = member.split(';').map((part) => part.trim())
    if (range === '') continue
    const weight = weightOf(parameters)
    if (weight === null || !RANGE.test(range)) return 'json'
    const format = MEDIA_TYPES[range]
    if (format === undefined || !offered.includes(format) || weight <= bestWeight) continue
    best = format
    bestWeight = weight
  }
  return best
}

/** Null where it is malformed. What stands beside the weight says nothing here. */
function weightOf(parameters: readonly string[]): number | null {
  const weights = parameters.filter((parameter) => parameter.startsWith('q='))
  if (weights.length === 0) return 1
  const match = WEIGHT.exec(weights[0])
  return match === null || weights.length > 1 ? null : Number(match[1])
}

/** `preferredFormat` with a memory. */
export class FormatPreference {
  readonly #known = new Map<readonly Format[], Map<string, Format>>()

  of(accept: string, offered: readonly Format[]): Format {
    if (accept === '' || accept === '*/*') return 'json'
    let known = this.#known.get(offered)
    if (known === undefined) this.#known.set(offered, (known = new Map()))
    const before = known.get(accept)
    if (before !== undefined) return before
    const format = preferredFormat(accept, offered)
    if (known.size >= MAX_KNOWN) known.clear()
    if (accept.length <= MAX_HEADER) known.set(accept, format)
    return format
  }
}
