/** That one client costs a server little, whatever it does: both engines, in small. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import {
  Connections,
  connectionsWithin,
  countConnections,
  networkOf,
  openFilesLimit,
  REFUSED,
  UNLIMITED,
} from '../../src/http/connections.ts'
import {
  BODYLESS_LIMIT_BYTES,
  BUFFER_LIMIT_BYTES,
  BufferedBytes,
  PIECE_BYTES,
  REQUESTS_PER_TURN,
} from '../../src/http/engines/limits.ts'
import { lineText, type LogLine } from '../../src/system/log.ts'
import { until } from '../until.ts'
import { request, type RawClient } from './raw_client.ts'
import { ENGINES, HUGE_LENGTH, missing, pathServer } from './server_for_tests.ts'

const MEGABYTE = 1e6

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Reads an answer that waits, and hashes the `length` bytes of its body. */
function hashOfBody({ socket, ended }: RawClient, length: number): Promise<string> {
  assert.ok(!ended, 'the connection is gone')
  const hash = createHash('sha256')
  let [isInBody, left] = [false, length]
  return new Promise((resolve, reject) => {
    socket.removeAllListeners('data')
    socket.once('close', () => reject(new Error(`closed with ${left} bytes left`)))
    socket.on('data', (chunk: Buffer) => {
      const at = isInBody ? 0 : chunk.indexOf('\r\n\r\n') + 4
      isInBody = true
      hash.update(chunk.subarray(at))
      left -= chunk.length - at
      if (left === 0) resolve(hash.digest('hex'))
    })
    socket.resume()
  })
}

