/**
 * Operation 9, `GET /buoys/{buoy_id}/readings/chart`: readings, forecast and tide on one time axis. Readings stand at their times,
 * forecast and tide at full hours, and a series has `null` where it has no value.
 *
 * The largest answer: 31 days of a buoy that reports every minute are 44,640 places of six arrays, some 3 MB; half-hourly
 * ones make 120 kB.
 */
import { MISSING_I16, MISSING_U16 } from '../columns.ts'
import { ApiError } from '../errors.ts'
import { HUNDREDTHS, LAST_SECOND, Literal, SIGNED_HUNDREDTHS, THOUSANDTHS } from '../json.ts'
import { operation, refuseBackwards, requireBuoy, type View } from '../operation.ts'
import { boolean, timestamp, type QueryOf } from '../query.ts'
import { DAY, endOf, HOUR } from '../time.ts'

/** Without dates: from seven days before the snapshot's time to three days after it. */
const DEFAULT_BEFORE = 7 * DAY
const DEFAULT_AFTER = 3 * DAY
const LONGEST = 31 * DAY
/** A timestamp, five values, and the commas between; beyond what one value of each needs for the names of the arrays. */
const PLACE_BYTES = 24 + 5 * 8

const parameters = {
  start_date: timestamp({ description: "First moment; default seven days before the snapshot's time." }),
  end_date: timestamp({
    description: "Last moment, included; default three days after the snapshot's time. At most 31 days.",
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

const BUOY = new Literal('{"buoy":')
const FIELDS_TEXT = new Literal(`,"fields":${JSON.stringify(FIELDS)},"time":[`)
const SIGNIFICANT_HEIGHT = new Literal('],"significant_height":[')
const MAXIMUM_HEIGHT = new Literal('],"maximum_height":[')
const PERIOD = new Literal('],"period":[')
const FORECAST_WAVE_HEIGHT = new Literal('],"forecast_wave_height":[')
const TIDE_LEVEL = new Literal('],"tide_level":[')
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
    const { writer, identifiedSummary } = view.shapes
    layAxis(view, ordinal, start, end)
    writer.literal(BUOY)
    identifiedSummary.write(ordinal)
    const { length } = axis
    writer.ensure(FIELDS_TEXT.length + length * PLACE_BYTES)
    writer.literal(FIELDS_TEXT)
    writer.timestamps(start, axis.time, length)
    writer.literal(SIGNIFICANT_HEIGHT)
    writer.entries(THOUSANDTHS, axis.significantHeight, length)
    writer.literal(MAXIMUM_HEIGHT)
    writer.entries(THOUSANDTHS, axis.maximumHeight, length)
    writer.literal(PERIOD)
    writer.entries(THOUSANDTHS, axis.period, length)
    writer.literal(FORECAST_WAVE_HEIGHT)
    writer.entries(HUNDREDTHS, axis.waveHeight, length)
    writer.literal(TIDE_LEVEL)
    writer.entries(SIGNED_HUNDREDTHS, axis.tideLevel, length)
    writer.literal(END)
  },
})

/** Both ends included, epoch seconds. @throws ApiError 422 for a range that is backwards or too long. */
function rangeOf(
  { start_date: from, end_date: to }: QueryOf<typeof parameters>,
  asOf: number,
): { start: number; end: number } {
  const start = from?.epoch ?? asOf - DEFAULT_BEFORE
  const end = to === undefined ? asOf + DEFAULT_AFTER : endOf(to)
  refuseBackwards(start, end)
  if (end - start > LONGEST) {
    throw new ApiError(
      'validation_failed',
      `Parameter start_date lies more than ${LONGEST / DAY} days before end_date. Allowed: a range of at most ${LONGEST / DAY} days`,
      { parameter: 'start_date' },
    )
  }
  // No reading or forecast lies outside of what 32 bits hold, and tides so far away say nothing.
  return { start: Math.max(0, Math.ceil(start)), end: Math.min(LAST_SECOND, Math.floor(end)) }
}

/**
 * The places of a chart in the codes of their tables: thousandths as measured, hundredths of forecast and tide (the tide's as 16 bits with sign), each with
 * its code for none. One for all charts of a thread, as it may take a megabyte.
 */
