/** The engine on uWebSockets.js; only this file and its neighbours `uws-…` know the library. */

import type { UwsBinding, UwsRequest, UwsResponse } from './uws-binding.ts'
import { REFUSED } from '../connections.ts'
import { TOO_MANY_CONNECTIONS, UNCLEAR_LENGTH } from '../exchange.ts'
import type { Engine, OnRequest, Pressure, Surroundings } from '../exchange.ts'
import {
  BUSY_TURN_UNITS,
  BYTES_PER_UNIT,
  CLOSING_PATIENCE_MS,
  GATHERED_BYTES,
  BufferedBytes,
  REQUESTS_PER_BUSY_TURN,
  REQUESTS_PER_TURN,
  SHORT_TURN_MS,
  UNITS_PER_BUSY_TURN,
} from './limits.ts'
import { findFreePort, ListenError, untilQuiet } from './port.ts'
import { addressOf, UwsExchange } from './uws-exchange.ts'
import { Acceptor } from './uws-acceptor.ts'
import { CLOSING } from './uws-later.ts'

/** Each acceptor accepts up to 512 connections at a time, in some 13 ms, so there are few of them. */
const ACCEPTORS = 8
/** Requests in one turn before any is watched: telling that a turn ends costs 0.5 µs. */
const UNWATCHED_REQUESTS = 8
/** Requests in a row by one acceptor after which their connection is looked for, in 0.1 µs for each. */
const ROW_BY_CHANCE = 3
/** No request waits for this time after pipelining: the engine cuts connections that send behind one. */
const PIPELINED_MS = 10_000

/** Engines of several threads may share a port; so may another process, silently: see `findFreePort`. */
export class UwsEngine implements Engine {
  readonly kind = 'uws'
  readonly #binding: UwsBinding
  readonly #acceptors: readonly Acceptor[]
  readonly #exchange: UwsExchange
  readonly #buffered = new BufferedBytes()
  readonly #surroundings: Surroundings
  readonly #onRequest: OnRequest
  /** Requests in this turn of the loop; the acceptor of the last, and how many came in a row by it. */
  #inTurn = 0
  #acceptor: Acceptor | null = null
  #inRow = 0
  /** All of the row surely came in this turn. */
  #isRowWatched = false
  /** The row's connection, null if unknown, and whether it was looked for; requests of the row before. */
  #asking: UwsResponse | null = null
  #isSought = false
  #inRowBefore = 0
  /** Set for a while after connections have sent several requests at once. */
  #pipelined: NodeJS.Timeout | null = null
  /** Bytes sent before this turn was watched, and before the row. */
  #sentBeforeTurn = 0
  #sentBeforeRow = 0
  #isRefusing = false
  /** Open connections. */
  #open = 0
  /** A whole answer from behind `HTTP/1.1 `: with `end` nobody would know when to close the connection. */
  readonly #refusal =
    `${TOO_MANY_CONNECTIONS.head}${CLOSING}\r\nContent-Length: ${TOO_MANY_CONNECTIONS.body.length + 2}\r\n\r\n` +
    Buffer.from(TOO_MANY_CONNECTIONS.body).toString('latin1')
  #closed = false

  constructor(binding: UwsBinding, onRequest: OnRequest, surroundings: Surroundings) {
    this.#binding = binding
    this.#surroundings = surroundings
    this.#onRequest = onRequest
    this.#exchange = new UwsExchange(surroundings, this.#buffered)
    binding._cfg('silent')
    this.#acceptors = Array.from({ length: ACCEPTORS }, () => this.#newAcceptor())
  }

  get pressure(): Pressure {
    const { pressure } = this.#exchange
    return { ...pressure, waiting: pressure.waiting + this.#unread }
  }

  /** Connections for which the engine keeps answers. */
  get #unread(): number {
    return this.#acceptors.reduce((sum, { unread }) => sum + unread, 0)
  }

