/**
 * Requests made from an OpenAPI document alone: good ones, and ones with a single fault that the document
 * refuses. Values are percent-encoded, as on the wire.
 */
import * as fc from 'fast-check'
import type { Json } from './conformance.ts'

interface WireSchema {
  type?: string
  enum?: string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  anyOf?: { format: string }[]
  items?: WireSchema
  contentSchema?: { properties: { [name: string]: unknown } }
}

interface QueryParameter {
  name: string
  required: boolean
  schema: WireSchema
  example?: string | number | boolean | number[]
}

export interface DocumentedOperation {
  id: string
  path: string
  isPublic: boolean
  query: QueryParameter[]
  inPath: { name: string; example: string }[]
  /** Documented statuses. */
  statuses: number[]
  /** The status of a malformed parameter other than `snapshot`, which is a 400 everywhere. */
  refusal: 400 | 422
}

interface GeneratedRequest {
  operation: DocumentedOperation
  target: string
  /** Names of the parameters in the request. */
  given: string[]
}

export interface Fault {
  word: string
  /** The part of the query that replaces `name=value`. */
  query: string
}

/** The operations of a document. `base` precedes their paths. */
export function operationsOf(document: Json): DocumentedOperation[] {
  const [{ url }] = document.servers as [{ url: string }]
  return Object.entries(document.paths as { [path: string]: { get: Json } }).map(([path, { get }]) => {
    const parameters = get.parameters as (QueryParameter & { in?: string; example: string })[]
    const responses = get.responses as { [status: string]: { $ref?: string } }
    return {
      id: get.operationId as string,
      path: url + path,
      isPublic: (get.security as object[]).some((way) => Object.keys(way).length === 0),
      query: parameters.filter((parameter) => parameter.in === 'query'),
      inPath: parameters.filter((parameter) => parameter.in === 'path'),
      statuses: Object.keys(responses).map(Number),
      refusal: responses['400']?.$ref === '#/components/responses/BadRequest' ? 400 : 422,
    }
  })
}

/** Texts whose allowed values only a list outside the document has. */
const KNOWN_BY_LIST = new Set(['timezone'])

/** A request that keeps to the document, with some of the optional parameters. */
export function goodRequest(
  operation: DocumentedOperation,
  paths: { readonly [name: string]: readonly string[] },
): fc.Arbitrary<GeneratedRequest> {
  const segments = operation.inPath.map(({ name, example }) =>
    fc.constantFrom(...(paths[name] ?? [example])).map((value) => [name, value] as const),
  )
  const pairs = operation.query.map((parameter) => {
    const pair = goodValue(parameter).map((value) => ({ name: parameter.name, value }))
    // Fewer than half, as some exclude each other.
    return parameter.required
      ? pair
      : fc.oneof({ arbitrary: pair, weight: 1 }, { arbitrary: fc.constant(null), weight: 2 })
  })
  return fc.tuple(fc.tuple(...segments), fc.tuple(...pairs)).map(([path, all]) => {
    const given = fitting(all.flatMap((pair) => (pair === null ? [] : [pair])))
    return {
      operation,
      target: withQuery(
        pathOf(operation, Object.fromEntries(path)),
        given.map(({ name, value }) => `${name}=${value}`),
      ),
      given: given.map(({ name }) => name),
    }
  })
}

interface Pair {
  name: string
  value: string
}

/** Without what the document says in words not to go together; columns are known by the answers alone. */
function fitting(pairs: readonly Pair[]): Pair[] {
  const format = pairs.find(({ name }) => name === 'format')?.value ?? 'json'
  return pairs.filter(
    ({ name }) =>
      name !== 'fields' && (name !== 'layout' || format === 'json') && (name !== 'units' || format === 'csv'),
  )
}

/** The request target of the document's examples, with `fault` instead of one parameter. */
export function faultyTarget(operation: DocumentedOperation, faulty: QueryParameter, fault: Fault): string {
  const given = Object.fromEntries(operation.inPath.map(({ name, example }) => [name, example]))
  return withQuery(pathOf(operation, given), [
    ...requiredPairs(operation, faulty.name),
    ...(fault.query === '' ? [] : [fault.query]),
  ])
}

/** The request target of the document's examples, with `word` instead of one argument of the path. */
export function strangeTarget(operation: DocumentedOperation, argument: string, word: string): string {
  const given = Object.fromEntries(operation.inPath.map(({ name, example }) => [name, example]))
  const path = operation.path.replace(`{${argument}}`, () => word)
  return withQuery(pathOf({ ...operation, path }, given), requiredPairs(operation, ''))
}

