/** That one client costs a server little, whatever it does: both engines, in small. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, it } from 'node:test'

import { BUFFER_LIMIT_BYTES } from '../../src/http/engines/base.ts'
import { request, type RawClient } from './raw_client.ts'
import { connectionsFor, SLOW_ENGINES, missing, pathServer } from './server_for_tests.ts'

const MEGABYTE = 1e6

for (const kind of SLOW_ENGINES) {
  describe(`one client of the ${kind} engine`, { skip: missing(kind) }, () => {
    const server = pathServer(kind).forSuite()
    const open = (): RawClient => server.open()
    const assertServes = async (): Promise<void> => {
      const client = open()
      assert.equal((await client.ask('GET /others')).body, 'at /others')
      client.socket.destroy()
    }
    const heldSince = (before: number): string =>
      `held ${Math.round((process.memoryUsage().rss - before) / MEGABYTE)} MB`

    it('that pipelines 128 KB of HEAD and reads nothing is cut, and 30 of them cost little memory', async () => {
      const flood = request('HEAD /headed').repeat(3_700)
      const before = process.memoryUsage().rss
      const flooding = Array.from({ length: 30 }, () => open())
      for (const client of flooding) {
        client.socket.pause()
        client.write(flood)
      }
      for (let i = 0; i < 10; i++) {
        await assertServes()
        await delay(20)
      }
      assert.ok(process.memoryUsage().rss - before < 160 * MEGABYTE, `${heldSince(before)} of 225`)
      for (const client of flooding) {
        client.socket.resume()
        await client.closed(30_000)
      }
    })

    it('that does not read long answers is cut when too much is buffered for others already', async () => {
      const before = process.memoryUsage().rss
      const unread = Array.from({ length: 30 }, () => open())
      const seen = server.seen.filter((path) => path === '/huge').length + unread.length
      for (const client of unread) {
        client.socket.pause()
        client.write(request('GET /huge?x'))
      }
      do await assertServes()
      while (server.seen.filter((path) => path === '/huge').length < seen)
      assert.ok(
        process.memoryUsage().rss - before < BUFFER_LIMIT_BYTES + 60 * MEGABYTE,
        `${heldSince(before)} of 240`,
      )
      // All of them read at once: a client that reads nothing for ten seconds is cut, whatever is buffered.
      const answers = unread.map((client) => {
        client.socket.resume()
        return client.answer()
      })
      const whole = (await Promise.allSettled(answers)).filter(({ status }) => status === 'fulfilled').length
      for (const client of unread) client.socket.destroy()
      assert.ok(whole >= 4 && whole < 30, `${whole} of 30 whole`)
      // What was buffered is free again.
      const reader = open()
      await reader.ask('GET /huge?x')
      reader.socket.destroy()
    })

    it('beyond the limit of connections is told so, and let in when another has left', async (t) => {
      const connections = connectionsFor(20)
      const own = await pathServer(kind, { connections }).until(t)
      const first = Array.from({ length: 20 }, () => own.open())
      for (const client of first) {
        assert.equal((await client.ask('GET /in')).body, 'at /in')
      }
      assert.equal(connections.open, 20)
      for (let i = 0; i < 3; i++) {
        const late = own.open()
        const answer = await late.answer()
        assert.deepEqual(
          [answer.status, answer.headers.get('retry-after'), answer.headers.get('connection')],
          [503, ['5'], ['close']],
        )
        assert.equal((JSON.parse(answer.body) as { error: string }).error, 'service_unavailable')
        await late.closed()
      }
      first[7].socket.destroy()
      for (;;) {
        const late = own.open()
        late.write(request('GET /in'))
        if ((await late.answer()).status === 200) break
      }
    })
  })
}
