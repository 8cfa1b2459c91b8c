/** ETags of answers, and whether a client names one. */

/**
 * 48 bits of the canonical form of a request: the number in the ETag of its answer. They distinguish the answers
 * of one snapshot and do not withstand an adversary.
 */
export class TagNumber {
  #a = 0
  #b = 0

  /** Two characters at a time; the length goes in too. */
  of(text: string): this {
    this.#a = 0x811c9dc5
    this.#b = 0x9e3779b9
    const even = text.length & ~1
    for (let i = 0; i < even; i += 2) this.#mix(text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16))
    if (even < text.length) this.#mix(text.charCodeAt(even))
    return this.#mix(~text.length)
  }

  /**
   * The lower 32 bits, and the upper 16: 48 in one number would be a double, which is memory of its own
   * wherever it is kept.
   */
  get low(): number {
    return Math.imul(this.#a ^ (this.#a >>> 15), 0x2c1b3c6d)
  }

  get high(): number {
    return (this.#b >>> 12) & 0xffff
  }

  #mix(word: number): this {
    this.#a = Math.imul(this.#a ^ word, 0x01000193)
    this.#b = Math.imul(this.#b ^ word, 0x85ebca6b)
    this.#a ^= this.#a >>> 13
    this.#b ^= this.#b >>> 15
    return this
  }
}

/** The twelve hexadecimal digits of a number. */
export function numberText(high: number, low: number): string {
  return high.toString(16).padStart(4, '0') + (low >>> 0).toString(16).padStart(8, '0')
}

/** In `If-None-Match`: any answer that there is. */
export const ANY_TAG = '*'

/**
 * Whether `If-None-Match` names an ETag, given without `W/`: weak comparison, any of a list, or `*` (RFC
 * 9110, 13.1.2). A `*` within a list, which no client may send, names nothing.
 */
export function namesEtag(condition: string, tag: string): boolean {
  if (condition.trim() === ANY_TAG) return true
  return condition.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag)
}
