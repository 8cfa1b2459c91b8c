/** Descriptions of headers, of formats other than JSON, and of answers that are not successes. */
import { ERRORS, type ErrorCode } from '../operation/errors.ts'
import type { Declared } from '../operation/operation.ts'
import type { Offered, OfferedFormat } from '../operation/shape.ts'
import {
  EXAMPLES_AS_OF,
  EXAMPLES_REQUEST_ID,
  REFUSED,
  refusalKey,
  type ExampleAnswers,
} from './operation-texts.ts'
import type { Schema } from './schemas.ts'

const requestHeader = (name: string, description: string, more: Schema = {}): Schema => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
  ...more,
})

export const HEADER_PARAMETERS: { readonly [name: string]: Schema } = {
  IfNoneMatch: requestHeader(
    'If-None-Match',
    'One or more `ETag`s of earlier answers, or `*`. The answer is 304 while one of them is current.',
  ),
  XRequestId: requestHeader(
    'X-Request-Id',
    'A UUID of your own for this request. The answer repeats it. Other values are ignored.',
    { schema: { type: 'string', format: 'uuid' } },
  ),
  Accept: requestHeader(
    'Accept',
    'Sets the format of a request without `format`: `text/csv`, `application/x-ndjson`, `application/geo+json` or `application/vnd.apache.parquet`, where the operation has it; else JSON.',
  ),
  LastEventId: requestHeader(
    'Last-Event-ID',
    'The `id` of the last event that came. Browsers send it by themselves. The first event then has the changes since that snapshot, as long as the server holds it; any other value counts as none.',
  ),
  AcceptLanguage: requestHeader('Accept-Language', 'Sets the language of a request without `locale`.', {
    example: 'fr, en;q=0.5',
  }),
}

/** `RateLimitReset` of `X-RateLimit-Reset`. */
function componentName(headerName: string): string {
  return headerName.replace(/^X-/, '').replaceAll('-', '')
}

const header = (description: string, schema: Schema = { type: 'string' }, required = true): Schema => ({
  description,
  required,
  schema,
})
const mayHave = (description: string, schema: Schema = { type: 'string' }): Schema =>
  header(description, schema, false)
const WHOLE = { type: 'integer', minimum: 0 }
const NAME = { type: 'string', minLength: 1 }
const MOMENT = { type: 'string', format: 'date-time' }
const UUID = { type: 'string', format: 'uuid' }
const text = (keyword: 'const' | 'pattern', value: string): Schema => ({ type: 'string', [keyword]: value })
const RATE_TEXTS = {
  'X-RateLimit-Limit': 'Calls an hour.',
  'X-RateLimit-Remaining': 'Calls left in this hour.',
  'X-RateLimit-Reset': 'When the hour ends, Unix time in seconds.',
}
const WITHOUT_QUOTA =
  'Absent on calls without a quota: while no data is loaded, and without a key if the server does not limit such calls.'

export const HEADERS: { readonly [name: string]: Schema } = {
  ETag: header(
    'Validator for `If-None-Match`. It is weak and the same for every key.',
    text('pattern', '^W/"[0-9A-Za-z_-]+"$'),
  ),
  Link: mayHave(
    'The address of the `next` page of the same snapshot, if there is one (RFC 8288), relative to that of the request and without a key. With `snapshot`, and on a page in another format than JSON, those of `prev`, `first` and `last`, too.',
  ),
  IgnoredParameters: mayHave(
    'Parameters of the request that this operation does not take, separated by commas: those that other operations take, and usual mistakes such as `start` for `start_date`; and those that say nothing without another that is missing (`aggregation` without `bucket`). Any other name is left out.',
    text('pattern', '^[A-Za-z_\\[\\]-]+(, [A-Za-z_\\[\\]-]+)*$'),
  ),
  ContentDisposition: mayHave(
    'A name for the file, in other formats than JSON.',
    text('pattern', '^attachment; filename="[A-Za-z0-9._-]+"$'),
  ),
  TotalCount: mayHave('Items on all pages, in other formats than JSON.', WHOLE),
  CacheControl: header(
    'At most a minute, and never past the time when the next data are expected; with `snapshot` until that may leave by the schedule of builds. `private` on answers to a key or with a quota.',
    text('pattern', '^(private|public), max-age=[0-9]+$'),
  ),
  StreamCacheControl: header(
    'Caches and proxies may neither keep nor compress a stream.',
    text('const', 'no-store, no-transform'),
  ),
  AccelBuffering: header('Tells nginx to pass each event on at once.', text('const', 'no')),
  NoStore: header('Caches do not keep errors.', text('const', 'no-store')),
  Vary: header('The headers of the request that the answer depends on: `Authorization` if it needs a key.'),
  VaryLanguage: header(
    'The headers of the request that the answer depends on, its language included.',
    text('pattern', 'Accept-Language'),
  ),
  SnapshotId: header('Name of the snapshot of the data. Answers with the same one fit together.', NAME),
  LoadedSnapshotId: mayHave('Name of the snapshot that is served, if one is.', NAME),
  SnapshotAsOf: header('The time of its data, UTC: that of the newest reading.', MOMENT),
  LoadedSnapshotAsOf: mayHave('The time of its data, UTC.', MOMENT),
  Demo: mayHave(
    'The data are made up, not measured: they are those of the demo. Absent on measured data.',
    text('const', 'true'),
  ),
  RequestId: mayHave('The `X-Request-Id` of the request, if that is a UUID.', UUID),
  ErrorRequestId: header('The same as `request_id` in the body.', UUID),
  ErrorVary: mayHave('`Authorization` on operations that need a key.', text('const', 'Authorization')),
  HelpLink: header('The documentation, as `help` (RFC 8288): an address relative to that of the request.'),
  RetryAfter: header('Seconds to wait before a retry.', WHOLE),
  Authenticate: header('How to send a key.', text('const', 'Bearer')),
  ...Object.fromEntries(
    Object.entries(RATE_TEXTS).flatMap(([name, description]) => [
      [componentName(name), header(description, WHOLE)],
      [`Anonymous${componentName(name)}`, mayHave(`${description} ${WITHOUT_QUOTA}`, WHOLE)],
    ]),
  ),
}

