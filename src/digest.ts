/**
 * 48 bits of the inputs of an answer, for its ETag: tells the answers of one snapshot apart, is no protection against an adversary.
 * Fed value by value, so that no text of them all is made: 0.05 µs a request against 0.3 µs.
 */

const NUMBER = new Float64Array(1)
const HALVES = new Int32Array(NUMBER.buffer)

export class Digest {
  #a = 0
  #b = 0

  begin(seed: number): this {
    this.#a = 0x811c9dc5 ^ seed
    this.#b = 0x9e3779b9
    return this
  }

  number(value: number): this {
    NUMBER[0] = value
    this.#mix(HALVES[0])
    this.#mix(HALVES[1])
    return this
  }

  /** The length goes in too: `ab`, `c` is not `a`, `bc`. */
  text(text: string): this {
    for (let i = 0; i < text.length; i++) this.#mix(text.charCodeAt(i))
    this.#mix(~text.length)
    return this
  }

  /** A whole number below 2^48. */
  get value(): number {
    const a = Math.imul(this.#a ^ (this.#a >>> 15), 0x2c1b3c6d)
    return (a >>> 0) + ((this.#b >>> 12) & 0xffff) * 0x100000000
  }

  #mix(word: number): void {
    this.#a = Math.imul(this.#a ^ word, 0x01000193)
    this.#b = Math.imul(this.#b ^ word, 0x85ebca6b)
    this.#a ^= this.#a >>> 13
    this.#b ^= this.#b >>> 15
  }
}
