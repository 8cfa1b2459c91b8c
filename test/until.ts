/** Waiting for a condition. */
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'

/** A look may cost a request, so what takes long is looked at less often: never late by more than a tenth. */
const LEAST_MS = 5
const MOST_MS = 50
/** Longer than anything takes on a busy machine. */
const PATIENCE_MS = 60_000

/** @throws AssertionError with `what` when it never holds */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string | (() => string) = 'what is waited for never comes',
): Promise<void> {
  const began = performance.now()
  while (!(await holds())) {
    const waited = performance.now() - began
    assert.ok(waited < PATIENCE_MS, typeof what === 'string' ? what : what())
    await wait(Math.min(MOST_MS, Math.max(LEAST_MS, waited / 10)))
  }
}
