/**
 * Finds stalled threads. Progress of any kind counts, so a busy thread is not stalled. Looks and not seconds
 * count, because nobody looks while the machine sleeps or the process is stopped.
 */
export const LOOK_INTERVAL_MS = 1000
/** Looks in a row without progress; nothing takes longer than some 0.1 s. */
const STALLED_LOOKS = 15
/** More looks before the first progress: the thread loads the program. */
const STALLED_LOOKS_AT_START = 60

export class StallDetector {
  #done = 0
  #missed = 0

  /** `done` counts up with whatever the thread does. @returns whether the thread is stalled */
  look(done: number): boolean {
    this.#missed = done === this.#done ? this.#missed + 1 : 0
    this.#done = done
    return this.#missed >= (done === 0 ? STALLED_LOOKS_AT_START : STALLED_LOOKS)
  }

  /** Seconds without progress. */
  get seconds(): number {
    return (this.#missed * LOOK_INTERVAL_MS) / 1000
  }
}

export async function within(ms: number, event: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)))
  const inTime = await Promise.race([event.then(() => true), late])
  clearTimeout(timer)
  return inTime
}
