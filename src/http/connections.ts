/** Counts connections in all and by address, in memory that threads share, and fits them to open files. */

import { randomFillSync } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { unmapped } from '../access/ip-address.ts'
import type { LogLine } from '../system/log.ts'

/** Values of the hash of addresses. Two with one hash share a limit: of 1,000 addresses one in 16 does. */
const ADDRESS_SLOTS = 16_384
/** A thread's row: its connections, those of each slot, the refused for either limit, the reset. */
const COUNT_WORDS = 1 + ADDRESS_SLOTS
const REFUSED_IN_ALL = COUNT_WORDS
const REFUSED_BY_ADDRESS = COUNT_WORDS + 1
const RESET = COUNT_WORDS + 2
const ROW_WORDS = COUNT_WORDS + 3
/** A seed before the rows: nobody can choose addresses that share a limit. */
const SEED_WORDS = 1

export interface ConnectionLimits {
  /** Most connections of all threads. */
  readonly total: number
  /** Per IPv4 address or IPv6 /64; 0 is unlimited. */
  readonly perAddress: number
  readonly isExempt: (address: string) => boolean
}

export const UNLIMITED: ConnectionLimits = { total: Infinity, perAddress: 0, isExempt: () => true }

/** What `opened` returns for a connection that it refuses. */
export const REFUSED = -1

/** A thread writes its own row alone: counting needs no lock, and a dead thread's row can be cleared. */
export class Connections {
  readonly #words: Int32Array
  readonly #row: number
  readonly #limits: ConnectionLimits

  static allocate(threads: number): SharedArrayBuffer {
    const buffer = new SharedArrayBuffer((SEED_WORDS + threads * ROW_WORDS) * Int32Array.BYTES_PER_ELEMENT)
    randomFillSync(new Int32Array(buffer, 0, SEED_WORDS))
    return buffer
  }

  /** Clears the row of `thread`, which has just started. */
  constructor(buffer: SharedArrayBuffer, thread: number, limits: ConnectionLimits) {
    this.#words = new Int32Array(buffer)
    this.#row = SEED_WORDS + thread * ROW_WORDS
    this.#limits = limits
    // Refusals count for the life of the process.
    this.#words.fill(0, this.#row, this.#row + COUNT_WORDS)
  }

  /** Finding an address costs a system call. */
  get countsAddresses(): boolean {
    return this.#limits.perAddress > 0
  }

  /** Connections of all threads. */
  get open(): number {
    return this.#sum(0)
  }

  /** `address`: '' if addresses are not counted. @returns the argument for `left`, or `REFUSED` */
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

  /** A connection does not count while it carries a stream. @returns the argument for `returned` */
  lent(address: string): number {
    const slot = this.#slotOf(address)
    this.left(slot)
    return slot
  }

  returned(slot: number): void {
    this.#words[this.#row]++
    if (slot > 0) this.#words[this.#row + slot]++
  }

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
  /** Connections of all threads. */
  open: number
  /** Since the process began. */
  refused: { in_all: number; by_address: number }
  /** Connections that did not read while the system's TCP memory was tight, since the process began. */
  reset: number
}

export function countConnections(buffer: SharedArrayBuffer): ConnectionCounts {
  const words = new Int32Array(buffer)
  const refused = { in_all: sumOf(words, REFUSED_IN_ALL), by_address: sumOf(words, REFUSED_BY_ADDRESS) }
  return { open: sumOf(words, 0), refused, reset: sumOf(words, RESET) }
}

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

/** What counts as one address: all of IPv4, the first half of IPv6, which is what a customer gets. */
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

/** For snapshots, sources, logs, the admin port, Node itself and refused connections. */
const OTHER_FILES = 128
/** Files of one thread before any connection: its engine listens 8 times, and its loop has a few. */
const FILES_PER_THREAD = 24

/** Least share for streams of events if not all connections fit. */
const LISTENERS_SHARE = 1 / 4
/** Down to this share of what was wanted no warning is given. */
const ENOUGH = 1 / 2

/** At a time: connections for requests, and connections that carry streams of events. */
export interface WantedConnections {
  connections: number
  listeners: number
}

/**
 * Fewer connections than wanted if files would run out: a loop that cannot accept the next connection spins.
 * @param openFiles what this process may have open, null if unknown
 */
export function connectionsWithin(
  { connections, listeners }: WantedConnections,
  threads: number,
  openFiles: number | null,
  log: LogLine,
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
  log(`${reduced.join(' and ')}: this process may have ${openFiles} files open (ulimit -n)`, 'warning')
  return { maxConnections, maxListeners }
}

/** RLIMIT_NOFILE; null if the system does not tell. */
export function openFilesLimit(): number | null {
  try {
    const match = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))
    return match === null ? null : Number(match[1])
  } catch {
    return null
  }
}
