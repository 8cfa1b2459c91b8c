/** Tide tables by days of a clock: they agree with the forecast, and "today" is the place's day. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answered, AskedPath, KEYED, viewOf } from '../answered.ts'
import { build, fakeSource, northBuoy } from '../builder/fake_source.ts'
import { folderOfFile } from '../live.ts'

const epochOf = (text: string): number => Date.parse(text) / 1000
const AS_OF = epochOf('2026-03-27T09:00:00Z')

/** M2, S2, K1 and a wiggle twelve times a day. */
const CONSTITUENTS = [
  { name: 'M2', amplitude: 1.3, phase: 95 },
  { name: 'S2', amplitude: 0.45, phase: 130 },
  { name: 'K1', amplitude: 0.08, phase: 70 },
]
const HARBOURS = [
  { identifier: 'soc', name: 'Socoa', lat: 43.395, lng: -1.68, constituents: CONSTITUENTS },
  {
    identifier: 'wai',
    name: 'Waitangi',
    lat: -43.95,
    lng: -176.56,
    // K1 with a wiggle of 3 mm twelve times a day, most of which are no turn of the tide.
    constituents: [
      { name: 'K1', amplitude: 0.2, phase: 10 },
      { name: 'M24', amplitude: 0.0015, phase: 0 },
    ],
  },
]

const folder = folderOfFile()
const buoy = northBuoy('A', [{ time: AS_OF, significantHeight: 1500 }])
await build(
  [
    {
      async read(sink, context) {
        await fakeSource([{ ...buoy, lat: 43.4, lng: -1.7 }]).read(sink, context)
        for (const harbour of HARBOURS) sink.harbour({ ...harbour, datumOffset: 2.4, credit: 'made up' })
        sink.spot({ id: 7, name: 'Lafitenia', lat: 43.42, lng: -1.64 })
      },
    },
  ],
  folder,
)
const view = await viewOf(folder)
const pathAt = (now: () => number, answerCache = 0): AskedPath =>
  new AskedPath(view, { clock: now, answerCache })
const path = pathAt(() => AS_OF)
const get = (url: string): Answered => path.get(`/v2${url}`, KEYED)

interface Turn {
  time: string
  type: 'high' | 'low'
  height: number
}
interface Table {
  location: { lat: number; lng: number; timezone: string }
  timezone: string
  start: string
  days: number
  tides: Turn[]
  count: number
  left_out: number
  harbor: { name: string; distance_km: number } | null
  source: string | null
  datum: string | null
}

function tableOf(answered: Answered): Table {
  assert.equal(answered.status, 200, answered.text)
  return (JSON.parse(answered.text) as { data: Table }).data
}

const instants = (turns: readonly Turn[]): [number, string, number][] =>
  turns.map(({ time, type, height }) => [epochOf(time), type, height])

test('High and low waters are those of the forecast as instants, over 400 days and two changes of the clock.', () => {
  const table = tableOf(get('/tides?lat=43.4&lng=-1.7&start=2026-03-20&days=400'))
  const first = epochOf('2026-03-19T23:00:00Z')
  const end = epochOf('2027-04-23T22:00:00Z')
  const forecast: Turn[] = []
  for (let start = first; start < end; start += 239 * 3600) {
    const text = new Date(start * 1000).toISOString()
    const { data } = JSON.parse(get(`/forecast?lat=43.4&lng=-1.7&start=${text}&hours=240`).text) as {
      data: { tides: Turn[] }
    }
    forecast.push(...data.tides.filter(({ time }) => epochOf(time) < end))
  }
  assert.ok(table.tides.length > 1500, `${table.tides.length}`)
  assert.deepEqual(instants(table.tides), instants(forecast))
  assert.equal(table.count, table.tides.length)
  assert.equal(table.location.timezone, 'Europe/Paris')
})

