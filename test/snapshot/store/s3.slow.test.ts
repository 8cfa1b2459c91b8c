import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import dns from 'node:dns'
import { writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { after, afterEach, before, test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { readObject, type GetOptions, type Store } from '../../../src/snapshot/store/store.ts'
import { RequestFault } from '../../../src/snapshot/store/web-request.ts'
import { openStore } from '../../../src/snapshot/store/store-address.ts'
import { IMPATIENT, openStub, SHORT_LIMITS } from './opened.ts'
import { StubS3, type Fault, stubFor } from './stub_s3.ts'
import { listening } from '../../listening.ts'
import { temporaryFolder } from '../../live.ts'

const stub = new StubS3()
before(() => stub.listen())
after(() => stub.close())
afterEach(() => {
  stub.faultOf = () => null
  stub.objects.clear()
  stub.log.length = 0
})

/** A store that is closed when the test ends. */
function storeOf(t: TestContext, ...given: Parameters<typeof openStub>): Store {
  const store = openStub(...given)
  t.after(() => store.close())
  return store
}

/** The body and the ETag of an object that is there. */
async function found(
  store: Store,
  name: string,
  options?: GetOptions,
): Promise<{ etag: string; body: Readable }> {
  const answer = await store.get(name, options)
  assert.ok(answer !== null && answer !== 'unchanged' && answer.etag !== null)
  return { ...answer, etag: answer.etag }
}

const bodyOf = ({ body }: { body: Readable }): Promise<Buffer> => buffer(body as AsyncIterable<Buffer>)

/** Once for the first request that matches, or for the first `times` ones. */
function failing(fault: Fault, method = 'GET', times = Infinity): () => number {
  let count = 0
  stub.faultOf = (request) => (request.method === method && count++ < times ? fault : null)
  return () => count
}

/** Fails where the fault's message does not match. */
async function fails(promise: Promise<unknown>, message: RegExp): Promise<RequestFault> {
  const error = await promise.then(
    () => assert.fail(`should fail with ${message}`),
    (error: unknown) => error,
  )
  assert.ok(error instanceof RequestFault, String(error))
  assert.match(error.message, message)
  assert.ok(!error.message.includes(stub.options.secretAccessKey), error.message)
  assert.ok(!error.message.includes('\n'), error.message)
  return error
}

test('What is put into a bucket comes back, whatever characters its name has.', async () => {
  const names = fc.array(
    fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
      .map((text) => text.replaceAll(/[/\p{Cc}\p{Cs}]/gu, 'x'))
      .filter((text) => text !== '.' && text !== '..'),
    { minLength: 1, maxLength: 3 },
  )
  await fc.assert(
    fc.asyncProperty(names, fc.uint8Array({ maxLength: 4000 }), async (segments, bytes) => {
      const store = openStub(stub, { prefix: 'a b/ü+~' })
      const name = segments.join('/')
      try {
        assert.equal(await store.put(name, bytes), 'stored')
        const object = await readObject(store, name, { maxBytes: 4000 })
        assert.ok(object !== null && object !== 'unchanged')
        assert.deepEqual(object.bytes, Buffer.from(bytes))
        assert.deepEqual(stub.bytesOf(`a b/ü+~/${name}`), Buffer.from(bytes))
        const { objects } = await store.list('')
        assert.ok(
          objects.some((one) => one.name === name && one.bytes === bytes.length),
          name,
        )
        await store.remove(name)
        assert.equal(await readObject(store, name, { maxBytes: 10 }), null)
      } finally {
        await store.close()
      }
    }),
    { numRuns: 15 },
  )
})

test('A file is put with its hash, which the store compares with what it got.', async (t) => {
  const bytes = Buffer.alloc(3_000_000, 'wave')
  const path = join(temporaryFolder(t), 'part')
  writeFileSync(path, bytes)
  const store = storeOf(t, stub)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const counted = failing('503', 'PUT', 2)
  assert.equal(await store.put('part', { path, bytes: bytes.length }, { sha256 }), 'stored')
  assert.equal(counted(), 3)
  assert.deepEqual(stub.bytesOf('sea/part'), bytes)
  const other = createHash('sha256').update('other').digest('hex')
  const fault = await fails(
    store.put('other', { path, bytes: bytes.length }, { sha256: other }),
    /^s3:\/\/bucket\/sea\/other: the store answered 400 XAmzContentSHA256Mismatch \(4 attempts\)$/,
  )
  assert.equal(fault.code, 'XAmzContentSHA256Mismatch')
  assert.equal(stub.bytesOf('sea/other'), undefined)
})

test('A conditional put finds the name taken or the object replaced, also by its own attempt whose answer was lost.', async (t) => {
  const store = storeOf(t, stub)
  assert.equal(await store.put('one', Buffer.from('1'), { ifNoneMatch: '*' }), 'stored')
  assert.equal(await store.put('one', Buffer.from('2'), { ifNoneMatch: '*' }), 'refused')
  assert.equal(stub.bytesOf('sea/one')?.toString(), '1')
  failing('lost', 'PUT', 1)
  assert.equal(await store.put('two', Buffer.from('3'), { ifNoneMatch: '*' }), 'refused')
  assert.equal(stub.bytesOf('sea/two')?.toString(), '3')
  const etagOf = async (name: string): Promise<string> => (await found(store, name)).etag
  const ifMatch = await etagOf('two')
  failing('lost', 'PUT', 1)
  assert.equal(await store.put('two', Buffer.from('4'), { ifMatch }), 'refused')
  assert.equal(stub.bytesOf('sea/two')?.toString(), '4')
  assert.equal(await store.put('two', Buffer.from('5'), { ifMatch: await etagOf('two') }), 'stored')
})

test('A read gives bytes and ETag, nothing for an ETag that still holds, and no more than was allowed.', async (t) => {
  const store = storeOf(t, stub)
  await store.put('one', Buffer.from('0123456789'))
  const whole = await found(store, 'one')
  assert.equal((await bodyOf(whole)).toString(), '0123456789')
  const ifNoneMatch = whole.etag
  assert.equal(await store.get('one', { ifNoneMatch }), 'unchanged')
  assert.equal(await store.get('two'), null)
  assert.equal(await readObject(store, 'one', { maxBytes: 10, ifNoneMatch }), 'unchanged')
  await fails(readObject(store, 'one', { maxBytes: 9 }), /^s3:\/\/bucket\/sea\/one: has more than 9 bytes$/)
})

test('A listing of many pages has every object once, in the order of names, with the time of the store.', async (t) => {
  const at = Math.floor(Date.now() / 1000)
  const paged = await stubFor(t, { pageSize: 7, clock: () => at * 1000 })
  for (let i = 0; i < 50; i++) paged.set(`sea/a&b <${String(i).padStart(2, '0')}>`, 'x'.repeat(i))
  paged.set('seaside', 'not ours')
  const store = storeOf(t, paged)
  const { objects, now } = await store.list('')
  assert.deepEqual(
    objects,
    Array.from({ length: 50 }, (_, i) => ({
      name: `a&b <${String(i).padStart(2, '0')}>`,
      bytes: i,
      modified: at,
    })),
  )
  assert.equal(now, at)
  assert.equal((await store.list('a&b <1')).objects.length, 10)
})

test('What breaks off is tried again where an object is read whole.', async (t) => {
  const store = storeOf(t, stub, { limits: { ...IMPATIENT, attempts: 6 } })
  await store.put('one', Buffer.alloc(100_000, 'x'))
  for (const fault of ['truncate', 'stall', 'reset', '503', '500', 'hang'] as const) {
    const counted = failing(fault, 'GET', 2)
    const object = await readObject(store, 'one', { maxBytes: 100_000 })
    assert.ok(object !== null && object !== 'unchanged' && object.bytes.length === 100_000, fault)
    assert.ok(counted() >= 3, fault)
  }
})

const LASTING: [fault: Fault, message: RegExp][] = [
  ['truncate', /^s3:\/\/bucket\/sea\/one: the server cut the connection$/],
  ['stall', /^s3:\/\/bucket\/sea\/one: the server stopped sending$/],
  ['reset', /^s3:\/\/bucket\/sea\/one: the server cut the connection \(4 attempts\)$/],
  ['503', /^s3:\/\/bucket\/sea\/one: the store answered 503 SlowDown \(4 attempts\)$/],
  ['hang', /^s3:\/\/bucket\/sea\/one: the server did not answer in time \(4 attempts\)$/],
  ['trickle', /^s3:\/\/bucket\/sea\/one: the server sends too slowly$/],
]

for (const [fault, message] of LASTING) {
  test(`A store that goes on with "${fault}" is given up after a few attempts, with one line.`, async (t) => {
    const store = storeOf(t, stub, { limits: fault === '503' || fault === 'reset' ? {} : IMPATIENT })
    stub.set('sea/one', Buffer.alloc(1_000_000, 'x'))
    const counted = failing(fault)
    const error = await fails(readObject(store, 'one', { maxBytes: 1_000_000 }), message)
    assert.equal(counted(), 4)
    assert.ok(error.passing)
  })
}

test('A body that is streamed is not cut off while its reader is slow.', async (t) => {
  const store = storeOf(t, stub, { limits: { answerMs: 400, stallMs: 400 } })
  await store.put('one', Buffer.alloc(4_000_000, 'x'))
  const slow = await found(store, 'one')
  await new Promise((resolve) => setTimeout(resolve, 1000))
  assert.equal((await bodyOf(slow)).length, 4_000_000)
})

test('A caller can end a call that waits, and one that waits for its next attempt.', async (t) => {
  const store = storeOf(t, stub, { limits: { answerMs: 60_000, attempts: 20 } })
  for (const fault of ['hang', '503'] as const) {
    failing(fault)
    const ending = new AbortController()
    const asked = readObject(store, 'one', { maxBytes: 10, signal: ending.signal })
    setTimeout(() => ending.abort(new Error('enough')), 50)
    await assert.rejects(asked, (error: Error) => /enough|aborted/.test(error.message))
  }
})

const SETTINGS: [what: string, environment: { [name: string]: string }, message: RegExp][] = [
  [
    'An unknown access key',
    { AWS_ACCESS_KEY_ID: 'AKIDOTHER' },
    /^s3:\/\/bucket\/sea\/one: the store refuses access \(403 InvalidAccessKeyId\); check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and the policy of the bucket$/,
  ],
  [
    'Half a pair',
    { AWS_SECRET_ACCESS_KEY: '' },
    /^AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: one is set and the other is not: set both, or neither$/,
  ],
  [
    'Another region',
    { AWS_REGION: 'eu-west-3' },
    /^s3:\/\/bucket\/sea\/one: the bucket is not here, but in the region us-east-1 \(400 AuthorizationHeaderMalformed\); check the address, AWS_ENDPOINT_URL_S3 and AWS_REGION$/,
  ],
  [
    'A port where nothing listens',
    { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' },
    /^s3:\/\/bucket\/sea\/one: nothing listens at 127\.0\.0\.1:9 \(4 attempts\)$/,
  ],
  [
    'TLS where there is none',
    { AWS_ENDPOINT_URL_S3: 'https://127.0.0.1:PORT' },
    /^s3:\/\/bucket\/sea\/one: 127\.0\.0\.1:\d+ does not speak TLS; is it http:\/\/ instead of https:\/\/\?$/,
  ],
  [
    'A password in the endpoint',
    { AWS_ENDPOINT_URL_S3: 'http://me:secret@store' },
    /^AWS_ENDPOINT_URL_S3: is not a URL such as .*, without user and password$/,
  ],
]

for (const [what, environment, message] of SETTINGS) {
  test(`${what}: one line says what to set.`, async (t) => {
    const given = Object.entries(environment).map(([name, value]) => [
      name,
      value.replace('PORT', String(stub.port)),
    ])
    const read = async (): Promise<unknown> => {
      const store = storeOf(t, stub, { environment: Object.fromEntries(given) as typeof environment })
      return readObject(store, 'one', { maxBytes: 10 })
    }
    await fails(read(), message)
  })
}

test('A bucket that does not exist is named as such.', async () => {
  const store = openStore('s3://other/sea', {
    environment: stub.environment,
    random: () => 0,
    limits: SHORT_LIMITS,
  })
  await fails(
    store.list(''),
    /^s3:\/\/other\/sea: the bucket is not here \(404 NoSuchBucket\); check the address, AWS_ENDPOINT_URL_S3 and AWS_REGION$/,
  )
  await store.close()
})

test('A public bucket is read without credentials, and a session token is sent along.', async (t) => {
  const open = await stubFor(t, { anonymous: 'read' })
  open.set('sea/one', 'x')
  const reader = storeOf(t, open, { environment: { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' } })
  assert.ok((await readObject(reader, 'one', { maxBytes: 1 })) !== null)
  await fails(reader.put('two', Buffer.from('x')), /the store refuses access \(403 AccessDenied\)/)
  const session = await stubFor(t, { sessionToken: 'FwoGZXIvYXdzEBc=' })
  const holder = storeOf(t, session)
  assert.equal(await holder.put('one', Buffer.from('x')), 'stored')
  const expired = storeOf(t, session, { environment: { AWS_SESSION_TOKEN: 'old' } })
  await fails(
    expired.put('one', Buffer.from('x')),
    /the store refuses access \(400 ExpiredToken\); check .* AWS_SESSION_TOKEN/,
  )
})

test('A bucket is addressed in the path or in the host, as the environment says.', async (t) => {
  const hosts: string[] = []
  const original = dns.lookup
  // As the operating system would: every name is this machine.
  const lookup = ((host: string, options: dns.LookupOptions, done: (...args: unknown[]) => void) => {
    hosts.push(host)
    if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }])
    else done(null, '127.0.0.1', 4)
  }) as unknown as typeof dns.lookup
  dns.lookup = lookup
  t.after(() => {
    dns.lookup = original
  })
  const environment = { AWS_ENDPOINT_URL_S3: `http://store.test:${stub.port}` }
  const path = storeOf(t, stub, { environment })
  await path.put('one', Buffer.from('path'))
  const virtual = storeOf(t, stub, { environment: { ...environment, AWS_S3_ADDRESSING_STYLE: 'virtual' } })
  await virtual.put('two', Buffer.from('virtual'))
  assert.deepEqual(hosts, ['store.test', 'bucket.store.test'])
  assert.deepEqual(stub.keys(), ['sea/one', 'sea/two'])
})

interface Endpoint {
  answers: { status: number; body: string }[]
  tokens: (string | undefined)[]
  url: string
}

/** An endpoint as that of a container: gives its answers in turn, the last one again and again. */
async function endpointOf(t: TestContext, answers: Endpoint['answers']): Promise<Endpoint> {
  const endpoint: Endpoint = { answers, tokens: [], url: '' }
  const server = createServer((request, response) => {
    endpoint.tokens.push(request.headers.authorization)
    const { status, body } = endpoint.answers.length > 1 ? endpoint.answers.shift()! : endpoint.answers[0]
    response.writeHead(status).end(body)
  })
  endpoint.url = `http://127.0.0.1:${await listening(t, server)}/credentials`
  return endpoint
}

/** Variables that the credential chain reads, for as long as the test runs. */
function withVariables(t: TestContext, variables: { [name: string]: string }): { [name: string]: string } {
  for (const [name, value] of Object.entries(variables)) process.env[name] = value
  t.after(() => {
    for (const name of Object.keys(variables)) delete process.env[name]
  })
  return { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', ...variables }
}

test('Credentials of a container are asked for with its token, kept, and asked for again when they have expired.', async (t) => {
  const session = await stubFor(t, { sessionToken: 'second' })
  const { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey } = session.options
  const given = (Token: string): { status: number; body: string } => ({
    status: 200,
    body: JSON.stringify({
      AccessKeyId,
      SecretAccessKey,
      Token,
      Expiration: new Date(Date.now() + 3_600_000).toISOString(),
    }),
  })
  const endpoint = await endpointOf(t, [given('first'), given('second')])
  const environment = withVariables(t, {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: endpoint.url,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: 'Basic abc',
  })
  const store = storeOf(t, session, { environment })
  // The store refuses the first as expired, so the next call asks for others.
  const fault = await fails(store.put('one', Buffer.from('x')), /refuses access \(400 ExpiredToken\)/)
  assert.ok(fault.passing)
  assert.equal(await store.put('one', Buffer.from('x')), 'stored')
  assert.equal(await store.put('two', Buffer.from('x')), 'stored')
  assert.deepEqual(endpoint.tokens, ['Basic abc', 'Basic abc'])
})

test('An endpoint that gives no credentials is named, and its token is not.', async (t) => {
  const { url } = await endpointOf(t, [{ status: 403, body: 'no' }])
  const environment = withVariables(t, {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: url,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: 'Basic secret-token',
  })
  await fails(
    readObject(storeOf(t, stub, { environment }), 'one', { maxBytes: 1 }),
    /^s3:\/\/bucket\/sea: AWS_CONTAINER_CREDENTIALS_FULL_URI gives no credentials$/,
  )
})

test('A server that does not answer as S3 is named, and no answer of any length is read to its end.', async (t) => {
  const answers = { body: '<html>Welcome</html>' }
  const server = createServer((_request, response) => response.writeHead(200).end(answers.body))
  const port = await listening(t, server)
  const store = storeOf(t, stub, { environment: { AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` } })
  const long = 'x'.repeat(9 * 2 ** 20)
  for (const body of [answers.body, 'not XML', '', '<ListBucketResult>', long]) {
    answers.body = body
    await fails(
      store.list(''),
      /^s3:\/\/bucket\/sea: the server does not answer as S3: (it lists no objects|its answer cannot be read); check AWS_ENDPOINT_URL_S3$/,
    )
  }
})

/** A listing without an end, page by page. @param token of the page after the given one */
function endless(token: (page: number) => string): RequestListener {
  let pages = 0
  return (_request, response) => {
    const next = token(pages++)
    response.end(
      `<ListBucketResult><Name>bucket</Name><IsTruncated>true</IsTruncated><NextContinuationToken>${next}</NextContinuationToken></ListBucketResult>`,
    )
  }
}

test('A listing that names no next page, the same one again, one of before, or always another is refused.', async (t) => {
  for (const token of [
    () => '',
    () => 'again',
    (page: number) => `page ${page % 3}`,
    (page: number) => `page ${page}`,
  ]) {
    const port = await listening(t, createServer(endless(token)))
    const store = storeOf(t, stub, { environment: { AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` } })
    await fails(
      store.list(''),
      /^s3:\/\/bucket\/sea: its list does not end within 1000000 objects and 1000 pages, or repeats itself/,
    )
  }
})

test('A server that changes the protocol does not hold a call.', async (t) => {
  const answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(answer))
  })
  const endpoint = `http://127.0.0.1:${await listening(t, server)}`
  const store = storeOf(t, stub, {
    environment: { AWS_ENDPOINT_URL_S3: endpoint },
    limits: { ...IMPATIENT, attempts: 2 },
  })
  const late = /^s3:\/\/bucket\/sea\/one: the server did not answer in time \(2 attempts\)$/
  await fails(store.get('one'), late)
  await fails(store.put('one', Buffer.from('x')), late)
})
