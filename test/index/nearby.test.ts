/** Cells against a walk over all points. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Nearby, nearbyColumns } from '../../src/index/nearby.ts'

function kilometres(lat1: number, lng1: number, lat2: number, lng2: number): number {
  const vector = (lat: number, lng: number) => {
    const [phi, lambda] = [(lat * Math.PI) / 180, (lng * Math.PI) / 180]
    return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)]
  }
  const [a, b] = [vector(lat1, lng1), vector(lat2, lng2)]
  return 2 * 6371 * Math.asin(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) / 2)
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
const place = fc
  .tuple(centre, fc.integer({ min: -200, max: 200 }), fc.integer({ min: -200, max: 200 }), fc.boolean())
  .map(([[lat, lng], north, east, isExact]) => {
    const moved = isExact ? lat : lat + north / 100
    const turned = (lng + (isExact ? 0 : east) / (Math.abs(lat) > 80 ? 1 : 100) + 540) % 360
    return { lat: Math.abs(moved) > 90 ? Math.sign(moved) * 180 - moved : moved, lng: turned - 180 }
  })
const anywhere = fc.record({
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lng: fc.double({ min: -180, max: 180, noNaN: true }),
})
const points = fc.array(fc.oneof({ weight: 4, arbitrary: place }, anywhere), { maxLength: 60 })

test('The nearest point within reach is the one that a walk over all points finds.', () => {
  fc.assert(
    fc.property(
      points,
      fc.array(fc.oneof({ weight: 4, arbitrary: place }, anywhere), { minLength: 20, maxLength: 20 }),
      fc.constantFrom(5, 50, 100, 700),
      fc.constantFrom(1, 2, 3),
      (all, asked, reach, every) => {
        const lat = Float64Array.from(all, (point) => point.lat)
        const lng = Float64Array.from(all, (point) => point.lng)
        const nearby = new Nearby(
          lat,
          lng,
          reach,
          nearbyColumns(lat, lng, reach, (ordinal) => ordinal % 7 !== 6),
        )
        for (const question of asked) {
          const accept = (ordinal: number): boolean => ordinal % every === 0
          const found = nearby.nearest(question.lat, question.lng, accept)
          const distances = all.map((point) => kilometres(question.lat, question.lng, point.lat, point.lng))
          const allowed = distances.filter((_, ordinal) => ordinal % 7 !== 6 && accept(ordinal))
          const least = Math.min(Infinity, ...allowed)
          if (Math.abs(least - reach) < 1e-6) continue
          assert.equal(found === -1, least > reach, `${least} km`)
          if (found === -1) continue
          assert.ok(found % 7 !== 6 && accept(found))
          assert.ok(Math.abs(distances[found] - least) < 1e-6)
        }
      },
    ),
    { numRuns: 1500 },
  )
})

/** Great-circle distance by the formula that decides, written out again. */
function haversine(lat1: number, lng1: number, lat2: number, lng2: number): number {
  const rad = Math.PI / 180
  const a = Math.sin(((lat2 - lat1) * rad) / 2)
  const b = Math.sin(((lng2 - lng1) * rad) / 2)
  const h = a * a + b * b * Math.cos(lat1 * rad) * Math.cos(lat2 * rad)
  return 2 * 6371 * Math.asin(Math.min(1, Math.sqrt(h)))
}

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
        assert.equal(new Nearby(lats, lngs, 50).nearest(lat, lng), all.indexOf(least))
        // A reach of just the nearest distance, and the next below; a small one would take millions of cells.
        if (least < 5) return
        assert.equal(new Nearby(lats, lngs, least).nearest(lat, lng), all.indexOf(least))
        assert.equal(new Nearby(lats, lngs, least * (1 - 2 ** -52)).nearest(lat, lng), -1)
      },
    ),
    { numRuns: 1000 },
  )
})

test('Indexes asked alternately about two positions answer as each alone.', () => {
  const one = new Nearby(Float64Array.of(10), Float64Array.of(20), 50)
  const other = new Nearby(Float64Array.of(11, -30), Float64Array.of(20, 20), 60)
  for (const index of [0, 1]) {
    assert.equal([one, other][index].nearest(10.4, 20), index === 0 ? 0 : -1)
    assert.equal([other, one][index].nearest(10.6, 20), index === 0 ? 0 : -1)
    assert.equal([one, other][index].nearest(-30, 20), index === 0 ? -1 : 1)
  }
  // Of the same latitude or longitude as the last.
  assert.equal(one.nearest(10, 20), 0)
  assert.equal(one.nearest(10, 21), -1)
  assert.equal(one.nearest(11, 20), -1)
})

test('Of points at one position the lower ordinal is found, whatever their order in the cells.', () => {
  const lat = Float64Array.of(10.2, 10, 10, 10, -10)
  const lng = Float64Array.of(20, 20, 20, 20, 20)
  const nearby = new Nearby(lat, lng, 50)
  assert.equal(nearby.nearest(10, 20), 1)
  assert.equal(
    nearby.nearest(10, 20, (ordinal) => ordinal > 1),
    2,
  )
  assert.equal(
    nearby.nearest(10, 20, () => false),
    -1,
  )
  assert.equal(nearby.nearest(-10.4, 20), 4)
})

test('The two sides of the antimeridian and all longitudes of a pole are one position.', () => {
  const nearby = new Nearby(Float64Array.of(5, 90, -90), Float64Array.of(180, 0, 0), 50)
  assert.equal(nearby.nearest(5, -180), 0)
  assert.equal(nearby.nearest(5, -179.9), 0)
  for (const lng of [-180, -120, 0, 90, 180]) {
    assert.equal(nearby.nearest(89.9, lng), 1)
    assert.equal(nearby.nearest(-90, lng), 2)
  }
})

test('Without points nothing is found.', () => {
  assert.equal(new Nearby(new Float64Array(0), new Float64Array(0), 50).nearest(1, 2), -1)
})
