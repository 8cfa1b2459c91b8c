/**
 * Everything of an answer but its data, over both engines: each operation of the committed description with
 * its examples, with good requests that are made from the description, and with requests that have one fault.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { OPERATION_TEXTS } from '../../src/openapi/operation-texts.ts'
import { DESCRIPTION_FILE } from '../../tools/openapi/made.ts'
import { examplesSnapshots } from '../built_once.ts'
import { SLOW_ENGINES, missing } from '../http/server_for_tests.ts'
import { Client, startLive, type CallOptions, type Reply } from '../live.ts'
import type { Json } from '../openapi/conformance.ts'
import {
  faultsOf,
  faultyTarget,
  goodRequest,
  operationsOf,
  strangeTarget,
  type DocumentedOperation,
} from '../openapi/requests.ts'
import { rounds } from '../rounds.ts'
import { awayFromTheHour } from './hour.ts'

const RATE_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
/** Good requests for each operation. The check of a long series takes a tenth of a second. */
const GOOD = rounds(16, 400)
const GOOD_OF_SERIES = rounds(6, 120)
/** Operations whose parts may be impossible together, or that a buoy has no data for. */
const MAY_BE_IMPOSSIBLE = /^(listReadings|chart|readingSeries|climate\w*|\w*[sS]pectra)$/
/** Ids of snapshots, which only the server knows. */
const ID = '^[0-9a-f]{24}$'
const BUOYS = ['6', 'anglet', 'saint-jean-de-luz', '32', 'atlantis', '%']
const READINGS = ['61793512800', '00006ae6-d560-8000-8000-000000000006', '61793512801', 'x']
const SEARCH = '/buoys/search?query=anglet'

// A stream does not end: `events.test.ts` asks for it.
const operations = operationsOf(JSON.parse(readFileSync(DESCRIPTION_FILE, 'utf8')) as Json).filter(
  ({ id }) => id !== 'streamEvents',
)
const examplesOf = ({ id }: DocumentedOperation): string[] =>
  Object.values(OPERATION_TEXTS[id].examples).map((request) =>
    request.replaceAll(/[{}":]/g, encodeURIComponent),
  )

const snapshots = await examplesSnapshots()

/** Any answer may be read by a page of any origin, and none is a fault of ours. */
class Caller extends Client {
  override async getAbsolute(path: string, options: CallOptions = {}): Promise<Reply> {
    const reply = await super.getAbsolute(path, options)
    const what = `${options.method ?? 'GET'} ${path.slice(0, 200)}`
    assert.ok(reply.status < 500, `${what} → ${reply.status}`)
    assert.equal(reply.headers['access-control-allow-origin'], '*', what)
    return reply
  }
}

interface ErrorBody {
  error: string
  message: string
  request_id: string
  details?: { parameter?: string }
}

/** The rest of the body is checked against the description. */
function assertRefused(reply: Reply, status: number, error: string): ErrorBody {
  assert.equal(reply.status, status, reply.text.slice(0, 300))
  const body = JSON.parse(reply.text) as ErrorBody
  assert.equal(body.error, error)
  assert.equal(reply.headers['x-request-id'], body.request_id)
  assert.doesNotMatch(reply.headers['cache-control'] ?? '', /\bpublic\b/)
  return body
}

const assertFree = (reply: Reply): void => {
  for (const name of RATE_HEADERS) assert.equal(reply.headers[name], undefined, name)
}

const bearer = (key: string): CallOptions => ({ headers: { authorization: `Bearer ${key}` } })

/** Changes from one answer to the next; uws ends a connection once in 192 KB of answers without a body. */
const CHANGING = new Set(['x-ratelimit-remaining', 'x-request-id', 'date', 'connection', 'keep-alive'])
/** What does not change from one answer to the next; the second may turn between the two. */
const lasting = ({ headers }: Reply): object =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !CHANGING.has(name))
      .map(([name, value]) => [name, String(value).replace(/max-age=\d+/, 'max-age=N')]),
  )

