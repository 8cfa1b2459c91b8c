import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { openReadable } from '../../../src/snapshot/store/open-store.ts'
import type { ReadableStore } from '../../../src/snapshot/store/store.ts'
import { readUpTo, RequestFault } from '../../../src/snapshot/store/web-request.ts'
import { listening } from '../../listening.ts'
import { SHORT_LIMITS } from './opened.ts'

async function storeOf(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<ReadableStore> {
  const store = openReadable(`http://127.0.0.1:${await listening(t, createServer(answer))}/data/sea`, {
    environment: {},
    clock: () => 0,
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
  assert.equal(whole.headers.etag, '"7"')
  assert.equal(String(await readUpTo(whole.body, 5, () => new Error())), 'bytes')
  assert.equal((await store.get('manifest.msgpack', { ifNoneMatch: '"7"' })).status, 304)
  assert.equal((await store.get('other')).status, 404)
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
  const { body } = await store.get('one')
  await assert.rejects(
    readUpTo(body, 100, () => new Error()),
    { name: 'RequestFault', passing: true, message: /cut the connection/ },
  )
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
