/**
 * How long a thread that serves may compress. After a swap thousands of answers are due at once, and those
 * who ask must not wait for them: while the thread has work, compressing gets a small share of its time. Time
 * in which it has nothing to do is free.
 */

/** Of all time. */
const BUSY_SHARE = 1 / 8
/** What may be saved up: so long compressing may go on without a rest. */
const MOST_SAVED_MS = 20

export class CompressionBudget {
  readonly #now: () => number
  readonly #idle: () => number
  /** Less than none where the last answer took longer than what was left. */
  #left = MOST_SAVED_MS
  #countedAt: number
  #idleCounted: number

  /** @param now in ms @param idle how long this thread has had nothing to do so far, in ms */
  constructor(now = () => performance.now(), idle = () => performance.eventLoopUtilization().idle) {
    this.#now = now
    this.#idle = idle
    this.#countedAt = now()
    this.#idleCounted = idle()
  }

  /** Whether there is time for one answer more. */
  allows(): boolean {
    const now = this.#now()
    const idle = this.#idle()
    const won = (now - this.#countedAt) * BUSY_SHARE + idle - this.#idleCounted
    this.#left = Math.min(MOST_SAVED_MS, this.#left + won)
    this.#countedAt = now
    this.#idleCounted = idle
    return this.#left > 0
  }

  spend(ms: number): void {
    this.#left -= ms
  }

  /** Does `work` and spends the time that it takes. */
  during<Result>(work: () => Result): Result {
    const began = this.#now()
    const result = work()
    this.spend(this.#now() - began)
    return result
  }
}
