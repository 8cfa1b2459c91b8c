/**
 * Operation 16, `GET /forecast`: waves, swell, wind and tide of a place, hour by hour, with its high and low
 * waters. Reach and interpolation are those of the combined conditions (`conditions.ts`), with which it
 * agrees at every hour.
 */
import { notFound, refused } from '../operation/errors.ts'
import { MISSING_I16, MISSING_U16, type ForecastName } from '../sea/columns.ts'
import { haversineKm } from '../sea/geo.ts'
import { HOUR, LAST_SECOND, timestampText } from '../sea/time.ts'
import { UNKNOWN_MODEL } from '../index/forecast.ts'
import type { Extreme } from '../index/tides.ts'
import { HUNDREDTHS, SIGNED_HUNDREDTHS } from '../dataset/number-text.ts'
import { writeLocation } from '../dataset/location.ts'
import type { View } from '../dataset/view.ts'
import { integer, number, text, timestamp, type QueryOf } from '../operation/parameters.ts'
import { operation, requireBuoy } from '../operation/operation.ts'

const MAX_HOURS = 240

const parameters = {
  lat: number({ minimum: -90, maximum: 90, description: 'Latitude, decimal degrees; with `lng`.' }),
  lng: number({ minimum: -180, maximum: 180, description: 'Longitude, decimal degrees; with `lat`.' }),
  buoy: text({ description: 'Id or slug of a buoy, in place of `lat` and `lng`.' }),
  spot_id: integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'A named place, in place of `lat` and `lng`.',
  }),
  start: timestamp({ description: 'First hour; default now. Minutes and seconds do not count.' }),
  hours: integer({ minimum: 1, maximum: MAX_HOURS, default: 72, description: 'Hours to answer.' }),
}

type Query = QueryOf<typeof parameters>

/** An array of the answer, of a forecast quantity or, with `of` null, of the tide. */
const array = (name: string, of: ForecastName | null, unit: string) => ({ name, of, unit })

export const ARRAYS = [
  array('waves_height', 'waveHeight', 'm'),
  array('waves_period', 'wavePeriod', 's'),
  array('waves_direction', 'waveDirection', 'degree'),
  array('swell_height', 'swellHeight', 'm'),
  array('swell_period', 'swellPeriod', 's'),
  array('swell_direction', 'swellDirection', 'degree'),
  array('wind_speed', 'windSpeed', 'km/h'),
  array('wind_direction', 'windDirection', 'degree'),
  array('tide_level', null, 'm'),
]

/** A timestamp with its comma, and the values of an hour. */
const HOUR_BYTES = 24 + ARRAYS.length * 8
/** More than the names of all arrays take. */
const NAMES_BYTES = 1024

interface Place {
  readonly lat: number
  readonly lng: number
  /** Of the nearest forecast point and harbour within reach; −1 for none. */
  readonly point: number
  readonly harbour: number
}

export const forecast = operation({
  name: 'forecast',
  path: '/forecast',
  access: 'keyed',
  summary: 'Forecast and tide of a place, hour by hour',
  parameters,
  refusal: 'bad_request',
  errors: ['bad_request', 'resource_not_found'],
  perMinute: 'start',
  answer(view, query, _path, now) {
    const place = placeOf(view, query)
    const start = startOf(query, now)
    const { hours } = query
    const times = Uint32Array.from({ length: hours }, (_, i) => start + i * HOUR)
    const codes = hourlyCodes(view, place, start, hours)
    const { writer } = view.fragments
    writer.ensure(NAMES_BYTES + hours * HOUR_BYTES)
    writeLocation(writer, place.lat, place.lng)
    writer.text(',"time":[')
    writer.timestamps(times, 0, hours)
    // Each list ends in place of its last comma.
    writer.at--
    ARRAYS.forEach(({ name, of }, i) => {
      writer.text(`],"${name}":[`)
      writer.entries(of === null ? SIGNED_HUNDREDTHS : HUNDREDTHS, codes[i], 0, hours)
      writer.at--
    })
    const tides = tidesOf(view, place, start, start + (hours - 1) * HOUR).map(({ time, high, height }) => ({
      time: timestampText(time),
      type: high ? 'high' : 'low',
      height: Math.round(height * 100) / 100,
    }))
    writer.text(`],"tides":${JSON.stringify(tides)},"metadata":${JSON.stringify(metadataOf(view, place))}}`)
  },
  tables: { formats: ['json', 'csv', 'ndjson'], isList: false },
})

