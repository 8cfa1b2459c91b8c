/**
 * How many connections there are, in all and by address, in memory that all threads of a process share, and how
 * many fit among the files that a process may open.
 */

import { randomFillSync } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { unmapped } from './exchange.ts'

/**
 * Addresses are counted by a hash with this many values. Two addresses with one hash share a limit: with
 * 1,000 addresses this happens to one in 16.
 */
const ADDRESS_SLOTS = 16_384
/**
 * Each thread's row holds its connections, the connections of each slot, how many it has refused for either
 * limit, and how many it has reset.
 */
const COUNT_WORDS = 1 + ADDRESS_SLOTS
const REFUSED_IN_ALL = COUNT_WORDS
const REFUSED_BY_ADDRESS = COUNT_WORDS + 1
const RESET = COUNT_WORDS + 2
const ROW_WORDS = COUNT_WORDS + 3
/** A seed before the rows makes the hash differ between processes: nobody can choose to share a limit. */
const SEED_WORDS = 1

export interface ConnectionLimits {
  /** In all threads. */
  readonly total: number
  /** Connections of one IPv4 address or one /64 of IPv6; 0 means unlimited. */
  readonly perAddress: number
  /** Addresses without a limit of their own. */
  readonly isExempt: (address: string) => boolean
}

export const UNLIMITED: ConnectionLimits = { total: Infinity, perAddress: 0, isExempt: () => true }

/** `open` returns this for a connection that it refuses. */
export const REFUSED = -1

/**
 * One thread's view. Each thread writes its own row alone, so that counting needs no lock and a dead thread's
 * row can be cleared.
 */
export class Connections {
  readonly #words: Int32Array
  readonly #row: number
  readonly #limits: ConnectionLimits

  static allocate(threads: number): SharedArrayBuffer {
    const buffer = new SharedArrayBuffer((SEED_WORDS + threads * ROW_WORDS) * Int32Array.BYTES_PER_ELEMENT)
    randomFillSync(new Int32Array(buffer, 0, SEED_WORDS))
    return buffer
  }

  /** Begins with no connections of `thread`: it has just started. */
  constructor(buffer: SharedArrayBuffer, thread: number, limits: ConnectionLimits) {
    this.#words = new Int32Array(buffer)
    this.#row = SEED_WORDS + thread * ROW_WORDS
    this.#limits = limits
    // What was refused counts for the life of the process.
    this.#words.fill(0, this.#row, this.#row + COUNT_WORDS)
  }

  /** Whether addresses are counted: finding one out costs a call into the system. */
  get countsAddresses(): boolean {
    return this.#limits.perAddress > 0
  }

  /** Connections that are open, in all threads. */
  get open(): number {
    return this.#sum(0)
  }

