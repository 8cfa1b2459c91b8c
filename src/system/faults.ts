/** Faults of the program: where they happened, and who owns those that a library throws out of turn. */
import { AsyncLocalStorage } from 'node:async_hooks'

const MOST_FRAMES = 6

/** What may be said of a fault: where it happened. Its message may quote a request. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return 'something that is not an Error was thrown'
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '))
  return [error.name, ...frames.slice(0, MOST_FRAMES)].join('\n')
}

const owners = new AsyncLocalStorage<(fault: unknown) => void>()

/** Fails `work` with what it throws out of turn. @param work gets a signal, aborted when it has ended */
export async function owningStrayFaults<T>(work: (ended: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController()
  try {
    return await new Promise<T>((resolve, reject) => {
      owners.run(reject, () => void work(ending.signal).then(resolve, reject))
    })
  } finally {
    ending.abort()
  }
}

/** Faults of `work`, which is the process's own, fail nobody else's work. */
export function disownStrayFaults(work: () => void): void {
  owners.exit(work)
}

/** For `uncaughtException`: whether work has failed with the fault. */
export function hasOwner(fault: unknown): boolean {
  const fail = owners.getStore()
  fail?.(fault)
  return fail !== undefined
}
