/**
 * Distinguishes a stalled thread from one that is busy, and from one that waits for a processor on a busy
 * machine. Progress of any kind counts: requests, bytes, turns of the event loop, steps of a snapshot.
 */

/** Time between two looks. */
export const LOOK_INTERVAL_MS = 1000
/**
 * Looks in a row without progress after which a thread counts as stalled: nothing it does takes longer than
 * some 0.1 s. Looks are counted and not seconds, because nobody looks while the machine sleeps or the
 * process is stopped.
 */
const STALLED_LOOKS = 5
/** The same before the first progress: the thread loads the program. */
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
