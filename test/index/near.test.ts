/** Near points, and pages of a radius, against a look at every point by the great circle alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NearPoints } from '../../src/index/near.ts'

interface Position {
  lat: number
  lng: number
}

/** Anywhere, at poles and the antimeridian, and tied. */
const positions: fc.Arbitrary<Position> = fc.oneof(
  fc.record({
    lat: fc.double({ min: -90, max: 90, noNaN: true }),
    lng: fc.double({ min: -180, max: 180, noNaN: true }),
  }),
  // Poles, where all longitudes are one position, and both sides of the antimeridian.
  fc.record({
    lat: fc.constantFrom(-90, -89.99, 0, 89.99, 90),
    lng: fc.constantFrom(-180, -179.9, -90, 0, 120, 180),
  }),
  // A coarse grid, full of points that share their position and of equal distances.
  fc.record({
    lat: fc.integer({ min: -4, max: 4 }).map((step) => step * 10),
    lng: fc.integer({ min: -18, max: 18 }).map((step) => step * 10),
  }),
)

/** Great-circle distance by the formula that decides, written out again. */
function haversine(lat1: number, lng1: number, lat2: number, lng2: number): number {
  const rad = Math.PI / 180
  const a = Math.sin(((lat2 - lat1) * rad) / 2)
  const b = Math.sin(((lng2 - lng1) * rad) / 2)
  const h = a * a + b * b * Math.cos(lat1 * rad) * Math.cos(lat2 * rad)
  return 2 * 6371 * Math.asin(Math.min(1, Math.sqrt(h)))
}

function nearOf(places: readonly Position[]): NearPoints {
  const lat = Float64Array.from(places, (place) => place.lat)
  const lng = Float64Array.from(places, (place) => place.lng)
  return new NearPoints(lat, lng)
}

type Accept = (ordinal: number) => boolean

/** Ordinals within `km`, nearest first, by a look at every point. */
function inOrder(places: readonly Position[], from: Position, km: number, accept: Accept): number[] {
  return places
    .map(({ lat, lng }, ordinal) => ({ ordinal, km: haversine(from.lat, from.lng, lat, lng) }))
    .filter((each) => accept(each.ordinal) && each.km <= km)
    .toSorted((a, b) => a.km - b.km || a.ordinal - b.ordinal)
    .map(({ ordinal }) => ordinal)
}

function nearest(near: NearPoints, from: Position, limit: number, km: number, accept: Accept): number[] {
  return near.nearest(from.lat, from.lng, limit, km, accept).map(({ ordinal }) => ordinal)
}

function within(near: NearPoints, from: Position, km: number, accept: Accept): number[] {
  return [...near.within(from.lat, from.lng, km, accept)]
}

const centre = fc.constantFrom(
  [44, -2],
  [-17, 180],
  [60, -180],
  [90, 0],
  [89.6, 20],
  [-89.5, -100],
  [-90, 180],
  [0, 0],
) as fc.Arbitrary<readonly [number, number]>

/** Places a few reaches around a centre, folded over the pole and across the antimeridian. */
const aroundCentre: fc.Arbitrary<Position> = fc
  .tuple(centre, fc.integer({ min: -200, max: 200 }), fc.integer({ min: -200, max: 200 }), fc.boolean())
  .map(([[lat, lng], north, east, isExact]) => {
    const moved = isExact ? lat : lat + north / 100
    const turned = (lng + (isExact ? 0 : east) / (Math.abs(lat) > 80 ? 1 : 100) + 540) % 360
    return { lat: Math.abs(moved) > 90 ? Math.sign(moved) * 180 - moved : moved, lng: turned - 180 }
  })
/**
 * Places in all manners of company: alone, at corners of cells, at poles and on the antimeridian, at equal
 * distances, and metres apart.
 */
const place: fc.Arbitrary<Position> = fc.oneof(
  positions,
  { weight: 2, arbitrary: aroundCentre },
  fc.record({
    lat: fc.integer({ min: -22, max: 22 }).map((step) => step * 4),
    lng: fc.integer({ min: -45, max: 45 }).map((step) => step * 4),
  }),
  fc.record({
    lat: fc.integer({ min: 0, max: 40 }).map((step) => 43.5 + step * 1e-6),
    lng: fc.integer({ min: 0, max: 40 }).map((step) => -1.6 + step * 0.01),
  }),
)

