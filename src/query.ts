/**
 * Raw query text → typed values, in two steps: strict parsers for text (ours, since lenient coercion takes `1e2`, ` 5` or
 * `Infinity` for integers), then the operation's compiled ajv schema for ranges, lists and what is required.
 *
 * An operation declares its parameters once, in its handler's file; parsing, errors, canonical form and documentation come from
 * that declaration. Rules: decisions, "Everywhere".
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { ApiError, type ErrorCode } from './errors.ts'
import type { Digest } from './digest.ts'
import type { Bounds } from './geo.ts'
import { parseDate, parseTimestamp, type ParsedTime } from './time.ts'

/** Thrown by a text parser: the text is not of the parameter's form. */
const MALFORMED = Symbol('malformed')

export interface Parameter<T> {
  /** What is allowed, in words that end an error message: "an integer from 1 to 50". */
  readonly allowed: string
  readonly description: string
  /** JSON schema of the typed value. */
  readonly schema: object
  /** JSON schema of the text on the wire, for documentation. */
  readonly wire: object
  readonly required: boolean
  readonly default: T | undefined
  /** May be given several times; the values are joined by commas. */
  readonly repeatable: boolean
  /** Other names under which it is accepted. */
  readonly aliases: readonly string[]
  parse(text: string): T | typeof MALFORMED
}

// oxlint-disable-next-line typescript/no-explicit-any -- a bag of parameters of any types
export type Parameters = { readonly [name: string]: Parameter<any> }

/** The typed values of an operation's parameters; `undefined` where one was not given and has no default. */
export type QueryOf<P extends Parameters> = {
  readonly [name in keyof P]: P[name] extends Given<infer T>
    ? T
    : P[name] extends Parameter<infer T>
      ? T | undefined
      : never
}

/** A parameter that always has a value: required, or with a default. */
export interface Given<T> extends Parameter<T> {
  readonly given: true
}

interface Common {
  description: string
  aliases?: readonly string[]
}

interface Limits {
  minimum?: number
  maximum?: number
}

type WithDefault<T> = { required: true } | { default: T }

const INTEGER = /^-?[0-9]+$/
const NUMBER = /^-?[0-9]+(\.[0-9]+)?$/

/** Longest plain text we take, in code points: names and identifiers are far shorter. */
export const MAX_TEXT = 100

function declare<T>(
  options: Common & { required?: boolean; default?: T },
  rest: Pick<Parameter<T>, 'allowed' | 'schema' | 'wire' | 'parse'> & { repeatable?: boolean },
): Given<T> {
  return {
    description: options.description,
    aliases: options.aliases ?? [],
    required: options.required ?? false,
    default: options.default,
    repeatable: false,
    given: true,
    ...rest,
  }
}

export function integer(options: Common & Limits & WithDefault<number>): Given<number>
export function integer(options: Common & Limits): Parameter<number>
export function integer(
  options: Common & Limits & { required?: boolean; default?: number },
): Parameter<number> {
  const schema = { type: 'integer', ...limitsOf(options) }
  return declare(options, {
    allowed: `an integer${rangeText(options)}`,
    schema,
    wire: schema,
    parse: (text) => (INTEGER.test(text) ? Number(text) + 0 : MALFORMED),
  })
}

export function number(options: Common & Limits & WithDefault<number>): Given<number>
export function number(options: Common & Limits): Parameter<number>
export function number(
  options: Common & Limits & { required?: boolean; default?: number },
): Parameter<number> {
  const schema = { type: 'number', ...limitsOf(options) }
  return declare(options, {
    allowed: `a plain decimal number${rangeText(options)}`,
    schema,
    wire: schema,
    parse: (text) => (NUMBER.test(text) ? Number(text) + 0 : MALFORMED),
  })
}

export function boolean(options: Common & { default: boolean }): Given<boolean> {
  return declare(options, {
    allowed: 'true, false, 1 or 0',
    schema: { type: 'boolean' },
    wire: { type: 'boolean' },
    parse: (text) =>
      text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : MALFORMED,
  })
}

export interface TextOptions extends Common {
  minLength?: number
  pattern?: string
  /** What `pattern` means, in words. */
  allowed?: string
  trim?: boolean
}

