/** Kinds of parameters, declared once in a handler's file. */
import type { Bounds } from '../sea/geo.ts'
import type { ParsedTime } from '../sea/time.ts'
import { zone, type Zone } from '../sea/zones.ts'
import {
  MALFORMED,
  MOVING_PATTERN,
  MAX_BOUNDS_TEXT,
  MAX_TEXT,
  MAX_WORDS_TEXT,
  DURATION_PATTERN,
  parseBbox,
  parseBoolean,
  parseBounds,
  parseDay,
  parseDuration,
  parseInteger,
  parseIntegers,
  parseNumber,
  parsePlain,
  parsePoint,
  parseTime,
  parseTexts,
  parseTimeOfDay,
  parseWord,
  parseWordSet,
  WITHOUT_CONTROL_CHARACTERS,
  type LatLng,
  type Malformed,
} from './value-text.ts'

export interface Parameter<T> {
  /** Words that end an error message: "an integer from 1 to 50". */
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
  /** `now`: what times that move are relative to, epoch seconds. */
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

interface Given<T> extends Parameter<T> {
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
type Declared<T> = { required?: boolean; default?: T }

/** Ends at 90 and 180 degrees, whatever the decimals; the reader rounds to a double beyond 13. */
const LATITUDE = '-?0*(90(\\.0+)?|[1-8]?[0-9](\\.[0-9]+)?)'
const LONGITUDE = '-?0*(180(\\.0+)?|(1[0-7][0-9]|[1-9]?[0-9])(\\.[0-9]+)?)'

const BOUND = { type: 'number' }

function declare<T>(
  options: Common & Declared<T>,
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
export function integer(options: Common & Limits & Declared<number>): Parameter<number> {
  const schema = { type: 'integer', ...limitsOf(options) }
  return declare(options, {
    allowed: `an integer${rangeText(options)}`,
    schema,
    wire: schema,
    parse: parseInteger,
  })
}

export function number(options: Common & Limits & WithDefault<number>): Given<number>
export function number(options: Common & Limits): Parameter<number>
export function number(options: Common & Limits & Declared<number>): Parameter<number> {
  const schema = { type: 'number', ...limitsOf(options) }
  return declare(options, {
    allowed: `a plain decimal number${rangeText(options)}`,
    schema,
    wire: schema,
    parse: parseNumber,
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

export function boolean(options: Common & { default: boolean }): Given<boolean> {
  return declare(options, {
    allowed: 'true, false, 1 or 0, in any case',
    schema: { type: 'boolean' },
    wire: { type: 'boolean' },
    parse: parseBoolean,
  })
}

interface TextOptions extends Common {
  minLength?: number
  pattern?: string
  allowed?: string
  trim?: boolean
}

export function text(options: TextOptions & WithDefault<string>): Given<string>
export function text(options: TextOptions): Parameter<string>
export function text(options: TextOptions & Declared<string>): Parameter<string> {
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
    parse: options.trim === true ? parseTrimmed : parsePlain,
  })
}

function parseTrimmed(given: string): string | Malformed {
  const value = parsePlain(given)
  return value === MALFORMED ? MALFORMED : value.trim()
}

export function choice<const W extends string>(
  options: Common & { values: readonly W[] } & WithDefault<W>,
): Given<W>
export function choice<const W extends string>(options: Common & { values: readonly W[] }): Parameter<W>
export function choice<const W extends string>(
  options: Common & { values: readonly W[] } & Declared<W>,
): Parameter<W> {
  const { values } = options
  const schema = { type: 'string', enum: values }
  return declare<W>(options, {
    allowed: `one of ${values.join(', ')}`,
    schema,
    wire: schema,
    parse: (given) => parseWord(values, given),
  })
}

export function timestamp(options: Common): Parameter<ParsedTime> {
  return declare(options, {
    allowed:
      'an ISO 8601 timestamp (2026-03-27T09:00:00Z; without a zone it is UTC), a date (2026-03-27), or now, now-24h, now+3d (m, h, d)',
    schema: { type: 'object' },
    wire: {
      type: 'string',
      anyOf: [{ format: 'date-time' }, { format: 'date' }, { pattern: MOVING_PATTERN }],
    },
    parse: parseTime,
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
    parse: parseDay,
  })
}

/** A time of day `HH:MM` as seconds of the day. */
export function timeOfDay(options: Common & { required: true }): Given<number> {
  return declare(options, {
    allowed: 'a time HH:MM from 00:00 to 23:59',
    schema: { type: 'number' },
    wire: { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' },
    parse: parseTimeOfDay,
  })
}

export function zoneName(options: Common): Parameter<Zone> {
  return declare(options, {
    allowed: 'an IANA name such as Europe/Paris',
    schema: { type: 'object' },
    wire: { type: 'string', maxLength: MAX_TEXT },
    // A "+" that was not percent-encoded arrives as a blank, which no zone's name has.
    parse: (given) => zone(given.replaceAll(' ', '+')) ?? MALFORMED,
  })
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
    parse: parsePoint,
  })
}

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
    parse: parseBounds,
  })
}

/** A box as `west,south,east,north` (OGC API Features 7.15.3, RFC 7946 section 5). */
export function bbox(options: Common): Parameter<Bounds> {
  return declare(options, {
    allowed: 'west,south,east,north in decimal degrees, south not above north',
    schema: { type: 'object' },
    wire: { type: 'array', items: { type: 'number' }, minItems: 4, maxItems: 4 },
    parse: parseBbox,
  })
}

/** Positive integers, separated by commas or given several times, also as `name[]`. */
export function integerList(options: Common & { required: true }): Given<number[]>
export function integerList(options: Common): Parameter<number[]>
export function integerList(options: Common & { required?: boolean }): Parameter<number[]> {
  const wire = { type: 'array', items: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } }
  return declare(options, {
    allowed: 'integers from 1 to 9007199254740991, separated by commas',
    schema: wire,
    wire,
    repeatable: true,
    parse: parseIntegers,
  })
}

/** Ids and slugs, `most` at most, separated by commas or given several times, also as `name[]`. */
export function textList(options: Common & { most: number; allowed: string }): Parameter<string[]> {
  const items = { type: 'string', minLength: 1, maxLength: MAX_TEXT }
  const schema = { type: 'array', maxItems: options.most, items }
  return declare(options, {
    allowed: options.allowed,
    schema,
    wire: { ...schema, items: { ...items, pattern: WITHOUT_CONTROL_CHARACTERS } },
    repeatable: true,
    parse: parseTexts,
  })
}

/** A bit for each word, the first one's the lowest. The handler refuses sets without `needed`. */
export function wordSet(options: Common & { values: readonly string[]; needed?: string }): Parameter<number> {
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
    parse: (given) => parseWordSet(values, given),
  })
}

/** Seconds, given as a number, or with the letter of a unit. */
export function duration(options: Common): Parameter<number> {
  return declare(options, {
    allowed: 'seconds from 1, or a whole number with s, m, h or d such as 2h, of at most nine digits',
    schema: { type: 'integer' },
    wire: { type: 'string', pattern: DURATION_PATTERN },
    parse: parseDuration,
  })
}
