/** The answers in the description that are not a success: 304 and the errors. */
import { ERRORS, type ErrorCode } from '../answers/errors.ts'
import {
  ANONYMOUS_RATE_HEADERS,
  ERROR_HEADERS,
  headerRefs,
  RATE_HEADERS,
  RETRY,
  SNAPSHOT_HEADER,
  SUCCESS_HEADERS,
} from './headers.ts'
import {
  EXAMPLES_AS_OF,
  EXAMPLES_REQUEST_ID,
  REFUSED,
  refusalKey,
  type ExampleAnswers,
} from './operations.ts'
import type { Schema } from './schemas.ts'

const REFUSAL_HEADERS = { ...SNAPSHOT_HEADER, ...ANONYMOUS_RATE_HEADERS }

const EXAMPLE_ERROR = { timestamp: EXAMPLES_AS_OF, request_id: EXAMPLES_REQUEST_ID }

/** For errors that no request to a healthy server gets. */
const MADE_UP_MESSAGES: { readonly [code in ErrorCode]?: string } = {
  internal_error: 'Internal error',
  service_unavailable: 'No snapshot is loaded yet',
}

/** `BadRequest` of `bad_request`: the name of an answer among the components. */
export const pascal = (words: string): string =>
  words.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase())

/** `components.responses`. */
export function responses(answers: ExampleAnswers): { readonly [name: string]: Schema } {
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
    MalformedSnapshot: failure(
      answers,
      'bad_request',
      '`snapshot`, or a parameter that shapes the answer (`format`, `fields`, `layout`, `units`), is malformed or does not fit. Other parameters that are malformed give a 422 on this operation.',
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
    SnapshotGone: failure(
      answers,
      'snapshot_gone',
      'A parameter names a snapshot that the server no longer holds, or never did. `details.current` is the one that it serves now: start over with that.',
      REFUSAL_HEADERS,
      'SnapshotGoneAnswer',
    ),
    ValidationFailed: failure(
      answers,
      'validation_failed',
      'The request is impossible. On operations where 400 is for `snapshot` and the shape of the answer alone, also a missing, malformed or out-of-range parameter.',
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
      {
        ...headerRefs({ 'X-Snapshot-Id': 'LoadedSnapshotId', 'X-Demo': 'Demo' }),
        ...ANONYMOUS_RATE_HEADERS,
        ...RETRY,
      },
    ),
  }
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
