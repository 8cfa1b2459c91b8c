/**
 * `POST /mcp` as a serving thread has it: who may ask, the body of a message, and the thread that answers it.
 * What a tool asks on the way is answered here like any request, with the key and the address of its caller.
 */
import { STATUS_CODES } from 'node:http'
import type { TrustedProxies } from '../access/trusted-proxies.ts'
import type { FromTools, ToTools } from '../mcp/thread.ts'
import { addressOf } from './admission.ts'
import {
  type Answered,
  type Exchange,
  FAULT,
  GONE,
  headText,
  type HeaderName,
  KEPT,
  type LaterEvents,
  type LaterReply,
  NO_EVENTS,
  NO_KEY,
  NO_ROUTE,
  NOTHING,
  type RecordedLater,
  type Recorder,
  type Retried,
  statusOf,
} from './exchange.ts'

export const MCP_PATH = '/mcp'
const MOST_BODY_BYTES = 64 * 1024
/** Bytes of an answer that a tool asks for: 13 seasons of days take a tenth. */
const MOST_ANSWER_BYTES = 8 * 2 ** 20
/** Messages that a worker reads or answers at a time, and how many of them may come from one address. */
const MOST_MESSAGES = 128
const MOST_OF_ONE = MOST_MESSAGES / 4
const RETRY_AFTER = '8'

const ALLOW = 'POST, OPTIONS'
/** Headers of a message that its answer depends on. */
const SENT: readonly HeaderName[] = [
  'accept',
  'content-type',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
]
const ALLOWED_HEADERS =
  'Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID'
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i
const NO_CONTENT = 204

/** One end of a channel to the thread. */
interface ToolPort {
  postMessage(message: ToTools, transferred?: readonly ArrayBuffer[]): void
  on(event: 'message', listener: (message: FromTools) => void): unknown
  on(event: 'close', listener: () => void): unknown
}

export interface ToolDoorOptions {
  /** The origin that clients know this server by, or null. */
  readonly publicUrl: string | null
  /** Further origins whose pages may ask. */
  readonly origins: readonly string[]
  /** The port is on a loopback address, so a name that is none is another's (DNS rebinding). */
  readonly isLoopback: boolean
  readonly basePath: string
  readonly proxies: TrustedProxies
  readonly recorder: Recorder
  /** Answers a request of a tool. */
  readonly handle: (exchange: Exchange) => void
  /** Charges a request as one for a list that needs no key: 204, or an error. */
  readonly charge: (exchange: Exchange) => void
  /** Asks for the thread, whose port comes by `connect`. */
  readonly wake: () => void
  readonly onFault: (error: unknown) => void
}

type Posted = Extract<ToTools, { type: 'message' }>

interface Message {
  readonly reply: LaterReply
  readonly address: string
  readonly authorization: string
  /** Header lines, each after a CRLF. */
  readonly cors: string
}

export class ToolDoor {
  readonly #options: ToolDoorOptions
  readonly #messages = new Map<number, Message>()
  readonly #requests = new Map<number, ToolRequest>()
  #last = 0
  #port: ToolPort | null = null
  /** Messages until the thread is there. */
  #waiting: Posted[] = []

  constructor(options: ToolDoorOptions) {
    this.#options = options
  }

