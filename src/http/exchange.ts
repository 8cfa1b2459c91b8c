/** The whole interface between the request path and an HTTP engine: nothing else crosses it. */

import type { Connections } from './connections.ts'

/** Bytes of request line and headers. Both engines answer 431 beyond. */
export const HEADER_LIMIT_BYTES = 16_384

/** Header lines, the most that uWebSockets.js has room for. Both engines answer 431 beyond. */
export const HEADER_LINES_LIMIT = 98

/** The shortest idle time after which an engine ends a connection: uws 8 to 12 s, fixed in it; node 11 s. */
export const LEAST_IDLE_S = 8

/**
 * Announces the time after which a client should open another connection: a second less than the real one,
 * so that no request crosses the end. Engines take it out of a connection's last answer.
 */
export const KEPT = `\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${LEAST_IDLE_S - 1}`

export type HeaderName = Lowercase<string>

/** One request and its reply, valid only during the handler's synchronous call: engines reuse the object. */
export interface Exchange {
  /** As sent: methods are case-sensitive (RFC 9110, section 9.1). */
  readonly method: string
  /** Not percent-decoded. Bytes beyond ASCII become UTF-8 (or U+FFFD) in uws; node answers 400. */
  readonly path: string
  /** Raw, without the `?`; empty without a query. */
  readonly query: string
  /** Ordinal of the route, set by the handler for the records; `NO_ROUTE` before. */
  route: number
  /** Row of the key in the key ring, set by the handler for the records; `NO_KEY` without one. */
  keyRow: number
  /**
   * The caller's UUID, else the one that an error's answer shows, set by the handler for the records; ''
   * without.
   */
  requestId: string
  /** It came with a body, so that the connection ends with its answer. */
  readonly cameWithBody: boolean
  /** The first value, empty without the header. */
  header(name: HeaderName): string
  /** All values of all lines in order, joined by commas; empty without the header. */
  headerValues(name: HeaderName): string
  /** The peer's address; IPv4-mapped IPv6 as plain IPv4; empty if unknown. Costs about 1 µs. */
  address(): string
  /**
   * The one reply.
   *
   * `head`: status line and headers in ASCII, `200 OK\r\nContent-Type: application/json\r\nX-A: b`, without a
   * last CRLF, Content-Length and Date. Its only Connection header may be `KEPT`; a last answer replaces that
   * by `Connection: close`. It goes out unchecked: nothing of a request may be in it unless validated. Bytes
   * are a little faster than text, and like `body` may be in a buffer that is reused at once.
   *
   * `body`: null for 204 and 304. What the kernel does not take at once is copied, unless the bytes never
   * change (`lasting`); too many such copies cut the connection. HEAD gets only the body's length.
   * @throws Error on a second call
   */
  send(head: string | Uint8Array, body: Uint8Array | null, lasting?: boolean): void
  /**
   * Puts the reply off, in place of `send`; the caller takes what it needs from the request now. A request
   * pipelined after it waits on node and ends the connection on uws. Not for a request that `cameWithBody`.
   */
  later(events: LaterEvents): LaterReply
  /**
   * As `later`, for a request that may have a body. `onBody` gets it whole, or null where it is longer than
   * `most` bytes: the rest of it is read and dropped. A client that takes longer than ten seconds to send it
   * is cut, and has gone. The answer to a request with a body is the connection's last.
   */
  laterWithBody(
    most: number,
    events: LaterEvents,
    onBody: (body: Uint8Array<ArrayBuffer> | null) => void,
  ): LaterReply
}

/** `NO_ROUTE` and `NO_KEY` take the place of an ordinal and of a row. */
export const NO_ROUTE = -1
export const NO_KEY = -1

/** An answer as it is recorded. Its request can still be read, unless it has a later reply. */
export interface Answered extends Exchange {
  readonly status: number
  /** Bytes of the body that is to be sent, 0 on HEAD. */
  readonly bytes: number
}

/** Records every request that a handler, or the engine in its place, answers. */
export interface Recorder {
  /** The answer was handed over, or the connection cut. `begun`: ms of `performance.now`. */
  answered(exchange: Answered, begun: number): void
  /** The request gets a later reply. */
  deferred(exchange: Exchange, begun: number): RecordedLater
}

/** A later reply: `begun` is called once, and then `ended`. */
export interface RecordedLater {
  /** With the status of its head, or `GONE`. */
  begun(status: number): void
  /** `bytes` of the body were handed over. */
  ended(bytes: number): void
}

/** In place of a status: the client has gone before its later reply began, or was cut off. */
export const GONE = 499

export const NOT_RECORDED: RecordedLater = { begun() {}, ended() {} }

