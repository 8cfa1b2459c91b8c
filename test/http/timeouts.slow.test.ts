/** No connection is held for ever by a client that does nothing. All waits run side by side: some 24 s. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { LEAST_IDLE_S } from '../../src/http/exchange.ts'
import { request } from './raw_client.ts'
import { SLOW_ENGINES, missing, pathServer } from './server_for_tests.ts'

const LIMIT_MS = 14_000

describe('a connection that does nothing', { concurrency: true }, () => {
  for (const kind of SLOW_ENGINES) {
    // Node takes what the kernel took of an answer for progress, and begins anew.
    const stallLimitMs = kind === 'uws' ? LIMIT_MS : 2 * LIMIT_MS - 4_000
    const skip = missing(kind)
    for (const [name, sent, answered] of [
      ['that sends nothing', '', false],
      ['that sends half a head', 'GET / HTTP/1.1\r\nHost: a\r\n', false],
      ['that stops within a body', 'POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc', false],
      ['that is idle after an answer', request('GET /'), true],
    ] as const) {
      it(`${name} is closed by ${kind} within ${LIMIT_MS / 1000} s, and not at once`, { skip }, async (t) => {
        const server = await pathServer(kind).until(t)
        const client = server.open()
        client.write(sent)
        if (answered) await client.answer()
        const start = performance.now()
        await client.closed(LIMIT_MS)
        // What clients read in `Keep-Alive`.
        assert.ok(performance.now() - start > (LEAST_IDLE_S - 1) * 1000)
      })
    }

    it(`that sends a body by the byte is cut by ${kind}`, { skip }, async (t) => {
      const client = (await pathServer(kind).until(t)).open()
      client.write('POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 999\r\n\r\n')
      const drip = setInterval(() => client.socket.write('x', () => {}), 500)
      t.after(() => clearInterval(drip))
      await client.closed(LIMIT_MS)
      assert.equal(client.received.toString('latin1').includes(' 200 '), false)
    })

    it(
      `that does not read its answer is given up by ${kind} within ${stallLimitMs / 1000} s`,
      { skip },
      async (t) => {
        const server = await pathServer(kind).until(t)
        const client = server.open()
        client.socket.pause()
        client.write(request('GET /huge?x'))
        await delay(stallLimitMs)
        client.socket.resume()
        await client.closed()
        assert.ok(client.received.length < 8_000_000)
      },
    )
  }
})
