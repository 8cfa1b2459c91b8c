/**
 * Operation 9, `GET /buoys/{buoy_id}/readings/chart`: readings, forecast and tide on one time axis. Readings
 * stand at their times, forecast and tide at full hours, and a series has `null` where it has no value.
 *
 * The largest answer: 31 days of a buoy that reports every minute are 44,640 slots of six arrays, some 3 MB;
 * half-hourly ones make 120 kB.
 */
import { refused } from '../operation/errors.ts'
import {
  FORECAST_MEASURES,
  MEASURES,
  MISSING_I16,
  MISSING_U16,
  type Codes,
  type MeasureName,
  type ForecastName,
} from '../sea/columns.ts'
import { codeTexts, HUNDREDTHS, SIGNED_HUNDREDTHS } from '../dataset/number-text.ts'
import { Literal, type TextTable } from '../dataset/literals.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { writeTimes } from '../dataset/time-axis.ts'
import { operation, refuseBackwards, requireBuoy } from '../operation/operation.ts'
import type { View } from '../dataset/view.ts'
import { boolean, timestamp, wordSet, type QueryOf } from '../operation/parameters.ts'
import { DAY, endOf, HOUR, LAST_SECOND } from '../sea/time.ts'

/** The default range goes from seven days before the snapshot's time to three days after it. */
const BEFORE_SECONDS = 7 * DAY
const AFTER_SECONDS = 3 * DAY
const LONGEST_SECONDS = 31 * DAY
const parameters = {
  start_date: timestamp({ description: "First moment; default seven days before the snapshot's time." }),
  end_date: timestamp({
    description: "Last moment, included; default three days after the snapshot's time. At most 31 days.",
  }),
  include: wordSet({
    values: ['measures', 'swell', 'weather'],
    description:
      'More arrays: with `measures` wave direction, peak period, water temperature, wind, and the forecast of wave period, wave direction and wind; with `swell` height, period and direction of the swell and of the wind sea; with `weather` air temperature, dew point, pressure, humidity and visibility. Without it the answer has the usual arrays alone.',
  }),
  optimized: boolean({ default: false, description: 'Accepted for older clients; changes nothing.' }),
  debug: boolean({ default: false, description: 'Accepted for older clients; changes nothing.' }),
}

/** Forecast or tide, in codes of hundredths. */
interface HourlySeries {
  /** Null for the tide. */
  readonly forecast: ForecastName | null
  readonly missing: number
  /** Values at the full hours of the longest range. */
  readonly hourly: Uint16Array<ArrayBuffer>
  /** Values by slot of the axis, where there are any: 90 kB at most. */
  slots: Uint16Array
  /** Whether the chart under way has any of these values. */
  has: boolean
}

/** An array of a chart: its name, its text in `fields`, and where its values come from. */
interface ChartArray {
  readonly name: string
  readonly label: string
  readonly unit: string
  /** The member of a reading that has these values. */
  readonly field: string | null
  readonly from: MeasureName | HourlySeries
  readonly texts: TextTable
  /** The text between the array before and its values. */
  readonly begin: Literal
}

const beginOf = (name: string): Literal => new Literal(`],"${name}":[`)

function measured(name: string, from: MeasureName, label: string, field: string | null = null): ChartArray {
  const { unit } = MEASURES[from]
  return { name, label, unit, field, from, texts: codeTexts(MEASURES[from]), begin: beginOf(name) }
}

function hourly(name: string, forecast: ForecastName | null, label: string): ChartArray {
  const isTide = forecast === null
  const from: HourlySeries = {
    forecast,
    missing: isTide ? MISSING_I16 & 0xffff : MISSING_U16,
    hourly: new Uint16Array(LONGEST_SECONDS / HOUR + 1),
    slots: new Uint16Array(0),
    has: false,
  }
  const unit = isTide ? 'm' : MEASURES[FORECAST_MEASURES[forecast]].unit
  const texts = isTide ? SIGNED_HUNDREDTHS : HUNDREDTHS
  return { name, label, unit, field: null, from, texts, begin: beginOf(name) }
}

