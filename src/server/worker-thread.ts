/**
 * A worker as the main thread sees it: how it starts, its messages, and how it is asked to serve a snapshot.
 */
import { setFlagsFromString } from 'node:v8'
import type { MessagePort, Worker } from 'node:worker_threads'
import type { IndexedSnapshot } from '../dataset/view.ts'
import type { AccessLogged } from '../http/access-log.ts'
import type { AnonymousAccess } from '../http/admission.ts'
import type { SharedSite } from '../http/static-site.ts'
import type { Changes } from '../snapshot/row-changes.ts'
import type { Format } from '../system/log.ts'
import { startThread } from '../system/thread.ts'
import type { ServeConfig } from './serve-settings.ts'
import { Heartbeat } from './watchdog.ts'

/** Old heap of a thread before its first full collection; with less, each swap brings a collection. */
const INITIAL_OLD_SPACE_MIB = 64
/** New heap of a worker, three parts of 4 MB. The default takes 16 MB more; less makes requests slower. */
const YOUNG_SPACE_MIB = 12

export const ENDED = 'a worker ended while it was getting the snapshot ready'

export interface WorkerStart {
  /** Number of the worker, from 0. */
  thread: number
  config: ServeConfig
  anonymousAccess: AnonymousAccess
  /** Connections at a time, and streams of events, of all workers; and shared memory of their counts. */
  maxConnections: number
  connections: SharedArrayBuffer
  maxListeners: number
  /** Seconds between two scheduled builds; 0 where none are scheduled. */
  refreshEvery: number
  settingsTag: string
  /** Counts of calls of each key. */
  quota: SharedArrayBuffer
  addresses: SharedArrayBuffer
  counters: SharedArrayBuffer
  /** Counts of requests, and what workers report of themselves. */
  requests: SharedArrayBuffer
  workerFigures: SharedArrayBuffer
  keys: SharedArrayBuffer
  heartbeat: SharedArrayBuffer
  site: SharedSite
  /** Which requests the access log shows, and how; null for none. */
  accessLog: { logged: AccessLogged; format: Format } | null
  /** One Float64: seconds by which its clock is ahead of the machine's. */
  clockShift: SharedArrayBuffer
  /** The port can be reached from this machine alone. */
  isLoopback: boolean
  /** Oldest first; the last is served. */
  snapshots: readonly IndexedSnapshot[]
  /** Between any two snapshots, in one direction. */
  changes: readonly Changes[]
}

/** A snapshot is taken over in two steps, so that all threads switch together or none does. */
export type ToWorker =
  | { type: 'listen'; port: number }
  | { type: 'prepare'; snapshot: IndexedSnapshot }
  /** Serves the last of these snapshots, and holds the others: ids, oldest first. */
  | { type: 'switch'; held: readonly string[]; changes: readonly Changes[] }
  | { type: 'discard' }
  /** The end of a channel to the thread that makes long answers, or to that of tools. */
  | { type: 'long' | 'tools'; port: MessagePort }
  | { type: 'collect' }
  | { type: 'keys'; keys: SharedArrayBuffer }
  | { type: 'site'; site: SharedSite }
  /** Snapshots up to the newest that is known, oldest first: those after the served one are still to come. */
  | { type: 'known'; ids: readonly string[] }
  | { type: 'drain' }
  | { type: 'stop-listening' }
  | { type: 'close' }
  | { type: 'written'; bytes: number }

export type FromWorker =
  | { type: 'ready' }
  | { type: 'listening' }
  | { type: 'not-listening'; message: string }
  | { type: 'prepared' }
  | { type: 'refused'; message: string }
  | { type: 'switched' }
  | { type: 'fault'; message: string }
  | { type: 'warning'; message: string }
  /** There is a message for the thread of tools. */
  | { type: 'tools' }
  | { type: 'lines'; lines: Uint8Array }

