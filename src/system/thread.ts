/** Starts worker threads from compiled files and, in development and tests, from the sources. */
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
