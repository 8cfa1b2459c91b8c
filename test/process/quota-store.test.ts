/** What the carrier of leases does when its Redis goes, with a real one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hourOf } from '../../src/access/hours.ts'
import { CLOSED, LeaseCounters } from '../../src/access/lease-counters.ts'
import { QuotaStore } from '../../src/process/quota-store.ts'
import { parseAddress } from '../../src/redis/address.ts'
import { noRedis, startRedis, until } from '../redis/server.ts'

const SLOT = 3
const QUOTA = 1000
const clock = (): number => Date.now() / 1000

for (const fallback of ['share', 'closed'] as const) {
  test(
    `Requests that wait for a lease go on (${fallback}) when the connection breaks, without waiting for an answer any more.`,
    { skip: noRedis(), timeout: 60_000 },
    async (t) => {
      const redis = await startRedis(t)
      const counters = new LeaseCounters(LeaseCounters.allocate())
      const woken: number[] = []
      const store = new QuotaStore({
        address: parseAddress(redis.address),
        tls: { authorities: null, own: null },
        counters,
        fallback,
        replicas: 1,
        wake: (slots) => woken.push(...slots),
        log: () => {},
        clock,
      })
      t.after(() => store.close())
      store.setKeys([{ id: 'k_0000000001', slot: SLOT, quota: QUOTA }])
      await store.ready(undefined)
      const status = (): { state: string; fault: string } => store.status({} as never) as never
      assert.equal(status().state, 'leasing')
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
