/**
 * 48 bits of the canonical form of a request, for the ETag of its answer. They distinguish the answers of one
 * snapshot and do not withstand an adversary.
 */
export class Digest {
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
