/**
 * The thread that makes long answers: it serves nobody, so each piece is made in one go. It holds the
 * snapshots that the serving threads hold.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { type IndexedSnapshot, OpenedViews } from '../dataset/view.ts'
import type { FromLong, LongRequest, ToLong } from '../operation/long-messages.ts'
import type { Changes } from '../snapshot/row-changes.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import { collectSoon, yieldToServing } from '../system/thread.ts'
import { faultText } from '../system/text.ts'
import { finish } from '../system/steps.ts'
import { longAnswer, type LongAnswer } from './long-answer.ts'
import { type Job, LongQueue } from './queue.ts'

export interface LongStart {
  /** One Int32, which counts up while the thread is alive. */
  signs: SharedArrayBuffer
  /** Oldest first. */
  snapshots: readonly IndexedSnapshot[]
  /** Between any two snapshots, in one direction. */
  changes: readonly Changes[]
}

export type ToLongThread =
  /** Holds one more snapshot, before any serving thread answers from it. */
  | { type: 'open'; snapshot: IndexedSnapshot; changes: readonly Changes[] }
  /** Releases all others: no serving thread answers from them any more. */
  | { type: 'hold'; ids: readonly string[] }
  /** The end of a channel to a serving thread. */
  | { type: 'connect'; port: MessagePort }
  | { type: 'collect' }

export type FromLongThread = { type: 'opened' } | { type: 'refused'; message: string }

/** Time between two signs of life. */
const ALIVE_MS = 250

const { signs, snapshots, changes } = workerData as LongStart
const main = parentPort!
const alive = new Int32Array(signs)
const views = new OpenedViews(changes)
/** Each takes the messages that have come on a port. */
const drains = new Set<() => void>()

yieldToServing()
for (const snapshot of snapshots) views.add(finish(views.open(snapshot)))

const queue = new LongQueue({ faultText, isHeld: (snapshot) => views.get(snapshot) !== undefined })

function open({ snapshot, changes: more }: Extract<ToLongThread, { type: 'open' }>): FromLongThread {
  try {
    views.changes = [...more, ...views.changes]
    views.add(finish(views.open(snapshot)))
    return { type: 'opened' }
  } catch (error) {
    // A fault of the program ends this thread.
    if (!(error instanceof SnapshotError)) throw error
    return { type: 'refused', message: error.message }
  }
}

/** Takes the view now: an answer that waits is made from it, also when others have released it. */
function makeOf(request: LongRequest): () => LongAnswer {
  const view = views.get(request.snapshot)
  return () => {
    if (view === undefined) throw new Error('a snapshot that is not held was asked for')
    return longAnswer(view, request)
  }
}

function connect(port: MessagePort): void {
  const jobs = new Map<number, Job>()
  const post = (message: FromLong, transferred: ArrayBuffer[] = []): void =>
    port.postMessage(message, transferred)
  const take = (message: ToLong): void => {
    const { number } = message
    const job = jobs.get(number)
    if (message.type === 'make') {
      const { request } = message
      const added = queue.add({ number, request, make: makeOf(request), post })
      if (added !== null) jobs.set(number, added)
    } else if (job === undefined) return
    else if (message.type === 'taken') queue.taken(job, message.bytes)
    else {
      jobs.delete(number)
      queue.leave(job)
    }
  }
  const drain = (): void => {
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      take(next.message as ToLong)
    }
  }
  drains.add(drain)
  port.on('message', take)
  port.on('close', () => {
    drains.delete(drain)
    for (const job of jobs.values()) queue.leave(job)
  })
}

main.on('message', (message: ToLongThread) => {
  switch (message.type) {
    case 'open':
      main.postMessage(open(message))
      break
    case 'hold':
      // Requests from before the serving threads released it are still answered.
      for (const drain of drains) drain()
      views.hold(message.ids)
      break
    case 'connect':
      connect(message.port)
      break
    case 'collect':
      collectSoon()
      break
  }
})

setInterval(() => Atomics.add(alive, 0, 1), ALIVE_MS)
