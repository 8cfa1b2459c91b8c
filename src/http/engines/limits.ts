/** What one client may cost an engine. Turns are those of a thread's event loop. */
/** Requests of one connection in one turn; one that has sent more is cut. */
export const REQUESTS_PER_TURN = 256
/** Work in one turn is counted in answers; a long answer counts as one for each this many bytes. */
export const BYTES_PER_UNIT = 4096
/**
 * This much work in one turn of `uws` takes some 10 ms. For the rest of the turn a connection may ask for the two
 * lower limits, whichever is more.
 */
export const BUSY_TURN_UNITS = 4096
/** The same for node:http, which counts requests alone, and takes some 15 µs to read one. */
export const NODE_BUSY_TURN_REQUESTS = 1024
export const REQUESTS_PER_BUSY_TURN = 16
export const UNITS_PER_BUSY_TURN = 32
/**
 * What uWebSockets.js gathers of the answers to requests that came together (`LoopData::CORK_BUFFER_SIZE`).
 * What no longer fits goes to the kernel, and from then on each piece of a head by itself: six calls an
 * answer.
 */
export const GATHERED_BYTES = 16 * 1024
/**
 * A longer body goes out in pieces of this many bytes, since the kernel alone takes megabytes for a client
 * that does not read.
 */
export const PIECE_BYTES = 256 * 1024
/**
 * A body up to this goes to the kernel of `uws` in one call of some 0.1 ms, however much the kernel takes: a
 * list of all buoys, the map, a seasonal series. Pieces would cost a copy of what waits.
 */
export const AT_ONCE_BYTES = 640 * 1024
/** The first piece of a longer body, which goes out before others have had their turn. */
export const FIRST_PIECE_BYTES = 16 * 1024
/** Bytes of such pieces that go out in one turn, or one piece: some 1 ms. */
export const PIECES_PER_TURN_BYTES = 2 * 1024 * 1024
/**
 * Bytes of answers without a body (HEAD, 204, 304) that may wait to be read. `uws` buffers them silently, so
 * the connection ends in good order when it has been sent this many, read or not. The real limit is up to a
 * third higher, so that nobody can tell it.
 */
export const BODYLESS_LIMIT_BYTES = 192 * 1024
/**
 * Pipelined requests of one connection that wait for their turn with node:http. Each takes some 4 KB, so this
 * holds 1 MB.
 */
export const WAITING_REQUESTS = 256
/**
 * Bytes of answers, in all connections of a thread, that are held for clients slow to read. The next such
 * answer cuts its connection, unless it can be made again: then it is, each time its client takes more.
 */
export const HELD_LIMIT_BYTES = 64 * 1024 * 1024

/**
 * A turn of the loop without work takes some 0.02 ms. A port is closed behind a short one: closing resets who
 * has connected since the turn accepted all that had.
 */
export const SHORT_TURN_MS = 0.1
/** Time after which a port is closed although there was none. */
export const CLOSING_PATIENCE_MS = 1000

/** The bytes that one thread holds for clients that are slow to read. */
export class HeldBytes {
  readonly #limit: number
  #held = 0
  /** How often bytes could not be held. */
  refused = 0

  constructor(limit = HELD_LIMIT_BYTES) {
    this.#limit = limit
  }

  get bytes(): number {
    return this.#held
  }

  /** Whether `bytes` more may be held; where they may, they count until they are given back. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#limit) {
      this.refused++
      return false
    }
    this.#held += bytes
    return true
  }

  /** As `take`, for bytes that need not be held: they get half of the limit at most, so others come first. */
  takeSpare(bytes: number): boolean {
    if (this.#held + bytes <= this.#limit / 2) return this.take(bytes)
    this.refused++
    return false
  }

  giveBack(bytes: number): void {
    this.#held -= bytes
  }
}