  #newAcceptor(): Acceptor {
    const acceptor = new Acceptor(this.#binding.App(), this.#buffered)
    // Routes of their own spare the two methods that count the reading of their names.
    acceptor.app
      .filter((connection, change) =>
        change === 1 ? this.#onOpen(acceptor, connection) : this.#onClose(acceptor, connection),
      )
      .get('/*', (response, request) => {
        this.#serve(acceptor, 'GET', response, request)
        // The next route that fits gets another object for the connection.
        if (this.#exchange.isUncompleted) request.setYield(true)
      })
      .head('/*', (response, request) => this.#serve(acceptor, 'HEAD', response, request))
      .any('/*', (response, request) => {
        if (this.#exchange.isUncompleted) this.#exchange.complete(response)
        else this.#serve(acceptor, request.getCaseSensitiveMethod(), response, request)
      })
    return acceptor
  }

  #onOpen(acceptor: Acceptor, connection: UwsResponse): void {
    const { connections, onProgress } = this.#surroundings
    onProgress()
    const slot = connections.opened(connections.countsAddresses ? addressOf(connection) : '')
    if (slot !== REFUSED) {
      this.#open++
      acceptor.opened(connection, slot)
      return
    }
    this.#isRefusing = true
    // A new connection takes this few bytes at once.
    connection.cork(() => connection.writeStatus(this.#refusal))
    connection.close()
    this.#isRefusing = false
  }

  #onClose(acceptor: Acceptor, connection: UwsResponse): void {
    if (this.#isRefusing) return
    const { connections, onProgress } = this.#surroundings
    onProgress()
    this.#open--
    // The next request by this acceptor is from another connection, and a closed one must not be asked.
    this.#acceptor = null
    this.#asking = null
    connections.left(acceptor.closed(connection))
  }

  #serve(acceptor: Acceptor, method: string, response: UwsResponse, request: UwsRequest): void {
    const { sentBytes } = this.#exchange
    // The known connection of a row has asked again if its offset is 0.
    const hasAskedAgain = this.#asking?.getWriteOffset() === 0
    if (acceptor !== this.#acceptor || (this.#asking !== null && !hasAskedAgain)) this.#beginRow(acceptor)
    else if (hasAskedAgain) this.#seePipelining()
    this.#inRow++
    if (this.#pipelined === null && this.#isRowWatched && this.#inRow > acceptor.open) this.#seePipelining()
    // A request waits unless its connection may have sent several: limits by connection hold pipelined ones.
    this.#exchange.mayWait =
      this.#pipelined === null &&
      this.#inRow <= acceptor.open &&
      (this.#inRow <= ROW_BY_CHANCE || this.#isSought) &&
      this.#inTurn < this.#open
    this.#exchange.isPipelined = this.#pipelined !== null || this.#inRow > 1
    if (++this.#inTurn === UNWATCHED_REQUESTS) {
      this.#sentBeforeTurn = sentBytes
      setImmediate(this.#endTurn)
    }
    const units = this.#inTurn + (sentBytes - this.#sentBeforeTurn) / BYTES_PER_UNIT
    const isBusy = units > BUSY_TURN_UNITS
    const isWorthKnowing = isBusy || (this.#pipelined === null && this.#inTurn > UNWATCHED_REQUESTS)
    if (!this.#isSought && this.#inRow > (isWorthKnowing ? ROW_BY_CHANCE : REQUESTS_PER_BUSY_TURN)) {
      this.#answerSought(acceptor, method, response, request)
    } else if (this.#inRow > REQUESTS_PER_BUSY_TURN || this.#exchange.rowBytes > GATHERED_BYTES) {
      this.#exchange.isPutOff = this.#isTooMuch(isBusy)
      this.#answerCorked(acceptor, method, response, request)
      this.#exchange.isPutOff = false
    } else this.#answer(acceptor, method, response, request)
  }

  #answerSought(acceptor: Acceptor, method: string, response: UwsResponse, request: UwsRequest): void {
    this.#isSought = true
    this.#inRowBefore = this.#inRow - 1
    this.#sentBeforeRow = this.#exchange.sentBytes
    const answer = (): void => this.#answerCorked(acceptor, method, response, request)
    this.#asking = acceptor.findMoved(0, answer)
  }

  #answerCorked(acceptor: Acceptor, method: string, response: UwsResponse, request: UwsRequest): void {
    response.cork(() => this.#answer(acceptor, method, response, request))
  }

  #beginRow(acceptor: Acceptor): void {
    this.#acceptor = acceptor
    this.#inRow = 0
    this.#isRowWatched = this.#inTurn >= UNWATCHED_REQUESTS
    this.#inRowBefore = 0
    this.#asking = null
    this.#isSought = false
    this.#sentBeforeRow = this.#exchange.sentBytes
    this.#exchange.rowBytes = 0
    this.#exchange.rowUnread = null
  }

  /** Whether a row, as good as surely of one connection, is more than one may ask for in this turn. */
  #isTooMuch(isBusy: boolean): boolean {
    if (!isBusy) return this.#inRow > REQUESTS_PER_TURN
    const requests = this.#inRow - this.#inRowBefore
    const units = requests + (this.#exchange.sentBytes - this.#sentBeforeRow) / BYTES_PER_UNIT
    return requests > REQUESTS_PER_BUSY_TURN && units > UNITS_PER_BUSY_TURN
  }

  readonly #endTurn = (): void => {
    // Requests from before the turn was watched may be of several turns.
    if (this.#inTurn - UNWATCHED_REQUESTS > this.#open) this.#seePipelining()
    this.#inTurn = 0
    this.#sentBeforeTurn = this.#exchange.sentBytes
    this.#acceptor = null
  }

  #seePipelining(): void {
    this.#pipelined ??= setTimeout(() => (this.#pipelined = null), PIPELINED_MS).unref()
    this.#pipelined.refresh()
  }

  #answer(acceptor: Acceptor, method: string, response: UwsResponse, request: UwsRequest): void {
    const exchange = this.#exchange
    exchange.begin(acceptor, method, response, request)
    const refusal = exchange.framing === 'unclear' ? UNCLEAR_LENGTH : null
    exchange.answer(this.#onRequest, refusal, this.#surroundings.onThrow)
  }

  async listen(host: string, port: number): Promise<number> {
    // A port that an app got by asking for 0 cannot be shared by the others.
    const shared = port === 0 ? await findFreePort(host, 0) : port
    for (const acceptor of this.#acceptors) {
      acceptor.app.listen(host, shared, (token) => {
        if (token !== false) acceptor.token = token
      })
      if (acceptor.token === null) {
        this.#closeListeners()
        throw new ListenError(host, port, 'the address is in use, not of this machine, or not permitted')
      }
    }
    return shared
  }

  stopListening(): void {
    // Closing resets connections that are not accepted yet: next to none behind a short turn.
    const asked = performance.now()
    let began = asked
    const look = (): void => {
      const now = performance.now()
      const isShort = now - began < SHORT_TURN_MS
      began = now
      if (this.#closed || isShort || now - asked > CLOSING_PATIENCE_MS) this.#closeListeners()
      else setImmediate(look)
    }
    setImmediate(look)
  }

  #closeListeners(): void {
    for (const acceptor of this.#acceptors) {
      if (acceptor.token !== null) this.#binding.us_listen_socket_close(acceptor.token)
      acceptor.token = null
    }
  }

  drain(): void {
    this.#exchange.draining = true
  }

  finish(withinMs: number): Promise<void> {
    return untilQuiet(
      () => this.#acceptors.some(({ token }) => token !== null),
      () => this.#exchange.begun,
      () => this.#exchange.unfinished + this.#unread,
      withinMs,
    )
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const acceptor of this.#acceptors) {
      acceptor.token = null
      // A thread that exits with an open app aborts the whole process.
      acceptor.app.close()
    }
  }
}
