/**
 * Faults that a library throws out of turn: in an event of a socket, or in a promise that nobody waits for.
 * Node would end the process. Here the work that was under way fails with them.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

const owners = new AsyncLocalStorage<(fault: unknown) => void>()

/**
 * Does `work`, which fails as well with what is thrown out of turn in its course.
 * @param work gets a signal that is aborted once it has ended or failed
 */
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

/** Does `work` for the process itself: what it throws out of turn fails nobody else's work. */
export function disownStrayFaults(work: () => void): void {
  owners.exit(work)
}

/** For the process's listener of `uncaughtException`: whether work has failed with the fault. */
export function hasOwner(fault: unknown): boolean {
  const fail = owners.getStore()
  fail?.(fault)
  return fail !== undefined
}
