/**
 * The OpenAPI 3.1 description, made from the tables of operations and errors that serve. Meanings of fields
 * are in `schemas.ts`, texts in `operation-texts.json` and `guides.md`, answers in `examples.json`.
 */
import { readFileSync } from 'node:fs'
import { ERRORS, type ErrorCode } from '../operation/errors.ts'
import type { Declared, Operation } from '../operation/operation.ts'
import type { Parameter } from '../operation/parameters.ts'
import {
  ANONYMOUS_RATE_HEADERS,
  FORMAT_CONTENTS,
  HEADER_PARAMETERS,
  HEADERS,
  pascal,
  RATE_HEADERS,
  responses,
  shapeHeaders,
  shapeParameters,
  STREAM_HEADERS,
  SUCCESS_HEADERS,
} from './responses.ts'
import {
  EXAMPLE_ANSWERS,
  exampleRequests,
  OPERATION_TEXTS,
  PATH_PARAMETERS,
  STREAM_EXAMPLES,
  TAGS,
  type ExampleAnswers,
} from './operation-texts.ts'
import { ANSWERS, SCHEMAS, type Schema } from './schemas.ts'

/** The contract's version: its first number is in every path (`/v2`). The package has another one. */
const VERSION = '2.0.0'

/** The parameter is written out, as most generators of clients skip references to parameters. */
const SNAPSHOT_PARAMETER = {
  name: 'snapshot',
  in: 'query',
  required: false,
  description:
    'Answers from this snapshot, an `X-Snapshot-Id` of an earlier answer, for as long as the server holds it; then the answer is a 410. Malformed it is a 400 on every operation. Allowed: 24 digits and letters a to f.',
  schema: { type: 'string', pattern: '^[0-9a-f]{24}$' },
}

interface Described {
  readonly operationId: string
  readonly parameters: readonly Schema[]
  readonly responses: { readonly [status: string]: Schema }
  readonly [keyword: string]: unknown
}

export interface OpenApiDocument {
  readonly openapi: string
  readonly info: {
    readonly title: string
    readonly version: string
    readonly summary: string
    readonly description: string
    readonly license: Schema
  }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: { readonly [path: string]: { readonly get: Described } }
  readonly components: { readonly [kind: string]: { readonly [name: string]: Schema } }
}

/** One scheme: of several, most generated clients take the last, and would put the key into addresses. */
const SECURITY_SCHEMES: { readonly [name: string]: Schema } = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      '`Authorization: Bearer KEY`. A client that cannot set headers may send the parameter `api_key=KEY` in the query instead, but addresses end up in logs and history. If a request has both, the header counts.',
  },
}

const WITH_KEY = [{ bearer: [] }]

/** Programs take an integer for one of 32 bits unless its maximum or its format says otherwise. */
const MOST_OF_32_BITS = 2 ** 31 - 1

/** A copy in which integers that may be larger than 32 bits are `int64`. */
function withFormats<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(withFormats) as Part
  if (typeof part !== 'object' || part === null) return part
  const copy = Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, isData(key) ? value : (withFormats(value) as unknown)]),
  )
  const { type, maximum = Infinity } = part as { type?: unknown; maximum?: number }
  const isWide = [type].flat().includes('integer') && maximum > MOST_OF_32_BITS
  return { ...copy, ...(isWide ? { format: 'int64' } : {}) } as Part
}

/** Whether the value of a keyword is an example and no schema. */
const isData = (keyword: string): boolean => keyword === 'example' || keyword === 'examples'

/** `basePath` as in `/v2`. @throws Error when an operation has no texts or no schema of its answer */
export function openApiDocument(
  operations: readonly (Operation | Declared)[],
  basePath: string,
  examples: ExampleAnswers = EXAMPLE_ANSWERS,
): OpenApiDocument {
  return withFormats({
    openapi: '3.1.0',
    info: {
      title: 'groundswell',
      version: VERSION,
      summary: 'Ocean wave-buoy data: read-only, over HTTP, in JSON, CSV, NDJSON and GeoJSON.',
      description: guides().replaceAll('8080BASE', `8080${basePath}`),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: basePath }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(
      operations.map((operation) => [operation.path, { get: describe(operation, examples) }]),
    ),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: HEADER_PARAMETERS,
      headers: HEADERS,
      responses: responses(examples),
      schemas: {
        ...SCHEMAS,
        ...Object.fromEntries(
          operations
            .filter((operation) => !isStream(operation))
            .map((operation) => [answerName(operation), answerSchema(operation.name)]),
        ),
      },
    },
  })
}

/** The guides of the documentation, in Markdown. `BASE` stands for the base path. */
const guides = (): string => readFileSync(new URL('./guides.md', import.meta.url), 'utf8').trimEnd()

const isStream = (operation: Declared): boolean => 'buoys' in operation

