/** Long work in small steps: a generator that yields wherever it may be interrupted, as by requests. */

export type Steps<T> = Generator<undefined, T, undefined>

export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Slices take about `sliceMs`. Between them the event loop runs a millisecond, one turn if `isQuiet`. */
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
