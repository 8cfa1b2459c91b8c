/**
 * When the threads collect garbage: parts of snapshots that are held no longer stay in memory until each
 * thread has.
 */

/** With so much waiting: two or three half hours of 1,200 buoys. */
const COLLECT_AFTER_BYTES = 64 * 2 ** 20
/**
 * Once more, so long after the last swap: less than that may wait, and a thread may have referred to what it
 * had just let go of.
 */
const COLLECT_LAST_MS = 10_000

export class Collections {
  readonly #collect: () => void
  #waitingBytes = 0
  #last: NodeJS.Timeout | null = null

  constructor(collect: () => void) {
    this.#collect = collect
  }

  /** So many bytes of parts have been let go of; fewer than 0 where parts are held again. */
  letGo(bytes: number): void {
    this.#waitingBytes += bytes
    if (this.#waitingBytes >= COLLECT_AFTER_BYTES) this.#begin()
    this.stop()
    this.#last = setTimeout(() => this.#begin(), COLLECT_LAST_MS).unref()
  }

  stop(): void {
    if (this.#last !== null) clearTimeout(this.#last)
  }

  #begin(): void {
    this.#waitingBytes = 0
    this.#collect()
  }
}
