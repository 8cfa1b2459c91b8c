/**
 * What the contract says in numbers. All else of the oracle is held against the server
 * (`test/api/oracle.test.ts`).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boxHolds, compass, energy, fold, kilometres, slugOf, statistic } from './oracle.ts'

test('The oracle knows energies, compass points, distances, slugs and means as the contract has them.', () => {
  const energies = [energy(1.5, 8.5), energy(1.8, 9), energy(1.2, 6.5), energy(0, 8), energy(1, null)]
  assert.deepEqual(energies, [319, 515, 119, null, null])
  const points = [0, 11.24, 11.25, 90, 202.5, 348.74, 348.75, 359.99].map(compass)
  assert.deepEqual(points, ['N', 'N', 'NNE', 'E', 'SSW', 'NNW', 'N', 'N'])
  const quarter = (Math.PI / 2) * 6371
  assert.ok(Math.abs(kilometres(90, 0, 0, 77) - quarter) < 1e-9)
  assert.ok(Math.abs(kilometres(0, 179.5, 0, -179.5) - quarter / 90) < 1e-9)
  assert.ok(Math.abs(kilometres(43.408, -1.682, 43.532, -1.615) - 14.81) < 0.05)
  assert.deepEqual(['  La  Révellata! ', 'İstanbul Straße', '東京湾'].map(slugOf), [
    'la-revellata',
    'istanbul-stra-e',
    'buoy',
  ])
  assert.equal(fold('İSTANBUL'), 'istanbul')
  assert.equal(statistic([1.01, 1.02], 'median', false).value, 1.02)
  assert.equal(statistic([-1, -1.01], 'avg', false).value, -1.01)
  assert.deepEqual(
    [350, 90].map((first) => statistic([first, first === 90 ? 270 : 10], 'avg', true).value),
    [0, null],
  )
  assert.notEqual(statistic([10, 11], 'avg', true).other, null)
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
