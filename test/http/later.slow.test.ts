/**
 * Replies that come after the handler has returned, whole or as streams without a known length, of both
 * engines.
 */
import assert from 'node:assert/strict'
import { Agent, get, type IncomingMessage } from 'node:http'
import { after, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Connections, countConnections } from '../../src/http/connections.ts'
import type { LaterReply } from '../../src/http/exchange.ts'
import { ask as askPort, type AskOptions } from '../live.ts'
import { request, type RawClient } from './raw_client.ts'
import { SLOW_ENGINES, EngineServer, missing, TEXT_HEAD } from './server_for_tests.ts'
import { until } from '../until.ts'

/** More than the kernel's buffers of a connection hold. */
const LONG_LENGTH = 12_000_000

/** Longer than both engines give a silent connection. */
const LATE_MS = 13_000

/** What a reply did, in order. */
interface Seen {
  reply: LaterReply
  gone: number
  written: number
  /** Writes that found no room. */
  full: number
}

/** Of no length that an engine writes at once. */
const PIECE = 300_000

/** Longer than what an engine writes at once. */
const STREAM_PIECE = 150_000

/** More than the kernel's buffers of a connection hold, however these grow. */
const MANY_BYTES = 64_000_000

const pieceAt = (at: number): Buffer =>
  Buffer.alloc(Math.min(PIECE, LONG_LENGTH - at), `${Math.floor(at / PIECE)}.`)

function longText(): string {
  const pieces: Buffer[] = []
  for (let at = 0; at < LONG_LENGTH; at += PIECE) pieces.push(pieceAt(at))
  return Buffer.concat(pieces).toString()
}

