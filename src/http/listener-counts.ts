/**
 * How many streams of events are open, in all and for each holder, in memory that all threads of a process
 * share. The limits are exact: two threads that let in the last one at the same moment do not both succeed.
 */
import { QUOTA_SLOTS } from '../access/quota.ts'
import { networkOf } from './connections.ts'

/** Addresses share these places by a hash; with 100 of them one in 160 shares its limit. */
const ADDRESS_PLACES = 16_384
const PLACES = QUOTA_SLOTS + ADDRESS_PLACES
/** The words hold all streams that are open, then those of each thread, each in a cache line of its own. */
const LINE_WORDS = 16

export interface ListenerLimits {
  /** Streams at a time, in all threads. */
  readonly total: number
  /** Streams of one key, or of one address where no key is asked for. */
  readonly perHolder: number
}

/** Why a stream is refused. */
export type TooMany = 'in all' | 'of one holder'

export interface ListenerCount {
  open: number
  /** By thread. */
  byThread: readonly number[]
}

/**
 * One thread's view. Who opens and leaves in it, it alone counts; so those of a thread that died can be taken
 * off.
 */
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

  /** Begins with no streams of `thread`: it has just started. */
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

  /**
   * Counts a stream of the holder at `place` (`placeOfKey`, `placeOfAddress`), unless it would be one too
   * many.
   */
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

/** The place of a key by its slot in the quotas. */
export function placeOfKey(slot: number): number {
  return slot
}

/** The place of an address: of IPv6 the first half counts. */
export function placeOfAddress(address: string): number {
  let hash = 0x811c9dc5
  for (const unit of networkOf(address)) hash = Math.imul(hash ^ unit.charCodeAt(0), 0x01000193)
  return QUOTA_SLOTS + (((hash ^ (hash >>> 15)) >>> 0) % ADDRESS_PLACES)
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

/** Adds one at `at` unless that is `most` already. */
function raise(counts: Int32Array | Uint16Array, at: number, most: number): boolean {
  for (;;) {
    const count = Atomics.load(counts, at)
    if (count >= most) return false
    if (Atomics.compareExchange(counts, at, count, count + 1) === count) return true
  }
}
