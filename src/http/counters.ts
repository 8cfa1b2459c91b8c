/**
 * Counters of answers in shared memory: a thread counts in its own row without atomic operations; readers add
 * rows up.
 */

/** In the order of a row. */
const COUNTERS = {
  requests: 0,
  /** Refused without a valid key; among them with an invalid one. */
  unauthorized: 1,
  bad_keys: 2,
  /** Refused for a used-up quota; among them addresses on public operations. */
  rate_limited: 3,
  rate_limited_addresses: 4,
  faults: 5,
  /** Answered from the answer cache, and made for want of a kept answer. */
  kept: 6,
  made: 7,
  /** Long answers taken on, and long answers that found no place or waited too long for one. */
  long: 8,
  long_refused: 9,
  /** Refused since the store of quotas is away. */
  quota_away: 10,
  /** Requests by pages without a key; among them refused for the used-up quota of their address. */
  explorer_reads: 11,
  explorer_refused: 12,
  streams: 13,
  events: 14,
  /** Streams refused by the limit of one key or address, and by the limit of all. */
  streams_refused_of_one: 15,
  streams_refused_in_all: 16,
} as const
type CounterName = keyof typeof COUNTERS

/** Rows are a cache line apart, so that threads do not slow each other down. */
const ROW = 24

export class Counters {
  readonly #counts: Float64Array
  readonly #at: number

  static allocate(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(threads * ROW * Float64Array.BYTES_PER_ELEMENT)
  }

  constructor(buffer: SharedArrayBuffer, thread: number) {
    this.#counts = new Float64Array(buffer)
    this.#at = thread * ROW
  }

  count(name: CounterName, many = 1): void {
    this.#counts[this.#at + COUNTERS[name]] += many
  }

  /** Over all threads. */
  sumOf(name: CounterName): number {
    let sum = 0
    for (let at = COUNTERS[name]; at < this.#counts.length; at += ROW) sum += this.#counts[at]
    return sum
  }

  sums(): Record<CounterName, number> {
    const sums = Object.keys(COUNTERS).map((name) => [name, this.sumOf(name as CounterName)])
    return Object.fromEntries(sums) as Record<CounterName, number>
  }
}
