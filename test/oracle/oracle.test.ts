import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  boxHolds,
  compass,
  energy,
  fold,
  kilometres,
  knownBuoys,
  makeOracle,
  slugOf,
  statistic,
  type Answer,
  type JsonObject,
} from './oracle.ts'
import { requestsFor } from './requests.ts'
import { makeWorld, type World, type WorldBuoy, type WorldRow } from './world.ts'

const NOON = Date.UTC(2026, 2, 27, 12) / 1000

const row = (time: number, more: Partial<WorldRow> = {}): WorldRow => ({
  time,
  significantHeight: 1.5,
  maximumHeight: null,
  period: 8.5,
  peakPeriod: null,
  direction: 293,
  waterTemperature: null,
  windSpeed: null,
  windDirection: null,
  gustSpeed: null,
  ...more,
})

const buoy = (identifier: string, more: Partial<WorldBuoy> = {}): WorldBuoy => ({
  source: 'Net',
  identifier,
  name: `Buoy ${identifier}`,
  lat: 43.4,
  lng: -1.7,
  country: 'FR',
  timezone: 'Europe/Paris',
  virtual: false,
  rows: [row(NOON)],
  ...more,
})

const worldOf = (...buoys: WorldBuoy[]): World => ({
  asOf: NOON,
  sources: [{ name: 'Net', network: 'national', credit: '', licence: '' }],
  buoys,
})

const data = (answer: Answer) => answer.body['data'] as JsonObject
const ask = (
  world: World,
  operation: Parameters<ReturnType<typeof makeOracle>>[0]['operation'],
  parameters: { [name: string]: string },
  ids = {},
) => makeOracle(world)({ operation, parameters: new Map(Object.entries(parameters)), ...ids })

test('The oracle knows the energies that the contract names.', () => {
  assert.equal(energy(1.5, 8.5), 319)
  assert.equal(energy(1.8, 9), 515)
  assert.equal(energy(1.2, 6.5), 119)
  assert.equal(energy(0, 8), null)
  assert.equal(energy(1, null), null)
})

test('A compass point reaches 11.25 degrees to both sides and owns its lower border.', () => {
  for (const [degrees, name] of [
    [0, 'N'],
    [11.24, 'N'],
    [11.25, 'NNE'],
    [90, 'E'],
    [202.5, 'SSW'],
    [348.74, 'NNW'],
    [348.75, 'N'],
    [359.99, 'N'],
  ] as const) {
    assert.equal(compass(degrees), name, String(degrees))
  }
})

test('Great circles have the lengths that geometry gives them.', () => {
  const quarter = (Math.PI / 2) * 6371
  assert.equal(kilometres(12, 34, 12, 34), 0)
  assert.ok(Math.abs(kilometres(0, 0, 0, 90) - quarter) < 1e-9)
  assert.ok(Math.abs(kilometres(90, 0, 0, 77) - quarter) < 1e-9)
  assert.ok(Math.abs(kilometres(0, 179.5, 0, -179.5) - (Math.PI / 180) * 6371) < 1e-9)
  assert.ok(Math.abs(kilometres(43.408, -1.682, 43.532, -1.615) - 14.81) < 0.05)
})

test('Slugs lose accents and take hyphens for everything else.', () => {
  assert.equal(slugOf('Saint-Jean-de-Luz'), 'saint-jean-de-luz')
  assert.equal(slugOf('  La  Révellata! '), 'la-revellata')
  assert.equal(slugOf('İstanbul Straße'), 'istanbul-stra-e')
  assert.equal(slugOf('東京湾'), 'buoy')
  assert.equal(fold('İSTANBUL'), 'istanbul')
})

test('Ids go to physical buoys first, and slugs that clash or name an operation get numbers.', () => {
  const names = ['Map', 'Twin', 'Twin 2', 'twin', 'Map']
  const buoys = names.map((name, index) => buoy(String(index), { name, virtual: index === 0 }))
  assert.deepEqual(
    knownBuoys(worldOf(...buoys)).map(({ id, slug, record }) => [id, slug, record.virtual]),
    [
      [1, 'twin', false],
      [2, 'twin-2', false],
      [3, 'twin-3', false],
      [4, 'map-2', false],
      [5, 'map-3', true],
    ],
  )
})

test('A box holds its borders, crosses the antimeridian, and may be wider than the globe.', () => {
  const box = { south: -20, west: 170.3, north: -10, east: -170.1 }
  assert.ok(boxHolds(box, -20, 170.3))
  assert.ok(boxHolds(box, -10, -170.1))
  assert.ok(boxHolds(box, -15, 180) && boxHolds(box, -15, -180))
  assert.ok(!boxHolds(box, -15, 170.29) && !boxHolds(box, -15, -170.09) && !boxHolds(box, -15, 0))
  assert.ok(boxHolds({ south: 0, west: 190.1, north: 1, east: 200 }, 0.5, -169.9))
  assert.ok(boxHolds({ south: -95, west: -200, north: 95, east: 160 }, 90, 33))
  assert.ok(!boxHolds({ south: 0, west: 10, north: 1, east: 10 }, 0.5, 10.1))
})

