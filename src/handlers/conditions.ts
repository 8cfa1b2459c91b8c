/**
 * Operation 13, `GET /conditions`: forecast, reading and tide of a position and time (the current minute by
 * default). The forecast's energy is that of the height and period it shows.
 */
import { FORECAST_MEASURES, MEASURES, MISSING_U16 } from '../sea/columns.ts'
import { notFound } from '../operation/errors.ts'
import { directionAt, type Forecast, quantityAt, UNKNOWN_MODEL } from '../index/forecast.ts'
import type { MonthRow } from '../index/segments.ts'
import type { Tides } from '../index/tides.ts'
import { COMPASS_TEXT, compassIndex } from '../dataset/number-text.ts'
import { Literal } from '../dataset/literals.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { operation, untilNextMinute } from '../operation/operation.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { usualJson } from '../dataset/usual.ts'
import type { View } from '../dataset/view.ts'
import { integer, number, type QueryOf, timestamp, wordSet } from '../operation/parameters.ts'
import { FORMATS } from '../operation/shape.ts'
import { addExtras, EXTRA_GROUPS, waveEnergy } from '../dataset/reading-json.ts'
import { type OpenedFragments, writeNearest } from '../dataset/fragments.ts'
import { writeLocation } from '../operation/place.ts'
import type { SpotRecord } from '../sea/records.ts'
import { DAY, HOUR, MINUTE } from '../sea/time.ts'

/** A reading this close in time comes first, even from a buoy farther away. */
const FRESH_SECONDS = 3 * HOUR
/** A reading farther away in time is not used. */
const READING_REACH_SECONDS = DAY
/** A buoy farther away is not used for a position. */
const READING_REACH_KM = 50
/** Buoys around a spot: as many as this, and no farther than `nearest` looks by default. */
const NEARBY_BUOYS = 5
const NEARBY_KM = 150
/** More than an answer takes without the texts of its buoys and its harbour. */
const ANSWER_BYTES = 4096

/** Bits of `include`. */
export const WITH_MODEL = 1
export const WITH_WEATHER = 2
export const WITH_USUAL = 4

const parameters = {
  lat: number({ required: true, minimum: -90, maximum: 90, description: 'Latitude, decimal degrees.' }),
  lng: number({ required: true, minimum: -180, maximum: 180, description: 'Longitude, decimal degrees.' }),
  time: timestamp({ description: 'The requested moment; default now. A date alone is its first second.' }),
  spot_id: integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'A named place; adds `spot` and `nearby` to the answer.',
  }),
  include: wordSet({
    values: ['model', 'weather', 'usual'],
    description:
      'More members: with `model` `forecast_model` and `forecast_credit` of `metadata`, where the forecast comes from; with `weather` air temperature, dew point, pressure, humidity and visibility of `reading`; with `usual` how its height compares with those of the same time of the year, if it is the last reading of its buoy.',
  }),
}

export const conditions = operation({
  name: 'conditions',
  path: '/conditions',
  access: 'keyed',
  summary: 'Forecast, nearest buoy reading and tide of a point',
  parameters,
  refusal: 'bad_request',
  errors: ['bad_request', 'resource_not_found'],
  holdsUntil: (_view, { time }, now) => untilNextMinute(time, now),
  answer: (view, query, _path, now) => write(view, query, now),
  tables: { formats: FORMATS, isList: false },
})

function write(view: View, query: QueryOf<typeof parameters>, now: number): void {
  const { lat, lng } = query
  const spot = query.spot_id === undefined ? null : view.dataset.spots.get(query.spot_id)
  if (spot === undefined) throw notFound('Spot not found')
  const time = query.time === undefined ? Math.floor(now / MINUTE) * MINUTE : Math.floor(query.time.epoch)
  const { writer } = view.fragments
  const { forecast, tides } = view.dataset
  const point = forecast?.nearest(lat, lng) ?? -1
  writer.ensure(ANSWER_BYTES)
  writeLocation(writer, lat, lng)
  if (point === -1) writer.literal(NO_FORECAST)
  else writeForecast(writer, forecast!, point, time)
  const included = query.include ?? 0
  const readingTime = writeReading(view, lat, lng, time, included)
  writer.ensure(ANSWER_BYTES)
  const harbour = tides?.nearest(lat, lng) ?? -1
  if (harbour === -1) writer.literal(NO_TIDE)
  else writeTide(view, tides!, harbour, time)
  writer.literal(FORECAST_UPDATED_AT)
  if (point === -1) writer.null()
  else writer.timestamp(forecast!.columns.run[point])
  writer.literal(READING_AGE)
  if (readingTime === -1) writer.null()
  else writer.integer(Math.round((time - readingTime) / MINUTE))
  writer.literal(TIDE_SOURCE)
  if (harbour === -1) writer.null()
  else view.fragments.tideSource.write(tides!.columns.credit[harbour])
  // The credit may have been of any length.
  writer.ensure(ANSWER_BYTES)
  if ((included & WITH_MODEL) !== 0) writeModel(writer, forecast, point)
  writer.literal(UNITS)
  if (spot !== null) writeSpot(view, spot)
  writer.literal(END)
}

