/**
 * Kinds of parameters, declared once in a handler's file, each with a strict parser of decoded text: lenient
 * coercion would take `1e2`, ` 5` or `Infinity` for integers. Ranges and lists are left to the schema.
 */
import type { Bounds } from '../sea/geo.ts'
import { decimalOf, integerOf } from '../sea/numerals.ts'
import { DAY, HOUR, MINUTE, parseDate, parseTimestamp, type ParsedTime } from '../sea/time.ts'
import { zone, type Zone } from '../sea/zones.ts'

/** A parser's result for text of another form. */
export const MALFORMED = Symbol('malformed')
export type Malformed = typeof MALFORMED

export interface Parameter<T> {
  /** End of an error message: "an integer from 1 to 50". */
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
  readonly aliases: readonly string[]
  /** The parameter without which this one says nothing. */
  readonly goesWith: string | undefined
  /** `now`: epoch seconds that relative times count from. */
  parse(text: string, now: number): T | Malformed
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

/** A parameter that always has a value. */
interface Given<T> extends Parameter<T> {
  readonly given: true
}

interface Common {
  readonly description: string
  readonly aliases?: readonly string[]
  readonly goesWith?: string
}

interface Limits {
  readonly minimum?: number
  readonly maximum?: number
}

interface Presence<T> {
  readonly required?: true
  readonly default?: T
}

type Declared<T, P> = P extends { readonly required: true } | { readonly default: T }
  ? Given<T>
  : Parameter<T>

function declare<T, P>(
  options: Common & Presence<T> & P,
  rest: Pick<Parameter<T>, 'allowed' | 'schema' | 'parse'> & { wire?: object; repeatable?: boolean },
): Declared<T, P> {
  const parameter: Parameter<T> = {
    description: options.description,
    aliases: options.aliases ?? [],
    goesWith: options.goesWith,
    required: options.required ?? false,
    default: options.default,
    repeatable: false,
    wire: rest.schema,
    ...rest,
  }
  return parameter as Declared<T, P>
}

const numberOr = (value: number): number | Malformed => (Number.isNaN(value) ? MALFORMED : value)

export function integer<const P extends Presence<number>>(options: Common & Limits & P) {
  return declare<number, P>(options, {
    allowed: `an integer${rangeText(options)}`,
    schema: { type: 'integer', ...limitsOf(options) },
    parse: (text) => numberOr(integerOf(text)),
  })
}

export function number<const P extends Presence<number>>(options: Common & Limits & P) {
  return declare<number, P>(options, {
    allowed: `a plain decimal number${rangeText(options)}`,
    schema: { type: 'number', ...limitsOf(options) },
    parse: (text) => numberOr(decimalOf(text)),
  })
}

function limitsOf({ minimum, maximum }: Limits): Limits {
  return { ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) }
}

function rangeText({ minimum, maximum }: Limits): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  return maximum === undefined ? '' : ` of at most ${maximum}`
}

export function boolean<const P extends Presence<boolean>>(options: Common & P) {
  return declare<boolean, P>(options, {
    allowed: 'true, false, 1 or 0, in any case',
    schema: { type: 'boolean' },
    parse(text) {
      if (/^(?:true|1)$/i.test(text)) return true
      return /^(?:false|0)$/i.test(text) ? false : MALFORMED
    },
  })
}

/** Code points; names and identifiers are far shorter. */
export const MAX_TEXT = 100
export const WITHOUT_CONTROL_CHARACTERS = '^[^\\u0000-\\u001f\\u007f]*$'
const PLAIN = new RegExp(WITHOUT_CONTROL_CHARACTERS)

interface TextOptions extends Common {
  readonly minLength?: number
  readonly pattern?: string
  readonly allowed?: string
  readonly trim?: boolean
}

export function text<const P extends Presence<string>>(options: TextOptions & P) {
  const { minLength = 1, pattern, trim = false } = options
  const schema = { type: 'string', minLength, maxLength: MAX_TEXT, ...(pattern !== undefined && { pattern }) }
  return declare<string, P>(options, {
    allowed: options.allowed ?? `text of ${minLength} to ${MAX_TEXT} characters without control characters`,
    schema,
    wire: { ...schema, pattern: pattern ?? WITHOUT_CONTROL_CHARACTERS },
    parse(given) {
      if (!PLAIN.test(given)) return MALFORMED
      return trim ? given.trim() : given
    },
  })
}

interface Words<W extends string> {
  readonly values: readonly W[]
  /** Other words, each with the value that it stands for. */
  readonly synonyms?: { readonly [word: string]: NoInfer<W> }
}

/** One of `values`; another short word comes out of the parser as it is, for the schema to refuse. */
export function choice<const W extends string, const P extends Presence<NoInfer<W>>>(
  options: Common & Words<W> & P,
) {
  const { values, synonyms = {} } = options
  const meanings = new Map<string, W>(Object.entries(synonyms))
  const words = [...values, ...meanings.keys()]
  return declare<W, P>(options, {
    allowed: `one of ${words.join(', ')}`,
    schema: { type: 'string', enum: values },
    wire: { type: 'string', enum: words },
    parse: (given) =>
      PLAIN.test(given) && given.length <= MAX_TEXT ? (meanings.get(given) ?? (given as W)) : MALFORMED,
  })
}

