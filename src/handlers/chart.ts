/**
 * Operation 9, `GET /buoys/{buoy_id}/readings/chart`: readings, forecast and tide on one time axis. Readings
 * stand at their times, forecast and tide at full hours, and a series has `null` where it has no value.
 *
 * The largest answer: 31 days of a buoy that reports every minute are 44,640 slots of six arrays, some 3 MB;
 * half-hourly ones make 120 kB.
 */
import { ApiError } from '../operation/errors.ts'
import { buoyBeside } from '../operation/buoy-table.ts'
import { time as timeColumn } from '../operation/columns.ts'
import { MEASURES, MISSING_I16, MISSING_U16, type Codes, type MeasureName } from '../sea/columns.ts'
import type { Column, Table, TableRequest } from '../operation/answer-table.ts'
import { HUNDREDTHS, SIGNED_HUNDREDTHS, THOUSANDTHS } from '../dataset/number-text.ts'
import { Literal, type TextTable } from '../dataset/literals.ts'
import type { MonthRows } from '../index/segments.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { writeTimes } from '../dataset/time-axis.ts'
import { allRows, operation, refuseBackwards, requireBuoy } from '../operation/operation.ts'
import type { View } from '../dataset/view.ts'
import { boolean, choice, timestamp, type QueryOf } from '../operation/parameters.ts'
import { DAY, endOf, HOUR, LAST_SECOND } from '../sea/time.ts'

/** The default range goes from seven days before the snapshot's time to three days after it. */
const BEFORE_SECONDS = 7 * DAY
const AFTER_SECONDS = 3 * DAY
const LONGEST_SECONDS = 31 * DAY
/**
 * A timestamp, five values, and the commas between; beyond what one value of each needs for the names of the
 * arrays.
 */
const SLOT_BYTES = 24 + 5 * 8
/** Eight more values. */
const MEASURES_SLOT_BYTES = SLOT_BYTES + 8 * 8

const parameters = {
  start_date: timestamp({ description: "First moment; default seven days before the snapshot's time." }),
  end_date: timestamp({
    description: "Last moment, included; default three days after the snapshot's time. At most 31 days.",
  }),
  include: choice({
    values: ['measures'],
    description:
      'Adds all else that readings and forecast hold: wave direction, peak period, water temperature, wind, and the forecast of wind. Without it the answer is as the contract has it.',
  }),
  optimized: boolean({ default: false, description: 'Accepted for older clients; changes nothing.' }),
  debug: boolean({ default: false, description: 'Accepted for older clients; changes nothing.' }),
}

const FIELDS = {
  significant_height: { label: 'Significant wave height', unit: 'm', field: 'significient_height' },
  maximum_height: { label: 'Maximum wave height', unit: 'm', field: 'maximum_height' },
  period: { label: 'Wave period', unit: 's', field: 'period' },
  forecast_wave_height: { label: 'Forecast wave height', unit: 'm', field: null },
  tide_level: { label: 'Tide level above chart datum', unit: 'm', field: null },
}

/** What `include=measures` adds, in this order. */
const INCLUDED = {
  direction: ['direction', HUNDREDTHS],
  peak_period: ['peakPeriod', THOUSANDTHS],
  water_temperature: ['waterTemperature', SIGNED_HUNDREDTHS],
  wind_speed: ['windSpeed', HUNDREDTHS],
  wind_direction: ['windDirection', HUNDREDTHS],
  gust_speed: ['gustSpeed', HUNDREDTHS],
} as const satisfies { [array: string]: readonly [MeasureName, TextTable] }
const MEASURE_NAMES = Object.keys(INCLUDED) as (keyof typeof INCLUDED)[]
const MORE_FIELDS = {
  direction: { label: 'Direction that waves come from', unit: 'degrees', field: 'direction' },
  peak_period: { label: 'Peak period', unit: 's', field: null },
  water_temperature: { label: 'Water temperature', unit: '°C', field: 'water_temperature' },
  wind_speed: { label: 'Wind speed', unit: 'km/h', field: null },
  wind_direction: { label: 'Direction that wind comes from', unit: 'degrees', field: null },
  gust_speed: { label: 'Speed of gusts', unit: 'km/h', field: null },
  forecast_wind_speed: { label: 'Forecast wind speed', unit: 'km/h', field: null },
  forecast_wind_direction: {
    label: 'Forecast of the direction that wind comes from',
    unit: 'degrees',
    field: null,
  },
}