/** @throws ApiError 400 unless exactly one place is named, 404 for a buoy or spot that does not exist */
function placeOf(view: View, { lat, lng, buoy, spot_id: spotId }: Query): Place {
  const { catalog, forecast: points, tides, spots } = view.dataset
  const ways = [lat ?? lng, buoy, spotId].filter((way) => way !== undefined)
  if (ways.length !== 1 || (lat === undefined) !== (lng === undefined)) {
    let parameter = buoy === undefined ? 'spot_id' : 'buoy'
    if (lat === undefined) parameter = 'lat'
    else if (lng === undefined) parameter = 'lng'
    const problem = ways.length > 1 ? 'names a second place' : 'is missing'
    throw refused(parameter, `${problem}. Allowed: either lat and lng, or buoy, or spot_id`)
  }
  let position: { lat: number; lng: number }
  if (buoy !== undefined) {
    const ordinal = requireBuoy(view, buoy)
    position = { lat: catalog.lat[ordinal], lng: catalog.lng[ordinal] }
  } else if (spotId === undefined) position = { lat: lat!, lng: lng! }
  else {
    const spot = spots.get(spotId)
    if (spot === undefined) throw notFound('Spot not found')
    position = { lat: spot.lat, lng: spot.lng }
  }
  return {
    lat: position.lat,
    lng: position.lng,
    point: points?.nearest(position.lat, position.lng) ?? -1,
    harbour: tides?.nearest(position.lat, position.lng) ?? -1,
  }
}

/** The full hour, epoch seconds, as far as 32 bits hold the last one. */
function startOf({ start, hours }: Query, now: number): number {
  const latest = Math.floor(LAST_SECOND / HOUR) - (hours - 1)
  return Math.max(0, Math.min(latest, Math.floor((start?.epoch ?? now) / HOUR))) * HOUR
}

/** The greatest level that a code has, hundredths of a metre. */
const HIGHEST_LEVEL = 32767

/** For each array its codes of hundredths, of the tide as the 16 bits of signed ones. */
function hourlyCodes(
  { dataset }: View,
  { point, harbour }: Place,
  start: number,
  hours: number,
): Uint16Array[] {
  return ARRAYS.map(({ of }) => {
    const codes = new Uint16Array(hours).fill(of === null ? MISSING_I16 & 0xffff : MISSING_U16)
    if (of !== null) {
      if (point !== -1) dataset.forecast!.hoursInto(of, point, start, hours, codes)
    } else if (harbour !== -1) {
      // Chart levels are up to 2 mm off before they are rounded; conditions and these are not.
      for (let i = 0; i < hours; i++) {
        const level = dataset.tides!.hundredths(harbour, start + i * HOUR)
        codes[i] = Math.max(-HIGHEST_LEVEL, Math.min(HIGHEST_LEVEL, level))
      }
    }
    return codes
  })
}

/** The high and low waters from the first hour to the last. */
function tidesOf({ dataset: { tides } }: View, { harbour }: Place, start: number, end: number): Extreme[] {
  const found: Extreme[] = []
  if (harbour === -1) return found
  for (let time = start - 1; ; time = found.at(-1)!.time) {
    const next = tides!.next(harbour, time)
    if (next === null || next.time > end) return found
    found.push(next)
  }
}

/** Where forecast and tide come from: as in the metadata of the combined conditions, with the distances. */
function metadataOf(
  { dataset: { forecast: points, tides } }: View,
  { lat, lng, point, harbour }: Place,
): object {
  const km = (to: { lat: Float64Array; lng: Float64Array }, at: number): number =>
    Math.round(haversineKm(lat, lng, to.lat[at], to.lng[at]) * 100) / 100
  const { model, credit } = points?.modelOf(point) ?? UNKNOWN_MODEL
  const hasTide = harbour !== -1
  return {
    forecast_updated_at: point === -1 ? null : timestampText(points!.columns.run[point]),
    forecast_model: model,
    forecast_credit: credit,
    forecast_distance_km: point === -1 ? null : km(points!.columns, point),
    tide_source: hasTide ? tides!.columns.credits[tides!.columns.credit[harbour]] : null,
    harbor: hasTide ? tides!.columns.names[harbour] : null,
    harbor_distance_km: hasTide ? km(tides!.columns, harbour) : null,
  }
}
