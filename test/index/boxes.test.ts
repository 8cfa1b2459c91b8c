/** Points in a box against a look at every point. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Boxes, buildBoxes } from '../../src/index/boxes.ts'

const NOTHING = new Float64Array(0)
const lats = fc.oneof(fc.integer({ min: -90, max: 90 }), fc.double({ min: -90, max: 90, noNaN: true }))
const lngs = fc.oneof(
  fc.integer({ min: -18, max: 18 }).map((step) => step * 10),
  fc.double({ min: -180, max: 180, noNaN: true }),
)

function boxesOf(places: [lat: number, lng: number][]): Boxes {
  const bytes = buildBoxes(
    Float64Array.from(places, ([lat]) => lat),
    Float64Array.from(places, ([, lng]) => lng),
  )
  // As in a part: at a multiple of 64 of a larger buffer.
  const part = new Uint8Array(bytes.length + 128)
  part.set(bytes, 64)
  return new Boxes(part.subarray(64, 64 + bytes.length))
}

test('The points in a box on the globe are those that a look at every point finds, each once, in order.', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(lats, lngs), { maxLength: 120 }),
      fc.tuple(lats, lats),
      lngs,
      lngs,
      (places, latitudes, west, east) => {
        const [south, north] = latitudes.toSorted((a, b) => a - b)
        const inside = (lng: number): boolean =>
          west <= east ? lng >= west && lng <= east : lng >= west || lng <= east
        const expected = [...places.keys()].filter((i) => {
          const [lat, lng] = places[i]
          // −180 and 180 are one meridian.
          return lat >= south && lat <= north && (inside(lng) || (Math.abs(lng) === 180 && inside(-lng)))
        })
        assert.deepEqual(boxesOf(places).within({ south, north, west, east }), expected)
        if (places.length === 0) assert.equal(buildBoxes(NOTHING, NOTHING).length, 0)
      },
    ),
    { numRuns: 500 },
  )
})
