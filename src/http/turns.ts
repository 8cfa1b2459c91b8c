/** In what order the pieces of long bodies go out, so that nobody else waits for them. */
import { FIRST_PIECE_BYTES, PIECE_BYTES, PIECES_PER_TURN_BYTES } from './limits.ts'

/** What of a body is offered at once. */
export function firstPiece(body: Uint8Array): Uint8Array {
  return body.length <= PIECE_BYTES ? body : body.subarray(0, FIRST_PIECE_BYTES)
}

/** Each body that is ready for more sends a piece, as many of them in a turn of the loop as take 1 ms. */
export class Turns {
  readonly #waiting = new Set<() => number>()
  #isScheduled = false
  #givesWay = false

  /** Has `send`, which returns how many bytes it has offered and made, called in its turn. */
  add(send: () => number): void {
    this.#waiting.add(send)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#sendSome)
  }

  /**
   * One piece at most in this turn. For a loop that accepts one connection a turn: those who come behind
   * 2,000 others would wait for as many milliseconds.
   */
  giveWay(): void {
    this.#givesWay = true
  }

  readonly #sendSome = (): void => {
    this.#isScheduled = false
    const limit = this.#givesWay ? 1 : PIECES_PER_TURN_BYTES
    this.#givesWay = false
    let bytes = 0
    // Those who are added meanwhile come in the next turn.
    let left = this.#waiting.size
    for (const send of this.#waiting) {
      if (left-- === 0 || bytes >= limit) break
      this.#waiting.delete(send)
      bytes += send()
    }
    if (this.#waiting.size === 0 || this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#sendSome)
  }
}
