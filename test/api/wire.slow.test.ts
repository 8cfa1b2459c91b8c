/** Everything of an answer but its data: keys, quota, validators, headers, methods, paths. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import {
  Client,
  runCliWell,
  startLive,
  temporaryFolder,
  type CallOptions,
  type Live,
  type LiveOptions,
  type Reply,
} from '../live.ts'
import { smallWorld, writeCsv } from '../oracle/world.ts'
import { missing } from '../http/server_for_tests.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const HOUR_MS = 3_600_000
const RATE_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

const ENGINES = ['uws', 'node'] as const
type EngineName = (typeof ENGINES)[number]

let snapshots = ''
before(async (t) => {
  const folder = temporaryFolder(t as TestContext)
  snapshots = join(folder, 'snapshots')
  writeCsv(smallWorld(), join(folder, 'world'))
  await runCliWell(['build', '--source', `csv:${join(folder, 'world')}`, '--out', snapshots])
})

async function serve(
  t: TestContext,
  engine: EngineName,
  options: Partial<LiveOptions> = {},
): Promise<{ live: Live; keyed: Client; keyless: Client }> {
  const args = [...(options.args ?? []), `--engine=${engine}`]
  const live = await startLive(t, { snapshots, ...options, args })
  const [keyed, keyless] = [new Client(live), new Client(live, null)]
  t.after(() => {
    keyed.close()
    keyless.close()
  })
  return { live, keyed, keyless }
}

/** A count that spans the top of the hour would be two counts. */
async function awayFromTheHour(): Promise<void> {
  const left = HOUR_MS - (Date.now() % HOUR_MS)
  if (left < 15_000) await wait(left + 500)
}

interface ErrorBody {
  error: string
  message: string
  timestamp: string
  request_id: string
  retry_after?: number
  reset_at?: string
}

