/** The member `location` of answers about a place. */
import tzLookup from '@photostructure/tz-lookup'
import type { JsonWriter } from './json-writer.ts'
import { Literal } from './literals.ts'

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