export function text(options: TextOptions & WithDefault<string>): Given<string>
export function text(options: TextOptions): Parameter<string>
export function text(options: TextOptions & { required?: boolean; default?: string }): Parameter<string> {
  const { minLength = 1, pattern } = options
  const schema = {
    type: 'string',
    minLength,
    maxLength: MAX_TEXT,
    ...(pattern === undefined ? {} : { pattern }),
  }
  return declare(options, {
    allowed: options.allowed ?? `text of ${minLength} to ${MAX_TEXT} characters without control characters`,
    schema,
    wire: { ...schema, pattern: pattern ?? WITHOUT_CONTROL_CHARACTERS },
    parse: (value) => (hasControlCharacter(value) ? MALFORMED : options.trim === true ? value.trim() : value),
  })
}

/** One of a list of words. */
export function choice<const W extends string>(
  options: Common & { values: readonly W[] } & WithDefault<W>,
): Given<W>
export function choice<const W extends string>(options: Common & { values: readonly W[] }): Parameter<W>
export function choice<const W extends string>(
  options: Common & { values: readonly W[]; required?: boolean; default?: W },
): Parameter<W> {
  const { values } = options
  const schema = { type: 'string', enum: values }
  return declare<W>(options, {
    allowed: `one of ${values.join(', ')}`,
    schema,
    wire: schema,
    parse: (value) => (hasControlCharacter(value) || value.length > MAX_TEXT ? MALFORMED : (value as W)),
  })
}

export function timestamp(options: Common): Parameter<ParsedTime> {
  return declare(options, {
    allowed: 'an ISO 8601 timestamp (2026-03-27T09:00:00Z, with Z or an offset) or a date (2026-03-27)',
    schema: { type: 'object' },
    wire: { type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] },
    parse: (value) => parseTimestamp(value) ?? MALFORMED,
  })
}

/** A calendar date as epoch seconds of its first second, UTC. */
export function date(options: Common & { required: true }): Given<number>
export function date(options: Common): Parameter<number>
export function date(options: Common & { required?: boolean }): Parameter<number> {
  return declare(options, {
    allowed: 'a date YYYY-MM-DD of the calendar',
    schema: { type: 'number' },
    wire: { type: 'string', format: 'date' },
    parse: (value) => parseDate(value) ?? MALFORMED,
  })
}

/** A time of day `HH:MM` as seconds of the day. */
export function timeOfDay(options: Common & { required: true }): Given<number> {
  return declare(options, {
    allowed: 'a time HH:MM from 00:00 to 23:59',
    schema: { type: 'number' },
    wire: { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' },
    parse: (value) => {
      const match = /^([01][0-9]|2[0-3]):([0-5][0-9])$/.exec(value)
      return match === null ? MALFORMED : Number(match[1]) * 3600 + Number(match[2]) * 60
    },
  })
}

/** For documentation: `90` and `180` are as far as it goes, whatever the number of decimals. */
const LATITUDE = '-?(90(\\.0+)?|[1-8]?[0-9](\\.[0-9]+)?)'
const LONGITUDE = '-?(180(\\.0+)?|(1[0-7][0-9]|[1-9]?[0-9])(\\.[0-9]+)?)'

export interface LatLng {
  lat: number
  lng: number
}

/** `lat,lng` in decimal degrees. */
export function point(options: Common): Parameter<LatLng> {
  return declare(options, {
    allowed: 'lat,lng in decimal degrees, latitude from -90 to 90, longitude from -180 to 180',
    schema: {
      type: 'object',
      properties: {
        lat: { type: 'number', minimum: -90, maximum: 90 },
        lng: { type: 'number', minimum: -180, maximum: 180 },
      },
    },
    wire: { type: 'string', pattern: `^${LATITUDE},${LONGITUDE}$` },
    parse: (value) => {
      const [lat, lng, ...more] = value.split(',')
      if (lat === undefined || lng === undefined || more.length > 0) return MALFORMED
      return NUMBER.test(lat) && NUMBER.test(lng) ? { lat: Number(lat) + 0, lng: Number(lng) + 0 } : MALFORMED
    },
  })
}

const BOUND = { type: 'number' }

/** Longest JSON text of a box: four names and numbers of any useful length. */
const MAX_BOUNDS_TEXT = 400

/** A box as JSON object text with numeric `north`, `south`, `east` and `west`. */
export function bounds(options: Common): Parameter<Bounds> {
  return declare(options, {
    allowed: 'a JSON object with numbers north, south, east and west, south not above north',
    schema: { type: 'object' },
    wire: {
      type: 'string',
      maxLength: MAX_BOUNDS_TEXT,
      contentMediaType: 'application/json',
      contentSchema: {
        type: 'object',
        required: ['north', 'south', 'east', 'west'],
        properties: { north: BOUND, south: BOUND, east: BOUND, west: BOUND },
      },
    },
    parse: (value) => {
      if (value.length > MAX_BOUNDS_TEXT) return MALFORMED
      const box = parseJsonObject(value)
      if (box === null) return MALFORMED
      const { north, south, east, west } = box
      if (
        !isFiniteNumber(north) ||
        !isFiniteNumber(south) ||
        !isFiniteNumber(east) ||
        !isFiniteNumber(west)
      ) {
        return MALFORMED
      }
      return south > north ? MALFORMED : { north, south, east, west }
    },
  })
}

/** Positive integers, separated by commas or given several times, also as `name[]`. */
export function integerList(options: Common & { required: true }): Given<number[]> {
  const wire = { type: 'array', items: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } }
  return declare(options, {
    allowed: 'integers from 1 to 9007199254740991, separated by commas',
    schema: wire,
    wire,
    repeatable: true,
    parse: parseIntegers,
  })
}

