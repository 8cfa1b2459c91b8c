/** Keys file, ring, slots, counters and usage file together, against a plain model, events in any order. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { rotated, withQuota } from '../../src/access/key-records.ts'
import { changeKeys, issueKey, loadKeys, revokeKey } from '../../src/access/keys-file.ts'
import { KeyRing } from '../../src/access/key-ring.ts'
import { keepUsage, KeySlots, readUsage, usagePath } from '../../src/access/usage-file.ts'
import { QuotaCounters } from '../../src/access/quota.ts'
import { folderOfFile } from '../live.ts'
import { rounds } from '../rounds.ts'

const NOON = Date.UTC(2026, 2, 27, 12) / 1000
const HOUR = 3600
const OWNERS = ['a', 'b', 'c'] as const
/** No more than owners, so that a key that is issued gets the slot of one that was revoked. */
const SLOTS = OWNERS.length
const THREADS = 2

const folder = folderOfFile()

/** A server's part in it, without sockets: what is gone when its process ends. */
class Process {
  readonly #path: string
  readonly #slots: KeySlots
  readonly #main: QuotaCounters
  readonly #threads: { counters: QuotaCounters; ring: KeyRing }[]
  readonly #keeper: ReturnType<typeof keepUsage>

  constructor(path: string, clock: () => number) {
    const memory = QuotaCounters.allocate(SLOTS)
    this.#path = path
    this.#main = new QuotaCounters(memory)
    this.#slots = new KeySlots(this.#main)
    this.#threads = Array.from({ length: THREADS }, () => ({
      counters: new QuotaCounters(memory),
      ring: new KeyRing(KeyRing.build([])),
    }))
    this.follow()
    const { counts, warning } = readUsage(usagePath(path), clock())
    assert.equal(warning, null)
    this.#slots.restore(counts, clock())
    const never = 2 ** 31 - 1
    this.#keeper = keepUsage(
      usagePath(path),
      this.#slots,
      clock,
      (error) => {
        throw error
      },
      never,
    )
  }

  /** Takes over what the keys file says now. */
  follow(): void {
    const ring = KeyRing.build(this.#slots.assign(loadKeys(this.#path)))
    for (const thread of this.#threads) thread.ring = new KeyRing(ring)
  }

  /** Calls left, -1 for a refusal; null for a key that is not known. */
  call(thread: number, key: string, now: number): { limit: number; left: number } | null {
    const { counters, ring } = this.#threads[thread]
    const row = ring.find(key)
    if (row === -1) return null
    return { limit: ring.quota(row), left: counters.take(ring.slot(row), ring.quota(row), now) }
  }

  prepare(now: number): void {
    this.#main.prepare(now)
  }

  flush(): void {
    this.#keeper.flush()
  }

  stop(): void {
    this.#keeper.close()
  }
}

/** What a key has used of an hour. */
interface Used {
  count: number
  /**
   * The clock has been so far away that the hour may have been forgotten, in whole: the count is this or
   * less.
   */
  isBound: boolean
  /** All calls that went through, and those of them that a crash or a clock set far away gave back. */
  successes: number
  givenBack: number
  /** Highest quota in force at one of the calls, and the last one. */
  highestQuota: number
  lastQuota: number
  /** What was left at the last call; Infinity after a change of quota, or when calls were given back. */
  lastLeft: number
}

interface ModelKey {
  id: string
  quota: number
}

/** The keys of an owner, as the file has them, and what servers know. */
class Model {
  readonly file = new Map<string, ModelKey & { key: string }>()
  inForce = new Map<string, ModelKey>()
  readonly used = new Map<string, Map<number, Used>>()
  flushed: { hour: number; counts: Map<string, number> } = { hour: -1, counts: new Map() }

  follow(): void {
    this.inForce = new Map([...this.file.values()].map(({ key, id, quota }) => [key, { id, quota }]))
  }

  of(id: string, hour: number): Used {
    const hours = this.used.get(id) ?? new Map<number, Used>()
    this.used.set(id, hours)
    const used = hours.get(hour) ?? {
      count: 0,
      isBound: false,
      successes: 0,
      givenBack: 0,
      highestQuota: 0,
      lastQuota: 0,
      lastLeft: Infinity,
    }
    hours.set(hour, used)
    return used
  }

  all(): { id: string; hour: number; used: Used }[] {
    return [...this.used].flatMap(([id, hours]) => [...hours].map(([hour, used]) => ({ id, hour, used })))
  }

  /** Two hours behind and three ahead are kept, for sure; the hour to come is got ready. */
  shows(hour: number): void {
    for (const { hour: other, used } of this.all()) {
      if (other < hour - 2 || other > hour + 3) used.isBound = used.count > 0
    }
  }

  /** What is learnt about a count that was not certain; a smaller one was given back. */
  learn(used: Used, count: number): void {
    if (used.isBound) {
      assert.ok(count <= used.count, `${count} calls counted where ${used.count} were made`)
      this.#setBack(used, count)
      used.isBound = false
    }
    assert.equal(count, used.count, 'the count is that of the model')
  }

  /** A process begins with what the file holds of its hour. */
  restart(hour: number): void {
    for (const { id, hour: other, used } of this.all()) {
      const kept = other === hour && this.flushed.hour === hour ? (this.flushed.counts.get(id) ?? 0) : 0
      assert.ok(kept <= used.successes, 'a restart takes nothing away')
      this.#setBack(used, kept)
      used.isBound = false
    }
  }

  #setBack(used: Used, count: number): void {
    if (count === used.count) return
    used.givenBack = used.successes - count
    used.count = count
    used.lastLeft = Infinity
  }
}

