/** Replies of the engine on node:http that come after their handlers have returned. */
import type { ServerResponse } from 'node:http'
import { headText, KEPT, type LaterEvents } from './exchange.ts'
import { BaseLaterReply } from './later.ts'

/**
 * Writes status and headers; with `isLast` those that end the connection behind the answer. `length`: of the
 * body, null for none.
 */
export function writeHead(
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

export class NodeLaterReply extends BaseLaterReply<ServerResponse> {
  /** Milliseconds that the connection may be silent while an answer goes out. */
  readonly #silenceMs: number
  protected unsent = 0

  constructor(response: ServerResponse, isHead: boolean, isLast: () => boolean, events: LaterEvents) {
    super(response, isHead, isLast, events)
    // The silence of a client that waits for its answer is no fault of it.
    this.#silenceMs = response.socket?.timeout ?? 0
    response.socket?.setTimeout(0)
    response.once('close', () => this.gone())
    response.on('drain', () => this.room())
  }

  protected sendWhole(head: string | Uint8Array, body: Uint8Array | null, length: number | null): void {
    this.response.socket?.setTimeout(this.#silenceMs)
    writeHead(this.response, head, length, this.isLast())
    if (body === null) this.response.end()
    else this.response.end(body)
  }

  protected sendHead(head: string | Uint8Array, length: number | null): void {
    const isStream = length === null
    writeHead(this.response, head, length, isStream || this.isLast())
    if (!isStream) this.response.socket?.setTimeout(this.#silenceMs)
  }

  protected offer(bytes: Uint8Array): boolean {
    // A copy, because Node may still hold the bytes when the caller uses its buffer again.
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