const headerRefs = (names: { readonly [header: string]: string }): Schema =>
  Object.fromEntries(
    Object.entries(names).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  )

const rateHeaders = (prefix: string): Schema =>
  headerRefs(
    Object.fromEntries(Object.keys(RATE_TEXTS).map((name) => [name, `${prefix}${componentName(name)}`])),
  )
export const RATE_HEADERS = rateHeaders('')
export const ANONYMOUS_RATE_HEADERS = rateHeaders('Anonymous')
const OF_SNAPSHOT = {
  'X-Snapshot-Id': 'SnapshotId',
  'X-Snapshot-As-Of': 'SnapshotAsOf',
  'X-Demo': 'Demo',
}
const OF_REQUEST = { 'X-Ignored-Parameters': 'IgnoredParameters', 'X-Request-Id': 'RequestId' }
export const SUCCESS_HEADERS = headerRefs({
  ETag: 'ETag',
  'Cache-Control': 'CacheControl',
  Vary: 'Vary',
  ...OF_SNAPSHOT,
  ...OF_REQUEST,
})
const ERROR_HEADERS = headerRefs({
  'Cache-Control': 'NoStore',
  Vary: 'ErrorVary',
  ...OF_REQUEST,
  'X-Request-Id': 'ErrorRequestId',
})
const SNAPSHOT_HEADER = headerRefs(OF_SNAPSHOT)
const RETRY = headerRefs({ 'Retry-After': 'RetryAfter' })
export const STREAM_HEADERS = {
  ...headerRefs({
    'Cache-Control': 'StreamCacheControl',
    Vary: 'Vary',
    'X-Accel-Buffering': 'AccelBuffering',
    ...OF_SNAPSHOT,
    ...OF_REQUEST,
  }),
  ...RATE_HEADERS,
}

const COLUMN = '[a-z_]+([.][a-z_]+)*'

export const FORMAT_CONTENTS: {
  readonly [format in Exclude<OfferedFormat, 'json'>]: { readonly type: string; readonly schema: Schema }
} = {
  csv: {
    type: 'text/csv',
    schema: {
      type: 'string',
      description: 'A line with the names of the columns, then a line for each item (RFC 4180).',
    },
  },
  ndjson: {
    type: 'application/x-ndjson',
    schema: { type: 'string', description: 'The items of the list, a line of JSON each.' },
  },
  geojson: { type: 'application/geo+json', schema: { $ref: '#/components/schemas/FeatureCollection' } },
  parquet: {
    type: 'application/vnd.apache.parquet',
    schema: { type: 'string', format: 'binary', description: 'A Parquet file with a row for each item.' },
  },
}

/** The query parameters that shape answers. */
export function shapeParameters({ tables }: Declared): Schema[] {
  if (tables === undefined) return []
  const layout = query(
    'layout',
    'With `columns` the list of a JSON answer is an object of arrays, one for each column (`ShapedAnswer`). Allowed: one of rows, columns; with other formats rows.',
    { enum: ['rows', 'columns'], default: 'rows' },
  )
  return [
    query('format', formatText(tables), { enum: tables.formats, default: 'json' }),
    query(
      'fields',
      'Only these columns, in this order: names of members, nested ones with a dot (`last_reading.time`), or of what nests several. ' +
        `${tables.isList ? 'As JSON a `ShapedAnswer`. ' : 'Not with `json`. '}Malformed it is a 400. Allowed: names, separated by commas, once each.`,
      { maxLength: 2000, pattern: `^${COLUMN}(,${COLUMN})*$` },
    ),
    ...(tables.isList ? [layout] : []),
    query(
      'units',
      'With `1` the second line of CSV has the units of the columns, with `name` they follow the names: `period (s)`. Allowed: 0, and with `csv` 1 and name.',
      { enum: ['0', '1', 'name'], default: '0' },
    ),
    query(
      'bom',
      'With `1` CSV begins with a byte order mark, by which spreadsheets know UTF-8. Allowed: 0, and with `csv` 1.',
      { enum: ['0', '1'], default: '0' },
    ),
  ]
}

