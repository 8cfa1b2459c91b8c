/**
 * Requests that wait: for calls of their quota, where several replicas share it, and for their turn.
 */
import { hourOf } from '../access/hours.ts'
import { LONGEST_LEASE_WAIT_MS } from '../access/lease-counters.ts'
import { AUTHORIZATION, type Exchange, type OnRequest } from './exchange.ts'
import type { WaitingRequests, Wait } from './waiting-requests.ts'
import type { Totals } from './totals.ts'

/** Time of a turn for requests that have just come, and as much for those that wait. */
const TURN_MS = 10
/** Requests before which a turn is not watched: telling that it ends costs 0.5 µs. */
const UNWATCHED_REQUESTS = 8
/** A connection on which nothing happens ends after ten seconds. */
const LONGEST_WAIT_MS = 8000

export interface Leases {
  readonly waiting: WaitingRequests
  /** `count` requests wait for calls of the key in `slot`; they are woken by the slot. */
  ask(slot: number, hour: number, count: number): void
}

/**
 * Has requests handled again that wait for the slots of `woken`, slots and hours in turn. Those that wait on ask
 * for calls of the hour of `now`: the one that they waited for may be over.
 */
export function wakeLeased(leases: Leases, woken: readonly number[], now: number): void {
  for (let at = 0; at < woken.length; at += 2) {
    const count = leases.waiting.wake(woken[at])
    if (count > 0) leases.ask(woken[at], hourOf(now), count)
  }
}

/** Puts requests off until calls of their quota are leased, each once. */
export class LeaseQueue {
  readonly #leases: Leases
  readonly #totals: Totals
  readonly #wait: Wait
  /** Whether a request may wait: not one that has waited in vain. */
  #mayWait = true

  /** `serve` handles a request again that has waited. */
  constructor(leases: Leases, totals: Totals, serve: (exchange: Exchange) => void) {
    this.#leases = leases
    this.#totals = totals
    this.#wait = {
      ms: LONGEST_LEASE_WAIT_MS,
      run: serve,
      onAnswered: (waitedMs) => totals.countWait(waitedMs),
      late: (exchange) => {
        totals.count('parked_late')
        this.#mayWait = false
        try {
          serve(exchange)
        } finally {
          this.#mayWait = true
        }
      },
    }
  }

  /** Puts a request of `client` off. @returns false where it is to be refused instead */
  putOff(exchange: Exchange, client: number, now: number): boolean {
    if (!this.#mayWait) return false
    const { waiting } = this.#leases
    const before = waiting.countOf(client)
    if (!waiting.putOff(exchange, client, this.#wait)) return false
    // One that waits on is asked for by who woke it.
    if (waiting.countOf(client) > before) {
      this.#totals.count('parked')
      this.#leases.ask(client, hourOf(now), 1)
    }
    return true
  }
}

/**
 * Shares the turns of the event loop among clients. Whatever has come to a thread's connections is read in one
 * turn; a thousand requests at once would have everybody else wait for as many answers. Beyond some time of a
 * turn, requests wait for the next ones, those of each client in rotation.
 */
export class TurnShares {
  readonly #waiting: WaitingRequests
  readonly #wait: Wait
  readonly #hasKnownKey: (exchange: Exchange) => boolean
  /** Requests of this turn, or of turns that were not watched, and when the turn began to be watched. */
  #asked = 0
  #began = 0
  /** Clients with requests that wait; the first one's turn is next. */
  readonly #clients = new Set<string>()

  /** `serve` handles a request again that has waited; `hasKnownKey` tells whether its header has a key of ours. */
  constructor(waiting: WaitingRequests, serve: OnRequest, hasKnownKey: (exchange: Exchange) => boolean) {
    this.#waiting = waiting
    this.#hasKnownKey = hasKnownKey
    this.#wait = { ms: LONGEST_WAIT_MS, run: serve, late: serve }
  }

  /** Puts a request off where its turn is used up. @returns whether it did */
  putOff(exchange: Exchange): boolean {
    if (++this.#asked < UNWATCHED_REQUESTS) return false
    if (this.#asked === UNWATCHED_REQUESTS) {
      this.#began = performance.now()
      setImmediate(this.#endTurn)
      return false
    }
    if (!exchange.mayWait || performance.now() - this.#began < TURN_MS) return false
    // With made-up keys, one address would be a thousand clients.
    const client = this.#hasKnownKey(exchange) ? exchange.header(AUTHORIZATION) : exchange.address()
    if (!this.#waiting.putOff(exchange, client, this.#wait)) return false
    if (this.#clients.size === 0) setImmediate(this.#resumeSome)
    this.#clients.add(client)
    return true
  }

  readonly #endTurn = (): void => {
    this.#asked = 0
  }

  readonly #resumeSome = (): void => {
    const end = performance.now() + TURN_MS
    for (const client of this.#clients) {
      this.#clients.delete(client)
      // The client goes behind the others.
      if (this.#waiting.wakeOne(client)) this.#clients.add(client)
      if (performance.now() > end) break
    }
    if (this.#clients.size > 0) setImmediate(this.#resumeSome)
  }
}
