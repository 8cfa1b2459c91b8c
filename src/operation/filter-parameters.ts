/** Parameters of several operations: a box, what lists and nearest filter by, and what `include` adds. */
import type { Dataset } from '../dataset/dataset.ts'
import { EXTRA_GROUPS, WIRE_NAMES } from '../dataset/wire-measures.ts'
import { MEASURE_NAMES } from '../sea/columns.ts'
import { boundsOnGlobe, type Bounds } from '../sea/geo.ts'
import { ApiError } from './errors.ts'
import { bbox, bounds, choice, duration, wordSet, zoneName, type QueryOf } from './parameters.ts'

/** Bits are those of `Latest.has`. */
export const latestFilters = {
  has: wordSet({
    values: MEASURE_NAMES.map((name) => WIRE_NAMES[name]),
    description: 'Only buoys whose last reading has a value of each of these, separated by commas.',
  }),
  max_age: duration({
    description:
      "Only buoys whose last reading is no older than this at the snapshot's time: seconds, or `15m`, `2h`, `7d`.",
  }),
}

interface LatestQuery {
  readonly has: number | undefined
  readonly max_age: number | undefined
}

export const include = wordSet({
  values: EXTRA_GROUPS,
  description:
    'More members of readings: `peak_period`; with `wind` `wind_speed`, `wind_direction` and `gust_speed`; with `swell` height, period and direction of the swell and of the wind sea, as `swell_height` and `wind_wave_height`.',
})

export const bucketParameters = {
  bucket: choice({
    values: ['1h', '3h', '1d', '1mo'],
    description:
      'Buckets in place of readings: hours, days or months of the clock of `timezone`, those with readings alone. At most ten years of a buoy by day, and a hundred times as many rows in all.',
  }),
  aggregation: choice({
    values: ['mean', 'max', 'min', 'median'],
    default: 'mean',
    description: 'With `bucket`: how values become one. Directions always have their circular mean.',
  }),
  timezone: zoneName({ description: 'With `bucket`: the clock of its buckets; default UTC.' }),
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

/** The two ways to ask for a box of the globe: `bounds` of the contract, and `bbox` of OGC and GeoJSON. */
export const boxParameters = {
  bounds: bounds({
    description:
      'Only buoys in this box, as JSON object text with numeric north, south, east and west. West greater than east crosses the antimeridian.',
  }),
  bbox: bbox({
    description:
      'The same box as `west,south,east,north` in decimal degrees (OGC, GeoJSON), instead of `bounds`.',
  }),
}

/** The box asked for, on the globe; null where none is. @throws ApiError 400 when both are given */
export function boxOf({ bounds: box, bbox: corners }: QueryOf<typeof boxParameters>): Bounds | null {
  if (box !== undefined && corners !== undefined) {
    throw new ApiError('bad_request', 'Parameters bounds and bbox exclude each other. Allowed: one of them', {
      parameter: 'bbox',
    })
  }
  const given = box ?? corners
  return given === undefined ? null : boundsOnGlobe(given)
}
