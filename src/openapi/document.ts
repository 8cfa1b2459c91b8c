/**
 * The OpenAPI 3.1 description of the service. It is made from what serves: the table of operations, whose
 * declarations also check parameters, and the table of errors. Meanings of fields are in `schemas.ts`, texts
 * in `operations.ts` and `guides.ts`, answers of the demo snapshot in `examples.ts`.
 */
import { ERRORS, type ErrorCode } from '../answers/errors.ts'
import type { Operation } from '../answers/operation.ts'
import type { Parameter } from '../answers/parameters.ts'
import { EXAMPLE_ANSWERS } from './examples.ts'
import { guidesText } from './guides.ts'
import { OPERATION_TEXTS, PATH_PARAMETERS, REFUSED, refusalKey, TAGS } from './operations.ts'
import { ANSWERS, SCHEMAS, type Schema } from './schemas.ts'

/**
 * The version of the contract, which existing clients know; its first number is in every path (`/v2`). The
 * package counts the program and has a version of its own: CHANGELOG.md says what changes each.
 */
const VERSION = '2.0.0'

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

/** Bodies of answers by request, and of refusals by `refusalKey`. */
export type ExampleAnswers = { readonly [request: string]: unknown }

/** `basePath` as in `/v2`. @throws Error when an operation has no texts or no schema of its answer */
export function openApiDocument(
  operations: readonly Operation[],
  basePath: string,
  examples: ExampleAnswers = EXAMPLE_ANSWERS,
): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'groundswell',
      version: VERSION,
      summary: 'Ocean wave-buoy data: read-only, over HTTP, in JSON.',
      description: guidesText(basePath),
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
          operations.map((operation) => [answerName(operation), answerSchema(operation.name)]),
        ),
      },
    },
  }
}

const SECURITY_SCHEMES: { readonly [name: string]: Schema } = {
  bearer: { type: 'http', scheme: 'bearer', description: 'The preferred form: `Authorization: Bearer KEY`.' },
  api_key: {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description:
      'For clients that cannot set headers. Addresses end up in logs and history. If a request also has the header, the header counts.',
  },
}

const WITH_KEY = [{ bearer: [] }, { api_key: [] }]

function describe(operation: Operation, answers: ExampleAnswers): Described {
  const { name, path, access, summary, errors } = operation
  const texts = OPERATION_TEXTS[name]
  if (texts === undefined) throw new Error(`operation ${name} has no texts`)
  const keyed = access === 'keyed'
  const failures: ErrorCode[] = [
    ...errors,
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
      ...(operation.language === true ? [{ $ref: '#/components/parameters/AcceptLanguage' }] : []),
      { $ref: '#/components/parameters/IfNoneMatch' },
      { $ref: '#/components/parameters/XRequestId' },
    ],
    responses: {
      '200': success(operation, answers),
      '304': { $ref: '#/components/responses/NotModified' },
      ...Object.fromEntries(
        failures
          .map(
            (code) =>
              [
                String(ERRORS[code].status),
                { $ref: `#/components/responses/${responseName(code)}` },
              ] as const,
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
  const { description, aliases, required, repeatable, allowed } = parameter
  const fallback = parameter.default
  const also =
    aliases.length === 0 ? '' : ` Also accepted as ${aliases.map((alias) => `\`${alias}\``).join(', ')}.`
  return {
    name,
    in: 'query',
    required,
    description: `${description}${also} Allowed: ${allowed}.`,
    ...(repeatable ? { style: 'form', explode: false } : {}),
    schema: { ...parameter.wire, ...(fallback === undefined ? {} : { default: fallback }) },
    ...(example === null ? {} : { example: typedExample(parameter.wire, example) }),
  }
}

/** The value of a parameter in the first example that has it. */
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

const pascal = (words: string): string =>
  words.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase())

/** `ListBuoysAnswer` of `listBuoys`. */
const answerName = ({ name }: Operation): string => `${pascal(name)}Answer`

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

function success(operation: Operation, answers: ExampleAnswers): Schema {
  const { examples } = OPERATION_TEXTS[operation.name]
  return {
    description: ANSWERS[operation.name].data.description ?? 'The answer.',
    headers: {
      ...SUCCESS_HEADERS,
      ...(operation.access === 'keyed' ? RATE_HEADERS : ANONYMOUS_RATE_HEADERS),
      ...(operation.language === true ? { Vary: { $ref: '#/components/headers/VaryLanguage' } } : {}),
    },
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${answerName(operation)}` },
        examples: Object.fromEntries(
          Object.entries(examples).map(([word, request]) => [
            word,
            { summary: `GET ${request}`, value: answers[request] },
          ]),
        ),
      },
    },
  }
}