async function checkExample(
  { id, isPublic }: DocumentedOperation,
  example: string,
  { keyed, keyless }: { keyed: Caller; keyless: Caller },
): Promise<void> {
  const answer = await keyed.get(example)
  assert.equal(answer.status, 200, example)
  const tag = answer.headers.etag ?? ''
  assert.match(tag, /^W\/"[!#-~]+"$/)
  assert.match(answer.headers['cache-control'] ?? '', /^private, max-age=\d+$/, example)
  assert.equal(/\bAuthorization\b/.test(answer.headers.vary ?? ''), !isPublic, example)
  assert.equal(answer.headers['x-request-id'], undefined)
  assert.match(String(answer.headers['keep-alive'] ?? 'timeout=7'), /^timeout=7$/)
  for (const name of RATE_HEADERS) assert.match(answer.headers[name] as string, /^\d+$/)
  const head = await keyed.get(example, { method: 'HEAD' })
  assert.deepEqual(lasting(head), lasting(answer), example)
  assert.deepEqual([head.text, Number(head.headers['content-length'])], ['', answer.bytes.length], example)
  for (const method of ['GET', 'HEAD']) {
    // A list of lines is one list (RFC 9110, section 5.2).
    for (const named of [tag, ['"a", "b"', `"c",${tag}`]]) {
      const same = await keyed.get(example, { method, headers: { 'if-none-match': named } })
      assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', tag], example)
    }
  }
  for (const language of ['x'.repeat(3000), 'fr;q=nonsense']) {
    const reply = await keyed.get(example, { headers: { 'accept-language': language } })
    assert.equal(reply.status, 200, example)
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const reply = await keyless.get(example, { method, headers: { 'content-length': '0' } })
    assertRefused(reply, 405, 'method_not_allowed')
    assert.equal(reply.headers.allow, 'GET, HEAD, OPTIONS')
  }
  const headers = { origin: 'https://example.org', 'access-control-request-method': 'GET' }
  const preflight = await keyless.get(example, { method: 'OPTIONS', headers })
  assert.deepEqual([preflight.status, preflight.text], [204, ''])
  assertFree(preflight)
  assert.match(preflight.headers['access-control-allow-methods'] ?? '', /\bGET\b/)
  const sent = (preflight.headers['access-control-allow-headers'] ?? '').toLowerCase().split(', ')
  for (const name of [
    'authorization',
    'x-visitor-id',
    'x-request-id',
    'accept',
    'content-type',
    'if-none-match',
    // Sent by programs for tracing, by frameworks, and by `fetch` with `cache: 'no-cache'`.
    'traceparent',
    'tracestate',
    'baggage',
    'sentry-trace',
    'x-requested-with',
    'cache-control',
    'pragma',
    'if-modified-since',
    'range',
  ])
    assert.ok(sent.includes(name), name)
  for (const wrong of [{}, bearer('nonsense')]) {
    const without = await keyless.get(example, wrong)
    assertFree(without)
    if (isPublic) assert.deepEqual([without.status, without.headers.etag], [200, tag], id)
    else {
      assertRefused(without, 401, 'unauthorized')
      assert.equal(without.headers['www-authenticate'], 'Bearer')
    }
  }
}

