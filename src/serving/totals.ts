/**
 * What a server has answered so far, in memory that all threads share: each serving thread has a row of its
 * own, so that counting needs no atomic operation, and the main thread adds the rows up.
 */

/** What is counted, in the order of a row. */
const TOTALS = { requests: 0, unauthorized: 1, rate_limited: 2, faults: 3 } as const
type TotalName = keyof typeof TOTALS

/** Rows are a cache line apart, so that threads do not slow each other down. */
const ROW = 8

export class Totals {
  readonly #counts: Float64Array
  readonly #at: number

  static allocate(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(threads * ROW * Float64Array.BYTES_PER_ELEMENT)
  }

  /** `thread` is the row this one counts in. */
  constructor(buffer: SharedArrayBuffer, thread: number) {
    this.#counts = new Float64Array(buffer)
    this.#at = thread * ROW
  }

  count(name: TotalName): void {
    this.#counts[this.#at + TOTALS[name]]++
  }

  /** What this thread has counted. */
  counted(name: TotalName): number {
    return this.#counts[this.#at + TOTALS[name]]
  }

  /** What the thread of row `thread` has counted as `name`. */
  countOf(name: TotalName, thread: number): number {
    return this.#counts[thread * ROW + TOTALS[name]]
  }

  /** The sums over all threads. */
  sums(): { [name in TotalName]: number } {
    const sums = { requests: 0, unauthorized: 0, rate_limited: 0, faults: 0 }
    for (let row = 0; row < this.#counts.length; row += ROW) {
      for (const name of Object.keys(TOTALS) as TotalName[]) sums[name] += this.#counts[row + TOTALS[name]]
    }
    return sums
  }
}
