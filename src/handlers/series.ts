/**
 * Operation 10, `GET /buoys/{buoy_id}/readings/series`: one metric over the same season of several years, in
 * buckets of the requested zone's clock.
 *
 * A series of few rows and few points is answered at once, also the default: 10 seasons of 365 known days,
 * half a megabyte. The thread of long answers makes all others: the largest, 13 seasons of 8,784 hours at 150
 * bytes, has 17 MB.
 */
import { LRUCache } from 'lru-cache'
import type { Fragments } from '../dataset/fragments.ts'
import { endList, JsonWriter } from '../dataset/json-writer.ts'
import { Literal } from '../dataset/literals.ts'
import type { View } from '../dataset/view.ts'
import { rowsOf } from '../index/buckets.ts'
import {
  DEFAULT_SEASONS,
  isShort,
  lastCompleteSeason,
  lastDayOfMonth,
  MOST_SEASONS,
  type SeasonDates,
  Series,
  type SeriesLists,
  type SeriesQuery,
} from '../index/seasons.ts'
import { isDirection, NO_VALUE } from '../index/statistics.ts'
import { type ApiError, refused } from '../operation/errors.ts'
import { METRIC_NAMES, requireMetric, YEAR_RANGE } from '../operation/metrics.ts'
import { type LongJson, operation, requireBuoy } from '../operation/operation.ts'
import { choice, integer, type QueryOf, zoneName } from '../operation/parameters.ts'
import { COMMON_NAMES, type Measure } from '../sea/columns.ts'
import { zone, type Zone } from '../sea/zones.ts'

const month = { minimum: 1, maximum: 12 }
const day = { minimum: 1, maximum: 31 }

export const parameters = {
  metric: choice({ required: true, values: METRIC_NAMES, description: 'What to aggregate.' }),
  bucket: choice({
    values: ['hour', 'day', 'week'],
    synonyms: { '1h': 'hour', '1d': 'day' },
    default: 'day',
    description: 'Length of a bucket.',
  }),
  aggregation: choice({
    values: ['median', 'avg', 'min', 'max'],
    synonyms: { mean: 'avg' },
    default: 'median',
    description: 'How a bucket becomes a value. Directions have a circular mean for median and avg.',
  }),
  start_year: integer({
    ...YEAR_RANGE,
    description: `First season; default ${DEFAULT_SEASONS - 1} years before the last.`,
  }),
  end_year: integer({ ...YEAR_RANGE, description: 'Last season; default the last complete one.' }),
  start_month: integer({
    ...month,
    aliases: ['season_start_month'],
    description: 'Month the season starts in; default 1.',
  }),
  start_day: integer({
    ...day,
    aliases: ['season_start_day'],
    description: 'Day the season starts on; default 1.',
  }),
  end_month: integer({
    ...month,
    aliases: ['season_end_month'],
    description: 'Month the season ends in; default 12.',
  }),
  end_day: integer({
    ...day,
    aliases: ['season_end_day'],
    description: "Day the season ends on, included; default the month's last.",
  }),
  timezone: zoneName({ description: "IANA zone of days and weeks; default the buoy's." }),
}

type Query = QueryOf<typeof parameters>

interface AskedSeries {
  ordinal: number
  asked: SeriesQuery
  rows: SeriesLists
}

/** Reads the query of a request. @throws ApiError */
export function askedOf(view: View, query: Query, buoyId: string): AskedSeries {
  const ordinal = requireBuoy(view, buoyId)
  const { dataset } = view
  const measure = measureOf(view, ordinal, query)
  const dates = seasonOf(query)
  const clock = query.timezone ?? zone(dataset.catalog.timezones[ordinal])!
  const { bucket, aggregation } = query
  const { asOf } = dataset
  const years = yearsOf(query, clock, dates, asOf)
  // Known days mostly need no lists.
  let lists: ReturnType<SeriesLists> | null = null
  const rows = (): ReturnType<SeriesLists> =>
    (lists ??= [dataset.readings, dataset.weather].map((segments) => rowsOf(segments, ordinal, measure)))
  const isAggregated = COMMON_NAMES.some((name) => name === measure.name)
  const known = isAggregated ? { aggregates: dataset.aggregates, ordinal } : null
  return { ordinal, asked: { zone: clock, dates, bucket, aggregation, measure, asOf, known, ...years }, rows }
}