const HEADER_PARAMETERS: { readonly [name: string]: Schema } = {
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'One or more `ETag`s of earlier answers, or `*`. The answer is 304 while one of them is current.',
    schema: { type: 'string' },
  },
  XRequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'A UUID of your own for this request. The answer has it, too. Other values are ignored.',
    schema: { type: 'string', format: 'uuid' },
  },
  AcceptLanguage: {
    name: 'Accept-Language',
    in: 'header',
    description: 'Sets the language of a request without `locale`.',
    schema: { type: 'string' },
    example: 'fr, en;q=0.5',
  },
}

const header = (description: string, schema: Schema, required = true): Schema => ({
  description,
  required,
  schema,
})
const WHOLE = { type: 'integer', minimum: 0 }
const RATE_TEXTS = {
  'X-RateLimit-Limit': 'Calls an hour.',
  'X-RateLimit-Remaining': 'Calls left in this hour.',
  'X-RateLimit-Reset': 'When the hour ends, Unix time in seconds.',
}
const WITHOUT_QUOTA =
  'Absent on calls without a quota: while no data is loaded, and without a key if the server does not limit such calls.'

const HEADERS: { readonly [name: string]: Schema } = {
  ETag: header('Validator for `If-None-Match`. It is weak and the same for every key.', {
    type: 'string',
    pattern: '^W/"[0-9A-Za-z_-]+"$',
  }),
  CacheControl: header(
    'At most a minute, and never past the time when the next data are expected. `private` on answers to a key or with a quota.',
    {
      type: 'string',
      pattern: '^(private|public), max-age=[0-9]+$',
    },
  ),
  NoStore: header('Caches do not keep errors.', { type: 'string', const: 'no-store' }),
  Vary: header('The headers of the request that the answer depends on: `Authorization` if it needs a key.', {
    type: 'string',
  }),
  VaryLanguage: header('The headers of the request that the answer depends on, its language included.', {
    type: 'string',
    pattern: 'Accept-Language',
  }),
  SnapshotId: header('Name of the snapshot of the data. Answers with the same one fit together.', {
    type: 'string',
    minLength: 1,
  }),
  LoadedSnapshotId: header(
    'Name of the snapshot that is served, if one is.',
    { type: 'string', minLength: 1 },
    false,
  ),
  RequestId: header(
    'The `X-Request-Id` of the request, if that is a UUID.',
    { type: 'string', format: 'uuid' },
    false,
  ),
  ErrorRequestId: header('The same as `request_id` in the body.', { type: 'string', format: 'uuid' }),
  RetryAfter: header('Seconds to wait before a retry.', WHOLE),
  Authenticate: header('How to send a key.', { type: 'string', const: 'Bearer' }),
  ...Object.fromEntries(
    Object.entries(RATE_TEXTS).flatMap(([name, text]) => [
      [componentName(name), header(text, WHOLE)],
      [`Anonymous${componentName(name)}`, header(`${text} ${WITHOUT_QUOTA}`, WHOLE, false)],
    ]),
  ),
}

/** `RateLimitReset` of `X-RateLimit-Reset`. */
function componentName(headerName: string): string {
  return headerName.replace(/^X-/, '').replaceAll('-', '')
}

const headerRefs = (names: { readonly [header: string]: string }): Schema =>
  Object.fromEntries(
    Object.entries(names).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  )

