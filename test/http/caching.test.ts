/** How long answers may be kept, and who may keep them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { OPERATIONS } from '../../src/routes.ts'
import { Counters } from '../../src/http/counters.ts'
import { AskedPath, KEY, KEYED, viewOf } from '../answered.ts'
import { smallSnapshot } from '../access/turned_clock.ts'
import { until } from '../until.ts'

const view = await viewOf(await smallSnapshot())
const MINUTE = 60

/** One good request of each operation. */
const REQUESTS = [
  '/v2/buoys',
  '/v2/buoys/1',
  '/v2/buoys/last_readings?ids=1',
  '/v2/buoys/search?query=alpha',
  '/v2/buoys/nearest?lat=43.5&lng=-1.6&max_distance=20000',
  '/v2/buoys/1/readings',
  '/v2/buoys/1/spectra',
  '/v2/buoys/1/readings/chart',
  '/v2/buoys/1/readings/series?metric=significient_height',
  '/v2/buoys/1/climate',
  '/v2/buoys/1/climate/records',
  '/v2/buoys/1/climate/table',
  '/v2/buoys/1/climate/storms',
  '/v2/buoys/satellites',
  '/v2/buoys/satellite_passes',
  '/v2/conditions?lat=43.5&lng=-1.6',
  '/v2/forecast?lat=43.5&lng=-1.6',
  '/v2/tides?lat=43.5&lng=-1.6',
  '/v2/readings',
  '/v2/countries',
  '/v2/buoys/map',
  `/v2/changes?since=${view.dataset.snapshotId}`,
  '/v2/files',
  '/v2/places?query=biarritz',
]

const maxAge = (cacheControl: string): number => Number(/max-age=(\d+)/.exec(cacheControl)?.[1] ?? NaN)

test('An answer lives a minute at most, and never past the next build of the schedule.', () => {
  const { publishedAt } = view.dataset
  const every = fc.oneof(
    fc.constantFrom(0, 1, 30, 60, 90, 600, 1800, 3600, 86400),
    fc.integer({ min: 1, max: 100_000 }),
  )
  fc.assert(
    fc.property(
      every,
      fc.integer({ min: -4000, max: 500_000 }),
      fc.nat({ max: 999 }),
      (refreshEvery, age, ms) => {
        const now = publishedAt + age + ms / 1000
        const path = new AskedPath(view, { refreshEvery, clock: () => now })
        const next = refreshEvery === 0 ? Infinity : (Math.floor(now / refreshEvery) + 1) * refreshEvery
        for (const url of REQUESTS) {
          const { status, headers } = path.get(url, KEYED)
          assert.equal(status, 200, url)
          const lives = maxAge(headers['cache-control'])
          assert.ok(lives >= 0 && lives <= MINUTE, `${url}: ${lives}`)
          assert.ok(
            Math.floor(now) + lives <= next,
            `${url}: ${lives} s at ${next - now} s before the next build`,
          )
          // As long as that allows, but for those that say what is now.
          if (!/conditions|forecast|tides/.test(url)) {
            assert.equal(lives, Math.min(MINUTE, next - Math.floor(now)), url)
          }
        }
      },
    ),
    { numRuns: 30 },
  )
})

test('Every answer of a keyed operation, errors too, says that it depends on the key; no public one does.', () => {
  const path = new AskedPath(view)
  const isPublic = (url: string): boolean => /search\?|nearest|places/.test(url)
  const varied = (headers: { [name: string]: string }): string[] => (headers.vary ?? '').split(', ')
  // One reading by its id and the closest one are as others are, and return levels need fifteen years.
  assert.equal(REQUESTS.length, OPERATIONS.length - 3, 'an operation without a request')
  for (const url of REQUESTS) {
    const { etag } = path.get(url, KEYED).headers
    for (const headers of [KEYED, { ...KEYED, 'if-none-match': etag }]) {
      const answer = path.get(url, headers)
      assert.equal(answer.status, 'if-none-match' in headers ? 304 : 200, url)
      assert.ok(varied(answer.headers).includes('Accept-Encoding'))
      assert.equal(varied(answer.headers).includes('Authorization'), !isPublic(url), url)
      assert.equal(varied(answer.headers).includes('Accept-Language'), url.endsWith('satellites'), url)
    }
    if (isPublic(url)) continue
    for (const headers of [{}, { authorization: 'Bearer x' }]) {
      const answer = path.get(url, headers)
      assert.equal(answer.status, 401)
      assert.deepEqual(varied(answer.headers), ['Authorization'], url)
    }
  }
  for (const url of ['/v2/buoys?page=0', '/v2/buoys/nothing', '/v2/buoys/1/readings?per_page=0']) {
    assert.deepEqual(varied(path.get(url, KEYED).headers), ['Authorization'], url)
  }
  assert.equal(path.get('/v2/buoys/search?query=', KEYED).headers.vary, undefined)
})

