/** Counts connections in memory that threads share, and fits their limits to open files. */
import { readFileSync } from 'node:fs'
import type { LogLine } from '../system/log.ts'

/** A thread's row: its connections, and those that it refused. Rows are a cache line apart. */
const OPEN = 0
const REFUSED = 1
const ROW_WORDS = 16

/** A thread writes its own row alone: counting needs no lock, and a dead thread's row can be cleared. */
export class Connections {
  readonly #words: Int32Array
  readonly #row: number
  readonly #most: number

  static allocate(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(threads * ROW_WORDS * Int32Array.BYTES_PER_ELEMENT)
  }

  /** Clears the row of `thread`, which has just started. `most`: connections of all threads. */
  constructor(buffer: SharedArrayBuffer, thread: number, most: number) {
    this.#words = new Int32Array(buffer)
    this.#row = thread * ROW_WORDS
    this.#most = most
    // Refusals count for the life of the process.
    this.#words[this.#row + OPEN] = 0
  }

  /** Connections of all threads. */
  get open(): number {
    return sumOf(this.#words, OPEN)
  }

  /** @returns false for a connection too many, which is to be refused */
  opened(): boolean {
    const isGood = this.open < this.#most
    this.#words[this.#row + (isGood ? OPEN : REFUSED)]++
    return isGood
  }

  /** Also for one that begins to carry a stream: it does not count meanwhile. */
  left(): void {
    this.#words[this.#row + OPEN]--
  }

  /** A stream is over, and its connection counts again. */
  returned(): void {
    this.#words[this.#row + OPEN]++
  }
}

export interface ConnectionCounts {
  /** Connections of all threads. */
  open: number
  /** Since the process began. */
  refused: number
}

export function countConnections(buffer: SharedArrayBuffer): ConnectionCounts {
  const words = new Int32Array(buffer)
  return { open: sumOf(words, OPEN), refused: sumOf(words, REFUSED) }
}

function sumOf(words: Int32Array, at: number): number {
  let sum = 0
  for (let word = at; word < words.length; word += ROW_WORDS) sum += words[word]
  return sum
}

/** For snapshots, sources, logs, the admin port, Node itself and refused connections. */
const OTHER_FILES = 128
/** Files of one thread before any connection: its port, and what its loop has. */
const FILES_PER_THREAD = 16

/** Least share for streams of events if not all connections fit. */
const LISTENERS_SHARE = 1 / 4

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
  // Somewhat fewer listeners are not worth a warning.
  if (maxConnections === connections && maxListeners >= listeners / 2) return { maxConnections, maxListeners }
  log(
    `--max-connections ${connections} is taken as ${maxConnections} and --max-listeners ${listeners} as ${maxListeners}: ` +
      `this process may have ${openFiles} files open (ulimit -n)`,
    'warning',
  )
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
