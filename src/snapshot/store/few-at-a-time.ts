/** Transfers between folders and stores, a few at a time. */

const CONNECTIONS = 4

/** Runs `task` on all items. The first fault ends the others, and is thrown when all have ended. */
export async function fewAtATime<T>(
  items: readonly T[],
  task: (item: T, signal: AbortSignal) => Promise<void>,
  stopping?: AbortSignal,
): Promise<void> {
  const failing = new AbortController()
  const signal = AbortSignal.any([failing.signal, ...(stopping === undefined ? [] : [stopping])])
  const queue = [...items]
  let first: unknown = null
  const connection = async (): Promise<void> => {
    try {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await task(item, signal)
    } catch (error) {
      first ??= error
      queue.length = 0
      failing.abort()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connection))
  if (first !== null) throw first
}
