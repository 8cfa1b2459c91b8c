/** `bucket` on readings of one buoy and of many, against a walk over all rows with the clock of `Intl`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { AskedPath, KEYED, viewOf } from '../answered.ts'
import { build, fakeSource, NETWORKS, type FakeBuoy, type FakeRow } from '../builder/fake_source.ts'
import { folderOfFile } from '../live.ts'
import { rounds } from '../rounds.ts'

const SEED = Number(process.env['GROUNDSWELL_SEED'] ?? 20_260_327)
const HOUR = 3600
const DAY = 24 * HOUR

/** Half-hourly rows with gaps over the leap day of 2024 and the changes of clocks of that spring and autumn. */
function rowsOf(seed: number): FakeRow[] {
  let state = seed
  const chance = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const rows: FakeRow[] = []
  for (const [from, days] of [
    ['2023-12-30T00:00:00Z', 100],
    ['2024-10-20T00:00:00Z', 25],
  ] as const) {
    const first = Date.parse(from) / 1000
    for (let time = first; time < first + days * DAY; time += HOUR / 2) {
      if (chance() < 0.4) continue
      const significantHeight = Math.floor(chance() * 6000) + 300
      rows.push({
        time: time + Math.floor(chance() * 60),
        significantHeight,
        ...(chance() < 0.7 && { maximumHeight: Math.floor(significantHeight * (1 + chance() * 0.9)) }),
        ...(chance() < 0.7 && { waterTemperature: Math.floor(chance() * 3000) - 200 }),
        ...(chance() < 0.9 && { direction: (Math.floor(chance() * 90) * 100 + 31_500) % 36_000 }),
        ...(chance() < 0.5 && { windSpeed: Math.floor(chance() * 9000) }),
      })
    }
  }
  return rows
}

const BUOYS: FakeBuoy[] = [1, 2, 3].map((n) => ({
  source: NETWORKS[0].name,
  identifier: `b${n}`,
  name: `Buoy ${n}`,
  lat: 40 + n,
  lng: -3,
  virtual: false,
  rows: rowsOf(n * 977),
}))
const folder = folderOfFile()
await build([fakeSource(BUOYS)], folder)
const view = await viewOf(folder)
const path = new AskedPath(view, { answerCache: 0 })
const get = (url: string) => path.get(`/v2${url}`, KEYED)

const FIELDS = {
  significient_height: ['significantHeight', 1000],
  maximum_height: ['maximumHeight', 1000],
  period: ['period', 1000],
  water_temperature: ['waterTemperature', 100],
  direction: ['direction', 100],
  wind_speed: ['windSpeed', 100],
} as const

const clocks = new Map<string, Intl.DateTimeFormat>()
/** What the clock of a zone shows, as a text that sorts by time but where clocks go back. */
function shown(zone: string, epoch: number): string {
  if (!clocks.has(zone))
    clocks.set(
      zone,
      new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }),
    )
  return clocks.get(zone)!.format(epoch * 1000)
}

/** The first thing that the clock shows of the bucket of an instant. */
function keyOf(zone: string, bucket: string, epoch: number): string {
  const text = shown(zone, epoch)
  if (bucket === '1mo') return `${text.slice(0, 8)}01 00:00:00`
  if (bucket === '1d') return `${text.slice(0, 11)}00:00:00`
  const hours = bucket === '3h' ? 3 : 1
  const hour = Math.floor(Number(text.slice(11, 13)) / hours) * hours
  return `${text.slice(0, 11)}${String(hour).padStart(2, '0')}:00:00`
}

/** As numbers with two decimals, halves away from 0. */
function together(aggregation: string, values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const value = {
    mean: values.reduce((sum, one) => sum + one, 0) / values.length,
    max: sorted.at(-1)!,
    min: sorted[0],
    median: sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2,
  }[aggregation]!
  return value
}

