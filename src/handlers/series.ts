/**
 * Operation 10, `GET /buoys/{buoy_id}/readings/series`: one metric over the same season of several years, in
 * buckets of the requested zone's clock.
 *
 * The largest answer: 13 seasons of 8,784 hours at 150 bytes, 17 MB; the default one (10 seasons of 365 days)
 * is half a megabyte: the thread of long answers makes all of them.
 */
import { DEFAULT_SEASONS } from '../index/seasons.ts'
import { operation } from '../operation/operation.ts'
import { choice, integer, zoneName } from '../operation/parameters.ts'
import type { MeasureName } from '../sea/columns.ts'

/** The contract's metrics and their measures; a wave-only network answers the first five. */
export const METRICS = {
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

export type Metric = keyof typeof METRICS
export const METRIC_NAMES = Object.keys(METRICS) as Metric[]

const year = { minimum: 1900, maximum: 2105 }
const month = { minimum: 1, maximum: 12 }
const day = { minimum: 1, maximum: 31 }

export const parameters = {
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
  timezone: zoneName({ description: "IANA zone of days and weeks; default the buoy's." }),
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
})
