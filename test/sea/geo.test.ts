/** Distances against the angle between vectors, boxes against arithmetic modulo a turn. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  boundsContain,
  boundsOnGlobe,
  boundsPieces,
  FARTHEST_KM,
  haversineKm,
  pointKey,
  wrapLongitude,
} from '../../src/sea/geo.ts'

const RADIUS = 6371

/** Angle between unit vectors, times the radius, by atan2(|a × b|, a · b): well conditioned everywhere. */
function vectorKm(lat1: number, lng1: number, lat2: number, lng2: number): number {
  const vector = (lat: number, lng: number): [number, number, number] => {
    const [phi, lambda] = [(lat / 180) * Math.PI, (lng / 180) * Math.PI]
    return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)]
  }
  const [a, b] = [vector(lat1, lng1), vector(lat2, lng2)]
  const cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
  const dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
  return RADIUS * Math.atan2(Math.hypot(...cross), dot)
}

const latitudes = fc.oneof(
  fc.double({ min: -90, max: 90, noNaN: true }),
  fc.constantFrom(-90, -45, 0, 45, 89.999, 90),
)
const longitudes = fc.oneof(
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.constantFrom(-180, -179.999, -90, 0, 90, 179.999, 180),
)

test('A distance is the angle between the two positions on a sphere of 6371 km.', () => {
  fc.assert(
    fc.property(latitudes, longitudes, latitudes, longitudes, (lat1, lng1, lat2, lng2) => {
      const km = haversineKm(lat1, lng1, lat2, lng2)
      const expected = vectorKm(lat1, lng1, lat2, lng2)
      // The haversine loses digits only near the antipode, less than a metre of them.
      const tolerance = expected > 19_900 ? 1e-3 : 1e-6
      assert.ok(Math.abs(km - expected) <= tolerance, `${km} and ${expected}`)
      assert.ok(km >= 0 && km <= FARTHEST_KM)
      assert.ok(Math.abs(haversineKm(lat2, lng2, lat1, lng1) - km) < 1e-9 + tolerance / 2)
    }),
    { numRuns: 2000 },
  )
})

test('Half the circumference is the largest distance, and a position is at distance 0 from itself.', () => {
  assert.equal(haversineKm(0, 0, 0, 180), FARTHEST_KM)
  assert.equal(haversineKm(90, 0, -90, 77), FARTHEST_KM)
  assert.equal(haversineKm(12.5, -179.5, 12.5, -179.5), 0)
  assert.ok(haversineKm(-17, 180, -17, -180) < 1e-9)
})

test('A longitude on the globe keeps every bit, any other is brought there by whole turns.', () => {
  fc.assert(fc.property(longitudes, (lng) => assert.equal(wrapLongitude(lng), lng)))
  fc.assert(
    fc.property(fc.integer({ min: -36_000_000, max: 36_000_000 }), (tenThousandths) => {
      // Whole ten-thousandths of a degree are exact, so the remainder is too.
      const turn = 3_600_000
      let expected = ((tenThousandths % turn) + turn) % turn
      if (expected > turn / 2) expected -= turn
      const wrapped = wrapLongitude(tenThousandths / 1e4)
      // −180 and 180 are one meridian.
      if (Math.abs(expected) === turn / 2) assert.equal(Math.abs(wrapped), 180)
      else assert.equal(wrapped, expected / 1e4)
    }),
  )
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (lng) => {
      const wrapped = wrapLongitude(lng)
      assert.ok(wrapped >= -180 && wrapped <= 180, String(wrapped))
    }),
  )
})

/** A box and a place in whole hundredths of a degree, in which modulo a turn is exact. */
const TURN = 36_000
const hundredths = fc.record({
  south: fc.integer({ min: -12_000, max: 12_000 }),
  height: fc.integer({ min: 0, max: 24_000 }),
  west: fc.integer({ min: -72_000, max: 72_000 }),
  width: fc.oneof(
    fc.integer({ min: 0, max: 40_000 }),
    fc.integer({ min: -40_000, max: -1 }),
    fc.constantFrom(0, 1, 35_999, 36_000, 36_001, -36_000),
  ),
  lat: fc.integer({ min: -9000, max: 9000 }),
  lng: fc.oneof(fc.integer({ min: -18_000, max: 18_000 }), fc.constantFrom(-18_000, 18_000)),
  onBorder: fc.constantFrom('no', 'west', 'east'),
})

const modulo = (value: number, by: number): number => ((value % by) + by) % by

test('A box of any size and rotation holds the positions that arithmetic modulo 360 gives, borders included.', () => {
  fc.assert(
    fc.property(hundredths, ({ south, height, west, width, lat, lng, onBorder }) => {
      const east = west + width
      const north = south + height
      const side = onBorder === 'west' ? west : east
      const place = onBorder === 'no' ? lng : modulo(side + TURN / 2, TURN) - TURN / 2
      // A box with west above east goes eastwards from west to east, over as much of the circle as that
      // takes.
      const span = width >= 0 ? Math.min(width, TURN) : modulo(width, TURN)
      const within = span === TURN || modulo(place - west, TURN) <= span
      const clamped = (value: number): number => Math.min(9000, Math.max(-9000, value))
      const expected = within && lat >= clamped(south) && lat <= clamped(north)
      const [s, n, w, e] = [south, north, west, east].map((side) => side / 100)
      const box = boundsOnGlobe({ south: s, north: n, west: w, east: e })
      assert.equal(boundsContain(box, lat / 100, place / 100), expected)
      // The pieces of the box together hold the same places, without an antimeridian inside.
      const pieces = boundsPieces(box)
      assert.ok(pieces.length <= 2)
      const inPieces = pieces.filter(
        (piece) =>
          Math.max(piece.south, Math.min(piece.north, lat / 100)) === lat / 100 &&
          Math.max(piece.west, Math.min(piece.east, place / 100)) === place / 100,
      )
      assert.equal(inPieces.length, expected ? 1 : 0)
    }),
    { numRuns: 5000 },
  )
})

test('A viewport of 360 degrees that binary arithmetic left a hair short is the whole circle.', () => {
  fc.assert(
    fc.property(fc.double({ min: -540, max: 180, noNaN: true }), longitudes, (west, lng) => {
      const box = boundsOnGlobe({ south: -90, north: 90, west, east: west + 360 })
      assert.ok(boundsContain(box, 0, lng), JSON.stringify(box))
    }),
    { numRuns: 5000 },
  )
  const short = boundsOnGlobe({ south: -1, north: 1, west: 157.4425945079593, east: 517.4425945079593 })
  assert.deepEqual(short, { south: -1, north: 1, west: -180, east: 180 })
})

test('Positions that differ by the noise of binary numbers are one point, and those of ten metres are two.', () => {
  const single = (degrees: number): number => new Float32Array([degrees])[0]
  for (const [lat, lng] of [
    [43.3, -1.7],
    [-17.6, 179.9],
    [0.1 + 0.2, 0.3],
  ]) {
    assert.equal(pointKey(single(lat), single(lng)), pointKey(lat, lng))
    assert.equal(pointKey(lat + 4e-5, lng - 4e-5), pointKey(Number(lat.toFixed(4)), Number(lng.toFixed(4))))
    assert.notEqual(pointKey(lat + 1e-4, lng), pointKey(lat, lng))
    assert.notEqual(pointKey(lat, lng + 1e-4), pointKey(lat, lng))
    assert.equal(pointKey(lat, lng + 360), pointKey(lat, lng))
  }
  assert.equal(pointKey(10, 180), pointKey(10, -180))
})
