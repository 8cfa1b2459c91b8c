/**
 * Rows of keys by `Authorization` value, so that a key is hashed once and not with every request.
 * No text is kept, only a fingerprint of four sums modulo 2^32 over products of character pairs, each plus a
 * secret of this table. Another text has the same fingerprint with a probability of 2^-76 at most: different
 * pairs differ by less than 2^14, so a sum is the same with at most 2^13 of the 2^32 secrets.
 */
import { randomFillSync } from 'node:crypto'
import { KEY_LENGTH } from './key-ring.ts'

/** Keys in values with more blanks or none are hashed each time. */
const LENGTH = 'Bearer '.length + KEY_LENGTH
const PLACES_BITS = 12
const SUMS = 4
/** The sums of a value, then its row plus 1. */
const PLACE_WORDS = SUMS + 1

export class KnownKeys {
  readonly #places = new Int32Array(PLACE_WORDS << PLACES_BITS)
  readonly #secrets = randomFillSync(new Int32Array((SUMS * LENGTH) / 2))
  readonly #sums = new Int32Array(SUMS)

  /** The row of the key in `authorization`, or −1 where the value is not remembered. */
  find(authorization: string): number {
    if (!this.#addUp(authorization)) return -1
    const places = this.#places
    const place = this.#place()
    for (let i = 0; i < SUMS; i++) if (places[place + i] !== this.#sums[i]) return -1
    return places[place + SUMS] - 1
  }

  /** Remembers a row, in place of another value. */
  add(authorization: string, row: number): void {
    if (!this.#addUp(authorization)) return
    const place = this.#place()
    this.#places.set(this.#sums, place)
    this.#places[place + SUMS] = row + 1
  }

  #place(): number {
    return (this.#sums[0] >>> (32 - PLACES_BITS)) * PLACE_WORDS
  }

  /** @returns false for a text of another length or not in ASCII */
  #addUp(text: string): boolean {
    if (text.length !== LENGTH) return false
    const secrets = this.#secrets
    let a = 0
    let b = 0
    let c = 0
    let d = 0
    let all = 0
    for (let i = 0, s = 0; i < LENGTH; i += 4, s += 2 * SUMS) {
      const first = text.charCodeAt(i)
      const second = text.charCodeAt(i + 1)
      const third = text.charCodeAt(i + 2)
      const fourth = text.charCodeAt(i + 3)
      all |= first | second | third | fourth
      const one = first | (second << 7)
      const other = third | (fourth << 7)
      a = (a + Math.imul((one + secrets[s]) | 0, (other + secrets[s + 1]) | 0)) | 0
      b = (b + Math.imul((one + secrets[s + 2]) | 0, (other + secrets[s + 3]) | 0)) | 0
      c = (c + Math.imul((one + secrets[s + 4]) | 0, (other + secrets[s + 5]) | 0)) | 0
      d = (d + Math.imul((one + secrets[s + 6]) | 0, (other + secrets[s + 7]) | 0)) | 0
    }
    const sums = this.#sums
    sums[0] = a
    sums[1] = b
    sums[2] = c
    sums[3] = d
    return all < 0x80
  }
}
