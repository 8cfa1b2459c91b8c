/** The only writer to the socket: status line, headers, bodies of errors. What is the same for every answer is text made once. */
import { randomUUID } from 'node:crypto'
import { ERRORS, type ErrorCode, type ErrorDetails } from './errors.ts'
import type { Exchange } from './http/exchange.ts'
import { timestampText } from './time.ts'

const ALLOWED_METHODS = 'GET, HEAD, OPTIONS'
const ALLOWED_HEADERS = 'Authorization, X-Visitor-ID, X-Request-Id, Accept, Content-Type, If-None-Match'
const EXPOSED_HEADERS =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, X-Request-Id, X-Snapshot-Id'

/** CORS on every answer, errors too; bodies are never to be sniffed into something else. */
const EVERY_ANSWER =
  '\r\nAccess-Control-Allow-Origin: *' +
  `\r\nAccess-Control-Expose-Headers: ${EXPOSED_HEADERS}` +
  '\r\nX-Content-Type-Options: nosniff'
const JSON_ANSWER = `\r\nContent-Type: application/json${EVERY_ANSWER}`

const OK = `200 OK${JSON_ANSWER}`
const NOT_MODIFIED = `304 Not Modified${EVERY_ANSWER}`
const PREFLIGHT =
  `204 No Content${EVERY_ANSWER}` +
  `\r\nAllow: ${ALLOWED_METHODS}` +
  `\r\nAccess-Control-Allow-Methods: ${ALLOWED_METHODS}` +
  `\r\nAccess-Control-Allow-Headers: ${ALLOWED_HEADERS}` +
  '\r\nAccess-Control-Max-Age: 86400' +
  '\r\nCache-Control: public, max-age=86400'

const ERROR_HEADS = Object.fromEntries(
  Object.entries(ERRORS).map(([code, { status, reason }]) => [
    code,
    `${status} ${reason}${JSON_ANSWER}\r\nCache-Control: no-store` +
      (code === 'unauthorized' ? '\r\nWWW-Authenticate: Bearer' : '') +
      (code === 'method_not_allowed' ? `\r\nAllow: ${ALLOWED_METHODS}` : ''),
  ]),
) as { [code in ErrorCode]: string }

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const ENCODER = new TextEncoder()

/** The caller's `X-Request-Id`, if it is a UUID; else ''. Nothing else of a request ever reaches a header. */
export function callersRequestId(exchange: Exchange): string {
  const id = exchange.header('x-request-id')
  return id !== '' && UUID.test(id) ? id : ''
}

/**
 * `headers` are further lines, each begun by CRLF. A request id goes back on success only to a caller that sent one.
 */
export function sendSuccess(exchange: Exchange, headers: string, body: Uint8Array): void {
  exchange.send(OK + headers + requestIdHeader(callersRequestId(exchange)), body)
}

export function sendNotModified(exchange: Exchange, headers: string): void {
  exchange.send(NOT_MODIFIED + headers + requestIdHeader(callersRequestId(exchange)), null)
}

export function sendPreflight(exchange: Exchange): void {
  exchange.send(PREFLIGHT, null)
}

/** `now` in epoch seconds. */
export function sendError(
  exchange: Exchange,
  code: ErrorCode,
  message: string,
  now: number,
  {
    headers = '',
    more = {},
    details = null,
  }: { headers?: string; more?: ErrorDetails; details?: ErrorDetails | null } = {},
): void {
  const requestId = callersRequestId(exchange) || randomUUID()
  const body = {
    error: code,
    message,
    timestamp: timestampText(now),
    request_id: requestId,
    ...more,
    ...(details === null ? {} : { details }),
  }
  exchange.send(
    ERROR_HEADS[code] + headers + requestIdHeader(requestId),
    ENCODER.encode(JSON.stringify(body)),
  )
}

function requestIdHeader(id: string): string {
  return id === '' ? '' : `\r\nX-Request-Id: ${id}`
}
