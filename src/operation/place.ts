/**
 * A place of the sea, named in one of three ways: by its position, a buoy or a spot; and as the member
 * `location` of answers.
 */
import tzLookup from '@photostructure/tz-lookup'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { Literal } from '../dataset/literals.ts'
import type { View } from '../dataset/view.ts'
import { notFound, refused } from './errors.ts'
import { requireBuoy } from './operation.ts'
import { integer, number, type QueryOf, text } from './parameters.ts'

export const placeParameters = {
  lat: number({ minimum: -90, maximum: 90, description: 'Latitude, decimal degrees; with `lng`.' }),
  lng: number({ minimum: -180, maximum: 180, description: 'Longitude, decimal degrees; with `lat`.' }),
  buoy: text({ description: 'Id or slug of a buoy, in place of `lat` and `lng`.' }),
  spot_id: integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'A named place, in place of `lat` and `lng`.',
  }),
}

/** Decimal degrees. */
export interface Position {
  readonly lat: number
  readonly lng: number
}

/** @throws ApiError 400 unless exactly one place is named, 404 for a buoy or spot that does not exist */
export function positionOf(
  view: View,
  { lat, lng, buoy, spot_id: spotId }: QueryOf<typeof placeParameters>,
): Position {
  const { catalog, spots } = view.dataset
  const ways = [lat ?? lng, buoy, spotId].filter((way) => way !== undefined)
  if (ways.length !== 1 || (lat === undefined) !== (lng === undefined)) {
    const given = { lng, buoy, spot_id: spotId }
    const [second] = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]))
    const parameter = lat === undefined ? 'lat' : (second ?? 'lng')
    const problem = ways.length > 1 ? 'names a second place' : 'is missing'
    throw refused(parameter, `${problem}. Allowed: either lat and lng, or buoy, or spot_id`)
  }
  if (buoy !== undefined) {
    const ordinal = requireBuoy(view, buoy)
    return { lat: catalog.lat[ordinal], lng: catalog.lng[ordinal] }
  }
  if (spotId === undefined) return { lat: lat!, lng: lng! }
  const spot = spots.get(spotId)
  if (spot === undefined) throw notFound('Spot not found')
  return { lat: spot.lat, lng: spot.lng }
}

const LOCATION = new Literal('{"location":{"lat":')
const LNG = new Literal(',"lng":')
const TIMEZONE = new Literal(',"timezone":"')
const LOCATION_END = new Literal('"}')

/** Names of time zones as they come up: there are some four hundred. */
const zoneTexts = new Map<string, Literal>()

/** Begins an object with its member `location`, a position with its time zone; the writer has room for it. */
export function writeLocation(writer: JsonWriter, lat: number, lng: number): void {
  const zone = tzLookup(lat, lng)
  let zoneText = zoneTexts.get(zone)
  if (zoneText === undefined) {
    zoneText = new Literal(zone)
    zoneTexts.set(zone, zoneText)
  }
  writer.literal(LOCATION)
  writer.number(lat)
  writer.literal(LNG)
  writer.number(lng)
  writer.literal(TIMEZONE)
  writer.literal(zoneText)
  writer.literal(LOCATION_END)
}
