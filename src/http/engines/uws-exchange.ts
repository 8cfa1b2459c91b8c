/** One request of the engine on uWebSockets.js and its reply. */
import { SocketAddress } from 'node:net'

import { unmapped } from '../../access/ip-address.ts'
import { BaseExchange } from './base-exchange.ts'
import type { UwsRequest, UwsResponse } from './uws-binding.ts'
import {
  CONNECTION,
  CONTENT_LENGTH,
  EXPECT,
  framingOf,
  headText,
  TOO_MUCH_UNREAD,
  TRANSFER_ENCODING,
} from '../exchange.ts'
import type { Again, Framing, HeaderName, LaterEvents, Pressure, Surroundings } from '../exchange.ts'
import { AT_ONCE_BYTES, GATHERED_BYTES, type BufferedBytes } from './limits.ts'
import { firstPiece, SendQueue, UnsentBody } from './unsent-bodies.ts'
import { ANSWER_LIMIT_BYTES, type Acceptor } from './uws-acceptor.ts'
import { closeAfterHead, UwsLaterReply, withClosing } from './uws-later.ts'

/** What the engine adds to a head: version, date, length and the like. */
const ADDED_HEAD_BYTES = 90
/** A head that is not known yet; ours are shorter. */
const LATER_HEAD_BYTES = 1024
const NOTHING = new Uint8Array(0)
const NONE: readonly string[] = []
const ASKS_TO_CLOSE = /(^|,)[ \t]*close[ \t]*(,|$)/i

/** The headers of one request after the other, read all at once: six calls one by one cost as much. */
export class RequestHeaders {
  #count = 0
  readonly #names: string[] = []
  readonly #values: string[] = []