/** Members of `forecast` in their order; directions are compass points. */
const FORECAST = (
  [
    ['waves_height', 'waveHeight'],
    ['waves_period', 'wavePeriod'],
    ['waves_direction', 'waveDirection'],
    ['wind_speed', 'windSpeed'],
    ['wind_direction', 'windDirection'],
    ['swell_height', 'swellHeight'],
    ['swell_period', 'swellPeriod'],
    ['swell_direction', 'swellDirection'],
  ] as const
).map(([name, quantity], i) => {
  const before = i === 0 ? ',"forecast":{' : ','
  const isDirection = MEASURES[FORECAST_MEASURES[quantity]].unit === 'degree'
  return { name, quantity, isDirection, begin: new Literal(`${before}"${name}":`) }
})
const WAVE_ENERGY = new Literal(',"wave_energy":')
const NO_FORECAST = new Literal(
  `,"forecast":{${FORECAST.map(({ name }) => `"${name}":null`).join()},"wave_energy":null}`,
)

const READING = new Literal(',"reading":{"exists":true,"significient_height":')
const MAXIMUM_HEIGHT = new Literal(',"maximum_height":')
const DIRECTION_DEGREES = new Literal(',"direction_degrees":')
const PERIOD = new Literal(',"period":')
const TIME = new Literal(',"time":')
const BUOY = new Literal(',"buoy":')
const DISTANCE = new Literal(',"distance_km":')
const READING_END = new Literal('}}')
const NO_READING = new Literal(',"reading":{"exists":false}')

const TIDE = new Literal(',"tide":{"height":')
const EXTREME = {
  rising: new Literal(',"direction":"rising","seconds_to_next_tide_change":'),
  falling: new Literal(',"direction":"falling","seconds_to_next_tide_change":'),
  high: new Literal(',"next_tide":"high","next_tide_height":'),
  low: new Literal(',"next_tide":"low","next_tide_height":'),
}
const NO_EXTREME = new Literal(
  ',"direction":null,"seconds_to_next_tide_change":null,"next_tide":null,"next_tide_height":null',
)
const HARBOR = new Literal(',"harbor":')
const NO_TIDE = new Literal(
  ',"tide":{"height":null,"time":null,"direction":null,"seconds_to_next_tide_change":null,"next_tide":null,' +
    '"next_tide_height":null,"harbor":null}',
)

const FORECAST_UPDATED_AT = new Literal(',"metadata":{"forecast_updated_at":')
const READING_AGE = new Literal(',"reading_age_minutes":')
const TIDE_SOURCE = new Literal(',"tide_source":')
const UNITS = new Literal('},"units":{"height":"m","speed":"km/h"}')
const END = new Literal('}')

/** In the order of `FORECAST`: codes of hundredths, indexes of compass points. */
const values = new Int32Array(FORECAST.length)

function writeForecast(writer: JsonWriter, forecast: Forecast, point: number, time: number): void {
  const row = forecast.rowAt(point, time)
  if (row === -1) {
    writer.literal(NO_FORECAST)
    return
  }
  const { codes } = forecast.columns
  const share = forecast.shareAt(row, time)
  // All values are read before any is written: waits for memory overlap.
  for (let i = 0; i < values.length; i++) {
    const { quantity, isDirection } = FORECAST[i]
    const of = codes[quantity]
    values[i] = isDirection ? pointAt(of, row, share) : quantityAt(quantity, of, row, share)
  }
  for (let i = 0; i < values.length; i++) {
    const { begin, isDirection } = FORECAST[i]
    writer.literal(begin)
    if (isDirection) writer.entry(COMPASS_TEXT, values[i])
    else writer.hundredthsCode(values[i])
  }
  writer.literal(WAVE_ENERGY)
  writeEnergy(writer, values[0], values[1], 100)
  writer.literal(END)
}

/** Index into `COMPASS_TEXT`, on the shorter way between two rows. Equal points need no arc tangent. */
function pointAt(codes: Uint16Array, row: number, share: number): number {
  const point = compassIndex(codes[row])
  return share === 0 || point === compassIndex(codes[row + 1])
    ? point
    : compassIndex(directionAt(codes, row, share))
}

/** `height` and `period` in codes of `scale` per unit. */
function writeEnergy(writer: JsonWriter, height: number, period: number, scale: number): void {
  const isKnown = height !== MISSING_U16 && period !== MISSING_U16
  const energy = isKnown ? waveEnergy(height / scale, period / scale) : null
  if (energy === null) writer.null()
  else writer.integer(energy)
}

