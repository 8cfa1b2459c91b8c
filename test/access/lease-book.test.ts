/** Leases over a bad network: what is promised whatever happens, and what is promised while all goes well. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LeaseBook } from '../../src/access/lease-book.ts'
import { ASK, LeaseCounters } from '../../src/access/lease-counters.ts'
import { ModelRedis } from './lease_model.ts'
import { World } from './lease_world.ts'

/** Until a Redis that is new begins to lease. */
const LEARNING_MS = 2700

/** A world whose Redis leases. */
function begun(...options: ConstructorParameters<typeof World>): World {
  const world = new World(...options)
  world.run(LEARNING_MS)
  return world
}

const DEMANDS: { [name: string]: (at: number, replicas: number) => number } = {
  even: (at, replicas) => at % replicas,
  skewed: (at, replicas) => (at % 10 < 9 ? 0 : at % replicas),
  moving: (at, replicas) => Math.floor(at / 500) % replicas,
}

for (const replicas of [4, 16]) {
  for (const [name, demand] of Object.entries(DEMANDS)) {
    test(`A quota over ${replicas} replicas with ${name} traffic is used up exactly, 98 % of it before anybody is refused.`, () => {
      const world = new World(5000, replicas)
      world.run(LEARNING_MS)
      world.run(20_000, (at) => world.ask(demand(at, replicas)))
      assert.equal(world.admitted, 5000)
      assert.equal(world.late, 0)
      assert.ok(Math.max(...world.waits) <= 20, `a request waited ${Math.max(...world.waits)} ms`)
    })
  }
}

test('A replica that dies takes its lease with it, and no more than the quota is ever admitted.', () => {
  const world = begun(5000, 4)
  world.run(8000, (at) => {
    if (at === 2000) world.crash(0)
    world.ask(at)
  })
  const [dead] = world.dead
  const burnt = dead.counters.left(0, Math.floor(world.clock / 3600))
  assert.ok(burnt > 0 && burnt < 200, `${burnt} calls were lost`)
  assert.equal(world.admitted, 5000 - burnt)
})

test('A Redis that loses its data learns from the replicas, and the quota holds.', () => {
  const world = begun(5000, 4)
  world.checkRefusal = () => {}
  world.run(9000, (at) => {
    if (at === 2000) world.redis.empty()
    world.ask(at)
  })
  assert.equal(world.admitted, 5000)
})

test('What a replica that has ended had used is not forgotten with the data of Redis.', () => {
  const world = begun(5000, 4)
  world.checkRefusal = () => {}
  world.run(9000, (at) => {
    if (at === 1500) {
      world.crash(0)
      world.start()
    }
    if (at === 2500) world.redis.empty()
    world.ask(at)
  })
  const [dead] = world.dead
  assert.ok(dead.admitted > 300)
  // Redis had not heard of all that was used in the last tenth of a second, at 1,000 calls a second.
  assert.ok(world.admitted <= 5000 + 150, `${world.admitted} of 5000`)
})

test('A replica that comes late after Redis lost its data is counted once.', () => {
  const world = begun(1000, 2)
  world.run(3000, (at) => at % 5 === 0 && world.ask(at / 5))
  world.redis.empty()
  const late = world.replicas.pop()!
  world.run(3000, (at) => at % 500 === 0 && world.ask(0))
  world.replicas.push(late)
  world.checkRefusal = () => {}
  world.run(8000, (at) => at % 4 === 0 && world.ask(at / 4))
  assert.equal(world.admitted, 1000)
})

test('A clock that is set forward by two hours and back does not give the hour a second quota.', () => {
  const world = begun(1000, 1)
  world.run(2500, (at) => at % 5 === 0 && world.ask(0))
  const before = world.admitted
  world.shiftS = 7200
  world.checkRefusal = () => {}
  world.run(200, (at) => at % 5 === 0 && world.ask(0))
  const later = world.admitted - before
  assert.ok(later > 0)
  world.shiftS = 0
  world.run(8000, (at) => at % 5 === 0 && world.ask(0))
  assert.equal(world.admitted - later, 1000)
})

test('A quota that is raised while the clock is set forward counts in the hour to which it returns.', () => {
  const world = begun(10, 1)
  world.checkRefusal = () => {}
  world.run(200, (at) => at % 10 === 0 && world.ask(0))
  assert.equal(world.admitted, 10)
  world.shiftS = 7200
  world.run(200)
  world.quota = 20
  world.replicas[0].book.setKeys([{ id: 'k_0123456789', slot: 0, quota: 20 }])
  world.shiftS = 0
  world.run(1500)
  world.run(200, (at) => at % 10 === 0 && world.ask(0))
  assert.equal(world.admitted, 20)
})

