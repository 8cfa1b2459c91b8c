/**
 * The function of leases once more, in plain JavaScript over one object, for tests: written from the comment
 * of `src/access/leases/function.ts`, not from its Lua.
 */
import { HEAD_ARGUMENTS, KEY_ARGUMENTS, type SyncReply } from '../../../src/access/leases/function.ts'

interface Amounts {
  g: number
  b: number
  s: number
  u: number
}

interface KeyHour {
  /** By replica. */
  of: Map<string, Amounts>
  /** What replicas had used that Redis has forgotten. */
  lost: number
  floor: number
  base: number
  /** Generation in which `floor` and `base` were learnt, and who has said something in it. */
  learning: string
  told: Set<string>
}

interface Generation {
  id: string
  since: number
  expected: number
  told: Set<string>
}

interface Data {
  generations: Map<string, Generation>
  members: Map<string, Map<string, number>>
  recalls: Map<string, Map<string, number>>
  keys: Map<string, KeyHour>
}

const NOTHING = (): Data => ({
  generations: new Map(),
  members: new Map(),
  recalls: new Map(),
  keys: new Map(),
})

function sumUsed({ of, lost }: KeyHour): number {
  return [...of.values()].reduce((sum, { u }) => sum + u, lost)
}

function learn(key: KeyHour, generation: string, replica: string, usedBefore: number, total: number): void {
  if (key.learning !== generation) {
    key.floor = 0
    key.base = usedBefore
    key.learning = generation
    key.told.clear()
  }
  if (!key.told.has(replica)) {
    key.told.add(replica)
    key.base += sumUsed(key) - usedBefore
    key.floor = Math.max(key.floor, total)
  }
}

export class ModelRedis {
  data = NOTHING()
  /** Milliseconds. */
  now = 1_000_000
  /** Calls leased since the beginning. */
  leased = 0
  readonly publish: (tag: string) => void
  #generations = 0

  constructor(publish: (tag: string) => void) {
    this.publish = publish
  }

  empty(): void {
    this.data = NOTHING()
  }

  copy(): Data {
    return structuredClone(this.data)
  }

  amounts(name: string, replica: string): Amounts {
    return this.data.keys.get(name)?.of.get(replica) ?? { g: 0, b: 0, s: 0, u: 0 }
  }

  /** Calls leased and not given back. */
  out(name: string): number {
    let sum = 0
    for (const { g, b } of this.data.keys.get(name)?.of.values() ?? []) sum += g - b
    return sum
  }

  pool(name: string, quota: number): number {
    const key = this.data.keys.get(name)
    if (key === undefined) return quota
    let pool = quota - key.lost
    for (const { g, b, s } of key.of.values()) pool -= g - b + s
    return pool
  }

  call(keys: readonly string[], args: readonly string[]): SyncReply {
    const [generationName, membersName, recallsName] = keys
    const [replica, seen, leaves] = args
    const [expected, telling, shortest, longest, alive, recallsSeen] = args.slice(3, 9).map(Number)
    const { data, now } = this
    const begin = (): Generation => {
      const begun = {
        id: `generation ${++this.#generations}`,
        since: now,
        expected: 0,
        told: new Set<string>(),
      }
      data.generations.set(generationName, begun)
      return begun
    }
    let generation = data.generations.get(generationName) ?? begin()
    let learns = now < generation.since + longest
    if (learns && seen === generation.id) {
      if (telling > 0) generation.since = Math.max(generation.since, now - longest + shortest)
      else if (expected > 0) generation.told.add(replica)
      generation.expected = Math.max(generation.expected, expected)
      const { expected: most, told } = generation
      if (most > 0 && told.size >= most && telling === 0 && now >= generation.since + shortest) {
        generation.since = now - longest
        learns = false
      }
    }
    const items: string[][] = []
    for (let at = HEAD_ARGUMENTS; at < args.length; at += KEY_ARGUMENTS)
      items.push(args.slice(at, at + KEY_ARGUMENTS))
    const forgot = items.some((item, i) => Number(item[2]) > this.amounts(keys[3 + i], replica).g)
    const usedBefore: number[] = []
    items.forEach((item, i) => {
      const key = data.keys.get(keys[3 + i]) ?? {
        of: new Map<string, Amounts>(),
        lost: 0,
        floor: 0,
        base: 0,
        learning: '',
        told: new Set<string>(),
      }
      data.keys.set(keys[3 + i], key)
      usedBefore.push(sumUsed(key))
      const own = key.of.get(replica) ?? { g: 0, b: 0, s: 0, u: 0 }
      key.of.set(replica, {
        g: Math.max(own.g, Number(item[2])),
        b: Math.max(own.b, Number(item[3])),
        s: Math.max(own.s, Number(item[4])),
        u: Math.max(own.u, Number(item[5])),
      })
    })
    if (forgot && !learns && seen === generation.id) {
      generation = begin()
      learns = true
    }
    const members = data.members.get(membersName) ?? new Map<string, number>()
    data.members.set(membersName, members)
    if (leaves === '1') members.delete(replica)
    else members.set(replica, now)
    const live = [...members].filter(([, at]) => at >= now - alive && at <= now + 1000).map(([name]) => name)
    const answer = items.flatMap((item, i) => {
      const key = data.keys.get(keys[3 + i])!
      if (learns) learn(key, generation.id, replica, usedBefore[i], Number(item[8]))
      return this.#lease(keys[3 + i], item, { replica, live, learns, recallsName })
    })
    const recalls = [...(data.recalls.get(recallsName) ?? [])]
      .filter(([, at]) => at > recallsSeen)
      .map(([tag]) => tag)
    return [generation.id, learns ? generation.since + longest - now : 0, now, live.length, recalls, answer]
  }

  #lease(
    name: string,
    [tag, quota, known, , , , want, need]: string[],
    {
      replica,
      live,
      learns,
      recallsName,
    }: { replica: string; live: string[]; learns: boolean; recallsName: string },
  ): number[] {
    const key = this.data.keys.get(name)!
    const own = key.of.get(replica)!
    if (!learns && key.floor > 0) {
      key.lost += Math.max(0, key.floor - key.base)
      key.floor = 0
    }
    const before = this.pool(name, Number(quota))
    const unheard = own.g - Number(known)
    const ahead = Math.floor(before / (2 * Math.max(1, live.length)))
    const wanted = Math.min(Number(want) - unheard, before, Math.max(Number(need) - unheard, ahead))
    const give = learns ? 0 : Math.max(0, wanted)
    own.g += give
    this.leased += give
    const pool = before - give
    let out = -1
    if (!learns && pool <= 0 && Number(need) - unheard > give) {
      out = 0
      for (const other of live) {
        if (other === replica) continue
        const { g, b, s, u } = this.amounts(name, other)
        out += Math.max(0, g - b + s - u)
      }
      if (out > 0) {
        const recalls = this.data.recalls.get(recallsName) ?? new Map<string, number>()
        this.data.recalls.set(recallsName, recalls.set(tag, this.now))
        this.publish(tag)
      }
    }
    return [own.g, pool, out, sumUsed(key)]
  }
}
