/** The engine on node:http, for platforms without a native binary: the same answers, about 40 % as many a second. */

import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

import { REFUSED } from './connections.ts'
import {
  BAD_HOST,
  FAULT_BODY,
  FAULT_HEAD,
  framingOf,
  HEADER_LIMIT_BYTES,
  HEADER_LINES_LIMIT,
  HEADERS_TOO_LARGE,
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
  Refusal,
  Surroundings,
} from './exchange.ts'
import {
  HeldBytes,
  NODE_BUSY_TURN_REQUESTS,
  NODE_REQUESTS_PER_BUSY_TURN,
  PIECE_BYTES,
  REQUESTS_PER_TURN,
  WAITING_REQUESTS,
} from './limits.ts'
import { NodeLaterReply, writeHead } from './node-later.ts'
import { listenError } from './port.ts'
import { untilQuiet } from './quiet.ts'

/** For a silent, slow, idle or stalled connection; the other engine's fixed limit is the same. */
const TIMEOUT_MS = 10_000
/** How often Node looks for late requests; its default of 30 s would make 40 s of the limit above. */
const TIMEOUT_CHECK_MS = 1_000
/** What stands in a request's head beside method, target, and names and values of headers: ` `, ` HTTP/1.1` and the empty line. */
const HEAD_BYTES = 1 + 9 + 4
/** Beside name and value of a header: `: ` and CRLF. */
const LINE_BYTES = 4

/** Turns of the loop without a connection to accept after which none is waiting. */
const QUIET_TURNS = 3
/** With 10,000 connections that do not read, bodies that are not counted among what is held take 160 MB. */
const SHORT_BODY_BYTES = 16 * 1024

const REFUSAL_OF_CONNECTION = Buffer.concat([
  Buffer.from(
    `HTTP/1.1 ${TOO_MANY_CONNECTIONS.head}\r\nConnection: close\r\nContent-Length: ${TOO_MANY_CONNECTIONS.body.length}\r\n\r\n`,
  ),
  TOO_MANY_CONNECTIONS.body,
])

class NodeExchange implements Exchange {
  method = ''
  path = ''
  query = ''
  draining = false
  /** `begun` lasts only while bytes are handed over: seen from outside, it means that this failed half-way. */
  state: 'open' | 'begun' | 'answered' = 'answered'
  #request: IncomingMessage | null = null
  #response: ServerResponse | null = null
  /** Of the request at hand, where its reply was put off. */
  #later: LaterReply | null = null
  readonly #held = new HeldBytes()
  #isLast = false
  /** Whether requests of the same connection wait behind this one. */
  #hasMore = false

  begin(request: IncomingMessage, response: ServerResponse, hasMore: boolean): void {
    this.#hasMore = hasMore
    this.#later = null
    this.#isLast = false
    this.method = request.method ?? ''
    const url = originForm(request.url ?? '')
    const mark = url.indexOf('?')
    this.path = mark < 0 ? url : url.slice(0, mark)
    this.query = mark < 0 ? '' : url.slice(mark + 1)
    this.#request = request
    this.#response = response
    this.state = 'open'
  }

  release(): void {
    this.#request = null
    this.#response = null
  }

  header({ text }: HeaderName): string {
    return this.#liveRequest().headersDistinct[text]?.[0] ?? ''
  }

  headerValues({ text }: HeaderName): string {
    return this.#liveRequest().headersDistinct[text]?.join(', ') ?? ''
  }

  get framing(): Framing {
    const lengths = this.#liveRequest().headersDistinct['content-length']
    const codings = this.#liveRequest().headersDistinct['transfer-encoding']
    return framingOf(lengths?.length ?? 0, lengths?.at(-1) ?? '', codings?.length ?? 0, codings?.at(-1) ?? '')
  }

  /** Whether nothing behind this request is to be answered. */
  get isLast(): boolean {
    return this.#isLast || this.framing !== 'no body'
  }