for (const kind of ENGINES) {
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

    it('that pipelines more requests than one turn allows gets no more answers than that', async () => {
      const before = server.seen.length
      const client = open()
      client.write(request('GET /many').repeat(4 * REQUESTS_PER_TURN))
      await client.closed()
      const served = server.seen.length - before
      // Behind one more the engine finds that there is yet more.
      assert.ok(served <= REQUESTS_PER_TURN + 1, `${served} served`)
      await assertServes()
    })

    it('that sends too much costs none of 100 others whose requests come in the same turn its answer', async () => {
      const others = Array.from({ length: 100 }, () => open())
      for (const client of others) {
        assert.equal((await client.ask('GET /first')).body, 'at /first')
      }
      for (let round = 0; round < 5; round++) {
        const flooding = Array.from({ length: 20 }, () => open())
        for (const client of flooding) client.write('')
        await delay(20)
        others.forEach((client, i) => {
          flooding[i]?.write(request('GET /many').repeat(2 * REQUESTS_PER_TURN))
          client.write(request(`${i % 2 === 0 ? 'GET' : 'HEAD'} /n${i}`))
        })
        for (const [i, client] of others.entries()) {
          const answer = await client.answer(i % 2 === 0 ? 'GET' : 'HEAD')
          assert.equal(answer.status, 200)
        }
        for (const client of flooding) client.socket.destroy()
      }
      for (const client of others) client.socket.destroy()
    })

    it('that pipelines 200 requests at a time and reads the answers gets all of 2,000', async () => {
      const client = open()
      for (let batch = 0; batch < 10; batch++) {
        const numbers = Array.from({ length: 200 }, (_, i) => batch * 200 + i)
        client.write(numbers.map((number) => request(`GET /n${number}`)).join(''))
        for (const number of numbers) assert.equal((await client.answer()).body, `at /n${number}`)
      }
      client.socket.destroy()
    })

    it('that waits for each answer gets as many as it likes', async () => {
      const client = open()
      for (let i = 0; i < 3 * REQUESTS_PER_TURN; i++) {
        assert.equal((await client.ask(`GET /n${i}`)).body, `at /n${i}`)
      }
      client.socket.destroy()
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

    it('that does not read an answer that can be made again costs a piece of it, and gets all of it in the end', async () => {
      const before = process.memoryUsage().arrayBuffers
      const unread = Array.from({ length: 100 }, () => open())
      for (const [i, client] of unread.entries()) {
        client.socket.pause()
        client.write(request(`GET /again?n${i}`))
        if (i % 10 === 0) await assertServes()
      }
      // The kernel takes some megabytes for each before it is known who does not read.
      for (let tries = 0; ; tries++) {
        await assertServes()
        await delay(50)
        collectGarbage()
        const held = process.memoryUsage().arrayBuffers - before
        if (held < 100 * PIECE_BYTES + 10 * MEGABYTE) break
        assert.ok(tries < 100, `${Math.round(held / MEGABYTE)} MB of 800 held`)
      }
      for (const [i, client] of unread.entries()) {
        if (i % 10 === 0) {
          const whole = createHash('sha256')
            .update(Buffer.alloc(HUGE_LENGTH, `<n${i}>`))
            .digest('hex')
          assert.equal(await hashOfBody(client, HUGE_LENGTH), whole, `number ${i}`)
        }
        client.socket.destroy()
      }
    })

    it('that was slow to read an answer that cannot be made again any more is cut', async () => {
      const client = open()
      client.socket.pause()
      client.write(request('GET /again?gone'))
      await assertServes()
      await delay(200)
      client.socket.resume()
      await client.closed(30_000)
      assert.ok(client.received.length < HUGE_LENGTH)
      await assertServes()
    })

    it('beyond the limit of connections is told so, and let in when another has left', async (t) => {
      const connections = new Connections(Connections.allocate(1), 0, { ...UNLIMITED, total: 20 })
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

    it('beyond the limit of its address is told so, whoever else of many leaves first', async (t) => {
      const connections = new Connections(Connections.allocate(1), 0, {
        total: 1_000,
        perAddress: 150,
        isExempt: () => false,
      })
      const own = await pathServer(kind, { connections }).until(t)
      const enter = async (): Promise<RawClient | null> => {
        const client = own.open()
        client.write(request('GET /in'))
        return (await client.answer()).status === 200 ? client : null
      }
      const inside: RawClient[] = []
      for (let i = 0; i < 150; i++) {
        const client = await enter()
        assert.ok(client !== null, `number ${i}`)
        inside.push(client)
      }
      assert.equal(await enter(), null)
      // In an order that has nothing to do with the one they came in; some leave with a reset, some before
      // they asked anything.
      for (let i = 0; i < 100; i++) {
        const [leaving] = inside.splice((i * 37) % inside.length, 1)
        if (i % 3 === 0) leaving.socket.resetAndDestroy()
        else leaving.socket.destroy()
      }
      const left = (most: number): Promise<void> =>
        until(
          () => connections.open <= most,
          () => `${connections.open} counted`,
        )
      await left(50)
      for (let i = 0; i < 100; i++) assert.ok((await enter()) !== null, `again number ${i}`)
      assert.equal(await enter(), null)
      own.engine.close()
      await left(0)
    })
  })
}

describe('answers without a body of the uws engine', { skip: missing('uws') }, () => {
  it('end their connection in good order before 256 KB of them can wait unread', async (t) => {
    const server = await pathServer('uws').until(t)
    const client = server.open()
    let bytes = 0
    let answers = 0
    for (;;) {
      const answer = await client.ask('HEAD /headed')
      answers++
      bytes += [...answer.headers].reduce(
        (sum, [name, values]) => sum + name.length + values[0].length + 4,
        17,
      )
      if (answer.headers.has('connection')) break
    }
    await client.closed()
    assert.ok(bytes > BODYLESS_LIMIT_BYTES * 0.9 && bytes < 256 * 1024, `${bytes} bytes in ${answers}`)
  })
})

describe('connections that are counted', () => {
  it('are those of all threads, and a thread that starts anew has none', () => {
    const buffer = Connections.allocate(3)
    const limits = { ...UNLIMITED, total: 4 }
    const threads = [0, 1, 2].map((thread) => new Connections(buffer, thread, limits))
    assert.deepEqual(
      [0, 1, 2, 1, 0].map((thread) => threads[thread].opened('')),
      [0, 0, 0, 0, REFUSED],
    )
    assert.equal(threads[2].open, 4)
    assert.deepEqual(countConnections(buffer), { open: 4, refused: { in_all: 1, by_address: 0 }, reset: 0 })
    const anew = new Connections(buffer, 1, limits)
    assert.deepEqual(countConnections(buffer), { open: 2, refused: { in_all: 1, by_address: 0 }, reset: 0 })
    assert.equal(anew.open, 2)
    assert.equal(anew.opened(''), 0)
  })

  it('of one address are counted by its network, unless it is exempt', () => {
    const limits = { total: 100, perAddress: 2, isExempt: (address: string) => address === '192.0.2.9' }
    const buffer = Connections.allocate(2)
    const connections = new Connections(buffer, 1, limits)
    const slot = connections.opened('2001:db8::1')
    assert.ok(slot > 0)
    assert.equal(connections.opened('2001:db8:0:0:5::2'), slot)
    assert.equal(connections.opened('2001:db8::3'), REFUSED)
    assert.deepEqual(countConnections(buffer), { open: 2, refused: { in_all: 0, by_address: 1 }, reset: 0 })
    assert.ok(connections.opened('2001:db8:0:1::3') !== REFUSED)
    for (let i = 0; i < 5; i++) assert.equal(connections.opened('192.0.2.9'), 0)
    connections.left(slot)
    assert.equal(connections.opened('2001:db8::4'), slot)
  })

  it('have networks of 64 bits with IPv6 and whole addresses with IPv4', () => {
    assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
    assert.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.7')
    assert.equal(networkOf('2001:db8::1'), '2001:db8:0:0')
    assert.equal(networkOf('2001:0db8:0000:0000:0000:0000:0000:0001'), '2001:db8:0:0')
    assert.equal(networkOf('1:2:3:4:5:6:7:8'), '1:2:3:4')
    assert.equal(networkOf('::1'), '0:0:0:0')
  })
})

describe('connections and open files', () => {
  it('leave room for each other, and the operator is told', () => {
    const lines: string[] = []
    const log: LogLine = (...event) => lines.push(lineText(...event))
    const wanted = { connections: 10_000, listeners: 10_000 }
    const all = { maxConnections: 10_000, maxListeners: 10_000 }
    assert.deepEqual(connectionsWithin(wanted, 2, 40_000, log), all)
    assert.deepEqual(connectionsWithin(wanted, 2, null, log), all)
    // Somewhat fewer listeners are not worth a warning.
    const { maxConnections, maxListeners } = connectionsWithin(wanted, 2, 20_000, log)
    assert.equal(maxConnections, 10_000)
    assert.ok(maxListeners > 9_000 && maxListeners < 10_000)
    assert.deepEqual(lines, [])
    const fewer = connectionsWithin(wanted, 2, 1_024, log)
    assert.ok(fewer.maxConnections > 600 && fewer.maxConnections < 700)
    assert.ok(fewer.maxListeners > 200 && fewer.maxListeners < 250)
    assert.equal(lines.length, 1)
    assert.match(
      lines[0],
      /--max-connections 10000 is taken as \d+ and --max-listeners 10000 as \d+: .* 1024 files/,
    )
    assert.deepEqual(connectionsWithin(wanted, 2, 10, log), { maxConnections: 1, maxListeners: 1 })
  })

  it('are limited where the system says so', { skip: process.platform !== 'linux' }, () => {
    assert.ok(openFilesLimit()! > 0)
  })
})

describe('bytes that are buffered', () => {
  it('are refused beyond the limit and free again when given back', () => {
    const buffered = new BufferedBytes(100)
    assert.deepEqual([buffered.take(60), buffered.take(41), buffered.take(40)], [true, false, true])
    buffered.giveBack(60)
    assert.deepEqual([buffered.take(61), buffered.take(60)], [false, true])
  })

  it('are refused beyond half of it where there is another way', () => {
    const buffered = new BufferedBytes(100)
    assert.deepEqual(
      [buffered.takeSpare(51), buffered.takeSpare(40), buffered.takeSpare(11)],
      [false, true, false],
    )
    assert.deepEqual([buffered.take(60), buffered.take(1)], [true, false])
  })
})
