/** Waiting for a condition. */
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'

const EVERY_MS = 5
/** Longer than anything takes on a busy machine. */
const PATIENCE_MS = 60_000

/** @throws AssertionError with `what` when it never holds */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string | (() => string) = 'what is waited for never comes',
): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !(await holds()); await wait(EVERY_MS)) {
    assert.ok(performance.now() < end, typeof what === 'string' ? what : what())
  }
}
