/** Fetching: what is asked for and how often, and that no answer harms a file that is there. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { contentFault } from '../../../src/builder/fetch/download.ts'
import {
  dueFiles,
  fetchSources,
  planFiles,
  type FetchContext,
  type FetchOutcome,
} from '../../../src/builder/fetch/fetch-sources.ts'
import { timestampText } from '../../../src/sea/time.ts'
import { readConfiguration } from '../../../src/sources/configuration.ts'
import { temporaryFolder } from '../../live.ts'
import { startOrigin, status, type Fault, type Origin } from './origin.ts'

const NOON = Date.UTC(2026, 2, 27, 12) / 1000
const LIMITS = { connectMs: 1000, answerMs: 300, stallMs: 300, slowestBytesPerSecond: 0, wholeMs: 5000 }

/** A source whose files are `entries` of the origin. */
function drill(
  t: TestContext,
  origin: Origin,
  entries: object[],
  {
    hosts = {},
    allowed = [],
    limits = LIMITS,
    others = [],
    ...source
  }: {
    hosts?: object
    allowed?: Origin[]
    limits?: FetchContext['limits']
    /** Sources besides. */
    others?: object[]
    refresh?: string
    fetchWithin?: string
  } = {},
) {
  const root = temporaryFolder(t)
  const file = join(root, 'groundswell.config.json')
  const host = new URL(origin.url).host
  writeFileSync(
    file,
    JSON.stringify({
      sources: [
        { name: 'Net', kind: 'csv', folder: 'net', refresh: '30m', ...source, fetch: entries },
        ...others,
      ],
      hosts: {
        [host]: { connections: 2, gapMs: 0, ...hosts },
        ...Object.fromEntries(allowed.map(({ url }) => [new URL(url).host, { private: true }])),
      },
    }),
  )
  const waits: number[] = []
  const fetchAll = (now = NOON): Promise<FetchOutcome[]> =>
    fetchSources(readConfiguration(file, { SECRET: 'abc' }), {
      clock: () => now,
      random: () => 0.5,
      report: { progress: () => {}, line: () => {} },
      limits,
      pause: async (ms) => {
        waits.push(ms / 1000)
      },
    })
  return {
    folder: join(root, 'net'),
    waits,
    /** As `fetch`, of all sources. */
    fetchAll,
    fetch: async (now?: number): Promise<FetchOutcome> => {
      const outcomes = await fetchAll(now)
      assert.equal(outcomes.length, 1, 'one source')
      return outcomes[0]
    },
  }
}

/**
 * Pauses that a busy machine makes between two bytes are within these limits. A limit that bytes do not put
 * off still comes before the one of all attempts.
 */
const PATIENT = { ...LIMITS, connectMs: 4000, answerMs: 4000, stallMs: 4000 }

const GOOD = 'one,two\n'.repeat(100)

test('A file is fetched once, then only confirmed, and fetched again when it has changed.', async (t) => {
  const origin = await startOrigin(t)
  origin.files.set('/a.csv', GOOD)
  const { folder, fetch } = drill(t, origin, [{ url: `${origin.url}/a.csv`, to: 'data/a.csv' }])
  const first = await fetch()
  assert.deepEqual(
    [first.fetched, first.bytes, first.failed, first.oldest],
    [1, GOOD.length, 0, timestampText(NOON)],
  )
  assert.equal(readFileSync(join(folder, 'data/a.csv'), 'utf8'), GOOD)
  assert.deepEqual([(await fetch(NOON + 60)).not_due, origin.seen.length], [1, 1], 'not due')
  const second = await fetch(NOON + 1800)
  assert.deepEqual([second.unchanged, second.oldest], [1, timestampText(NOON + 1800)])
  assert.equal(origin.seen.at(-1)?.status, 304)
  origin.files.set('/a.csv', `${GOOD}more`)
  assert.equal((await fetch(NOON + 3600)).fetched, 1)
  assert.equal(readFileSync(join(folder, 'data/a.csv'), 'utf8'), `${GOOD}more`)
  // Somebody has put another file there: what the server said about the old one is no longer true.
  writeFileSync(join(folder, 'data/a.csv'), 'mine')
  assert.equal((await fetch(NOON + 3601)).fetched, 1)
  assert.equal(origin.seen.at(-1)?.headers['if-none-match'], undefined)
  assert.deepEqual(readdirSync(folder).toSorted(), ['.fetched.json', 'data'])
})

