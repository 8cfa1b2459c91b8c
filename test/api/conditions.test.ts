/**
 * `GET /conditions` over a live server, request by request against a walk over the whole world: contract,
 * operation 13.
 */
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
import { energy } from '../oracle/oracle.ts'

const SEED = Number(process.env['GROUNDSWELL_SEED'] ?? 20_260_327)
const HOUR = 3600
const DAY = 24 * HOUR

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type JsonObject = { [key: string]: Json }

/** Keys of each object in the order of the contract. */
const KEYS = {
  data: ['location', 'forecast', 'reading', 'tide', 'metadata', 'units'],
  location: ['lat', 'lng', 'timezone'],
  forecast: [
    'waves_height',
    'waves_period',
    'waves_direction',
    'wind_speed',
    'wind_direction',
    'swell_height',
    'swell_period',
    'swell_direction',
    'wave_energy',
  ],
  reading: [
    'exists',
    'significient_height',
    'maximum_height',
    'direction_degrees',
    'period',
    'time',
    'wave_energy',
    'buoy',
  ],
  tide: [
    'height',
    'time',
    'direction',
    'seconds_to_next_tide_change',
    'next_tide',
    'next_tide_height',
    'harbor',
  ],
  metadata: ['forecast_updated_at', 'reading_age_minutes', 'tide_source'],
}

/** A text as it is, anything else as what matches nothing. */
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : 'no text')

const isoTime = (epoch: number): string => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`

function objectOf(value: Json | undefined, what: string): JsonObject {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${what} is not an object`)
  return value
}

/** The nearest number with so many decimals, allowing both where two are equally near. */
function assertRounded(got: Json | undefined, expected: number | null, decimals: number, what: string): void {
  if (expected === null) {
    assert.equal(got, null, what)
    return
  }
  assert.ok(typeof got === 'number', `${what} is ${JSON.stringify(got)}, wanted about ${expected}`)
  assert.equal(got, Number(got.toFixed(decimals)), `${what} has more than ${decimals} decimals`)
  const off = Math.abs(got - expected)
  assert.ok(off <= 0.5 * 10 ** -decimals + 1e-9, `${what} is ${got}, wanted ${expected}`)
}

function assertConditions(
  reply: Reply,
  expected: Expected,
  [lat, lng, time]: readonly [number, number, number],
  what: string,
  withModel = false,
): void {
  assert.equal(reply.status, 200, `${what}: ${reply.text.slice(0, 300)}`)
  const data = objectOf((JSON.parse(reply.text) as JsonObject)['data'], 'data')
  const wanted = expected.spot === null ? KEYS.data : [...KEYS.data, 'spot', 'nearby']
  assert.deepEqual(Object.keys(data), wanted, what)
  const [location, forecast, reading, tide, metadata] = [
    'location',
    'forecast',
    'reading',
    'tide',
    'metadata',
  ].map((key) => objectOf(data[key], key))

  assert.deepEqual(Object.keys(location), KEYS.location)
  assert.deepEqual([location['lat'], location['lng']], [lat, lng], what)
  // Whether the zone is one, not which: its borders are the library's.
  assert.ok(new Intl.DateTimeFormat('en', { timeZone: textOf(location['timezone']) }))

  assert.deepEqual(Object.keys(forecast), KEYS.forecast)
  for (const [column, key] of Object.entries(QUANTITIES) as [Quantity, string][]) {
    const value = expected.forecast.values[column]
    const got = forecast[key]
    if (!column.endsWith('direction')) {
      assertRounded(got, value, column === 'wind_speed' ? 1 : 2, `${what}: ${key}`)
    } else if (value === null) assert.equal(got, null, `${what}: ${key}`)
    else
      assert.ok(compassPoints(value).includes(textOf(got)), `${what}: ${key} is ${textOf(got)}, not ${value}`)
  }
  assert.equal(
    forecast['wave_energy'],
    energy(forecast['waves_height'] as number | null, forecast['waves_period'] as number | null),
    `${what}: wave_energy of the height and period shown`,
  )

  if (expected.reading === null) assert.deepEqual(reading, { exists: false }, what)
  else {
    const { buoy, km, reading: found } = expected.reading
    assert.deepEqual(Object.keys(reading), KEYS.reading)
    const { buoy: gotBuoy, ...rest } = reading
    assert.deepEqual(
      rest,
      {
        exists: true,
        significient_height: found.height,
        maximum_height: found.maximum,
        direction_degrees: found.direction,
        period: found.period,
        time: isoTime(found.time),
        wave_energy: energy(found.height, found.period),
      },
      what,
    )
    const { distance_km: distance, ...named } = objectOf(gotBuoy, 'buoy')
    assert.deepEqual(named, { id: buoy.id, name: buoy.name }, what)
    assertRounded(distance, km, 2, `${what}: distance_km`)
  }

  assert.deepEqual(Object.keys(tide), KEYS.tide)
  if (expected.tide === null) assert.ok(Object.values(tide).every((value) => value === null))
  else {
    const { harbour, height, rising, seconds, nextHeight } = expected.tide
    // The clock's angle is that of the mean sun to well below a second of time.
    assert.ok(Math.abs(Number(tide['height']) - height) <= 0.0051, `${what}: height`)
    assert.ok(Math.abs(Number(tide['next_tide_height']) - nextHeight) <= 0.0051, `${what}: next height`)
    assert.equal(tide['time'], isoTime(time))
    assert.equal(tide['harbor'], harbour.name)
    const wait = Number(tide['seconds_to_next_tide_change'])
    assert.ok(Number.isInteger(wait) && wait > 0, `${what}: ${wait} s`)
    // Right at a turn either of two neighbours may come next.
    if (seconds > 2 && seconds < 6 * HOUR - 2) {
      assert.ok(Math.abs(wait - seconds) <= 2, `${what}: ${wait} s, wanted ${seconds}`)
      assert.equal(tide['direction'], rising ? 'rising' : 'falling', what)
      assert.equal(tide['next_tide'], rising ? 'high' : 'low', what)
    }
  }

  const { run, model } = expected.forecast
  const { forecast_model: gotModel, forecast_credit: gotCredit, ...always } = metadata
  assert.deepEqual(Object.keys(always), KEYS.metadata)
  assert.deepEqual([gotModel, gotCredit], withModel ? [model, null] : [undefined, undefined], what)
  assert.equal(metadata['forecast_updated_at'], run === null ? null : isoTime(run), what)
  assert.equal(metadata['tide_source'], expected.tide?.harbour.credit ?? null, what)
  const age = expected.reading === null ? null : (time - expected.reading.reading.time) / 60
  assertRounded(metadata['reading_age_minutes'], age, 0, `${what}: reading_age_minutes`)
  assert.deepEqual(data['units'], { height: 'm', speed: 'km/h' })

  if (expected.spot !== null) assertSpot(data, expected.spot, what)
}

