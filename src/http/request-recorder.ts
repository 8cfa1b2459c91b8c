/** Counts and times the requests of one worker, and writes lines of the access log. */
import type { Declared } from '../operation/operation.ts'
import {
  TRACEPARENT,
  type Answered,
  type Exchange,
  type OnAnswer,
  type OnSent,
  type Recorder,
} from './exchange.ts'
import type { AccessLog, Trace } from './access-log.ts'
import { METHODS, OTHER, OTHER_ROUTES, type RequestCounts } from './request-counts.ts'
import { callersRequestId } from './reply.ts'

const REQUEST_ID = '\r\nX-Request-Id: '
const UUID_LENGTH = 36

/** Labels by ordinal: operations, then `OTHER_ROUTES`. `basePath` as in `/v2`. */
export function routeNames(operations: readonly Declared[], basePath: string): string[] {
  return [...operations.map(({ path }) => `${basePath}${path}`), ...OTHER_ROUTES]
}

/** The access log of a worker, with what its lines call things. */
export interface Lines {
  readonly log: AccessLog
  /** By ordinal of the route. */
  readonly routes: readonly string[]
  readonly operations: readonly string[]
  /** By row of the key ring of the moment. */
  readonly keyId: (row: number) => string
}

/** Parts of a line that are taken while the request can be read. */
interface Noted {
  route: number
  method: string
  keyId: string
  /** The caller's if it was a UUID, else ''. */
  requestId: string
  trace: Trace | null
}

export class RequestRecorder implements Recorder {
  readonly #counts: RequestCounts
  /** Route number of requests that were not routed. */
  readonly #none: number
  readonly #lines: Lines | null

  /** `routes`: their number. `lines`: null without an access log. */
  constructor(counts: RequestCounts, routes: number, lines: Lines | null) {
    this.#counts = counts
    this.#none = routes - OTHER_ROUTES.length + OTHER_ROUTES.indexOf('none')
    this.#lines = lines
  }

  begin(): number {
    return this.#lines === null ? this.#counts.begin() : performance.now()
  }

  answered(exchange: Answered, begun: number): void {
    const route = exchange.route < 0 ? this.#none : exchange.route
    this.#counts.count(route, exchange.method, exchange.status, exchange.bytes, begun)
    if (this.#lines !== null) this.#writeAnswered(this.#lines, exchange, performance.now() - begun)
  }

  unfinished(exchange: Answered, begun: number): OnSent {
    const { method, status, head } = exchange
    const route = exchange.route < 0 ? this.#none : exchange.route
    const at = performance.now()
    const lines = this.#lines
    const trace = lines === null ? null : traceOf(lines, exchange)
    const isWanted = lines?.log.wants(status, at - begun, trace) === true
    const noted = lines === null || !isWanted ? null : note(lines, exchange, route, trace)
    return (bytes) => {
      this.#counts.count(route, method, status, bytes, begun, at)
      if (lines !== null && noted !== null) write(lines, noted, status, bytes, head, at - begun)
    }
  }

  deferred(exchange: Exchange, begun: number, copy: Exchange | null = null): OnAnswer {
    const { method } = exchange
    const routeOf = (one: Exchange): number => (one.route < 0 ? this.#none : one.route)
    const routeNow = routeOf(exchange)
    // A deferred request is long enough for its timing to cost nothing in comparison.
    const since = begun === 0 ? performance.now() : begun
    const lines = this.#lines
    const notedNow =
      lines === null || copy !== null ? null : note(lines, exchange, routeNow, traceOf(lines, exchange))
    return (status, bytes, head, at = performance.now()) => {
      const route = copy === null ? routeNow : routeOf(copy)
      this.#counts.count(route, method, status, bytes, since, at)
      if (lines === null) return
      const noted = notedNow ?? note(lines, copy!, route, traceOf(lines, copy!))
      const ms = at - since
      if (lines.log.wants(status, ms, noted.trace)) write(lines, noted, status, bytes, head, ms)
    }
  }

  #writeAnswered(lines: Lines, exchange: Answered, ms: number): void {
    const { status, bytes, head } = exchange
    const trace = traceOf(lines, exchange)
    if (!lines.log.wants(status, ms, trace)) return
    const route = exchange.route < 0 ? this.#none : exchange.route
    write(lines, note(lines, exchange, route, trace), status, bytes, head, ms)
  }
}

function traceOf({ log }: Lines, exchange: Exchange): Trace | null {
  // Several such headers together are not valid.
  return exchange.header(TRACEPARENT) === '' ? null : log.trace(exchange.headerValues(TRACEPARENT))
}

function note({ keyId }: Lines, exchange: Exchange, route: number, trace: Trace | null): Noted {
  const { method, keyRow } = exchange
  return {
    route,
    // Any other method would be text of the request.
    method: (METHODS as readonly string[]).includes(method) ? method : OTHER,
    keyId: keyRow < 0 ? '' : keyId(keyRow),
    requestId: callersRequestId(exchange),
    trace,
  }
}

function write(
  { log, routes, operations }: Lines,
  { route, method, keyId, requestId, trace }: Noted,
  status: number,
  bytes: number,
  head: string | Uint8Array,
  durationMs: number,
): void {
  log.add({
    method,
    operation: operations[route],
    route: routes[route],
    status,
    bytes,
    durationMs,
    keyId,
    requestId: requestId || sentRequestId(head),
    trace,
  })
}

/** '' if the head has no id as text: only answers to callers without an id have it. */
function sentRequestId(head: string | Uint8Array): string {
  if (typeof head !== 'string') return ''
  const at = head.indexOf(REQUEST_ID)
  return at === -1 ? '' : head.slice(at + REQUEST_ID.length, at + REQUEST_ID.length + UUID_LENGTH)
}
