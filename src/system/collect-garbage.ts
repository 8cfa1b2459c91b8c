/**
 * Garbage collection at a moment of our choice. Parts of snapshots lie in memory that threads share. It is
 * freed when every thread has collected what refers to it, and V8 does not count it as a reason to collect: a
 * server with few requests kept the parts of a dozen snapshots that it had let go, some 28 MB a swap.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | null = null

/**
 * Frees what this thread refers to no longer. It pauses for some 10 ms, and loses much of its compiled code.
 */
export function collectGarbage(): void {
  if (collect === null) {
    // Contexts that exist already do not get the function.
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}

/**
 * V8 collects after 64 MiB of array buffers beyond those after its last collection. A buffer of this size has
 * a mapping of its own, and takes no memory while nobody writes to it.
 */
const REASON_BYTES = 96 * 2 ** 20

/**
 * Has V8 free what this thread refers to no longer: within a second or so, in small steps and mostly on
 * threads of its own, as when buffers of that size were filled and forgotten. Compiled code stays. After a
 * forced collection up to a hundred functions, those of the request path among them, had to be compiled anew.
 */
export function collectSoon(): void {
  try {
    void new ArrayBuffer(REASON_BYTES)
  } catch {
    // Where even addresses are short, freeing some is worth a pause.
    collectGarbage()
  }
}
