/**
 * The measures as they have to be, written out again so that a change of scale or limit in the product shows.
 */
import type { MeasureName } from '../src/sea/columns.ts'

/** Codes per unit, least and greatest value in units, in the order of the columns. */
export const EXPECTED: {
  readonly [name in MeasureName]: readonly [scale: number, min: number, max: number]
} = {
  significantHeight: [1000, 0, 25],
  maximumHeight: [1000, 0, 50],
  period: [1000, 0, 60],
  peakPeriod: [1000, 0, 60],
  direction: [100, 0, 359.99],
  waterTemperature: [100, -5, 45],
  windSpeed: [100, 0, 500],
  windDirection: [100, 0, 359.99],
  gustSpeed: [100, 0, 500],
  swellHeight: [1000, 0, 25],
  swellPeriod: [1000, 0, 60],
  swellDirection: [100, 0, 359.99],
  windWaveHeight: [1000, 0, 25],
  windWavePeriod: [1000, 0, 60],
  windWaveDirection: [100, 0, 359.99],
  airTemperature: [100, -60, 60],
  dewPoint: [100, -60, 45],
  pressure: [10, 850, 1090],
  humidity: [100, 0, 105],
  visibility: [100, 0, 100],
}
