/**
 * The greatest of many codes, by code of WebAssembly that compares eight at a time (`greatest.wat`): with the copy
 * into its memory 0.2 ns a code, where two at a time in JavaScript take 0.5. With 84 million rows of nine codes a
 * nanosecond here is most of a second of a core at start-up.
 */
import { WASM } from '../system/wasm.ts'
import { CODE } from './greatest-code.ts'

/** Copied and looked at together: a multiple of those of a turn of the loop, and small enough for the processor's cache. */
const MOST_CODES = 65_536
/** In a turn of the loop. */
const CODES_A_TURN = 32
const PAGES = (MOST_CODES * Int16Array.BYTES_PER_ELEMENT) / 65_536

type Greatest = (at: number, end: number, flip: number, add: number) => number

const memory = new WASM.Memory({ initial: PAGES, maximum: PAGES })
const room = new Int16Array(memory.buffer)
const { greatest } = new WASM.Instance(new WASM.Module(Buffer.from(CODE, 'base64')), {
  codes: { memory },
}).exports as { greatest: Greatest }

/**
 * The greatest of all codes, one at least, as signed numbers of 16 bits, each with its bits flipped where `flip` is −1, and
 * then `add` added to it.
 */
export function greatestOf(codes: Int16Array, flip: 0 | -1, add: number): number {
  let most = -0x8000
  for (let at = 0; at < codes.length; at += MOST_CODES) {
    const some = codes.subarray(at, at + MOST_CODES)
    const whole = Math.ceil(some.length / CODES_A_TURN) * CODES_A_TURN
    room.set(some)
    if (whole > some.length) room.fill(some[0], some.length, whole)
    most = Math.max(most, greatest(0, whole * Int16Array.BYTES_PER_ELEMENT, flip, add))
  }
  return most
}
