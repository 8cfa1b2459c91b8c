/** Starts worker threads from compiled files and, in development and tests, from the sources. */
import { getPriority, setPriority } from 'node:os'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/** Runs the module at `url`, which has no file ending: `new URL('./worker', import.meta.url)`. */
export function startThread(
  url: URL,
  workerData: unknown,
  options: Pick<WorkerOptions, 'resourceLimits'> = {},
): Worker {
  // Compiled, this file ends in .js and so does the module. Sources need a small bootstrap.
  const compiled = import.meta.url.endsWith('.js')
  if (compiled) return new Worker(new URL(`${url.href}.js`), { ...options, workerData })
  return new Worker(new URL('./thread.dev.mjs', import.meta.url), {
    ...options,
    workerData,
    argv: [`${url.href}.ts`],
  })
}

const NICENESS = 5

/** Serving threads come before the calling one where processors are scarce. */
export function yieldToServing(): void {
  // Elsewhere than on Linux the priority would be that of the whole process. To raise that of `nice` takes a privilege.
  if (process.platform === 'linux' && getPriority() < NICENESS) setPriority(NICENESS)
}
