/**
 * The key ring: all keys of the moment, in shared memory where every serving thread looks up the keys of
 * requests.
 */
import { hash } from 'node:crypto'

export const KEY_PREFIX = 'gsw_'
// 62^43 is just above 2^256, 62^6 above 2^32.
export const SECRET_LENGTH = 43
export const CHECKSUM_LENGTH = 6
/** Characters of a key's text: the prefix, 256 random bits and a CRC-32, the last two in base 62. */
export const KEY_LENGTH = KEY_PREFIX.length + SECRET_LENGTH + CHECKSUM_LENGTH

/** A key as the serving threads need it. */
export interface KeyEntry {
  readonly id: string
  readonly hash: string
  readonly quota: number
  /** Where its calls are counted (`quota.ts`). */
  readonly slot: number
}

// Rows of 32-bit words: eight of the hash, the slot, the quota. A quota of 0 marks an empty row. Behind all
// rows come the ids, which requests do not need, each in a place of its own.
const DIGEST_WORDS = 8
const ROW_WORDS = 10
const ID_BYTES = 16
const ID_WORDS = ID_BYTES / Int32Array.BYTES_PER_ELEMENT
const SLOT = 8
const QUOTA = 9

/** The digest of the key that is being looked up. A thread looks up one at a time. */
const DIGEST = new Int32Array(DIGEST_WORDS)

/**
 * Writes the SHA-256 of a text to `DIGEST`. One call of Node that gives a string of bytes is the fastest way:
 * `createHash` with its objects takes about ten times as long.
 */
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

/**
 * An open hash table by the SHA-256 of the key; it holds no texts. The main thread builds it once, and a
 * serving thread takes it over by wrapping the buffer, whatever the number of keys. Each change of the keys is
 * a new ring.
 */
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
   * The row of a key, for `slot` and `quota`, or -1. Takes any text.
   *
   * Which rows are compared depends on the hash of the text that the client sent, and so does the time. The
   * time shows at most which hashes are taken, and no hash leads back to one of 2^256 keys. Within a row all
   * words are compared.
   */
  find(text: string): number {
    if (text.length !== KEY_LENGTH || !text.startsWith(KEY_PREFIX)) return -1
    digest(text)
    return this.findDigest(DIGEST)
  }

  /** The row of the key with this hash, as `digest` gives it, or −1. */
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

  /** A copy of the hash in a row that `find` gave: what finds the key again when the keys have changed. */
  digest(row: number): Int32Array {
    return new Int32Array(this.#words.subarray(row * ROW_WORDS, row * ROW_WORDS + DIGEST_WORDS))
  }

  /** Id of the key of a row that `find` gave. */
  id(row: number): string {
    const start = ((this.#mask + 1) * ROW_WORDS + row * ID_WORDS) * Int32Array.BYTES_PER_ELEMENT
    // A copy: texts are not read from shared memory.
    const bytes = Buffer.from(new Uint8Array(this.#words.buffer, start, ID_BYTES))
    return bytes.toString('latin1').replace(/\0+$/, '')
  }

  /** Slot of the counter of a row that `find` gave. */
  slot(row: number): number {
    return this.#words[row * ROW_WORDS + SLOT]
  }

  /** Calls per hour of a row that `find` gave. */
  quota(row: number): number {
    return this.#words[row * ROW_WORDS + QUOTA]
  }
}
