/** One request of the engine on node:http and its reply. */
import type { IncomingMessage, ServerResponse } from 'node:http'

import { unmapped } from '../../access/ip-address.ts'
import { BaseExchange, BaseLaterReply } from './base-exchange.ts'
import {
  BAD_HOST,
  CONTENT_LENGTH,
  framingOf,
  HEADER_LIMIT_BYTES,
  HEADER_LINES_LIMIT,
  HEADERS_TOO_LARGE,
  headText,
  KEPT,
  TRANSFER_ENCODING,
  UNCLEAR_LENGTH,
} from '../exchange.ts'
import type { Again, Framing, HeaderName, LaterEvents, Pressure, Refusal, Surroundings } from '../exchange.ts'
import { BufferedBytes, PIECE_BYTES } from './limits.ts'
import { firstPiece, SendQueue, UnsentBody } from './unsent-bodies.ts'

/** ` `, ` HTTP/1.1` and the empty line, in addition to method, target and headers. */
const HEAD_BYTES = 1 + 9 + 4
/** `: ` and CRLF of a header. */
const LINE_BYTES = 4
/** Bodies up to this do not count as buffered: 160 MB with 10,000 connections that do not read. */
const SHORT_BODY_BYTES = 16 * 1024

export class NodeExchange extends BaseExchange<IncomingMessage, ServerResponse> {
  path = ''
  query = ''
  readonly #buffered = new BufferedBytes()
  readonly #sending = new SendQueue()
  readonly #onThrow: (error: unknown) => void
  /** The answer to a request that no handler should see. */
  refusal: Refusal | null = null
  #hasMore = false

  constructor({ onThrow, recorder }: Surroundings) {
    super(recorder)
    this.#onThrow = onThrow
  }

  /** More connections may wait: Node accepts one in each turn of the loop. */
  onAccepted(): void {
    this.#sending.giveWay()
  }

  /** `waiting`: answers that wait for their clients. */
  pressure(waiting: number): Pressure {
    return { waiting, bufferedBytes: this.#buffered.bytes, notBuffered: this.#buffered.refused }
  }

  begin(request: IncomingMessage, response: ServerResponse, hasMore: boolean): void {
    this.#hasMore = hasMore
    const url = originForm(request.url ?? '')
    const mark = url.indexOf('?')
    this.path = mark < 0 ? url : url.slice(0, mark)
    this.query = mark < 0 ? '' : url.slice(mark + 1)
    this.open(request.method ?? '', request, response)
    this.refusal = this.#refusalOf(request)
  }

  header(name: HeaderName): string {
    return this.liveRequest().headersDistinct[name]?.[0] ?? ''
  }

  headerValues(name: HeaderName): string {
    return this.liveRequest().headersDistinct[name]?.join(', ') ?? ''
  }

  get framing(): Framing {
    const headers = this.liveRequest().headersDistinct
    return framingOf(headers[CONTENT_LENGTH] ?? [], headers[TRANSFER_ENCODING] ?? [])
  }

  get isLast(): boolean {
    return this.refusal !== null || this.framing !== 'no body'
  }

  #refusalOf({ headersDistinct, rawHeaders, method = '', url = '' }: IncomingMessage): Refusal | null {
    if (rawHeaders.length > 2 * HEADER_LINES_LIMIT) return HEADERS_TOO_LARGE
    const bytes = rawHeaders.reduce((sum, text) => sum + text.length, method.length + url.length)
    if (bytes + HEAD_BYTES + (rawHeaders.length / 2) * LINE_BYTES > HEADER_LIMIT_BYTES)
      return HEADERS_TOO_LARGE
    if ((headersDistinct['host']?.length ?? 0) > 1) return BAD_HOST
    return this.framing === 'unclear' ? UNCLEAR_LENGTH : null
  }

  address(): string {
    return unmapped(this.liveRequest().socket.remoteAddress ?? '')
  }

