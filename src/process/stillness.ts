/**
 * Tells a thread that stands still from one that is busy, and from one that waits for its turn on a machine that is. Progress of any
 * kind is a sign of life: requests, bytes, turns of the loop, steps of a snapshot.
 */

/** Milliseconds between two looks. */
export const LOOK_INTERVAL_MS = 1000
/**
 * Looks in a row without a sign of life after which a thread stands still: nothing it does takes it longer than some 0.1 s at a time.
 * Looks are counted and not seconds, because a machine that was asleep or a process that was stopped has had no looks either.
 */
const STILL_AFTER = 5
/** The same before a thread has done anything at all: it loads the program. */
const STILL_AT_START = 60
/** Processor seconds without a sign of life before a thread is to blame that waits for its turn: on a busy machine it may wait for long. */
const STILL_AFTER_SECONDS = 2.5

export interface Look {
  /** Counts up with whatever the thread does. */
  done: number
  /** Processor seconds of the thread so far, and whether it waits for a processor or a disk; null where nobody tells. */
  processor: { seconds: number; waits: boolean } | null
  /** Milliseconds, of a clock that is never set. */
  now: number
}

export class Stillness {
  /** As it was when the thread was seen to have done something. */
  #last: Look
  #missed = 0

  constructor(now: number) {
    this.#last = { done: 0, processor: null, now }
  }

  /** Whether the thread is found to stand still. */
  look(look: Look): boolean {
    const { done, processor } = look
    if (done !== this.#last.done) {
      this.#last = look
      this.#missed = 0
      return false
    }
    this.#missed++
    if (this.#missed < (done === 0 ? STILL_AT_START : STILL_AFTER)) return false
    if (processor === null || !processor.waits) return true
    return processor.seconds - (this.#last.processor?.seconds ?? 0) >= STILL_AFTER_SECONDS
  }

  /** Whole seconds since the thread was seen to have done something. */
  seconds(now: number): number {
    return Math.round((now - this.#last.now) / 1000)
  }
}
