/**
 * Days, hours and months of a zone's clock on the wire, against the raw rows of a buoy put in order by the
 * wall clock of Intl alone.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { AskedPath, KEYED, viewOf } from '../answered.ts'
import { build, fakeSource, northBuoy } from '../builder/fake_source.ts'
import { folderOfFile } from '../live.ts'
import { rounds } from '../rounds.ts'

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400]
const STEP = 20 * MINUTE
/** In which clocks change: by an hour, two, or half of one, at midnight, at 45 past, and over a whole day. */
const SPANS = [
  ['2011-10-28', '2011-11-12'],
  ['2011-12-25', '2012-01-04'],
  ['2018-10-30', '2018-11-10'],
  ['2025-03-05', '2025-04-10'],
  ['2025-09-24', '2025-11-06'],
]
const ZONES =
  'Europe/Paris America/New_York America/St_Johns Antarctica/Troll Australia/Lord_Howe Pacific/Chatham Pacific/Apia America/Sao_Paulo Asia/Beirut America/Havana Asia/Kathmandu Africa/Casablanca Europe/Dublin Etc/GMT+5'.split(
    ' ',
  )

const epochOf = (text: string): number => Date.parse(text) / 1000
/** Centimetres that no pattern of a day hides. */
const heightAt = (time: number): number => (Math.imul(time / STEP, 2_654_435_761) >>> 0) % 900
const times = SPANS.flatMap(([from, to]) => {
  const first = epochOf(from)
  return Array.from({ length: (epochOf(to) - first) / STEP }, (_, i) => first + i * STEP)
})

const folder = folderOfFile()
const rows = times.map((time) => ({ time, significantHeight: heightAt(time) * 10 }))
await build([fakeSource([northBuoy('A', rows)])], folder)
const path = new AskedPath(await viewOf(folder), { clock: () => times.at(-1)! })

interface Bucket {
  time: string
  label: string
  partial?: true
  significient_height: number
  sample_count: number
}
interface Got {
  data: {
    timezone?: string
    readings: { time: string; significient_height: number }[]
    buckets: Bucket[]
    count: number
  }
  meta: { date_range: { start: string; end: string }; total_pages: number }
}

function ask(query: { [name: string]: string }, of = '/buoys/1/readings'): Got {
  const { status, text } = path.get(`/v2${of}?${new URLSearchParams(query).toString()}`, KEYED)
  assert.equal(status, 200, text)
  return JSON.parse(text) as Got
}

const clocks = new Map<string, Intl.DateTimeFormat>()
const walls = new Map<string, string>()

/** `2026-10-25 05:00` that the clock of a zone shows. */
function wall(zone: string, time: number): string {
  const key = `${zone} ${time}`
  let text = walls.get(key)
  if (text === undefined) {
    const options = { timeZone: zone, dateStyle: 'short', timeStyle: 'short' } as const
    const clock = clocks.get(zone) ?? new Intl.DateTimeFormat('sv-SE', options)
    clocks.set(zone, clock)
    // Sweden writes dates as ISO 8601.
    walls.set(key, (text = clock.format(time * 1000)))
  }
  return text
}

const LABELS: { readonly [bucket: string]: (shown: string) => string } = {
  '1h': (shown) => `${shown.slice(0, 13)}:00`,
  '3h': (shown) => {
    const hour = Math.floor(Number(shown.slice(11, 13)) / 3) * 3
    return `${shown.slice(0, 11)}${String(hour).padStart(2, '0')}:00`
  },
  '1d': (shown) => shown.slice(0, 10),
  '1mo': (shown) => shown.slice(0, 7),
}

/** Metres to two decimals, halves up. */
const STATISTICS: { readonly [aggregation: string]: (heights: number[]) => number } = {
  max: (heights) => Math.max(...heights) / 100,
  min: (heights) => Math.min(...heights) / 100,
  mean: (heights) =>
    Math.floor((2 * heights.reduce((a, b) => a + b, 0) + heights.length) / (2 * heights.length)) / 100,
}

/** Hours around an instant in which a clock may show again what it showed: it goes back by two at most. */
const AROUND = Array.from({ length: 13 }, (_, i) => i * 15 * MINUTE)

/** Whether the clock shows the bucket of `label` just before `time`, or just after it. */
function isShown(zone: string, labelOf: (shown: string) => string, label: string, time: number, to: 1 | -1) {
  return AROUND.some((step) => labelOf(wall(zone, time + to * (step + 1))) === label)
}

