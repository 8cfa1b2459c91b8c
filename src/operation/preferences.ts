/**
 * Content codings, formats and languages by `Accept-Encoding`, `Accept` and `Accept-Language` (RFC 9110,
 * section 12.5). `negotiator` 1.1.0 accepts `gzip;q=2`, lacks `x-gzip`, and weighs languages by range alone.
 */
import type { Format } from './shape.ts'

export type Encoding = 'br' | 'gzip'

/** Best first: brotli's are the smallest. */
export const ENCODINGS: readonly Encoding[] = ['br', 'gzip']

/** Browsers send some 150 characters; a longer value counts as absent. */
const LONGEST_HEADER = 1000
const WEIGHT = /^q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/

const CODING = /^[\w!#$%&'*+.^`|~-]+$/
const MEDIA_RANGE = /^(?:\*\/\*|[\w!#$&^.+-]+\/(?:\*|[\w!#$&^.+-]+))$/
const LANGUAGE_RANGE = /^(?:\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)$/

/** `weight`: 0 to 1. */
interface Wish {
  readonly name: string
  readonly weight: number
}

/** Names in lower case. Null if a name does not match `syntax`, or a weight or parameters are not valid. */
function wishesOf(header: string, syntax: RegExp, mayHaveMore = false): Wish[] | null {
  if (header.length > LONGEST_HEADER) return null
  const wishes: Wish[] = []
  for (const member of header.toLowerCase().split(',')) {
    const [name, ...parameters] = member.split(';').map((part) => part.trim())
    // An empty member of a list does not count.
    if (name === '' && parameters.length === 0) continue
    const weights = parameters.filter((parameter) => parameter.startsWith('q='))
    const isUnderstood = weights.length <= 1 && (mayHaveMore || weights.length === parameters.length)
    const weight = weights.length === 0 ? 1 : Number(WEIGHT.exec(weights[0])?.[1] ?? NaN)
    if (!isUnderstood || !syntax.test(name) || Number.isNaN(weight)) return null
    wishes.push({ name, weight })
  }
  return wishes
}

/** Null is identity, also for a malformed header. Among equal weights the first of `offered` wins. */
export function preferredEncoding(acceptEncoding: string, offered: readonly Encoding[]): Encoding | null {
  const wishes = wishesOf(acceptEncoding, CODING) ?? []
  const weights = new Map(wishes.map(({ name, weight }) => [name === 'x-gzip' ? 'gzip' : name, weight]))
  const others = weights.get('*') ?? 0
  let best: Encoding | null = null
  // Any coding with a weight beats an identity that the header does not name.
  let bestWeight = weights.get('identity') ?? 0
  for (const encoding of offered) {
    const weight = weights.get(encoding) ?? others
    if (weight > 0 && (best === null ? weight >= bestWeight : weight > bestWeight)) {
      best = encoding
      bestWeight = weight
    }
  }
  return best
}

const MEDIA_TYPES: { readonly [range: string]: Format } = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'application/geo+json': 'geojson',
  'application/vnd.apache.parquet': 'parquet',
}

/** The first of equal weights wins. A lone wildcard, unknown and malformed values mean JSON. */
export function preferredFormat(accept: string, offered: readonly Format[]): Format {
  let best: Format = 'json'
  let bestWeight = 0
  for (const { name, weight } of wishesOf(accept, MEDIA_RANGE, true) ?? []) {
    const format = MEDIA_TYPES[name]
    if (format === undefined || !offered.includes(format) || weight <= bestWeight) continue
    best = format
    bestWeight = weight
  }
  return best
}

/**
 * The language by lookup (RFC 4647): `en-GB` stands for its language, `q=0` excludes a language, `*` is every
 * language not named; of equal weights the first wins. Any other header gets the first supported.
 */
export function preferredLanguage<L extends string>(header: string, supported: readonly L[]): L {
  const wishes = wishesOf(header, LANGUAGE_RANGE) ?? []
  const wanted = wishes.filter(({ weight }) => weight > 0).toSorted((one, other) => other.weight - one.weight)
  const named = new Set(wanted.map(({ name }) => name.split('-', 1)[0]))
  // Refusing a regional form does not refuse the other forms of the language.
  const excluded = new Set(wishes.flatMap(({ name, weight }) => (weight === 0 ? [name] : [])))
  for (const { name } of wanted) {
    const isAny = name === '*' && !excluded.has('*')
    const isMeant = (language: L): boolean =>
      isAny ? !named.has(language) : language === name.split('-', 1)[0]
    const found = supported.find((language) => !excluded.has(language) && isMeant(language))
    if (found !== undefined) return found
  }
  return supported[0]
}

/** Header values with a remembered choice: clients send a handful. */
const MOST_KNOWN = 64

/** A choice by a header's value, remembered: parsing a browser's takes 1 µs. */
export class Preference<Choice> {
  readonly #choose: (header: string) => Choice
  readonly #known = new Map<string, Choice>()

  constructor(choose: (header: string) => Choice) {
    this.#choose = choose
  }

  choiceFor(header: string): Choice {
    let choice = this.#known.get(header)
    if (choice !== undefined) return choice
    choice = this.#choose(header)
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    if (header.length <= LONGEST_HEADER) this.#known.set(header, choice)
    return choice
  }
}