  /** What is to be answered to a request that no handler should see. */
  get refusal(): Refusal | null {
    const { headersDistinct, rawHeaders, method = '', url = '' } = this.#liveRequest()
    if (rawHeaders.length > 2 * HEADER_LINES_LIMIT) return HEADERS_TOO_LARGE
    const bytes = rawHeaders.reduce((sum, text) => sum + text.length, method.length + url.length)
    if (bytes + HEAD_BYTES + (rawHeaders.length / 2) * LINE_BYTES > HEADER_LIMIT_BYTES)
      return HEADERS_TOO_LARGE
    if ((headersDistinct['host']?.length ?? 0) > 1) return BAD_HOST
    return this.framing === 'unclear' ? UNCLEAR_LENGTH : null
  }

  address(): string {
    return unmapped(this.#liveRequest().socket.remoteAddress ?? '')
  }

  send(head: string | Uint8Array, body: Uint8Array | null, stays = false): void {
    const response = this.#liveResponse()
    if (this.state !== 'open') throw new Error('this request has already been answered')
    const length = body === null ? [] : ['Content-Length', String(body.length)]
    this.state = 'begun'
    writeHead(response, head, length, this.isLast || (this.draining && !this.#hasMore))
    if (body === null || this.method === 'HEAD') {
      response.end()
    } else if (stays) {
      sendPieces(response, Buffer.from(body.buffer, body.byteOffset, body.length))
    } else if (this.#mayHold(response, body.length)) {
      // A copy, because Node may still hold the bytes when the caller reuses its buffer.
      sendPieces(response, Buffer.from(body))
    } else {
      response.destroy()
    }
    this.state = 'answered'
  }

  later(events: LaterEvents): LaterReply | null {
    const response = this.#liveResponse()
    if (this.state !== 'open') throw new Error('this request has already been answered')
    if (this.isLast) return null
    const hasMore = this.#hasMore
    const isLast = (): boolean => this.draining && !hasMore
    this.#later = new NodeLaterReply(response, this.method === 'HEAD', isLast, events)
    this.state = 'answered'
    return this.#later
  }

  /** Whether `bytes` may be held until the answer is out. Short bodies mostly are at once, and each connection has one at a time. */
  #mayHold(response: ServerResponse, bytes: number): boolean {
    if (bytes <= SHORT_BODY_BYTES) return true
    if (!this.#held.take(bytes)) return false
    response.once('close', () => this.#held.giveBack(bytes))
    return true
  }

  refuse({ head, body }: Refusal): void {
    this.#isLast = true
    this.send(head, body, true)
  }

  /** The answer to a handler that failed: 500 if nothing was sent, a cut connection if sending failed half-way. */
  fail(): void {
    if (this.state === 'open') this.send(FAULT_HEAD, FAULT_BODY, true)
    else if (this.state === 'begun') this.#liveRequest().socket.destroy()
    else this.#later?.cut()
  }

  #liveRequest(): IncomingMessage {
    if (this.#request === null) throw new Error('the exchange is over')
    return this.#request
  }

  #liveResponse(): ServerResponse {
    if (this.#response === null) throw new Error('the exchange is over')
    return this.#response
  }
}

/** Sends a body and ends the answer: a long body piece by piece, each in a turn of the loop of its own. */
function sendPieces(response: ServerResponse, body: Buffer, start = 0): void {
  // Its client may have gone between two pieces.
  if (response.destroyed) return
  const end = start + PIECE_BYTES
  if (end >= body.length) response.end(start === 0 ? body : body.subarray(start))
  else response.write(body.subarray(start, end), () => setImmediate(sendPieces, response, body, end))
}

/** A target without scheme and host, which a request to a proxy has before its path (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  const match = /^https?:\/\/[^/?#]*/i.exec(target)
  if (match === null) return target
  const path = target.slice(match[0].length)
  return path.startsWith('/') ? path : `/${path}`
}

/** Counts the requests of one turn of the event loop, in all and by connection. */
class Turn {
  readonly #counts = new Map<Socket, number>()
  #total = 0

  /** Whether one more request of `socket` is too many. */
  isFull(socket: Socket): boolean {
    if (this.#total++ === 0) setImmediate(() => this.#end())
    const count = (this.#counts.get(socket) ?? 0) + 1
    this.#counts.set(socket, count)
    return count > (this.#total > NODE_BUSY_TURN_REQUESTS ? NODE_REQUESTS_PER_BUSY_TURN : REQUESTS_PER_TURN)
  }

  #end(): void {
    this.#counts.clear()
    this.#total = 0
  }
}

/** What Node's reader of requests calls with each of them, and is not in its documentation: 2 has it read no further. */
interface Reader {
  onIncoming: () => number
}

/** Spares a connection whose end is settled the reading of what else has come: 2,000 requests in 64 KB, 10 to 15 µs each. */
function readNoFurther(socket: Socket & { parser?: Reader | null }): void {
  if (socket.parser != null) socket.parser.onIncoming = () => 2
}

function cut(socket: Socket): void {
  readNoFurther(socket)
  socket.destroy()
}

/**
 * An engine with one node:http server. Malformed, oversized and late requests get Node's own bare 400, 431 and 408 and
 * are cut off. Only one of them can listen on a port.
 */
export class NodeEngine implements Engine {
  readonly kind = 'node'
  readonly #server: Server
  readonly #exchange = new NodeExchange()
  readonly #waiting = new WeakMap<Socket, number>()
  #hasStopped = false
  #accepted = 0
  /** Requests that have arrived, and those whose answer has gone or never will. */
  #arrived = 0
  #done = 0
  /** Connections that have had their last answer. */
  readonly #ended = new WeakSet<Socket>()

  constructor(onRequest: OnRequest, surroundings: Surroundings) {
    const exchange = this.#exchange

    const serve = (request: IncomingMessage, response: ServerResponse): void => {
      const { socket } = request
      if (this.#ended.has(socket)) return
      exchange.begin(request, response, (this.#waiting.get(socket) ?? 0) > 0)
      try {
        const { refusal } = exchange
        if (refusal !== null || exchange.isLast) {
          this.#ended.add(socket)
          readNoFurther(socket)
        }
        if (refusal === null) onRequest(exchange)
        else exchange.refuse(refusal)
        if (exchange.state === 'open') throw new Error('the handler returned without an answer')
      } catch (error) {
        exchange.fail()
        queueMicrotask(() => surroundings.onThrow(error))
      } finally {
        exchange.release()
      }
    }

    const turn = new Turn()
    const onArrival = (request: IncomingMessage, response: ServerResponse): void => {
      const { socket } = request
      if (socket.destroyed) return
      this.#arrived++
      response.once('close', () => this.#done++)
      if (turn.isFull(socket)) {
        cut(socket)
        return
      }
      // Node hands over all pipelined requests at once, and would hold all their answers. A response gets its socket
      // when the one before it is with the kernel: waiting for that, there is one body per connection in memory.
      if (response.socket !== null) {
        // The last answers of a connection wait until it is known what came with their request.
        if (exchange.draining) setImmediate(serve, request, response)
        else serve(request, response)
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
        process.nextTick(serve, request, response)
      })
    }

    const { connections, onProgress } = surroundings
    const onOpen = (socket: Socket): void => {
      this.#accepted++
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
    }

    this.#server = createServer(
      {
        maxHeaderSize: HEADER_LIMIT_BYTES,
        headersTimeout: TIMEOUT_MS,
        requestTimeout: TIMEOUT_MS,
        keepAliveTimeout: TIMEOUT_MS,
        connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      },
      onArrival,
    )
    // Without progress in either direction: ends clients that never send, and ones that do not read their answer.
    this.#server.timeout = TIMEOUT_MS
    this.#server.on('connection', onOpen)
  }

  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const onError = (error: NodeJS.ErrnoException): void =>
        reject(listenError(host, port, error.code ?? error.message))
      this.#server.once('error', onError)
      this.#server.listen({ host, port, exclusive: true }, () => {
        this.#server.off('error', onError)
        resolve((this.#server.address() as AddressInfo).port)
      })
    })
  }

  stopListening(): void {
    if (this.#hasStopped) return
    this.#hasStopped = true
    // Closing resets who has connected and was not accepted yet. So no more are queued (the handle is not in Node's documentation),
    // and the port is closed when those who are have been accepted, one in each turn of the loop.
    const { _handle: handle } = this.#server as Server & {
      _handle?: { listen(backlog: number): number } | null
    }
    handle?.listen(0)
    let before = this.#accepted
    let quiet = 0
    const look = (): void => {
      quiet = this.#accepted === before ? quiet + 1 : 0
      before = this.#accepted
      if (quiet < QUIET_TURNS) setImmediate(look)
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
