/** Pinned reads: `snapshot=ID` answers from that snapshot for as long as it is held. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Answered, AskedPath, KEYED, viewOf } from '../answered.ts'
import { build, fakeSource, SMALL_WORLD } from '../builder/fake_source.ts'
import { fieldOf } from '../fields.ts'
import { folderOfFile } from '../live.ts'

const folder = folderOfFile()

/** 7 minutes 33 seconds after the half hour. */
const NOW = Date.parse('2026-03-27T10:07:33Z') / 1000
const UNKNOWN = '0123456789abcdef01234567'

/** Views of three snapshots: each has one reading of Alpha more, and the last no Bravo. */
const views = await Promise.all(
  [0, 1, 2].map(async (step) => {
    const dir = join(folder, String(step))
    const [alpha, bravo, ...others] = SMALL_WORLD
    const rows = Array.from({ length: step }, (_, i) => ({
      time: Date.parse('2026-03-27T09:00:00Z') / 1000 + (i + 1) * 60,
      significantHeight: 1000 + i * 10,
    }))
    const grown = { ...alpha, rows: [...alpha.rows, ...rows] }
    await build([fakeSource(step === 2 ? [grown, ...others] : [grown, bravo, ...others])], dir)
    return viewOf(dir)
  }),
)
const ids = views.map(({ dataset }) => dataset.snapshotId)

function held(count: number, options: { refreshEvery?: number; answerCache?: number } = {}) {
  const path = new AskedPath(views[0], { clock: () => NOW, ...options })
  path.path.hold(views.slice(0, count), 3)
  return (url: string, headers: { [name: string]: string } = {}): Answered =>
    path.get(`/v2${url}`, { ...KEYED, ...headers })
}

const alphaOf = (get: (url: string) => Answered, id: string): number =>
  (JSON.parse(get(`/buoys/alpha-2/readings?snapshot=${id}`).text) as { data: { count: number } }).data.count

test('Every operation answers a pinned read from the snapshot that it names.', () => {
  for (const answerCache of [0, 2 ** 20]) {
    const get = held(3, { answerCache })
    for (const url of [
      '/buoys',
      '/buoys/alpha-2',
      '/buoys/last_readings?ids=1',
      '/buoys/search?query=alpha',
      '/buoys/nearest?lat=45.5&lng=-3.25',
      '/buoys/map',
      '/buoys/alpha-2/readings',
      '/buoys/alpha-2/readings/search?date=2026-03-27&time=09:00',
      '/buoys/alpha-2/readings/chart',
      '/buoys/alpha-2/readings/series?metric=period',
      '/buoys/satellites',
      '/buoys/satellite_passes',
      '/countries',
      `/conditions?lat=45.5&lng=-3.25&time=2026-03-27T09:00:00Z`,
    ]) {
      for (const [i, id] of ids.entries()) {
        const alone = new AskedPath(views[i], { clock: () => NOW, answerCache })
        const pinned = `${url}${url.includes('?') ? '&' : '?'}snapshot=${id}`
        for (let round = 0; round < 3; round++) {
          const expected = alone.get(`/v2${url}`, KEYED)
          const answer = get(pinned)
          assert.equal(answer.status, 200, pinned)
          assert.equal(answer.headers['x-snapshot-id'], id)
          // But for what says that it is pinned, it is the answer of a server that has that snapshot alone.
          assert.equal(answer.text.replace(`"snapshot":"${id}",`, ''), expected.text, pinned)
          assert.notEqual(answer.headers.etag, expected.headers.etag)
        }
      }
    }
    assert.deepEqual(
      ids.map((id) => alphaOf(get, id)),
      [3, 4, 5],
    )
  }
})

test('Newest readings are those of their snapshot, however often it or another one was asked for before.', () => {
  const get = held(3, { answerCache: 0 })
  const ask = (id: string, query: string): unknown[] =>
    itemsOf(JSON.parse(get(`/buoys/alpha-2/readings?snapshot=${id}&${query}`).text) as Listed)
  for (const [step, times] of [
    [0, 3],
    [1, 2],
    [0, 1],
    // So often that its rows replace those that are kept ready.
    [2, 300],
    [0, 2],
    [1, 300],
  ]) {
    const all = ask(ids[step], 'order=asc').toReversed()
    for (let i = 0; i < times; i++) assert.deepEqual(ask(ids[step], 'per_page=2'), all.slice(0, 2))
  }
})

