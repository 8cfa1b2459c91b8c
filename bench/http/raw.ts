/** The smallest HTTP client that sees bytes as they are: one connection, one request at a time. */
import { connect, type Socket } from 'node:net'

export interface RawReply {
  status: number
  /** Status line and header lines, without the last CRLF. */
  head: string
  body: Buffer
}

/** Longest answer we wait for. */
const TIMEOUT_MS = 30_000
const HEAD_END = Buffer.from('\r\n\r\n')

export class RawClient {
  readonly #socket: Socket
  readonly #headers: string
  #received: Buffer = Buffer.alloc(0)
  #waiting: { resolve: (reply: RawReply) => void; reject: (error: Error) => void } | null = null

  /** `headers` are lines without their ends. */
  constructor(port: number, headers: readonly string[]) {
    this.#headers = ['', 'Host: 127.0.0.1', ...headers, '', ''].join('\r\n')
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.setNoDelay(true)
    this.#socket.setTimeout(TIMEOUT_MS, () => this.#socket.destroy(new Error('no answer')))
    this.#socket.on('data', (chunk: Buffer) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
      this.#look()
    })
    const fail = (error: Error): void => this.#waiting?.reject(error)
    this.#socket.on('error', fail)
    this.#socket.on('close', () => fail(new Error('the server closed the connection')))
  }

  get(path: string): Promise<RawReply> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket.write(`GET ${path} HTTP/1.1${this.#headers}`)
    })
  }

  close(): void {
    this.#waiting = null
    this.#socket.destroy()
  }

  #look(): void {
    const end = this.#received.indexOf(HEAD_END)
    if (end === -1) return
    const head = this.#received.toString('latin1', 0, end)
    const start = end + HEAD_END.length
    const length = /\r\ncontent-length: (\d+)/i.exec(head)
    const found = length === null ? this.#chunked(head, start) : this.#sized(start, Number(length[1]))
    if (found === null) return
    const waiting = this.#waiting
    this.#waiting = null
    this.#received = this.#received.subarray(found.end)
    waiting?.resolve({ status: Number(head.slice(9, 12)), head, body: found.body })
  }

  #sized(start: number, length: number): { body: Buffer; end: number } | null {
    if (this.#received.length < start + length) return null
    return { body: Buffer.from(this.#received.subarray(start, start + length)), end: start + length }
  }

  #chunked(head: string, start: number): { body: Buffer; end: number } | null {
    if (!/\r\ntransfer-encoding: chunked/i.test(head)) return { body: Buffer.alloc(0), end: start }
    const pieces: Buffer[] = []
    for (let at = start; ;) {
      const lineEnd = this.#received.indexOf('\r\n', at)
      if (lineEnd === -1) return null
      const size = Number.parseInt(this.#received.toString('latin1', at, lineEnd), 16)
      const next = lineEnd + 2 + size + 2
      if (this.#received.length < next) return null
      if (size === 0) return { body: Buffer.concat(pieces), end: next }
      pieces.push(this.#received.subarray(lineEnd + 2, lineEnd + 2 + size))
      at = next
    }
  }
}
