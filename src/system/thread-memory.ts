/** Memory that all threads see. */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

/**
 * What is larger has a mapping of its own, which the system gets back as soon as it is freed: glibc's malloc
 * never asks for more (mallopt(3), M_MMAP_THRESHOLD). Smaller memory comes from malloc's arenas, once it has
 * seen this much freed: they keep the most there ever was, and fill what they give again with zeros.
 */
const LARGEST_IN_ARENA_BYTES = 32 * 2 ** 20
/** Bytes that are worth a mapping of their own. */
const WORTH_A_MAPPING_BYTES = 2 ** 20

/**
 * Bytes that all threads see, zeros at first. Their buffer may be longer: it takes addresses for that, and no
 * memory.
 * @throws RangeError where there is no memory for them
 */
export function sharedBytes(length: number): Uint8Array<SharedArrayBuffer> {
  const room = length < WORTH_A_MAPPING_BYTES ? length : Math.max(length, LARGEST_IN_ARENA_BYTES + 4096)
  return new Uint8Array(new SharedArrayBuffer(room), 0, length)
}

/**
 * Bytes that are the same in all threads: the thread that is the first to ask has them filled, and the threads
 * that it starts afterwards see the same memory. Nobody writes to them later.
 */
export function sharedOnce(
  name: string,
  length: number,
  fill: (memory: SharedArrayBuffer) => void,
): SharedArrayBuffer {
  // The code of another version in the same process has memory of its own.
  const key = `${import.meta.url} ${name}`
  const known = getEnvironmentData(key) as SharedArrayBuffer | undefined
  if (known !== undefined) return known
  const memory = new SharedArrayBuffer(length)
  fill(memory)
  setEnvironmentData(key, memory)
  return memory
}
