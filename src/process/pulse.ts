/**
 * Signs of life of one serving thread, in memory that the main thread reads: what it has done, whether its engine may be open, and,
 * where the kernel tells (Linux), how much of a processor it has had. A timer's beat alone says nothing about a busy thread: an event
 * loop with enough ready sockets runs no timers.
 */
import { readFileSync, readlinkSync } from 'node:fs'

/** Places in the shared memory. */
const BEATS = 0
const ENGINE = 1
const TASK = 2
const CELLS = 3

/** States of the engine. A thread with an open one cannot be terminated: the process would abort. */
const NOT_OPEN = 0
const OPEN = 1
const NEVER = 2

/** The kernel counts processor time in hundredths of a second, whatever its own clock is (`USER_HZ`, proc(5)). */
const TICKS_PER_SECOND = 100

export class Pulse {
  readonly #cells: Int32Array

  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)
  }

  constructor(buffer: SharedArrayBuffer) {
    this.#cells = new Int32Array(buffer)
  }

  /** Of the thread: it has done something. Nobody else writes here, so this needs no atomic step. */
  beat(): void {
    this.#cells[BEATS]++
  }

  get beats(): number {
    return Atomics.load(this.#cells, BEATS)
  }

  /** Of the thread, before it opens its engine; when this is false it must not: it is being ended. */
  mayOpen(): boolean {
    return Atomics.compareExchange(this.#cells, ENGINE, NOT_OPEN, OPEN) === NOT_OPEN
  }

  /** Of the thread: its engine is closed, and will not be opened again. */
  closed(): void {
    Atomics.store(this.#cells, ENGINE, NEVER)
  }

  /** Of the main thread: whether the thread may be terminated. From then on it opens no engine. */
  mayTerminate(): boolean {
    return Atomics.compareExchange(this.#cells, ENGINE, NOT_OPEN, NEVER) !== OPEN
  }

  /** Of the thread: leaves the number that the kernel knows it by. */
  identify(): void {
    try {
      Atomics.store(this.#cells, TASK, Number(readlinkSync('/proc/thread-self').split('/').at(-1)))
    } catch {
      // Elsewhere than on Linux nobody tells.
    }
  }

  /** Processor seconds of the thread so far, and whether it waits for a processor or a disk; null where the kernel does not tell. */
  processor(): { seconds: number; waits: boolean } | null {
    const task = Atomics.load(this.#cells, TASK)
    if (task === 0) return null
    try {
      const stat = readFileSync(`/proc/self/task/${task}/stat`, 'latin1')
      // The fields after the name, which stands in brackets and may hold blanks, begin with the state, number 3.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const ticks = Number(fields[11]) + Number(fields[12])
      return { seconds: ticks / TICKS_PER_SECOND, waits: fields[0] === 'R' || fields[0] === 'D' }
    } catch {
      return null
    }
  }
}
