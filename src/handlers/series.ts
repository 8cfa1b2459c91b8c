/**
 * Operation 10, `GET /buoys/{buoy_id}/readings/series`: one metric over the same season of several years, in
 * buckets of the requested zone's clock.
 *
 * The largest answer: 13 seasons of 8,784 hours at 150 bytes, 17 MB; the default one (10 seasons of 365 days)
 * is half a megabyte.
 */
import { hasMeasure } from '../index/available.ts'
import { MEASURES, type Measure, type MeasureName } from '../sea/columns.ts'
import { ApiError } from '../operation/errors.ts'
import {
  DEFAULT_SEASONS,
  isDayOfYear,
  lastCompleteSeason,
  lastDayOfMonth,
  MOST_SEASONS,
  seasonSpan,
  seasonYears,
  type SeasonDates,
} from '../index/season-dates.ts'
import { rowsOf } from '../index/buckets.ts'
import { isKnown, Series, type SeriesLists, type SeriesQuery } from '../index/seasons.ts'
import { isDirection, NO_VALUE } from '../index/statistics.ts'
import { buoyBeside } from '../operation/buoy-table.ts'
import { flag, integer as integerColumn, number, word } from '../operation/table-columns.ts'
import type { Column, Table, TableRequest } from '../operation/answer-table.ts'
import { seriesJson } from '../dataset/series-json.ts'
import { operation, requireBuoy } from '../operation/operation.ts'
import type { View } from '../dataset/view.ts'
import { choice, integer, text, type QueryOf } from '../operation/parameters.ts'
import type { Network } from '../sea/records.ts'
import { zone, type Zone } from '../sea/zones.ts'

/** The contract's metrics and their measures; a wave-only network answers the first five. */
const METRICS = {
  significient_height: 'significantHeight',
  maximum_height: 'maximumHeight',
  period: 'period',
  peak_period: 'peakPeriod',
  direction: 'direction',
  water_temperature: 'waterTemperature',
  wind_speed: 'windSpeed',
  wind_direction: 'windDirection',
  gust_speed: 'gustSpeed',
} as const satisfies { [metric: string]: MeasureName }

type Metric = keyof typeof METRICS
const METRIC_NAMES = Object.keys(METRICS) as Metric[]

const WAVE_METRICS: readonly Metric[] = METRIC_NAMES.slice(0, 5)

/** What buoys of a network have by its kind; others of them may have more. */
const METRICS_OF: { readonly [network in Network]: readonly Metric[] } = {
  national: METRIC_NAMES,
  coastal: WAVE_METRICS,
  satellite: WAVE_METRICS,
}

const year = { minimum: 1900, maximum: 2105 }
const month = { minimum: 1, maximum: 12 }
const day = { minimum: 1, maximum: 31 }

const parameters = {
  metric: choice({ required: true, values: METRIC_NAMES, description: 'What to aggregate.' }),
  bucket: choice({ values: ['hour', 'day', 'week'], default: 'day', description: 'Length of a bucket.' }),
  aggregation: choice({
    values: ['median', 'avg', 'min', 'max'],
    default: 'median',
    description: 'How a bucket becomes a value. Directions have a circular mean for median and avg.',
  }),
  start_year: integer({
    ...year,
    description: `First season; default ${DEFAULT_SEASONS - 1} years before the last.`,
  }),
  end_year: integer({ ...year, description: 'Last season; default the last complete one.' }),
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
  timezone: text({ description: "IANA zone of days and weeks; default the buoy's." }),
}

type Query = QueryOf<typeof parameters>