/** Seconds of a unit by its letter; a number without a letter counts seconds. */
const SECONDS_OF: { readonly [letter: string]: number } = { '': 1, s: 1, m: MINUTE, h: HOUR, d: DAY }

/** `now`, `now-24h`, `now+3d`; a plus that is not encoded arrives as a blank. */
const MOVING_PATTERN = '^now([+-][0-9]{1,6}[mhd])?$'
const MOVING = /^now(?:([-+ ])([0-9]{1,6})([mhd]))?$/

export function timestamp<const P extends Presence<ParsedTime>>(options: Common & P) {
  return declare<ParsedTime, P>(options, {
    allowed:
      'an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d)',
    schema: { type: 'object' },
    wire: {
      type: 'string',
      anyOf: [{ format: 'date-time' }, { format: 'date' }, { pattern: MOVING_PATTERN }],
    },
    parse(given, now) {
      if (!given.startsWith('now')) return parseTimestamp(given) ?? MALFORMED
      const [, sign, count = '0', unit = 'm'] = MOVING.exec(given) ?? []
      if (sign === undefined && given !== 'now') return MALFORMED
      const seconds = Number(count) * SECONDS_OF[unit]
      return { epoch: sign === '-' ? now - seconds : now + seconds, wholeDay: false, moves: true }
    },
  })
}

/** A calendar date as epoch seconds of its first second, UTC. */
export function date<const P extends Presence<number>>(options: Common & P) {
  return declare<number, P>(options, {
    allowed: 'a date YYYY-MM-DD of the calendar',
    schema: { type: 'number' },
    wire: { type: 'string', format: 'date' },
    parse: (given) => parseDate(given) ?? MALFORMED,
  })
}

const TIME_OF_DAY_PATTERN = '^([01][0-9]|2[0-3]):[0-5][0-9]$'
const TIME_OF_DAY = new RegExp(TIME_OF_DAY_PATTERN)

/** A time of day `HH:MM` as seconds of the day. */
export function timeOfDay<const P extends Presence<number>>(options: Common & P) {
  return declare<number, P>(options, {
    allowed: 'a time HH:MM from 00:00 to 23:59',
    schema: { type: 'number' },
    wire: { type: 'string', pattern: TIME_OF_DAY_PATTERN },
    parse(given) {
      if (!TIME_OF_DAY.test(given)) return MALFORMED
      return Number(given.slice(0, 2)) * HOUR + Number(given.slice(3)) * MINUTE
    },
  })
}

export function zoneName(options: Common) {
  return declare(options, {
    allowed: 'an IANA name such as Europe/Paris',
    schema: { type: 'object' },
    wire: { type: 'string', maxLength: MAX_TEXT },
    // A "+" that was not percent-encoded arrives as a blank, which no zone's name has.
    parse: (given) => zone(given.replaceAll(' ', '+')) ?? MALFORMED,
  })
}

/** `auto` is the zone of the buoy or place that is asked about. */
export function zoneOrAuto(options: Common) {
  const named = zoneName(options)
  return declare<Zone | 'auto', Common>(options, {
    ...named,
    allowed: `${named.allowed}, or auto`,
    schema: {},
    parse: (given, now) => (given === 'auto' ? given : named.parse(given, now)),
  })
}

/** Ends at 90 and 180 degrees, whatever the decimals; the reader rounds to a double beyond 13. */
const LATITUDE = '-?0*(90(\\.0+)?|[1-8]?[0-9](\\.[0-9]+)?)'
const LONGITUDE = '-?0*(180(\\.0+)?|(1[0-7][0-9]|[1-9]?[0-9])(\\.[0-9]+)?)'

/** `lat,lng` in decimal degrees. */
export function point(options: Common) {
  return declare<{ lat: number; lng: number }, Common>(options, {
    allowed: 'lat,lng in decimal degrees, latitude from -90 to 90, longitude from -180 to 180',
    schema: {
      type: 'object',
      properties: {
        lat: { type: 'number', minimum: -90, maximum: 90 },
        lng: { type: 'number', minimum: -180, maximum: 180 },
      },
    },
    wire: { type: 'string', pattern: `^${LATITUDE},${LONGITUDE}$` },
    parse(given) {
      const [lat, lng = NaN, ...more] = given.split(',').map(decimalOf)
      return Number.isNaN(lat) || Number.isNaN(lng) || more.length > 0 ? MALFORMED : { lat, lng }
    },
  })
}

/** Four names and numbers of any useful length. */
const MAX_BOUNDS_TEXT = 400
const SIDES = ['north', 'south', 'east', 'west'] as const

