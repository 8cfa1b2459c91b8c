/** Starts worker threads from compiled files and, in development and tests, from the sources. */
import { Worker, type WorkerOptions } from 'node:worker_threads'

/** A thread that runs the module `name` beside this file (`./worker` without its ending). */
export function startThread(
  name: string,
  workerData: unknown,
  options: Pick<WorkerOptions, 'resourceLimits'> = {},
): Worker {
  // Compiled, this file ends in .js and so does the module; from the sources it takes a small bootstrap.
  const compiled = import.meta.url.endsWith('.js')
  if (compiled) return new Worker(new URL(`${name}.js`, import.meta.url), { ...options, workerData })
  const module = new URL(`${name}.ts`, import.meta.url)
  return new Worker(new URL('./thread.dev.mjs', import.meta.url), {
    ...options,
    workerData,
    argv: [module.href],
  })
}
