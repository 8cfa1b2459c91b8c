/** When an engine that stops has answered whatever had reached it. */

import { setTimeout } from 'node:timers/promises'

const LOOK_INTERVAL_MS = 10
/** Looks in a row that see nothing new: what a client sends upon connecting has come by then. */
const QUIET_LOOKS = 5

/**
 * Resolves when the port was closed, `arrived` has not changed and `unanswered` was 0 for 50 ms, at the
 * latest after `withinMs`.
 */
export async function untilQuiet(
  isListening: () => boolean,
  arrived: () => number,
  unanswered: () => number,
  withinMs: number,
): Promise<void> {
  let before = arrived()
  let quiet = 0
  // Each look comes after a turn of the loop, which reads what has come to its sockets.
  for (let waited = 0; waited < withinMs && quiet < QUIET_LOOKS; waited += LOOK_INTERVAL_MS) {
    await setTimeout(LOOK_INTERVAL_MS)
    const now = arrived()
    quiet = !isListening() && now === before && unanswered() === 0 ? quiet + 1 : 0
    before = now
  }
}
