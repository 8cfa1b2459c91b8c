/** `GET /changes`: what distinguishes two held snapshots, and copies that live on it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { View } from '../../src/dataset/view.ts'
import { changesBetween } from '../../src/snapshot/compare-snapshots.ts'
import { reversed } from '../../src/snapshot/row-changes.ts'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { finish } from '../../src/system/steps.ts'
import { AskedPath, KEY, KEYED, viewOf } from '../answered.ts'
import { build, fakeSource, LATER_WORLD, SMALL_WORLD, type FakeBuoy } from '../builder/fake_source.ts'
import { fieldsOf } from '../fields.ts'
import { Client, folderOfFile, runCliWell, startLive } from '../live.ts'
import { follow } from './copy.ts'

const folder = folderOfFile()

const DAY = 86_400
const UNKNOWN = '0123456789abcdef01234567'
const at = (text: string): number => Date.parse(text) / 1000
const dir = join(folder, 'snapshots')

const [alpha] = SMALL_WORLD
const first = await build([fakeSource(SMALL_WORLD)], dir, { fresh: true })
const firstLoaded = await loadSnapshot(dir)
const firstView = await viewOf(dir)
const second = await build([fakeSource(LATER_WORLD)], dir, { fresh: true, allowLoss: 1 })
const secondLoaded = await loadSnapshot(dir)
const secondView = await viewOf(dir)
const changes = finish(changesBetween(firstLoaded, secondLoaded, DAY))

const views: View[] = [
  {
    ...firstView,
    changesSince: (id) =>
      id === second.id ? { changes: reversed(changes), before: secondView.dataset } : null,
  },
  {
    ...secondView,
    changesSince: (id) => (id === first.id ? { changes, before: firstView.dataset } : null),
  },
]

function path(): AskedPath {
  const asked = new AskedPath(views[0])
  asked.path.hold(views, 3)
  return asked
}

interface Data {
  since: string
  until: string
  buoys: { slug: string; change: string; readings: { added: number; changed: number; removed: number }[] }[]
  passes: boolean
  forecast: boolean
  readings?: { buoy_id: number; change: string; reading: { time: string; significient_height: number } }[]
  count?: number
}
interface Body {
  data: Data
  meta: { page?: number; per_page?: number; total_pages?: number; snapshot?: string }
}

const ask = (query: string): Body => {
  const { status, text } = path().get(`/v2/changes?${query}`, KEYED)
  assert.equal(status, 200, text)
  return JSON.parse(text) as Body
}

const EXPECTED = {
  since: first.id,
  until: second.id,
  buoys: [
    { id: 1, slug: 'alpha', change: 'changed', readings: [] },
    {
      id: 2,
      slug: 'alpha-2',
      change: 'changed',
      readings: [
        { from: '2026-02-28T23:30:00Z', to: '2026-02-28T23:30:00Z', added: 0, changed: 1, removed: 0 },
        { from: '2026-03-27T09:30:00Z', to: '2026-03-27T10:00:00Z', added: 2, changed: 0, removed: 0 },
      ],
    },
    {
      id: 3,
      slug: 'bravo',
      change: 'removed',
      readings: [
        { from: '2026-03-02T12:00:00Z', to: '2026-03-02T12:00:00Z', added: 0, changed: 0, removed: 1 },
      ],
    },
    {
      id: 5,
      slug: 'delta',
      change: 'added',
      readings: [
        { from: '2026-03-27T10:00:00Z', to: '2026-03-27T10:00:00Z', added: 1, changed: 0, removed: 0 },
      ],
    },
  ],
  passes: false,
  forecast: false,
}

test('Every buoy and month that differs is named, with what came of it, and nothing else.', () => {
  assert.deepEqual(ask(`since=${first.id}`).data, EXPECTED)
  const back = ask(`since=${second.id}&snapshot=${first.id}`).data
  assert.deepEqual(fieldsOf(back.buoys, 'slug', 'change'), [
    ['alpha', 'changed'],
    ['alpha-2', 'changed'],
    ['bravo', 'added'],
    ['delta', 'removed'],
  ])
  assert.deepEqual(back.buoys[1].readings[1], {
    ...EXPECTED.buoys[1].readings[1],
    added: 0,
    removed: 2,
  })
  const none = ask(`since=${second.id}&include=readings`)
  assert.deepEqual(none.data, {
    since: second.id,
    until: second.id,
    buoys: [],
    passes: false,
    forecast: false,
    readings: [],
    count: 0,
  })
  assert.equal(none.meta.total_pages, 0)
})

test('A pinned answer that is kept is gone when the snapshot that it compares with has left.', () => {
  const held = new Set([first.id, second.id])
  const [one, two] = views.map((view): View => ({
    ...view,
    changesSince: (id) => (held.has(id) ? view.changesSince!(id) : null),
  }))
  const asked = new AskedPath(one)
  asked.path.hold([one, two], 3)
  const target = `/v2/changes?since=${first.id}&snapshot=${second.id}`
  const { headers } = asked.get(target, KEYED)
  for (let round = 0; round < 3; round++) assert.equal(asked.get(target, KEYED).status, 200)
  held.delete(first.id)
  // Which snapshot has come in its place does not matter.
  asked.path.hold([two, { ...two }], 3)
  for (const condition of [{}, { 'if-none-match': headers.etag }]) {
    assert.equal(asked.get(target, { ...KEYED, ...condition }).status, 410)
  }
})

test('The readings that differ come in pages, removed ones as they were, and links lead through them.', () => {
  const asked = path()
  const seen: string[] = []
  const buoys: number[] = []
  let next: string | null = `/v2/changes?since=${first.id}&include=readings&per_page=2&snapshot=${second.id}`
  while (next !== null) {
    const { text, headers } = asked.get(next, KEYED)
    const { data, meta } = JSON.parse(text) as Body
    assert.equal(meta.snapshot, second.id)
    assert.equal(data.count, 5)
    buoys.push(data.buoys.length)
    for (const { buoy_id: id, change, reading } of data.readings!) {
      seen.push(`${id} ${change} ${reading.time} ${reading.significient_height}`)
    }
    const query: string | undefined = /<([^>]*)>; rel="next"/.exec(headers.link)?.[1]
    next = query === undefined ? null : `/v2/changes${query}`
  }
  assert.deepEqual(seen, [
    '2 changed 2026-02-28T23:30:00Z 1.6',
    '2 added 2026-03-27T09:30:00Z 1',
    '2 added 2026-03-27T10:00:00Z 1.1',
    '3 removed 2026-03-02T12:00:00Z 1.234',
    '5 added 2026-03-27T10:00:00Z 0.001',
  ])
  assert.deepEqual(buoys, [4, 0, 0], 'the buoys are on the first page alone')
  assert.deepEqual(ask(`since=${first.id}&include=readings&page=9`).data.readings, [])
})

test('More than 1,000 readings a page are 1,000, as every list takes its most for more.', () => {
  const { meta } = ask(`since=${first.id}&include=readings&per_page=5000`)
  assert.deepEqual([meta.page, meta.per_page], [1, 1000])
})

test('What include adds to readings stands in changes as it does in lists of readings, in both snapshots.', () => {
  const more = 'wind,peak_period,swell'
  const { readings = [] } = ask(`since=${first.id}&include=readings,${more}`).data
  assert.equal(readings.length, 5)
  const readingsOf = (id: number, snapshot: string): string[] => {
    const url = `/v2/buoys/${id}/readings?include=${more}&per_page=100&snapshot=${snapshot}`
    const { data } = JSON.parse(path().get(url, KEYED).text) as { data: { readings: object[] } }
    return data.readings.map((reading) => JSON.stringify(reading))
  }
  for (const { buoy_id: id, change, reading } of readings) {
    const listed = readingsOf(id, change === 'removed' ? first.id : second.id)
    assert.ok(listed.includes(JSON.stringify(reading)), `${JSON.stringify(reading)} in ${listed.join()}`)
  }
  const {
    peak_period: peak,
    wind_speed: wind,
    gust_speed: gust,
    swell_period: swell,
  } = readings[2].reading as { [name: string]: unknown }
  assert.deepEqual([peak, wind, gust, swell], [1.25, 36.5, null, 13.1])
})

test('A snapshot that is not held is gone, which names the one that there is; a key is needed.', () => {
  const { status, text } = path().get(`/v2/changes?since=${UNKNOWN}`, KEYED)
  const { error, details } = JSON.parse(text) as { error: string; details: object }
  assert.deepEqual(
    [status, error, details],
    [410, 'snapshot_gone', { parameter: 'since', current: second.id }],
  )
  assert.equal(path().get(`/v2/changes?since=${first.id}`).status, 401)
})

test('Many changes are made in slices, the same bytes as at once.', async () => {
  const many = join(folder, 'many')
  const buoysAt = (step: number): FakeBuoy[] =>
    Array.from({ length: 900 }, (_, i) => ({
      ...alpha,
      identifier: `M${i}`,
      name: `Buoy number ${i}`,
      rows: [
        { time: at('2026-03-01T00:00:00Z'), significantHeight: 1000 + step },
        { time: at('2026-02-01T00:00:00Z'), significantHeight: 1000 + step },
      ],
    }))
  const loaded = []
  const opened: View[] = []
  for (const step of [0, 1]) {
    await build([fakeSource(buoysAt(step))], many, { fresh: true })
    loaded.push(await loadSnapshot(many))
    opened.push(await viewOf(many))
  }
  const all = finish(changesBetween(loaded[0], loaded[1], DAY))
  const view = { ...opened[1], changesSince: () => ({ changes: all, before: opened[0].dataset }) }
  const atOnce = new AskedPath(view, { clock: () => 1_800_000_000 })
  const inTurns = new AskedPath(view, { clock: () => 1_800_000_000 }, [KEY], setImmediate)
  for (const { path: asked } of [atOnce, inTurns]) asked.hold([opened[0], view], 2)
  for (const query of ['', '&include=readings&per_page=1000', '&include=readings&per_page=1000&page=2']) {
    const url = `/v2/changes?since=${loaded[0].id}${query}`
    const expected = atOnce.get(url, KEYED)
    const answer = await inTurns.getLater(url, KEYED)
    assert.ok(answer.isLater, url)
    assert.equal(answer.text, expected.text)
    assert.equal(Number(answer.headers['content-length']), expected.bytes.length)
    const { data } = JSON.parse(answer.text) as Body
    assert.equal(data.readings?.length ?? 1000, query.includes('page=2') ? 800 : 1000)
  }
})

test('Over builds and rollbacks the changes since each held snapshot are those of a naive comparison.', async (t) => {
  const counts = await follow(join(folder, 'followed'), 24, Number(process.env.GROUNDSWELL_SEED ?? 1))
  t.diagnostic(JSON.stringify(counts))
  assert.ok(counts.changed > 0 && counts.added > 0 && counts.removed > 0)
  assert.ok(counts.rollbacks > 0)
})

test('A live server answers with the changes since what it served before.', async (t) => {
  await runCliWell(['rollback', dir, '--to', first.id])
  const live = await startLive(t, { snapshots: dir })
  const client = new Client(live)
  assert.deepEqual((await client.get(`/changes?since=${second.id}`)).status, 410)
  await runCliWell(['resume', dir])
  for (;;) {
    const { headers } = await client.get('/countries')
    if (headers['x-snapshot-id'] === second.id) break
  }
  for (let round = 0; round < 8; round++) {
    const { status, text } = await client.get(`/changes?since=${first.id}`)
    assert.equal(status, 200, text)
    assert.deepEqual((JSON.parse(text) as Body).data, EXPECTED)
  }
})
