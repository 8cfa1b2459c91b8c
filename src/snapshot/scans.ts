/**
 * What is looked for in the columns of a part, by code of WebAssembly (`scans.wat`), while its bytes come by
 * in chunks: they are then in the processor's cache, and memory that nobody has touched yet is touched once,
 * by the copy to where they stay. With 84 million rows of nine codes a nanosecond here is most of a second of
 * a core at start-up.
 */
import { WASM } from '../system/wasm.ts'
import { CODE } from './scans-code.ts'

const PAGE_BYTES = 65_536
/** Read, hashed and looked at together: 0.3 ms, and small enough to stay in the processor's cache. */
export const CHUNK_BYTES = 4 * PAGE_BYTES
/**
 * Before a chunk stands the last number of the one before it; so much, that the chunk begins at a cache line.
 */
const CHUNK_AT = 64

interface Code {
  greatest: (at: number, end: number, flip: number, add: number) => number
  falls: (at: number, end: number) => number
  unpack: (codes: number, width: number, days: number, base: number, step: number, into: number) => void
  days: (at: number, row: number, days: number, low: number, high: number, most: number) => number
}

const PAGES = CHUNK_BYTES / PAGE_BYTES + 1
const memory = new WASM.Memory({ initial: PAGES, maximum: PAGES })
const numbers = new Uint32Array(memory.buffer)
const code = new WASM.Instance(new WASM.Module(Buffer.from(CODE, 'base64')), { chunk: { memory } })
  .exports as Code

/** Of this thread. It holds what was last put there until the thread does something else. */
export const chunk = new Uint8Array(memory.buffer, CHUNK_AT, CHUNK_BYTES)
const codesOfChunk = new Int16Array(memory.buffer, CHUNK_AT, CHUNK_BYTES / Int16Array.BYTES_PER_ELEMENT)

/**
 * The greatest of all codes as signed numbers of 16 bits, each with its bits flipped where `flip` is −1, and
 * then `add` added to it; −32,768 of none.
 */
export function greatestOf(codes: Int16Array, flip: 0 | -1, add: number): number {
  let most = -0x8000
  for (let at = 0; at < codes.length; at += codesOfChunk.length) {
    const some = codes.subarray(at, at + codesOfChunk.length)
    codesOfChunk.set(some)
    most = Math.max(most, code.greatest(CHUNK_AT, CHUNK_AT + some.byteLength, flip, add))
  }
  return most
}

/** A column of a part, `from` and `to` in bytes from the part's beginning. */
interface Place {
  readonly from: number
  readonly to: number
}

interface Greatest extends Place {
  readonly flip: 0 | -1
  readonly add: number
  most: number
}

interface Falls extends Place {
  count: number
  /** The last number so far; null before the first. */
  last: number | null
}

const isOf = ({ from, to }: Place, { byteOffset, byteLength }: Int16Array | Uint32Array): boolean =>
  from === byteOffset && to === byteOffset + byteLength

/** Scans of the columns of one part, whose bytes begin where their buffer does. */
export class Scans {
  readonly #greatest: Greatest[] = []
  readonly #falls: Falls[] = []

  /** To look for what `greatestOf` gives. */
  addGreatest(from: number, to: number, flip: 0 | -1, add: number): void {
    this.#greatest.push({ from, to, flip, add, most: -0x8000 })
  }

  /** To count the numbers of a `Uint32Array` that are not greater than the one before them. */
  addFalls(from: number, to: number): void {
    this.#falls.push({ from, to, count: 0, last: null })
  }

  /**
   * Looks at the chunk: `length` bytes of the part from `at` on, a multiple of `CHUNK_BYTES`, each chunk once
   * and in order.
   */
  look(at: number, length: number): void {
    for (const scan of this.#greatest) {
      const [begin, end] = within(scan, at, length)
      if (begin < end) scan.most = Math.max(scan.most, code.greatest(begin, end, scan.flip, scan.add))
    }
    for (const scan of this.#falls) {
      const [begin, end] = within(scan, at, length)
      if (begin >= end) continue
      const first = begin / Uint32Array.BYTES_PER_ELEMENT
      if (scan.last === null) scan.count += code.falls(begin + Uint32Array.BYTES_PER_ELEMENT, end)
      else {
        numbers[first - 1] = scan.last
        scan.count += code.falls(begin, end)
      }
      scan.last = numbers[end / Uint32Array.BYTES_PER_ELEMENT - 1]
    }
  }

  /** What `greatestOf` gives; null where it was not looked for. */
  greatestOf(codes: Int16Array, flip: 0 | -1, add: number): number | null {
    const found = this.#greatest.find((scan) => isOf(scan, codes) && scan.flip === flip && scan.add === add)
    return found?.most ?? null
  }

  /**
   * How many numbers of a column are not greater than the one before them; null where they were not counted.
   */
  fallsOf(column: Uint32Array): number | null {
    return this.#falls.find((scan) => isOf(scan, column))?.count ?? null
  }
}

/** Addresses of what the chunk has of a column. */
function within({ from, to }: Place, at: number, length: number): [begin: number, end: number] {
  return [CHUNK_AT + Math.max(from - at, 0), CHUNK_AT + Math.min(to - at, length)]
}

/** Days of a year, and as many more as code of WebAssembly takes together. */
const MOST_DAYS = 366 + 4
const ROW_BYTES = MOST_DAYS * Int32Array.BYTES_PER_ELEMENT
const ROWS = 5
/**
 * Codes that are being unpacked: behind the rows, at an address of the same remainder as where they come
 * from.
 */
const CODES_AT = CHUNK_AT + Math.ceil((ROWS * ROW_BYTES) / CHUNK_AT) * CHUNK_AT
const bytesOfMemory = new Uint8Array(memory.buffer)

/**
 * Puts a stream of a year of aggregates where `daysWithin` looks: `base` plus `step` times each of its codes.
 * @param row of `daysWithin`
 * @param codes bytes of `days` codes of `width` bytes; none where that is 0
 */
export function unpackDays(
  row: number,
  days: number,
  { base, step, width }: { base: number; step: number; width: number },
  codes: Uint8Array | null,
): void {
  // Copies from shared memory go by words where both addresses have the same remainder.
  const at = CODES_AT + (codes === null ? 0 : codes.byteOffset % 8)
  if (codes !== null) bytesOfMemory.set(codes, at)
  code.unpack(at, width, days, base, step, CHUNK_AT + row * ROW_BYTES)
}

/**
 * How many of a year's days have samples, or null where one of those breaks a rule. The rows are: the median,
 * from `low` to `high`; the mean less it; it less the least; the greatest less it; samples, at most `most`.
 */
export function daysWithin(days: number, low: number, high: number, most: number): number | null {
  const found = code.days(CHUNK_AT, ROW_BYTES, days, low, high, most)
  return found < 0 ? null : found
}
