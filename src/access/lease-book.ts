/**
 * All leases of a replica: what is asked of Redis and when, and what its answers mean. The time is an
 * argument, and `server/quota-store.ts` carries the calls.
 * Redis leases no more of an hour than its quota, since one script does it in one step. A replica admits no
 * more than it has leased, since one word counts what is left. All leases are at most 2 % of a quota
 * together, so at least 98 % of it are admitted before any replica refuses.
 */
import { HOUR_S, hourOf } from './hours.ts'
import { CLOSED, LONGEST_LEASE_WAIT_MS, REFUSED, SHARE_USED, type LeaseCounters } from './lease-counters.ts'
import type { LeaseReply, LeaseRequest } from './lease-script.ts'

/** A lease is at most this part of its quota, divided by the number of replicas. */
const MOST_LEASED = 1 / 50
/** A lease that was not used for this long goes back. */
const IDLE_MS = 1000
/** Keys in use are asked for at least this often, also to hear what the other replicas have taken. */
const TELL_MS = 100
/** A refused key may have got calls back. After this its next request asks. */
const RECHECK_MS = 1000
/** Leases are forgotten this long after the last use of their hour, since the clock may be set back. */
const KEPT_MS = 2 * HOUR_S * 1000
/** Keys of one call: each keeps Redis busy for some 10 µs. */
const KEYS_PER_CALL = 64
/** The longest pause between two calls, which also keep this replica among the live. */
const POLL_MS = 500
const PROBE_MS = 100

export interface LeaseKey {
  readonly id: string
  readonly slot: number
  readonly quota: number
}

export interface BookOptions {
  readonly counters: LeaseCounters
  /** The least number of replicas to assume. */
  readonly replicas: number
  /** What is admitted while Redis is away: this replica's share of each quota, or nothing. */
  readonly fallback: 'share' | 'closed'
  readonly clock: () => number
}

interface Lease {
  readonly key: LeaseKey
  readonly hour: number
  quota: number
  /** Calls taken, used or not, and how many of them were taken without Redis. */
  held: number
  alone: number
  /** Calls taken by others (−1 for never heard), and calls that nobody has taken, as last heard. */
  others: number
  pool: number
  /** What Redis has heard, and when, ms. */
  toldHeld: number
  toldUsed: number
  toldAt: number
  /** Calls used as last seen, and when they last grew, ms. */
  used: number
  usedAt: number
  /** Requests that wait for this lease, and since when the newest of them waits, ms. */
  waiting: number
  waitingAt: number
  isRefused: boolean
  /** Whether the key is gone. */
  isOver: boolean
}

export interface LeaseCall {
  readonly number: number
  readonly seen: string
  readonly leases: readonly Lease[]
  readonly requests: readonly LeaseRequest[]
}

export class LeaseBook {
  admittedAlone = 0
  isAway = false
  hasAnswered = false
  readonly #options: BookOptions
  #keys = new Map<number, LeaseKey>()
  /** Leases by hour and slot. They outlive their hour, since Redis remembers them, too. */
  readonly #hours = new Map<number, Map<number, Lease>>()
  /** When each hour was current or asked for last, ms. */
  readonly #hourUsedAt = new Map<number, number>()
  #hour = 0
  /** Leases that have calls, or requests that wait, or news for Redis. */
  readonly #active = new Set<Lease>()
  /** Requests wait for the urgent leases, which are asked for first. */
  readonly #urgent = new Set<Lease>()
  readonly #due = new Set<Lease>()
  /** Slots and hours, in turn, of requests that should try again. */
  #woken: number[] = []
  #call: LeaseCall | null = null
  #calls = 0
  #calledAt = -Infinity
  #probeAt = -Infinity
  /** Since when Redis has its data, until when it leases nothing (ms), and replicas, as last heard. */
  #since = ''
  #settlesUntil = -Infinity
  #members = 0
  #isLeaving = false

  constructor(options: BookOptions) {
    this.#options = options
  }

