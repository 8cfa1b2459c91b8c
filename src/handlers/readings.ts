/**
 * Operation 6, `GET /buoys/{buoy_id}/readings`: a page of one buoy's readings, by range, day or around a moment. Counts are
 * differences of positions, so a page out of ten years costs what one out of a day does.
 */
import { ApiError } from '../errors.ts'
import { MAX_PAGE, operation, paging, refuseBackwards, requireBuoy } from '../operation.ts'
import { choice, date, integer, timestamp, type QueryOf } from '../query.ts'
import { READING_BYTES, writeReadings } from '../reading.ts'
import type { Spans } from '../index/spans.ts'
import type { JsonWriter } from '../json.ts'
import { DAY, endOf, MINUTE, timestampText } from '../time.ts'

const MAX_PER_PAGE = 100
/** `timestamp` asks for this much before and after it, in seconds: a window of three hours. */
const AROUND = 90 * MINUTE
/** The last second that a four-digit year can name. */
const LAST_SECOND = 253402300799

const parameters = {
  start_date: timestamp({ description: 'First moment of the range; a date alone is its first second.' }),
  end_date: timestamp({
    description: 'Last moment of the range, included; a date alone is its last second.',
  }),
  date: date({ description: 'One UTC day, instead of a range.' }),
  timestamp: integer({
    minimum: 0,
    maximum: LAST_SECOND,
    description: 'Unix time in seconds: readings within 90 minutes of it, instead of a range.',
  }),
  order: choice({
    values: ['asc', 'desc'],
    default: 'desc',
    description: 'By time, oldest or newest first.',
  }),
  page: integer({ minimum: 1, maximum: MAX_PAGE, default: 1, description: 'Page, from 1.' }),
  per_page: integer({
    minimum: 1,
    default: 20,
    description: `Readings a page; more than ${MAX_PER_PAGE} is taken as ${MAX_PER_PAGE}.`,
  }),
}

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
    const range = rangeOf(query)
    const { readings, catalog } = view.dataset
    const { writer, summary } = view.shapes
    const total = readings.count(ordinal)
    const first = range.start === null ? 0 : readings.positionOf(ordinal, Math.ceil(range.start))
    // Times are whole seconds, so "up to and including" is "before the next second".
    const end = range.end === null ? total : readings.positionOf(ordinal, Math.floor(range.end) + 1)
    const count = Math.max(0, end - first)
    const { from, to, meta } = paging(count, query.page, Math.min(query.per_page, MAX_PER_PAGE))
    writer.text('{"buoy":')
    summary.write(ordinal)
    writer.text(',"readings":[')
    const ascending = query.order === 'asc'
    const position = ascending ? first + from : end - 1 - from
    writeRows(writer, readings, ordinal, catalog.id[ordinal], position, to - from, ascending)
    writer.text(`],"count":${count}}`)
    const oldest = range.start ?? (total === 0 ? null : readings.timeAt(ordinal, 0))
    const newest = range.end ?? (total === 0 ? null : readings.timeAt(ordinal, total - 1))
    return `${meta}"date_range":{"start":${timeOrNull(oldest)},"end":${timeOrNull(newest)}},`
  },
})

/** @throws ApiError 422 when ways of asking are mixed, or the range ends before it starts. */
function rangeOf({
  start_date: start,
  end_date: end,
  date: day,
  timestamp: moment,
}: QueryOf<typeof parameters>): Range {
  const isRange = start !== undefined || end !== undefined
  if ((isRange && (day ?? moment) !== undefined) || (day !== undefined && moment !== undefined)) {
    throw new ApiError(
      'validation_failed',
      'Parameters start_date and end_date, date, and timestamp exclude each other. Allowed: one of the three ways',
      { parameter: day === undefined ? 'timestamp' : 'date' },
    )
  }
  if (day !== undefined) return { start: day, end: day + DAY - 1 }
  if (moment !== undefined) return { start: moment - AROUND, end: moment + AROUND }
  const range = {
    start: start?.epoch ?? null,
    end: end === undefined ? null : endOf(end),
  }
  if (range.start !== null && range.end !== null) refuseBackwards(range.start, range.end)
  return range
}

/** `count` rows from `position` on, forwards or backwards in time, separated by commas. */
function writeRows(
  writer: JsonWriter,
  readings: Spans,
  ordinal: number,
  id: number,
  position: number,
  count: number,
  ascending: boolean,
): void {
  const step = ascending ? 1 : -1
  writer.ensure(count * READING_BYTES)
  for (let left = count; left > 0;) {
    const segment = readings.segmentOf(ordinal, position)
    const rows = readings.months[readings.month[segment]]
    const from = readings.from[segment]
    const row = from + position - readings.before[segment]
    const inSegment = Math.min(left, ascending ? readings.to[segment] - row : row - from + 1)
    writeReadings(writer, id, rows, row, step, inSegment)
    left -= inSegment
    position += step * inSegment
  }
  // The last one's comma.
  if (count > 0) writer.at--
}

function timeOrNull(epoch: number | null): string {
  return epoch === null ? 'null' : `"${timestampText(epoch)}"`
}
