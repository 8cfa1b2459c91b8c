/** What both engines share in a request's life, from its beginning to its answer, now or later. */
import { FAULT_BODY, FAULT_HEAD, GONE, MOST_WRITE_BYTES, NO_KEY, NO_ROUTE, statusOf } from '../exchange.ts'
import type {
  Again,
  Answered,
  Exchange,
  Framing,
  HeaderName,
  LaterEvents,
  LaterReply,
  OnAnswer,
  OnRequest,
  Recorder,
  Refusal,
} from '../exchange.ts'
import type { UnsentBody } from './unsent-bodies.ts'

export abstract class BaseExchange<Request, Response> implements Answered {
  method = ''
  abstract readonly path: string
  abstract readonly query: string
  abstract readonly framing: Framing
  route = NO_ROUTE
  keyRow = NO_KEY
  mayWait = true
  status = 0
  bytes = 0
  head: string | Uint8Array = ''
  draining = false
  /** `begun` lasts while bytes are handed over; seen from outside, it means that sending failed half-way. */
  state: 'open' | 'begun' | 'answered' = 'answered'
  #request: Request | null = null
  #response: Response | null = null
  #later: LaterReply | null = null
  /** The part of the body that the client has not taken at once. */
  protected unsent: UnsentBody | null = null
  #begun = 0
  readonly #recorder: Recorder

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  protected open(method: string, request: Request, response: Response): void {
    this.method = method
    this.#request = request
    this.#response = response
    this.#later = null
    this.unsent = null
    this.route = NO_ROUTE
    this.keyRow = NO_KEY
    this.state = 'open'
  }

  /** No error leaves it, and no request stays unanswered: either would end the process. */
  answer(onRequest: OnRequest, refusal: Refusal | null, onThrow: (error: unknown) => void): void {
    this.#begun = this.#recorder.begin()
    try {
      if (refusal === null) onRequest(this)
      else this.send(refusal.head, refusal.body, true)
      if (this.state === 'open') throw new Error('the handler returned without an answer')
    } catch (error) {
      this.#fail()
      queueMicrotask(() => onThrow(error))
    } finally {
      if (this.#later === null) this.#record()
      this.release()
    }
  }

  #record(): void {
    if (this.unsent === null) this.#recorder.answered(this, this.#begun)
    else this.unsent.onOver = this.#recorder.unfinished(this, this.#begun)
  }

  abstract header(name: HeaderName): string
  abstract headerValues(name: HeaderName): string
  abstract address(): string
  abstract send(head: string | Uint8Array, body: Uint8Array | null, lasting?: boolean | Again): void

  later(events: LaterEvents, copy?: Exchange): LaterReply | null {
    const response = this.liveResponse()
    this.refuseSecond()
    const reply = this.putOff(response, events)
    if (reply === null) return null
    this.#later = reply
    reply.onAnswer = this.#recorder.deferred(this, this.#begun, copy)
    this.state = 'answered'
    return reply
  }

  /** Null if the connection has to end with the answer. */
  protected abstract putOff(response: Response, events: LaterEvents): BaseLaterReply<Response> | null

  protected abstract cut(): void

  /** Lets go of the engine's objects: a use after the handler's return is then an ordinary error. */
  protected release(): void {
    this.#request = null
    this.#response = null
  }

  /** 500 if nothing was sent; cuts the connection if sending failed half-way. */
  #fail(): void {
    if (this.state === 'open') this.send(FAULT_HEAD, FAULT_BODY, true)
    else if (this.state === 'begun') this.cut()
    else this.#later?.cut()
  }

  /** @throws Error when there has been an answer */
  protected note(head: string | Uint8Array, body: Uint8Array | null): void {
    this.refuseSecond()
    this.status = statusOf(head)
    this.head = head
    this.bytes = body === null || this.method === 'HEAD' ? 0 : body.length
  }

  protected refuseSecond(): void {
    if (this.state !== 'open') throw new Error('this request has already been answered')
  }

  protected liveRequest(): Request {
    if (this.#request === null) throw new Error('the exchange is over')
    return this.#request
  }

  protected liveResponse(): Response {
    if (this.#response === null) throw new Error('the exchange is over')
    return this.#response
  }
}

export abstract class BaseLaterReply<Response> implements LaterReply {
  readonly isHead: boolean
  isOver = false
  /** Called once, with the status and the sent bytes of the body, or `GONE`. */
  onAnswer: OnAnswer = () => {}
  #isRecorded = false
  /** The answer in pieces that is under way; `bytes` of its body so far. */
  #begun: { status: number; head: string; at: number; bytes: number } | null = null
  protected readonly response: Response
  /** Whether an answer that begins now is the connection's last. */
  protected readonly isLast: () => boolean
  readonly #events: LaterEvents
  #onRoom: () => void

  constructor(response: Response, isHead: boolean, isLast: () => boolean, events: LaterEvents) {
    this.response = response
    this.isHead = isHead
    this.isLast = isLast
    this.#events = events
    this.#onRoom = () => events.onRoom()
  }

  send(head: string | Uint8Array, body: Uint8Array | null, lasting: boolean | Again = true): void {
    if (this.isOver) return
    if (body === null || body.length === 0 || this.isHead) {
      this.#sendWithoutBody(head, body?.length ?? null)
      return
    }
    this.together(() => {
      this.#begin(head, body.length)
      this.#sendPieces(body, lasting)
    })
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
    this.#sendWithoutBody(head, length)
  }

  #sendWithoutBody(head: string | Uint8Array, length: number | null): void {
    this.isOver = true
    this.#record(statusOf(head), 0, head)
    this.sendWithoutBody(head, length)
  }

  /** Sends a body as its client takes it; holds no copy of one that can be made again. */
  #sendPieces(body: Uint8Array, lasting: boolean | Again): void {
    const { length } = body
    const mayChange = lasting === false && length > MOST_WRITE_BYTES
    const kept = typeof lasting === 'function' ? null : mayChange ? new Uint8Array(body) : body
    let sent = 0
    const goOn = (bytes: Uint8Array | null): void => {
      if (bytes === null || bytes.length !== length) {
        this.cut()
        return
      }
      let hasRoom = true
      while (hasRoom && sent < length && !this.isOver) {
        const piece = bytes.subarray(sent, sent + MOST_WRITE_BYTES)
        sent += piece.length
        hasRoom = this.write(piece)
      }
      if (hasRoom) this.end()
    }
    const onRoom = (): void => {
      if (sent === length) this.end()
      else if (!this.isOver) goOn(kept ?? remade(lasting as Again))
    }
    // The call that reports room must return before the next piece.
    this.#onRoom = () => void setImmediate(onRoom)
    goOn(body)
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

  /** Bytes of the body that were offered and, as far as is known, are not out. */
  protected abstract get unsent(): number

  /** Has what `write` sends go out at once. */
  protected abstract together(write: () => void): void
  /** `length`: null for no length header. */
  protected abstract sendWithoutBody(head: string | Uint8Array, length: number | null): void
  /** `length`: null for a stream. */
  protected abstract sendHead(head: string | Uint8Array, length: number | null): void
  /** @returns whether there is room for more */
  protected abstract offer(bytes: Uint8Array): boolean
  protected abstract finish(): void
  protected abstract destroy(): void

  protected gone(): void {
    if (this.isOver) return
    this.#over(this.unsent)
    this.#events.onGone()
  }

  protected room(): void {
    if (!this.isOver) this.#onRoom()
  }
}

/** Null if the body cannot be made again. */
function remade(again: Again): Uint8Array | null {
  try {
    return again()
  } catch {
    return null
  }
}
