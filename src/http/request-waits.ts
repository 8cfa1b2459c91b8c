/** Requests that wait for calls of a quota that replicas share, or for their turn. */
import { performance } from 'node:perf_hooks'
import { hourOf } from '../access/hours.ts'
import { LONGEST_LEASE_WAIT_MS } from '../access/lease-counters.ts'
import { AUTHORIZATION, type Exchange, type OnRequest } from './exchange.ts'
import type { WaitingRequests, Wait } from './waiting-requests.ts'
import type { Totals } from './totals.ts'

/** Milliseconds of a turn for new requests, and as many for waiting ones. */
const TURN_MS = 10
/** Requests before which a turn is not watched: telling that it ends costs 0.5 µs. */
const UNWATCHED_REQUESTS = 8
/** A connection on which nothing happens ends after ten seconds. */
const LONGEST_WAIT_MS = 8000

export interface Leases {
  readonly waiting: WaitingRequests
  /** `count` requests wait for calls of the key in `slot`. */
  ask(slot: number, hour: number, count: number): void
}

/** `woken`: slots and hours in turn. Requests that have to wait longer ask for the hour of `now`. */
export function wakeLeased(leases: Leases, woken: readonly number[], now: number): void {
  for (let at = 0; at < woken.length; at += 2) {
    const count = leases.waiting.wake(woken[at])
    if (count > 0) leases.ask(woken[at], hourOf(now), count)
  }
}

/** Puts a request off, once, until calls of its quota are leased. */
export class LeaseQueue {
  readonly #leases: Leases
  readonly #totals: Totals
  readonly #wait: Wait
  /** False for a request that has waited in vain. */
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

  /** @returns false if the request is to be refused instead */
  putOff(exchange: Exchange, client: number, now: number): boolean {
    if (!this.#mayWait) return false
    const { waiting } = this.#leases
    const before = waiting.countOf(client)
    if (!waiting.putOff(exchange, client, this.#wait)) return false
    // A request that waits on is asked for by its waker.
    if (waiting.countOf(client) > before) {
      this.#totals.count('parked')
      this.#leases.ask(client, hourOf(now), 1)
    }
    return true
  }
}

/**
 * Shares the turns of the event loop among clients: a thousand requests read in one turn would have everybody
 * else wait. Beyond some time of a turn requests wait for the next, those of each client in rotation.
 */
export class TurnShares {
  readonly #waiting: WaitingRequests
  readonly #wait: Wait
  readonly #hasKnownKey: (exchange: Exchange) => boolean
  /** Requests since turns were last watched, and when the watched turn began. */
  #asked = 0
  #began = 0
  /** Clients with waiting requests, the next first. */
  readonly #clients = new Set<string>()

  /** `serve` handles a request again; `hasKnownKey` tells whether its header has a key of ours. */
  constructor(waiting: WaitingRequests, serve: OnRequest, hasKnownKey: (exchange: Exchange) => boolean) {
    this.#waiting = waiting
    this.#hasKnownKey = hasKnownKey
    this.#wait = { ms: LONGEST_WAIT_MS, run: serve, late: serve }
  }

  /** Puts a request off if its turn is used up. */
  putOff(exchange: Exchange): boolean {
    if (++this.#asked < UNWATCHED_REQUESTS) return false
    if (this.#asked === UNWATCHED_REQUESTS) {
      this.#began = performance.now()
      setImmediate(this.#endTurn)
      return false
    }
    if (!exchange.mayWait || performance.now() - this.#began < TURN_MS) return false
    // By made-up keys one address would be a thousand clients.
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
      if (this.#waiting.wakeOne(client)) this.#clients.add(client)
      if (performance.now() > end) break
    }
    if (this.#clients.size > 0) setImmediate(this.#resumeSome)
  }
}