const BUOY = new Literal('{"buoy":')
const FIELDS_TEXT = new Literal(`,"fields":${JSON.stringify(FIELDS)},"time":[`)
/** The names of the arrays, and what the stores of eight bytes overshoot. */
const MEASURES_START_BYTES = 512
const ALL_FIELDS_TEXT = new Literal(
  `,"fields":${JSON.stringify({ ...FIELDS, ...MORE_FIELDS }).replaceAll('°', '\\u00b0')},"time":[`,
)
const SIGNIFICANT_HEIGHT = new Literal('],"significant_height":[')
const MAXIMUM_HEIGHT = new Literal('],"maximum_height":[')
const PERIOD = new Literal('],"period":[')
const FORECAST_WAVE_HEIGHT = new Literal('],"forecast_wave_height":[')
const TIDE_LEVEL = new Literal('],"tide_level":[')
const MEASURE_STARTS = MEASURE_NAMES.map((name) => new Literal(`],"${name}":[`))
const FORECAST_WIND_SPEED = new Literal('],"forecast_wind_speed":[')
const FORECAST_WIND_DIRECTION = new Literal('],"forecast_wind_direction":[')
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
    const withMeasures = query.include === 'measures'
    layAxis(view, ordinal, start, end, withMeasures)
    writer.literal(BUOY)
    identifiedSummary.write(ordinal)
    const { length } = axis
    const fields = withMeasures ? ALL_FIELDS_TEXT : FIELDS_TEXT
    writer.ensure(
      fields.length + MEASURES_START_BYTES + length * (withMeasures ? MEASURES_SLOT_BYTES : SLOT_BYTES),
    )
    writer.literal(fields)
    writeAxis(view)
    writer.literal(SIGNIFICANT_HEIGHT)
    writeMeasure(view, 'significantHeight', THOUSANDTHS)
    writer.literal(MAXIMUM_HEIGHT)
    writeMeasure(view, 'maximumHeight', THOUSANDTHS)
    writer.literal(PERIOD)
    writeMeasure(view, 'period', THOUSANDTHS)
    writer.literal(FORECAST_WAVE_HEIGHT)
    writeHourly(view, HUNDREDTHS, axis.hasForecast, axis.waveHeight)
    writer.literal(TIDE_LEVEL)
    writeHourly(view, SIGNED_HUNDREDTHS, axis.hasTide, axis.tideLevel)
    if (withMeasures) writeMeasures(view)
    writer.literal(END)
  },
  tables: { formats: ['json', 'csv', 'ndjson'], isList: false, make: tableOf },
})

/** A row for each slot of the axis. The axis is copied, since the next chart overwrites it. */
function tableOf({ view, query, path: [buoyId] }: TableRequest<typeof parameters>): Table {
  const ordinal = requireBuoy(view, buoyId)
  const { dataset } = view
  const { start, end } = rangeOf(query, dataset.asOf)
  const withMeasures = query.include === 'measures'
  layAxis(view, ordinal, start, end, withMeasures)
  const { length } = axis
  const { months } = dataset.readings
  const time = new Uint32Array(length)
  const more = withMeasures ? MEASURE_NAMES.map((name) => [name, INCLUDED[name][0]] as const) : []
  const charted = [...CHARTED, ...more].map(([name, measure]) => ({
    name,
    measure: MEASURES[measure],
    codes: new Uint16Array(length).fill(MEASURES[measure].missing),
  }))
  let slot = 0
  for (let run = 0; run < axis.runs; run++) {
    const [month, from, to] = [axis.month[run], axis.from[run], axis.to[run]]
    time.set((month === NO_MONTH ? axis.hours : months[month].time).subarray(from, to), slot)
    for (const { measure, codes: target } of month === NO_MONTH ? [] : charted) {
      const { codes, mask } = months[month].measures[measure.name]
      if (mask !== 0) target.set(bitsOf(codes).subarray(from, to), slot)
    }
    slot += to - from
  }
  const none = new Uint16Array(length).fill(MISSING_U16)
  const forecast = axis.hasForecast ? axis.waveHeight.slice(0, length) : none
  const tide = axis.hasTide ? axis.tideLevel.slice(0, length) : new Uint16Array(length).fill(MISSING_I16)
  const coded = (
    name: string,
    scale: 1000 | 100,
    signed: boolean,
    codes: Uint16Array,
    unit: string,
  ): Column => ({
    kind: 'code',
    name,
    unit,
    scale,
    signed,
    value: (row) => codes[row],
  })
  const measured = charted.map(({ name, measure: { scale, signed, unit }, codes }) =>
    coded(name, scale === 1000 ? 1000 : 100, signed, codes, unit),
  )
  const [speed, direction] = axis.hasWind
    ? [axis.windSpeed.slice(0, length), axis.windDirection.slice(0, length)]
    : [none, none]
  const wind = [
    coded('forecast_wind_speed', 100, false, speed, MEASURES.windSpeed.unit),
    coded('forecast_wind_direction', 100, false, direction, MEASURES.windDirection.unit),
  ]
  return {
    columns: [
      timeColumn('time', (row) => time[row]),
      ...measured.slice(0, CHARTED.length),
      coded('forecast_wave_height', 100, false, forecast, 'm'),
      coded('tide_level', 100, true, tide, 'm'),
      ...measured.slice(CHARTED.length),
      ...(withMeasures ? wind : []),
      ...buoyBeside(dataset, ordinal, true),
    ],
    rows: length,
    runs: () => allRows(length),
    place: null,
    total: length,
    name: `${dataset.catalog.slugs[ordinal]}_chart`,
    list: null,
  }
}

