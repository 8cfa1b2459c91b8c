/**
 * Whole answers of one snapshot, by canonical request: bounded in bytes, the oldest leave first. An optimisation that
 * nothing relies on; a new snapshot begins with an empty one.
 */

/** An answer that takes more than this share of the cache would drive out everything else. */
const LARGEST_SHARE = 1 / 8
/** What an entry costs beside its bytes and key, roughly: map slot and array header. */
const ENTRY_BYTES = 200

export class AnswerCache {
  readonly #limit: number
  readonly #answers = new Map<string, Uint8Array>()
  #bytes = 0

  /** `limit` in bytes; 0 keeps nothing. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): Uint8Array | undefined {
    return this.#answers.get(key)
  }

  /** Keeps a copy of `answer`. */
  put(key: string, answer: Uint8Array): void {
    const size = sizeOf(key, answer)
    if (size > this.#limit * LARGEST_SHARE || this.#answers.has(key)) return
    this.#answers.set(key, answer.slice())
    this.#bytes += size
    for (const [oldest, dropped] of this.#answers) {
      if (this.#bytes <= this.#limit) break
      this.#answers.delete(oldest)
      this.#bytes -= sizeOf(oldest, dropped)
    }
  }
}

function sizeOf(key: string, answer: Uint8Array): number {
  return answer.length + key.length * 2 + ENTRY_BYTES
}
