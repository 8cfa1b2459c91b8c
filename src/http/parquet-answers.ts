/**
 * Has Parquet written by another thread, one row group each time the group before has gone out. The length is
 * unknown before; a file that breaks off has no last chunk. The thread starts with the first file and ends a
 * while after the last; if it dies, its files break off, and the next gets a new thread.
 */
import type { Worker } from 'node:worker_threads'
import type { ParquetJob, ParquetRun } from '../formats/parquet-job.ts'
import type { FromParquet, ToParquet } from '../formats/parquet-thread.ts'
import { MOST_WRITE_BYTES } from './exchange.ts'
import { startThread } from '../system/thread.ts'
import type { Piece, Producer } from './later-answers.ts'

/** A thread that writes no group for this time hangs, and is ended; one group takes some 20 ms. */
const LONGEST_GROUP_MS = 30_000
/** A thread without work, which holds some 40 MB, ends after this time. */
const LONGEST_IDLE_MS = 10_000
/** Many times what row groups take. */
const THREAD_HEAP_MB = 256

export interface ParquetAnswersOptions {
  /** By default the usual thread. */
  readonly start?: () => Worker
  readonly longestGroupMs?: number
  readonly longestIdleMs?: number
}

const startParquet = (): Worker =>
  startThread(new URL('../formats/parquet-thread', import.meta.url), null, {
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
  })

export class ParquetAnswers {
  readonly #options: Required<ParquetAnswersOptions>
  /** By the numbers that name them to the thread. */
  readonly #files = new Map<number, ParquetFile>()
  #thread: Worker | null = null
  #last = 0
  #idle: NodeJS.Timeout | null = null

  constructor(options: ParquetAnswersOptions = {}) {
    this.#options = {
      start: startParquet,
      longestGroupMs: LONGEST_GROUP_MS,
      longestIdleMs: LONGEST_IDLE_MS,
      ...options,
    }
  }

  /** `wake` is called when bytes have come. */
  produce(job: ParquetJob, wake: () => void): Producer {
    const number = this.#last++
    // An answer to HEAD asks for no group, and needs no thread.
    let thread: Worker | null = null
    const tell = (message: ToParquet): void => thread!.postMessage(message)
    const file = new ParquetFile(job, wake, {
      ask: (runs, isLast) => {
        if (thread === null) {
          thread = this.#threadOf(number, file)
          tell({ type: 'begin', file: number, start: job.start })
        }
        tell({ type: 'group', file: number, runs, isLast })
        return setTimeout(() => void thread!.terminate(), this.#options.longestGroupMs).unref()
      },
      drop: () => {
        if (!this.#files.delete(number)) return
        tell({ type: 'drop', file: number })
        this.#idleIfDone()
      },
    })
    return file
  }

  #threadOf(number: number, file: ParquetFile): Worker {
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = null
    this.#files.set(number, file)
    return (this.#thread ??= this.#startThread())
  }

  close(): void {
    const thread = this.#thread
    this.#thread = null
    void thread?.terminate()
  }

  #startThread(): Worker {
    const thread = this.#options.start()
    // The connections that the thread writes for keep the process alive.
    thread.unref()
    // A file may still have messages on their way after its client has gone.
    thread.on('message', (message: FromParquet) => this.#files.get(message.file)?.take(message))
    thread.once('error', (error) => this.#lost(thread, error))
    thread.once('exit', () => this.#lost(thread, new Error('the thread that writes Parquet has ended')))
    return thread
  }

  #lost(thread: Worker, fault: Error): void {
    if (this.#thread !== thread) return
    this.#thread = null
    const files = [...this.#files]
    this.#files.clear()
    for (const [number, file] of files) file.take({ file: number, fault })
  }

  #idleIfDone(): void {
    if (this.#files.size > 0) return
    this.#idle = setTimeout(() => this.close(), this.#options.longestIdleMs).unref()
  }
}

interface Thread {
  /** Has a group written. @returns what ends a thread that hangs */
  ask(runs: readonly ParquetRun[], isLast: boolean): NodeJS.Timeout
  drop(): void
}

class ParquetFile implements Producer {
  readonly length = null
  readonly #groups: Iterator<ParquetRun[], void, undefined>
  readonly #wake: () => void
  readonly #thread: Thread
  /** The runs of the group after the one that was asked for; undefined behind the last. */
  #next: ParquetRun[] | undefined
  #isLast = false
  /** Runs until the group that was asked for has come. */
  #hangs: NodeJS.Timeout | undefined
  /** The group that has come, and how many of its bytes have gone out. */
  #bytes: Uint8Array | null = null
  #sent = 0
  #fault: Error | null = null

  constructor(job: ParquetJob, wake: () => void, thread: Thread) {
    this.#groups = job.groups()
    this.#next = this.#nextGroup()
    this.#wake = wake
    this.#thread = thread
  }

  next(): Piece {
    if (this.#fault !== null) throw this.#fault
    if (this.#bytes === null) {
      if (this.#isLast) return 'over'
      this.#ask()
      return 'waits'
    }
    const piece = this.#bytes.subarray(this.#sent, this.#sent + MOST_WRITE_BYTES)
    this.#sent += piece.length
    if (this.#sent === this.#bytes.length) this.#bytes = null
    return piece
  }

  take(message: FromParquet): void {
    clearTimeout(this.#hangs)
    if ('fault' in message) this.#fault = message.fault
    else {
      this.#bytes = message.bytes
      this.#sent = 0
    }
    this.#wake()
  }

  close(): void {
    clearTimeout(this.#hangs)
    this.#bytes = null
    this.#next = undefined
    this.#thread.drop()
  }

  #ask(): void {
    const runs = this.#next ?? []
    this.#next = this.#nextGroup()
    this.#isLast = this.#next === undefined
    this.#hangs = this.#thread.ask(runs, this.#isLast)
  }

  #nextGroup(): ParquetRun[] | undefined {
    const { done, value } = this.#groups.next()
    return done === true ? undefined : value
  }
}