const [ZERO, NINE, COMMA] = [0x30, 0x39, 0x2c]
/** More digits than any number has use for; what is out of range is told by the schema. */
const MAX_DIGITS = 400

/** Character by character: a third of the time of splitting and matching. */
function parseIntegers(text: string): number[] | typeof MALFORMED {
  const values: number[] = []
  let [value, digits] = [0, 0]
  for (let i = 0; i <= text.length; i++) {
    const unit = i === text.length ? COMMA : text.charCodeAt(i)
    if (unit === COMMA) {
      if (digits === 0 || digits > MAX_DIGITS) return MALFORMED
      values.push(value)
      value = 0
      digits = 0
    } else {
      if (unit < ZERO || unit > NINE) return MALFORMED
      value = value * 10 + (unit - ZERO)
      digits++
    }
  }
  return values
}

/** A query split into names and values, once; still encoded. One object serves request after request. */
export class RawQuery {
  readonly names: string[] = []
  readonly values: string[] = []
  length = 0

  split(query: string): void {
    this.length = 0
    for (let at = 0; at < query.length;) {
      let end = query.indexOf('&', at)
      if (end === -1) end = query.length
      if (end > at) {
        const equals = query.indexOf('=', at)
        const nameEnd = equals === -1 || equals > end ? end : equals
        this.names[this.length] = decode(query.slice(at, nameEnd)) ?? ''
        this.values[this.length] = query.slice(Math.min(nameEnd + 1, end), end)
        this.length++
      }
      at = end + 1
    }
  }

