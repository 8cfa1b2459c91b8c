/** The engine on node:http, for platforms without a native binary: about 40 % as many answers a second. */

import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

import { REFUSED } from '../connections.ts'
import { HEADER_LIMIT_BYTES, TOO_MANY_CONNECTIONS } from '../exchange.ts'
import type { Engine, OnRequest, Pressure, Surroundings } from '../exchange.ts'
import {
  CLOSING_PATIENCE_MS,
  NODE_BUSY_TURN_REQUESTS,
  REQUESTS_PER_BUSY_TURN,
  REQUESTS_PER_TURN,
  SHORT_TURN_MS,
  WAITING_REQUESTS,
} from './limits.ts'
import { NodeExchange } from './node-exchange.ts'
import { ListenError, untilQuiet } from './port.ts'
import { TcpPressure } from './tcp-pressure.ts'

/** For silent, slow, idle or stalled connections, as in the other engine. */
const TIMEOUT_MS = 10_000
/** How often Node looks for late requests: its default of 30 s would make the limit 40 s. */
const TIMEOUT_CHECK_MS = 1_000
/** Short turns of the loop without a connection to accept after which none is waiting. */
const QUIET_TURNS = 3
/** Connections that wait to be accepted: beyond Node's 511 clients would try again only a second later. */
const BACKLOG = 4096

const REFUSAL_OF_CONNECTION = Buffer.concat([
  Buffer.from(
    `HTTP/1.1 ${TOO_MANY_CONNECTIONS.head}\r\nConnection: close\r\nContent-Length: ${TOO_MANY_CONNECTIONS.body.length}\r\n\r\n`,
  ),
  TOO_MANY_CONNECTIONS.body,
])

/** Whether threads share a port (`reusePort`: Node 22.12 and 23.1), on which the kernel spreads clients. */
export const SHARES_PORT = process.platform === 'linux' && hasReusePort(process.versions.node)

export function hasReusePort(version: string): boolean {
  const [major, minor] = version.split('.').map(Number)
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12)
}

class Turn {
  readonly #counts = new Map<Socket, number>()
  #total = 0