const axis = {
  length: 0,
  capacity: 0,
  /** Seconds since the start of the range. */
  time: new Uint32Array(0),
  significantHeight: new Uint16Array(0),
  maximumHeight: new Uint16Array(0),
  period: new Uint16Array(0),
  waveHeight: new Uint16Array(0),
  tideLevel: new Uint16Array(0),
}
/** Values at the full hours of the longest range. */
const hourly = {
  waveHeight: new Uint16Array(LONGEST / HOUR + 1),
  tideLevel: new Int16Array(LONGEST / HOUR + 1),
}

function layAxis(view: View, ordinal: number, start: number, end: number): void {
  const { readings } = view.dataset
  const last = readings.positionOf(ordinal, end + 1)
  let position = readings.positionOf(ordinal, start)
  const firstHour = Math.ceil(start / HOUR) * HOUR
  const hours = Math.max(0, Math.floor((end - firstHour) / HOUR) + 1)
  layHours(view, ordinal, firstHour, hours)
  clearAxis(Math.max(0, last - position) + hours)
  const { time: times, significantHeight: heights, maximumHeight: maximums, period: periods } = axis
  let hour = 0
  let hourTime = hours === 0 ? Infinity : firstHour
  let segment = position < last ? readings.segmentOf(ordinal, position) : 0
  for (; position < last; segment++) {
    const { time, measures } = readings.months[readings.month[segment]]
    const { significantHeight, maximumHeight, period } = measures
    const first = readings.from[segment] + position - readings.before[segment]
    const rows = Math.min(readings.to[segment] - first, last - position)
    for (let row = first; row < first + rows; row++) {
      const readingTime = time[row]
      while (hourTime < readingTime) {
        addHour(hourTime - start, hour++)
        hourTime = hour < hours ? hourTime + HOUR : Infinity
      }
      const at = axis.length++
      times[at] = readingTime - start
      heights[at] = significantHeight.codes[row & significantHeight.mask]
      maximums[at] = maximumHeight.codes[row & maximumHeight.mask]
      periods[at] = period.codes[row & period.mask]
      if (hourTime === readingTime) {
        axis.waveHeight[at] = hourly.waveHeight[hour]
        axis.tideLevel[at] = hourly.tideLevel[hour++]
        hourTime = hour < hours ? hourTime + HOUR : Infinity
      }
    }
    position += rows
  }
  for (; hour < hours; hour++) addHour(firstHour + hour * HOUR - start, hour)
}

/** A place without a reading, where forecast or tide has a value. */
function addHour(second: number, hour: number): void {
  const waveHeight = hourly.waveHeight[hour]
  const tideLevel = hourly.tideLevel[hour]
  if (waveHeight === MISSING_U16 && tideLevel === MISSING_I16) return
  const at = axis.length++
  axis.time[at] = second
  axis.waveHeight[at] = waveHeight
  axis.tideLevel[at] = tideLevel
}

/** An axis without places, each of which will have no values unless it gets some. */
function clearAxis(capacity: number): void {
  axis.length = 0
  if (axis.capacity < capacity) {
    axis.capacity = capacity
    axis.time = new Uint32Array(capacity)
    axis.significantHeight = new Uint16Array(capacity)
    axis.maximumHeight = new Uint16Array(capacity)
    axis.period = new Uint16Array(capacity)
    axis.waveHeight = new Uint16Array(capacity)
    axis.tideLevel = new Uint16Array(capacity)
  }
  axis.significantHeight.fill(MISSING_U16, 0, capacity)
  axis.maximumHeight.fill(MISSING_U16, 0, capacity)
  axis.period.fill(MISSING_U16, 0, capacity)
  axis.waveHeight.fill(MISSING_U16, 0, capacity)
  axis.tideLevel.fill(MISSING_I16, 0, capacity)
}

/**
 * Forecast and tide at `count` full hours from `first` on: the nearest forecast point within 50 km, the nearest harbour within
 * 100 km, as in the conditions.
 */
function layHours(
  { dataset: { catalog, forecast, tides } }: View,
  ordinal: number,
  first: number,
  count: number,
): void {
  const lat = catalog.lat[ordinal]
  const lng = catalog.lng[ordinal]
  const point = forecast === null ? -1 : forecast.nearest(lat, lng)
  const harbour = tides === null ? -1 : tides.nearest(lat, lng)
  if (point === -1) hourly.waveHeight.fill(MISSING_U16, 0, count)
  else forecast!.hoursInto('waveHeight', point, first, count, hourly.waveHeight)
  if (harbour === -1) hourly.tideLevel.fill(MISSING_I16, 0, count)
  else tides!.hoursInto(harbour, first, count, hourly.tideLevel)
}