function describe(operation: Operation | Declared, answers: ExampleAnswers): Described {
  const { name, path, access, summary, errors } = operation
  const texts = OPERATION_TEXTS[name]
  if (texts === undefined) throw new Error(`operation ${name} has no texts`)
  const keyed = access === 'keyed'
  const hasStream = isStream(operation)
  const failures: ErrorCode[] = [
    ...errors,
    ...(hasStream ? [] : (['snapshot_gone'] as const)),
    ...(keyed ? (['unauthorized'] as const) : []),
    'rate_limit_exceeded',
    'internal_error',
    'service_unavailable',
  ]
  return {
    operationId: name,
    tags: [texts.tag],
    summary,
    description: texts.description,
    security: keyed ? WITH_KEY : [{}, ...WITH_KEY],
    parameters: [
      ...pathParameters(path),
      ...Object.entries(operation.parameters).map(([parameter, declared]) =>
        queryParameter(parameter, declared, exampleOf(texts.examples, parameter)),
      ),
      ...shapeParameters(operation),
      ...(hasStream ? [] : [SNAPSHOT_PARAMETER]),
      ...(operation.tables === undefined ? [] : [{ $ref: '#/components/parameters/Accept' }]),
      ...(operation.language === true ? [{ $ref: '#/components/parameters/AcceptLanguage' }] : []),
      { $ref: `#/components/parameters/${hasStream ? 'LastEventId' : 'IfNoneMatch'}` },
      { $ref: '#/components/parameters/XRequestId' },
    ],
    responses: {
      ...(hasStream
        ? { '200': streamOf() }
        : {
            '200': success(operation, answers),
            '304': { $ref: '#/components/responses/NotModified' },
          }),
      '400': { $ref: '#/components/responses/MalformedSnapshot' },
      ...Object.fromEntries(
        failures
          .map(
            (code) =>
              [String(ERRORS[code].status), { $ref: `#/components/responses/${pascal(code)}` }] as const,
          )
          .toSorted(([a], [b]) => Number(a) - Number(b)),
      ),
    },
  }
}

function pathParameters(path: string): Schema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    const { description, example } = PATH_PARAMETERS[name]
    return {
      name,
      in: 'path',
      required: true,
      description,
      schema: { type: 'string', minLength: 1 },
      example,
    }
  })
}

function queryParameter(name: string, parameter: Parameter<unknown>, example: string | null): Schema {
  const { description, aliases, required, wire, allowed } = parameter
  const fallback = parameter.default
  const also =
    aliases.length === 0 ? '' : ` Also accepted as ${aliases.map((alias) => `\`${alias}\``).join(', ')}.`
  return {
    name,
    in: 'query',
    required,
    description: `${description}${also} Allowed: ${allowed}.`,
    ...('items' in wire ? { style: 'form', explode: false } : {}),
    schema: { ...wire, ...(fallback === undefined ? {} : { default: fallback }) },
    ...(example === null ? {} : { example: typedExample(wire, example) }),
  }
}

function exampleOf(examples: { readonly [word: string]: string }, parameter: string): string | null {
  for (const request of Object.values(examples)) {
    const query = request.split('?')[1] ?? ''
    const pair = query.split('&').find((each) => each.startsWith(`${parameter}=`))
    if (pair !== undefined) return pair.slice(parameter.length + 1)
  }
  return null
}

function typedExample(wire: object, example: string): unknown {
  const { type } = wire as { type?: string }
  if (type === 'integer' || type === 'number') return Number(example)
  if (type === 'boolean') return example === 'true'
  return type === 'array' ? example.split(',').map(Number) : example
}

const isPaged = ({ parameters }: Declared): boolean => 'page' in parameters

/** `ListBuoysAnswer` of `listBuoys`. */
const answerName = ({ name }: Declared): string => `${pascal(name)}Answer`

function answerSchema(name: string): Schema {
  const answer = ANSWERS[name]
  if (answer === undefined) throw new Error(`operation ${name} has no schema of its answer`)
  return {
    type: 'object',
    required: ['status', 'data', 'meta'],
    properties: {
      status: { type: 'string', const: 'success', description: 'Marks a success.' },
      data: answer.data,
      meta: answer.meta ?? { $ref: '#/components/schemas/Meta' },
    },
  }
}

function success(operation: Declared, answers: ExampleAnswers): Schema {
  const formats = operation.tables?.formats ?? ['json']
  return {
    description: ANSWERS[operation.name].data.description ?? 'The answer.',
    headers: {
      ...SUCCESS_HEADERS,
      ...(operation.access === 'keyed' ? RATE_HEADERS : ANONYMOUS_RATE_HEADERS),
      ...(isPaged(operation) ? { Link: { $ref: '#/components/headers/Link' } } : {}),
      ...shapeHeaders(operation),
      ...(operation.language === true ? { Vary: { $ref: '#/components/headers/VaryLanguage' } } : {}),
    },
    content: Object.fromEntries(
      formats.map((format) => {
        const { type, schema } = format === 'json' ? jsonContent(operation) : FORMAT_CONTENTS[format]
        const examples = exampleRequests(operation, format).map(({ word, request }) => [
          word,
          { summary: `GET ${request}`, value: answers[request] },
        ])
        return [type, { schema, examples: Object.fromEntries(examples) as Schema }]
      }),
    ),
  }
}

/** The usual answer comes first: clients that know one alone take that. */
function jsonContent(operation: Declared): { type: string; schema: Schema } {
  const [usual, shaped] = [answerName(operation), 'ShapedAnswer'].map((name) => ({
    $ref: `#/components/schemas/${name}`,
  }))
  const schema = operation.tables?.isList === true ? { anyOf: [usual, shaped] } : usual
  return { type: 'application/json', schema }
}

function streamOf(): Schema {
  return {
    description:
      'A stream that goes on: the snapshot that is served now, and an event for each later one. `data` of an event is a `SnapshotEvent`.',
    headers: STREAM_HEADERS,
    content: {
      'text/event-stream': {
        schema: {
          type: 'string',
          description: 'Server-Sent Events; this is the schema of the `data` of each, JSON on one line.',
          contentMediaType: 'application/json',
          contentSchema: { $ref: '#/components/schemas/SnapshotEvent' },
        },
        examples: Object.fromEntries(
          Object.entries(STREAM_EXAMPLES).map(([word, value]) => [word, { summary: word, value }]),
        ),
      },
    },
  }
}
