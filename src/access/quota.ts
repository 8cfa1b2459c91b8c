/**
 * Calls per key and clock hour (UTC): with a quota of N exactly N calls of an hour succeed, over all threads.
 * Beside the count of this process are the calls made elsewhere: by other replicas, as last received,
 * and before a restart.
 * A request allocates nothing here. `now` is epoch seconds everywhere.
 */
import { charge, HourBanks, hourOf } from './hours.ts'

/** More slots than keys: the slot of a revoked key is not taken before 31,072 further revocations. */
export const QUOTA_SLOTS = 131_072
// Four banks keep the counts of the hours around now when a clock is set by up to two hours.
const QUOTA_BANKS = 4
/** For each slot and hour: calls counted here, and calls made elsewhere. */
const FIELDS = 2
const FLAG_BYTES = Int32Array.BYTES_PER_ELEMENT
/** A stranger's number may be anything. Two of these are below 2^31. */
const MAX_COUNT = 2 ** 30

/** The counts of all keys (4 MiB). Each thread has an instance of its own on the same buffer. */
export class QuotaCounters {
  readonly slots: number
  readonly #words: Int32Array
  readonly #banks: HourBanks
  readonly #flag: Int32Array

  static allocate(slots: number = QUOTA_SLOTS): SharedArrayBuffer {
    return new SharedArrayBuffer(HourBanks.bytes(QUOTA_BANKS, FIELDS * slots) + FLAG_BYTES)
  }

  constructor(buffer: SharedArrayBuffer) {
    const bytes = buffer.byteLength - FLAG_BYTES
    const words = (bytes - HourBanks.bytes(QUOTA_BANKS, 0)) / Int32Array.BYTES_PER_ELEMENT
    this.slots = words / (QUOTA_BANKS * FIELDS)
    this.#banks = new HourBanks(buffer, QUOTA_BANKS, FIELDS * this.slots)
    this.#words = this.#banks.words
    this.#flag = new Int32Array(buffer, bytes)
  }

  /** Calls that need a count are refused, on all threads: nobody knows what other replicas admit. */
  get isClosed(): boolean {
    return Atomics.load(this.#flag, 0) === 1
  }

  set isClosed(isClosed: boolean) {
    Atomics.store(this.#flag, 0, isClosed ? 1 : 0)
  }

  /** @returns calls left, or -1 when the hour's `limit` is used up. @throws RangeError for an unknown slot */
  take(slot: number, limit: number, now: number): number {
    const at = this.#slotAt(slot, now)
    return charge(this.#words, at, limit - Atomics.load(this.#words, at + this.slots))
  }

  /** Calls of the hour, as far as is known here. */
  used(slot: number, now: number): number {
    const at = this.#slotAt(slot, now)
    return Atomics.load(this.#words, at) + Atomics.load(this.#words, at + this.slots)
  }

  /** Calls counted by this process. */
  own(slot: number, now: number): number {
    return Atomics.load(this.#words, this.#slotAt(slot, now))
  }

  /** Makes the calls made elsewhere at least `calls`: within an hour they never become fewer. */
  raiseElsewhere(slot: number, calls: number, now: number): void {
    const words = this.#words
    const at = this.#slotAt(slot, now) + this.slots
    for (let found = Atomics.load(words, at); found < calls; found = Atomics.load(words, at)) {
      if (Atomics.compareExchange(words, at, found, Math.min(MAX_COUNT, calls)) === found) return
    }
  }

  /** Zeroes a slot in every hour, before another key gets it. */
  clear(slot: number): void {
    this.#check(slot)
    for (let bank = 0; bank < QUOTA_BANKS; bank++) {
      const at = this.#banks.first(bank) + slot
      Atomics.store(this.#words, at, 0)
      Atomics.store(this.#words, at + this.slots, 0)
    }
  }

  prepare(now: number): void {
    this.#banks.prepare(now)
  }

  /** @throws RangeError for a slot that does not exist */
  #slotAt(slot: number, now: number): number {
    this.#check(slot)
    return this.#banks.start(hourOf(now)) + slot
  }

  #check(slot: number): void {
    if (!(slot >= 0 && slot < this.slots)) throw new RangeError('quota slot out of range')
  }
}