/** Events of a later reply's connection; never from within one of its own methods. */
export interface LaterEvents {
  /** There may be room again after a `write` that left none. */
  readonly onRoom: () => void
  /** The client has gone, or has read nothing for ten seconds, and the reply was not over. */
  readonly onGone: () => void
}

export const NO_EVENTS: LaterEvents = { onRoom() {}, onGone() {} }

export interface Retried {
  /** The client is known to have taken bytes since the last look. */
  readonly isRead: boolean
  /** There is room, or a `write` of more than 16 KB finds out. */
  readonly mayWrite: boolean
}

/**
 * A later reply: `send`, or `begin`, then `write` and `end`; to HEAD `begin` alone. Once over, it does
 * nothing.
 */
export interface LaterReply {
  readonly isOver: boolean
  /** As `Exchange.send`; the bytes of `body` must never change. */
  send(head: string | Uint8Array, body: Uint8Array): void
  /**
   * `length`: bytes of the body that follows. Null begins a stream, the connection's last answer: each
   * `write` goes out at once, and however long none comes, the connection stays.
   */
  begin(head: string | Uint8Array, length: number | null): void
  /** `bytes` must never change; call it only if there is room. False: they are not all out until `onRoom`. */
  write(bytes: Uint8Array): boolean
  /**
   * While there is no room, tries again: the kernel tells of room only when a third of its buffer, of up to
   * 4 MB, is free.
   */
  retry(): Retried
  /** Ends the reply when all is out. */
  end(): void
  /** Ends the connection, so that the client sees that the body is not whole. */
  cut(): void
}

export function statusOf(head: string | Uint8Array): number {
  return typeof head === 'string'
    ? head.charCodeAt(0) * 100 + head.charCodeAt(1) * 10 + head.charCodeAt(2) - ZEROS
    : head[0] * 100 + head[1] * 10 + head[2] - ZEROS
}

/** Sum by which codes of three digits exceed their number. */
const ZEROS = 48 * 111

export function headText(head: string | Uint8Array): string {
  return typeof head === 'string'
    ? head
    : Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1')
}

/** Synchronous. After a throw, or without a reply, the engine answers `FAULT`. */
export type OnRequest = (exchange: Exchange) => void

/** What an engine is given. */
export interface EngineNeeds {
  readonly connections: Connections
  readonly recorder: Recorder
  /** One cell, with the route of the request that is being answered; `NO_ROUTE` between requests. */
  readonly serving: Int32Array
  /** Called at every sign of life: requests, and connections that come. */
  readonly onProgress: () => void
  /** Called for each answer that could not be buffered for a slow client: its connection is cut. */
  readonly onNotBuffered: () => void
  /** Gets an error for a handler that threw or did not reply, after the client was answered. */
  readonly onThrow: (error: unknown) => void
}

export type EngineKind = 'uws' | 'node'

export interface Engine {
  /** `port` 0: any free one. @returns the bound port @throws Error that names the address */
  listen(host: string, port: number): Promise<number>
  /** Existing connections are still served. Resolves when the port is closed. */
  stopListening(): Promise<void>
  /** From now on every answer ends its connection. */
  drain(): void
  /** Call `drain` first. Stops listening, and resolves when all before is answered, or after `withinMs`. */
  finish(withinMs: number): Promise<void>
  /** Drops everything at once. Idempotent. A worker thread may exit only after it. */
  close(): void
}

export const NOTHING = new Uint8Array(0)

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

/** The answer for a client when a handler failed to answer, even with an error. */
export const FAULT = refusal('500 Internal Server Error', 'internal_error', 'Internal error')
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
/** For a connection beyond a limit, before it has asked anything. */
export const TOO_MANY_CONNECTIONS = refusal(
  '503 Service Unavailable',
  'service_unavailable',
  'Too many connections',
  '\r\nRetry-After: 5',
)

/**
 * We read no bodies but those of messages to tools: a connection ends after a request that announces one. If
 * a proxy disagreed about its length, its bytes would be taken for the next request (request smuggling).
 * `unclear` is answered 400: lengths or codings several times, empty, or unknown.
 */
export type Framing = 'no body' | 'body' | 'unclear'

/** The values of all headers `Content-Length` and `Transfer-Encoding`. */
export function framingOf(lengths: readonly string[], codings: readonly string[]): Framing {
  if (lengths.length + codings.length === 0) return 'no body'
  if (lengths.length + codings.length > 1) return 'unclear'
  const [length = ''] = lengths
  const [coding] = codings
  if (coding !== undefined) return coding.toLowerCase() === 'chunked' ? 'body' : 'unclear'
  if (!/^[0-9]+$/.test(length)) return 'unclear'
  return /^0+$/.test(length) ? 'no body' : 'body'
}
