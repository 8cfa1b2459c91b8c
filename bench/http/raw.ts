/**
 * The smallest HTTP client that sees bytes as they are: a reader of answers, and one connection with one
 * request at a time.
 */
import { connect, type Socket } from 'node:net'

export interface RawReply {
  status: number
  /** Status line and header lines, without the last CRLF. */
  head: string
  body: Buffer
}

/** Whether its body is gzip. */
export const isCompressed = ({ head }: Pick<RawReply, 'head'>): boolean =>
  /\r\ncontent-encoding: gzip/i.test(head)

/** Shorter answers are never compressed. */
export const LEAST_COMPRESSED_BYTES = 1024

/** Longest answer we wait for. */
const TIMEOUT_MS = 30_000
const HEAD_END = Buffer.from('\r\n\r\n')
/** No server under test sends a longer one. */
const LONGEST_HEAD = 65_536
/** `HTTP/1.1 200`. */
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/
const EMPTY = Buffer.alloc(0)

export interface ReaderOptions {
  onAnswer: (reply: RawReply) => void
  /** Bodies of clients that only count are dropped as they come. */
  keepBodies?: boolean
}

/** Takes the bytes of one connection apart, in whatever pieces they come. */
export class AnswerReader {
  readonly #options: ReaderOptions
  /** Whether the next answers, in their order, have no body: those to `HEAD`. */
  readonly #bodyless: boolean[] = []
  #pending: Buffer = EMPTY
  #head: { status: number; text: string } | null = null
  #pieces: Buffer[] = []
  /**
   * Bytes left of the body, or of the chunk and its line end; `chunk` while the next size is awaited, `end`
   * until the connection ends.
   */
  #rest: number | 'chunk' | 'trailer' | 'end' = 0
  #isChunked = false
  /** Bytes of bodies so far. */
  bodyBytes = 0

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** Another request went out. */
  asked(isHead: boolean): void {
    this.#bodyless.push(isHead)
  }

  /** Requests that are not yet answered. */
  get waiting(): number {
    return this.#bodyless.length
  }

  /** Whether part of an answer is here and the rest is not. */
  get isWithin(): boolean {
    return this.#head !== null || this.#pending.length > 0
  }

