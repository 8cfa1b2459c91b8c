/**
 * One answer that takes long: what is asked for, and how it is made and sent in slices.
 *
 * It is made twice: once to know its length, without which uws could send it only in a way that breaks where
 * its reader goes; then to be sent. One that is kept for others is made once, and sent from what is kept for
 * as long as it is.
 */
import type { JsonWriter } from '../answers/json.ts'
import { MOST_WRITE_BYTES, type LaterEvents, type LaterReply } from '../http/exchange.ts'
import type { Steps } from '../system/steps.ts'

/** Work of one slice: others wait for it once in each round of the event loop. */
const SLICE_MS = 0.5
/** What one step writes at most. */
const STEP_BYTES = 16 * 1024
/**
 * What was written goes to the connection at so many bytes; one more step fits behind them. Fewer than the
 * least are not worth a call.
 */
const FLUSH_BYTES = MOST_WRITE_BYTES - STEP_BYTES
const LEAST_FLUSH_BYTES = 16 * 1024

/** What is asked for. */
export interface ExpensiveRequest {
  /** Whose share it takes: the slot of a key, or −1 without one. */
  readonly client: number
  /** Status and headers, asked for when it is sent. */
  head(): string | Uint8Array
  /**
   * Writes the answer into a writer that may begin anew after each step; a step takes some 50 µs and writes
   * 16 KB at most. Called again, it writes as many bytes.
   */
  steps(writer: JsonWriter): Steps<unknown>
  /** It waited too long (`fault` is null), or failed before any of it was sent: says so in `reply`. */
  refuse(reply: LaterReply, fault: unknown): void
  /** It failed after it had begun; its connection was cut. */
  onFault(error: unknown): void
  /**
   * Gets all of it once it is made; null where it is not to be kept. @returns null where it could not be kept
   */
  readonly keep: ((answer: Uint8Array) => Kept | null) | null
  /** Bytes that it takes at most, where it may take longer than others for them. */
  readonly mostBytes?: number
}

/** What is kept of an answer, the same bytes each time; null when it is kept no longer. */
export type Kept = () => Uint8Array | null

/** Who gives answers their turns. */
export interface Turns {
  /** The reader of `answer` takes more. */
  goOn(answer: SlicedAnswer): void
  /** `answer` is over, whole or not. */
  leave(answer: SlicedAnswer): void
}

/** What came of a slice. */
export type Progress =
  /** Nothing yet: the writer holds bytes of it, or its reader has gone. */
  | 'unsent'
  /** Bytes were counted or sent. */
  | 'going'
  /** Bytes were sent, and its reader has no room for more. */
  | 'full'
  /** All of it was sent. */
  | 'over'

/** One answer from its request to its end. */
export class SlicedAnswer implements LaterEvents {
  readonly request: ExpensiveRequest
  readonly #turns: Turns
  reply: LaterReply | null = null
  steps: Steps<unknown> | null = null
  /** Whether its length is known and its head is out. */
  isBegun = false
  /** Bytes of all of it, as far as they are counted, and bytes that are sent. */
  #length = 0
  #sent = 0
  /** Bytes that are made once more and were sent before. */
  #skipped = 0
  /** When it was asked for, and when its steps began, in ms of the clock. */
  readonly askedAt: number
  begunAt = 0
  /** When its reader last left no room. */
  unreadSince = 0
  /** All that was made before it has begun, where it is to be kept; then what is kept of it. */
  #pieces: Uint8Array[] | null
  #kept: Kept | null = null

  constructor(turns: Turns, request: ExpensiveRequest, askedAt: number) {
    this.#turns = turns
    this.request = request
    this.askedAt = askedAt
    this.#pieces = request.keep === null ? null : []
  }

  readonly onRoom = (): void => this.#turns.goOn(this)
  readonly onGone = (): void => this.#turns.leave(this)

  /** Makes and sends some of it. `writer` is empty, or holds what its slices have made and not yet sent. */
  slice(writer: JsonWriter): Progress {
    const kept = this.#kept?.() ?? null
    if (kept !== null) return this.#sliceOfKept(kept)
    if (this.#kept !== null) {
      this.#kept = null
      this.#skipped = this.#sent
    }
    const steps = (this.steps ??= this.request.steps(writer))
    const end = performance.now() + SLICE_MS
    let isDone = false
    do isDone = steps.next().done === true
    while (!isDone && writer.length < FLUSH_BYTES && performance.now() < end)
    // Less is not worth a call, unless it is all.
    if (!isDone && writer.length < LEAST_FLUSH_BYTES) return 'unsent'
    if (this.isBegun) return this.#progress(this.#flush(writer), isDone)
    this.#count(writer)
    return isDone ? this.#beginSending() : 'going'
  }

  #sliceOfKept(kept: Uint8Array): Progress {
    const piece = kept.subarray(this.#sent, this.#sent + MOST_WRITE_BYTES)
    this.#sent += piece.length
    return this.#progress(this.reply!.write(piece), this.#sent === kept.length)
  }

  /** What came of a slice that has sent bytes. */
  #progress(hasRoom: boolean, isDone: boolean): Progress {
    if (this.reply!.isOver) return 'unsent'
    if (!isDone) return hasRoom ? 'going' : 'full'
    if (this.#sent !== this.#length) throw new Error('made again, an answer has another length')
    this.reply!.end()
    return 'over'
  }

  #count(writer: JsonWriter): void {
    const bytes = writer.answer()
    this.#length += bytes.length
    this.#pieces?.push(bytes.slice())
    writer.begin()
  }

  #beginSending(): Progress {
    const { request } = this
    const reply = this.reply!
    this.isBegun = true
    this.steps = null
    if (this.#pieces !== null) {
      this.#kept = request.keep!(Buffer.concat(this.#pieces))
      this.#pieces = null
    }
    reply.begin(request.head(), this.#length)
    return reply.isHead ? 'over' : 'going'
  }

  /** Sends what was written. @returns whether there is room for more */
  #flush(writer: JsonWriter): boolean {
    const made = writer.answer()
    const bytes = made.subarray(Math.min(this.#skipped, made.length))
    this.#skipped -= made.length - bytes.length
    this.#sent += bytes.length
    if (this.#sent > this.#length) throw new Error('made again, an answer is longer')
    // Its last step may come after its last byte, when the response can no longer be written to.
    const hasRoom = bytes.length === 0 || this.reply!.write(bytes)
    writer.begin()
    return hasRoom
  }
}
