/**
 * When the threads collect garbage: parts of snapshots that are held no longer stay in memory until each thread
 * has. A collection stalls a thread for 10 ms, 40 where others use its core, and V8 compiles much of the load
 * thread's code anew afterwards. So it comes once enough is waiting, and mostly not soon after the one before.
 */

/** So much waits before the threads collect it: two or three half hours of 1,200 buoys. */
const COLLECT_AFTER_BYTES = 64 * 2 ** 20
/** A collection is put off until so long after the one before it; a swap a second would bring one every other second. */
const REST_MS = 10_000
/** It is not put off with so much waiting. */
const COLLECT_AT_ONCE_BYTES = 256 * 2 ** 20

export class Collections {
  readonly #collect: () => void
  #waitingBytes = 0
  /** Runs until the next collection need not be put off. */
  #rest: NodeJS.Timeout | null = null

  constructor(collect: () => void) {
    this.#collect = collect
  }

  /** So many bytes of parts have been let go of; fewer than 0 where parts are held again. */
  letGo(bytes: number): void {
    this.#waitingBytes += bytes
    this.#look()
  }

  stop(): void {
    if (this.#rest !== null) clearTimeout(this.#rest)
  }

  #look(): void {
    if (this.#waitingBytes >= (this.#rest === null ? COLLECT_AFTER_BYTES : COLLECT_AT_ONCE_BYTES))
      this.#begin()
  }

  /**
   * Collects, and once more after the rest: a thread may have referred to what it had just let go of, and nobody
   * knows when the next swap comes.
   */
  #begin(isLast = false): void {
    const isNeeded = !isLast || this.#waitingBytes > 0
    this.#waitingBytes = 0
    this.stop()
    this.#rest = setTimeout(() => {
      this.#rest = null
      if (isNeeded) this.#begin(true)
    }, REST_MS)
    this.#rest.unref()
    this.#collect()
  }
}
