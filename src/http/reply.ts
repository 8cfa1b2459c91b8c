/** The only writer to the socket: status line, headers, bodies of errors. */
import { randomUUID } from 'node:crypto'
import type { Charge, Client } from './admission.ts'
import type { Encoding } from '../operation/preferences.ts'
import { type ApiError, ERRORS, type ErrorCode } from '../operation/errors.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { KEPT, type Exchange } from './exchange.ts'
import { JsonWriter } from '../dataset/json-writer.ts'
import { edrFailure, isOfEdr } from '../edr/paths.ts'
import { MOST_IGNORED_BYTES } from './ignored-parameters.ts'
import { MOST_LINK_BYTES } from '../operation/links.ts'
import { Literal } from '../dataset/literals.ts'
import type { Operation } from '../operation/operation.ts'
import { CONTENT_TYPES, type Format } from '../operation/shape.ts'
import { timestampText } from '../sea/time.ts'

const ALLOWED_METHODS = 'GET, HEAD, OPTIONS'
/** The API's own, then headers that pages add by themselves: for tracing, and for `cache: 'no-cache'`. */
const ALLOWED_HEADERS =
  'Authorization, X-Visitor-ID, X-Request-Id, Accept, Content-Type, If-None-Match, Last-Event-ID, ' +
  'traceparent, tracestate, baggage, sentry-trace, X-Requested-With, Cache-Control, Pragma, ' +
  'If-Modified-Since, Range'
const EXPOSED_HEADERS =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Link, ' +
  'X-Ignored-Parameters, ETag, X-Request-Id, X-Snapshot-Id, X-Snapshot-As-Of, X-Demo'

/** CORS on errors too, a ban on guessing another type from the body, and how long a connection is kept. */
const EVERY_ANSWER =
  KEPT +
  '\r\nAccess-Control-Allow-Origin: *' +
  `\r\nAccess-Control-Expose-Headers: ${EXPOSED_HEADERS}` +
  '\r\nX-Content-Type-Options: nosniff'
const JSON_ANSWER = answerOf('json')

function answerOf(format: Format): string {
  return `\r\nContent-Type: ${CONTENT_TYPES[format]}${EVERY_ANSWER}`
}

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

/** The caller's `X-Request-Id` if it is a UUID, else ''. Nothing else of a request ever reaches a header. */
export function callersRequestId(exchange: Exchange): string {
  const id = exchange.header('x-request-id')
  return id !== '' && UUID.test(id) ? id : ''
}

/** Fields of the heads of all answers to a request. */
export interface Asker {
  readonly operation: Deciding
  readonly client: Pick<Client, 'charge' | 'isPage' | 'isPersonal'>
  /** The caller's id of the request if it was a UUID, else ''. */
  readonly requestId: string
  /** Header line of ignored parameters after a CRLF, or ''. */
  readonly ignored: string
}

/** An ETag's lower 32 bits, and the 16 above. */
export interface Tag {
  readonly low: number
  readonly high: number
}

/** Further fields of the head of one answer. */
export interface HeadFields {
  readonly tag: Tag
  /** Seconds that the answer may be kept. */
  readonly lifetime: number
  /** `Link` lines and lines of files, each after a CRLF; none if it is empty. */
  readonly link: Uint8Array
  encoding: Encoding | null
}

const DEMO_HEADER = '\r\nX-Demo: true'

/** The snapshot as the heads of its answers name it. */
type NamedSnapshot = Pick<Dataset, 'snapshotId' | 'asOf' | 'demo'>

/** Headers of all answers of the snapshot, each after a CRLF. */
export function snapshotHeaders({ snapshotId, asOf, demo }: NamedSnapshot): string {
  return (
    `\r\nX-Snapshot-Id: ${snapshotId}\r\nX-Snapshot-As-Of: ${timestampText(asOf)}` + (demo ? DEMO_HEADER : '')
  )
}

/** For errors of keyed operations. */
export const VARY_BY_KEY = '\r\nVary: Authorization'

type Deciding = Pick<Operation, 'access' | 'language' | 'tables'>

/** Results of `varyOf` by operation, and for pages. */
const varies = [new WeakMap<Deciding, Literal>(), new WeakMap<Deciding, Literal>()]

