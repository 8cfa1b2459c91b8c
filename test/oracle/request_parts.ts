/**
 * How a request is put together of well formed parameters with a liking for edges. What is malformed is asked by
 * `test/api/wire.slow.test.ts`, parameter by parameter from the description.
 */
import * as fc from 'fast-check'
import type { Operation, Question } from './oracle.ts'

export interface ApiRequest {
  /** Below the base path, with the query, ready to send. */
  url: string
  question: Question
}

/** One parameter as it stands in a URL. */
export interface Part {
  /** Name as the contract spells it. */
  name: string
  raw: string
  /** The decoded text; undefined when it counts as absent or is ignored. */
  value: string | undefined
}

export interface ParameterKind {
  name: string
  valid: fc.Arbitrary<string>
  required?: boolean
  /** Leave it out more often than not. */
  rare?: boolean
}

// --- how a text is written into a URL

const utf8 = new TextEncoder()
export const everyByte = (text: string) =>
  [...utf8.encode(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
/** As URLSearchParams writes it: a blank is a plus. */
const asForm = (text: string) => new URLSearchParams([['', text]]).toString().slice(1)

const writers = [encodeURIComponent, encodeURIComponent, asForm, everyByte]
const writer = fc.constantFrom(...writers)

export const part = (name: string, text: fc.Arbitrary<string>): fc.Arbitrary<Part> =>
  fc.tuple(text, writer).map(([value, write]) => ({ name, raw: `${name}=${write(value)}`, value }))

export const validPart = (kind: ParameterKind): fc.Arbitrary<Part[]> => {
  const present = part(kind.name, kind.valid).map((one) => [one])
  if (kind.required === true) return present
  const nothing = fc.constantFrom<Part[]>(
    [],
    [],
    [],
    [{ name: kind.name, raw: `${kind.name}=`, value: undefined }],
    [{ name: kind.name, raw: kind.name, value: undefined }],
  )
  return fc.oneof(
    { weight: kind.rare === true ? 1 : 3, arbitrary: present },
    { weight: kind.rare === true ? 5 : 2, arbitrary: nothing },
  )
}

/** Parameters that no operation knows: they change nothing. */
export const unknown: fc.Arbitrary<Part[]> = fc.constantFrom(
  ...[
    '',
    '',
    '',
    '',
    '',
    '_=1711526400',
    'foo=bar&foo=baz',
    'Page=x',
    'LIMIT=0',
    'callback=alert%281%29',
    '=x',
    '&&',
  ].map((raw) => (raw === '' ? [] : [{ name: '', raw, value: undefined }])),
)

export function assemble(
  operation: Operation,
  path: string,
  parts: Part[],
  ids: { buoyId?: string; readingId?: string },
): ApiRequest {
  const parameters = new Map<string, string>()
  for (const { name, value } of parts) if (value !== undefined && value !== '') parameters.set(name, value)
  const query = parts.map((one) => one.raw).join('&')
  return { url: query === '' ? path : `${path}?${query}`, question: { operation, ...ids, parameters } }
}

interface OperationKind {
  operation: Operation
  path: fc.Arbitrary<{ path: string; ids: { buoyId?: string; readingId?: string } }>
  kinds: ParameterKind[]
  /** Whole parameter lists that rarely come about by chance. */
  special?: fc.Arbitrary<Part[]>
}

export function requestsOf({ operation, path, kinds, special }: OperationKind): fc.Arbitrary<ApiRequest> {
  const asked = (parts: fc.Arbitrary<Part[]>): fc.Arbitrary<ApiRequest> =>
    fc
      .tuple(
        path,
        parts.chain((list) => fc.shuffledSubarray(list, { minLength: list.length })),
      )
      .map(([{ path, ids }, list]) => assemble(operation, path, list, ids))
  const usual = asked(fc.tuple(...kinds.map(validPart), unknown).map((lists) => lists.flat()))
  return special === undefined ? usual : fc.oneof({ weight: 3, arbitrary: usual }, asked(special))
}

// --- texts of the kinds of parameter

export function integers(least: number, most: number, usual: number[]): { valid: fc.Arbitrary<string> } {
  return {
    valid: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...[least, most, ...usual].map(String)) },
      { weight: 3, arbitrary: fc.integer({ min: least, max: Math.min(most, least + 60) }).map(String) },
      { weight: 1, arbitrary: fc.integer({ min: least, max: most }).map((value) => `00${value}`) },
    ),
  }
}

export const booleans = {
  valid: fc.constantFrom('true', 'false', '1', '0', 'False', 'True', 'TRUE', 'fALSE'),
}

export const page: ParameterKind = { name: 'page', ...integers(1, 2_147_483_647, [1, 1, 2, 2, 3]) }

export const decimal = (least: number, most: number, digits: number) =>
  fc
    .integer({ min: Math.ceil(least * 10 ** digits), max: Math.floor(most * 10 ** digits) })
    .map((value) => (value / 10 ** digits).toFixed(digits))

/** The path of an operation that has no arguments in it. */
export const at = (path: string) => fc.constant({ path, ids: {} })

export const METRIC_WORDS = [
  'significient_height',
  'maximum_height',
  'period',
  'peak_period',
  'direction',
  'water_temperature',
  'wind_speed',
  'wind_direction',
  'gust_speed',
]

export const perPage: ParameterKind = {
  name: 'per_page',
  ...integers(1, 2_147_483_647, [1, 2, 7, 50, 100, 101, 499, 500, 501, 1000]),
}

const someOf = (...words: string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }).map((some) => some.join())

export const has: ParameterKind = {
  name: 'has',
  valid: someOf(...METRIC_WORDS, 'swell_height', 'swell_direction', 'wind_wave_period'),
  rare: true,
}
export const maxAge: ParameterKind = {
  name: 'max_age',
  valid: fc.constantFrom('1', '60', '3600s', '45m', '2h', '24h', '86400', '3d', '40d', '999999999d'),
  rare: true,
}

export const include = (...words: string[]): ParameterKind => ({
  name: 'include',
  valid: someOf(...words),
  rare: true,
})

export const extras = include('wind', 'peak_period', 'swell')
