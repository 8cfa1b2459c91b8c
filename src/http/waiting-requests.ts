/** Requests that wait and are handled later: a copy of the request, and its deferred reply. */
import {
  FAULT_BODY,
  FAULT_HEAD,
  HANDLER_HEADERS,
  type Exchange,
  type HeaderName,
  type LaterEvents,
  type LaterReply,
  type OnRequest,
} from './exchange.ts'

/** Requests that wait on a thread at a time, and those among them that wait for the same. */
const MOST_WAITING = 2048
const MOST_FOR_ONE = 1024
/** Characters of all waiting requests; one has at most 16 KiB. */
const MOST_WAITING_CHARACTERS = 4 * 1024 * 1024

export interface Wait {
  /** A request that has waited this long is answered by `late`. */
  readonly ms: number
  /** Answers the request, or parks it again: then it keeps its turn and its deadline. */
  readonly run: OnRequest
  readonly late: OnRequest
  /** Called with the wait in milliseconds when a request is answered. */
  readonly onAnswered?: (waitedMs: number) => void
}

/** Calls a handler as the engine would. */
export type Run = (exchange: Exchange, handler: OnRequest) => void

/** Calls of the key in a slot, or, as text, a turn among other clients. */
export type WaitKey = number | string

export class WaitingRequests {
  /** The longest waiting first. */
  readonly #queues = new Map<WaitKey, WaitingExchange[]>()
  readonly #run: Run
  readonly #onThrow: (error: unknown) => void
  #count = 0
  #characters = 0
  #whenEmpty: (() => void)[] = []

  /** `onThrow` gets what a handler threw; the request is answered 500. */
  constructor(run: Run, onThrow: (error: unknown) => void) {
    this.#run = run
    this.#onThrow = onThrow
  }

  get count(): number {
    return this.#count
  }

  countOf(key: WaitKey): number {
    return this.#queues.get(key)?.length ?? 0
  }