/** Two replicas, a key of 4 calls that is used up and one of many, by slot. */
class TwoKeys {
  readonly redis = new ModelRedis()
  readonly clock = (): number => Date.parse('2026-03-27T12:10:00Z') / 1000 + this.redis.now / 1000
  readonly quotas = [4, 100_000]
  readonly replicas = [0, 1].map(() => {
    const counters = new LeaseCounters(LeaseCounters.allocate(2))
    const book = new LeaseBook({ counters, replicas: 2, fallback: 'closed', clock: this.clock })
    book.setKeys(this.quotas.map((quota, slot) => ({ id: `k_${slot}`.padEnd(12, '0'), slot, quota })))
    return { counters, book }
  })
  /** Keys told or asked for, of all calls. */
  requests = 0

  ask(i: number, slot: number): number {
    const { counters, book } = this.replicas[i]
    const left = counters.take(slot, this.quotas[slot], this.clock())
    if (left === ASK) book.wanted(slot, Math.floor(this.clock() / 3600), 1, this.redis.now)
    return left
  }

  run(ms: number, each: (at: number) => void = () => {}): void {
    for (let at = 0; at < ms; at++) {
      each(at)
      this.redis.now++
      for (const [i, { book }] of this.replicas.entries()) {
        if (at % 20 === 0) book.look(this.redis.now)
        for (let call = book.next(this.redis.now); call !== null; call = book.next(this.redis.now)) {
          this.requests += call.requests.length
          const reply = this.redis.call(`r${i}`, call)
          if (reply !== null) book.answered(call, reply, this.redis.now)
        }
        book.takeWoken()
      }
    }
  }
}

test('A refused key without traffic is not asked for, and its next request is what asks again.', () => {
  const keys = new TwoKeys()
  keys.run(LEARNING_MS)
  keys.run(2000, (at) => at % 20 === 0 && keys.ask(0, 0))
  keys.run(2000)
  keys.requests = 0
  keys.run(20_000)
  assert.equal(keys.requests, 0)
  // With traffic, once a second or so.
  keys.run(10_000, (at) => at % 20 === 0 && keys.ask(0, 0))
  assert.ok(keys.requests > 5 && keys.requests < 25, `${keys.requests}`)
})

test('A replica that holds nothing of a refused key does not delay the others after a loss of data.', () => {
  const keys = new TwoKeys()
  keys.run(4000)
  keys.run(3000, (at) => {
    if (at % 100 === 0) keys.ask(0, 0)
    if (at % 10 === 0) keys.ask(0, 1)
  })
  const traffic = (at: number): void => {
    if (at % 100 === 0) keys.ask(1, 0)
    if (at % 10 !== 0) return
    keys.ask(0, 1)
    keys.ask(1, 1)
  }
  keys.run(3000, traffic)
  keys.redis.empty()
  keys.run(1000, traffic)
  const { since } = keys.redis.data
  keys.run(11_000, traffic)
  assert.equal(keys.redis.data.since, since)
  assert.ok(keys.replicas.every(({ book }) => book.isReady(keys.redis.now)))
})

test('A replica that leaves in good order gives everything back.', () => {
  const world = begun(5000, 4)
  world.run(8000, (at) => {
    world.ask(at)
    if (at === 2000) world.replicas[0].book.leave(world.now)
    if (at === 2100) {
      assert.ok(world.replicas[0].book.hasLeft)
      world.crash(0)
    }
  })
  assert.equal(world.admitted, 5000)
})

test('While Redis is away a replica admits its share of the quota, and afterwards Redis counts it.', () => {
  const world = begun(1000, 4, 'share')
  world.run(200, (at) => world.ask(at))
  world.isRedisAway = true
  world.run(3000, (at) => world.ask(at))
  assert.ok(world.admitted > 900 && world.admitted <= 1000, `${world.admitted}`)
  world.isRedisAway = false
  world.checkRefusal = () => {}
  world.run(3000, (at) => world.ask(at))
  assert.ok(world.admitted < 1050, `${world.admitted}`)
  assert.equal(world.redis.out(world.tag), world.admitted)
})

test('Without Redis from the beginning replicas admit no more than the quota, or nothing where that is wanted.', () => {
  for (const [fallback, expected] of [
    ['share', 1000],
    ['closed', 0],
  ] as const) {
    const world = new World(1000, 4, fallback)
    world.isRedisAway = true
    world.run(3000, (at) => world.ask(at))
    assert.equal(world.admitted, expected)
  }
})

test('A quota that is changed within the hour counts at once.', () => {
  const world = begun(1000, 2)
  world.run(1500, (at) => world.ask(at))
  assert.equal(world.admitted, 1000)
  world.quota = 1500
  for (const { book } of world.replicas) book.setKeys([{ id: 'k_0123456789', slot: 0, quota: 1500 }])
  world.run(1500, (at) => world.ask(at))
  assert.equal(world.admitted, 1500)
})

