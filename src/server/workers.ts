/** The workers as one: they start and switch snapshots together, and each is replaced when it dies. */
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import type { Changes } from '../snapshot/row-changes.ts'
import type { IndexedSnapshot } from '../dataset/view.ts'
import type { FromWorker, ToWorker, WorkerStart } from './worker-thread.ts'
import {
  answered,
  ask,
  CHECK_INTERVAL_MS,
  ENDED,
  getReady,
  makeSwitch,
  startWorker,
  within,
  type WorkerThread,
} from './worker-thread.ts'
import type { Worker } from 'node:worker_threads'
import type { LogLine } from '../system/log.ts'

/** A worker that dies younger than this is replaced after a pause: the next one may die at once, too. */
const YOUNG_MS = 1000
/** Pause before a young worker is replaced, twice as long each time that a worker cannot even start. */
const REPLACE_AFTER_MS = 100
const LONGEST_REPLACE_AFTER_MS = 5000

const CLOSE_PATIENCE_MS = 3000
const CLOSE_PATIENCE_AT_ONCE_MS = 300
const TERMINATE_PATIENCE_MS = 2000

/** Time between two threads that begin to collect garbage: at the same time each takes longer. */
const COLLECT_APART_MS = 200

interface WorkersOptions {
  count: number
  /** The start of the worker with the number `thread`, made for each. */
  startOf: (
    thread: number,
    held: readonly IndexedSnapshot[],
    changes: readonly Changes[],
  ) => Omit<WorkerStart, 'heartbeat'>
  /** Names of routes by their ordinals. */
  routes: readonly string[]
  log: LogLine
  /** Writes lines of the access log, and calls back when they have left. */
  writeAccess: (lines: Uint8Array, written: () => void) => void
  /** Called with each worker before it serves. */
  onReady: (worker: Worker) => void
  onReplaced: () => void
  /** Called for the first message to a tool, and perhaps again. */
  onTools: () => void
  /** Called with what hangs and where. The process has to end: a thread with an open engine cannot. */
  onStalled: (what: string) => void
}

export class Workers {
  readonly #options: WorkersOptions
  /** Ready workers, each at its number. */
  readonly #members: (WorkerThread | null)[]
  /** All threads that run, also unready ones. */
  readonly #threads = new Set<WorkerThread>()
  #checks: NodeJS.Timeout | null = null
  /** Oldest first; the last is served. */
  #held: readonly IndexedSnapshot[] = []
  #changes: readonly Changes[] = []
  /** Null until the workers listen. */
  #port: number | null = null
  /** Snapshots are handed to the workers one at a time. */
  #turn: Promise<unknown> = Promise.resolve()
  #hasStalled = false
  readonly #starting = new Set<number>()
  #draining = false
  #closing = false
  replaced = 0

  constructor(options: WorkersOptions) {
    this.#options = options
    this.#members = Array.from({ length: options.count }, () => null)
  }

  get alive(): number {
    return this.#ready().length
  }

  get threads(): Worker[] {
    return this.#ready().map(({ worker }) => worker)
  }

  /** Resolves when all workers are ready to listen. @throws Error when one ends before. */
  async start(): Promise<void> {
    this.#checks = setInterval(() => this.#checkForStalls(), CHECK_INTERVAL_MS)
    for (let thread = 0; thread < this.#members.length; thread++) {
      if (this.#closing) return
      await this.#startOne(thread)
    }
  }

  /** Opens the port, also for later workers. @throws Error naming the address when one cannot listen */
  async listen(port: number): Promise<void> {
    this.#port = port
    const members = this.#ready()
    for (const member of members) member.isOpen = true
    const answers = await ask(members, { type: 'listen', port })
    for (const answer of answers) {
      if (answer.status === 'rejected') throw answer.reason
    }
  }

  send(message: ToWorker): void {
    for (const { worker } of this.#ready()) worker.postMessage(message)
  }

  /** Answers close their connections from now on, also answers of later workers. */
  drain(): void {
    this.#draining = true
    this.send({ type: 'drain' })
  }

  /**
   * Makes all workers get the last of `held` ready while they serve another, then switch to it; they hold the
   * others.
   * @throws SnapshotError when a worker cannot serve it, Error when one dies over it; then none serves it.
   */
  serve(
    held: readonly IndexedSnapshot[],
    changes: readonly Changes[] = [],
    snapshot = held.at(-1)!,
  ): Promise<void> {
    return this.#inTurn(async () => {
      const members = this.#ready()
      await getReady(members, snapshot, members)
      this.#held = held
      this.#changes = changes
      await makeSwitch(members, held, changes, snapshot)
    })
  }