/** Sends a redirect. */
const leadTo =
  (location: string): Fault =>
  (response) => {
    response.writeHead(302, { location }).end()
  }

/** A byte now and then, for ever. */
const drip: Fault = (response) => {
  response.writeHead(200, { 'content-length': 4000 })
  const timer = setInterval(() => response.write('1'), 20)
  response.once('close', () => clearInterval(timer))
}

/** Half of a body, and the end of the connection. */
const cut: Fault = (response, body) => {
  response.writeHead(200, { 'content-length': body.length }).write(body.subarray(0, body.length >> 1))
  setTimeout(() => response.destroy(), 10)
}

const whole =
  (headers: { [name: string]: string }, packed: (body: Buffer) => Buffer | string): Fault =>
  (response, body) => {
    response.writeHead(200, headers).end(packed(body))
  }

/** A hundred megabytes in a hundred kilobytes: members of a gzip file stand one behind the other. */
const BOMB = Buffer.concat(Array(100).fill(gzipSync(Buffer.alloc(2 ** 20, 49))))
const CUT = /^the server cut the connection \(4 attempts\)$/
const TOO_LONG = /^has more than 5000 bytes$/

/** Wrong answers, what is said of each, and after how many attempts. */
const WRONG: [name: string, fault: Fault, reason: RegExp, attempts: number, limits?: typeof LIMITS][] = [
  ['no such file', status(404), /^HTTP status 404$/, 1],
  ['a fault of the server', status(500), /^HTTP status 500 \(4 attempts\)$/, 4],
  ['busy for a day', status(429, { 'retry-after': '86400' }), /^HTTP status 429$/, 1],
  ['a trickle', drip, /^not done within 5 s, all attempts together$/, 1, PATIENT],
  ['a cut', cut, CUT, 4],
  ['no answer', ({ socket }) => void socket?.destroy(), CUT, 4],
  ['a bomb', whole({ 'content-encoding': 'gzip' }, () => BOMB), TOO_LONG, 1],
  [
    'half of a gzip file',
    whole({ 'content-encoding': 'gzip' }, (body) => gzipSync(body).subarray(0, -12)),
    /^the compressed answer is damaged \(4 attempts\)$/,
    4,
  ],
  ['another encoding', whole({ 'content-encoding': 'br' }, (body) => body), /encoding/, 1],
  [
    'a huge length',
    (response) => void response.writeHead(200, { 'content-length': 2 ** 31 }).write('1'),
    TOO_LONG,
    1,
  ],
  [
    'no end',
    (response) => {
      response.writeHead(200, {})
      const timer = setInterval(() => response.write('1,2,3,4\n'.repeat(10_000)), 5)
      response.once('close', () => clearInterval(timer))
    },
    TOO_LONG,
    1,
  ],
  [
    'headers without end',
    ({ socket }) => {
      socket?.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => socket?.write(`X-Many: ${'x'.repeat(4000)}\r\n`), 5)
      socket?.once('close', () => clearInterval(timer))
    },
    /^the headers of the answer are too large \(4 attempts\)$/,
    4,
  ],
  ['a circle', leadTo('?again'), /^redirected more than 5 times$/, 6],
  ['the way to a file', leadTo('file:///etc/hostname'), /^redirects to an address that is not followed$/, 1],
  ['the way inside', leadTo('http://169.254.169.254/latest'), /^leads to an address that is not public/, 1],
  [
    'a page',
    whole({ 'content-type': 'text/html' }, () => '\n<!DOCTYPE html><title>Error</title>'),
    /^the answer is a web page$/,
    1,
  ],
  ['nothing', whole({}, () => ''), /^the answer is empty$/, 1],
  [
    'another protocol',
    ({ socket }) => void socket?.end('SSH-2.0-OpenSSH_9.6\r\n'),
    /^127\.0\.0\.1:\d+ does not answer in HTTP; is it https:.*attempts\)$/,
    4,
  ],
]

