/**
 * Finds stalled threads and ends them.
 *
 * A stalled thread is told apart from one that is busy, and from one that waits for a processor on a busy
 * machine. Progress of any kind counts: requests, bytes, turns of the event loop, steps of a snapshot.
 *
 * Before it is ended it is made to call one last function. A thread of Node can be terminated from outside, but then
 * none of its own code runs again, and the engine that it leaves open makes libuv abort the whole process
 * (`uv_loop_close() while having open handles`). A debugger's question, though, is answered in the middle of
 * an endless loop, a regular expression or a wait. It needs no port.
 */
import type { Worker } from 'node:worker_threads'
import { LAST_ACT } from './loop-heartbeat.ts'

export const LOOK_INTERVAL_MS = 1000
/**
 * Looks in a row without progress after which a thread counts as stalled: nothing it does takes longer than
 * some 0.1 s. Looks are counted and not seconds, because nobody looks while the machine sleeps or the
 * process is stopped.
 */
const STALLED_LOOKS = 5
/** Looks without progress before the first progress: the thread loads the program. */
const STALLED_LOOKS_AT_START = 60
/**
 * Processor seconds without progress after which a thread that waits for a processor counts as stalled. On a
 * busy machine it may wait for long.
 */
const STALLED_PROCESSOR_S = 2.5

export interface Look {
  /** Counts up with whatever the thread does. */
  done: number
  /**
   * Processor seconds of the thread so far, and whether it waits for a processor or a disk; null where
   * unknown.
   */
  processor: { seconds: number; waits: boolean } | null
  /** Milliseconds of a clock that is never set. */
  now: number
}

export class StallDetector {
  /** The look that found progress last. */
  #last: Look
  #missed = 0

  constructor(now: number) {
    this.#last = { done: 0, processor: null, now }
  }

  /** Whether the thread is stalled. */
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

  /** Whole seconds since the last progress. */
  seconds(now: number): number {
    return Math.round((now - this.#last.now) / 1000)
  }
}

/** Time in which a stalled thread has to answer the debugger. A thread in native code cannot. */
const ANSWER_PATIENCE_MS = 5000
/** Time in which a terminated thread is gone. */
export const TERMINATE_PATIENCE_MS = 2000

/** Resolves when no thread is being interrupted. */
let turn: Promise<unknown> = Promise.resolve()

/** A thread that is to be ended, whatever it does. */
export interface Doomed {
  worker: Pick<Worker, 'threadId' | 'terminate'>
  /** Resolves when the thread has ended. */
  exit: Promise<void>
  /** Whether it has no open engine, so that it may be terminated without its last act. */
  mayTerminate: boolean
}

/**
 * Makes a thread call `LAST_ACT`, and terminates it. Resolves to the result, or to null when it did not
 * answer; then it goes on, unless it may be terminated all the same.
 *
 * One thread at a time, for every question goes to all threads: a thread that is terminated while it answers
 * a question about another loses the termination and goes on, and one in `Atomics.wait` takes the whole
 * process with it (a failed check of V8; Node 20.20).
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

/** Whether `event` comes within `ms`. */
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

/**
 * Calls `LAST_ACT` of the thread `threadId`, whatever it does at the moment. Resolves to the result, or to
 * null when the thread did not answer in time or when this Node has no debugger.
 */
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
