/** Longitudes on their circle, and middles and distances on the sphere. */
import type { Position } from '../view.ts'

/**
 * The shortest arc that holds all longitudes (degrees), from west to east. East is greater than 180 where the
 * arc goes over the antimeridian.
 */
export function arcOf(longitudes: readonly number[]): [number, number] {
  const sorted = longitudes.toSorted((a, b) => a - b)
  const [first = 0, last = 0] = [sorted[0], sorted.at(-1)]
  // The arc is the circle without its widest gap.
  let [west, east, widest] = [first, last, first + 360 - last]
  for (const [i, longitude] of sorted.entries()) {
    const next = sorted[i + 1]
    if (next !== undefined && next - longitude > widest) {
      ;[west, east, widest] = [next, longitude + 360, next - longitude]
    }
  }
  return [west, east]
}

const RADIANS = Math.PI / 180

/** The middle of positions on the sphere; null without one, as of two that lie opposite each other. */
export function middleOf(positions: readonly Position[]): Position | null {
  let [x, y, z] = [0, 0, 0]
  for (const { lat, lng } of positions) {
    const across = Math.cos(lat * RADIANS)
    x += across * Math.cos(lng * RADIANS)
    y += across * Math.sin(lng * RADIANS)
    z += Math.sin(lat * RADIANS)
  }
  if (Math.hypot(x, y, z) < positions.length * 1e-9 || positions.length === 0) return null
  return { lat: Math.atan2(z, Math.hypot(x, y)) / RADIANS, lng: Math.atan2(y, x) / RADIANS }
}

/** Radius of the sphere that the API's distances are on. */
const EARTH_KM = 6371

/** Kilometres on the great circle. */
export function distanceKm(a: Position, b: Position): number {
  const half = (degrees: number): number => Math.sin((degrees * RADIANS) / 2) ** 2
  const h = half(b.lat - a.lat) + Math.cos(a.lat * RADIANS) * Math.cos(b.lat * RADIANS) * half(b.lng - a.lng)
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(h)))
}