const impossible = (parameter: string, problem: string): ApiError =>
  refused(parameter, problem, 'validation_failed')

/** @throws ApiError 422 for a metric that the network does not have, or the extreme of a direction */
function measureOf(view: View, ordinal: number, { metric, aggregation }: Query): Measure {
  const measure = requireMetric(view, ordinal, metric)
  if (isDirection(measure) && aggregation !== 'median' && aggregation !== 'avg') {
    throw impossible('aggregation', 'does not fit a direction. Allowed: median, avg')
  }
  return measure
}

/** @throws ApiError 422 for a day that no year has. */
function seasonOf(query: Query): SeasonDates {
  const startMonth = query.start_month ?? 1
  const endMonth = query.end_month ?? 12
  const dates = {
    startMonth,
    startDay: query.start_day ?? 1,
    endMonth,
    endDay: query.end_day ?? lastDayOfMonth(endMonth),
  }
  for (const [end, month, day] of [
    ['start', dates.startMonth, dates.startDay],
    ['end', dates.endMonth, dates.endDay],
  ] as const) {
    // Some year has 29 February.
    if (day <= lastDayOfMonth(month)) continue
    throw impossible(
      `${end}_day`,
      `is not a day of month ${month}. Allowed: a day from 1 to ${lastDayOfMonth(month)}`,
    )
  }
  return dates
}

/**
 * Years of a request, by default ten up to the last complete season. @throws ApiError 422 for none, or more
 * than an answer holds
 */
export function yearsOf(
  query: Pick<Query, 'start_year' | 'end_year'>,
  clock: Zone,
  dates: SeasonDates,
  asOf: number,
): Pick<SeriesQuery, 'startYear' | 'endYear'> {
  const endYear = query.end_year ?? lastCompleteSeason(clock, dates, asOf)
  const startYear = query.start_year ?? endYear - DEFAULT_SEASONS + 1
  if (startYear > endYear) {
    throw impossible(
      'start_year',
      'is after the last season. Allowed: a start_year that is not after end_year',
    )
  }
  if (endYear - startYear + 1 > MOST_SEASONS) {
    throw impossible('start_year', `asks for too many seasons. Allowed: at most ${MOST_SEASONS}`)
  }
  return { startYear, endYear }
}

const POINT_INDEX = new Literal('{"bucket_index":')
const LABEL = new Literal(',"label":"')
const BUCKET_START = new Literal('","bucket_start":')
const BUCKET_END = new Literal(',"bucket_end":')
const VALUE = new Literal(',"value":')
const SAMPLE_COUNT = new Literal(',"sample_count":')
const POINT_END = new Literal('}')

/** Bytes: more than the text before a season's points, and a point take. */
const YEAR_BYTES = 128
const POINT_BYTES = 176

/** Each piece is a season: some 1.3 MB of hours. */
export function seriesJson(view: View, { metric }: Query, { ordinal, asked, rows }: AskedSeries): LongJson {
  const summaries = view.fragments.identifiedSummary
  const { startYear, endYear } = asked
  const series = new Series(asked, rows)
  let year = startYear
  let count = 0
  return {
    next(writer) {
      if (year === startYear) writeStart(writer, summaries, ordinal, metric, asked)
      else writer.comma()
      count += writeSeason(writer, asked, series, year)
      if (year++ < endYear) return false
      endList(writer, count)
      return true
    },
  }
}

function writeStart(
  writer: JsonWriter,
  summaries: Fragments,
  ordinal: number,
  metric: string,
  { zone: clock, dates, bucket, aggregation }: SeriesQuery,
): void {
  writer.text('{"buoy":')
  summaries.writeTo(writer, ordinal)
  writer.text(
    `,"metric":"${metric}","bucket":"${bucket}","aggregation":"${aggregation}",` +
      `"timezone":${JSON.stringify(clock.name)},"season":{"start":{"month":${dates.startMonth},"day":${dates.startDay}},` +
      `"end":{"month":${dates.endMonth},"day":${dates.endDay}}},"years":[`,
  )
}

