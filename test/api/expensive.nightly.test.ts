/** Long answers: the same bytes whenever they are made, within bounds, while others are answered. */
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { issueKey } from '../../src/access/keys-file.ts'
import { Aggregates } from '../../src/index/day-aggregates.ts'
import { AskedPath, KEY, KEYED, viewOf } from '../answered.ts'
import { RawClient, request } from '../http/raw_client.ts'
import { SLOW_ENGINES, missing } from '../http/server_for_tests.ts'
import { ask, Client, folderOfFile, type Live, type Reply, runCliWell, startLive } from '../live.ts'
import { rounds } from '../rounds.ts'
import { until } from '../until.ts'

const YEARS = 9
const AS_OF = '2026-03-27T09:00:00Z'
const folder = folderOfFile()
const snapshots = join(folder, 'snapshots')
const SOURCE = ['--source', `demo:scale,buoys=4,days=${YEARS * 365}`, '--as-of', AS_OF]
await runCliWell(['build', ...SOURCE, '--out', snapshots])

const view = await viewOf(snapshots)
const ids = [...view.dataset.catalog.id]
const clock = (): number => Date.parse(AS_OF) / 1000 + 100.5
/** 11 MB: more than the kernel's buffers of a connection hold. */
const LONGEST = (id: number): string =>
  `/buoys/${id}/readings/series?metric=significient_height&bucket=hour&start_year=${2026 - YEARS}&end_year=2026`

/** 2 MB. */
const LONG = (id: number): string => LONGEST(id).replace(/start_year=\d+/, 'start_year=2024')

