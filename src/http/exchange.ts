/** The whole interface between the request path and an HTTP engine: nothing else crosses it. */

import type { Connections } from './connections.ts'

/**
 * Request line and headers together, in bytes. Both engines answer 431 beyond it. Contract: "Server side"
 * limits.
 */
export const HEADER_LIMIT_BYTES = 16_384

/**
 * Header lines of a request: the most that uWebSockets.js has room for. Both engines answer 431 beyond it.
 */
export const HEADER_LINES_LIMIT = 98

/**
 * The shortest time after which an engine ends an idle connection, measured: uWebSockets.js after 8 to 12 s,
 * fixed in it; node:http after 11 s.
 */
export const LEAST_IDLE_S = 8

/**
 * Headers of answers that let their connection stay: they announce the time after which a client should open
 * another one. The announced time is a second shorter than the real one, so that no request crosses the end
 * on its way. Engines take them out of the last answer of a connection.
 */
export const KEPT = `\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${LEAST_IDLE_S - 1}`

/** Names of request headers, lower case. */
export const AUTHORIZATION = 'authorization'
export const ACCEPT = 'accept'
export const ACCEPT_ENCODING = 'accept-encoding'
export const ACCEPT_LANGUAGE = 'accept-language'
export const IF_NONE_MATCH = 'if-none-match'
export const X_REQUEST_ID = 'x-request-id'
export const X_FORWARDED_FOR = 'x-forwarded-for'
export const FORWARDED = 'forwarded'
export const SEC_FETCH_SITE = 'sec-fetch-site'
export const SEC_FETCH_MODE = 'sec-fetch-mode'
export const SEC_FETCH_DEST = 'sec-fetch-dest'
export const LAST_EVENT_ID = 'last-event-id'
export const TRACEPARENT = 'traceparent'
export const CONNECTION = 'connection'
export const CONTENT_LENGTH = 'content-length'
export const TRANSFER_ENCODING = 'transfer-encoding'

/** Headers that handlers read; a request that waits keeps them. */
export const HANDLER_HEADERS = [
  AUTHORIZATION,
  ACCEPT,
  ACCEPT_ENCODING,
  ACCEPT_LANGUAGE,
  IF_NONE_MATCH,
  X_REQUEST_ID,
  X_FORWARDED_FOR,
  FORWARDED,
  SEC_FETCH_SITE,
  SEC_FETCH_MODE,
  SEC_FETCH_DEST,
  LAST_EVENT_ID,
  TRACEPARENT,
] as const

export type HeaderName =
  | (typeof HANDLER_HEADERS)[number]
  | typeof CONNECTION
  | typeof CONTENT_LENGTH
  | typeof TRANSFER_ENCODING

/**
 * Makes a whole body once more, the same bytes as before, in a buffer that may be used again at once. Null
 * where that cannot be done any more: then the connection is cut.
 */
export type Again = () => Uint8Array | null

/**
 * One request and its reply. Valid only during the synchronous call of the handler: engines use one object
 * again and again.
 */
export interface Exchange {
  /** As sent, so GET, HEAD, …: methods are case-sensitive (RFC 9110, section 9.1). */
  readonly method: string
  /**
   * The raw path: not percent-decoded, without the query. Bytes beyond ASCII become UTF-8 (or U+FFFD) in uws;
   * node answers 400.
   */
  readonly path: string
  /** Raw, without the `?`; empty when there is none. */
  readonly query: string
  /** For the records, set by the handler: ordinal of the route; `NO_ROUTE` before. */
  route: number
  /** For the records, set by the handler: row of the key in the key ring; `NO_KEY` without one. */
  keyRow: number
  /**
   * Whether its reply can be put off without harm to others of its connection, as far as the engine knows: uws
   * ends a connection that has sent more behind such a request.
   */
  readonly mayWait: boolean
  /** The first value of a header, empty when it is missing. */
  header(name: HeaderName): string
  /**
   * All values of a header that may come in several lines, in order, joined by commas; empty when it is
   * missing.
   */
  headerValues(name: HeaderName): string
  /**
   * The peer's address as text; IPv4-mapped IPv6 as plain IPv4; empty if unknown. Costs about 1 µs, so call
   * it only where needed.
   */
  address(): string
  /**
   * The one reply; throws on a second call.
   *
   * `head` is the status line and headers, `200 OK\r\nContent-Type: application/json\r\nX-A: b`, ASCII,
   * without a last CRLF and without Content-Length and Date, which the engine writes. Its only Connection
   * header may be `KEPT`, which the engine replaces by `Connection: close` where the connection ends. It goes
   * out unchecked, so nothing of a request may be in it unless it was validated. As bytes it goes out a
   * little faster, and like the body it may be in a buffer that is used again at once.
   *
   * `body` may be a view on a buffer that is reused as soon as this returns: what the kernel does not take at
   * once is copied. `lasting`: `true` means that the bytes never change; then they are sent from where they
   * are. A function makes them again for a client that is slow to read: then no more than 256 KB are held for
   * it. `null` is for 204 and 304: neither body nor Content-Length. On HEAD only the body's length is sent.
   */
  send(head: string | Uint8Array, body: Uint8Array | null, lasting?: boolean | Again): void
  /**
   * Puts the reply off, in place of `send`. The caller takes what it needs from the request now. After a
   * reply was put off, a request pipelined behind it waits on node and ends the connection on uws, which has
   * no place for it. Null, and nothing is put off, where the connection has to end with the answer, because
   * the request announces a body for instance: uws can only do that at once. With a `copy` of the request,
   * the records take route and key from the copy when the request is answered.
   */
  later(events: LaterEvents, copy?: Exchange): LaterReply | null
}

