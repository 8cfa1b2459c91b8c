/** Later replies of the engine on uWebSockets.js. */
import type { UwsResponse } from './uws-binding.ts'
import { headText, KEPT, type LaterEvents } from '../exchange.ts'
import { BaseLaterReply } from './base-exchange.ts'
import type { Acceptor } from './uws-acceptor.ts'

export const CLOSING = '\r\nConnection: close'

const NOTHING = new Uint8Array(0)

/** The head of a connection's last answer. */
export function withClosing(head: string | Uint8Array): string {
  return headText(head).replace(KEPT, '') + CLOSING
}

/**
 * Sends a head without a body and closes the connection, unless `isGone`. `now`: epoch milliseconds. The
 * engine closes by itself only in `end`, which adds `Content-Length: 0`: forbidden on 204, wrong on 304 and
 * HEAD. So this writes the head and its empty line, never ends the response, and closes when the handler's
 * return has handed the bytes to the kernel. A pipelined request may cut the connection before.
 */
export function closeAfterHead(
  response: UwsResponse,
  head: string,
  now: number,
  isGone: () => boolean,
): void {
  const whole = `${withClosing(head)}\r\nDate: ${new Date(now).toUTCString()}\r\n`
  response.cork(() => response.writeStatus(whole))
  setImmediate(() => {
    if (!isGone()) response.close()
  })
}

/** Later writes are corked by hand: within a handler the engine does it. */
export class UwsLaterReply extends BaseLaterReply<UwsResponse> {
  /** Bytes of the body; null for a stream. */
  #length: number | null = 0
  #untaken: Uint8Array | null = null
  /** The last byte of the body is out: touching the dead response throws. */
  #isComplete = false
  /** The connection ends with the answer that has begun. */
  #isClosing = false
  #isDone = false
  readonly #acceptor: Acceptor
  readonly #now: () => number
  #onDone: () => void

  /** Calls `onDone` once, when the answer is out or never will be. */
  constructor(
    response: UwsResponse,
    isHead: boolean,
    isLast: () => boolean,
    events: LaterEvents,
    { acceptor, now, onDone }: { acceptor: Acceptor; now: () => number; onDone: () => void },
  ) {
    super(response, isHead, isLast, events)
    this.#acceptor = acceptor
    this.#now = now
    this.#onDone = onDone
    response.onAborted(() => {
      this.#done()
      this.gone()
    })
    response.onWritable(() => {
      // Unless asked, the engine sends what it keeps of a stream only with the next write.
      if (this.#length === null) response.cork(() => {})
      else if (this.#untaken !== null && !this.offer(this.#untaken)) return false
      this.room()
      return true
    })
  }

  protected get unsent(): number {
    return this.#untaken?.length ?? 0
  }

  protected together(write: () => void): void {
    this.response.cork(write)
  }

  protected sendWithoutBody(head: string | Uint8Array, length: number | null): void {
    const { response } = this
    const whole = headText(head) + (length === null ? '' : `\r\nContent-Length: ${length}`)
    if (this.isLast()) {
      closeAfterHead(response, whole, this.#now(), () => this.#isDone)
      return
    }
    response.cork(() => {
      response.writeStatus(whole)
      response.endWithoutBody()
    })
    this.#done()
  }

  protected sendHead(head: string | Uint8Array, length: number | null): void {
    this.#length = length
    if (length === null) {
      this.#acceptor.streamBegan()
      const onDone = this.#onDone
      this.#onDone = () => {
        this.#acceptor.streamEnded()
        onDone()
      }
    }
    const whole = length === null ? withClosing(head) : this.#wholeHead(head)
    this.response.cork(() => this.response.writeStatus(whole))
  }

  protected offer(bytes: Uint8Array): boolean {
    if (this.#isComplete) return true
    const { response } = this
    const length = this.#length
    if (length === null) {
      // The engine keeps a copy of what is not taken, and a chunk cannot be taken back.
      let isTaken = false
      response.cork(() => (isTaken = response.write(bytes)))
      return isTaken
    }
    const before = response.getWriteOffset()
    this.#advance(before, length, () =>
      response.cork(() => {
        this.#isComplete = response.tryEnd(bytes, length)[1]
      }),
    )
    if (this.#isComplete) this.#done()
    const taken = this.#isComplete ? bytes.length : response.getWriteOffset() - before
    this.#untaken = taken === bytes.length ? null : new Uint8Array(bytes.subarray(taken))
    return this.#untaken === null
  }

  protected finish(): void {
    // A body of known length has ended with its last byte, unless it has none.
    if (this.#length === 0) this.offer(NOTHING)
    if (this.#length !== null) return
    // The client closes the connection, as the head asks, or the engine after a silence. `end` with `close`
    // would write into the body, chunks move no write offset, and nothing reports when the last has left.
    this.response.cork(() => this.response.end())
    this.#done()
  }

  protected destroy(): void {
    this.#done()
    if (!this.#isComplete) this.response.close()
  }

  /** Offers bytes and closes the connection behind a last answer; after an empty body the client closes. */
  #advance(offset: number, length: number, offer: () => void): void {
    if (!this.#isClosing || length === 0) {
      offer()
      return
    }
    const connection = this.#acceptor.findMoved(offset, offer)
    // Written bytes go to the kernel before the connection is closed.
    if (connection !== null && this.#isComplete) setImmediate(() => this.#acceptor.close(connection))
  }

  #done(): void {
    const onDone = this.#onDone
    this.#onDone = () => {}
    this.#isDone = true
    onDone()
  }

  #wholeHead(head: string | Uint8Array): string | Uint8Array {
    this.#isClosing = this.isLast()
    return this.#isClosing ? withClosing(head) : head
  }
}
