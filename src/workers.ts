/** The serving threads as one: started together, told together, and each replaced when it dies. */
import type { Worker } from 'node:worker_threads'
import { SnapshotError } from './snapshot/format.ts'
import type { LoadedSnapshot } from './snapshot/read.ts'
import { startThread } from './thread.ts'
import type { FromWorker, ToWorker, WorkerStart } from './worker.ts'

/** Milliseconds before a worker that died is replaced: at once, but not in a spin when it dies at its start. */
const REPLACE_AFTER = 100

interface Member {
  worker: Worker
  /** What it is waited for, at most one thing at a time. */
  waiting: { resolve: () => void; reject: (error: Error) => void } | null
}

export interface WorkersOptions {
  count: number
  /** What the worker numbered `thread` starts with, asked anew for each. */
  startOf: (thread: number) => WorkerStart
  log: (line: string) => void
  onReplaced: () => void
}

export class Workers {
  readonly #options: WorkersOptions
  readonly #members: (Member | null)[]
  #closing = false
  /** Threads that died and were replaced. */
  replaced = 0

  constructor(options: WorkersOptions) {
    this.#options = options
    this.#members = Array.from({ length: options.count }, () => null)
  }

  /** How many are serving. */
  get alive(): number {
    return this.#members.filter((member) => member !== null).length
  }

  /** Resolves when all of them listen. */
  async start(): Promise<void> {
    for (let thread = 0; thread < this.#members.length; thread++) await this.#startOne(thread)
  }

  tell(message: ToWorker): void {
    for (const member of this.#members) member?.worker.postMessage(message)
  }

  /**
   * Has all workers get `snapshot` ready beside the one they serve, then switch.
   * @throws SnapshotError when one of them cannot serve it; then none does.
   */
  async serve(snapshot: LoadedSnapshot): Promise<void> {
    try {
      await this.#ask({ type: 'prepare', snapshot })
    } catch (error) {
      this.tell({ type: 'discard' })
      throw error
    }
    await this.#ask({ type: 'switch' })
  }

  /** Makes one fail as a bug would. */
  fail(thread: number): void {
    this.#members[thread]?.worker.postMessage({ type: 'fail' } satisfies ToWorker)
  }

  async close(): Promise<void> {
    this.#closing = true
    await Promise.all(
      this.#members.map(
        (member) =>
          new Promise<void>((resolve) => {
            if (member === null) {
              resolve()
              return
            }
            member.worker.once('exit', () => resolve())
            member.worker.postMessage({ type: 'close' } satisfies ToWorker)
          }),
      ),
    )
  }

  /** Tells all, and waits until each has said that it is done. */
  async #ask(message: ToWorker): Promise<void> {
    await Promise.all(
      this.#members.map((member) =>
        member === null
          ? Promise.resolve()
          : new Promise<void>((resolve, reject) => {
              member.waiting = { resolve, reject }
              member.worker.postMessage(message)
            }),
      ),
    )
  }

  #startOne(thread: number): Promise<void> {
    const { startOf, log } = this.#options
    const worker = startThread('./worker', startOf(thread))
    const member: Member = { worker, waiting: null }
    const answered = (): void => {
      member.waiting?.resolve()
      member.waiting = null
    }
    return new Promise((resolve, reject) => {
      worker.on('error', reject)
      worker.on('message', (message: FromWorker) => {
        switch (message.type) {
          case 'listening':
            this.#members[thread] = member
            resolve()
            break
          case 'prepared':
          case 'switched':
            answered()
            break
          case 'refused':
            member.waiting?.reject(new SnapshotError(message.message))
            member.waiting = null
            break
          case 'fault':
            log(`fault in worker ${thread}: ${message.message}`)
            break
        }
      })
      worker.on('exit', (code) => {
        const wasServing = this.#members[thread] === member
        if (wasServing) this.#members[thread] = null
        member.waiting?.reject(new Error(`worker ${thread} ended while it was getting a snapshot ready`))
        reject(new Error(`worker ${thread} ended with code ${code} before it listened`))
        if (!this.#closing && wasServing) this.#replace(thread, code)
      })
    })
  }

  #replace(thread: number, code: number): void {
    const { log, onReplaced } = this.#options
    log(`warning: worker ${thread} ended with code ${code} and is replaced`)
    setTimeout(() => {
      if (this.#closing) return
      this.#startOne(thread).then(
        () => {
          this.replaced++
          onReplaced()
        },
        (error: Error) => {
          log(`warning: ${error.message}`)
          if (!this.#closing) this.#replace(thread, code)
        },
      )
    }, REPLACE_AFTER)
  }
}
