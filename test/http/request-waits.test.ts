/** Requests that come at once share the turns of the event loop, and wait for their quota behind that, on both engines. */
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after, describe, it } from 'node:test'
import { AUTHORIZATION, type Exchange } from '../../src/http/exchange.ts'
import { WaitingRequests } from '../../src/http/waiting-requests.ts'
import { LeaseQueue, TurnShares, wakeLeased } from '../../src/http/request-waits.ts'
import { Totals } from '../../src/http/totals.ts'
import { ask as askPort } from '../live.ts'
import { request } from './raw_client.ts'
import { ENGINES, EngineServer, missing, TEXT_HEAD } from './server_for_tests.ts'

/** Work of one answer. */
const ANSWER_MS = 2
const CROWD = 150
/** Of the crowd, the requests that one turn answers at most: what is not watched, two shares, and chance. */
const MOST_OF_TURN = 60

for (const kind of ENGINES) {
  describe(`turns of the loop with the ${kind} engine`, { skip: missing(kind) }, () => {
    /** Who was answered in each turn. */
    let turns: string[][] = []
    const agent = new Agent({ keepAlive: true })
    const waiting = new WaitingRequests(
      (exchange, handler) => handler(exchange),
      (error) => assert.ifError(error),
    )
    const answer = (exchange: Exchange): void => {
      if (shares.putOff(exchange)) return
      if (turns.length === 0 || turns.at(-1)!.length === 0) setImmediate(() => turns.push([]))
      if (turns.length === 0) turns.push([])
      turns.at(-1)!.push(exchange.header(AUTHORIZATION))
      const end = performance.now() + (exchange.path === '/' ? ANSWER_MS : 0)
      while (performance.now() < end);
      exchange.send(TEXT_HEAD, Buffer.from(exchange.query))
    }
    const shares = new TurnShares(waiting, answer, (exchange) =>
      ['crowd', 'other'].includes(exchange.header(AUTHORIZATION)),
    )

    const server = new EngineServer(kind, answer).forSuite()
    after(() => agent.destroy())
    const ask = async (authorization: string, query: string): Promise<string> =>
      (await askPort(server.port, `/?${query}`, { agent, headers: { authorization } })).text

    it('A crowd at once is answered over several turns, everybody with his own answer.', async () => {
      // Once before, so that all have a connection.
      for (const _ of [1, 2]) {
        turns = []
        const asked = Array.from({ length: CROWD }, (__, n) => ask('crowd', String(n)))
        // The loop is held until all have come.
        const end = performance.now() + 100
        while (performance.now() < end);
        const answers = await Promise.all(asked)
        assert.deepEqual(
          answers,
          Array.from({ length: CROWD }, (__, n) => String(n)),
        )
      }
      assert.equal(waiting.count, 0)
      const longest = Math.max(...turns.map(({ length }) => length))
      assert.ok(longest <= MOST_OF_TURN, `${longest} answers in one turn`)
    })

    for (const [who, keyOf] of [
      ['a crowd', () => 'crowd'],
      ['many made-up keys of one address, which are one client', (n: number) => `made up ${n}`],
    ] as const) {
      it(`One request of another client is not answered behind all of ${who}.`, async () => {
        turns = []
        const asked = Array.from({ length: CROWD }, (_, n) => ask(keyOf(n), String(n)))
        await Promise.all([...asked, ask('other', 'x')])
        const place = turns.flat().indexOf('other')
        assert.ok(place !== -1 && place < CROWD / 2, `answered as number ${place} of ${CROWD + 1}`)
      })
    }

    it('Clients that have sent several requests at once before get all answers, however long the turn takes.', async () => {
      const clients = Array.from({ length: 64 }, () => server.open())
      const answersTo = async (path: string, each: number): Promise<void> => {
        for (const client of clients) client.write(request(`GET ${path}`).repeat(each))
        for (const client of clients)
          for (let i = 0; i < each; i++) assert.equal((await client.answer()).status, 200)
      }
      await answersTo('/quick', 1)
      // The first to do so is cut where its turn happens to take long, so one that nobody misses goes first.
      let first = server.open()
      const isCut = async (): Promise<boolean> => {
        first.write(request('GET /quick').repeat(16))
        await first.until(() => first.received.toString().split('HTTP/1.1 200').length > 16 || first.ended)
        return first.ended
      }
      while (await isCut()) first = server.open()
      await answersTo('/quick', 16)
      await answersTo('/', 2)
    })

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
