/**
 * Shares the turns of the event loop among clients. Whatever has come to a thread's connections is read in one
 * turn; a thousand requests at once would have everybody else wait for as many answers. Beyond some time of a
 * turn, requests whose answers have to be made wait for the next ones, those of each client in rotation.
 */
import { AUTHORIZATION, type Exchange, type OnRequest } from '../http/exchange.ts'
import type { ParkedRequests, Wait } from '../http/parked.ts'

/** Time of a turn for requests that have just come, and as much for those that wait. */
const TURN_MS = 10
/** Requests before which a turn is not watched: telling that it ends costs 0.5 µs. */
const UNWATCHED_REQUESTS = 8
/** A connection on which nothing happens ends after ten seconds. */
const LONGEST_WAIT_MS = 8000

export class TurnShares {
  readonly #parked: ParkedRequests
  readonly #wait: Wait
  /** Requests of this turn, or of turns that were not watched, and when the turn began to be watched. */
  #asked = 0
  #began = 0
  /** Clients with requests that wait; the first one's turn is next. */
  readonly #clients = new Set<string>()

  /** `serve` handles a request again that has waited. */
  constructor(parked: ParkedRequests, serve: OnRequest) {
    this.#parked = parked
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
    const client = exchange.header(AUTHORIZATION) || exchange.address()
    if (!this.#parked.park(exchange, client, this.#wait)) return false
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
      // The others come first then.
      if (this.#parked.wakeOne(client)) this.#clients.add(client)
      if (performance.now() > end) break
    }
    if (this.#clients.size > 0) setImmediate(this.#resumeSome)
  }
}