for (const engine of SLOW_ENGINES) {
  test(
    `Over ${engine}, every operation keeps to its description, and keys, quota headers and validators to the contract.`,
    { skip: missing(engine) },
    async (t) => {
      const basePath = engine === 'uws' ? '/v2' : '/api/v2'
      const args = [`--engine=${engine}`, `--base-path=${basePath}`]
      const live = await startLive(t, { snapshots, args })
      const [keyed, keyless] = [new Caller(live), new Caller(live, null)]

      await t.test(
        'Every example of every operation, as GET, HEAD and OPTIONS, by other methods, conditional, and without a key.',
        async () => {
          for (const operation of operations) {
            for (const example of examplesOf(operation))
              await checkExample(operation, example, { keyed, keyless })
          }
          const missing = await keyed.get('/buoys/no-such-buoy', { headers: { 'if-none-match': '*' } })
          assertRefused(missing, 404, 'resource_not_found')
          assertRefused(await keyless.get('/buoys?page=x'), 401, 'unauthorized')
        },
      )

      await t.test('Every answer to a valid key counts one call; what is no operation is free.', async () => {
        await awayFromTheHour()
        const { etag } = (await keyed.get('/buoys')).headers
        const calls: [cost: number, status: number, path: string, options?: CallOptions][] = [
          [1, 200, '/buoys'],
          [1, 304, '/buoys', { headers: { 'if-none-match': etag ?? '' } }],
          [1, 200, '/buoys', { method: 'HEAD' }],
          [1, 400, '/buoys?page=0'],
          [1, 400, '/buoys?page=0', { headers: { 'if-none-match': '*' } }],
          [1, 404, '/buoys/no-such-buoy'],
          [1, 200, SEARCH],
          [1, 200, SEARCH],
          [1, 200, `${SEARCH}&api_key=${live.key}`, { headers: { authorization: '' } }],
          [0, 200, SEARCH, { headers: { authorization: '' } }],
          [0, 401, '/buoys', bearer('gsw_wrong')],
          [0, 404, '/nothing/here'],
          [0, 405, '/buoys', { method: 'POST' }],
          [0, 204, '/buoys', { method: 'OPTIONS' }],
          [1, 200, '/countries'],
        ]
        let remaining = Number((await keyed.get('/buoys/6')).headers['x-ratelimit-remaining'])
        for (const [cost, status, path, options] of calls) {
          const reply = await keyed.get(path, options)
          assert.equal(reply.status, status, path)
          remaining -= cost
          if (cost === 0) assertFree(reply)
          else {
            const reset = Math.ceil(Date.now() / 3_600_000) * 3600
            const expected = [1_000_000, remaining, reset].map(String)
            assert.deepEqual(
              RATE_HEADERS.map((name) => reply.headers[name]),
              expected,
              path,
            )
          }
        }
      })

      await t.test(
        'A tag does not depend on the key or the order of parameters, and stands for the answer.',
        async () => {
          const tagOf = async (path: string, client = keyed): Promise<string> =>
            (await client.get(path)).headers.etag ?? ''
          const tag = await tagOf('/buoys?page=1&per_page=2')
          assert.equal(await tagOf('/buoys?per_page=2&page=1'), tag)
          assert.equal(await tagOf(`/buoys?per_page=2&page=1&api_key=${live.key}`, keyless), tag)
          assert.notEqual(await tagOf('/buoys?per_page=2&page=2'), tag)
          assert.notEqual(await tagOf('/buoys/1'), await tagOf('/buoys/2'))
        },
      )

      await t.test(
        'A request id is taken over when it is a UUID, else made up; pages may read what they need.',
        async () => {
          const mine = '0f8fad5b-d9cb-469f-a165-70867728950e'
          const good = await keyed.get('/buoys', { headers: { 'x-request-id': mine } })
          assert.equal(good.headers['x-request-id'], mine)
          const exposed = (good.headers['access-control-expose-headers'] ?? '').toLowerCase().split(', ')
          const others = 'etag link x-ignored-parameters x-request-id x-snapshot-id x-snapshot-as-of'
          for (const name of ['retry-after', ...RATE_HEADERS, ...others.split(' ')])
            assert.ok(exposed.includes(name), name)
          const failed = await keyed.get('/buoys/no-such-buoy', { headers: { 'x-request-id': mine } })
          assert.equal(assertRefused(failed, 404, 'resource_not_found').request_id, mine)
          const seen = new Set<string>()
          const odd = ['1', 'not-a-uuid', `${mine}x`, mine.replaceAll('-', ''), '<script>', 'x'.repeat(3000)]
          for (const id of odd) {
            const reply = await keyed.get('/buoys/no-such-buoy', { headers: { 'x-request-id': id } })
            seen.add(assertRefused(reply, 404, 'resource_not_found').request_id)
          }
          assert.equal(seen.size, odd.length)
          assert.ok(odd.every((id) => !seen.has(id)))
        },
      )

      await t.test('Answers to a key stay private, answers without one may be shared.', async () => {
        const publicly = await keyless.get(SEARCH)
        assert.match(publicly.headers['cache-control'] ?? '', /^public, max-age=([0-5]?\d|60)$/)
        const withBroken = await keyless.get(SEARCH, bearer('nonsense'))
        assert.match(withBroken.headers['cache-control'] ?? '', /^private, max-age=([0-5]?\d|60)$/)
      })

      await t.test(
        'A path without an operation is 404 with or without a key, and so is one that names nothing.',
        async () => {
          const below = ['/nothing', '/buoys/1/nothing', '/buoys/1/readings/chart/more', '/country', '/BUOYS']
          const elsewhere = '/v1/buoys /buoys /v2buoys /v2/v2/buoys /v2/../etc/passwd /api/v3/buoys'
          for (const path of [...below.map((one) => basePath + one), ...elsewhere.split(' ')]) {
            for (const client of [keyed, keyless]) {
              const reply = await client.getAbsolute(path)
              assertRefused(reply, 404, 'resource_not_found')
              assertFree(reply)
            }
          }
          const words = ['%00', '%ff', '%', '%zz', '%2e%2e', '..', '-1', '1.5', '1e0', '$', '%f0%9f%8c%8a']
          const names = ['<script>', '%3Cscript%3E', "1'--", 'undefined', 'null', 'NaN', 'toString']
          for (const operation of operations) {
            for (const { name } of operation.inPath) {
              for (const word of [...words, ...names, '9'.repeat(400), 'a'.repeat(8000)]) {
                const reply = await keyed.get(strangeTarget(operation, name, word).slice('/v2'.length))
                assertRefused(reply, 404, 'resource_not_found')
              }
            }
          }
        },
      )

      // No engine knows which parameters there are.
      const first = SLOW_ENGINES.find((one) => missing(one) === false)
      if (engine === first) await askFromDescription(t, keyed)

      await t.test('Nothing that the server wrote holds a key.', () => {
        const { stdout, stderr } = live.output()
        assert.ok(!`${stdout}${stderr}`.includes(live.key))
      })
    },
  )
}

