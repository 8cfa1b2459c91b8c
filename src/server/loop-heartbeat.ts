/**
 * Signs of life of one worker, in memory that the main thread reads: its progress, its engine's state, and on
 * Linux its processor time. A timer is not enough: a loop with enough ready sockets runs no timers.
 */
import { readFileSync, readlinkSync } from 'node:fs'

const PROGRESS = 0
const ENGINE = 1
const TASK = 2
const CELLS = 3

/** States of the engine. A thread with an open engine cannot be terminated: the process would abort. */
const NOT_OPEN = 0
const OPEN = 1
const NEVER = 2

/** The kernel counts processor time in hundredths of a second (`USER_HZ`, proc(5)). */
const TICKS_PER_SECOND = 100

/** Global symbol of a worker's function: from a thread id to what that thread did last, as JSON. */
export const LAST_ACT = 'groundswell.lastAct'

export class Heartbeat {
  readonly #cells: Int32Array

  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)
  }

  constructor(buffer: SharedArrayBuffer) {
    this.#cells = new Int32Array(buffer)
  }

  /** For the worker, the only writer: so the step is not atomic. */
  advance(): void {
    this.#cells[PROGRESS]++
  }

  get progress(): number {
    return Atomics.load(this.#cells, PROGRESS)
  }

  /** For the worker, before it opens its engine: when false, it is being ended and must not open it. */
  mayOpen(): boolean {
    return Atomics.compareExchange(this.#cells, ENGINE, NOT_OPEN, OPEN) === NOT_OPEN
  }

  closed(): void {
    Atomics.store(this.#cells, ENGINE, NEVER)
  }

  /** For the main thread: whether the worker may be terminated. From then on it cannot open its engine. */
  mayTerminate(): boolean {
    return Atomics.compareExchange(this.#cells, ENGINE, NOT_OPEN, NEVER) !== OPEN
  }

  /** For the worker: notes the kernel's number of its thread. */
  identify(): void {
    try {
      Atomics.store(this.#cells, TASK, Number(readlinkSync('/proc/thread-self').split('/').at(-1)))
    } catch {
      // Only Linux has this link.
    }
  }

  /** Processor seconds so far, and whether the thread waits for a processor or a disk; null if unknown. */
  processor(): { seconds: number; waits: boolean } | null {
    const task = Atomics.load(this.#cells, TASK)
    if (task === 0) return null
    try {
      const stat = readFileSync(`/proc/self/task/${task}/stat`, 'latin1')
      // The name is in brackets and may hold blanks. The fields behind it begin with number 3, the state.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const ticks = Number(fields[11]) + Number(fields[12])
      return { seconds: ticks / TICKS_PER_SECOND, waits: fields[0] === 'R' || fields[0] === 'D' }
    } catch {
      return null
    }
  }
}