/** In place of the ordinal of a route, and of the row of a key. */
export const NO_ROUTE = -1
export const NO_KEY = -1

/** An answer as it is recorded. Its request can still be read, unless its reply was deferred. */
export interface Answered extends Exchange {
  readonly status: number
  /** Bytes of the body that is to be sent, so 0 on HEAD. */
  readonly bytes: number
  /** As it was sent; as bytes it may be in a buffer that is used again at once. */
  readonly head: string | Uint8Array
}

/** Records every request that gets as far as a handler, or that the engine answers in its place. */
export interface Recorder {
  /** Called before each request. @returns what `answered` or `deferred` gets back */
  begin(): number
  /** The answer was handed over, or the connection cut. */
  answered(exchange: Answered, begun: number): void
  /**
   * The rest of the answer waits for its client. @returns what is to be called once, with the bytes of the
   * body that went out: when all of them did, or the client has gone
   */
  unfinished(exchange: Answered, begun: number): OnSent
  /**
   * The reply of a request was deferred; `copy` is asked when it is answered, where there is one.
   * @returns what is to be called once: when it was handed over, with the bytes of the body that were when its
   * client has gone, or with `GONE` when nothing will be
   */
  deferred(exchange: Exchange, begun: number, copy?: Exchange): OnAnswer
}

export type OnSent = (bytes: number) => void

/**
 * @param head '' where the client has gone
 * @param at when the answer began, in ms of `performance.now`; now where it is not given
 */
export type OnAnswer = (status: number, bytes: number, head: string | Uint8Array, at?: number) => void

/** In place of a status: the client has gone before its deferred reply began, or was cut off. */
export const GONE = 499

export const NO_RECORDER: Recorder = {
  begin: () => 0,
  answered() {},
  unfinished: () => () => {},
  deferred: () => () => {},
}

/** What a deferred reply hears of its connection; never from within one of its own methods. */
export interface LaterEvents {
  /** There may be room again after a `write` that left none. */
  readonly onRoom: () => void
  /**
   * The client has gone, or has read nothing for ten seconds: the reply is over. Not called for one that was
   * over before.
   */
  readonly onGone: () => void
}

/** Bytes of a `write` at most: as much may wait for a client that does not read. */
export const MOST_WRITE_BYTES = 64 * 1024

/**
 * A reply that comes after its handler has returned: in one piece by `send`, or by `begin` or `stream`, any
 * number of `write` and `end`. Once it is over, all of it does nothing.
 */
export interface LaterReply {
  readonly isOver: boolean
  /** Whether it is a reply to HEAD: then `begin` is all of it, and it is over. */
  readonly isHead: boolean
  /** Works as `Exchange.send`, but the bytes of `body` must never change, unless `lasting` allows it. */
  send(head: string | Uint8Array, body: Uint8Array | null, lasting?: boolean | Again): void
  /** Status and headers, and how many bytes of a body are to follow. */
  begin(head: string | Uint8Array, length: number): void
  /**
   * Status and headers of a body that has no known length, the last on its connection. They go out with the
   * first `write`, each `write` at once; however long none comes, the connection stays.
   */
  stream(head: string | Uint8Array): void
  /**
   * The next bytes of the body, in a buffer that may be used again at once; only where there is room. False
   * where nothing more fits until `onRoom`.
   */
  write(bytes: Uint8Array): boolean
  /** Tells that all bytes were written. */
  end(): void
  /** Ends the connection, so that the client sees that the body is not whole. */
  cut(): void
}

export function statusOf(head: string | Uint8Array): number {
  return typeof head === 'string'
    ? head.charCodeAt(0) * 100 + head.charCodeAt(1) * 10 + head.charCodeAt(2) - ZEROS
    : head[0] * 100 + head[1] * 10 + head[2] - ZEROS
}