/** The arrays in their order: the contract's, and the additions of `include`. */
const ARRAYS = [
  measured('significant_height', 'significantHeight', 'Significant wave height', 'significient_height'),
  measured('maximum_height', 'maximumHeight', 'Maximum wave height', 'maximum_height'),
  measured('period', 'period', 'Wave period', 'period'),
  hourly('forecast_wave_height', 'waveHeight', 'Forecast wave height'),
  hourly('tide_level', null, 'Tide level above chart datum'),
]
const MEASURE_ARRAYS = [
  measured('direction', 'direction', 'Direction that waves come from', 'direction'),
  measured('peak_period', 'peakPeriod', 'Peak period'),
  measured('water_temperature', 'waterTemperature', 'Water temperature', 'water_temperature'),
  measured('wind_speed', 'windSpeed', 'Wind speed'),
  measured('wind_direction', 'windDirection', 'Direction that wind comes from'),
  measured('gust_speed', 'gustSpeed', 'Speed of gusts'),
  hourly('forecast_wind_speed', 'windSpeed', 'Forecast wind speed'),
  hourly('forecast_wind_direction', 'windDirection', 'Forecast of the direction that wind comes from'),
  hourly('forecast_wave_period', 'wavePeriod', 'Forecast wave period'),
  hourly('forecast_wave_direction', 'waveDirection', 'Forecast of the direction that waves come from'),
]
const SWELL_ARRAYS = [
  measured('swell_height', 'swellHeight', 'Height of the swell'),
  measured('swell_period', 'swellPeriod', 'Period of the swell'),
  measured('swell_direction', 'swellDirection', 'Direction that swell comes from'),
  measured('wind_wave_height', 'windWaveHeight', 'Height of the wind sea'),
  measured('wind_wave_period', 'windWavePeriod', 'Period of the wind sea'),
  measured('wind_wave_direction', 'windWaveDirection', 'Direction that wind sea comes from'),
]
const WEATHER_ARRAYS = [
  measured('air_temperature', 'airTemperature', 'Air temperature'),
  measured('dew_point', 'dewPoint', 'Dew point'),
  measured('pressure', 'pressure', 'Air pressure at sea level'),
  measured('humidity', 'humidity', 'Relative humidity'),
  measured('visibility', 'visibility', 'Visibility'),
]
/** The arrays that each word of `include` adds, in the order of its bits. */
const ADDED_ARRAYS = [MEASURE_ARRAYS, SWELL_ARRAYS, WEATHER_ARRAYS]

const BUOY = new Literal('{"buoy":')
/** The text before the times, for as many arrays as an answer has. */
const fieldsText = (arrays: readonly ChartArray[]): Literal => {
  const fields = arrays.map(({ name, label, unit, field }) => {
    return [name, { label, unit: unit === 'degree' ? 'degrees' : unit, field }]
  })
  const text = JSON.stringify(Object.fromEntries(fields)).replaceAll('°', '\\u00b0')
  return new Literal(`,"fields":${text},"time":[`)
}
/** The arrays of an answer, its arrays at full hours, and their `fields`, by the bits of `include`. */
const SHAPES = Array.from({ length: 1 << ADDED_ARRAYS.length }, (_, included) => {
  const arrays = [...ARRAYS, ...ADDED_ARRAYS.filter((_added, bit) => ((included >> bit) & 1) === 1).flat()]
  const series = arrays.flatMap(({ from }) => (typeof from === 'string' ? [] : [from]))
  return { arrays, series, fields: fieldsText(arrays) }
})
/** The names of all arrays, and the excess of stores of eight bytes. */
const STARTS_BYTES = 768
/** A timestamp with its comma, and the values of a slot. */
const TIME_BYTES = 24
const VALUE_BYTES = 8
const END = new Literal(']}')

