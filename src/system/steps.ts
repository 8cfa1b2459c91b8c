/** Long work in small steps: a generator yields wherever it may be interrupted, so no request waits. */

export type Steps<T> = Generator<undefined, T, undefined>

export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Slices take about `sliceMs`; the event loop runs 1 ms or more between, or one turn if `isQuiet`. */
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
