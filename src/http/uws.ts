/** The engine on uWebSockets.js. Beside `binding.ts` the only file that knows it. */

import { SocketAddress } from 'node:net'

import type { UwsApp, UwsBinding, UwsListenToken, UwsRequest, UwsResponse } from './binding.ts'
import { REFUSED } from './connections.ts'
import {
  FAULT_BODY,
  FAULT_HEAD,
  framingOf,
  headText,
  TOO_MANY_CONNECTIONS,
  UNCLEAR_LENGTH,
  unmapped,
} from './exchange.ts'
import type {
  Engine,
  Exchange,
  Framing,
  HeaderName,
  LaterEvents,
  LaterReply,
  OnRequest,
  Surroundings,
} from './exchange.ts'
import {
  BODYLESS_LIMIT_BYTES,
  BUSY_TURN_UNITS,
  BYTES_PER_UNIT,
  FIRST_PIECE_BYTES,
  HeldBytes,
  PIECE_BYTES,
  PIECES_PER_TURN_BYTES,
  REQUESTS_PER_BUSY_TURN,
  REQUESTS_PER_TURN,
  UNITS_PER_BUSY_TURN,
} from './limits.ts'
import { findFreePort, listenError } from './port.ts'
import { untilQuiet } from './quiet.ts'
import { UwsLaterReply } from './uws-later.ts'

/**
 * The engine does not say which connection a request came on. So each engine has several apps, all listening on its port, among
 * which the kernel spreads connections at random: what comes one upon the other by one app is most likely from one connection.
 * Each accepts up to 512 connections at a time, in some 13 ms, so there are few of them.
 */
const LANES = 8
/** Requests in one turn before which nothing is watched: a turn that ends resets the counts, and telling that it ends costs 0.5 µs. */
const UNWATCHED_REQUESTS = 32
/** What the engine adds to a head: version, date, length and the like. */
const ADDED_HEAD_BYTES = 90
/** A head that is not known yet; ours are shorter. */
const LATER_HEAD_BYTES = 1024
/** A write offset that no answer reaches, to know a connection by. */
const MARK = new ArrayBuffer(64 * 1024 * 1024)
const NOTHING = new Uint8Array(0)
const ASKS_TO_CLOSE = /(^|,)[ \t]*close[ \t]*(,|$)/i
const CLOSING = '\r\nConnection: close'

/** One of an engine's apps, and its connections. */
class Lane {
  readonly app: UwsApp
  token: UwsListenToken | null = null
  /** Objects that are good as long as their connections are, each with its slot in the counts. */
  readonly #connections: UwsResponse[] = []
  readonly #slots: number[] = []
  /** The slot of a connection that is just being closed from here. */
  #leaving: number | null = null
  /** Bytes of answers without a body, and how many of them end the connection that gets the next one. */
  #bodyless = 0
  #bodylessLimit = BODYLESS_LIMIT_BYTES

  constructor(app: UwsApp) {
    this.app = app
  }

  opened(connection: UwsResponse, slot: number): void {
    this.#connections.push(connection)
    this.#slots.push(slot)
  }