  get size(): number {
    return [...this.#hours.values()].reduce((sum, leases) => sum + leases.size, 0)
  }

  /** Whether Redis leases nothing yet, since it is new or has lost data. */
  isSettling(now: number): boolean {
    return this.#settlesUntil > now
  }

  isReady(now: number): boolean {
    return this.hasAnswered && !this.isAway && !this.isSettling(now)
  }

  /** The number of replicas seen last. */
  get replicas(): number {
    return Math.max(this.#options.replicas, this.#members)
  }

  get hasLeft(): boolean {
    return !this.hasAnswered || (this.#call === null && this.#due.size === 0)
  }

  /** Takes the keys of the moment. Leases of keys that are gone go back. */
  setKeys(keys: Iterable<LeaseKey>): void {
    this.#keys = new Map()
    for (const key of keys) this.#keys.set(key.slot, key)
    for (const lease of this.#leases()) {
      const key = this.#keys.get(lease.key.slot)
      lease.isOver = key?.id !== lease.key.id
      if (!lease.isOver && key!.quota === lease.quota) continue
      if (!lease.isOver) lease.quota = key!.quota
      if (!this.#isNear(lease.hour)) continue
      this.#allow(lease)
      this.#active.add(lease)
      this.#due.add(lease)
    }
  }

  /** `count` more requests wait for calls of a key. `now` in ms of a clock that is never set. */
  wanted(slot: number, hour: number, count: number, now: number): void {
    if (this.#isLeaving) return
    const lease = this.#leaseOf(slot, hour, now)
    // The key has just gone; its requests find that out.
    if (lease === null) {
      this.#woken.push(slot, hour)
      return
    }
    lease.waiting += count
    lease.waitingAt = now
    lease.usedAt = now
    this.#active.add(lease)
    if (this.#left(lease) > 0 || lease.isRefused) this.#wake(lease)
    else if (this.isAway) this.#goOnAlone(lease)
    else this.#urgent.add(lease)
  }

  /** To be called every 20 ms or so. */
  look(now: number): void {
    const hour = hourOf(this.#options.clock())
    if (hour !== this.#hour) this.#enter(hour)
    this.#hourUsedAt.set(hour, now)
    for (const [past, usedAt] of this.#hourUsedAt) {
      if (now - usedAt <= KEPT_MS) continue
      this.#hours.delete(past)
      this.#hourUsedAt.delete(past)
    }
    for (const lease of this.#active) {
      if (lease.hour === hour || lease.waiting > 0) this.#lookAt(lease, now)
      // What is left of an hour that is over is of no use to anybody.
      else for (const set of [this.#active, this.#urgent, this.#due]) set.delete(lease)
    }
  }

  /** The clock has gone on to another hour, or was set to one that was refused before. */
  #enter(hour: number): void {
    this.#hour = hour
    for (const lease of this.#hours.get(hour)?.values() ?? []) if (lease.isRefused) this.#active.add(lease)
  }

  #lookAt(lease: Lease, now: number): void {
    const left = this.#left(lease)
    const used = lease.held - left
    if (used !== lease.used) {
      lease.used = used
      lease.usedAt = now
    }
    if (lease.waiting > 0 && now - lease.waitingAt > LONGEST_LEASE_WAIT_MS) {
      lease.waiting = 0
      this.#urgent.delete(lease)
    }
    if (this.isAway) {
      // The share is taken before the lease is dry, too: Redis may lease nothing for a while when it is back.
      if (lease.waiting > 0 || now - lease.usedAt < IDLE_MS) this.#goOnAlone(lease)
      return
    }
    if (this.isSettling(now) && !this.#isLeaving) return
    const isIdle = lease.isOver || this.#isLeaving || now - lease.usedAt > IDLE_MS
    const target = isIdle ? 0 : this.#target(lease)
    const sinceMs = now - lease.toldAt
    // The pause lets requests that have waited take what came for them.
    if (left > target && (sinceMs >= TELL_MS || this.#isLeaving)) this.#giveBack(lease, left - target)
    const isUsed = used !== lease.toldUsed
    const isLow = isUsed && left < target / 2 && lease.pool > 0
    const hasNews = lease.held !== lease.toldHeld || (isUsed && sinceMs >= TELL_MS)
    if (lease.isRefused && sinceMs > RECHECK_MS) this.#allow(lease)
    if (hasNews || (isLow && !lease.isRefused)) this.#due.add(lease)
    else if (isIdle && left === 0 && lease.waiting === 0 && !lease.isRefused) this.#active.delete(lease)
  }

  /** The call to send now; null where none is due. */
  next(now: number): LeaseCall | null {
    if (this.#call !== null || (this.isAway && now < this.#probeAt)) return null
    const leases = this.isAway ? [] : this.#collect(now)
    if (leases.length === 0 && !this.isAway && now - this.#calledAt < POLL_MS) return null
    const requests = leases.map((lease) => this.#request(lease))
    this.#calledAt = now
    this.#call = { number: ++this.#calls, seen: this.#since, leases, requests }
    return this.#call
  }

  #collect(now: number): Lease[] {
    const found = new Set<Lease>()
    for (const set of this.isSettling(now) ? [this.#due] : [this.#urgent, this.#due]) {
      for (const lease of set) {
        if (found.size === KEYS_PER_CALL) break
        found.add(lease)
      }
    }
    for (const lease of found) {
      this.#urgent.delete(lease)
      this.#due.delete(lease)
    }
    return [...found]
  }

  #request(lease: Lease): LeaseRequest {
    const { key, hour, quota, held, others, waiting, isOver } = lease
    const left = this.#left(lease)
    const isAsking = !isOver && !this.#isLeaving
    const need = isAsking ? Math.max(0, waiting - left) : 0
    const isUsed = isAsking && !lease.isRefused && (waiting > 0 || held - left !== lease.toldUsed)
    const want = isUsed ? Math.max(need, this.#target(lease) + waiting - left) : need
    lease.toldUsed = held - left
    return { tag: `${hour}:${key.id}`, quota, held, others, want, need }
  }

  answered(call: LeaseCall, { since, settlingMs, replicas, grants }: LeaseReply, now: number): void {
    const wasAway = this.isAway
    const hasLost = this.#since !== '' && since !== this.#since
    this.#call = null
    this.isAway = false
    this.hasAnswered = true
    this.#since = since
    this.#members = replicas
    this.#settlesUntil = settlingMs > 0 ? now + settlingMs : -Infinity
    call.leases.forEach((lease, i) => {
      const { give, pool, others } = grants[i]
      lease.toldHeld = call.requests[i].held + give
      lease.toldAt = now
      lease.pool = pool
      lease.others = others
      if (this.#isNear(lease.hour)) this.#settle(lease, give, now)
    })
    if (!wasAway && !hasLost) return
    for (const lease of this.#leases()) {
      if (!this.#isNear(lease.hour)) continue
      if (wasAway) this.#allow(lease)
      // What was refused while Redis was away may be asked for; what was taken, or known, is reported.
      const isUnknown = lease.held === 0 && lease.others < 0
      if (isUnknown || (!hasLost && lease.held === lease.toldHeld)) continue
      this.#active.add(lease)
      if (!hasLost) this.#lookAt(lease, now)
      if (!call.leases.includes(lease)) this.#due.add(lease)
    }
  }

  #settle(lease: Lease, give: number, now: number): void {
    const { counters } = this.#options
    const { key, hour, pool } = lease
    counters.setPool(key.slot, hour, pool)
    if (give > 0) {
      lease.held += give
      counters.add(key.slot, hour, give)
    }
    if (give > 0 || pool > 0) lease.isRefused = false
    if (pool > 0) counters.unmark(key.slot, hour)
    if (lease.waiting === 0) return
    if (this.#left(lease) > 0) this.#wake(lease)
    else if (!this.isSettling(now) && pool <= 0 && counters.mark(key.slot, hour, REFUSED)) {
      lease.isRefused = true
      this.#wake(lease)
    } else this.#urgent.add(lease)
  }

  /** Redis did not carry a call out, as far as is known. */
  failed(call: LeaseCall, now: number): void {
    this.#call = null
    this.isAway = true
    this.#probeAt = now + PROBE_MS
    for (const lease of call.leases) this.#due.add(lease)
    for (const lease of this.#active) if (lease.waiting > 0) this.#goOnAlone(lease)
    this.#urgent.clear()
  }

  reconnected(): void {
    this.#probeAt = -Infinity
    this.#calledAt = -Infinity
  }

  /** Gives everything back; the calls that follow tell Redis. */
  leave(now: number): void {
    this.#isLeaving = true
    for (const lease of this.#active) {
      lease.waiting = 0
      this.#lookAt(lease, now)
    }
    this.#urgent.clear()
  }

  /** Slots and hours, in turn, of requests that should try again. Each is returned once. */
  takeWoken(): readonly number[] {
    const woken = this.#woken
    if (woken.length > 0) this.#woken = []
    return woken
  }

  *#leases(): Generator<Lease> {
    for (const leases of this.#hours.values()) yield* leases.values()
  }

  /** Whether an hour is near now; the counters of others may hold another hour by now. */
  #isNear(hour: number): boolean {
    return Math.abs(hour - hourOf(this.#options.clock())) <= 1
  }

  /** Null for a slot without a key, and for an hour that is far from now. */
  #leaseOf(slot: number, hour: number, now: number): Lease | null {
    const key = this.#keys.get(slot)
    if (key === undefined || !this.#isNear(hour)) return null
    this.#hourUsedAt.set(hour, now)
    const leases = this.#hours.get(hour) ?? new Map<number, Lease>()
    this.#hours.set(hour, leases)
    const known = leases.get(slot)
    if (known?.key.id === key.id) return known
    const lease: Lease = {
      key,
      hour,
      quota: key.quota,
      held: 0,
      alone: 0,
      others: -1,
      pool: key.quota,
      toldHeld: 0,
      toldUsed: 0,
      toldAt: -Infinity,
      used: 0,
      usedAt: -Infinity,
      waiting: 0,
      waitingAt: 0,
      isRefused: false,
      isOver: false,
    }
    leases.set(slot, lease)
    return lease
  }

  #left({ key, hour }: Lease): number {
    return this.#options.counters.left(key.slot, hour)
  }

  /** Calls that a lease in use should have left: 0 for a small quota, where each request waits. */
  #target(lease: Lease): number {
    return Math.floor((lease.quota * MOST_LEASED) / this.replicas)
  }

  #giveBack(lease: Lease, calls: number): void {
    const given = this.#options.counters.giveBack(lease.key.slot, lease.hour, calls)
    lease.held -= given
    this.admittedAlone += Math.max(0, lease.alone - given)
    lease.alone = 0
  }

  /** Takes this replica's whole share without Redis, or marks why not. What is left of it goes back later. */
  #goOnAlone(lease: Lease): void {
    const { counters, fallback } = this.#options
    const { key, hour, quota } = lease
    if (lease.isRefused || lease.isOver) return
    if (fallback === 'share') {
      const used = counters.used(key.slot, hour * HOUR_S) + this.#left(lease)
      const taken = Math.max(0, Math.floor(quota / this.replicas) - used)
      if (taken > 0) counters.add(key.slot, hour, taken)
      lease.held += taken
      lease.alone += taken
    }
    counters.mark(key.slot, hour, fallback === 'share' ? SHARE_USED : CLOSED)
    if (lease.waiting > 0) this.#wake(lease)
  }

  #allow(lease: Lease): void {
    lease.isRefused = false
    this.#options.counters.unmark(lease.key.slot, lease.hour)
  }

  #wake(lease: Lease): void {
    lease.waiting = 0
    this.#urgent.delete(lease)
    this.#woken.push(lease.key.slot, lease.hour)
  }
}
