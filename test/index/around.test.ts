/** A band of latitudes and a page in order against the tree, which puts everything in order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Around } from '../../src/index/around.ts'
import { buildPoints, Points } from '../../src/index/points.ts'
import { positions } from './positions.ts'

test('A page of the points within a radius is the same part of all of them in order.', () => {
  fc.assert(
    fc.property(
      fc.array(positions, { maxLength: 300 }),
      positions,
      fc.constantFrom(0, 1, 100, 1000, 5000, 12_000, 20_015, 20_100),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 120 }),
      fc.constantFrom(1, 20, 50, 500),
      (places, { lat, lng }, km, every, from, perPage) => {
        const lats = Float64Array.from(places, (each) => each.lat)
        const lngs = Float64Array.from(places, (each) => each.lng)
        const accept = (ordinal: number): boolean => ordinal % every === 0
        const { ordinals } = new Points(buildPoints(lats, lngs), lats, lngs).within(lat, lng, km, accept)
        const around = new Around(lats, lngs)
        const count = around.find(lat, lng, km, accept, from, from + perPage)
        assert.equal(count, ordinals.length)
        assert.deepEqual(
          [...around.ordinals.subarray(from, Math.min(count, from + perPage))],
          ordinals.slice(from, from + perPage),
        )
        // What lies outside of the page is there too, in any order.
        assert.deepEqual(around.ordinals.slice(0, count).toSorted(), Uint32Array.from(ordinals).toSorted())
      },
    ),
    { numRuns: 1000 },
  )
})

test('Thousands of points at the same few distances are put in order in no time.', () => {
  const lats = Float64Array.from({ length: 20_000 }, (_, i) => (i % 3) - 1)
  const lngs = Float64Array.from({ length: 20_000 }, (_, i) => (i % 5) - 2)
  const around = new Around(lats, lngs)
  assert.equal(
    around.find(0, 0, 1000, () => true, 0, 500),
    20_000,
  )
  // The nearest are those at the place itself: the middle of three and of five.
  const expected = Array.from({ length: 20_000 }, (_, i) => i).filter((i) => i % 3 === 1 && i % 5 === 2)
  assert.deepEqual([...around.ordinals.subarray(0, 500)], expected.slice(0, 500))
})
