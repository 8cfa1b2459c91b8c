/**
 * Streams of events: which client is sent what, and when. An event costs some 30 µs, so events go out in
 * slices between which requests are answered: of 10,000 listeners the last hears of a swap some seconds after
 * the first. A listener is sent one event from the snapshot it has heard of to the one served in its turn: a
 * storm of swaps costs no memory.
 */
import type { LaterEvents, LaterReply } from './exchange.ts'

/** Work of one slice, and the rest after it: a fifth of a thread at most. */
const SLICE_MS = 0.5
const REST_MS = 2
/** A stopping server gives streams half of a thread: fewer and fewer requests come. */
const LAST_REST_MS = 0.5
/** A comment after this silence keeps the connection: HAProxy and nginx end silent ones after 30 and 60 s. */
const COMMENT_AFTER_MS = 20_000
const LOOK_INTERVAL_MS = 500
/** The quota charges streams by the hour from their beginning. */
const HOUR_MS = 3_600_000

/** Pays for a stream, and has a key that may be revoked. */
export interface Holder {
  /** May still have streams. */
  isGood(): boolean
  /** Charges one hour more. @returns false if the quota is used up */
  pay(): boolean
}

export interface Feed {
  /** Id of the snapshot that is served. */
  readonly id: string
  /** For a client that has heard of `since` and asks about `buoys` (null: all); null for no event. */
  readonly event: (since: string, buoys: readonly number[] | null) => Uint8Array | null
  readonly comment: Uint8Array
}

/** The client left, did not read, its key was revoked, its quota is used up, the server stops. */
export type End = 'client' | 'slow' | 'key' | 'quota' | 'drain'

export interface ListenerOptions {
  readonly holder: Holder
  readonly buoys: readonly number[] | null
  /** Called once, when the stream is over. */
  readonly onOver: (why: End) => void
}

class Listener implements LaterEvents {
  readonly options: ListenerOptions
  readonly #listeners: Listeners
  reply: LaterReply | null = null
  /** The last snapshot that the stream was brought up to, even without an event. */
  heardOf: string
  isFull = false
  /** When the stream was last sent something, and until when it is paid, in ms of the clock. */
  sentAt: number
  paidUntil: number

  constructor(listeners: Listeners, options: ListenerOptions, heardOf: string, now: number) {
    this.#listeners = listeners
    this.options = options
    this.heardOf = heardOf
    this.sentAt = now
    this.paidUntil = now + HOUR_MS
  }

  readonly onRoom = (): void => void (this.isFull = false)
  readonly onGone = (): void => this.#listeners.leave(this, this.isFull ? 'slow' : 'client')
}

export interface ListenersOptions {
  /** Called after each slice with the number of events, without comments. */
  readonly onSent: (events: number) => void
  /** Milliseconds that never go back. */
  readonly clock?: () => number
  readonly commentAfterMs?: number
}

export class Listeners {
  readonly #options: Required<ListenersOptions>
  /** In the order in which they were last sent something. */
  readonly #listeners = new Set<Listener>()
  #feed: Feed | null = null
  /** Streams with a turn still to come, and whether all are looked at, or silent ones alone. */
  #turns: Iterator<Listener, undefined> | null = null
  #isForAll = false
  #isScheduled = false
  #looks: NodeJS.Timeout | null = null
  #mayHaveShut = false
  #isEnding = false

  constructor(options: ListenersOptions) {
    this.#options = { clock: () => performance.now(), commentAfterMs: COMMENT_AFTER_MS, ...options }
  }

  get count(): number {
    return this.#listeners.size
  }

  /** Some streams have still to hear of the last swap. */
  get isBusy(): boolean {
    return this.#turns !== null
  }

