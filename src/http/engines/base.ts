/** What both engines share: a request up to its answer, now or later, and when a port may be closed. */
// Not the global, which is a getter.
import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { inUrl } from '../../system/text.ts'
import {
  FAULT,
  GONE,
  headText,
  KEPT,
  NO_KEY,
  NO_ROUTE,
  NOT_RECORDED,
  NOTHING,
  statusOf,
} from '../exchange.ts'
import type {
  Answered,
  Engine,
  Framing,
  HeaderName,
  LaterEvents,
  LaterReply,
  OnRequest,
  RecordedLater,
  Retried,
  Refusal,
  EngineNeeds,
} from '../exchange.ts'

/** The head of a connection's last answer. */
export function withClosing(head: string | Uint8Array): string {
  return `${headText(head).replace(KEPT, '')}\r\nConnection: close`
}

/**
 * A connection's last answer after `HTTP/1.1 `, without the last line end, which counts as blanks of a JSON
 * body. `length`: of the body; null for no length header. `body`: null if none goes out.
 */
export function lastAnswer(
  head: string | Uint8Array,
  length: number | null,
  body: Uint8Array | null,
): Uint8Array {
  const blanks = body === null ? 0 : 2
  const size = length === null ? '' : `\r\nContent-Length: ${length + blanks}`
  const date = new Date().toUTCString()
  const lines = `${withClosing(head)}${size}\r\nDate: ${date}\r\n`
  return body === null ? Buffer.from(lines) : Buffer.concat([Buffer.from(`${lines}\r\n`), body])
}

/** The main thread found the address free (`port.ts`), so the fault may pass. */
export function listenFault(host: string, port: number, reason: string): Error {
  return new Error(`cannot listen on ${inUrl(host)}:${port}: ${reason}`)
}

/** Bytes of copies that a thread holds for slow clients. An answer beyond them cuts its connection. */
export const BUFFER_LIMIT_BYTES = 64 * 1024 * 1024

/** The port of an engine: when it may be closed, and when all is answered. */
export abstract class BaseEngine implements Engine {
  protected abstract readonly exchange: BaseExchange<unknown, unknown>
  /** Connections that were accepted, where a turn of the loop accepts a single one. */
  protected accepted = 0
  #portClosed: Promise<void> | null = null

  abstract listen(host: string, port: number): Promise<number>
  abstract close(): void
  /** Existing connections are still served. */
  protected abstract closePort(): void

  drain(): void {
    this.exchange.isDraining = true
  }

  /** Closes the port after a short turn: closing it resets connections that are not accepted yet. */
  stopListening(): Promise<void> {
    return (this.#portClosed ??= this.#closeBehindShortTurn())
  }

  async #closeBehindShortTurn(): Promise<void> {
    const patience = performance.now() + CLOSING_PATIENCE_MS
    // What is left of this turn accepts none.
    await nextTurn()
    let [began, before] = [0, 0]
    do {
      began = performance.now()
      before = this.accepted
      await nextTurn()
    } while ((performance.now() - began >= SHORT_TURN_MS || this.accepted > before) && began < patience)
    this.closePort()
  }

  /** Resolves when the closed port has been quiet, with all answered, for 50 ms, or after `withinMs`. */
  async finish(withinMs: number): Promise<void> {
    const end = performance.now() + withinMs
    await this.stopListening()
    let before = this.exchange.arrived
    // A turn of the loop before each look reads what has come to its sockets.
    for (let quiet = 0; quiet < QUIET_LOOKS && performance.now() < end;) {
      await sleep(QUIET_INTERVAL_MS)
      const { arrived, unfinished } = this.exchange
      quiet = arrived === before && unfinished === 0 ? quiet + 1 : 0
      before = arrived
    }
  }
}

/** A turn of the loop as short as this has found next to no connection to accept. */
const SHORT_TURN_MS = 0.1
/** Time after which a port is closed without a short turn. */
const CLOSING_PATIENCE_MS = 1000
const QUIET_INTERVAL_MS = 10
/** Looks in a row that see nothing new: a client's first bytes have come by then. */
const QUIET_LOOKS = 5

