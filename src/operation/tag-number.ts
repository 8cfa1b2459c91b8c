/** 48 bits of what a request asks for, for ETags of one snapshot. No defence against an adversary. */
const NUMBER = new Float64Array(1)
const HALVES = new Int32Array(NUMBER.buffer)

export class TagNumber {
  #a = 0
  #b = 0

  begin(): this {
    // A number above 31 bits would make a field a double, and an id in it takes three times as long.
    this.#a = 0x811c9dc5 | 0
    this.#b = 0x9e3779b9 | 0
    return this
  }

  /** A value's type has to be clear from what went before. */
  add(value: unknown): this {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value !== 'object' || value === null) return this.#number(Number(value))
    if (!Array.isArray(value)) {
      for (const member in value) this.add((value as { [member: string]: unknown })[member])
      return this
    }
    this.#mix(value.length)
    for (let i = 0; i < value.length; i++) this.add(value[i])
    return this
  }

  /** The lower 32 bits; 48 in one number would be a double, which takes memory of its own. */
  get low(): number {
    return Math.imul(this.#a ^ (this.#a >>> 15), 0x2c1b3c6d)
  }

  get high(): number {
    return (this.#b >>> 12) & 0xffff
  }

  #number(value: number): this {
    if ((value | 0) === value) return this.#mix(value)
    NUMBER[0] = value
    return this.#mix(HALVES[0]).#mix(HALVES[1])
  }

  /** Two characters at a time; the length goes in too: `ab`, `c` is not `a`, `bc`. */
  #text(text: string): this {
    const even = text.length & ~1
    for (let i = 0; i < even; i += 2) this.#mix(text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16))
    if (even < text.length) this.#mix(text.charCodeAt(even))
    return this.#mix(~text.length)
  }

  #mix(word: number): this {
    this.#a = Math.imul(this.#a ^ word, 0x01000193)
    this.#b = Math.imul(this.#b ^ word, 0x85ebca6b)
    this.#a ^= this.#a >>> 13
    this.#b ^= this.#b >>> 15
    return this
  }
}
