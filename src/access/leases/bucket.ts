/** The leases of one hash tag: which call to Redis comes next, and what is known of that part of Redis. */
import { bucketName, type SyncReply } from './function.ts'
import type { Lease } from './lease.ts'

/** Keys of one call: it keeps Redis busy for some 40 µs each. */
const KEYS_PER_CALL = 32
/** While Redis leases nothing, more keys at once delay nobody. */
const KEYS_PER_TELLING = 100
/**
 * A part of Redis is asked at least so often whether it is whole, and for recalls: where something is held,
 * and where nothing is. The latter keeps this replica among the live ones, and the part ready to lease at
 * once.
 */
const POLL_MS = 400
const IDLE_POLL_MS = 1500
/** A part that did not answer is tried again. */
const PROBE_MS = 100
/** A replica that was not heard for so long counts as gone. */
const ALIVE_MS = 2000
/**
 * Redis leases nothing for so long after it lost data: at least, and at most, where a replica does not come
 * back.
 */
const LEARNING_SHORTEST_MS = 600
const LEARNING_LONGEST_MS = 2500

export interface SyncOptions {
  /** Begins every name in Redis. */
  readonly prefix: string
  /** Of this start of this replica alone: a name that comes again would spend twice what it was leased. */
  readonly replica: string
}

/** One call of the function in `function.ts`. */
export interface LeaseCall {
  readonly bucket: number
  readonly keys: readonly string[]
  readonly args: readonly string[]
  readonly items: readonly Lease[]
  /** What each item says: used, returned, self. */
  readonly told: readonly (readonly [number, number, number])[]
  readonly isLast: boolean
}

/** The channel on which replicas call leases back: `HOUR:ID` of a key. */
export function recallChannel(prefix: string): string {
  return `${prefix}:recall`
}

export class Bucket {
  readonly index: number
  /** By `HOUR:ID`. */
  readonly leases = new Map<string, Lease>()
  /** To be asked for or reported, in this order of importance: given back to others, waited for, usual. */
  readonly recalled = new Set<Lease>()
  readonly urgent = new Set<Lease>()
  readonly due = new Set<Lease>()
  isAway = false
  hasAnswered = false
  isLeaving = false
  hasLeft = false
  /** Until when Redis leases nothing, in ms. */
  learnsUntil = -Infinity
  /** Replicas that are alive, as last heard. */
  members = 0
  readonly #names: readonly string[]
  readonly #options: SyncOptions
  /** What Redis has to hear again, since it has lost data. */
  readonly #untold = new Set<Lease>()
  #generation = ''
  /** Replicas that were alive when Redis lost its data. */
  #membersBefore = 0
  #recallsSeen = 0
  #isBusy = false
  #calledAt = -Infinity
  #askAt = -Infinity

  constructor(index: number, options: SyncOptions) {
    this.index = index
    this.#options = options
    const name = bucketName(options.prefix, index)
    this.#names = [`${name}:generation`, `${name}:members`, `${name}:recalls`]
  }

  /** Whether a call is under way. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  askSoon(): void {
    this.#askAt = -Infinity
    this.#calledAt = -Infinity
  }

  /** The call that is due now, or null. `stretch`: how much longer ahead than usual keys are leased. */
  next(now: number, stretch: number): LeaseCall | null {
    if (this.#isBusy || (this.isAway && now < this.#askAt)) return null
    if (this.isLeaving && !this.hasAnswered) this.hasLeft = true
    if (this.hasLeft) return null
    const isPollDue = now - this.#calledAt >= (this.leases.size > 0 || this.isAway ? POLL_MS : IDLE_POLL_MS)
    const items = this.#collect(now)
    if (items.length === 0 && !isPollDue && !this.isLeaving) return null
    this.#isBusy = true
    this.#calledAt = now
    return this.#callOf(items, now, stretch)
  }

  /** @returns whether Redis has lost data since the call before */
  answered(call: LeaseCall, reply: SyncReply, now: number): boolean {
    const [generation, learningMs, redisNow, members] = reply
    const wasLearning = this.learnsUntil > now
    this.#isBusy = false
    this.isAway = false
    this.hasAnswered = true
    if (call.isLast) this.hasLeft = true
    call.items.forEach((lease, i) => {
      const [used, returned, self] = call.told[i]
      lease.toldUsed = used
      lease.toldReturned = returned
      lease.toldSelf = self
      lease.toldAt = now
    })
    const hasLost = this.#generation !== '' && generation !== this.#generation
    if (generation !== this.#generation) {
      if (hasLost) {
        this.#membersBefore = wasLearning ? Math.max(this.#membersBefore, this.members) : this.members
        const told = new Set(call.items)
        for (const lease of this.leases.values()) {
          if (lease.known + lease.self > 0 && !told.has(lease)) this.#untold.add(lease)
        }
      }
      this.#generation = generation
    }
    this.members = members
    this.#recallsSeen = redisNow
    this.learnsUntil = learningMs > 0 ? now + learningMs : -Infinity
    return hasLost
  }

  failed(call: LeaseCall, now: number): void {
    this.#isBusy = false
    this.isAway = true
    this.#askAt = now + PROBE_MS
    for (const lease of call.items) this.due.add(lease)
  }

  remove(lease: Lease): void {
    this.leases.delete(lease.tag)
    for (const set of [this.recalled, this.urgent, this.due, this.#untold]) set.delete(lease)
  }

  #collect(now: number): Lease[] {
    const items = new Set<Lease>()
    const most = this.#untold.size > 0 ? KEYS_PER_TELLING : KEYS_PER_CALL
    for (const set of [this.recalled, this.urgent, this.#untold, this.due]) {
      for (const lease of set) {
        if (items.size === most) return [...items]
        if (set === this.urgent && lease.askAt > now) continue
        items.add(lease)
      }
    }
    return [...items]
  }

  #callOf(items: readonly Lease[], now: number, stretch: number): LeaseCall {
    const { prefix, replica } = this.#options
    const name = bucketName(prefix, this.index)
    const keyArgs = items.flatMap((lease) => {
      const left = lease.isOver || lease.isExhausted ? 0 : lease.left
      const need = lease.isOver ? 0 : Math.max(0, lease.waiting - left)
      const isAsking = !lease.isOver && !lease.isExhausted && !this.recalled.has(lease)
      const want = isAsking ? Math.max(0, lease.target(stretch) + lease.waiting - left) : need
      const { tag, quota, known, returned, self, used, total } = lease
      return [tag, quota, known, returned, self, used, want, need, total]
    })
    const told = items.map(({ used, returned, self }) => [used, returned, self] as const)
    for (const lease of items) {
      for (const set of [this.recalled, this.urgent, this.due, this.#untold]) set.delete(lease)
    }
    const isLast = this.isLeaving && this.recalled.size + this.due.size + this.#untold.size === 0
    const head = [
      replica,
      this.#generation,
      isLast ? 1 : 0,
      this.learnsUntil > now ? this.#membersBefore : 0,
      this.#untold.size,
      LEARNING_SHORTEST_MS,
      LEARNING_LONGEST_MS,
      ALIVE_MS,
      this.#recallsSeen,
      recallChannel(prefix),
    ]
    return {
      bucket: this.index,
      keys: [...this.#names, ...items.map((lease) => `${name}:${lease.tag}`)],
      args: [...head, ...keyArgs].map(String),
      items,
      told,
      isLast,
    }
  }
}