export const readingSeries = operation({
  name: 'readingSeries',
  path: '/buoys/{buoy_id}/readings/series',
  access: 'keyed',
  summary: 'Seasonal series, year over year',
  parameters,
  refusal: 'bad_request',
  errors: ['bad_request', 'resource_not_found', 'validation_failed'],
  answer(view, query, [buoyId]) {
    const { fragments } = view
    const { ordinal, asked, rows } = askedOf(view, query, buoyId)
    const series = seriesJson(fragments.identifiedSummary, ordinal, query.metric, asked, rows)
    if (!isShort(asked, rows)) return series
    while (!series.next(fragments.writer));
    return undefined
  },
  tables: { formats: ['json', 'csv', 'ndjson'], isList: false, make: tableOf },
})

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
  const clock = zoneOf(query.timezone ?? dataset.catalog.timezones[ordinal])
  const { bucket, aggregation } = query
  const { asOf } = dataset
  const years = yearsOf(query, clock, dates, asOf)
  // Known days mostly need no lists.
  let lists: ReturnType<SeriesLists> | null = null
  const rows = (): ReturnType<SeriesLists> =>
    (lists ??= [dataset.readings, dataset.weather].map((segments) => rowsOf(segments, ordinal, measure)))
  const known = bucket === 'day' ? { aggregates: dataset.aggregates, ordinal } : null
  return { ordinal, asked: { zone: clock, dates, bucket, aggregation, measure, asOf, known, ...years }, rows }
}

/** A row for each point of each season. */
function tableOf({ view, query, path: [buoyId] }: TableRequest<typeof parameters>): Table {
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
      integerColumn('bucket_index', (point) => season.series.ordinal(point)),
      word('label', LABEL_BYTES, (writer, point) => {
        const start = season.series.start(point)
        writer.dayLabel(start + clock.offsetAt(start), bucket === 'hour')
      }),
      moment('bucket_start', (point) => season.series.start(point)),
      moment('bucket_end', (point) => season.series.end(point)),
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

/** Whether next to no rows have to be read: the days of each season are known, or it has no rows. */
function isShort(asked: SeriesQuery, rows: SeriesLists): boolean {
  const { startYear, endYear, zone: clock, dates } = asked
  for (let year = startYear; year <= endYear; year++) {
    if (isKnown(asked, year)) continue
    const { start, end } = seasonSpan(clock, dates, year)
    if (
      rows()
        .flat()
        .some(({ time, from, to }) => time[from] < end && time[to - 1] >= start)
    )
      return false
  }
  return true
}

function impossible(parameter: string, message: string): ApiError {
  return new ApiError('validation_failed', message, { parameter })
}

/** @throws ApiError 422 for a metric that the network does not have, or the extreme of a direction */
function measureOf({ dataset }: View, ordinal: number, { metric, aggregation }: Query): Measure {
  const { catalog, readings, weather } = dataset
  const usual = METRICS_OF[catalog.sources[catalog.source[ordinal]].network]
  const isOffered = (name: Metric): boolean =>
    usual.includes(name) || hasMeasure([readings, weather], ordinal, METRICS[name])
  if (!isOffered(metric)) {
    const offered = METRIC_NAMES.filter(isOffered).join(', ')
    throw impossible('metric', `Parameter metric is not measured by this buoy. Allowed: ${offered}`)
  }
  const measure = MEASURES[METRICS[metric]]
  if (isDirection(measure) && aggregation !== 'median' && aggregation !== 'avg') {
    throw impossible('aggregation', 'Parameter aggregation does not fit a direction. Allowed: median, avg')
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
    if (isDayOfYear(month, day)) continue
    throw impossible(
      `${end}_day`,
      `Parameter ${end}_day is not a day of month ${month}. Allowed: a day from 1 to ${lastDayOfMonth(month)}`,
    )
  }
  return dates
}

/** @throws ApiError 400 */
function zoneOf(name: string): Zone {
  // A "+" that was not percent-encoded arrives as a blank, which no zone's name has.
  const found = zone(name.replaceAll(' ', '+'))
  if (found !== null) return found
  throw new ApiError(
    'bad_request',
    'Parameter timezone is unknown. Allowed: an IANA name such as Europe/Paris',
    {
      parameter: 'timezone',
    },
  )
}

/** @throws ApiError 422 for a start after the end, or more seasons than an answer holds. */
function yearsOf(
  { start_year: start, end_year: end }: Query,
  clock: Zone,
  dates: SeasonDates,
  asOf: number,
): { startYear: number; endYear: number } {
  const years = seasonYears(start, end, lastCompleteSeason(clock, dates, asOf))
  if (years === 'start after end') {
    throw impossible(
      'start_year',
      'Parameter start_year is after the last season. Allowed: a start_year that is not after end_year',
    )
  }
  if (years === 'too many seasons') {
    throw impossible(
      'start_year',
      `Parameter start_year asks for too many seasons. Allowed: at most ${MOST_SEASONS}`,
    )
  }
  return years
}