  /** Forgets the connection that `closed`, another object, stands for too. @returns its slot */
  closed(closed: UwsResponse): number {
    if (this.#leaving !== null) return this.#leaving
    if (this.#connections.length === 1) return this.#forget(0)
    // Written to a connection that is closed, bytes only move its write offset, which both objects show.
    closed.cork(() => closed.tryEnd(new Uint8Array(MARK), Number.MAX_SAFE_INTEGER))
    return this.#forget(
      this.#connections.findIndex((connection) => connection.getWriteOffset() >= MARK.byteLength),
    )
  }

  /** Closes `connection` if it is still there. */
  close(connection: UwsResponse): void {
    const at = this.#connections.indexOf(connection)
    if (at < 0) return
    // The object dies first, so it must not be asked any more.
    this.#leaving = this.#forget(at)
    connection.close()
    this.#leaving = null
  }

  #forget(at: number): number {
    const slot = this.#slots[at]
    this.#connections[at] = this.#connections.at(-1)!
    this.#slots[at] = this.#slots.at(-1)!
    this.#connections.pop()
    this.#slots.pop()
    // Nobody is left who has not read them.
    if (this.#connections.length === 0) this.#bodyless = 0
    return slot
  }

  /** Does `advance`, which moves the write offset of one connection from `from` to `to`. @returns that connection */
  findMoved(from: number, to: number, advance: () => void): UwsResponse | undefined {
    const candidates = this.#connections.filter((connection) => connection.getWriteOffset() === from)
    advance()
    return candidates.find((connection) => connection.getWriteOffset() === to)
  }

  /** Whether the connection that gets an answer without a body of `bytes` has to end, lest too many of them wait unread. */
  isFull(bytes: number): boolean {
    this.#bodyless += bytes
    if (this.#bodyless <= this.#bodylessLimit) return false
    this.#bodyless = 0
    // Where several connections share a lane, one that knew when would let another one pay.
    const microseconds = Math.floor(performance.now() * 1000)
    this.#bodylessLimit = BODYLESS_LIMIT_BYTES + (microseconds % (BODYLESS_LIMIT_BYTES / 3))
    return true
  }
}

class UwsExchange implements Exchange {
  method = ''
  draining = false
  /** `begun` lasts only while bytes are handed over: seen from outside, it means that this failed half-way. */
  state: 'open' | 'begun' | 'answered' = 'answered'
  /**
   * Whether answers are finished in the next turn only. A connection that has sent more behind such a request is cut by the engine, which
   * reads none behind an unfinished answer; one that has not, and only seemed to, gets it a little later.
   */
  isPutOff = false
  /** Requests so far. */
  begun = 0
  /** Of them, those whose answer waits for its client or was put off. */
  unfinished = 0
  /** Bytes of bodies sent at once, over all requests. */
  sentBytes = 0
  #lane: Lane | null = null
  #response: UwsResponse | null = null
  #request: UwsRequest | null = null
  /** Of the request at hand, where its reply was put off. */
  #later: LaterReply | null = null
  /** Whether the connection has to end because too many answers without a body may wait unread. */
  #isFull = false
  /** The headers, in order, up to the count. Read all at once: one by one, six of them cost as much. */
  readonly #names: string[] = []
  readonly #values: string[] = []
  #count = 0
  #lengths = 0
  #length = ''
  #codings = 0
  #coding = ''
  #asksToClose = false
  readonly #now: () => number
  readonly #held = new HeldBytes()
  readonly #pieces = new Pieces()
  readonly #onProgress: () => void

  constructor({ now, onProgress }: Surroundings) {
    this.#now = now
    this.#onProgress = onProgress
  }

  begin(lane: Lane, method: string, response: UwsResponse, request: UwsRequest): void {
    this.begun++
    this.method = method
    this.#lane = lane
    this.#response = response
    this.#request = request
    this.#later = null
    this.#isFull = false
    this.#count = 0
    this.#lengths = 0
    this.#codings = 0
    this.#asksToClose = false
    request.forEach(this.#collect)
    this.state = 'open'
  }

  readonly #collect = (name: string, value: string): void => {
    this.#names[this.#count] = name
    this.#values[this.#count++] = value
    if (name.length === 14 && name === 'content-length') {
      this.#lengths++
      this.#length = value
    } else if (name.length === 17 && name === 'transfer-encoding') {
      this.#codings++
      this.#coding = value
    } else if (name.length === 10 && name === 'connection' && value !== 'keep-alive') {
      this.#asksToClose ||= ASKS_TO_CLOSE.test(value)
    }
  }

  get framing(): Framing {
    if (this.#lengths + this.#codings === 0) return 'no body'
    return framingOf(this.#lengths, this.#length, this.#codings, this.#coding)
  }

  /** Lets go of the native objects, so that a use after the handler's return is an ordinary error. */
  release(): void {
    this.#lane = null
    this.#response = null
    this.#request = null
  }

  get path(): string {
    return this.#liveRequest().getUrl()
  }

  get query(): string {
    // Without arguments: with a key it decodes in place, and spoils what is read afterwards.
    return this.#liveRequest().getQuery() ?? ''
  }

  header({ text }: HeaderName): string {
    this.#liveRequest()
    for (let i = 0; i < this.#count; i++) if (this.#names[i] === text) return this.#values[i]
    return ''
  }

  headerValues({ text }: HeaderName): string {
    this.#liveRequest()
    return this.#values.filter((_, i) => i < this.#count && this.#names[i] === text).join(', ')
  }

  address(): string {
    return addressOf(this.#liveResponse())
  }

  send(head: string | Uint8Array, body: Uint8Array | null, stays = false): void {
    const response = this.#liveResponse()
    if (this.state !== 'open') throw new Error('this request has already been answered')
    if (body !== null && body.length >= MARK.byteLength) throw new Error('the answer is too long')
    // The engine would close the connection too, but answer before what is behind.
    const isLast = this.#asksToClose || this.framing !== 'no body'
    this.state = 'begun'
    // Status and headers in one call: 0.9 µs, where a call for each of four headers takes 1.4 µs.
    if (body === null || this.method === 'HEAD' || body.length === 0) {
      this.#sendWithoutBody(response, head, body, isLast || this.draining)
    } else if (isLast) {
      this.#sendLast(response, head, body, stays)
    } else if (this.isPutOff) {
      response.writeStatus(this.draining ? withClosing(head) : head)
      response.tryEnd(pieceOf(body.subarray(0, -1), 0), body.length)
      this.#sendRest(response, body, stays)
    } else if (this.draining) {
      this.#sendBeforeClosing(response, head, body, stays)
    } else {
      response.writeStatus(head)
      // Not `end`, which would hold any number of bodies for a client that pipelines and does not read: with an
      // unfinished `tryEnd` the next pipelined request closes the connection.
      const [, done] = response.tryEnd(pieceOf(body, 0), body.length)
      if (!done) this.#sendRest(response, body, stays)
      this.sentBytes += Math.min(body.length, PIECE_BYTES)
    }
    this.state = 'answered'
  }

  later(events: LaterEvents): LaterReply | null {
    const response = this.#liveResponse()
    if (this.state !== 'open') throw new Error('this request has already been answered')
    const isHead = this.method === 'HEAD'
    this.#isFull = isHead && this.#lane!.isFull(LATER_HEAD_BYTES)
    if (this.framing !== 'no body' || this.#isFull) return null
    this.#later = new UwsLaterReply(response, isHead, () => this.draining, events)
    this.state = 'answered'
    return this.#later
  }

  #sendWithoutBody(
    response: UwsResponse,
    head: string | Uint8Array,
    body: Uint8Array | null,
    isLast: boolean,
  ): void {
    this.#isFull ||= this.#lane!.isFull(head.length + ADDED_HEAD_BYTES)
    if (isLast || this.#isFull) {
      const length = body === null ? '' : `\r\nContent-Length: ${body.length}`
      closeAfterHead(response, headText(head) + length, this.#now())
      return
    }
    response.writeStatus(head)
    const finish = (): void => {
      // Writes the length, and is done with that where it is 0.
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

  /** Sends what is left of `body` as the kernel becomes ready for more, from a copy unless the bytes stay. */
  #sendRest(response: UwsResponse, body: Uint8Array, stays: boolean): void {
    const start = response.getWriteOffset()
    const rest = this.#hold(response, body.subarray(start), stays)
    if (rest === null) return
    const goOn = (): number => {
      if (rest.isGone) return 0
      const piece = pieceOf(rest.bytes, response.getWriteOffset() - start)
      let [isWritten, isDone] = [false, false]
      response.cork(() => {
        ;[isWritten, isDone] = response.tryEnd(piece, body.length)
      })
      if (isDone) rest.giveBack()
      else if (isWritten) this.#pieces.add(goOn)
      return piece.length
    }
    this.#goOnWhenWritable(response, goOn)
    // Where the kernel took the first piece whole, it does not tell that it takes more.
    this.#pieces.add(goOn)
  }

  #goOnWhenWritable(response: UwsResponse, goOn: () => number): void {
    response.onWritable(() => {
      this.#onProgress()
      this.#pieces.add(goOn)
      return true
    })
  }

  /**
   * Sends the last answer of a connection. Until it is out the response stays open, so that the engine cuts the connection instead
   * of reading a request behind this one; a client that sent one may so lose this answer, and may only repeat both.
   */
  #sendLast(response: UwsResponse, head: string | Uint8Array, body: Uint8Array, stays: boolean): void {
    response.writeStatus(withClosing(head))
    response.tryEnd(pieceOf(body.subarray(0, -1), 0), body.length)
    this.#closeAfterRest(response, body, stays)
  }

  /** Sends an answer to one that asked nothing wrong: what it has sent behind is answered as well before the connection is closed. */
  #sendBeforeClosing(
    response: UwsResponse,
    head: string | Uint8Array,
    body: Uint8Array,
    stays: boolean,
  ): void {
    const lane = this.#lane!
    let isDone = false
    const connection = lane.findMoved(0, body.length, () => {
      response.writeStatus(withClosing(head))
      isDone = response.tryEnd(pieceOf(body, 0), body.length)[1]
    })
    if (!isDone) this.#closeAfterRest(response, body, stays)
    else if (connection !== undefined) setImmediate(() => lane.close(connection))
  }

  /** Goes on with an answer that lacks its last byte at least, and closes the connection behind it. */
  #closeAfterRest(response: UwsResponse, body: Uint8Array, stays: boolean): void {
    const lane = this.#lane!
    const { length } = body
    const start = response.getWriteOffset()
    const rest = this.#hold(response, body.subarray(start), stays)
    if (rest === null) return
    const finish = (): void => {
      // With its last byte the response object dies, and only another one can close the connection.
      let isDone = false
      const connection = lane.findMoved(length - 1, length, () =>
        response.cork(() => {
          isDone = response.tryEnd(rest.bytes.subarray(length - 1 - start), length)[1]
        }),
      )
      if (!isDone) return
      rest.giveBack()
      if (connection !== undefined) lane.close(connection)
    }
    const goOn = (): number => {
      if (rest.isGone) return 0
      const offset = response.getWriteOffset()
      if (offset === length - 1) {
        finish()
        return 0
      }
      const piece = pieceOf(rest.bytes.subarray(0, -1), offset - start)
      let isWritten = false
      response.cork(() => {
        isWritten = response.tryEnd(piece, length)[0]
      })
      if (isWritten) this.#pieces.add(goOn)
      return piece.length
    }
    this.#goOnWhenWritable(response, goOn)
    // When all is read that came with the request.
    this.#pieces.add(goOn)
  }

  /** Keeps `bytes` for a response that goes on after its handler; null when too many are kept already: then it is cut. */
  #hold(
    response: UwsResponse,
    bytes: Uint8Array,
    stays: boolean,
  ): { bytes: Uint8Array; isGone: boolean; giveBack: () => void } | null {
    const { length } = bytes
    if (!stays && !this.#held.take(length)) {
      response.close()
      return null
    }
    this.unfinished++
    const held = {
      bytes: stays ? bytes : new Uint8Array(bytes),
      isGone: false,
      giveBack: () => {
        if (held.isGone) return
        held.isGone = true
        this.unfinished--
        if (!stays) this.#held.giveBack(length)
      },
    }
    response.onAborted(held.giveBack)
    return held
  }

  /** The answer to a handler that failed: 500 if nothing was sent, a cut connection if sending failed half-way. */
  fail(): void {
    if (this.state === 'open') this.send(FAULT_HEAD, FAULT_BODY, true)
    else if (this.state === 'begun') this.#liveResponse().close()
    else this.#later?.cut()
  }

  #liveRequest(): UwsRequest {
    if (this.#request === null) throw new Error('the exchange is over')
    return this.#request
  }

  #liveResponse(): UwsResponse {
    if (this.#response === null) throw new Error('the exchange is over')
    return this.#response
  }
}

/** The bytes from `offset` on, at most as many as are offered at once. */
function pieceOf(bytes: Uint8Array, offset: number): Uint8Array {
  if (offset === 0) return bytes.length <= PIECE_BYTES ? bytes : bytes.subarray(0, FIRST_PIECE_BYTES)
  return bytes.subarray(offset, offset + PIECE_BYTES)
}

/** Long bodies by turns: each that is ready for more sends a piece, as many of them in a turn of the loop as take 1 ms. */
class Pieces {
  readonly #waiting = new Set<() => number>()
  #isScheduled = false

  /** Has `goOn`, which returns how many bytes it has offered, called in its turn. */
  add(goOn: () => number): void {
    this.#waiting.add(goOn)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#sendSome)
  }

  readonly #sendSome = (): void => {
    this.#isScheduled = false
    let bytes = 0
    // Those who are added meanwhile come in the next turn.
    let left = this.#waiting.size
    for (const goOn of this.#waiting) {
      if (left-- === 0 || bytes >= PIECES_PER_TURN_BYTES) break
      this.#waiting.delete(goOn)
      bytes += goOn()
    }
    if (this.#waiting.size === 0 || this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#sendSome)
  }
}

function withClosing(head: string | Uint8Array): string {
  return headText(head) + CLOSING
}

function addressOf(connection: UwsResponse): string {
  const text = Buffer.from(connection.getRemoteAddressAsText()).toString('latin1')
  if (!text.includes(':')) return text
  return unmapped(new SocketAddress({ family: 'ipv6', address: text }).address)
}

/**
 * Sends a head without a body and closes the connection.
 *
 * The engine closes by itself only in `end`, which adds `Content-Length: 0`: forbidden on 204, wrong on 304 and HEAD.
 * So this writes the whole head including the empty line that ends it, never ends the response, and closes the
 * connection when the engine has handed the bytes to the kernel, which it does when the handler returns. A request
 * pipelined behind this one may cut the connection before its answer is out; a client may only repeat both.
 */
function closeAfterHead(response: UwsResponse, head: string, now: number): void {
  let gone = false
  response.onAborted(() => {
    gone = true
  })
  response.writeStatus(`${head}${CLOSING}\r\nDate: ${new Date(now).toUTCString()}\r\n`)
  setImmediate(() => {
    if (!gone) response.close()
  })
}

/**
 * An engine with its native apps. Several of them, in as many threads, may listen on the same host and port; so may,
 * without an error, another process of the same user, which is why `findFreePort` must be asked first.
 */
export class UwsEngine implements Engine {
  readonly kind = 'uws'
  readonly #binding: UwsBinding
  readonly #lanes: readonly Lane[]
  readonly #exchange: UwsExchange
  readonly #surroundings: Surroundings
  readonly #onRequest: OnRequest
  /** Requests in this turn of the loop; the lane of the last one, and how many came one upon the other by it. */
  #inTurn = 0
  #lane: Lane | null = null
  #inRow = 0
  /** What was sent before this turn was watched, and before the row. */
  #sentBeforeTurn = 0
  #sentBeforeRow = 0
  #isRefusing = false
  /** What comes between `HTTP/1.1 ` and CRLF, of a whole answer: with `end` one would not know when the connection can be closed. */
  readonly #refusal =
    `${TOO_MANY_CONNECTIONS.head}${CLOSING}\r\nContent-Length: ${TOO_MANY_CONNECTIONS.body.length + 2}\r\n\r\n` +
    Buffer.from(TOO_MANY_CONNECTIONS.body).toString('latin1')
  #closed = false

  constructor(binding: UwsBinding, onRequest: OnRequest, surroundings: Surroundings) {
    this.#binding = binding
    this.#surroundings = surroundings
    this.#onRequest = onRequest
    this.#exchange = new UwsExchange(surroundings)
    binding._cfg('silent')
    this.#lanes = Array.from({ length: LANES }, () => this.#newLane())
  }

  #newLane(): Lane {
    const lane = new Lane(this.#binding.App())
    // Routes of their own spare the two methods that count the reading of their names.
    lane.app
      .filter((connection, change) =>
        change === 1 ? this.#onOpen(lane, connection) : this.#onClose(lane, connection),
      )
      .get('/*', (response, request) => this.#serve(lane, 'GET', response, request))
      .head('/*', (response, request) => this.#serve(lane, 'HEAD', response, request))
      .any('/*', (response, request) =>
        this.#serve(lane, request.getCaseSensitiveMethod(), response, request),
      )
    return lane
  }

  #onOpen(lane: Lane, connection: UwsResponse): void {
    const { connections, onProgress } = this.#surroundings
    onProgress()
    const slot = connections.opened(connections.countsAddresses ? addressOf(connection) : '')
    if (slot !== REFUSED) {
      lane.opened(connection, slot)
      return
    }
    this.#isRefusing = true
    // A connection that is new takes so few bytes at once.
    connection.cork(() => connection.writeStatus(this.#refusal))
    connection.close()
    this.#isRefusing = false
  }

  #onClose(lane: Lane, connection: UwsResponse): void {
    if (this.#isRefusing) return
    const { connections, onProgress } = this.#surroundings
    onProgress()
    // What comes next by this lane comes from another one.
    this.#lane = null
    connections.left(lane.closed(connection))
  }

  #serve(lane: Lane, method: string, response: UwsResponse, request: UwsRequest): void {
    const { sentBytes } = this.#exchange
    if (lane !== this.#lane) {
      this.#lane = lane
      this.#inRow = 0
      this.#sentBeforeRow = sentBytes
    }
    this.#inRow++
    if (++this.#inTurn === UNWATCHED_REQUESTS) {
      this.#sentBeforeTurn = sentBytes
      setImmediate(this.#endTurn)
    }
    if (this.#inRow <= REQUESTS_PER_BUSY_TURN) {
      this.#answer(lane, method, response, request)
    } else {
      this.#exchange.isPutOff = this.#isTooMuch()
      // After the first 16 KB of answers the engine would hand each piece of a head to the kernel by itself.
      response.cork(() => this.#answer(lane, method, response, request))
      this.#exchange.isPutOff = false
    }
  }

  /** Whether what came in a row, as good as surely from one connection, is more than a connection may ask for in this turn. */
  #isTooMuch(): boolean {
    const { sentBytes } = this.#exchange
    const isBusy = this.#inTurn + (sentBytes - this.#sentBeforeTurn) / BYTES_PER_UNIT > BUSY_TURN_UNITS
    return isBusy
      ? this.#inRow + (sentBytes - this.#sentBeforeRow) / BYTES_PER_UNIT > UNITS_PER_BUSY_TURN
      : this.#inRow > REQUESTS_PER_TURN
  }

  readonly #endTurn = (): void => {
    this.#inTurn = 0
    this.#sentBeforeTurn = this.#exchange.sentBytes
    this.#lane = null
  }

  /** An error that left this function would end the process, and so would a return without an answer. */
  #answer(lane: Lane, method: string, response: UwsResponse, request: UwsRequest): void {
    const exchange = this.#exchange
    exchange.begin(lane, method, response, request)
    try {
      if (exchange.framing === 'unclear') exchange.send(UNCLEAR_LENGTH.head, UNCLEAR_LENGTH.body, true)
      else this.#onRequest(exchange)
      if (exchange.state === 'open') throw new Error('the handler returned without an answer')
    } catch (error) {
      exchange.fail()
      queueMicrotask(() => this.#surroundings.onThrow(error))
    } finally {
      exchange.release()
    }
  }

  async listen(host: string, port: number): Promise<number> {
    // One that an app got by asking for 0 cannot be shared by the others.
    const shared = port === 0 ? await findFreePort(host, 0) : port
    for (const lane of this.#lanes) {
      lane.app.listen(host, shared, (token) => {
        if (token !== false) lane.token = token
      })
      if (lane.token === null) {
        this.stopListening()
        throw listenError(host, port, 'the address is in use, not of this machine, or not permitted')
      }
    }
    return shared
  }

  stopListening(): void {
    for (const lane of this.#lanes) {
      if (lane.token !== null) this.#binding.us_listen_socket_close(lane.token)
      lane.token = null
    }
  }

  drain(): void {
    this.#exchange.draining = true
  }

  finish(withinMs: number): Promise<void> {
    return untilQuiet(
      () => this.#exchange.begun,
      () => this.#exchange.unfinished,
      withinMs,
    )
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const lane of this.#lanes) {
      lane.token = null
      // A thread that exits with an open app aborts the whole process.
      lane.app.close()
    }
  }
}
