/** Raw query text → typed values: strict parsers, then the ajv schema. A fault names the parameter. */
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { ApiError, type ErrorCode } from './errors.ts'
import type { Parameter, Parameters, QueryOf } from './parameters.ts'
import { checkOf } from './query-check.ts'
import type { TagNumber } from './tag-number.ts'
import { MALFORMED } from './value-text.ts'

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

/** Separates members of a canonical form. No parameter takes control characters. */
export const SEPARATOR = '\u0001'

interface Values {
  [name: string]: unknown
}

export class QueryReader<P extends Parameters> {
  readonly #names: readonly string[]
  readonly #parameters: readonly Parameter<unknown>[]
  /** Ordinals by name and alias. */
  readonly #known: ReadonlyMap<string, number>
  readonly #validate: ValidateFunction
  readonly #refusal: ErrorCode
  readonly #defaults: Readonly<Values>
  /** Null where a parameter is required. */
  readonly #blank: QueryOf<P> | null

  /** `refusal` is the error of a missing, malformed or out-of-range parameter. */
  constructor(parameters: P, refusal: 'bad_request' | 'validation_failed') {
    const entries = Object.entries(parameters)
    this.#names = Object.keys(parameters)
    this.#parameters = Object.values(parameters)
    this.#refusal = refusal
    this.#known = new Map(
      entries.flatMap(([name, parameter], index) => namesOf(name, parameter).map((known) => [known, index])),
    )
    this.#validate = checkOf(schemaOf(parameters))
    this.#defaults = Object.fromEntries(entries.map(([name, one]) => [name, one.default as unknown]))
    this.#blank = this.#parameters.some(({ required }) => required)
      ? null
      : (Object.freeze({ ...this.#defaults }) as QueryOf<P>)
  }

  /** Takes into `tag` what is not default. @throws ApiError with the parameter and what is allowed */
  read(raw: RawQuery, tag: TagNumber): QueryOf<P> {
    if (raw.names.length === 0 && this.#blank !== null) return this.#blank
    const texts = this.#textsOf(raw)
    const query = { ...this.#defaults }
    for (let i = 0; i < texts.length; i++) {
      const text = texts[i]
      if (text === undefined) continue
      const parameter = this.#parameters[i]
      const value = parameter.parse(text)
      if (value === MALFORMED) throw this.#error(i, 'is malformed')
      if (value === parameter.default) continue
      query[this.#names[i]] = value
      tag.add(i).add(value)
    }
    if (!this.#validate(query)) throw this.#schemaError(this.#validate.errors![0])
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

  /** The text of each parameter, by its ordinal. @throws ApiError */
  #textsOf({ names, values }: RawQuery): (string | undefined)[] {
    const texts: (string | undefined)[] = []
    for (let i = 0; i < names.length; i++) {
      const index = this.#known.get(names[i])
      if (index === undefined) continue
      const value = values[i]
      if (value === null) throw this.#error(index, 'is not percent-encoded UTF-8')
      const before = texts[index]
      if (before !== undefined && !this.#parameters[index].repeatable)
        throw this.#error(index, 'is given more than once')
      texts[index] = before === undefined ? value : `${before},${value}`
    }
    return texts
  }

  /** `&order=asc&per_page=5` of a query that `read` has read, encoded anew without `page`. */
  given(raw: RawQuery): string {
    let given = ''
    this.#textsOf(raw).forEach((text, i) => {
      if (this.#names[i] !== 'page') given += `&${this.#names[i]}=${encoded(text!)}`
    })
    return given
  }

  #schemaError(error: ErrorObject): ApiError {
    const missing = error.keyword === 'required'
    const name = missing ? String(error.params.missingProperty) : error.instancePath.split('/')[1]
    return this.#error(this.#names.indexOf(name), missing ? 'is required' : 'is out of range')
  }

  #error(index: number, problem: string): ApiError {
    const name = this.#names[index]
    const { allowed } = this.#parameters[index]
    return new ApiError(this.#refusal, `Parameter ${name} ${problem}. Allowed: ${allowed}`, {
      parameter: name,
    })
  }
}

/** Members of lists have no commas, and those of objects are numbers and booleans. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return value.join()
  return typeof value === 'object' && value !== null ? Object.values(value).join() : String(value)
}

/** Parameters that choose the form of an answer, which every operation understands. */
const SHAPING = new Set(['format', 'fields', 'layout', 'units', 'include'])

export class RawQuery {
  /** Decoded names of parameters with a value, in order; '' for one that cannot be decoded. */
  readonly names: string[] = []
  /** Decoded values; null for one that cannot be decoded. */
  readonly values: (string | null)[] = []
  readonly mayShape: boolean

  constructor(query: string) {
    let mayShape = false
    const isEncoded = query.includes('%') || query.includes('+')
    for (let from = 0; from < query.length;) {
      const found = query.indexOf('&', from)
      const end = found === -1 ? query.length : found
      const equals = query.indexOf('=', from)
      // An empty value counts as absent.
      if (equals !== -1 && equals < end - 1) {
        const name = query.slice(from, equals)
        const value = query.slice(equals + 1, end)
        this.names.push(isEncoded ? (decode(name) ?? '') : name)
        this.values.push(isEncoded ? decode(value) : value)
        mayShape ||= SHAPING.has(this.names.at(-1)!)
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

const NEEDS_NO_CODE = /^[\w.~-]*$/

/** As `encodeURIComponent`, which takes longer for texts without such characters: most are numbers and slugs. */
export function encoded(text: string): string {
  return NEEDS_NO_CODE.test(text) ? text : encodeURIComponent(text)
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
