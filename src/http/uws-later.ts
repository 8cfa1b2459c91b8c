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
  #length = 0
  /** What was written and not taken. */
  #rest: Uint8Array | null = null
  /** Whether the last byte of the body is out: then the response is dead, and touching it throws. */
  #isComplete = false

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
      if (this.#rest !== null && !this.#offer(this.#rest)) return false
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

  begin(head: string | Uint8Array, length: number): void {
    if (this.isOver) return
    const response = this.#response
    this.#length = length
    response.cork(() => {
      if (!this.isHead) {
        response.writeStatus(this.#wholeHead(head))
        return
      }
      this.isOver = true
      response.writeStatus(`${headText(this.#wholeHead(head))}\r\nContent-Length: ${length}`)
      response.endWithoutBody()
    })
  }

  write(bytes: Uint8Array): boolean {
    return this.isOver || this.#offer(bytes)
  }

  /** Hands over bytes of the body, and keeps a copy of those that are not taken. */
  #offer(bytes: Uint8Array): boolean {
    if (this.#isComplete) return true
    const response = this.#response
    const before = response.getWriteOffset()
    response.cork(() => {
      this.#isComplete = response.tryEnd(bytes, this.#length)[1]
    })
    const taken = this.#isComplete ? bytes.length : response.getWriteOffset() - before
    this.#rest = taken === bytes.length ? null : bytes.slice(taken)
    return this.#rest === null
  }

  end(): void {
    this.isOver = true
  }

  cut(): void {
    if (this.isOver) return
    this.isOver = true
    if (!this.#isComplete) this.#response.close()
  }

  #wholeHead(head: string | Uint8Array): string | Uint8Array {
    return this.#isLast() ? headText(head) + CLOSING : head
  }
}