  /** The decoded value of a parameter, '' when it is absent, null when it is given more than once or cannot be decoded. */
  get(name: string): string | null {
    let found = ''
    for (let i = 0; i < this.length; i++) {
      if (this.names[i] !== name || this.values[i] === '') continue
      if (found !== '') return null
      const value = decode(this.values[i])
      if (value === null) return null
      found = value
    }
    return found
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

const ajv = new Ajv2020({ allErrors: false, strict: true, strictTypes: false })

/** Compiling takes some 20 ms an operation, so it is done once a thread. */
const readers = new WeakMap<Parameters, QueryReader<Parameters>>()

/** The reader of an operation's parameters. */
export function readerOf(
  parameters: Parameters,
  refusal: 'bad_request' | 'validation_failed',
): QueryReader<Parameters> {
  let reader = readers.get(parameters)
  if (reader === undefined) readers.set(parameters, (reader = new QueryReader(parameters, refusal)))
  return reader
}

/** The compiled form of an operation's parameters. */
export class QueryReader<P extends Parameters> {
  readonly #entries: [name: string, parameter: Parameter<unknown>][]
  readonly #index = new Map<string, number>()
  readonly #validate: ValidateFunction
  readonly #refusal: ErrorCode
  /** Every parameter with its default, or undefined. */
  readonly #blank: { [name: string]: unknown }
  /** The values of an empty query, or null where a parameter is required. */
  readonly #defaults: QueryOf<P> | null

  /** `refusal` is the error of a missing, malformed or out-of-range parameter on this operation. */
  constructor(parameters: P, refusal: 'bad_request' | 'validation_failed') {
    this.#entries = Object.entries(parameters)
    this.#refusal = refusal
    this.#entries.forEach(([name, { aliases, repeatable }], i) => {
      for (const known of [name, ...aliases, ...(repeatable ? [`${name}[]`] : [])]) this.#index.set(known, i)
    })
    this.#validate = ajv.compile({
      type: 'object',
      properties: Object.fromEntries(this.#entries.map(([name, { schema }]) => [name, schema])),
      required: this.#entries.filter(([, { required }]) => required).map(([name]) => name),
    })
    this.#blank = Object.fromEntries(this.#entries.map(([name, parameter]) => [name, parameter.default]))
    this.#defaults = this.#entries.some(([, { required }]) => required)
      ? null
      : (Object.freeze(this.#values([])) as QueryOf<P>)
  }

  /** @throws ApiError that names the parameter, what is wrong with it and what is allowed. */
  read(raw: RawQuery): QueryOf<P> {
    if (raw.length === 0 && this.#defaults !== null) return this.#defaults
    const texts: (string | undefined)[] = []
    for (let i = 0; i < raw.length; i++) {
      const index = this.#index.get(raw.names[i])
      const encoded = raw.values[i]
      if (index === undefined || encoded === '') continue
      const value = decode(encoded)
      if (value === null) throw this.#error(index, 'is not percent-encoded UTF-8')
      const before = texts[index]
      if (before === undefined) texts[index] = value
      else if (this.#entries[index][1].repeatable) texts[index] = `${before},${value}`
      else throw this.#error(index, 'is given more than once')
    }
    const values = this.#values(texts)
    if (!this.#validate(values)) throw this.#schemaError(this.#validate.errors![0])
    return values as QueryOf<P>
  }

  #values(texts: readonly (string | undefined)[]): { [name: string]: unknown } {
    // All names from the beginning: objects of one shape, which all who read them are fast with.
    const values = { ...this.#blank }
    for (let i = 0; i < this.#entries.length; i++) {
      const given = texts[i]
      if (given === undefined) continue
      const [name, parameter] = this.#entries[i]
      const value = parameter.parse(given)
      if (value === MALFORMED) throw this.#error(i, 'is malformed')
      values[name] = value
    }
    return values
  }

  /** One text for all queries that ask for the same: typed values in the order of declaration. */
  canonical(query: QueryOf<P>): string {
    let key = ''
    for (const [name] of this.#entries) {
      const value: unknown = query[name]
      if (value !== undefined) key += JSON.stringify(value)
      key += '\u0001'
    }
    return key
  }

  /** Feeds a digest what `canonical` would say. */
  feed(query: QueryOf<P>, digest: Digest): void {
    for (let i = 0; i < this.#entries.length; i++) {
      const value: unknown = query[this.#entries[i][0]]
      if (typeof value === 'number') digest.number(value)
      else if (typeof value === 'string') digest.text(value)
      else if (value === undefined) digest.number(NaN)
      else if (typeof value === 'boolean') digest.number(value ? 1 : 0)
      else if (Array.isArray(value)) {
        digest.number(value.length)
        for (const item of value as number[]) digest.number(item)
      } else digest.text(JSON.stringify(value))
    }
  }

  #schemaError(error: ErrorObject): ApiError {
    const missing = error.keyword === 'required'
    const name = missing ? String(error.params.missingProperty) : error.instancePath.split('/')[1]
    const index = this.#entries.findIndex(([known]) => known === name)
    return this.#error(index, missing ? 'is required' : 'is out of range')
  }

  #error(index: number, problem: string): ApiError {
    const [name, { allowed }] = this.#entries[index]
    return new ApiError(this.#refusal, `Parameter ${name} ${problem}. Allowed: ${allowed}`, {
      parameter: name,
    })
  }
}

function limitsOf({ minimum, maximum }: Limits): Limits {
  return { ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) }
}

function rangeText({ minimum, maximum }: Limits): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  return maximum === undefined ? '' : ` of at most ${maximum}`
}

/** Of `hasControlCharacter`, as a pattern of JSON Schema. */
const WITHOUT_CONTROL_CHARACTERS = '^[^\\u0000-\\u001f\\u007f]*$'

function hasControlCharacter(value: string): boolean {
  // oxlint-disable-next-line no-control-regex -- refusing them is the point
  return /[\u0000-\u001f\u007f]/.test(value)
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function parseJsonObject(value: string): { [key: string]: unknown } | null {
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as { [key: string]: unknown })
      : null
  } catch {
    return null
  }
}