  begin(): void {
    // No text of a request, such as its key, outlasts the next one.
    while (this.#count > 0) this.#values[--this.#count] = ''
  }

  /** The name is in lower case. */
  readonly take = (name: string, value: string): void => {
    this.#names[this.#count] = name
    this.#values[this.#count++] = value
  }

  /** '' without a value. */
  first(name: HeaderName): string {
    for (let i = 0; i < this.#count; i++) if (this.#names[i] === name) return this.#values[i]
    return ''
  }

  /** All values in order, joined by commas. */
  all(name: HeaderName): string {
    let all: string | null = null
    for (let i = 0; i < this.#count; i++) {
      if (this.#names[i] === name) all = all === null ? this.#values[i] : `${all}, ${this.#values[i]}`
    }
    return all ?? ''
  }

  get framing(): Framing {
    return framingOf(this.#valuesOf(CONTENT_LENGTH), this.#valuesOf(TRANSFER_ENCODING))
  }

  get asksToClose(): boolean {
    const connection = this.all(CONNECTION)
    // Most clients that send this header send `keep-alive`.
    return connection !== '' && connection !== 'keep-alive' && ASKS_TO_CLOSE.test(connection)
  }

  #valuesOf(name: HeaderName): readonly string[] {
    let values: string[] | null = null
    for (let i = 0; i < this.#count; i++) if (this.#names[i] === name) (values ??= []).push(this.#values[i])
    return values ?? NONE
  }
}

export class UwsExchange extends BaseExchange<UwsRequest, UwsResponse> {
  /**
   * Answers are finished in the next turn only: the engine cuts a connection that has sent more behind an
   * unfinished answer. A connection that only seemed to have sent more gets its answer a little later.
   */
  isPutOff = false
  framing: Framing = 'no body'
  begun = 0
  /** Bytes of bodies sent at once, over all requests. */
  sentBytes = 0
  /** Bytes of answers to a row of requests that are as good as surely from one connection. */
  rowBytes = 0
  /** The connection may have sent more behind this request. */
  isPipelined = false
  /** Connection of the row for which the engine keeps answers; it has asked again if its offset is 0. */
  rowUnread: UwsResponse | null = null
  /** All of the answer is with the engine: `complete` is called with another object for the connection. */
  isUncompleted = false
  /** Later replies that are not out yet. */
  #deferred = 0
  #acceptor: Acceptor | null = null
  readonly #headers = new RequestHeaders()
  readonly #now: () => number
  readonly #long: LongBodies

  constructor(surroundings: Surroundings, buffered: BufferedBytes) {
    super(surroundings.recorder)
    this.#now = surroundings.now
    this.#long = new LongBodies(surroundings, buffered)
  }

  /** Requests with an answer that waits for its client or was put off. */
  get unfinished(): number {
    return this.#long.unfinished + this.#deferred
  }

  get pressure(): Pressure {
    return this.#long.pressure
  }

  begin(acceptor: Acceptor, method: string, response: UwsResponse, request: UwsRequest): void {
    this.begun++
    this.#acceptor = acceptor
    this.#headers.begin()
    request.forEach(this.#headers.take)
    this.framing = this.#headers.framing
    this.open(method, request, response)
  }

  /** Only GET has a second route, before which the engine writes an interim answer if one is expected. */
  get mayComplete(): boolean {
    return this.method === 'GET' && this.#headers.first(EXPECT) === ''
  }

  protected override release(): void {
    super.release()
    this.#acceptor = null
  }

  get path(): string {
    return this.liveRequest().getUrl()
  }

  get query(): string {
    // Given a key, `getQuery` decodes in place, and spoils what is read afterwards.
    return this.liveRequest().getQuery() ?? ''
  }

  header(name: HeaderName): string {
    this.liveRequest()
    return this.#headers.first(name)
  }

  headerValues(name: HeaderName): string {
    this.liveRequest()
    return this.#headers.all(name)
  }

  address(): string {
    return addressOf(this.liveResponse())
  }

  send(head: string | Uint8Array, body: Uint8Array | null, lasting: boolean | Again = false): void {
    if (body !== null && this.#isTooMuchUnread(body.length)) {
      this.#reply(TOO_MUCH_UNREAD.head, TOO_MUCH_UNREAD.body, true)
    } else this.#reply(head, body, lasting)
  }

  #isTooMuchUnread(bytes: number): boolean {
    const connection = this.rowUnread
    return connection?.getWriteOffset() === 0 && !this.#acceptor!.mayKeep(connection, bytes)
  }

  #reply(head: string | Uint8Array, body: Uint8Array | null, lasting: boolean | Again): void {
    const response = this.liveResponse()
    this.note(head, body)
    if (body !== null && body.length >= ANSWER_LIMIT_BYTES) throw new Error('the answer is too long')
    // The engine would close the connection too, but answer before what is behind.
    const isLast = this.#headers.asksToClose || this.framing !== 'no body'
    this.state = 'begun'
    const before = this.rowBytes
    this.rowBytes += head.length + ADDED_HEAD_BYTES + this.bytes
    // Status and headers go in one call: a call for each of four headers takes half as long again.
    if (body === null || this.method === 'HEAD' || body.length === 0) {
      this.#sendWithoutBody(response, head, body, isLast || this.draining)
    } else if (isLast) {
      this.#sendLast(response, head, body, lasting)
    } else if (this.isPutOff) {
      response.writeStatus(this.draining ? withClosing(head) : head)
      response.tryEnd(firstPiece(body.subarray(0, -1)), body.length)
      this.#goOn(response, body, lasting)
    } else if (this.draining) {
      this.#sendBeforeClosing(response, head, body, lasting)
    } else {
      response.writeStatus(head)
      // A row from several turns may be longer than what is gathered.
      const mayBeFull = before + head.length + ADDED_HEAD_BYTES > GATHERED_BYTES
      // `end` alone would buffer any number of bodies for a client that pipelines and does not read. Behind
      // an unfinished `tryEnd` the next pipelined request closes the connection.
      const piece = body.length <= AT_ONCE_BYTES ? body : firstPiece(body)
      const isDone =
        this.#acceptor!.unread === 0
          ? offer(response, piece, body.length, mayBeFull)
          : this.#offerSettled(response, piece, body.length, mayBeFull)
      if (!isDone && !this.#keep(response, body)) this.#goOn(response, body, lasting)
      this.sentBytes += Math.min(body.length, AT_ONCE_BYTES)
    }
    this.state = 'answered'
  }

  /** As `offer`, where the engine keeps bytes, perhaps for this connection. */
  #offerSettled(response: UwsResponse, piece: Uint8Array, length: number, mayBeFull: boolean): boolean {
    let isDone = false
    this.#acceptor!.settle(() => (isDone = offer(response, piece, length, mayBeFull)))
    return isDone
  }

  protected putOff(response: UwsResponse, events: LaterEvents): UwsLaterReply | null {
    if (this.framing !== 'no body') return null
    const isHead = this.method === 'HEAD'
    const isFull = isHead && this.#acceptor!.isFull(LATER_HEAD_BYTES)
    // The engine neither knows all ways to ask for closing nor reports it.
    const isLast = isFull || this.#headers.asksToClose
    this.#deferred++
    return new UwsLaterReply(response, isHead, () => isLast || this.draining, events, {
      acceptor: this.#acceptor!,
      now: this.#now,
      onDone: () => this.#deferred--,
    })
  }

  protected cut(): void {
    this.liveResponse().close()
  }

  #sendWithoutBody(
    response: UwsResponse,
    head: string | Uint8Array,
    body: Uint8Array | null,
    isLast: boolean,
  ): void {
    if (this.#acceptor!.isFull(head.length + ADDED_HEAD_BYTES) || isLast) {
      const length = body === null ? '' : `\r\nContent-Length: ${body.length}`
      let isGone = false
      response.onAborted(() => (isGone = true))
      closeAfterHead(response, headText(head) + length, this.#now(), () => isGone)
      return
    }
    response.writeStatus(head)
    const finish = (): void => {
      // A length of 0 is written and done with.
      const isDone = body !== null && response.tryEnd(NOTHING, body.length)[1]
      if (!isDone) response.endWithoutBody()
    }
    if (!this.isPutOff) {
      finish()
      return
    }
    let isGone = false
    response.onAborted(() => (isGone = true))
    setImmediate(() => {
      if (!isGone) response.cork(finish)
    })
  }

  /**
   * Leaves the response open until the answer is out: the engine cuts the connection instead of reading on.
   * A client that sent a request behind may lose the answer, and may only repeat both.
   */
  #sendLast(
    response: UwsResponse,
    head: string | Uint8Array,
    body: Uint8Array,
    lasting: boolean | Again,
  ): void {
    response.writeStatus(withClosing(head))
    response.tryEnd(firstPiece(body.subarray(0, -1)), body.length)
    this.#goOn(response, body, lasting, this.#acceptor)
  }

  /** Before closing, requests sent behind this one are answered as well: the client asked nothing wrong. */
  #sendBeforeClosing(
    response: UwsResponse,
    head: string | Uint8Array,
    body: Uint8Array,
    lasting: boolean | Again,
  ): void {
    const acceptor = this.#acceptor!
    let isDone = false
    const connection = acceptor.findMoved(0, () => {
      response.writeStatus(withClosing(head))
      isDone = response.tryEnd(firstPiece(body), body.length)[1]
    })
    if (!isDone) this.#goOn(response, body, lasting, acceptor)
    else if (connection !== null) setImmediate(() => acceptor.close(connection))
  }

  /** Has the engine keep what is not taken, to go on with requests behind. @returns false if it may not */
  #keep(response: UwsResponse, body: Uint8Array): boolean {
    const sent = response.getWriteOffset()
    if (!this.isPipelined || (sent > 0 && !this.mayComplete)) return false
    const end = (): unknown => response.end(body.subarray(sent))
    const kept = this.#acceptor!.keep(sent, body.length - sent, end, body === TOO_MUCH_UNREAD.body)
    if (kept === false) return false
    this.rowUnread = kept
    // `end` counts the bytes of its own body only, and does not know that the answer has ended.
    this.isUncompleted = sent > 0
    return true
  }

