/**
 * The sea at a place and a time: charts (operation 9), the combined conditions and the forecast, by walking
 * over everything.
 */
import {
  about,
  buoySummary,
  compass,
  DAY,
  dayStart,
  energy,
  failure,
  find,
  HOUR,
  inOrder,
  instant,
  isDate,
  isoTime,
  nearestItem,
  nearestOf,
  numberOr,
  onBorder,
  rank,
  SAME_KM,
  success,
  SWELL_FIELDS,
  WEATHER_FIELDS,
  extras,
  MEASURE_OF,
  wordsOf,
  type Answer,
  type Check,
  type Expected,
  type ExpectedObject,
  type Json,
  type JsonObject,
  type Known,
  type Asked,
  type Parameters,
  type Ranked,
  type Reading,
} from './known.ts'
import { localInstant, zoneTime } from './series.ts'
import {
  COLUMNS,
  QUANTITIES,
  type Column,
  type ForecastPoint,
  type Harbour,
  type Place,
  type Quantity,
  type World,
} from './world.ts'

const FORECAST_KM = 50
const HARBOUR_KM = 100
const BUOY_KM = 50
const NEARBY_KM = 150
/** A longer gap between two hours of a forecast is not bridged. */
const LONGEST_STEP = 6 * HOUR
/**
 * The clock's angle is that of the mean sun to well below a second of time, and charts are up to 2 mm off.
 */
const SAME_LEVEL = 0.0002
const SAME_LEVEL_OF_CHARTS = 0.0025

/** Unrounded, in units of the contract; directions in degrees. */
function quantityAt(point: ForecastPoint | null, name: Quantity, time: number): number | null {
  const rows = point?.rows ?? []
  const exact = rows.find((row) => row.time === time)
  if (exact !== undefined) return exact[name]
  const before = rows.findLast((row) => row.time < time)
  const after = rows.find((row) => row.time > time)
  if (before === undefined || after === undefined || after.time - before.time > LONGEST_STEP) return null
  const [left, right] = [before[name], after[name]]
  if (left === null || right === null) return null
  const share = (time - before.time) / (after.time - before.time)
  if (!name.endsWith('direction')) return left + (right - left) * share
  if (Math.abs(Math.abs(left - right) - 180) < 1e-9) return null
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const east = (1 - share) * Math.sin(radians(left)) + share * Math.sin(radians(right))
  const north = (1 - share) * Math.cos(radians(left)) + share * Math.cos(radians(right))
  return ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360
}

/** As arrays have it: whole degrees, km/h with one decimal, others with two. */
function roundedAt(point: ForecastPoint | null, name: Quantity, time: number): Expected {
  const value = quantityAt(point, name, time)
  if (value === null || !name.endsWith('direction')) return about(value, name === 'wind_speed' ? 1 : 2)
  const [below, above] = [-1e-6, 1e-6].map((more) => Math.round(value + more + 360) % 360)
  return (got) => (got === below ? below : above)
}

interface Tide {
  height: number
  rising: boolean
  seconds: number
  nextHeight: number
}

/** High water where the clock's angle is the phase, low water half a turn on. */
function tideAt({ datum_offset: level, amplitude, phase }: Harbour, time: number): Tide {
  const halfDay = 12 * HOUR
  const turns = time / halfDay - phase / 360
  const sinceTurn = (((turns * 2) % 1) + 1) % 1
  const rising = Math.round(turns * 2 - sinceTurn) % 2 !== 0
  return {
    height: level + amplitude * Math.cos(2 * Math.PI * turns),
    rising,
    seconds: ((1 - sinceTurn) * halfDay) / 2,
    nextHeight: level + (rising ? amplitude : -amplitude),
  }
}

function around({ forecasts, harbours }: World, place: Place) {
  const forecast = nearestOf(forecasts, place, FORECAST_KM)
  const harbour = nearestOf(harbours, place, HARBOUR_KM)
  return { forecast, harbour, unsure: forecast.unsure ?? harbour.unsure }
}

/** `fields` of a chart is text for people: that each array is described is enough. */
const described: Check = (got) => {
  const fields = got as { [array: string]: JsonObject }
  const isDescribed = ['significant_height', 'period', 'forecast_wave_height', 'tide_level'].every(
    (array) => typeof fields?.[array]?.['label'] === 'string' && typeof fields[array]['unit'] === 'string',
  )
  return isDescribed ? got! : 'a label and a unit of each array'
}