test('The nearest points are those that a look at every point finds, to the last tie.', () => {
  fc.assert(
    fc.property(
      fc.array(place, { maxLength: 150 }),
      fc.array(place, { minLength: 12, maxLength: 12 }),
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom(0, 0.5, 5, 50, 100, 150, 700, 2500, 12_000, 20_015, 20_016, 1e9),
      fc.integer({ min: 1, max: 4 }),
      (places, asked, limit, km, every) => {
        const accept = (ordinal: number): boolean => ordinal % every === 0
        const near = nearOf(places)
        for (const from of [...asked, ...places.slice(0, 3)]) {
          const expected = inOrder(places, from, km, accept).slice(0, limit)
          assert.deepEqual(nearest(near, from, limit, km, accept), expected)
        }
      },
    ),
    { numRuns: 400 },
  )
})

test('Of points nearly at one distance the great circle decides the nearest, of equal ones the lower ordinal.', () => {
  // Offsets of some billionths of a degree and mirror images: squared chords that differ by rounding only.
  const offset = fc.tuple(fc.constantFrom(-0.1, 0, 0.1), fc.integer({ min: -3, max: 3 }))
  fc.assert(
    fc.property(
      centre,
      fc.array(fc.tuple(offset, offset), { minLength: 1, maxLength: 12 }),
      ([lat, lng], offsets) => {
        const moved = ([step, hair]: readonly [number, number]): number => step + hair * 1e-9
        const lats = Float64Array.from(offsets, ([north]) => Math.max(-90, Math.min(90, lat + moved(north))))
        const lngs = Float64Array.from(offsets, ([, east]) =>
          Math.max(-180, Math.min(180, lng + moved(east))),
        )
        const all = Array.from(lats, (own, i) => haversine(lat, lng, own, lngs[i]))
        const least = Math.min(...all)
        const near = new NearPoints(lats, lngs)
        const found = (km: number): number => near.nearest(lat, lng, 1, km)[0]?.ordinal ?? -1
        assert.equal(found(50), least <= 50 ? all.indexOf(least) : -1)
        // A reach of just the nearest distance, and the next below.
        assert.equal(found(least), all.indexOf(least))
        if (least > 0) assert.equal(found(least * (1 - 2 ** -52)), -1)
      },
    ),
    { numRuns: 1000 },
  )
})

const clustered = fc
  .tuple(positions, fc.integer({ min: 0, max: 6 }))
  .map(([{ lat, lng }, step]) => ({ lat: Math.max(-90, lat - step * 0.5), lng }))
/** Few points anywhere, and a thousand in clusters, each three times: equal distances. */
const few = fc.array(place, { maxLength: 300 })
const tied = fc
  .array(clustered, { minLength: 300, maxLength: 400, size: 'max' })
  .map((some) => [...some, ...some.toReversed(), ...some])

test('The points within a radius are all of them in order, also where most are tied.', () => {
  fc.assert(
    fc.property(
      fc.oneof({ weight: 5, arbitrary: few }, { weight: 1, arbitrary: tied }),
      fc.oneof(place, positions),
      fc.constantFrom(0, 1, 100, 900, 1000, 5000, 12_000, 19_500, 20_000, 20_015, 20_016, 20_100),
      fc.integer({ min: 1, max: 4 }),
      (places, position, km, every) => {
        const accept = (ordinal: number): boolean => ordinal % every === 0
        assert.deepEqual(within(nearOf(places), position, km, accept), inOrder(places, position, km, accept))
      },
    ),
    { numRuns: 600 },
  )
})

test('A radius that ends at a point has that point, and one that ends a hair before it does not.', () => {
  fc.assert(
    fc.property(
      fc.array(positions, { minLength: 300, maxLength: 400, size: 'max' }),
      positions,
      fc.nat(299),
      fc.constantFrom(0, 1e-9, -1e-9, 1e-3, -1e-3),
      (places, position, at, more) => {
        const { lat, lng } = places[at]
        const km = Math.max(0, haversine(position.lat, position.lng, lat, lng) + more)
        const expected = inOrder(places, position, km, () => true)
        assert.deepEqual(
          within(nearOf(places), position, km, () => true),
          expected,
        )
      },
    ),
    { numRuns: 200 },
  )
})
