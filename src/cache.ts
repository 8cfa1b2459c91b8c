/**
 * Whole answers of one snapshot, by canonical request: bounded in bytes, the oldest leave first. An optimisation that
 * nothing relies on; a new snapshot begins with an empty one.
 */
import type { Encoding } from './encoding.ts'
import type { Operation } from './operation.ts'
import { pack, PackedAnswer, SMALLEST_PACKED } from './packed.ts'

/** An answer that takes more than this share of the cache would drive out everything else. */
const LARGEST_SHARE = 1 / 8
/** What an entry costs beside its bytes and key, roughly: map slot, objects and array header. */
const ENTRY_BYTES = 300
/** Requests as they were spelled, each a way around parsing; longer ones than this are nobody else's. */
const MAX_SHORTCUTS = 16_384
const LONGEST_SHORTCUT = 400
/** Answers that are being compressed at a time: as many as libuv has threads. */
const MAX_PACKING = 4

/** What the request path needs to send an answer again. */
export interface AnsweredRequest {
  readonly operation: Operation
  /** Number in the ETag: its lower 32 bits, and the 16 above. */
  readonly low: number
  readonly high: number
  /** The minute since 1970 that the answer is of; 0 where it is good for as long as its snapshot. */
  readonly minute: number
  /** `Accept-Language` had its say: it is the answer for those who send none. */
  readonly negotiated: boolean
}

export class KeptAnswer {
  readonly request: AnsweredRequest
  /** Bytes it takes in the cache, and whether it is still in there. */
  size: number
  kept = true
  readonly packed: { [coding in Encoding]?: PackedAnswer | 'under way' } = {}
  readonly #answer: Uint8Array
  #second = -1

  /** Keeps a copy of `answer`, whose last bytes are the tail. */
  constructor(request: AnsweredRequest, answer: Uint8Array, size: number) {
    this.request = request
    this.#answer = answer.slice()
    this.size = size
  }

  /** The answer as of `second`; `tail` are the bytes that say so. */
  bytesAt(second: number, tail: Uint8Array): Uint8Array {
    if (second !== this.#second) {
      this.#second = second
      this.#answer.set(tail, this.#answer.length - tail.length)
    }
    return this.#answer
  }
}

export class AnswerCache {
  readonly #limit: number
  readonly #answers = new Map<string, KeptAnswer>()
  readonly #shortcuts = new Map<string, KeptAnswer>()
  #bytes = 0
  #packing = 0

  /** `limit` in bytes; 0 keeps nothing. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get isOff(): boolean {
    return this.#limit === 0
  }

  get(canonical: string): KeptAnswer | undefined {
    return this.#answers.get(canonical)
  }

  /** The answer to a request that was spelled just like this before: a third of the time that parsing it would take. */
  getAsSpelled(path: string, query: string): KeptAnswer | undefined {
    if (this.#shortcuts.size === 0) return undefined
    const answer = this.#shortcuts.get(spelled(path, query))
    return answer !== undefined && answer.kept ? answer : undefined
  }

  remember(path: string, query: string, answer: KeptAnswer): void {
    if (path.length + query.length > LONGEST_SHORTCUT) return
    if (this.#shortcuts.size >= MAX_SHORTCUTS) this.#shortcuts.clear()
    this.#shortcuts.set(spelled(path, query), answer)
  }

  /** Keeps a copy of `answer`, whatever its tail says. */
  put(canonical: string, request: AnsweredRequest, answer: Uint8Array): void {
    const size = answer.length + canonical.length * 2 + ENTRY_BYTES
    if (size > this.#limit * LARGEST_SHARE || this.#answers.has(canonical)) return
    this.#answers.set(canonical, new KeptAnswer(request, answer, size))
    this.#grow(size)
  }

  /** The answer in a coding, or null as long as it is not compressed: once, on another thread, while requests get it plain. */
  packed(answer: KeptAnswer, encoding: Encoding, second: number, tail: Uint8Array): PackedAnswer | null {
    const packed = answer.packed[encoding]
    if (packed === undefined) this.#pack(answer, encoding, answer.bytesAt(second, tail), tail.length)
    return packed === undefined || packed === 'under way' ? null : packed
  }

  #pack(answer: KeptAnswer, encoding: Encoding, bytes: Uint8Array, tailLength: number): void {
    if (bytes.length < SMALLEST_PACKED || this.#packing >= MAX_PACKING) return
    answer.packed[encoding] = 'under way'
    this.#packing++
    pack(encoding, bytes, tailLength)
      .then((packed) => {
        if (!answer.kept) return
        answer.packed[encoding] = packed
        answer.size += packed.bytes.length
        this.#grow(packed.bytes.length)
      })
      // Out of memory for the compressor: this answer stays as it is.
      .catch(() => {})
      .finally(() => this.#packing--)
  }

  #grow(bytes: number): void {
    this.#bytes += bytes
    for (const [oldest, dropped] of this.#answers) {
      if (this.#bytes <= this.#limit) break
      this.#answers.delete(oldest)
      dropped.kept = false
      this.#bytes -= dropped.size
    }
  }
}

function spelled(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`
}