/** Readings stand at their times, forecast and tide at full hours. */
export function chart(buoys: Known[], question: Asked, world: World): Answer {
  const { parameters } = question
  const buoy = find(buoys, question.buoyId)
  if (buoy === undefined) return failure(404)
  const start = instant(parameters.get('start_date') ?? 'now-7d', false, world.asOf)
  const end = instant(parameters.get('end_date') ?? 'now+3d', true, world.asOf)
  if (start > end || end - start > 31 * DAY) return failure(422, ['start_date', 'end_date'])
  const parts = wordsOf(parameters.get('include'))
  const readings = new Map(
    buoy.readings.filter(({ time }) => time >= start && time <= end).map((row) => [row.time, row]),
  )
  const { forecast, harbour, unsure } = around(world, buoy)
  const hours: number[] = []
  for (let time = Math.ceil(start / HOUR) * HOUR; time <= end; time += HOUR) hours.push(time)
  // An hour without a reading stands on the axis where any of its arrays has a value.
  const shown = (Object.keys(QUANTITIES) as Quantity[]).slice(0, parts.includes('measures') ? 5 : 1)
  const hasValue = (time: number): boolean =>
    harbour.item !== null || shown.some((name) => quantityAt(forecast.item, name, time) !== null)
  const axis = [...new Set([...readings.keys(), ...hours.filter(hasValue)])].toSorted((a, b) => a - b)
  const columnsOf = (names: readonly Column[]): ExpectedObject =>
    Object.fromEntries(
      names.map((name) => [name, axis.map((time) => readings.get(time)?.[COLUMNS[name]] ?? null)]),
    )
  const atHours = (of: (time: number) => Expected): Expected[] =>
    axis.map((time) => (time % HOUR === 0 ? of(time) : null))
  const ofForecast = (name: Quantity) => atHours((time) => roundedAt(forecast.item, name, time))
  return success(
    {
      buoy: { id: buoy.id, ...buoySummary(buoy) },
      fields: described,
      time: axis.map(isoTime),
      ...columnsOf(['significant_height', 'maximum_height', 'period']),
      forecast_wave_height: ofForecast('wave_height'),
      tide_level: atHours((time) =>
        harbour.item === null ? null : about(tideAt(harbour.item, time).height, 2, SAME_LEVEL_OF_CHARTS),
      ),
      ...(parts.includes('measures') && {
        ...columnsOf(
          'direction peak_period water_temperature wind_speed wind_direction gust_speed'.split(
            ' ',
          ) as Column[],
        ),
        forecast_wind_speed: ofForecast('wind_speed'),
        forecast_wind_direction: ofForecast('wind_direction'),
        forecast_wave_period: ofForecast('wave_period'),
        forecast_wave_direction: ofForecast('wave_direction'),
      }),
      ...(parts.includes('swell') && columnsOf(SWELL_FIELDS)),
      ...(parts.includes('weather') && columnsOf(WEATHER_FIELDS)),
    },
    {},
    unsure,
  )
}

/** A zone at all: its borders are the library's. */
const aZone: Check = (got) => {
  const known = new Intl.DateTimeFormat('en', { timeZone: got as string }).resolvedOptions().timeZone
  return known === '' ? 'a time zone' : got!
}

/** A fresh reading of a buoy farther away comes before a stale one of a nearer buoy. */
function readingNear(buoys: readonly Ranked<Known>[], time: number) {
  for (const reach of [3 * HOUR, DAY]) {
    for (const { item: buoy, km, place } of buoys) {
      const away = (reading: Reading): number => Math.abs(reading.time - time)
      const [reading] = buoy.readings
        .filter((one) => away(one) <= reach)
        .toSorted((a, b) => away(a) - away(b) || a.time - b.time)
      if (reading !== undefined) return { buoy, km, place, reading }
    }
  }
  return null
}

const TIDE_FIELDS =
  'height time direction seconds_to_next_tide_change next_tide next_tide_height harbor'.split(' ')

const tideOf = (harbour: Harbour | null, time: number): Expected => {
  if (harbour === null) return Object.fromEntries(TIDE_FIELDS.map((field) => [field, null]))
  const { height, rising, seconds, nextHeight } = tideAt(harbour, time)
  return (got) => {
    const { direction, seconds_to_next_tide_change: wait, next_tide: next } = got as JsonObject
    // Right at a turn either of two neighbours may come next.
    const isAtTurn = Number(wait) > 0 && (seconds <= 2 || seconds >= 6 * HOUR - 2)
    const [movement, turn] = rising ? ['rising', 'high'] : ['falling', 'low']
    return {
      height: about(height, 2, SAME_LEVEL),
      time: isoTime(time),
      direction: isAtTurn ? direction : movement,
      seconds_to_next_tide_change: isAtTurn ? wait : about(seconds, 0, 1.5),
      next_tide: isAtTurn ? next : turn,
      next_tide_height: isAtTurn
        ? about(harbour.datum_offset + (next === 'high' ? 1 : -1) * harbour.amplitude, 2, SAME_LEVEL)
        : about(nextHeight, 2, SAME_LEVEL),
      harbor: harbour.name,
    }
  }
}