  /** Waits until `wake(key)`. @returns false if too many wait, or the connection must end with the answer */
  putOff(exchange: Exchange, key: WaitKey, wait: Wait): boolean {
    if (exchange instanceof WaitingExchange) {
      exchange.isWaiting = true
      if (exchange.key === key) return true
      // The request counts all along: `empty` must not resolve in between.
      this.#count++
      this.#remove(exchange)
      exchange.key = key
      exchange.wait = wait
      this.#add(exchange)
      this.#count--
      return true
    }
    const queue = this.#queues.get(key)
    if (this.#count >= MOST_WAITING || (queue?.length ?? 0) >= MOST_FOR_ONE) return false
    const waiting = new WaitingExchange(exchange, key, wait)
    if (this.#characters + waiting.characters > MOST_WAITING_CHARACTERS) return false
    if (!waiting.defer(exchange, () => void this.#remove(waiting))) return false
    this.#add(waiting)
    return true
  }

  #add(waiting: WaitingExchange): void {
    // On a busy thread the lease may have come, but is read only after the timers.
    waiting.timer = setTimeout(() => setImmediate(() => this.#late(waiting)), waiting.wait.ms)
    const queue = this.#queues.get(waiting.key)
    if (queue === undefined) this.#queues.set(waiting.key, [waiting])
    else queue.push(waiting)
    this.#count++
    this.#characters += waiting.characters
  }

  /** Handles requests that wait for `key`, in order, until one has to wait on. @returns how many do */
  wake(key: WaitKey): number {
    for (;;) {
      const queue = this.#queues.get(key)
      if (queue === undefined) return 0
      if (!this.#wakeFirst(queue)) return queue.length
    }
  }

  /** Handles the longest waiting request of `key`. @returns whether more wait for the same */
  wakeOne(key: WaitKey): boolean {
    const queue = this.#queues.get(key)
    if (queue !== undefined) this.#wakeFirst(queue)
    return this.#queues.has(key)
  }

  /** @returns whether the first of `queue` was answered, rather than waiting again */
  #wakeFirst([first]: readonly WaitingExchange[]): boolean {
    if (!this.#handle(first, first.wait.run)) return false
    this.#remove(first)
    first.wait.onAnswered?.(performance.now() - first.since)
    return true
  }

  /** Resolves when no request waits. */
  empty(): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenEmpty.push(resolve))
  }

  /** @returns whether the request was answered, rather than waiting again */
  #handle(waiting: WaitingExchange, handler: OnRequest): boolean {
    waiting.isWaiting = false
    try {
      this.#run(waiting, handler)
      if (!waiting.isWaiting && !waiting.isAnswered) throw new Error('the handler returned without an answer')
    } catch (error) {
      waiting.isWaiting = false
      waiting.fail()
      this.#onThrow(error)
    }
    return !waiting.isWaiting
  }

  #late(waiting: WaitingExchange): void {
    if (!this.#remove(waiting)) return
    this.#handle(waiting, waiting.wait.late)
    waiting.wait.onAnswered?.(performance.now() - waiting.since)
  }

  /** @returns whether the request was still waiting */
  #remove(waiting: WaitingExchange): boolean {
    const queue = this.#queues.get(waiting.key)
    const at = queue?.indexOf(waiting) ?? -1
    if (queue === undefined || at === -1) return false
    clearTimeout(waiting.timer)
    queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(waiting.key)
    this.#count--
    this.#characters -= waiting.characters
    if (this.#count > 0) return true
    const resolves = this.#whenEmpty
    this.#whenEmpty = []
    for (const resolve of resolves) resolve()
    return true
  }
}

class WaitingExchange implements Exchange, LaterEvents {
  key: WaitKey
  wait: Wait
  readonly method: string
  readonly path: string
  readonly query: string
  readonly characters: number
  /** When the wait began, ms of `performance.now`. */
  readonly since = performance.now()
  route: number
  keyRow: number
  isWaiting = true
  isAnswered = false
  timer: NodeJS.Timeout | undefined
  readonly #address: string
  /** First value and all values, by name. */
  readonly #headers = new Map<HeaderName, readonly [string, string]>()
  #reply: LaterReply | null = null
  #events: LaterEvents = { onRoom: () => {}, onGone: () => {} }

  constructor(exchange: Exchange, key: WaitKey, wait: Wait) {
    this.key = key
    this.wait = wait
    this.method = exchange.method
    this.path = exchange.path
    this.query = exchange.query
    this.route = exchange.route
    this.keyRow = exchange.keyRow
    this.#address = exchange.address()
    let characters = this.path.length + this.query.length
    for (const name of HANDLER_HEADERS) {
      const first = exchange.header(name)
      if (first === '') continue
      const all = exchange.headerValues(name)
      this.#headers.set(name, [first, all])
      characters += first.length + all.length
    }
    this.characters = characters
  }

  /** @returns false if the reply cannot be deferred */
  defer(exchange: Exchange, onGone: () => void): boolean {
    this.#events = { onRoom: () => {}, onGone }
    this.#reply = exchange.later(this, this)
    return this.#reply !== null
  }

  readonly onRoom = (): void => this.#events.onRoom()
  readonly onGone = (): void => this.#events.onGone()

  header(name: HeaderName): string {
    return this.#headers.get(name)?.[0] ?? ''
  }

  headerValues(name: HeaderName): string {
    return this.#headers.get(name)?.[1] ?? ''
  }

  address(): string {
    return this.#address
  }

  send(head: string | Uint8Array, body: Uint8Array | null, lasting = false): void {
    this.#answer().send(head, body === null || lasting ? body : new Uint8Array(body))
  }

  later(events: LaterEvents): LaterReply {
    const reply = this.#answer()
    this.#events = events
    return reply
  }

  /** 500 if nothing was sent; cuts the connection if sending failed half-way. */
  fail(): void {
    if (this.isAnswered) this.#reply?.cut()
    else this.send(FAULT_HEAD, FAULT_BODY, true)
  }

  #answer(): LaterReply {
    if (this.isAnswered || this.#reply === null) throw new Error('this request has already been answered')
    this.isAnswered = true
    return this.#reply
  }
}
