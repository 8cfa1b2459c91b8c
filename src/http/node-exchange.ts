/** One request of the engine on node:http and its reply. */
import type { IncomingMessage, ServerResponse } from 'node:http'

import { BaseExchange } from './base.ts'
import {
  BAD_HOST,
  framingOf,
  HEADER_LIMIT_BYTES,
  HEADER_LINES_LIMIT,
  HEADERS_TOO_LARGE,
  UNCLEAR_LENGTH,
  unmapped,
} from './exchange.ts'
import type { Again, Framing, HeaderName, LaterEvents, Pressure, Refusal, Surroundings } from './exchange.ts'
import { HeldBytes, PIECE_BYTES } from './limits.ts'
import { NodeLaterReply, writeHead } from './node-later.ts'
import { Rest } from './rest.ts'
import { firstPiece, Turns } from './turns.ts'

/**
 * What stands in a request's head beside method, target, and names and values of headers: ` `, ` HTTP/1.1`
 * and the empty line.
 */
const HEAD_BYTES = 1 + 9 + 4
/** Beside name and value of a header: `: ` and CRLF. */
const LINE_BYTES = 4
/** With 10,000 connections that do not read, bodies that are not counted among what is held take 160 MB. */
const SHORT_BODY_BYTES = 16 * 1024

export class NodeExchange extends BaseExchange<IncomingMessage, ServerResponse> {
  path = ''
  query = ''
  readonly #held = new HeldBytes()
  readonly #turns = new Turns()
  readonly #onThrow: (error: unknown) => void
  /** What is to be answered to a request that no handler should see. */
  refusal: Refusal | null = null
  /** Whether requests of the same connection wait behind this one. */
  #hasMore = false

  constructor({ onThrow, recorder }: Surroundings) {
    super(recorder)
    this.#onThrow = onThrow
  }

  /** A connection was accepted, and more may wait: Node accepts one in each turn of the loop. */
  onAccepted(): void {
    this.#turns.giveWay()
  }

  /** `waiting`: answers that wait for their clients. */
  pressure(waiting: number): Pressure {
    return { waiting, heldBytes: this.#held.bytes, notHeld: this.#held.refused }
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

  header({ text }: HeaderName): string {
    return this.liveRequest().headersDistinct[text]?.[0] ?? ''
  }

  headerValues({ text }: HeaderName): string {
    return this.liveRequest().headersDistinct[text]?.join(', ') ?? ''
  }

  get framing(): Framing {
    const lengths = this.liveRequest().headersDistinct['content-length']
    const codings = this.liveRequest().headersDistinct['transfer-encoding']
    return framingOf(lengths?.length ?? 0, lengths?.at(-1) ?? '', codings?.length ?? 0, codings?.at(-1) ?? '')
  }

  /** Whether nothing behind this request is to be answered. */
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
    if (!stays && !this.#mayHold(response, Math.min(body.length, PIECE_BYTES))) {
      this.bytes = 0
      response.destroy()
      return
    }
    const first = firstPiece(body)
    if (first.length === body.length) {
      response.end(stays ? first : Buffer.from(first))
      return
    }
    const options = { from: first.length, lasting, held: this.#held, onThrow: this.#onThrow }
    const rest = Rest.of(body, options)
    if (rest === null) {
      this.bytes = 0
      response.destroy()
      return
    }
    this.rest = rest
    rest.sent = 0
    response.once('close', () => rest.end())
    this.#sendPieces(response, first, rest, 0, stays)
  }

  /**
   * Sends `piece`, which begins at `offset` of its body, and what is behind it: each piece in its turn, and
   * from a copy unless the body `stays`, because Node holds a piece until the kernel has taken it, and the
   * copy of all with it.
   */
  #sendPieces(response: ServerResponse, piece: Uint8Array, rest: Rest, offset: number, stays: boolean): void {
    const end = offset + piece.length
    const bytes = stays ? piece : Buffer.from(piece)
    if (end === rest.length) {
      response.once('finish', () => (rest.sent = end))
      response.end(bytes)
      rest.forget()
      return
    }
    let isTaken = false
    const goOn = (): number => {
      // Its client may have gone between two pieces.
      if (response.destroyed) return 0
      const next = rest.piece(end)
      if (next === null) {
        response.destroy()
        return 0
      }
      this.#sendPieces(response, next, rest, end, stays)
      return next.length + rest.takeMade()
    }
    response.write(bytes, (error) => {
      isTaken = true
      if (error === undefined || error === null) rest.sent = end
      this.#turns.add(goOn)
    })
    // What the kernel has not taken in a turn of the loop waits for its client.
    setImmediate(() => {
      if (!isTaken) rest.forget()
    })
  }

  /**
   * Whether `bytes` may be held until the answer is out. Short bodies mostly are at once, and each connection
   * has one at a time.
   */
  #mayHold(response: ServerResponse, bytes: number): boolean {
    if (bytes <= SHORT_BODY_BYTES) return true
    if (!this.#held.take(bytes)) return false
    response.once('close', () => this.#held.giveBack(bytes))
    return true
  }
}

/** A target without scheme and host, which a request to a proxy has before its path (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  const match = /^https?:\/\/[^/?#]*/i.exec(target)
  if (match === null) return target
  const path = target.slice(match[0].length)
  return path.startsWith('/') ? path : `/${path}`
}