function assertErrorReply(reply: Reply, status: number, error: string): ErrorBody {
  assert.equal(reply.status, status, reply.text.slice(0, 300))
  const body = JSON.parse(reply.text) as ErrorBody
  assert.equal(body.error, error)
  assert.ok(body.message.length > 0)
  assert.match(body.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.match(body.request_id, UUID)
  assert.equal(reply.headers['x-request-id'], body.request_id)
  assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
  return body
}

const noRateHeaders = (reply: Reply) => {
  for (const name of RATE_HEADERS) assert.equal(reply.headers[name], undefined, name)
}

const bearer = (key: string): CallOptions => ({ headers: { authorization: `Bearer ${key}` } })

for (const engine of ENGINES) {
  test(
    `Over ${engine}, keys, quota headers and validators are as the contract says.`,
    { skip: missing(engine), timeout: 600_000 },
    async (t) => {
      const { live, keyed, keyless } = await serve(t, engine)
      const wrongKey = `${live.key.slice(0, -1)}${live.key.endsWith('A') ? 'B' : 'A'}`

      await t.test('A call without a key learns that a key is required.', async () => {
        const calls: [string, CallOptions][] = [
          ['/buoys', {}],
          ['/buoys', bearer('')],
          ['/buoys', bearer('   ')],
          ['/buoys', { headers: { authorization: 'Bearer' } }],
          ['/buoys?api_key=', {}],
          ['/buoys/1', {}],
          ['/buoys/no-such-buoy', {}],
          ['/buoys/last_readings', {}],
          ['/buoys/map', {}],
          ['/countries', {}],
          ['/buoys?page=x', {}],
        ]
        for (const [path, options] of calls) {
          const reply = await keyless.get(path, options)
          const body = assertErrorReply(reply, 401, 'unauthorized')
          assert.match(body.message, /API key required/, path)
          assert.equal(reply.headers['www-authenticate'], 'Bearer')
          noRateHeaders(reply)
        }
      })

      await t.test(
        'A call with an unknown key learns that it is invalid, and the key is not repeated.',
        async () => {
          for (const key of [
            wrongKey,
            'x',
            'gsw_',
            'é'.normalize('NFC'),
            'a'.repeat(4000),
            `${live.key} `.repeat(2),
          ]) {
            const reply = await keyless.get(`/buoys?api_key=${encodeURIComponent(key)}`)
            const body = assertErrorReply(reply, 401, 'unauthorized')
            assert.match(body.message, /Invalid API key/)
            assert.ok(key.length < 5 || !reply.text.includes(key))
            noRateHeaders(reply)
          }
          const reply = await keyless.get('/buoys', bearer(wrongKey))
          assert.match(assertErrorReply(reply, 401, 'unauthorized').message, /Invalid API key/)
        },
      )

      await t.test('The two public operations answer without a key and with a broken one.', async () => {
        for (const path of ['/buoys/search?query=alpha', '/buoys/nearest?lat=30&lng=-75']) {
          for (const options of [{}, bearer(''), bearer('nonsense'), bearer(wrongKey)]) {
            const reply = await keyless.get(path, options)
            assert.equal(reply.status, 200, path)
            noRateHeaders(reply)
          }
          assert.equal((await keyless.get(`${path}&api_key=nonsense`)).status, 200)
          const charged = await keyed.get(path)
          for (const name of RATE_HEADERS) assert.match(charged.headers[name] as string, /^\d+$/)
        }
        assertErrorReply(await keyless.get('/buoys/nearest?lat=30'), 400, 'bad_request')
        assertErrorReply(await keyless.get('/buoys/nearest?lat=-60&lng=100'), 404, 'resource_not_found')
      })

      await t.test('Every answer to a valid key counts one call.', async () => {
        await awayFromTheHour()
        const { etag } = (await keyed.get('/buoys')).headers
        const calls: [number, string, CallOptions][] = [
          [200, '/buoys', {}],
          [304, '/buoys', { headers: { 'if-none-match': etag ?? '' } }],
          [200, '/buoys', { method: 'HEAD' }],
          [400, '/buoys?page=0', {}],
          [404, '/buoys/no-such-buoy', {}],
          [200, '/buoys/search?query=alpha', {}],
          [200, '/countries', {}],
        ]
        const first = await keyed.get('/buoys/1')
        let remaining = Number(first.headers['x-ratelimit-remaining'])
        for (const [status, path, options] of calls) {
          const reply = await keyed.get(path, options)
          assert.equal(reply.status, status, path)
          assert.equal(reply.headers['x-ratelimit-limit'], '1000000')
          assert.equal(Number(reply.headers['x-ratelimit-remaining']), --remaining, path)
          const reset = Number(reply.headers['x-ratelimit-reset'])
          assert.equal(reset, (Math.floor(Date.now() / HOUR_MS) + 1) * 3600)
        }
      })

      await t.test('Unknown paths, other methods and preflights are free.', async () => {
        await awayFromTheHour()
        const before = Number((await keyed.get('/buoys/1')).headers['x-ratelimit-remaining'])
        await keyed.get('/nothing/here')
        await keyed.get('/buoys', { method: 'POST' })
        await keyed.get('/buoys', { method: 'OPTIONS' })
        const after = Number((await keyed.get('/buoys/1')).headers['x-ratelimit-remaining'])
        assert.equal(after, before - 1)
      })

      await t.test(
        'An entity tag is weak, does not depend on the key, and stands for the answer.',
        async () => {
          const one = await keyed.get('/buoys?page=1&per_page=2')
          const tag = one.headers.etag ?? ''
          assert.match(tag, /^W\/"[!#-~]+"$/)
          assert.equal((await keyed.get('/buoys?per_page=2&page=1')).headers.etag, tag)
          assert.equal((await keyless.get(`/buoys?per_page=2&page=1&api_key=${live.key}`)).headers.etag, tag)
          assert.equal((await keyed.get('/buoys?per_page=2&page=1', { method: 'HEAD' })).headers.etag, tag)
          assert.notEqual((await keyed.get('/buoys?per_page=2&page=2')).headers.etag, tag)
          assert.notEqual(
            (await keyed.get('/buoys/1')).headers.etag,
            (await keyed.get('/buoys/2')).headers.etag,
          )
          const search = '/buoys/search?query=alpha'
          assert.equal((await keyed.get(search)).headers.etag, (await keyless.get(search)).headers.etag)
        },
      )

      await t.test(
        'A tag that still holds gives 304 without a body, in every form of If-None-Match.',
        async () => {
          for (const path of [
            '/buoys',
            '/buoys/1',
            '/buoys/search?query=alpha',
            '/countries',
            '/buoys/map',
          ]) {
            const tag = (await keyed.get(path)).headers.etag ?? ''
            const strong = tag.replace('W/', '')
            const listed = [tag, strong, `"a", ${tag}`, `W/"a",${tag},"b"`, `${tag} , "z"`, '*']
            // Several lines are one list (RFC 9110, section 5.2).
            const lines = [
              ['"a"', tag],
              [tag, '"a"'],
              ['"a", "b"', `"c",${tag}`],
            ]
            for (const condition of [...listed, ...lines]) {
              for (const method of ['GET', 'HEAD']) {
                const reply = await keyed.get(path, { method, headers: { 'if-none-match': condition } })
                assert.equal(reply.status, 304, `${path} ${String(condition)}`)
                assert.equal(reply.text, '')
                assert.equal(reply.headers.etag, tag)
                assert.ok(reply.headers['cache-control'])
                assert.equal(reply.headers['access-control-allow-origin'], '*')
              }
            }
            for (const condition of [
              '"other"',
              `W/"${strong.slice(1, -2)}"`,
              strong.slice(1, -1),
              'W/',
              '""',
              ',',
            ]) {
              const reply = await keyed.get(path, { headers: { 'if-none-match': condition } })
              assert.equal(reply.status, 200, `${path} ${condition}`)
            }
          }
          const missing = await keyed.get('/buoys/no-such-buoy', { headers: { 'if-none-match': '*' } })
          assert.equal(missing.status, 404)
          const bad = await keyed.get('/buoys?page=0', { headers: { 'if-none-match': '*' } })
          assert.equal(bad.status, 400)
        },
      )

      await t.test('HEAD is GET without the body.', async () => {
        for (const path of [
          '/buoys',
          '/buoys/1',
          '/buoys/no-such-buoy',
          '/buoys/search?query=alpha',
          '/nothing',
        ]) {
          const [get, head] = [await keyed.get(path), await keyed.get(path, { method: 'HEAD' })]
          assert.equal(head.status, get.status)
          assert.equal(head.text, '')
          const own = new Set(['x-ratelimit-remaining', 'x-request-id', 'date'])
          // The second may turn between the two.
          const rest = ({ headers }: Reply) =>
            Object.entries(headers)
              .filter(([name]) => !own.has(name))
              .map(([name, value]) => [name, String(value).replace(/max-age=\d+/, 'max-age=N')])
          assert.deepEqual(rest(head), rest(get))
          assert.equal(Number(head.headers['content-length']), Buffer.byteLength(get.text))
        }
      })

      await t.test('A preflight needs no key and lists what a browser may send and read.', async () => {
        for (const path of ['/buoys', '/buoys/1', '/buoys/search', '/countries']) {
          const reply = await keyless.get(path, {
            method: 'OPTIONS',
            headers: {
              origin: 'https://example.org',
              'access-control-request-method': 'GET',
              'access-control-request-headers': 'authorization',
            },
          })
          assert.equal(reply.status, 204)
          assert.equal(reply.text, '')
          assert.equal(reply.headers['access-control-allow-origin'], '*')
          assert.match(reply.headers['access-control-allow-methods'] ?? '', /\bGET\b/)
          const allowed = (reply.headers['access-control-allow-headers'] ?? '').toLowerCase().split(/\s*,\s*/)
          for (const name of [
            'Authorization',
            'X-Visitor-ID',
            'X-Request-Id',
            'Accept',
            'Content-Type',
            'If-None-Match',
          ]) {
            assert.ok(allowed.includes(name.toLowerCase()), name)
          }
          noRateHeaders(reply)
        }
      })

      await t.test('Other methods are refused with the list of those that work.', async () => {
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
          for (const path of ['/buoys', '/buoys/1', '/buoys/search']) {
            const reply = await keyless.get(path, { method, headers: { 'content-length': '0' } })
            assertErrorReply(reply, 405, 'method_not_allowed')
            const allow = (reply.headers.allow ?? '').split(/\s*,\s*/).toSorted()
            assert.deepEqual(allow, ['GET', 'HEAD', 'OPTIONS'])
          }
        }
      })

      await t.test('Every answer may be read by a page of any origin.', async () => {
        const replies = [
          await keyed.get('/buoys'),
          await keyed.get('/buoys?page=0'),
          await keyless.get('/buoys'),
          await keyed.get('/buoys/no-such-buoy'),
          await keyless.get('/nothing'),
          await keyless.get('/buoys', { method: 'DELETE' }),
          await keyless.get('/buoys', { method: 'OPTIONS' }),
          await keyless.getAbsolute('/elsewhere'),
        ]
        for (const reply of replies) assert.equal(reply.headers['access-control-allow-origin'], '*')
        const exposed = (replies[0].headers['access-control-expose-headers'] ?? '')
          .toLowerCase()
          .split(/\s*,\s*/)
        for (const name of [
          ...RATE_HEADERS,
          'retry-after',
          'etag',
          'link',
          'x-ignored-parameters',
          'x-request-id',
          'x-snapshot-id',
        ]) {
          assert.ok(exposed.includes(name), name)
        }
      })

      await t.test('A request id is taken over when it is a UUID, else made up.', async () => {
        const mine = '0f8fad5b-d9cb-469f-a165-70867728950e'
        const good = await keyed.get('/buoys', { headers: { 'x-request-id': mine } })
        assert.equal(good.headers['x-request-id'], mine)
        assert.equal((await keyed.get('/buoys')).headers['x-request-id'], undefined)
        const failed = await keyed.get('/buoys/no-such-buoy', { headers: { 'x-request-id': mine } })
        assert.equal(assertErrorReply(failed, 404, 'resource_not_found').request_id, mine)
        for (const other of [
          '1',
          'not-a-uuid',
          `${mine}x`,
          mine.replaceAll('-', ''),
          '<script>',
          'x'.repeat(3000),
        ]) {
          const reply = await keyed.get('/buoys/no-such-buoy', { headers: { 'x-request-id': other } })
          const id = assertErrorReply(reply, 404, 'resource_not_found').request_id
          assert.notEqual(id, other)
          assert.notEqual(
            id,
            assertErrorReply(await keyed.get('/nothing'), 404, 'resource_not_found').request_id,
          )
        }
      })

      await t.test('Answers to a key stay private, answers without one may be shared.', async () => {
        const seconds = (reply: Reply) =>
          Number(/max-age=(\d+)/.exec(reply.headers['cache-control'] ?? '')?.[1] ?? NaN)
        const privately = await keyed.get('/buoys')
        assert.match(privately.headers['cache-control'] ?? '', /\bprivate\b/)
        const alsoPrivately = await keyed.get('/buoys/search?query=alpha')
        assert.match(alsoPrivately.headers['cache-control'] ?? '', /\bprivate\b/)
        const publicly = await keyless.get('/buoys/search?query=alpha')
        assert.match(publicly.headers['cache-control'] ?? '', /\bpublic\b/)
        const withBroken = await keyless.get('/buoys/search?query=alpha', bearer('nonsense'))
        assert.match(withBroken.headers['cache-control'] ?? '', /\bprivate\b/)
        for (const reply of [privately, alsoPrivately, publicly]) {
          assert.ok(seconds(reply) >= 0 && seconds(reply) <= 60, reply.headers['cache-control'])
          assert.match(reply.headers.vary ?? '', /\bAccept-Encoding\b/i)
          assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
          assert.ok(reply.headers['x-snapshot-id'])
          assert.equal(reply.headers['x-snapshot-id'], privately.headers['x-snapshot-id'])
        }
        for (const reply of [await keyless.get('/buoys'), await keyed.get('/buoys?page=0')]) {
          assert.doesNotMatch(reply.headers['cache-control'] ?? '', /\bpublic\b/)
        }
      })

      await t.test('A path without an operation is 404 with or without a key.', async () => {
        const paths = [
          '/',
          '/nothing',
          '/buoys/1/nothing',
          '/buoys/1/readings/chart/more',
          '/country',
          '/buoy',
          '/BUOYS',
          '/../etc/passwd',
        ]
        for (const path of paths) {
          for (const client of [keyed, keyless]) {
            assertErrorReply(await client.get(path), 404, 'resource_not_found')
            noRateHeaders(await client.get(path))
          }
        }
        for (const path of ['/v1/buoys', '/buoys', '/v2buoys', '/api/v2/buoys', '/v2/v2/buoys']) {
          assertErrorReply(await keyed.getAbsolute(path), 404, 'resource_not_found')
        }
      })

      await t.test('Two workers say the same.', async () => {
        const fresh = Array.from({ length: 12 }, () => new Client(live, live.key, 1))
        const replies = await Promise.all(fresh.map((client) => client.get('/buoys/1')))
        for (const client of fresh) client.close()
        const plain = replies.map(({ text }) => text.replace(/"timestamp":"[^"]*"/, ''))
        assert.equal(new Set(plain).size, 1)
        assert.equal(new Set(replies.map(({ headers }) => headers.etag)).size, 1)
      })

      await t.test('Nothing that the server wrote holds a key.', () => {
        const { stdout, stderr } = live.output()
        assert.ok(!`${stdout}${stderr}`.includes(live.key))
        assert.ok(!`${stdout}${stderr}`.includes(wrongKey))
      })
    },
  )

  test(
    `Over ${engine}, a quota of N lets exactly N calls of an hour through, over all workers.`,
    { skip: missing(engine), timeout: 600_000 },
    async (t) => {
      await awayFromTheHour()
      const quota = 60
      const { live, keyed, keyless } = await serve(t, engine, { quota })
      const many = Array.from({ length: 12 }, () => new Client(live, live.key, 1))
      t.after(() => {
        for (const client of many) client.close()
      })
      // Refused keys and free answers in between use nothing up.
      await keyless.get('/buoys', bearer('nonsense'))
      await keyed.get('/nothing')
      const replies = await Promise.all(
        Array.from({ length: quota * 3 }, (_, index) =>
          many[index % many.length].get(index % 2 === 0 ? '/buoys/1' : '/countries'),
        ),
      )
      const through = replies.filter(({ status }) => status === 200)
      const stopped = replies.filter(({ status }) => status === 429)
      assert.deepEqual([through.length, stopped.length], [quota, quota * 2])
      const left = through
        .map(({ headers }) => Number(headers['x-ratelimit-remaining']))
        .toSorted((a, b) => a - b)
      assert.deepEqual(
        left,
        Array.from({ length: quota }, (_, index) => index),
      )
      for (const reply of stopped) {
        const body = assertErrorReply(reply, 429, 'rate_limit_exceeded')
        assert.equal(String(body.retry_after), reply.headers['retry-after'])
        assert.ok(Number.isInteger(body.retry_after) && body.retry_after! >= 1 && body.retry_after! <= 3600)
        const reset = Number(reply.headers['x-ratelimit-reset'])
        assert.equal(Date.parse(body.reset_at ?? ''), reset * 1000)
        assert.equal(reset % 3600, 0)
        assert.ok(Math.abs(reset - Date.now() / 1000 - body.retry_after!) < 5)
        assert.equal(reply.headers['x-ratelimit-remaining'], '0')
        assert.equal(reply.headers['x-ratelimit-limit'], String(quota))
        assert.equal(reply.headers['access-control-allow-origin'], '*')
      }
      // The public operations charge the key too; without it they are still open.
      assert.equal((await keyed.get('/buoys/search?query=alpha')).status, 429)
      assert.equal((await keyless.get('/buoys/search?query=alpha')).status, 200)
      assert.equal((await keyed.get('/nothing')).status, 404)
    },
  )

  test(
    `Over ${engine}, callers without a key share the quota of their address, also below another base path.`,
    { skip: missing(engine), timeout: 600_000 },
    async (t) => {
      await awayFromTheHour()
      const args = ['--anonymous-quota=20', '--base-path=/api/v2']
      const { live, keyed, keyless } = await serve(t, engine, { args })
      assert.ok(live.base.endsWith('/api/v2'))
      assert.equal((await keyed.getAbsolute('/api/v2/buoys/1')).status, 200)
      assertErrorReply(await keyed.getAbsolute('/v2/buoys/1'), 404, 'resource_not_found')
      const replies = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          // A header from a peer that is not a trusted proxy changes nothing.
          keyless.get('/buoys/search?query=alpha', { headers: { 'x-forwarded-for': `10.0.0.${index}` } }),
        ),
      )
      assert.equal(replies.filter(({ status }) => status === 200).length, 20)
      const stopped = replies.find(({ status }) => status === 429)
      assert.ok(stopped)
      const body = assertErrorReply(stopped, 429, 'rate_limit_exceeded')
      assert.equal(String(body.retry_after), stopped.headers['retry-after'])
      assert.equal(stopped.headers['x-ratelimit-limit'], '20')
      assert.equal((await keyless.get('/buoys/nearest?lat=30&lng=-75', bearer('nonsense'))).status, 429)
      assert.equal((await keyless.get('/buoys/search?query=alpha', bearer(live.key))).status, 200)
      for (const reply of replies) {
        assert.doesNotMatch(reply.headers['cache-control'] ?? '', /\bpublic\b/)
        for (const name of RATE_HEADERS) assert.match(reply.headers[name] as string, /^\d+$/)
      }
      // They may be many behind one proxy: the operator hears of it.
      while (!live.output().stderr.includes('(--trusted-proxy 127.0.0.1)')) await wait(100)
    },
  )
}
