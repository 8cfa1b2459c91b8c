/**
 * One worker's access log. A request never waits for it: lines for a slow log are dropped and counted.
 * No line holds anything of a request but ids of a fixed form: no path, no query, no header, no key.
 */
import type { Format } from '../system/log.ts'
import { jsonLine } from '../system/text.ts'

/** All requests, or only requests that were refused, failed or were slow. */
export type AccessLogged = 'errors' | 'all'

const SLOW_MS = 100

export interface AccessEntry {
  method: string
  /** Name of the operation, or of another kind of route. */
  operation: string
  route: string
  status: number
  bytes: number
  durationMs: number
  /** '' without a key. */
  keyId: string
  requestId: string
}

interface AccessLogOptions {
  logged: AccessLogged
  format: Format
  worker: number
  clock: () => number
  /** Gets lines as bytes that are its own; `written` has to be called when they have left. */
  hand: (lines: Uint8Array<ArrayBuffer>) => void
  onDropped: (lines: number) => void
}

/** Lines are handed on when this many bytes are gathered, or after this time. */
const CHUNK_BYTES = 32 * 1024
const FLUSH_INTERVAL_MS = 100
/** Bytes handed on and not written yet: further lines are dropped. */
const MOST_WAITING_BYTES = 512 * 1024
/** More than the longest line. */
const LINE_BYTES = 1024

export class AccessLog {
  readonly #options: AccessLogOptions
  readonly #chunk = Buffer.alloc(CHUNK_BYTES)
  #used = 0
  #waiting = 0
  readonly #timer: NodeJS.Timeout

  constructor(options: AccessLogOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.flush(), FLUSH_INTERVAL_MS)
  }

  wants(status: number, durationMs: number): boolean {
    return this.#options.logged === 'all' || status >= 400 || durationMs >= SLOW_MS
  }

  add(entry: AccessEntry): void {
    if (this.#waiting + this.#used > MOST_WAITING_BYTES) {
      this.#options.onDropped(1)
      return
    }
    if (this.#used + LINE_BYTES > CHUNK_BYTES) this.flush()
    this.#used += this.#chunk.write(this.#lineOf(entry), this.#used, 'utf8')
  }

  flush(): void {
    if (this.#used === 0) return
    this.#waiting += this.#used
    const lines = new Uint8Array(this.#chunk.subarray(0, this.#used))
    this.#used = 0
    this.#options.hand(lines)
  }

  written(bytes: number): void {
    this.#waiting -= bytes
  }

  close(): void {
    clearInterval(this.#timer)
    this.flush()
  }

  #lineOf({ method, operation, route, status, bytes, durationMs, keyId, requestId }: AccessEntry): string {
    const { format, worker, clock } = this.#options
    const fields = {
      worker,
      http_request_method: method,
      http_route: route,
      operation,
      http_response_status_code: status,
      body_bytes: bytes,
      duration_ms: Number(durationMs.toFixed(3)),
      ...(keyId === '' ? {} : { key: keyId }),
      ...(requestId === '' ? {} : { request_id: requestId }),
    }
    if (format === 'json') return jsonLine(clock(), 'info', { message: 'request', ...fields })
    const texts = Object.entries(fields).map(([name, value]) => `${name}=${value}`)
    return `request time=${new Date(clock() * 1000).toISOString()} ${texts.join(' ')}\n`
  }
}
