/**
 * Positions as vectors on the unit sphere, and the one rule of which of two points is nearer, for all lookups
 * of near points. Comparing squared chords costs three multiplications; only where two of them hardly differ
 * does the great circle decide.
 *
 * What cells the points lie in is each lookup's own, because one grid for all costs. The nearest point within
 * 50 km takes 0.20 µs in cells twice as wide as the reach (`nearby.ts`), 0.28 from lists of the nearest
 * (`nearest.ts`) and 0.36 from bands of latitude (`around.ts`) among 1,200 buoys; among 60,000 forecast
 * points it takes 0.37, 0.49 and 1.32, and each list of the nearest is made by a look at all of them. Lists
 * of the nearest know nothing of a radius, and cells of one reach nothing of another.
 */
import { EARTH_RADIUS_KM, FARTHEST_KM, haversineKm } from '../sea/geo.ts'

export const RADIANS = Math.PI / 180

/** Only the great circle distinguishes squared chords this close together. */
export const SAME_CHORD = 1e-13

/** Squared chords of two opposite points, the farthest that there are. */
const FARTHEST_CHORD = 4

/**
 * Latitude and longitude asked about last, then the unit vector: one request asks several indexes about one
 * position.
 */
export const asked = Float64Array.of(0, 0, 1, 0, 0)

/** Works out the unit vector of a position into `asked`; two sines and two cosines. */
export function locate(lat: number, lng: number): void {
  if (lat === asked[0] && lng === asked[1]) return
  asked[0] = lat
  asked[1] = lng
  writeUnitVector(asked, 2, lat, lng)
}

/** Writes x, y and z of a position side by side. */
export function writeUnitVector(target: Float64Array, at: number, lat: number, lng: number): void {
  const phi = lat * RADIANS
  const lambda = lng * RADIANS
  const cosine = Math.cos(phi)
  target[at] = cosine * Math.cos(lambda)
  target[at + 1] = cosine * Math.sin(lambda)
  target[at + 2] = Math.sin(phi)
}

/** The squared chord of a distance over the ground. */
export function squaredChordOf(km: number): number {
  return km >= FARTHEST_KM ? FARTHEST_CHORD : (2 * Math.sin(km / (2 * EARTH_RADIUS_KM))) ** 2
}

/**
 * Whether point `a` is nearer to a position than point `b` by the great circle, of equals the lower ordinal.
 */
export function isNearer(
  lats: Float64Array,
  lngs: Float64Array,
  lat: number,
  lng: number,
  a: number,
  b: number,
): boolean {
  const kmA = haversineKm(lat, lng, lats[a], lngs[a])
  const kmB = haversineKm(lat, lng, lats[b], lngs[b])
  return kmA === kmB ? a < b : kmA < kmB
}