async function askFromDescription(t: TestContext, client: Caller): Promise<void> {
  await t.test('Good requests are answered, each operation some of them with 200.', async (t) => {
    const { headers } = await client.get('/countries')
    const held = { enum: [String(headers['x-snapshot-id'])] }
    for (const documented of operations) {
      const query = documented.query
        // A place is named in one way alone.
        .filter(({ name }) => documented.id !== 'forecast' || !/^(buoy|spot_id)$/.test(name))
        .filter(({ name }) => documented.id !== 'tides' || !/^(lat|lng|spot_id)$/.test(name))
        .map((one) => {
          if (documented.id === 'tides' && one.name === 'buoy')
            return { ...one, required: true, schema: { enum: ['anglet', '6'] } }
          if (one.name === 'source') return { ...one, schema: { enum: ['NDBC', 'Candhis'] } }
          return one.schema.pattern === ID ? { ...one, schema: held } : one
        })
      const operation = { ...documented, query }
      const allowed = MAY_BE_IMPOSSIBLE.test(operation.id) ? [200, 404, 422] : [200, 404]
      // Parameters that exclude or need each other.
      if (/^(forecast|readingsOfBuoys)$/.test(operation.id)) allowed.push(400, 422)
      const statuses: number[] = []
      const requests = goodRequest(operation, { buoy_id: BUOYS, reading_id: READINGS })
      const property = fc.asyncProperty(requests, async ({ target }) => {
        const { status, text } = await client.get(target.slice('/v2'.length))
        statuses.push(status)
        assert.ok(allowed.includes(status), `${target} → ${status} ${text.slice(0, 300)}`)
      })
      const numRuns = operation.id === 'readingSeries' ? GOOD_OF_SERIES : GOOD
      await fc.assert(property, { numRuns, includeErrorInReport: true })
      const answered = statuses.filter((status) => status === 200).length
      const outcome = `${operation.id}: ${answered} of ${statuses.length} answered with 200`
      t.diagnostic(outcome)
      // One buoy of the world has the fifteen years that levels need.
      const least = operation.id === 'climateExtremes' ? 0.05 : 0.1
      assert.ok(answered >= statuses.length * least, outcome)
    }
  })

  await t.test('A request with one fault is refused with the name of its parameter.', async (t) => {
    let faults = 0
    for (const operation of operations) {
      for (const parameter of operation.query) {
        for (const fault of faultsOf(parameter)) {
          faults++
          const target = faultyTarget(operation, parameter, fault)
          const reply = await client.get(target.slice('/v2'.length))
          const outcome = `${target.slice(0, 200)} → ${reply.status} ${reply.text.slice(0, 200)}`
          const what = `${fault.word} of ${operation.id}.${parameter.name}: ${outcome}`
          assert.equal(reply.status, expectedStatus(operation, parameter.name, fault.word), what)
          if (reply.status === 404) continue
          const { details, message } = JSON.parse(reply.text) as ErrorBody
          assert.equal(details?.parameter, parameter.name, what)
          assert.ok(message.includes(parameter.name), what)
        }
      }
    }
    t.diagnostic(`${faults} faults`)
  })

  await t.test('Windows that end outside the years of a timestamp.', async () => {
    for (const query of [
      'readings?timestamp=253402300799',
      'readings?timestamp=0',
      'readings/search?date=9999-12-31&time=23:59&tolerance_hours=24',
      'readings/search?date=0000-01-01&time=00:00&tolerance_hours=24',
      'readings/chart?start_date=9999-12-31&end_date=9999-12-31',
      'readings/chart?start_date=0000-01-01&end_date=0000-01-01',
      'readings/chart?start_date=1969-12-31&end_date=1970-01-01',
      'readings/chart?start_date=2106-02-07&end_date=2106-02-08',
    ]) {
      await client.get(`/buoys/anglet/${query}`)
    }
  })
}

const SHAPES = new Set(['format', 'fields', 'layout', 'units', 'bom', 'snapshot'])

/** A word that could be a mission is a 404. Other faults get the refusal of the operation. */
function expectedStatus(operation: DocumentedOperation, parameter: string, fault: string): number {
  const isWord = parameter === 'mission' && /^value "(?!abc|[aé🌊x9]{10})/u.test(fault)
  if (SHAPES.has(parameter)) return 400
  return isWord ? 404 : operation.refusal
}
