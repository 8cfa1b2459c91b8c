/** What both engines record of requests: each once, with its status and bytes, however it is answered. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { GONE, type Exchange, type LaterReply, type Recorder } from '../../src/http/exchange.ts'
import { until } from '../until.ts'
import { ENGINES, EngineServer, missing, TEXT_HEAD } from './server_for_tests.ts'

type Recorded = [path: string, status: number, bytes: number]

const BODY = Buffer.from('0123456789')
const PIECE = 64 * 1024
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

/** What an engine records, each with the time at which it began. */
function recording(): { recorder: Recorder; recorded: Recorded[] } {
  const recorded: Recorded[] = []
  const start = performance.now()
  const assertTimed = (begun: number): void => assert.ok(begun >= start && begun <= performance.now())
  const recorder: Recorder = {
    answered({ path, status, bytes, route }, begun) {
      assertTimed(begun)
      assert.equal(route, -1)
      recorded.push([path, status, bytes])
    },
    deferred({ path }, begun) {
      assertTimed(begun)
      let status = 0
      return {
        begun: (is) => void (status = is),
        ended: (bytes) => recorded.push([path, status, bytes]),
      }
    },
  }
  return { recorder, recorded }
}

for (const kind of ENGINES) {
  describe(`records of the ${kind} engine`, { skip: missing(kind) }, () => {
    test('Each request is recorded once: at once, later, as a stream, cut, left by its client, failed or refused.', async (t) => {
      const { recorder, recorded } = recording()
      const cut = (reply: LaterReply): void => reply.cut()
      const replies: { [path: string]: (reply: LaterReply) => void } = {
        '/later': (reply) => reply.send(TEXT_HEAD, BODY),
        '/pieces': (reply) => {
          reply.begin(TEXT_HEAD, BODY.length)
          reply.write(BODY)
          reply.end()
        },
        '/stream': (reply) => {
          reply.begin('206 Partial Content\r\nContent-Type: text/plain', null)
          reply.write(BODY)
          reply.write(BODY)
          reply.end()
        },
        '/stream/cut': (reply) => {
          reply.begin(TEXT_HEAD, null)
          reply.write(BODY)
          // What was written goes out in between.
          setImmediate(cut, reply)
        },
        '/begun/cut': (reply) => {
          reply.begin(TEXT_HEAD, 1000)
          reply.write(BODY)
          // What was written goes out in between.
          setImmediate(cut, reply)
        },
        '/cut': cut,
        '/left': () => {},
      }
      const { port } = await new EngineServer(
        kind,
        (exchange) => {
          const { path } = exchange
          const reply = replies[path]
          if (reply !== undefined) {
            const later = exchange.later(EVENTS)
            if (path !== '/left') setImmediate(reply, later)
          } else if (path === '/throw') throw new Error('a fault')
          else if (path === '/none') exchange.send('304 Not Modified', null)
          else exchange.send(TEXT_HEAD, BODY)
        },
        { recorder },
      ).until(t)
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
        await until(() => recorded.length >= expected.length)
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
      assert.match(await check('/stream', 206, 0, 'HEAD'), /^HTTP\/1\.1 206 [^]*\r\n\r\n$/)
      assert.match(await check('/stream', 206, 2 * BODY.length), /\r\n0\r\n\r\n$/)
      await check('/stream/cut', 200, BODY.length)
      await check('/begun/cut', 200, BODY.length)
      await check('/cut', GONE, 0)
      await check('/left', GONE, 0, 'GET', 200)
    })

    test('Of a long answer in pieces those bytes are recorded that went out before its client left.', async (t) => {
      const long = Buffer.alloc(48 * 1024 * 1024, 'swell ')
      const { recorder, recorded } = recording()
      const sendPieces = (exchange: Exchange): void => {
        let at = 0
        const goOn = (): void => {
          while (at < long.length) {
            at += PIECE
            if (!reply.write(long.subarray(at - PIECE, at))) return
          }
          reply.end()
        }
        const reply = exchange.later({ onRoom: () => setImmediate(goOn), onGone: () => {} })
        setImmediate(() => {
          reply.begin(TEXT_HEAD, long.length)
          goOn()
        })
      }
      const server = await new EngineServer(kind, sendPieces, { recorder }).until(t)
      for (const connection of ['', '\r\nConnection: close']) {
        recorded.length = 0
        const text = `GET /pieces HTTP/1.1${connection}\r\nHost: a\r\n\r\n`
        const leaver = server.unread(text).resume()
        await until(() => leaver.bytesRead > 100_000)
        leaver.destroy()
        await until(() => recorded.length > 0)
        const [, status, bytes] = recorded[0]
        assert.equal(status, 200)
        // Of what was read some is the head.
        assert.ok(bytes > leaver.bytesRead - 1000 && bytes < long.length, `${bytes} of ${leaver.bytesRead}`)
        server.unread(text).resume()
        await until(() => recorded.length > 1)
        assert.deepEqual(recorded.slice(1), [['/pieces', 200, long.length]])
      }
    })
  })
}
