/**
 * Finds stalled threads. Progress of any kind counts, so a busy thread is not stalled. Checks and not seconds
 * count, because nobody checks while the machine sleeps or the process is stopped.
 */
import { NO_ROUTE } from '../http/exchange.ts'

export const CHECK_INTERVAL_MS = 1000
/** Checks in a row without progress; nothing takes longer than some 0.1 s. */
const STALLED_CHECKS = 15
/** More checks before the first progress: the thread loads the program. */
const STALLED_CHECKS_AT_START = 60

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

const PROGRESS = 0
const SERVING = 1
const CELLS = 2

/**
 * Signs of life of one worker, in memory that the main thread reads. A timer is not enough: a loop with
 * enough ready sockets runs no timers.
 */
export class Heartbeat {
  readonly #cells: Int32Array
  /** One cell: the route of the request that is being answered; negative between requests. */
  readonly serving: Int32Array

  static allocate(): SharedArrayBuffer {
    const buffer = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)
    // A worker that was asked nothing yet answers no route.
    new Int32Array(buffer)[SERVING] = NO_ROUTE
    return buffer
  }

  constructor(buffer: SharedArrayBuffer) {
    this.#cells = new Int32Array(buffer)
    this.serving = this.#cells.subarray(SERVING)
  }

  /** For the worker, the only writer: so the step is not atomic. */
  advance(): void {
    this.#cells[PROGRESS]++
  }

  get progress(): number {
    return Atomics.load(this.#cells, PROGRESS)
  }
}
