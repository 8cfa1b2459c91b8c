/** A band of latitudes and a page in order against the tree, which puts everything in order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { haversineKm } from '../../src/sea/geo.ts'
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
        const active = Uint8Array.from(places, (_, ordinal) => (ordinal % every === 0 ? 1 : 0))
        const accept = (ordinal: number): boolean => active[ordinal] === 1
        const { ordinals } = new Points(buildPoints(lats, lngs), lats, lngs).within(lat, lng, km, accept)
        const around = new Around(lats, lngs, active)
        const count = around.find(lat, lng, km, accept, from, from + perPage)
        assert.equal(count, ordinals.length)
        assert.deepEqual(
          [...around.ordinals.subarray(from, Math.min(count, from + perPage))],
          ordinals.slice(from, from + perPage),
        )
        const page = ordinals.slice(from, from + perPage)
        assert.equal(around.findAll(lat, lng, km, true, from, from + perPage), ordinals.length)
        assert.deepEqual([...around.ordinals.subarray(from, from + page.length)], page)
        const all = around.find(lat, lng, km, () => true, from, from + perPage)
        const pageOfAll = around.ordinals.slice(from, Math.min(all, from + perPage))
        assert.equal(around.findAll(lat, lng, km, false, from, from + perPage), all)
        assert.deepEqual(around.ordinals.slice(from, Math.min(all, from + perPage)), pageOfAll)
      },
    ),
    { numRuns: 500 },
  )
})

test('A page of a thousand points, most of them in clusters and tied, is the same part of all in order.', () => {
  const clustered = fc.tuple(positions, fc.integer({ min: 0, max: 6 })).map(([{ lat, lng }, step]) => ({
    lat: Math.max(-90, lat - step * 0.5),
    lng,
  }))
  fc.assert(
    fc.property(
      fc.array(clustered, { minLength: 300, maxLength: 400, size: 'max' }),
      positions,
      fc.constantFrom(900, 5000, 12_000, 19_500, 20_000, 20_015, 20_016, 20_100),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 0, max: 25 }),
      fc.constantFrom(1, 20, 50, 500),
      (some, { lat, lng }, km, every, page, perPage) => {
        // Each three times: equal distances.
        const places = [...some, ...some.toReversed(), ...some]
        const lats = Float64Array.from(places, (each) => each.lat)
        const lngs = Float64Array.from(places, (each) => each.lng)
        const active = Uint8Array.from(places, (_, ordinal) => (ordinal % every === 0 ? 1 : 0))
        const around = new Around(lats, lngs, active)
        const from = page * perPage
        const count = around.find(lat, lng, km, (ordinal) => active[ordinal] === 1, from, from + perPage)
        const expected = around.ordinals.slice(from, Math.min(count, from + perPage))
        assert.equal(around.findAll(lat, lng, km, true, from, from + perPage), count)
        assert.deepEqual(around.ordinals.slice(from, Math.min(count, from + perPage)), expected)
      },
    ),
    { numRuns: 100 },
  )
})

test('Thousands of points at the same few distances are put in order in no time.', () => {
  const lats = Float64Array.from({ length: 20_000 }, (_, i) => (i % 3) - 1)
  const lngs = Float64Array.from({ length: 20_000 }, (_, i) => (i % 5) - 2)
  const around = new Around(lats, lngs, new Uint8Array(lats.length).fill(1))
  assert.equal(
    around.find(0, 0, 1000, () => true, 0, 500),
    20_000,
  )
  // The nearest are those at the place itself: the middle of three and of five.
  const expected = Array.from({ length: 20_000 }, (_, i) => i).filter((i) => i % 3 === 1 && i % 5 === 2)
  assert.deepEqual([...around.ordinals.subarray(0, 500)], expected.slice(0, 500))
  assert.equal(around.findAll(0, 0, 1000, true, 0, 500), 20_000)
  assert.deepEqual([...around.ordinals.subarray(0, 500)], expected.slice(0, 500))
})

test('A radius that ends at a point has that point, and one that ends a hair before it does not.', () => {
  fc.assert(
    fc.property(
      fc.array(positions, { minLength: 300, maxLength: 400, size: 'max' }),
      positions,
      fc.nat(299),
      fc.constantFrom(0, 1e-9, -1e-9, 1e-3, -1e-3),
      (places, { lat, lng }, at, more) => {
        const lats = Float64Array.from(places, (each) => each.lat)
        const lngs = Float64Array.from(places, (each) => each.lng)
        const kms = Array.from(lats, (_, ordinal) => haversineKm(lat, lng, lats[ordinal], lngs[ordinal]))
        const km = Math.max(0, kms[at] + more)
        const around = new Around(lats, lngs, new Uint8Array(places.length).fill(1))
        const expected = kms
          .map((of, ordinal) => ({ of, ordinal }))
          .filter(({ of }) => of <= km)
          .toSorted((a, b) => a.of - b.of || a.ordinal - b.ordinal)
          .map(({ ordinal }) => ordinal)
        assert.equal(around.findAll(lat, lng, km, true, 0, 500), expected.length)
        assert.deepEqual([...around.ordinals.subarray(0, expected.length)], expected)
      },
    ),
    { numRuns: 200 },
  )
})

test('Snapshots that are asked in turn, and all points and the active ones, do not get into each other.', () => {
  const near = [0, 1, 2].map((n) => {
    const count = [300, 4000, 301][n]
    const lats = Float64Array.from({ length: count }, (_, i) => ((i * 37 + n) % 170) - 85)
    const lngs = Float64Array.from({ length: count }, (_, i) => ((i * 59 + n) % 360) - 180)
    const active = Uint8Array.from({ length: count }, (_, i) => (i % 5 === 0 ? 0 : 1))
    return { around: new Around(lats, lngs, active), active }
  })
  for (let turn = 0; turn < 12; turn++) {
    const { around, active } = near[turn % 3]
    const activeOnly = turn % 2 === 0
    const accept = (ordinal: number): boolean => !activeOnly || active[ordinal] === 1
    const count = around.find(10, 20, 19_000, accept, 100, 150)
    const expected = around.ordinals.slice(100, 150)
    around.ordinals.fill(0)
    assert.equal(around.findAll(10, 20, 19_000, activeOnly, 100, 150), count)
    assert.deepEqual(around.ordinals.slice(100, 150), expected)
  }
})
