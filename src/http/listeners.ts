/**
 * Streams of events: which client is sent what, and when. An event costs some 30 µs, so events go out in
 * slices between which requests are answered: of 10,000 listeners the last hears of a swap seconds after
 * the first. A listener is sent one event from the snapshot it knows to the one served in its turn: a
 * storm of swaps costs no memory. One round at a time goes over all of them.
 */
import type { LaterEvents, LaterReply } from './exchange.ts'

/** Work of one slice, and the rest after it: a fifth of a thread at most. */
const SLICE_MS = 0.5
const REST_MS = 2
/** A stopping server gives streams half of a thread: fewer and fewer requests come. */
const LAST_REST_MS = 0.5
/** A comment after this silence keeps the connection: HAProxy and nginx end silent ones after 30 and 60 s. */
const COMMENT_AFTER_MS = 20_000
/** Time between rounds for keys, quotas and silence. */
const ROUND_INTERVAL_MS = 500
/** The quota charges streams by the hour from their beginning. */
const HOUR_MS = 3_600_000

/** The client that pays for a stream. Its key may be revoked. */
export interface Holder {
  /** May still have streams. */
  isGood(): boolean
  /** Charges one hour more. @returns false if the quota is used up */
  pay(): boolean
}

export interface Feed {
  /** Id of the snapshot that is served. */
  readonly id: string
  /** For a client that knows `since` and asks about `buoys` (null: all); null for no event. */
  readonly event: (since: string, buoys: readonly number[] | null) => Uint8Array | null
  readonly comment: Uint8Array
}

interface ListenerOptions {
  readonly holder: Holder
  readonly buoys: readonly number[] | null
  /** Called once, when the stream is over. */
  readonly onOver: () => void
}

interface Listener extends ListenerOptions {
  readonly reply: LaterReply
  /** The last snapshot that the stream was brought up to, even without an event. */
  heardOf: string
  /** The state of keys and data for which its holder was last found good. */
  access: number
  isFull: boolean
  /** When the stream was last sent something, and until when it is paid, in ms of the clock. */
  sentAt: number
  paidUntil: number
}

interface ListenersOptions {
  /** Called after each slice with the number of events, without comments. */
  readonly onSent: (events: number) => void
  /** Milliseconds that never go back. */
  readonly clock?: () => number
  readonly commentAfterMs?: number
}

export class Listeners {
  readonly #options: Required<ListenersOptions>
  readonly #listeners = new Set<Listener>()
  #feed: Feed | null = null
  /** Listeners of this round that have not had their turn. */
  #round: Iterator<Listener, undefined> | null = null
  /** Something has changed since this round began. */
  #isAgain = false
  /** Grows with each change of keys or data: a holder may no longer be valid then. */
  #access = 0
  #rounds: NodeJS.Timeout | null = null
  #isEnding = false

  constructor(options: ListenersOptions) {
    this.#options = { clock: () => performance.now(), commentAfterMs: COMMENT_AFTER_MS, ...options }
  }

  get count(): number {
    return this.#listeners.size
  }

  /** Some listeners still wait for their turn. */
  get isBusy(): boolean {
    return this.#round !== null
  }

  serve(feed: Feed): void {
    this.#feed = feed
    // Access that is open for a demo alone ends with other data.
    this.keysChanged()
  }

  /** Streams end soon if their holders are no longer valid. */
  keysChanged(): void {
    this.#access++
    this.#beginRound()
  }

  /** `first`: event of what is served. `later` makes a later reply. */
  add(
    head: string,
    first: Uint8Array,
    options: ListenerOptions,
    later: (events: LaterEvents) => LaterReply,
  ): void {
    const now = this.#options.clock()
    const listener: Listener = {
      ...options,
      reply: later({
        onRoom: () => void (listener.isFull = false),
        onGone: () => this.#leave(listener),
      }),
      heardOf: this.#feed!.id,
      access: this.#access,
      isFull: false,
      sentAt: now,
      paidUntil: now + HOUR_MS,
    }
    this.#listeners.add(listener)
    listener.reply.begin(head, null)
    this.#write(listener, first)
    this.#options.onSent(1)
    this.#rounds ??= setInterval(() => this.#beginRound(), ROUND_INTERVAL_MS).unref()
  }

  /** All streams are ending, and no other may begin. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /** Ends all streams in slices: clients come again elsewhere. */
  drain(): void {
    this.#isEnding = true
    this.#beginRound()
  }

  close(): void {
    this.#isEnding = true
    for (const listener of this.#listeners) this.#end(listener)
  }

  #leave(listener: Listener): void {
    if (!this.#listeners.delete(listener)) return
    listener.onOver()
    if (this.#listeners.size > 0 || this.#rounds === null) return
    clearInterval(this.#rounds)
    this.#rounds = null
  }

  #end(listener: Listener): void {
    this.#leave(listener)
    listener.reply.end()
  }

  #beginRound(): void {
    this.#isAgain = this.#round !== null
    if (this.#isAgain || this.#listeners.size === 0) return
    this.#round = this.#listeners.values()
    this.#rest()
  }

  #rest(): void {
    setTimeout(() => this.#slice(), this.#isEnding ? LAST_REST_MS : REST_MS)
  }

  #slice(): void {
    const until = performance.now() + SLICE_MS
    let sent = 0
    do {
      const { value: listener } = this.#round!.next()
      if (listener === undefined) this.#round = null
      else sent += Number(this.#sendDue(listener))
    } while (this.#round !== null && performance.now() < until)
    if (sent > 0) this.#options.onSent(sent)
    if (this.#round !== null) this.#rest()
    else if (this.#isAgain) this.#beginRound()
  }

  /** @returns whether an event was sent */
  #sendDue(listener: Listener): boolean {
    const now = this.#options.clock()
    const { holder, buoys, heardOf } = listener
    const isDue = now >= listener.paidUntil
    const isBad = listener.access !== this.#access && !holder.isGood()
    if (this.#isEnding || isBad || (isDue && !holder.pay())) {
      this.#end(listener)
      return false
    }
    listener.access = this.#access
    if (isDue) listener.paidUntil += HOUR_MS
    const { id, event, comment } = this.#feed!
    const bytes = heardOf === id ? null : event(heardOf, buoys)
    listener.heardOf = id
    if (bytes !== null) return this.#write(listener, bytes)
    if (now - listener.sentAt >= this.#options.commentAfterMs) this.#write(listener, comment)
    return false
  }

  /** @returns false if the listener was dropped, because it has not read its last event */
  #write(listener: Listener, bytes: Uint8Array): boolean {
    if (listener.isFull) {
      this.#leave(listener)
      listener.reply.cut()
      return false
    }
    listener.isFull = !listener.reply.write(bytes)
    listener.sentAt = this.#options.clock()
    return true
  }
}
