/** `GET /forecast` over a live server, hour by hour against a walk over the whole world, and against `/conditions`. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Client, startLive, temporaryFolder } from '../live.ts'
import {
  CENTRES,
  compassPoints,
  expectConditions,
  makeConditionsWorld,
  QUANTITIES,
  writeConditionsWorld,
  type Harbour,
  type Quantity,
} from '../oracle/conditions.ts'
import { kilometres, type Json, type JsonObject } from '../oracle/oracle.ts'
import { rounds } from '../rounds.ts'

const SEED = Number(process.env['GROUNDSWELL_SEED'] ?? 20_260_327)
const HOUR = 3600
const DAY = 24 * HOUR
const HALF_DAY = 12 * HOUR

interface Answer {
  location: { lat: number; lng: number; timezone: string }
  time: string[]
  tides: { time: string; type: string; height: number }[]
  metadata: JsonObject
  [array: string]: unknown
}

const isoTime = (epoch: number): string => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`
const ARRAYS = Object.entries(QUANTITIES) as [Quantity, string][]

/** Whether `got` is `expected` with so many decimals; either neighbour where both are equally near. */
function isRounded(got: unknown, expected: number | null, decimals: number): boolean {
  if (expected === null || typeof got !== 'number') return got === expected
  return got === Number(got.toFixed(decimals)) && Math.abs(got - expected) <= 0.5 * 10 ** -decimals + 1e-9
}

function assertHour(
  data: Answer,
  i: number,
  values: { [name in Quantity]: number | null },
  what: string,
): void {
  for (const [quantity, name] of ARRAYS) {
    const got = (data[name] as (number | null)[])[i]
    const expected = values[quantity]
    if (!quantity.endsWith('direction')) {
      assert.ok(
        isRounded(got, expected, quantity === 'wind_speed' ? 1 : 2),
        `${what}: ${name} ${got}, not ${expected}`,
      )
    } else if (got === null || expected === null) assert.equal(got, expected, `${what}: ${name}`)
    else {
      assert.ok(Number.isInteger(got) && got >= 0 && got < 360, `${what}: ${name} ${got}`)
      const apart = Math.abs(got - expected)
      assert.ok(Math.min(apart, 360 - apart) <= 0.5 + 1e-6, `${what}: ${name} ${got}, not ${expected}`)
    }
  }
}

/** High and low waters of the solar half-day tide, which is a cosine of the clock. */
function extremesOf({ level, amplitude, phase }: Harbour, from: number, to: number): Answer['tides'] {
  const first = Math.ceil((from / HALF_DAY - phase / 360) * 2 - 1e-3)
  const found: Answer['tides'] = []
  for (let half = first; ; half++) {
    const time = (half / 2 + phase / 360) * HALF_DAY
    if (time > to + 2) return found
    const isHigh = half % 2 === 0
    found.push({
      time: isoTime(time),
      type: isHigh ? 'high' : 'low',
      height: level + (isHigh ? amplitude : -amplitude),
    })
  }
}

function assertTides(got: Answer['tides'], harbour: Harbour, from: number, to: number, what: string): void {
  const near = (a: string, b: number): boolean => Math.abs(Date.parse(a) / 1000 - b) <= 2
  // Right at an end either program may be right.
  const expected = extremesOf(harbour, from, to).filter(({ time }) => !near(time, from) && !near(time, to))
  const inside = got.filter(({ time }) => !near(time, from) && !near(time, to))
  assert.deepEqual(
    inside.map(({ type }) => type),
    expected.map(({ type }) => type),
    what,
  )
  inside.forEach(({ time, height }, i) => {
    assert.ok(Math.abs(Date.parse(time) - Date.parse(expected[i].time)) <= 2000, `${what}: ${time}`)
    assert.ok(Math.abs(height - expected[i].height) <= 0.0051, `${what}: ${height}`)
  })
}