export function conditions(buoys: Known[], { parameters }: Asked, world: World): Answer {
  const place = { lat: Number(parameters.get('lat')), lng: Number(parameters.get('lng')) }
  const time = Math.floor(instant(parameters.get('time')!, false, NaN))
  const parts = wordsOf(parameters.get('include'))
  const spotId = parameters.get('spot_id')
  const spot = world.spots.find(({ id }) => id === Number(spotId)) ?? null
  if (spotId !== undefined && spot === null) return failure(404)
  const { forecast, harbour, unsure } = around(world, place)
  const physical = buoys.filter(({ record }) => !record.virtual)
  const byDistance = rank(physical, place)
  const within = byDistance.filter(({ km }) => km <= BUOY_KM)
  const found = readingNear(within, time)
  const rival = within.find(
    (one) => found !== null && one.place !== found.place && Math.abs(one.km - found.km) < SAME_KM,
  )
  const active = rank(
    physical.filter((buoy) => buoy.active),
    spot ?? place,
  )
  const ofPoint = (got: Json | undefined): ExpectedObject => {
    const { waves_height: height, waves_period: period } = got as { [field: string]: number | null }
    const fields = (Object.entries(QUANTITIES) as [Quantity, string][]).map(
      ([name, field]): [string, Expected] => {
        if (!name.endsWith('direction')) return [field, roundedAt(forecast.item, name, time)]
        const value = quantityAt(forecast.item, name, time)
        return [field, value === null ? null : pointOf(value, 1e-6)]
      },
    )
    // Of the height and the period that are shown.
    return { ...Object.fromEntries(fields), wave_energy: energy(height, period) }
  }
  const data: ExpectedObject = {
    location: { ...place, timezone: aZone },
    forecast: ofPoint,
    reading:
      found === null
        ? { exists: false }
        : {
            exists: true,
            significient_height: found.reading.significantHeight,
            maximum_height: found.reading.maximumHeight,
            direction_degrees: found.reading.direction,
            period: found.reading.period,
            time: isoTime(found.reading.time),
            wave_energy: energy(found.reading.significantHeight, found.reading.period),
            buoy: { id: found.buoy.id, name: found.buoy.record.name, distance_km: about(found.km, 2) },
            ...extras(parts, (field) => found.reading[MEASURE_OF[field]]),
          },
    tide: tideOf(harbour.item, time),
    metadata: {
      forecast_updated_at: forecast.item === null ? null : isoTime(forecast.item.run),
      reading_age_minutes: found === null ? null : about((time - found.reading.time) / 60, 0),
      tide_source: harbour.item?.credit ?? null,
      ...(parts.includes('model') && {
        forecast_model: forecast.item?.model || null,
        forecast_credit: null,
      }),
    },
    units: { height: 'm', speed: 'km/h' },
    ...(spot !== null && {
      spot: { id: spot.id, name: spot.name, lat: spot.lat, lng: spot.lng },
      nearby: {
        buoys: inOrder(
          active.filter(({ km }) => km <= NEARBY_KM),
          [0, 5],
          nearestItem([]),
        ),
      },
    }),
  }
  const close = rival === undefined ? null : 'two buoys are equally near'
  const borders = onBorder(byDistance, BUOY_KM) ?? (spot === null ? null : onBorder(active, NEARBY_KM))
  return success(data, {}, unsure ?? close ?? borders)
}

/** A compass point; either of two where the direction lies this near to the border between them. */
function pointOf(direction: number, more: number): Expected {
  const points = [-more, more].map((one) => compass((direction + one + 360) % 360))
  return (got) => (got === points[1] ? points[1] : points[0])
}

/** The place that a request names in one of three ways. */
function placeOf(buoys: Known[], parameters: Parameters, { spots }: World): Place | Answer {
  const [lat, lng, buoyId, spotId] = ['lat', 'lng', 'buoy', 'spot_id'].map((name) => parameters.get(name))
  const ways = [lat ?? lng, buoyId, spotId].filter((way) => way !== undefined)
  if (ways.length !== 1 || (lat === undefined) !== (lng === undefined))
    return failure(400, ['lat', 'lng', 'buoy', 'spot_id'])
  if (lat !== undefined) return { lat: Number(lat), lng: Number(lng) }
  const named = buoyId === undefined ? spots.find(({ id }) => id === Number(spotId)) : find(buoys, buoyId)
  return named ?? failure(404)
}

