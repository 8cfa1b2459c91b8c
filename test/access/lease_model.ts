/**
 * The script of leases once more, in plain JavaScript over one object, for tests: written from the comment of
 * `src/access/lease-script.ts`, not from its Lua.
 */
import type { LeaseCall } from '../../src/access/lease-book.ts'
import type { LeaseReply } from '../../src/access/lease-script.ts'

const ALIVE_MS = 2000
const SETTLING_MS = 2500

interface KeyHour {
  /** Calls taken, by replica. */
  of: Map<string, number>
  /** What replicas had taken that Redis has forgotten. */
  lost: number
}

interface Data {
  since: number | null
  members: Map<string, number>
  numbers: Map<string, number>
  /** By `HOUR:ID`. */
  keys: Map<string, KeyHour>
}

const NOTHING = (): Data => ({ since: null, members: new Map(), numbers: new Map(), keys: new Map() })

const sum = (of: ReadonlyMap<string, number>): number => [...of.values()].reduce((a, b) => a + b, 0)

export class ModelRedis {
  data = NOTHING()
  /** Milliseconds. */
  now = 1_000_000
  /** Calls leased since the beginning. */
  leased = 0

  empty(): void {
    this.data = NOTHING()
  }

  copy(): Data {
    return structuredClone(this.data)
  }

  /** Calls that a replica has taken of a key. */
  taken(tag: string, replica: string): number {
    return this.data.keys.get(tag)?.of.get(replica) ?? 0
  }

  /** Calls taken by all. */
  out(tag: string): number {
    return sum(this.data.keys.get(tag)?.of ?? new Map())
  }

  /** Null for a call that is refused, since a later one was there. */
  call(replica: string, { number, seen, requests }: Omit<LeaseCall, 'leases'>): LeaseReply | null {
    const { data, now } = this
    if ((data.numbers.get(replica) ?? 0) >= number) return null
    data.numbers.set(replica, number)
    const isForgotten = requests.some(
      ({ tag, others }) => others >= 0 && data.keys.get(tag)?.of.has(replica) !== true,
    )
    if (data.since === null || (String(data.since) === seen && isForgotten)) {
      data.since = now
      data.members.clear()
    }
    const settlingMs = Math.max(0, data.since + SETTLING_MS - now)
    data.members.set(replica, now)
    for (const [name, at] of data.members) if (at <= now - ALIVE_MS) data.members.delete(name)
    const replicas = data.members.size
    const grants = requests.map(({ tag, quota, held, others, want, need }) => {
      const key = data.keys.get(tag) ?? { of: new Map<string, number>(), lost: 0 }
      data.keys.set(tag, key)
      if (others >= 0 && !key.of.has(replica)) {
        const known = Math.max(sum(key.of) + key.lost, held + others)
        key.lost = Math.max(0, known - sum(key.of) - held)
      }
      key.of.set(replica, held)
      const before = quota - key.lost - sum(key.of)
      const ahead = Math.max(need, Math.floor(before / (2 * replicas)))
      const give = settlingMs > 0 ? 0 : Math.max(0, Math.min(want, before, ahead))
      key.of.set(replica, held + give)
      this.leased += give
      return { give, pool: before - give, others: sum(key.of) - held - give + key.lost }
    })
    return { since: String(data.since), settlingMs, replicas, grants }
  }
}
