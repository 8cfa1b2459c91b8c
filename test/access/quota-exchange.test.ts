/**
 * What replicas know of each other's calls, over counts that lose answers, are emptied or go back in time.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { HOUR_S, hourOf } from '../../src/access/hours.ts'
import type { KeyEntry } from '../../src/access/key-ring.ts'
import { QuotaCounters } from '../../src/access/quota.ts'
import type { SharedCounts } from '../../src/access/redis.ts'
import { QuotaExchange } from '../../src/access/quota-exchange.ts'
import { rounds } from '../rounds.ts'
import { until } from '../until.ts'

const NOON = Date.parse('2026-03-27T12:00:00Z') / 1000
const KEYS = 2
const SLOTS = 4
const ENTRIES: KeyEntry[] = Array.from({ length: KEYS }, (_, slot) => ({
  id: `k_000000000${slot}`,
  hash: '',
  quota: 0,
  slot,
}))

/** What Redis does, in memory. */
class Counts implements SharedCounts {
  readonly name = 'redis://test/0'
  fault: string | null = null
  connections = 1
  hashes = new Map<string, Map<string, number>>()
  /** What comes of the next calls; they go through where there is none. */
  next: ('lost' | 'refused')[] = []
  calls = 0

  connect(): void {}

  async add(hash: string, changes: readonly (readonly [string, number])[]): Promise<number[]> {
    this.calls++
    const outcome = this.next.shift()
    if (outcome === 'refused') throw new Error('READONLY it takes no writes')
    const fields = this.hashes.get(hash) ?? new Map<string, number>()
    this.hashes.set(hash, fields)
    const values = changes.map(([field, by]) => {
      fields.set(field, (fields.get(field) ?? 0) + by)
      return fields.get(field)!
    })
    if (outcome === 'lost') throw new Error('the connection is closed')
    return values
  }

  close(): void {}

  copy(): Counts['hashes'] {
    return new Map([...this.hashes].map(([name, fields]) => [name, new Map(fields)]))
  }
}

class Replica {
  counters = new QuotaCounters(QuotaCounters.allocate(SLOTS))
  quotas: QuotaExchange
  readonly lines: string[] = []
  readonly #redis: Counts
  readonly #clock: () => number
  readonly #isRequired: boolean
  #kill = (): void => {}

  constructor(redis: Counts, clock: () => number = () => NOON, isRequired = false) {
    this.#redis = redis
    this.#clock = clock
    this.#isRequired = isRequired
    this.quotas = this.#begin()
  }

