/** Faults that a library throws in an event or an unawaited promise fail the work, not the process. */
import { AsyncLocalStorage } from 'node:async_hooks'

const owners = new AsyncLocalStorage<(fault: unknown) => void>()

/** Fails `work` with its errors out of turn. @param work gets a signal, aborted when it has ended */
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

/** For `uncaughtException`: fails the work that caused the fault. @returns false if there is none */
export function hasOwner(fault: unknown): boolean {
  const fail = owners.getStore()
  fail?.(fault)
  return fail !== undefined
}
