/** Requests that wait for their quota, on both engines. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Exchange } from '../../src/http/exchange.ts'
import { WaitingRequests } from '../../src/http/waiting-requests.ts'
import { LeaseQueue, wakeLeased } from '../../src/http/request-waits.ts'
import { Totals } from '../../src/http/totals.ts'
import { ENGINES, EngineServer, missing, TEXT_HEAD } from './server_for_tests.ts'

for (const kind of ENGINES) {
  describe(`requests that wait on the ${kind} engine`, { skip: missing(kind) }, () => {
    const waiting = new WaitingRequests(
      (exchange, handler) => handler(exchange),
      (error) => assert.ifError(error),
    )

    it('Requests that wait over the top of an hour ask for calls of the new one.', async (t) => {
      const slot = 9
      const wanted: number[][] = []
      const leases = { waiting, ask: (...asked: number[]): void => void wanted.push(asked) }
      let isLeased = false
      const serve = (exchange: Exchange): void => {
        if (isLeased || !waiting.putOff(exchange, slot, wait)) exchange.send(TEXT_HEAD, Buffer.from('served'))
      }
      const wait = { ms: 60_000, run: serve, late: serve }
      const own = await new EngineServer(kind, serve).until(t)
      const reply = fetch(`http://127.0.0.1:${own.port}/`)
      while (waiting.count === 0) await new Promise((resolve) => setImmediate(resolve))
      const hour = 490_000
      wakeLeased(leases, [slot, hour], (hour + 1) * 3600 + 0.01)
      assert.deepEqual(wanted, [[slot, hour + 1, 1]])
      isLeased = true
      wakeLeased(leases, [slot, hour + 1], (hour + 1) * 3600 + 0.02)
      assert.equal(await (await reply).text(), 'served')
      assert.equal(wanted.length, 1)
    })

    it('A request that has waited for its turn asks for calls of its quota where there are none.', async (t) => {
      const slot = 7
      let wanted = 0
      const totals = new Totals(Totals.allocate(1), 0)
      const ask = (): void => {
        wanted++
        setImmediate(() => waiting.wake(slot))
      }
      let hasCalls = false
      const leases = new LeaseQueue({ waiting, ask }, totals, (exchange) => serve(exchange))
      const serve = (exchange: Exchange): void => {
        if (hasCalls || !leases.putOff(exchange, slot, 0)) exchange.send(TEXT_HEAD, Buffer.from('served'))
        hasCalls = true
      }
      const turn = { ms: 60_000, run: serve, late: serve }
      const own = await new EngineServer(
        kind,
        (exchange) => void waiting.putOff(exchange, 'client', turn),
      ).until(t)
      const reply = fetch(`http://127.0.0.1:${own.port}/`)
      while (waiting.count === 0) await new Promise((resolve) => setImmediate(resolve))
      let isEmpty = false
      void waiting.empty().then(() => (isEmpty = true))
      assert.equal(waiting.wakeOne('client'), false)
      await Promise.resolve()
      assert.equal(isEmpty, false, 'the server would stop while it waits')
      assert.equal(await (await reply).text(), 'served')
      assert.deepEqual([wanted, totals.counted('parked'), totals.counted('parked_late')], [1, 1, 0])
    })
  })
}