function formatText({ formats }: Offered): string {
  const whole = formats.includes('csv')
    ? ' Other formats than `json` have all pages in one answer, unless `page` or `per_page` are given.'
    : ''
  return `The format of the answer. It beats the header \`Accept\`; the path may end in \`.csv\`, \`.ndjson\`, \`.geojson\` or \`.parquet\` instead.${whole} Malformed it is a 400. Allowed: one of ${formats.join(', ')}.`
}

function query(name: string, description: string, schema: Schema): Schema {
  return { name, in: 'query', required: false, description, schema: { type: 'string', ...schema } }
}

/** The headers that only answers in other formats have. */
export function shapeHeaders({ tables }: Declared): Schema {
  if (tables === undefined) return {}
  return {
    'Content-Disposition': { $ref: '#/components/headers/ContentDisposition' },
    'X-Total-Count': { $ref: '#/components/headers/TotalCount' },
  }
}

const REFUSAL_HEADERS = { ...SNAPSHOT_HEADER, ...ANONYMOUS_RATE_HEADERS }

const EXAMPLE_ERROR = { timestamp: EXAMPLES_AS_OF, request_id: EXAMPLES_REQUEST_ID }

/** Messages of errors that no request to a healthy server gets. */
const MADE_UP_MESSAGES: { readonly [code in ErrorCode]?: string } = {
  internal_error: 'Internal error',
  service_unavailable: 'No snapshot is loaded yet',
}

/** `BadRequest` of `bad_request`: the name of an answer among the components. */
export const pascal = (words: string): string =>
  words.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase())

interface Failure {
  readonly description: string
  readonly headers?: Schema
  /** Name of the body's schema. */
  readonly schema?: string
}

const FAILURES: { readonly [code in Exclude<ErrorCode, 'method_not_allowed' | 'too_large'>]: Failure } = {
  bad_request: { description: 'A parameter is missing, malformed, given twice or outside its range.' },
  unauthorized: {
    description:
      'The key is missing or wrong. The message says so where it came in another form. The call counts for no quota.',
    headers: { ...SNAPSHOT_HEADER, ...headerRefs({ 'WWW-Authenticate': 'Authenticate', Link: 'HelpLink' }) },
  },
  resource_not_found: {
    description: 'The path, or the thing that a parameter names, does not exist, or nothing is near enough.',
  },
  snapshot_gone: {
    description:
      'A parameter names a snapshot that the server no longer holds, or never did. `details.current` is the one that it serves now: start over with that.',
    schema: 'SnapshotGoneAnswer',
  },
  validation_failed: {
    description:
      'The request is impossible. On operations where 400 is for `snapshot` and the shape of the answer alone, also a missing, malformed or out-of-range parameter.',
  },
  rate_limit_exceeded: {
    description: 'The quota of this hour is used up.',
    headers: { ...SNAPSHOT_HEADER, ...RATE_HEADERS, ...RETRY },
    schema: 'RateLimitAnswer',
  },
  internal_error: { description: 'A fault of the server. The body has no details of it.' },
  service_unavailable: {
    description:
      'No data is loaded yet, the server is stopping (on `/events`), or the snapshot that is named has not come to this one of several servers yet, or too many long answers are being made. `Retry-After` says when to ask again.',
    headers: {
      ...headerRefs({
        'X-Snapshot-Id': 'LoadedSnapshotId',
        'X-Snapshot-As-Of': 'LoadedSnapshotAsOf',
        'X-Demo': 'Demo',
      }),
      ...ANONYMOUS_RATE_HEADERS,
      ...RETRY,
    },
  },
}

export function responses(answers: ExampleAnswers): { readonly [name: string]: Schema } {
  const failures = Object.entries(FAILURES).map(([code, failure]) => [
    pascal(code),
    failureOf(answers, code as ErrorCode, failure),
  ])
  return {
    NotModified: {
      description: 'An `ETag` of `If-None-Match` is current. The answer has no body, and the call counts.',
      headers: { ...SUCCESS_HEADERS, ...ANONYMOUS_RATE_HEADERS },
    },
    MalformedSnapshot: failureOf(answers, 'bad_request', {
      description:
        '`snapshot`, or a parameter that shapes the answer (`format`, `fields`, `layout`, `units`), is malformed or does not fit. Other parameters that are malformed give a 422 on this operation.',
    }),
    ...(Object.fromEntries(failures) as { [name: string]: Schema }),
  }
}

function failureOf(
  answers: ExampleAnswers,
  code: ErrorCode,
  { description, headers = REFUSAL_HEADERS, schema = 'ErrorAnswer' }: Failure,
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
