/** Counts connections and streams of events in memory that threads share. */
import { QUOTA_SLOTS } from '../access/quota.ts'

/**
 * Words of a thread's row, which has a cache line of its own: connections for requests, refused connections,
 * streams.
 */
const OPEN = 0
const REFUSED = 1
const STREAMS = 2
const ROW_WORDS = 16
const ROW_BYTES = ROW_WORDS * Int32Array.BYTES_PER_ELEMENT

/** Addresses share places by a hash; with 100 addresses one in 160 shares its limit. */
const ADDRESS_PLACES = 16_384
/** Streams of one thread by holder, after the rows. */
const PLACES = QUOTA_SLOTS + ADDRESS_PLACES
const PLACES_BYTES = PLACES * Uint16Array.BYTES_PER_ELEMENT

/** Limits of what all threads have open at a time. */
interface ConnectionLimits {
  /** Connections for requests. */
  readonly connections: number
  readonly streams: number
  /** Streams of one key, or of one address without a key. */
  readonly streamsOfOne: number
}

type TooMany = 'in all' | 'of one holder'

/**
 * A thread writes only its own row: counting needs no lock, and a dead thread's row can be cleared. Threads
 * that count in the same moment may pass a limit, by one each at most.
 */
export class Connections {
  readonly #words: Int32Array
  readonly #row: number
  readonly #places: Uint16Array
  readonly #ownPlaces: number
  readonly #limits: ConnectionLimits

  static allocate(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(threads * (ROW_BYTES + PLACES_BYTES))
  }

  /** Clears what is counted for `thread`, which has just started. */
  constructor(buffer: SharedArrayBuffer, thread: number, limits: ConnectionLimits) {
    this.#words = rowsOf(buffer)
    this.#row = thread * ROW_WORDS
    this.#places = new Uint16Array(buffer, this.#words.byteLength)
    this.#ownPlaces = thread * PLACES
    this.#limits = limits
    // Refusals count for the life of the process.
    this.#words[this.#row + OPEN] = 0
    this.#words[this.#row + STREAMS] = 0
    this.#places.fill(0, this.#ownPlaces, this.#ownPlaces + PLACES)
  }

  /** Connections of all threads, except for streams. */
  get open(): number {
    return sumOf(this.#words, OPEN, ROW_WORDS)
  }

  /** @returns false for a connection too many, which is to be refused */
  opened(): boolean {
    const isGood = this.open < this.#limits.connections
    this.#words[this.#row + (isGood ? OPEN : REFUSED)]++
    return isGood
  }

  left(): void {
    this.#words[this.#row + OPEN]--
  }

  /** A connection carries a stream from now on. `place`: `placeOf` its holder. @returns null if it may */
  streamBegins(place: number): TooMany | null {
    const { streams, streamsOfOne } = this.#limits
    if (sumOf(this.#places, place, PLACES) >= streamsOfOne) return 'of one holder'
    if (sumOf(this.#words, STREAMS, ROW_WORDS) >= streams) return 'in all'
    this.#move(place, 1)
    return null
  }

  streamEnds(place: number): void {
    this.#move(place, -1)
  }

  #move(place: number, by: 1 | -1): void {
    this.#places[this.#ownPlaces + place] += by
    this.#words[this.#row + STREAMS] += by
    this.#words[this.#row + OPEN] -= by
  }
}

function rowsOf(buffer: SharedArrayBuffer): Int32Array {
  const threads = buffer.byteLength / (ROW_BYTES + PLACES_BYTES)
  return new Int32Array(buffer, 0, threads * ROW_WORDS)
}

/**
 * The place where the streams of a key, or of an address without a key (`slot` −1), are counted. `hash`: 32
 * bits, seeded, so that nobody can choose addresses that share the place of another one.
 */
export function placeOf(slot: number, hash: number): number {
  return slot === -1 ? QUOTA_SLOTS + (hash % ADDRESS_PLACES) : slot
}

/** `open`: connections of all threads, except for streams. `refused`: since the process began. */
export function countConnections(buffer: SharedArrayBuffer): {
  open: number
  refused: number
  streamsByThread: number[]
} {
  const words = rowsOf(buffer)
  const streamsByThread = Array.from(
    { length: words.length / ROW_WORDS },
    (_, thread) => words[thread * ROW_WORDS + STREAMS],
  )
  return { open: sumOf(words, OPEN, ROW_WORDS), refused: sumOf(words, REFUSED, ROW_WORDS), streamsByThread }
}

function sumOf(counts: Int32Array | Uint16Array, at: number, step: number): number {
  let sum = 0
  for (; at < counts.length; at += step) sum += counts[at]
  return sum
}
