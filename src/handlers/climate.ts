/**
 * The climate of a buoy, `GET /buoys/{buoy_id}/climate` and what is below it: statistics of all its readings,
 * in UTC. The thread of long answers makes them all (`long/climate.ts`), as each reads every reading of the
 * buoy.
 */
import { type Operation, operation } from '../operation/operation.ts'
import { METRIC_NAMES, YEAR_RANGE } from '../operation/metrics.ts'
import {
  choice,
  duration,
  integer,
  integerList,
  number,
  type Parameters,
  text,
} from '../operation/parameters.ts'
import { page } from '../operation/filters.ts'

/** Storms of a page, by default and at most. */
const STORMS_A_PAGE = 100
const MOST_STORMS_A_PAGE = 1000

const metric = choice({
  values: METRIC_NAMES,
  default: 'significient_height',
  description: 'What the statistics are of.',
})
const years = {
  start_year: integer({ ...YEAR_RANGE, description: 'First year (UTC); default the first with readings.' }),
  end_year: integer({ ...YEAR_RANGE, description: 'Last year (UTC); default the last with readings.' }),
}
/** Only these have storms and tables of heights. */
const height = { values: ['significient_height', 'maximum_height'], default: 'significient_height' } as const
const share = { minimum: 0, maximum: 1, default: 0.75 } as const

export const climateParameters = {
  metric,
  ...years,
  by: choice({
    values: ['month', 'season', 'none'],
    default: 'month',
    description:
      'Periods of the year: months, seasons (December belongs to the next year), or none but the whole year.',
  }),
  min_coverage: number({
    ...share,
    description:
      'Share of the expected samples that a month of a year needs to count for `mean` and `years`.',
  }),
}

export const recordsParameters = { metric, ...years }

export const tableParameters = {
  x: choice({
    values: ['peak_period', 'period', 'direction', 'month'],
    default: 'peak_period',
    description: 'What the heights are counted by. Directions are in 16 sectors.',
  }),
  y: choice({ ...height, aliases: ['metric'], description: 'The heights that are counted.' }),
  ...years,
  x_bin: number({
    minimum: 0.1,
    maximum: 10,
    description: 'Width of a bin of periods, in seconds, in steps of 0.1; default 1.',
  }),
  y_bin: number({
    minimum: 0.1,
    maximum: 5,
    default: 0.5,
    description: 'Width of a bin of heights, in metres, in steps of 0.1.',
  }),
}

export const stormsParameters = {
  metric: choice({ ...height, description: 'The heights of storms.' }),
  ...years,
  threshold: text({
    default: 'p95',
    pattern: '^(p95|p99|[0-9]{1,2}(\\.[0-9]{1,3})?)$',
    allowed: 'metres with up to three decimals, p95 or p99',
    description: 'A storm is strictly above this: metres, or a quantile of all samples, not rounded.',
  }),
  gap: duration({
    description:
      'Two exceedances with at most this time between them are one storm: seconds, or `15m`, `24h`, `2d`; default 24h, at most 30d.',
  }),
  min_duration: duration({ description: 'Only storms that last at least this long; as `gap`.' }),
  page,
  per_page: integer({
    minimum: 1,
    default: STORMS_A_PAGE,
    description: `Storms a page; more than ${MOST_STORMS_A_PAGE} is taken as ${MOST_STORMS_A_PAGE}.`,
  }),
}

export const perPageOf = (perPage: number): number => Math.min(perPage, MOST_STORMS_A_PAGE)

export const extremesParameters = {
  metric,
  ...years,
  return_periods: integerList({
    default: [2, 5, 10, 25, 50, 100],
    description: 'Return periods in years: 1 to 20 of 2 to 10,000, separated by commas.',
  }),
  min_coverage: number({ ...share, description: 'Share of the expected samples that a year needs.' }),
  year_start: integer({
    minimum: 1,
    maximum: 12,
    default: 1,
    description:
      'Month in which a year begins, for winters over New Year: it is named by the year of that month.',
  }),
}

/** Tables of climates have rows that are not lists of their JSON. */
function climateOperation(name: string, below: string, summary: string, parameters: Parameters): Operation {
  return operation({
    name,
    path: `/buoys/{buoy_id}/climate${below}`,
    access: 'keyed',
    summary,
    parameters,
    refusal: 'bad_request',
    errors: ['bad_request', 'resource_not_found', 'validation_failed'],
    tables: { formats: ['json', 'csv', 'ndjson'], isList: false },
  })
}

export const climate = climateOperation('climate', '', 'What is usual at a buoy', climateParameters)
export const climateRecords = climateOperation(
  'climateRecords',
  '/records',
  'Greatest and least values of a buoy',
  recordsParameters,
)
export const climateTable = climateOperation(
  'climateTable',
  '/table',
  'Heights by period, direction or month',
  tableParameters,
)
export const climateStorms = climateOperation(
  'climateStorms',
  '/storms',
  'Storms of a buoy',
  stormsParameters,
)
export const climateExtremes = climateOperation(
  'climateExtremes',
  '/extremes',
  'Return levels of a buoy',
  extremesParameters,
)