test("Every answer of an operation says the time of its snapshot's data, errors and 304s too.", () => {
  const path = new AskedPath(view, { clock: () => 1_780_000_000 })
  const time = new Date(view.dataset.asOf * 1000).toISOString().replace('.000', '')
  const wrong = ['/v2/buoys?page=0', '/v2/buoys/nothing', '/v2/buoys/search?query=']
  for (const url of [...REQUESTS, ...wrong]) {
    const { headers } = path.get(url, KEYED)
    const known = headers.etag === undefined ? {} : { 'if-none-match': headers.etag }
    const answers = [headers, path.get(url, {}).headers, path.get(url, { ...KEYED, ...known }).headers]
    for (const answer of answers) assert.equal(answer['x-snapshot-as-of'], time, url)
  }
})

test('An answer whose tag the client names is not made; `*` names none.', () => {
  const counters = new Counters(Counters.allocate(1), 0)
  // Keeps no answer: each is larger.
  const path = new AskedPath(view, { counters, answerCache: 100, clock: () => 1_780_000_000 })
  for (const url of REQUESTS) {
    const { headers } = path.get(url, KEYED)
    const made = counters.sumOf('made')
    for (const condition of [headers.etag, `"x", ${headers.etag}`, headers.etag.slice(2)]) {
      const known = path.get(url, { ...KEYED, 'if-none-match': condition })
      assert.equal(known.status, 304, `${url}: ${condition}`)
      assert.equal(known.bytes.length, 0)
      for (const name of ['etag', 'cache-control', 'vary', 'x-snapshot-id', 'x-snapshot-as-of']) {
        assert.equal(known.headers[name], headers[name], `${url}: ${name}`)
      }
    }
    assert.equal(counters.sumOf('made'), made, `${url} was made again`)
    assert.equal(path.get(url, { ...KEYED, 'if-none-match': `${headers.etag.slice(0, -2)}x"` }).status, 200)
  }
  assert.equal(path.get('/v2/buoys/1', { ...KEYED, 'if-none-match': '*' }).status, 200)
})

test('A header in several lines says what it says in one, of a fresh answer as of a kept one.', () => {
  const path = new AskedPath(view, { clock: () => 1_780_000_000 })
  const { etag } = path.get('/v2/buoys/satellites', KEYED).headers
  for (const [url, name, lines] of [
    ['/v2/buoys', 'accept', ['*/*', 'text/csv']],
    ['/v2/buoys', 'accept', ['application/json;q=0.1', 'text/csv']],
    ['/v2/buoys', 'accept', ['', 'application/x-ndjson']],
    ['/v2/buoys/satellites', 'accept-language', ['', 'fr']],
    ['/v2/buoys/satellites', 'accept-language', ['en;q=0.5', 'fr']],
    ['/v2/buoys/satellites', 'if-none-match', ['', etag]],
    ['/v2/buoys/satellites', 'if-none-match', ['"x"', etag]],
  ] as const) {
    for (let again = 0; again < 3; again++) {
      const inLines = path.get(url, { ...KEYED, [name]: [...lines] })
      const inOne = path.get(url, { ...KEYED, [name]: lines.join(', ') })
      const what = `${name}: ${lines.join(' | ')}`
      assert.equal(inLines.status, inOne.status, what)
      assert.equal(inLines.headers['content-type'], inOne.headers['content-type'], what)
      assert.equal(inLines.text, inOne.text, what)
    }
  }
})

test('Codings in several lines are those of one.', async () => {
  const path = new AskedPath(view, { clock: () => 1_780_000_000 })
  const codingOf = (asked: string | string[]): string | undefined =>
    path.get('/v2/buoys/satellites', { ...KEYED, 'accept-encoding': asked }).headers['content-encoding']
  for (const lines of [
    ['*', 'br;q=0'],
    ['identity;q=0.1', 'gzip;q=0.5'],
    ['', 'gzip'],
  ]) {
    // Compressed where it is asked for again.
    await until(() => codingOf(lines) === 'gzip', lines.join(' | '))
    assert.equal(codingOf(lines.join(', ')), 'gzip')
  }
})

