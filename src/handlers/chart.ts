/**
 * Operation 9, `GET /buoys/{buoy_id}/readings/chart`: readings, forecast and tide on one time axis. Readings stand at their times,
 * forecast and tide at full hours, and a series has `null` where it has no value.
 *
 * The largest answer: 31 days of a buoy that reports every minute are 44,640 places of six arrays, some 3 MB; half-hourly
 * ones make 120 kB.
 */
import { MEASURES, MISSING_U16, type MeasureName } from '../columns.ts'
import { ApiError } from '../errors.ts'
import { Literal, THOUSANDTHS, type JsonWriter, type TextTable } from '../json.ts'
import { operation, refuseBackwards, requireBuoy, type View } from '../operation.ts'
import { boolean, timestamp, type QueryOf } from '../query.ts'
import { DAY, endOf, HOUR } from '../time.ts'

/** Without dates: from seven days before the snapshot's time to three days after it. */
const DEFAULT_BEFORE = 7 * DAY
const DEFAULT_AFTER = 3 * DAY
const LONGEST = 31 * DAY
/** The longest thing an array holds for one place: a timestamp and a comma. */
const PLACE_BYTES = 24

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

const FIELDS_TEXT = new Literal(`,"fields":${JSON.stringify(FIELDS)},"time":[`)

const MEASURED: readonly { key: string; measure: MeasureName; table: TextTable }[] = [
  { key: 'significant_height', measure: 'significantHeight', table: THOUSANDTHS },
  { key: 'maximum_height', measure: 'maximumHeight', table: THOUSANDTHS },
  { key: 'period', measure: 'period', table: THOUSANDTHS },
]

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
    const axis = layAxis(view, ordinal, start, end)
    writer.text('{"buoy":')
    identifiedSummary.write(ordinal)
    writer.ensure(FIELDS_TEXT.length)
    writer.literal(FIELDS_TEXT)
    writeArray(writer, axis.length, (i) => writer.timestamp(axis.time[i]))
    for (const { key, measure, table } of MEASURED) {
      writer.text(`],"${key}":[`)
      writeArray(writer, axis.length, (i) => {
        const row = axis.row[i]
        if (row === -1) writer.null()
        else {
          const { codes, mask } = view.dataset.readings.months[axis.month[i]].measures[measure]
          writer.entry(table, codes[row & mask])
        }
      })
    }
    writer.text('],"forecast_wave_height":[')
    writeArray(writer, axis.length, (i) => writeRounded(writer, axis.waveHeight[i]))
    writer.text('],"tide_level":[')
    writeArray(writer, axis.length, (i) => writeRounded(writer, axis.tideLevel[i]))
    writer.text(']}')
    return ''
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
  return { start: Math.ceil(start), end: Math.floor(end) }
}

/** The places of a chart: readings by month and row (row −1 where there is none), hourly series by value (NaN for none). */
interface Axis {
  length: number
  time: Float64Array
  month: Uint16Array
  row: Int32Array
  waveHeight: Float64Array
  tideLevel: Float64Array
}

/** Values at full hours, NaN where a series has none. */
interface Hours {
  count: number
  time: Float64Array
  waveHeight: Float64Array
  tideLevel: Float64Array
}

function layAxis(view: View, ordinal: number, start: number, end: number): Axis {
  const { readings } = view.dataset
  const first = readings.positionOf(ordinal, start)
  const last = readings.positionOf(ordinal, end + 1)
  const hours = hourlySeries(view, ordinal, start, end)
  const capacity = last - first + hours.count
  const axis: Axis = {
    length: 0,
    time: new Float64Array(capacity),
    month: new Uint16Array(capacity),
    row: new Int32Array(capacity).fill(-1),
    waveHeight: new Float64Array(capacity).fill(NaN),
    tideLevel: new Float64Array(capacity).fill(NaN),
  }
  const hourAt = (hour: number): number => (hour < hours.count ? hours.time[hour] : Infinity)
  let position = first
  let segment = first < last ? readings.segmentOf(ordinal, first) : 0
  for (let hour = 0; position < last || hour < hours.count; axis.length++) {
    let readingTime = Infinity
    let row = -1
    if (position < last) {
      while (position - readings.before[segment] >= readings.to[segment] - readings.from[segment]) segment++
      row = readings.from[segment] + position - readings.before[segment]
      readingTime = readings.months[readings.month[segment]].time[row]
    }
    const hourTime = hourAt(hour)
    const at = axis.length
    axis.time[at] = Math.min(readingTime, hourTime)
    if (readingTime <= hourTime) {
      axis.month[at] = readings.month[segment]
      axis.row[at] = row
      position++
    }
    if (hourTime <= readingTime) {
      axis.waveHeight[at] = hours.waveHeight[hour]
      axis.tideLevel[at] = hours.tideLevel[hour]
      hour++
    }
  }
  return axis
}

/**
 * Forecast and tide at the full hours of the range where one of them has a value: the nearest forecast point within 50 km, the
 * nearest harbour within 100 km, as in the conditions.
 */
function hourlySeries(
  { dataset: { catalog, forecast, tides } }: View,
  ordinal: number,
  start: number,
  end: number,
): Hours {
  const [lat, lng] = [catalog.lat[ordinal], catalog.lng[ordinal]]
  const first = Math.ceil(start / HOUR) * HOUR
  const count = Math.max(0, Math.floor((end - first) / HOUR) + 1)
  const waveHeight = new Float64Array(count).fill(NaN)
  const tideLevel = new Float64Array(count).fill(NaN)
  const point = forecast === null ? -1 : forecast.nearest(lat, lng)
  const harbour = tides === null ? -1 : tides.nearest(lat, lng)
  if (harbour !== -1) tides!.levelsInto(harbour, first, HOUR, count, tideLevel)
  for (let hour = 0; hour < (point === -1 ? 0 : count); hour++) {
    const time = first + hour * HOUR
    const row = forecast!.rowAt(point, time)
    const code = row === -1 ? MISSING_U16 : forecast!.value('waveHeight', row, time)
    if (code !== MISSING_U16) waveHeight[hour] = code / MEASURES.significantHeight.scale
  }
  const time = new Float64Array(count)
  let kept = 0
  for (let hour = 0; hour < count; hour++) {
    if (Number.isNaN(waveHeight[hour]) && Number.isNaN(tideLevel[hour])) continue
    time[kept] = first + hour * HOUR
    waveHeight[kept] = waveHeight[hour]
    tideLevel[kept] = tideLevel[hour]
    kept++
  }
  return { count: kept, time, waveHeight, tideLevel }
}

function writeArray(writer: JsonWriter, length: number, write: (i: number) => void): void {
  writer.ensure(length * PLACE_BYTES)
  for (let i = 0; i < length; i++) {
    if (i > 0) writer.comma()
    write(i)
  }
}

/** Two decimals, as derived heights have; NaN is `null`. */
function writeRounded(writer: JsonWriter, metres: number): void {
  if (Number.isNaN(metres)) writer.null()
  else writer.hundredths(Math.round(metres * 100))
}
