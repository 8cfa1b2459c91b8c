/** The engine on node:http, for platforms without a native binary: about 40 % as many answers a second. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { unmapped } from '../../access/ip-address.ts'
import {
  BAD_HOST,
  framingOf,
  HEADER_LIMIT_BYTES,
  HEADER_LINES_LIMIT,
  HEADERS_TOO_LARGE,
  headText,
  KEPT,
  NOTHING,
  TOO_MANY_CONNECTIONS,
  UNCLEAR_LENGTH,
  type Framing,
  type HeaderName,
  type LaterEvents,
  type OnRequest,
  type Retried,
  type Refusal,
  type EngineNeeds,
} from '../exchange.ts'
import { BaseEngine, BaseExchange, BaseLaterReply, lastAnswer, listenFault } from './base.ts'

/** For silent, slow, idle or stalled connections, as in the other engine. */
const TIMEOUT_MS = 10_000
/** How often Node looks for late requests: its default of 30 s would make the limit 40 s. */
const TIMEOUT_CHECK_MS = 1_000
/** Pipelined requests of one connection that wait for earlier ones: 1 MB at some 4 KB each. */
const WAITING_REQUESTS = 256
/** Bodies up to this do not count as buffered: 160 MB with 10,000 connections that do not read. */
const SHORT_BODY_BYTES = 16 * 1024

/** Whether threads share a port (`reusePort`: Node 22.12 and 23.1), on which the kernel spreads clients. */
export const SHARES_PORT = process.platform === 'linux' && hasReusePort(process.versions.node)

export function hasReusePort(version: string): boolean {
  const [major, minor] = version.split('.').map(Number)
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12)
}

export class NodeEngine extends BaseEngine {
  protected readonly exchange: NodeExchange
  readonly #server: Server
  readonly #waiting = new WeakMap<Socket, number>()
  /** Requests that wait while the port closes: turns that only accept connections are short. */
  #held: (() => void)[] | null = null

  constructor(onRequest: OnRequest, needs: EngineNeeds) {
    super()
    this.exchange = new NodeExchange(onRequest, needs)
    const limits = {
      maxHeaderSize: HEADER_LIMIT_BYTES,
      headersTimeout: TIMEOUT_MS,
      requestTimeout: TIMEOUT_MS,
      keepAliveTimeout: TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    }
    this.#server = createServer(limits, (request, response) => this.#onArrival(request, response))
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
    const { connections, onProgress } = this.exchange.needs
    onProgress()
    this.accepted++
    if (!connections.opened()) {
      const { head, body } = TOO_MANY_CONNECTIONS
      socket.end(`HTTP/1.1 ${headText(lastAnswer(head, body.length, body))}\r\n`)
      socket.destroySoon()
      return
    }
    socket.once('close', () => connections.left())
  }

  #onArrival(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    // The connection has had its last answer.
    if (socket.destroyed || socket.writableEnded) return
    // Node hands over all pipelined requests at once. A response gets its socket when the one before is with
    // the kernel: waiting for that keeps one body per connection in memory.
    const serve = (): void => {
      // Its client has left while it waited.
      if (socket.destroyed) return
      this.exchange.unfinished++
      response.once('close', () => this.exchange.unfinished--)
      this.exchange.take(request, response)
    }
    if (response.socket !== null) {
      if (this.#held === null) serve()
      else this.#held.push(serve)
      return
    }
    const waiting = (this.#waiting.get(socket) ?? 0) + 1
    if (waiting > WAITING_REQUESTS) {
      socket.destroy()
      return
    }
    this.#waiting.set(socket, waiting)
    response.once('socket', () => {
      this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1)
      // Node is still handing over the socket during this event.
      process.nextTick(serve)
    })
  }

