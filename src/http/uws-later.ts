/** Replies of the engine on uWebSockets.js that come after their handlers have returned. */
import type { UwsResponse } from './binding.ts'
import { headText, type LaterEvents } from './exchange.ts'
import { BaseLaterReply } from './later.ts'

export const CLOSING = '\r\nConnection: close'

/** What comes later is corked by hand: within a handler the engine does it. */
export class UwsLaterReply extends BaseLaterReply<UwsResponse> {
  #length = 0
  /** What was written and not taken. */
  #rest: Uint8Array | null = null
  /** Whether the last byte of the body is out: then the response is dead, and touching it throws. */
  #isComplete = false

  constructor(response: UwsResponse, isHead: boolean, isLast: () => boolean, events: LaterEvents) {
    super(response, isHead, isLast, events)
    response.onAborted(() => this.gone())
    response.onWritable(() => {
      if (this.#rest !== null && !this.offer(this.#rest)) return false
      this.room()
      return true
    })
  }

  protected sendWhole(head: string | Uint8Array, body: Uint8Array | null, length: number | null): void {
    const { response } = this
    response.cork(() => {
      if (body === null) {
        const header = length === null ? '' : `\r\nContent-Length: ${length}`
        response.writeStatus(headText(this.#wholeHead(head)) + header)
        response.endWithoutBody()
        return
      }
      response.writeStatus(this.#wholeHead(head))
      const [, done] = response.tryEnd(body, body.length)
      if (done) return
      response.onWritable((offset) => response.tryEnd(body.subarray(offset), body.length)[0])
    })
  }

  protected sendHead(head: string | Uint8Array, length: number): void {
    this.#length = length
    this.response.cork(() => this.response.writeStatus(this.#wholeHead(head)))
  }

  /** Hands over bytes of the body, and keeps a copy of those that are not taken. */
  protected offer(bytes: Uint8Array): boolean {
    if (this.#isComplete) return true
    const { response } = this
    const before = response.getWriteOffset()
    response.cork(() => {
      this.#isComplete = response.tryEnd(bytes, this.#length)[1]
    })
    const taken = this.#isComplete ? bytes.length : response.getWriteOffset() - before
    this.#rest = taken === bytes.length ? null : new Uint8Array(bytes.subarray(taken))
    return this.#rest === null
  }

  /** The last byte has ended the response. */
  protected finish(): void {}

  protected destroy(): void {
    if (!this.#isComplete) this.response.close()
  }

  #wholeHead(head: string | Uint8Array): string | Uint8Array {
    return this.isLast() ? headText(head) + CLOSING : head
  }
}
