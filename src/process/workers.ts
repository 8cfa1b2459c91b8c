/** The serving threads as one: started together, told together, and each replaced when it dies. */
import { setFlagsFromString } from 'node:v8'
import type { Worker } from 'node:worker_threads'
import { callLastAct } from './interrupt.ts'
import { Pulse } from './pulse.ts'
import { LOOK_INTERVAL_MS, Stillness } from './stillness.ts'
import { SnapshotError } from '../snapshot/format.ts'
import type { LoadedSnapshot } from '../snapshot/read.ts'
import { startThread } from '../system/thread.ts'
import type { FromWorker, ToWorker, WorkerStart } from './worker.ts'

/** A worker that dies is replaced at once. One younger than this, in ms, may die again at once: others wait, so that it is no spin. */
const YOUNG = 1000
/** Milliseconds before such a one is replaced, twice as many each time that one cannot even start. */
const REPLACE_AFTER = 100
const LONGEST_REPLACE_AFTER = 5000

/** Milliseconds in which a thread that stands still has to answer the debugger. One in the midst of native code cannot. */
const INTERRUPT_PATIENCE = 5000
/** Milliseconds in which a thread that is told to end does so by itself, and in which one that was terminated is gone. */
const CLOSE_PATIENCE = 3000
const CLOSE_PATIENCE_AT_ONCE = 300
const TERMINATE_PATIENCE = 2000

/** Requests that stopped a thread and are refused from then on; of more, the oldest are forgotten. */
const REFUSED_KEPT = 1000

/**
 * Old heap of a thread, in MiB, before its first full collection: 20 are in use. Without it each swap brings one, of 6 ms; with it they
 * come every four or so, and p99 with a swap a second falls from 2.6 to 1.8 times what it is without.
 */
const INITIAL_OLD_SPACE = 64

const ENDED = 'a worker ended while it was getting the snapshot ready'

/** A worker. */
interface Member {
  /** Its number among the workers. */
  thread: number
  worker: Worker
  pulse: Pulse
  snapshot: LoadedSnapshot | null
  /** The snapshot that it gets ready beside the one that it serves. */
  preparing: LoadedSnapshot | null
  /** What it is waited for, at most one thing at a time. */
  waiting: { resolve: () => void; reject: (error: Error) => void } | null
  /** Whether it can be waited for no more: it has died, or hangs. */
  hasEnded: boolean
  /** When it became ready, in ms of `performance.now`. */
  since: number
  stillness: Stillness
  /** What the ones before it at its number had served. */
  requestsBefore: number
  /** Whether it stands still within native code and can be neither interrupted nor ended. */
  isStuck: boolean
  /** Resolves when the thread has ended. */
  exit: Promise<void>
}

/** What a thread says of itself as its last act. */
export interface LastAct {
  /** A hash of the request that it was at; null when it was at none. */
  request: string | null
  /** Where in the code it was. */
  at: string
}

export interface WorkersOptions {
  count: number
  /** What the worker numbered `thread` starts with, asked anew for each. */
  startOf: (thread: number, snapshot: LoadedSnapshot | null) => Omit<WorkerStart, 'pulse' | 'refused'>
  /** What a worker has served so far. */
  requestsOf: (thread: number) => number
  log: (line: string) => void
  onReplaced: () => void
  /** One of them stands still within native code and cannot be interrupted: ending it would abort the process. */
  onStuck: (thread: number) => void
}

export class Workers {
  readonly #options: WorkersOptions
  /** Those that are ready, each at its number. */
  readonly #members: (Member | null)[]
  /** All threads that run, those too that are not ready yet. */
  readonly #threads = new Set<Member>()
  #looks: NodeJS.Timeout | null = null
  #snapshot: LoadedSnapshot | null = null
  /** Null until they listen. */
  #port: number | null = null
  /** Resolves when the workers have been told what they are being told: one snapshot at a time. */
  #told: Promise<unknown> = Promise.resolve()
  /** Hashes of requests that stopped a thread. */
  #refused: string[] = []
  /** Snapshots that stopped a thread while it got them ready, by their ids. */
  readonly #stopping = new Map<string, string>()
  /** Numbers for which a thread is being started. */
  readonly #starting = new Set<number>()
  #draining = false
  #closing = false
  /** Threads that died and were replaced. */
  replaced = 0

