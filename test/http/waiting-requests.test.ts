/** Requests that wait and are handled later, on both engines. */
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after, beforeEach, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import {
  ACCEPT_LANGUAGE,
  AUTHORIZATION,
  HANDLER_HEADERS,
  X_FORWARDED_FOR,
  type Exchange,
} from '../../src/http/exchange.ts'
import { WaitingRequests, type Wait } from '../../src/http/waiting-requests.ts'
import { ask as askPort, type AskOptions, type Reply } from '../live.ts'
import { until } from '../until.ts'
import { request } from './raw_client.ts'
import { ENGINES, EngineServer, missing, TEXT_HEAD } from './server_for_tests.ts'

const LONG_LENGTH = 3_000_000
const LONG = Buffer.alloc(LONG_LENGTH, 'swell ')
const KEY = 7

for (const kind of ENGINES) {
  describe(`waiting requests of the ${kind} engine`, { skip: missing(kind) }, () => {
    let isOpen = false
    let isLate = 0
    let handled: string[] = []
    const waiting = new WaitingRequests(
      (exchange, handler) => handler(exchange),
      (error) => server.thrown.push(error),
    )
    const agent = new Agent({ keepAlive: true, maxSockets: 2000 })

    const answer = (exchange: Exchange): void => {
      const { path, query, method } = exchange
      if (!isOpen && isLate === 0) {
        const isWaiting = waiting.putOff(exchange, KEY, path === '/short' ? { ...waits, ms: 30 } : waits)
        if (!isWaiting) exchange.send('503 Service Unavailable', Buffer.from('cannot wait'))
        return
      }
      handled.push(path)
      if (path === '/throw') throw new Error('a fault')
      if (path === '/forget') return
      if (path === '/long') return exchange.send(TEXT_HEAD, LONG, true)
      if (path === '/headers') {
        const values = HANDLER_HEADERS.map((name) => [
          name,
          exchange.header(name),
          exchange.headerValues(name),
        ])
        return exchange.send(TEXT_HEAD, Buffer.from(JSON.stringify(values)))
      }
      if (path === '/304') return exchange.send('304 Not Modified\r\nETag: W/"a"', null)
      if (path === '/twice') {
        const reply = exchange.later({ onRoom: () => {}, onGone: () => {} })
        setTimeout(() => reply?.send(TEXT_HEAD, Buffer.from('deferred again')), 5)
        return
      }
      const scratch = Buffer.from(
        [
          method,
          path,
          query,
          exchange.header(AUTHORIZATION),
          exchange.header(ACCEPT_LANGUAGE),
          exchange.headerValues(X_FORWARDED_FOR),
          exchange.address(),
          isLate > 0 ? 'late' : 'in time',
        ].join('|'),
      )
      exchange.send(TEXT_HEAD, scratch)
      // The buffer of an answer is used again at once.
      scratch.fill(0x2d)
    }
    const waits: Wait = {
      ms: 60_000,
      run: answer,
      late: (exchange) => {
        isLate++
        answer(exchange)
        isLate--
      },
    }

    const server = new EngineServer(kind, answer).forSuite()
    after(() => agent.destroy())
    const ask = (path: string, how: AskOptions = {}): Promise<Reply> =>
      askPort(server.port, path, { agent, ...how })

    const waitingAre = (count: number): Promise<void> =>
      until(() => waiting.count === count, `${waiting.count} requests wait instead of ${count}`)

    function open(): number {
      isOpen = true
      return waiting.wake(KEY)
    }

    beforeEach(() => {
      isOpen = false
      handled = []
      server.thrown.length = 0
    })

    it('A request that is woken is handled with all that it was.', async () => {
      const headers = {
        authorization: 'Bearer x',
        'accept-language': 'fr',
        'x-forwarded-for': ['192.0.2.1', '192.0.2.2'],
      }
      const answers = ask('/some/path?a=%20b&c', { headers })
      await waitingAre(1)
      assert.equal(waiting.wake(KEY + 1), 0)
      assert.equal(waiting.count, 1)
      assert.equal(open(), 0)
      const { status, text, headers: answered } = await answers
      assert.equal(status, 200)
      assert.equal(text, 'GET|/some/path|a=%20b&c|Bearer x|fr|192.0.2.1, 192.0.2.2|127.0.0.1|in time')
      assert.equal(answered['x-served-by'], 'test')
      assert.equal(waiting.count, 0)
    })

    it('A request that is woken has every header that a handler reads, repeated ones too.', async () => {
      const values = HANDLER_HEADERS.map((text) => [text, `${text} one`, `${text} one, ${text} two`])
      const sent = HANDLER_HEADERS.map((text) => [text, [`${text} one`, `${text} two`]])
      const answers = ask('/headers', { headers: Object.fromEntries(sent) as { [name: string]: string[] } })
      await waitingAre(1)
      open()
      assert.deepEqual(JSON.parse((await answers).text), values)
    })

    it('Requests are handled in their order, until one has to wait on.', async () => {
      const answers: Promise<Reply>[] = []
      for (let i = 0; i < 5; i++) {
        answers.push(ask(`/${i}`))
        await waitingAre(i + 1)
      }
      assert.equal(waiting.wake(KEY), 5)
      assert.deepEqual(handled, [])
      assert.equal(open(), 0)
      await Promise.all(answers)
      assert.deepEqual(handled, ['/0', '/1', '/2', '/3', '/4'])
    })

    it('A request that has waited for its time is answered as late.', async () => {
      const { text } = await ask('/short')
      assert.match(text, /late$/)
      assert.equal(waiting.count, 0)
    })

    it('A request whose client goes is dropped.', async () => {
      const socket = server.unread(request('GET /gone'))
      await waitingAre(1)
      socket.destroy()
      await waitingAre(0)
      open()
      assert.deepEqual(handled, [])
    })

    it('A long answer arrives whole, and the connection serves the next request.', async () => {
      const answers = ask('/long')
      await waitingAre(1)
      open()
      const { text, headers } = await answers
      assert.equal(headers['content-length'], String(LONG_LENGTH))
      assert.ok(Buffer.from(text).equals(LONG))
      assert.equal((await ask('/next')).status, 200)
    })

    it('A client that does not read makes no copy of a long answer grow.', async () => {
      const socket = server.unread(request('GET /long'))
      await waitingAre(1)
      open()
      await wait(50)
      let received = 0
      socket.on('data', (bytes) => (received += bytes.length))
      socket.resume()
      await until(() => received > LONG_LENGTH)
      socket.destroy()
    })

    it('HEAD, 304 and an answer that is deferred once more are sent as without a wait.', async () => {
      const answers = [ask('/head', { method: 'HEAD' }), ask('/304'), ask('/twice')]
      await waitingAre(3)
      open()
      const [head, notModified, twice] = await Promise.all(answers)
      assert.deepEqual([head.status, head.text], [200, ''])
      assert.ok(Number(head.headers['content-length']) > 10)
      assert.deepEqual([notModified.status, notModified.headers['content-length']], [304, undefined])
      assert.equal(twice.text, 'deferred again')
    })

    it('A handler that throws or forgets to answer makes a 500, and the others are handled.', async () => {
      const answers = [ask('/throw'), ask('/forget'), ask('/fine')]
      await waitingAre(3)
      open()
      const statuses = (await Promise.all(answers)).map(({ status }) => status)
      assert.deepEqual(statuses, [500, 500, 200])
      assert.equal(server.thrown.length, 2)
    })

    it('Too many requests do not wait, and neither does one that announces a body.', async () => {
      const answers = Array.from({ length: 1024 }, (_, i) => ask(`/many/${i}`))
      await waitingAre(1024)
      assert.equal((await ask('/one-more')).text, 'cannot wait')
      open()
      for (const { status } of await Promise.all(answers)) assert.equal(status, 200)
      isOpen = false
      const announced = { headers: { 'content-length': '1' }, body: 'x' }
      assert.equal((await ask('/body', announced)).text, 'cannot wait')
      await waiting.empty()
    })
  })
}
