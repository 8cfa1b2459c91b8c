/** The closed table of errors. Codes stay, messages may change. */

export const ERRORS = {
  bad_request: { status: 400, reason: 'Bad Request' },
  unauthorized: { status: 401, reason: 'Unauthorized' },
  resource_not_found: { status: 404, reason: 'Not Found' },
  method_not_allowed: { status: 405, reason: 'Method Not Allowed' },
  snapshot_gone: { status: 410, reason: 'Gone' },
  too_large: { status: 413, reason: 'Content Too Large' },
  validation_failed: { status: 422, reason: 'Unprocessable Entity' },
  rate_limit_exceeded: { status: 429, reason: 'Too Many Requests' },
  internal_error: { status: 500, reason: 'Internal Server Error' },
  service_unavailable: { status: 503, reason: 'Service Unavailable' },
} as const

export type ErrorCode = keyof typeof ERRORS

export type ErrorDetails = { [field: string]: string | number | null }

/** Ends a request with an error. The message goes to the client: what was wrong and what is allowed. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCode
  readonly details: ErrorDetails | null
  /** Seconds after which to ask again; null where that is of no use. */
  readonly retryAfter: number | null

  constructor(
    code: ErrorCode,
    message: string,
    details: ErrorDetails | null = null,
    retryAfter: number | null = null,
  ) {
    // Walking the stack takes longer than the rest of a 404.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.details = details
    this.retryAfter = retryAfter
  }
}

/** The fault of a parameter, and the allowed values. */
export function refused(parameter: string, problem: string, code: ErrorCode = 'bad_request'): ApiError {
  return new ApiError(code, `Parameter ${parameter} ${problem}`, { parameter })
}

export function notFound(message: string): ApiError {
  return new ApiError('resource_not_found', message)
}

const SNAPSHOT_ID = /^[0-9a-f]{24}$/
const ALLOWED_SNAPSHOT = 'the id of a snapshot, once, as X-Snapshot-Id names it'

/** The id of a snapshot; null for several values or a broken encoding. @throws ApiError 400 */
export function snapshotId(name: string, value: string | null): string {
  if (value !== null && SNAPSHOT_ID.test(value)) return value
  throw refused(name, `is malformed. Allowed: ${ALLOWED_SNAPSHOT}`)
}

/** The parameter `name` names a snapshot that is not held; `current` is the one that is served now. */
export function snapshotGone(name: string, current: string): ApiError {
  return new ApiError(
    'snapshot_gone',
    `Parameter ${name} names a snapshot that is not held any more, or never was. Current: ${current}`,
    { parameter: name, current },
  )
}
