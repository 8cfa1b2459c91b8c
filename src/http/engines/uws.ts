/** The engine on uWebSockets.js; only this file and `uws-binding.ts` know the library. */
import { SocketAddress } from 'node:net'
import { unmapped } from '../../access/ip-address.ts'
import {
  framingOf,
  NO_EVENTS,
  headText,
  NOTHING,
  TOO_MANY_CONNECTIONS,
  UNCLEAR_LENGTH,
  type HeaderName,
  type LaterEvents,
  type OnRequest,
  type Retried,
  type EngineNeeds,
} from '../exchange.ts'
import { BaseEngine, BaseExchange, BaseLaterReply, lastAnswer, listenFault, withClosing } from './base.ts'
import type { UwsApp, UwsBinding, UwsRequest, UwsResponse } from './uws-binding.ts'

/**
 * The engine buffers answers without a body (HEAD, 204, 304) whether or not they are read. So each ends its
 * connection cleanly, with a probability that lets this many bytes pass on average.
 */
const UNASKED_BYTES = 192 * 1024
/** What the engine adds to a head: version, date, length and the like. */
const ADDED_HEAD_BYTES = 90
/** The kernel takes a last answer of this size at once. */
const AT_ONCE_BYTES = 16 * 1024

const SPECIAL: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'connection'])
const ASKS_TO_CLOSE = /(^|,)[ \t]*close[ \t]*(,|$)/i
const NONE: readonly string[] = []

/** Engines of several threads may share a port; so may another process, silently: see `findFreePort`. */
export class UwsEngine extends BaseEngine {
  protected readonly exchange: UwsExchange
  readonly #binding: UwsBinding
  #app: UwsApp | null
  #token: object | null = null

  constructor(binding: UwsBinding, onRequest: OnRequest, needs: EngineNeeds) {
    super()
    const exchange = new UwsExchange(onRequest, needs)
    this.exchange = exchange
    this.#binding = binding
    binding._cfg('silent')
    // A route of its own spares the method that counts the reading of its name.
    this.#app = countedConnections(binding.App(), needs)
      .get('/*', (response, request) => exchange.take('GET', request, response))
      .any('/*', (response, request) => exchange.take(request.getCaseSensitiveMethod(), request, response))
  }

