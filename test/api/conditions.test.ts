/** `GET /conditions` over a live server, request by request against a walk over the whole world. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Client, startLive, temporaryFolder, type Reply } from '../live.ts'
import {
  CENTRES,
  compassPoints,
  expectConditions,
  makeConditionsWorld,
  QUANTITIES,
  writeConditionsWorld,
  type Buoy,
  type ConditionsWorld,
  type Expected,
  type Quantity,
  type Spot,
} from '../oracle/conditions.ts'
import { energy, type Json, type JsonObject } from '../oracle/oracle.ts'
import { rounds } from '../rounds.ts'

const SEED = Number(process.env['GROUNDSWELL_SEED'] ?? 20_260_327)
const HOUR = 3600
const DAY = 24 * HOUR

/** What is used of an answer to work out what it should have been. */
interface Got {
  location: { timezone: string }
  forecast: { [field: string]: Json }
  reading: { buoy?: { distance_km: number } }
  tide: { height: number; next_tide_height: number; seconds_to_next_tide_change: number } & JsonObject
  metadata: { reading_age_minutes: number }
  nearby?: {
    buoys: {
      source: string
      source_identifier: string
      last_reading: { time: string }
      distance_km: number
    }[]
  }
}

const isoTime = (epoch: number): string => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`

/** What was answered where it is within reach, else what is right. */
const nearly = (got: number, expected: number, reach: number): number =>
  Math.abs(got - expected) <= reach ? got : expected

/** The nearest number with so many decimals, either of two that are equally near. */
function rounded(got: Json | undefined, expected: number | null, decimals: number): Json {
  if (expected === null || typeof got !== 'number' || got !== Number(got.toFixed(decimals))) return expected
  return nearly(got, expected, 0.5 * 10 ** -decimals + 1e-9)
}

function forecastOf(got: Got['forecast'], { values }: Expected['forecast']): JsonObject {
  const fields = Object.entries(QUANTITIES).map(([column, field]) => {
    const value = values[column as Quantity]
    if (!column.endsWith('direction'))
      return [field, rounded(got[field], value, column === 'wind_speed' ? 1 : 2)]
    if (value === null) return [field, null]
    const points: Json[] = compassPoints(value)
    return [field, points.includes(got[field]) ? got[field] : points[0]]
  })
  // Of the height and the period that are shown.
  const [height, period] = [got['waves_height'], got['waves_period']] as (number | null)[]
  return { ...Object.fromEntries(fields), wave_energy: energy(height, period) } as JsonObject
}

function readingOf(got: Got['reading'], expected: Expected['reading']): JsonObject {
  if (expected === null) return { exists: false }
  const { buoy, km, reading } = expected
  return {
    exists: true,
    significient_height: reading.height,
    maximum_height: reading.maximum,
    direction_degrees: reading.direction,
    period: reading.period,
    time: isoTime(reading.time),
    wave_energy: energy(reading.height, reading.period),
    buoy: { id: buoy.id, name: buoy.name, distance_km: rounded(got.buoy?.distance_km, km, 2) },
  }
}

function tideOf(got: Got['tide'], expected: Expected['tide'], time: number): JsonObject {
  const { harbour, height, rising, seconds, nextHeight } = expected ?? {}
  if (harbour === undefined) return Object.fromEntries(TIDE_FIELDS.map((field) => [field, null]))
  const wait = got.seconds_to_next_tide_change
  // Right at a turn either of two neighbours may come next.
  const isAtTurn = Number.isInteger(wait) && wait > 0 && (seconds! <= 2 || seconds! >= 6 * HOUR - 2)
  return {
    // The clock's angle is that of the mean sun to well below a second of time.
    height: nearly(got.height, height!, 0.0051),
    time: isoTime(time),
    direction: isAtTurn ? got['direction'] : rising ? 'rising' : 'falling',
    seconds_to_next_tide_change: isAtTurn ? wait : nearly(Math.round(wait), seconds!, 2),
    next_tide: isAtTurn ? got['next_tide'] : rising ? 'high' : 'low',
    next_tide_height: nearly(got.next_tide_height, nextHeight!, 0.0051),
    harbor: harbour.name,
  }
}

const TIDE_FIELDS = [
  'height',
  'time',
  'direction',
  'seconds_to_next_tide_change',
  'next_tide',
  'next_tide_height',
  'harbor',
]

function spotOf(got: Got['nearby'], { spot, nearby }: NonNullable<Expected['spot']>): JsonObject {
  const buoys = nearby.map(({ item, km }, i) => {
    const { source, source_identifier, last_reading: reading, distance_km } = got?.buoys[i] ?? {}
    const time = isoTime(item.readings.at(-1)!.time)
    return {
      id: item.id,
      name: item.name,
      lat: item.lat,
      lng: item.lng,
      source: source ?? '',
      source_identifier: source_identifier ?? '',
      last_reading: reading?.time === time ? reading : { time },
      distance_km: rounded(distance_km, km, 2),
    }
  })
  return { spot: { id: spot.id, name: spot.name, lat: spot.lat, lng: spot.lng }, nearby: { buoys } }
}

function assertConditions(
  reply: Reply,
  expected: Expected,
  [lat, lng, time]: readonly [number, number, number],
  what: string,
  withModel = false,
): void {
  assert.equal(reply.status, 200, `${what}: ${reply.text.slice(0, 300)}`)
  const { data } = JSON.parse(reply.text) as { data: Got }
  const { run, model } = expected.forecast
  const age = expected.reading === null ? null : (time - expected.reading.reading.time) / 60
  // Whether the zone is one, not which: its borders are the library's.
  assert.ok(new Intl.DateTimeFormat('en', { timeZone: data.location.timezone }))
  const wanted = {
    location: { lat, lng, timezone: data.location.timezone },
    forecast: forecastOf(data.forecast, expected.forecast),
    reading: readingOf(data.reading, expected.reading),
    tide: tideOf(data.tide, expected.tide, time),
    metadata: {
      forecast_updated_at: run === null ? null : isoTime(run),
      reading_age_minutes: rounded(data.metadata.reading_age_minutes, age, 0),
      tide_source: expected.tide?.harbour.credit ?? null,
      ...(withModel && { forecast_model: model, forecast_credit: null }),
    },
    units: { height: 'm', speed: 'km/h' },
    ...(expected.spot !== null && spotOf(data.nearby, expected.spot)),
  }
  assert.deepEqual(data, wanted, what)
  assert.equal(JSON.stringify(data), JSON.stringify(wanted), `${what}: keys in another order`)
}

interface Question {
  lat: number
  lng: number
  time: number
  spot: Spot | null
}

/** Places and times at which something happens, and everything around them. */
function questions(world: ConditionsWorld): fc.Arbitrary<Question> {
  const buoysWithReadings = world.buoys.filter(({ readings }) => readings.length > 0)
  const moments = [
    ...world.points.flatMap(({ rows }) => rows.map(({ time }) => time)),
    ...buoysWithReadings.flatMap(({ readings }) => [readings[0].time, readings.at(-1)!.time]),
    ...betweenReadings(buoysWithReadings),
  ]
  const time = fc.oneof(
    fc.constantFrom(...moments),
    fc
      .tuple(fc.constantFrom(...moments), fc.constantFrom(-DAY, DAY, -DAY - 1, DAY + 1, -1, 1))
      .map(([moment, shift]) => moment + shift),
    fc.integer({ min: world.asOf - 6 * DAY, max: world.asOf + 4 * DAY }),
    fc.constantFrom(0, 0xffff_ffff),
  )
  const near = fc
    .tuple(
      fc.constantFrom(...CENTRES),
      fc.integer({ min: -900, max: 900 }),
      fc.integer({ min: -900, max: 900 }),
    )
    .map(([[lat, lng], north, east]) => {
      const moved = lng + east / 1000
      return {
        lat: Number(Math.max(-90, Math.min(90, lat + north / 1000)).toFixed(3)),
        lng: Number((moved > 180 ? moved - 360 : moved < -180 ? moved + 360 : moved).toFixed(3)),
      }
    })
  const anywhere = fc.record({
    lat: fc.integer({ min: -90, max: 90 }),
    lng: fc.integer({ min: -180, max: 180 }),
  })
  const exact = fc
    .constantFrom<{ lat: number; lng: number }>(...world.buoys, ...world.points, ...world.harbours)
    .map(({ lat, lng }) => ({ lat, lng }))
  const place = fc.oneof({ weight: 5, arbitrary: near }, anywhere, exact)
  const spot = fc.option(fc.constantFrom(...world.spots), { freq: 2, nil: null })
  return fc
    .record({ place, time, spot })
    .map(({ place: { lat, lng }, time, spot }) => ({ lat, lng, time, spot }))
}

/** Moments as far from one reading as from the next. */
function betweenReadings(buoys: readonly Buoy[]): number[] {
  return buoys.flatMap(({ readings }) =>
    readings.slice(1, 6).map(({ time }, i) => (time + readings[i].time) / 2),
  )
}

test('Conditions are those that a walk over the whole world finds.', async (t) => {
  const world = makeConditionsWorld(SEED)
  const folder = join(temporaryFolder(t), 'world')
  writeConditionsWorld(world, folder)
  const live = await startLive(t, { sourceArgs: ['--source', `csv:${folder}`] })
  const client = new Client(live)

  await t.test('Any position, any time, with and without a spot.', async () => {
    let unsure = 0
    let seen = { forecast: 0, reading: 0, stale: 0, tide: 0, nothing: 0 }
    const property = fc.asyncProperty(questions(world), async ({ lat, lng, time, spot }) => {
      const url = `/conditions?lat=${lat}&lng=${lng}&time=${isoTime(time)}${spot === null ? '' : `&spot_id=${spot.id}`}`
      const expected = expectConditions(world, lat, lng, time, spot)
      const withModel = time % 2 === 0
      const reply = await client.get(`${url}${withModel ? '&include=model' : ''}`)
      if (expected === null) {
        assert.equal(reply.status, 200, url)
        unsure++
        return
      }
      assertConditions(reply, expected, [lat, lng, time], url, withModel)
      const { forecast, reading, tide } = expected
      if (Object.values(forecast.values).some((value) => value !== null)) seen.forecast++
      if (reading !== null) seen.reading++
      if (reading !== null && Math.abs(reading.reading.time - time) > 3 * HOUR) seen.stale++
      if (tide !== null) seen.tide++
      if (forecast.run === null && reading === null && tide === null) seen.nothing++
    })
    const runs = rounds(1200, 3000)
    await fc.assert(property, { numRuns: runs, seed: SEED, includeErrorInReport: true })
    assert.ok(unsure <= runs * 0.03, `${unsure} answers could not be compared`)
    // A world in which nothing is ever in reach would prove nothing.
    for (const [what, times] of Object.entries(seen)) assert.ok(times > runs / 20, `${what}: ${times}`)
  })

  await t.test('Without a time the answer is that of the current minute, and so is its ETag.', async () => {
    const [lat, lng] = CENTRES[0]
    for (let attempt = 0; ; attempt++) {
      const first = await client.get(`/conditions?lat=${lat}&lng=${lng}`)
      const second = await client.get(`/conditions?lat=${lat}&lng=${lng}`)
      const minutes = [first, second].map(({ text }) => {
        const { meta } = JSON.parse(text) as { meta: { timestamp: string } }
        return Math.floor(Date.parse(meta.timestamp) / 60_000)
      })
      const time = minutes[0] * 60
      assertConditions(first, expectConditions(world, lat, lng, time, null)!, [lat, lng, time], 'now')
      const sameTag = first.headers.etag === second.headers.etag
      assert.equal(sameTag, minutes[0] === minutes[1])
      if (sameTag || attempt > 2) break
    }
    const withTime = await client.get(`/conditions?lat=${lat}&lng=${lng}&time=2026-03-27`)
    const again = await client.get(`/conditions?lat=${lat}&lng=${lng}&time=2026-03-27T00:00:00Z`)
    const midnight = Date.UTC(2026, 2, 27) / 1000
    const expected = expectConditions(world, lat, lng, midnight, null)!
    assertConditions(withTime, expected, [lat, lng, midnight], 'a date alone')
    assertConditions(again, expected, [lat, lng, midnight], 'its first second')
  })

  await t.test('Times of any form are understood, and of any century answered.', async () => {
    const [lat, lng] = CENTRES[0]
    const noon = Date.UTC(2026, 2, 27, 12) / 1000
    const expected = expectConditions(world, lat, lng, noon, null)!
    for (const form of [
      '2026-03-27T12:00:00.900Z',
      '2026-03-27T14:00:00%2B02:00',
      '2026-03-27T07%3A00-05:00',
    ]) {
      const reply = await client.get(`/conditions?lat=${lat}&lng=${lng}&time=${form}`)
      assertConditions(reply, expected, [lat, lng, noon], form)
    }
    for (const year of ['0001', '1969', '2106', '9999']) {
      const time = `${year}-12-31T23:59:59Z`
      const { status, text } = await client.get(`/conditions?lat=${lat}&lng=${lng}&time=${time}`)
      assert.equal(status, 200, text)
      const { data } = JSON.parse(text) as { data: { tide: { time: string | null }; reading: object } }
      assert.ok([null, time].includes(data.tide.time), text)
      assert.deepEqual(data.reading, { exists: false })
    }
  })

  await t.test('An unknown spot is not found, and an empty parameter counts as absent.', async () => {
    const { status, text } = await client.get('/conditions?lat=1&lng=1&spot_id=4711')
    const { error, message } = JSON.parse(text) as { error: string; message: string }
    assert.deepEqual([status, error, /spot/i.test(message)], [404, 'resource_not_found', true], text)
    assert.equal((await client.get('/conditions?lat=1&lng=1&time=&spot_id=')).status, 200)
  })
})
