/**
 * Whole answers of one snapshot, by canonical request: bounded in bytes, the oldest leave first. Nothing
 * relies on it; a new snapshot begins with an empty one.
 */
import type { Encoding } from './encoding.ts'
import type { Operation } from '../answers/operation.ts'
import type { Format } from '../answers/shape.ts'
import { compressAnswer, LEAST_COMPRESSED_BYTES, type CompressedAnswer } from './compressed.ts'
import { RequestTargets } from './request-targets.ts'

/** An answer that takes more than this share of the cache would drive out everything else. */
const LARGEST_SHARE = 1 / 8
/** What an entry costs beside its bytes and key, about: map slot, objects and array header. */
const ENTRY_BYTES = 300
/** Answers that are being compressed at a time: as many as libuv has threads. */
const MOST_COMPRESSIONS = 4
/** Memory is taken in pieces of this share of the cache, between these sizes. */
const SLAB_SHARE = 1 / 16
const LEAST_SLAB_BYTES = 64 * 1024
const MOST_SLAB_BYTES = 4 * 1024 * 1024
/**
 * An answer larger than this share of a slab gets memory of its own: no more than that is left unused at a
 * slab's end.
 */
const SLAB_REST = 1 / 4

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
 * What the tail of an answer is long in bytes, of one without a timestamp too: its last bytes then stand for it.
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
  /** Bytes it takes in the cache, and whether it is still in there. */
  size: number
  kept = true
  gzip: CompressedAnswer | 'under way' | null = null
  br: CompressedAnswer | 'under way' | null = null
  zstd: CompressedAnswer | 'under way' | null = null
  #bytes: Uint8Array
  #second = -1

  /** Over `bytes`, whose last are the tail. */
  constructor(
    { operation, index, low, high, minute, negotiated, format }: AnsweredRequest,
    bytes: Uint8Array,
    size: number,
  ) {
    this.operation = operation
    this.index = index
    this.low = low
    this.high = high
    this.minute = minute
    this.negotiated = negotiated
    this.format = format
    this.ownTail = format === 'json' ? null : bytes.slice(-OWN_TAIL_BYTES)
    this.#bytes = bytes
    this.size = size
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

  /** Lets go of its memory: a request target may lead here for long. */
  leave(): void {
    this.kept = false
    this.#bytes = NOTHING
    this.gzip = this.br = this.zstd = null
  }
}

/**
 * Memory of kept answers. Few large buffers, because the engine finds the bytes of a buffer by way of five
 * objects: those of a buffer per answer were never in the processor's cache, half a microsecond of a kept
 * answer. A slab goes when all its answers have left, which they do in the order they came.
 */
class Slabs {
  readonly #size: number
  #slab = NOTHING
  #used = 0

  constructor(limit: number) {
    this.#size = Math.max(LEAST_SLAB_BYTES, Math.min(MOST_SLAB_BYTES, limit * SLAB_SHARE))
  }

  /** A copy of `bytes`. */
  keep(bytes: Uint8Array): Uint8Array {
    if (bytes.length > this.#size * SLAB_REST) return bytes.slice()
    if (this.#used + bytes.length > this.#slab.length) {
      this.#slab = new Uint8Array(this.#size)
      this.#used = 0
    }
    const copy = this.#slab.subarray(this.#used, (this.#used += bytes.length))
    copy.set(bytes)
    return copy
  }
}

export class AnswerCache {
  readonly #limit: number
  readonly #answers = new Map<string, KeptAnswer>()
  /** Not in the answers themselves: few have any, and an answer is to fit into two cache lines. */
  readonly #links = new Map<KeptAnswer, string>()
  readonly #slabs: Slabs
  #targets: RequestTargets<KeptAnswer> | null = null
  #bytes = 0
  #compressions = 0

  /** `limit` in bytes; 0 keeps nothing. */
  constructor(limit: number) {
    this.#limit = limit
    this.#slabs = new Slabs(limit)
  }

  /** What it takes now. */
  get bytes(): number {
    return this.#bytes
  }

  get isOff(): boolean {
    return this.#limit === 0
  }

  get(canonical: string): KeptAnswer | undefined {
    return this.#answers.get(canonical)
  }

  /**
   * The answer to a request of the same target as before, in a third of the time that parsing takes.
   */
  getByTarget(path: string, query: string): KeptAnswer | undefined {
    if (this.#targets === null) return undefined
    const answer = this.#targets.find(path, query)
    return answer !== undefined && answer.kept ? answer : undefined
  }

  remember(path: string, query: string, answer: KeptAnswer): void {
    this.#targets ??= new RequestTargets()
    this.#targets.add(path, query, answer)
  }

  /** The header lines of the links of a kept answer; '' where it has none. */
  linkOf(kept: KeptAnswer): string {
    return this.#links.get(kept) ?? ''
  }

  /**
   * Keeps a copy of `answer`, whatever its tail says, and the header lines of its links.
   * @returns what is kept, null where it is too large
   */
  put(canonical: string, request: AnsweredRequest, answer: Uint8Array, link = ''): KeptAnswer | null {
    const before = this.#answers.get(canonical)
    if (before !== undefined) return before
    const size = answer.length + canonical.length * 2 + link.length + ENTRY_BYTES
    if (size > this.#limit * LARGEST_SHARE) return null
    const kept = new KeptAnswer(request, this.#slabs.keep(answer), size)
    this.#answers.set(canonical, kept)
    if (link !== '') this.#links.set(kept, link)
    this.#grow(size)
    return kept
  }

  /**
   * The answer in a coding, or null as long as it is not compressed: once, on another thread, while requests
   * get it plain.
   */
  compressed(
    answer: KeptAnswer,
    encoding: Encoding,
    second: number,
    tail: Uint8Array,
  ): CompressedAnswer | null {
    const compressed = answer[encoding]
    if (compressed === null) {
      const own = answer.ownTail ?? tail
      this.#compress(answer, encoding, answer.bytesAt(second, own), own.length)
    }
    return compressed === 'under way' ? null : compressed
  }

  #compress(answer: KeptAnswer, encoding: Encoding, bytes: Uint8Array, tailLength: number): void {
    if (bytes.length < LEAST_COMPRESSED_BYTES || this.#compressions >= MOST_COMPRESSIONS) return
    answer[encoding] = 'under way'
    this.#compressions++
    compressAnswer(encoding, bytes, tailLength)
      .then((compressed) => {
        if (!answer.kept) return
        compressed.bytes = this.#slabs.keep(compressed.bytes)
        answer[encoding] = compressed
        answer.size += compressed.bytes.length
        this.#grow(compressed.bytes.length)
      })
      // Out of memory for the compressor: this answer stays as it is.
      .catch(() => {})
      .finally(() => this.#compressions--)
  }

  #grow(bytes: number): void {
    this.#bytes += bytes
    for (const [oldest, dropped] of this.#answers) {
      if (this.#bytes <= this.#limit) break
      this.#answers.delete(oldest)
      this.#links.delete(dropped)
      dropped.leave()
      this.#bytes -= dropped.size
    }
  }
}
