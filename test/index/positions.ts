/**
 * Positions that lookups of near points must get right: anywhere, at poles and the antimeridian, and tied.
 */
import fc from 'fast-check'

export interface Position {
  lat: number
  lng: number
}

export const positions: fc.Arbitrary<Position> = fc.oneof(
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
