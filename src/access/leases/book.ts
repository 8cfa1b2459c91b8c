/**
 * All leases of a replica: what is asked of Redis and when, and what its answers mean. No sockets and no
 * timers: the time is an argument, and a driver carries calls to Redis and back (`process/quota-store.ts`).
 *
 * It keeps three promises whatever is lost, repeated or ends: 1. Redis leases no more of an hour than its
 * quota, since one function does it in one step. 2. A replica admits no more than it has leased and not given
 * back, since one word counts what is left. 3. A key is refused for the rest of its hour only when the pool
 * is empty and no live replica holds a call.
 */
import { HOUR_S, hourOf } from '../hours.ts'
import { CLOSED, REFUSED, SHARE_USED, type LeaseCounters } from '../lease-counters.ts'
import { Bucket, type LeaseCall, type SyncOptions } from './bucket.ts'
import { bucketOf, BUCKETS, type SyncReply } from './function.ts'
import { Lease } from './lease.ts'

/** Leases that one look visits. With more, a round takes several looks. */
const LOOKED_AT = 5000
/** Busy leases are asked for as often, in all, as Redis carries well: some 2,000 times a second. */
const BUSY_AT_USUAL_PACE = 100
const CALLS_PER_S = 2000
const CALLS_AT_ONCE = 64
const TELL_MS = 100
/** Redis may hear of calls that were given back for a key that is refused. */
const RECHECK_MS = 10_000
/** Requests do not wait longer. */
const WAIT_MS = 60
/** Between two calls for the same key: while others are to give back, and while Redis leases nothing. */
const RETRY_MS = 3
const LEARNING_RETRY_MS = 10
/** Waiting requests take what was leased for them within this time. */
const OWN_MS = 10
/** In so many seconds before the end of an hour, keys in use lease of the next. */
const TURN_S = 60
/** The last of them before the hour ends. */
const TURN_SPREAD_S = 50
/** After so long, an hour that has ended gets no late calls any more. */
const HOUR_GRACE_S = 2

export interface LeaseKey {
  readonly id: string
  readonly slot: number
  readonly quota: number
}

export interface BookOptions extends SyncOptions {
  readonly counters: LeaseCounters
  /** Replicas that are assumed, at least. */
  readonly replicas: number
  /** What is admitted while Redis is away: this replica's share of each quota, or nothing. */
  readonly fallback: 'share' | 'closed'
  /** Epoch seconds. */
  readonly clock: () => number
}

export class LeaseBook {
  /** Calls admitted without Redis, in all. */
  admittedAlone = 0
  readonly #options: BookOptions
  #keys = new Map<number, LeaseKey>()
  /** By hour and slot. */
  readonly #hours = new Map<number, Map<number, Lease>>()
  readonly #buckets: readonly Bucket[]
  /** Slots and hours, in turn, whose waiting requests should try again. */
  #woken: number[] = []
  #round: Iterator<Lease> | null = null
  #busy = 0
  #busyInRound = 0
  #hour: number
  /** The bucket that was asked for a call last, and calls that may be made now. */
  #turn = 0
  #allowance = CALLS_AT_ONCE
  #pacedAt = 0

  constructor(options: BookOptions) {
    this.#options = options
    this.#hour = hourOf(options.clock())
    this.#buckets = Array.from({ length: BUCKETS }, (_, bucket) => new Bucket(bucket, options))
  }

  /** Leases that are kept. */
  get size(): number {
    return this.#buckets.reduce((sum, bucket) => sum + bucket.leases.size, 0)
  }

  /** Whether part of Redis does not answer. */
  get isAway(): boolean {
    return this.#buckets.some((bucket) => bucket.isAway)
  }

  /** Whether Redis leases nothing yet, since it is new or has lost data. */
  isLearning(now: number): boolean {
    return this.#buckets.some((bucket) => bucket.learnsUntil > now)
  }

  /** Whether all of Redis has answered, and leases. */
  isReady(now: number): boolean {
    return this.#buckets.every((bucket) => bucket.hasAnswered) && !this.isAway && !this.isLearning(now)
  }

