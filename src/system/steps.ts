/**
 * Long work in small steps: a generator that yields wherever it may be interrupted. So a worker gets a new
 * snapshot ready between its requests, and no request waits for that.
 */

export type Steps<T> = Generator<undefined, T, undefined>

/** Does all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/**
 * Does the steps in slices of about `sliceMs`. After each slice the event loop runs for a millisecond or
 * more, or one turn while `isQuiet`.
 */
export async function finishInSlices<T>(
  steps: Steps<T>,
  sliceMs: number,
  isQuiet: () => boolean = () => false,
): Promise<T> {
  for (;;) {
    const end = performance.now() + sliceMs
    do {
      const step = steps.next()
      if (step.done === true) return step.value
    } while (performance.now() < end)
    await new Promise((resolve) => void (isQuiet() ? setImmediate(resolve) : setTimeout(resolve, 1)))
  }
}