  /** Takes a new thread, in place of one that has ended. */
  connect(port: ToolPort): void {
    this.#port = port
    port.on('message', (message) => this.#take(message))
    port.on('close', () => {
      if (this.#port !== port) return
      this.#port = null
      for (const number of this.#messages.keys()) this.#refuse(number, 503, BUSY)
    })
    for (const message of this.#waiting.splice(0)) port.postMessage(message)
  }

  handle(exchange: Exchange): void {
    const origin = exchange.headerValues('origin')
    if (origin !== '' && !this.#allows(origin)) {
      send(
        exchange,
        403,
        '',
        'Header Origin names a site whose pages may not ask. Allowed: those of --mcp-origin',
      )
      return
    }
    if (this.#options.isLoopback && !this.#knows(exchange.headerValues('host'))) {
      send(
        exchange,
        403,
        '',
        'Header Host names another server. Allowed: a loopback address, or --public-url',
      )
      return
    }
    const cors = origin === '' ? '' : `\r\nAccess-Control-Allow-Origin: ${origin}\r\nVary: Origin`
    if (exchange.method === 'OPTIONS') {
      exchange.send(
        `204 No Content${KEPT}${cors}\r\nAllow: ${ALLOW}\r\nAccess-Control-Allow-Methods: POST` +
          `\r\nAccess-Control-Allow-Headers: ${ALLOWED_HEADERS}\r\nAccess-Control-Max-Age: 86400`,
        null,
      )
    } else if (exchange.method === 'POST') this.#read(exchange, cors)
    else send(exchange, 405, `${cors}\r\nAllow: ${ALLOW}`, `Messages come by POST. Allowed: ${ALLOW}`)
  }

  /** Whether pages of an origin may ask. `Host` is no measure: by DNS rebinding a page can have both. */
  #allows(origin: string): boolean {
    const { publicUrl, origins } = this.#options
    return (
      origin === publicUrl || origins.includes(origin) || LOOPBACK.test(origin.replace(/^https?:\/\//, ''))
    )
  }

  #knows(host: string): boolean {
    const { publicUrl } = this.#options
    return LOOPBACK.test(host) || (publicUrl !== null && host === new URL(publicUrl).host)
  }

  #read(exchange: Exchange, cors: string): void {
    const address = addressOf(exchange, this.#options.proxies)
    let own = 0
    for (const message of this.#messages.values()) {
      if (message.address === address) own++
    }
    if (this.#messages.size >= MOST_MESSAGES || own >= MOST_OF_ONE) {
      send(exchange, 503, `${cors}\r\nRetry-After: ${RETRY_AFTER}`, BUSY)
      return
    }
    const number = ++this.#last
    const headers = SENT.map((name) => [name, exchange.headerValues(name)] as const).filter(
      ([, value]) => value !== '',
    )
    const authorization = exchange.header('authorization')
    const onGone = (): void => {
      if (!this.#messages.delete(number)) return
      this.#waiting = this.#waiting.filter((message) => message.number !== number)
      this.#port?.postMessage({ type: 'gone', number })
    }
    const reply = exchange.laterWithBody(MOST_BODY_BYTES, { ...NO_EVENTS, onGone }, (body) => {
      if (body === null)
        this.#refuse(number, 413, `The message is too long. Allowed: ${MOST_BODY_BYTES} bytes`)
      else this.#post({ type: 'message', number, headers, body })
    })
    this.#messages.set(number, { reply, address, authorization, cors })
  }

  #post(message: Posted): void {
    if (this.#port !== null) {
      this.#port.postMessage(message)
      return
    }
    this.#waiting.push(message)
    if (this.#waiting.length === 1) this.#options.wake()
  }

  #refuse(number: number, status: number, text: string): void {
    const { reply, cors } = this.#messages.get(number)!
    this.#messages.delete(number)
    const retry = status === 503 ? `\r\nRetry-After: ${RETRY_AFTER}` : ''
    reply.send(headOf(status, cors + retry), errorOf(text))
  }

  #take(message: FromTools): void {
    if (message.type === 'ask') this.#ask(message)
    else if (message.type === 'leave') {
      this.#requests.get(message.call)?.leave()
      this.#requests.delete(message.call)
    } else {
      const { number, status, retryAfter, body } = message
      const asked = this.#messages.get(number)
      if (!this.#messages.delete(number)) return
      const retry = /^\d+$/.test(retryAfter) ? `\r\nRetry-After: ${retryAfter}` : ''
      asked!.reply.send(headOf(status, asked!.cors + retry, body !== null), body ?? NOTHING)
    }
  }

  #ask({ number, call, target }: Extract<FromTools, { type: 'ask' }>): void {
    const { basePath, recorder, handle, charge, onFault } = this.#options
    const caller = this.#messages.get(number)
    // The thread knows already that the caller is gone.
    if (caller === undefined) return
    const request = new ToolRequest(`${basePath}${target ?? ''}`, caller, recorder, (head, body) => {
      this.#requests.delete(call)
      this.#port?.postMessage({ type: 'answer', call, head, body }, body === null ? [] : [body.buffer])
    })
    this.#requests.set(call, request)
    try {
      if (target === null) charge(request)
      else handle(request)
    } catch (error) {
      onFault(error)
      request.fail()
    }
  }
}

const BUSY = 'Too many messages are being answered. Send it again later'

/** `more`: header lines, each after a CRLF. */
function headOf(status: number, more: string, hasBody = true): string {
  const type = hasBody ? '\r\nContent-Type: application/json' : ''
  return `${status} ${STATUS_CODES[status]}${type}${KEPT}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff${more}`
}

function errorOf(message: string): Uint8Array {
  return new TextEncoder().encode(
    JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message } }),
  )
}

