/** What the later replies of both engines share. */
import { GONE, statusOf, type LaterEvents, type LaterReply, type OnAnswer } from './exchange.ts'

export abstract class BaseLaterReply<Response> implements LaterReply {
  readonly isHead: boolean
  isOver = false
  /** Called once with the status of the answer and the bytes of its body when it begins, or `GONE`. */
  onAnswer: OnAnswer = () => {}
  #hasBegun = false
  /**
   * Of a stream, which is recorded when it ends: its status and head, when it began, and the bytes so far.
   */
  #stream: { status: number; head: string; at: number; bytes: number } | null = null
  protected readonly response: Response
  /** Whether an answer that begins now is the last of its connection. */
  protected readonly isLast: () => boolean
  readonly #events: LaterEvents

  constructor(response: Response, isHead: boolean, isLast: () => boolean, events: LaterEvents) {
    this.response = response
    this.isHead = isHead
    this.isLast = isLast
    this.#events = events
  }

  send(head: string | Uint8Array, body: Uint8Array | null): void {
    if (this.isOver) return
    this.isOver = true
    this.#begin(statusOf(head), body?.length ?? 0, head)
    this.sendWhole(head, this.isHead ? null : body, body?.length ?? null)
  }

  begin(head: string | Uint8Array, length: number): void {
    if (this.isOver) return
    this.#begin(statusOf(head), length, head)
    if (this.isHead) {
      this.isOver = true
      this.sendWhole(head, null, length)
    } else this.sendHead(head, length)
  }

  stream(head: string | Uint8Array): void {
    if (this.isOver) return
    const text = typeof head === 'string' ? head : ''
    this.#stream = { status: statusOf(head), head: text, at: performance.now(), bytes: 0 }
    if (this.isHead) {
      this.isOver = true
      this.#begin(GONE, 0)
      this.sendWhole(head, null, null)
    } else this.sendHead(head, null)
  }

  write(bytes: Uint8Array): boolean {
    if (this.#stream !== null) this.#stream.bytes += bytes.length
    return this.isOver || this.offer(bytes)
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    // Of a stream; anything else has begun.
    this.#begin(GONE, 0)
    this.finish()
  }

  cut(): void {
    if (this.isOver) return
    this.isOver = true
    this.#begin(GONE, 0)
    this.destroy()
  }

  #begin(status: number, bytes: number, head: string | Uint8Array = ''): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    if (this.#stream !== null) {
      const { status: sent, head: text, at, bytes: streamed } = this.#stream
      this.onAnswer(sent, streamed, text, at)
      return
    }
    this.onAnswer(status, this.isHead ? 0 : bytes, head)
  }

  /** An answer without a body has the header of its length unless `length` is null. */
  protected abstract sendWhole(
    head: string | Uint8Array,
    body: Uint8Array | null,
    length: number | null,
  ): void
  /** `length`: null for a stream. */
  protected abstract sendHead(head: string | Uint8Array, length: number | null): void
  /** @returns whether there is room for more */
  protected abstract offer(bytes: Uint8Array): boolean
  protected abstract finish(): void
  protected abstract destroy(): void

  /** The connection is gone. */
  protected gone(): void {
    if (this.isOver) return
    this.isOver = true
    this.#begin(GONE, 0)
    this.#events.onGone()
  }

  protected room(): void {
    if (!this.isOver) this.#events.onRoom()
  }
}
