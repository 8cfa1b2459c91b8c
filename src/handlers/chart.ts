/**
 * Operation 9, `GET /buoys/{buoy_id}/readings/chart`: readings, forecast and tide on one time axis. Readings
 * stand at their times, forecast and tide at full hours, and a series has `null` where it has no value.
 *
 * The largest answer: 31 days of a buoy that reports every minute are 44,640 slots of six arrays, some 3 MB;
 * half-hourly ones make 120 kB.
 */
import { ApiError } from '../operation/errors.ts'
import {
  MEASURES,
  MISSING_I16,
  MISSING_U16,
  type Codes,
  type MeasureName,
  type ForecastName,
} from '../sea/columns.ts'
import { HUNDREDTHS, SIGNED_HUNDREDTHS, THOUSANDTHS } from '../dataset/number-text.ts'
import { Literal, type TextTable } from '../dataset/literals.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { writeTimes } from '../dataset/fragments.ts'
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
    values: ['measures', 'swell'],
    description:
      'More arrays: with `measures` wave direction, peak period, water temperature, wind, and the forecast of wave period, wave direction and wind; with `swell` height, period and direction of the swell and of the wind sea. Without it the answer has the usual arrays alone.',
  }),
  optimized: boolean({ default: false, description: 'Accepted for older clients; changes nothing.' }),
  debug: boolean({ default: false, description: 'Accepted for older clients; changes nothing.' }),
}

/** Forecast and tide at the slots of the axis and at full hours, in codes of hundredths. */
interface Lane {
  /** Null for the tide. */
  readonly forecast: ForecastName | null
  readonly missing: number
  readonly unit: string
  /** Values at the full hours of the longest range. */
  readonly hourly: Uint16Array<ArrayBuffer>
  /** Values by slot, where there are any: 90 kB at most. */
  slots: Uint16Array
  /** Whether the chart under way has any of these values. */
  has: boolean
}

function lane(forecast: ForecastName | null, unit: string): Lane {
  const signed = forecast === null
  const hourly = new Uint16Array(LONGEST_SECONDS / HOUR + 1)
  const missing = signed ? MISSING_I16 & 0xffff : MISSING_U16
  return { forecast, missing, unit, hourly, slots: new Uint16Array(0), has: false }
}
const WAVE_HEIGHT = lane('waveHeight', 'm')
const WAVE_PERIOD = lane('wavePeriod', 's')
const WAVE_DIRECTION = lane('waveDirection', MEASURES.direction.unit)
const TIDE_LEVEL = lane(null, 'm')
const WIND_SPEED = lane('windSpeed', MEASURES.windSpeed.unit)
const WIND_DIRECTION = lane('windDirection', MEASURES.windDirection.unit)
const LANES = [WAVE_HEIGHT, WAVE_PERIOD, WAVE_DIRECTION, TIDE_LEVEL, WIND_SPEED, WIND_DIRECTION]

/** An array of a chart: its name, its text in `fields`, and where its values come from. */
interface ChartArray {
  readonly name: string
  readonly label: string
  readonly unit: string
  /** The member of a reading that has these values. */
  readonly field: string | null
  readonly from: MeasureName | Lane
  readonly texts: TextTable
  /** The text between the array before and its values. */
  readonly begin: Literal
}

const array = (
  name: string,
  from: ChartArray['from'],
  texts: TextTable,
  label: string,
  unit: string,
  field: string | null = null,
): ChartArray => ({ name, label, unit, field, from, texts, begin: new Literal(`],"${name}":[`) })

/** The arrays in their order: those of the contract, and what `include` adds. */
const ARRAYS = [
  array(
    'significant_height',
    'significantHeight',
    THOUSANDTHS,
    'Significant wave height',
    'm',
    'significient_height',
  ),
  array('maximum_height', 'maximumHeight', THOUSANDTHS, 'Maximum wave height', 'm', 'maximum_height'),
  array('period', 'period', THOUSANDTHS, 'Wave period', 's', 'period'),
  array('forecast_wave_height', WAVE_HEIGHT, HUNDREDTHS, 'Forecast wave height', 'm'),
  array('tide_level', TIDE_LEVEL, SIGNED_HUNDREDTHS, 'Tide level above chart datum', 'm'),
]
const MEASURE_ARRAYS = [
  array('direction', 'direction', HUNDREDTHS, 'Direction that waves come from', 'degrees', 'direction'),
  array('peak_period', 'peakPeriod', THOUSANDTHS, 'Peak period', 's'),
  array(
    'water_temperature',
    'waterTemperature',
    SIGNED_HUNDREDTHS,
    'Water temperature',
    '°C',
    'water_temperature',
  ),
  array('wind_speed', 'windSpeed', HUNDREDTHS, 'Wind speed', 'km/h'),
  array('wind_direction', 'windDirection', HUNDREDTHS, 'Direction that wind comes from', 'degrees'),
  array('gust_speed', 'gustSpeed', HUNDREDTHS, 'Speed of gusts', 'km/h'),
  array('forecast_wind_speed', WIND_SPEED, HUNDREDTHS, 'Forecast wind speed', 'km/h'),
  array(
    'forecast_wind_direction',
    WIND_DIRECTION,
    HUNDREDTHS,
    'Forecast of the direction that wind comes from',
    'degrees',
  ),
  array('forecast_wave_period', WAVE_PERIOD, HUNDREDTHS, 'Forecast wave period', 's'),
  array(
    'forecast_wave_direction',
    WAVE_DIRECTION,
    HUNDREDTHS,
    'Forecast of the direction that waves come from',
    'degrees',
  ),
]
const SWELL_ARRAYS = [
  array('swell_height', 'swellHeight', THOUSANDTHS, 'Height of the swell', 'm'),
  array('swell_period', 'swellPeriod', THOUSANDTHS, 'Period of the swell', 's'),
  array('swell_direction', 'swellDirection', HUNDREDTHS, 'Direction that swell comes from', 'degrees'),
  array('wind_wave_height', 'windWaveHeight', THOUSANDTHS, 'Height of the wind sea', 'm'),
  array('wind_wave_period', 'windWavePeriod', THOUSANDTHS, 'Period of the wind sea', 's'),
  array(
    'wind_wave_direction',
    'windWaveDirection',
    HUNDREDTHS,
    'Direction that wind sea comes from',
    'degrees',
  ),
]
/** Bits of `include`. */
const WITH_MEASURES = 1
const WITH_SWELL = 2

