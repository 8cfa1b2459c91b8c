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
import { Literal, type ShortTexts } from '../dataset/literals.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { writeTimes } from '../dataset/time-axis.ts'
import { operation, refuseBackwards, requireBuoy } from '../operation/operation.ts'
import type { MonthRows } from '../index/segments.ts'
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
}

/** An array of a chart: its name, its text in `fields`, and where its values come from. */
interface ChartArray {
  readonly name: string
  readonly label: string
  readonly unit: string
  /** The member of a reading that has these values. */
  readonly field: string | null
  readonly from: MeasureName | HourlySeries
  readonly texts: ShortTexts
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
  const from: HourlySeries = { forecast, missing: isTide ? MISSING_I16 & 0xffff : MISSING_U16 }
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
/** The member `fields` for these arrays, and the begin of the times. */
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
    const axis = layAxis(view, ordinal, start, end, series)
    writer.literal(BUOY)
    identifiedSummary.write(ordinal)
    writer.ensure(
      fields.length + STARTS_BYTES + (axis.length + 1) * (TIME_BYTES + arrays.length * VALUE_BYTES),
    )
    writer.literal(fields)
    for (const { month, from, to } of axis.runs) {
      writeTimes(writer, view.fragments.timeAxis, month?.time ?? axis.hours, from, to)
    }
    for (const { from, texts, begin } of arrays) {
      // The comma after the last value goes.
      if (axis.length > 0) writer.at--
      writer.literal(begin)
      const values = typeof from === 'string' ? null : axis.values.get(from)
      if (typeof from === 'string') writeMeasure(writer, axis, from, texts)
      else if (values === undefined || values === null) writer.nulls(axis.length)
      else writer.entries(texts, values.slots, 0, axis.length)
    }
    if (axis.length > 0) writer.at--
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

/** Slots `from` to before `to`: of a month's rows, or of hours without a reading, which have no month. */
interface AxisRun {
  readonly month: MonthRows | null
  readonly from: number
  to: number
}

/** Values of a series at the full hours of the range, and by slot of the axis: 90 kB at most. */
interface HourlyValues {
  readonly hourly: Uint16Array
  readonly slots: Uint16Array
  readonly missing: number
}

/** A chart's time slots. Runs of readings are written straight from the columns. */
class Axis {
  length = 0
  readonly runs: AxisRun[] = []
  /** Times of hours without a reading. */
  readonly hours: Uint32Array
  /** Values of the series that have any. */
  readonly values: ReadonlyMap<HourlySeries, HourlyValues>
  readonly #all: readonly HourlyValues[]
  #hourCount = 0

  constructor(hours: number, values: ReadonlyMap<HourlySeries, HourlyValues>) {
    this.hours = new Uint32Array(hours)
    this.values = values
    this.#all = [...values.values()]
  }

  /** Adds slots, to the last run where they follow it. */
  addRun(month: MonthRows | null, from: number, to: number): void {
    this.length += to - from
    const last = this.runs.at(-1)
    if (last?.month === month && last.to === from) last.to = to
    else this.runs.push({ month, from, to })
  }

  /** Adds a slot without a reading where forecast or tide has a value. */
  addHour(time: number, hour: number): void {
    if (!this.#all.some(({ hourly, missing }) => hourly[hour] !== missing)) return
    this.setHour(this.length, hour)
    this.hours[this.#hourCount] = time
    this.addRun(null, this.#hourCount, ++this.#hourCount)
  }

  setHour(slot: number, hour: number): void {
    for (const { slots, hourly } of this.#all) slots[slot] = hourly[hour]
  }
}

function layAxis(
  view: View,
  ordinal: number,
  start: number,
  end: number,
  series: readonly HourlySeries[],
): Axis {
  const { readings } = view.dataset
  const range = readings.between(ordinal, start, end)
  const firstHour = Math.ceil(start / HOUR) * HOUR
  const hoursInRange = Math.max(0, Math.floor((end - firstHour) / HOUR) + 1)
  const rows = Math.max(0, range.end - range.first)
  const values = hourlyValues(view, ordinal, firstHour, hoursInRange, rows, series)
  const hours = values.size > 0 ? hoursInRange : 0
  const axis = new Axis(hours, values)
  let hour = 0
  let hourTime = hours === 0 ? Infinity : firstHour
  for (const { month, from, count } of readings.runs(ordinal, range.first, range.end)) {
    const { time } = month
    const to = from + count
    let row = from
    while (row < to) {
      while (hourTime < time[row]) {
        axis.addHour(hourTime, hour++)
        hourTime = hour < hours ? hourTime + HOUR : Infinity
      }
      const first = row
      if (hourTime === Infinity) row = to
      for (; row < to && time[row] <= hourTime; row++) {
        if (time[row] < hourTime) continue
        axis.setHour(axis.length + row - first, hour++)
        hourTime = hour < hours ? hourTime + HOUR : Infinity
      }
      axis.addRun(month, first, row)
    }
  }
  for (; hour < hours; hour++) axis.addHour(firstHour + hour * HOUR, hour)
  return axis
}

function writeMeasure(writer: JsonWriter, { runs }: Axis, name: MeasureName, table: ShortTexts): void {
  for (const { month, from, to } of runs) {
    const column = month?.measures[name]
    if (column === undefined || column.mask === 0) writer.nulls(to - from)
    else writer.entries(table, bitsOf(column.codes), from, to)
  }
}

/** The table of a signed column is indexed by the 16 bits of its codes. */
function bitsOf(codes: Codes): Uint16Array {
  return codes instanceof Uint16Array ? codes : new Uint16Array(codes.buffer, codes.byteOffset, codes.length)
}

/**
 * Values of the nearest forecast point within 50 km and harbour within 100 km at `hours` full hours from
 * `first`, then an empty slot for each of `rows`.
 */
function hourlyValues(
  { dataset: { catalog, forecast, tides } }: View,
  ordinal: number,
  first: number,
  hours: number,
  rows: number,
  series: readonly HourlySeries[],
): Map<HourlySeries, HourlyValues> {
  const lat = catalog.lat[ordinal]
  const lng = catalog.lng[ordinal]
  const point = forecast?.nearest(lat, lng) ?? -1
  const harbour = tides?.nearest(lat, lng) ?? -1
  const values = new Map<HourlySeries, HourlyValues>()
  for (const each of series) {
    const { forecast: name, missing } = each
    if ((name === null ? harbour : point) === -1) continue
    const hourly = new Uint16Array(hours)
    if (name === null) tides!.hoursInto(harbour, first, hours, new Int16Array(hourly.buffer))
    else forecast!.hoursInto(name, point, first, hours, hourly)
    values.set(each, { hourly, slots: new Uint16Array(rows + hours).fill(missing), missing })
  }
  return values
}
