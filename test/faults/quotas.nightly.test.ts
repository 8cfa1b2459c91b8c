/** Real servers that share quotas through a real Redis, how exactly they admit them, and what each fault does. */
import assert from 'node:assert/strict'
import { describe, it, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEMANDS, QuotaFleet, type Outcome, type Run } from './quota_fleet.ts'
import { freePort, noRedis, startRedis, type RedisServer } from '../access/redis/server.ts'
import { runCliWell, temporaryFolder } from '../live.ts'
import { until } from '../until.ts'

const SKIP = { skip: noRedis() }
const SERVERS = 3
const QUOTA = 300
/** Requests a second: what they may admit in 100 ms beyond the quota is a tenth of it. */
const RATE = 200
const SECONDS = 3
const RUN: Omit<Run, 'demand'> = { quota: QUOTA, requests: RATE * SECONDS, seconds: SECONDS }
/** On a busy machine an exchange takes longer than its interval. */
const MOST_BEYOND = RATE

async function fleetOf(
  t: TestContext,
  count: number,
  keys: number,
  args: readonly string[],
): Promise<QuotaFleet> {
  const folder = temporaryFolder(t)
  const snapshots = `${folder}/snapshots`
  await runCliWell(['build', '--source', 'csv:data/fixtures/small', '--out', snapshots])
  const fleet = new QuotaFleet(
    folder,
    snapshots,
    Array.from({ length: keys }, () => QUOTA),
  )
  t.after(() => fleet.close())
  await fleet.start(count, args)
  return fleet
}

const isShared = async (fleet: QuotaFleet): Promise<boolean> =>
  (await fleet.statuses()).every(({ state }) => state === 'shared')

function report(t: TestContext, name: string, { admitted, refused, failed, unavailable }: Outcome): void {
  t.diagnostic(`${name}: ${admitted} admitted of ${QUOTA}, ${refused} refused`)
  assert.deepEqual([failed, unavailable], [0, 0])
  assert.ok(admitted >= QUOTA, `${admitted} admitted`)
  assert.ok(admitted <= QUOTA + MOST_BEYOND, `${admitted} admitted`)
}

test('Three servers of two threads admit a quota, however calls are spread over them.', SKIP, async (t) => {
  const redis = await startRedis(t)
  const fleet = await fleetOf(t, SERVERS, 3, [`--quota-store=${redis.address}`])
  for (const [name, demand] of Object.entries(DEMANDS)) {
    report(t, name, await fleet.run({ ...RUN, demand }))
  }
})

/** What happens at a third of a run, and at two thirds. */
const FAULTS: {
  readonly [name: string]: (redis: RedisServer) => readonly [() => unknown, () => unknown]
} = {
  'killed, and started again empty': (redis) => [() => redis.stop(), () => redis.start()],
  emptied: (redis) => [() => redis.command('FLUSHALL'), () => {}],
  'slow by a second': (redis) => [() => void redis.command('DEBUG', 'SLEEP', '1').catch(() => {}), () => {}],
  'read-only': (redis) => [
    () => redis.command('REPLICAOF', '127.0.0.1', '1'),
    () => redis.command('REPLICAOF', 'NO', 'ONE'),
  ],
  'out of memory': (redis) => [
    () => redis.command('CONFIG', 'SET', 'maxmemory', '1'),
    () => redis.command('CONFIG', 'SET', 'maxmemory', '0'),
  ],
  'used by another program': (redis) => {
    const hash = `groundswell:{quota}:${Math.floor(Date.now() / 3_600_000)}`
    return [
      async () => {
        await redis.command('DEL', hash)
        await redis.command('SET', hash, 'theirs')
      },
      () => redis.command('DEL', hash),
    ]
  },
}

describe('Redis under three servers that are asked for twice a quota', SKIP, () => {
  for (const [name, fault] of Object.entries(FAULTS)) {
    it(`${name}: a quota that is used up stays so, and another is counted on.`, async (t) => {
      const redis = await startRedis(t)
      const fleet = await fleetOf(t, SERVERS, 3, [`--quota-store=${redis.address}`])
      const usedUp = await fleet.newKey(QUOTA)
      report(t, 'before', await fleet.run({ ...RUN, demand: DEMANDS.even, key: usedUp }))
      const [begin, end] = fault(redis)
      const during = await fleet.run({
        ...RUN,
        demand: DEMANDS.even,
        events: [
          { at: 0.2, happen: begin },
          { at: 0.8, happen: end },
        ],
      })
      t.diagnostic(`during: ${during.admitted} admitted of ${QUOTA}`)
      assert.deepEqual([during.failed, during.unavailable], [0, 0])
      assert.ok(during.admitted >= QUOTA, `${during.admitted} admitted`)
      await until(() => isShared(fleet), 'shared again')
      const after = await fleet.run({ ...RUN, demand: DEMANDS.even, key: usedUp })
      assert.equal(after.admitted, 0)
      report(t, 'after', await fleet.run({ ...RUN, demand: DEMANDS.skewed }))
      for (const server of fleet.servers) {
        const said = server
          .output()
          .split('\n')
          .filter((line) => line.includes('quotas:'))
        assert.ok(said.length <= 4, said.join('\n'))
        assert.doesNotMatch(server.output(), /^fault/m)
      }
    })
  }
})

test(
  'Without Redis, servers count alone, or answer 503 where it is required; it may come later.',
  SKIP,
  async (t) => {
    const port = await freePort()
    const store = `--quota-store=redis://127.0.0.1:${port}/0`
    const fleet = await fleetOf(t, 1, 3, [store, '--quota-store-required'])
    await until(async () => !(await isShared(fleet)))
    const closed = await fleet.run({ ...RUN, demand: DEMANDS.even })
    assert.deepEqual([closed.unavailable, closed.failed], [RUN.requests, 0])
    assert.match(fleet.servers[0].output(), /quotas: .*ECONNREFUSED.*answered 503/)
    await fleet.stop(fleet.servers[0])
    fleet.servers.length = 0
    await fleet.start(1, [store])
    const alone = await fleet.run({ ...RUN, demand: DEMANDS.even })
    assert.deepEqual([alone.admitted, alone.failed], [QUOTA, 0])
    await startRedis(t, { port })
    await until(() => isShared(fleet))
    report(t, 'later', await fleet.run({ ...RUN, demand: DEMANDS.even }))
  },
)

test('A server that restarts goes on with what was used, and so do the others.', SKIP, async (t) => {
  const redis = await startRedis(t)
  const store = `--quota-store=${redis.address}`
  const fleet = await fleetOf(t, 2, 1, [store])
  const key = await fleet.newKey(QUOTA)
  const first = await fleet.run({ ...RUN, requests: QUOTA / 2, demand: DEMANDS.even, key })
  assert.equal(first.admitted, QUOTA / 2)
  for (const server of fleet.servers) await fleet.stop(server)
  fleet.servers.length = 0
  await fleet.start(2, [store])
  await sleep(100)
  const second = await fleet.run({ ...RUN, demand: DEMANDS.even, key })
  t.diagnostic(`${first.admitted + second.admitted} of ${QUOTA}`)
  assert.ok(first.admitted + second.admitted >= QUOTA)
  assert.ok(first.admitted + second.admitted <= QUOTA + MOST_BEYOND)
})