  send(head: string | Uint8Array, body: Uint8Array | null, lasting: boolean | Again = false): void {
    const response = this.liveResponse()
    this.note(head, body)
    this.state = 'begun'
    const isLast = this.isLast || (this.draining && !this.#hasMore)
    writeHead(response, head, body === null ? null : body.length, isLast)
    if (body === null || this.method === 'HEAD') response.end()
    else this.#sendBody(response, body, lasting)
    this.state = 'answered'
  }

  protected putOff(response: ServerResponse, events: LaterEvents): NodeLaterReply | null {
    if (this.isLast) return null
    const hasMore = this.#hasMore
    const isLast = (): boolean => this.draining && !hasMore
    return new NodeLaterReply(response, this.method === 'HEAD', isLast, events)
  }

  protected cut(): void {
    this.liveRequest().socket.destroy()
  }

  #sendBody(response: ServerResponse, body: Uint8Array, lasting: boolean | Again): void {
    const stays = lasting === true
    if (!stays && !this.#mayBuffer(response, Math.min(body.length, PIECE_BYTES))) {
      this.bytes = 0
      response.destroy()
      return
    }
    const first = firstPiece(body)
    if (first.length === body.length) {
      response.end(stays ? first : Buffer.from(first))
      return
    }
    const options = { from: first.length, lasting, buffered: this.#buffered, onThrow: this.#onThrow }
    const unsent = UnsentBody.of(body, options)
    if (unsent === null) {
      this.bytes = 0
      response.destroy()
      return
    }
    this.unsent = unsent
    unsent.sent = 0
    response.once('close', () => unsent.end())
    this.#sendPieces(response, first, unsent, 0, stays)
  }

  /** Sends pieces in turn, as copies unless the body `stays`: Node buffers what the kernel has not taken. */
  #sendPieces(
    response: ServerResponse,
    piece: Uint8Array,
    unsent: UnsentBody,
    offset: number,
    stays: boolean,
  ): void {
    const end = offset + piece.length
    const bytes = stays ? piece : Buffer.from(piece)
    if (end === unsent.length) {
      response.once('finish', () => (unsent.sent = end))
      response.end(bytes)
      unsent.forget()
      return
    }
    let isTaken = false
    const goOn = (): number => {
      if (response.destroyed) return 0
      const next = unsent.piece(end)
      if (next === null) {
        response.destroy()
        return 0
      }
      this.#sendPieces(response, next, unsent, end, stays)
      return next.length + unsent.takeMade()
    }
    response.write(bytes, (error) => {
      isTaken = true
      if (error === undefined || error === null) unsent.sent = end
      this.#sending.add(goOn)
    })
    // What the kernel has not taken in a turn of the loop waits for its client.
    setImmediate(() => {
      if (!isTaken) unsent.forget()
    })
  }

  /** Whether `bytes` may be buffered until the answer is out. Short bodies mostly are out at once. */
  #mayBuffer(response: ServerResponse, bytes: number): boolean {
    if (bytes <= SHORT_BODY_BYTES) return true
    if (!this.#buffered.take(bytes)) return false
    response.once('close', () => this.#buffered.giveBack(bytes))
    return true
  }
}

/** A target without scheme and host, which requests to proxies have (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  const match = /^https?:\/\/[^/?#]*/i.exec(target)
  if (match === null) return target
  const path = target.slice(match[0].length)
  return path.startsWith('/') ? path : `/${path}`
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
  else {
    // Suppresses Node's own `Connection` and `Keep-Alive` headers, not the keeping alive.
    response.removeHeader('Connection')
  }
  response.writeHead(Number(statusLine.slice(0, 3)), statusLine.slice(4), headers)
}

class NodeLaterReply extends BaseLaterReply<ServerResponse> {
  /** How long the connection may be silent while an answer goes out. */
  readonly #silenceMs: number
  protected unsent = 0

  constructor(response: ServerResponse, isHead: boolean, isLast: () => boolean, events: LaterEvents) {
    super(response, isHead, isLast, events)
    // A client that is silent while it waits for its answer is not at fault.
    this.#silenceMs = response.socket?.timeout ?? 0
    response.socket?.setTimeout(0)
    response.once('close', () => this.gone())
    response.on('drain', () => this.room())
  }

  protected together(write: () => void): void {
    this.response.cork()
    write()
    this.response.uncork()
  }

  protected sendWithoutBody(head: string | Uint8Array, length: number | null): void {
    this.response.socket?.setTimeout(this.#silenceMs)
    writeHead(this.response, head, length, this.isLast())
    this.response.end()
  }

  protected sendHead(head: string | Uint8Array, length: number | null): void {
    const isStream = length === null
    writeHead(this.response, head, length, isStream || this.isLast())
    if (!isStream) this.response.socket?.setTimeout(this.#silenceMs)
  }

  protected offer(bytes: Uint8Array): boolean {
    // Node may still hold the bytes when the caller uses its buffer again.
    const { length } = bytes
    this.unsent += length
    return this.response.write(Buffer.from(bytes), (error) => {
      if (error === undefined || error === null) this.unsent -= length
    })
  }

  protected finish(): void {
    this.response.end()
  }

  protected destroy(): void {
    this.response.destroy()
  }
}