test('Without the parameter answers are the same bytes, head and body, whatever is held.', () => {
  const [one, three] = [held(1), held(3)]
  const alone = new AskedPath(views[2], { clock: () => NOW })
  for (const url of [
    '/buoys?active_only=false&per_page=1',
    '/buoys/alpha-2/readings?per_page=2',
    '/countries',
    '/buoys/x',
  ]) {
    const id = { 'x-request-id': '58f6f77a-354c-4b11-8c93-b691d25eca6e' }
    const expected = alone.get(`/v2${url}`, { ...KEYED, ...id })
    assert.deepEqual(three(url, id), { ...expected, headers: expected.headers })
    assert.ok(!one(url).text.includes('"snapshot"'))
  }
  assert.deepEqual(three('/countries?snapshot=').headers['x-snapshot-id'], ids[2], 'an empty value is absent')
})

test('Whoever follows `next` from the first page gets every item once, though a snapshot comes between.', () => {
  for (const answerCache of [0, 2 ** 20]) {
    for (const list of [
      '/buoys?active_only=false&per_page=1',
      '/buoys/alpha-2/readings?per_page=2&order=asc',
    ]) {
      const path = new AskedPath(views[0], { clock: () => NOW, answerCache })
      path.path.hold(views.slice(0, 2), 3)
      const whole = JSON.parse(path.get(`/v2${list.replace(/per_page=./, '')}`, KEYED).text) as Listed
      const items: unknown[] = []
      for (let next: string | undefined = `/v2${list}`; next !== undefined;) {
        const { status, text, headers } = path.get(next, KEYED)
        assert.equal(status, 200, next)
        items.push(...itemsOf(JSON.parse(text) as Listed))
        const link = /^<([^<>]+)>; rel="next"(,|$)/.exec(headers.link ?? '')?.[1]
        next = link && resolved(next, link)
        path.path.hold(views, 3)
      }
      assert.deepEqual(items, itemsOf(whole))
      assert.ok(items.length > 1)
    }
  }
})

/** The path and query that a link leads to. */
function resolved(target: string, link: string): string {
  const { pathname, search } = new URL(link, `http://host${target}`)
  return pathname + search
}

interface Listed {
  data: { buoys?: unknown[]; readings?: unknown[] }
}

const itemsOf = ({ data }: Listed): unknown[] => data.buoys ?? data.readings ?? []