  constructor(options: WorkersOptions) {
    this.#options = options
    this.#members = Array.from({ length: options.count }, () => null)
  }

  /** How many are serving. */
  get alive(): number {
    return this.#ready().length
  }

  /** Resolves when all of them are ready to listen. @throws Error when one ends before. */
  async start(): Promise<void> {
    this.#looks = setInterval(() => this.#look(), LOOK_INTERVAL_MS)
    for (let thread = 0; thread < this.#members.length; thread++) {
      if (this.#closing) return
      await this.#startOne(thread)
    }
  }

  /** Opens the port; those that come later listen on it as well. @throws Error naming the address when one of them cannot. */
  async listen(port: number): Promise<void> {
    this.#port = port
    const answers = await ask(this.#ready(), { type: 'listen', port })
    for (const answer of answers) if (answer.status === 'rejected') throw answer.reason
  }

  tell(message: ToWorker): void {
    for (const { worker } of this.#ready()) worker.postMessage(message)
  }

  /** From now on answers close their connections, those of workers to come as well. */
  drain(): void {
    this.#draining = true
    this.tell({ type: 'drain' })
  }

  /**
   * Has all workers get `snapshot` ready beside the one they serve, then switch. One of them goes first: a snapshot that stops it
   * stops no other.
   * @throws SnapshotError when one of them cannot serve it, Error when one dies over it; then none does.
   */
  serve(snapshot: LoadedSnapshot): Promise<void> {
    return this.#inTurn(async () => {
      const why = this.stoppedBy(snapshot.id)
      if (why !== null) throw new SnapshotError(why)
      const members = this.#ready()
      await getReady(members.slice(0, 1), snapshot, members)
      await getReady(members.slice(1), snapshot, members)
      this.#snapshot = snapshot
      await makeSwitch(members, snapshot)
    })
  }

  /** Why a snapshot is refused for good: it stopped a worker that was getting it ready. Null for any other. */
  stoppedBy(id: string): string | null {
    return this.#stopping.get(id) ?? null
  }

  /** Makes one fail as a bug would. */
  fail(thread: number): void {
    this.#members[thread]?.worker.postMessage({ type: 'fail' } satisfies ToWorker)
  }

  /**
   * Ends all threads, without patience when `atOnce` is set, which may be after a call without.
   * Resolves to whether all have ended: one in the midst of native code may not, and the process cannot be left as usual then.
   */
  async close(atOnce = false): Promise<boolean> {
    this.#closing = true
    if (this.#looks !== null) clearInterval(this.#looks)
    const patience = atOnce ? CLOSE_PATIENCE_AT_ONCE : CLOSE_PATIENCE
    const ended = await Promise.all([...this.#threads].map((member) => this.#end(member, patience)))
    return ended.every((each) => each)
  }

  async #end(member: Member, patience: number): Promise<boolean> {
    const { worker, pulse, exit } = member
    if (pulse.mayTerminate()) void worker.terminate()
    else if (member.isStuck) return !this.#threads.has(member)
    else {
      worker.postMessage({ type: 'close' } satisfies ToWorker)
      if (await within(patience, exit)) return true
      if ((await callLastAct(worker.threadId, INTERRUPT_PATIENCE)) === null) return !this.#threads.has(member)
      void worker.terminate()
    }
    return within(TERMINATE_PATIENCE, exit)
  }

  #ready(): Member[] {
    return this.#members.filter((member) => member !== null)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#told.then(work)
    this.#told = done.catch(() => {})
    return done
  }

  /** A worker that began with what was served then takes over what has come since. */
  async #catchUp(member: Member): Promise<void> {
    const snapshot = this.#snapshot
    if (snapshot === null || member.snapshot === snapshot) return
    await getReady([member], snapshot, [member])
    await makeSwitch([member], snapshot)
  }

  /** Resolves when it is ready, and listens where the others do. @throws Error when it ends before. */
  async #startOne(thread: number): Promise<void> {
    const member = await this.#startThread(thread)
    if (this.#draining) member.worker.postMessage({ type: 'drain' } satisfies ToWorker)
    if (this.#port === null) return
    const [answer] = await ask([member], { type: 'listen', port: this.#port })
    if (answer.status === 'fulfilled') return
    if (this.#members[thread] === member) this.#members[thread] = null
    if (member.pulse.mayTerminate()) void member.worker.terminate()
    throw answer.reason
  }

  #startThread(thread: number): Promise<Member> {
    const { startOf, log } = this.#options
    const snapshot = this.#snapshot
    const pulse = Pulse.allocate()
    const start: WorkerStart = { ...startOf(thread, snapshot), pulse, refused: this.#refused }
    // A flag of the process, but only what starts after it reads it.
    setFlagsFromString(`--initial-old-space-size=${INITIAL_OLD_SPACE}`)
    const worker = startThread(new URL('./worker', import.meta.url), start)
    let exited: () => void = () => {}
    const member: Member = {
      thread,
      worker,
      pulse: new Pulse(pulse),
      snapshot,
      preparing: null,
      waiting: null,
      hasEnded: false,
      since: Infinity,
      stillness: new Stillness(performance.now()),
      requestsBefore: this.#options.requestsOf(thread),
      isStuck: false,
      exit: new Promise((resolve) => (exited = resolve)),
    }
    this.#threads.add(member)
    return new Promise((resolve, reject) => {
      worker.on('error', (error: NodeJS.ErrnoException) => {
        // Before it is ready its message reaches the log by the rejection; later ones may quote a request.
        if (this.#members[thread] === member) log(`fault in worker ${thread}: ${error.code ?? error.name}`)
        reject(error)
      })
      worker.on('message', (message: FromWorker) => {
        switch (message.type) {
          case 'ready':
            this.#members[thread] = member
            member.since = performance.now()
            resolve(member)
            break
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
          case 'fault':
            log(`fault in worker ${thread}: ${message.message}`)
            break
        }
      })
      worker.on('exit', (code) => {
        this.#threads.delete(member)
        exited()
        const wasReady = this.#members[thread] === member
        if (wasReady) this.#members[thread] = null
        // Of one that was given up, others say more.
        if (!member.hasEnded) answered(member, new Error(ENDED))
        member.hasEnded = true
        reject(new Error(`worker ${thread} ended with code ${code} before it was ready`))
        if (this.#closing || !wasReady) return
        log(`warning: worker ${thread} ended with code ${code} and is replaced`)
        this.#replace(thread, performance.now() - member.since < YOUNG ? REPLACE_AFTER : 0)
      })
    })
  }

  #look(): void {
    const now = performance.now()
    for (const member of this.#threads) {
      const { thread, pulse, stillness, requestsBefore, hasEnded } = member
      const done = pulse.beats + this.#options.requestsOf(thread) - requestsBefore
      if (!hasEnded && stillness.look({ done, processor: pulse.processor(), now })) void this.#giveUp(member)
    }
  }

  /** Ends a thread that stands still, finds out over what, and sees to it that this does not come again. */
  async #giveUp(member: Member): Promise<void> {
    const { thread, worker, pulse, preparing } = member
    const { log, onStuck } = this.#options
    const seconds = member.stillness.seconds(performance.now())
    const wasReady = this.#members[thread] === member
    if (wasReady) this.#members[thread] = null
    member.hasEnded = true
    const mayTerminate = pulse.mayTerminate()
    const lastAct = (await callLastAct(worker.threadId, INTERRUPT_PATIENCE)) as LastAct | null
    if (lastAct === null && !mayTerminate && this.#threads.has(member)) {
      // Should it come round after all, it ends in good order.
      worker.postMessage({ type: 'close' } satisfies ToWorker)
      member.isStuck = true
      answered(member, new Error(ENDED))
      onStuck(thread)
      return
    }
    void worker.terminate()
    await member.exit
    const { request = null, at = '' } = lastAct ?? {}
    let over = ''
    if (request !== null) {
      over = ' over a request, which is refused from now on'
      this.#refused = [...this.#refused, request].slice(-REFUSED_KEPT)
      this.tell({ type: 'refuse', request })
    } else if (preparing !== null) {
      over = ` over snapshot ${preparing.id}, which is refused for good`
      const why = `snapshot ${preparing.id} stopped a worker for ${seconds} s that was getting it ready; it is refused for good: publish another one`
      this.#stopping.set(preparing.id, why)
      answered(member, new SnapshotError(why))
    }
    answered(member, new Error(ENDED))
    log(
      `fault: worker ${thread} stood still for ${seconds} s${over}, and is replaced; it was ${at || 'starting'}`,
    )
    if (wasReady && !this.#closing) this.#replace(thread, 0)
  }

  #replace(thread: number, after: number): void {
    const { log, onReplaced } = this.#options
    const listening = (): void => {
      this.replaced++
      onReplaced()
      const member = this.#members[thread]
      if (member === null) return
      this.#inTurn(() => this.#catchUp(member)).catch((error: Error) => {
        log(`warning: worker ${thread} serves an older snapshot: ${error.message}`)
      })
    }
    setTimeout(() => {
      // One that ends while it begins to listen is replaced for both.
      if (this.#closing || this.#starting.has(thread) || this.#members[thread] !== null) return
      this.#starting.add(thread)
      this.#startOne(thread)
        .finally(() => this.#starting.delete(thread))
        .then(listening, (error: Error) => {
          if (this.#closing) return
          log(`warning: worker ${thread} cannot be replaced yet: ${error.message}`)
          this.#replace(thread, Math.min(Math.max(after * 2, REPLACE_AFTER), LONGEST_REPLACE_AFTER))
        })
    }, after)
  }
}

/** Whether `event` comes within `ms`. */
async function within(ms: number, event: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)))
  const inTime = await Promise.race([event.then(() => true), late])
  clearTimeout(timer)
  return inTime
}

/** What `member` was waited for has come, or will not. */
function answered(member: Member, error?: Error): void {
  const { waiting } = member
  member.waiting = null
  if (error === undefined) waiting?.resolve()
  else waiting?.reject(error)
}

/** @throws SnapshotError or Error as `serve` does; then none of `all` keeps anything of `snapshot`. */
async function getReady(
  members: readonly Member[],
  snapshot: LoadedSnapshot,
  all: readonly Member[],
): Promise<void> {
  for (const member of members) member.preparing = snapshot
  // All are waited for, also when one has refused: an answer that came late would be taken for one to the next question.
  const answers = await ask(members, { type: 'prepare', snapshot })
  for (const member of members) member.preparing = null
  const refusal = answers.find((answer) => answer.status === 'rejected')
  if (refusal === undefined) return
  for (const { worker } of all) worker.postMessage({ type: 'discard' } satisfies ToWorker)
  throw refusal.reason
}

/** One that dies over it is replaced by one that begins with what is served. */
async function makeSwitch(members: readonly Member[], snapshot: LoadedSnapshot): Promise<void> {
  for (const member of members) member.snapshot = snapshot
  await ask(members, { type: 'switch' })
}

/** Tells `members`, and waits until each has said that it is done, or cannot, or has died. */
function ask(members: readonly Member[], message: ToWorker): Promise<PromiseSettledResult<void>[]> {
  return Promise.allSettled(
    members.map(
      (member) =>
        new Promise<void>((resolve, reject) => {
          if (member.hasEnded) reject(new Error(ENDED))
          member.waiting = { resolve, reject }
          member.worker.postMessage(message)
        }),
    ),
  )
}
