/**
 * Long work in small steps: a generator that yields wherever it may be interrupted. A serving thread gets a
 * new snapshot ready between its requests this way, and none of them waits for it.
 */

export type Steps<T> = Generator<undefined, T, undefined>

/** Does all of it at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/**
 * Does it in slices of about `sliceMs`, each followed by a rest of a millisecond or more in which the event
 * loop runs.
 */
export async function finishInSlices<T>(steps: Steps<T>, sliceMs: number): Promise<T> {
  for (;;) {
    const end = performance.now() + sliceMs
    do {
      const step = steps.next()
      if (step.done === true) return step.value
    } while (performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
