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

/** Stands in the column of countries for a buoy without one. */
export const NO_COUNTRY = 0xffff
export type Codes = Uint16Array | Int16Array

export interface Measure {
  /** Name in code; `dataset/wire-measures.ts` has the wire's spelling. */
  readonly name: MeasureName
  readonly unit: 'm' | 's' | 'degree' | '°C' | 'km/h'
  /** Codes per unit. */
  readonly scale: number
  readonly signed: boolean
  readonly missing: number
  /** Physical limits, inclusive, in units: values outside never enter a snapshot. */
  readonly min: number
  readonly max: number
}

/** What most sources measure. Series and aggregates of days are made of these alone. */
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

/** In the order in which the columns stand in a part. */
export const MEASURE_NAMES = [...COMMON_NAMES, ...SWELL_NAMES] as const

export type MeasureName = (typeof MEASURE_NAMES)[number]

const unsigned = { signed: false, missing: MISSING_U16 } as const
const signed = { signed: true, missing: MISSING_I16 } as const

export const MEASURES: { readonly [name in MeasureName]: Measure } = {
  significantHeight: { name: 'significantHeight', unit: 'm', scale: 1000, min: 0, max: 25, ...unsigned },
  // The maximum is an order statistic: it stays below 3.7 times the largest significant height.
  maximumHeight: { name: 'maximumHeight', unit: 'm', scale: 1000, min: 0, max: 50, ...unsigned },
  period: { name: 'period', unit: 's', scale: 1000, min: 0, max: 60, ...unsigned },
  peakPeriod: { name: 'peakPeriod', unit: 's', scale: 1000, min: 0, max: 60, ...unsigned },
  // 360 is north and is stored as 0.
  direction: { name: 'direction', unit: 'degree', scale: 100, min: 0, max: 359.99, ...unsigned },
  waterTemperature: { name: 'waterTemperature', unit: '°C', scale: 100, min: -5, max: 45, ...signed },
  windSpeed: { name: 'windSpeed', unit: 'km/h', scale: 100, min: 0, max: 500, ...unsigned },
  windDirection: { name: 'windDirection', unit: 'degree', scale: 100, min: 0, max: 359.99, ...unsigned },
  gustSpeed: { name: 'gustSpeed', unit: 'km/h', scale: 100, min: 0, max: 500, ...unsigned },
  swellHeight: { name: 'swellHeight', unit: 'm', scale: 1000, min: 0, max: 25, ...unsigned },
  swellPeriod: { name: 'swellPeriod', unit: 's', scale: 1000, min: 0, max: 60, ...unsigned },
  swellDirection: { name: 'swellDirection', unit: 'degree', scale: 100, min: 0, max: 359.99, ...unsigned },
  windWaveHeight: { name: 'windWaveHeight', unit: 'm', scale: 1000, min: 0, max: 25, ...unsigned },
  windWavePeriod: { name: 'windWavePeriod', unit: 's', scale: 1000, min: 0, max: 60, ...unsigned },
  windWaveDirection: {
    name: 'windWaveDirection',
    unit: 'degree',
    scale: 100,
    min: 0,
    max: 359.99,
    ...unsigned,
  },
}