/** What three digits add to their number by their codes. */
const ZEROS = 48 * 111

export function headText(head: string | Uint8Array): string {
  return typeof head === 'string'
    ? head
    : Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1')
}

/**
 * Synchronous. After a throw, or a return without a reply, the engine answers `FAULT_HEAD` and `FAULT_BODY`.
 */
export type OnRequest = (exchange: Exchange) => void

/** What an engine needs of its surroundings. */
export interface Surroundings {
  readonly connections: Connections
  readonly recorder: Recorder
  /** Called at every sign of life but requests: connections that come and go, bytes that go out later. */
  readonly onProgress: () => void
  /** Wall clock in milliseconds since the epoch, for Date headers. */
  readonly now: () => number
  /** Gets every error that a handler threw (or that it did not reply), after the client was answered. */
  readonly onThrow: (error: unknown) => void
}

/** What slow readers cost an engine. */
export interface Pressure {
  /** Answers with a body that waits for its client. */
  readonly waiting: number
  /** Bytes that are held for them. */
  readonly heldBytes: number
  /** Answers so far that could not be held: their connections were cut or their bodies made again. */
  readonly notHeld: number
}

export interface Engine {
  readonly kind: 'uws' | 'node'
  readonly pressure: Pressure
  /**
   * Resolves to the bound port (0: any free one, for this engine alone). Rejects with an Error that names the
   * address.
   */
  listen(host: string, port: number): Promise<number>
  /** No new connections; the existing ones are still served. */
  stopListening(): void
  /** From now on every answer carries `Connection: close`, and its connection is closed after it. */
  drain(): void
  /**
   * Resolves when what had reached it before `stopListening` is answered, at the latest after `withinMs`. To
   * be called after `drain`.
   */
  finish(withinMs: number): Promise<void>
  /** Drops everything at once. Only after it may a worker thread exit. Idempotent. */
  close(): void
}

/** What a client gets when a handler failed: the backstop behind the request path's own error answers. */
export const FAULT_HEAD =
  '500 Internal Server Error\r\nContent-Type: application/json\r\nAccess-Control-Allow-Origin: *\r\nCache-Control: no-store'
export const FAULT_BODY: Uint8Array = new TextEncoder().encode(
  '{"error":"internal_error","message":"Internal error"}',
)

/** A bare answer of an engine itself; its connection is closed. */
export interface Refusal {
  readonly head: string
  readonly body: Uint8Array
}

function refusal(status: string, error: string, message: string, headers = ''): Refusal {
  return {
    head: `${status}\r\nContent-Type: application/json\r\nAccess-Control-Allow-Origin: *\r\nCache-Control: no-store${headers}`,
    body: new TextEncoder().encode(JSON.stringify({ error, message })),
  }
}

export const UNCLEAR_LENGTH = refusal(
  '400 Bad Request',
  'bad_request',
  'Content-Length: at most one, a whole number; Transfer-Encoding: at most one, chunked',
)
export const BAD_HOST = refusal('400 Bad Request', 'bad_request', 'Host: exactly one')
export const HEADERS_TOO_LARGE = refusal(
  '431 Request Header Fields Too Large',
  'bad_request',
  `At most ${HEADER_LIMIT_BYTES} bytes and ${HEADER_LINES_LIMIT} lines of headers`,
)
/** The answer to a connection beyond a limit, before it has asked anything. */
export const TOO_MANY_CONNECTIONS = refusal(
  '503 Service Unavailable',
  'service_unavailable',
  'Too many connections',
  '\r\nRetry-After: 5',
)

/**
 * What a request's headers announce about its body. We read no bodies: after a request that announces one its
 * connection ends, and nothing behind it is answered, because where a proxy in front disagrees about a body's
 * length, its bytes would be taken for the next request (request smuggling). `unclear` is answered 400:
 * lengths or codings several times, empty, or unknown.
 */
export type Framing = 'no body' | 'body' | 'unclear'

/** `lengths` and `codings`: the values of all headers `Content-Length` and `Transfer-Encoding`. */
export function framingOf(lengths: readonly string[], codings: readonly string[]): Framing {
  if (lengths.length + codings.length === 0) return 'no body'
  if (lengths.length + codings.length > 1) return 'unclear'
  const [length = ''] = lengths
  const [coding] = codings
  if (coding !== undefined) return coding.toLowerCase() === 'chunked' ? 'body' : 'unclear'
  if (!/^[0-9]+$/.test(length)) return 'unclear'
  return /^0+$/.test(length) ? 'no body' : 'body'
}

/**
 * An IPv6 text that only maps an IPv4 address (`::ffff:192.0.2.1`, RFC 4291, section 2.5.5.2) as that
 * address; all else unchanged.
 */
export function unmapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
