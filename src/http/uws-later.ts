/** Replies of the engine on uWebSockets.js that come after their handlers have returned. */
import type { UwsResponse } from './binding.ts'
import { headText, type LaterEvents, type LaterReply } from './exchange.ts'

const CLOSING = '\r\nConnection: close'

/** What comes later is corked by hand: within a handler the engine does it. */
export class UwsLaterReply implements LaterReply {
  readonly isHead: boolean
  isOver = false
  readonly #response: UwsResponse
  readonly #isLast: () => boolean

  /** `isLast`: whether an answer that begins now is the last of its connection, as its client is told. */
  constructor(
    response: UwsResponse,
    isHead: boolean,
    isLast: () => boolean,
    { onRoom, onGone }: LaterEvents,
  ) {
    this.#response = response
    this.isHead = isHead
    this.#isLast = isLast
    response.onAborted(() => {
      if (this.isOver) return
      this.isOver = true
      onGone()
    })
    response.onWritable(() => {
      if (!this.isOver) onRoom()
      return true
    })
  }

  send(head: string | Uint8Array, body: Uint8Array | null): void {
    if (this.isOver) return
    this.isOver = true
    const response = this.#response
    response.cork(() => {
      if (body === null || this.isHead) {
        const length = body === null ? '' : `\r\nContent-Length: ${body.length}`
        response.writeStatus(headText(this.#wholeHead(head)) + length)
        response.endWithoutBody()
        return
      }
      response.writeStatus(this.#wholeHead(head))
      const [, done] = response.tryEnd(body, body.length)
      if (done) return
      response.onWritable((offset) => response.tryEnd(body.subarray(offset), body.length)[0])
    })
  }

  begin(head: string | Uint8Array): void {
    if (this.isOver) return
    const response = this.#response
    response.cork(() => {
      if (!this.isHead) {
        response.writeStatus(this.#wholeHead(head))
        return
      }
      this.isOver = true
      response.writeStatus(`${headText(this.#wholeHead(head))}\r\nTransfer-Encoding: chunked`)
      response.endWithoutBody()
    })
  }

  write(bytes: Uint8Array): boolean {
    if (this.isOver) return true
    let hasRoom = true
    this.#response.cork(() => {
      hasRoom = this.#response.write(bytes)
    })
    return hasRoom
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.#response.cork(() => this.#response.end())
  }

  cut(): void {
    if (this.isOver) return
    this.isOver = true
    this.#response.close()
  }

  #wholeHead(head: string | Uint8Array): string | Uint8Array {
    return this.#isLast() ? headText(head) + CLOSING : head
  }
}
