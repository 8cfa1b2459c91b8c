/** Replies without a known length, of both engines. */
import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import { after, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Connections, countConnections } from '../../src/http/connections.ts'
import type { LaterReply } from '../../src/http/exchange.ts'
import { request, type RawClient } from './raw_client.ts'
import { SLOW_ENGINES, EngineServer, missing, TEXT_HEAD } from './server_for_tests.ts'
import { until } from '../until.ts'

/** Longer than both engines give a silent connection. */
const SILENCE_MS = 13_000
/** More than the kernel's buffers of a connection hold. */
const MANY_BYTES = 64_000_000

/** Longer than what an engine writes at once. */
const PIECE = 150_000

for (const kind of SLOW_ENGINES) {
  describe(`streams of the ${kind} engine`, { skip: missing(kind) }, () => {
    let reply: LaterReply | null = null
    let gone = 0
    const server = new EngineServer(kind, (exchange) => {
      reply = exchange.later({ onRoom() {}, onGone: () => gone++ })
      if (reply === null) exchange.send(TEXT_HEAD, Buffer.from('none later'))
      else {
        reply.begin(TEXT_HEAD, null)
        reply.write(Buffer.from('begun,'))
      }
    }).forSuite()
    after(() => assert.deepEqual(server.thrown, []))

    /** Asks, and resolves when the head of the answer is there. */
    const open = (): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        get({ port: server.port, host: '127.0.0.1', agent: false }, resolve).once('error', reject)
      })

    it('sends each piece when it is written, after any silence, and ends whole', async () => {
      const answer = await open()
      assert.equal(answer.headers['content-length'], undefined)
      assert.equal(answer.headers['connection'], 'close')
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      assert.equal(reply!.write(Buffer.from('one,')), true)
      await until(() => text === 'begun,one,', 'the first piece did not come')
      await wait(SILENCE_MS)
      reply!.write(Buffer.from('two,'))
      await until(() => text === 'begun,one,two,', 'the second piece did not come')
      assert.equal(gone, 0)
      reply!.write(Buffer.from('three'))
      reply!.end()
      await until(() => answer.complete, 'the end did not come')
      assert.equal(text, 'begun,one,two,three')
      reply!.write(Buffer.from('more'))
      reply!.end()
      reply!.cut()
      assert.equal(gone, 0)
    })

    it('answers HEAD with the head alone', async () => {
      const client = server.open()
      client.write(request('HEAD /'))
      await client.until(() => client.received.includes('\r\n\r\n'))
      assert.match(client.received.toString(), /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/)
      assert.equal(reply!.isOver, true)
    })

    it('says once that its client has gone', async () => {
      const answer = await open()
      answer.on('error', () => {})
      const before = gone
      answer.destroy()
      await until(() => gone === before + 1, 'not said')
      assert.equal(reply!.isOver, true)
      assert.equal(reply!.write(Buffer.from('to nobody')), true)
    })

    it('knows which of many connections has closed, so that the others are served on and none is counted for ever', async (t) => {
      const shared = Connections.allocate(1)
      const connections = new Connections(shared, 0, {
        connections: Infinity,
        streams: 100,
        streamsOfOne: 100,
      })
      let gone = 0
      const crowded = await new EngineServer(
        kind,
        (exchange) => {
          if (exchange.path === '/') exchange.send(TEXT_HEAD, Buffer.from('plain'))
          else {
            const stream = exchange.later({ onRoom() {}, onGone: () => gone++ })
            stream.begin(TEXT_HEAD, null)
            stream.write(Buffer.from('begun,'))
          }
        },
        { connections },
      ).until(t)
      const plain = Array.from({ length: 40 }, () => crowded.open())
      const streams = Array.from({ length: 80 }, () => crowded.open())
      const ask = async (client: RawClient, target: string, word: string): Promise<void> => {
        const before = client.received.length
        client.write(request(target))
        await client.until(() => client.received.subarray(before).includes(word))
      }
      await Promise.all(streams.map((client) => ask(client, 'GET /stream', 'begun,')))
      await Promise.all(plain.map((client) => ask(client, 'GET /', 'plain')))
      assert.equal(countConnections(shared).open, 120)
      // Neither in the order in which they were opened nor in that of their last bytes.
      const inTurn = (i: number): number => (i * 37) % 80
      for (let i = 0; i < 80; i++) {
        streams[inTurn(i)].socket.destroy()
        if (i % 8 === 7) await ask(plain[i >> 1], 'GET /', 'plain')
      }
      await until(
        () => countConnections(shared).open === 40,
        () => `${countConnections(shared).open} are open`,
      )
      await until(
        () => gone === 80,
        () => `${gone} streams of 80 know that their clients have gone`,
      )
      await Promise.all(plain.map((client) => ask(client, 'GET /', 'plain')))
      for (const { socket } of plain) socket.destroy()
      await until(
        () => countConnections(shared).open === 0,
        () => `${countConnections(shared).open} are open`,
      )
    })

    it('keeps the chunks of many streams apart while readers leave, stay behind, and others ask between', async (t) => {
      const [count, pieces] = [45, 40]
      const text = Buffer.from(Array.from({ length: PIECE + 26 }, (_, i) => 97 + (i % 26)))
      const length = pieces * PIECE
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
            sent += PIECE
            if (stream.write(text.subarray(at, at + PIECE))) setImmediate(goOn)
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

    it('sends what did not fit when its client reads again, without another write', async () => {
      const before = reply
      const socket = server.unread(request('GET /'))
      await until(() => reply !== before, 'not asked')
      const piece = Buffer.alloc(PIECE, 'x')
      let last = ''
      for (let sent = 0; ; sent += piece.length) {
        last = `piece ${sent};`
        piece.write(last, piece.length - last.length)
        if (!reply!.write(piece)) break
        await wait(0)
      }
      let tail = ''
      socket.on('data', (bytes) => (tail = (tail + bytes.toString('latin1')).slice(-100)))
      socket.resume()
      await until(
        () => tail.includes(last),
        () => `${last} did not come, but ${tail}`,
      )
      socket.destroy()
      await until(() => reply!.isOver, 'not said')
    })

    it('leaves no room for a client that does not read, and cuts it', async () => {
      const before = reply
      const socket = server.unread(request('GET /'))
      await until(() => reply !== before, 'not asked')
      const piece = Buffer.alloc(PIECE, 'x')
      let sent = 0
      while (sent < MANY_BYTES && reply!.write(piece)) {
        sent += piece.length
        await wait(0)
      }
      assert.ok(sent < MANY_BYTES, 'never out of room')
      reply!.cut()
      let isClosed = false
      socket.once('close', () => (isClosed = true))
      socket.resume()
      await until(() => isClosed, 'not cut')
      assert.ok(socket.bytesRead < sent + 2 * piece.length)
    })
  })
}
