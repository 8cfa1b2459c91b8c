/** Calls that a replica may still make for each key and clock hour, where replicas share the quotas. */
import { hourOf } from './hours.ts'
import { QUOTA_SLOTS, SlotCounters } from './quota.ts'

/** For each slot and hour: calls left, calls that nobody has leased yet, calls made or left. */
const LEASE_FIELDS = 3

/** A request waits this long for a lease at most, longer than it takes to see that Redis is away. */
export const LONGEST_LEASE_WAIT_MS = 1500

export const REFUSED = -1
/** Nothing is leased: more may come within milliseconds. */
export const ASK = -2
/** The store is away, and nothing is admitted without it. */
export const CLOSED = -3
export const SHARE_USED = -4

/** Why nothing is left, as a number in place of the calls left. */
export type LeaseMark = typeof REFUSED | typeof CLOSED | typeof SHARE_USED

/**
 * Leases of all keys in shared memory. Any thread takes calls; only the main thread adds and takes back. One
 * word holds what is left, so a call is taken or taken back, never both. `now` is epoch seconds, `hour` the
 * number of a clock hour from 1970.
 */
export class LeaseCounters extends SlotCounters {
  static allocate(slots: number = QUOTA_SLOTS): SharedArrayBuffer {
    return new SharedArrayBuffer(SlotCounters.bytes(slots, LEASE_FIELDS))
  }

  constructor(buffer: SharedArrayBuffer) {
    super(buffer, LEASE_FIELDS)
  }

  /** @returns an estimate of calls left to all replicas, or a refusal below 0. @throws RangeError */
  take(slot: number, limit: number, now: number): number {
    const words = this.words
    const at = this.at(slot, hourOf(now))
    for (;;) {
      const left = Atomics.load(words, at)
      if (left <= 0) return left === 0 ? ASK : left
      if (Atomics.compareExchange(words, at, left, left - 1) === left) {
        // A quota that was lowered may be below what others had leased.
        return Math.max(0, Math.min(limit, left + Atomics.load(words, at + this.slots)) - 1)
      }
    }
  }

  /** Calls left, 0 where a mark tells why there are none. */
  left(slot: number, hour: number): number {
    return Math.max(0, Atomics.load(this.words, this.at(slot, hour)))
  }

  /** Adds calls that were leased; a mark is gone then. */
  add(slot: number, hour: number, calls: number): void {
    this.unmark(slot, hour)
    Atomics.add(this.words, this.at(slot, hour) + 2 * this.slots, calls)
    Atomics.add(this.words, this.at(slot, hour), calls)
  }

  /** Takes up to `calls` out of the lease. @returns how many */
  giveBack(slot: number, hour: number, calls: number): number {
    const given = this.takeUpTo(slot, hour, calls)
    Atomics.sub(this.words, this.at(slot, hour) + 2 * this.slots, given)
    return given
  }

  /** Takes up to `calls` of those left. @returns how many */
  takeUpTo(slot: number, hour: number, calls: number): number {
    const words = this.words
    const at = this.at(slot, hour)
    for (;;) {
      const left = Atomics.load(words, at)
      const taken = Math.min(left, calls)
      if (taken <= 0) return 0
      if (Atomics.compareExchange(words, at, left, left - taken) === left) return taken
    }
  }

  /** Marks why nothing is left. @returns false where calls are left */
  mark(slot: number, hour: number, mark: LeaseMark): boolean {
    this.unmark(slot, hour)
    return Atomics.compareExchange(this.words, this.at(slot, hour), 0, mark) === 0
  }

  unmark(slot: number, hour: number): void {
    const at = this.at(slot, hour)
    const left = Atomics.load(this.words, at)
    if (left < 0) Atomics.compareExchange(this.words, at, left, 0)
  }

  setPool(slot: number, hour: number, calls: number): void {
    Atomics.store(this.words, this.at(slot, hour) + this.slots, Math.max(0, calls))
  }

  /** Calls that no replica has leased, as last heard. */
  pool(slot: number, hour: number): number {
    return Atomics.load(this.words, this.at(slot, hour) + this.slots)
  }

  used(slot: number, now: number): number {
    const hour = hourOf(now)
    return Atomics.load(this.words, this.at(slot, hour) + 2 * this.slots) - this.left(slot, hour)
  }

  /** Calls of an earlier start of this replica: the count of the hour of `now` becomes `count` at least. */
  raise(slot: number, count: number, now: number): void {
    const missing = count - this.used(slot, now)
    if (missing > 0) Atomics.add(this.words, this.at(slot, hourOf(now)) + 2 * this.slots, missing)
  }
}
