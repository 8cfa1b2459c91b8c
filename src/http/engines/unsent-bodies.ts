/** Bodies that clients have not taken at once, and the order in which their pieces go out. */
import type { Again, OnSent } from '../exchange.ts'
import { FIRST_PIECE_BYTES, PIECE_BYTES, PIECES_PER_TURN_BYTES, type BufferedBytes } from './limits.ts'

export interface UnsentBodyOptions {
  /** Bytes of the body that have gone out. */
  readonly from: number
  /** As `lasting` of `Exchange.send`. */
  readonly lasting: boolean | Again
  readonly buffered: BufferedBytes
  /** Gets what a body's `Again` throws. */
  readonly onThrow: (error: unknown) => void
}

/** Buffers a copy for a reader that keeps up; otherwise a piece of 256 KB, and the body is made again. */
export class UnsentBody {
  /** The client has it all, or has gone. */
  isOver = false
  sent: number
  /** Called once with the bytes that are out. */
  onOver: OnSent = () => {}
  readonly length: number
  readonly #buffered: BufferedBytes
  readonly #again: Again | null
  readonly #onThrow: (error: unknown) => void
  /** The body from `#from` on; null if it has to be made again. */
  #bytes: Uint8Array | null
  #from: number
  /** Bytes of `#bytes` that count as buffered. */
  #counted = 0
  #made = 0

  /** @returns null if too much is buffered already, and the body cannot be made again */
  static of(body: Uint8Array, options: UnsentBodyOptions): UnsentBody | null {
    const unsent = new UnsentBody(body, options)
    return unsent.#bytes === null && unsent.#again === null ? null : unsent
  }

  private constructor(body: Uint8Array, { from, lasting, buffered, onThrow }: UnsentBodyOptions) {
    this.length = body.length
    this.sent = from
    this.#buffered = buffered
    this.#onThrow = onThrow
    this.#again = typeof lasting === 'boolean' ? null : lasting
    this.#from = lasting === true ? 0 : from
    this.#bytes = lasting === true ? body : null
    const left = body.length - from
    if (lasting === true || !this.#take(left)) return
    this.#bytes = copyOf(body, from, body.length)
  }

  /** Bytes from `offset` to `end`, at most a piece, that never change; null if they cannot be had. */
  piece(offset: number, end = this.length): Uint8Array | null {
    const bytes = this.#bytes
    const isThere = bytes !== null && offset >= this.#from && offset < this.#from + bytes.length
    if (!isThere && !this.#make(offset)) return null
    const at = offset - this.#from
    return this.#bytes!.subarray(at, Math.min(at + PIECE_BYTES, end - this.#from))
  }

  /** Lets go of what is behind the next piece: the client takes no more than up to `offset` for now. */
  wait(offset: number): void {
    const bytes = this.#bytes
    if (this.#again === null || bytes === null) return
    // Bytes that could not be counted would pass the limit of all.
    if (this.#counted === 0) this.#bytes = null
    else if (bytes.length > PIECE_BYTES) this.#keep(bytes, this.#from, offset)
  }

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

  /** Bytes made again since the last call. */
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

  #keep(bytes: Uint8Array, from: number, offset: number): void {
    this.#giveBack()
    this.#bytes = copyOf(bytes, offset - from, Math.min(bytes.length, offset - from + PIECE_BYTES))
    this.#from = offset
    this.#take(this.#bytes.length)
  }

  #take(bytes: number): boolean {
    const isTaken = this.#again === null ? this.#buffered.take(bytes) : this.#buffered.takeSpare(bytes)
    if (isTaken) this.#counted = bytes
    return isTaken
  }

  #giveBack(): void {
    this.#buffered.giveBack(this.#counted)
    this.#counted = 0
  }
}

/** `slice` of a `Buffer` would be a view. */
function copyOf(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return new Uint8Array(bytes.subarray(from, to))
}

export function firstPiece(body: Uint8Array): Uint8Array {
  return body.length <= PIECE_BYTES ? body : body.subarray(0, FIRST_PIECE_BYTES)
}

/** Each body that is ready for more sends a piece, up to 1 ms in a turn of the loop. */
export class SendQueue {
  readonly #waiting = new Set<() => number>()
  #isScheduled = false
  #givesWay = false

  /** `send` returns how many bytes it has offered and made. */
  add(send: () => number): void {
    this.#waiting.add(send)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#sendSome)
  }

  /** One piece at most in this turn: a loop that accepts one connection a turn must get on with accepting. */
  giveWay(): void {
    this.#givesWay = true
  }

  readonly #sendSome = (): void => {
    this.#isScheduled = false
    const limit = this.#givesWay ? 1 : PIECES_PER_TURN_BYTES
    this.#givesWay = false
    let bytes = 0
    // Senders added meanwhile come in the next turn.
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
