/**
 * 48 bits of the inputs of an answer, for its ETag. They distinguish the answers of one snapshot and do not
 * withstand an adversary. Values go in one by one: joining them into a text took 0.3 µs a request, this takes
 * 0.05.
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
    const whole = value | 0
    if (whole === value) return this.#mix(whole)
    NUMBER[0] = value
    return this.#mix(HALVES[0]).#mix(HALVES[1])
  }

  /** Two characters at a time; the length goes in too: `ab`, `c` is not `a`, `bc`. */
  text(text: string): this {
    const even = text.length & ~1
    // As `#mix`, without a store and a load at each step.
    let a = this.#a
    let b = this.#b
    for (let i = 0; i < even; i += 2) {
      const word = text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16)
      a = Math.imul(a ^ word, 0x01000193)
      b = Math.imul(b ^ word, 0x85ebca6b)
      a ^= a >>> 13
      b ^= b >>> 15
    }
    this.#a = a
    this.#b = b
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