interface Window {
  zone: string
  bucket: string
  aggregation: string
  /** First and last second; a day alone names all of it. */
  from: string
  to: string
  isOfDays: boolean
}

/** The first second of a day on a clock, minute by minute. */
function dayStart(zone: string, day: string): number {
  let time = epochOf(day) - 15 * HOUR
  while (wall(zone, time).slice(0, 10) < day) time += 15 * MINUTE
  return time
}

const dayAfter = (day: string): string => new Date((epochOf(day) + DAY) * 1000).toISOString().slice(0, 10)

function assertWindow({ zone, bucket, aggregation, from, to, isOfDays }: Window): void {
  const labelOf = LABELS[bucket]
  const start = isOfDays ? dayStart(zone, from) : epochOf(from)
  const end = isOfDays ? dayStart(zone, dayAfter(to)) - 1 : epochOf(to)
  const expected = new Map<string, number[]>()
  for (const time of times) {
    if (time < start || time > end) continue
    const label = labelOf(wall(zone, time))
    const known = expected.get(label)
    if (known === undefined) expected.set(label, [heightAt(time)])
    else known.push(heightAt(time))
  }
  const query = { bucket, aggregation, timezone: zone, start_date: from, end_date: to, order: 'asc' }
  const { data, meta } = ask({ ...query, per_page: '100' })
  const got = [...data.buckets]
  for (let page = 2; page <= meta.total_pages; page++) {
    got.push(...ask({ ...query, per_page: '100', page: String(page) }).data.buckets)
  }
  assert.equal(data.timezone, zone)
  const labels = [...expected.keys()].toSorted()
  assert.deepEqual(
    got.map(({ label }) => label),
    labels,
  )
  assert.equal(data.count, labels.length)
  for (const { time, label, partial, significient_height: height, sample_count: count } of got) {
    const what = `${label} of ${JSON.stringify(query)}`
    const heights = expected.get(label)!
    assert.deepEqual([count, height], [heights.length, STATISTICS[aggregation](heights)], what)
    const first = epochOf(time)
    assert.equal(labelOf(wall(zone, first)), label, `${time} begins ${what}`)
    assert.ok(!isShown(zone, labelOf, label, first, -1), `${time} is the first instant of ${what}`)
    // The text is the wall clock, and its offset is that of the instant.
    assert.equal(time.slice(0, 16).replace('T', ' '), wall(zone, first), what)
    const isCut = isShown(zone, labelOf, label, start, -1) || isShown(zone, labelOf, label, end, 1)
    assert.equal(partial, isCut ? true : undefined, `partial of ${what}`)
  }
}

const span = fc.constantFrom(...SPANS)
const window: fc.Arbitrary<Window> = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    bucket: fc.constantFrom(...Object.keys(LABELS)),
    aggregation: fc.constantFrom(...Object.keys(STATISTICS)),
    span,
    ends: fc.tuple(fc.nat(1000), fc.nat(1000)),
    isOfDays: fc.boolean(),
  })
  .map(({ span: [first, last], ends, isOfDays, ...asked }) => {
    const seconds = epochOf(last) - epochOf(first)
    const [from, to] = ends
      .toSorted((a, b) => a - b)
      .map((end) => new Date((epochOf(first) + Math.floor((end / 1000) * seconds)) * 1000).toISOString())
    // St. John's went back from 00:01 to 23:01 until 2011: no range without a gap is a day there.
    const isOdd = asked.zone === 'America/St_Johns' && first < '2012'
    if (!isOfDays || isOdd)
      return { ...asked, from: `${from.slice(0, 19)}Z`, to: `${to.slice(0, 19)}Z`, isOfDays: false }
    return { ...asked, from: from.slice(0, 10), to: to.slice(0, 10), isOfDays }
  })

test('Buckets of any zone have the labels, values and marks of the rows that its clock shows in them.', () => {
  // Days that Samoa left out begin with the next.
  const runs = rounds(200, 2340)
  fc.assert(fc.property(window, assertWindow), { numRuns: runs, seed: 20_261_025 })
})

