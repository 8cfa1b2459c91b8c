/**
 * Quotas that replicas share. What each key has used goes to Redis, and the totals come back:
 * `groundswell:{quota}:HOUR` is a hash. `ID` in it is what all replicas have used of a key, `ID:REPLICA` what
 * one of them has told, and `:REPLICA` the sum of all that one has told.
 *
 * A replica believes what Redis says it has told, not what it remembers: so a lost answer counts once, and what
 * an emptied, replaced or older Redis lacks is told again.
 */
import { timestampText } from '../sea/time.ts'
import type { LogLine } from '../system/log.ts'
import { randomName } from '../system/replace-file.ts'
import { HOUR_S, hourOf } from './hours.ts'
import type { KeyEntry } from './key-ring.ts'
import type { QuotaCounters } from './quota.ts'
import { redisFault, type SharedCounts } from './redis.ts'

/** A call is told within one interval and heard by the others within another: 100 ms in all. */
const EXCHANGE_MS = 50
/** Keys of one transaction, which takes Redis a millisecond or two. */
const KEYS_AT_ONCE = 500
/**
 * Redis counts as away after so many intervals without an answer: a fault that is over sooner is not worth a
 * line, and after a pause of this thread an answer may be there, and unread.
 */
const PATIENT_INTERVALS = 20
/** Replicas with a late clock still count in an hour that is over. */
const KEPT_S = 2 * HOUR_S

export interface QuotaExchangeOptions {
  readonly redis: SharedCounts
  readonly counters: QuotaCounters
  /** Whether calls are refused while Redis is away. */
  readonly isRequired: boolean
  readonly log: LogLine
  readonly clock: () => number
}

export class QuotaExchange {
  readonly #options: QuotaExchangeOptions
  /** Another one after each start. */
  readonly #replica = randomName()
  readonly #timer: NodeJS.Timeout
  /** By slot: the id of its key, and what Redis has been told of it in `#hour`. */
  #ids: string[] = []
  #told: number[] = []
  #hour: number
  #connection = 0
  /** The sum that Redis has been told in `#hour`; null before its first answer. */
  #sum: number | null = null
  /** Redis may lack counts: each key with calls is asked for. */
  #asksAll = false
  #exchange: Promise<void> | null = null
  readonly #exchanges = { succeeded: 0, failed: 0 }
  #intervalsSinceAnswer = 0
  /** Since when Redis is away, epoch seconds; null while it is there. */
  #awaySince: number | null = null
  #fault: string | null = null

  constructor(options: QuotaExchangeOptions) {
    this.#options = options
    this.#hour = hourOf(options.clock())
    options.redis.connect()
    this.#timer = setInterval(() => {
      void this.exchange()
      this.#watch()
    }, EXCHANGE_MS)
  }

  setKeys(keys: Iterable<KeyEntry>): void {
    const ids: string[] = []
    for (const { id, slot } of keys) {
      ids[slot] = id
      if (this.#ids[slot] !== id) this.#assumeTold(slot)
    }
    this.#ids = ids
    this.#asksAll = true
  }

  /** Where that is not sure, as behind a new connection: Redis says how much it was really told. */
  #assumeTold(slot: number): void {
    this.#told[slot] = this.#options.counters.own(slot, this.#hour * HOUR_S)
  }

  status(): object {
    return {
      state: this.#awaySince === null ? 'shared' : 'away',
      since: this.#awaySince === null ? null : timestampText(this.#awaySince),
      fault: this.#fault,
      redis: this.#options.redis.name,
      required: this.#options.isRequired,
      exchanges: this.#exchanges,
    }
  }

  figures(): { backend: 'redis'; isUp: boolean } {
    return { backend: 'redis', isUp: this.#awaySince === null }
  }

  /** Tells Redis the last calls, when no request is admitted any more. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.exchange()
    await this.exchange()
    this.#options.redis.close()
  }

  /** Tells Redis what was used here, and hears what others have used. Never rejects. */
  exchange(): Promise<void> {
    return (this.#exchange ??= this.#tellAndHear().finally(() => (this.#exchange = null)))
  }

  async #tellAndHear(): Promise<void> {
    const { redis, clock } = this.#options
    const hour = hourOf(clock())
    // The last calls of an hour are told after its end, unless the clock was set.
    if (hour !== this.#hour && hour !== this.#hour + 1) this.#enter(hour)
    if (redis.connections !== this.#connection) this.#enter(this.#hour)
    this.#connection = redis.connections
    try {
      if (redis.fault !== null) throw new Error(redis.fault)
      const due = this.#due()
      this.#asksAll = false
      for (let at = 0; at === 0 || at < due.length; at += KEYS_AT_ONCE)
        await this.#exchangeSome(due.slice(at, at + KEYS_AT_ONCE))
      this.#intervalsSinceAnswer = 0
      this.#exchanges.succeeded++
      this.#fault = null
      if (hour !== this.#hour) this.#enter(hour)
    } catch (error) {
      this.#exchanges.failed++
      this.#asksAll = true
      this.#fault = redis.fault ?? redisFault(error)
    }
  }

  #enter(hour: number): void {
    this.#hour = hour
    this.#sum = null
    this.#asksAll = true
    this.#ids.forEach((_, slot) => this.#assumeTold(slot))
  }

  /** Slots of keys that Redis has to be told or asked about. */
  #due(): number[] {
    const { counters } = this.#options
    const now = this.#hour * HOUR_S
    const due: number[] = []
    this.#ids.forEach((_, slot) => {
      const used = counters.own(slot, now)
      if (used !== this.#told[slot] || (this.#asksAll && used > 0)) due.push(slot)
    })
    return due
  }

  async #exchangeSome(slots: readonly number[]): Promise<void> {
    const { redis, counters } = this.#options
    const now = this.#hour * HOUR_S
    // All counts as told even where the answer is lost: the next one says what Redis has.
    const keys = slots.map((slot) => {
      const told = counters.own(slot, now)
      const more = told - this.#told[slot]
      this.#told[slot] = told
      return { slot, id: this.#ids[slot], more }
    })
    const more = keys.reduce((sum, key) => sum + key.more, 0)
    const changes = keys.flatMap(({ id, more }): [string, number][] => [
      [id, more],
      [`${id}:${this.#replica}`, more],
    ])
    const [sum, ...counts] = await redis.add(
      `groundswell:{quota}:${this.#hour}`,
      [[`:${this.#replica}`, more], ...changes],
      KEPT_S,
    )
    if (this.#sum !== null && sum < this.#sum + more) this.#asksAll = true
    this.#sum = sum
    for (const [i, { slot, id }] of keys.entries()) {
      // The slot has got another key meanwhile.
      if (this.#ids[slot] !== id) continue
      const [total, own] = counts.slice(2 * i)
      this.#told[slot] = own
      counters.raiseElsewhere(slot, total - own, now)
    }
  }

  #watch(): void {
    const { redis, counters, isRequired, log, clock } = this.#options
    const isAway = ++this.#intervalsSinceAnswer > PATIENT_INTERVALS
    if (isAway === (this.#awaySince !== null)) return
    if (isAway) {
      this.#fault ??= 'answers late or not at all'
      const meanwhile = isRequired
        ? 'requests with a key are answered 503 meanwhile (--quota-store-required)'
        : 'each server goes on with its own counts and what it last heard of the others'
      log(`quotas: Redis ${redis.name} ${this.#fault}: ${meanwhile}`, 'warning')
    } else log(`quotas: Redis ${redis.name} answers again; all calls made meanwhile count`)
    this.#awaySince = isAway ? clock() : null
    counters.isClosed = isRequired && isAway
  }
}