const RATE_HEADERS = headerRefs(
  Object.fromEntries(Object.keys(RATE_TEXTS).map((name) => [name, componentName(name)])),
)
const ANONYMOUS_RATE_HEADERS = headerRefs(
  Object.fromEntries(Object.keys(RATE_TEXTS).map((name) => [name, `Anonymous${componentName(name)}`])),
)
const VALIDATORS = {
  ETag: 'ETag',
  'Cache-Control': 'CacheControl',
  Vary: 'Vary',
  'X-Snapshot-Id': 'SnapshotId',
  'X-Request-Id': 'RequestId',
}
const SUCCESS_HEADERS = headerRefs(VALIDATORS)
const ERROR_HEADERS = headerRefs({ 'Cache-Control': 'NoStore', 'X-Request-Id': 'ErrorRequestId' })
const SNAPSHOT_HEADER = headerRefs({ 'X-Snapshot-Id': 'SnapshotId' })

function responseName(code: ErrorCode): string {
  return pascal(code)
}

const EXAMPLE_ERROR = {
  timestamp: '2026-11-01T06:00:00Z',
  request_id: '6f9619ff-8b86-4d01-b42d-00cf4fc964ff',
}

function failure(
  answers: ExampleAnswers,
  code: ErrorCode,
  description: string,
  headers: Schema,
  schema = 'ErrorAnswer',
): Schema {
  const { status } = ERRORS[code]
  const examples = REFUSED.filter((refused) => refused.status === status).map((refused) => [
    refused.word,
    { summary: `GET ${refused.request}`, value: answers[refusalKey(refused)] },
  ])
  const content =
    examples.length > 0
      ? { examples: Object.fromEntries(examples) as Schema }
      : { example: { error: code, message: MADE_UP_MESSAGES[code], ...EXAMPLE_ERROR } }
  return {
    description,
    headers: { ...ERROR_HEADERS, ...headers },
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, ...content } },
  }
}

/** For errors that no request to a healthy server gets. */
const MADE_UP_MESSAGES: { readonly [code in ErrorCode]?: string } = {
  internal_error: 'Internal error',
  service_unavailable: 'No snapshot is loaded yet',
}

const RETRY = headerRefs({ 'Retry-After': 'RetryAfter' })
const REFUSAL_HEADERS = { ...SNAPSHOT_HEADER, ...ANONYMOUS_RATE_HEADERS }

function responses(answers: ExampleAnswers): { readonly [name: string]: Schema } {
  return {
    NotModified: {
      description: 'An `ETag` of `If-None-Match` is current. The answer has no body, and the call counts.',
      headers: { ...SUCCESS_HEADERS, ...ANONYMOUS_RATE_HEADERS },
    },
    BadRequest: failure(
      answers,
      'bad_request',
      'A parameter is missing, malformed, given twice or outside its range.',
      REFUSAL_HEADERS,
    ),
    Unauthorized: failure(
      answers,
      'unauthorized',
      'The key is missing or wrong. The call counts for no quota.',
      {
        ...SNAPSHOT_HEADER,
        ...headerRefs({ 'WWW-Authenticate': 'Authenticate' }),
      },
    ),
    ResourceNotFound: failure(
      answers,
      'resource_not_found',
      'The path, or what a parameter names, does not exist, or nothing is near enough.',
      REFUSAL_HEADERS,
    ),
    ValidationFailed: failure(
      answers,
      'validation_failed',
      'The request is impossible. On operations that do not list 400, also a missing, malformed or out-of-range parameter.',
      REFUSAL_HEADERS,
    ),
    RateLimitExceeded: failure(
      answers,
      'rate_limit_exceeded',
      'The quota of this hour is used up.',
      { ...SNAPSHOT_HEADER, ...RATE_HEADERS, ...RETRY },
      'RateLimitAnswer',
    ),
    InternalError: failure(
      answers,
      'internal_error',
      'A fault of the server. The body has no details of it.',
      REFUSAL_HEADERS,
    ),
    ServiceUnavailable: failure(
      answers,
      'service_unavailable',
      'No data is loaded yet, or too many long answers are being made. `Retry-After` says when to ask again.',
      { ...headerRefs({ 'X-Snapshot-Id': 'LoadedSnapshotId' }), ...ANONYMOUS_RATE_HEADERS, ...RETRY },
    ),
  }
}
