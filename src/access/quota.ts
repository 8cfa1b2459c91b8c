/**
 * Calls per key and clock hour (UTC): with a quota of N exactly N calls of an hour succeed, over all threads.
 * A request allocates nothing here. `now` is epoch seconds everywhere.
 */
import { charge, HourBanks, hourOf } from './hours.ts'

/** More slots than keys: the slot of a revoked key is not taken before 31,072 further revocations. */
export const QUOTA_SLOTS = 131_072
// Four banks keep the counts of the hours around now when a clock is set by up to two hours.
const QUOTA_BANKS = 4

/** Numbers of all keys in shared memory, one slot a key, for each of four clock hours. */
export abstract class SlotCounters {
  readonly slots: number
  protected readonly words: Int32Array
  readonly #banks: HourBanks

  /** @param fields numbers of a slot; those of one field lie together */
  protected static bytes(slots: number, fields: number): number {
    return HourBanks.bytes(QUOTA_BANKS, slots * fields)
  }

  constructor(buffer: SharedArrayBuffer, fields: number) {
    const words = (buffer.byteLength - HourBanks.bytes(QUOTA_BANKS, 0)) / Int32Array.BYTES_PER_ELEMENT
    this.slots = words / (QUOTA_BANKS * fields)
    this.#banks = new HourBanks(buffer, QUOTA_BANKS, this.slots * fields)
    this.words = this.#banks.words
  }

  abstract used(slot: number, now: number): number

  /** Makes the count of the hour of `now` at least `count`. */
  abstract raise(slot: number, count: number, now: number): void

  /** Zeroes a slot in every hour, before another key gets it. */
  clear(slot: number): void {
    this.#check(slot)
    for (let bank = 0; bank < QUOTA_BANKS; bank++) {
      const end = this.#banks.first(bank + 1)
      for (let at = this.#banks.first(bank) + slot; at < end; at += this.slots)
        Atomics.store(this.words, at, 0)
    }
  }

  prepare(now: number): void {
    this.#banks.prepare(now)
  }

  /** @throws RangeError for a slot that does not exist */
  protected at(slot: number, hour: number): number {
    this.#check(slot)
    return this.#banks.start(hour) + slot
  }

  #check(slot: number): void {
    if (!(slot >= 0 && slot < this.slots)) throw new RangeError('quota slot out of range')
  }
}

/** The counts of all keys (2 MiB). Each thread has an instance of its own on the same buffer. */
export class QuotaCounters extends SlotCounters {
  static allocate(slots: number = QUOTA_SLOTS): SharedArrayBuffer {
    return new SharedArrayBuffer(SlotCounters.bytes(slots, 1))
  }

  constructor(buffer: SharedArrayBuffer) {
    super(buffer, 1)
  }

  /** @returns calls left, or -1 when the hour's `limit` is used up. @throws RangeError for an unknown slot */
  take(slot: number, limit: number, now: number): number {
    return charge(this.words, this.at(slot, hourOf(now)), limit)
  }

  used(slot: number, now: number): number {
    return Atomics.load(this.words, this.at(slot, hourOf(now)))
  }

  raise(slot: number, count: number, now: number): void {
    const { words } = this
    const at = this.at(slot, hourOf(now))
    for (let used = Atomics.load(words, at); used < count; used = Atomics.load(words, at)) {
      if (Atomics.compareExchange(words, at, used, count) === used) return
    }
  }
}
