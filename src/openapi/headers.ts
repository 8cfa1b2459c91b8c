/** The headers of requests and answers in the description, and which of them an answer has. */
import type { Schema } from './schemas.ts'

export const HEADER_PARAMETERS: { readonly [name: string]: Schema } = {
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
    description: 'A UUID of your own for this request. The answer repeats it. Other values are ignored.',
    schema: { type: 'string', format: 'uuid' },
  },
  Accept: {
    name: 'Accept',
    in: 'header',
    description:
      'Sets the format of a request without `format`: `text/csv`, `application/x-ndjson`, `application/geo+json` or `application/vnd.apache.parquet`, where the operation has it; else JSON.',
    schema: { type: 'string' },
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description:
      'The `id` of the last event that came. Browsers send it by themselves. The first event then has the changes since that snapshot, as long as the server holds it; any other value counts as none.',
    schema: { type: 'string' },
  },
  AcceptLanguage: {
    name: 'Accept-Language',
    in: 'header',
    description: 'Sets the language of a request without `locale`.',
    schema: { type: 'string' },
    example: 'fr, en;q=0.5',
  },
}

/** `RateLimitReset` of `X-RateLimit-Reset`. */
function componentName(headerName: string): string {
  return headerName.replace(/^X-/, '').replaceAll('-', '')
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

export const HEADERS: { readonly [name: string]: Schema } = {
  ETag: header('Validator for `If-None-Match`. It is weak and the same for every key.', {
    type: 'string',
    pattern: '^W/"[0-9A-Za-z_-]+"$',
  }),
  Link: header(
    'With `snapshot`, and on a page in another format than JSON: the addresses of the pages `next`, `prev`, `first` and `last` of the same snapshot (RFC 8288), without a key.',
    { type: 'string' },
    false,
  ),
  IgnoredParameters: header(
    'Parameters of the request that this operation does not take, separated by commas: those that other operations take, and usual mistakes such as `start` for `start_date`. Any other name is left out.',
    { type: 'string', pattern: '^[A-Za-z_\\[\\]-]+(, [A-Za-z_\\[\\]-]+)*$' },
    false,
  ),
  ContentDisposition: header(
    'A name for the file, in other formats than JSON.',
    { type: 'string', pattern: '^attachment; filename="[A-Za-z0-9._-]+"$' },
    false,
  ),
  TotalCount: header('Items on all pages, in other formats than JSON.', WHOLE, false),
  CacheControl: header(
    'At most a minute, and never past the time when the next data are expected; with `snapshot` until that may leave by the schedule of builds. `private` on answers to a key or with a quota.',
    {
      type: 'string',
      pattern: '^(private|public), max-age=[0-9]+$',
    },
  ),
  StreamCacheControl: header('Caches and proxies may neither keep nor compress a stream.', {
    type: 'string',
    const: 'no-store, no-transform',
  }),
  AccelBuffering: header('Tells nginx to pass each event on at once.', { type: 'string', const: 'no' }),
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
  Demo: header(
    'The data are made up, not measured: they are those of the demo. Absent on measured data.',
    { type: 'string', const: 'true' },
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

export const headerRefs = (names: { readonly [header: string]: string }): Schema =>
  Object.fromEntries(
    Object.entries(names).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  )

export const RATE_HEADERS = headerRefs(
  Object.fromEntries(Object.keys(RATE_TEXTS).map((name) => [name, componentName(name)])),
)
export const ANONYMOUS_RATE_HEADERS = headerRefs(
  Object.fromEntries(Object.keys(RATE_TEXTS).map((name) => [name, `Anonymous${componentName(name)}`])),
)
const VALIDATORS = {
  ETag: 'ETag',
  'Cache-Control': 'CacheControl',
  Vary: 'Vary',
  'X-Snapshot-Id': 'SnapshotId',
  'X-Demo': 'Demo',
  'X-Ignored-Parameters': 'IgnoredParameters',
  'X-Request-Id': 'RequestId',
}
export const SUCCESS_HEADERS = headerRefs(VALIDATORS)
export const ERROR_HEADERS = headerRefs({
  'Cache-Control': 'NoStore',
  'X-Ignored-Parameters': 'IgnoredParameters',
  'X-Request-Id': 'ErrorRequestId',
})
export const SNAPSHOT_HEADER = headerRefs({ 'X-Snapshot-Id': 'SnapshotId', 'X-Demo': 'Demo' })
export const RETRY = headerRefs({ 'Retry-After': 'RetryAfter' })
export const STREAM_HEADERS = {
  ...headerRefs({
    'Cache-Control': 'StreamCacheControl',
    Vary: 'Vary',
    'X-Accel-Buffering': 'AccelBuffering',
    'X-Snapshot-Id': 'SnapshotId',
    'X-Demo': 'Demo',
    'X-Ignored-Parameters': 'IgnoredParameters',
    'X-Request-Id': 'RequestId',
  }),
  ...RATE_HEADERS,
}