  async listen(host: string, port: number): Promise<number> {
    const options = { host, port, exclusive: true, reusePort: SHARES_PORT }
    try {
      await once(this.#server.listen(options), 'listening')
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      throw listenFault(host, port, code ?? message)
    }
    return (this.#server.address() as AddressInfo).port
  }

  override async stopListening(): Promise<void> {
    this.#held ??= []
    await super.stopListening()
    for (const serve of this.#held ?? []) serve()
    this.#held = null
  }

  /** The HTTP server's own `close` would also close idle connections and stop looking for late requests. */
  protected closePort(): void {
    NetServer.prototype.close.call(this.#server)
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

class NodeExchange extends BaseExchange<IncomingMessage, ServerResponse> {
  path = ''
  query = ''

  take(request: IncomingMessage, response: ServerResponse): void {
    const { headersDistinct: headers, method = '', url = '' } = request
    const mark = url.indexOf('?')
    this.path = mark < 0 ? url : url.slice(0, mark)
    this.query = mark < 0 ? '' : url.slice(mark + 1)
    this.framing = framingOf(headers['content-length'] ?? [], headers['transfer-encoding'] ?? [])
    const refusal = refusalOf(request, this.framing)
    if (refusal !== null) this.framing = 'unclear'
    this.serve(method, request, response, refusal)
  }

  header(name: HeaderName): string {
    return this.request.headersDistinct[name]?.[0] ?? ''
  }

  headerValues(name: HeaderName): string {
    return this.request.headersDistinct[name]?.join(', ') ?? ''
  }

  address(): string {
    return unmapped(this.request.socket.remoteAddress ?? '')
  }

  protected reply(body: Uint8Array | null, lasting: boolean): void {
    const response = this.response!
    const isLast = this.cameWithBody || this.isDraining
    // Short bodies are usually out at once.
    const held = lasting || this.bytes <= SHORT_BODY_BYTES ? 0 : this.bytes
    if (!this.buffer(held)) {
      this.bytes = 0
      response.destroy()
      return
    }
    if (held > 0) response.once('close', () => this.giveBack(held))
    writeHead(response, this.head, body?.length ?? null, isLast)
    // On HEAD Node leaves the body out.
    response.end(body === null || lasting ? body : Buffer.from(body))
  }

  protected readBody(onPiece: (bytes: Uint8Array, isLast: boolean) => void): void {
    this.request.on('data', (piece: Buffer) => onPiece(piece, false))
    this.request.once('end', () => onPiece(NOTHING, true))
  }

  protected putOff(response: ServerResponse, events: LaterEvents): NodeLaterReply {
    return new NodeLaterReply(this, response, events)
  }

  protected cut(): void {
    this.request.socket.destroy()
  }
}

/** The answer to a request that no handler should see. */
function refusalOf({ headersDistinct, rawHeaders }: IncomingMessage, framing: Framing): Refusal | null {
  if (framing === 'unclear') return UNCLEAR_LENGTH
  if (rawHeaders.length > 2 * HEADER_LINES_LIMIT) return HEADERS_TOO_LARGE
  return (headersDistinct['host']?.length ?? 0) > 1 ? BAD_HOST : null
}

/** `isLast` adds the headers that end the connection; `length`: null for no body. */
function writeHead(
  response: ServerResponse,
  head: string | Uint8Array,
  length: number | null,
  isLast: boolean,
): void {
  const isEnd = isLast || !response.shouldKeepAlive
  const text = headText(head)
  const [statusLine = '', ...lines] = (isEnd ? text.replace(KEPT, '') : text).split('\r\n')
  const headers = lines.flatMap((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
  if (length !== null) headers.push('Content-Length', String(length))
  if (isEnd) headers.push('Connection', 'close')
  // Suppresses Node's own `Connection` and `Keep-Alive` headers, not the keeping alive.
  else response.removeHeader('Connection')
  response.writeHead(Number(statusLine.slice(0, 3)), statusLine.slice(4), headers)
}

class NodeLaterReply extends BaseLaterReply<ServerResponse> {
  /** Bytes in the kernel at the last look. */
  #unread = Infinity
  readonly #cameWithBody: boolean

  constructor(exchange: NodeExchange, response: ServerResponse, events: LaterEvents) {
    super(exchange, response, events)
    this.#cameWithBody = exchange.cameWithBody
    // A client that is silent while it waits for its answer is not at fault.
    response.socket?.setTimeout(0)
    response.once('close', () => this.gone())
    response.on('drain', () => this.room())
  }

  protected sendHead(head: string | Uint8Array, length: number | null, isNoContent: boolean): void {
    const isStream = length === null && !this.isHead && !isNoContent
    writeHead(this.response, head, length, isStream || this.#cameWithBody || this.exchange.isDraining)
    if (!isStream) this.response.socket?.setTimeout(TIMEOUT_MS)
    if (this.isHead || isNoContent) this.response.end()
  }

  protected offer(bytes: Uint8Array): boolean {
    return this.response.write(bytes)
  }

  /** Node writes again only when the kernel tells of room, so this looks at what the client has not taken. */
  protected offerAgain(): Retried {
    const { socket } = this.response
    const before = this.#unread
    this.#unread = (socket && unreadBytes(socket)) ?? before
    // The caller looks again after a while, and decides for how long a client may take nothing.
    socket?.setTimeout(0)
    return { isRead: this.#unread < before, mayWrite: false }
  }

  protected finish(): void {
    this.response.socket?.setTimeout(TIMEOUT_MS)
    this.response.end()
  }

  protected destroy(): void {
    this.response.destroy()
  }
}

/** Many connections are looked at in one turn: they share a reading. */
const SAME_LOOK_MS = 100
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']
const HEX_DIGITS = 8

let read = { at: -Infinity, text: '' }

function tables(): string {
  const at = performance.now()
  if (at - read.at > SAME_LOOK_MS) read = { at, text: TABLES.map(textOf).join('') }
  return read.text
}

/** '' where the system has no such file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/**
 * Bytes that were sent to a client and not acknowledged (Linux, `man 5 proc`), or null if it is unknown.
 */
export function unreadBytes({ localAddress, localPort, remoteAddress, remotePort }: Socket): number | null {
  if (localAddress === undefined || remoteAddress === undefined) return null
  const row = ` ${placeOf(localAddress, localPort!)} ${placeOf(remoteAddress, remotePort!)} `
  const text = tables()
  const at = text.indexOf(row)
  if (at === -1) return null
  // The state comes first, two digits.
  const queue = at + row.length + 3
  return Number.parseInt(text.slice(queue, queue + HEX_DIGITS), 16)
}

/** Words of four bytes in the order of the processor, which is little-endian, then the port. */
function placeOf(address: string, port: number): string {
  const bytes = Buffer.from(ipaddr.parse(address).toByteArray())
  return `${bytes.swap32().toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase()
}