  /**
   * Counts a connection from `address` ('' where addresses are not counted). @returns what `left` has to
   * be called with, or `REFUSED`.
   */
  opened(address: string): number {
    const words = this.#words
    if (this.#sum(0) >= this.#limits.total) return this.#refuse(REFUSED_IN_ALL)
    const slot = this.#slotOf(address)
    if (slot > 0) {
      if (this.#sum(slot) >= this.#limits.perAddress) return this.#refuse(REFUSED_BY_ADDRESS)
      words[this.#row + slot]++
    }
    words[this.#row]++
    return slot
  }

  /** 0 for an address without a limit. */
  #slotOf(address: string): number {
    if (!this.countsAddresses || address === '' || this.#limits.isExempt(address)) return 0
    return 1 + (hash(networkOf(address), this.#words[0]) % ADDRESS_SLOTS)
  }

  left(slot: number): void {
    this.#words[this.#row]--
    if (slot > 0) this.#words[this.#row + slot]--
  }

  /**
   * Takes a connection from `address` out of the counts while it carries a stream: the limits are for those
   * on which requests come. @returns what `returned` has to be called with before the connection has left
   */
  lent(address: string): number {
    const slot = this.#slotOf(address)
    this.left(slot)
    return slot
  }

  returned(slot: number): void {
    this.#words[this.#row]++
    if (slot > 0) this.#words[this.#row + slot]++
  }

  /** Counts a connection that was reset because it did not read and the system's TCP memory was tight. */
  reset(): void {
    this.#words[this.#row + RESET]++
  }

  #refuse(limit: number): typeof REFUSED {
    this.#words[this.#row + limit]++
    return REFUSED
  }

  #sum(at: number): number {
    return sumOf(this.#words, at)
  }
}

export interface ConnectionCounts {
  /** In all threads. */
  open: number
  /** Since the process began: beyond the limit of all, and beyond that of one address. */
  refused: { in_all: number; by_address: number }
  /** Since the process began: they did not read, and the system's TCP memory was tight. */
  reset: number
}

export function countConnections(buffer: SharedArrayBuffer): ConnectionCounts {
  const words = new Int32Array(buffer)
  const refused = { in_all: sumOf(words, REFUSED_IN_ALL), by_address: sumOf(words, REFUSED_BY_ADDRESS) }
  return { open: sumOf(words, 0), refused, reset: sumOf(words, RESET) }
}

/** The sum over the rows of all threads. */
function sumOf(words: Int32Array, at: number): number {
  let sum = 0
  for (let word = SEED_WORDS + at; word < words.length; word += ROW_WORDS) sum += words[word]
  return sum
}

/** FNV-1a over UTF-16 code units, begun with a secret. */
function hash(text: string, seed: number): number {
  let value = seed ^ 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  // The lower bits of FNV alone are weak.
  return (value ^ (value >>> 15)) >>> 0
}

/** What is counted as one address: of IPv6 the first half, which is what a customer gets. */
export function networkOf(address: string): string {
  const plain = unmapped(address)
  if (!plain.includes(':')) return plain
  const [before, after] = plain.split('::')
  const head = before === '' ? [] : before.split(':')
  const tail = after === undefined || after === '' ? [] : after.split(':')
  const groups = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0'), ...tail]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

/**
 * For snapshots, sources, logs, the admin port and what Node itself has open; and for connections that
 * are refused.
 */
const OTHER_FILES = 128
/** What one thread has open before any connection: its engine listens 8 times, and its loop has a few. */
const FILES_PER_THREAD = 24

/** Share for streams of events, together with what other connections leave, if not all connections fit. */
const LISTENERS_SHARE = 1 / 4
/** The rest of what was wanted is not worth a warning: the status shows the limit. */
const ENOUGH = 1 / 2

/** Connections at a time: those on which requests come, and those that carry streams of events. */
export interface WantedConnections {
  connections: number
  listeners: number
}

/**
 * The connections that are wanted, or fewer if accepting would fail before: a loop that cannot accept its
 * next connection spins, since the connection goes on waiting.
 * @param openFiles what this process may have open, null where that is unknown
 */
export function connectionsWithin(
  { connections, listeners }: WantedConnections,
  threads: number,
  openFiles: number | null,
  log: (line: string) => void,
): { maxConnections: number; maxListeners: number } {
  if (openFiles === null) return { maxConnections: connections, maxListeners: listeners }
  const possible = Math.max(2, openFiles - OTHER_FILES - threads * FILES_PER_THREAD)
  if (connections + listeners <= possible) return { maxConnections: connections, maxListeners: listeners }
  const spared = Math.max(Math.floor(possible * LISTENERS_SHARE), possible - connections)
  const maxListeners = Math.max(1, Math.min(listeners, spared))
  const maxConnections = Math.min(connections, possible - maxListeners)
  if (maxConnections === connections && maxListeners >= listeners * ENOUGH)
    return { maxConnections, maxListeners }
  const reduced = [
    ...(maxConnections < connections
      ? [`--max-connections ${connections} is taken as ${maxConnections}`]
      : []),
    ...(maxListeners < listeners ? [`--max-listeners ${listeners} as ${maxListeners}`] : []),
  ]
  log(`warning: ${reduced.join(' and ')}: this process may have ${openFiles} files open (ulimit -n)`)
  return { maxConnections, maxListeners }
}

/** How many files this process may have open (RLIMIT_NOFILE); null where the system does not tell. */
export function openFilesLimit(): number | null {
  try {
    const match = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))
    return match === null ? null : Number(match[1])
  } catch {
    return null
  }
}