const seriesUrl = fc
  .record({
    id: fc.constantFrom(...ids),
    metric: fc.constantFrom(
      'significient_height',
      'maximum_height',
      'period',
      'direction',
      'water_temperature',
      'wind_speed',
    ),
    bucket: fc.constantFrom('hour', 'day', 'week'),
    aggregation: fc.constantFrom('median', 'avg', 'min', 'max'),
    start_year: fc.integer({ min: 2020, max: 2026 }),
    seasons: fc.integer({ min: 0, max: 13 }),
    start_month: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
    end_month: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
    end_day: fc.option(fc.integer({ min: 1, max: 31 }), { nil: undefined }),
    timezone: fc.option(
      fc.constantFrom('UTC', 'Europe/Paris', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Nowhere/At_All'),
      {
        nil: undefined,
      },
    ),
  })
  .map(({ id, seasons, ...parameters }) => {
    const query = { ...parameters, end_year: parameters.start_year + seasons }
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    return `/v2/buoys/${id}/readings/series?${given.map(([name, value]) => `${name}=${value}`).join('&')}`
  })

test('A series that is made in turns, at once, or from rows alone has the same bytes and headers.', async () => {
  const options = { clock, answerCache: 0 }
  const atOnce = new AskedPath(view, options)
  const aggregates = new Aggregates(view.dataset.catalog.id, [])
  const fromRows = new AskedPath({ ...view, dataset: { ...view.dataset, aggregates } }, options)
  const inTurns = new AskedPath(view, options, [KEY], setImmediate)
  let later = 0
  await fc.assert(
    fc.asyncProperty(seriesUrl, async (url) => {
      const once = atOnce.get(url, KEYED)
      const inTurn = await inTurns.getLater(url, KEYED)
      if (inTurn.isLater) later++
      assert.equal(inTurn.status, once.status)
      assert.ok(once.status !== 200 ? inTurn.status === once.status : inTurn.text === once.text, url)
      if (inTurn.isLater && inTurn.bytes.length < 8e6)
        assert.equal(Number(inTurn.headers['content-length']), Buffer.byteLength(inTurn.text))
      const comparable = ({ headers }: typeof once): object => ({
        ...headers,
        'x-request-id': '',
        'content-length': '',
      })
      assert.deepEqual(comparable(inTurn), comparable(once))
      if (once.status === 200) assert.ok(fromRows.get(url, KEYED).text === once.text, url)
      if (inTurn.bytes.length > 700_000) assert.ok(inTurn.isLater, url)
      if (inTurn.isLater) JSON.parse(inTurn.text)
    }),
    { numRuns: rounds(30, 300) },
  )
  assert.ok(later > 5, `only ${later} made later`)
})

test('HEAD tells the length, a condition that holds is answered at once, and a body is refused where the answer is long.', async () => {
  const path = new AskedPath(view, { clock, answerCache: 0 }, [KEY], setImmediate)
  const url = `/v2${LONG(ids[0])}`
  const answer = await path.getLater(url, KEYED)
  assert.equal(answer.isLater, true)
  const head = await path.getLater(url, KEYED, 'HEAD')
  assert.equal(head.text, '')
  const { 'x-ratelimit-remaining': left, ...rest } = answer.headers
  const { 'x-ratelimit-remaining': leftThen, ...restThen } = head.headers
  assert.equal(rest['content-length'], String(Buffer.byteLength(answer.text)))
  assert.deepEqual(restThen, rest)
  assert.equal(Number(leftThen), Number(left) - 1)
  const same = path.get(url, { ...KEYED, 'if-none-match': answer.headers.etag })
  assert.deepEqual([same.status, same.headers.etag, same.text], [304, answer.headers.etag, ''])
  assert.equal(path.get(url.replace('hour', 'eon'), { ...KEYED, 'if-none-match': '*' }).status, 400)
  // Too long to be made whole, so nobody knows how long.
  const longest = await path.getLater(`/v2${LONGEST(ids[0])}`, KEYED, 'HEAD')
  assert.deepEqual([longest.status, longest.headers['content-length'], longest.text], [200, undefined, ''])
  const refused = path.getWithBody(url, KEYED)
  assert.equal(refused.status, 400)
  assert.match(refused.text, /"bad_request"/)
})

test('A long answer of a megabyte is kept when it is made, a longer one is not.', async () => {
  const path = new AskedPath(view, { clock, answerCache: 64 * 2 ** 20 }, [KEY], setImmediate)
  const daily = `/v2/buoys/${ids[0]}/readings/series?metric=period&start_year=2022&end_year=2025&timezone=Asia/Kathmandu`
  const first = await path.getLater(daily, KEYED)
  const second = await path.getLater(daily, KEYED)
  assert.deepEqual([first.isLater, second.isLater], [true, false])
  assert.ok(first.text.length > 100_000)
  assert.equal(second.text, first.text)
  for (let i = 0; i < 2; i++)
    assert.equal((await path.getLater(`/v2${LONGEST(ids[0])}`, KEYED)).isLater, true)
})

test('One that was begun goes on from its own snapshot when another one is served, a table too.', async () => {
  const other = join(folder, 'other')
  await runCliWell(['build', '--source', 'demo:scale,buoys=1,days=1', '--out', other])
  const otherView = await viewOf(other)
  for (const target of [LONGEST(ids[0]), `/buoys/${ids[0]}/readings?format=ndjson&order=asc`]) {
    const path = new AskedPath(view, { clock, answerCache: 0 }, [KEY], setImmediate)
    const whole = await path.getLater(`/v2${target}`, KEYED)
    assert.ok(whole.isLater)
    const [going, waiting] = [1, 2].map(() => path.getLater(`/v2${target}`, KEYED))
    path.path.hold([otherView], 1)
    for (const answer of [await going, await waiting]) {
      assert.equal(answer.headers['x-snapshot-id'], view.dataset.snapshotId)
      assert.equal(answer.headers.etag, whole.headers.etag)
      assert.ok(answer.text === whole.text)
    }
  }
})

const comparable = (text: string): string => text.replace(/"timestamp":"[^"]*"/, '')

/**
 * As `Client.get`, without the check against the description, which takes a second for ten megabytes: others
 * would wait to be read.
 */
const get = (live: Live, agent: Agent, path: string): Promise<Reply> =>
  ask(live.port, `/v2${path}`, { agent, headers: { authorization: `Bearer ${live.key}` } })

/** More than one client may have made and waiting: a quarter of 32 and of 512. */
const MANY = 180

for (const engine of SLOW_ENGINES) {
  test(
    `Over ${engine}, two keys of clients that never read leave a third its long answers.`,
    { skip: missing(engine) },
    async (t) => {
      const live = await startLive(t, { snapshots, args: [`--engine=${engine}`, '--answer-cache=0'] })
      const clients: RawClient[] = []
      const agent = new Agent({ keepAlive: true })
      t.after(() => {
        agent.destroy()
        for (const { socket } of clients) socket.destroy()
      })
      const keys = ['one', 'other'].map(
        (owner) => issueKey(live.keysFile, { owner, quota: 1000, now: Date.now() / 1000 }).key,
      )
      const headers = { authorization: `Bearer ${keys[1]}` }
      await until(async () => (await ask(live.port, '/v2/buoys', { headers })).status === 200)
      let slowest = 0
      for (let round = 0; round < 12; round++) {
        // Eight each, and others in place of those that are given up.
        for (const key of keys) {
          for (let i = 0; i < (round === 0 ? 8 : 1); i++) {
            const client = new RawClient(live.port)
            client.socket.pause()
            client.write(request(`GET /v2${LONGEST(ids[i % ids.length])}`, [`Authorization: Bearer ${key}`]))
            clients.push(client)
          }
        }
        await wait(2000)
        const began = performance.now()
        assert.equal((await get(live, agent, '/readings.csv?start_date=now-30d')).status, 200)
        slowest = Math.max(slowest, performance.now() - began)
      }
      t.diagnostic(`the slowest of 12 took ${Math.round(slowest)} ms`)
    },
  )

  test(
    `Over ${engine}, long answers crowd out no others, leave no place taken when their readers go, and end before the server does.`,
    { skip: missing(engine) },
    async (t) => {
      const live = await startLive(t, {
        snapshots,
        args: [`--engine=${engine}`, '--workers=1', '--drain-time=6s', '--answer-cache=0'],
      })
      const heavy = new Agent({ maxSockets: 200 })
      const light = new Client(live, live.key, 4)
      const clients: RawClient[] = []
      /** A client that has asked and reads nothing. */
      const unread = (path: string): RawClient => {
        const client = new RawClient(live.port)
        client.socket.pause()
        client.write(request(`GET /v2${path}`, [`Authorization: Bearer ${live.key}`]))
        clients.push(client)
        return client
      }
      t.after(() => {
        heavy.destroy()
        for (const { socket } of clients) socket.destroy()
      })
      const alone = await light.get(LONG(ids[0]))
      assert.equal(alone.status, 200)
      assert.equal(Number(alone.headers['content-length']), Buffer.byteLength(alone.text))
      assert.ok(alone.text.length > 1_000_000)

      const done: Reply[] = []
      const many = Promise.all(
        Array.from({ length: MANY }, async () => {
          done.push(await get(live, heavy, LONG(ids[0])))
        }),
      )
      // Others are answered while they are made.
      let answered = 0
      while (done.length < MANY) {
        assert.equal((await light.get(`/buoys/${ids[0]}`)).status, 200)
        answered++
      }
      await many
      const count = (status: number): number => done.filter((reply) => reply.status === status).length
      t.diagnostic(`${count(200)} answered, ${count(503)} refused, ${answered} others meanwhile`)
      assert.equal(count(200) + count(503), MANY)
      // Places of a share that become free meanwhile are taken by others of it.
      assert.ok(count(200) >= 1 && count(503) >= 1, 'more than a share')
      assert.ok(answered > 60, `${answered} others answered meanwhile`)
      for (const reply of done) {
        if (reply.status === 200) assert.ok(comparable(reply.text) === comparable(alone.text))
        else {
          assert.match(reply.text, /"service_unavailable"/)
          assert.ok(Number(reply.headers['retry-after']) >= 1)
        }
        assert.ok(Number(reply.headers['x-ratelimit-remaining']) >= 0)
      }

      // The places of those that leave are free again.
      for (let round = 0; round < 4; round++) {
        for (let i = 0; i < 50; i++) unread(LONGEST(ids[2]))
        await wait(200)
        for (const { socket } of clients) socket.destroy()
      }
      let again = await get(live, heavy, LONG(ids[0]))
      for (let i = 0; again.status === 503 && i < 50; i++) {
        await wait(100)
        again = await get(live, heavy, LONG(ids[0]))
      }
      assert.equal(again.status, 200)

      // One that is under way when the server is asked to stop is whole.
      const last = unread(LONGEST(ids[0]))
      await wait(500)
      const ended = live.stop()
      await wait(500)
      last.socket.resume()
      assert.equal((await last.answer()).status, 200)
      assert.equal(await ended, 0)
    },
  )
}