/** The main thread asks a worker one thing at a time. */
export interface WorkerThread {
  /** Number of the worker, from 0. */
  thread: number
  worker: Worker
  heartbeat: Heartbeat
  /** Oldest first; the worker serves the last. */
  held: readonly IndexedSnapshot[]
  preparing: IndexedSnapshot | null
  /** The one answer that the main thread waits for. */
  waiting: { resolve: () => void; reject: (error: Error) => void } | null
  /** The worker has exited. */
  hasEnded: boolean
  /** Milliseconds of `performance.now`. */
  since: number
  stallDetector: StallDetector
  /** It may listen: a thread with an open engine cannot be terminated, the process would abort. */
  isOpen: boolean
  exit: Promise<void>
}

export function startWorker(start: Omit<WorkerStart, 'heartbeat'>): WorkerThread {
  const heartbeat = Heartbeat.allocate()
  // A flag of the process, which only later threads read.
  setFlagsFromString(`--initial-old-space-size=${INITIAL_OLD_SPACE_MIB}`)
  const workerData: WorkerStart = { ...start, heartbeat }
  const worker = startThread(new URL('./worker', import.meta.url), workerData, {
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_SPACE_MIB },
  })
  return {
    thread: start.thread,
    worker,
    heartbeat: new Heartbeat(heartbeat),
    held: start.snapshots,
    preparing: null,
    waiting: null,
    hasEnded: false,
    since: Infinity,
    stallDetector: new StallDetector(),
    isOpen: false,
    exit: new Promise((resolve) => worker.once('exit', () => resolve())),
  }
}

/** Ends the wait for an answer that has come, or will not. */
export function answered(member: WorkerThread, error?: Error): void {
  const { waiting } = member
  member.waiting = null
  if (error === undefined) waiting?.resolve()
  else waiting?.reject(error)
}

/** @throws SnapshotError or Error as `serve` does; then none of `all` keeps anything of `snapshot`. */
export async function getReady(
  members: readonly WorkerThread[],
  snapshot: IndexedSnapshot,
  all: readonly WorkerThread[],
): Promise<void> {
  for (const member of members) member.preparing = snapshot
  // Waits for all, also after a refusal: a late answer would count as one to the next question.
  const answers = await ask(members, { type: 'prepare', snapshot })
  for (const member of members) member.preparing = null
  const refusal = answers.find((answer) => answer.status === 'rejected')
  if (refusal === undefined) return
  for (const { worker } of all) worker.postMessage({ type: 'discard' } satisfies ToWorker)
  throw refusal.reason
}

/** Each member serves the last of `held` that it has. One that dies gets a successor with what is held. */
export async function makeSwitch(
  members: readonly WorkerThread[],
  held: readonly IndexedSnapshot[],
  changes: readonly Changes[],
  prepared: IndexedSnapshot | null = null,
): Promise<void> {
  await Promise.all(
    members.map((member) => {
      member.held = held.filter((one) => one === prepared || member.held.includes(one))
      return ask([member], { type: 'switch', held: member.held.map(({ id }) => id), changes })
    }),
  )
}

/** Resolves when each of `members` has answered or died. */
export function ask(
  members: readonly WorkerThread[],
  message: ToWorker,
): Promise<PromiseSettledResult<void>[]> {
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

export const CHECK_INTERVAL_MS = 1000
/** Checks in a row without progress; nothing takes longer than some 0.1 s. */
const STALLED_CHECKS = 15
/** More checks before the first progress: the thread loads the program. */
const STALLED_CHECKS_AT_START = 60

/**
 * Finds stalled threads. Checks and not seconds count, because nobody checks while the machine sleeps or the
 * process is stopped.
 */
export class StallDetector {
  readonly #checks: number
  #done = 0
  #missed = 0

  constructor(checks = STALLED_CHECKS) {
    this.#checks = checks
  }

  /** `done` counts up with whatever the thread does. @returns whether the thread is stalled */
  isStalled(done: number): boolean {
    this.#missed = done === this.#done ? this.#missed + 1 : 0
    this.#done = done
    return this.#missed >= (done === 0 ? STALLED_CHECKS_AT_START : this.#checks)
  }

  /** Seconds without progress. */
  get seconds(): number {
    return (this.#missed * CHECK_INTERVAL_MS) / 1000
  }
}

export async function within(ms: number, event: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)))
  const inTime = await Promise.race([event.then(() => true), late])
  clearTimeout(timer)
  return inTime
}
