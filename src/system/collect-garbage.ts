/**
 * Garbage collection at a moment of our choice: V8 does not count shared memory as a reason to collect, and
 * parts of snapshots stay in memory until every thread has collected what refers to them.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | null = null

/** Frees what this thread refers to no longer. Takes some 10 ms, and loses much of its compiled code. */
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
