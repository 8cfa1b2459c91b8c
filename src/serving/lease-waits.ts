/** Requests that wait for calls of their quota, where several replicas share it. */
import { hourOf } from '../access/hours.ts'
import { LONGEST_LEASE_WAIT_MS } from '../access/lease-counters.ts'
import type { Exchange } from '../http/exchange.ts'
import type { ParkedRequests, Wait } from '../http/parked.ts'
import type { Totals } from './totals.ts'

export interface LeaseWaits {
  readonly parked: ParkedRequests
  /** `count` requests wait for calls of the key in `slot`; they are woken by the slot. */
  ask(slot: number, hour: number, count: number): void
}

/** Puts requests off until calls of their quota are leased, each once. */
export class LeaseParking {
  readonly #leases: LeaseWaits
  readonly #totals: Totals
  readonly #wait: Wait
  /** Not one that has waited in vain. */
  #mayPark = true

  /** `serve` handles a request again that has waited. */
  constructor(leases: LeaseWaits, totals: Totals, serve: (exchange: Exchange) => void) {
    this.#leases = leases
    this.#totals = totals
    this.#wait = {
      ms: LONGEST_LEASE_WAIT_MS,
      run: serve,
      onAnswered: (waitedMs) => totals.countWait(waitedMs),
      late: (exchange) => {
        totals.count('parked_late')
        this.#mayPark = false
        try {
          serve(exchange)
        } finally {
          this.#mayPark = true
        }
      },
    }
  }

  /** Puts a request of `client` off. @returns false where it is to be refused instead */
  park(exchange: Exchange, client: number, now: number): boolean {
    if (!this.#mayPark) return false
    const { parked } = this.#leases
    const before = parked.count
    if (!parked.park(exchange, client, this.#wait)) return false
    // One that waits on is asked for by who woke it.
    if (parked.count > before) {
      this.#totals.count('parked')
      this.#leases.ask(client, hourOf(now), 1)
    }
    return true
  }
}