export function forecast(buoys: Known[], { parameters }: Asked, world: World): Answer {
  const place = placeOf(buoys, parameters, world)
  if ('status' in place) return place
  const { forecast: point, harbour, unsure } = around(world, place)
  const first = Math.floor(instant(parameters.get('start')!, false, NaN) / HOUR) * HOUR
  const times = Array.from({ length: numberOr(parameters.get('hours'), 72) }, (_, i) => first + i * HOUR)
  const arrays = (Object.entries(QUANTITIES) as [Quantity, string][]).map(
    ([name, field]): [string, Expected[]] => [field, times.map((time) => roundedAt(point.item, name, time))],
  )
  const ofPort = <T>(of: (port: Harbour) => T): T | null => (harbour.item === null ? null : of(harbour.item))
  const data = {
    location: { lat: place.lat, lng: place.lng, timezone: aZone },
    time: times.map(isoTime),
    // Wind stands behind the swell.
    ...Object.fromEntries([...arrays.slice(0, 3), ...arrays.slice(5), ...arrays.slice(3, 5)]),
    tide_level: times.map((time) =>
      ofPort((port): Expected => about(tideAt(port, time).height, 2, SAME_LEVEL)),
    ),
    tides: ofPort((port): Expected => turnsOf(port, times[0], times.at(-1)!)) ?? [],
    metadata: {
      forecast_updated_at: point.item === null ? null : isoTime(point.item.run),
      forecast_model: point.item?.model || null,
      forecast_credit: null,
      forecast_distance_km: about(point.item === null ? null : point.km, 2),
      tide_source: ofPort(({ credit }) => credit),
      harbor: ofPort(({ name }) => name),
      harbor_distance_km: about(
        ofPort(() => harbour.km),
        2,
      ),
    },
  }
  return success(data, {}, unsure)
}

export function tides(buoys: Known[], { parameters }: Asked, world: World): Answer {
  const place = placeOf(buoys, parameters, world)
  if ('status' in place) return place
  const { harbour, unsure } = around(world, place)
  const asked = parameters.get('timezone') ?? 'auto'
  const days = numberOr(parameters.get('days'), 7)
  const start = parameters.get('start')!
  const data: Check = (got) => {
    const { location, tides: turns } = got as { location: { timezone: string }; tides: Json }
    const zone = asked === 'auto' ? location.timezone : asked
    const first = isDate(start) ? start : zoneTime(zone, Math.floor(instant(start, false, NaN))).slice(0, 10)
    const last = new Date((dayStart(first) + (days - 1) * DAY) * 1000).toISOString().slice(0, 10)
    const [from, to] = [localInstant(first, false, 0, zone), localInstant(last, true, 0, zone)]
    const list = harbour.item === null ? [] : turnsOf(harbour.item, from, to, zone)(turns)
    return {
      location: { lat: place.lat, lng: place.lng, timezone: aZone },
      timezone: zone,
      start: first,
      days,
      tides: list,
      count: (list as Expected[]).length,
      left_out: 0,
      harbor: harbour.item && { name: harbour.item.name, distance_km: about(harbour.km, 2) },
      source: harbour.item && harbour.item.credit,
      datum: harbour.item && 'chart datum',
    }
  }
  return success(data, {}, unsure)
}

/** High and low waters; right at an end either program may be right. */
function turnsOf(harbour: Harbour, from: number, to: number, zone: string | null = null): Check {
  const halves: number[] = []
  const timeOf = (half: number): number => (half / 2 + harbour.phase / 360) * 12 * HOUR
  for (let half = Math.floor((from / 12 / HOUR - harbour.phase / 360) * 2); timeOf(half) <= to + 2; half++) {
    if (timeOf(half) >= from - 2) halves.push(half)
  }
  return (got) => {
    const list = got as JsonObject[]
    const isEnd = (half: number): boolean => [from, to].some((end) => Math.abs(timeOf(half) - end) <= 2)
    const isNamed = (half: number): boolean =>
      list.some(({ time }) => Math.abs(Date.parse(time as string) / 1000 - timeOf(half)) <= 2)
    return halves
      .filter((half) => !isEnd(half) || isNamed(half))
      .map((half) => ({
        time: (text) => {
          const time = Date.parse(text as string) / 1000
          return zoneTime(zone, Math.abs(time - timeOf(half)) <= 2 ? time : timeOf(half))
        },
        type: half % 2 === 0 ? 'high' : 'low',
        height: about(harbour.datum_offset + (half % 2 === 0 ? 1 : -1) * harbour.amplitude, 2, SAME_LEVEL),
      }))
  }
}