test('Lists name the pages beside them, with the filters of the request and without its key.', () => {
  const get = held(3)
  const id = ids[0]
  const linksOf = (url: string): { [rel: string]: string } => {
    const { headers, status } = get(url)
    assert.equal(status, 200, url)
    assert.match(headers['access-control-expose-headers'], /\bLink\b/)
    return Object.fromEntries(
      headers.link.split(', ').map((link) => {
        const match = /^<([^<>]+)>; rel="([a-z]+)"$/.exec(link)
        assert.ok(match !== null, link)
        return [match[2], resolved(`/v2${url}`, match[1])]
      }),
    )
  }
  const at = (rest: string): string => `/v2/buoys/alpha-2/readings?snapshot=${id}${rest}`
  assert.deepEqual(linksOf(`/buoys/alpha-2/readings?page=2&per_page=1&order=asc&snapshot=${id}&x=y`), {
    next: at('&order=asc&per_page=1&page=3'),
    prev: at('&order=asc&per_page=1&page=1'),
    first: at('&order=asc&per_page=1&page=1'),
    last: at('&order=asc&per_page=1&page=3'),
  })
  assert.deepEqual(linksOf(`/buoys/alpha-2/readings?snapshot=${id}`), {
    first: at('&page=1'),
    last: at('&page=1'),
  })
  // Past the last page the one before is the last.
  assert.equal(linksOf(`/buoys/alpha-2/readings?snapshot=${id}&page=9`).prev, at('&page=1'))
  assert.deepEqual(linksOf(`/buoys?country=ZZ&snapshot=${id}`), {
    first: `/v2/buoys?snapshot=${id}&country=ZZ&page=1`,
  })
  const odd = `/buoys?has=${encodeURIComponent('period,water_temperature')}&near=45,-3&snapshot=${id}&api_key=k&<a>;é`
  const { first } = linksOf(odd)
  assert.match(first, /^[\x21-\x7e]+$/)
  assert.ok(!first.includes('api_key') && !/[<>",; ]/.test(first), first)
  const answers = [get(first.slice(3)), get(odd)].map(({ text }) => text)
  assert.equal(answers[0], answers[1])
})

test('Two lists that are answered one after the other have one line of links each, with their own filters.', () => {
  for (const answerCache of [0, 2 ** 20]) {
    const get = held(3, { answerCache })
    for (let round = 0; round < 3; round++) {
      for (const own of ['country=ZZ', 'has=period', 'active_only=false']) {
        const { headers } = get(`/buoys?${own}&snapshot=${ids[0]}`)
        const links = headers.link.split(', ')
        assert.ok(links.length > 0 && links.every((link) => link.includes(`&${own}&`)), headers.link)
        assert.equal(links.filter((link) => link.endsWith('rel="first"')).length, 1, headers.link)
      }
    }
  }
})

test('A list with long filters names the next page alone: without it a walk would end too soon.', () => {
  const long = `has=${'period,'.repeat(50)}period&include=${'wind,'.repeat(70)}wind`
  const { headers } = held(3)(`/buoys?active_only=false&${long}&per_page=1&snapshot=${ids[0]}`)
  assert.match(headers.link, /^<\?snapshot=[^<>]{670,}&page=2>; rel="next"$/)
})

test('A snapshot that is not held is gone, and what is no id is refused; both name what there is.', () => {
  const get = held(2)
  for (const url of ['/buoys', '/buoys/alpha-2/readings', '/buoys/satellites', '/buoys/search?query=alpha']) {
    for (const id of [UNKNOWN, ids[2]]) {
      const { status, text, headers } = get(`${url}${url.includes('?') ? '&' : '?'}snapshot=${id}`)
      assert.equal(status, 410)
      assert.equal(headers['cache-control'], 'no-store')
      assert.equal(headers['x-ratelimit-limit'], '1000000')
      const { error, details } = JSON.parse(text) as { error: string; details: object }
      assert.deepEqual([error, details], ['snapshot_gone', { parameter: 'snapshot', current: ids[1] }])
    }
    for (const bad of [
      'x',
      ids[0].toUpperCase(),
      `${ids[0]}0`,
      `${ids[0]}&snapshot=${ids[0]}`,
      '%ff',
      '%00',
    ]) {
      const { status, text } = get(`${url}${url.includes('?') ? '&' : '?'}snapshot=${bad}`)
      assert.equal(status, 400, bad)
      assert.match(text, /"Parameter snapshot is malformed\. Allowed: the id of a snapshot/)
    }
  }
  assert.equal(get(`/buoys?sn%61pshot=${ids[0]}`).headers['x-snapshot-id'], ids[0], 'an encoded name')
  const stranger = new AskedPath(views[0])
  assert.equal(stranger.get(`/v2/buoys?snapshot=${UNKNOWN}`).status, 401, 'the key comes first')
})

test('On a replica a snapshot that is not held may come for ten seconds, and is gone after that; one that has left is gone.', () => {
  let now = NOW
  const path = new AskedPath(views[0], { clock: () => now, isReplica: true })
  path.path.hold(views.slice(0, 2), 2)
  const answers = (id: string): Answered[] =>
    [`/v2/buoys?snapshot=${id}`, `/v2/changes?since=${id}`].map((url) => path.get(url, KEYED))
  for (const { status, headers, text } of answers(ids[2])) {
    assert.deepEqual([status, headers['retry-after'], headers['cache-control']], [503, '1', 'no-store'], text)
    assert.match(text, /"service_unavailable".*Another server may have it/)
  }
  path.path.hold(views.slice(1), 2)
  assert.deepEqual(fieldOf(answers(ids[2]), 'status'), [200, 200])
  assert.deepEqual(fieldOf(answers(ids[0]), 'status'), [410, 410], 'it was held here')
  assert.deepEqual(fieldOf(answers(UNKNOWN), 'status'), [503, 503])
  now += 9
  assert.deepEqual(fieldOf(answers(UNKNOWN), 'status'), [503, 503])
  now += 1
  assert.deepEqual(fieldOf(answers(UNKNOWN), 'status'), [410, 410])
  const alone = new AskedPath(views[0], { clock: () => now })
  assert.equal(alone.get(`/v2/buoys?snapshot=${UNKNOWN}`, KEYED).status, 410, 'nobody else could have it')
})

test('A server that lags answers 503 to what is to come, as long as it lags, and 410 at once to what has left.', () => {
  let now = NOW
  for (const isReplica of [true, false]) {
    const path = new AskedPath(views[0], { clock: () => now, isReplica })
    const statuses = (): number[][] =>
      [...ids, UNKNOWN].map((id) =>
        fieldOf(
          [`/v2/buoys?snapshot=${id}`, `/v2/changes?since=${id}`].map((url) => path.get(url, KEYED)),
          'status',
        ),
      )
    path.path.hold([views[1]], 2)
    path.path.know(ids)
    for (const minutes of [0, 1, 100]) {
      now += 60 * minutes
      // A replica may not know of the newest yet.
      const unknown = isReplica && minutes === 0 ? 503 : 410
      assert.deepEqual(
        statuses(),
        [410, 200, 503, unknown].map((status) => [status, status]),
      )
    }
    path.path.hold(views.slice(1), 2)
    // Nobody has compared the two.
    assert.deepEqual(statuses(), [
      [410, 410],
      [200, 410],
      [200, 200],
      [410, 410],
    ])
  }
})

test('Pinned answers may be kept for as long as the schedule holds their snapshot.', () => {
  const get = held(3, { refreshEvery: 1800 })
  const lifetime = (id: string): string => get(`/countries?snapshot=${id}`).headers['cache-control']
  const next = 1800 - (NOW % 1800)
  assert.deepEqual(
    ids.map(lifetime),
    [next, next + 1800, next + 3600].map((seconds) => `private, max-age=${seconds}`),
  )
  // Two of three places are taken: none leaves with the next swap.
  const two = held(2, { refreshEvery: 1800 })
  assert.equal(
    two(`/countries?snapshot=${ids[0]}`).headers['cache-control'],
    `private, max-age=${next + 1800}`,
  )
  assert.equal(two('/countries').headers['cache-control'], 'private, max-age=60')
  const manual = held(3, { refreshEvery: 0 })(`/countries?snapshot=${ids[0]}`)
  assert.equal(manual.headers['cache-control'], 'private, max-age=60')
  const { etag } = manual.headers
  const again = held(3)(`/countries?snapshot=${ids[0]}`, { 'if-none-match': etag })
  assert.deepEqual([again.status, again.text], [304, ''])
  // An answer about this minute is wrong in the next.
  const minute = get(`/conditions?lat=45.5&lng=-3.25&snapshot=${ids[0]}`).headers['cache-control']
  assert.equal(minute, 'private, max-age=27')
})

test('A snapshot that is served again is held once, and one that leaves is gone.', () => {
  const path = new AskedPath(views[0], { clock: () => NOW })
  const statuses = (): number[] => ids.map((id) => path.get(`/v2/countries?snapshot=${id}`, KEYED).status)
  path.path.hold([views[0], views[1]], 2)
  assert.deepEqual(statuses(), [200, 200, 410])
  // A rollback.
  path.path.hold([views[1], views[0]], 2)
  assert.deepEqual(statuses(), [200, 200, 410])
  assert.equal(path.get('/v2/countries', KEYED).headers['x-snapshot-id'], ids[0])
  path.path.hold([views[0], views[2]], 2)
  assert.deepEqual(statuses(), [200, 410, 200])
  path.path.hold([views[1]], 1)
  assert.deepEqual(statuses(), [410, 200, 410])
})
