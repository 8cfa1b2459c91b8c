/** Parameters that name measures: what lists and nearest filter by, and what readings have in addition. */
import type { Dataset } from '../dataset/dataset.ts'
import { EXTRA_GROUPS, WIRE_NAMES } from '../dataset/wire-measures.ts'
import { MEASURE_NAMES } from '../sea/columns.ts'
import { duration, wordSet } from './parameters.ts'

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

export const include = wordSet({
  values: EXTRA_GROUPS,
  description:
    'More members of readings: `peak_period`, and with `wind` `wind_speed`, `wind_direction` and `gust_speed`.',
})

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
