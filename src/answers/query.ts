/**
 * Raw query text → typed values, in two steps: the strict parsers of the parameters, then the operation's
 * compiled ajv schema for ranges, lists and what is required. What fails becomes an error that names the
 * parameter.
 */
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { canonicalText } from './canonical.ts'
import type { Digest } from './digest.ts'
import { ApiError, type ErrorCode } from './errors.ts'
import type { Parameter, Parameters, QueryOf } from './parameters.ts'
import type { RawQuery } from './raw-query.ts'
import { checkOf } from './query-check.ts'
import { MALFORMED } from './value-text.ts'

const ABSENT = -1

/** Where ajv compiles them, one takes some 20 ms, so each is made once a thread. */
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

/** The JSON schema of an operation's typed values, which its check is made from. */
export function schemaOf(parameters: Parameters): object {
  const entries = Object.entries(parameters)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    required: entries.filter(([, { required }]) => required).map(([name]) => name),
  }
}

interface Values {
  readonly [name: string]: unknown
}

/** The compiled form of an operation's parameters. */
export class QueryReader<P extends Parameters> {
  readonly #names: readonly string[]
  readonly #parameters: readonly Parameter<unknown>[]
  /** Every name that is understood, aliases too, its characters, and the parameter it names. */
  readonly #known: { name: string; codes: Uint16Array; index: number }[]
  readonly #validate: ValidateFunction
  readonly #refusal: ErrorCode
  readonly #defaults: unknown[]
  /** The values of an empty query, or null where a parameter is required. */
  readonly #blank: QueryOf<P> | null
  readonly #named: (values: readonly unknown[]) => Values
  /** By parameter: where its value stands in the query that is being read, or `ABSENT`. */
  readonly #from: Int32Array
  readonly #to: Int32Array
  /** Where among the known names the one behind that found last is. */
  #next = 0

  /** `refusal` is the error of a missing, malformed or out-of-range parameter on this operation. */
  constructor(parameters: P, refusal: 'bad_request' | 'validation_failed') {
    const entries = Object.entries(parameters)
    this.#names = Object.keys(parameters)
    this.#parameters = Object.values(parameters)
    this.#refusal = refusal
    this.#known = entries.flatMap(([name, { aliases, repeatable }], index) =>
      [name, ...aliases, ...(repeatable ? [`${name}[]`] : [])].map((known) => ({
        name: known,
        codes: Uint16Array.from(known, (character) => character.charCodeAt(0)),
        index,
      })),
    )
    this.#validate = checkOf(schemaOf(parameters))
    this.#defaults = this.#parameters.map((parameter) => parameter.default)
    this.#named = namedBy(this.#names)
    this.#blank = this.#parameters.some(({ required }) => required)
      ? null
      : (Object.freeze(this.#named(this.#defaults)) as QueryOf<P>)
    this.#from = new Int32Array(entries.length)
    this.#to = new Int32Array(entries.length)
  }

  /**
   * Feeds `digest` what differs from an empty query.
   *
   * @throws ApiError that names the parameter, what is wrong with it and what is allowed.
   */
  read(raw: RawQuery, digest: Digest): QueryOf<P> {
    if (raw.length === 0 && this.#blank !== null) return this.#blank
    const texts = this.#locate(raw)
    const values = this.#defaults.slice()
    for (let i = 0; i < values.length; i++) {
      if (this.#from[i] === ABSENT) continue
      const parameter = this.#parameters[i]
      const text = texts?.[i]
      const value =
        text === undefined
          ? parameter.parse(raw.text, this.#from[i], this.#to[i])
          : parameter.parse(text, 0, text.length)
      if (value === MALFORMED) throw this.#error(i, 'is malformed')
      if (value === values[i]) continue
      values[i] = value
      parameter.feed(value, digest.number(i))
    }
    const query = this.#named(values)
    if (!this.#validate(query)) throw this.#schemaError(this.#validate.errors![0])
    return query as QueryOf<P>
  }

  /**
   * Finds each parameter's value. Returns the values that do not stand in the query as they are meant,
   * because they are encoded or repeated; null where all do.
   */
  #locate(raw: RawQuery): (string | undefined)[] | null {
    const from = this.#from
    const to = this.#to
    for (let i = 0; i < from.length; i++) from[i] = ABSENT
    this.#next = 0
    let texts: (string | undefined)[] | null = null
    for (let i = 0; i < raw.length; i++) {
      const start = raw.valueFrom(i)
      const end = raw.valueTo(i)
      const index = start === end ? -1 : this.#indexOf(raw, i)
      if (index === -1) continue
      const isRepeated = from[index] !== ABSENT
      if (isRepeated || raw.isEncoded(i)) {
        const value = raw.value(i)
        if (value === null) throw this.#error(index, 'is not percent-encoded UTF-8')
        if (isRepeated && !this.#parameters[index].repeatable)
          throw this.#error(index, 'is given more than once')
        const before = isRepeated ? `${texts?.[index] ?? raw.text.slice(from[index], to[index])},` : ''
        texts ??= []
        texts[index] = before + value
      }
      from[index] = start
      to[index] = end
    }
    return texts
  }

  /** The parameter that name `i` of a query names, or −1. */
  #indexOf(raw: RawQuery, i: number): number {
    const known = this.#known
    // Most give their parameters in one order, which is that of the declaration.
    let k = this.#next
    for (let look = 0; look < known.length; look++, k++) {
      if (k >= known.length) k = 0
      const { name, codes, index } = known[k]
      if (!raw.isSpelled(i, name, codes)) continue
      this.#next = k + 1
      return index
    }
    return -1
  }

  /**
   * The parameters that a query gives, which `read` has read before, under their own names and encoded anew:
   * `&order=asc&per_page=5`. Without `page`.
   */
  given(raw: RawQuery): string {
    const texts = this.#locate(raw)
    let given = ''
    for (let i = 0; i < this.#names.length; i++) {
      if (this.#from[i] === ABSENT || this.#names[i] === 'page') continue
      const value = texts?.[i] ?? raw.text.slice(this.#from[i], this.#to[i])
      given += `&${this.#names[i]}=${encodeURIComponent(value)}`
    }
    return given
  }

  /** One text for all queries that ask for the same: typed values in the order of declaration. */
  canonical(query: QueryOf<P>): string {
    return canonicalText(this.#names, query)
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

/**
 * A function that makes an object of `names` and values in their order. The engine's own compiler writes it,
 * as ajv does with schemas: objects made in one place for all operations have so many hidden classes that
 * making and reading one took 0.3 µs. With a place each it takes 0.02 µs. The names are those of our own
 * declarations.
 */
function namedBy(names: readonly string[]): (values: readonly unknown[]) => Values {
  const members = names.map((name, i) => `${JSON.stringify(name)}: values[${i}]`)
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- see above
  return new Function('values', `return { ${members.join(', ')} }`) as (values: readonly unknown[]) => Values
}
