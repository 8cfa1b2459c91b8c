/** Numbers of several rounds as one. */

export function median(values: readonly number[]): number {
  const ordered = values.toSorted((a, b) => a - b)
  const middle = ordered.length >> 1
  return ordered.length % 2 === 1 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2
}

/** The value that the share `q` of `ordered` (ascending) does not exceed. */
export function quantile(ordered: ArrayLike<number>, q: number): number {
  return ordered[Math.min(ordered.length - 1, Math.max(0, Math.ceil(q * ordered.length) - 1))]
}

/**
 * The median of each quantity by itself: rounds in which a neighbour took the machine fall out of all of
 * them.
 */
export function medians<T extends { [name in keyof T]: number }>(samples: readonly T[]): T {
  const names = Object.keys(samples[0]) as (keyof T)[]
  return Object.fromEntries(
    names.map((name) => [name, median(samples.map((sample) => sample[name]))]),
  ) as unknown as T
}

/**
 * Running shares of Zipf's law over `count` ranks with exponent 1: a uniform number finds its rank by
 * bisection.
 */
export function zipfRanks(count: number): (random: () => number) => number {
  const sums = new Float64Array(count)
  let sum = 0
  for (let rank = 0; rank < count; rank++) sums[rank] = sum += 1 / (rank + 1)
  return (random) => {
    const wanted = random() * sum
    let low = 0
    let high = count - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (sums[middle] <= wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Numbers in [0, 1), the same in every run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
