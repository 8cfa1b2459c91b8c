import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import { StoreError, type Store } from '../../src/store/store.ts'
import { SHORT_LIMITS } from './opened.ts'

async function storeOf(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Store> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const store = openStore(`http://127.0.0.1:${(server.address() as AddressInfo).port}/data/sea`, {
    environment: {},
    clock: () => 0,
    random: () => 0,
    limits: SHORT_LIMITS,
  })
  t.after(async () => {
    await store.close()
    server.closeAllConnections()
    server.close()
  })
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
  assert.deepEqual(await store.read('manifest.msgpack', { maxBytes: 5 }), {
    bytes: Buffer.from('bytes'),
    etag: '"7"',
  })
  assert.equal(await store.read('manifest.msgpack', { maxBytes: 5, ifNoneMatch: '"7"' }), 'unchanged')
  assert.equal(await store.read('other', { maxBytes: 5 }), null)
  assert.deepEqual(asked, [
    '/data/sea/manifest.msgpack identity',
    '/data/sea/manifest.msgpack identity',
    '/data/sea/other identity',
  ])
})

test('A body without a length that is cut short is not taken for a whole one.', async (t) => {
  let count = 0
  const store = await storeOf(t, (_request, response) => {
    response.write('half', () => (++count < 3 ? response.destroy() : response.end(' and half')))
  })
  const object = await store.read('one', { maxBytes: 100 })
  assert.ok(object !== null && object !== 'unchanged')
  assert.equal(object.bytes.toString(), 'half and half')
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
    await assert.rejects(store.read('one', { maxBytes: 100 }), (error) => {
      assert.ok(error instanceof StoreError)
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /hush/)
      return true
    })
  })
}

test('A web server cannot be written to, and a bucket behind one is named.', async () => {
  const context = { environment: {}, clock: () => 0, random: () => 0 }
  await assert.rejects(
    openStore('https://my-bucket.s3.eu-west-3.amazonaws.com/sea', context).put('one', Buffer.from('x')),
    /a web server can be read and not written to, did you mean "s3:\/\/my-bucket\/sea"\?$/,
  )
  await assert.rejects(openStore('https://host/sea', context).list(''), /expected s3:\/\/BUCKET\/PREFIX$/)
})
