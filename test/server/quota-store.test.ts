/** What the carrier of leases does when its Redis goes, with a real one. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hourOf } from '../../src/access/hours.ts'
import { CLOSED, LeaseCounters } from '../../src/access/lease-counters.ts'
import { QuotaStore } from '../../src/server/quota-store.ts'
import { parseAddress } from '../../src/access/redis/redis-address.ts'
import { lineText } from '../../src/system/log.ts'
import { startLyingRedis } from '../access/redis/lying.ts'
import { noRedis, startRedis } from '../access/redis/server.ts'
import { until } from '../until.ts'

const SLOT = 3
const QUOTA = 1000
const clock = (): number => Date.now() / 1000

type Status = () => { state: string; fault: string }

/** A store over the Redis at `address`, which leases, and what it has said. */
async function leasing(t: TestContext, address: string, fallback: 'share' | 'closed') {
  const counters = new LeaseCounters(LeaseCounters.allocate())
  const woken: number[] = []
  const lines: string[] = []
  const store = new QuotaStore({
    address: parseAddress(address),
    tls: { authorities: null, own: null },
    counters,
    fallback,
    replicas: 1,
    wake: (slots) => woken.push(...slots),
    log: (...event) => lines.push(lineText(...event)),
    clock,
  })
  t.after(() => store.close())
  store.setKeys([{ id: 'k_0000000001', slot: SLOT, quota: QUOTA }])
  await store.ready(undefined)
  const status: Status = () => store.status({} as never) as never
  assert.equal(status().state, 'leasing')
  return { store, counters, woken, lines, status }
}

for (const fallback of ['share', 'closed'] as const) {
  test(
    `Requests that wait for a lease go on (${fallback}) when the connection breaks, without waiting for an answer any more.`,
    { skip: noRedis() },
    async (t) => {
      const redis = await startRedis(t)
      const { store, counters, woken, status } = await leasing(t, redis.address, fallback)
      await redis.command('CLIENT', 'PAUSE', '60000', 'ALL')
      const hour = hourOf(clock())
      store.wanted(SLOT, hour, 1)
      await sleep(50)
      assert.deepEqual(woken, [], 'nobody has answered')
      await redis.stop()
      await until(() => woken.length > 0)
      assert.deepEqual(woken.slice(0, 2), [SLOT, hour])
      // Not because a call has had no answer for long.
      assert.doesNotMatch(status().fault, /does not answer within/)
      const next = counters.take(SLOT, QUOTA, clock())
      assert.ok(fallback === 'share' ? next >= 0 : next === CLOSED, String(next))
    },
  )
}

test(
  'A wrong answer is a failed call, its connection is closed, and no key is refused when Redis tells the truth again.',
  { skip: noRedis() },
  async (t) => {
    const redis = await startRedis(t)
    const lying = await startLyingRedis(t, redis.port)
    const { store, counters, woken, lines, status } = await leasing(t, lying.address, 'closed')
    const lies = {
      'a short list': '*2\r\n$1\r\n1\r\n:0\r\n',
      'an empty one': '*0\r\n',
      'texts for numbers': '*6\r\n$1\r\n1\r\n$1\r\n0\r\n$1\r\n2\r\n$1\r\n9\r\n$1\r\n9\r\n$1\r\n0\r\n',
      'too much': '*6\r\n$1\r\n1\r\n:0\r\n:2\r\n:999999\r\n:9\r\n:0\r\n',
      'not a number': '*6\r\n$1\r\n1\r\n:0\r\n:2\r\n,nan\r\n,nan\r\n,nan\r\n',
      nothing: '_\r\n',
      'a word': '+OK\r\n',
    }
    for (const [name, reply] of Object.entries(lies)) {
      const { closed } = lying
      const before = lines.length
      lying.lie = { word: 'EVALSHA', reply }
      store.wanted(SLOT, hourOf(clock()), 1)
      await until(() => status().state === 'away' && lying.closed > closed, name)
      assert.equal(status().fault, 'gives an answer in an unexpected form')
      lying.lie = null
      await until(() => status().state === 'leasing', `${name}: healed`)
      const said = lines.slice(before).filter((line) => line.startsWith('warning: Redis'))
      assert.equal(said.length, 1, said.join('\n'))
      woken.length = 0
      store.wanted(SLOT, hourOf(clock()), 1)
      await until(() => woken.length > 0)
      assert.ok(counters.take(SLOT, QUOTA, clock()) >= 0, name)
    }
    assert.ok(Number.isInteger(counters.used(SLOT, clock())))
  },
)
