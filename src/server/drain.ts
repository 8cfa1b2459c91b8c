/** The last seconds of a server: until its balancer and its clients have left. */
import { setTimeout } from 'node:timers/promises'

/** At most a quarter of the drain time: balancers first need two intervals of their checks. */
const LAST_ANSWERS_MS = 500

const LOOK_INTERVAL_MS = 20
/** Looks in a row that find no connection: clients that still ask open the next one sooner. */
const EMPTY_LOOKS = 5

export interface Draining {
  drainMs: number
  /** Whether a balancer asks for readiness, and so needs the time to see that there is none. */
  isWatched: boolean
  open: () => number
  stopListening: () => void
}

/**
 * Resolves when no connection is left, at the latest after the drain time. Only where nobody watches does the
 * port close early: a balancer that has not asked yet would find it closed.
 */
export async function drain({ drainMs, isWatched, open, stopListening }: Draining): Promise<void> {
  const lastAnswersMs = Math.min(LAST_ANSWERS_MS, drainMs / 4)
  let empty = 0
  const isEmpty = (): boolean => {
    empty = open() === 0 ? empty + 1 : 0
    return empty >= EMPTY_LOOKS
  }
  await until(() => isEmpty() && !isWatched, drainMs - lastAnswersMs)
  stopListening()
  await until(isEmpty, lastAnswersMs)
}

async function until(holds: () => boolean, ms: number): Promise<void> {
  const end = performance.now() + ms
  while (performance.now() < end && !holds()) {
    await setTimeout(Math.min(LOOK_INTERVAL_MS, Math.max(0, end - performance.now())))
  }
}