for (const [name, fault, reason, attempts, limits] of WRONG) {
  test(`The last good file stays when the answer is wrong, and the other network comes: ${name}.`, async (t) => {
    const [origin, good] = [await startOrigin(t), await startOrigin(t)]
    for (const { files } of [origin, good]) files.set('/a.csv', GOOD)
    const other = { url: `${good.url}/a.csv`, to: 'a.csv' }
    const others = [{ name: 'Other', kind: 'csv', folder: 'other', refresh: '30m', fetch: [other] }]
    const entry = { url: `${origin.url}/a.csv`, to: 'a.csv', maxBytes: 5000 }
    const { folder, fetchAll } = drill(t, origin, [entry], { limits, others, allowed: [good] })
    await fetchAll()
    origin.seen.length = 0
    origin.chance = () => fault
    const [outcome, second] = await fetchAll(NOON + 1800)
    assert.deepEqual([second.unchanged, second.failed], [1, 0], 'the other network')
    assert.deepEqual([outcome.failed, outcome.oldest], [1, timestampText(NOON)], 'says how old the file is')
    assert.match(outcome.failures[0].reason, reason)
    assert.equal(outcome.failures[0].used_from, timestampText(NOON))
    assert.equal(origin.seen.length, attempts, 'attempts')
    assert.equal(readFileSync(join(folder, 'a.csv'), 'utf8'), GOOD)
    assert.deepEqual(readdirSync(folder).toSorted(), ['.fetched.json', 'a.csv'])
  })
}

test('A passing failure is tried again with growing pauses, and what the server asks for is heeded.', async (t) => {
  const origin = await startOrigin(t)
  origin.files.set('/a.csv', GOOD)
  origin.faults.set('/a.csv', { fault: status(500), count: 3 })
  const { fetch, waits } = drill(t, origin, [{ url: `${origin.url}/a.csv`, to: 'a.csv' }], { refresh: '1s' })
  assert.equal((await fetch()).fetched, 1)
  assert.deepEqual(waits, [0.5, 1, 2])
  waits.length = 0
  origin.faults.set('/a.csv', { fault: status(503, { 'retry-after': '2' }), count: 2 })
  assert.equal((await fetch(NOON + 10)).unchanged, 1)
  assert.deepEqual(waits, [2, 2])
})

test('A network that trickles has one limit for all of its files and attempts, and what came before stays.', async (t) => {
  const origin = await startOrigin(t)
  const entries = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => {
    origin.files.set(`/${name}.csv`, GOOD)
    return { url: `${origin.url}/${name}.csv`, to: `${name}.csv` }
  })
  const { folder, fetch } = drill(t, origin, entries, { fetchWithin: '2s' })
  assert.equal((await fetch()).fetched, 6)
  origin.seen.length = 0
  origin.chance = () => drip
  const began = performance.now()
  const outcome = await fetch(NOON + 1800)
  assert.ok(performance.now() - began < 30_000, 'six files of four tries of five seconds take two minutes')
  assert.deepEqual(
    outcome.failures.map(({ reason, used_from: usedFrom }) => [reason, usedFrom]),
    entries.map(() => ['its source was not done within 2 s', timestampText(NOON)]),
  )
  assert.equal(origin.seen.length, 2, 'the rest is not even asked for')
  assert.deepEqual([outcome.failed, outcome.seconds_allowed], [6, 2])
  assert.ok(outcome.seconds >= 2)
  assert.equal(readFileSync(join(folder, 'f.csv'), 'utf8'), GOOD)
})