  /** @throws Error where the bytes are no HTTP/1 answer */
  push(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    while (this.#head === null ? this.#readHead() : this.#readBody());
  }

  /** The server closed the connection: what has no length ends here. */
  end(): void {
    if (this.#head !== null && this.#rest === 'end') this.#finish()
  }

  #readHead(): boolean {
    const end = this.#pending.indexOf(HEAD_END)
    if (end === -1) {
      if (this.#pending.length > LONGEST_HEAD) throw new Error('the head of an answer does not end')
      return false
    }
    const text = this.#pending.toString('latin1', 0, end)
    const match = STATUS_LINE.exec(text)
    if (match === null) throw new Error(`no status line: ${JSON.stringify(text.slice(0, 80))}`)
    this.#pending = this.#pending.subarray(end + HEAD_END.length)
    const status = Number(match[1])
    // `100 Continue` announces the answer.
    if (status < 200) return true
    this.#head = { status, text }
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)
    this.#isChunked = /\r\ntransfer-encoding: *chunked/i.test(text)
    const isBodyless = this.#bodyless.shift() === true || status === 204 || status === 304
    if (isBodyless) this.#rest = 0
    else if (this.#isChunked) this.#rest = 'chunk'
    else this.#rest = length === null ? 'end' : Number(length[1])
    if (this.#rest === 0) this.#finish()
    return true
  }

  #readBody(): boolean {
    if (this.#rest === 'chunk') return this.#readChunkSize()
    if (this.#rest === 'trailer') {
      const end = this.#pending.indexOf('\r\n')
      if (end === -1) return false
      this.#pending = this.#pending.subarray(end + 2)
      if (end === 0) this.#finish()
      return true
    }
    if (this.#pending.length === 0) return false
    const taken = this.#rest === 'end' ? this.#pending.length : Math.min(this.#rest, this.#pending.length)
    this.#take(taken)
    if (this.#rest === 'end') return false
    this.#rest -= taken
    if (this.#rest > 0) return false
    if (this.#isChunked) this.#rest = 'chunk'
    else this.#finish()
    return true
  }

  #readChunkSize(): boolean {
    // The line end of the chunk before stands first.
    const start = this.#pending.length >= 2 && this.#pending[0] === 13 ? 2 : 0
    const end = this.#pending.indexOf('\r\n', start)
    if (end === -1) return false
    const size = Number.parseInt(this.#pending.toString('latin1', start, end), 16)
    if (!(size >= 0))
      throw new Error(
        `a chunk without a size in ${JSON.stringify(this.#head?.text.slice(0, 40))}: ${JSON.stringify(this.#pending.toString('latin1', 0, 60))}`,
      )
    this.#pending = this.#pending.subarray(end + 2)
    this.#rest = size === 0 ? 'trailer' : size
    return true
  }

  #take(bytes: number): void {
    if (this.#options.keepBodies !== false) this.#pieces.push(this.#pending.subarray(0, bytes))
    this.bodyBytes += bytes
    this.#pending = this.#pending.subarray(bytes)
  }

  #finish(): void {
    const { status, text } = this.#head!
    const body = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces)
    this.#head = null
    this.#pieces = []
    this.#rest = 0
    this.#options.onAnswer({ status, head: text, body })
  }
}

/** A server ends a connection on which nothing happened for 8 s, and announces 7. */
const IDLE_MS = 5000

interface RawOptions {
  timeoutMs?: number
  keepBodies?: boolean
}

export class RawClient {
  readonly #port: number
  readonly #headers: string
  readonly #options: Required<RawOptions>
  #socket: Socket
  #reader: AnswerReader
  #waiting: { resolve: (reply: RawReply) => void; reject: (error: Error) => void } | null = null
  #failure: Error | null = null
  /** When something last happened, in ms of `performance.now`. */
  #usedAt = performance.now()

  /** `headers` are lines without their ends. A client that does not keep bodies gets empty ones. */
  constructor(
    port: number,
    headers: readonly string[],
    { timeoutMs = TIMEOUT_MS, keepBodies = true }: RawOptions = {},
  ) {
    this.#port = port
    this.#headers = ['', 'Host: 127.0.0.1', ...headers, '', ''].join('\r\n')
    this.#options = { timeoutMs, keepBodies }
    this.#reader = this.#newReader()
    this.#socket = this.#connect()
  }

  #newReader(): AnswerReader {
    return new AnswerReader({
      onAnswer: (reply) => this.#settle(reply),
      keepBodies: this.#options.keepBodies,
    })
  }

  #connect(): Socket {
    const socket = connect(this.#port, '127.0.0.1')
    const isCurrent = (): boolean => socket === this.#socket
    socket.setNoDelay(true)
    socket.setTimeout(this.#options.timeoutMs, () => socket.destroy(new Error('no answer')))
    socket.on('data', (chunk: Buffer) => {
      try {
        this.#reader.push(chunk)
      } catch (error) {
        socket.destroy(error as Error)
      }
    })
    socket.on('error', (error) => isCurrent() && this.#fail(error))
    socket.on('close', () => {
      if (!isCurrent()) return
      this.#reader.end()
      this.#fail(new Error('the server closed the connection'))
    })
    return socket
  }

  /** Whether another request may go out. */
  get isOpen(): boolean {
    return this.#failure === null && !this.#socket.destroyed
  }

  /** Bytes of bodies so far. */
  get bodyBytes(): number {
    return this.#reader.bodyBytes
  }

  /** Asks over the connection, or over a new one where the server may have ended it for want of requests. */
  get(path: string): Promise<RawReply> {
    if (performance.now() - this.#usedAt > IDLE_MS && this.#waiting === null) this.#reopen()
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) {
        reject(this.#failure)
        return
      }
      this.#waiting = { resolve, reject }
      this.#usedAt = performance.now()
      this.#reader.asked(false)
      this.#socket.write(`GET ${path} HTTP/1.1${this.#headers}`)
    })
  }

  #reopen(): void {
    const old = this.#socket
    const { bodyBytes } = this.#reader
    this.#reader = this.#newReader()
    this.#reader.bodyBytes = bodyBytes
    this.#failure = null
    this.#socket = this.#connect()
    old.destroy()
  }

  close(): void {
    this.#waiting = null
    this.#socket.destroy()
  }

  #settle(reply: RawReply): void {
    const waiting = this.#waiting
    this.#waiting = null
    this.#usedAt = performance.now()
    waiting?.resolve(reply)
  }

  #fail(error: Error): void {
    this.#failure ??= error
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.reject(this.#failure)
  }
}
