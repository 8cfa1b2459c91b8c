/**
 * The thread that makes long answers, as the main thread sees it. It survives workers; one that dies or hangs
 * is replaced, and its faults end nothing else.
 */
import { MessageChannel, type Worker } from 'node:worker_threads'
import type { IndexedSnapshot } from '../dataset/view.ts'
import type { FromLongThread, LongStart, ToLongThread } from '../long/thread.ts'
import type { Changes } from '../snapshot/row-changes.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import type { LogLine } from '../system/log.ts'
import { startThread } from '../system/thread.ts'
import { CHECK_INTERVAL_MS, StallDetector } from './watchdog.ts'
import type { ToWorker } from './worker-thread.ts'

/** Many times what answers need, which are held outside of it. */
const HEAP_MIB = 256
/** Pause before a thread is replaced: the next one may die at once, too. */
const REPLACE_AFTER_MS = 100

export interface LongThreadOptions {
  readonly log: LogLine
  /** The current serving threads. */
  readonly workers: () => readonly Worker[]
  readonly silentChecks?: number
  /** By default the usual thread. */
  readonly begin?: (start: LongStart) => Worker
}

const beginThread = (start: LongStart): Worker =>
  startThread(new URL('../long/thread', import.meta.url), start, {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  })

export class LongThread {
  readonly #options: LongThreadOptions
  #thread: Worker | null = null
  /** Oldest first. */
  #held: readonly IndexedSnapshot[] = []
  #changes: readonly Changes[] = []
  #onOpened: { resolve: () => void; reject: (error: Error) => void } | null = null
  #checks: NodeJS.Timeout | null = null
  #isClosed = false
  replaced = 0

  constructor(options: LongThreadOptions) {
    this.#options = options
  }

  start(): void {
    const { log, workers, begin = beginThread } = this.#options
    const signs = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
    const start: LongStart = { signs, snapshots: this.#held, changes: this.#changes }
    const thread = begin(start)
    this.#thread = thread
    this.#watch(thread, new Int32Array(signs))
    thread.on('message', (message: FromLongThread) => this.#take(message))
    // A fault's code or name: its message may quote a request.
    thread.on('error', (error: NodeJS.ErrnoException) =>
      log(`fault in the thread of long answers: ${error.code ?? error.name}`, 'error', ''),
    )
    thread.on('exit', (code) => this.#hasExited(code))
    for (const worker of workers()) this.connect(worker)
  }

  /** Gives a serving thread a channel to this one. */
  connect(worker: Worker): void {
    const thread = this.#thread
    // The one that takes its place connects to all.
    if (thread === null) return
    const { port1, port2 } = new MessageChannel()
    worker.postMessage({ type: 'long', port: port1 } satisfies ToWorker, [port1])
    thread.postMessage({ type: 'connect', port: port2 } satisfies ToLongThread, [port2])
  }

  /** Resolves when `snapshot`, too, can be answered from. @throws SnapshotError */
  async open(snapshot: IndexedSnapshot, changes: readonly Changes[]): Promise<void> {
    if (this.#held.includes(snapshot)) return
    this.#held = [...this.#held, snapshot]
    this.#changes = [...changes, ...this.#changes]
    const thread = this.#thread
    if (thread === null) return
    await new Promise<void>((resolve, reject) => {
      this.#onOpened = { resolve, reject }
      thread.postMessage({ type: 'open', snapshot, changes } satisfies ToLongThread)
    })
  }

  get held(): readonly IndexedSnapshot[] {
    return this.#held
  }

  /** Releases all other snapshots: serving threads have done so. */
  hold(held: readonly IndexedSnapshot[]): void {
    const ids = held.map(({ id }) => id)
    this.#held = held
    this.#changes = this.#changes.filter(({ since, until }) => ids.includes(since) && ids.includes(until))
    this.#tell({ type: 'hold', ids })
  }

  collect(): void {
    this.#tell({ type: 'collect' })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#checks !== null) clearInterval(this.#checks)
    await this.#thread?.terminate()
  }

  #tell(message: ToLongThread): void {
    this.#thread?.postMessage(message)
  }

  #take(message: FromLongThread): void {
    const opened = this.#onOpened
    this.#onOpened = null
    if (message.type === 'opened') opened?.resolve()
    else opened?.reject(new SnapshotError(message.message))
  }

  #watch(thread: Worker, signs: Int32Array): void {
    const stalls = new StallDetector(this.#options.silentChecks)
    const checks = setInterval(() => {
      if (!stalls.isStalled(Atomics.load(signs, 0))) return
      clearInterval(checks)
      this.#options.log('the thread of long answers gives no sign of life, and is ended', 'error')
      void thread.terminate()
    }, CHECK_INTERVAL_MS).unref()
    this.#checks = checks
  }

  #hasExited(code: number): void {
    if (this.#checks !== null) clearInterval(this.#checks)
    this.#thread = null
    // The next one opens all that is held at its start.
    this.#onOpened?.resolve()
    this.#onOpened = null
    if (this.#isClosed) return
    this.replaced++
    this.#options.log(`the thread of long answers ended with code ${code} and is replaced`, 'warning')
    setTimeout(() => {
      if (!this.#isClosed) this.start()
    }, REPLACE_AFTER_MS).unref()
  }
}
