/** The serving threads as one: started together, told together, and each replaced when it dies. */
import { setFlagsFromString } from 'node:v8'
import type { Worker } from 'node:worker_threads'
import { SnapshotError } from './snapshot/format.ts'
import type { LoadedSnapshot } from './snapshot/read.ts'
import { startThread } from './thread.ts'
import type { FromWorker, ToWorker, WorkerStart } from './worker.ts'

/** A worker that dies is replaced at once. One younger than this, in ms, may die again at once: others wait, so that it is no spin. */
const YOUNG = 1000
/** Milliseconds before such a one is replaced, twice as many each time that one cannot even start. */
const REPLACE_AFTER = 100
const LONGEST_REPLACE_AFTER = 5000

/** Milliseconds between two looks at the workers' beats; a worker beats more often. */
const LOOK_INTERVAL = 1000
/**
 * Looks in a row without a beat after which a worker hangs: nothing it does takes it longer than some 0.1 s at a time. Looks are counted
 * and not seconds, because a machine that was asleep or a process that was stopped has had no looks either.
 */
const HUNG_AFTER = 5

/**
 * Old heap of a thread, in MiB, before its first full collection: 20 are in use. Without it each swap brings one, of 6 ms; with it they
 * come every four or so, and p99 with a swap a second falls from 2.6 to 1.8 times what it is without.
 */
const INITIAL_OLD_SPACE = 64

const ENDED = 'a worker ended while it was getting the snapshot ready'
const HUNG = 'a worker hung while it was getting the snapshot ready'

/** A worker that listens. */
interface Member {
  worker: Worker
  snapshot: LoadedSnapshot | null
  /** What it is waited for, at most one thing at a time. */
  waiting: { resolve: () => void; reject: (error: Error) => void } | null
  /** Whether it can be waited for no more: it has died, or hangs. */
  hasEnded: boolean
  /** When it began to listen, in ms of `performance.now`. */
  since: number
  /** Its last beat that was seen, and looks since that saw no other. */
  beat: number
  missed: number
}

export interface WorkersOptions {
  count: number
  /** What the worker numbered `thread` starts with, asked anew for each. */
  startOf: (thread: number, snapshot: LoadedSnapshot | null) => Omit<WorkerStart, 'beats'>
  log: (line: string) => void
  onReplaced: () => void
  /** One of them hangs and cannot be replaced: its connections hang with it, and ending it would abort the process. */
  onHung: (thread: number) => void
}

export class Workers {
  readonly #options: WorkersOptions
  readonly #members: (Member | null)[]
  /** All threads that run, those too that do not listen yet, each with what to call when it has ended or is given up. */
  readonly #threads = new Map<Worker, () => void>()
  /** One Int32 for each worker. */
  readonly #beats: SharedArrayBuffer
  #looks: NodeJS.Timeout | null = null
  #snapshot: LoadedSnapshot | null = null
  /** Resolves when the workers have been told what they are being told: one snapshot at a time. */
  #told: Promise<unknown> = Promise.resolve()
  #draining = false
  #closing = false
  /** Threads that died and were replaced. */
  replaced = 0

  constructor(options: WorkersOptions) {
    this.#options = options
    this.#members = Array.from({ length: options.count }, () => null)
    this.#beats = new SharedArrayBuffer(options.count * 4)
  }

  /** How many are serving. */
  get alive(): number {
    return this.#listening().length
  }

  /** Resolves when all of them listen. */
  async start(): Promise<void> {
    for (let thread = 0; thread < this.#members.length; thread++) await this.#startOne(thread)
    this.#looks = setInterval(() => this.#look(), LOOK_INTERVAL)
  }

  tell(message: ToWorker): void {
    for (const { worker } of this.#listening()) worker.postMessage(message)
  }

  /** From now on answers close their connections, those of workers to come as well. */
  drain(): void {
    this.#draining = true
    this.tell({ type: 'drain' })
  }

  /**
   * Has all workers get `snapshot` ready beside the one they serve, then switch.
   * @throws SnapshotError when one of them cannot serve it, Error when one dies over it; then none does.
   */
  serve(snapshot: LoadedSnapshot): Promise<void> {
    return this.#inTurn(async () => {
      const members = this.#listening()
      await getReady(members, snapshot)
      this.#snapshot = snapshot
      await makeSwitch(members, snapshot)
    })
  }

  /** Makes one fail as a bug would. */
  fail(thread: number): void {
    this.#members[thread]?.worker.postMessage({ type: 'fail' } satisfies ToWorker)
  }

