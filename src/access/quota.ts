/**
 * Calls per key and clock hour (UTC), exact over all threads of the process.
 *
 * The counts lie in shared memory that every thread adds to atomically, so with a quota of N exactly N calls
 * of an hour succeed (decisions, "Exactness"). A request allocates nothing here. `now` is epoch seconds
 * everywhere.
 */
import { charge, HourBanks, hourOf } from './hours.ts'
import type { KeyEntry } from './key-ring.ts'
import type { KeyRecord } from './key-records.ts'

/**
 * More slots than keys, so that another key gets the slot of a revoked one only after 31,072 further
 * revocations.
 */
export const QUOTA_SLOTS = 131_072
// Four banks keep the counts of the hours around now when a clock is set by up to two hours.
const QUOTA_BANKS = 4

/**
 * The counts of all keys: one slot per key, of four hours (2 MiB for all slots). Each thread has an instance
 * of its own on the same buffer.
 */
export class QuotaCounters implements SlotCounters {
  readonly slots: number
  readonly #banks: HourBanks

  static allocate(slots: number = QUOTA_SLOTS): SharedArrayBuffer {
    return new SharedArrayBuffer(HourBanks.bytes(QUOTA_BANKS, slots))
  }

  constructor(buffer: SharedArrayBuffer) {
    this.slots =
      (buffer.byteLength - HourBanks.bytes(QUOTA_BANKS, 0)) / (QUOTA_BANKS * Int32Array.BYTES_PER_ELEMENT)
    this.#banks = new HourBanks(buffer, QUOTA_BANKS, this.slots)
  }

  /**
   * Counts one call of the key in `slot`.
   *
   * @returns calls left after this one, or -1 when the hour's `limit` is used up.
   * @throws RangeError for a slot that does not exist.
   */
  take(slot: number, limit: number, now: number): number {
    return charge(this.#banks.words, this.#at(slot, now), limit)
  }

  /**
   * Counts `calls` more of the key in `slot`, all or none. @returns whether the hour's `limit` had room for
   * them
   */
  takeMore(slot: number, calls: number, limit: number, now: number): boolean {
    const { words } = this.#banks
    const at = this.#at(slot, now)
    for (;;) {
      const used = Atomics.load(words, at)
      if (used + calls > limit) return false
      if (Atomics.compareExchange(words, at, used, used + calls) === used) return true
    }
  }

  /** Calls counted in the hour of `now`. */
  used(slot: number, now: number): number {
    return Atomics.load(this.#banks.words, this.#at(slot, now))
  }

  /** Makes the count of the hour of `now` at least `count`. Calls that came in already stay counted. */
  raise(slot: number, count: number, now: number): void {
    const { words } = this.#banks
    const at = this.#at(slot, now)
    for (let used = Atomics.load(words, at); used < count; used = Atomics.load(words, at)) {
      if (Atomics.compareExchange(words, at, used, count) === used) return
    }
  }

  /** Zeroes a slot in every hour, before another key gets it. */
  clear(slot: number): void {
    this.#check(slot)
    for (let bank = 0; bank < QUOTA_BANKS; bank++) {
      Atomics.store(this.#banks.words, this.#banks.first(bank) + slot, 0)
    }
  }

  /** See {@link HourBanks.prepare}. */
  prepare(now: number): void {
    this.#banks.prepare(now)
  }

  #at(slot: number, now: number): number {
    this.#check(slot)
    return this.#banks.start(hourOf(now)) + slot
  }

  #check(slot: number): void {
    if (!(slot >= 0 && slot < this.slots)) throw new RangeError('quota slot out of range')
  }
}

/** What counts calls by slots. */
export interface SlotCounters {
  readonly slots: number
  /** Calls counted in the hour of `now`. */
  used(slot: number, now: number): number
  /** Makes the count of the hour of `now` at least `count`. */
  raise(slot: number, count: number, now: number): void
  /** Zeroes a slot in every hour, before another key gets it. */
  clear(slot: number): void
}

/**
 * Which key counts in which slot; only the main thread uses it. An id keeps its slot, and with it the hour's
 * count, over reloads and rotations, also when it was gone in between (a keys file that was put back from a
 * copy).
 */
export class KeySlots {
  readonly #counters: SlotCounters
  readonly #live = new Map<string, number>()
  // Ids in the order of revocation, the longest revoked first.
  readonly #retired = new Map<string, number>()
  #unused = 0

  constructor(counters: SlotCounters) {
    this.#counters = counters
  }

  /**
   * Gives every record its slot, and retires the slots of keys that are gone.
   *
   * @throws RangeError for more records than slots.
   */
  assign(records: readonly KeyRecord[]): KeyEntry[] {
    const ids = new Set<string>()
    for (const { id } of records) ids.add(id)
    for (const [id, slot] of this.#live) {
      if (ids.has(id)) continue
      this.#live.delete(id)
      this.#retired.set(id, slot)
    }
    // Keys that come back go first, or a new key could get their slot.
    for (const id of ids) {
      const slot = this.#retired.get(id)
      if (slot === undefined) continue
      this.#retired.delete(id)
      this.#live.set(id, slot)
    }
    return records.map(({ id, hash, quota }) => ({ id, hash, quota, slot: this.#slot(id) }))
  }

  /** Calls counted in the hour of `now`, by id, without the keys that made none. */
  usage(now: number): Map<string, number> {
    const counts = new Map<string, number>()
    for (const [id, slot] of this.#live) {
      const used = this.#counters.used(slot, now)
      if (used > 0) counts.set(id, used)
    }
    return counts
  }

  /** Puts back counts that were read from the usage file. Ids without a slot are passed over. */
  restore(counts: ReadonlyMap<string, number>, now: number): void {
    for (const [id, count] of counts) {
      const slot = this.#live.get(id)
      if (slot !== undefined) this.#counters.raise(slot, count, now)
    }
  }

  #slot(id: string): number {
    let slot = this.#live.get(id)
    if (slot !== undefined) return slot
    if (this.#unused < this.#counters.slots) {
      slot = this.#unused++
    } else {
      const oldest = this.#retired.entries().next()
      if (oldest.done === true) throw new RangeError('more keys than quota slots')
      this.#retired.delete(oldest.value[0])
      slot = oldest.value[1]
      this.#counters.clear(slot)
    }
    this.#live.set(id, slot)
    return slot
  }
}
