/** What the later replies of both engines share. */
import { GONE, statusOf, type LaterEvents, type LaterReply, type OnAnswer } from './exchange.ts'

export abstract class BaseLaterReply<Response> implements LaterReply {
  readonly isHead: boolean
  isOver = false
  /** Called once, when the reply is over, with the status and the bytes of the body that were sent, or `GONE`. */
  onAnswer: OnAnswer = () => {}
  #isRecorded = false
  /** Of an answer in pieces: its status and head, when it began, and the bytes of its body so far. */
  #begun: { status: number; head: string; at: number; bytes: number } | null = null
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
    this.#record(statusOf(head), body?.length ?? 0, head)
    this.sendWhole(head, this.isHead ? null : body, body?.length ?? null)
  }

  begin(head: string | Uint8Array, length: number): void {
    if (this.isOver) return
    this.#begin(head, length)
  }

  stream(head: string | Uint8Array): void {
    if (this.isOver) return
    this.#begin(head, null)
  }

  write(bytes: Uint8Array): boolean {
    if (this.isOver) return true
    if (this.#begun !== null) this.#begun.bytes += bytes.length
    return this.offer(bytes)
  }

  end(): void {
    if (this.isOver) return
    this.#over(0)
    this.finish()
  }

  cut(): void {
    if (this.isOver) return
    this.#over(this.unsent)
    this.destroy()
  }

  /** `length`: null for a stream. */
  #begin(head: string | Uint8Array, length: number | null): void {
    if (!this.isHead) {
      // The bytes of a head may be in a buffer that is used again.
      const text = typeof head === 'string' ? head : ''
      this.#begun = { status: statusOf(head), head: text, at: performance.now(), bytes: 0 }
      this.sendHead(head, length)
      return
    }
    this.isOver = true
    this.#record(statusOf(head), 0, head)
    this.sendWhole(head, null, length)
  }

  #over(unsent: number): void {
    this.isOver = true
    if (this.#begun === null) {
      this.#record(GONE, 0, '')
      return
    }
    const { status, bytes, head, at } = this.#begun
    this.#record(status, bytes - unsent, head, at)
  }

  #record(status: number, bytes: number, head: string | Uint8Array, at?: number): void {
    if (this.#isRecorded) return
    this.#isRecorded = true
    this.onAnswer(status, this.isHead ? 0 : bytes, head, at)
  }

  /** Bytes of the body that were offered and are not out yet, as far as that is known. */
  protected abstract get unsent(): number

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
    this.#over(this.unsent)
    this.#events.onGone()
  }

  protected room(): void {
    if (!this.isOver) this.#events.onRoom()
  }
}
