/**
 * A worker as the main thread sees it: how its thread starts, and how it is asked to serve a snapshot. When
 * it starts, and what happens when it dies or stalls, `workers.ts` decides.
 */
import { setFlagsFromString } from 'node:v8'
import type { Worker } from 'node:worker_threads'
import type { ReadySnapshot } from '../dataset/derived.ts'
import type { Changes } from '../snapshot/row-changes.ts'
import { startThread } from '../system/thread.ts'
import { Heartbeat } from './loop-heartbeat.ts'
import { StallDetector } from './watchdog.ts'
import type { ToWorker, WorkerStart } from './worker-messages.ts'

/**
 * Old heap of a thread before its first full collection; 20 MiB are in use. Without this setting each swap
 * brings a collection of 6 ms; with it one comes every four swaps or so.
 */
const INITIAL_OLD_SPACE_MIB = 64
/**
 * New heap of a worker, three parts of 4 MB. Opening a snapshot makes it grow, by default to three of 16 MB,
 * and a worker then takes some 16 MB more. Smaller parts make requests slower.
 */
const YOUNG_SPACE_MIB = 12

/** Why a worker that has died, or was given up, does not answer. */
export const ENDED = 'a worker ended while it was getting the snapshot ready'

/** A worker, ready or not yet. The main thread asks it one thing at a time. */
export interface WorkerThread {
  /** Number of the worker, from 0. */
  thread: number
  worker: Worker
  heartbeat: Heartbeat
  /** The snapshots that it holds, oldest first; it serves the last. */
  held: readonly ReadySnapshot[]
  /** The snapshot that the worker gets ready while it serves another. */
  preparing: ReadySnapshot | null
  /** The answer that the main thread waits for, at most one at a time. */
  waiting: { resolve: () => void; reject: (error: Error) => void } | null
  /** Whether it will not answer any more: it has died, or it is stalled. */
  hasEnded: boolean
  /** When it became ready, in milliseconds of `performance.now`. */
  since: number
  stalls: StallDetector
  /** Requests that earlier workers with its number had served. */
  requestsBefore: number
  /** Whether it is stalled in native code, so that it can be neither interrupted nor ended. */
  isStuck: boolean
  /** Resolves when the thread has ended. */
  exit: Promise<void>
}

/** Starts a thread. `requestsBefore`: requests that earlier workers with its number have served. */
export function startWorker(start: Omit<WorkerStart, 'heartbeat'>, requestsBefore: number): WorkerThread {
  const heartbeat = Heartbeat.allocate()
  // A flag of the process, but only what starts after it reads it.
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
    stalls: new StallDetector(performance.now()),
    requestsBefore,
    isStuck: false,
    exit: new Promise((resolve) => worker.once('exit', () => resolve())),
  }
}

/** Ends the wait for `member`: its answer has come, or will not. */
export function answered(member: WorkerThread, error?: Error): void {
  const { waiting } = member
  member.waiting = null
  if (error === undefined) waiting?.resolve()
  else waiting?.reject(error)
}

/** @throws SnapshotError or Error as `serve` does; then none of `all` keeps anything of `snapshot`. */
export async function getReady(
  members: readonly WorkerThread[],
  snapshot: ReadySnapshot,
  all: readonly WorkerThread[],
): Promise<void> {
  for (const member of members) member.preparing = snapshot
  // All are waited for, also when one has refused: a late answer would count as one to the next question.
  const answers = await ask(members, { type: 'prepare', snapshot })
  for (const member of members) member.preparing = null
  const refusal = answers.find((answer) => answer.status === 'rejected')
  if (refusal === undefined) return
  for (const { worker } of all) worker.postMessage({ type: 'discard' } satisfies ToWorker)
  throw refusal.reason
}

/**
 * Makes each serve the last of `held` that it has; `prepared` is what it has got ready. A worker that dies
 * meanwhile is replaced by one that begins with what is held.
 */
export async function makeSwitch(
  members: readonly WorkerThread[],
  held: readonly ReadySnapshot[],
  changes: readonly Changes[],
  prepared: ReadySnapshot | null = null,
): Promise<void> {
  await Promise.all(
    members.map((member) => {
      member.held = held.filter((one) => one === prepared || member.held.includes(one))
      return ask([member], { type: 'switch', held: member.held.map(({ id }) => id), changes })
    }),
  )
}

/** Sends `members` a message, and waits until each has done it, has said that it cannot, or has died. */
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
