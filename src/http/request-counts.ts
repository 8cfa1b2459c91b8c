/**
 * Counts and times requests in shared memory, and has lines of the access log written. A worker writes a slab
 * of its own without atomic operations; its successor goes on with the slab, so no count ever falls.
 */
// Not the global, which is a getter.
import { performance } from 'node:perf_hooks'
import type { Declared } from '../operation/operation.ts'
import type { AccessEntry, AccessLog } from './access-log.ts'
import type { Answered, Exchange, RecordedLater, Recorder } from './exchange.ts'

/** Upper bounds of the buckets, seconds. Above the last is `+Inf`. */
export const DURATION_BOUNDS_S = [
  10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 100e-3, 1,
] as const

/** In place of a value that is not in a list, as OpenTelemetry has it. */
export const OTHER = '_OTHER'
export const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', OTHER] as const
/** 499: the client has gone before its later reply began. 0: any other. */
export const STATUSES = [
  200, 202, 204, 304, 400, 401, 403, 404, 405, 410, 413, 422, 429, 431, 499, 500, 503, 0,
] as const
const OTHER_STATUS = STATUSES.indexOf(0)

/** Files of the site, unknown paths, messages to tools, and requests that were not routed. */
export const OTHER_ROUTES = ['static', 'unmatched', 'mcp', 'none'] as const

/** Cells of a series: its buckets with `+Inf`, then the sum of seconds, then bytes of bodies. */
export const BUCKETS = DURATION_BOUNDS_S.length + 1
export const SECONDS = BUCKETS
export const BYTES = BUCKETS + 1
export const SERIES_CELLS = 16
export const ROUTE_SERIES = METHODS.length * STATUSES.length

const STATUS_ORDINALS = new Uint8Array(1000).fill(OTHER_STATUS)
STATUSES.forEach((status, ordinal) => (STATUS_ORDINALS[status] = ordinal))

/** One worker's view. */
export class RequestCounts {
  readonly #cells: Float64Array

  /** `routes`: their number with `OTHER_ROUTES`. */
  static allocate(workers: number, routes: number): SharedArrayBuffer {
    return new SharedArrayBuffer(workers * slabCells(routes) * Float64Array.BYTES_PER_ELEMENT)
  }

  constructor(buffer: SharedArrayBuffer, routes: number, worker: number) {
    const cells = slabCells(routes)
    this.#cells = new Float64Array(buffer, worker * cells * Float64Array.BYTES_PER_ELEMENT, cells)
  }

  count(route: number, method: string, status: number, bytes: number, ms: number): void {
    const at = placeOf(route, method, status)
    const cells = this.#cells
    cells[at + bucketOf(ms / 1000)]++
    cells[at + SECONDS] += ms / 1000
    cells[at + BYTES] += bytes
  }

  /** Bytes of an answer that was counted when it began. */
  sent(route: number, method: string, status: number, bytes: number): void {
    this.#cells[placeOf(route, method, status) + BYTES] += bytes
  }
}

function placeOf(route: number, method: string, status: number): number {
  const series = route * ROUTE_SERIES + methodOrdinal(method) * STATUSES.length + STATUS_ORDINALS[status]
  return series * SERIES_CELLS
}

/** Labels by ordinal: operations, then `OTHER_ROUTES`. `basePath` as in `/v2`. */
export function routeNames(operations: readonly Declared[], basePath: string): string[] {
  return [...operations.map(({ path }) => `${basePath}${path}`), ...OTHER_ROUTES]
}

/** The access log of a worker, with the names that its lines show. */
export interface Lines {
  readonly log: AccessLog
  /** By ordinal of the route. */
  readonly routes: readonly string[]
  readonly operations: readonly string[]
  /** By row of the current key ring. */
  readonly keyId: (row: number) => string
}

type Noted = Omit<AccessEntry, 'status' | 'bytes' | 'durationMs'>

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
    const { method, status, bytes } = exchange
    const ms = performance.now() - begun
    this.#counts.count(this.#routeOf(exchange), method, status, bytes, ms)
    if (this.#lines?.log.wants(status, ms) === true)
      this.#lines.log.add({ ...this.#noted(this.#lines, exchange), status, bytes, durationMs: ms })
  }

  /**
   * Counted and timed when it begins, as streams may last for days; its bytes and its line follow when it is
   * over.
   */
  deferred(exchange: Exchange, begun: number): RecordedLater {
    const { method } = exchange
    const lines = this.#lines
    const route = this.#routeOf(exchange)
    const noted = lines && this.#noted(lines, exchange)
    let [status, durationMs] = [0, 0]
    return {
      begun: (is) => {
        status = is
        durationMs = performance.now() - begun
        this.#counts.count(route, method, status, 0, durationMs)
      },
      ended: (bytes) => {
        this.#counts.sent(route, method, status, bytes)
        if (noted !== null && lines!.log.wants(status, durationMs))
          lines!.log.add({ ...noted, status, bytes, durationMs })
      },
    }
  }

  #routeOf({ route }: Exchange): number {
    return route < 0 ? this.#none : route
  }

  /** Parts of a line, which are taken while the request can be read. */
  #noted({ routes, operations, keyId }: Lines, exchange: Exchange): Noted {
    const { method, keyRow, requestId } = exchange
    const route = this.#routeOf(exchange)
    return {
      // Any other method would be text of the request.
      method: (METHODS as readonly string[]).includes(method) ? method : OTHER,
      operation: operations[route],
      route: routes[route],
      keyId: keyRow < 0 ? '' : keyId(keyRow),
      requestId,
    }
  }
}

export function slabCells(routes: number): number {
  return routes * ROUTE_SERIES * SERIES_CELLS
}

function methodOrdinal(method: string): number {
  if (method === 'GET') return 0
  const ordinal = (METHODS as readonly string[]).indexOf(method)
  return ordinal === -1 ? METHODS.length - 1 : ordinal
}

function bucketOf(seconds: number): number {
  let bucket = 0
  while (bucket < DURATION_BOUNDS_S.length && seconds > DURATION_BOUNDS_S[bucket]) bucket++
  return bucket
}