/** A client has this time for the body of its request, as for the head. */
const BODY_MS = 10_000

export abstract class BaseExchange<Request, Response> implements Answered {
  method = ''
  abstract readonly path: string
  abstract readonly query: string
  keyRow = NO_KEY
  status = 0
  bytes = 0
  requestId = ''
  protected head: string | Uint8Array = ''
  isDraining = false
  /** Requests so far. */
  arrived = 0
  /** Requests with an answer that was put off, or that waits for its client. */
  unfinished = 0
  /** Bytes that are copied for slow clients. */
  #buffered = 0
  protected framing: Framing = 'no body'
  readonly needs: EngineNeeds
  readonly #onRequest: OnRequest
  /** `begun` lasts while bytes are handed over; seen from outside, it means that sending failed half-way. */
  #state: 'open' | 'begun' | 'answered' = 'answered'
  /** Null once the handler has returned: a later use is then an ordinary error. */
  #request: Request | null = null
  protected response: Response | null = null
  #later: LaterReply | null = null
  #begun = 0

  constructor(onRequest: OnRequest, needs: EngineNeeds) {
    this.#onRequest = onRequest
    this.needs = needs
  }

  get cameWithBody(): boolean {
    return this.framing !== 'no body'
  }

  /** A watchdog in another thread reads the route of a request that takes too long. */
  get route(): number {
    return this.needs.serving[0]
  }

  set route(route: number) {
    this.needs.serving[0] = route
  }

  /** Counts `bytes` until they are given back. @returns false where they would pass the limit */
  protected buffer(bytes: number): boolean {
    if (this.#buffered + bytes > BUFFER_LIMIT_BYTES) {
      this.needs.onNotBuffered()
      return false
    }
    this.#buffered += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#buffered -= bytes
  }

  abstract header(name: HeaderName): string
  abstract headerValues(name: HeaderName): string
  abstract address(): string

