/** Raw query text → typed values: strict parsers, then the ajv schema. A fault names the parameter. */
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { Literal } from '../dataset/literals.ts'
import { type ApiError, type ErrorCode, refused } from './errors.ts'
import { MALFORMED, type Parameter, type Parameters, type QueryOf } from './parameters.ts'
import { checkOf } from './query-check.ts'

/** One reader a thread, since ajv takes some 20 ms to compile it. */
const readers = new WeakMap<Parameters, QueryReader<Parameters>>()

export function readerOf(
  parameters: Parameters,
  refusal: 'bad_request' | 'validation_failed',
): QueryReader<Parameters> {
  let reader = readers.get(parameters)
  if (reader === undefined) readers.set(parameters, (reader = new QueryReader(parameters, refusal)))
  return reader
}

export function schemaOf(parameters: Parameters): object {
  const entries = Object.entries(parameters)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    required: entries.filter(([, { required }]) => required).map(([name]) => name),
  }
}

/**
 * Other names that clients write for our parameters: the key is probably meant where it is required and
 * missing.
 */
const MISTAKEN_FOR: { readonly [name: string]: readonly string[] } = {
  lat: ['latitude'],
  lng: ['lon', 'long', 'longitude'],
  ids: ['id', 'buoy_id', 'buoy_ids'],
  query: ['q', 'search', 'term', 'name'],
  date: ['day'],
}

/** A number as much of the world writes it: 43,5. */
const DECIMAL_COMMA = /^-?[0-9]{1,15},[0-9]{1,15}$/

/** Separates members of a canonical form. No parameter takes control characters. */
export const SEPARATOR = '\u0001'

/** The decoded text of each parameter that is given, by its ordinal. */
export type Texts = readonly (string | undefined)[]

/** More than a name takes in `Link`. */
const NAME_BYTES = 64

interface Values {
  [name: string]: unknown
}

export class QueryReader<P extends Parameters> {
  readonly #names: readonly string[]
  /** `&order=` of each name. */
  readonly #starts: readonly Literal[]
  readonly #parameters: readonly Parameter<unknown>[]
  /** Ordinals by name and alias. */
  readonly known: ReadonlyMap<string, number>
  readonly #validate: ValidateFunction
  readonly #refusal: ErrorCode
  readonly #defaults: Readonly<Values>
  /** Null where a parameter is required. */
  readonly #blank: QueryOf<P> | null