const BUOY = new Literal('{"buoy":')
/** The text before the times, for as many arrays as an answer has. */
const fieldsText = (arrays: readonly ChartArray[]): Literal => {
  const fields = Object.fromEntries(
    arrays.map(({ name, label, unit, field }) => [name, { label, unit, field }]),
  )
  return new Literal(`,"fields":${JSON.stringify(fields).replaceAll('°', '\\u00b0')},"time":[`)
}
/** The arrays of an answer and their `fields`, by the bits of `include`. */
const SHAPES = Array.from({ length: WITH_MEASURES + WITH_SWELL + 1 }, (_, included) => {
  const arrays = [
    ...ARRAYS,
    ...((included & WITH_MEASURES) === 0 ? [] : MEASURE_ARRAYS),
    ...((included & WITH_SWELL) === 0 ? [] : SWELL_ARRAYS),
  ]
  return { arrays, fields: fieldsText(arrays) }
})
/** The names of all arrays, and what the stores of eight bytes overshoot. */
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
    const { arrays, fields } = SHAPES[include]
    layAxis(view, ordinal, start, end, (include & WITH_MEASURES) !== 0)
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
export function chartArrays(included: number): { name: string; unit: string }[] {
  return SHAPES[included].arrays.map(({ name, from }) => ({
    name,
    unit: typeof from === 'string' ? MEASURES[from].unit : from.unit,
  }))
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
    throw new ApiError(
      'validation_failed',
      `Parameter start_date lies more than ${LONGEST_SECONDS / DAY} days before end_date. Allowed: a range of at most ${LONGEST_SECONDS / DAY} days`,
      { parameter: 'start_date' },
    )
  }
  // No reading or forecast lies outside of what 32 bits hold, and tides so far away mean nothing.
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

function layAxis(view: View, ordinal: number, start: number, end: number, withMore: boolean): void {
  const { readings } = view.dataset
  const last = readings.positionOf(ordinal, end + 1)
  let position = readings.positionOf(ordinal, start)
  const firstHour = Math.ceil(start / HOUR) * HOUR
  const hoursInRange = Math.max(0, Math.floor((end - firstHour) / HOUR) + 1)
  layHours(view, ordinal, firstHour, hoursInRange, withMore)
  const hours = LANES.some(({ has }) => has) ? hoursInRange : 0
  clearAxis(Math.max(0, last - position) + hours)
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
        addHour(hourTime, hour++)
        hourTime = hour < hours ? hourTime + HOUR : Infinity
      }
      const first = row
      if (hourTime === Infinity) row = to
      for (; row < to && time[row] <= hourTime; row++) {
        if (time[row] < hourTime) continue
        setHour(axis.length + row - first, hour++)
        hourTime = hour < hours ? hourTime + HOUR : Infinity
      }
      addRun(month, first, row)
    }
  }
  for (; hour < hours; hour++) addHour(firstHour + hour * HOUR, hour)
}

/** Empties the axis; a slot will have neither forecast nor tide unless it gets one. */
function clearAxis(capacity: number): void {
  axis.length = 0
  axis.runs = 0
  axis.hourCount = 0
  for (const each of LANES) {
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
function addHour(time: number, hour: number): void {
  let hasValue = false
  for (const { has, hourly, missing } of LANES) hasValue ||= has && hourly[hour] !== missing
  if (!hasValue) return
  setHour(axis.length, hour)
  axis.hours[axis.hourCount] = time
  addRun(NO_MONTH, axis.hourCount, ++axis.hourCount)
}

function setHour(slot: number, hour: number): void {
  for (const { has, slots, hourly } of LANES) if (has) slots[slot] = hourly[hour]
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

/** Takes the comma behind the last value back. */
function endArray(writer: JsonWriter): void {
  if (axis.length > 0) writer.at--
}

/** The nearest forecast point within 50 km and harbour within 100 km, at `count` full hours from `first`. */
function layHours(
  { dataset: { catalog, forecast, tides } }: View,
  ordinal: number,
  first: number,
  count: number,
  withMore: boolean,
): void {
  const lat = catalog.lat[ordinal]
  const lng = catalog.lng[ordinal]
  const point = forecast === null ? -1 : forecast.nearest(lat, lng)
  const harbour = tides === null ? -1 : tides.nearest(lat, lng)
  WAVE_HEIGHT.has = point !== -1
  const hasMore = withMore && point !== -1
  for (const each of [WAVE_PERIOD, WAVE_DIRECTION, WIND_SPEED, WIND_DIRECTION]) each.has = hasMore
  TIDE_LEVEL.has = harbour !== -1
  for (const { has, forecast: name, hourly } of LANES) {
    if (has && name !== null) forecast!.hoursInto(name, point, first, count, hourly)
  }
  if (TIDE_LEVEL.has) tides!.hoursInto(harbour, first, count, new Int16Array(TIDE_LEVEL.hourly.buffer))
}