/** Arrays of readings that every chart has, and their measures. */
const CHARTED = [
  ['significant_height', 'significantHeight'],
  ['maximum_height', 'maximumHeight'],
  ['period', 'period'],
] as const satisfies readonly (readonly [string, MeasureName])[]

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

/** Times in a cache line of 64 bytes. */
const TIMES_PER_LINE = 16
/** Stands for the month in a run of hours without readings. */
const NO_MONTH = -1

/**
 * The slots of a chart's time axis. Readings stay in their months: runs of them are written straight from the
 * columns, which is faster than copying them here first. One axis serves all charts of a thread.
 */
const axis = {
  length: 0,
  /** Uses what was read, since V8 would drop reads without a use. */
  touched: 0,
  /** Each run's month, or `NO_MONTH`, and its rows there, or its indexes in `hours`. */
  runs: 0,
  month: [] as number[],
  from: [] as number[],
  to: [] as number[],
  /** Times of hours without a reading. */
  hourCount: 0,
  hours: new Uint32Array(LONGEST_SECONDS / HOUR + 1),
  hasForecast: false,
  hasTide: false,
  hasWind: false,
  /**
   * Values by slot, where there is a forecast or tide at all: hundredths of a metre, the tide's as 16 bits
   * with sign; 180 kB at most.
   */
  waveHeight: new Uint16Array(0),
  tideLevel: new Uint16Array(0),
  /** Hundredths of a km/h and of a degree. */
  windSpeed: new Uint16Array(0),
  windDirection: new Uint16Array(0),
}
/** Values at the full hours of the longest range. */
const hourly = {
  waveHeight: new Uint16Array(LONGEST_SECONDS / HOUR + 1),
  tideLevel: new Int16Array(LONGEST_SECONDS / HOUR + 1),
  windSpeed: new Uint16Array(LONGEST_SECONDS / HOUR + 1),
  windDirection: new Uint16Array(LONGEST_SECONDS / HOUR + 1),
}