type Event =
  | { kind: 'call'; owner: number; thread: number; times: number; old: boolean }
  | { kind: 'clock'; seconds: number }
  | { kind: 'issue' | 'set-quota'; owner: number; quota: number }
  | { kind: 'rotate' | 'revoke'; owner: number }
  | { kind: 'follow' | 'prepare' | 'flush' }
  | { kind: 'restart'; crash: boolean; seconds: number }

const owner = fc.nat(OWNERS.length - 1)
const quota = fc.integer({ min: 1, max: 8 })
/** Within the hour, over its turn by a little, by whole hours either way, and far away. */
const seconds = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 1800 }) },
  { weight: 2, arbitrary: fc.integer({ min: -90, max: 90 }) },
  { weight: 6, arbitrary: fc.integer({ min: -2, max: 2 }).map((hours) => hours * HOUR) },
  { weight: 1, arbitrary: fc.integer({ min: -30, max: 30 }).map((hours) => hours * HOUR) },
  { weight: 1, arbitrary: fc.constantFrom(-8760, 8760).map((hours) => hours * HOUR) },
)

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      owner,
      thread: fc.nat(THREADS - 1),
      times: fc.integer({ min: 1, max: 10 }),
      old: fc.oneof(
        { weight: 5, arbitrary: fc.constant(false) },
        { weight: 1, arbitrary: fc.constant(true) },
      ),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('clock' as const), seconds }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('issue' as const, 'set-quota' as const), owner, quota }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('rotate' as const, 'revoke' as const), owner }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('follow' as const, 'prepare' as const, 'flush' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('restart' as const), crash: fc.boolean(), seconds }),
  },
)

/** How often each thing happened over all runs: a property that never met its subject would hold as well. */
const met = { successes: 0, refusals: 0, unknown: 0, exhausted: 0, returns: 0, givenBack: 0, forgotten: 0 }

