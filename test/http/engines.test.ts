/** The same wire behaviour, asserted byte by byte, of both engines. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { setTimeout as delay } from 'node:timers/promises'
import { after, before, describe, it, mock } from 'node:test'
import { request, type RawClient } from './raw_client.ts'
import { connectionsFor, ENGINES, HUGE_LENGTH, missing, MOST_BODY, pathServer } from './server_for_tests.ts'

/** What the paths of the handler below answer other than 200. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ['/204', 204],
  ['/304', 304],
  ['/throw', 500],
])

for (const kind of ENGINES) {
  describe(`the ${kind} engine`, { skip: missing(kind) }, () => {
    const server = pathServer(kind).forSuite()
    // An answer without a body ends its connection by chance, one in a thousand: not here.
    const chance = mock.method(Math, 'random')
    before(() => chance.mock.mockImplementation(() => 0.999))
    after(() => chance.mock.restore())
    const open = (): RawClient => server.open()
    /** That the connection is in step: a further request gets its own answer, and nothing else was sent. */
    const assertInStep = async (client: RawClient): Promise<void> => {
      await delay(20)
      assert.equal(client.received.toString('latin1'), '')
      assert.equal((await client.ask('GET /in-step')).body, 'at /in-step')
      assert.equal(client.ended, false)
    }
    const assertClosedWithNothingMore = async (client: RawClient): Promise<void> => {
      await client.closed()
      assert.equal(client.received.toString('latin1'), '')
    }

    it('answers GET with the head as given and the time', async () => {
      const client = open()
      const answer = await client.ask('GET /a/%41')
      assert.equal(answer.status, 200)
      assert.deepEqual(answer.headers.get('content-type'), ['text/plain'])
      assert.equal(answer.headers.get('date')?.length, 1)
      assert.ok(Math.abs(Date.parse(answer.headers.get('date')?.[0] ?? '') - Date.now()) < 5_000)
      assert.equal(answer.body, 'at /a/%41')
      await assertInStep(client)
    })

    it('reads a body in pieces, with a length and in chunks, and drops what is longer than it may be', async () => {
      const pieces = fc.array(fc.string({ minLength: 1, maxLength: 400, unit: 'grapheme-ascii' }), {
        maxLength: 5,
      })
      await fc.assert(
        fc.asyncProperty(pieces, fc.boolean(), async (texts, isChunked) => {
          const body = texts.join('')
          const client = open()
          const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
          client.write(`POST /body HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`)
          for (const text of texts) {
            await delay(1)
            client.write(isChunked ? `${text.length.toString(16)}\r\n${text}\r\n` : text)
          }
          if (isChunked) client.write('0\r\n\r\n')
          const answer = await client.answer()
          assert.equal(answer.body, body.length > MOST_BODY ? 'too long' : body)
          const isBody = isChunked || body.length > 0
          assert.deepEqual(answer.headers.get('connection'), isBody ? ['close'] : undefined)
        }),
        { numRuns: 30 },
      )
      const client = open()
      client.write(`POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n`)
      for (let sent = 0; sent < 1_000_000; sent += 50_000) client.write(Buffer.alloc(50_000, 'x'))
      assert.equal((await client.answer()).body, 'too long')
      const gone = open()
      gone.write('POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc')
      gone.socket.end()
      await gone.closed()
      assert.deepEqual(server.thrown, [])
    })

    it('hands over method, raw query, first and all header values, and address', async () => {
      const client = open()
      const { body } = await client.ask('GET /seen?a=%2541&b=1?2+3&a=', ['X-Test: one', 'x-test: two'])
      assert.deepEqual(JSON.parse(body), {
        method: 'GET',
        query: 'a=%2541&b=1?2+3&a=',
        header: 'one',
        values: 'one, two',
        missing: '',
        address: '127.0.0.1',
      })
      for (const method of ['OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE']) {
        const answer = await client.ask(`${method} /seen?`)
        const seen = JSON.parse(answer.body) as { method: string; query: string }
        assert.equal(seen.method, method)
        assert.equal(seen.query, '')
      }
    })

    it('hands over the headers of each request, in order, however often they come', async () => {
      // Some are as long as the one that is asked for, or longer than all.
      const name = fc.constantFrom('X-Test', 'x-test', 'user-agent', 'x-tesu', 'x', 'x'.repeat(400))
      const lines = fc.array(fc.tuple(name, fc.constantFrom('', 'a', '0', '12', 'Upgrade, Close')), {
        maxLength: 9,
      })
      const client = open()
      await fc.assert(
        fc.asyncProperty(lines, async (lines) => {
          const { body } = await client.ask(
            'GET /seen',
            lines.map(([name, value]) => `${name}: ${value}`),
          )
          const expected = lines.flatMap(([name, value]) => (/^x-test$/i.test(name) ? [value] : []))
          const { header, values } = JSON.parse(body) as { header: string; values: string }
          assert.deepEqual([header, values], [expected[0] ?? '', expected.join(', ')])
        }),
        { numRuns: 200 },
      )
    })

    it('reads raw UTF-8 in the request line, or refuses it with 400', async () => {
      const client = open()
      client.write(Buffer.from(request('GET /caf\u00e9'), 'utf8'))
      const answer = await client.answer()
      assert.deepEqual([answer.status, answer.body], kind === 'uws' ? [200, 'at /caf\u00e9'] : [400, ''])
    })

    for (const [path, status, names, length] of [
      ['/hello', 200, ['content-length', 'content-type', 'date', 'x-served-by'], ['9']],
      ['/empty', 200, ['content-length', 'content-type', 'date', 'x-served-by'], ['0']],
      ['/204', 204, ['date', 'x-served-by'], undefined],
      ['/304', 304, ['date', 'etag'], undefined],
    ] as const) {
      for (const method of ['GET', 'HEAD']) {
        it(`answers ${method} ${path} with its head and no more than its length`, async () => {
          const client = open()
          const answer = await client.ask(`${method} ${path}`)
          assert.equal(answer.status, status)
          assert.deepEqual([...answer.headers.keys()].sort(), names)
          assert.deepEqual(answer.headers.get('content-length'), length)
          await assertInStep(client)
        })
      }
    }

    it('sends exactly the bytes of a view on shared memory', async () => {
      const client = open()
      assert.equal((await client.ask('GET /shared')).body, 'shared')
    })

    it('stays in step whatever is pipelined and however it is cut into segments', async () => {
      const requests = fc.array(
        fc.record({
          method: fc.constantFrom('GET', 'HEAD', 'OPTIONS'),
          path: fc.constantFrom('/204', '/304', '/a', '/b', '/empty', '/throw'),
        }),
        { minLength: 1, maxLength: 12 },
      )
      const cuts = fc.array(fc.nat(600), { maxLength: 6 })
      await fc.assert(
        fc.asyncProperty(requests, cuts, async (sent, cuts) => {
          const client = open()
          client.socket.setNoDelay(true)
          const text = sent.map(({ method, path }) => request(`${method} ${path}`)).join('')
          const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length]
          for (let i = 1; i < places.length; i++) {
            client.write(text.slice(places[i - 1], places[i]))
            await delay(1)
          }
          for (const { method, path } of sent) {
            const answer = await client.answer(method)
            const expected = STATUSES.get(path) ?? 200
            assert.equal(answer.status, expected)
            if (method !== 'HEAD' && expected === 200) {
              assert.equal(answer.body, path === '/empty' ? '' : `at ${path}`)
            }
          }
          await assertInStep(client)
          client.socket.destroy()
        }),
        { numRuns: 40 },
      )
    })

    for (const [isServed, name, headers, body] of [
      [true, 'a body of known length', ['Content-Length: 5'], 'abcde'],
      [true, 'a length before another header', ['Content-Length: 5', 'X-After: 1'], 'abcde'],
      [true, 'a body in chunks', ['Transfer-Encoding: chunked'], '3\r\nabc\r\n0\r\n\r\n'],
      [true, 'a wish to close', ['Connection: close'], ''],
      [true, 'a wish to close among others', ['Connection: TE, Close'], ''],
      [false, 'two equal lengths', ['Content-Length: 3', 'Content-Length: 3'], 'abc'],
      [false, 'two lengths, the first 0', ['Content-Length: 0', 'Content-Length: 3'], ''],
      [false, 'two lengths, the first empty', ['Content-Length:', 'Content-Length: 3'], ''],
      [false, 'an empty length', ['Content-Length: '], ''],
      [false, 'two codings', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
      [false, 'two codings, the first empty', ['Transfer-Encoding:', 'Transfer-Encoding: chunked'], ''],
      [false, 'an unknown coding', ['Transfer-Encoding: xchunked'], '0\r\n\r\n'],
      [false, 'chunks within another coding', ['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'],
      [false, 'an empty coding', ['Transfer-Encoding:'], ''],
    ] as const) {
      it(`serves nothing behind a request with ${name}, in one segment or later`, async () => {
        const serve = async (method: string, path: string, behind: string): Promise<void> => {
          const next = `/behind-${method}${path}-${behind}`
          const client = open()
          client.socket.setNoDelay(true)
          const first = request(`${method} ${path}`, headers, body)
          client.write(first + (behind === 'same' ? request(`GET ${next}`) : ''))
          if (behind === 'later') {
            await delay(5)
            client.write(request(`GET ${next}`))
          }
          await client.closed()
          assert.ok(!server.seen.includes(next))
          // More that comes may reset the connection before its answer is read.
          if ((isServed && behind === 'none') || client.received.length > 0) {
            const answer = await client.answer(method)
            assert.ok(!isServed || answer.status < 400)
            if (answer.status < 400) assert.deepEqual(answer.headers.get('connection'), ['close'])
          }
          assert.equal(client.received.toString('latin1'), '', 'one answer at most')
        }
        // All at once: the engine leaves the end of some connections to the client, and ends them after a
        // silence.
        await Promise.all(
          ['GET /first', 'HEAD /first', 'POST /first', 'GET /204', 'OPTIONS /304'].flatMap((line) => {
            const [method, path] = line.split(' ')
            return ['none', 'same', 'later'].map((behind) => serve(method, path, behind))
          }),
        )
      })
    }

    it('reads 98 lines of headers and answers 431 to more', async () => {
      const lines = (count: number): string[] => Array.from({ length: count - 1 }, (_, i) => `X-${i}: v`)
      const client = open()
      assert.equal((await client.ask('GET /98', lines(98))).body, 'at /98')
      assert.equal((await client.ask('GET /99', lines(99))).status, 431)
      await client.closed()
    })

    it('reads heads of 16,384 bytes and answers 431 to ones of 17,000', async () => {
      const headOf = (bytes: number): string => {
        const shorter = request('GET /16k', ['X-Test: '])
        return request('GET /16k', [`X-Test: ${'v'.repeat(bytes - shorter.length)}`])
      }
      assert.equal(headOf(16_384).length, 16_384)
      const client = open()
      client.write(headOf(16_384))
      assert.equal((await client.answer()).body, 'at /16k')
      client.write(headOf(17_000))
      assert.equal((await client.answer()).status, 431)
      await client.closed()
    })

    for (const [name, text, body] of [
      ['HTTP/1.0', 'GET /ten HTTP/1.0\r\nHost: test\r\n\r\n', 'at /ten'],
      ['OPTIONS *', request('OPTIONS *'), 'at *'],
    ] as const) {
      it(`answers ${name}, or 505 where the engine knows none`, async () => {
        const client = open()
        client.write(text)
        const answer = await client.answer()
        assert.deepEqual([answer.status, answer.body], kind === 'uws' ? [505, ''] : [200, body])
        if (kind === 'uws' || name === 'HTTP/1.0') await client.closed()
      })
    }

    it('answers before a body arrives that never comes', async () => {
      const client = open()
      const answer = await client.ask('POST /hello', ['Content-Length: 1000', 'Expect: 100-continue'])
      assert.equal(answer.status, 200)
      await assertClosedWithNothingMore(client)
    })

    it('keeps the connection of a request with Content-Length 0', async () => {
      const client = open()
      assert.equal((await client.ask('GET /hello', ['Content-Length: 0'])).headers.has('connection'), false)
      await assertInStep(client)
    })

    for (const path of ['/throw', '/forget']) {
      it(`answers 500 when the handler does ${path}, reports it, and lives on`, async () => {
        const client = open()
        const before = server.thrown.length
        const answer = await client.ask(`GET ${path}`)
        assert.equal(answer.status, 500)
        assert.deepEqual(JSON.parse(answer.body), { error: 'internal_error', message: 'Internal error' })
        assert.equal(server.thrown.length, before + 1)
        assert.match(String(server.thrown.at(-1)), path === '/throw' ? /a fault/ : /without an answer/)
        assert.equal((await client.ask(`HEAD ${path}`)).status, 500)
        await assertInStep(client)
      })
    }

    it('sends only the first of two answers, and reports the second', async () => {
      const client = open()
      assert.equal((await client.ask('GET /twice')).body, 'once')
      assert.match(String(server.thrown.at(-1)), /already been answered/)
      await assertInStep(client)
    })

    it('refuses the use of an exchange after its time', async () => {
      const client = open()
      await client.ask('GET /hello')
      assert.throws(() => server.last!.header('accept'), /over/)
      assert.throws(() => server.last!.address(), /over|null/)
      assert.throws(() => server.last!.send('200 OK', null), /already been answered/)
    })

    for (const [name, headers, body] of [
      ['that keeps its connection', [], ''],
      ['with a connection that is closed', ['Connection: close'], ''],
      ['that came with a body', ['Content-Length: 1'], 'x'],
    ] as const) {
      it(`sends 8 MB to a slow reader ${name} while the buffer is written again`, async () => {
        const client = open()
        client.socket.pause()
        client.write(request('GET /huge?abc', headers, body))
        // Other requests overwrite the buffer while most of the first answer waits in the engine.
        for (const query of ['x', 'yz']) {
          const other = open()
          other.write(request(`GET /huge?${query}`))
          const answer = await other.answer()
          assert.ok(answer.body === `<${query}>`.repeat(HUGE_LENGTH).slice(0, HUGE_LENGTH))
        }
        const reader = setInterval(() => {
          client.socket.resume()
          setTimeout(() => client.socket.pause(), 1)
        }, 3)
        const answer = await client.answer().finally(() => clearInterval(reader))
        await delay(5)
        client.socket.resume()
        assert.ok(answer.body === '<abc>'.repeat(HUGE_LENGTH).slice(0, HUGE_LENGTH))
        if (headers.length === 0) await assertInStep(client)
        else await assertClosedWithNothingMore(client)
      })
    }

    for (const [name, headers, body] of [
      ['requests without a body', [], ''],
      ['requests with a body', ['Content-Length: 1'], 'x'],
    ] as const) {
      it(`holds bounded memory when a client pipelines ${name} for 1 GB and does not read`, async () => {
        const client = open()
        client.socket.pause()
        const before = process.memoryUsage().rss
        client.write(request('GET /big?flood', headers, body).repeat(5_000))
        let peak = 0
        for (let i = 0; i < 20; i++) {
          await delay(50)
          peak = Math.max(peak, process.memoryUsage().rss - before)
        }
        assert.ok(peak < 100e6, `held ${Math.round(peak / 1e6)} MB`)
        client.socket.destroy()
        await assertInStep(open())
      })
    }

    it('holds no copies of a body that stays for 60 clients that do not read it', async () => {
      const before = process.memoryUsage().rss
      const unread = Array.from({ length: 60 }, () => open())
      for (const client of unread) {
        client.socket.pause()
        client.write(request('GET /stays'))
      }
      // The server and its clients share a thread: while others are answered, so are these.
      for (let i = 0; i < 10; i++) {
        await assertInStep(open())
        await delay(20)
      }
      const held = process.memoryUsage().rss - before
      assert.ok(held < 150e6, `held ${Math.round(held / 1e6)} MB of 480`)
      const [reader, ...others] = unread
      for (const client of others) client.socket.destroy()
      reader.socket.resume()
      const answer = await reader.answer()
      assert.ok(answer.body === 'a'.repeat(HUGE_LENGTH))
      await assertInStep(reader)
    })

    for (const [name, status, text] of [
      ['a negative length', 400, request('GET /refused', ['Content-Length: -1'])],
      [
        'a length and a coding',
        400,
        request('GET /refused', ['Content-Length: 3', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
      ],
      ['two Hosts', 400, request('GET /refused', ['Host: other'])],
      ['no Host', 400, 'GET /refused HTTP/1.1\r\nX: b\r\n\r\n'],
      ['a header without a colon', 400, request('GET /refused', ['nonsense'])],
      ['a control byte in a header', 400, request('GET /refused', ['X: \x01'])],
      ['a folded header', 400, request('GET /refused', ['X: b', ' c'])],
      ['a URL over 16 KB', 431, request(`GET /refused?${'u'.repeat(17_000)}`)],
      ['headers over 16 KB', 431, request('GET /refused', Array(9).fill(`X: ${'v'.repeat(2_000)}`))],
    ] as const) {
      it(`answers ${status} and closes on ${name}`, async () => {
        const client = open()
        client.write(text)
        const answer = await client.answer()
        assert.equal(answer.status, status)
        assert.match(answer.headers.get('connection')?.join() ?? 'close', /^close$/i)
        await client.closed()
        assert.ok(!server.seen.includes('/refused'))
        await assertInStep(open())
      })
    }

    it('survives garbage, half-closes and resets', async () => {
      for (const bytes of ['\x16\x03\x01\x02\x00\x01\x00', 'GET', '\r\n\r\n\r\n', '\x00'.repeat(100)]) {
        const client = open()
        client.write(Buffer.from(bytes, 'latin1'))
        await delay(10)
        client.socket.resetAndDestroy()
      }
      const client = open()
      client.socket.end(request('GET /half-closed'))
      assert.equal((await client.answer()).body, 'at /half-closed')
      await assertInStep(open())
    })

    it('after stopListening refuses new connections and serves the existing ones', async (t) => {
      const own = await pathServer(kind).until(t)
      const client = own.open()
      await assertInStep(client)
      void own.engine.stopListening()
      await own.engine.stopListening()
      const late = own.open()
      await late.closed()
      assert.equal(late.received.length, 0)
      await assertInStep(client)
      await assertInStep(client)
      own.engine.close()
      await assertClosedWithNothingMore(client)
    })

    for (const [method, path] of [
      ['GET', '/hello'],
      ['GET', '/big'],
      ['HEAD', '/hello'],
      ['GET', '/204'],
      ['GET', '/304'],
      ['GET', '/throw'],
    ] as const) {
      it(`after drain answers ${method} ${path} with Connection: close`, async (t) => {
        const own = await pathServer(kind).until(t)
        const client = own.open()
        await assertInStep(client)
        own.engine.drain()
        const answer = await client.ask(`${method} ${path}`)
        assert.deepEqual(answer.headers.get('connection'), ['close'])
        if (method === 'HEAD') assert.deepEqual(answer.headers.get('content-length'), ['9'])
        await delay(20)
        assert.equal(client.received.length, 0)
      })
    }

    it('finishes when what had reached it is answered, long answers too', async (t) => {
      const connections = connectionsFor(Infinity)
      const own = await pathServer(kind, { connections }).until(t)
      const slow = own.open()
      slow.socket.pause()
      slow.write(request('GET /stays'))
      while (own.seen.length === 0) await delay(1)
      own.engine.drain()
      const late = own.open()
      while (connections.open < 2) await delay(1)
      void own.engine.stopListening()
      late.write(request('GET /late'))
      const finished = own.engine.finish(60_000)
      assert.equal(await Promise.race([finished, delay(200, 'waits')]), 'waits')
      slow.socket.resume()
      assert.equal((await late.answer()).body, 'at /late')
      assert.equal((await slow.answer()).body.length, HUGE_LENGTH)
      await finished
    })

    it('drops everything on close, which may be called again', async (t) => {
      const own = await pathServer(kind).until(t)
      const idle = own.open()
      await assertInStep(idle)
      const slow = own.open()
      slow.write('GET / HTTP/1.1\r\n')
      const stalled = own.open()
      stalled.socket.pause()
      for (let i = 0; i < 5; i++) stalled.write(request('GET /big'))
      const closing = own.open()
      await delay(50)
      own.engine.drain()
      closing.write(request('HEAD /hello'))
      await delay(0)
      own.engine.close()
      own.engine.close()
      stalled.socket.resume()
      for (const client of [idle, slow, stalled, closing]) await client.closed()
      const late = own.open()
      await late.closed()
    })
  })
}
