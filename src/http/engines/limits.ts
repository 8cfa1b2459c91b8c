/** What one client may cost an engine. A turn is one of a thread's event loop. */
/** Requests of one connection in one turn; a connection that has sent more is cut. */
export const REQUESTS_PER_TURN = 256
/** Work in one turn is counted in answers; a long answer counts as one for each this many bytes. */
export const BYTES_PER_UNIT = 4096
/** Some 10 ms of `uws`. In the rest of the turn a connection gets the larger of the two lower limits. */
export const BUSY_TURN_UNITS = 4096
/** A busy turn of node:http, which counts requests alone, and takes some 15 µs to read one. */
export const NODE_BUSY_TURN_REQUESTS = 1024
export const REQUESTS_PER_BUSY_TURN = 16
export const UNITS_PER_BUSY_TURN = 32
/** uWebSockets.js gathers this of pipelined answers (`CORK_BUFFER_SIZE`); more cost six calls an answer. */
export const GATHERED_BYTES = 16 * 1024
/** A piece of a longer body: the kernel alone takes megabytes for a client that does not read. */
export const PIECE_BYTES = 256 * 1024
/** A body up to this goes to the kernel of `uws` in one call of some 0.1 ms: pieces would cost a copy. */
export const AT_ONCE_BYTES = 640 * 1024
/** The first piece of a longer body, which goes out before others have their turn. */
export const FIRST_PIECE_BYTES = 16 * 1024
/** Bytes of pieces that go out in one turn, or one piece: some 1 ms. */
export const PIECES_PER_TURN_BYTES = 2 * 1024 * 1024
/**
 * Bytes of answers without a body (HEAD, 204, 304) after which the connection ends in good order: `uws`
 * buffers them unread. The real limit is up to a third higher, so that nobody can tell it.
 */
export const BODYLESS_LIMIT_BYTES = 192 * 1024
/** Pipelined requests of one connection that wait with node:http: 1 MB at some 4 KB each. */
export const WAITING_REQUESTS = 256
/**
 * Bytes that a thread buffers for slow readers. The next such answer cuts its connection, unless it can be
 * made again each time its client takes more.
 */
export const BUFFER_LIMIT_BYTES = 64 * 1024 * 1024

/**
 * Bytes of answers that `uws` keeps for a connection: the engine cuts a connection that has sent more behind
 * an unfinished answer, so pipelined answers are finished though their client has not read those before them.
 */
export const UNREAD_LIMIT_BYTES = 1024 * 1024
/** The part of these bytes that is spared for refusing what goes beyond them. */
export const UNREAD_REFUSALS_BYTES = 64 * 1024

/** A port is closed behind a turn as short as this: closing resets connections that are not accepted yet. */
export const SHORT_TURN_MS = 0.1
/** Time after which a port is closed without a short turn. */
export const CLOSING_PATIENCE_MS = 1000

/** The bytes that a thread buffers for slow readers, which have one limit. */
export class BufferedBytes {
  readonly #limit: number
  #buffered = 0
  /** How often bytes were not allowed in. */
  refused = 0

  constructor(limit = BUFFER_LIMIT_BYTES) {
    this.#limit = limit
  }

  get bytes(): number {
    return this.#buffered
  }

  /** Counts `bytes` until they are given back. @returns false where they would pass the limit */
  take(bytes: number): boolean {
    if (this.#buffered + bytes > this.#limit) {
      this.refused++
      return false
    }
    this.#buffered += bytes
    return true
  }

  hasSpare(bytes: number): boolean {
    return this.#buffered + bytes <= this.#limit / 2
  }

  /** For bytes that have another way: they get at most half of the limit. */
  takeSpare(bytes: number): boolean {
    if (this.hasSpare(bytes)) return this.take(bytes)
    this.refused++
    return false
  }

  giveBack(bytes: number): void {
    this.#buffered -= bytes
  }
}