test('Hours that are shown again are one bucket, also past the begin of another.', () => {
  const cases: [zone: string, day: string, label: string, samples: number, time: string][] = [
    // Back by two hours from 03:00, from 03:45 by one, from 02:00 by half an hour, from 03:00 by one.
    ['Antarctica/Troll', '2025-10-26', '2025-10-26 01:00', 6, '2025-10-26T01:00:00+02:00'],
    ['Antarctica/Troll', '2025-10-26', '2025-10-26 02:00', 6, '2025-10-26T02:00:00+02:00'],
    ['Pacific/Chatham', '2025-04-06', '2025-04-06 02:00', 4, '2025-04-06T02:00:00+13:45'],
    ['Pacific/Chatham', '2025-04-06', '2025-04-06 03:00', 5, '2025-04-06T03:00:00+13:45'],
    ['Australia/Lord_Howe', '2025-04-06', '2025-04-06 01:00', 5, '2025-04-06T01:00:00+11:00'],
    ['Europe/Paris', '2025-10-26', '2025-10-26 02:00', 6, '2025-10-26T02:00:00+02:00'],
    // A day of 23 hours that begins at one o'clock.
    ['America/Sao_Paulo', '2018-11-04', '2018-11-04 01:00', 3, '2018-11-04T01:00:00-02:00'],
  ]
  for (const [timezone, date, label, samples, time] of cases) {
    const { data } = ask({ date, timezone, bucket: '1h', order: 'asc', per_page: '100' })
    const found = data.buckets.find((bucket) => bucket.label === label)
    assert.deepEqual([found?.sample_count, found?.time], [samples, time], `${timezone} ${label}`)
  }
})

test('A date is a day of the zone, of 23, 24 or 25 hours; a day that a clock left out is empty.', () => {
  const cases: [zone: string, date: string, start: string, end: string][] = [
    ['Europe/Paris', '2025-10-26', '2025-10-25T22:00:00Z', '2025-10-26T22:59:59Z'],
    ['Europe/Paris', '2025-03-30', '2025-03-29T23:00:00Z', '2025-03-30T21:59:59Z'],
    ['Asia/Kathmandu', '2025-10-01', '2025-09-30T18:15:00Z', '2025-10-01T18:14:59Z'],
    ['UTC', '2025-10-01', '2025-10-01T00:00:00Z', '2025-10-01T23:59:59Z'],
  ]
  for (const of of ['/buoys/1/readings', '/readings']) {
    for (const [timezone, date, start, end] of cases) {
      for (const range of [{ date }, { start_date: date, end_date: date }]) {
        const { data, meta } = ask({ ...range, timezone, per_page: '100', order: 'asc' }, of)
        assert.deepEqual(meta.date_range, { start, end })
        const inside = times.filter((time) => time >= epochOf(start) && time <= epochOf(end))
        assert.deepEqual(
          data.readings.map((reading) => [epochOf(reading.time), reading.significient_height]),
          inside.map((time) => [time, heightAt(time) / 100]).slice(0, 100),
        )
        for (const { time } of data.readings) {
          assert.match(time, timezone === 'UTC' ? /Z$/ : /[+-]\d\d:\d\d$/)
          assert.equal(time.slice(0, 16).replace('T', ' '), wall(timezone, epochOf(time)))
        }
      }
    }
    const skipped = { start_date: '2011-12-30', end_date: '2011-12-30' }
    for (const range of [{ date: '2011-12-30' }, skipped]) {
      assert.deepEqual(ask({ ...range, timezone: 'Pacific/Apia' }, of).data.readings, [])
      assert.equal(ask({ ...range, timezone: 'Pacific/Apia', bucket: '1d' }, of).data.count, 0)
    }
  }
})

test('Five local days are five buckets, none of them partial, where five UTC days cut two.', () => {
  const range = { start_date: '2025-10-24', end_date: '2025-10-28', bucket: '1d', order: 'asc' }
  const days = ['2025-10-24', '2025-10-25', '2025-10-26', '2025-10-27', '2025-10-28']
  const local = ask({ ...range, timezone: 'Europe/Paris' }).data.buckets
  assert.deepEqual(
    local.map(({ label, partial, sample_count: samples }) => [label, partial, samples]),
    days.map((day) => [day, undefined, day === '2025-10-26' ? 75 : 72]),
  )
  const utc = ask(range)
  assert.deepEqual(
    utc.data.buckets.map(({ time }) => time),
    days.map((day) => `${day}T00:00:00Z`),
  )
  // Without the parameter nothing is new.
  assert.equal(utc.data.timezone, undefined)
  assert.ok(utc.data.buckets.every((bucket) => !('label' in bucket) && !('partial' in bucket)))
  const cut = ask({ ...range, timezone: 'Europe/Paris', start_date: '2025-10-24T00:00:00Z' }).data.buckets
  assert.deepEqual(
    cut.map(({ partial }) => partial),
    [true, undefined, undefined, undefined, undefined],
  )
  // An end that the request leaves open cuts nothing.
  const open = ask({ bucket: '1mo', timezone: 'Europe/Paris', order: 'asc' }).data.buckets
  assert.ok(open.every(({ partial }) => partial === undefined))
})