export const chart = operation({
  name: 'chart',
  path: '/buoys/{buoy_id}/readings/chart',
  access: 'keyed',
  summary: 'Chart data: readings, forecast and tide',
  parameters,
  refusal: 'validation_failed',
  errors: ['resource_not_found', 'validation_failed'],
  answer(view, query, [buoyId]) {
    const ordinal = requireBuoy(view, buoyId)
    const { start, end } = rangeOf(query, view.dataset.asOf)
    const { writer, identifiedSummary } = view.fragments
    const { include = 0 } = query
    const { arrays, series, fields } = SHAPES[include]
    layAxis(view, ordinal, start, end, series)
    writer.literal(BUOY)
    identifiedSummary.write(ordinal)
    writer.ensure(
      fields.length + STARTS_BYTES + (axis.length + 1) * (TIME_BYTES + arrays.length * VALUE_BYTES),
    )
    writer.literal(fields)
    writeAxis(view)
    for (let i = 0; i < arrays.length; i++) {
      const { from, texts, begin } = arrays[i]
      writer.literal(begin)
      if (typeof from === 'string') writeMeasure(view, from, texts)
      else if (from.has) writer.entries(texts, from.slots, 0, axis.length)
      else writer.nulls(axis.length)
      endArray(writer)
    }
    writer.literal(END)
  },
  tables: { formats: ['json', 'csv', 'ndjson'], isList: false },
})

/** The arrays of an answer by the bits of `include`, for its tables. */
export function chartArrays(included: number): readonly { name: string; unit: string }[] {
  return SHAPES[included].arrays
}

/** Both ends included, epoch seconds. @throws ApiError 422 for a range that is backwards or too long. */
function rangeOf(
  { start_date: from, end_date: to }: QueryOf<typeof parameters>,
  asOf: number,
): { start: number; end: number } {
  const start = from?.epoch ?? asOf - BEFORE_SECONDS
  const end = to === undefined ? asOf + AFTER_SECONDS : endOf(to)
  refuseBackwards(start, end)
  if (end - start > LONGEST_SECONDS) {
    const days = `${LONGEST_SECONDS / DAY} days`
    const problem = `lies more than ${days} before end_date. Allowed: a range of at most ${days}`
    throw refused('start_date', problem, 'validation_failed')
  }
  // Times of readings and forecasts have 32 bits, and tides beyond them mean nothing.
  return { start: Math.max(0, Math.ceil(start)), end: Math.min(LAST_SECOND, Math.floor(end)) }
}

/** Stands for the month in a run of hours without readings. */
const NO_MONTH = -1

/** A chart's time slots. Runs of readings are written straight from the columns. One axis a thread. */
const axis = {
  length: 0,
  /** Each run's month, or `NO_MONTH`, and its rows there, or its indexes in `hours`. */
  runs: 0,
  month: [] as number[],
  from: [] as number[],
  to: [] as number[],
  /** Times of hours without a reading. */
  hourCount: 0,
  hours: new Uint32Array(LONGEST_SECONDS / HOUR + 1),
}

function layAxis(
  view: View,
  ordinal: number,
  start: number,
  end: number,
  series: readonly HourlySeries[],
): void {
  const { readings } = view.dataset
  const last = readings.positionOf(ordinal, end + 1)
  let position = readings.positionOf(ordinal, start)
  const firstHour = Math.ceil(start / HOUR) * HOUR
  const hoursInRange = Math.max(0, Math.floor((end - firstHour) / HOUR) + 1)
  layHours(view, ordinal, firstHour, hoursInRange, series)
  const hours = series.some(({ has }) => has) ? hoursInRange : 0
  clearAxis(Math.max(0, last - position) + hours, series)
  let hour = 0
  let hourTime = hours === 0 ? Infinity : firstHour
  let segment = position < last ? readings.segmentOf(ordinal, position) : 0
  for (; position < last; segment++) {
    const month = readings.month[segment]
    const { time } = readings.months[month]
    let row = readings.from[segment] + position - readings.before[segment]
    const to = Math.min(readings.to[segment], row + last - position)
    position += to - row
    while (row < to) {
      while (hourTime < time[row]) {
        addHour(hourTime, hour++, series)
        hourTime = hour < hours ? hourTime + HOUR : Infinity
      }
      const first = row
      if (hourTime === Infinity) row = to
      for (; row < to && time[row] <= hourTime; row++) {
        if (time[row] < hourTime) continue
        setHour(axis.length + row - first, hour++, series)
        hourTime = hour < hours ? hourTime + HOUR : Infinity
      }
      addRun(month, first, row)
    }
  }
  for (; hour < hours; hour++) addHour(firstHour + hour * HOUR, hour, series)
}

