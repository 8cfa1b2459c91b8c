/**
 * Requests made from an OpenAPI document alone: good ones, and ones with a single fault that the document
 * refuses. Values are percent-encoded, as on the wire.
 */
import * as fc from 'fast-check'
import type { Json } from './conformance.ts'

export interface WireSchema {
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
  /** Of a box; other lists have any number of items. */
  minItems?: number
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
  /** The status of a malformed parameter other than `snapshot`, which is a 400 everywhere. */
  refusal: 400 | 422
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
      refusal: responses['400']?.$ref === '#/components/responses/BadRequest' ? 400 : 422,
    }
  })
}

/** Texts whose allowed values only a list outside the document has. */
const KNOWN_BY_LIST = new Set(['timezone'])

/** The target of a request that keeps to the document, with some of the optional parameters. */
export function goodRequest(
  operation: DocumentedOperation,
  paths: { readonly [name: string]: readonly string[] },
): fc.Arbitrary<{ target: string }> {
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
    const given = all.filter((pair) => pair !== null)
    const format = given.find(({ name }) => name === 'format')?.value ?? 'json'
    const hasBounds = given.some(({ name }) => name === 'bounds')
    const isFitting: { [name: string]: boolean } = {
      // Columns are known by the answers alone.
      fields: false,
      layout: format === 'json',
      units: format === 'csv',
      bom: format === 'csv',
      bbox: !hasBounds,
    }
    // The document says in words what does not go together.
    const fits = given.filter(({ name }) => isFitting[name] ?? true)
    const query = fits.map(({ name, value }) => `${name}=${value}`)
    return { target: withQuery(pathOf(operation, Object.fromEntries(path)), query) }
  })
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
  if (schema.contentSchema !== undefined) return BOX.map((box) => JSON.stringify(box))
  if (schema.minItems !== undefined)
    return BOX.map(({ west, south, east, north }) => [west, south, east, north].join())
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
    fc.integer({ min: -4000, max: 4000 }).map((tenths) => tenths / 10),
    fc.integer({ min: -4000, max: 4000 }).map((tenths) => tenths / 10),
  )
  .map(([a, b, east, west]) => ({ north: Math.max(a, b), south: Math.min(a, b), east, west }))

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
  ...'abc|null|NaN|Infinity|1e999|1e3|0x10|+5| 5|5 |5,5|--5|-|5.|.5|٥|１|5\u0000|5\n|-.5'.split('|'),
  ...'1.2.3'.split('|'),
  DIGITS,
]
/** Words, numbers, and texts of which a letter comes near to one of the right ones. */
const NOT_BOOLEANS = 'yes no on 2 -1 01 null 0.0 tru truee 4rue tr5e Tr\u00dce fal\u017fe'.split(' ')
const BAD_DATES = [
  ...'2026-02-30|2023-02-29T00:00:00Z|2026-13-01|2026-00-10|0000-00-00|27-03-2026'.split('|'),
  ...'27/03/2026|2026-3-27| 2026-03-27|20260327|yesterday|1793512800|2026-03-27\u0000'.split('|'),
  ...'2026-03-27T|T10:00:00Z|2026-03-27T24:00:00Z|2026-03-27T09:60:00Z'.split('|'),
  ...'2026-03-27T09:00:00X|2026-03-27T10:00:00+25:00'.split('|'),
]
/** Texts that some pattern or list refuses; each parameter gets those that are wrong for it. */
const ODD_TEXTS = [
  ...'fr|FRA|F1|FR,US| FR|ФР|25:00|24:00|9:00|09:60|0900|-1:00|09:00:00|09:00Z|09-30|43.5'.split('|'),
  ...'43.5,|,1|91,0|0,181|1e1,0|1,2,3|43.4, -1.6|43.4;-1.6|NaN,NaN|90.1,0|0|-1|01|0h|1.5h'.split('|'),
  ...'2 h|h|2H|2w|PT2H|1000000000s|wind|Wind|wind,|wind, peak_period|swell|,period'.split('|'),
  ...'period,,period|water_temperature,foo|readings|true'.split('|'),
  'period,'.repeat(100),
]
/** A box that is none. */
const BAD_FOURS = [
  '-2,44,-1,43',
  '1,2,3',
  '1,2,3,4,5',
  ',,,',
  '-2,43,-1,',
  '-2, 43,-1,44',
  '1e1,0,20,1',
  'NaN,0,1,1',
  `0,0,${DIGITS},1`,
]
const ODD_ZONES = ['Mars/Phobos', 'Europe', '+02:00', '../../etc/passwd', '__proto__', 'Europe/Paris\0']

