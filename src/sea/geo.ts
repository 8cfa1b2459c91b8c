/** Positions on a sphere of 6371 km, great circles by the haversine formula. */

export const EARTH_RADIUS_KM = 6371
export const FARTHEST_KM = Math.PI * EARTH_RADIUS_KM

const RADIANS = Math.PI / 180

export const cosineOf = (degrees: number): number => Math.cos(degrees * RADIANS)

/** The last two: cosines of the latitudes, which are half of the work. */
export function haversineKm(
  lat1: number,
  lng1: number,
  lat2: number,
  lng2: number,
  cosine1 = cosineOf(lat1),
  cosine2 = cosineOf(lat2),
): number {
  const sinLat = Math.sin(((lat2 - lat1) * RADIANS) / 2)
  const sinLng = Math.sin(((lng2 - lng1) * RADIANS) / 2)
  const h = sinLat * sinLat + sinLng * sinLng * cosine1 * cosine2
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** Steps per degree of a wrapped longitude: a tenth of a millimetre. */
const WRAPPED_STEPS = 1e9

/** Positions are the same to four decimals, some ten metres: finer than any model's grid. */
const STEPS_PER_DEGREE = 1e4

/** One text for all positions that count as the same point. */
export function pointKey(lat: number, lng: number): string {
  const steps = (degrees: number): number => Math.round(degrees * STEPS_PER_DEGREE)
  // −180 and 180 are one meridian.
  return `${steps(lat)},${steps(wrapLongitude(lng) === 180 ? -180 : wrapLongitude(lng))}`
}

/** A longitude in −180…180, without a subtraction's binary noise: 355.032 must become exactly −4.968. */
export function wrapLongitude(lng: number): number {
  if (lng >= -180 && lng <= 180) return lng
  let wrapped = lng % 360
  if (wrapped > 180) wrapped -= 360
  else if (wrapped < -180) wrapped += 360
  return Math.round(wrapped * WRAPPED_STEPS) / WRAPPED_STEPS + 0
}

/** A box of the globe in degrees; `west` greater than `east` crosses the antimeridian. */
export interface Bounds {
  south: number
  west: number
  north: number
  east: number
}

/** Spans from here on are the whole circle: a client's binary turn often ends a hair below 360. */
const WHOLE_CIRCLE = 360 - 10 / WRAPPED_STEPS

/** Clamps latitudes, wraps longitudes; a span of 360 degrees or more is all. */
export function boundsOnGlobe(box: Bounds): Bounds {
  const clamp = (lat: number): number => Math.min(90, Math.max(-90, lat))
  const all = box.east - box.west >= WHOLE_CIRCLE
  return {
    south: clamp(box.south),
    north: clamp(box.north),
    west: all ? -180 : wrapLongitude(box.west),
    east: all ? 180 : wrapLongitude(box.east),
  }
}

/** Degrees added around a circle against rounding: a tenth of a metre. */
const MARGIN = 1e-6

/** A box that holds all points within `km` of a position. */
export function boundsAround(lat: number, lng: number, km: number): Bounds {
  const radius = km / EARTH_RADIUS_KM / RADIANS + MARGIN
  const [south, north] = [lat - radius, lat + radius]
  const isAtPole = south <= -90 + MARGIN || north >= 90 - MARGIN
  const half = isAtPole
    ? 180
    : Math.asin(Math.sin(radius * RADIANS) / Math.cos(lat * RADIANS)) / RADIANS + MARGIN
  return boundsOnGlobe({ south, north, west: lng - half, east: lng + half })
}

/** Edges are included; −180 and 180 are one meridian. */
export function boundsContain(box: Bounds, lat: number, lng: number): boolean {
  if (lat < box.south || lat > box.north) return false
  return longitudeWithin(box, lng) || (Math.abs(lng) === 180 && longitudeWithin(box, -lng))
}

function longitudeWithin({ west, east }: Bounds, lng: number): boolean {
  return west <= east ? lng >= west && lng <= east : lng >= west || lng <= east
}

/** One or two boxes without the antimeridian inside, and a sliver at ±180 where `box` ends there. */
export function boundsPieces({ south, west, north, east }: Bounds): Bounds[] {
  const pieces =
    west <= east
      ? [{ south, west, north, east }]
      : [
          { south, west, north, east: 180 },
          { south, west: -180, north, east },
        ]
  if (west <= east && (west === -180) !== (east === 180)) {
    const other = west === -180 ? 180 : -180
    pieces.push({ south, west: other, north, east: other })
  }
  return pieces
}
