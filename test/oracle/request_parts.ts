/**
 * How a request is put together of parameters: well formed ones with a liking for edges, and ones with
 * exactly one thing wrong with them.
 *
 * A request knows what is wrong with it, so the oracle needs no parser of its own.
 */
import * as fc from 'fast-check'
import { failure } from './oracle.ts'
import type { Answer, Operation, Question } from './oracle.ts'

export interface ApiRequest {
  /** Below the base path, with the query, ready to send. */
  url: string
  question: Question
  /** What is wrong with it; null for a request that the oracle answers. */
  fault: { status: number; names: string[] } | null
}

/** The answer to a request: the documented error of a faulty one, else what the oracle says. */
export function expected(oracle: (question: Question) => Answer, request: ApiRequest): Answer {
  return request.fault === null
    ? oracle(request.question)
    : failure(request.fault.status, request.fault.names)
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
  /** Decoded texts that are malformed or out of range. */
  invalid: fc.Arbitrary<string>
  required?: boolean
  /** Leave it out more often than not. */
  rare?: boolean
  /** Any number of digits is a number to it. */
  unbounded?: boolean
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

/** Raw texts that no decoder can accept, for any parameter. */
const broken = fc.constantFrom(
  '%',
  '%4',
  '%ZZ',
  'a%',
  '%C3%28',
  '%FF',
  '%E2%82',
  '%00',
  '1%00',
  '%0A',
  '1%7F',
)

export const huge = fc.constantFrom('x'.repeat(10_000), '9'.repeat(10_000), '%31'.repeat(3_300))

export function faultyPart(kind: ParameterKind): fc.Arbitrary<Part[]> {
  const { name } = kind
  const raw = (text: string): Part[] => [{ name, raw: `${name}=${text}`, value: undefined }]
  return fc.oneof(
    { weight: 6, arbitrary: part(name, kind.invalid).map((one) => [one]) },
    { weight: 2, arbitrary: broken.map(raw) },
    { weight: 1, arbitrary: (kind.unbounded === true ? fc.constant('x'.repeat(10_000)) : huge).map(raw) },
    {
      weight: 1,
      arbitrary: fc.tuple(part(name, kind.valid), part(name, kind.valid)).map(([one, other]) => [one, other]),
    },
    ...(kind.required === true
      ? [
          {
            weight: 2,
            arbitrary: fc.constantFrom<Part[]>([], raw(''), [{ name, raw: name, value: undefined }]),
          },
        ]
      : []),
  )
}

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

export interface Fault {
  names: string[]
  status: number
}

export function assemble(
  operation: Operation,
  path: string,
  parts: Part[],
  ids: { buoyId?: string; readingId?: string },
  fault: Fault | null,
): ApiRequest {
  const parameters = new Map<string, string>()
  for (const { name, value } of parts) if (value !== undefined && value !== '') parameters.set(name, value)
  const query = parts.map((one) => one.raw).join('&')
  return {
    url: query === '' ? path : `${path}?${query}`,
    question: { operation, ...ids, parameters },
    fault,
  }
}

interface OperationKind {
  operation: Operation
  path: fc.Arbitrary<{ path: string; ids: { buoyId?: string; readingId?: string } }>
  kinds: ParameterKind[]
  /** Whole parameter lists that are valid but rarely come about by chance. */
  special?: fc.Arbitrary<Part[]>
  /** Lists that are wrong as a whole: each part alone is well formed. */
  wrong?: fc.Arbitrary<{ parts: Part[]; fault: Fault }>
  malformed: 400 | 422
}

export function requestsOf(kind: OperationKind): fc.Arbitrary<ApiRequest> {
  const { operation, kinds, malformed } = kind
  const shuffled = (parts: fc.Arbitrary<Part[]>) =>
    parts.chain((list) => fc.shuffledSubarray(list, { minLength: list.length }))
  const parts = (arbitraries: fc.Arbitrary<Part[]>[]) =>
    shuffled(fc.tuple(...arbitraries, unknown).map((lists) => lists.flat()))
  const valid = fc
    .tuple(kind.path, parts(kinds.map(validPart)))
    .map(([{ path, ids }, list]) => assemble(operation, path, list, ids, null))
  const more: fc.WeightedArbitrary<ApiRequest>[] = []
  if (kinds.length > 0) {
    const faulty = fc
      .constantFrom(...kinds)
      .chain((bad) =>
        fc
          .tuple(kind.path, parts(kinds.map((one) => (one === bad ? faultyPart(one) : validPart(one)))))
          .map(([{ path, ids }, list]) =>
            assemble(operation, path, list, ids, { names: [bad.name], status: malformed }),
          ),
      )
    more.push({ weight: 3, arbitrary: faulty })
  }
  if (kind.special !== undefined) {
    const special = fc
      .tuple(kind.path, shuffled(kind.special))
      .map(([{ path, ids }, list]) => assemble(operation, path, list, ids, null))
    more.push({ weight: 3, arbitrary: special })
  }
  if (kind.wrong !== undefined) {
    const wrong = fc
      .tuple(kind.path, kind.wrong)
      .map(([{ path, ids }, { parts, fault }]) => assemble(operation, path, parts, ids, fault))
    more.push({ weight: 1, arbitrary: wrong })
  }
  return fc.oneof({ weight: 9, arbitrary: valid }, ...more)
}

// --- texts of the kinds of parameter

export const notNumbers = [
  ' 5',
  '5 ',
  '+5',
  '1e2',
  '0x10',
  '5.',
  '.5',
  'NaN',
  'Infinity',
  '1,5',
  '--5',
  '-',
  '٣',
  '１',
  'null',
  'abc',
]

/** More than any number type holds exactly. */
export const MANY_DIGITS = '9'.repeat(23)

export function integers(
  least: number,
  most: number,
  usual: number[],
  outside: (number | string)[],
): {
  valid: fc.Arbitrary<string>
  invalid: fc.Arbitrary<string>
} {
  return {
    valid: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...[least, most, ...usual].map(String)) },
      { weight: 3, arbitrary: fc.integer({ min: least, max: Math.min(most, least + 60) }).map(String) },
      { weight: 1, arbitrary: fc.integer({ min: least, max: most }).map((value) => `00${value}`) },
    ),
    invalid: fc.constantFrom(...notNumbers, '1.0', '2.5', ...outside.map(String), '-1'),
  }
}