  serve(feed: Feed): void {
    this.#feed = feed
    // Access that is open for a demo alone ends with other data.
    this.#mayHaveShut = true
    if (this.#listeners.size > 0) this.#startTurns()
  }

  /** `first`: event of what is served. `later` defers the reply. @returns false if it cannot be deferred */
  add(
    head: string,
    first: Uint8Array,
    options: ListenerOptions,
    later: (events: LaterEvents) => LaterReply | null,
  ): boolean {
    const listener = new Listener(this, options, this.#feed!.id, this.#options.clock())
    const reply = later(listener)
    if (reply === null) return false
    listener.reply = reply
    this.#listeners.add(listener)
    reply.begin(head, null)
    if (reply.isOver) {
      this.leave(listener, 'client')
      return true
    }
    this.#write(listener, first)
    this.#options.onSent(1)
    if (this.#isEnding) this.#end(listener, 'drain')
    else this.#looks ??= setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref()
    return true
  }

  /** Streams end soon if their holders are no longer valid. */
  keysChanged(): void {
    this.#mayHaveShut = true
  }

  /** Ends all streams in slices, and later ones as soon as they have begun: clients come again elsewhere. */
  drain(): void {
    this.#isEnding = true
    if (this.#listeners.size > 0) this.#startTurns()
  }

  close(): void {
    this.#isEnding = true
    for (const listener of this.#listeners) this.#end(listener, 'drain')
  }

  leave(listener: Listener, why: End): void {
    if (!this.#listeners.delete(listener)) return
    listener.options.onOver(why)
    if (this.#listeners.size > 0) return
    this.#turns = null
    if (this.#looks !== null) clearInterval(this.#looks)
    this.#looks = null
  }

  #end(listener: Listener, why: End): void {
    this.leave(listener, why)
    listener.reply!.end()
  }

  #startTurns(): void {
    this.#turns = this.#listeners.values()
    this.#isForAll = true
    this.#goOnSoon()
  }

  #goOnSoon(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setTimeout(
      () => {
        this.#isScheduled = false
        this.#sendSome()
      },
      this.#isEnding ? LAST_REST_MS : REST_MS,
    )
  }

  #sendSome(): void {
    const until = performance.now() + SLICE_MS
    let sent = 0
    while (this.#turns !== null) {
      // A stream that is sent something moves to the end, and is passed over there.
      const { value: listener } = this.#turns.next()
      if (listener === undefined) this.#turns = null
      else {
        const events = this.#sendMissing(listener)
        if (events === null && !this.#isForAll) this.#turns = null
        sent += events ?? 0
      }
      if (performance.now() >= until) break
    }
    if (sent > 0) this.#options.onSent(sent)
    if (this.#turns !== null) this.#goOnSoon()
  }

  /** @returns events that were sent; null if nothing was due */
  #sendMissing(listener: Listener): number | null {
    if (this.#isEnding) {
      this.#end(listener, 'drain')
      return 0
    }
    const { id, event, comment } = this.#feed!
    if (listener.heardOf !== id) {
      const bytes = event(listener.heardOf, listener.options.buoys)
      listener.heardOf = id
      if (bytes !== null) return Number(this.#write(listener, bytes))
    }
    if (this.#options.clock() - listener.sentAt < this.#options.commentAfterMs) return null
    this.#write(listener, comment)
    return 0
  }

  /** @returns false if the listener was dropped, because it has not read what it was sent before */
  #write(listener: Listener, bytes: Uint8Array): boolean {
    const reply = listener.reply!
    if (listener.isFull) {
      this.leave(listener, 'slow')
      reply.cut()
      return false
    }
    listener.isFull = !reply.write(bytes)
    listener.sentAt = this.#options.clock()
    if (this.#listeners.delete(listener)) this.#listeners.add(listener)
    return true
  }

  #look(): void {
    const now = this.#options.clock()
    const mayHaveShut = this.#mayHaveShut
    this.#mayHaveShut = false
    for (const listener of this.#listeners) {
      const { holder } = listener.options
      if (mayHaveShut && !holder.isGood()) this.#end(listener, 'key')
      else if (now >= listener.paidUntil) this.#charge(listener)
    }
    if (this.#turns !== null) return
    const [longestSilent] = this.#listeners
    if (longestSilent === undefined || now - longestSilent.sentAt < this.#options.commentAfterMs) return
    this.#turns = this.#listeners.values()
    this.#isForAll = false
    this.#goOnSoon()
  }

  #charge(listener: Listener): void {
    if (listener.options.holder.pay()) listener.paidUntil += HOUR_MS
    else this.#end(listener, 'quota')
  }
}