/** A box as JSON object text with numeric `north`, `south`, `east` and `west`. */
export function bounds(options: Common) {
  return declare(options, {
    allowed: 'a JSON object with numbers north, south, east and west, south not above north',
    schema: { type: 'object' },
    wire: {
      type: 'string',
      maxLength: MAX_BOUNDS_TEXT,
      contentMediaType: 'application/json',
      contentSchema: {
        type: 'object',
        required: SIDES,
        properties: Object.fromEntries(SIDES.map((side) => [side, { type: 'number' }])),
      },
    },
    parse: parseBounds,
  })
}

function parseBounds(given: string): Bounds | Malformed {
  if (given.length > MAX_BOUNDS_TEXT) return MALFORMED
  let box: unknown = null
  try {
    box = JSON.parse(given)
  } catch {
    return MALFORMED
  }
  if (typeof box !== 'object' || box === null || Array.isArray(box)) return MALFORMED
  const { north, south, east, west } = box as Bounds
  return boxOf([west, south, east, north])
}

/** A box as `west,south,east,north` (OGC API Features 7.15.3, RFC 7946 section 5). */
export function bbox(options: Common) {
  return declare(options, {
    allowed: 'west,south,east,north in decimal degrees, south not above north',
    schema: { type: 'object' },
    wire: { type: 'array', items: { type: 'number' }, minItems: 4, maxItems: 4 },
    parse: (given): Bounds | Malformed => boxOf(given.split(',', 5).map(decimalOf)),
  })
}

function boxOf(sides: readonly number[]): Bounds | Malformed {
  // Texts are no finite numbers.
  if (sides.length !== 4 || !sides.every(Number.isFinite)) return MALFORMED
  const [west, south, east, north] = sides
  return south > north ? MALFORMED : { north, south, east, west }
}

/** Positive integers, separated by commas or given several times, also as `name[]`. */
export function integerList<const P extends Presence<number[]>>(options: Common & P) {
  return declare<number[], P>(options, {
    allowed: 'integers from 1 to 9007199254740991, separated by commas',
    schema: { type: 'array', items: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } },
    repeatable: true,
    parse: parseIntegers,
  })
}

const ZERO = 0x30
const COMMA = 0x2c

/** Integers that are not negative; beyond 2^53 they are not exact. */
function parseIntegers(given: string): number[] | Malformed {
  const values: number[] = []
  let value = NaN
  for (let i = 0; i < given.length; i++) {
    const digit = given.charCodeAt(i) - ZERO
    if (digit >= 0 && digit <= 9) value = value >= 0 ? value * 10 + digit : digit
    else if (digit === COMMA - ZERO && value >= 0) {
      values.push(value)
      value = NaN
    } else return MALFORMED
  }
  if (!(value >= 0)) return MALFORMED
  values.push(value)
  return values
}

/** Ids and slugs, `most` at most, separated by commas or given several times, also as `name[]`. */
export function textList(options: Common & { readonly most: number; readonly allowed: string }) {
  const items = { type: 'string', minLength: 1, maxLength: MAX_TEXT }
  const schema = { type: 'array', maxItems: options.most, items }
  return declare(options, {
    allowed: options.allowed,
    schema,
    wire: { ...schema, items: { ...items, pattern: WITHOUT_CONTROL_CHARACTERS } },
    repeatable: true,
    parse: (given) => (PLAIN.test(given) ? given.split(',') : MALFORMED),
  })
}

/** Characters: room for each word several times. */
const MAX_WORDS_TEXT = 400

/** A set of words as bits, the lowest for the first word. The handler refuses sets without `needed`. */
export function wordSet(options: Common & { readonly values: readonly string[]; readonly needed?: string }) {
  const { values, needed } = options
  const any = `(${values.join('|')})`
  return declare(options, {
    allowed: `one or more of ${values.join(', ')}, separated by commas`,
    schema: { type: 'integer' },
    wire: {
      type: 'string',
      maxLength: MAX_WORDS_TEXT,
      pattern: needed === undefined ? `^${any}(,${any})*$` : `^(${any},)*${needed}(,${any})*$`,
    },
    parse(given): number | Malformed {
      const indexes =
        given.length > MAX_WORDS_TEXT ? [-1] : given.split(',').map((word) => values.indexOf(word))
      return indexes.includes(-1) ? MALFORMED : indexes.reduce((set, index) => set | (1 << index), 0)
    },
  })
}

const DURATION = /^[1-9][0-9]{0,8}[smhd]?$/

/** Seconds, given as a number, or with the letter of a unit. */
export function duration(options: Common) {
  return declare(options, {
    allowed: 'seconds from 1, or a whole number with s, m, h or d such as 2h, of at most nine digits',
    schema: { type: 'integer' },
    wire: { type: 'string', pattern: DURATION.source },
    parse: (given): number | Malformed =>
      DURATION.test(given) ? parseInt(given, 10) * SECONDS_OF[given.replace(/^\d+/, '')] : MALFORMED,
  })
}