function send(exchange: Exchange, status: number, more: string, text: string): void {
  exchange.send(headOf(status, more), errorOf(text))
}

type Done = (head: string, body: Uint8Array<ArrayBuffer> | null) => void

/** A request of a tool, and its reply. Its caller's key is its only header: it is no visitor of a page. */
class ToolRequest implements Answered, LaterReply {
  readonly method = 'GET'
  readonly path: string
  readonly query: string
  readonly cameWithBody = false
  route = NO_ROUTE
  keyRow = NO_KEY
  requestId = ''
  status = 0
  bytes = 0
  isOver = false
  readonly #caller: Pick<Message, 'address' | 'authorization'>
  readonly #recorder: Recorder
  readonly #done: Done
  readonly #begun = performance.now()
  #events: LaterEvents = NO_EVENTS
  #recorded: RecordedLater | null = null
  #head = ''
  #pieces: Uint8Array[] = []

  constructor(
    target: string,
    caller: Pick<Message, 'address' | 'authorization'>,
    recorder: Recorder,
    done: Done,
  ) {
    const mark = `${target}?`.indexOf('?')
    this.path = target.slice(0, mark)
    this.query = target.slice(mark + 1)
    this.#caller = caller
    this.#recorder = recorder
    this.#done = done
  }

  header(name: HeaderName): string {
    return name === 'authorization' ? this.#caller.authorization : ''
  }

  headerValues(name: HeaderName): string {
    return this.header(name)
  }

  address(): string {
    return this.#caller.address
  }

  /** The body is copied, as it may be overwritten. */
  send(head: string | Uint8Array, body: Uint8Array | null): void {
    this.begin(head)
    if (this.isOver) return
    this.write(new Uint8Array(body ?? NOTHING))
    this.end()
  }

  later(events: LaterEvents): this {
    this.#events = events
    this.#recorded = this.#recorder.deferred(this, this.#begun)
    return this
  }

  laterWithBody(): never {
    throw new Error('a request of a tool has no body')
  }

  begin(head: string | Uint8Array): void {
    if (this.isOver) return
    this.#head = headText(head)
    this.status = statusOf(head)
    this.#recorded?.begun(this.status)
    if (this.status === NO_CONTENT) this.end()
  }

  write(bytes: Uint8Array): boolean {
    if (this.isOver) return true
    this.#pieces.push(bytes)
    this.bytes += bytes.length
    if (this.bytes > MOST_ANSWER_BYTES) this.#finish(null)
    return true
  }

  retry(): Retried {
    return { isRead: true, mayWrite: true }
  }

  end(): void {
    if (!this.isOver) this.#finish(new Uint8Array(Buffer.concat(this.#pieces)))
  }

  cut(): void {
    if (!this.isOver) this.fail()
  }

  /** Answers that there is a fault. */
  fail(): void {
    if (this.isOver) return
    if (this.#head === '') this.#recorded?.begun(statusOf(FAULT.head))
    this.#head = FAULT.head
    this.#finish(new Uint8Array(FAULT.body))
  }

  /** The tool no longer waits for the reply. */
  leave(): void {
    if (this.isOver) return
    this.isOver = true
    if (this.#head === '') this.#recorded?.begun(GONE)
    this.#recorded?.ended(this.bytes)
    this.#events.onGone()
  }

  #finish(body: Uint8Array<ArrayBuffer> | null): void {
    this.isOver = true
    if (this.#recorded !== null) this.#recorded.ended(this.bytes)
    else if (this.route !== NO_ROUTE) this.#recorder.answered(this, this.#begun)
    this.#pieces = []
    this.#done(this.#head, body)
  }
}
