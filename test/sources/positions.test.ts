/** Where a station is, by all of its fixes: one bad fix moves nothing, two stations are not one. */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { Positions } from '../../src/sources/reading/positions.ts'

type Fixed = readonly [hours: number, lat: number, lng: number]

function settle(fixes: readonly Fixed[]): { lat: number | undefined; strays: number; several: boolean } {
  const positions = new Positions()
  for (const [hours, lat, lng] of fixes) positions.add(hours * 3600, lat, lng)
  const { at, strays, several } = positions.settle()
  return { lat: at?.lat, strays, several }
}

const moored = (hours: number, lat = 50, lng = -5): Fixed[] =>
  Array.from({ length: hours }, (_, i) => [i, lat + (i % 3) / 1000, lng])

test('A fix that a mooring cannot have moved to does not count, wherever it comes', () => {
  const bad = fc.constantFrom<Fixed>([30, -50, -5], [5.5, 50, 5], [-1, 52, -5], [12, 5, -50])
  fc.assert(
    fc.property(bad, fc.integer({ min: 0, max: 20 }), (fix, at) => {
      const { lat, strays, several } = settle(moored(20).toSpliced(at, 0, fix))
      assert.ok(lat !== undefined && Math.abs(lat - 50) < 0.01, `${lat}`)
      assert.deepEqual([strays, several], [1, false])
    }),
  )
})

test('The position 0 0 is no fix, and is counted', () => {
  const positions = new Positions()
  positions.add(0, 0, 0)
  positions.add(1, 0, 0)
  assert.deepEqual([positions.settle().at, positions.zeros], [null, 2])
  positions.add(2, 0, 360)
  positions.add(2, 0, 0.5)
  assert.equal(positions.settle().at?.lng, 0.5)
})

test('Fixes of two places at the same times are those of two stations, in any order', () => {
  const two = [...moored(6, -30.36, 153.27), ...moored(6, -31.98, 115.4)]
  fc.assert(
    fc.property(fc.shuffledSubarray(two, { minLength: 12 }), (fixes) => {
      assert.equal(settle(fixes).several, true)
    }),
  )
  assert.equal(settle(two).several, true)
  // Neither of two is the likelier one.
  assert.equal(
    settle([
      [0, 66, 2],
      [1, -66, 2],
    ]).several,
    true,
  )
})

test('A buoy that is laid elsewhere is there, and a drifter is where it was last', () => {
  const moved = moored(20).concat(moored(20, 52).map(([hours, lat, lng]): Fixed => [hours + 400, lat, lng]))
  assert.deepEqual(settle(moved), { lat: 52.001, strays: 0, several: false })
  const drift = Array.from({ length: 500 }, (_, i): Fixed => [i * 24, -60 + i / 10, 20])
  const { lat, strays, several } = settle(drift.toSpliced(250, 0, [250 * 24 + 1, 80, 20]))
  assert.ok(lat !== undefined && Math.abs(lat - -10.1) < 1e-9, `${lat}`)
  assert.deepEqual([strays, several], [1, false])
  assert.deepEqual(settle(drift.toReversed()).several, false)
})