test('Days and their number have limits, and a place is named once.', () => {
  for (const [query, said] of [
    ['', /Parameter lat is missing\. Allowed: either lat and lng, or buoy, or spot_id/],
    ['lat=1&lng=1&buoy=1', /Parameter lng names a second place|Parameter buoy names a second place/],
    ['buoy=1&days=401', /Parameter days is out of range\. Allowed: an integer from 1 to 400/],
    ['buoy=1&start=2105-01-01', /Parameter start is out of range\. Allowed: a day of the years 1970 to 2104/],
    ['buoy=1&start=1969-12-31', /Parameter start/],
  ] as const) {
    const answered = get(`/tides?${query}`)
    assert.equal(answered.status, 400, query)
    assert.match(answered.text, said, query)
  }
})

test('Today is the day of the place: the validator is of that day, and no answer is kept past its midnight.', () => {
  for (const answerCache of [0, 2 ** 20]) {
    // Waitangi is 13:45 ahead: its midnight is at 10:15 UTC.
    let now = epochOf('2026-03-27T10:14:30Z')
    const turning = pathAt(() => now, answerCache)
    const ask = (more = ''): Answered => turning.get(`/v2/tides?lat=-43.9&lng=-176.5${more}`, KEYED)
    const before = ask()
    assert.equal(tableOf(before).start, '2026-03-27')
    assert.equal(before.headers['cache-control'], 'private, max-age=30')
    now -= 3600
    const earlier = ask()
    assert.equal(earlier.headers['cache-control'], 'private, max-age=60')
    assert.equal(earlier.headers.etag, before.headers.etag, 'one validator all day')
    for (now = epochOf('2026-03-27T10:14:59Z'); now < epochOf('2026-03-27T10:15:02Z'); now++) {
      const isOver = now >= epochOf('2026-03-27T10:15:00Z')
      const answered = ask()
      assert.equal(tableOf(answered).start, isOver ? '2026-03-28' : '2026-03-27')
      assert.equal(answered.headers.etag === before.headers.etag, !isOver)
      const condition = { ...KEYED, 'if-none-match': before.headers.etag }
      const again = turning.get('/v2/tides?lat=-43.9&lng=-176.5', condition)
      assert.equal(again.status, isOver ? 200 : 304)
      // Another clock has another today.
      assert.equal(tableOf(ask('&timezone=UTC')).start, '2026-03-27')
    }
    // A day that the request names does not end.
    assert.equal(ask('&start=2026-03-27').headers['cache-control'], 'private, max-age=60')
  }
})

test('Turns that are too small to be a high or low water are counted.', () => {
  const table = tableOf(get('/tides?lat=-43.9&lng=-176.5&start=2026-03-27&days=10'))
  assert.ok(table.tides.length >= 18 && table.tides.length <= 21, `${table.tides.length}`)
  assert.ok(table.left_out > 10, `${table.left_out}`)
  const days = Array.from({ length: 10 }, (_, day) => new Date((AS_OF + day * 86_400) * 1000).toISOString())
  const each = days.map((day) => {
    return tableOf(get(`/tides?lat=-43.9&lng=-176.5&start=${day.slice(0, 10)}&days=1`)).left_out
  })
  assert.equal(
    each.reduce((sum, count) => sum + count, 0),
    table.left_out,
  )
  assert.equal(tableOf(get('/tides?buoy=1&start=2026-03-27&days=30')).left_out, 0)
})

test('CSV and NDJSON have a row for each high or low water.', () => {
  const url = '/tides?buoy=1&start=2026-03-27&days=3'
  const { tides } = tableOf(get(url))
  const csv = get(`${url}&format=csv&units=1`)
  const rows = tides.map(({ time, type, height }) => `${time},${type},${height}`)
  assert.deepEqual(csv.text.split('\r\n'), ['time,type,height', 'Europe/Paris,,m', ...rows, ''])
  assert.match(csv.headers['content-disposition'], /tides_43\.4_-1\.7_2026-03-27\.csv"/)
  assert.equal(csv.headers['x-total-count'], String(tides.length))
  // oxlint-disable-next-line typescript/no-unnecessary-template-expression
  const lines = get(`${url.replace('?', '.ndjson?')}`)
    .text.trim()
    .split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as Turn),
    tides,
  )
  const head = get(`${url}&timezone=UTC&format=csv`).text.split('\r\n')
  assert.equal(epochOf(head[1].split(',')[0]) >= epochOf('2026-03-27'), true)
})
