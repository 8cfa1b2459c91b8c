/**
 * Real servers that share quotas through a real Redis, how exactly they admit them, and what each fault does.
 */
import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { describe, it, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueKey } from '../../src/access/keys-file.ts'
import { freePort, noRedis, startRedis, type RedisServer } from '../access/redis/server.ts'
import { runCliWell, temporaryFolder } from '../live.ts'
import { startProgram, type Program } from '../started_program.ts'
import { until } from '../until.ts'

const SKIP = { skip: noRedis() }
const SERVERS = 3
const QUOTA = 300
/** Requests a second: what they may admit in 100 ms beyond the quota is a tenth of it. */
const RATE = 200
const SECONDS = 3
/** On a busy machine an exchange takes longer than its interval. */
const MOST_BEYOND = RATE
/** A run must not see two hours. */
const LEAST_REST_S = 120

type Demand = (share: number, request: number, servers: number) => number

const DEMANDS = {
  even: (_share, request, servers) => request % servers,
  /** Nine in ten of one server, two thirds of the rest of another. */
  skewed: (_share, request, servers) => {
    const at = (request * 7919) % 100
    if (at < 90) return 0
    if (at < 96) return 1 % servers
    return at < 99 ? 2 % servers : request % servers
  },
  /** Nine in ten of one server, in each quarter of the run of another. */
  moving: (share, request, servers) =>
    request % 10 < 9 ? (Math.floor(share * 4) * 5) % servers : request % servers,
} satisfies { [name: string]: Demand }

interface Run {
  key: string
  requests?: number
  demand?: Demand
  /** What happens at a fifth of the run, and at four fifths. */
  events?: readonly (() => unknown)[]
}

interface Outcome {
  admitted: number
  refused: number
  /** 503. */
  unavailable: number
  /** Other statuses, and calls without an answer. */
  failed: number
}

interface Fleet {
  /** Of the quota, none of them used. */
  keys: string[]
  servers: Program[]
  start(count: number, args: readonly string[]): Promise<void>
  /** Asks for so many in `SECONDS`, none of which waits for another one. */
  run(run: Run): Promise<Outcome>
  isShared(): Promise<boolean>
}

async function fleetOf(t: TestContext, count: number, args: readonly string[]): Promise<Fleet> {
  const folder = temporaryFolder(t)
  await runCliWell(['build', '--source', 'csv:data/fixtures/small', '--out', `${folder}/snapshots`])
  const keysFile = `${folder}/keys.json`
  const issue = (owner: string): string =>
    issueKey(keysFile, { owner, quota: QUOTA, now: Date.now() / 1000 }).key
  const keys = ['a', 'b', 'c'].map(issue)
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  t.after(() => agent.destroy())
  const bases = new Map<Program, { port: string; admin: string }>()
  const servers: Program[] = []
  let started = 0

  /** Status 0 for a call without an answer. */
  const call = (port: string, key: string): Promise<number> =>
    new Promise((resolve) => {
      const headers = { authorization: `Bearer ${key}` }
      const asked = httpRequest(
        { agent, host: '127.0.0.1', port, path: '/v2/countries', headers },
        (reply) => {
          reply.resume().once('end', () => resolve(reply.statusCode ?? 0))
        },
      )
      // The server may close a connection that was idle just as it is used again.
      asked.once('error', () => resolve(asked.reusedSocket ? call(port, key) : 0))
      asked.end()
    })

  const fleet: Fleet = {
    keys,
    servers,
    async start(more, given) {
      const begun = Array.from({ length: more }, () => {
        // Each counts in a usage file of its own, beside the path that it is given.
        const own = `${keysFile}.${++started}`
        symlinkSync(keysFile, own)
        const usual = ['--port=0', '--admin-port=0', '--workers=2', '--anonymous-quota=0', '--drain-time=1s']
        const places = [`--snapshots=${folder}/snapshots`, `--keys=${own}`]
        return startProgram(t, ['serve', ...places, ...usual, ...given])
      })
      for (const server of begun) {
        const [, port] = await server.says(/listening on http:\/\/127\.0\.0\.1:(\d+)/)
        const [, admin] = await server.says(/admin port on (\S+)\n/)
        bases.set(server, { port, admin })
        servers.push(server)
      }
    },
    async run({ key, requests = RATE * SECONDS, demand = DEMANDS.even, events = [] }) {
      const rest = 3600 - ((Date.now() / 1000) % 3600)
      if (rest < LEAST_REST_S) await sleep((rest + 1) * 1000)
      const outcome = { admitted: 0, refused: 0, unavailable: 0, failed: 0 }
      const names = new Map<number, keyof Outcome>([
        [200, 'admitted'],
        [429, 'refused'],
        [503, 'unavailable'],
      ])
      const calls: Promise<void>[] = []
      const pending = events.map((happen, i) => ({ at: i === 0 ? 0.2 : 0.8, happen }))
      const from = performance.now()
      for (let sent = 0; sent < requests;) {
        const share = Math.min(1, (performance.now() - from) / (SECONDS * 1000))
        while (pending.length > 0 && pending[0].at * requests <= sent) void pending.shift()!.happen()
        for (const due = Math.floor(share * requests); sent < due; sent++) {
          const { port } = bases.get(servers[demand(share, sent, servers.length) % servers.length])!
          calls.push(call(port, key).then((status) => void outcome[names.get(status) ?? 'failed']++))
        }
        await sleep(2)
      }
      await Promise.all(calls)
      return outcome
    },
    async isShared() {
      for (const server of servers) {
        const reply = await fetch(`${bases.get(server)!.admin}/status`)
        if (((await reply.json()) as { quotas: { state: string } }).quotas.state !== 'shared') return false
      }
      return true
    },
  }
  await fleet.start(count, args)
  return fleet
}