  /** No error leaves it, and no request stays unanswered: either would end the process. */
  protected serve(method: string, request: Request, response: Response, refusal: Refusal | null): void {
    const { recorder, onProgress, onThrow } = this.needs
    onProgress()
    this.arrived++
    this.method = method
    this.#request = request
    this.response = response
    this.#later = null
    this.route = NO_ROUTE
    this.keyRow = NO_KEY
    this.requestId = ''
    this.#state = 'open'
    this.#begun = performance.now()
    try {
      if (refusal === null) this.#onRequest(this)
      else this.send(refusal.head, refusal.body, true)
      if (this.#state === 'open') throw new Error('the handler returned without an answer')
    } catch (error) {
      this.#fail()
      queueMicrotask(() => onThrow(error))
    } finally {
      if (this.#later === null) recorder.answered(this, this.#begun)
      this.route = NO_ROUTE
      this.#request = null
      this.response = null
    }
  }

  send(head: string | Uint8Array, body: Uint8Array | null, lasting = false): void {
    this.#refuseSecond()
    this.status = statusOf(head)
    this.head = head
    this.bytes = body === null || this.method === 'HEAD' ? 0 : body.length
    this.#state = 'begun'
    this.reply(body, lasting)
    this.#state = 'answered'
  }

  later(events: LaterEvents): LaterReply {
    this.#refuseSecond()
    const reply = this.putOff(this.response!, events)!
    this.#later = reply
    reply.recorded = this.needs.recorder.deferred(this, this.#begun)
    this.#state = 'answered'
    return reply
  }

  laterWithBody(
    most: number,
    events: LaterEvents,
    onBody: (body: Uint8Array<ArrayBuffer> | null) => void,
  ): LaterReply {
    const pieces: Uint8Array[] = []
    let bytes = 0
    const reply = this.later({
      ...events,
      onGone: () => {
        clearTimeout(late)
        events.onGone()
      },
    })
    const late = setTimeout(() => {
      reply.cut()
      events.onGone()
    }, BODY_MS)
    const take = (piece: Uint8Array, isLast: boolean): void => {
      if (reply.isOver) return
      bytes += piece.length
      if (bytes <= most) pieces.push(piece)
      if (!isLast) return
      clearTimeout(late)
      onBody(bytes > most ? null : new Uint8Array(Buffer.concat(pieces)))
    }
    if (this.cameWithBody) this.readBody(take)
    else setImmediate(take, NOTHING, true)
    return reply
  }

  /** Gives a body on, piece by piece; the bytes of a piece never change. */
  protected abstract readBody(onPiece: (bytes: Uint8Array, isLast: boolean) => void): void

  /** Sends `head`, and a body of which `bytes` go out. */
  protected abstract reply(body: Uint8Array | null, lasting: boolean): void
  protected abstract putOff(response: Response, events: LaterEvents): BaseLaterReply<Response> | null
  protected abstract cut(): void

  /** 500 if nothing was sent; cuts the connection if sending failed half-way. */
  #fail(): void {
    if (this.#state === 'open') this.send(FAULT.head, FAULT.body, true)
    else if (this.#state === 'begun') this.cut()
    else this.#later?.cut()
  }

  #refuseSecond(): void {
    if (this.#state !== 'open') throw new Error('this request has already been answered')
  }

  protected get request(): Request {
    if (this.#request === null) throw new Error('the exchange is over')
    return this.#request
  }
}

const NO_CONTENT = 204

export abstract class BaseLaterReply<Response> implements LaterReply {
  protected readonly isHead: boolean
  isOver = false
  recorded: RecordedLater = NOT_RECORDED
  #hasBegun = false
  /** Bytes of the body so far. */
  #bytes = 0
  #hasRoom = true
  /** All of the body is offered: the reply ends when there is room again. */
  #isEnding = false
  protected readonly exchange: BaseExchange<unknown, Response>
  protected readonly response: Response
  readonly #events: LaterEvents

  constructor(exchange: BaseExchange<unknown, Response>, response: Response, events: LaterEvents) {
    this.exchange = exchange
    this.response = response
    this.isHead = exchange.method === 'HEAD'
    this.#events = events
  }

  send(head: string | Uint8Array, body: Uint8Array): void {
    this.begin(head, body.length)
    this.write(body)
    this.end()
  }

  begin(head: string | Uint8Array, length: number | null): void {
    if (this.isOver) return
    this.#hasBegun = true
    const status = statusOf(head)
    this.recorded.begun(status)
    const isNoContent = status === NO_CONTENT
    if (this.isHead || isNoContent) this.#over()
    this.sendHead(head, isNoContent ? null : length, isNoContent)
  }

  write(bytes: Uint8Array): boolean {
    if (this.isOver) return true
    this.#bytes += bytes.length
    this.#hasRoom = this.offer(bytes)
    return this.#hasRoom
  }

  retry(): Retried {
    if (this.isOver) return { isRead: false, mayWrite: false }
    const retried = this.offerAgain()
    if (retried.mayWrite) this.#hasRoom = true
    return retried
  }

  end(): void {
    if (this.isOver) return
    this.#isEnding = true
    if (!this.#hasRoom) return
    this.#over()
    this.finish()
  }

  cut(): void {
    if (this.isOver) return
    this.#over()
    this.destroy()
  }

  #over(): void {
    this.isOver = true
    if (!this.#hasBegun) this.recorded.begun(GONE)
    this.recorded.ended(this.#bytes)
  }

  /**
   * Sends the head. On HEAD and without content, which has no length either (RFC 9110, 8.6), it goes out now,
   * else perhaps with the first bytes. `length`: null for a stream.
   */
  protected abstract sendHead(head: string | Uint8Array, length: number | null, isNoContent: boolean): void
  /** @returns whether all is out, and there is room for more */
  protected abstract offer(bytes: Uint8Array): boolean
  protected abstract offerAgain(): Retried
  protected abstract finish(): void
  protected abstract destroy(): void

  protected gone(): void {
    if (this.isOver) return
    this.#over()
    this.#events.onGone()
  }

  protected room(): void {
    if (this.isOver) return
    this.#hasRoom = true
    if (this.#isEnding) this.end()
    else this.#events.onRoom()
  }
}
