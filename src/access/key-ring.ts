/**
 * The current keys, in shared memory: every serving thread looks up the keys of requests there, each hashed
 * once.
 */
import { hash, randomFillSync } from 'node:crypto'

export const KEY_PREFIX = 'gsw_'
// 62^43 is just above 2^256, 62^6 above 2^32.
export const SECRET_LENGTH = 43
export const CHECKSUM_LENGTH = 6
/** Characters of a key's text: the prefix, 256 random bits and a CRC-32, the last two in base 62. */
export const KEY_LENGTH = KEY_PREFIX.length + SECRET_LENGTH + CHECKSUM_LENGTH

export interface KeyEntry {
  readonly id: string
  readonly hash: string
  readonly quota: number
  /** The place where its calls are counted (`quota.ts`). */
  readonly slot: number
}

// Rows of 32-bit words: the hash, the slot, the quota (0 for an empty row). The ids follow all rows.
const DIGEST_WORDS = 8
const ROW_WORDS = 10
const ID_BYTES = 16
const ID_WORDS = ID_BYTES / Int32Array.BYTES_PER_ELEMENT
const SLOT = 8
const QUOTA = 9

/** The digest of the key that is being looked up. A thread looks up one at a time. */
const DIGEST = new Int32Array(DIGEST_WORDS)

/** Writes the SHA-256 of a text to `DIGEST`; `createHash` takes about ten times as long. */
function digest(text: string): void {
  const bytes = hash('sha256', text, 'binary')
  for (let word = 0; word < DIGEST_WORDS; word++) {
    const at = 4 * word
    DIGEST[word] =
      (bytes.charCodeAt(at) << 24) |
      (bytes.charCodeAt(at + 1) << 16) |
      (bytes.charCodeAt(at + 2) << 8) |
      bytes.charCodeAt(at + 3)
  }
}

/** An open hash table by SHA-256, made again for each change of the keys; threads wrap its buffer. */
export class KeyRing {
  readonly #words: Int32Array
  readonly #mask: number

  /** At most half full: 112 to 224 bytes a key. */
  static build(entries: readonly KeyEntry[]): SharedArrayBuffer {
    const rows = 2 ** Math.ceil(Math.log2(2 * entries.length + 2))
    const words = new Int32Array(
      new SharedArrayBuffer(rows * (ROW_WORDS + ID_WORDS) * Int32Array.BYTES_PER_ELEMENT),
    )
    const ids = Buffer.from(words.buffer, rows * ROW_WORDS * Int32Array.BYTES_PER_ELEMENT)
    for (const { id, hash, slot, quota } of entries) {
      const digest = Buffer.from(hash, 'hex')
      let row = digest.readInt32BE(0) & (rows - 1)
      while (words[row * ROW_WORDS + QUOTA] !== 0) row = (row + 1) & (rows - 1)
      for (let word = 0; word < DIGEST_WORDS; word++)
        words[row * ROW_WORDS + word] = digest.readInt32BE(4 * word)
      words[row * ROW_WORDS + SLOT] = slot
      words[row * ROW_WORDS + QUOTA] = quota
      ids.write(id, row * ID_BYTES, ID_BYTES, 'latin1')
    }
    return words.buffer
  }

  constructor(buffer: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer)
    this.#mask = this.#words.length / (ROW_WORDS + ID_WORDS) - 1
  }

  /**
   * The row of a key, or -1. Takes any text. The time depends on the hash of the text, and shows at most
   * which hashes are taken: no hash leads back to one of 2^256 keys. Within a row all words are compared.
   */
  find(text: string): number {
    if (text.length !== KEY_LENGTH || !text.startsWith(KEY_PREFIX)) return -1
    digest(text)
    return this.findDigest(DIGEST)
  }

  /** The row of the key with this hash, or −1. */
  findDigest(wanted: Int32Array): number {
    const words = this.#words
    for (let row = wanted[0] & this.#mask; ; row = (row + 1) & this.#mask) {
      const at = row * ROW_WORDS
      if (words[at + QUOTA] === 0) return -1
      let difference = 0
      for (let word = 0; word < DIGEST_WORDS; word++) difference |= words[at + word] ^ wanted[word]
      if (difference === 0) return row
    }
  }

  /** A copy of the hash, which finds the key again in the next ring. */
  digest(row: number): Int32Array {
    return new Int32Array(this.#words.subarray(row * ROW_WORDS, row * ROW_WORDS + DIGEST_WORDS))
  }

  id(row: number): string {
    const start = ((this.#mask + 1) * ROW_WORDS + row * ID_WORDS) * Int32Array.BYTES_PER_ELEMENT
    // Texts are not read from shared memory.
    const bytes = Buffer.from(new Uint8Array(this.#words.buffer, start, ID_BYTES))
    return bytes.toString('latin1').replace(/\0+$/, '')
  }

  slot(row: number): number {
    return this.#words[row * ROW_WORDS + SLOT]
  }

  /** Calls per clock hour. */
  quota(row: number): number {
    return this.#words[row * ROW_WORDS + QUOTA]
  }
}

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
    for (let i = 0; i < SUMS; i++) {
      if (places[place + i] !== this.#sums[i]) return -1
    }
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
