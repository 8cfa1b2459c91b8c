/** Counts and times the requests of one worker, and writes lines of the access log. */
// Not the global, which is a getter.
import { performance } from 'node:perf_hooks'
import type { Declared } from '../operation/operation.ts'
import type { AccessLog } from './access-log.ts'
import type { Answered, Exchange, RecordedLater, Recorder } from './exchange.ts'
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

  answered(exchange: Answered, begun: number): void {
    const { method, status, bytes, head } = exchange
    const ms = performance.now() - begun
    this.#counts.count(this.#routeOf(exchange), method, status, bytes, ms)
    if (this.#lines?.log.wants(status, ms) === true)
      write(this.#lines, this.#note(this.#lines, exchange), status, bytes, head, ms)
  }

  /** Counted and timed when it begins, as streams may last for days; its bytes and its line follow when it is over. */
  deferred(exchange: Exchange, begun: number): RecordedLater {
    const { method } = exchange
    const lines = this.#lines
    const route = this.#routeOf(exchange)
    const noted = lines && this.#note(lines, exchange)
    let [status, ms, ownHead] = [0, 0, '']
    return {
      begun: (is, head) => {
        status = is
        ms = performance.now() - begun
        ownHead = typeof head === 'string' ? head : ''
        this.#counts.count(route, method, status, 0, ms)
      },
      ended: (bytes) => {
        this.#counts.sent(route, method, status, bytes)
        if (lines !== null && noted !== null && lines.log.wants(status, ms))
          write(lines, noted, status, bytes, ownHead, ms)
      },
    }
  }

  #routeOf({ route }: Exchange): number {
    return route < 0 ? this.#none : route
  }

  #note({ keyId }: Lines, exchange: Exchange): Noted {
    const { method, keyRow } = exchange
    return {
      route: this.#routeOf(exchange),
      // Any other method would be text of the request.
      method: (METHODS as readonly string[]).includes(method) ? method : OTHER,
      keyId: keyRow < 0 ? '' : keyId(keyRow),
      requestId: callersRequestId(exchange),
    }
  }
}

function write(
  { log, routes, operations }: Lines,
  { route, method, keyId, requestId }: Noted,
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
  })
}

/** '' if the head has no id as text: only answers to callers without an id have it. */
function sentRequestId(head: string | Uint8Array): string {
  if (typeof head !== 'string') return ''
  const at = head.indexOf(REQUEST_ID)
  return at === -1 ? '' : head.slice(at + REQUEST_ID.length, at + REQUEST_ID.length + UUID_LENGTH)
}