for (const kind of SLOW_ENGINES) {
  describe(`later replies of the ${kind} engine`, { skip: missing(kind) }, () => {
    let last: Seen
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const server = new EngineServer(kind, (exchange) => {
      const { path } = exchange
      if (path === '/at-once') {
        exchange.send(TEXT_HEAD, Buffer.from('at once'))
        return
      }
      let at = 0
      let goOn = (): void => {}
      const reply = exchange.later({
        onRoom: () => setImmediate(() => goOn()),
        onGone: () => seen.gone++,
      })
      const seen: Seen = { reply, gone: 0, written: 0, full: 0 }
      last = seen
      if (path === '/throw') throw new Error('a fault')
      if (path === '/one-piece') setTimeout(() => reply.send(TEXT_HEAD, Buffer.from('one piece')), 5)
      if (path === '/late') setTimeout(() => reply.send(TEXT_HEAD, Buffer.from('late')), LATE_MS)
      if (path === '/204')
        setTimeout(() => reply.send('204 No Content\r\nX-Served-By: test', new Uint8Array(0)), 5)
      if (path === '/nothing') setTimeout(() => reply.send(TEXT_HEAD, new Uint8Array(0)), 5)
      if (path === '/no-piece') {
        setTimeout(() => {
          reply.begin(TEXT_HEAD, 0)
          reply.end()
        }, 5)
      }
      if (path === '/large-piece') {
        const body = Buffer.from(longText())
        setTimeout(() => reply.send(TEXT_HEAD, body), 5)
      }
      if (path === '/cut') {
        setTimeout(() => {
          reply.begin(TEXT_HEAD, LONG_LENGTH)
          reply.write(pieceAt(0))
          reply.cut()
          reply.write(pieceAt(0))
          reply.end()
        }, 5)
      }
      if (path === '/late-end') {
        setTimeout(() => {
          reply.begin(TEXT_HEAD, 5)
          reply.write(Buffer.from('whole'))
          // The response is complete, and its connection may have the next request already.
          reply.write(new Uint8Array(0))
          setTimeout(() => reply.cut(), 5)
        }, 5)
      }
      if (path.startsWith('/stream')) {
        reply.begin(TEXT_HEAD, null)
        reply.write(Buffer.from('begun,'))
      }
      if (path !== '/long') return
      goOn = () => {
        while (!reply.isOver) {
          if (at === LONG_LENGTH) {
            reply.end()
            return
          }
          const piece = pieceAt(at)
          at += piece.length
          const hasRoom = reply.write(piece)
          seen.written += piece.length
          if (!hasRoom) {
            seen.full++
            return
          }
        }
      }
      setImmediate(() => {
        reply.begin(TEXT_HEAD, LONG_LENGTH)
        goOn()
      })
    }).forSuite()
    after(() => agent.destroy())

    const ask = (path: string, how: AskOptions = {}): ReturnType<typeof askPort> =>
      askPort(server.port, path, { agent, ...how })

    /** One after the other, so that the first reply is the first client's. */
    const askInTurn = async (own: EngineServer, count: number, last = 'GET'): Promise<RawClient[]> => {
      const clients: RawClient[] = []
      while (clients.length < count) {
        const client = own.open()
        clients.push(client)
        client.write(request(`${clients.length < count ? 'GET' : last} /`))
        await until(() => own.seen.length === clients.length, 'not asked')
      }
      return clients
    }

    it('sends one piece, none and a large one, and the connection stays in step', async () => {
      for (const [path, text] of [
        ['/one-piece', 'one piece'],
        ['/nothing', ''],
        ['/no-piece', ''],
        ['/large-piece', longText()],
        ['/one-piece', 'one piece'],
      ]) {
        const length = String(text.length)
        const whole = await ask(path)
        assert.deepEqual([whole.status, whole.headers['content-length']], [200, length])
        assert.ok(whole.text === text)
        const head = await ask(path, { method: 'HEAD' })
        assert.deepEqual([head.text, head.headers['content-length']], ['', length])
        assert.equal((await ask('/at-once')).text, 'at once')
        assert.equal(last.gone, 0)
      }
    })

    it('has no length where there is no content, and the connection goes on', async () => {
      for (const method of ['GET', 'HEAD', 'GET']) {
        const none = await ask('/204', { method })
        assert.deepEqual([none.status, none.headers['content-length'], none.text], [204, undefined, ''])
        assert.equal(none.headers['transfer-encoding'], undefined)
        assert.equal((await ask('/at-once')).text, 'at once')
      }
    })

    it('says that a connection ends whose client asked for it, and ends it, however it was asked', async () => {
      for (const asked of ['close', 'Close', 'close, TE', 'keep-alive, close']) {
        for (const [path, length] of [
          ['/one-piece', 9],
          ['/late-end', 5],
          ['/large-piece', LONG_LENGTH],
        ] as const) {
          for (const method of ['GET', 'HEAD']) {
            const client = server.open()
            const { headers, body } = await client.ask(`${method} ${path}`, [`Connection: ${asked}`])
            const what = `${method} ${path}, Connection: ${asked}`
            assert.deepEqual(headers.get('connection'), ['close'], what)
            assert.equal(headers.get('keep-alive'), undefined, what)
            assert.equal(body.length, method === 'HEAD' ? 0 : length, what)
            // Sooner than one on which nothing happens. Behind a body uws knows one way to ask alone.
            const isLeft = kind === 'uws' && !/^close$/i.test(asked) && method === 'GET'
            if (isLeft) client.socket.destroy()
            else await client.closed(5000)
          }
        }
      }
      assert.equal((await ask('/at-once')).text, 'at once')
    })

    it('may come later than a silent connection is kept', async () => {
      assert.equal((await ask('/late')).text, 'late')
      assert.equal((await ask('/at-once')).text, 'at once')
    })

    it('is not touched any more once its last byte is out, whatever comes after it', async () => {
      for (let round = 0; round < 3; round++) {
        assert.equal((await ask('/late-end', { agent: new Agent() })).text, 'whole')
        await wait(30)
        assert.equal((await ask('/at-once', { agent: new Agent() })).text, 'at once')
      }
      assert.deepEqual(server.thrown, [])
    })

    it('sends a body in pieces, as its reader takes them, from a buffer used again', async () => {
      for (let round = 0; round < 2; round++) {
        // A client that reads at once may have a window as large as the answer.
        const onHead = (): Promise<void> => until(() => last.full > 0, 'never out of room')
        const { status, headers, text } = await ask('/long', { onHead })
        assert.equal(status, 200)
        assert.equal(headers['content-length'], String(LONG_LENGTH))
        assert.equal(headers['x-served-by'], 'test')
        assert.ok(text === longText())
        assert.equal(last.gone, 0)
        const head = await ask('/long', { method: 'HEAD' })
        assert.deepEqual([head.status, head.text], [200, ''])
        assert.equal(head.headers['content-length'], String(LONG_LENGTH))
        assert.equal((await ask('/at-once')).text, 'at once')
      }
    })

    it('shows a client that its answer is not whole', async () => {
      // Its head may be cut off, too.
      const cut = await ask('/cut').catch(() => null)
      assert.ok(!cut?.isWhole)
      await assert.rejects(ask('/throw'))
      await until(() => server.thrown.length === 1, 'the fault was not told')
      assert.match(String(server.thrown[0]), /a fault/)
      assert.equal((await ask('/at-once')).text, 'at once')
    })

    it('tells once that a client has gone, whether its reply has begun or not', async () => {
      for (const path of ['/never', '/stream', '/long']) {
        const before = last
        const socket = server.unread(request(`GET ${path}`))
        await until(() => last !== before, 'not asked')
        const seen = last
        if (path === '/long') await until(() => seen.full > 0, 'never out of room')
        assert.equal(seen.gone, 0)
        socket.destroy()
        await until(() => seen.gone > 0, 'not told')
        assert.equal(seen.reply.isOver, true)
        seen.reply.send(TEXT_HEAD, Buffer.from('to nobody'))
        seen.reply.begin(TEXT_HEAD, 9)
        assert.equal(seen.reply.write(pieceAt(0)), true)
        seen.reply.end()
        seen.reply.cut()
        assert.equal(seen.gone, 1)
      }
    })

    it('gives up a client that reads nothing for ten seconds', async () => {
      const before = last
      server.unread(request('GET /long'))
      await until(() => last !== before && last.full > 0, 'never out of room')
      const seen = last
      const since = performance.now()
      await until(() => seen.gone > 0, 'not given up')
      assert.ok(performance.now() - since > 5_000, 'given up soon')
      assert.ok(seen.written < LONG_LENGTH)
    })

    it('sends each piece of a stream when it is written, after any silence, and ends whole', async () => {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const options = { port: server.port, host: '127.0.0.1', path: '/stream', agent: false }
        get(options, resolve).once('error', reject)
      })
      const { reply } = last
      assert.equal(answer.headers['content-length'], undefined)
      assert.equal(answer.headers['connection'], 'close')
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      assert.equal(reply.write(Buffer.from('one,')), true)
      await until(() => text === 'begun,one,', 'the first piece did not come')
      await wait(LATE_MS)
      reply.write(Buffer.from('two,'))
      await until(() => text === 'begun,one,two,', 'the second piece did not come')
      reply.end()
      await until(() => answer.complete, 'the end did not come')
      reply.write(Buffer.from('more'))
      reply.end()
      reply.cut()
      assert.deepEqual([text, last.gone], ['begun,one,two,', 0])
    })

    it('keeps the chunks of many streams apart while readers leave, stay behind, and others ask between, and counts none for ever', async (t) => {
      const [count, pieces] = [45, 40]
      const text = Buffer.from(Array.from({ length: STREAM_PIECE + 26 }, (_, i) => 97 + (i % 26)))
      const length = pieces * STREAM_PIECE
      const shared = Connections.allocate(1)
      let [begun, over] = [0, 0]
      const crowded = await new EngineServer(
        kind,
        (exchange) => {
          if (exchange.path === '/') {
            exchange.send(TEXT_HEAD, Buffer.from('plain'))
            return
          }
          let sent = 0
          const goOn = (): void => {
            if (stream.isOver) return
            if (sent === length) {
              stream.end()
              over++
              return
            }
            const at = sent % 26
            sent += STREAM_PIECE
            if (stream.write(text.subarray(at, at + STREAM_PIECE))) setImmediate(goOn)
          }
          const stream = exchange.later({ onRoom: goOn, onGone: () => over++ })
          begun++
          stream.begin(TEXT_HEAD, null)
          setImmediate(goOn)
        },
        {
          connections: new Connections(shared, 0, { connections: Infinity, streams: 100, streamsOfOne: 100 }),
        },
      ).until(t)
      /** Reads at once, with pauses, or a part only. */
      const read = (how: 'quick' | 'slow' | 'part'): Promise<void> =>
        new Promise((resolve, reject) => {
          const options = { port: crowded.port, host: '127.0.0.1', path: '/stream', agent: false }
          get(options, (answer) => {
            let received = 0
            answer.on('error', (error) => (how === 'part' ? undefined : reject(error)))
            answer.on('data', (bytes: Buffer) => {
              const at = received % 26
              for (let i = 0; i < bytes.length; i += text.length - 26) {
                const piece = bytes.subarray(i, i + text.length - 26)
                const from = (at + i) % 26
                if (!piece.equals(text.subarray(from, from + piece.length))) reject(new Error('other bytes'))
              }
              received += bytes.length
              if (how === 'part' && received > length / 8) answer.destroy()
              if (how === 'slow') {
                answer.pause()
                setTimeout(() => answer.resume(), 20)
              }
            })
            answer.once('close', () => {
              if (how === 'part' || (answer.complete && received === length)) resolve()
              else reject(new Error(`a ${how} reader has ${received} bytes of ${length}`))
            })
          }).once('error', reject)
        })
      const reading = new AbortController()
      const askers = Array.from({ length: 4 }, async () => {
        const client = crowded.open()
        while (!reading.signal.aborted) {
          client.write(request('GET /').repeat(3))
          for (let i = 0; i < 3; i++) assert.equal((await client.answer()).body, 'plain')
          await wait(2)
        }
        client.socket.destroy()
      })
      const ways = ['quick', 'part', 'slow', 'part', 'part'] as const
      const readers = Array.from({ length: count }, async (_, i) => {
        await wait(i * 10)
        await read(ways[i % ways.length])
      })
      await Promise.all(readers).finally(() => reading.abort())
      await Promise.all(askers)
      await until(
        () => over === count && countConnections(shared).open === 0,
        () => `${over} of ${count} are over, ${countConnections(shared).open} connections open`,
      )
      assert.equal(begun, count)
      assert.deepEqual(crowded.thrown, [])
    })

    it('sends what did not fit when its client reads again, without another write, and cuts it where it does not', async () => {
      const before = last
      const socket = server.unread(request('GET /stream'))
      await until(() => last !== before, 'not asked')
      const { reply } = last
      /** Fills the stream. @returns the last that was written */
      const fill = async (): Promise<string> => {
        for (let sent = 0; sent < MANY_BYTES; sent += STREAM_PIECE) {
          const mark = `piece ${sent};`
          if (!reply.write(Buffer.from(mark.padStart(STREAM_PIECE)))) return mark
          await wait(0)
        }
        return assert.fail('never out of room')
      }
      const mark = await fill()
      let tail = ''
      socket.on('data', (bytes) => (tail = (tail + bytes.toString('latin1')).slice(-100)))
      socket.resume()
      await until(
        () => tail.includes(mark),
        () => `${mark} did not come, but ${tail}`,
      )
      socket.pause()
      await fill()
      reply.cut()
      socket.resume()
      await until(() => socket.closed, 'not cut')
      assert.doesNotMatch(tail, /\r\n0\r\n\r\n$/)
    })

    it('finishes when replies that were put off are over, and has their connections end', async (t) => {
      const replies: LaterReply[] = []
      const own = await new EngineServer(kind, (exchange) => {
        replies.push(exchange.later({ onRoom() {}, onGone() {} }))
      }).until(t)
      const clients = await askInTurn(own, 3, 'HEAD')
      own.engine.drain()
      void own.engine.stopListening()
      let hasFinished = false
      void own.engine.finish(600_000).then(() => (hasFinished = true))
      // Longer than an engine looks whether anything comes.
      await wait(300)
      assert.equal(hasFinished, false)
      replies[0].send(TEXT_HEAD, Buffer.from('one piece'))
      replies[1].begin(TEXT_HEAD, 9)
      replies[1].write(Buffer.from('in pieces'))
      replies[1].end()
      replies[2].send(TEXT_HEAD, Buffer.from('head alone'))
      const methods = ['GET', 'GET', 'HEAD']
      const answers = await Promise.all(clients.map((client, i) => client.answer(methods[i])))
      assert.deepEqual(
        answers.map(({ body, headers }) => [body, headers.get('connection')]),
        [
          ['one piece', ['close']],
          ['in pieces', ['close']],
          ['', ['close']],
        ],
      )
      await until(() => hasFinished, 'a reply is waited for')
      own.engine.close()
      for (const client of clients) await client.closed(5000)
    })

    it('lets go of replies when it closes', async (t) => {
      let gone = 0
      const own = await new EngineServer(kind, (exchange) => {
        exchange.later({ onRoom() {}, onGone: () => gone++ })
      }).until(t)
      own.open().write(request('GET /'))
      await until(() => own.last !== null, 'not asked')
      own.engine.close()
      await until(() => gone === 1, 'not told')
    })
  })
}