/** Writes texts of any length, and makes room again after them. */
function writeModel(writer: JsonWriter, forecast: Forecast | null, point: number): void {
  const { model, credit } = forecast?.modelOf(point) ?? UNKNOWN_MODEL
  writer.text(`,"forecast_model":${JSON.stringify(model)},"forecast_credit":${JSON.stringify(credit)}`)
  writer.ensure(ANSWER_BYTES)
}

/**
 * The reading closest in time, on a tie the earlier, of the nearest physical buoy that has a fresh one, or
 * else one within reach of `time`. @returns its time, or −1 without one
 */
function writeReading(
  { dataset, fragments }: View,
  lat: number,
  lng: number,
  time: number,
  included: number,
): number {
  const { asOf, catalog, readings, near } = dataset
  const physical = near.nearest(
    lat,
    lng,
    Infinity,
    READING_REACH_KM,
    (ordinal) => catalog.virtual[ordinal] === 0,
  )
  for (const seconds of [FRESH_SECONDS, READING_REACH_SECONDS]) {
    // No reading is later than the snapshot.
    if (time - asOf > seconds) continue
    for (const { ordinal, km } of physical) {
      const found = readings.closestRowWithin(ordinal, time, seconds)
      if (found === null) continue
      const at = writeFoundReading(found, fragments, ordinal, km)
      if ((included & WITH_WEATHER) !== 0)
        addExtras(fragments.writer, found, 1 << EXTRA_GROUPS.indexOf('weather'))
      if ((included & WITH_USUAL) !== 0) writeUsual(dataset, fragments, ordinal, at)
      return at
    }
  }
  fragments.writer.literal(NO_READING)
  return -1
}

/** Adds how usual the reading is, if it is the last of its buoy. */
function writeUsual(
  dataset: Dataset,
  { writer }: OpenedFragments,
  ordinal: number,
  readingTime: number,
): void {
  const usual = dataset.readings.newestTime(ordinal) === readingTime ? usualJson(dataset, ordinal) : null
  // Before the closing brace.
  writer.at--
  writer.text(`,"usual":${JSON.stringify(usual)}}`)
  writer.ensure(ANSWER_BYTES)
}

/** Returns the time of the reading. */
function writeFoundReading(
  { month: { time, measures }, row }: MonthRow,
  { writer, idAndName }: OpenedFragments,
  ordinal: number,
  km: number,
): number {
  const { significantHeight, maximumHeight, direction, period } = measures
  const height = significantHeight.codes[row & significantHeight.mask]
  const periodCode = period.codes[row & period.mask]
  writer.literal(READING)
  writer.thousandthsCode(height)
  writer.literal(MAXIMUM_HEIGHT)
  writer.thousandthsCode(maximumHeight.codes[row & maximumHeight.mask])
  writer.literal(DIRECTION_DEGREES)
  writer.hundredthsCode(direction.codes[row & direction.mask])
  writer.literal(PERIOD)
  writer.thousandthsCode(periodCode)
  writer.literal(TIME)
  writer.timestamp(time[row])
  writer.literal(WAVE_ENERGY)
  writeEnergy(writer, height, periodCode, 1000)
  writer.literal(BUOY)
  idAndName.write(ordinal)
  // The distance goes in before the closing brace.
  writer.at--
  writer.literal(DISTANCE)
  writer.hundredthsCode(Math.round(km * 100))
  writer.literal(READING_END)
  return time[row]
}

/** The next extreme decides whether the water rises or falls: at a high or low water its slope is 0. */
function writeTide({ fragments }: View, tides: Tides, harbour: number, time: number): void {
  const { writer } = fragments
  const extreme = tides.next(harbour, time)
  writer.literal(TIDE)
  writer.hundredths(tides.hundredths(harbour, time))
  writer.literal(TIME)
  writer.timestamp(time)
  if (extreme === null) writer.literal(NO_EXTREME)
  else {
    writer.literal(extreme.high ? EXTREME.rising : EXTREME.falling)
    writer.integer(Math.ceil(extreme.time - time))
    writer.literal(extreme.high ? EXTREME.high : EXTREME.low)
    writer.hundredths(Math.round(extreme.height * 100))
  }
  writer.literal(HARBOR)
  fragments.harbour.write(harbour)
  writer.literal(END)
}

function writeSpot({ dataset, fragments }: View, { id, name, lat, lng }: SpotRecord): void {
  const { near, isActiveAndPhysical } = dataset
  const { writer } = fragments
  const found = near.nearest(lat, lng, NEARBY_BUOYS, NEARBY_KM, isActiveAndPhysical)
  writer.text(`,"spot":{"id":${id},"name":${JSON.stringify(name)},"lat":${lat},"lng":${lng}},`)
  writer.text('"nearby":{"buoys":[')
  writeNearest(fragments, found)
  writer.text(']}')
  writer.ensure(ANSWER_BYTES)
}
