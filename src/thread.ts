/** Starts worker threads from compiled files and, in development and tests, from the sources. */
import { Worker } from 'node:worker_threads'

/** A thread that runs the module `name` beside this file (`./worker` without its ending). */
export function startThread(name: string, workerData: unknown): Worker {
  // Compiled, this file ends in .js and so does the module; from the sources it takes a small bootstrap.
  const compiled = import.meta.url.endsWith('.js')
  if (compiled) return new Worker(new URL(`${name}.js`, import.meta.url), { workerData })
  const module = new URL(`${name}.ts`, import.meta.url)
  return new Worker(new URL('./thread.dev.mjs', import.meta.url), { workerData, argv: [module.href] })
}
