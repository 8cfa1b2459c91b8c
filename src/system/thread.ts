/** Threads: how they start, give way to each other, and collect garbage. */
import { getPriority, setPriority } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Runs the module at `url`, which has no file ending (`new URL('./worker', import.meta.url)`): a compiled
 * file and, in development and tests, a source.
 */
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
  // Elsewhere than on Linux the priority would be that of the whole process. To raise that of `nice` takes a
  // privilege.
  if (process.platform === 'linux' && getPriority() < NICENESS) setPriority(NICENESS)
}

let collect: (() => void) | null = null

/**
 * Frees what this thread refers to no longer: V8 does not count shared memory as a reason to collect, and
 * parts of snapshots stay in memory until every thread has collected what refers to them. Takes some 10 ms,
 * and loses much of its compiled code.
 */
export function collectGarbage(): void {
  if (collect === null) {
    // Contexts that exist already do not get the function.
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}

/** V8 collects after 64 MiB of array buffers. Unwritten, a buffer of this size takes no memory. */
const REASON_BYTES = 96 * 2 ** 20

/** Frees within a second or so, in small steps and mostly on V8's own threads. Compiled code stays. */
export function collectSoon(): void {
  try {
    void new ArrayBuffer(REASON_BYTES)
  } catch {
    // Where even addresses are short, freeing some is worth a pause.
    collectGarbage()
  }
}
