/**
 * Threads beside the serving ones, as the main thread sees them: that of long answers, and that of the tools
 * of assistants. They survive workers; one that dies or hangs is replaced, and its faults end nothing else.
 */
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import type { IndexedSnapshot } from '../dataset/view.ts'
import type { FromLongThread, LongStart, ToLongThread } from '../long/thread.ts'
import type { FromToolsThread, ToolsStart } from '../mcp/thread.ts'
import type { Changes } from '../snapshot/row-changes.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import type { LogLine } from '../system/log.ts'
import { startThread } from '../system/thread.ts'
import { CHECK_INTERVAL_MS, StallDetector, type ToWorker } from './worker-thread.ts'

/** Many times the need: answers are held outside of the heap. */
const HEAP_MIB = 256
const LIMITS = { resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB } }
/** Pause before a thread is replaced: the next one may die at once, too. */
const REPLACE_AFTER_MS = 100

interface SideThreadOptions {
  readonly log: LogLine
  /** The current serving threads. */
  readonly workers: () => readonly Worker[]
  readonly silentChecks?: number
}

abstract class SideThread {
  readonly #options: SideThreadOptions
  readonly #kind: 'long' | 'tools'
  readonly #name: string
  protected thread: Worker | null = null
  #checks: NodeJS.Timeout | null = null
  #isClosed = false
  replaced = 0

  /** @param kind of the message that brings a serving thread its channel @param name for the operator */
  constructor(options: SideThreadOptions, kind: 'long' | 'tools', name: string) {
    this.#options = options
    this.#kind = kind
    this.#name = name
  }

  /** @param signs one Int32, which counts up while the thread is alive */
  protected abstract begin(signs: SharedArrayBuffer): Worker
  protected abstract take(message: unknown): void
  protected abstract ended(): void

  start(): void {
    const signs = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
    const thread = this.begin(signs)
    this.thread = thread
    this.#watch(thread, new Int32Array(signs))
    thread.on('message', (message: unknown) => this.take(message))
    // A fault's code or name: its message may quote a request.
    thread.on('error', (error: NodeJS.ErrnoException) =>
      this.#options.log(`fault in ${this.#name}: ${error.code ?? error.name}`, 'error', ''),
    )
    thread.on('exit', (code) => this.#hasExited(code))
    for (const worker of this.#options.workers()) this.connect(worker)
  }

  /** Gives a serving thread a channel to this one. */
  connect(worker: Worker): void {
    const { thread } = this
    // The next thread connects to all workers.
    if (thread === null) return
    const { port1, port2 } = new MessageChannel()
    worker.postMessage({ type: this.#kind, port: port1 } satisfies ToWorker, [port1])
    const message: { type: 'connect'; port: MessagePort } = { type: 'connect', port: port2 }
    thread.postMessage(message, [port2])
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#checks !== null) clearInterval(this.#checks)
    await this.thread?.terminate()
  }

  #watch(thread: Worker, signs: Int32Array): void {
    const stalls = new StallDetector(this.#options.silentChecks)
    const checks = setInterval(() => {
      if (!stalls.isStalled(Atomics.load(signs, 0))) return
      clearInterval(checks)
      this.#options.log(`${this.#name} gives no sign of life, and is ended`, 'error')
      void thread.terminate()
    }, CHECK_INTERVAL_MS).unref()
    this.#checks = checks
  }

  #hasExited(code: number): void {
    if (this.#checks !== null) clearInterval(this.#checks)
    this.thread = null
    this.ended()
    if (this.#isClosed) return
    this.replaced++
    this.#options.log(`${this.#name} ended with code ${code} and is replaced`, 'warning')
    setTimeout(() => {
      if (!this.#isClosed) this.start()
    }, REPLACE_AFTER_MS).unref()
  }
}

interface LongThreadOptions extends SideThreadOptions {
  /** By default the usual thread. */
  readonly begin?: (start: LongStart) => Worker
}

export class LongThread extends SideThread {
  readonly #begin: (start: LongStart) => Worker
  /** Oldest first. */
  #held: readonly IndexedSnapshot[] = []
  #changes: readonly Changes[] = []
  #onOpened: { resolve: () => void; reject: (error: Error) => void } | null = null

  constructor(options: LongThreadOptions) {
    super(options, 'long', 'the thread of long answers')
    const usual = (start: LongStart): Worker =>
      startThread(new URL('../long/thread', import.meta.url), start, LIMITS)
    this.#begin = options.begin ?? usual
  }

  protected begin(signs: SharedArrayBuffer): Worker {
    return this.#begin({ signs, snapshots: this.#held, changes: this.#changes })
  }

  /** Resolves when `snapshot`, too, can be answered from. @throws SnapshotError */
  async open(snapshot: IndexedSnapshot, changes: readonly Changes[]): Promise<void> {
    if (this.#held.includes(snapshot)) return
    this.#held = [...this.#held, snapshot]
    this.#changes = [...changes, ...this.#changes]
    const { thread } = this
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

  #tell(message: ToLongThread): void {
    this.thread?.postMessage(message)
  }

  protected take(message: FromLongThread): void {
    const opened = this.#onOpened
    this.#onOpened = null
    if (message.type === 'opened') opened?.resolve()
    else opened?.reject(new SnapshotError(message.message))
  }

  protected ended(): void {
    // The next thread opens all held snapshots at its start.
    this.#onOpened?.resolve()
    this.#onOpened = null
  }
}

/** It starts with the first message to a tool. */
export class ToolThread extends SideThread {
  readonly #start: Omit<ToolsStart, 'signs'>
  readonly #log: LogLine
  #isWanted = false

  constructor(options: SideThreadOptions, start: Omit<ToolsStart, 'signs'>) {
    super(options, 'tools', 'the thread of tools')
    this.#start = start
    this.#log = options.log
  }

  wake(): void {
    if (this.#isWanted) return
    this.#isWanted = true
    this.start()
  }

  protected begin(signs: SharedArrayBuffer): Worker {
    return startThread(new URL('../mcp/thread', import.meta.url), { ...this.#start, signs }, LIMITS)
  }

  protected take({ message }: FromToolsThread): void {
    this.#log(`fault of a tool: ${message}`, 'error', '')
  }

  protected ended(): void {}
}
