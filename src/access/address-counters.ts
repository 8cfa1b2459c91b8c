/** Anonymous calls by address and clock hour. */
import { randomFillSync } from 'node:crypto'
import { isIpv4, parseAddress } from './ip-address.ts'
import { HourBanks, charge, hourOf } from './hours.ts'

// A place is a fingerprint and a count; eight fill a cache line. There are two banks of 23.6 MB. A million
// addresses in an hour, half of them IPv6 and each in another /48, fill half of a bank.
const LINES = 368_000
const LINE_WORDS = 16
// Sixteen cache lines: half as many would be full for one newcomer in twenty hours, at a million an hour.
const WINDOW_WORDS = 256
const BANKS = 2
const BANK_WORDS = LINES * LINE_WORDS + WINDOW_WORDS
const SEED_WORDS = 2
/** The hour in which somebody was warned last. */
const WARNED_WORDS = 1

/** Limits of a /64 that an IPv6 /48 has: providers give a household a /64, and a /56 or /48 if asked. */
const SITE_SHARES = 16
const SITE_BYTES = 6
const MAX_COUNT = 0x7fff_ffff

/** Each purpose counts apart: its number makes the hashed length one that no address has. */
const PURPOSES = { public: 0, page: 64 } as const
type Purpose = keyof typeof PURPOSES
/** The purpose of hashes that choose a place elsewhere (`hashOf`). */
const OF_HASHES = 128

/**
 * Anonymous calls, exact over all threads, in 47.1 MB of shared memory. IPv6 counts by /64 and also by /48,
 * which may have {@link SITE_SHARES} times the limit. Each thread has its own instance on the buffer.
 * Above some 2.2 million addresses an hour (an IPv6 /48 is one more), a newcomer shares the count of the
 * least busy place. An address is known by 50 bits of a hash seeded by the process: nobody can choose
 * addresses that meet in one place.
 */
export class AddressCounters {
  readonly #banks: HourBanks
  readonly #seed: Int32Array
  readonly #warnedIn: Int32Array
  readonly #words = new Int32Array(4)
  readonly #hash = new Int32Array(2)

  static allocate(): SharedArrayBuffer {
    const bytes = HourBanks.bytes(BANKS, BANK_WORDS)
    const more = WARNED_WORDS + SEED_WORDS
    const buffer = new SharedArrayBuffer(bytes + more * Int32Array.BYTES_PER_ELEMENT)
    randomFillSync(new Int32Array(buffer).subarray(-SEED_WORDS))
    return buffer
  }

  constructor(buffer: SharedArrayBuffer) {
    this.#banks = new HourBanks(buffer, BANKS, BANK_WORDS)
    const rest = new Int32Array(buffer, HourBanks.bytes(BANKS, BANK_WORDS))
    this.#warnedIn = rest.subarray(0, WARNED_WORDS)
    this.#seed = rest.subarray(WARNED_WORDS)
  }

  /**
   * Counts one call of an address unless it is refused; all texts that are no address count as one.
   * @param limit calls per hour, at least 1.
   * @param now epoch seconds.
   * @returns calls left after this one, or -1 when the hour's limit is used up.
   */
  take(address: string, limit: number, now: number, purpose: Purpose = 'public'): number {
    const { words } = this.#banks
    const mark = PURPOSES[purpose]
    const count = this.#read(address)
    this.#digest(count, count * Int32Array.BYTES_PER_ELEMENT, mark)
    const at = this.#placeOf(now)
    if (count < 2) return charge(words, at, limit)
    if (Atomics.load(words, at) >= limit) return -1
    this.#words[1] >>>= 16
    this.#digest(1, SITE_BYTES, mark)
    const site = this.#placeOf(now)
    const ofSite = charge(words, site, Math.min(limit * SITE_SHARES, MAX_COUNT))
    if (ofSite < 0) return -1
    const left = charge(words, at, limit)
    // Another thread took the last call of the /64 in between.
    if (left < 0) Atomics.sub(words, site, 1)
    return Math.min(left, ofSite)
  }

  /**
   * A hash of an address, or of its /64: 32 bits, the same on all threads and unlike that of another process.
   */
  hashOf(address: string): number {
    const count = this.#read(address)
    this.#digest(count, count * Int32Array.BYTES_PER_ELEMENT, OF_HASHES)
    return this.#hash[0] >>> 0
  }

  #placeOf(now: number): number {
    const { words } = this.#banks
    const fingerprint = this.#hash[1] === 0 ? 1 : this.#hash[1]
    const line = Math.floor(((this.#hash[0] >>> 0) / 2 ** 32) * LINES)
    const from = this.#banks.start(hourOf(now)) + line * LINE_WORDS
    const to = from + WINDOW_WORDS
    // Places are filled in order within an hour, so all threads find an address in the same place.
    for (let at = from; at < to; at += 2) {
      let found = Atomics.load(words, at)
      if (found === 0) {
        found = Atomics.compareExchange(words, at, 0, fingerprint)
        if (found === 0) found = fingerprint
      }
      if (found === fingerprint) return at + 1
    }
    let least = from + 1
    for (let at = from + 3; at < to; at += 2) {
      if (Atomics.load(words, at) < Atomics.load(words, least)) least = at
    }
    return least
  }

  /** Whether this is the first warning of the hour, on all threads. */
  isFirstWarning(now: number): boolean {
    return Atomics.exchange(this.#warnedIn, 0, hourOf(now)) !== hourOf(now)
  }

  /** See {@link HourBanks.prepare}: zeroing 23.6 MB takes milliseconds. */
  prepare(now: number): void {
    this.#banks.prepare(now)
  }

  /** Words that an address takes: one for IPv4, two for an IPv6 /64, none for a text that is not one. */
  #read(address: string): number {
    const words = this.#words
    if (!parseAddress(address, words)) return 0
    if (!isIpv4(words)) return 2
    words[0] = words[3]
    return 1
  }

  // HalfSipHash-2-4 with 64 bits of output (Aumasson and Bernstein) over an IPv4 address, an IPv6 /64, a /48
  // (its last two bytes in the lower half of a word) or nothing. `mark` is the purpose.
  #digest(count: number, bytes: number, mark: number): void {
    const words = this.#words
    words[count] = ((bytes + mark) << 24) | (bytes > count * Int32Array.BYTES_PER_ELEMENT ? words[count] : 0)
    let v0 = this.#seed[0]
    let v1 = this.#seed[1] ^ 0xee
    let v2 = 0x6c796765 ^ this.#seed[0]
    let v3 = 0x74656462 ^ this.#seed[1]
    // Two rounds for each word and for the length at the end, four for each half of the output.
    const last = 2 * (count + 1)
    for (let round = 0; round < last + 8; round++) {
      if (round < last) {
        if ((round & 1) === 0) v3 ^= words[round >> 1]
      } else if (round === last) v2 ^= 0xee
      else if (round === last + 4) {
        this.#hash[0] = v1 ^ v3
        v1 ^= 0xdd
      }
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      if (round < last && (round & 1) === 1) v0 ^= words[round >> 1]
    }
    this.#hash[1] = v1 ^ v3
  }
}
