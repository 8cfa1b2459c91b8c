/** What a server waits for where a mirror fills its folder. */
import { setTimeout as sleep } from 'node:timers/promises'

/** How long a start and a reload wait for a mirror before they go on with what its folder has. */
const PATIENCE_MS = 10_000

/** Waits for what a mirror does, but not for long: a first copy may take minutes. Never rejects. */
export async function orLate(done: Promise<void> | undefined, stopping?: AbortSignal): Promise<void> {
  if (done === undefined) return
  const waiting = new AbortController()
  const signals = stopping === undefined ? [waiting.signal] : [waiting.signal, stopping]
  const late = sleep(PATIENCE_MS, undefined, { signal: AbortSignal.any(signals) })
  await Promise.race([done, late.catch(() => {})])
  waiting.abort()
}

/** Resolves with `done`, or when `stopping` is aborted. */
export async function orStopped(done: Promise<void>, stopping?: AbortSignal): Promise<void> {
  if (stopping?.aborted === true) return
  const stopped = new Promise<void>((resolve) => {
    stopping?.addEventListener('abort', () => resolve(), { once: true })
  })
  await Promise.race([done, stopped])
}
