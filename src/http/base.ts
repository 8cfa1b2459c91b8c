/** What the exchanges of both engines share: the life of a request from its beginning to its answer. */
import { FAULT_BODY, FAULT_HEAD } from './exchange.ts'
import type {
  Again,
  Exchange,
  Framing,
  HeaderName,
  LaterEvents,
  LaterReply,
  OnRequest,
  Refusal,
} from './exchange.ts'

export abstract class BaseExchange<Request, Response> implements Exchange {
  method = ''
  abstract readonly path: string
  abstract readonly query: string
  abstract readonly framing: Framing
  draining = false
  /**
   * `begun` lasts only while bytes are handed over: seen from outside, it means that this failed half-way.
   */
  state: 'open' | 'begun' | 'answered' = 'answered'
  #request: Request | null = null
  #response: Response | null = null
  /** Of this request, where its reply was put off. */
  #later: LaterReply | null = null

  protected open(method: string, request: Request, response: Response): void {
    this.method = method
    this.#request = request
    this.#response = response
    this.#later = null
    this.state = 'open'
  }

  /**
   * Has the request answered by `onRequest`, or with `refusal`. No error leaves it, and no request is left
   * without an answer: either would end the process.
   */
  answer(onRequest: OnRequest, refusal: Refusal | null, onThrow: (error: unknown) => void): void {
    try {
      if (refusal === null) onRequest(this)
      else this.send(refusal.head, refusal.body, true)
      if (this.state === 'open') throw new Error('the handler returned without an answer')
    } catch (error) {
      this.#fail()
      queueMicrotask(() => onThrow(error))
    } finally {
      this.release()
    }
  }

  abstract header(name: HeaderName): string
  abstract headerValues(name: HeaderName): string
  abstract address(): string
  abstract send(head: string | Uint8Array, body: Uint8Array | null, lasting?: boolean | Again): void

  later(events: LaterEvents): LaterReply | null {
    const response = this.liveResponse()
    this.refuseSecond()
    const reply = this.putOff(response, events)
    if (reply === null) return null
    this.#later = reply
    this.state = 'answered'
    return reply
  }

  /** Null where the connection has to end with the answer. */
  protected abstract putOff(response: Response, events: LaterEvents): LaterReply | null

  /** Ends the connection at once. */
  protected abstract cut(): void

  /** Lets go of the engine's objects, so that a use after the handler's return is an ordinary error. */
  protected release(): void {
    this.#request = null
    this.#response = null
  }

  /** 500 if nothing was sent, a cut connection if sending failed half-way. */
  #fail(): void {
    if (this.state === 'open') this.send(FAULT_HEAD, FAULT_BODY, true)
    else if (this.state === 'begun') this.cut()
    else this.#later?.cut()
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
