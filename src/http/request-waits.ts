/** Requests that wait for calls of a quota that replicas share. */
import { hourOf } from '../access/hours.ts'
import { LONGEST_LEASE_WAIT_MS } from '../access/lease-counters.ts'
import type { Exchange } from './exchange.ts'
import type { WaitingRequests, Wait } from './waiting-requests.ts'
import type { Totals } from './totals.ts'

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