function layAxis(view: View, ordinal: number, start: number, end: number, withWind: boolean): void {
  const { readings } = view.dataset
  const last = readings.positionOf(ordinal, end + 1)
  let position = readings.positionOf(ordinal, start)
  const firstHour = Math.ceil(start / HOUR) * HOUR
  const hoursInRange = Math.max(0, Math.floor((end - firstHour) / HOUR) + 1)
  layHours(view, ordinal, firstHour, hoursInRange, withWind)
  const hours = axis.hasForecast || axis.hasTide ? hoursInRange : 0
  clearAxis(Math.max(0, last - position) + hours)
  let hour = 0
  let hourTime = hours === 0 ? Infinity : firstHour
  let segment = position < last ? readings.segmentOf(ordinal, position) : 0
  for (; position < last; segment++) {
    const month = readings.month[segment]
    const { time, measures } = readings.months[month]
    let row = readings.from[segment] + position - readings.before[segment]
    const to = Math.min(readings.to[segment], row + last - position)
    touch(time, measures, row, to)
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

/**
 * Reads a value of each cache line of a run, all columns at once, so that the waits for memory overlap.
 * Writing one column after the other waits for each. Row "chart of each" of `bench/micro_cases.ts` shows the
 * gain.
 */
function touch(
  time: Uint32Array,
  { significantHeight, maximumHeight, period }: MonthRows['measures'],
  from: number,
  to: number,
): void {
  let touched = 0
  for (let row = from; row < to; row += TIMES_PER_LINE) {
    touched ^= time[row] ^ significantHeight.codes[row & significantHeight.mask]
    touched ^= maximumHeight.codes[row & maximumHeight.mask] ^ period.codes[row & period.mask]
  }
  axis.touched = touched
}

/** Empties the axis; a slot will have neither forecast nor tide unless it gets one. */
function clearAxis(capacity: number): void {
  axis.length = 0
  axis.runs = 0
  axis.hourCount = 0
  if (!axis.hasForecast && !axis.hasTide) return
  if (axis.waveHeight.length < capacity) {
    axis.waveHeight = new Uint16Array(capacity)
    axis.tideLevel = new Uint16Array(capacity)
  }
  if (axis.hasWind && axis.windSpeed.length < capacity) {
    axis.windSpeed = new Uint16Array(capacity)
    axis.windDirection = new Uint16Array(capacity)
  }
  if (axis.hasWind) {
    axis.windSpeed.fill(MISSING_U16, 0, capacity)
    axis.windDirection.fill(MISSING_U16, 0, capacity)
  }
  axis.waveHeight.fill(MISSING_U16, 0, capacity)
  axis.tideLevel.fill(MISSING_I16, 0, capacity)
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
  const hasWaves = hourly.waveHeight[hour] !== MISSING_U16 || hourly.tideLevel[hour] !== MISSING_I16
  if (!hasWaves && !(axis.hasWind && hourly.windSpeed[hour] !== MISSING_U16)) return
  setHour(axis.length, hour)
  axis.hours[axis.hourCount] = time
  addRun(NO_MONTH, axis.hourCount, ++axis.hourCount)
}

function setHour(slot: number, hour: number): void {
  axis.waveHeight[slot] = hourly.waveHeight[hour]
  axis.tideLevel[slot] = hourly.tideLevel[hour]
  if (!axis.hasWind) return
  axis.windSpeed[slot] = hourly.windSpeed[hour]
  axis.windDirection[slot] = hourly.windDirection[hour]
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
  endArray(writer)
}

/** The table of a signed column is indexed by the 16 bits of its codes. */
function bitsOf(codes: Codes): Uint16Array {
  return codes instanceof Uint16Array ? codes : new Uint16Array(codes.buffer, codes.byteOffset, codes.length)
}

function writeMeasures(view: View): void {
  const { writer } = view.fragments
  for (const [i, name] of MEASURE_NAMES.entries()) {
    writer.literal(MEASURE_STARTS[i])
    const [measure, table] = INCLUDED[name]
    writeMeasure(view, measure, table)
  }
  writer.literal(FORECAST_WIND_SPEED)
  writeHourly(view, HUNDREDTHS, axis.hasWind, axis.windSpeed)
  writer.literal(FORECAST_WIND_DIRECTION)
  writeHourly(view, HUNDREDTHS, axis.hasWind, axis.windDirection)
}

function writeHourly(
  { fragments: { writer } }: View,
  table: TextTable,
  has: boolean,
  codes: Uint16Array,
): void {
  if (has) writer.entries(table, codes, 0, axis.length)
  else writer.nulls(axis.length)
  endArray(writer)
}

/** Takes the comma behind the last value back. */
function endArray(writer: JsonWriter): void {
  if (axis.length > 0) writer.at--
}

/**
 * Forecast and tide at `count` full hours from `first` on: the nearest forecast point within 50 km, the
 * nearest harbour within 100 km, as in the conditions.
 */
function layHours(
  { dataset: { catalog, forecast, tides } }: View,
  ordinal: number,
  first: number,
  count: number,
  withWind: boolean,
): void {
  const lat = catalog.lat[ordinal]
  const lng = catalog.lng[ordinal]
  const point = forecast === null ? -1 : forecast.nearest(lat, lng)
  const harbour = tides === null ? -1 : tides.nearest(lat, lng)
  axis.hasForecast = point !== -1
  axis.hasTide = harbour !== -1
  axis.hasWind = withWind && axis.hasForecast
  if (axis.hasWind) forecast!.windInto(point, first, count, hourly.windSpeed, hourly.windDirection)
  if (axis.hasForecast) forecast!.hoursInto(point, first, count, hourly.waveHeight)
  else hourly.waveHeight.fill(MISSING_U16, 0, count)
  if (axis.hasTide) tides!.hoursInto(harbour, first, count, hourly.tideLevel)
  else hourly.tideLevel.fill(MISSING_I16, 0, count)
}