/** What can happen, with how often it does where it is not asked for. */
const EVENTS: { [name: string]: [weight: number, happen: (world: World, number: number) => unknown] } = {
  ask: [30, (world, number) => world.ask(number)],
  'ask often': [8, (world, number) => Array.from({ length: 40 }, () => world.ask(number))],
  pass: [20, (world, number) => world.pass((number % 20) + 1)],
  deliver: [25, (world, number) => world.deliver(number)],
  settle: [4, (world) => world.settle()],
  lose: [4, (world, number) => world.lose(number)],
  repeat: [4, (world, number) => world.deliver(number, true)],
  crash: [1, (world, number) => world.replicas.length > 1 && world.crash(number)],
  start: [1, (world) => world.replicas.length < 6 && world.start()],
  empty: [0, (world) => world.redis.empty()],
  save: [0, (world) => world.save()],
  'fail over': [0, (world) => world.failOver()],
  away: [0, (world) => (world.isRedisAway = true)],
  back: [0, (world) => (world.isRedisAway = false)],
}

/** `more` happen as well. */
function happenings(more: string[] = []): fc.Arbitrary<[string, number][]> {
  const usual = Object.entries(EVENTS).map(([name, [weight]]) => ({ weight, arbitrary: fc.constant(name) }))
  const rare = more.map((name) => ({ weight: 1, arbitrary: fc.constant(name) }))
  return fc.array(fc.tuple(fc.oneof(...usual, ...rare), fc.nat(1000)), { minLength: 50, maxLength: 400 })
}

const happen = (world: World, [event, number]: [string, number]): unknown => EVENTS[event][1](world, number)

test('However messages are lost, late and repeated, and replicas die, no more than the quota is admitted.', () => {
  fc.assert(
    fc.property(
      happenings(),
      fc.integer({ min: 1, max: 400 }),
      fc.integer({ min: 1, max: 5 }),
      (events, quota, replicas) => {
        const world = begun(quota, replicas)
        // What an answer that was lost had leased is with nobody until the replica asks again.
        world.checkRefusal = () => {}
        for (const event of events) {
          happen(world, event)
          assert.ok(world.redis.out(world.tag) <= quota, 'Redis has leased more than the quota')
          assert.ok(world.admitted <= quota, `${world.admitted} of ${quota}`)
        }
        // With a good network again, what no dead replica has taken along is found.
        world.settle()
        world.run(2500)
        for (let i = 0; i < quota + 50; i++) world.run(2, () => world.ask(i))
        // What was leased to replicas that were not asked again has come back.
        world.run(2500)
        for (let i = 0; i < quota + 50; i++) world.run(2, () => world.ask(i))
        const gone = world.dead.reduce((sum, { name }) => sum + world.redis.taken(world.tag, name), 0)
        const used = world.replicas.reduce((sum, { admitted }) => sum + admitted, 0)
        assert.equal(used, quota - gone)
      },
    ),
    { numRuns: 60 },
  )
})

test('With Redis emptied at any time, no more is admitted than what dead replicas had used besides.', () => {
  fc.assert(
    fc.property(happenings(['empty']), fc.integer({ min: 10, max: 400 }), (events, quota) => {
      const world = begun(quota, 3)
      world.checkRefusal = () => {}
      for (const event of events) {
        happen(world, event)
        // Each replica reaches Redis before it leases again.
        if (event[0] === 'empty') {
          world.settle()
          world.run(700)
        }
      }
      world.run(3000)
      for (let i = 0; i < quota + 50; i++) world.run(2, () => world.ask(i))
      const ofDead = world.dead.reduce((sum, { admitted }) => sum + admitted, 0)
      assert.ok(world.admitted - ofDead <= quota, `${world.admitted} of ${quota}, ${ofDead} by dead replicas`)
    }),
    { numRuns: 40 },
  )
})

test('After a failover to a copy that lags, no more is admitted besides than was leased in between.', () => {
  fc.assert(
    fc.property(
      happenings(['save', 'save', 'fail over']),
      fc.integer({ min: 10, max: 400 }),
      (events, quota) => {
        const world = begun(quota, 3)
        world.checkRefusal = () => {}
        let lost = 0
        for (const event of events) {
          if (event[0] === 'fail over') lost += world.failOver() ?? 0
          else happen(world, event)
        }
        world.settle()
        world.run(3000)
        for (let i = 0; i < quota + 50; i++) world.run(2, () => world.ask(i))
        assert.ok(world.admitted <= quota + lost, `${world.admitted} of ${quota}, ${lost} leased in the lag`)
      },
    ),
    { numRuns: 40 },
  )
})

test('With Redis away for any times, replicas admit less than twice the quota by their shares.', () => {
  fc.assert(
    fc.property(happenings(['away', 'back']), fc.integer({ min: 1, max: 400 }), (events, quota) => {
      const world = begun(quota, 4, 'share')
      world.checkRefusal = () => {}
      for (const event of events.filter(([name]) => name !== 'start')) happen(world, event)
      world.isRedisAway = true
      for (let i = 0; i < quota * 2; i++) world.run(2, () => world.ask(i))
      assert.ok(world.admitted <= 2 * quota, `${world.admitted} of ${quota}`)
    }),
    { numRuns: 60 },
  )
})