function assertSpot(data: JsonObject, { spot, nearby }: NonNullable<Expected['spot']>, what: string): void {
  assert.deepEqual(data['spot'], { id: spot.id, name: spot.name, lat: spot.lat, lng: spot.lng }, what)
  const { buoys, ...others } = objectOf(data['nearby'], 'nearby')
  assert.deepEqual(others, {})
  assert.ok(Array.isArray(buoys) && buoys.length === nearby.length, `${what}: ${JSON.stringify(buoys)}`)
  nearby.forEach(({ item, km }, i) => {
    const got = objectOf(buoys[i], 'a nearby buoy')
    const keys = ['id', 'name', 'lat', 'lng', 'source', 'source_identifier', 'last_reading', 'distance_km']
    assert.deepEqual(Object.keys(got), keys)
    assert.deepEqual(
      [got['id'], got['name'], got['lat'], got['lng']],
      [item.id, item.name, item.lat, item.lng],
    )
    assertRounded(got['distance_km'], km, 2, `${what}: nearby`)
    assert.equal(objectOf(got['last_reading'], 'last_reading')['time'], isoTime(item.readings.at(-1)!.time))
  })
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

test('Conditions are those that a walk over the whole world finds.', { timeout: 600_000 }, async (t) => {
  const world = makeConditionsWorld(SEED)
  const folder = join(temporaryFolder(t), 'world')
  writeConditionsWorld(world, folder)
  const live = await startLive(t, { sourceArgs: ['--source', `csv:${folder}`] })
  const client = new Client(live)
  t.after(() => client.close())

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
    const runs = 3000
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
      const data = objectOf((JSON.parse(text) as JsonObject)['data'], 'data')
      assert.ok([null, time].includes(objectOf(data['tide'], 'tide')['time'] as string | null), text)
      assert.deepEqual(data['reading'], { exists: false })
    }
  })

  await t.test('Faulty parameters are refused by name, an unknown spot is not found.', async () => {
    const faults: [query: string, status: number, error: string, names: string][] = [
      ['lng=1', 400, 'bad_request', 'lat'],
      ['lat=1', 400, 'bad_request', 'lng'],
      ['lat=90.01&lng=1', 400, 'bad_request', 'lat'],
      ['lat=1&lng=-180.5', 400, 'bad_request', 'lng'],
      ['lat=1e1&lng=1', 400, 'bad_request', 'lat'],
      ['lat=1&lng=1&lng=2', 400, 'bad_request', 'lng'],
      ['lat=1&lng=1&time=soon', 400, 'bad_request', 'time'],
      ['lat=1&lng=1&time=2026-02-30', 400, 'bad_request', 'time'],
      ['lat=1&lng=1&spot_id=0', 400, 'bad_request', 'spot_id'],
      ['lat=1&lng=1&spot_id=1.5', 400, 'bad_request', 'spot_id'],
      ['lat=1&lng=1&spot_id=99999999999999999999', 400, 'bad_request', 'spot_id'],
      ['lat=1&lng=1&spot_id=8', 404, 'resource_not_found', 'Spot'],
      ['lat=1&lng=1&spot_id=9007199254740991', 404, 'resource_not_found', 'Spot'],
    ]
    for (const [query, status, error, name] of faults) {
      const reply = await client.get(`/conditions?${query}`)
      assert.equal(reply.status, status, query)
      const body = JSON.parse(reply.text) as { error: string; message: string }
      assert.equal(body.error, error, query)
      assert.ok(body.message.includes(name), `${query}: ${body.message}`)
    }
    const empty = await client.get('/conditions?lat=1&lng=1&time=&spot_id=')
    assert.equal(empty.status, 200)
  })
})