  /** Ends all threads, resolves when they have ended; one that hangs is not waited for. */
  async close(): Promise<void> {
    this.#closing = true
    await Promise.all(
      [...this.#threads.keys()].map(
        (worker) =>
          new Promise<void>((resolve) => {
            this.#threads.set(worker, resolve)
            worker.postMessage({ type: 'close' } satisfies ToWorker)
          }),
      ),
    )
    if (this.#looks !== null) clearInterval(this.#looks)
  }

  /** `worker` runs no more, or never will again. */
  #leave(worker: Worker): void {
    this.#threads.get(worker)?.()
    this.#threads.delete(worker)
  }

  #listening(): Member[] {
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
    await getReady([member], snapshot)
    await makeSwitch([member], snapshot)
  }

  #startOne(thread: number): Promise<void> {
    const { startOf, log } = this.#options
    const snapshot = this.#snapshot
    const start: WorkerStart = { ...startOf(thread, snapshot), beats: this.#beats }
    // A flag of the process, but only what starts after it reads it.
    setFlagsFromString(`--initial-old-space-size=${INITIAL_OLD_SPACE}`)
    const worker = startThread('./worker', start)
    this.#threads.set(worker, () => {})
    const member: Member = {
      worker,
      snapshot,
      waiting: null,
      hasEnded: false,
      since: Infinity,
      beat: 0,
      missed: 0,
    }
    return new Promise((resolve, reject) => {
      worker.on('error', (error: NodeJS.ErrnoException) => {
        // Before it listens its message reaches the log by the rejection; later ones may quote a request.
        if (this.#members[thread] === member) log(`fault in worker ${thread}: ${error.code ?? error.name}`)
        reject(error)
      })
      worker.on('message', (message: FromWorker) => {
        switch (message.type) {
          case 'listening':
            this.#members[thread] = member
            member.since = performance.now()
            if (this.#draining) worker.postMessage({ type: 'drain' } satisfies ToWorker)
            resolve()
            break
          case 'prepared':
          case 'switched':
            answered(member)
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
        this.#leave(worker)
        const wasServing = this.#members[thread] === member
        if (wasServing) this.#members[thread] = null
        member.hasEnded = true
        answered(member, new Error(ENDED))
        reject(new Error(`worker ${thread} ended with code ${code} before it listened`))
        if (this.#closing || !wasServing) return
        log(`warning: worker ${thread} ended with code ${code} and is replaced`)
        this.#replace(thread, performance.now() - member.since < YOUNG ? REPLACE_AFTER : 0)
      })
    })
  }

  #look(): void {
    const beats = new Int32Array(this.#beats)
    this.#members.forEach((member, thread) => {
      if (member === null) return
      const beat = Atomics.load(beats, thread)
      member.missed = beat === member.beat ? member.missed + 1 : 0
      member.beat = beat
      if (member.missed === HUNG_AFTER) this.#giveUp(member, thread)
    })
  }

  /** Nobody waits any longer for one that hangs. Should it come round after all, it ends in good order. */
  #giveUp(member: Member, thread: number): void {
    this.#members[thread] = null
    this.#leave(member.worker)
    member.worker.postMessage({ type: 'close' } satisfies ToWorker)
    member.hasEnded = true
    answered(member, new Error(HUNG))
    this.#options.onHung(thread)
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
      if (this.#closing) return
      this.#startOne(thread).then(listening, (error: Error) => {
        if (this.#closing) return
        log(`warning: worker ${thread} cannot be replaced yet: ${error.message}`)
        this.#replace(thread, Math.min(Math.max(after * 2, REPLACE_AFTER), LONGEST_REPLACE_AFTER))
      })
    }, after)
  }
}

/** What `member` was waited for has come, or will not. */
function answered(member: Member, error?: Error): void {
  const { waiting } = member
  member.waiting = null
  if (error === undefined) waiting?.resolve()
  else waiting?.reject(error)
}

/** @throws SnapshotError or Error as `serve` does; then none of `members` keeps anything of `snapshot`. */
async function getReady(members: readonly Member[], snapshot: LoadedSnapshot): Promise<void> {
  // All are waited for, also when one has refused: an answer that came late would be taken for one to the next question.
  const answers = await ask(members, { type: 'prepare', snapshot })
  const refusal = answers.find((answer) => answer.status === 'rejected')
  if (refusal === undefined) return
  for (const { worker } of members) worker.postMessage({ type: 'discard' } satisfies ToWorker)
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
