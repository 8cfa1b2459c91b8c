/** Nearest points against a search of all points with another formula. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildPoints, Points } from '../../src/index/points.ts'
import { positions, type Position } from './positions.ts'

const RADIUS = 6371

/** The chord between two unit vectors, as an angle. */
function chordKm(lat1: number, lng1: number, lat2: number, lng2: number): number {
  const vector = (lat: number, lng: number) => {
    const [phi, lambda] = [(lat / 180) * Math.PI, (lng / 180) * Math.PI]
    return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)]
  }
  const [a, b] = [vector(lat1, lng1), vector(lat2, lng2)]
  const distance = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
  const sum = Math.hypot(a[0] + b[0], a[1] + b[1], a[2] + b[2])
  return RADIUS * 2 * Math.atan2(distance, sum)
}

function pointsOf(places: Position[]): Points {
  const lat = Float64Array.from(places, (place) => place.lat)
  const lng = Float64Array.from(places, (place) => place.lng)
  return new Points(buildPoints(lat, lng), lat, lng)
}

/**
 * Distances that differ by less than this count as equal: the two formulas disagree by far less, except near
 * the antipode.
 */
const TOLERANCE_KM = 1e-3

test('The nearest points are those that a look at every point finds.', () => {
  fc.assert(
    fc.property(
      fc.array(positions, { maxLength: 150 }),
      positions,
      fc.integer({ min: 1, max: 25 }),
      fc.constantFrom(0, 1, 150, 2500, 12_000, 20_015, 20_016, 1e9),
      fc.integer({ min: 1, max: 4 }),
      (places, from, limit, maxKm, every) => {
        const accept = (ordinal: number): boolean => ordinal % every === 0
        const { ordinals, km } = pointsOf(places).nearest(from.lat, from.lng, limit, maxKm, accept)
        const distance = places.map(({ lat, lng }) => chordKm(from.lat, from.lng, lat, lng))
        assert.equal(ordinals.length, km.length)
        assert.equal(new Set(ordinals).size, ordinals.length)
        for (const [i, ordinal] of ordinals.entries()) {
          assert.ok(accept(ordinal))
          assert.ok(Math.abs(km[i] - distance[ordinal]) < TOLERANCE_KM)
          assert.ok(km[i] <= maxKm)
          if (i > 0) assert.ok(km[i] > km[i - 1] || (km[i] === km[i - 1] && ordinal > ordinals[i - 1]))
        }
        const inReach = (margin: number) =>
          distance.filter((each, ordinal) => accept(ordinal) && each <= maxKm + margin).length
        assert.ok(ordinals.length >= Math.min(limit, inReach(-TOLERANCE_KM)))
        assert.ok(ordinals.length <= Math.min(limit, inReach(TOLERANCE_KM)))
        if (ordinals.length < limit) return
        const farthest = km[km.length - 1]
        for (const [ordinal, each] of distance.entries()) {
          if (accept(ordinal) && !ordinals.includes(ordinal)) assert.ok(each >= farthest - TOLERANCE_KM)
        }
      },
    ),
    { numRuns: 400 },
  )
})

test('Points at one distance come by ordinal, also when the limit cuts through them.', () => {
  // 40 points at one place, then 40 more at another, equally far from the middle.
  const places = Array.from({ length: 80 }, (_, i) => ({ lat: 0, lng: i % 2 === 0 ? -10 : 10 }))
  const points = pointsOf(places)
  for (const limit of [1, 2, 3, 20, 40, 79, 80, 81, 500]) {
    const { ordinals } = points.nearest(0, 0, limit, 20_000, () => true)
    assert.deepEqual(ordinals, [...places.keys()].slice(0, limit))
  }
  const odd = points.nearest(0, 0, 5, 20_000, (ordinal) => ordinal % 2 === 1)
  assert.deepEqual(odd.ordinals, [1, 3, 5, 7, 9])
})

test('A distance of 0 finds what lies exactly there, and a distance is included.', () => {
  const points = pointsOf([
    { lat: 10, lng: 20 },
    { lat: 10, lng: 20 },
    { lat: 10, lng: 20.001 },
    { lat: 0, lng: 0 },
  ])
  assert.deepEqual(
    points.nearest(10, 20, 9, 0, () => true),
    { ordinals: [0, 1], km: [0, 0] },
  )
  assert.deepEqual(
    points.nearest(10.5, 20, 9, 0, () => true),
    { ordinals: [], km: [] },
  )
  const { km } = points.nearest(10, 20, 3, 1, () => true)
  assert.deepEqual(points.nearest(10, 20, 9, km[2], () => true).ordinals, [0, 1, 2])
  assert.deepEqual(points.nearest(10, 20, 9, km[2] - 1e-9, () => true).ordinals, [0, 1])
})

test('Distances reach across the antimeridian and the poles.', () => {
  const points = pointsOf([
    { lat: -17, lng: 179.9 },
    { lat: -17, lng: -179.9 },
    { lat: -17, lng: 180 },
    { lat: -17, lng: -180 },
    { lat: 89.9, lng: 0 },
    { lat: 89.9, lng: 180 },
  ])
  assert.deepEqual(points.within(-17, 180, 5, () => true).ordinals.slice(0, 2), [2, 3])
  assert.deepEqual(
    points.within(-17, -179.95, 30, () => true).ordinals.toSorted((a, b) => a - b),
    [0, 1, 2, 3],
  )
  assert.deepEqual(points.within(90, 77, 12, () => true).ordinals, [4, 5])
})

test('Everything within a distance is found whatever the number of points, the whole globe included.', () => {
  const places = Array.from({ length: 3000 }, (_, i) => ({
    lat: ((i * 7919) % 18_001) / 100 - 90,
    lng: ((i * 104_729) % 36_001) / 100 - 180,
  }))
  const points = pointsOf(places)
  for (const [lat, lng, km] of [
    [0, 0, 1000],
    [-90, 0, 3000],
    [51, -179.5, 2000],
    [12, 12, 19_000],
    [0, 0, 30_000],
  ]) {
    const expected = [...places.keys()].filter((i) => chordKm(lat, lng, places[i].lat, places[i].lng) <= km)
    const { ordinals } = points.within(lat, lng, km, () => true)
    assert.deepEqual(
      ordinals.toSorted((a, b) => a - b),
      expected,
    )
  }
})

test('No points and no accepted points are an empty answer.', () => {
  assert.deepEqual(
    pointsOf([]).nearest(0, 0, 5, 1e9, () => true),
    { ordinals: [], km: [] },
  )
  assert.deepEqual(
    pointsOf([{ lat: 0, lng: 0 }]).nearest(0, 0, 5, 1e9, () => false),
    { ordinals: [], km: [] },
  )
})