test('The forecast of a place is, at every hour, what a walk over the whole world finds.', async (t) => {
  const world = makeConditionsWorld(SEED)
  const folder = join(temporaryFolder(t), 'world')
  writeConditionsWorld(world, folder)
  const client = new Client(await startLive(t, { sourceArgs: ['--source', `csv:${folder}`] }))
  const ask = async (query: string): Promise<Answer> => {
    const { status, text } = await client.get(`/forecast?${query}`)
    assert.equal(status, 200, text)
    return (JSON.parse(text) as { data: Answer }).data
  }
  const place = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(
          fc.constantFrom(...CENTRES),
          fc.integer({ min: -900, max: 900 }),
          fc.integer({ min: -900, max: 900 }),
        )
        .map(([[lat, lng], north, east]) => ({
          lat: Number(Math.max(-90, Math.min(90, lat + north / 1000)).toFixed(3)),
          lng: Number((((lng + east / 1000 + 540) % 360) - 180).toFixed(3)),
        })),
    },
    fc.record({ lat: fc.integer({ min: -90, max: 90 }), lng: fc.integer({ min: -180, max: 180 }) }),
  )
  const start = fc.integer({ min: world.asOf - 3 * DAY, max: world.asOf + 3 * DAY })

  await t.test('Any position, start and number of hours.', async () => {
    const seen = { forecast: 0, tides: 0, nothing: 0 }
    let unsure = 0
    const property = fc.asyncProperty(
      place,
      start,
      fc.integer({ min: 1, max: 240 }),
      async ({ lat, lng }, at, hours) => {
        const query = `lat=${lat}&lng=${lng}&start=${isoTime(at)}&hours=${hours}`
        const data = await ask(query)
        const first = Math.floor(at / HOUR) * HOUR
        const times = Array.from({ length: hours }, (_, i) => first + i * HOUR)
        assert.deepEqual(data.time, times.map(isoTime), query)
        const expected = times.map((time) => expectConditions(world, lat, lng, time, null))
        if (expected.includes(null)) {
          unsure++
          return
        }
        expected.forEach((hour, i) => {
          assertHour(data, i, hour!.forecast.values, `${query}, hour ${i}`)
          const level = (data['tide_level'] as (number | null)[])[i]
          const wanted = hour!.tide?.height ?? null
          assert.ok(
            level === wanted || Math.abs(level! - wanted!) <= 0.0051,
            `${query}, hour ${i}: ${level}, not ${wanted}`,
          )
        })
        const { forecast, tide } = expected[0]!
        if (tide === null) assert.deepEqual(data.tides, [], query)
        else assertTides(data.tides, tide.harbour, first, times.at(-1)!, query)
        const km = data.metadata['harbor_distance_km'] as number
        assert.deepEqual(
          { ...data.metadata, forecast_distance_km: null },
          {
            forecast_updated_at: forecast.run === null ? null : isoTime(forecast.run),
            forecast_model: forecast.model,
            forecast_credit: null,
            forecast_distance_km: null,
            tide_source: tide?.harbour.credit ?? null,
            harbor: tide?.harbour.name ?? null,
            harbor_distance_km: tide === null ? null : km,
          } satisfies { [name: string]: Json },
          query,
        )
        if (tide !== null)
          assert.ok(isRounded(km, kilometres(lat, lng, tide.harbour.lat, tide.harbour.lng), 2), query)
        assert.equal(data.metadata['forecast_distance_km'] === null, forecast.run === null, query)
        if (forecast.run !== null) seen.forecast++
        if (tide !== null) seen.tides++
        if (forecast.run === null && tide === null) seen.nothing++
      },
    )
    const runs = rounds(150, 1000)
    await fc.assert(property, { numRuns: runs, seed: SEED, includeErrorInReport: true })
    assert.ok(unsure <= runs * 0.03, `${unsure} answers could not be compared`)
    for (const [what, times] of Object.entries(seen)) assert.ok(times > runs / 20, `${what}: ${times}`)
  })

  await t.test('The combined conditions agree at every hour.', async () => {
    const { lat, lng } = world.points[0]
    const data = await ask(`lat=${lat}&lng=${lng}&start=${isoTime(world.asOf - DAY)}&hours=72`)
    for (const [i, time] of data.time.entries()) {
      const { text } = await client.get(`/conditions?lat=${lat}&lng=${lng}&time=${time}`)
      const { forecast, tide } = (JSON.parse(text) as { data: { forecast: JsonObject; tide: JsonObject } })
        .data
      for (const [quantity, name] of ARRAYS) {
        const got = (data[name] as (number | null)[])[i]
        if (!quantity.endsWith('direction') || got === null)
          assert.equal(got, forecast[name], `${time}: ${name}`)
        else {
          // A whole degree next to the border of two points may belong to either.
          const points = [got - 0.5, got, got + 0.5].flatMap((degrees) =>
            compassPoints((degrees + 360) % 360),
          )
          assert.ok(
            points.includes(forecast[name] as string),
            `${time}: ${name} ${got}, ${JSON.stringify(forecast[name])}`,
          )
        }
      }
      assert.equal((data['tide_level'] as (number | null)[])[i], tide['height'], time)
    }
  })

  await t.test('A buoy by id or slug and a spot stand for their positions.', async () => {
    const [buoy] = world.buoys
    const [spot] = world.spots
    const range = `start=${isoTime(world.asOf)}&hours=5`
    assert.deepEqual(
      await ask(`buoy=${buoy.id}&${range}`),
      await ask(`lat=${buoy.lat}&lng=${buoy.lng}&${range}`),
    )
    const { text } = await client.get(`/buoys/${buoy.id}`)
    const { slug } = (JSON.parse(text) as { data: { buoy: { slug: string } } }).data.buoy
    assert.deepEqual(await ask(`buoy=${slug}&${range}`), await ask(`buoy=${buoy.id}&${range}`))
    assert.deepEqual(
      await ask(`spot_id=${spot.id}&${range}`),
      await ask(`lat=${spot.lat}&lng=${spot.lng}&${range}`),
    )
  })

  await t.test(
    'Without a start the first hour is that of the clock, and 72 hours are answered.',
    async () => {
      const before = Math.floor(Date.now() / 3_600_000)
      const data = await ask('lat=0&lng=0')
      const after = Math.floor(Date.now() / 3_600_000)
      assert.equal(data.time.length, 72)
      assert.ok(
        [before, after].some((hour) => data.time[0] === isoTime(hour * HOUR)),
        data.time[0],
      )
    },
  )

  await t.test('As a table each hour is a row.', async () => {
    const query = `buoy=1&start=${isoTime(world.asOf)}&hours=4`
    const data = await ask(query)
    const { text } = await client.get(`/forecast?${query}&format=ndjson`)
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject)
    assert.deepEqual(
      rows.map(({ time }) => time),
      data.time,
    )
    for (const name of [...Object.values(QUANTITIES), 'tide_level'])
      assert.deepEqual(
        rows.map((row) => row[name]),
        data[name],
        name,
      )
  })

  await t.test(
    'No place, two places or half a position is an error that says how a place is named.',
    async () => {
      for (const [query, status] of [
        ['', 400],
        ['lat=1', 400],
        ['lng=1', 400],
        ['lat=1&lng=1&buoy=1', 400],
        ['buoy=1&spot_id=7', 400],
        ['lat=91&lng=0', 400],
        ['buoy=1&hours=241', 400],
        ['buoy=1&hours=0', 400],
        ['buoy=nowhere', 404],
        ['spot_id=4711', 404],
      ] as const) {
        const { status: got, text } = await client.get(`/forecast?${query}`)
        assert.equal(got, status, `${query}: ${text}`)
        if (status === 400)
          assert.match((JSON.parse(text) as { message: string }).message, /^Parameter \w+ .*Allowed: /)
      }
      for (const year of ['0001', '1969', '2106', '9999'])
        assert.equal((await ask(`lat=43.5&lng=-1.8&hours=240&start=${year}-12-31`)).time.length, 240)
    },
  )
})