test('auto is the zone of the buoy, and a 400 where many are asked for; moments stay UTC.', () => {
  const { data } = ask({ date: '2025-10-26', timezone: 'auto', per_page: '1' })
  const named = ask({ date: '2025-10-26', timezone: data.timezone!, per_page: '1' })
  assert.deepEqual(data, named.data)
  const { status, text } = path.get('/v2/readings?timezone=auto', KEYED)
  assert.equal(status, 400)
  assert.match(text, /Parameter timezone is malformed\. Allowed: an IANA name such as Europe\/Paris"/)
  const moment = {
    timestamp: String(epochOf('2025-10-26T00:30:00Z')),
    timezone: 'Europe/Paris',
    order: 'asc',
  }
  const around = ask(moment)
  assert.deepEqual(around.meta.date_range, { start: '2025-10-25T23:00:00Z', end: '2025-10-26T02:00:00Z' })
  const clock = around.data.readings.map(({ time }) => time.slice(11))
  const summer = ['01:00', '01:20', '01:40', '02:00', '02:20', '02:40'].map((time) => `${time}:00+02:00`)
  const winter = ['02:00', '02:20', '02:40', '03:00'].map((time) => `${time}:00+01:00`)
  assert.deepEqual(clock, [...summer, ...winter])
  // A time without a zone is UTC, whatever the zone of the answer.
  const { meta } = ask({ start_date: '2025-10-26T00:00:00', timezone: 'Europe/Paris' })
  assert.equal(meta.date_range.start, '2025-10-26T00:00:00Z')
})

test('Tables have the same times, labels and marks as columns, and Parquet has instants.', async () => {
  const query =
    'start_date=2025-10-25T12:00:00Z&end_date=2025-10-26&bucket=1d&timezone=Europe%2FParis&order=asc'
  const lines = path.get(`/v2/buoys/1/readings?${query}&format=csv&units=1`, KEYED).text.split('\r\n')
  const cells = lines.map((line) => line.split(',').slice(0, 4))
  assert.deepEqual(cells.slice(0, 4), [
    ['time', 'label', 'partial', 'significient_height'],
    ['Europe/Paris', '', '', 'm'],
    ['2025-10-25T00:00:00+02:00', '2025-10-25', 'true', cells[2][3]],
    ['2025-10-26T00:00:00+02:00', '2025-10-26', 'false', cells[3][3]],
  ])
  const records = path.get(`/v2/buoys/1/readings?${query}&format=ndjson`, KEYED).text.trim().split('\n')
  const buckets = records.map((line) => JSON.parse(line) as Bucket)
  assert.deepEqual(
    buckets.map(({ label, partial }) => [label, partial]),
    [
      ['2025-10-25', true],
      ['2025-10-26', undefined],
    ],
  )
  const columns = path.get(`/v2/buoys/1/readings?${query}&layout=columns&fields=label,partial`, KEYED).text
  assert.match(columns, /"buckets":\{"label":\["2025-10-25","2025-10-26"\],"partial":\[true,false\]\}/)
  const plain = 'date=2025-10-26&timezone=Europe%2FParis&order=asc'
  const csv = path.get(`/v2/buoys/1/readings?${plain}&format=csv&fields=time`, KEYED)
  assert.equal(csv.text.split('\r\n')[1], '2025-10-26T00:00:00+02:00')
  assert.match(csv.headers['content-disposition'], /_readings_2025-10-26_2025-10-26\.csv/)
  const { parquetReadObjects, parquetMetadata } = await import('hyparquet')
  const { bytes } = path.get(`/v2/buoys/1/readings?${plain}&format=parquet`, KEYED)
  const file = new Uint8Array(bytes).buffer
  const [first] = await parquetReadObjects({ file })
  assert.equal((first['time'] as Date).toISOString(), '2025-10-25T22:00:00.000Z')
  const units = parquetMetadata(file).key_value_metadata?.find(({ key }) => key === 'units')?.value
  assert.equal((JSON.parse(units!) as { time: string }).time, 'UTC')
})
