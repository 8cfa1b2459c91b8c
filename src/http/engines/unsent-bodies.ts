/** Bodies that clients have not taken at once, and the order in which their pieces go out. */
import type { Again, OnSent } from '../exchange.ts'
import { FIRST_PIECE_BYTES, PIECE_BYTES, PIECES_PER_TURN_BYTES, type HeldBytes } from './limits.ts'

export interface UnsentBodyOptions {
  /** Bytes of the body that have gone out. */
  readonly from: number
  /** As `lasting` of `Exchange.send`. */
  readonly lasting: boolean | Again
  /** What is held of all bodies. */
  readonly held: HeldBytes
  /** Gets what a body's `Again` throws. */
  readonly onThrow: (error: unknown) => void
}

/**
 * A reader that keeps up gets its body from one copy. One that does not read costs a piece of 256 KB: the
 * rest of the copy goes, and is made again when it is wanted.
 */
export class UnsentBody {
  /** The client has it all, or has gone. */
  isOver = false
  /** Bytes of the body that are out. */
  sent: number
  /** Called once with those bytes when it is over. */
  onOver: OnSent = () => {}
  /** Bytes of the whole body. */
  readonly length: number
  readonly #held: HeldBytes
  readonly #again: Again | null
  readonly #onThrow: (error: unknown) => void
  /** Bytes of the body from `#from` on; null where they have to be made again. */
  #bytes: Uint8Array | null
  #from: number
  /** Bytes of `#bytes` that count as held. */
  #counted = 0
  #made = 0

  /** @returns null where too much is held already, and the body cannot be made again */
  static of(body: Uint8Array, options: UnsentBodyOptions): UnsentBody | null {
    const rest = new UnsentBody(body, options)
    return rest.#bytes === null && rest.#again === null ? null : rest
  }

  private constructor(body: Uint8Array, { from, lasting, held, onThrow }: UnsentBodyOptions) {
    this.length = body.length
    this.sent = from
    this.#held = held
    this.#onThrow = onThrow
    this.#again = typeof lasting === 'boolean' ? null : lasting
    this.#from = lasting === true ? 0 : from
    this.#bytes = lasting === true ? body : null
    const left = body.length - from
    if (lasting === true || !this.#take(left)) return
    this.#bytes = copyOf(body, from, body.length)
  }

  /**
   * The bytes from `offset` on, up to `end` and at most a piece. They never change. @returns null where they
   * cannot be had
   */
  piece(offset: number, end = this.length): Uint8Array | null {
    const held = this.#bytes
    const isHeld = held !== null && offset >= this.#from && offset < this.#from + held.length
    if (!isHeld && !this.#make(offset)) return null
    const at = offset - this.#from
    return this.#bytes!.subarray(at, Math.min(at + PIECE_BYTES, end - this.#from))
  }

  /** The client takes no more than up to `offset` for now: lets go of what is behind the next piece. */
  wait(offset: number): void {
    const bytes = this.#bytes
    if (this.#again === null || bytes === null) return
    // What could not be counted would be more than all may hold.
    if (this.#counted === 0) this.#bytes = null
    else if (bytes.length > PIECE_BYTES) this.#keep(bytes, this.#from, offset)
  }

  /** Lets go of all that can be made again. */
  forget(): void {
    if (this.#again === null) return
    this.#bytes = null
    this.#giveBack()
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.#bytes = null
    this.#giveBack()
    this.onOver(this.sent)
  }

  /** Bytes that were made again since it was last asked. */
  takeMade(): number {
    const made = this.#made
    this.#made = 0
    return made
  }

  #make(offset: number): boolean {
    let body: Uint8Array | null = null
    try {
      body = this.#again?.() ?? null
      if (body !== null && body.length !== this.length)
        throw new Error('made again, a body has another length')
    } catch (error) {
      body = null
      this.#onThrow(error)
    }
    if (body === null) return false
    this.#made += body.length
    this.#keep(body, 0, offset)
    return true
  }

  /** Keeps the piece from `offset` on of `bytes`, which begin at `from`. */
  #keep(bytes: Uint8Array, from: number, offset: number): void {
    this.#giveBack()
    this.#bytes = copyOf(bytes, offset - from, Math.min(bytes.length, offset - from + PIECE_BYTES))
    this.#from = offset
    this.#take(this.#bytes.length)
  }

  #take(bytes: number): boolean {
    const isTaken = this.#again === null ? this.#held.take(bytes) : this.#held.takeSpare(bytes)
    if (isTaken) this.#counted = bytes
    return isTaken
  }

  #giveBack(): void {
    this.#held.giveBack(this.#counted)
    this.#counted = 0
  }
}

/** `slice` of a `Buffer` would be a view. */
function copyOf(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return new Uint8Array(bytes.subarray(from, to))
}

/** What of a body is offered at once. */
export function firstPiece(body: Uint8Array): Uint8Array {
  return body.length <= PIECE_BYTES ? body : body.subarray(0, FIRST_PIECE_BYTES)
}

/** Each body that is ready for more sends a piece, as many of them in a turn of the loop as take 1 ms. */
export class SendQueue {
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
    // Senders that are added meanwhile come in the next turn.
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
