/**
 * Quotas that replicas share. Each replica sends its calls of each key to Redis, and the totals come back:
 * `groundswell:{quota}:HOUR` is a hash. `ID` in it counts the calls of a key on all replicas, `ID:REPLICA`
 * the calls that one replica has sent, `:REPLICA` all that this replica has sent, and `again` grows with what
 * is sent a second time.
 *
 * A replica trusts Redis, not its own memory, about the counts that it has sent: so a call with a lost answer
 * counts once, and counts that an emptied, replaced or older Redis lacks are sent again. Those of replicas
 * that are gone come from nobody: each adds what it knew of them.
 */
import { timestampText } from '../sea/time.ts'
import type { LogLine } from '../system/log.ts'
import { randomName } from '../system/replace-file.ts'
import { HOUR_S, hourOf } from './hours.ts'
import type { KeyEntry } from './key-ring.ts'
import type { QuotaCounters } from './quota.ts'
import { redisFault, type SharedCounts } from './redis.ts'

/** A call is sent within one interval, and the others get it within another: 100 ms in all. */
const EXCHANGE_MS = 50
/** Keys of one transaction, which takes Redis a millisecond or two. */
const KEYS_AT_ONCE = 500
/**
 * Redis counts as away after this many intervals without an answer: a shorter fault is not worth a
 * line, and after a pause of this thread an answer may be there, and unread.
 */
const PATIENT_INTERVALS = 20
/** Replicas with a late clock still count in an hour that is over. */
const KEPT_S = 2 * HOUR_S

interface QuotaExchangeOptions {
  readonly redis: SharedCounts
  readonly counters: QuotaCounters
  /** Whether calls are refused while Redis is away. */
  readonly isRequired: boolean
  readonly log: LogLine
  readonly clock: () => number
}

export class QuotaExchange {
  readonly #options: QuotaExchangeOptions
  /** Another name after each start. */
  readonly #replica = randomName()
  readonly #timer: NodeJS.Timeout
  /** By slot: the id of its key, and its calls in `#hour` that were sent to Redis. */
  #ids: string[] = []
  #told: number[] = []
  #hour: number
  #connection = 0
  /** The sum of the calls in `#hour` that were sent to Redis; null before its first answer. */
  #sum: number | null = null
  /** By slot: `again`, the calls of others, and how many Redis lacked of those, at the last answer. */
  #heard: ({ readonly again: number; readonly others: number; readonly lacking: number } | undefined)[] = []
  /** Redis lacks counts that were sent. */
  #sendsAgain = false
  /** Redis may lack counts: the totals of each key with calls are requested. */
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

  /** For doubtful cases such as a new connection: Redis answers with the count that really arrived. */
  #assumeTold(slot: number): void {
    this.#told[slot] = this.#options.counters.own(slot, this.#hour * HOUR_S)
    this.#heard[slot] = undefined
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

  /** Sends the last calls to Redis, when no request is admitted any more. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.exchange()
    await this.exchange()
    this.#options.redis.close()
  }

  /** Sends the calls made here to Redis, and gets the others' calls. Never rejects. */
  exchange(): Promise<void> {
    return (this.#exchange ??= this.#tellAndHear().finally(() => (this.#exchange = null)))
  }

  async #tellAndHear(): Promise<void> {
    const { redis, clock } = this.#options
    const hour = hourOf(clock())
    // The last calls of an hour are sent after its end, unless the clock was set.
    if (hour !== this.#hour && hour !== this.#hour + 1) this.#enter(hour)
    if (redis.connections !== this.#connection) this.#enter(this.#hour)
    this.#connection = redis.connections
    const isAgain = this.#sendsAgain
    try {
      if (redis.fault !== null) throw new Error(redis.fault)
      const due = this.#due()
      this.#asksAll = false
      this.#sendsAgain = false
      for (let at = 0; at === 0 || at < due.length; at += KEYS_AT_ONCE)
        await this.#exchangeSome(due.slice(at, at + KEYS_AT_ONCE), isAgain)
      this.#intervalsSinceAnswer = 0
      this.#exchanges.succeeded++
      this.#fault = null
      if (hour !== this.#hour) this.#enter(hour)
    } catch (error) {
      this.#exchanges.failed++
      this.#asksAll = true
      this.#sendsAgain ||= isAgain
      this.#heard = []
      this.#fault = redis.fault ?? redisFault(error)
    }
  }

  #enter(hour: number): void {
    this.#hour = hour
    this.#sum = null
    this.#asksAll = true
    this.#ids.forEach((_, slot) => this.#assumeTold(slot))
  }

  /** Slots of keys with calls to send or totals to request. */
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

  async #exchangeSome(slots: readonly number[], isAgain: boolean): Promise<void> {
    const { redis, counters } = this.#options
    const now = this.#hour * HOUR_S
    // All calls count as sent even if the answer is lost: the next answer has the counts of Redis.
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
    const [sum, again, ...counts] = await redis.add(
      `groundswell:{quota}:${this.#hour}`,
      [[`:${this.#replica}`, more], ['again', Number(isAgain)], ...changes],
      KEPT_S,
    )
    if (this.#sum !== null && sum < this.#sum + more) {
      this.#asksAll = true
      this.#options.log(
        `quotas: Redis ${redis.name} lacks calls of this hour that it had: it was emptied, or an older copy took over; each server sends its own again`,
        'warning',
      )
    }
    this.#sum = sum
    for (const [i, { slot, id }] of keys.entries()) {
      // The slot has got another key meanwhile.
      if (this.#ids[slot] !== id) continue
      const [total, own] = counts.slice(2 * i)
      if (own < this.#told[slot]) this.#sendsAgain = true
      // Redis was emptied, or may have been without a word of it.
      if (isAgain || own < this.#told[slot]) this.#heard[slot] = undefined
      this.#told[slot] = own
      counters.raiseElsewhere(slot, this.#elsewhere(slot, again, total - own), now)
    }
  }

  /** Calls made elsewhere, where Redis has `others`: it may lack some that were heard of before. */
  #elsewhere(slot: number, again: number, others: number): number {
    const { counters } = this.#options
    const now = this.#hour * HOUR_S
    const before = this.#heard[slot]
    // Read in this order, since calls go on: what is taken for known may be less, and never more.
    const used = counters.used(slot, now)
    const known = used - counters.own(slot, now)
    // What was sent a second time is known already; all else is new.
    const isNew = before !== undefined && before.again === again && before.others <= others
    const lacking = isNew ? before.lacking : Math.max(0, known - others)
    this.#heard[slot] = { again, others, lacking }
    return others + lacking
  }

  #watch(): void {
    const { redis, counters, isRequired, log, clock } = this.#options
    const isAway = ++this.#intervalsSinceAnswer > PATIENT_INTERVALS
    if (isAway === (this.#awaySince !== null)) return
    if (isAway) {
      this.#fault ??= 'answers late or not at all'
      const meanwhile = isRequired
        ? 'requests with a key are answered 503 meanwhile (--quota-store-required)'
        : 'each server goes on with its own counts and the last ones of the others'
      log(`quotas: Redis ${redis.name} ${this.#fault}: ${meanwhile}`, 'warning')
    } else log(`quotas: Redis ${redis.name} answers again; all calls made meanwhile count`)
    this.#awaySince = isAway ? clock() : null
    counters.isClosed = isRequired && isAway
  }
}
