/** Measures under their names on the wire, and the filters by them that lists and nearest share. */
import type { Dataset } from './dataset.ts'
import { MEASURE_NAMES, type MeasureName } from '../sea/columns.ts'
import { duration, wordSet } from './parameters.ts'

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
}

/** Bits are those of `Latest.has`. */
export const latestFilters = {
  has: wordSet({
    values: MEASURE_NAMES.map((name) => WIRE_NAMES[name]),
    description: 'Only buoys whose last reading has a value of each of these, separated by commas.',
  }),
  max_age: duration({
    description:
      "Only buoys whose last reading is at most so old at the snapshot's time: seconds, or `15m`, `2h`, `7d`.",
  }),
}

interface LatestQuery {
  readonly has: number | undefined
  readonly max_age: number | undefined
}

/** What `include` may name, and the measures that each adds to a reading, in the order of `EXTRAS`. */
export const EXTRA_GROUPS = ['wind', 'peak_period'] as const
const EXTRAS: readonly [group: (typeof EXTRA_GROUPS)[number], measure: MeasureName][] = [
  ['peak_period', 'peakPeriod'],
  ['wind', 'windSpeed'],
  ['wind', 'windDirection'],
  ['wind', 'gustSpeed'],
]

export const include = wordSet({
  values: EXTRA_GROUPS,
  description:
    'More members of readings: `peak_period`, and with `wind` `wind_speed`, `wind_direction` and `gust_speed`.',
})

/** The measures that `included`, bits by `EXTRA_GROUPS`, adds to a reading. */
export function extraMeasures(included: number | undefined): MeasureName[] {
  return EXTRAS.flatMap(([group, measure]) =>
    (((included ?? 0) >> EXTRA_GROUPS.indexOf(group)) & 1) === 1 ? [measure] : [],
  )
}

/** Which buoys `has` and `max_age` take; null where they take all. */
export function latestFilter(
  { latest, asOf }: Dataset,
  { has, max_age: maxAge }: LatestQuery,
): ((ordinal: number) => boolean) | null {
  if (has === undefined && maxAge === undefined) return null
  const wanted = has ?? 0
  // Buoys without a reading have no age.
  const since = maxAge === undefined ? -1 : Math.max(0, asOf - maxAge)
  return (ordinal) => (latest.has[ordinal] & wanted) === wanted && latest.time[ordinal] >= since
}