function isAggregate(
  got: unknown,
  field: keyof typeof FIELDS,
  aggregation: string,
  rows: FakeRow[],
): boolean {
  const [measure, scale] = FIELDS[field]
  const values = rows.flatMap((row) => (row[measure] === undefined ? [] : [row[measure] / scale]))
  if (values.length === 0 || typeof got !== 'number') return got === null && values.length === 0
  if (field !== 'direction') {
    return Math.abs(got - together(aggregation, values)) <= 0.005 + 1e-9 && got === Number(got.toFixed(2))
  }
  const [x, y] = [Math.cos, Math.sin].map((of) =>
    values.reduce((sum, value) => sum + of((value * Math.PI) / 180), 0),
  )
  const apart = Math.abs(got - ((Math.atan2(y, x) * 180) / Math.PI + 360)) % 360
  return Number.isInteger(got) && got < 360 && Math.min(apart, 360 - apart) <= 0.5 + 1e-6
}

interface Bucket {
  time: string
  sample_count: number
  buoy_id?: number
  [field: string]: unknown
}
const isoTime = (epoch: number): string => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`

test('Buckets are those of a naive walk, on any clock, over leap days and changes of the clock.', () => {
  const all = BUOYS.map(({ rows }) => rows)
  const seen = { buckets: 0, longDays: 0, leapDays: 0 }
  const property = fc.property(
    fc.constantFrom('1h', '3h', '1d', '1mo'),
    fc.constantFrom('mean', 'max', 'min', 'median', ''),
    fc.constantFrom(
      '',
      'Europe/Paris',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
      'Etc/GMT-14',
    ),
    fc.constantFrom(
      all[0][0].time,
      Date.parse('2024-02-28T11:07:00Z') / 1000,
      Date.parse('2024-10-26T00:00:00Z') / 1000,
    ),
    fc.integer({ min: 0, max: 20 * DAY }),
    fc.integer({ min: 1, max: 90 * DAY }),
    fc.constantFrom('asc', 'desc'),
    fc.boolean(),
    (bucket, aggregation, timezone, first, shift, length, order, isOne) => {
      const [start, end] = [first + shift, first + shift + length]
      const query = new URLSearchParams({
        bucket,
        order,
        start_date: isoTime(start),
        end_date: isoTime(end),
        include: 'wind',
      })
      if (aggregation !== '') query.set('aggregation', aggregation)
      if (timezone !== '') query.set('timezone', timezone)
      const url = `${isOne ? '/buoys/1/readings' : '/readings'}?${query.toString()}&format=ndjson`
      const { status, text, headers } = get(url)
      assert.equal(status, 200, `${url}: ${text}`)
      const got = text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Bucket)
      assert.equal(headers['x-total-count'], String(got.length))
      const zone = timezone === '' ? 'UTC' : timezone
      let at = 0
      for (const [i, rows] of (isOne ? [all[0]] : all).entries()) {
        const groups = new Map<string, FakeRow[]>()
        for (const row of rows.filter(({ time }) => time >= start && time <= end)) {
          const key = keyOf(zone, bucket, row.time)
          if (!groups.get(key)?.push(row)) groups.set(key, [row])
        }
        const keys = [...groups.keys()]
        for (const key of order === 'asc' ? keys : keys.toReversed()) {
          const own = got[at++]
          const inIt = groups.get(key)!
          const what = `${url}: ${JSON.stringify(own)}, ${key}`
          const begin = Date.parse(own.time) / 1000
          assert.ok(shown(zone, begin) >= key && shown(zone, begin - 1) < key && begin <= inIt[0].time, what)
          assert.equal(own.sample_count, inIt.length, what)
          if (!isOne) assert.equal(own.buoy_id, i + 1, what)
          for (const field of Object.keys(FIELDS) as (keyof typeof FIELDS)[])
            assert.ok(isAggregate(own[field], field, aggregation || 'mean', inIt), `${field}: ${what}`)
          seen.buckets++
          if (bucket === '1d' && inIt.at(-1)!.time - begin >= DAY) seen.longDays++
          if (bucket === '1d' && key.startsWith('2024-02-29')) seen.leapDays++
        }
      }
      assert.equal(at, got.length, url)
    },
  )
  fc.assert(property, { numRuns: rounds(60, 1000), seed: SEED, includeErrorInReport: true })
  assert.ok(seen.buckets > 5000 && seen.leapDays > 0 && seen.longDays > 0, JSON.stringify(seen))
})

test('Pages, columns and formats of buckets agree, and count them.', () => {
  const range = 'bucket=1d&aggregation=median&start_date=2024-02-20&end_date=2024-03-20&order=asc'
  const whole = get(`/readings?${range}&format=ndjson`)
    .text.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Bucket)
  const paged: unknown[] = []
  for (let page = 1; page <= 9; page++) {
    const { data, meta } = JSON.parse(get(`/readings?${range}&per_page=10&page=${page}`).text) as {
      data: { buoys: { id: number }[]; readings: []; buckets: Bucket[]; count: number }
      meta: { total_pages: number }
    }
    assert.deepEqual(
      [data.readings, data.count, meta.total_pages],
      [[], whole.length, Math.ceil(whole.length / 10)],
    )
    assert.deepEqual(
      data.buoys.map(({ id }) => id),
      [...new Set(data.buckets.map((one) => one.buoy_id))],
    )
    paged.push(...data.buckets)
  }
  assert.deepEqual(paged, whole)
  const columns = JSON.parse(
    get(`/buoys/1/readings?${range}&layout=columns&fields=time,sample_count&per_page=100`).text,
  ) as {
    data: { buckets: { [name: string]: unknown[] } }
  }
  const own = whole.filter((one) => one.buoy_id === 1)
  assert.deepEqual(columns.data.buckets, {
    time: own.map(({ time }) => time),
    sample_count: own.map((one) => one.sample_count),
  })
  const [head, line] = get(`/buoys/1/readings?${range}&format=csv`).text.split('\r\n')
  assert.match(head, /^time,significient_height,.*,sample_count,buoy.lat,buoy.lng,buoy_id,buoy_name$/)
  assert.ok(line.startsWith(`${own[0].time},${String(own[0]['significient_height'])},`), line)
  const parquet = get(`/readings?${range}&format=parquet`)
  assert.equal(parquet.bytes.subarray(0, 4).toString(), 'PAR1')
  const { features } = JSON.parse(get(`/readings?${range}&format=geojson`).text) as { features: object[] }
  assert.equal(features.length, whole.length)
  assert.deepEqual(Object.keys(features[0]), ['type', 'geometry', 'properties'])
})

test('Ten years of a buoy by day are the most, and what is too much says what to ask.', () => {
  for (const [query, status, said] of [
    ['bucket=1d&start_date=2014-10-20&end_date=2024-10-20', 200, /"count":/],
    ['bucket=1d&start_date=2014-10-01&end_date=2024-10-20', 422, /Parameter bucket makes too many rows/],
    ['bucket=1mo&start_date=1970-01-01&end_date=2024-12-20', 200, /"count":7/],
    ['bucket=1h&start_date=2024-01-01&end_date=2024-05-31', 200, /"count":/],
    ['bucket=1h&start_date=2024-01-01&end_date=2024-06-01', 422, /a longer bucket, a shorter range/],
    ['bucket=2h', 422, /Allowed: one of 1h, 3h, 1d, 1mo/],
    ['bucket=1d&aggregation=sum', 422, /one of mean, max, min, median/],
    ['bucket=1d&timezone=Paris', 422, /an IANA name such as/],
    ['bucket=1d&start_date=2030-01-01&end_date=2030-02-01', 200, /"buckets":\[\],"count":0/],
  ] as const) {
    const { status: got, text } = get(`/buoys/1/readings?${query}`)
    assert.equal(got, status, `${query}: ${text.slice(0, 300)}`)
    assert.match(text, said)
  }
})
