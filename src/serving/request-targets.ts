/**
 * Request targets and what belongs to them: the way around parsing for a request that comes again in the
 * same words.
 *
 * A table of our own: a map needs path and query joined and hashed as one text, 0.34 µs at 80 characters,
 * where this takes 0.16.
 */
import { randomInt } from 'node:crypto'

/** One target more, and all are forgotten. */
const MOST_TARGETS = 16_384
/** At most half full. A slot is two words: the hash, and the number of the target, from 1. */
const SLOTS = 2 * MOST_TARGETS
/** Looks for one target: a bound for those who send many of one hash. */
const MAX_LOOKS = 16
/** Characters of path and query: nobody else sends a longer target. */
const LONGEST_TARGET = 400

export class RequestTargets<T> {
  readonly #slots = new Int32Array(2 * SLOTS)
  readonly #paths: string[] = []
  readonly #queries: string[] = []
  readonly #values: T[] = []
  readonly #seed = randomInt(2 ** 32)

  find(path: string, query: string): T | undefined {
    const slot = this.#slotOf(path, query, this.#hash(path, query))
    const number = slot === -1 ? 0 : this.#slots[slot + 1]
    return number === 0 ? undefined : this.#values[number - 1]
  }

  /** Remembers a target, or replaces what belongs to it; a long one is passed over. */
  add(path: string, query: string, value: T): void {
    if (path.length + query.length > LONGEST_TARGET) return
    const hash = this.#hash(path, query)
    const before = this.#slotOf(path, query, hash)
    const number = before === -1 ? 0 : this.#slots[before + 1]
    if (number !== 0) {
      this.#values[number - 1] = value
      return
    }
    if (this.#values.length === MOST_TARGETS) this.clear()
    const slot = this.#slotOf(path, query, hash)
    if (slot === -1) return
    this.#slots[slot] = hash
    this.#slots[slot + 1] = this.#values.push(value)
    this.#paths.push(path)
    this.#queries.push(query)
  }

  /** The slot of a target, or a free one for it; −1 where there is neither. */
  #slotOf(path: string, query: string, hash: number): number {
    const slots = this.#slots
    for (let look = 0; look < MAX_LOOKS; look++) {
      const slot = ((hash + look) & (SLOTS - 1)) * 2
      const number = slots[slot + 1]
      if (number === 0) return slot
      if (slots[slot] !== hash) continue
      if (this.#queries[number - 1] === query && this.#paths[number - 1] === path) return slot
    }
    return -1
  }

  #hash(path: string, query: string): number {
    const hash = mixed(query, mixed(path, this.#seed))
    return hash ^ (hash >>> 15)
  }

  clear(): void {
    this.#slots.fill(0)
    this.#paths.length = 0
    this.#queries.length = 0
    this.#values.length = 0
  }
}

/** Four characters at a time: a multiplication for each would wait for the one before. */
function mixed(text: string, hash: number): number {
  const whole = text.length & ~3
  for (let i = 0; i < whole; i += 4) {
    hash ^=
      text.charCodeAt(i) |
      (text.charCodeAt(i + 1) << 8) |
      (text.charCodeAt(i + 2) << 16) |
      (text.charCodeAt(i + 3) << 24)
    hash = Math.imul(hash, 0x01000193)
    hash ^= hash >>> 17
  }
  for (let i = whole; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}
