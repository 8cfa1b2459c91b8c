/** Country and time zone of a position, found once when a snapshot is built, unless the source gives them. */
import { feature, iso1A2Code } from '@rapideditor/country-coder'
import tzLookup from '@photostructure/tz-lookup'
import { EARTH_RADIUS_KM, wrapLongitude } from './geo.ts'

/** 200 nautical miles, the width of an exclusive economic zone. */
const COAST_REACH_KM = 370.4
/** Rings of points are this far apart, so the nearest country is right to within it. */
const RING_STEP_KM = 5
const BEARINGS = 72

/**
 * The line between British and Norwegian waters by the agreements of 1965 and 1978, latitudes and longitudes
 * from south to north: the map that is asked draws Norway's as far as Shetland.
 */
const BRITISH_UP_TO = [
  [58.43, 1.483],
  [59.29, 1.712],
  [59.897, 2.077],
  [61.357, 1.79],
  [61.737, 1.56],
  [63.887, -0.489],
] as const

function isBritish(lat: number, lng: number): boolean {
  const north = BRITISH_UP_TO.findIndex(([to]) => lat < to)
  if (north < 1) return false
  const [[south, west], [end, east]] = [BRITISH_UP_TO[north - 1], BRITISH_UP_TO[north]]
  return lng < west + ((east - west) * (lat - south)) / (end - south)
}

const RADIANS = Math.PI / 180

/** ISO 3166-1 alpha-2 code of the country at or nearest to a point, or null beyond 200 nautical miles. */
export function countryAt(lat: number, lng: number): string | null {
  const here = iso1A2Code([lng, lat])
  if (here === 'NO' && isBritish(lat, lng)) return 'GB'
  if (here !== null) return here
  for (let km = RING_STEP_KM; km <= COAST_REACH_KM; km += RING_STEP_KM) {
    for (let i = 0; i < BEARINGS; i++) {
      const [ringLat, ringLng] = destination(lat, lng, km, (i * 360) / BEARINGS)
      const code = iso1A2Code([ringLng, ringLat])
      if (code !== null) return code
    }
  }
  return null
}

/** IANA zone of a point; a nautical `Etc/GMT±n` far from land. */
export function timezoneAt(lat: number, lng: number): string {
  return tzLookup(lat, lng)
}

const regionNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** ISO 3166-1 and Kosovo; unions and parts of countries have reserved codes only. */
const CODE_STATES = new Set(['official', 'usrAssn'])

export function countryName(code: string): string | null {
  // Intl also names unions, placeholders and countries that are gone.
  const known = feature(code)?.properties
  return known?.iso1A2 === code && CODE_STATES.has(known.isoStatus ?? '')
    ? (regionNames.of(code) ?? null)
    : null
}

function destination(lat: number, lng: number, km: number, bearing: number): [lat: number, lng: number] {
  const angle = km / EARTH_RADIUS_KM
  const [phi, theta] = [lat * RADIANS, bearing * RADIANS]
  const sinLat = Math.sin(phi) * Math.cos(angle) + Math.cos(phi) * Math.sin(angle) * Math.cos(theta)
  const east = Math.atan2(
    Math.sin(theta) * Math.sin(angle) * Math.cos(phi),
    Math.cos(angle) - Math.sin(phi) * sinLat,
  )
  return [Math.asin(Math.min(1, Math.max(-1, sinLat))) / RADIANS, wrapLongitude(lng + east / RADIANS)]
}