test('A reading is written field by field as the contract says.', () => {
  const answer = ask(worldOf(buoy('a')), 'last_readings', { ids: '1,7' })
  assert.deepEqual(data(answer), {
    buoys: [
      {
        id: 1,
        name: 'Buoy a',
        lat: 43.4,
        lng: -1.7,
        source: 'Net',
        last_reading: {
          id: 10_000_000_000 + NOON,
          uuid: '000069c6-7140-8000-8000-000000000001',
          significient_height: 1.5,
          maximum_height: null,
          period: 8.5,
          time: '2026-03-27T12:00:00Z',
          water_temperature: null,
          direction: 293,
          direction_compass: 'WNW',
          unit: 'm',
          energy_per_wave: 319,
        },
      },
    ],
    missing_ids: [7],
  })
})

test('A buoy is active up to a day before the newest reading, to the second.', () => {
  const world = worldOf(
    buoy('a'),
    buoy('b', { rows: [row(NOON - 86_400)] }),
    buoy('c', { rows: [row(NOON - 86_401)] }),
    buoy('d', { rows: [row(NOON - 90_000), row(NOON, { significantHeight: null, windSpeed: 5 })] }),
    buoy('e', { rows: [] }),
  )
  const found = data(ask(world, 'list', {}))['buoys'] as JsonObject[]
  assert.deepEqual(
    found.map((item) => item['source_identifier']),
    ['a', 'b'],
  )
})

test('Statistics of a bucket are exact, and directions are averaged on the circle.', () => {
  assert.equal(statistic([1, 2, 10], 'median', false).value, 2)
  assert.equal(statistic([1.01, 1.02], 'median', false).value, 1.02)
  assert.equal(statistic([1, 2, 3.5], 'avg', false).value, 2.17)
  assert.equal(statistic([-1, -1.01], 'avg', false).value, -1.01)
  assert.equal(statistic([350, 10], 'avg', true).value, 0)
  assert.equal(statistic([90, 270], 'median', true).value, null)
  assert.notEqual(statistic([10, 11], 'avg', true).other, null)
})

test('A series places days by their calendar date and leaves room for 29 February.', () => {
  const at = (text: string, height: number) => row(Date.parse(text) / 1000, { significantHeight: height })
  const world = worldOf(
    buoy('a', {
      rows: [
        at('2023-02-28T12:00:00Z', 1),
        at('2023-03-01T00:30:00Z', 2),
        at('2024-02-29T12:00:00Z', 3),
        // 23:30 UTC is the first of March in Paris.
        at('2024-02-29T23:30:00Z', 4),
        row(NOON),
      ],
    }),
  )
  const answer = ask(
    world,
    'series',
    { metric: 'significient_height', start_year: '2023', end_year: '2024' },
    { buoyId: '1' },
  )
  const years = data(answer)['years'] as { points: JsonObject[] }[]
  assert.deepEqual(
    years.map(({ points }) => points.map((point) => [point['bucket_index'], point['label'], point['value']])),
    [
      [
        [59, 'Feb 28', 1],
        [61, 'Mar 01', 2],
      ],
      [
        [60, 'Feb 29', 3],
        [61, 'Mar 01', 4],
      ],
    ],
  )
  assert.equal(years[1].points[1]['bucket_start'], '2024-03-01T00:00:00+01:00')
  assert.equal(years[1].points[1]['bucket_end'], '2024-03-01T23:59:59+01:00')
})

test('A day on which the clocks change is as long as it is.', () => {
  const rows = [row(Date.parse('2025-03-30T12:00:00Z') / 1000), row(NOON)]
  const asked = { metric: 'period', start_year: '2025', end_year: '2025' }
  const answer = ask(worldOf(buoy('a', { rows })), 'series', asked, { buoyId: 'buoy-a' })
  const years = data(answer)['years'] as { complete: boolean; points: JsonObject[] }[]
  assert.equal(years[0].complete, true)
  assert.deepEqual(
    [years[0].points[0]['bucket_start'], years[0].points[0]['bucket_end']],
    ['2025-03-30T00:00:00+01:00', '2025-03-30T23:59:59+02:00'],
  )
})

test('The same seed makes the same world, and every generated request has an answer.', () => {
  assert.deepEqual(makeWorld(7), makeWorld(7))
  const world = makeWorld(7, 12)
  const oracle = makeOracle(world)
  for (const [operation, requests] of Object.entries(requestsFor(world))) {
    if (operation === 'series') continue
    for (const request of fc.sample(requests, { numRuns: 100, seed: 7 })) {
      if (request.fault === null) assert.ok(oracle(request.question).status >= 200, request.url)
      assert.ok(request.url.length < 15_000, request.url.slice(0, 80))
    }
  }
})
