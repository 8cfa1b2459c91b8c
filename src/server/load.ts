/** Loads snapshots, and makes what workers share, on a thread that limits of time and memory can end. */
import type { Worker } from 'node:worker_threads'
import { startThread } from '../system/thread.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import type { Changes } from '../snapshot/row-changes.ts'
import type { FromLoading, LoadStart, ToCollect, ToCompare, ToLoad } from './load-thread.ts'
import type { LoadedSnapshot, LoadedParts, PublishedManifest } from '../snapshot/read-snapshot.ts'
import type { IndexedSnapshot } from '../dataset/view.ts'

/** A machine may be busy, a disk asleep. */
const LEAST_LIMIT_MS = 60_000
/** A slow disk's speed; loading in slices while threads serve is faster. */
const SLOWEST_BYTES_A_MS = 10_000
/** Parts are outside of this heap; the texts of 900,000 buoys, the most there can be, take 600. */
const HEAP_MIB = 1024

/** Time limit for `bytes` of new parts. */
export function loadLimitMs(bytes: number): number {
  return LEAST_LIMIT_MS + Math.ceil(bytes / SLOWEST_BYTES_A_MS)
}

export interface LoaderOptions {
  dir: string
  /** Seconds before a snapshot's time: the window of active buoys. */
  activeWithin?: number
  /** Replaces the usual limit. */
  limitMs?: (bytes: number) => number
  heapMiB?: number
  /** Request counts of the workers: loading pauses while they rise. Null where nobody serves. */
  counters?: SharedArrayBuffer | null
}

export class Loader {
  readonly #options: LoaderOptions
  readonly #limitMs: (bytes: number) => number
  /** Starting the thread takes longer than loading a new month, so it is kept. */
  #thread: Worker | null = null
  #giveUp: ((why: string) => void) | null = null

  constructor(options: LoaderOptions) {
    this.#options = options
    this.#limitMs = options.limitMs ?? loadLimitMs
  }

  /**
   * Loads one snapshot at a time; parts that `previous` has are taken from there.
   * @throws SnapshotError for whatever keeps it from being loaded, also a time limit or `end`.
   */
  async load(manifest: PublishedManifest, previous: LoadedParts | null): Promise<IndexedSnapshot> {
    const held = new Map(previous?.parts.map((part) => [part.entry.file, part]))
    const bytes = manifest.parts.reduce((sum, { file, bytes }) => (held.has(file) ? sum : sum + bytes), 0)
    const limit = this.#limitMs(bytes)
    const question: ToLoad = { type: 'load', manifest, previous }
    const { indexed } = (await this.#ask(question, manifest.id, limit)) as { indexed: IndexedSnapshot }
    // Parts in memory stay the very objects that they were.
    return { ...indexed, parts: indexed.parts.map((part) => held.get(part.entry.file) ?? part) }
  }

  /** Compares one pair at a time, not during a load. @throws SnapshotError as `load` does */
  async compare(before: LoadedSnapshot, after: LoadedSnapshot): Promise<Changes> {
    const known = new Set(before.parts.map(({ entry }) => entry.file))
    const differing = after.parts.filter(({ entry }) => !known.has(entry.file))
    const limit = this.#limitMs(differing.reduce((sum, { entry }) => sum + entry.bytes, 0))
    const plain = ({ id, asOf, parts }: LoadedSnapshot): ToCompare['before'] => ({ id, asOf, parts })
    const question: ToCompare = { type: 'compare', before: plain(before), after: plain(after) }
    return ((await this.#ask(question, after.id, limit)) as { changes: Changes }).changes
  }

  collect(): void {
    this.#thread?.postMessage({ type: 'collect' } satisfies ToCollect)
  }

  /** Breaks off the load. */
  end(): void {
    this.#giveUp?.('loading was broken off')
    this.#drop()
  }

  #ask(
    message: ToLoad | ToCompare,
    id: string,
    limit: number,
  ): Promise<Exclude<FromLoading, { refusal: string }>> {
    return new Promise((resolve, reject) => {
      const thread = (this.#thread ??= this.#start())
      const settle = (): void => {
        clearTimeout(timer)
        this.#giveUp = null
        thread.removeAllListeners('message')
        // A thread that waits keeps no process alive.
        thread.unref()
      }
      this.#giveUp = (why) => {
        settle()
        this.#drop()
        reject(new SnapshotError(`snapshot ${id}: ${why}`))
      }
      const timer = setTimeout(() => {
        this.#giveUp?.(`was not loaded within ${Math.ceil(limit / 1000)} s, and its loading was ended`)
      }, limit)
      thread.on('message', (answer: FromLoading) => {
        settle()
        if ('refusal' in answer) reject(new SnapshotError(answer.refusal))
        else resolve(answer)
      })
      thread.ref()
      thread.postMessage(message)
    })
  }

  #start(): Worker {
    const { dir, activeWithin = 0, counters = null, heapMiB = HEAP_MIB } = this.#options
    const start: LoadStart = { dir, activeWithin, counters }
    const thread = startThread(new URL('./load-thread', import.meta.url), start, {
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
    })
    const lost = (why: string): void => {
      if (this.#thread !== thread) return
      this.#thread = null
      this.#giveUp?.(`ended the thread that loaded it (${why})`)
    }
    // A fault's code or name: its message may quote what was read.
    thread.on('error', (error: NodeJS.ErrnoException) => lost(error.code ?? error.name))
    thread.on('exit', (code) => lost(`code ${code}`))
    return thread
  }

  /** A thread that waits for a disk cannot be ended before the disk answers, so nobody waits for it. */
  #drop(): void {
    const thread = this.#thread
    this.#thread = null
    void thread?.terminate()
  }
}
