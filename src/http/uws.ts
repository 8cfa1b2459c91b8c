/** The engine on uWebSockets.js. Beside `binding.ts` the only file that knows it. */

import { SocketAddress } from 'node:net'

import type { UwsApp, UwsBinding, UwsListenToken, UwsRequest, UwsResponse } from './binding.ts'
import { announcesBody, FAULT_BODY, FAULT_HEAD, headText, unmapped } from './exchange.ts'
import type {
  Engine,
  Exchange,
  HeaderName,
  LaterEvents,
  LaterReply,
  OnRequest,
  Surroundings,
} from './exchange.ts'
import { listenError } from './port.ts'
import { UwsLaterReply } from './uws-later.ts'

class UwsExchange implements Exchange {
  method = ''
  draining = false
  /** `begun` lasts only while bytes are handed over: seen from outside, it means that this failed half-way. */
  state: 'open' | 'begun' | 'answered' = 'answered'
  #response: UwsResponse | null = null
  #request: UwsRequest | null = null
  /** Of the request at hand, where its reply was put off. */
  #later: LaterReply | null = null
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  begin(method: string, response: UwsResponse, request: UwsRequest): void {
    this.method = method
    this.#response = response
    this.#request = request
    this.#later = null
    this.state = 'open'
  }

  /** Lets go of the native objects, so that a use after the handler's return is an ordinary error. */
  release(): void {
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

  header({ bytes }: HeaderName): string {
    return this.#liveRequest().getHeader(bytes)
  }

  headerValues({ text }: HeaderName): string {
    const values: string[] = []
    this.#liveRequest().forEach((name, value) => {
      if (name === text) values.push(value)
    })
    return values.join(', ')
  }

  address(): string {
    const text = Buffer.from(this.#liveResponse().getRemoteAddressAsText()).toString('latin1')
    if (!text.includes(':')) return text
    return unmapped(new SocketAddress({ family: 'ipv6', address: text }).address)
  }

  send(head: string | Uint8Array, body: Uint8Array | null, stays = false): void {
    const response = this.#liveResponse()
    if (this.state !== 'open') throw new Error('this request has already been answered')
    const closing = this.draining || announcesBody(this)
    this.state = 'begun'
    // Status and headers in one call: 0.9 µs, where a call for each of four headers takes 1.4 µs.
    if (body === null || this.method === 'HEAD') {
      const wholeHead = body === null ? headText(head) : `${headText(head)}\r\nContent-Length: ${body.length}`
      if (closing) {
        closeAfterHead(response, wholeHead, this.#now())
      } else {
        response.writeStatus(wholeHead)
        response.endWithoutBody()
      }
    } else if (closing) {
      response.writeStatus(head)
      response.end(body, true)
    } else {
      response.writeStatus(head)
      // Not `end`, which would hold any number of bodies for a client that pipelines and does not read: with an
      // unfinished `tryEnd` the next pipelined request closes the connection.
      const [, done] = response.tryEnd(body, body.length)
      if (!done) sendRest(response, body, stays)
    }
    this.state = 'answered'
  }

  later(events: LaterEvents): LaterReply | null {
    const response = this.#liveResponse()
    if (this.state !== 'open') throw new Error('this request has already been answered')
    if (announcesBody(this)) return null
    const isLast = (): boolean => this.draining
    this.#later = new UwsLaterReply(response, this.method === 'HEAD', isLast, events)
    this.state = 'answered'
    return this.#later
  }

  /** The answer to a handler that failed: 500 if nothing was sent, a cut connection if sending failed half-way. */
  fail(): void {
    if (this.state === 'open') this.send(FAULT_HEAD, FAULT_BODY)
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

/** Sends what the kernel did not take of `body` as it becomes ready for more, from a copy unless the bytes stay. */
function sendRest(response: UwsResponse, body: Uint8Array, stays: boolean): void {
  const start = response.getWriteOffset()
  const rest = stays ? body.subarray(start) : new Uint8Array(body.subarray(start))
  // Mandatory, but there is nothing to undo: the copy goes with the handlers.
  response.onAborted(() => {})
  response.onWritable((offset) => response.tryEnd(rest.subarray(offset - start), body.length)[0])
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
  response.writeStatus(`${head}\r\nConnection: close\r\nDate: ${new Date(now).toUTCString()}\r\n`)
  setImmediate(() => {
    if (!gone) response.close()
  })
}

/**
 * An engine with one native app. Several of them, in as many threads, may listen on the same host and port; so may,
 * without an error, another process of the same user, which is why `findFreePort` must be asked first.
 */
export class UwsEngine implements Engine {
  readonly kind = 'uws'
  readonly #binding: UwsBinding
  readonly #app: UwsApp
  readonly #exchange: UwsExchange
  #token: UwsListenToken | null = null
  #closed = false

  constructor(binding: UwsBinding, onRequest: OnRequest, surroundings: Surroundings) {
    this.#binding = binding
    const exchange = new UwsExchange(surroundings.now)
    this.#exchange = exchange

    // An error that left this function would end the process, and so would a return without an answer.
    const serve = (method: string, response: UwsResponse, request: UwsRequest): void => {
      exchange.begin(method, response, request)
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

    binding._cfg('silent')
    // Routes of their own spare the two methods that count the reading of their names.
    this.#app = binding
      .App()
      .get('/*', (response, request) => serve('GET', response, request))
      .head('/*', (response, request) => serve('HEAD', response, request))
      .any('/*', (response, request) => serve(request.getCaseSensitiveMethod(), response, request))
  }

  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#app.listen(host, port, (token) => {
        if (token === false) {
          reject(listenError(host, port, 'the address is in use, not of this machine, or not permitted'))
          return
        }
        this.#token = token
        resolve(this.#binding.us_socket_local_port(token))
      })
    })
  }

  stopListening(): void {
    if (this.#token === null) return
    this.#binding.us_listen_socket_close(this.#token)
    this.#token = null
  }

  drain(): void {
    this.#exchange.draining = true
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#token = null
    // A thread that exits with an open app aborts the whole process.
    this.#app.close()
  }
}