test('A host is asked by few connections at a time, with pauses between requests.', async (t) => {
  const origin = await startOrigin(t)
  const stations = Array.from({ length: 12 }, (_, i) => `S${i}`)
  for (const station of stations) origin.files.set(`/${station}.csv`, GOOD)
  const entry = { url: `${origin.url}/{station}.csv`, to: '{station}.csv', stations }
  const { fetch } = drill(t, origin, [entry], { hosts: { connections: 3, gapMs: 20 } })
  const began = performance.now()
  assert.equal((await fetch()).fetched, 12)
  assert.ok(origin.mostAtOnce <= 3, `${origin.mostAtOnce} at once`)
  // Not since the first was seen: it may have been seen late. Timers may be 1 ms early.
  const took = origin.seen[11].at - began
  assert.ok(took >= 11 * 20 - 11, `${took} ms`)
})

test('A host that does not answer is left alone after a few files.', async (t) => {
  const origin = await startOrigin(t)
  const stations = Array.from({ length: 30 }, (_, i) => `S${i}`)
  const entry = { url: `${origin.url}/{station}.csv`, to: '{station}.csv', stations }
  const { fetch } = drill(t, origin, [entry], { hosts: { connections: 1 } })
  await origin.close()
  const outcome = await fetch()
  assert.equal(outcome.failed, 30)
  assert.equal(outcome.oldest, null)
  const reasons = outcome.failures.map(({ reason }) => reason)
  assert.equal(reasons.filter((reason) => reason.startsWith('nothing listens at 127.0.0.1:')).length, 3)
  assert.equal(reasons.filter((reason) => reason === 'the host does not answer').length, 27)
})

test('Secrets go to the host they are for and nowhere else, and no message holds them.', async (t) => {
  const [origin, other] = [await startOrigin(t), await startOrigin(t)]
  other.files.set('/b.csv', GOOD)
  origin.chance = () => (response) => {
    response.writeHead(302, { location: `${other.url}/b.csv` }).end()
  }
  const entry = {
    url: `${origin.url}/a.csv?x=1`,
    to: 'a.csv',
    headers: { authorization: { env: 'SECRET' }, accept: 'text/csv' },
    query: { token: { env: 'SECRET' } },
  }
  const { fetch } = drill(t, origin, [entry], { refresh: '1s', allowed: [other] })
  assert.equal((await fetch()).fetched, 1)
  assert.equal(origin.seen[0].path, '/a.csv?x=1&token=abc')
  assert.equal(origin.seen[0].headers.authorization, 'abc')
  assert.equal(other.seen[0].headers.authorization, undefined)
  assert.equal(other.seen[0].path, '/b.csv')
  origin.chance = () => status(404)
  const outcome = await fetch(NOON + 10)
  assert.ok(outcome.failed === 1 && !JSON.stringify(outcome).includes('abc'), 'no secret is shown')
})

test('Files that the configuration no longer names are removed, and only those that were fetched.', async (t) => {
  const origin = await startOrigin(t)
  for (const day of ['20260326', '20260327', '20260328']) origin.files.set(`/d${day}.csv`, `${day}\n`)
  const entry = { url: `${origin.url}/d{YYYY}{MM}{DD}.csv`, to: 'd{YYYY}{MM}{DD}.csv', days: 2 }
  const { folder, fetch } = drill(t, origin, [entry])
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'own.csv'), 'own')
  assert.equal((await fetch()).fetched, 2)
  const next = await fetch(NOON + 86_400)
  assert.deepEqual([next.fetched, next.unchanged, next.removed], [1, 1, 1])
  assert.deepEqual(readdirSync(folder).toSorted(), [
    '.fetched.json',
    'd20260327.csv',
    'd20260328.csv',
    'own.csv',
  ])
})

test('What a killed fetch left and a damaged index do no harm.', async (t) => {
  const origin = await startOrigin(t)
  origin.files.set('/a.csv', GOOD)
  const { folder, fetch } = drill(t, origin, [{ url: `${origin.url}/a.csv`, to: 'sub/a.csv' }])
  mkdirSync(join(folder, 'sub'), { recursive: true })
  writeFileSync(join(folder, 'sub', '.tmp-1-a.csv'), 'half')
  writeFileSync(join(folder, '.fetched.json'), '[["x"')
  assert.equal((await fetch()).fetched, 1)
  assert.deepEqual(readdirSync(join(folder, 'sub')), ['a.csv'])
})

