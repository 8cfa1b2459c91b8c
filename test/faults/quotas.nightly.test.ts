/** Real servers that share quotas through a real Redis, and what each fault of it does. */
import assert from 'node:assert/strict'
import { createClient } from '@redis/client'
import { test, type TestContext } from 'node:test'
import { DEMANDS, QuotaFleet } from '../../tools/quota_fleet.ts'
import { runCliWell, temporaryFolder } from '../live.ts'
import { freePort, noRedis, startCluster, startRedis } from '../access/redis/server.ts'
import { until } from '../until.ts'

/** Of the keys that a test may use, each once. */
const QUOTAS = [50, 50, 50, 50, 100, 100, 100, 200, 200, 200, 300, 300, 1000, 2000]

/** Clients that wait when they are put off, spread over all servers alike. */
const EVEN = { patient: true, demand: DEMANDS.even }

async function fleetOf(t: TestContext, count: number, args: readonly string[]): Promise<QuotaFleet> {
  const folder = temporaryFolder(t)
  const snapshots = `${folder}/snapshots`
  await runCliWell(['build', '--source', 'csv:data/fixtures/small', '--out', snapshots])
  const fleet = new QuotaFleet(folder, snapshots, QUOTAS)
  t.after(() => fleet.close())
  await fleet.start(count, args)
  return fleet
}

const SKIP = { skip: noRedis() }

test(
  'Two servers admit a quota exactly, through Redis killed and restarted empty, and one gives back as it stops.',
  SKIP,
  async (t) => {
    const redis = await startRedis(t)
    const fleet = await fleetOf(t, 2, [`--quota-store=${redis.address}`, '--quota-replicas=2'])
    const even = await fleet.run({ ...EVEN, quota: 300, requests: 400, seconds: 2 })
    assert.deepEqual([even.admitted, even.failed], [300, 0])
    assert.ok(even.beforeRefusal >= 0.98 * 300, JSON.stringify(even))
    assert.equal(even.refused, 100)

    const killed = await fleet.run({
      quota: 2000,
      requests: 600,
      seconds: 5,
      demand: DEMANDS.skewed,
      events: [
        { at: 0.3, happen: () => redis.stop() },
        { at: 0.6, happen: () => redis.start() },
      ],
    })
    assert.deepEqual([killed.admitted, killed.failed, killed.unavailable], [600, 0, 0])
    const lines = fleet.servers[0].output()
    assert.match(lines, /warning: quotas: Redis \S+ cannot be reached .*1\/2 of its hourly quota/)
    assert.match(lines, /quotas: Redis \S+ leases again after/)

    const moved = await fleet.run({
      quota: 300,
      requests: 400,
      seconds: 3,
      demand: (share, request) => (share < 0.4 ? request % 2 : 1),
      events: [{ at: 0.5, happen: () => fleet.stop(fleet.servers[0]) }],
    })
    // What the one had left comes back as it stops, and may come too late for these requests.
    assert.ok(moved.admitted >= 0.98 * 300 && moved.admitted <= 300, JSON.stringify(moved))
  },
)

test('Servers on a cluster of three nodes admit a quota exactly.', SKIP, async (t) => {
  const nodes = await startCluster(t)
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')
  const fleet = await fleetOf(t, 2, [`--quota-store=redis://${hosts}/0`, '--quota-replicas=2'])
  for (let key = 0; key < 3; key++) {
    const outcome = await fleet.run({ ...EVEN, quota: 200, requests: 260, seconds: 1 })
    assert.deepEqual([outcome.admitted, outcome.failed], [200, 0])
    assert.ok(outcome.beforeRefusal >= 0.98 * 200, JSON.stringify(outcome))
  }
})