/** Empties the axis; a slot will have neither forecast nor tide unless it gets one. */
function clearAxis(capacity: number, series: readonly HourlySeries[]): void {
  axis.length = 0
  axis.runs = 0
  axis.hourCount = 0
  for (const each of series) {
    if (!each.has) continue
    if (each.slots.length < capacity) each.slots = new Uint16Array(capacity)
    each.slots.fill(each.missing, 0, capacity)
  }
}

/** Adds slots, to the last run where they follow it. */
function addRun(month: number, from: number, to: number): void {
  axis.length += to - from
  const last = axis.runs - 1
  if (last >= 0 && axis.month[last] === month && axis.to[last] === from) {
    axis.to[last] = to
    return
  }
  axis.month[axis.runs] = month
  axis.from[axis.runs] = from
  axis.to[axis.runs++] = to
}

/** Adds a slot without a reading where forecast or tide has a value. */
function addHour(time: number, hour: number, series: readonly HourlySeries[]): void {
  let hasValue = false
  for (const { has, hourly, missing } of series) hasValue ||= has && hourly[hour] !== missing
  if (!hasValue) return
  setHour(axis.length, hour, series)
  axis.hours[axis.hourCount] = time
  addRun(NO_MONTH, axis.hourCount, ++axis.hourCount)
}

function setHour(slot: number, hour: number, series: readonly HourlySeries[]): void {
  for (const { has, slots, hourly } of series) {
    if (has) slots[slot] = hourly[hour]
  }
}

function writeAxis({ dataset, fragments: { writer, timeAxis } }: View): void {
  for (let run = 0; run < axis.runs; run++) {
    const month = axis.month[run]
    const times = month === NO_MONTH ? axis.hours : dataset.readings.months[month].time
    writeTimes(writer, timeAxis, times, axis.from[run], axis.to[run])
  }
  endArray(writer)
}

function writeMeasure({ dataset, fragments: { writer } }: View, name: MeasureName, table: TextTable): void {
  for (let run = 0; run < axis.runs; run++) {
    const month = axis.month[run]
    const column = month === NO_MONTH ? null : dataset.readings.months[month].measures[name]
    if (column === null || column.mask === 0) writer.nulls(axis.to[run] - axis.from[run])
    else writer.entries(table, bitsOf(column.codes), axis.from[run], axis.to[run])
  }
}

/** The table of a signed column is indexed by the 16 bits of its codes. */
function bitsOf(codes: Codes): Uint16Array {
  return codes instanceof Uint16Array ? codes : new Uint16Array(codes.buffer, codes.byteOffset, codes.length)
}

/** Removes the comma after the last value. */
function endArray(writer: JsonWriter): void {
  if (axis.length > 0) writer.at--
}

/** The nearest forecast point within 50 km and harbour within 100 km, at `count` full hours from `first`. */
function layHours(
  { dataset: { catalog, forecast, tides } }: View,
  ordinal: number,
  first: number,
  count: number,
  series: readonly HourlySeries[],
): void {
  const lat = catalog.lat[ordinal]
  const lng = catalog.lng[ordinal]
  const point = forecast?.nearest(lat, lng) ?? -1
  const harbour = tides?.nearest(lat, lng) ?? -1
  for (const each of series) {
    const { forecast: name, hourly } = each
    each.has = (name === null ? harbour : point) !== -1
    if (!each.has) continue
    if (name === null) tides!.hoursInto(harbour, first, count, new Int16Array(hourly.buffer))
    else forecast!.hoursInto(name, point, first, count, hourly)
  }
}
