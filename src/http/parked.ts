/**
 * Requests that wait for something and are handled later by the same handler: a copy of what the request was,
 * and its deferred reply.
 */
import {
  FAULT_BODY,
  FAULT_HEAD,
  HANDLER_HEADERS,
  type Again,
  type Exchange,
  type HeaderName,
  type LaterEvents,
  type LaterReply,
  type OnRequest,
} from './exchange.ts'

/** Requests that wait on a thread at a time, and of them those that wait for the same. */
const MOST_PARKED = 2048
const MOST_FOR_ONE = 1024
/** Characters of what they were. One request is at most 16 KiB. */
const MOST_PARKED_CHARACTERS = 4 * 1024 * 1024

/** What a kind of request waits for. */
export interface Wait {
  /** A request that has waited so long is answered by `late`. */
  readonly ms: number
  /** Answers the request, or parks it again: then it keeps its turn and its deadline. */
  readonly run: OnRequest
  readonly late: OnRequest
  /** Called with the milliseconds that a request has waited when it is answered. */
  readonly onAnswered?: (waitedMs: number) => void
}

/** Calls a handler as the engine would. */
export type Run = (exchange: Exchange, handler: OnRequest) => void

/** What requests wait for: calls of the key in a slot, or, as text, their turn among other clients. */
export type WaitKey = number | string

export class ParkedRequests {
  /** By what they wait for, the longest waiting first. */
  readonly #queues = new Map<WaitKey, ParkedExchange[]>()
  readonly #run: Run
  readonly #onThrow: (error: unknown) => void
  #count = 0
  #characters = 0
  #whenEmpty: (() => void)[] = []

  /** `run` calls a handler; `onThrow` gets what it threw, and its request is answered 500. */
  constructor(run: Run, onThrow: (error: unknown) => void) {
    this.#run = run
    this.#onThrow = onThrow
  }

  /** Requests that wait. */
  get count(): number {
    return this.#count
  }

  /**
   * Puts a request off until `wake(key)`. @returns false where it cannot wait, and is to be answered now: too
   * many wait, or its connection has to end with the answer
   */
  park(exchange: Exchange, key: WaitKey, wait: Wait): boolean {
    if (exchange instanceof ParkedExchange) {
      exchange.isParked = true
      if (exchange.key === key) return true
      this.#remove(exchange)
      exchange.key = key
      exchange.wait = wait
      this.#add(exchange)
      return true
    }
    const queue = this.#queues.get(key)
    if (this.#count >= MOST_PARKED || (queue?.length ?? 0) >= MOST_FOR_ONE) return false
    const parked = new ParkedExchange(exchange, key, wait)
    if (this.#characters + parked.characters > MOST_PARKED_CHARACTERS) return false
    if (!parked.defer(exchange, () => void this.#remove(parked))) return false
    this.#add(parked)
    return true
  }

  #add(parked: ParkedExchange): void {
    // On a busy thread what it waits for may have come, and is read only after the timers.
    parked.timer = setTimeout(() => setImmediate(() => this.#late(parked)), parked.wait.ms)
    const queue = this.#queues.get(parked.key)
    if (queue === undefined) this.#queues.set(parked.key, [parked])
    else queue.push(parked)
    this.#count++
    this.#characters += parked.characters
  }

  /**
   * Has the requests that wait for `key` handled, in their order, until one has to wait on. @returns how many
   * do
   */
  wake(key: WaitKey): number {
    for (;;) {
      const queue = this.#queues.get(key)
      if (queue === undefined) return 0
      if (!this.#wakeFirst(queue)) return queue.length
    }
  }

  /** Has the longest waiting request of `key` handled. @returns whether more wait for the same */
  wakeOne(key: WaitKey): boolean {
    const queue = this.#queues.get(key)
    if (queue !== undefined) this.#wakeFirst(queue)
    return this.#queues.has(key)
  }

  /** @returns whether the first of `queue` was answered, rather than parked again */
  #wakeFirst([first]: readonly ParkedExchange[]): boolean {
    if (!this.#handle(first, first.wait.run)) return false
    this.#remove(first)
    first.wait.onAnswered?.(performance.now() - first.since)
    return true
  }

  /** Resolves when none waits. */
  empty(): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenEmpty.push(resolve))
  }

  /** @returns whether it was answered, rather than parked again */
  #handle(parked: ParkedExchange, handler: OnRequest): boolean {
    parked.isParked = false
    try {
      this.#run(parked, handler)
      if (!parked.isParked && !parked.isAnswered) throw new Error('the handler returned without an answer')
    } catch (error) {
      parked.isParked = false
      parked.fail()
      this.#onThrow(error)
    }
    return !parked.isParked
  }

  #late(parked: ParkedExchange): void {
    if (!this.#remove(parked)) return
    this.#handle(parked, parked.wait.late)
    parked.wait.onAnswered?.(performance.now() - parked.since)
  }

  /** @returns whether it was still waiting */
  #remove(parked: ParkedExchange): boolean {
    const queue = this.#queues.get(parked.key)
    const at = queue?.indexOf(parked) ?? -1
    if (queue === undefined || at === -1) return false
    clearTimeout(parked.timer)
    queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(parked.key)
    this.#count--
    this.#characters -= parked.characters
    if (this.#count > 0) return true
    const resolves = this.#whenEmpty
    this.#whenEmpty = []
    for (const resolve of resolves) resolve()
    return true
  }
}

class ParkedExchange implements Exchange, LaterEvents {
  key: WaitKey
  wait: Wait
  readonly method: string
  readonly path: string
  readonly query: string
  readonly characters: number
  /** Of `performance.now`. */
  readonly since = performance.now()
  route: number
  keyRow: number
  readonly mayWait = false
  isParked = true
  isAnswered = false
  timer: NodeJS.Timeout | undefined
  readonly #address: string
  /** First value and all values, by name. */
  readonly #headers = new Map<HeaderName, readonly [string, string]>()
  #reply: LaterReply | null = null
  /** Where the events of the connection go. */
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

  /** Defers the reply of the request. @returns false where that cannot be done */
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

  send(head: string | Uint8Array, body: Uint8Array | null, lasting: boolean | Again = false): void {
    this.#answer().send(head, body, lasting)
  }

  later(events: LaterEvents): LaterReply {
    const reply = this.#answer()
    this.#events = events
    return reply
  }

  /** 500 if nothing was sent, a cut connection if sending failed half-way. */
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