  /** Lets the engine go on to the next request of the connection. */
  complete(response: UwsResponse): void {
    this.isUncompleted = false
    response.tryEnd(NOTHING, response.getWriteOffset())
  }

  #goOn(
    response: UwsResponse,
    body: Uint8Array,
    lasting: boolean | Again,
    acceptor: Acceptor | null = null,
  ): void {
    const sent = response.getWriteOffset()
    this.unsent = this.#long.goOn(response, body, lasting, acceptor)
    if (this.unsent === null) this.bytes = sent
  }
}

/** Long bodies, sent piece by piece as the kernel becomes ready for more. */
class LongBodies {
  unfinished = 0
  readonly #buffered: BufferedBytes
  readonly #sending = new SendQueue()
  readonly #surroundings: Surroundings

  constructor(surroundings: Surroundings, buffered: BufferedBytes) {
    this.#surroundings = surroundings
    this.#buffered = buffered
  }

  get pressure(): Pressure {
    return {
      waiting: this.unfinished,
      bufferedBytes: this.#buffered.bytes,
      notBuffered: this.#buffered.refused,
    }
  }

  /**
   * Goes on with `body` after its first bytes. An `acceptor` closes the connection behind it; the last byte
   * must not be out yet, since the response object dies with it and only another can close the connection.
   * @returns what is unsent; null if too much is buffered already, and the connection was cut
   */
  goOn(
    response: UwsResponse,
    body: Uint8Array,
    lasting: boolean | Again,
    acceptor: Acceptor | null = null,
  ): UnsentBody | null {
    const unsent = this.#unsentOf(response, body, lasting)
    if (unsent === null) return null
    const last = acceptor === null ? body.length : body.length - 1
    const send = (): number => {
      if (unsent.isOver) return 0
      const offset = response.getWriteOffset()
      const piece = unsent.piece(offset, offset < last ? last : body.length)
      if (piece === null) {
        response.close()
        return 0
      }
      let [isWritten, isDone] = [false, false]
      const offer = (): unknown =>
        response.cork(() => {
          ;[isWritten, isDone] = response.tryEnd(piece, body.length)
        })
      let connection: UwsResponse | null = null
      if (acceptor !== null && offset === last) connection = acceptor.findMoved(last, offer)
      else offer()
      unsent.sent = isDone ? body.length : response.getWriteOffset()
      if (isDone) {
        this.#end(unsent)
        if (connection !== null) acceptor?.close(connection)
      } else if (isWritten) this.#sending.add(send)
      else unsent.wait(unsent.sent)
      return piece.length + unsent.takeMade()
    }
    response.onWritable(() => {
      this.#surroundings.onProgress()
      this.#sending.add(send)
      return true
    })
    // The engine does not report room if the kernel took all of a first piece. Other requests are read first.
    this.#sending.add(send)
    return unsent
  }

