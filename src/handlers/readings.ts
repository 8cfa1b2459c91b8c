/** Operation 6, `GET /buoys/{buoy_id}/readings`: pages of one buoy's readings, all at one cost. */
import { refused } from '../operation/errors.ts'
import { operation, rangeBetween, requireBuoy, rowsOfPage, writePaging } from '../operation/operation.ts'
import { endList, type JsonWriter } from '../dataset/json-writer.ts'
import { bucketParameters, include, pageParameters, timezoneOfBuoy } from '../operation/filters.ts'
import { choice, date, integer, type QueryOf, timestamp } from '../operation/parameters.ts'
import { READING_BYTES, writeReadings } from '../dataset/reading-json.ts'
import { FORMATS } from '../operation/shape.ts'
import type { Segments } from '../index/segments.ts'
import { Literal } from '../dataset/literals.ts'
import { END_OF_TEXT, MINUTE } from '../sea/time.ts'
import { firstOf, lastOf, type Zone } from '../sea/zones.ts'

export const MAX_PER_PAGE = 100
/** `timestamp` asks for this much before and after it: a window of three hours. */
const AROUND_SECONDS = 90 * MINUTE

export const parameters = {
  start_date: timestamp({ description: 'First moment of the range; a date alone is its first second.' }),
  end_date: timestamp({
    description: 'Last moment of the range, included; a date alone is its last second.',
  }),
  date: date({ description: 'One day, instead of a range.' }),
  timestamp: integer({
    minimum: 0,
    maximum: END_OF_TEXT - 1,
    description: 'Unix time in seconds: readings within 90 minutes of it, instead of a range.',
  }),
  order: choice({
    values: ['asc', 'desc'],
    default: 'desc',
    description: 'By time, oldest or newest first.',
  }),
  rows: choice({
    values: ['readings', 'all'],
    default: 'readings',
    description: 'With `all` also the rows of weather without waves, whose heights are null.',
  }),
  ...pageParameters(20, MAX_PER_PAGE),
  include,
  ...bucketParameters,
  timezone: timezoneOfBuoy,
}

const BUOY = new Literal('{"buoy":')
const READINGS = new Literal(',"readings":[')
const DATE_RANGE = new Literal('"date_range":{"start":')
const DATE_RANGE_END = new Literal(',"end":')
const END = new Literal('},')
/** More than a range takes. */
const DATE_RANGE_BYTES = 128

/** Both ends included, epoch seconds; null where the request leaves the end open. */
interface Range {
  start: number | null
  end: number | null
}

export const listReadings = operation({
  name: 'listReadings',
  path: '/buoys/{buoy_id}/readings',
  access: 'keyed',
  summary: 'Readings of a buoy',
  parameters,
  refusal: 'validation_failed',
  errors: ['resource_not_found', 'validation_failed'],
  answer(view, query, [buoyId]) {
    const ordinal = requireBuoy(view, buoyId)
    if (query.rows === 'all') return 'long'
    const { readings, catalog } = view.dataset
    const { writer, summary } = view.fragments
    // The thread of long answers makes readings with `timezone`.
    const { first, end, count, oldest, newest } = runOf(readings, ordinal, query, null)
    const perPage = Math.min(query.per_page, MAX_PER_PAGE)
    const { from, to } = rowsOfPage(count, query.page, perPage)
    writer.literal(BUOY)
    summary.write(ordinal)
    writer.ensure((to - from) * READING_BYTES + READING_BYTES)
    writer.literal(READINGS)
    const isAscending = query.order === 'asc'
    const [low, high] = isAscending ? [first + from, first + to] : [end - to, end - from]
    const runs = readings.runs(ordinal, low, high, isAscending)
    for (const run of runs) writeReadings(writer, catalog.id[ordinal], run)
    // The last row's comma goes.
    if (runs.length > 0) writer.at--
    endList(writer, count)
    const meta = writePaging(writer, count, query.page, perPage)
    writer.ensure(DATE_RANGE_BYTES)
    writer.literal(DATE_RANGE)
    writeTimeOrNull(writer, oldest)
    writer.literal(DATE_RANGE_END)
    writeTimeOrNull(writer, newest)
    writer.literal(END)
    return meta
  },
  tables: { formats: [...FORMATS, 'parquet'], isList: true },
})

/** Positions from `first` up to `end`, and the ends of the range as `meta` has them. */
interface AskedRun {
  first: number
  end: number
  count: number
  /** The ends that the request names. */
  range: Range
  /** Epoch seconds; null where the buoy has no readings. */
  oldest: number | null
  newest: number | null
}

/** @param clock that of days; null for UTC @throws ApiError 422 */
export function runOf(
  readings: Segments,
  ordinal: number,
  query: QueryOf<typeof parameters>,
  clock: Zone | null,
): AskedRun {
  const range = rangeOf(query, clock)
  const { start, end: last } = range
  const total = readings.count(ordinal)
  const { first, end } = readings.between(ordinal, start, last)
  return {
    first,
    end,
    count: Math.max(0, end - first),
    range,
    oldest: start ?? (total === 0 ? null : readings.timeAt(ordinal, 0)),
    newest: last ?? (total === 0 ? null : readings.timeAt(ordinal, total - 1)),
  }
}

/** @throws ApiError 422 when ways of asking are mixed, or the range ends before it starts. */
function rangeOf(
  { start_date: start, end_date: end, date: day, timestamp: moment }: QueryOf<typeof parameters>,
  clock: Zone | null,
): Range {
  const isRange = start !== undefined || end !== undefined
  if ((isRange && (day ?? moment) !== undefined) || (day !== undefined && moment !== undefined)) {
    const problem = 'does not go with another time. Allowed: start_date and end_date, date, or timestamp'
    throw refused(day === undefined ? 'timestamp' : 'date', problem, 'validation_failed')
  }
  if (day !== undefined) {
    const date = { epoch: day, wholeDay: true }
    return rangeBetween(date, date, clock)
  }
  if (moment !== undefined) return { start: moment - AROUND_SECONDS, end: moment + AROUND_SECONDS }
  if (start !== undefined && end !== undefined) return rangeBetween(start, end, clock)
  return {
    start: start === undefined ? null : firstOf(start, clock),
    end: end === undefined ? null : lastOf(end, clock),
  }
}

function writeTimeOrNull(writer: JsonWriter, epoch: number | null): void {
  if (epoch === null) writer.null()
  else writer.timestamp(Math.floor(epoch))
}
