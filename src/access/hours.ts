/** Clock hours (UTC), and counts in shared memory for several of them. `now` is epoch seconds everywhere. */

export const HOUR_S = 3600
const PREPARE_INTERVAL_MS = 10_000

/** The clock hour (UTC) of `now`, counted from 1970. */
export function hourOf(now: number): number {
  return Math.floor(now / HOUR_S)
}

/** When the quota of the hour of `now` resets, epoch seconds (`X-RateLimit-Reset`). */
export function resetAt(now: number): number {
  return (hourOf(now) + 1) * HOUR_S
}

/** Whole seconds to the reset, at least 1 (`Retry-After`): a client that waits this long succeeds. */
export function retryAfter(now: number): number {
  return Math.max(1, Math.ceil(resetAt(now) - now))
}

/**
 * Counts one call on `words[at]` unless the count has reached `limit`.
 * @returns calls left, or exactly -1 when refused, also where a quota was lowered below its use.
 */
export function charge(words: Int32Array, at: number, limit: number): number {
  // A plain read costs nothing. A stale value is found out by the exchange, and before a refusal.
  let used = words[at]
  for (;;) {
    if (used >= limit && (used = Atomics.load(words, at)) >= limit) return -1
    const found = Atomics.compareExchange(words, at, used, used + 1)
    if (found === used) return limit - used - 1
    used = found
  }
}

const LOCK = 0
const FIRST_TAG = 1
// Every call reads the tags and the lock, so they share no cache line with the counts after them.
const HEADER_WORDS = 32
const LOCK_WAIT_MS = 10
// One second in all. Zeroing takes milliseconds, so the thread that holds a lock for longer has died.
const MAX_LOCK_WAITS = 100
const SETTLED_S = 60

/**
 * Counts in shared memory for several clock hours. The hour chooses the bank, and the bank's tag holds it:
 * threads on both sides of the top of an hour, or after a set clock, touch no other hour's counts.
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

  /** Index in `words` of the first count of `hour`, in a bank that is zeroed where it held another hour. */
  start(hour: number): number {
    const bank = hour & (this.#banks - 1)
    if (Atomics.load(this.words, FIRST_TAG + bank) !== hour) this.#open(bank, hour)
    return this.first(bank)
  }

  first(bank: number): number {
    return HEADER_WORDS + bank * this.#bankWords
  }

  /**
   * Zeroes the banks of this hour and the next ahead of time, every few seconds, on a thread that does not
   * serve. The next hour's bank waits for a minute: a slow thread may just be finishing in it.
   */
  prepare(now: number): void {
    const hour = hourOf(now)
    this.start(hour)
    if (now - hour * HOUR_S >= SETTLED_S) this.start(hour + 1)
  }

  // The lock word is odd while held. After a second its holder has died: another thread moves it on.
  #open(bank: number, hour: number): void {
    const { words } = this
    const tag = FIRST_TAG + bank
    let seen = Atomics.load(words, LOCK)
    let held: number
    for (let waits = 0; ;) {
      if (Atomics.load(words, tag) === hour) return
      const isHeld = (seen & 1) !== 0
      const overHeld = waits >= MAX_LOCK_WAITS ? seen + 2 : 0
      const wanted = isHeld ? overHeld : seen + 1
      if (wanted !== 0 && Atomics.compareExchange(words, LOCK, seen, wanted) === seen) {
        held = wanted
        break
      }
      if (isHeld) Atomics.wait(words, LOCK, seen, LOCK_WAIT_MS)
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

/** Zeroes the next hour's counts ahead of time, every few seconds, on a thread that does not serve. */
export function prepareHours(
  counters: readonly { prepare(now: number): void }[],
  clock: () => number,
): { stop(): void } {
  const prepare = (): void => counters.forEach((counter) => counter.prepare(clock()))
  prepare()
  const timer = setInterval(prepare, PREPARE_INTERVAL_MS)
  return { stop: () => clearInterval(timer) }
}
