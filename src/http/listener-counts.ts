/** Counts open streams in all and by holder, in memory that threads share. The limits are exact. */
import { QUOTA_SLOTS } from '../access/quota.ts'

/** Addresses share places by a hash; with 100 addresses one in 160 shares its limit. */
const ADDRESS_PLACES = 16_384
const PLACES = QUOTA_SLOTS + ADDRESS_PLACES
/** The words hold all open streams, then those of each thread, each in a cache line of its own. */
const LINE_WORDS = 16

export interface ListenerLimits {
  /** Streams at a time, in all threads. */
  readonly total: number
  /** Streams of one key, or of one address without a key. */
  readonly perHolder: number
}

export type TooMany = 'in all' | 'of one holder'

export interface ListenerCount {
  open: number
  byThread: readonly number[]
}

/** One thread's view; it counts its own streams apart, so that those of a dead thread can be taken off. */
export class ListenerCounts {
  readonly #limits: ListenerLimits
  readonly #all: Int32Array
  readonly #own: number
  /** By place, of all threads and of this one. */
  readonly #held: Uint16Array
  readonly #mine: Uint16Array
  /** Streams of the thread before this one that ended with it. */
  readonly lost: number

  static allocate(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(
      (1 + threads) * (LINE_WORDS * Int32Array.BYTES_PER_ELEMENT + PLACES * Uint16Array.BYTES_PER_ELEMENT),
    )
  }

  /** Takes off the streams of the `thread` before, since this one has just started. */
  constructor(buffer: SharedArrayBuffer, thread: number, limits: ListenerLimits) {
    this.#limits = limits
    const threads = threadsOf(buffer)
    this.#all = new Int32Array(buffer, 0, (1 + threads) * LINE_WORDS)
    this.#own = (1 + thread) * LINE_WORDS
    const places = this.#all.byteLength
    this.#held = new Uint16Array(buffer, places, PLACES)
    const mine = places + (1 + thread) * PLACES * Uint16Array.BYTES_PER_ELEMENT
    this.#mine = new Uint16Array(buffer, mine, PLACES)
    this.lost = this.#all[this.#own]
    if (this.lost === 0) return
    for (let place = 0; place < PLACES; place++) {
      if (this.#mine[place] > 0) Atomics.sub(this.#held, place, this.#mine[place])
    }
    this.#mine.fill(0)
    Atomics.sub(this.#all, 0, this.lost)
    Atomics.store(this.#all, this.#own, 0)
  }

  /** `place`: `placeOfKey` or `placeOfAddress`. @returns null if the stream was counted */
  opened(place: number): TooMany | null {
    const { total, perHolder } = this.#limits
    if (!raise(this.#held, place, perHolder)) return 'of one holder'
    if (!raise(this.#all, 0, total)) {
      Atomics.sub(this.#held, place, 1)
      return 'in all'
    }
    this.#mine[place]++
    Atomics.add(this.#all, this.#own, 1)
    return null
  }

  left(place: number): void {
    this.#mine[place]--
    Atomics.sub(this.#all, this.#own, 1)
    Atomics.sub(this.#held, place, 1)
    Atomics.sub(this.#all, 0, 1)
  }
}

/** `slot`: of the key in the quotas. */
export function placeOfKey(slot: number): number {
  return slot
}

/** `hash`: 32 bits, seeded, so that nobody can choose addresses that share the place of another one. */
export function placeOfAddress(hash: number): number {
  return QUOTA_SLOTS + (hash % ADDRESS_PLACES)
}

export function countListeners(buffer: SharedArrayBuffer): ListenerCount {
  const all = new Int32Array(buffer, 0, (1 + threadsOf(buffer)) * LINE_WORDS)
  const byThread: number[] = []
  for (let at = LINE_WORDS; at < all.length; at += LINE_WORDS) byThread.push(Atomics.load(all, at))
  return { open: Atomics.load(all, 0), byThread }
}

function threadsOf(buffer: SharedArrayBuffer): number {
  const each = LINE_WORDS * Int32Array.BYTES_PER_ELEMENT + PLACES * Uint16Array.BYTES_PER_ELEMENT
  return buffer.byteLength / each - 1
}

/** Adds one, unless the count is `most` already. */
function raise(counts: Int32Array | Uint16Array, at: number, most: number): boolean {
  for (;;) {
    const count = Atomics.load(counts, at)
    if (count >= most) return false
    if (Atomics.compareExchange(counts, at, count, count + 1) === count) return true
  }
}
