/** Memory that all threads see, and values moved there: what holds them can be posted to any thread. */
/**
 * Above this, memory has a mapping of its own, which the system gets back at once (glibc, mallopt(3),
 * M_MMAP_THRESHOLD). Arenas of malloc keep the most there ever was, and fill what they give again with zeros.
 */
const LARGEST_IN_ARENA_BYTES = 32 * 2 ** 20
const WORTH_A_MAPPING_BYTES = 2 ** 20

/** Shared zeros. The buffer may be longer, which takes no memory. @throws RangeError without memory */
export function sharedBytes(length: number): Uint8Array<SharedArrayBuffer> {
  const room = length < WORTH_A_MAPPING_BYTES ? length : Math.max(length, LARGEST_IN_ARENA_BYTES + 4096)
  return new Uint8Array(new SharedArrayBuffer(room), 0, length)
}

type Numbers = Uint8Array | Uint16Array | Int16Array | Uint32Array | Int32Array | Float32Array | Float64Array

const ALIGNMENT_BYTES = 8

export function sameNumbers(a: Numbers, b: Numbers): boolean {
  const bytesOf = ({ buffer, byteOffset, byteLength }: Numbers): Uint8Array =>
    new Uint8Array(buffer, byteOffset, byteLength)
  return a.length === b.length && Buffer.compare(bytesOf(a), bytesOf(b)) === 0
}

const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT_BYTES) * ALIGNMENT_BYTES

/**
 * A copy of `value` (plain objects, maps and lists) with all arrays of numbers in one shared buffer. An array
 * that occurs twice takes memory once; one in shared memory stays.
 */
export function toShared<T>(value: T): T {
  const arrays = new Set<Numbers>()
  collect(value, arrays, new Set())
  let bytes = 0
  for (const array of arrays) bytes += aligned(array.byteLength)
  const { buffer } = sharedBytes(bytes)
  const copies = new Map<unknown, unknown>()
  let at = 0
  for (const array of arrays) {
    const View = array.constructor as new (buffer: SharedArrayBuffer, at: number, length: number) => Numbers
    const copy = new View(buffer, at, array.length)
    copy.set(array)
    copies.set(array, copy)
    at += aligned(array.byteLength)
  }
  return copyOf(value, copies) as T
}

function isNumbers(value: object): value is Numbers {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
}

function collect(value: unknown, arrays: Set<Numbers>, seen: Set<object>): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return
  seen.add(value)
  if (isNumbers(value)) {
    if (!(value.buffer instanceof SharedArrayBuffer)) arrays.add(value)
  } else for (const each of membersOf(value)) collect(each, arrays, seen)
}

function membersOf(value: object): Iterable<unknown> {
  if (value instanceof Map || Array.isArray(value)) return value.values() as Iterable<unknown>
  return Object.values(value)
}

function copyOf(value: unknown, copies: Map<unknown, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value
  let copy = copies.get(value)
  if (copy !== undefined) return copy
  if (isNumbers(value)) return value
  const entries = (pairs: Iterable<[unknown, unknown]>): [unknown, unknown][] =>
    Array.from(pairs, ([key, each]) => [key, copyOf(each, copies)])
  if (value instanceof Map) copy = new Map(entries(value))
  else if (Array.isArray(value)) copy = value.map((each) => copyOf(each, copies))
  else copy = Object.fromEntries(entries(Object.entries(value)) as [string, unknown][])
  copies.set(value, copy)
  return copy
}
