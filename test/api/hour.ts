/** Quotas are counted by the hour of the clock. */
import { setTimeout as wait } from 'node:timers/promises'

const HOUR_MS = 3_600_000
/** Longer than a test counts for. */
const ROOM_MS = 20_000

/** A count that spans the top of the hour would be two counts. */
export async function awayFromTheHour(): Promise<void> {
  const left = HOUR_MS - (Date.now() % HOUR_MS)
  if (left < ROOM_MS) await wait(left + 500)
}
