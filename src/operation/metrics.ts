/** The metrics of series and of the climate, and which of them a buoy has. */
import type { View } from '../dataset/view.ts'
import { hasMeasure } from '../index/latest.ts'
import { COMMON_NAMES, type Measure, type MeasureName, MEASURES } from '../sea/columns.ts'
import type { Network } from '../sea/records.ts'
import { refused } from './errors.ts'

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
  air_temperature: 'airTemperature',
  dew_point: 'dewPoint',
  pressure: 'pressure',
  humidity: 'humidity',
  visibility: 'visibility',
} as const satisfies { [metric: string]: MeasureName }

export type Metric = keyof typeof METRICS
export const METRIC_NAMES = Object.keys(METRICS) as Metric[]

/** Years that a request may name. */
export const YEAR_RANGE = { minimum: 1900, maximum: 2105 }

const WAVE_METRICS: readonly Metric[] = METRIC_NAMES.slice(0, 5)
const USUAL_METRICS = METRIC_NAMES.filter((name) => COMMON_NAMES.some((usual) => usual === METRICS[name]))

/** Metrics offered for every buoy of a kind of network. A buoy may measure more. */
const METRICS_OF: { readonly [network in Network]: readonly Metric[] } = {
  national: USUAL_METRICS,
  coastal: WAVE_METRICS,
  satellite: WAVE_METRICS,
}

/** @throws ApiError 422 for a metric that the network does not have */
export function requireMetric(
  { dataset }: View,
  ordinal: number,
  metric: Metric,
  parameter = 'metric',
): Measure {
  const { catalog, readings, weather } = dataset
  const usual = METRICS_OF[catalog.sources[catalog.source[ordinal]].network]
  const isOffered = (name: Metric): boolean =>
    usual.includes(name) || hasMeasure([readings, weather], ordinal, METRICS[name])
  if (isOffered(metric)) return MEASURES[METRICS[metric]]
  const offered = METRIC_NAMES.filter(isOffered).join(', ')
  throw refused(parameter, `is not measured by this buoy. Allowed: ${offered}`, 'validation_failed')
}
