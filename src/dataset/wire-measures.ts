/** Measures under their names on the wire. */
import { SWELL_NAMES, type MeasureName } from '../sea/columns.ts'

export const WIRE_NAMES: { readonly [name in MeasureName]: string } = {
  significantHeight: 'significient_height',
  maximumHeight: 'maximum_height',
  period: 'period',
  peakPeriod: 'peak_period',
  direction: 'direction',
  waterTemperature: 'water_temperature',
  windSpeed: 'wind_speed',
  windDirection: 'wind_direction',
  gustSpeed: 'gust_speed',
  swellHeight: 'swell_height',
  swellPeriod: 'swell_period',
  swellDirection: 'swell_direction',
  windWaveHeight: 'wind_wave_height',
  windWavePeriod: 'wind_wave_period',
  windWaveDirection: 'wind_wave_direction',
}

/** What `include` may name, and the measures that each adds to a reading, in the order of `EXTRAS`. */
export const EXTRA_GROUPS = ['wind', 'peak_period', 'swell'] as const
const EXTRAS: readonly [group: (typeof EXTRA_GROUPS)[number], measures: readonly MeasureName[]][] = [
  ['peak_period', ['peakPeriod']],
  ['wind', ['windSpeed', 'windDirection', 'gustSpeed']],
  ['swell', SWELL_NAMES],
]

/** The measures that `included`, bits by `EXTRA_GROUPS`, adds to a reading. */
export function extraMeasures(included: number | undefined): MeasureName[] {
  return EXTRAS.flatMap(([group, measures]) =>
    (((included ?? 0) >> EXTRA_GROUPS.indexOf(group)) & 1) === 1 ? measures : [],
  )
}