  /** Counts one more request of `socket`. @returns whether it is too many */
  isFull(socket: Socket): boolean {
    if (this.#total++ === 0) setImmediate(() => this.#end())
    const count = (this.#counts.get(socket) ?? 0) + 1
    this.#counts.set(socket, count)
    return count > (this.#total > NODE_BUSY_TURN_REQUESTS ? REQUESTS_PER_BUSY_TURN : REQUESTS_PER_TURN)
  }

  #end(): void {
    this.#counts.clear()
    this.#total = 0
  }
}

/** Node's undocumented reader of requests: `onIncoming` returning 2 has it read no further. */
interface Reader {
  onIncoming: () => number
}

/** An ending connection need not read the rest: 2,000 requests in 64 KB, 10 to 15 µs each. */
function readNoFurther(socket: Socket & { parser?: Reader | null }): void {
  if (socket.parser != null) socket.parser.onIncoming = () => 2
}

function cut(socket: Socket): void {
  readNoFurther(socket)
  socket.destroy()
}

/** Malformed, oversized and late requests get Node's bare 400, 431 and 408. A port has one engine alone. */
export class NodeEngine implements Engine {
  readonly kind = 'node'
  readonly #onRequest: OnRequest
  readonly #surroundings: Surroundings
  readonly #server: Server
  readonly #exchange: NodeExchange
  readonly #tcpPressure: TcpPressure
  readonly #turn = new Turn()
  readonly #waiting = new WeakMap<Socket, number>()
  #hasStopped = false
  #accepted = 0
  /** Requests that have arrived; requests with an answer that has gone or never will. */
  #arrived = 0
  #done = 0
  /** Connections that have had their last answer. */
  readonly #ended = new WeakSet<Socket>()

  constructor(onRequest: OnRequest, surroundings: Surroundings) {
    this.#onRequest = onRequest
    this.#surroundings = surroundings
    this.#exchange = new NodeExchange(surroundings)
    this.#tcpPressure = new TcpPressure(() => surroundings.connections.reset())
    this.#server = createServer(
      {
        maxHeaderSize: HEADER_LIMIT_BYTES,
        headersTimeout: TIMEOUT_MS,
        requestTimeout: TIMEOUT_MS,
        keepAliveTimeout: TIMEOUT_MS,
        connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      },
      (request, response) => this.#onArrival(request, response),
    )
    // Ends clients that never send and clients that do not read.
    this.#server.timeout = TIMEOUT_MS
    this.#server.on('connection', (socket: Socket) => this.#onOpen(socket))
    this.#server.on('timeout', (socket: Socket) => {
      // After a mere end the unread bytes would stay in the kernel for minutes.
      if (socket.writableLength > 0) socket.resetAndDestroy()
      else socket.destroy()
    })
  }

  #onOpen(socket: Socket): void {
    const { connections, onProgress } = this.#surroundings
    this.#accepted++
    this.#exchange.onAccepted()
    onProgress()
    const slot = connections.opened(connections.countsAddresses ? (socket.remoteAddress ?? '') : '')
    if (slot === REFUSED) {
      readNoFurther(socket)
      socket.end(REFUSAL_OF_CONNECTION)
      socket.destroySoon()
      return
    }
    socket.once('close', () => {
      onProgress()
      connections.left(slot)
    })
    socket.on('drain', onProgress)
    this.#tcpPressure.watch(socket)
  }

  #onArrival(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    if (socket.destroyed) return
    this.#arrived++
    response.once('close', () => this.#done++)
    if (this.#turn.isFull(socket)) {
      cut(socket)
      return
    }
    // Node hands over all pipelined requests at once. A response gets its socket when the one before is with
    // the kernel: waiting for that keeps one body per connection in memory.
    if (response.socket !== null) {
      // The last answers of a connection wait until it is known what came with their request.
      if (this.#exchange.draining) setImmediate(this.#serve, request, response)
      else this.#serve(request, response)
      return
    }
    const waiting = (this.#waiting.get(socket) ?? 0) + 1
    if (waiting > WAITING_REQUESTS) {
      cut(socket)
      return
    }
    this.#waiting.set(socket, waiting)
    response.once('socket', () => {
      this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1)
      // Node is still handing over the socket during this event.
      process.nextTick(this.#serve, request, response)
    })
  }

  readonly #serve = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request
    if (this.#ended.has(socket)) return
    const exchange = this.#exchange
    exchange.begin(request, response, (this.#waiting.get(socket) ?? 0) > 0)
    const { refusal } = exchange
    if (refusal !== null || exchange.isLast) {
      this.#ended.add(socket)
      readNoFurther(socket)
    }
    exchange.answer(this.#onRequest, refusal, this.#surroundings.onThrow)
  }

  get pressure(): Pressure {
    return this.#exchange.pressure(this.#arrived - this.#done)
  }

  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const onError = (error: Error): void => reject(ListenError.of(error, host, port))
      this.#server.once('error', onError)
      const options = { host, port, exclusive: true, backlog: BACKLOG, reusePort: SHARES_PORT }
      this.#server.listen(options, () => {
        this.#server.off('error', onError)
        resolve((this.#server.address() as AddressInfo).port)
      })
    })
  }

  stopListening(): void {
    if (this.#hasStopped) return
    this.#hasStopped = true
    // Closing resets connections that are not accepted yet. So the queue (an undocumented handle) is shut,
    // and the port is closed when the queued ones have been accepted, one in each turn.
    const { _handle: handle } = this.#server as Server & {
      _handle?: { listen(backlog: number): number } | null
    }
    handle?.listen(0)
    let before = this.#accepted
    let quiet = 0
    const asked = performance.now()
    let began = asked
    const look = (): void => {
      const now = performance.now()
      // In a long turn somebody may have connected after the look.
      const isQuiet = this.#accepted === before && now - began < SHORT_TURN_MS
      quiet = isQuiet ? quiet + 1 : 0
      before = this.#accepted
      began = now
      if (quiet < QUIET_TURNS && now - asked < CLOSING_PATIENCE_MS) setImmediate(look)
      // The HTTP server's own `close` would also close idle connections and stop looking for late requests.
      else NetServer.prototype.close.call(this.#server)
    }
    setImmediate(look)
  }

  drain(): void {
    this.#exchange.draining = true
  }

  finish(withinMs: number): Promise<void> {
    return untilQuiet(
      () => this.#server.listening,
      () => this.#arrived,
      () => this.#arrived - this.#done,
      withinMs,
    )
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
