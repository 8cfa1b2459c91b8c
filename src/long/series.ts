/** Seasonal series, year over year: `GET /buoys/{buoy_id}/readings/series` as JSON and as a table. */
import { hasMeasure } from '../index/latest.ts'
import { type Measure, MEASURES } from '../sea/columns.ts'
import { type ApiError, refused } from '../operation/errors.ts'
import {
  DEFAULT_SEASONS,
  lastCompleteSeason,
  lastDayOfMonth,
  MOST_SEASONS,
  type SeasonDates,
  Series,
  type SeriesLists,
  type SeriesQuery,
} from '../index/seasons.ts'
import { rowsOf } from '../index/buckets.ts'
import { isDirection, NO_VALUE } from '../index/statistics.ts'
import { buoyBeside } from '../dataset/buoy-table.ts'
import { type Column, flag, integer as integerColumn, number, type Table, word } from '../dataset/table.ts'
import { type Metric, METRIC_NAMES, METRICS, type parameters } from '../handlers/series.ts'
import { type LongJson, requireBuoy } from '../operation/operation.ts'
import type { View } from '../dataset/view.ts'
import type { QueryOf } from '../operation/parameters.ts'
import type { Network } from '../sea/records.ts'
import { zone, type Zone } from '../sea/zones.ts'
import type { MakeRequest } from './maker.ts'
import { endList, JsonWriter } from '../dataset/json-writer.ts'
import { Literal } from '../dataset/literals.ts'
import type { Fragments } from '../dataset/fragments.ts'

const WAVE_METRICS: readonly Metric[] = METRIC_NAMES.slice(0, 5)

/** What buoys of a network have by its kind; others of them may have more. */
const METRICS_OF: { readonly [network in Network]: readonly Metric[] } = {
  national: METRIC_NAMES,
  coastal: WAVE_METRICS,
  satellite: WAVE_METRICS,
}

type Query = QueryOf<typeof parameters>

export function seriesAnswer({ view, query, path: [buoyId] }: MakeRequest<typeof parameters>): LongJson {
  const { ordinal, asked, rows } = askedOf(view, query, buoyId)
  return seriesJson(view.fragments.identifiedSummary, ordinal, query.metric, asked, rows)
}

interface Asked {
  ordinal: number
  asked: SeriesQuery
  rows: SeriesLists
}

/** What a request asks for. @throws ApiError */
function askedOf(view: View, query: Query, buoyId: string): Asked {
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
  const known = { aggregates: dataset.aggregates, ordinal }
  return { ordinal, asked: { zone: clock, dates, bucket, aggregation, measure, asOf, known, ...years }, rows }
}

/** A row for each point of each season. */
export function seriesTable({ view, query, path: [buoyId] }: MakeRequest<typeof parameters>): Table {
  const { ordinal, asked, rows } = askedOf(view, query, buoyId)
  const { catalog } = view.dataset
  const { zone: clock, measure, bucket, startYear, endYear } = asked
  const circular = isDirection(measure)
  const season = { year: 0, complete: false, series: new Series(asked, rows) }
  const moment = (name: string, at: (point: number) => number): Column =>
    word(name, MOMENT_BYTES, (writer, point) => {
      const epoch = at(point)
      writer.localTime(epoch, clock.offsetAt(epoch))
      // The quotes of the time go.
      const start = writer.at - MOMENT_BYTES
      writer.bytes.copyWithin(start, start + 1, writer.at - 1)
      writer.at -= 2
    })
  return {
    columns: [
      integerColumn('year', () => season.year),
      flag('complete', () => season.complete),
      integerColumn('bucket_index', (point) => season.series.bucket(point).ordinal),
      word('label', LABEL_BYTES, (writer, point) => {
        const { start } = season.series.bucket(point)
        writer.dayLabel(start + clock.offsetAt(start), bucket === 'hour')
      }),
      moment('bucket_start', (point) => season.series.bucket(point).start),
      moment('bucket_end', (point) => season.series.bucket(point).end),
      number(
        'value',
        (point) => {
          const value = season.series.value[point]
          if (value === NO_VALUE) return NaN
          return circular ? value : value / 100
        },
        measure.unit,
      ),
      integerColumn('sample_count', (point) => season.series.count[point]),
      ...buoyBeside(view.dataset, () => ordinal, true),
    ],
    runs: Array.from({ length: endYear - startYear + 1 }, (_, i) => () => {
      season.year = startYear + i
      season.complete = season.series.season(season.year).complete
      return { from: 0, step: 1, count: season.series.length }
    }),
    place: null,
    total: null,
    name: `${catalog.slugs[ordinal]}_${query.metric}_${startYear}-${endYear}`,
    list: null,
  }
}

/** `"2026-03-29T00:00:00+01:00"` and `Mar 29 05:00`. */
const MOMENT_BYTES = 27
const LABEL_BYTES = 16

const impossible = (parameter: string, problem: string): ApiError =>
  refused(parameter, problem, 'validation_failed')

/** @throws ApiError 422 for a metric that the network does not have, or the extreme of a direction */
function measureOf({ dataset }: View, ordinal: number, { metric, aggregation }: Query): Measure {
  const { catalog, readings, weather } = dataset
  const usual = METRICS_OF[catalog.sources[catalog.source[ordinal]].network]
  const isOffered = (name: Metric): boolean =>
    usual.includes(name) || hasMeasure([readings, weather], ordinal, METRICS[name])
  if (!isOffered(metric)) {
    const offered = METRIC_NAMES.filter(isOffered).join(', ')
    throw impossible('metric', `is not measured by this buoy. Allowed: ${offered}`)
  }
  const measure = MEASURES[METRICS[metric]]
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

/** By default ten up to the last complete season. @throws ApiError 422 for none, or more than an answer holds */
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

/** A season in each piece: of hours, some 1.3 MB. */
function seriesJson(
  summaries: Fragments,
  ordinal: number,
  metric: string,
  asked: SeriesQuery,
  rows: SeriesLists,
): { next(writer: JsonWriter): boolean } {
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
  writePoints(writer, asked, series)
  writer.text(']}')
  // Room for what follows: a comma, or the end of the list.
  writer.ensure(YEAR_BYTES)
  return length
}

function writePoints(
  writer: JsonWriter,
  { zone: clock, bucket, measure }: SeriesQuery,
  series: Series,
): void {
  const [hourly, circular] = [bucket === 'hour', isDirection(measure)]
  for (let point = 0; point < series.length; point++) {
    if (point > 0) writer.comma()
    const value = series.value[point]
    writeHead(writer, series.bucket(point), clock, hourly)
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
