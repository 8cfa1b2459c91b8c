/** What a forecast has at each point and hour. */
import type { MeasureName } from './columns.ts'

export const FORECAST_NAMES = [
  'waveHeight',
  'wavePeriod',
  'waveDirection',
  'swellHeight',
  'swellPeriod',
  'swellDirection',
  'windSpeed',
  'windDirection',
] as const

export type ForecastName = (typeof FORECAST_NAMES)[number]

/** The measure that gives a forecast quantity its unit, scale and limits. */
export const FORECAST_MEASURES: { readonly [name in ForecastName]: MeasureName } = {
  waveHeight: 'significantHeight',
  wavePeriod: 'period',
  waveDirection: 'direction',
  swellHeight: 'significantHeight',
  swellPeriod: 'period',
  swellDirection: 'direction',
  windSpeed: 'windSpeed',
  windDirection: 'windDirection',
}