/**
 * The end of the ETag, and `Vary`. Pages get `Origin` and `Sec-Fetch-Site`, too: without them a page of
 * another port could read the answer from the browser's cache (`cache: 'force-cache'`).
 */
function varyOf(operation: Deciding, isPage: boolean): Literal {
  const known = varies[isPage ? 1 : 0]
  let vary = known.get(operation)
  if (vary === undefined)
    known.set(operation, (vary = new Literal(`"\r\nVary: ${varyText(operation, isPage)}`)))
  return vary
}

function varyText({ access, language, tables }: Deciding, isPage: boolean): string {
  return (
    (tables !== undefined || isPage ? 'Accept, Accept-Encoding' : 'Accept-Encoding') +
    (access === 'keyed' ? ', Authorization' : '') +
    (isPage ? ', Origin, Sec-Fetch-Site' : '') +
    (language === true ? ', Accept-Language' : '')
  )
}

const PUBLIC = new Literal('\r\nCache-Control: public, max-age=')
const PRIVATE = new Literal('\r\nCache-Control: private, max-age=')
const LIMIT = new Literal('\r\nX-RateLimit-Limit: ')
const RESET = new Literal('\r\nX-RateLimit-Reset: ')
const REMAINING = new Literal('\r\nX-RateLimit-Remaining: ')
const REQUEST_ID = new Literal('\r\nX-Request-Id: ')
const CONTENT_ENCODING: { [coding in Encoding]: Literal } = {
  br: new Literal('\r\nContent-Encoding: br'),
  gzip: new Literal('\r\nContent-Encoding: gzip'),
}

/** File name, count of all rows, and the header that exposes them. */
const FILE_BYTES = 512
/** Room for the longest head, and the room that the writer wants before it writes a text. */
const HEAD_BYTES = 2048 + 3 * (MOST_LINK_BYTES + FILE_BYTES + MOST_IGNORED_BYTES)

/** Heads of one snapshot's successes, or of its 304s, written as bytes. */
export class Heads {
  /** Beginning of all ETags of the snapshot. */
  readonly #tagStart: string
  readonly #writer = new JsonWriter(HEAD_BYTES)

  /** `settingsTag`: what decides all answers in addition to the snapshot. */
  constructor(
    kind: 'success' | 'part' | 'not modified',
    snapshot: NamedSnapshot | null,
    settingsTag: string,
    format: Format = 'json',
  ) {
    this.#tagStart = `"${snapshot?.snapshotId ?? ''}-${settingsTag}-`
    const status = kind === 'part' ? '206 Partial Content' : '200 OK'
    const start = kind === 'not modified' ? NOT_MODIFIED : `${status}${answerOf(format)}`
    this.#writer.text(
      `${start}${snapshot === null ? '' : snapshotHeaders(snapshot)}\r\nETag: W/${this.#tagStart}`,
    )
    this.#writer.mark()
  }

  /** @returns a view that the next head overwrites */
  write(asker: Asker, { tag, lifetime, link, encoding }: HeadFields): Uint8Array {
    const { operation, client, requestId, ignored } = asker
    const { charge } = client
    const writer = this.#writer
    writer.begin()
    writer.twelveHex(tag.high, tag.low)
    writer.literal(varyOf(operation, client.isPage))
    writer.literal(client.isPersonal ? PRIVATE : PUBLIC)
    writer.integer(lifetime)
    if (encoding !== null) writer.literal(CONTENT_ENCODING[encoding])
    if (charge !== null) {
      writer.literal(LIMIT)
      writer.integer(charge.limit)
      writer.literal(RESET)
      writer.tenDigits(charge.reset)
      writer.literal(REMAINING)
      writer.integer(charge.remaining)
    }
    if (requestId !== '') {
      writer.literal(REQUEST_ID)
      writer.text(requestId)
    }
    if (link.length > 0) writer.take(link)
    if (ignored !== '') writer.text(ignored)
    return writer.bytes.subarray(0, writer.at)
  }

  matches(condition: string, { high, low }: Tag): boolean {
    // After a swap most clients name an ETag of the snapshot before.
    return (
      condition.includes(this.#tagStart) && namesEtag(condition, `${this.#tagStart}${numberText(high, low)}"`)
    )
  }
}