test('Links of a kept answer are in the words of the request that gets it, not of the one it was kept for.', () => {
  const path = new AskedPath(view, { clock: () => 1_780_000_000 })
  const id = view.dataset.snapshotId
  for (const more of [`snapshot=${id}`, 'page=1&format=csv', `page=1&format=ndjson&snapshot=${id}`]) {
    for (const operation of ['/v2/buoys', '/v2/buoys/1/readings']) {
      for (let again = 0; again < 2; again++) {
        for (const words of ['per_page=1', 'per_page=01', 'per_page=001', 'PER_PAGE=2&per_page=1']) {
          const { status, headers } = path.get(`${operation}?${words}&${more}`, KEYED)
          assert.equal(status, 200)
          const own = /(?:^|&)per_page=([^&]*)/.exec(words)![1]
          assert.ok(headers.link.includes(`&per_page=${own}&`), `${words}&${more}: ${headers.link}`)
        }
      }
    }
  }
})

test('An answer has its headers also where it is let go of to make room for compressed ones.', async () => {
  const good = { ...KEYED, 'accept-encoding': 'gzip' }
  const names = ['link', 'content-disposition', 'x-total-count', 'etag', 'content-type']
  const whole = new AskedPath(view, { answerCache: 0, clock: () => 1_780_000_000 })
  const urls = Array.from(
    { length: 12 },
    (_, i) => `/v2/buoys?active_only=false&format=ndjson&per_page=4&page=1&max_age=${1000 + i}h`,
  )
  const expected = await Promise.all(urls.map((url) => whole.getLater(url, good)))
  let compressed = 0
  for (let answerCache = 12_000; answerCache < 30_000; answerCache += 1500) {
    const path = new AskedPath(view, { answerCache, clock: () => 1_780_000_000 })
    for (let i = 0; i < 100; i++) {
      const target = (i * 7 + (i >> 4)) % 12
      const { status, headers } = await path.getLater(urls[target], good)
      assert.equal(status, 200)
      if (headers['content-encoding'] !== undefined) compressed++
      // Compressing goes on meanwhile.
      if (i % 10 === 0) await wait(5)
      for (const name of names) {
        assert.equal(
          headers[name],
          expected[target].headers[name],
          `${name} with ${answerCache} bytes, request ${i}`,
        )
      }
    }
  }
  assert.ok(compressed > 0, 'none was compressed')
})

test('An argument of the path with a control character never gets the kept answer of another request.', () => {
  const path = new AskedPath(view)
  const get = (url: string) => path.get(url, KEYED)
  for (const format of ['json', 'csv', 'ndjson']) {
    for (let times = 0; times < 3; times++) {
      assert.equal(get(`/v2/buoys/1/readings?format=${format}`).status, 200)
    }
  }
  for (const argument of [
    '1%01%01csv%7C%7C%7C',
    '1%01%01csv%7C%7C%7C%7Cp',
    '1%01%01ndjson%7C%7C%7C',
    '1%01',
    '%011',
    '1%00',
    '1%0A',
    '1%7F',
    '1%C2%85',
  ]) {
    assert.equal(get(`/v2/buoys/${argument}/readings`).status, 404, argument)
    assert.equal(get(`/v2/buoys/${argument}`).status, 404, argument)
  }
})

test('Asked again and again, a request gets what it gets without a cache, whatever else it says and whoever asked before.', () => {
  const other = `gsw_${'B'.repeat(49)}`
  let now = 1_790_000_000
  const clock = (): number => now
  const kept = new AskedPath(view, { clock }, [KEY, other])
  const made = new AskedPath(view, { clock, answerCache: 0 }, [KEY, other])
  const [etag] = [kept, made].map((path) => path.get('/v2/buoys/1', KEYED).headers.etag)
  const headers: { [name: string]: string }[] = [
    KEYED,
    { authorization: `Bearer ${other}` },
    {},
    { authorization: 'Bearer made-up' },
    { ...KEYED, accept: 'text/csv' },
    { ...KEYED, 'accept-language': 'fr' },
    { ...KEYED, 'if-none-match': etag },
  ]
  const more = ['', 'days=3', 'format=csv', `api_key=${other}`, `snapshot=${view.dataset.snapshotId}`]
  for (let round = 0; round < 4; round++, now += MINUTE / 2) {
    for (const url of REQUESTS) {
      for (const [i, one] of more.entries()) {
        const target = one === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${one}`
        for (const asked of headers) {
          for (const method of ['GET', 'HEAD']) {
            const [is, due] = [kept.get(target, asked, method), made.get(target, asked, method)]
            const requestId = /"request_id":"[^"]*"/
            assert.equal(is.status, due.status, target)
            assert.equal(is.text.replace(requestId, ''), due.text.replace(requestId, ''), target)
            for (const name of Object.keys({ ...is.headers, ...due.headers })) {
              if (name !== 'x-request-id')
                assert.equal(is.headers[name], due.headers[name], `${target} ${i} ${name}`)
            }
          }
        }
      }
    }
  }
})
