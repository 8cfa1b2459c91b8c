/** Long bodies of the engine on uWebSockets.js, sent piece by piece as the kernel becomes ready for more. */
import type { UwsResponse } from './binding.ts'
import type { Again, Pressure, Surroundings } from './exchange.ts'
import { HeldBytes } from './limits.ts'
import { Rest } from './rest.ts'
import { Turns } from './turns.ts'
import type { Lane } from './uws-lane.ts'

export class LongBodies {
  /** Responses whose body is not out yet. */
  unfinished = 0
  readonly #held = new HeldBytes()
  readonly #turns = new Turns()
  readonly #surroundings: Surroundings

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  get pressure(): Pressure {
    return { waiting: this.unfinished, heldBytes: this.#held.bytes, notHeld: this.#held.refused }
  }

  /**
   * Goes on with `body`, whose first bytes are out. With a `lane` its connection is closed behind the answer,
   * and the last byte must not be out yet: with that the response object dies, and only another one can close
   * the connection.
   * @returns what is left of it; null where too much is held already, and the connection was cut
   */
  goOn(
    response: UwsResponse,
    body: Uint8Array,
    lasting: boolean | Again,
    lane: Lane | null = null,
  ): Rest | null {
    const rest = this.#hold(response, body, lasting)
    if (rest === null) return null
    const last = lane === null ? body.length : body.length - 1
    const send = (): number => {
      if (rest.isOver) return 0
      const offset = response.getWriteOffset()
      const piece = rest.piece(offset, offset < last ? last : body.length)
      if (piece === null) {
        response.close()
        return 0
      }
      let [isWritten, isDone] = [false, false]
      const offer = (): unknown =>
        response.cork(() => {
          ;[isWritten, isDone] = response.tryEnd(piece, body.length)
        })
      let connection: UwsResponse | undefined
      if (lane !== null && offset === last) connection = lane.findMoved(last, body.length, offer)
      else offer()
      rest.sent = isDone ? body.length : response.getWriteOffset()
      if (isDone) {
        this.#end(rest)
        if (connection !== undefined) lane?.close(connection)
      } else if (isWritten) this.#turns.add(send)
      else rest.wait(rest.sent)
      return piece.length + rest.takeMade()
    }
    response.onWritable(() => {
      this.#surroundings.onProgress()
      this.#turns.add(send)
      return true
    })
    // Where the kernel took the first piece whole, it does not say that it takes more; and all that came with
    // the request is read first.
    this.#turns.add(send)
    return rest
  }

  /** Null when too much is held already: then the connection is cut. */
  #hold(response: UwsResponse, body: Uint8Array, lasting: boolean | Again): Rest | null {
    const { onThrow } = this.#surroundings
    const rest = Rest.of(body, { from: response.getWriteOffset(), lasting, held: this.#held, onThrow })
    if (rest === null) {
      response.close()
      return null
    }
    this.unfinished++
    response.onAborted(() => this.#end(rest))
    return rest
  }

  #end(rest: Rest): void {
    if (rest.isOver) return
    rest.end()
    this.unfinished--
  }
}