let runs = 0
function run(events: readonly Event[]): void {
  const path = join(folder, `${runs++}.json`)
  let now = NOON + 1234
  const clock = (): number => now
  const hour = (): number => Math.floor(now / HOUR)
  const model = new Model()
  const retired: string[] = []
  let process = new Process(path, clock)

  const flush = (): void => {
    process.flush()
    const { counts, warning } = readUsage(usagePath(path), now)
    assert.equal(warning, null)
    const live = new Set([...model.inForce.values()].map(({ id }) => id))
    for (const id of counts.keys()) assert.ok(live.has(id), 'only keys in force have a count')
    for (const id of live) model.learn(model.of(id, hour()), counts.get(id) ?? 0)
    model.flushed = { hour: hour(), counts: new Map(counts) }
  }

  const call = (thread: number, key: string): void => {
    const known = model.inForce.get(key)
    const outcome = process.call(thread, key, now)
    assert.equal(outcome === null, known === undefined, 'a key is known exactly while it is in force')
    if (outcome === null || known === undefined) {
      met.unknown++
      return
    }
    assert.equal(outcome.limit, known.quota)
    assert.ok(outcome.left >= -1 && outcome.left < outcome.limit, `${outcome.left} left of ${outcome.limit}`)
    const used = model.of(known.id, hour())
    used.highestQuota = Math.max(used.highestQuota, known.quota)
    if (known.quota !== used.lastQuota) used.lastLeft = Infinity
    used.lastQuota = known.quota
    if (outcome.left === -1) {
      met.refusals++
      // Whether it is certain or the most that it can be: nobody is refused before the quota is used up.
      assert.ok(used.count >= known.quota, `refused after ${used.count} of ${known.quota}`)
      return
    }
    met.successes++
    model.learn(used, outcome.limit - outcome.left - 1)
    assert.ok(used.count < known.quota, `let through after ${used.count} of ${known.quota}`)
    used.count++
    used.successes++
    assert.ok(
      used.successes - used.givenBack <= used.highestQuota,
      `${used.successes} successes, ${used.givenBack} given back, quota ${used.highestQuota}`,
    )
    assert.ok(outcome.left < used.lastLeft, 'what is left never rises within an hour')
    used.lastLeft = outcome.left
    if (outcome.left === 0) met.exhausted++
  }

  const begin: Event[] = OWNERS.map((_, i) => ({ kind: 'issue', owner: i, quota: 3 + i }))
  for (const one of [...begin, { kind: 'follow' as const }, ...events]) {
    switch (one.kind) {
      case 'call': {
        const current = model.file.get(OWNERS[one.owner])?.key
        const key = one.old ? retired.at(-1 - one.owner) : current
        if (key === undefined) break
        for (let i = 0; i < one.times; i++) call((one.thread + i) % THREADS, key)
        break
      }
      case 'clock': {
        const before = hour()
        now += one.seconds
        if (hour() < before && model.all().some((entry) => entry.hour === hour() && entry.used.count > 0)) {
          met.returns++
        }
        break
      }
      case 'issue': {
        const name = OWNERS[one.owner]
        if (model.file.has(name)) break
        const { record, key } = issueKey(path, { owner: name, quota: one.quota, now })
        model.file.set(name, { id: record.id, quota: one.quota, key })
        break
      }
      case 'set-quota':
      case 'rotate':
      case 'revoke': {
        const name = OWNERS[one.owner]
        const known = model.file.get(name)
        if (known === undefined) break
        if (one.kind === 'set-quota')
          known.quota = changeKeys(path, (records) => withQuota(records, known.id, one.quota)).quota
        else retired.push(known.key)
        if (one.kind === 'rotate')
          known.key = changeKeys(path, (records) => rotated(records, known.id, now)).key
        if (one.kind === 'revoke') {
          revokeKey(path, known.id)
          model.file.delete(name)
        }
        break
      }
      case 'follow':
        process.follow()
        model.follow()
        break
      case 'prepare':
        process.prepare(now)
        break
      case 'flush':
        flush()
        break
      case 'restart':
        if (one.crash) {
          const lost = model.all().some(({ hour: at, used }) => at === hour() && used.count > 0)
          if (lost) met.givenBack++
        } else {
          flush()
          process.stop()
        }
        now += one.seconds
        model.restart(hour())
        process = new Process(path, clock)
        model.follow()
        break
    }
    if (model.all().some(({ used }) => used.isBound)) met.forgotten++
    model.shows(hour())
  }
  process.stop()
  const texts = [...retired, ...[...model.file.values()].map(({ key }) => key)]
  const written = readFileSync(usagePath(path), 'utf8') + JSON.stringify(loadKeys(path))
  for (const key of texts) assert.ok(!written.includes(key), 'a key is written nowhere')
}

test('Any order of calls, clock steps, restarts, crashes and key changes keeps to a plain model of keys and quotas.', () => {
  fc.assert(fc.property(fc.array(event, { minLength: 20, maxLength: 80 }), run), { numRuns: rounds(60, 300) })
  for (const [what, times] of Object.entries(met)) assert.ok(times >= 10, `${what}: ${times} times`)
})
