/** What both engines record of requests: each once, with its status and bytes, however it is answered. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { loadEngine } from '../../src/http/engine.ts'
import { GONE, type LaterReply, type Recorder } from '../../src/http/exchange.ts'
import { ENGINES, missing, TEXT_HEAD } from './server_for_tests.ts'

type Recorded = [path: string, status: number, bytes: number]

const BODY = Buffer.from('0123456789')
const EVENTS = { onRoom: () => {}, onGone: () => {} }

/** Sends a request and resolves to what comes; with `leavesAfterMs` the client goes then. */
function ask(port: number, text: string, leavesAfterMs = 0): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.setEncoding('latin1').on('data', (data: string) => (answer += data))
    socket.on('error', () => {})
    socket.once('close', () => resolve(answer))
    if (leavesAfterMs > 0) void setTimeout(leavesAfterMs).then(() => socket.destroy())
    else void setTimeout(300).then(() => socket.end())
  })
}

for (const kind of ENGINES) {
  describe(`records of the ${kind} engine`, { skip: missing(kind), timeout: 60_000 }, () => {
    test('Each request is recorded once: at once, later, as a stream, cut, left by its client, failed or refused.', async (t) => {
      const recorded: Recorded[] = []
      const recorder: Recorder = {
        begin: () => 7,
        answered({ path, status, bytes, route }, begun) {
          assert.deepEqual([begun, route], [7, -1])
          recorded.push([path, status, bytes])
        },
        deferred({ path }, begun) {
          assert.equal(begun, 7)
          return (status, bytes) => recorded.push([path, status, bytes])
        },
      }
      const cut = (reply: LaterReply): void => reply.cut()
      const replies: { [path: string]: (reply: LaterReply) => void } = {
        '/later': (reply) => reply.send(TEXT_HEAD, BODY),
        '/pieces': (reply) => {
          reply.begin(TEXT_HEAD, BODY.length)
          reply.write(BODY)
          reply.end()
        },
        '/stream': (reply) => {
          reply.stream('206 Partial Content\r\nContent-Type: text/plain')
          reply.write(BODY)
          reply.write(BODY)
          reply.end()
        },
        '/stream/cut': (reply) => {
          reply.stream(TEXT_HEAD)
          reply.write(BODY)
          reply.cut()
        },
        '/begun/cut': (reply) => {
          reply.begin(TEXT_HEAD, 1000)
          reply.write(BODY)
          reply.cut()
        },
        '/cut': cut,
        '/left': () => {},
      }
      const engine = loadEngine(kind).create(
        (exchange) => {
          const { path } = exchange
          const reply = replies[path]
          if (reply !== undefined) {
            const later = exchange.later(EVENTS)!
            if (path !== '/left') setImmediate(reply, later)
          } else if (path === '/throw') throw new Error('a fault')
          else if (path === '/none') exchange.send('304 Not Modified', null)
          else exchange.send(TEXT_HEAD, BODY)
        },
        { recorder, onThrow: () => {} },
      )
      const port = await engine.listen('127.0.0.1', 0)
      t.after(() => engine.close())
      const expected: Recorded[] = []
      const check = async (
        path: string,
        status: number,
        bytes: number,
        method = 'GET',
        leavesAfterMs = 0,
      ) => {
        const answer = await ask(port, `${method} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`, leavesAfterMs)
        expected.push([path, status, bytes])
        for (let waited = 0; recorded.length < expected.length && waited < 20_000; waited += 10)
          await setTimeout(10)
        assert.deepEqual(recorded, expected)
        return answer
      }
      assert.match(await check('/', 200, BODY.length), /^HTTP\/1\.1 200 /)
      await check('/', 200, 0, 'HEAD')
      await check('/none', 304, 0)
      await check('/throw', 500, 53)
      await check('/later', 200, BODY.length)
      await check('/later', 200, 0, 'HEAD')
      await check('/pieces', 200, BODY.length)
      await check('/pieces', 200, 0, 'HEAD')
      await check('/stream', 206, 2 * BODY.length)
      await check('/stream', 206, 0, 'HEAD')
      await check('/stream/cut', 200, BODY.length)
      await check('/begun/cut', 200, 1000)
      await check('/cut', GONE, 0)
      await check('/left', GONE, 0, 'GET', 200)
    })
  })
}
