/** Memory that all threads see. */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

/**
 * Above this, memory has a mapping of its own, which the system gets back at once (glibc, mallopt(3),
 * M_MMAP_THRESHOLD). Arenas of malloc keep the most there ever was, and fill what they give again with zeros.
 */
const LARGEST_IN_ARENA_BYTES = 32 * 2 ** 20
const WORTH_A_MAPPING_BYTES = 2 ** 20

/** Zeros at first. The buffer may be longer, which takes no memory. @throws RangeError without memory */
export function sharedBytes(length: number): Uint8Array<SharedArrayBuffer> {
  const room = length < WORTH_A_MAPPING_BYTES ? length : Math.max(length, LARGEST_IN_ARENA_BYTES + 4096)
  return new Uint8Array(new SharedArrayBuffer(room), 0, length)
}

/** The first thread to ask has the bytes filled, and its later threads see them. Nobody writes later. */
export function sharedOnce(
  name: string,
  length: number,
  fill: (memory: SharedArrayBuffer) => void,
): SharedArrayBuffer {
  // Another version of the program in the same process has memory of its own.
  const key = `${import.meta.url} ${name}`
  const known = getEnvironmentData(key) as SharedArrayBuffer | undefined
  if (known !== undefined) return known
  const memory = new SharedArrayBuffer(length)
  fill(memory)
  setEnvironmentData(key, memory)
  return memory
}
