/**
 * How the codes of samples are distributed: counts of each code, from which all statistics are exact.
 * Quantiles are of type 7 (Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996), as those of R
 * and NumPy.
 */

/** What an answer says of its quantiles. */
export const QUANTILE_TYPE = 'type 7 (Hyndman and Fan 1996)'

export class Distribution {
  count = 0
  #sum = 0
  #squares = 0
  readonly #least: number
  readonly #counts: Uint32Array

  /** @param least the least and @param greatest the greatest code that will be added */
  constructor(least: number, greatest: number) {
    this.#least = least
    this.#counts = new Uint32Array(Math.max(1, greatest - least + 1))
  }

  add(code: number): void {
    this.count++
    this.#sum += code
    // Codes have 16 bits: the squares of two million samples are below 2^53.
    this.#squares += code * code
    this.#counts[code - this.#least]++
  }

  /** Samples strictly below a code, and samples equal to it. */
  rank(code: number): { below: number; equal: number } {
    const place = Math.min(code - this.#least, this.#counts.length)
    let below = 0
    for (let i = 0; i < place; i++) below += this.#counts[i]
    return { below, equal: this.#counts[code - this.#least] ?? 0 }
  }

  /**
   * The quantiles of whole percents, ascending, in hundredths of a code, which is exact; none without a
   * sample.
   */
  quantiles(percents: readonly number[]): number[] {
    if (this.count === 0) return []
    const found: number[] = []
    let place = -1
    let upTo = 0
    /** The code with `rank` codes before it; ranks never go back. */
    const codeAt = (rank: number): number => {
      while (upTo <= rank) upTo += this.#counts[++place]
      return this.#least + place
    }
    for (const percent of percents) {
      const position = (this.count - 1) * percent
      const [rank, share] = [Math.floor(position / 100), position % 100]
      const lower = codeAt(rank)
      if (share === 0) {
        found.push(100 * lower)
        continue
      }
      const [placeBefore, upToBefore] = [place, upTo]
      const upper = codeAt(rank + 1)
      // The next quantile may begin at the lower one again.
      place = placeBefore
      upTo = upToBefore
      found.push(lower * (100 - share) + upper * share)
    }
    return found
  }

  /** Around the samples' own mean, of n − 1, in codes; null for fewer than two samples. */
  get standardDeviation(): number | null {
    const { count } = this
    if (count < 2) return null
    return Math.sqrt(Math.max(0, (this.#squares - (this.#sum * this.#sum) / count) / (count - 1)))
  }
}

/** The least and the greatest of the codes [from, to), with their places; the earliest of equal ones. */
export function extremesOf(
  code: Int32Array,
  from: number,
  to: number,
): { least: number; greatest: number } | null {
  if (from >= to) return null
  let [least, greatest] = [from, from]
  for (let i = from + 1; i < to; i++) {
    if (code[i] < code[least]) least = i
    if (code[i] > code[greatest]) greatest = i
  }
  return { least, greatest }
}