  letGo(held: readonly IndexedSnapshot[]): Promise<void> {
    return this.#inTurn(async () => {
      this.#held = held
      await makeSwitch(this.#ready(), held, this.#changes)
    })
  }

  /** One worker after another frees the snapshots that it released; `following` comes last. */
  collect(following: readonly (() => void)[] = []): void {
    const asking = this.#ready().map(
      ({ worker }) =>
        () =>
          worker.postMessage({ type: 'collect' } satisfies ToWorker),
    )
    // The caller still refers to the snapshot that it releases, so the first one waits, too.
    for (const [i, each] of [...asking, ...following].entries())
      setTimeout(each, (i + 1) * COLLECT_APART_MS).unref()
  }

  /**
   * Ends all threads; with `atOnce` with little patience, also after a call without. Resolves to whether all
   * have ended. A stalled thread has not; then the process cannot exit as usual.
   */
  async close(atOnce = false): Promise<boolean> {
    this.#closing = true
    if (this.#checks !== null) clearInterval(this.#checks)
    const patience = atOnce ? CLOSE_PATIENCE_AT_ONCE_MS : CLOSE_PATIENCE_MS
    const ended = await Promise.all([...this.#threads].map((member) => this.#end(member, patience)))
    return ended.every((each) => each)
  }

  #end({ worker, isOpen, exit }: WorkerThread, patience: number): Promise<boolean> {
    if (isOpen) worker.postMessage({ type: 'close' } satisfies ToWorker)
    else void worker.terminate()
    return within(isOpen ? patience : TERMINATE_PATIENCE_MS, exit)
  }

  #ready(): WorkerThread[] {
    return this.#members.filter((member) => member !== null)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => {})
    return done
  }

  async #catchUp(member: WorkerThread): Promise<void> {
    const held = this.#held
    // The newest is the one to serve.
    for (const snapshot of held.filter((one) => !member.held.includes(one)).toReversed()) {
      await getReady([member], snapshot, [member])
      await makeSwitch([member], held, this.#changes, snapshot)
    }
    if (held.length > 0) await makeSwitch([member], held, this.#changes)
  }

  /** Resolves when a new worker is ready, and listens if the others do. @throws Error when it ends before. */
  async #startOne(thread: number): Promise<void> {
    const member = await this.#startThread(thread)
    if (this.#draining) member.worker.postMessage({ type: 'drain' } satisfies ToWorker)
    if (this.#port === null) return
    member.isOpen = true
    const [answer] = await ask([member], { type: 'listen', port: this.#port })
    if (answer.status === 'fulfilled') return
    if (this.#members[thread] === member) this.#members[thread] = null
    // It has closed its engine.
    void member.worker.terminate()
    throw answer.reason
  }

  #startThread(thread: number): Promise<WorkerThread> {
    const { startOf, log } = this.#options
    const member = startWorker(startOf(thread, this.#held, this.#changes))
    const { worker } = member
    this.#threads.add(member)
    return new Promise((resolve, reject) => {
      worker.on('error', (error: NodeJS.ErrnoException) => {
        // Until a worker is ready, its rejection logs the message. A later message may quote a request.
        if (this.#members[thread] === member)
          log(`fault in worker ${thread}: ${error.code ?? error.name}`, 'error', '')
        reject(error)
      })
      worker.on('message', (message: FromWorker) => {
        if (message.type === 'ready') {
          this.#members[thread] = member
          member.since = performance.now()
          this.#options.onReady(worker)
          log(`worker ${thread} is ready`, 'debug')
          resolve(member)
        } else this.#take(message, member)
      })
      worker.on('exit', (code) => {
        reject(new Error(`worker ${thread} ended with code ${code} before it was ready`))
        this.#hasExited(member, code)
      })
    })
  }

  #take(message: Exclude<FromWorker, { type: 'ready' }>, member: WorkerThread): void {
    switch (message.type) {
      case 'listening':
      case 'prepared':
      case 'switched':
        answered(member)
        break
      case 'not-listening':
        answered(member, new Error(message.message))
        break
      case 'refused':
        answered(member, new SnapshotError(message.message))
        break
      case 'tools':
        this.#options.onTools()
        break
      case 'warning':
        this.#options.log(`worker ${member.thread}: ${message.message}`, 'warning')
        break
      case 'lines': {
        const { lines } = message
        const reply = { type: 'written', bytes: lines.length } satisfies ToWorker
        this.#options.writeAccess(lines, () => member.worker.postMessage(reply))
        break
      }
      case 'fault':
        this.#options.log(`fault in worker ${member.thread}: ${message.message}`, 'error', '')
        break
    }
  }

  #hasExited(member: WorkerThread, code: number): void {
    const { thread } = member
    this.#threads.delete(member)
    const wasReady = this.#members[thread] === member
    if (wasReady) this.#members[thread] = null
    answered(member, new Error(ENDED))
    member.hasEnded = true
    if (this.#closing || !wasReady) return
    this.#options.log(`worker ${thread} ended with code ${code} and is replaced`, 'warning')
    this.#replace(thread, performance.now() - member.since < YOUNG_MS ? REPLACE_AFTER_MS : 0)
  }

  #checkForStalls(): void {
    for (const member of this.#threads) {
      const { thread, heartbeat, stallDetector, preparing } = member
      if (!stallDetector.isStalled(heartbeat.progress) || this.#hasStalled) continue
      this.#hasStalled = true
      const route = Atomics.load(heartbeat.serving, 0)
      let doing = 'between requests'
      if (route >= 0) doing = `while it answered ${this.#options.routes[route]}`
      else if (preparing !== null) doing = `while it got snapshot ${preparing.id} ready`
      this.#options.onStalled(`worker ${thread} has been silent for ${stallDetector.seconds} s, ${doing}`)
    }
  }

  #replace(thread: number, afterMs: number): void {
    const { log, onReplaced } = this.#options
    const listening = (): void => {
      this.replaced++
      onReplaced()
      const member = this.#members[thread]
      if (member === null) return
      this.#inTurn(() => this.#catchUp(member)).catch((error: Error) => {
        log(`worker ${thread} serves an older snapshot: ${error.message}`, 'warning')
      })
    }
    setTimeout(() => {
      // A worker that ends while it begins to listen asks twice to be replaced.
      if (this.#closing || this.#starting.has(thread) || this.#members[thread] !== null) return
      this.#starting.add(thread)
      this.#startOne(thread)
        .finally(() => this.#starting.delete(thread))
        .then(listening, (error: Error) => {
          if (this.#closing) return
          log(`worker ${thread} cannot be replaced yet: ${error.message}`, 'warning')
          this.#replace(thread, Math.min(Math.max(afterMs * 2, REPLACE_AFTER_MS), LONGEST_REPLACE_AFTER_MS))
        })
    }, afterMs)
  }
}
