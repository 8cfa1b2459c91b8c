import assert from 'node:assert/strict'
import { createServer as createTcpServer } from 'node:net'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { openReadable } from '../../../src/snapshot/store/store-address.ts'
import { readObject, type ReadableStore } from '../../../src/snapshot/store/store.ts'
import { readUpTo, RequestFault, within } from '../../../src/snapshot/store/web-request.ts'
import { listening } from '../../listening.ts'
import { SHORT_LIMITS } from './opened.ts'

async function storeOf(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<ReadableStore> {
  const store = openReadable(`http://127.0.0.1:${await listening(t, createServer(answer))}/data/sea`, {
    environment: {},
    random: () => 0,
    limits: SHORT_LIMITS,
  })
  t.after(() => store.close())
  return store
}

test('A folder of a web server is read by name, as it lies there.', async (t) => {
  const asked: string[] = []
  const store = await storeOf(t, (request, response) => {
    asked.push(`${request.url} ${request.headers['accept-encoding']}`)
    if (request.url?.endsWith('/manifest.msgpack') !== true) response.writeHead(404).end('no')
    else if (request.headers['if-none-match'] === '"7"') response.writeHead(304).end()
    else response.writeHead(200, { etag: '"7"' }).end('bytes')
  })
  const whole = await store.get('manifest.msgpack')
  assert.ok(whole !== null && whole !== 'unchanged')
  assert.equal(whole.etag, '"7"')
  assert.equal(String(await readUpTo(whole.body, 5, () => new Error())), 'bytes')
  assert.equal(await store.get('manifest.msgpack', { ifNoneMatch: '"7"' }), 'unchanged')
  assert.equal(await store.get('other'), null)
  assert.deepEqual(asked, [
    '/data/sea/manifest.msgpack identity',
    '/data/sea/manifest.msgpack identity',
    '/data/sea/other identity',
  ])
})

test('A body without a length that is cut short is not taken for a whole one.', async (t) => {
  const store = await storeOf(t, (_request, response) => {
    response.write('half', () => response.destroy())
  })
  await assert.rejects(readObject(store, 'one', { maxBytes: 100 }), {
    name: 'RequestFault',
    passing: true,
    message: /cut the connection/,
  })
})

const FAULTS: [status: number, headers: { [name: string]: string }, message: RegExp][] = [
  [403, {}, /\/data\/sea\/one: the web server refuses access \(403\)$/],
  [500, {}, /\/data\/sea\/one: the web server answered 500 \(4 attempts\)$/],
  [503, { 'retry-after': '86400' }, /\/data\/sea\/one: the web server answered 503$/],
  [
    301,
    { location: 'https://user:hush@example.com/x' },
    /redirects \(301\); name the address that it redirects to$/,
  ],
  [
    302,
    { location: 'https://example.com/x?token=hush' },
    /redirects \(302\) to https:\/\/example\.com\/x; name the address/,
  ],
  [204, {}, /the web server answered 204$/],
]

for (const [status, headers, message] of FAULTS) {
  test(`An answer ${status} of a web server is a fault with one line.`, async (t) => {
    const store = await storeOf(t, (_request, response) => response.writeHead(status, headers).end())
    await assert.rejects(store.get('one'), (error) => {
      assert.ok(error instanceof RequestFault)
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /hush/)
      return true
    })
  })
}

test('What comes too late fails with the fault that is made of it, or with the reason that is thrown instead.', async () => {
  const never = new Promise(() => {})
  await assert.rejects(
    within(1, () => new Error('late'), never),
    /^Error: late$/,
  )
  const ended = AbortSignal.abort(new RequestFault('the source is over'))
  const late = (): Error => {
    ended.throwIfAborted()
    return new Error('late')
  }
  await assert.rejects(within(1, late, never), /^RequestFault: the source is over$/)
})

test('A web server that changes the protocol, says nothing, or stops in the middle does not hold a call.', async (t) => {
  const limits = { ...SHORT_LIMITS, attempts: 2, answerMs: 300, stallMs: 300 }
  const storeAt = async (answer: string): Promise<ReadableStore> => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.write(answer))
    })
    const address = `http://127.0.0.1:${await listening(t, server)}/`
    const store = openReadable(address, { environment: {}, random: () => 0, limits })
    t.after(() => store.close())
    return store
  }
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'
  for (const [answer, message] of [
    [
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      /cut the connection \(2/,
    ],
    ['', /did not answer in time \(2/],
    [`${head}half`, /stopped sending/],
    ['HTTP/1.1 103 Early Hints\r\n\r\n', /did not answer in time \(2/],
  ] as const) {
    const store = await storeAt(answer)
    await assert.rejects(readObject(store, 'one', { maxBytes: 100 }), { name: 'RequestFault', message })
  }
})