  listen(host: string, port: number): Promise<number> {
    this.#app!.listen(host, port, (token) => (this.#token = token === false ? null : token))
    if (this.#token !== null) return Promise.resolve(this.#binding.us_socket_local_port(this.#token))
    const reason = 'the address is in use, not of this machine, or not permitted'
    return Promise.reject(listenFault(host, port, reason))
  }

  protected closePort(): void {
    if (this.#token !== null) this.#binding.us_listen_socket_close(this.#token)
    this.#token = null
  }

  close(): void {
    this.#token = null
    // A thread that exits with an open app aborts the whole process.
    this.#app?.close()
    this.#app = null
  }
}

function countedConnections(app: UwsApp, { connections, onProgress }: EngineNeeds): UwsApp {
  const { head, body } = TOO_MANY_CONNECTIONS
  let isRefusing = false
  return app.filter((connection, change) => {
    if (isRefusing) return
    onProgress()
    if (change === -1) connections.left()
    else if (!connections.opened()) {
      isRefusing = true
      // A new connection takes this few bytes at once.
      connection.cork(() => connection.writeStatus(lastAnswer(head, body.length, body)))
      connection.close()
      isRefusing = false
    }
  })
}

class UwsExchange extends BaseExchange<UwsRequest, UwsResponse> {
  /**
   * The connection's last answer. After a body the engine itself closes, if only `Connection: close` was
   * wanted.
   */
  isLast = false
  /** Headers of the request, read all at once: six calls one by one cost as much. */
  #headers = 0
  /** A header is about a body or the connection: most requests have none of these. */
  #isSpecial = false
  readonly #names: string[] = []
  readonly #values: string[] = []

  take(method: string, request: UwsRequest, response: UwsResponse): void {
    // No text of a request, such as its key, outlasts the next one.
    while (this.#headers > 0) this.#values[--this.#headers] = ''
    this.#isSpecial = false
    request.forEach(this.#takeHeader)
    this.framing = this.#isSpecial
      ? framingOf(this.#valuesOf('content-length'), this.#valuesOf('transfer-encoding'))
      : 'no body'
    this.isLast =
      this.#isSpecial && (this.cameWithBody || ASKS_TO_CLOSE.test(this.#valuesOf('connection').join()))
    this.serve(method, request, response, this.framing === 'unclear' ? UNCLEAR_LENGTH : null)
  }

  readonly #takeHeader = (lowerCaseName: string, value: string): void => {
    this.#isSpecial ||= SPECIAL.has(lowerCaseName)
    this.#names[this.#headers] = lowerCaseName
    this.#values[this.#headers++] = value
  }

  #valuesOf(name: HeaderName): readonly string[] {
    let values: string[] | null = null
    for (let i = 0; i < this.#headers; i++) {
      if (this.#names[i] === name) (values ??= []).push(this.#values[i])
    }
    return values ?? NONE
  }

  get path(): string {
    return this.request.getUrl()
  }

  get query(): string {
    // Given a key, `getQuery` decodes in place, and spoils what is read afterwards.
    return this.request.getQuery() ?? ''
  }

  header(name: HeaderName): string {
    void this.request
    const at = this.#names.indexOf(name)
    return at === -1 || at >= this.#headers ? '' : this.#values[at]
  }

  headerValues(name: HeaderName): string {
    void this.request
    const values = this.#valuesOf(name)
    return values.length === 1 ? values[0] : values.join(', ')
  }

  address(): string {
    const text = Buffer.from(this.response!.getRemoteAddressAsText()).toString('latin1')
    if (!text.includes(':')) return text
    return unmapped(new SocketAddress({ family: 'ipv6', address: text }).address)
  }

  protected reply(body: Uint8Array | null, lasting: boolean): void {
    const response = this.response!
    const hasBody = body !== null && body.length > 0 && this.method !== 'HEAD'
    const endsAtOnce = hasBody
      ? this.cameWithBody && body.length <= AT_ONCE_BYTES
      : this.isLast || Math.random() * UNASKED_BYTES < this.head.length + ADDED_HEAD_BYTES
    if (endsAtOnce) {
      // The line end after the body.
      if (hasBody) this.bytes += 2
      const reply = this.putOff(response, NO_EVENTS)!
      reply.sendLast(this.head, body?.length ?? null, hasBody ? body : null)
      return
    }
    if (this.isLast) {
      // In the next turn, so that the engine cuts a connection that has sent more: it is not served.
      response.pause()
      const reply = this.putOff(response, NO_EVENTS, lasting ? 0 : body!.length)
      const head = headText(this.head)
      const bytes = lasting ? body! : new Uint8Array(body!)
      setImmediate(() => reply?.send(head, bytes))
      return
    }
    // Pipelined answers that have outgrown the engine's buffer would go out in six pieces each.
    response.cork(() => {
      // Status and headers go in one call: a call for each of four headers takes half as long again.
      response.writeStatus(this.isDraining ? withClosing(this.head) : this.head)
      if (hasBody) this.#offer(response, body, lasting)
      // A length of 0 is written and done with. Given a length, `endWithoutBody` would abort the process.
      else if (body === null || !response.tryEnd(NOTHING, body.length)[1]) response.endWithoutBody()
    })
  }

  /** `end` would buffer any number of bodies for a client that pipelines and does not read. */
  #offer(response: UwsResponse, body: Uint8Array, lasting: boolean): void {
    // Behind an unfinished answer the engine cuts a connection that has sent more.
    if (response.tryEnd(body, body.length)[1]) return
    const rest = body.subarray(response.getWriteOffset())
    const reply = this.putOff(response, NO_EVENTS, lasting ? 0 : rest.length)
    if (reply === null) this.bytes -= rest.length
    else {
      reply.length = body.length
      reply.write(lasting ? rest : new Uint8Array(rest))
      reply.end()
    }
  }

  protected readBody(onPiece: (bytes: Uint8Array, isLast: boolean) => void): void {
    this.response!.onData((piece, isLast) => onPiece(new Uint8Array(piece.slice(0)), isLast))
  }

  /** `held`: bytes that count as buffered until the reply is out. Null where they are too many: it is cut. */
  protected putOff(response: UwsResponse, events: LaterEvents, held = 0): UwsLaterReply | null {
    if (!this.buffer(held)) {
      response.close()
      return null
    }
    this.unfinished++
    return new UwsLaterReply(this, response, events, held)
  }

  protected cut(): void {
    this.response!.close()
  }
}

/** Its writes are corked by hand: within a handler the engine does it. */
class UwsLaterReply extends BaseLaterReply<UwsResponse> {
  readonly #isLast: boolean
  readonly #held: number
  /** Bytes of the body; null for a stream. */
  length: number | null = 0
  /** The head, until it goes out with the first bytes of the body; then ''. */
  #head = ''
  #untaken: Uint8Array | null = null
  /** All is with the kernel, or the client has gone: touching the dead response would throw. */
  #isDone = false

  constructor(exchange: UwsExchange, response: UwsResponse, events: LaterEvents, held: number) {
    super(exchange, response, events)
    this.#isLast = exchange.isLast
    this.#held = held
    response.onAborted(() => {
      this.#done()
      this.gone()
    })
    response.onWritable(() => {
      // Unless asked, the engine sends what it keeps of a stream only with the next write.
      if (this.length === null) response.cork(() => {})
      if (this.#untaken !== null && !this.offer(this.#untaken)) return false
      this.room()
      return true
    })
  }

  /**
   * Sends the last answer of a connection. The engine takes it for unfinished, so it answers no further
   * request of the client. In the next turn of the event loop the kernel has the bytes, and it is closed.
   */
  sendLast(head: string | Uint8Array, length: number | null, body: Uint8Array | null): void {
    this.response.pause()
    this.response.cork(() => this.response.writeStatus(lastAnswer(head, length, body)))
    setImmediate(() => this.destroy())
  }

  protected sendHead(head: string | Uint8Array, length: number | null, isNoContent: boolean): void {
    this.length = length
    const isStream = length === null && !isNoContent
    const isLast = isStream || this.#isLast || this.exchange.isDraining
    this.#head = isLast ? withClosing(head) : headText(head)
    if (!this.isHead && !isNoContent) return
    if (isLast) {
      this.sendLast(head, length, null)
      return
    }
    this.response.cork(() => {
      this.response.writeStatus(isNoContent ? this.#head : `${this.#head}\r\nContent-Length: ${length}`)
      this.response.endWithoutBody()
    })
    this.#done()
  }

  #writeHead(): void {
    if (this.#head !== '') this.response.writeStatus(this.#head)
    this.#head = ''
  }

  protected offer(bytes: Uint8Array): boolean {
    if (this.#isDone) return true
    const { response, length } = this
    let [hasRoom, isComplete] = [false, false]
    const before = response.getWriteOffset()
    response.cork(() => {
      this.#writeHead()
      // Of a stream the engine keeps a copy of what the kernel does not take: a chunk cannot be taken back.
      if (length === null) hasRoom = response.write(bytes)
      else [hasRoom, isComplete] = response.tryEnd(bytes, length)
    })
    if (isComplete) this.#done()
    this.#untaken = hasRoom || length === null ? null : bytes.subarray(response.getWriteOffset() - before)
    return hasRoom
  }

  protected offerAgain(): Retried {
    if (this.length === null) {
      // The engine's ten seconds begin anew: it counts from the last write without room, whatever went out
      // since.
      this.response.resume()
      // What the engine keeps of a stream goes out with the next cork, which does not say how much.
      this.response.cork(() => {})
      return { isRead: false, mayWrite: true }
    }
    const rest = this.#untaken
    if (this.#isDone || rest === null) return { isRead: true, mayWrite: true }
    const hasRoom = this.offer(rest)
    return { isRead: hasRoom || this.#untaken!.length < rest.length, mayWrite: hasRoom }
  }

  protected finish(): void {
    // A body of known length has ended with its last byte, unless it has none.
    if (this.length === 0) this.offer(NOTHING)
    if (this.length !== null) return
    // The client closes the connection, as the head asks, or the engine after a silence: nothing reports
    // when the last chunk has left.
    this.response.cork(() => {
      this.#writeHead()
      this.response.end()
    })
    this.#done()
  }

  protected destroy(): void {
    if (this.#isDone) return
    this.#done()
    this.response.close()
  }

  #done(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.exchange.unfinished--
    this.exchange.giveBack(this.#held)
  }
}