  /** Replicas that are assumed: as many as were seen last. */
  get replicas(): number {
    return Math.max(this.#options.replicas, ...this.#buckets.map((bucket) => bucket.members))
  }

  /** How much longer ahead than usual keys are leased, since many are busy. */
  get #stretch(): number {
    return Math.max(1, this.#busy / BUSY_AT_USUAL_PACE)
  }

  /** The keys of the moment. What is leased of keys that are gone goes back. */
  setKeys(keys: Iterable<LeaseKey>): void {
    const { counters } = this.#options
    this.#keys = new Map()
    for (const key of keys) this.#keys.set(key.slot, key)
    for (const lease of this.#leases()) {
      const key = this.#keys.get(lease.slot)
      if (key?.id !== lease.id) this.#end(lease)
      else if (key.quota !== lease.quota) {
        lease.quota = key.quota
        lease.isExhausted = false
        counters.unmark(lease.slot, lease.hour)
        this.#buckets[lease.bucket].due.add(lease)
      }
    }
  }

  /** `count` more requests wait for calls of a key. `now` in ms of a clock that is never set. */
  wanted(slot: number, hour: number, count: number, now: number): void {
    const lease = this.#leaseOf(slot, hour)
    // The key has just gone; its requests find that out.
    if (lease === null) {
      this.#woken.push(slot, hour)
      return
    }
    lease.waiting += count
    lease.waitingAt = now
    const bucket = this.#buckets[lease.bucket]
    if (lease.left > 0 || lease.isExhausted) this.#wake(lease, now)
    else if (bucket.isAway) this.#goOnAlone(lease)
    else bucket.urgent.add(lease)
  }

  /** Looks at leases, a part of them each time. To be called every 20 ms or so. */
  look(now: number): void {
    this.#hour = hourOf(this.#options.clock())
    for (let count = 0; count < LOOKED_AT; count++) {
      this.#round ??= this.#leases()
      const next = this.#round.next()
      if (next.done === true) {
        this.#round = null
        this.#busy = this.#busyInRound
        this.#busyInRound = 0
        return
      }
      this.#lookAt(next.value, now)
    }
  }

  /** The next call to Redis, to be sent now; null where none is due. */
  next(now: number): LeaseCall | null {
    const gained = ((now - this.#pacedAt) * CALLS_PER_S) / 1000
    this.#allowance = Math.min(CALLS_AT_ONCE, this.#allowance + gained)
    this.#pacedAt = now
    for (let i = 0; i < BUCKETS && this.#allowance >= 1; i++) {
      this.#turn = (this.#turn + 1) % BUCKETS
      const call = this.#buckets[this.#turn].next(now, this.#stretch)
      if (call === null) continue
      this.#allowance--
      return call
    }
    return null
  }

  /** Takes over an answer. */
  answered(call: LeaseCall, reply: SyncReply, now: number): void {
    const bucket = this.#buckets[call.bucket]
    const wasAway = bucket.isAway
    const [, learningMs, , , recalls, numbers] = reply
    // The other parts have lost theirs, too, as a rule, and replicas wait for each other.
    if (bucket.answered(call, reply, now)) this.reconnected()
    if (wasAway) this.#backAgain(bucket)
    for (const tag of recalls) this.recalled(tag, now)
    call.items.forEach((lease, i) => {
      const [leased, pool, out, total] = numbers.slice(4 * i, 4 * i + 4)
      const late = hourOf(this.#options.clock()) - lease.hour > 1
      // Its words may belong to another hour by now.
      if (late) return
      const hasMore = lease.take(leased, pool)
      lease.total = Math.max(lease.total, total)
      this.#settle(lease, { hasMore, pool, out, isLearning: learningMs > 0 }, now)
    })
  }

  /** Redis did not carry a call out, as far as is known. */
  failed(call: LeaseCall, now: number): void {
    const bucket = this.#buckets[call.bucket]
    bucket.failed(call, now)
    // Those that the call has asked for wait, too, and nobody asks for them again.
    for (const lease of call.items) if (lease.waiting > 0) bucket.urgent.add(lease)
    for (const lease of bucket.urgent) this.#goOnAlone(lease)
    bucket.urgent.clear()
  }

  /** Redis can be asked again: buckets that were away ask at once. */
  reconnected(): void {
    for (const bucket of this.#buckets) bucket.askSoon()
  }

  /** Another replica needs calls of a key (`HOUR:ID`) of which none is left in the pool. */
  recalled(tag: string, now: number): void {
    const colon = tag.indexOf(':')
    const bucket = this.#buckets[bucketOf(tag.slice(colon + 1))]
    const lease = bucket.leases.get(tag)
    if (lease === undefined) return
    // What was leased just now for requests that wait here is theirs.
    if (now - lease.wokenAt >= OWN_MS) lease.giveBack(lease.left)
    // Redis may only not know yet that nothing is left.
    if (lease.hasNews) bucket.recalled.add(lease)
  }

  /** Everything goes back, since no request is admitted any more. The calls that follow say so. */
  leave(): void {
    for (const lease of this.#leases()) this.#end(lease)
    for (const bucket of this.#buckets) bucket.isLeaving = true
  }

  /** Whether Redis knows that all has gone back. */
  get hasLeft(): boolean {
    return this.#buckets.every((bucket) => bucket.hasLeft)
  }

  /** Whether requests wait for a key that is to be asked for again. */
  get isWaitedFor(): boolean {
    return this.#buckets.some((bucket) => bucket.urgent.size > 0)
  }

  /** Slots and hours, in turn, whose waiting requests should try again. Each is returned once. */
  takeWoken(): readonly number[] {
    const woken = this.#woken
    if (woken.length > 0) this.#woken = []
    return woken
  }

  *#leases(): Generator<Lease> {
    for (const leases of this.#hours.values()) yield* leases.values()
  }

  /** Null for a slot without a key, and for an hour that is far from now. */
  #leaseOf(slot: number, hour: number): Lease | null {
    const known = this.#hours.get(hour)?.get(slot)
    if (known !== undefined && !known.isOver) return known
    const key = this.#keys.get(slot)
    const { clock, counters } = this.#options
    if (key === undefined || Math.abs(hour - hourOf(clock())) > 1) return null
    let leases = this.#hours.get(hour)
    if (leases === undefined) this.#hours.set(hour, (leases = new Map()))
    if (known !== undefined) {
      // The key has come back.
      known.isOver = false
      known.quota = key.quota
      return known
    }
    const usedBefore = counters.used(slot, hour * HOUR_S)
    const lease = new Lease(key, hour, bucketOf(key.id), counters, usedBefore)
    leases.set(slot, lease)
    this.#buckets[lease.bucket].leases.set(lease.tag, lease)
    return lease
  }

  #lookAt(lease: Lease, now: number): void {
    const bucket = this.#buckets[lease.bucket]
    // Before its hour a lease keeps the rate of the hour before.
    if (lease.hour <= this.#hour) lease.look(now)
    const overFor = this.#options.clock() - (lease.hour + 1) * HOUR_S
    if (overFor > HOUR_GRACE_S && !lease.isOver) this.#end(lease)
    if (lease.isOver) {
      lease.giveBack(lease.left)
      if (lease.hasNews) bucket.due.add(lease)
      if ((!lease.hasNews || overFor > TURN_S) && !bucket.isBusy && overFor > HOUR_GRACE_S) this.#drop(lease)
      return
    }
    if (lease.waiting > 0 && now - lease.waitingAt > WAIT_MS) lease.waiting = 0
    if (lease.rate > 0) this.#busyInRound++
    if (lease.hour === this.#hour) this.#leaseNextHour(lease, now)
    if (bucket.isAway) {
      if (lease.rate > 0 && lease.left < lease.awayTarget / 2) this.#goOnAlone(lease)
      return
    }
    const target = lease.target(this.#stretch)
    const { left } = lease
    if (lease.hour <= this.#hour && left > 2 * target + 1 && bucket.learnsUntil <= now)
      lease.giveBack(left - target)
    if (lease.isExhausted) {
      if (now - lease.toldAt > RECHECK_MS) bucket.due.add(lease)
      return
    }
    const isLow = left < target / 2 && lease.pool > 0 && (lease.rate > 0 || lease.hour > this.#hour)
    const isLate = lease.hasNews && now - lease.toldAt >= TELL_MS * this.#stretch
    if ((isLow || isLate) && now >= lease.askAt && bucket.learnsUntil <= now) bucket.due.add(lease)
  }

  /** In the last minute of an hour, a key in use leases of the next, each at another time. */
  #leaseNextHour(lease: Lease, now: number): void {
    const over = (lease.hour + 1) * HOUR_S - this.#options.clock()
    if (over > TURN_S || now - lease.usedAt > TURN_S * 1000) return
    if (this.#hours.get(lease.hour + 1)?.has(lease.slot) === true) return
    const share = (Math.imul(lease.slot + 1, 0x9e3779b1) >>> 0) / 2 ** 32
    if (over > TURN_S - share * TURN_SPREAD_S) return
    const next = this.#leaseOf(lease.slot, lease.hour + 1)
    if (next !== null) next.rate = lease.rate
  }

  /** What an answer means for requests that wait, and for those to come. */
  #settle(
    lease: Lease,
    { hasMore, pool, out, isLearning }: { hasMore: boolean; pool: number; out: number; isLearning: boolean },
    now: number,
  ): void {
    const { counters } = this.#options
    if (hasMore) this.#wake(lease, now)
    if (lease.isExhausted && pool > 0) {
      lease.isExhausted = false
      counters.unmark(lease.slot, lease.hour)
    }
    if (lease.waiting === 0) return
    const bucket = this.#buckets[lease.bucket]
    if (!isLearning && pool <= 0 && out === 0 && counters.mark(lease.slot, lease.hour, REFUSED)) {
      lease.isExhausted = true
      this.#wake(lease, now)
      return
    }
    if (isLearning) lease.askAt = now + LEARNING_RETRY_MS
    else if (pool <= 0 && out > 0) lease.askAt = now + RETRY_MS
    bucket.urgent.add(lease)
  }

  /** Admits without Redis, or says why not. */
  #goOnAlone(lease: Lease): void {
    const { counters, fallback } = this.#options
    const { slot, hour, waiting, left } = lease
    if (lease.isExhausted || lease.isOver) return
    if (fallback === 'share') {
      const calls = waiting + lease.awayTarget - left
      this.admittedAlone += lease.takeShare(calls, Math.floor(lease.quota / this.replicas))
    }
    if (lease.left === 0) counters.mark(slot, hour, fallback === 'share' ? SHARE_USED : CLOSED)
    if (waiting > 0) this.#wake(lease, lease.waitingAt)
  }

  /** A part of Redis answers again: what was refused in its absence may be asked for. */
  #backAgain(bucket: Bucket): void {
    for (const lease of bucket.leases.values()) {
      if (!lease.isExhausted) this.#options.counters.unmark(lease.slot, lease.hour)
      if (lease.hasNews) bucket.due.add(lease)
    }
  }

  #wake(lease: Lease, now: number): void {
    lease.waiting = 0
    lease.wokenAt = now
    this.#woken.push(lease.slot, lease.hour)
  }

  #end(lease: Lease): void {
    lease.isOver = true
    lease.waiting = 0
    lease.giveBack(lease.left)
    if (lease.hasNews) this.#buckets[lease.bucket].due.add(lease)
  }

  #drop(lease: Lease): void {
    this.#buckets[lease.bucket].remove(lease)
    const leases = this.#hours.get(lease.hour)
    leases?.delete(lease.slot)
    if (leases?.size === 0) this.#hours.delete(lease.hour)
  }
}