test(
  'Without Redis `closed` answers 503 with Retry-After, and `share` admits the share; Redis may come later.',
  SKIP,
  async (t) => {
    const port = await freePort()
    const store = `--quota-store=redis://127.0.0.1:${port}/0`
    const fleet = await fleetOf(t, 1, [store, '--quota-fallback=closed'])
    const closed = await fleet.run({ ...EVEN, quota: 100, requests: 50, seconds: 1 })
    assert.deepEqual([closed.unavailable, closed.admitted, closed.failed], [50, 0, 0])
    assert.match(fleet.servers[0].output(), /beyond what is leased are answered 503/)
    await fleet.stop(fleet.servers[0])
    fleet.servers.length = 0
    await fleet.start(1, [store, '--quota-replicas=4'])
    const share = await fleet.run({ quota: 100, requests: 50, seconds: 1, demand: DEMANDS.even })
    assert.deepEqual([share.admitted, share.putOff], [25, 25])
    await startRedis(t, { port })
    await until(async () => (await fleet.statuses())[0].state === 'leasing')
    const later = await fleet.run({ ...EVEN, quota: 100, requests: 120, seconds: 1 })
    assert.deepEqual([later.admitted, later.refused], [100, 20])
  },
)

test(
  'Each fault of a Redis that answers is said in one line, and no client gets a wrong answer.',
  SKIP,
  async (t) => {
    const redis = await startRedis(t)
    const fleet = await fleetOf(t, 1, [`--quota-store=${redis.address}`, '--quota-replicas=1'])
    const ask = async (): Promise<void> => {
      const outcome = await fleet.run({ ...EVEN, quota: 50, requests: 60, seconds: 1 })
      assert.deepEqual([outcome.failed, outcome.unavailable], [0, 0])
      assert.ok(outcome.admitted === 50, JSON.stringify(outcome))
    }
    const begun = 'groundswell:{quota}:begun'
    const output = (): string => fleet.servers[0].output()
    const meets = async (line: RegExp, begin: () => unknown, end: () => unknown): Promise<void> => {
      const before = output().length
      await begin()
      await ask()
      await until(() => line.test(output().slice(before)), String(line))
      await end()
      await until(async () => (await fleet.statuses())[0].state === 'leasing', `leasing after ${line}`)
      const said = output()
        .slice(before)
        .split('\n')
        .filter((text) => line.test(text))
      assert.equal(said.length, 1, said.join('\n'))
    }
    await meets(
      /warning: quotas: .*out of memory/,
      () => redis.command('CONFIG', 'SET', 'maxmemory', '1'),
      () => redis.command('CONFIG', 'SET', 'maxmemory', '0'),
    )
    await meets(
      /warning: quotas: .*read-only copy/,
      () => redis.command('REPLICAOF', '127.0.0.1', '1'),
      () => redis.command('REPLICAOF', 'NO', 'ONE'),
    )
    await meets(
      /warning: quotas: .*another program/,
      async () => {
        await redis.command('DEL', begun)
        await redis.command('HSET', begun, 'theirs', '1')
      },
      () => redis.command('DEL', begun),
    )
    // Slow by two seconds: what is leased is used, and the rest is put off or shared, never refused for the
    // hour.
    const slow = await fleet.run({
      ...EVEN,
      quota: 1000,
      requests: 400,
      seconds: 5,
      events: [{ at: 0.3, happen: () => redis.command('DEBUG', 'SLEEP', '2').catch(() => {}) }],
    })
    assert.deepEqual([slow.refused, slow.failed, slow.unavailable], [0, 0, 0])
    assert.equal(slow.admitted, 400)
    await until(async () => (await fleet.statuses())[0].state === 'leasing')
    const admin = createClient({ url: redis.address })
    admin.on('error', () => {})
    await admin.connect()
    // A connection that is there stays logged in, this one too.
    await admin.sendCommand(['CONFIG', 'SET', 'requirepass', 'secret'])
    await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal'])
    admin.destroy()
    await ask()
    await until(() => /warning: .*Redis .*(requires a password|refuses the)/.test(output()))
    assert.doesNotMatch(output(), /^fault/m)
  },
)
