/** Measures as `round(value × scale)`, finer than any source's digits. */

export const MISSING_U16 = 0xffff
export const MISSING_I16 = -0x8000

export type Column =
  | Uint8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array

export type ColumnTypes = { readonly [name: string]: abstract new (...args: never[]) => Column }
export type ColumnsOf<Types extends ColumnTypes> = { [name in keyof Types]: InstanceType<Types[name]> }

/** Stands in the column of countries for a buoy without one. */
export const NO_COUNTRY = 0xffff
export type Codes = Uint16Array | Int16Array

export interface Measure {
  /** Name in code; `dataset/reading-json.ts` has the wire's spelling. */
  readonly name: MeasureName
  readonly unit: 'm' | 's' | 'degree' | '°C' | 'km/h' | 'hPa' | '%' | 'km'
  /** Codes per unit. */
  readonly scale: number
  readonly signed: boolean
  readonly missing: number
  /** Physical limits, inclusive, in units: values outside never enter a snapshot. */
  readonly min: number
  readonly max: number
}

/** The measures of most sources. Series and aggregates of days are made of these alone. */
export const COMMON_NAMES = [
  'significantHeight',
  'maximumHeight',
  'period',
  'peakPeriod',
  'direction',
  'waterTemperature',
  'windSpeed',
  'windDirection',
  'gustSpeed',
] as const

/** The sea in two parts, which few sources tell apart: swell, and the sea of the local wind. */
export const SWELL_NAMES = [
  'swellHeight',
  'swellPeriod',
  'swellDirection',
  'windWaveHeight',
  'windWavePeriod',
  'windWaveDirection',
] as const

/** The air over the sea, which many sources measure at more times than the waves. */
export const WEATHER_NAMES = ['airTemperature', 'dewPoint', 'pressure', 'humidity', 'visibility'] as const

/** The measures of a row without a significant height. */
export const WEATHER_MEASURES = [
  'waterTemperature',
  'windSpeed',
  'windDirection',
  'gustSpeed',
  ...WEATHER_NAMES,
] as const

/** All measures, in the order of the columns in a part. */
export const MEASURE_NAMES = [...COMMON_NAMES, ...SWELL_NAMES, ...WEATHER_NAMES] as const

export type MeasureName = (typeof MEASURE_NAMES)[number]

/**
 * Measures of rows, by whether they have swell and weather: always the same list, so that lists can be
 * compared.
 */
const ROW_NAMES: readonly (readonly MeasureName[])[] = [
  COMMON_NAMES,
  [...COMMON_NAMES, ...SWELL_NAMES],
  [...COMMON_NAMES, ...WEATHER_NAMES],
  MEASURE_NAMES,
]

/**
 * The measures that rows need columns for: the common ones, and each of the other groups of which `has` knows
 * one.
 */
export function rowNames(has: (name: MeasureName) => boolean): readonly MeasureName[] {
  return ROW_NAMES[Number(SWELL_NAMES.some(has)) + 2 * Number(WEATHER_NAMES.some(has))]
}

const unsigned = { signed: false, missing: MISSING_U16 } as const
const signed = { signed: true, missing: MISSING_I16 } as const
const height = { unit: 'm', scale: 1000, min: 0, max: 25, ...unsigned } as const
const period = { unit: 's', scale: 1000, min: 0, max: 60, ...unsigned } as const
// 360 is north and is stored as 0.
const direction = { unit: 'degree', scale: 100, min: 0, max: 359.99, ...unsigned } as const
const speed = { unit: 'km/h', scale: 100, min: 0, max: 500, ...unsigned } as const

export const MEASURES: { readonly [name in MeasureName]: Measure } = {
  significantHeight: { name: 'significantHeight', ...height },
  // The maximum is an order statistic: it stays below 3.7 times the largest significant height.
  maximumHeight: { name: 'maximumHeight', ...height, max: 50 },
  period: { name: 'period', ...period },
  peakPeriod: { name: 'peakPeriod', ...period },
  direction: { name: 'direction', ...direction },
  waterTemperature: { name: 'waterTemperature', unit: '°C', scale: 100, min: -5, max: 45, ...signed },
  windSpeed: { name: 'windSpeed', ...speed },
  windDirection: { name: 'windDirection', ...direction },
  gustSpeed: { name: 'gustSpeed', ...speed },
  swellHeight: { name: 'swellHeight', ...height },
  swellPeriod: { name: 'swellPeriod', ...period },
  swellDirection: { name: 'swellDirection', ...direction },
  windWaveHeight: { name: 'windWaveHeight', ...height },
  windWavePeriod: { name: 'windWavePeriod', ...period },
  windWaveDirection: { name: 'windWaveDirection', ...direction },
  airTemperature: { name: 'airTemperature', unit: '°C', scale: 100, min: -60, max: 60, ...signed },
  dewPoint: { name: 'dewPoint', unit: '°C', scale: 100, min: -60, max: 45, ...signed },
  // At sea level. Barometers are read to a tenth; hundredths would not fit into 16 bits.
  pressure: { name: 'pressure', unit: 'hPa', scale: 10, min: 850, max: 1090, ...unsigned },
  // Sensors exceed 100 in fog.
  humidity: { name: 'humidity', unit: '%', scale: 100, min: 0, max: 105, ...unsigned },
  visibility: { name: 'visibility', unit: 'km', scale: 100, min: 0, max: 100, ...unsigned },
}

/** The quantities of a forecast at each point and hour. */
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