export const booleans = {
  valid: fc.constantFrom('true', 'false', '1', '0', 'False', 'True', 'TRUE', 'fALSE'),
  invalid: fc.constantFrom('yes', 'no', '2', '-1', 'truee', ' true', 'on', 'null'),
}

export const page: ParameterKind = {
  name: 'page',
  ...integers(1, 2_147_483_647, [1, 1, 2, 2, 3], [0, 2_147_483_648, MANY_DIGITS]),
}

export const decimal = (least: number, most: number, digits: number) =>
  fc
    .integer({ min: Math.ceil(least * 10 ** digits), max: Math.floor(most * 10 ** digits) })
    .map((value) => (value / 10 ** digits).toFixed(digits))

/** A control character, somewhere in the text. */
export const withControl = fc
  .tuple(
    fc.constantFrom('ab', 'Nice', ''),
    fc.constantFrom('\0', '\n', '\r', '\t', '\u001F', '\u007F'),
    fc.constant('cd'),
  )
  .map((pieces) => pieces.join(''))

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
  ...integers(1, 2_147_483_647, [1, 2, 7, 50, 100, 101, 499, 500, 501, 1000], [0, -5]),
  unbounded: true,
}

export const has: ParameterKind = {
  name: 'has',
  valid: fc
    .array(fc.constantFrom(...METRIC_WORDS), { minLength: 1, maxLength: 3 })
    .map((words) => words.join()),
  invalid: fc.constantFrom(
    'wind',
    'Period',
    'period,',
    ',period',
    'period,,period',
    'period, direction',
    '1',
    'water_temperature,foo',
    Array(100).fill('period').join(),
  ),
  rare: true,
}
const noAges = '0|-1|1e99|NaN|1.5h|2 h|h|2H|2w|01|+1|0h|PT2H|9999999999|1000000000s'
export const maxAge: ParameterKind = {
  name: 'max_age',
  valid: fc.constantFrom('1', '60', '3600s', '45m', '2h', '24h', '86400', '3d', '40d', '999999999d'),
  invalid: fc.constantFrom(...noAges.split('|')),
  rare: true,
}

export const include = (...words: string[]): ParameterKind => ({
  name: 'include',
  valid: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }).map((some) => some.join()),
  invalid: fc.constantFrom('readings', 'Wind', 'wind,', 'wind_speed', 'wind, peak_period', 'all', 'true'),
  rare: true,
})

export const extras = include('wind', 'peak_period')
