/** Lists of cells against the tree, which answers any question, and against a look at every point. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MOST_NEAREST, nearestColumns, NearestPoints } from '../../src/index/nearest.ts'
import { buildPoints, Points } from '../../src/index/points.ts'
import { finish } from '../../src/system/steps.ts'

interface Place {
  lat: number
  lng: number
}

const anywhere: fc.Arbitrary<Place> = fc.record({
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lng: fc.double({ min: -180, max: 180, noNaN: true }),
})

/**
 * Places in all manners of company: alone, at corners of cells, at poles and on the antimeridian, at equal
 * distances, and metres apart.
 */
const place: fc.Arbitrary<Place> = fc.oneof(
  anywhere,
  fc.record({
    lat: fc.constantFrom(-90, -89.99, 0, 89.99, 90),
    lng: fc.constantFrom(-180, -179.9, -90, 0, 180),
  }),
  fc.record({
    lat: fc.integer({ min: -22, max: 22 }).map((step) => step * 4),
    lng: fc.integer({ min: -45, max: 45 }).map((step) => step * 4),
  }),
  fc.record({
    lat: fc.integer({ min: 0, max: 40 }).map((step) => 43.5 + step * 1e-6),
    lng: fc.integer({ min: 0, max: 40 }).map((step) => -1.6 + step * 0.01),
  }),
)

function indexesOf(places: Place[], accept: (ordinal: number) => boolean) {
  const lat = Float64Array.from(places, (each) => each.lat)
  const lng = Float64Array.from(places, (each) => each.lng)
  const tree = new Points(buildPoints(lat, lng), lat, lng)
  const columns = finish(nearestColumns(lat, lng, accept))
  // As of too many points to list: then this thread makes the lists.
  const none = {
    start: new Uint32Array(columns.start.length),
    list: new Uint32Array(1),
    chord: new Float32Array(1),
  }
  const unlisted = { ...columns, ...none }
  return {
    tree,
    cells: new NearestPoints(lat, lng, tree, accept, columns),
    unlisted: new NearestPoints(lat, lng, tree, accept, unlisted),
  }
}

function found(cells: NearestPoints, { lat, lng }: Place, limit: number, maxKm: number) {
  const count = cells.find(lat, lng, limit, maxKm)
  return {
    ordinals: [...cells.ordinals.subarray(0, count)],
    hundredths: [...cells.hundredths.subarray(0, count)],
  }
}

test('Cells answer to the last hundredth and the last tie as the tree does.', () => {
  fc.assert(
    fc.property(
      fc.array(place, { maxLength: 150 }),
      fc.array(place, { minLength: 12, maxLength: 12 }),
      fc.integer({ min: 1, max: MOST_NEAREST }),
      fc.constantFrom(0, 0.5, 150, 2500, 12_000, 20_015, 20_016, 1e9),
      fc.integer({ min: 1, max: 3 }),
      (places, asked, limit, maxKm, every) => {
        const accept = (ordinal: number): boolean => ordinal % every === 0
        const { tree, cells, unlisted } = indexesOf(places, accept)
        for (const from of [...asked, ...places.slice(0, 3)]) {
          const { ordinals, km } = tree.nearest(from.lat, from.lng, limit, maxKm, accept)
          const hundredths = km.map((distance) => Math.round(distance * 100))
          assert.deepEqual(found(cells, from, limit, maxKm), { ordinals, hundredths })
          assert.deepEqual(found(unlisted, from, limit, maxKm), { ordinals, hundredths })
        }
      },
    ),
    { numRuns: 150 },
  )
})

function chordKm(a: Place, b: Place): number {
  const vector = ({ lat, lng }: Place): [number, number, number] => {
    const [phi, lambda] = [(lat / 180) * Math.PI, (lng / 180) * Math.PI]
    return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)]
  }
  const [p, q] = [vector(a), vector(b)]
  return 2 * 6371 * Math.asin(Math.min(1, Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) / 2))
}

test('Of some thousand points along a line of coast, the nearest to any position are those that a look at all of them finds.', () => {
  let state = 7
  const random = (): number => (state = (state * 16807) % 2147483647) / 2147483647
  let at = { lat: 43, lng: -2 }
  const places = Array.from({ length: 2000 }, (_, i) => {
    at =
      i % 400 === 399
        ? { lat: random() * 140 - 70, lng: random() * 360 - 180 }
        : {
            lat: Math.max(-89, Math.min(89, at.lat + random() * 0.4 - 0.2)),
            lng: ((at.lng + random() * 0.4 + 539.8) % 360) - 180,
          }
    return at
  })
  const { cells } = indexesOf(places, () => true)
  for (let i = 0; i < 1500; i++) {
    const near = places[Math.floor(random() * places.length)]
    const from =
      i % 2 === 0
        ? { lat: random() * 180 - 90, lng: random() * 360 - 180 }
        : { lat: near.lat + random() - 0.5, lng: Math.max(-180, Math.min(180, near.lng + random() - 0.5)) }
    const distances = places.map((each) => chordKm(from, each)).toSorted((a, b) => a - b)
    for (const limit of [1, 20]) {
      const { hundredths } = found(cells, from, limit, 1e9)
      assert.equal(hundredths.length, limit, `${limit} of ${places.length}`)
      for (const [rank, value] of hundredths.entries()) {
        const difference = Math.abs(value / 100 - distances[rank])
        assert.ok(
          difference <= 0.00501,
          `place ${rank} of ${limit}: ${value / 100} and ${distances[rank]} km`,
        )
      }
    }
  }
})

test('When the lists are full they are made anew, and answers stay what they were.', () => {
  // Points in one spot are in the list of every cell.
  const places = Array.from({ length: 3000 }, (_, i) => ({ lat: 10 + i * 1e-4, lng: 20 }))
  for (const [name, cells] of Object.entries(indexesOf(places, () => true))) {
    if (!(cells instanceof NearestPoints)) continue
    const first = found(cells, { lat: 0, lng: 0 }, 3, 1e9)
    for (let lat = -88; lat <= 88; lat += 4) {
      for (let lng = -178; lng <= 178; lng += 8) cells.find(lat, lng, 1, 1e9)
    }
    assert.deepEqual(found(cells, { lat: 0, lng: 0 }, 3, 1e9), first, name)
    assert.deepEqual(first.ordinals, [0, 1, 2], name)
  }
})

test('Without points nothing is found.', () => {
  const { cells } = indexesOf([], () => true)
  assert.equal(cells.find(1, 2, 20, 1e9), 0)
  assert.equal(indexesOf([{ lat: 1, lng: 2 }], () => false).cells.find(1, 2, 1, 1e9), 0)
})
