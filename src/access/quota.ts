/**
 * Calls per key and clock hour (UTC), exact over all threads of the process, and the file that carries an
 * hour's counts over a restart.
 *
 * The counts lie in shared memory that every thread adds to atomically, so with a quota of N exactly N calls
 * of an hour succeed (decisions, "Exactness"). Nothing is allocated on the way of a request. `now` is epoch
 * seconds everywhere.
 */
import { readRegularFileSync } from '../system/files.ts'
import { removeLeftovers, replaceFile } from '../system/replace-file.ts'
import type { KeyEntry } from './key-ring.ts'
import type { KeyRecord } from './keys-file.ts'

const HOUR_S = 3600

/** Number of the clock hour (UTC) that `now` lies in, counted from 1970. */
export function hourOf(now: number): number {
  return Math.floor(now / HOUR_S)
}

/**
 * When the quota of the hour of `now` resets, in epoch seconds: the top of the next hour
 * (`X-RateLimit-Reset`).
 */
export function resetAt(now: number): number {
  return (hourOf(now) + 1) * HOUR_S
}

/**
 * Whole seconds to wait for the reset, at least 1 (`Retry-After`): a client that waits exactly so long
 * succeeds.
 */
export function retryAfter(now: number): number {
  return Math.max(1, Math.ceil(resetAt(now) - now))
}

/**
 * Counts one call on `words[at]` unless the count has reached `limit`; a refused call is not counted, so that
 * raising a quota in the middle of the hour gives exactly the difference.
 *
 * @returns calls left after this one, or -1 when it is refused. Never another negative number, even where a
 * quota was lowered below what is used already.
 */
export function charge(words: Int32Array, at: number, limit: number): number {
  for (;;) {
    const used = Atomics.load(words, at)
    if (used >= limit) return -1
    if (Atomics.compareExchange(words, at, used, used + 1) === used) return limit - used - 1
  }
}

const LOCK = 0
const FIRST_TAG = 1
// The tags and the lock get cache lines of their own: they are read on every call, the counts behind them are
// written.
const HEADER_WORDS = 32
const LOCK_WAIT_MS = 10
// One second. Zeroing the largest bank takes milliseconds, so a lock held that long belongs to a thread that
// died.
const LOCK_WAITS = 100
const SETTLED_S = 60

/**
 * Counts in shared memory for several clock hours at once: the hour picks the bank, and a tag beside the bank
 * says which hour its counts belong to. Threads on both sides of an hour's turn thus never touch the same
 * counts, and a clock that is set finds either the right counts of that hour or a zeroed bank, never those of
 * another hour.
 */
export class HourBanks {
  readonly words: Int32Array
  readonly #banks: number
  readonly #bankWords: number

  /** Bytes needed for `banks` (a power of two up to 16) of `bankWords` 32-bit words each. */
  static bytes(banks: number, bankWords: number): number {
    return (HEADER_WORDS + banks * bankWords) * Int32Array.BYTES_PER_ELEMENT
  }

  constructor(buffer: SharedArrayBuffer, banks: number, bankWords: number) {
    this.words = new Int32Array(buffer, 0, HEADER_WORDS + banks * bankWords)
    this.#banks = banks
    this.#bankWords = bankWords
  }

  /**
   * Index in `words` of the first count of `hour`; zeroes the bank first where it still holds another hour.
   */
  start(hour: number): number {
    const bank = hour & (this.#banks - 1)
    if (Atomics.load(this.words, FIRST_TAG + bank) !== hour) this.#open(bank, hour)
    return this.first(bank)
  }

  /** Index in `words` of the first count of a bank, whatever hour it holds. */
  first(bank: number): number {
    return HEADER_WORDS + bank * this.#bankWords
  }

  /**
   * Zeroes the banks of this hour and the next ahead of time, so that no serving thread has to at the turn of
   * the hour. To be called every few seconds by a thread that serves nothing. The next hour waits for a
   * minute into this one, because with two banks it takes the place of the previous hour, which a slow thread
   * may just be finishing.
   */
  prepare(now: number): void {
    const hour = hourOf(now)
    this.start(hour)
    if (now - hour * HOUR_S >= SETTLED_S) this.start(hour + 1)
  }

  // The lock word is odd while it is held. A holder that died (a worker that was terminated) is passed over
  // after a second by moving the word on to the next odd number, which only one of the waiting threads can
  // do.
  #open(bank: number, hour: number): void {
    const { words } = this
    const tag = FIRST_TAG + bank
    let seen = Atomics.load(words, LOCK)
    let held: number
    for (let waits = 0; ;) {
      if (Atomics.load(words, tag) === hour) return
      const wanted = (seen & 1) === 0 ? seen + 1 : waits >= LOCK_WAITS ? seen + 2 : 0
      if (wanted !== 0 && Atomics.compareExchange(words, LOCK, seen, wanted) === seen) {
        held = wanted
        break
      }
      if ((seen & 1) !== 0) Atomics.wait(words, LOCK, seen, LOCK_WAIT_MS)
      const next = Atomics.load(words, LOCK)
      waits = next === seen ? waits + 1 : 0
      seen = next
    }
    if (Atomics.load(words, tag) !== hour) {
      words.fill(0, this.first(bank), this.first(bank) + this.#bankWords)
      Atomics.store(words, tag, hour)
    }
    Atomics.compareExchange(words, LOCK, held, held + 1)
    Atomics.notify(words, LOCK)
  }
}

/**
 * More slots than keys, so that the slot of a revoked key rests for 31,072 further revocations before another
 * key gets it.
 */
export const QUOTA_SLOTS = 131_072
// The hours around now survive a clock that is set back or forward by up to two.
const QUOTA_BANKS = 4

/**
 * The counts of all keys: one slot per key, 4 hours each (2 MiB for all slots). One instance per thread on
 * one buffer.
 */
export class QuotaCounters {
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