/** The required parameters except one, with their examples. */
function requiredPairs({ query }: DocumentedOperation, without: string): string[] {
  return query
    .filter(({ name, required }) => required && name !== without)
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`)
}

function pathOf({ path }: DocumentedOperation, values: { readonly [name: string]: string }): string {
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(values[name]))
}

const withQuery = (path: string, pairs: string[]): string =>
  pairs.length === 0 ? path : `${path}?${pairs.join('&')}`

function goodValue({ name, schema, example }: QueryParameter): fc.Arbitrary<string> {
  const made = valueOf(schema).map(encodeURIComponent)
  if (example === undefined) return made
  const given = fc.constant(encodeURIComponent(String(example)))
  return KNOWN_BY_LIST.has(name) ? given : fc.oneof(given, { arbitrary: made, weight: 2 })
}

const SECONDS = fc.integer({ min: Date.UTC(2024, 0, 1) / 1000, max: Date.UTC(2027, 0, 1) / 1000 })
const iso = (seconds: number): string => new Date(seconds * 1000).toISOString()
const DATE = SECONDS.map((seconds) => iso(seconds).slice(0, 10))
const DATE_TIME = fc.oneof(
  SECONDS.map((seconds) => iso(seconds)),
  SECONDS.map((seconds) => iso(seconds).replace('.000Z', 'Z')),
  SECONDS.map((seconds) => iso(seconds).replace('.000Z', '+02:00')),
)

function valueOf(schema: WireSchema): fc.Arbitrary<string> {
  const { type, minimum, maximum } = schema
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.contentSchema !== undefined) return BOX
  switch (type) {
    case 'boolean':
      return fc.constantFrom('true', 'false')
    case 'integer':
      return fc
        .oneof(
          fc.integer({ min: minimum ?? -1000, max: maximum ?? 1_000_000 }),
          fc.constantFrom(minimum ?? 1, maximum ?? 1_000_000_000),
        )
        .map(String)
    case 'number':
      return fc.oneof(
        decimal(minimum ?? -1000, maximum ?? 30_000),
        fc.constantFrom(minimum ?? 0, maximum ?? 1e9).map(String),
      )
    case 'array':
      return fc.array(valueOf(schema.items!), { minLength: 1, maxLength: 12 }).map((items) => items.join(','))
    case undefined:
    default:
      return textOf(schema)
  }
}

function decimal(min: number, max: number): fc.Arbitrary<string> {
  return fc
    .integer({ min: Math.ceil(min * 1e4), max: Math.floor(max * 1e4) })
    .map((value) => String(value / 1e4))
}

/** The document says in words that the south of a box is not above its north. */
const BOX = fc
  .tuple(
    fc.integer({ min: -120, max: 120 }),
    fc.integer({ min: -120, max: 120 }),
    fc.double({ min: -400, max: 400, noNaN: true }),
    fc.double({ min: -400, max: 400, noNaN: true }),
  )
  .map(([a, b, east, west]) => JSON.stringify({ north: Math.max(a, b), south: Math.min(a, b), east, west }))

function textOf(schema: WireSchema): fc.Arbitrary<string> {
  const formats = schema.anyOf?.map(({ format }) => format) ?? [schema.format]
  if (formats.includes('date-time')) return formats.includes('date') ? fc.oneof(DATE, DATE_TIME) : DATE_TIME
  if (formats.includes('date')) return DATE
  const { pattern = '^.*$', minLength = 0, maxLength = 100 } = schema
  const length = (text: string): number => Array.from(text).length
  // A length is counted without blanks at the ends, so these could make a text too short.
  return (
    pattern.startsWith('^[^')
      ? fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 40) })
      : fc.stringMatching(new RegExp(pattern))
  )
    .filter((text) => text === text.trim() && length(text) >= minLength && length(text) <= maxLength)
    .filter((text) => new RegExp(pattern).test(text) && text !== '')
}

const DIGITS = '9'.repeat(400)
const NOT_NUMBERS = [
  'abc',
  'NaN',
  'Infinity',
  '1e999',
  '1e3',
  '0x10',
  '+5',
  ' 5',
  '5 ',
  '5,5',
  '--5',
  '٥',
  DIGITS,
  '5\u0000',
]

/** Values that a schema does not allow, by what is wrong with them. */
function badValues(schema: WireSchema): string[] {
  const { type, minimum, maximum, pattern } = schema
  const outside = [
    ...(minimum === undefined ? [] : [String(minimum - 1)]),
    ...(maximum === undefined
      ? []
      : [maximum >= Number.MAX_SAFE_INTEGER ? '9007199254740992' : String(maximum + 1)]),
  ]
  if (schema.enum !== undefined)
    return ['nonsense', schema.enum[0].toUpperCase(), `${schema.enum[0]}\u0000`, DIGITS]
  if (schema.contentSchema !== undefined) return badBoxes(Object.keys(schema.contentSchema.properties))
  switch (type) {
    case 'boolean':
      return ['yes', '2', 'null', '0.0', 'true\u0000', DIGITS]
    case 'integer':
      return [...NOT_NUMBERS, '1.5', '1.0', ...outside]
    case 'number':
      return [...NOT_NUMBERS, '.5', '5.', ...outside]
    case 'array':
      return [
        'a',
        '1,,2',
        ',',
        '1,a',
        '1;2',
        '1.5',
        '1 ',
        '1e3',
        `1,${DIGITS}`,
        ...badValues({ ...schema.items! }).filter((value) => value !== '5,5' && value !== ' 5'),
      ]
    case undefined:
    default:
      return [...badTexts(schema), ...(pattern === undefined ? ['nonsense', DIGITS, '٣'] : [])]
  }
}

function badTexts({ anyOf, format, minLength, maxLength, pattern = '' }: WireSchema): string[] {
  const formats = anyOf?.map((each) => each.format) ?? [format]
  if (formats.includes('date') || formats.includes('date-time')) {
    const dates = [
      '2026-02-30',
      '2026-13-01',
      '2026-00-10',
      '27-03-2026',
      '2026-3-27',
      'yesterday',
      '2026-03-27\u0000',
    ]
    const times = [
      '2026-02-30T00:00:00Z',
      '2026-03-27T24:00:00Z',
      '2026-03-27T09:60:00Z',
      '2026-03-27T09:00:00X',
      '1793512800',
      'now',
    ]
    return formats.includes('date-time')
      ? [...dates, ...times]
      : [...dates, '2026-03-27T00:00:00Z', '20260327']
  }
  const controls = ['\u0000', '\n', '\u007f'].map((control) => `abc${control}def`)
  const short = (minLength ?? 0) > 1 ? ['a'.repeat(minLength! - 1)] : []
  const long = maxLength === undefined ? [DIGITS] : ['a'.repeat(maxLength + 1), DIGITS]
  const off = [
    'fr',
    'FRA',
    'F1',
    '25:00',
    '24:00',
    '9:00',
    '09:60',
    '43.5',
    '43.5,',
    ',1',
    '91,0',
    '0,181',
    '1e1,0',
    '1,2,3',
    'NaN,NaN',
    '90.1,0',
  ]
  return [...controls, ...short, ...long, ...off.filter((value) => !new RegExp(pattern).test(value))]
}

function badBoxes(names: string[]): string[] {
  const box = (value: unknown): { [name: string]: unknown } =>
    Object.fromEntries(names.map((name) => [name, value]))
  return [
    'null',
    '[]',
    '{}',
    '1',
    '"box"',
    '{',
    'nonsense',
    DIGITS,
    ...names.map((name) => JSON.stringify({ ...box(0), [name]: '1' })),
    ...names.map((name) => JSON.stringify({ ...box(0), [name]: undefined })),
    ...names.map((name) => JSON.stringify(box(0)).replace(`"${name}":0`, `"${name}":1e999`)),
    JSON.stringify({ ...box(0), south: 1 }),
    JSON.stringify({ ...box(0), more: 'x'.repeat(1000) }),
  ]
}

/** The faults that the declaration of a parameter suggests. */
export function faultsOf(parameter: QueryParameter): Fault[] {
  const { name, schema, required, example } = parameter
  const allowed: readonly unknown[] = schema.enum ?? []
  const bad = badValues(schema).filter((value) => !allowed.includes(value))
  const values = [...new Set(bad)].map((value) => ({
    word: `value ${JSON.stringify(value.slice(0, 24))}`,
    query: `${name}=${encodeURIComponent(value)}`,
  }))
  const good = encodeURIComponent(String(example ?? firstGood(schema)))
  return [
    ...values,
    ...['%', '%zz', '%ff', '%c3%28', '%ed%a0%80'].map((text) => ({
      word: `encoding ${text}`,
      query: `${name}=${text}`,
    })),
    ...(schema.type === 'array' ? [] : [{ word: 'repeated', query: `${name}=${good}&${name}=${good}` }]),
    ...(required
      ? [
          { word: 'missing', query: '' },
          { word: 'empty', query: `${name}=` },
        ]
      : []),
  ]
}

function firstGood(schema: WireSchema): string {
  const [value] = fc.sample(valueOf(schema), { numRuns: 1, seed: 1 })
  return value
}