  /** `refusal` is the error of a missing, malformed or out-of-range parameter. */
  constructor(parameters: P, refusal: 'bad_request' | 'validation_failed') {
    const entries = Object.entries(parameters)
    this.#names = Object.keys(parameters)
    this.#starts = this.#names.map((name) => new Literal(`&${name}=`))
    this.#parameters = Object.values(parameters)
    this.#refusal = refusal
    this.known = new Map(
      entries.flatMap(([name, parameter], index) => namesOf(name, parameter).map((known) => [known, index])),
    )
    this.#validate = checkOf(schemaOf(parameters))
    this.#defaults = Object.fromEntries(entries.map(([name, one]) => [name, one.default as unknown]))
    this.#blank = this.#parameters.some(({ required }) => required)
      ? null
      : (Object.freeze(Object.create(this.#defaults)) as QueryOf<P>)
  }

  /**
   * Reads `texts` (from `textsOf`); those that are not default go into `tag`.
   * @param now what relative times count from: `nowOf` of the operation
   * @param names of all parameters of the request: one may be another name of a missing one
   * @throws ApiError with the parameter and what is allowed
   */
  read(texts: Texts, tag: EtagHash, now: number, names: readonly string[] = []): QueryOf<P> {
    if (texts.length === 0 && this.#blank !== null) return this.#blank
    // A copy of the defaults takes 0.2 µs.
    const query = Object.create(this.#defaults) as Values
    for (let i = 0; i < texts.length; i++) {
      const text = texts[i]
      if (text === undefined) continue
      const parameter = this.#parameters[i]
      const value = parameter.parse(text, now)
      if (value === MALFORMED) throw this.#error(i, malformed(parameter, text))
      if (value === parameter.default) continue
      query[this.#names[i]] = value
      tag.add(i).add(value)
    }
    if (!this.#validate(query)) throw this.#schemaError(this.#validate.errors![0], names)
    return query as QueryOf<P>
  }

  /** One text for all queries that ask for the same: values that are not the default, as declared. */
  canonical(query: QueryOf<P>): string {
    let canonical = ''
    for (const name of this.#names) {
      const value: unknown = query[name]
      if (value !== this.#defaults[name]) canonical += SEPARATOR + name + '=' + canonicalText(value)
    }
    return canonical
  }

  /** `raw` was made with `known`. @throws ApiError */
  textsOf({ ordinals, values }: RawQuery): Texts {
    const texts: (string | undefined)[] = []
    for (let i = 0; i < ordinals.length; i++) {
      const index = ordinals[i]
      if (index === UNKNOWN) continue
      const value = values[i]
      if (value === null) throw this.#error(index, 'is not percent-encoded UTF-8')
      const before = texts[index]
      if (before !== undefined && !this.#parameters[index].repeatable)
        throw this.#error(index, 'is given more than once')
      texts[index] = before === undefined ? value : `${before},${value}`
    }
    return texts
  }

  /** Writes `&order=asc&per_page=5` of texts that `read` has read, encoded again without `page`. */
  writeGiven(writer: JsonWriter, texts: Texts): void {
    for (let i = 0; i < texts.length; i++) {
      const text = texts[i]
      if (text === undefined || this.#names[i] === 'page') continue
      writer.ensure(NAME_BYTES)
      writer.literal(this.#starts[i])
      writer.encoded(text)
    }
  }

  #schemaError(error: ErrorObject, names: readonly string[]): ApiError {
    const missing = error.keyword === 'required'
    const name = missing ? String(error.params.missingProperty) : error.instancePath.split('/')[1]
    if (!missing) return this.#error(this.#names.indexOf(name), 'is out of range')
    const meant = MISTAKEN_FOR[name]?.find((each) => names.includes(each) && !this.known.has(each))
    const problem = meant === undefined ? 'is required' : `is required (is ${name} meant by ${meant}?)`
    return this.#error(this.#names.indexOf(name), problem)
  }

  #error(index: number, problem: string): ApiError {
    const name = this.#names[index]
    const { allowed } = this.#parameters[index]
    return refused(name, `${problem}. Allowed: ${allowed}`, this.#refusal)
  }
}

function malformed({ wire }: Parameter<unknown>, text: string): string {
  const isNumber = /^(number|integer)$/.test(String((wire as { type?: unknown }).type))
  return isNumber && DECIMAL_COMMA.test(text)
    ? 'is malformed: it has a decimal comma, and decimals begin with a point'
    : 'is malformed'
}

/** Members of lists have no commas, and members of objects are numbers and booleans. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return value.join()
  return typeof value === 'object' && value !== null ? Object.values(value).join() : String(value)
}

/** Parameters that choose the form of an answer, which every operation understands. */
const SHAPING = new Set(['format', 'fields', 'layout', 'units', 'bom', 'include'])

/** With these parameters some operations write their usual JSON from a table. */
const OF_TABLES = new Set(['include', 'bucket', 'timezone'])

export const UNKNOWN = -1
const NO_NAMES: ReadonlyMap<string, number> = new Map()

export class RawQuery {
  /** Decoded names of parameters with a value, in order; '' for one that cannot be decoded. */
  readonly names: string[] = []
  /** Decoded values; null for one that cannot be decoded. */
  readonly values: (string | null)[] = []
  /** Ordinals of the names, or `UNKNOWN`. */
  readonly ordinals: number[] = []
  readonly mayShape: boolean

  /** `known`: ordinals of the operation's parameters, by name and alias. */
  constructor(query: string, known: ReadonlyMap<string, number> = NO_NAMES) {
    let mayShape = false
    const isEncoded = query.includes('%') || query.includes('+')
    for (let from = 0; from < query.length;) {
      const found = query.indexOf('&', from)
      const end = found === -1 ? query.length : found
      const equals = query.indexOf('=', from)
      // An empty value counts as absent.
      if (equals !== -1 && equals < end - 1) {
        const written = query.slice(from, equals)
        const value = query.slice(equals + 1, end)
        const name = isEncoded ? (decode(written) ?? '') : written
        const ordinal = known.get(name) ?? UNKNOWN
        this.names.push(name)
        this.values.push(isEncoded ? decode(value) : value)
        this.ordinals.push(ordinal)
        mayShape ||= ordinal === UNKNOWN ? SHAPING.has(name) : OF_TABLES.has(name)
      }
      from = end + 1
    }
    this.mayShape = mayShape
  }

  /** '' when the parameter is absent, null when it is given more than once or cannot be decoded. */
  get(name: string): string | null {
    const at = this.names.indexOf(name)
    if (at === -1) return ''
    return this.names.includes(name, at + 1) ? null : this.values[at]
  }
}

/** Percent-decoded text with `+` as a blank, or null when the encoding is broken. */
function decode(encoded: string): string | null {
  const plain = encoded.includes('+') ? encoded.replaceAll('+', ' ') : encoded
  if (!plain.includes('%')) return plain
  try {
    return decodeURIComponent(plain)
  } catch {
    return null
  }
}

export function namesOf(name: string, { aliases, repeatable }: Parameter<unknown>): string[] {
  return [name, ...aliases, ...(repeatable ? [`${name}[]`] : [])]
}

const NUMBER = new Float64Array(1)
const HALVES = new Int32Array(NUMBER.buffer)

/** A hash of a request's meaning in 48 bits, for ETags of one snapshot. No defence against an adversary. */
export class EtagHash {
  #a = 0
  #b = 0

  begin(): this {
    // A number above 31 bits would make a field a double, and an id in it takes three times as long.
    this.#a = 0x811c9dc5 | 0
    this.#b = 0x9e3779b9 | 0
    return this
  }

  /** The members before a value have to make its type clear. */
  add(value: unknown): this {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value !== 'object' || value === null) return this.#number(Number(value))
    if (!Array.isArray(value)) {
      for (const member in value) this.add((value as { [member: string]: unknown })[member])
      return this
    }
    this.#mix(value.length)
    for (let i = 0; i < value.length; i++) this.add(value[i])
    return this
  }

  /** The lower 32 bits; 48 in one number would be a double, which takes memory of its own. */
  get low(): number {
    return Math.imul(this.#a ^ (this.#a >>> 15), 0x2c1b3c6d)
  }

  get high(): number {
    return (this.#b >>> 12) & 0xffff
  }

  #number(value: number): this {
    if ((value | 0) === value) return this.#mix(value)
    NUMBER[0] = value
    return this.#mix(HALVES[0]).#mix(HALVES[1])
  }

  /** Two characters at a time; the length goes in too: `ab`, `c` is not `a`, `bc`. */
  #text(text: string): this {
    const even = text.length & ~1
    for (let i = 0; i < even; i += 2) this.#mix(text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16))
    if (even < text.length) this.#mix(text.charCodeAt(even))
    return this.#mix(~text.length)
  }

  #mix(word: number): this {
    this.#a = Math.imul(this.#a ^ word, 0x01000193)
    this.#b = Math.imul(this.#b ^ word, 0x85ebca6b)
    this.#a ^= this.#a >>> 13
    this.#b ^= this.#b >>> 15
    return this
  }
}