/** Values that a schema does not allow, by what is wrong with them. */
function badValues({ name, schema }: Pick<QueryParameter, 'name' | 'schema'>): string[] {
  const { type, minimum, maximum, enum: allowed } = schema
  if (allowed !== undefined) {
    const [first] = allowed
    const near = [` ${first}`, `${first}x`, first.toUpperCase(), `${first}\u0000`]
    return [...near, 'nonsense', 'constructor', DIGITS]
  }
  if (schema.contentSchema !== undefined) return badBoxes(Object.keys(schema.contentSchema.properties))
  const least = minimum === undefined ? [] : [minimum - 1, minimum - 1000].map(String)
  const most = maximum === undefined ? [] : [maximum + 1, maximum * 10 + 1000].map(String)
  // A double that holds no more whole numbers is written out.
  const outside = [...least, ...(maximum === Number.MAX_SAFE_INTEGER ? ['9007199254740992'] : most)]
  switch (type) {
    case 'boolean':
      return [...NOT_BOOLEANS, ' true', 'true\u0000', DIGITS]
    case 'integer':
      return [...NOT_NUMBERS, '1.5', '1.0', ...outside]
    case 'number':
      return [...NOT_NUMBERS, ...outside]
    case 'array': {
      const items = badValues({ name, schema: schema.items! })
      if (schema.minItems !== undefined) return [...items, ...BAD_FOURS]
      const lists = [',', '1,', ',1', '1,,2', '1,a', '1,0', '1;2', '[1,2]', '41001-east', `1,${DIGITS}`]
      return [...lists, ...items.filter((value) => value !== '5,5')]
    }
    case undefined:
    default:
      return name === 'timezone' ? [...badTexts(schema), ...ODD_ZONES, 'nonsense'] : badTexts(schema)
  }
}

function badTexts({ anyOf, format, minLength = 0, maxLength = 0, pattern }: WireSchema): string[] {
  const formats = anyOf?.map((each) => each.format) ?? [format]
  if (formats.includes('date-time')) return BAD_DATES
  if (formats.includes('date')) return [...BAD_DATES, '2026-03-27T00:00:00Z']
  const controls = ['\u0000', '\n', '\r', '\t', '\u001f', '\u007f'].map((control) => `abc${control}def`)
  // A letter may be two units, and blanks at the ends do not count.
  const short = minLength > 1 ? ['a', ' a ', '  ', 'é', '🌊'] : []
  const letters = maxLength > 100 ? ['a'] : ['a', 'é', '🌊']
  const long = maxLength === 0 ? [] : letters.map((letter) => letter.repeat(maxLength + 1))
  const odd = pattern === undefined ? [] : ODD_TEXTS.filter((value) => !new RegExp(pattern).test(value))
  return [...controls, ...short, ...long, ...odd, DIGITS]
}

function badBoxes(names: string[]): string[] {
  const box = (value: unknown): { [name: string]: unknown } =>
    Object.fromEntries(names.map((name) => [name, value]))
  const whole = JSON.stringify(box(0))
  const wrong = ['1', null, [1], undefined]
  const others = ['null', '[]', '{}', '1', 'true', '""', '"box"', '{', 'nonsense', 'north=1', DIGITS]
  return [
    ...others,
    '43,-2,44,-1',
    '[[1,0],[1,0]]',
    `${whole}}`,
    whole.replaceAll('"', "'"),
    whole.toUpperCase(),
    whole.slice(0, -1),
    ' '.repeat(400) + whole,
    `{"__proto__":${whole}}`,
    ...names.flatMap((name) => wrong.map((value) => JSON.stringify({ ...box(0), [name]: value }))),
    ...names.flatMap((name) =>
      ['1e999', 'NaN'].map((value) => whole.replace(`"${name}":0`, `"${name}":${value}`)),
    ),
    JSON.stringify({ ...box(0), south: 1 }),
    JSON.stringify({ ...box(0), more: 'x'.repeat(1000) }),
  ]
}

/** Raw texts that no decoder can accept, or that no value may hold. */
const BAD_ENCODINGS = '% %4 %zz a% %ff %c3%28 %e2%82 %ed%a0%80 %00 1%00 1%7f %0a'.split(' ')

/** The faults that the declaration of a parameter suggests. */
export function faultsOf(parameter: QueryParameter): Fault[] {
  const { name, schema, required, example } = parameter
  const allowed: readonly unknown[] = schema.enum ?? []
  const bad = [...badValues(parameter), 'x'.repeat(10_000)].filter((value) => !allowed.includes(value))
  const values = [...new Set(bad)].map((value) => ({
    word: `value ${JSON.stringify(value.slice(0, 24))}`,
    query: `${name}=${encodeURIComponent(value)}`,
  }))
  const raw = BAD_ENCODINGS.map((text) => ({ word: `encoding ${text}`, query: `${name}=${text}` }))
  const good = encodeURIComponent(String(example ?? firstGood(schema)))
  const repeated = [{ word: 'repeated', query: `${name}=${good}&${name}=${good}` }]
  const absent = ['', name, `${name}=`].map((query) => ({ word: `absent: ${query}`, query }))
  return [
    ...values,
    ...raw,
    ...(schema.type === 'array' && schema.minItems === undefined ? listFaults(name) : repeated),
    ...(required ? absent : []),
  ]
}

/** A list may come in pieces, of which one is wrong. */
const listFaults = (name: string): Fault[] =>
  ['abc', '0', '-7', ''].flatMap((text) =>
    [`${name}[]=1,${text}&${name}[]=2`, `${name}=1&${name}%5B%5D=2,${text}`].map((query) => ({
      word: `piece ${text}`,
      query,
    })),
  )

function firstGood(schema: WireSchema): string {
  const [value] = fc.sample(valueOf(schema), { numRuns: 1, seed: 1 })
  return value
}