/** Twelve hexadecimal digits. */
function numberText(high: number, low: number): string {
  return high.toString(16).padStart(4, '0') + (low >>> 0).toString(16).padStart(8, '0')
}

/**
 * Whether `If-None-Match` has the tag, which is without `W/`: weak comparison, any of a list (RFC 9110,
 * 13.1.2). `*` names none: on GET it would mean no answer at all, which helps no client.
 */
export function namesEtag(condition: string, tag: string): boolean {
  return condition.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag)
}

/** `length`: bytes of the whole body. */
export function unsatisfiableHead(length: number): string {
  return `416 Range Not Satisfiable${EVERY_ANSWER}\r\nCache-Control: no-store\r\nContent-Range: bytes */${length}`
}

/** The rate headers, each after a CRLF. */
export function rateHeaders(charge: Charge | null): string {
  if (charge === null) return ''
  return (
    `\r\nX-RateLimit-Limit: ${charge.limit}` +
    `\r\nX-RateLimit-Remaining: ${charge.remaining}` +
    `\r\nX-RateLimit-Reset: ${charge.reset}`
  )
}

/** nginx must not gather events, and nobody compress them: both delay. `headers`: each after a CRLF. */
export function streamHead(callersId: string, headers: string): string {
  return (
    `200 OK\r\nContent-Type: text/event-stream${EVERY_ANSWER}` +
    '\r\nCache-Control: no-store, no-transform\r\nX-Accel-Buffering: no' +
    headers +
    requestIdHeader(callersId)
  )
}

export function sendPreflight(exchange: Exchange): void {
  exchange.send(PREFLIGHT, null)
}

export const FAULT = { code: 'internal_error', message: 'Internal error' } as const
export const TAKES_NO_BODY = 'This request takes no body. Allowed: a request without one'

/** EDR's answer without data. `headers`: each after a CRLF. */
export function noContentHead(callersId: string, headers: string): string {
  return `204 No Content${EVERY_ANSWER}\r\nCache-Control: no-store${headers}${requestIdHeader(callersId)}`
}

/** The id of this request in its error and in the access log. */
export function errorIdOf(exchange: Exchange): string {
  return (exchange.requestId ||= randomUUID())
}

/** An `ApiError`, or its members; `more`: further members of its body. */
export type Failure = Pick<ApiError, 'code' | 'message'> &
  Partial<Pick<ApiError, 'details' | 'retryAfter'>> & { readonly more?: object }

/** `now`: epoch seconds. `headers`: each after a CRLF. */
export function sendError(exchange: Exchange, error: Failure, now: number, headers = ''): void {
  const spelled = isOfEdr(exchange.path) ? edrFailure(error) : error
  const { head, body } = errorAnswer(errorIdOf(exchange), spelled, now, headers)
  exchange.send(error.code === 'unauthorized' ? head + helpLink(exchange.path) : head, body)
}

/** The documentation, by an address that is relative to that of the request, like the links of pages. */
function helpLink(path: string): string {
  return `\r\nLink: <${'../'.repeat(path.split('/').length - 2)}docs>; rel="help"`
}

export function errorAnswer(
  requestId: string,
  { code, message, details = null, retryAfter = null, more }: Failure,
  now: number,
  headers: string,
): { head: string; body: Uint8Array } {
  const wait = retryAfter ?? 0
  const isQuota = code === 'rate_limit_exceeded'
  const body = {
    error: code,
    message,
    timestamp: timestampText(now),
    request_id: requestId,
    ...(isQuota && { retry_after: wait, reset_at: timestampText(now + wait) }),
    ...(details && { details }),
    ...more,
  }
  const retry = retryAfter === null ? '' : `\r\nRetry-After: ${wait}`
  return {
    head: ERROR_HEADS[code] + headers + retry + requestIdHeader(requestId),
    body: ENCODER.encode(JSON.stringify(body)),
  }
}

function requestIdHeader(id: string): string {
  return id === '' ? '' : `\r\nX-Request-Id: ${id}`
}