  /** Calls counted in the hour of `now`. */
  used(slot: number, now: number): number {
    return Atomics.load(this.#banks.words, this.#at(slot, now))
  }

  /**
   * Makes the count of the hour of `now` at least `count`: restoring never forgets calls that came in
   * already.
   */
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

/**
 * Which key counts in which slot; lives on the main thread. An id keeps its slot, and with it the hour's
 * count, over reloads and rotations, also when it was gone in between (a keys file put back from a copy).
 */
export class KeySlots {
  readonly #counters: QuotaCounters
  readonly #live = new Map<string, number>()
  // In the order of revocation: the first has rested longest.
  readonly #retired = new Map<string, number>()
  #unused = 0

  constructor(counters: QuotaCounters) {
    this.#counters = counters
  }

  /**
   * Gives every record its slot, and takes it from the keys that are no longer there.
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
    // Keys that come back first, else a new key could be given their slot.
    for (const id of ids) {
      const slot = this.#retired.get(id)
      if (slot === undefined) continue
      this.#retired.delete(id)
      this.#live.set(id, slot)
    }
    return records.map(({ id, hash, quota }) => ({ id, hash, quota, slot: this.#slot(id) }))
  }

  /** Calls counted in the hour of `now`, by id; keys without a call are left out. */
  usage(now: number): Map<string, number> {
    const counts = new Map<string, number>()
    for (const [id, slot] of this.#live) {
      const used = this.#counters.used(slot, now)
      if (used > 0) counts.set(id, used)
    }
    return counts
  }

  /** Puts back the counts that {@link readUsage} found; ids that have no slot are passed over. */
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

const USAGE_FORMAT = 1
// 100,000 ids of 12 characters with counts of 10 digits are 3 MB.
const MAX_USAGE_BYTES = 16 * 1024 * 1024
const MAX_COUNT = 0x7fff_ffff

/** Where the hour's counts of a keys file are kept: beside it. */
export function usagePath(keysPath: string): string {
  return `${keysPath}.usage`
}

function hourText(now: number): string {
  return new Date(hourOf(now) * HOUR_S * 1000).toISOString().slice(0, 13)
}

function usageText(counts: ReadonlyMap<string, number>, now: number): string {
  return `${JSON.stringify({ format: USAGE_FORMAT, hour: hourText(now), counts: Object.fromEntries(counts) })}\n`
}

/**
 * Replaces the usage file with the counts of the hour of `now`: atomic, 0600. Throws the error of the file
 * system.
 */
export function writeUsage(path: string, counts: ReadonlyMap<string, number>, now: number): void {
  replaceFile(path, usageText(counts, now))
}

export interface Usage {
  readonly counts: ReadonlyMap<string, number>
  /** Why the file was passed over, or null. Calls are then given back, never taken away. */
  readonly warning: string | null
}

/** The counts in the usage file if they belong to the hour of `now`, else none. Never throws. */
export function readUsage(path: string, now: number): Usage {
  try {
    return { counts: parseUsage(readBounded(path), now), warning: null }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return { counts: new Map(), warning: null }
    }
    return {
      counts: new Map(),
      warning: `${path}: not a usage file that can be read; this hour's counts start at 0`,
    }
  }
}

function readBounded(path: string): string {
  return readRegularFileSync(path, MAX_USAGE_BYTES).toString('utf8')
}

function parseUsage(text: string, now: number): Map<string, number> {
  const content: unknown = JSON.parse(text)
  if (typeof content !== 'object' || content === null) throw new TypeError('not an object')
  const { format, hour, counts } = content as Record<string, unknown>
  if (format !== USAGE_FORMAT || typeof hour !== 'string' || typeof counts !== 'object' || counts === null) {
    throw new TypeError('not a usage file')
  }
  const found = new Map<string, number>()
  for (const [id, count] of Object.entries(counts)) {
    if (!Number.isInteger(count) || count < 0 || count > MAX_COUNT) throw new TypeError('not a count')
    found.set(id, count)
  }
  return hour === hourText(now) ? found : new Map()
}

export interface UsageKeeper {
  /** Writes now, if anything was counted since the last time. */
  flush(): void
  /** Stops the timer and writes a last time; to be called when no thread counts any more. */
  close(): void
}

/**
 * Writes the counts of `slots` to `path` every `intervalMs`; to be started after {@link KeySlots.restore}, so
 * that a crash gives back the calls of those seconds at most. A failure is reported once, then again only
 * after a write has succeeded in between; serving goes on.
 */
export function keepUsage(
  path: string,
  slots: KeySlots,
  clock: () => number,
  onError: (error: Error) => void,
  intervalMs = 2000,
): UsageKeeper {
  let written = ''
  let failing = false
  removeLeftovers(path)
  const flush = (): void => {
    const now = clock()
    const text = usageText(slots.usage(now), now)
    if (text === written) return
    try {
      replaceFile(path, text)
      written = text
      failing = false
    } catch (error) {
      if (!failing) onError(error instanceof Error ? error : new Error(`${path}: cannot be written`))
      failing = true
    }
  }
  const timer = setInterval(flush, intervalMs).unref()
  return {
    flush,
    close() {
      clearInterval(timer)
      flush()
    },
  }
}
