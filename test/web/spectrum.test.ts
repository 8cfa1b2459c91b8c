/** The pictures of wave spectra as outlines: where bands and directions lie. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  discOf,
  frequencyAt,
  lineOf,
  nearestBand,
  placesOf,
  pointAt,
  radiusOf,
  STEPS,
  ticksOf,
} from '../../web/explorer/charts/spectrum.ts'

const BOX = { width: 100, height: 50 }
const FREQUENCIES = [0.05, 0.1, 0.2, 0.5]

test('Bands lie by frequency or by period, with ticks at round values, and the nearest to a place is found.', () => {
  assert.deepEqual(placesOf(FREQUENCIES, 'frequency', BOX), [10, 20, 40, 100])
  const places = placesOf(FREQUENCIES, 'period', BOX)
  assert.deepEqual(
    places.map((place) => Math.round(place * 10) / 10),
    [78.3, 34.8, 13, 0],
  )
  assert.equal(placesOf([0.03, 0.5], 'period', BOX)[0], 100)
  assert.deepEqual(
    ticksOf(FREQUENCIES, 'period', BOX).map(({ value, at }) => `${value} ${at.toFixed(1)}`),
    ['5 13.0', '10 34.8', '15 56.5', '20 78.3'],
  )
  assert.deepEqual(
    ticksOf(FREQUENCIES, 'frequency', BOX).map(({ value }) => value),
    [0.1, 0.2, 0.3, 0.4, 0.5],
  )
  assert.deepEqual(
    [-5, 13, 30, 60, 1000].map((x) => nearestBand(places, x)),
    [3, 2, 1, 0, 0],
  )
  assert.equal(lineOf([0, 100], [1, 4], 4, BOX), 'M0.0 37.5L100.0 0.0')
})

test('On the disc north is up and east is right, swell lies inside, and a radius is that of one frequency.', () => {
  const places = [0, 90, 180, 270].map((degrees) => pointAt(10, degrees))
  assert.deepEqual(
    places.map(({ x, y }) => [Math.round(x) + 0, Math.round(y) + 0]),
    [
      [0, -10],
      [10, 0],
      [0, 10],
      [-10, 0],
    ],
  )
  assert.ok(radiusOf(0.08) < radiusOf(0.2))
  assert.deepEqual([radiusOf(0.01), radiusOf(2)], [0, 1])
  for (const hz of [0.05, 0.1, 0.3]) assert.ok(Math.abs(frequencyAt(radiusOf(hz)) - hz) < 1e-9)
})

test('Cells of the disc lie in the sector and at the radius of their band, each in the step of its share.', () => {
  const directions = Array.from({ length: 72 }, (_, i) => i * 5)
  const densities = new Map([
    [270, 2],
    [90, 0.3],
  ])
  const band = directions.map((direction) => densities.get(direction) ?? 0)
  const steps = discOf(
    { frequencies: [0.1, 0.2], bandwidths: [0.02, 0.02], directions, densities: [band, null] },
    100,
  )
  assert.equal(steps.length, STEPS.length)
  assert.deepEqual(
    steps.map((outline) => outline.split('Z').length - 1),
    [0, 0, 1, 0, 0, 1],
  )
  const [x, y] = /^M(-?[\d.]+) (-?[\d.]+)/.exec(steps[5])!.slice(1).map(Number)
  assert.ok(x < 0 && Math.abs(y) < 3, 'waves from the west are on the left')
  const radius = Math.hypot(x, y)
  assert.ok(Math.abs(radius - 100 * radiusOf(0.09)) < 0.2)
  assert.match(steps[2], /^M\d/, 'and those from the east on the right')
})
