/** The workers as one: they start and switch snapshots together, and each is replaced when it dies. */
import { endInterrupted, TERMINATE_PATIENCE_MS, within } from './watchdog.ts'
import { LOOK_INTERVAL_MS } from './watchdog.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import type { Changes } from '../snapshot/row-changes.ts'
import type { IndexedSnapshot } from '../dataset/view.ts'
import type { FromWorker, LastAct, ToWorker, WorkerStart } from './worker-messages.ts'
import {
  answered,
  ask,
  ENDED,
  getReady,
  makeSwitch,
  startWorker,
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

/** Time between two threads that begin to collect garbage: at the same time each takes longer. */
const COLLECT_APART_MS = 200

/** Requests that stalled a thread, and are refused; the oldest beyond this are forgotten. */
const REFUSED_KEPT = 1000

export interface WorkersOptions {
  count: number
  /** What the worker with the number `thread` starts with; asked anew for each. */
  startOf: (
    thread: number,
    held: readonly IndexedSnapshot[],
    changes: readonly Changes[],
  ) => Omit<WorkerStart, 'heartbeat' | 'refused'>
  requestsOf: (thread: number) => number
  log: LogLine
  /** Writes lines of the access log, and tells when they have left. */
  writeAccess: (lines: Uint8Array, written: () => void) => void
  /** Called with each worker before it serves. */
  onReady: (worker: Worker) => void
  onReplaced: () => void
  /** Called when a worker is stalled in native code: ending it would abort the process. */
  onStuck: (thread: number) => void
}

export class Workers {
  readonly #options: WorkersOptions
  /** Ready workers, each at its number. */
  readonly #members: (WorkerThread | null)[]
  /** All threads that run, also those that are not ready yet. */
  readonly #threads = new Set<WorkerThread>()
  #looks: NodeJS.Timeout | null = null
  /** Oldest first; the last is served. */
  #held: readonly IndexedSnapshot[] = []
  #changes: readonly Changes[] = []
  /** Null until the workers listen. */
  #port: number | null = null
  /** Snapshots are handed to the workers one at a time. */
  #turn: Promise<unknown> = Promise.resolve()
  /** Hashes of requests that stalled a thread. */
  #refused: string[] = []
  /** Why snapshots are refused for good, by their ids: they stalled a thread that was getting them ready. */
  readonly #stalling = new Map<string, string>()
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
    this.#looks = setInterval(() => this.#look(), LOOK_INTERVAL_MS)
    for (let thread = 0; thread < this.#members.length; thread++) {
      if (this.#closing) return
      await this.#startOne(thread)
    }
  }

  /** Opens the port, also for later workers. @throws Error naming the address when one cannot listen */
  async listen(port: number): Promise<void> {
    this.#port = port
    const answers = await ask(this.#ready(), { type: 'listen', port })
    for (const answer of answers) if (answer.status === 'rejected') throw answer.reason
  }

  send(message: ToWorker): void {
    for (const { worker } of this.#ready()) worker.postMessage(message)
  }

  /** Answers close their connections from now on, also those of later workers. */
  drain(): void {
    this.#draining = true
    this.send({ type: 'drain' })
  }

  /**
   * Makes all workers get the last of `held` ready while they serve another, then switch to it; they hold the
   * others. One goes first, so that a snapshot that stalls a worker stalls only that one.
   * @throws SnapshotError when a worker cannot serve it, Error when one dies over it; then none serves it.
   */
  serve(held: readonly IndexedSnapshot[], changes: readonly Changes[] = []): Promise<void> {
    const snapshot = held.at(-1)!
    return this.#inTurn(async () => {
      const why = this.stalledBy(snapshot.id)
      if (why !== null) throw new SnapshotError(why)
      const members = this.#ready()
      await getReady(members.slice(0, 1), snapshot, members)
      await getReady(members.slice(1), snapshot, members)
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

  /** One worker after another frees what it holds no longer; `following` comes last. */
  collect(following: readonly (() => void)[] = []): void {
    const asking = this.#ready().map(
      ({ worker }) =>
        () =>
          worker.postMessage({ type: 'collect' } satisfies ToWorker),
    )
    // The caller still refers to what it lets go of, so the first one waits, too.
    for (const [i, each] of [...asking, ...following].entries())
      setTimeout(each, (i + 1) * COLLECT_APART_MS).unref()
  }

  /** Why a snapshot is refused for good: a worker stalled while getting it ready. Null for any other. */
  stalledBy(id: string): string | null {
    return this.#stalling.get(id) ?? null
  }

  /**
   * Ends all threads; with `atOnce` with little patience, also after a call without. Resolves to whether all
   * have ended. A thread in native code may not; then the process cannot exit as usual.
   */
  async close(atOnce = false): Promise<boolean> {
    this.#closing = true
    if (this.#looks !== null) clearInterval(this.#looks)
    const patience = atOnce ? CLOSE_PATIENCE_AT_ONCE_MS : CLOSE_PATIENCE_MS
    const ended = await Promise.all([...this.#threads].map((member) => this.#end(member, patience)))
    return ended.every((each) => each)
  }

  async #end(member: WorkerThread, patience: number): Promise<boolean> {
    const { worker, heartbeat, exit } = member
    if (heartbeat.mayTerminate()) void worker.terminate()
    else if (member.isStuck) return !this.#threads.has(member)
    else {
      worker.postMessage({ type: 'close' } satisfies ToWorker)
      if (await within(patience, exit)) return true
      const lastAct = await endInterrupted({ worker, exit, mayTerminate: false })
      if (lastAct === null) return !this.#threads.has(member)
    }
    return within(TERMINATE_PATIENCE_MS, exit)
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
    const [answer] = await ask([member], { type: 'listen', port: this.#port })
    if (answer.status === 'fulfilled') return
    if (this.#members[thread] === member) this.#members[thread] = null
    if (member.heartbeat.mayTerminate()) void member.worker.terminate()
    throw answer.reason
  }

  #startThread(thread: number): Promise<WorkerThread> {
    const { startOf, requestsOf, log } = this.#options
    const start = { ...startOf(thread, this.#held, this.#changes), refused: this.#refused }
    const member = startWorker(start, requestsOf(thread))
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
    // The waiting call of a worker that was given up has had its answer.
    if (!member.hasEnded) answered(member, new Error(ENDED))
    member.hasEnded = true
    if (this.#closing || !wasReady) return
    this.#options.log(`worker ${thread} ended with code ${code} and is replaced`, 'warning')
    this.#replace(thread, performance.now() - member.since < YOUNG_MS ? REPLACE_AFTER_MS : 0)
  }

  #look(): void {
    const now = performance.now()
    for (const member of this.#threads) {
      const { thread, heartbeat, stallDetector, requestsBefore, hasEnded } = member
      const done = heartbeat.progress + this.#options.requestsOf(thread) - requestsBefore
      if (!hasEnded && stallDetector.look({ done, processor: heartbeat.processor(), now }))
        void this.#giveUp(member)
    }
  }

  /** Ends a stalled thread, finds out over what it stalled, and refuses that from now on. */
  async #giveUp(member: WorkerThread): Promise<void> {
    const { thread, worker, exit, heartbeat, preparing } = member
    const { log, onStuck } = this.#options
    const seconds = member.stallDetector.seconds(performance.now())
    const wasReady = this.#members[thread] === member
    if (wasReady) this.#members[thread] = null
    member.hasEnded = true
    const mayTerminate = heartbeat.mayTerminate()
    const lastAct = (await endInterrupted({ worker, exit, mayTerminate })) as LastAct | null
    if (lastAct === null && !mayTerminate && this.#threads.has(member)) {
      // A thread that goes on after all ends in good order.
      worker.postMessage({ type: 'close' } satisfies ToWorker)
      member.isStuck = true
      answered(member, new Error(ENDED))
      onStuck(thread)
      return
    }
    await exit
    const { request = null, at = '' } = lastAct ?? {}
    let over = ''
    if (request !== null) {
      over = ' over a request, which is refused from now on'
      this.#refused = [...this.#refused, request].slice(-REFUSED_KEPT)
      this.send({ type: 'refuse', request })
    } else if (preparing !== null) {
      over = ` over snapshot ${preparing.id}, which is refused for good`
      const why = `snapshot ${preparing.id} stalled a worker for ${seconds} s that was getting it ready; it is refused for good: publish another one`
      this.#stalling.set(preparing.id, why)
      answered(member, new SnapshotError(why))
    }
    answered(member, new Error(ENDED))
    log(
      `worker ${thread} was stalled for ${seconds} s${over}, and is replaced; it was ${at || 'starting'}`,
      'error',
    )
    if (wasReady && !this.#closing) this.#replace(thread, 0)
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