function report(t: TestContext, name: string, { admitted, refused, failed, unavailable }: Outcome): void {
  t.diagnostic(`${name}: ${admitted} admitted of ${QUOTA}, ${refused} refused`)
  assert.deepEqual([failed, unavailable], [0, 0])
  assert.ok(admitted >= QUOTA, `${admitted} admitted`)
  assert.ok(admitted <= QUOTA + MOST_BEYOND, `${admitted} admitted`)
}

test('Three servers of two threads admit a quota, however calls are spread over them.', SKIP, async (t) => {
  const redis = await startRedis(t)
  const fleet = await fleetOf(t, SERVERS, [`--quota-store=${redis.address}`])
  for (const [name, demand] of Object.entries(DEMANDS)) {
    report(t, name, await fleet.run({ key: fleet.keys.pop()!, demand }))
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
      const fleet = await fleetOf(t, SERVERS, [`--quota-store=${redis.address}`])
      const [usedUp, other, last] = fleet.keys
      report(t, 'before', await fleet.run({ key: usedUp }))
      const during = await fleet.run({ key: other, events: fault(redis) })
      t.diagnostic(`during: ${during.admitted} admitted of ${QUOTA}`)
      assert.deepEqual([during.failed, during.unavailable], [0, 0])
      assert.ok(during.admitted >= QUOTA, `${during.admitted} admitted`)
      await until(() => fleet.isShared(), 'shared again')
      assert.equal((await fleet.run({ key: usedUp })).admitted, 0)
      report(t, 'after', await fleet.run({ key: last, demand: DEMANDS.skewed }))
      for (const { said } of fleet.servers) {
        assert.ok(said.split('\n').filter((line) => line.includes('quotas:')).length <= 4, said)
        assert.doesNotMatch(said, /^fault/m)
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
    const fleet = await fleetOf(t, 1, [store, '--quota-store-required'])
    await until(async () => !(await fleet.isShared()))
    const [first, second, third] = fleet.keys
    const closed = await fleet.run({ key: first })
    assert.deepEqual([closed.unavailable, closed.failed], [RATE * SECONDS, 0])
    assert.match(fleet.servers[0].said, /quotas: .*ECONNREFUSED.*answered 503/)
    await fleet.servers[0].stop()
    fleet.servers.length = 0
    await fleet.start(1, [store])
    const alone = await fleet.run({ key: second })
    assert.deepEqual([alone.admitted, alone.failed], [QUOTA, 0])
    await startRedis(t, { port })
    await until(() => fleet.isShared())
    report(t, 'later', await fleet.run({ key: third }))
  },
)

test('A server that restarts goes on with what was used, and so do the others.', SKIP, async (t) => {
  const redis = await startRedis(t)
  const store = `--quota-store=${redis.address}`
  const fleet = await fleetOf(t, 2, [store])
  const [key] = fleet.keys
  const first = await fleet.run({ key, requests: QUOTA / 2 })
  assert.equal(first.admitted, QUOTA / 2)
  for (const server of fleet.servers) await server.stop()
  fleet.servers.length = 0
  await fleet.start(2, [store])
  await sleep(100)
  const second = await fleet.run({ key })
  t.diagnostic(`${first.admitted + second.admitted} of ${QUOTA}`)
  assert.ok(first.admitted + second.admitted >= QUOTA)
  assert.ok(first.admitted + second.admitted <= QUOTA + MOST_BEYOND)
})
