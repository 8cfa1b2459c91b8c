/**
 * Finds stalled threads and ends them. Progress of any kind counts, so a busy thread and one that waits for a
 * processor are not stalled.
 * Before it is ended, a thread is made to call one last function: a thread that is terminated runs none of
 * its own code, and its open engine makes libuv abort the process (`uv_loop_close() while having open
 * handles`). A debugger's question is answered even in an endless loop, a regular expression or a wait,
 * without a port.
 */
import type { Worker } from 'node:worker_threads'
import { LAST_ACT } from './loop-heartbeat.ts'

export const LOOK_INTERVAL_MS = 1000
/**
 * Looks in a row without progress; nothing takes longer than some 0.1 s. Looks and not seconds count, because
 * nobody looks while the machine sleeps or the process is stopped.
 */
const STALLED_LOOKS = 5
/** More looks before the first progress: the thread loads the program. */
const STALLED_LOOKS_AT_START = 60
/** Processor seconds without progress, for a thread that may wait long for a busy processor. */
const STALLED_PROCESSOR_S = 2.5

export interface Look {
  /** Counts up with whatever the thread does. */
  done: number
  /** Processor seconds so far, and whether the thread waits for a processor or a disk; null if unknown. */
  processor: { seconds: number; waits: boolean } | null
  /** Milliseconds of a clock that is never set. */
  now: number
}

export class StallDetector {
  #last: Look
  #missed = 0

  constructor(now: number) {
    this.#last = { done: 0, processor: null, now }
  }

  look(look: Look): boolean {
    const { done, processor } = look
    if (done !== this.#last.done) {
      this.#last = look
      this.#missed = 0
      return false
    }
    this.#missed++
    if (this.#missed < (done === 0 ? STALLED_LOOKS_AT_START : STALLED_LOOKS)) return false
    if (processor === null || !processor.waits) return true
    return processor.seconds - (this.#last.processor?.seconds ?? 0) >= STALLED_PROCESSOR_S
  }

  seconds(now: number): number {
    return Math.round((now - this.#last.now) / 1000)
  }
}

/** A stalled thread has to answer the debugger in this time; one in native code cannot. */
const ANSWER_PATIENCE_MS = 5000
export const TERMINATE_PATIENCE_MS = 2000

/** Resolves when no thread is being interrupted. */
let turn: Promise<unknown> = Promise.resolve()

export interface Doomed {
  worker: Pick<Worker, 'threadId' | 'terminate'>
  exit: Promise<void>
  /** A thread without an open engine may be terminated without its last act. */
  mayTerminate: boolean
}

/**
 * Makes a thread call `LAST_ACT`, and terminates it. Resolves to the result, or to null when it did not
 * answer; then it goes on, unless it may be terminated all the same.
 * One thread at a time, since a question goes to all: a thread terminated while it answers about another goes
 * on, and one in `Atomics.wait` takes the whole process with it (Node 20.20).
 */
export function endInterrupted(doomed: Doomed): Promise<unknown> {
  const done = turn.then(async () => {
    const { worker, exit, mayTerminate } = doomed
    const lastAct = await callLastAct(worker.threadId)
    if (lastAct === null && !mayTerminate) return null
    void worker.terminate()
    await within(TERMINATE_PATIENCE_MS, exit)
    return lastAct
  })
  turn = done.catch(() => {})
  return done
}

export async function within(ms: number, event: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)))
  const inTime = await Promise.race([event.then(() => true), late])
  clearTimeout(timer)
  return inTime
}

interface Answer {
  id?: number
  result?: { result?: { value?: unknown } }
}

/** Null when the thread did not answer `LAST_ACT` in time or when this Node has no debugger. */
async function callLastAct(threadId: number): Promise<unknown> {
  const inspector = await import('node:inspector').catch(() => null)
  if (inspector === null) return null
  const session = new inspector.Session()
  let giveUp: NodeJS.Timeout | undefined
  try {
    session.connect()
    return await new Promise((resolve) => {
      giveUp = setTimeout(() => resolve(null), ANSWER_PATIENCE_MS)
      // All threads are asked: releases of Node differ in how a session names its thread.
      const expression = `globalThis[Symbol.for(${JSON.stringify(LAST_ACT)})]?.(${threadId}) ?? null`
      const message = JSON.stringify({
        id: 1,
        method: 'Runtime.evaluate',
        params: { expression, returnByValue: true },
      })
      session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
        session.post('NodeWorker.sendMessageToWorker', { sessionId, message })
      })
      session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
        const value = (JSON.parse(params.message) as Answer).result?.result?.value ?? null
        if (value !== null) resolve(value)
      })
      session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
    })
  } catch {
    return null
  } finally {
    clearTimeout(giveUp)
    session.disconnect()
  }
}
