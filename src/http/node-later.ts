/** Replies of the engine on node:http that come after their handlers have returned. */
import type { ServerResponse } from 'node:http'
import { headText, type LaterEvents, type LaterReply } from './exchange.ts'

/** Writes status and headers; with `isLast` those that end the connection behind the answer. `more`: names and values in turn. */
export function writeHead(
  response: ServerResponse,
  head: string | Uint8Array,
  more: readonly string[],
  isLast: boolean,
): void {
  const [statusLine = '', ...lines] = headText(head).split('\r\n')
  const headers = lines.flatMap((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
  headers.push(...more)
  if (isLast || !response.shouldKeepAlive) {
    headers.push('Connection', 'close')
  } else {
    // Suppresses Node's own `Connection` and `Keep-Alive` headers, not the keeping alive.
    response.removeHeader('Connection')
  }
  response.writeHead(Number(statusLine.slice(0, 3)), statusLine.slice(4), headers)
}

export class NodeLaterReply implements LaterReply {
  readonly isHead: boolean
  isOver = false
  readonly #response: ServerResponse
  readonly #isLast: () => boolean

  /** `isLast`: whether an answer that begins now is the last of its connection. */
  constructor(
    response: ServerResponse,
    isHead: boolean,
    isLast: () => boolean,
    { onRoom, onGone }: LaterEvents,
  ) {
    this.#response = response
    this.isHead = isHead
    this.#isLast = isLast
    response.once('close', () => {
      if (this.isOver) return
      this.isOver = true
      onGone()
    })
    response.on('drain', () => {
      if (!this.isOver) onRoom()
    })
  }

  send(head: string | Uint8Array, body: Uint8Array | null): void {
    if (this.isOver) return
    this.isOver = true
    const length = body === null ? [] : ['Content-Length', String(body.length)]
    writeHead(this.#response, head, length, this.#isLast())
    if (body === null || this.isHead) this.#response.end()
    else this.#response.end(body)
  }

  begin(head: string | Uint8Array, length: number): void {
    if (this.isOver) return
    writeHead(this.#response, head, ['Content-Length', String(length)], this.#isLast())
    if (!this.isHead) return
    this.isOver = true
    this.#response.end()
  }

  write(bytes: Uint8Array): boolean {
    // A copy, because Node may still hold the bytes when the caller uses its buffer again.
    return this.isOver || this.#response.write(Buffer.from(bytes))
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.#response.end()
  }

  cut(): void {
    if (this.isOver) return
    this.isOver = true
    this.#response.destroy()
  }
}
