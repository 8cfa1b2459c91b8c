/**
 * How often requests came lately, by their digests: a sketch of counters that are halved now and then
 * (TinyLFU: Einziger, Friedman and Manes, ACM Transactions on Storage 13, 2017).
 *
 * Two requests may share a counter. Each has two, and the lesser counts, so that few are taken for more
 * popular than they are.
 */

/** Of a byte each: some five times as many as a cache of 64 MiB keeps answers. */
const COUNTERS = 65_536
/** Beyond this one is popular enough. */
export const MOST_COUNTED = 63
/** After so many requests all counters are halved: some ten for each answer of such a cache. */
const PERIOD = 131_072

export class Popularity {
  readonly #counts = new Uint8Array(COUNTERS)
  #left = PERIOD
  /** How often all counters were halved. */
  halvings = 0

  /** Counts a request. `low`, `high`: of its digest. */
  count(low: number, high: number): void {
    const counts = this.#counts
    const first = firstOf(low)
    const second = secondOf(low, high)
    if (counts[first] < MOST_COUNTED) counts[first]++
    if (counts[second] < MOST_COUNTED) counts[second]++
    if (--this.#left === 0) this.#halve()
  }

  /** How often it came lately, about. */
  of(low: number, high: number): number {
    return Math.min(this.#counts[firstOf(low)], this.#counts[secondOf(low, high)])
  }

  #halve(): void {
    const counts = this.#counts
    for (let i = 0; i < COUNTERS; i++) counts[i] >>>= 1
    this.#left = PERIOD
    this.halvings++
  }
}

function firstOf(low: number): number {
  return (low ^ (low >>> 16)) & (COUNTERS - 1)
}

function secondOf(low: number, high: number): number {
  return (Math.imul(low, 0x9e3779b1) >>> 16) ^ (high & (COUNTERS - 1))
}
