/** What a replica holds of one key in one clock hour. */
import type { LeaseCounters } from '../lease-counters.ts'

/** Calls of so long a time are leased ahead. */
const AHEAD_S = 0.25
/**
 * A lease has at least this part of the quota, so that a key of few calls does not cost Redis one for each.
 */
const LEAST_SHARE = 1 / 256
/**
 * Calls of so long a time are admitted ahead while Redis is away: it may lease nothing for a while when it is
 * back.
 */
const AWAY_AHEAD_S = 4
/** How far a rate falls in each look while nothing is asked. */
const DECAY = 0.8
const LOOK_MS = 100

export class Lease {
  readonly id: string
  readonly slot: number
  readonly hour: number
  readonly bucket: number
  /** As Redis knows it: `HOUR:ID`. */
  readonly tag: string
  quota: number
  /** Cumulative, see `function.ts`: leased by Redis, given back, admitted while it was away. */
  known = 0
  returned = 0
  self = 0
  /** Calls of this replica in this hour before it was started. */
  readonly usedBefore: number
  /** Calls of all replicas, as last heard. */
  total = 0
  pool: number
  /** Calls a second, high at once and falling slowly. */
  rate = 0
  /** Requests that wait for this lease, and since when the last of them has, in ms. */
  waiting = 0
  waitingAt = 0
  /** Not to be asked for before this time, in ms. */
  askAt = 0
  /** When Redis last heard of it, ms, and what of it. */
  toldAt = -Infinity
  toldUsed = 0
  toldReturned = 0
  toldSelf = 0
  /** When calls were last made, in ms. */
  usedAt = -Infinity
  /** When waiting requests were last called to try again, in ms. */
  wokenAt = -Infinity
  /** Nobody holds a call any more. */
  isExhausted = false
  /** The key is gone, or the hour is over: what is left goes back. */
  isOver = false
  readonly #counters: LeaseCounters
  #usedBeforeLook = 0
  #lookedAt = -Infinity

  constructor(
    key: { id: string; slot: number; quota: number },
    hour: number,
    bucket: number,
    counters: LeaseCounters,
    usedBefore: number,
  ) {
    this.id = key.id
    this.slot = key.slot
    this.quota = key.quota
    this.hour = hour
    this.bucket = bucket
    this.tag = `${hour}:${key.id}`
    this.pool = key.quota
    this.usedBefore = usedBefore
    this.#counters = counters
  }

  get left(): number {
    return this.#counters.left(this.slot, this.hour)
  }

  /** Calls made since the start. */
  get used(): number {
    return this.known + this.self - this.returned - this.left
  }

  /** Calls it should have left. `stretch`: how much longer ahead than usual. */
  target(stretch: number): number {
    const wanted = Math.max(1, this.quota * LEAST_SHARE, this.rate * AHEAD_S * stretch)
    return Math.min(this.quota, Math.ceil(wanted))
  }

  /** Calls it should have left while Redis is away. */
  get awayTarget(): number {
    return Math.max(this.target(1), Math.ceil(this.rate * AWAY_AHEAD_S))
  }

  /** Whether Redis has not heard of all that it has to know. */
  get hasNews(): boolean {
    return this.used !== this.toldUsed || this.returned !== this.toldReturned || this.self !== this.toldSelf
  }

  /** Measures the rate. `now` in ms. */
  look(now: number): void {
    const sinceMs = now - this.#lookedAt
    if (sinceMs < LOOK_MS) return
    const { used } = this
    if (used !== this.#usedBeforeLook) this.usedAt = now
    const rate = this.#lookedAt === -Infinity ? 0 : ((used - this.#usedBeforeLook) * 1000) / sinceMs
    this.rate = rate > this.rate ? rate : this.rate * DECAY + rate * (1 - DECAY)
    if (this.rate < 0.01) this.rate = 0
    this.#usedBeforeLook = used
    this.#lookedAt = now
    this.#counters.setUsed(this.slot, this.hour, this.usedBefore + used)
  }

  /** Gives up to `calls` of those left back; Redis hears of it later. */
  giveBack(calls: number): void {
    this.returned += this.#counters.takeBack(this.slot, this.hour, calls)
  }

  /** Takes over what Redis has leased in all, and the pool. @returns whether more is left now */
  take(leased: number, pool: number): boolean {
    const more = leased - this.known
    this.known = Math.max(this.known, leased)
    this.pool = pool
    this.#counters.setPool(this.slot, this.hour, pool)
    if (more <= 0) return false
    this.isExhausted = false
    this.#counters.add(this.slot, this.hour, more)
    return true
  }

  /**
   * Admits up to `calls` without Redis, within this replica's share: it may use `share` calls in the hour.
   * @returns how many
   */
  takeShare(calls: number, share: number): number {
    const taken = Math.max(
      0,
      Math.min(calls, share - this.usedBefore - (this.known + this.self - this.returned)),
    )
    if (taken > 0) {
      this.self += taken
      this.#counters.add(this.slot, this.hour, taken)
    }
    return taken
  }
}