/** @returns how many points the season has */
function writeSeason(writer: JsonWriter, asked: SeriesQuery, series: Series, year: number): number {
  const { complete } = series.season(year)
  const { length } = series
  writer.text(`{"year":${year},"complete":${complete},"point_count":${length},"points":[`)
  writer.ensure(length * POINT_BYTES + YEAR_BYTES)
  const heads = asked.bucket === 'day' && length > 0 ? headsOf(asked, series, year) : null
  writePoints(writer, asked, series, heads)
  writer.text(']}')
  // Room for what follows: a comma, or the end of the list.
  writer.ensure(YEAR_BYTES)
  return length
}

function writePoints(
  writer: JsonWriter,
  { zone: clock, bucket, measure }: SeriesQuery,
  series: Series,
  heads: Heads | null,
): void {
  const [hourly, circular] = [bucket === 'hour', isDirection(measure)]
  for (let point = 0; point < series.length; point++) {
    if (point > 0) writer.comma()
    const value = series.value[point]
    if (heads === null) writeHead(writer, series.bucket(point), clock, hourly)
    else {
      const place = series.placeOf(point)
      writer.words(heads.words, heads.start[place], heads.length[place])
    }
    if (value === NO_VALUE) writer.null()
    else if (circular) writer.integer(value)
    else writer.hundredths(value)
    writer.literal(SAMPLE_COUNT)
    writer.integer(series.count[point])
    writer.literal(POINT_END)
  }
}

function writeHead(
  writer: JsonWriter,
  { start, end, ordinal }: { start: number; end: number; ordinal: number },
  clock: Zone,
  hourly: boolean,
): void {
  const offset = clock.offsetAt(start)
  writer.literal(POINT_INDEX)
  writer.integer(ordinal)
  writer.literal(LABEL)
  writer.dayLabel(start + offset, hourly)
  writer.literal(BUCKET_START)
  writer.localTime(start, offset)
  writer.literal(BUCKET_END)
  writer.localTime(end, clock.offsetAt(end))
  writer.literal(VALUE)
}

/** The texts of a season's days in front of their values: made anew they are half of a long series. */
interface Heads {
  readonly words: Float64Array
  /** First word and bytes of each day. */
  readonly start: Uint16Array
  readonly length: Uint8Array
}

/** By zone, dates and year; 55 KB each. */
const HEADS = new LRUCache<string, Heads>({ max: 256 })

function headsOf({ zone: clock, dates }: SeriesQuery, series: Series, year: number): Heads {
  const key = `${clock.name} ${Object.values(dates).join('-')} ${year}`
  const known = HEADS.get(key)
  if (known !== undefined) return known
  const writer = new JsonWriter(series.places * POINT_BYTES)
  const start = new Uint16Array(series.places)
  const length = new Uint8Array(series.places)
  for (let place = 0; place < series.places; place++) {
    const from = writer.at
    writeHead(writer, series.bucketAt(place), clock, false)
    start[place] = from / 8
    length[place] = writer.at - from
    writer.at = Math.ceil(writer.at / 8) * 8
  }
  const heads = { words: new Float64Array(writer.bytes.buffer.slice(0, writer.at)), start, length }
  HEADS.set(key, heads)
  return heads
}

export const readingSeries = operation({
  name: 'readingSeries',
  path: '/buoys/{buoy_id}/readings/series',
  access: 'keyed',
  summary: 'Seasonal series, year over year',
  parameters,
  refusal: 'bad_request',
  errors: ['bad_request', 'resource_not_found', 'validation_failed'],
  tables: { formats: ['json', 'csv', 'ndjson'], isList: false },
  answer(view, query, [buoyId]) {
    const series = askedOf(view, query, buoyId)
    if (!isShort(series.asked, series.rows)) return 'long'
    const json = seriesJson(view, query, series)
    while (!json.next(view.fragments.writer));
    return undefined
  },
})
