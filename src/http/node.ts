/** The engine on node:http, for platforms without a native binary: the same answers, about 40 % as many a second. */

import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

import { announcesBody, FAULT_BODY, FAULT_HEAD, HEADER_LIMIT_BYTES, unmapped } from './exchange.ts'
import type {
  Engine,
  Exchange,
  HeaderName,
  LaterEvents,
  LaterReply,
  OnRequest,
  Surroundings,
} from './exchange.ts'
import { NodeLaterReply, writeHead } from './node-later.ts'
import { listenError } from './port.ts'

/** For a silent, slow, idle or stalled connection; the other engine's fixed limit is the same. */
const TIMEOUT_MS = 10_000
/** How often Node looks for late requests; its default of 30 s would make 40 s of the limit above. */
const TIMEOUT_CHECK_MS = 1_000
/** Pipelined requests of one connection that wait for their turn. A request object takes some 4 KB, so this holds 1 MB. */
const WAITING_LIMIT = 256

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

  begin(request: IncomingMessage, response: ServerResponse): void {
    this.method = request.method ?? ''
    const url = request.url ?? ''
    const mark = url.indexOf('?')
    this.path = mark < 0 ? url : url.slice(0, mark)
    this.query = mark < 0 ? '' : url.slice(mark + 1)
    this.#request = request
    this.#response = response
    this.#later = null
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

  address(): string {
    return unmapped(this.#liveRequest().socket.remoteAddress ?? '')
  }

  send(head: string | Uint8Array, body: Uint8Array | null, stays = false): void {
    const response = this.#liveResponse()
    if (this.state !== 'open') throw new Error('this request has already been answered')
    const length = body === null ? [] : ['Content-Length', String(body.length)]
    this.state = 'begun'
    writeHead(response, head, length, this.draining || announcesBody(this))
    if (body === null || this.method === 'HEAD') response.end()
    else if (stays) response.end(Buffer.from(body.buffer, body.byteOffset, body.length))
    // A copy, because Node may still hold the bytes when the caller reuses its buffer.
    else response.end(Buffer.from(body))
    this.state = 'answered'
  }

  later(events: LaterEvents): LaterReply | null {
    const response = this.#liveResponse()
    if (this.state !== 'open') throw new Error('this request has already been answered')
    if (announcesBody(this)) return null
    const isLast = (): boolean => this.draining
    this.#later = new NodeLaterReply(response, this.method === 'HEAD', isLast, events)
    this.state = 'answered'
    return this.#later
  }

  /** The answer to a handler that failed: 500 if nothing was sent, a cut connection if sending failed half-way. */
  fail(): void {
    if (this.state === 'open') this.send(FAULT_HEAD, FAULT_BODY)
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

/**
 * An engine with one node:http server. Malformed, oversized and late requests get Node's own bare 400, 431 and 408 and
 * are cut off. Only one of them can listen on a port.
 */
export class NodeEngine implements Engine {
  readonly kind = 'node'
  readonly #server: Server
  readonly #exchange = new NodeExchange()
  readonly #waiting = new WeakMap<Socket, number>()

  constructor(onRequest: OnRequest, surroundings: Surroundings) {
    const exchange = this.#exchange

    const serve = (request: IncomingMessage, response: ServerResponse): void => {
      exchange.begin(request, response)
      try {
        onRequest(exchange)
        if (exchange.state === 'open') throw new Error('the handler returned without an answer')
      } catch (error) {
        exchange.fail()
        queueMicrotask(() => surroundings.onThrow(error))
      } finally {
        exchange.release()
      }
    }

    const onArrival = (request: IncomingMessage, response: ServerResponse): void => {
      // Node hands over all pipelined requests at once, and would hold all their answers. A response gets its socket
      // when the one before it is with the kernel: waiting for that, there is one body per connection in memory.
      if (response.socket !== null) {
        serve(request, response)
        return
      }
      const { socket } = request
      const waiting = (this.#waiting.get(socket) ?? 0) + 1
      if (waiting > WAITING_LIMIT) {
        socket.destroy()
        return
      }
      this.#waiting.set(socket, waiting)
      response.once('socket', () => {
        this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1)
        // Node is still handing over the socket during this event.
        process.nextTick(serve, request, response)
      })
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
    // The HTTP server's own `close` would also close idle connections and stop looking for late requests.
    NetServer.prototype.close.call(this.#server)
  }

  drain(): void {
    this.#exchange.draining = true
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