  /** Null if too much is buffered already, and the connection was cut. */
  #unsentOf(response: UwsResponse, body: Uint8Array, lasting: boolean | Again): UnsentBody | null {
    const { onThrow } = this.#surroundings
    const unsent = UnsentBody.of(body, {
      from: response.getWriteOffset(),
      lasting,
      buffered: this.#buffered,
      onThrow,
    })
    if (unsent === null) {
      response.close()
      return null
    }
    this.unfinished++
    response.onAborted(() => this.#end(unsent))
    return unsent
  }

  #end(unsent: UnsentBody): void {
    if (unsent.isOver) return
    unsent.end()
    this.unfinished--
  }
}

/** @param mayBeFull the head may have gone out with all that was gathered. @returns whether it is done */
function offer(response: UwsResponse, piece: Uint8Array, length: number, mayBeFull: boolean): boolean {
  return mayBeFull ? offerCorked(response, piece, length) : response.tryEnd(piece, length)[1]
}

function offerCorked(response: UwsResponse, piece: Uint8Array, length: number): boolean {
  let isDone = false
  response.cork(() => (isDone = response.tryEnd(piece, length)[1]))
  return isDone
}

export function addressOf(connection: UwsResponse): string {
  const text = Buffer.from(connection.getRemoteAddressAsText()).toString('latin1')
  if (!text.includes(':')) return text
  return unmapped(new SocketAddress({ family: 'ipv6', address: text }).address)
}