test('A compressed file is inspected: its content and what it expands to.', async (t) => {
  const origin = await startOrigin(t)
  origin.files.set('/good.txt.gz', gzipSync(GOOD))
  origin.files.set('/page.txt.gz', gzipSync('<html>'))
  origin.files.set('/bomb.txt.gz', gzipSync(Buffer.alloc(20 * 2 ** 20, 49)))
  const entries = ['good', 'page', 'bomb'].map((name) => ({
    url: `${origin.url}/${name}.txt.gz`,
    to: `${name}.txt.gz`,
    maxBytes: 1_000_000,
  }))
  const { folder, fetch } = drill(t, origin, entries)
  const { failures } = await fetch()
  assert.deepEqual(failures.map(({ reason }) => reason).toSorted(), [
    'has more than 1000000 bytes',
    'the answer is a web page',
  ])
  assert.ok(existsSync(join(folder, 'good.txt.gz')), 'the good one is there')
  assert.equal(readdirSync(folder).length, 2)
})

test('The first bytes of a body say what it is.', () => {
  const cases: [start: string, content: Parameters<typeof contentFault>[1], isRight: boolean][] = [
    ['#YY MM', 'text', true],
    ['\ufeffDate;H1/3', 'text', true],
    ['  <HTML>', 'text', false],
    ['<?xml version="1.0"?><Error/>', 'text', false],
    ['a\0b', 'text', false],
    ['{"a":1}', 'json', true],
    ['Error {', 'json', false],
    ['<stations>', 'xml', true],
    ['<html>', 'xml', false],
    ['stations', 'xml', false],
    ['CDF\x01\0\0', 'netcdf', true],
    ['CDF\x07', 'netcdf', false],
    ['<html>', 'netcdf', false],
    ['<html>', 'any', true],
  ]
  for (const [start, content, isRight] of cases) {
    assert.equal(contentFault(Buffer.from(start), content) === null, isRight, `${content}: ${start}`)
  }
  assert.equal(contentFault(Buffer.from([0x89, 0x48, 0x44, 0x46, 13, 10, 26, 10]), 'netcdf'), null)
})

test('The plan of a source names every station and day once, and what is due of it.', async (t) => {
  const root = temporaryFolder(t)
  const file = join(root, 'groundswell.config.json')
  const fetch = [
    { url: 'https://a.example/{station}.txt', to: 'r/{station}.txt', stations: ['A', 'B'] },
    { url: 'https://a.example/m.{YYYY}{MM}{DD}.csv', to: 'm.{YYYY}{MM}{DD}.csv', days: 3 },
    { url: 'https://a.example/q.json?from={from}&to={until}', to: 'q.json', days: 3 },
  ]
  writeFileSync(file, JSON.stringify({ sources: [{ name: 'Net', kind: 'csv', folder: 'net', fetch }] }))
  const [source] = readConfiguration(file, {}).sources
  const expected = [
    'https://a.example/A.txt r/A.txt text',
    'https://a.example/B.txt r/B.txt text',
    'https://a.example/m.20260301.csv m.20260301.csv text',
    'https://a.example/m.20260228.csv m.20260228.csv text',
    'https://a.example/m.20260227.csv m.20260227.csv text',
    'https://a.example/q.json?from=2026-02-27&to=2026-03-02 q.json json',
  ]
  const now = Date.UTC(2026, 2, 1, 0, 0, 5) / 1000
  assert.deepEqual(
    planFiles(source, now).map(({ url, to, content }) => `${url} ${to} ${content}`),
    expected,
  )
  assert.equal(dueFiles(source, now).length, expected.length)
  assert.ok(!existsSync(join(root, 'net')), 'looking makes no folder')
})
