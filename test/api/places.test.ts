/** `GET /places`, against a naive search of the whole list of towns. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { AskedPath, viewOf } from '../answered.ts'
import { build, fakeSource, SMALL_WORLD } from '../builder/fake_source.ts'
import { folderOfFile } from '../live.ts'
import { kilometres } from '../oracle/oracle.ts'

type Packed = [code: string, ...towns: [string, number, number, number, string][]]
const TOWNS = (
  JSON.parse(readFileSync(new URL('../../src/sea/towns.json', import.meta.url), 'utf8')) as Packed[]
).flatMap(([code, ...some]) =>
  some.map(([name, lat, lng, rank, region]) => ({
    code,
    name,
    lat: lat / 100,
    lng: lng / 100,
    rank,
    region,
  })),
)

interface Place {
  name: string
  region: string | null
  country: string
  lat: number
  lng: number
  buoys: { id: number; distance_km: number }[]
}

const folder = folderOfFile()
await build([fakeSource(SMALL_WORLD)], folder)
const path = new AskedPath(await viewOf(folder), {})
function placesOf(query: string, limit = 20): Place[] {
  const { status, text } = path.get(`/v2/places?query=${encodeURIComponent(query)}&limit=${limit}`, {})
  assert.equal(status, 200, text)
  const { data } = JSON.parse(text) as { data: { places: Place[]; count: number } }
  assert.equal(data.count, data.places.length)
  return data.places
}
const isPlace = ({ name, lat, lng }: Place, town: (typeof TOWNS)[number]): boolean =>
  name === town.name && lat === town.lat && lng === town.lng

test('Places are found by their name, with the state, region or country behind it.', () => {
  for (const [query, name, region, country] of [
    ['biarritz', 'Biarritz', 'New Aquitaine', 'France'],
    ['santa monica', 'Santa Monica', 'California', 'United States'],
    ['Santa Monica, CALIF', 'Santa Monica', 'California', 'United States'],
    ['sydney', 'Sydney', 'New South Wales', 'Australia'],
    ['sydney ca', 'Sydney', 'Nova Scotia', 'Canada'],
    ['st malo', 'Saint-Malo', 'Brittany', 'France'],
    ['a coruna', 'A Coruña', 'Galicia', 'Spain'],
  ] as const) {
    const [first] = placesOf(query, 1)
    assert.deepEqual([first.name, first.region, first.country], [name, region, country], query)
  }
  assert.deepEqual(placesOf('no such town'), [])
  assert.deepEqual(placesOf('..'), [])
  assert.equal(path.get('/v2/places?query=b', {}).status, 400)
  assert.equal(path.get('/v2/places', {}).status, 400)
})

test('Every town is found by its name and country, and has the nearest three active buoys.', () => {
  const active = SMALL_WORLD.flatMap((buoy, i) => (buoy.virtual ? [] : [{ ...buoy, i }]))
  const property = fc.property(fc.constantFrom(...TOWNS), (town) => {
    const found = placesOf(`${town.name} ${town.code}`)
    const own = found.find((place) => isPlace(place, town))
    assert.ok(own, town.name)
    assert.ok(own.buoys.length <= 3)
    let last = 0
    for (const { id, distance_km: km } of own.buoys) {
      const known = active.some(
        ({ lat, lng }) => Math.abs(kilometres(town.lat, town.lng, lat, lng) - km) <= 0.006,
      )
      assert.ok(known && km >= last, `${town.name}: ${id}, ${km} km`)
      last = km
    }
    // Larger ones first, among those of one name that are as near to a buoy.
    const ranks = found
      .filter(({ name, buoys }) => name === town.name && (buoys[0]?.distance_km ?? Infinity) > 150)
      .map((place) => TOWNS.find((one) => isPlace(place, one))!.rank)
    assert.deepEqual(
      ranks,
      ranks.toSorted((a, b) => b - a),
    )
  })
  fc.assert(property, { numRuns: 300, seed: 20_260_327, includeErrorInReport: true })
})
