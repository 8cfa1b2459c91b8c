/**
 * The buoys that a search has found so far, each with its best match, and the first of them in order: best
 * match first, then active before inactive, then by name. One of these serves query after query.
 */
export class Ranking {
  /** The place of each ordinal among all of one match: active ones by name, then the others. */
  readonly #place: Uint32Array
  readonly #atPlace: Uint32Array
  /** In the query under way: the best match of each buoy, one higher; 0 stands for "not found yet". */
  readonly #best: Uint8Array
  readonly #found: Uint32Array
  #count = 0
  #keys = new Float64Array(64)

  /** For each ordinal, `active` tells whether the buoy is active and `rank` gives its place by name. */
  constructor(active: Uint8Array, rank: Uint32Array) {
    this.#atPlace = new Uint32Array(2 * rank.length)
    this.#place = rank.map((place, ordinal) => place + (1 - active[ordinal]) * rank.length)
    this.#place.forEach((place, ordinal) => (this.#atPlace[place] = ordinal))
    this.#best = new Uint8Array(rank.length)
    this.#found = new Uint32Array(rank.length)
  }

  get buoys(): number {
    return this.#place.length
  }

  /** How many buoys are found so far. */
  get count(): number {
    return this.#count
  }

  /** `match` is 0 for the best, below 255. */
  add(ordinal: number, match: number): void {
    const best = this.#best[ordinal]
    if (best === 0) this.#found[this.#count++] = ordinal
    else if (best <= match + 1) return
    this.#best[ordinal] = match + 1
  }

  /**
   * The first `limit` of the buoys found, in their order; forgets what was found. Most drop out at one
   * comparison.
   */
  first(limit: number): number[] {
    if (this.#keys.length <= limit) this.#keys = new Float64Array(limit + 1)
    const keys = this.#keys
    const places = this.#atPlace.length
    let kept = 0
    for (let i = 0; i < this.#count; i++) {
      const ordinal = this.#found[i]
      const key = this.#best[ordinal] * places + this.#place[ordinal]
      this.#best[ordinal] = 0
      if (kept === limit && key > keys[limit - 1]) continue
      let at = kept
      for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1]
      keys[at] = key
      if (kept < limit) kept++
    }
    this.#count = 0
    const first: number[] = []
    for (let i = 0; i < kept; i++) first.push(this.#atPlace[keys[i] % places])
    return first
  }
}
