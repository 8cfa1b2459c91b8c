/** Signs of life of a worker: progress of any kind counts, so a busy one is not stalled. */
import { NO_ROUTE } from '../http/exchange.ts'

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
