/** Quotas that sixteen replicas share through a real Redis, as many as a test can start in one process. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hourOf } from '../../src/access/hours.ts'
import { ASK, LeaseCounters } from '../../src/access/lease-counters.ts'
import { QuotaStore } from '../../src/server/quota-store.ts'
import { parseAddress } from '../../src/access/redis/redis-address.ts'
import { lineText } from '../../src/system/log.ts'
import { noRedis, startRedis } from './redis/server.ts'

const clock = (): number => Date.now() / 1000

test(
  'Of a quota over sixteen replicas at a real Redis 98 % is admitted before anybody is refused, and never more than all; of one replica, all.',
  { skip: noRedis(), timeout: 300_000 },
  async (t) => {
    const redis = await startRedis(t)
    // Its data have been there for long.
    await redis.command('SET', 'groundswell:{quota}:begun', '1 1000')
    const log: string[] = []
    const keys = [1000, 1000, 2000, 2000, 40].map((quota, slot) => ({
      id: `k_${String(slot).padStart(10, '0')}`,
      slot,
      quota,
    }))
    const fleet = (
      count: number,
    ): { store: QuotaStore; counters: LeaseCounters; waiting: (() => void)[] }[] =>
      Array.from({ length: count }, () => {
        const counters = new LeaseCounters(LeaseCounters.allocate(keys.length))
        const waiting: (() => void)[] = []
        const store = new QuotaStore({
          address: parseAddress(redis.address),
          tls: { authorities: null, own: null },
          counters,
          fallback: 'closed',
          replicas: count,
          wake: () => waiting.splice(0).forEach((resume) => resume()),
          log: (...event) => log.push(lineText(...event)),
          clock,
        })
        t.after(() => store.close())
        store.setKeys(keys)
        return { store, counters, waiting }
      })
    const run = async (
      replicas: ReturnType<typeof fleet>,
      { slot, quota }: (typeof keys)[number],
      demand: (at: number) => number,
    ): Promise<void> => {
      const rest = 3600 - (clock() % 3600)
      if (rest < 60) await sleep((rest + 1) * 1000)
      let [admitted, before, isRefused] = [0, 0, false]
      const ask = async ({ store, counters, waiting }: (typeof replicas)[number]): Promise<void> => {
        // One that waits while another one is refused was leased its call before, or is refused as well.
        const isEarly = !isRefused
        for (;;) {
          const left = counters.take(slot, quota, clock())
          if (left >= 0) {
            admitted++
            if (isEarly) before++
            return
          }
          if (left !== ASK) {
            isRefused = true
            return
          }
          store.wanted(slot, hourOf(clock()), 1)
          await new Promise<void>((resolve) => waiting.push(resolve))
        }
      }
      const asked: Promise<void>[] = []
      for (let at = 0; at < quota * 1.3; at++) {
        asked.push(ask(replicas[demand(at) % replicas.length]))
        if (at % 8 === 7 || quota < 100) await sleep(4)
      }
      await Promise.all(asked)
      const said = `quota ${quota}: ${admitted} admitted, ${before} of them before a refusal`
      t.diagnostic(said)
      assert.ok(admitted <= quota, said)
      assert.ok(before >= Math.floor(quota * (replicas.length === 1 ? 1 : 0.98)), said)
    }
    const sixteen = fleet(16)
    await Promise.all(sixteen.map(({ store }) => store.ready(undefined)))
    await run(sixteen, keys[0], (at) => at)
    await run(sixteen, keys[2], (at) => (at % 10 < 9 ? 0 : at))
    await run(sixteen, keys[3], (at) => Math.floor(at / 400))
    await run(sixteen, keys[4], (at) => at)
    const [one] = sixteen
    await Promise.all(sixteen.slice(1).map(({ store }) => store.close()))
    await run([one], keys[1], () => 0)
    assert.deepEqual(
      log.filter((line) => line.startsWith('warning')),
      [],
    )
  },
)
