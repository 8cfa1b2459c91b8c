/**
 * Operation 16, `GET /forecast`: waves, swell, wind and tide of a place, hour by hour, with its high and low
 * waters. Reach and interpolation are those of the combined conditions (`conditions.ts`), with which it
 * agrees at every hour.
 */
import { MISSING_I16, MISSING_U16, type ForecastName } from '../sea/columns.ts'
import { haversineKm } from '../sea/geo.ts'
import { HOUR, LAST_SECOND, timestampText } from '../sea/time.ts'
import { UNKNOWN_MODEL } from '../index/forecast.ts'
import { NO_TURNS } from '../index/tides.ts'
import { HUNDREDTHS, SIGNED_HUNDREDTHS } from '../dataset/number-text.ts'
import type { View } from '../dataset/view.ts'
import { integer, timestamp, type QueryOf } from '../operation/parameters.ts'
import { operation, untilNextMinute } from '../operation/operation.ts'
import { placeParameters, positionOf, writeLocation } from '../operation/place.ts'

const MAX_HOURS = 240

const parameters = {
  ...placeParameters,
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
  /** Ordinals of the nearest forecast point and harbour within reach; −1 for none. */
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
  holdsUntil: (_view, { start }, now) => untilNextMinute(start, now),
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
    const { tides: harbours } = view.dataset
    const { extremes } = harbours?.between(place.harbour, start, start + (hours - 1) * HOUR) ?? NO_TURNS
    const tides = extremes.map(({ time, high, height }) => ({
      time: timestampText(time),
      type: high ? 'high' : 'low',
      height: Math.round(height * 100) / 100,
    }))
    writer.text(`],"tides":${JSON.stringify(tides)},"metadata":${JSON.stringify(metadataOf(view, place))}}`)
  },
  tables: { formats: ['json', 'csv', 'ndjson'], isList: false },
})

/** @throws ApiError as `positionOf` */
function placeOf(view: View, query: Query): Place {
  const { forecast: points, tides } = view.dataset
  const { lat, lng } = positionOf(view, query)
  return { lat, lng, point: points?.nearest(lat, lng) ?? -1, harbour: tides?.nearest(lat, lng) ?? -1 }
}

/** The full hour, epoch seconds, as far as 32 bits hold the last one. */
function startOf({ start, hours }: Query, now: number): number {
  const latest = Math.floor(LAST_SECOND / HOUR) - (hours - 1)
  return Math.max(0, Math.min(latest, Math.floor((start?.epoch ?? now) / HOUR))) * HOUR
}

/** The greatest level that a code has, hundredths of a metre. */
const HIGHEST_LEVEL = 32767

/** Codes of hundredths by array; signed ones of the tide as their 16 bits. */
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

/** Sources of forecast and tide, as in the metadata of the combined conditions, with the distances. */
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
