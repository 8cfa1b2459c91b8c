/** A kept answer: what the request path needs to send it again, plain and compressed. */
import type { Operation } from '../answers/operation.ts'
import type { Format } from '../answers/shape.ts'
import type { CompressedAnswer } from './compressed.ts'
import type { Encoding } from './encoding.ts'

const NOTHING = new Uint8Array(0)

/** What the request path needs to send an answer again. */
export interface AnsweredRequest {
  readonly operation: Operation
  /** Its ordinal among the operations. */
  readonly index: number
  /** Number in the ETag: its lower 32 bits, and the 16 above. */
  readonly low: number
  readonly high: number
  /** The minute since 1970 that the answer is of; 0 where it is good for as long as its snapshot. */
  readonly minute: number
  /** `Accept-Language` decided: it is the answer for those who send none. */
  readonly negotiated: boolean
  readonly format: Format
}

/**
 * Length of an answer's tail in bytes. An answer without a timestamp has one, too: its last bytes.
 */
const OWN_TAIL_BYTES = 23

/** All in one object, which is one or two cache lines. */
export class KeptAnswer implements AnsweredRequest {
  readonly operation: Operation
  readonly index: number
  readonly low: number
  readonly high: number
  readonly minute: number
  readonly negotiated: boolean
  readonly format: Format
  /** In place of a timestamp, where the format has none: the last bytes. */
  readonly ownTail: Uint8Array | null
  /** By what it is found. */
  readonly canonical: string
  /** Whether it is still in the cache. */
  kept = true
  gzip: CompressedAnswer | 'under way' | null = null
  br: CompressedAnswer | 'under way' | null = null
  zstd: CompressedAnswer | 'under way' | null = null
  #bytes: Uint8Array
  #second = -1

  /** `bytes`: whose last are the tail. */
  constructor(
    canonical: string,
    { operation, index, low, high, minute, negotiated, format }: AnsweredRequest,
    bytes: Uint8Array,
  ) {
    this.operation = operation
    this.index = index
    this.low = low
    this.high = high
    this.minute = minute
    this.negotiated = negotiated
    this.format = format
    this.ownTail = format === 'json' ? null : bytes.slice(-OWN_TAIL_BYTES)
    this.canonical = canonical
    this.#bytes = bytes
  }

  /** The answer as of `second`; `tail` are the bytes that say so. */
  bytesAt(second: number, tail: Uint8Array): Uint8Array {
    if (second !== this.#second) {
      this.#second = second
      this.#bytes.set(tail, this.#bytes.length - tail.length)
    }
    return this.#bytes
  }

  /** The answer with another `tail` than that of the last second asked for. */
  bytesWith(tail: Uint8Array): Uint8Array {
    this.#second = -1
    this.#bytes.set(tail, this.#bytes.length - tail.length)
    return this.#bytes
  }

  /** Bytes of it in a coding, null for none, lie in another place from now on: in what `place` returns. */
  move(encoding: Encoding | null, place: (bytes: Uint8Array) => Uint8Array): void {
    if (encoding === null) {
      this.#bytes = place(this.#bytes)
      return
    }
    const compressed = this[encoding] as CompressedAnswer
    compressed.bytes = place(compressed.bytes)
  }

  /** Lets go of its memory: a request target may lead here for long. */
  leave(): void {
    this.kept = false
    this.#bytes = NOTHING
    this.gzip = this.br = this.zstd = null
  }
}
