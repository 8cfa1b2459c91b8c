/**
 * Positions on a sphere of 6371 km (decisions, operation 5). Distances are great circles by the haversine
 * formula, which stays exact for near points where the spherical law of cosines does not.
 */

export const EARTH_RADIUS_KM = 6371
/** Half the circumference: nothing on the sphere is farther away. */
export const FARTHEST_KM = Math.PI * EARTH_RADIUS_KM

const RADIANS = Math.PI / 180

export function haversineKm(lat1: number, lng1: number, lat2: number, lng2: number): number {
  const sinLat = Math.sin(((lat2 - lat1) * RADIANS) / 2)
  const sinLng = Math.sin(((lng2 - lng1) * RADIANS) / 2)
  const h = sinLat * sinLat + sinLng * sinLng * Math.cos(lat1 * RADIANS) * Math.cos(lat2 * RADIANS)
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** Steps per degree to which a wrapped longitude is rounded: a tenth of a millimetre. */
const WRAPPED_STEPS = 1e9

/** Positions are the same to four decimals, some ten metres: finer than any model's grid. */
const STEPS_PER_DEGREE = 1e4

/** One text for all positions that count as the same point. */
export function pointKey(lat: number, lng: number): string {
  const steps = (degrees: number): number => Math.round(degrees * STEPS_PER_DEGREE)
  // −180 and 180 are one meridian.
  return `${steps(lat)},${steps(wrapLongitude(lng) === 180 ? -180 : wrapLongitude(lng))}`
}

/**
 * A longitude brought into −180…180; what already lies there keeps every bit. The binary noise of a
 * subtraction is removed: 355.032 must become exactly −4.968, because it is compared with borders.
 */
export function wrapLongitude(lng: number): number {
  if (lng >= -180 && lng <= 180) return lng
  // The remainder is exact for numbers of any size.
  const turned = lng % 360
  const wrapped = turned > 180 ? turned - 360 : turned < -180 ? turned + 360 : turned
  return Math.round(wrapped * WRAPPED_STEPS) / WRAPPED_STEPS + 0
}

/** A box of the globe in degrees; `west` greater than `east` crosses the antimeridian. */
export interface Bounds {
  south: number
  west: number
  north: number
  east: number
}

/**
 * Spans from here on are the whole circle. A viewport of one turn, computed by a client in binary, often ends
 * a hair below 360; its two sides would wrap onto each other and leave next to nothing between them.
 */
const WHOLE_CIRCLE = 360 - 10 / WRAPPED_STEPS

/**
 * Brings a box as a map client sends it onto the globe: latitudes clamped, longitudes wrapped, a span of 360
 * degrees or more is all of it (decisions, operation 1).
 */
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

/** Whether a point lies in a box on the globe, borders included. −180 and 180 are one meridian. */
export function boundsContain(box: Bounds, lat: number, lng: number): boolean {
  if (lat < box.south || lat > box.north) return false
  return longitudeWithin(box, lng) || (Math.abs(lng) === 180 && longitudeWithin(box, -lng))
}

function longitudeWithin({ west, east }: Bounds, lng: number): boolean {
  return west <= east ? lng >= west && lng <= east : lng >= west || lng <= east
}

/**
 * The boxes without an antimeridian inside that together cover `box`: one or two, and a sliver at ±180 where
 * it ends there.
 */
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