  #begin(): QuotaExchange {
    const quotas = new QuotaExchange({
      redis: this.#connected(),
      counters: this.counters,
      isRequired: this.#isRequired,
      log: (line) => this.lines.push(line),
      clock: this.#clock,
    })
    quotas.setKeys(ENTRIES)
    return quotas
  }

  #connected(): SharedCounts {
    const redis = this.#redis
    let isDead = false
    this.#kill = () => void (isDead = true)
    return {
      name: redis.name,
      get connections() {
        return redis.connections
      },
      get fault() {
        return isDead ? 'is gone' : redis.fault
      },
      connect: () => redis.connect(),
      add: (hash, changes) => redis.add(hash, changes),
      close: () => {},
    }
  }

  known(): number[] {
    return ENTRIES.map(({ slot }) => this.counters.used(slot, this.#clock()))
  }

  /** Begins again with these counts, without another word before. */
  restart(known: readonly number[]): void {
    this.#kill()
    void this.quotas.close()
    this.counters = new QuotaCounters(QuotaCounters.allocate(SLOTS))
    for (const { slot } of ENTRIES) this.counters.raiseElsewhere(slot, known[slot], this.#clock())
    this.quotas = this.#begin()
  }
}

function replicas(t: TestContext | null, redis: Counts, count: number, clock?: () => number): Replica[] {
  const all = Array.from({ length: count }, () => new Replica(redis, clock))
  t?.after(() => all.map(({ quotas }) => quotas.close()))
  return all
}

const REPLICAS = 3
const stepsOf = (...events: string[]): fc.Arbitrary<[string, number, number][]> => {
  const step = (what: string): fc.Arbitrary<[string, number, number]> =>
    fc.tuple(fc.constant(what), fc.nat(REPLICAS - 1), fc.nat(KEYS - 1))
  const often = ['take', 'exchange'].map((what) => ({ weight: 4, arbitrary: step(what) }))
  return fc.array(fc.oneof(...often, ...events.map(step)), { maxLength: 60 })
}

for (const [events, name, isAllKnown] of [
  [['lost', 'refused', 'empty', 'save', 'back'], 'any faults of Redis', true],
  [['lost', 'refused', 'restart', 'crash'], 'restarts and lost answers', true],
  // What a replica had told before its end only those know who used the key.
  [['lost', 'refused', 'empty', 'save', 'back', 'restart', 'crash'], 'all of these', false],
] as const) {
  const known = isAllKnown ? ', and know all of it,' : ''
  test(`Replicas never think that more was used than was${known} after ${name}.`, async () => {
    await fc.assert(
      fc.asyncProperty(stepsOf(...events), async (steps) => {
        const redis = new Counts()
        const all = replicas(null, redis, REPLICAS)
        await settle(all)
        const made = ENTRIES.map(() => 0)
        let saved = redis.copy()
        const failing = (how: 'lost' | 'refused', { quotas }: Replica): Promise<void> => {
          redis.next = [how]
          return quotas.exchange()
        }
        const run: { [what: string]: (replica: Replica, key: number) => unknown } = {
          take: ({ counters }, slot) => {
            if (counters.take(slot, 1000, NOON) >= 0) made[slot]++
          },
          exchange: ({ quotas }) => quotas.exchange(),
          lost: (replica) => failing('lost', replica),
          refused: (replica) => failing('refused', replica),
          empty: () => redis.hashes.clear(),
          save: () => (saved = redis.copy()),
          // Another server takes over, with an older state, or again with a newer one.
          back: () => {
            redis.connections++
            redis.hashes = saved
            saved = redis.copy()
          },
          restart: async (replica) => {
            await settle([replica])
            replica.restart(replica.known())
          },
          // The counts on the disk are gone, too.
          crash: async (replica) => {
            await settle([replica])
            replica.restart(ENTRIES.map(() => 0))
          },
        }
        try {
          for (const [what, i, key] of steps) {
            await run[what](all[i], key)
            for (const replica of all) {
              for (const [slot, known] of replica.known().entries())
                assert.ok(known <= made[slot], `${known} of ${made[slot]} after ${what}`)
            }
          }
          await settle(all)
          for (const replica of all) {
            // Who does not use a key does not ask for it.
            for (const { slot } of ENTRIES) run.take(replica, slot)
            await replica.quotas.exchange()
            if (isAllKnown) assert.deepEqual(replica.known(), made)
            for (const [slot, known] of replica.known().entries()) assert.ok(known <= made[slot])
          }
        } finally {
          for (const { quotas } of all) await quotas.close()
        }
      }),
      { numRuns: rounds(200, 5000), includeErrorInReport: true },
    )
  })
}

/** What Redis lacks is noticed, asked for, and told again. */
async function settle(replicas: readonly Replica[]): Promise<void> {
  for (let round = 0; round < 4; round++) {
    for (const { quotas } of replicas) await quotas.exchange()
  }
}

test('Each call makes the next ones fewer on all replicas, and a used-up key stays so when Redis is emptied.', async (t) => {
  const redis = new Counts()
  const [first, second] = replicas(t, redis, 2)
  await settle([first, second])
  for (let call = 0; call < 30; call++) first.counters.take(0, 50, NOON)
  await first.quotas.exchange()
  second.counters.take(0, 50, NOON)
  await second.quotas.exchange()
  let admitted = 31
  while (second.counters.take(0, 50, NOON) >= 0) admitted++
  assert.equal(admitted, 50)
  redis.hashes.clear()
  await second.quotas.exchange()
  assert.equal(second.counters.take(0, 50, NOON), -1)
  await settle([first, second])
  for (const { lines } of [first, second]) {
    assert.equal(lines.length, 1, lines.join())
    assert.match(
      lines[0],
      /^quotas: Redis redis:\/\/test\/0 lacks calls of this hour that it had: it was emptied/,
    )
  }
})

test('Calls from before a restart count on beside new ones when Redis is emptied again and again.', async (t) => {
  const redis = new Counts()
  const all = replicas(t, redis, 3)
  await settle(all)
  let admitted = 0
  const take = async (replica: Replica): Promise<void> => {
    if (replica.counters.take(0, 400, NOON) >= 0) admitted++
    await replica.quotas.exchange()
  }
  for (let call = 0; call < 160; call++) await take(all[call < 150 ? 0 : call % 3])
  await settle(all)
  all[0].restart(all[0].known())
  for (let call = 0; call < 600; call++) {
    if (call % 100 === 10) redis.hashes.clear()
    await take(all[call % 3])
  }
  // While counts are sent again, a call or two of each replica are not told apart from those.
  assert.ok(admitted >= 400 && admitted < 420, `${admitted} of 400`)
})

test('Calls of the last moment of an hour are told when it is over, and the next hour begins at none.', async (t) => {
  const redis = new Counts()
  let now = NOON - 1
  const [first, second] = replicas(t, redis, 2, () => now)
  await first.quotas.exchange()
  first.counters.take(0, 50, now)
  now = NOON + 1
  first.counters.take(0, 50, now)
  first.counters.take(0, 50, now)
  for (let round = 0; round < 3; round++) await first.quotas.exchange()
  const told = (hour: number): number | undefined =>
    redis.hashes.get(`groundswell:{quota}:${hour}`)?.get(ENTRIES[0].id)
  assert.deepEqual([told(hourOf(NOON) - 1), told(hourOf(NOON))], [1, 2])
  second.counters.take(0, 50, now)
  for (let round = 0; round < 3; round++) await second.quotas.exchange()
  assert.equal(second.counters.used(0, now), 3)
  // A clock that is set back counts on where it was, and tells nothing twice.
  now = NOON - 2 * HOUR_S
  await first.quotas.exchange()
  now = NOON + 1
  for (let round = 0; round < 3; round++) await first.quotas.exchange()
  assert.equal(told(hourOf(NOON)), 3)
})

test('While Redis is away, quotas are closed where it is required, open elsewhere, and each case is said once.', async (t) => {
  const redis = new Counts()
  const [open, closed] = [false, true].map((isRequired) => {
    const replica = new Replica(redis, () => NOON, isRequired)
    t.after(() => replica.quotas.close())
    return replica
  })
  await until(() => redis.calls > 2)
  assert.equal(closed.counters.isClosed, false)
  redis.fault = 'cannot be reached (ECONNREFUSED)'
  await until(() => closed.counters.isClosed && !open.quotas.figures().isUp)
  assert.equal(open.counters.isClosed, false)
  assert.deepEqual(open.lines, [
    'quotas: Redis redis://test/0 cannot be reached (ECONNREFUSED): each server goes on with its own counts and the last ones of the others',
  ])
  assert.match(closed.lines.join('\n'), /answered 503 meanwhile \(--quota-store-required\)$/)
  redis.fault = null
  await until(() => !closed.counters.isClosed && open.quotas.figures().isUp)
  assert.equal(open.lines.length, 2)
  assert.match(open.lines[1], /answers again; all calls made meanwhile count$/)
})
