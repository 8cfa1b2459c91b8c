/**
 * Parameters of several operations: filters by box, distance, network, country and newest reading; `include`;
 * buckets; pages.
 */
import type { Dataset } from '../dataset/dataset.ts'
import { EMPTY_GROUP, type Group, holds, sourceKey } from '../index/groups.ts'
import { type Bounds, boundsContain, boundsOnGlobe } from '../sea/geo.ts'
import { refused } from './errors.ts'
import {
  bbox,
  bounds,
  choice,
  duration,
  integer,
  point,
  type QueryOf,
  text,
  wordSet,
  zoneName,
  zoneOrAuto,
} from './parameters.ts'
import { EXTRA_GROUPS, SPECTRUM, WIRE_NAMES } from '../dataset/reading-json.ts'
import { BUOY_GROUPS } from '../dataset/usual.ts'
import { MEASURE_NAMES } from '../sea/columns.ts'

/** The bits of `has` are those of `Latest.has`. */
export const latestFilters = {
  has: wordSet({
    values: [...MEASURE_NAMES.map((name) => WIRE_NAMES[name]), SPECTRUM],
    description:
      'Only buoys with a value of each of these in their last reading, separated by commas; `spectrum`: with wave spectra.',
  }),
  max_age: duration({
    description:
      "Only buoys with a last reading no older than this at the snapshot's time: seconds, or `15m`, `2h`, `7d`.",
  }),
}

/** The bit after those of the measures. */
const HAS_SPECTRUM = 1 << MEASURE_NAMES.length

interface LatestQuery {
  readonly has: number | undefined
  readonly max_age: number | undefined
}

/** Description of `include` for readings. */
export const INCLUDED =
  'More members of readings: `peak_period`; with `wind` `wind_speed`, `wind_direction` and `gust_speed`; with `swell` height, period and direction of the swell and of the wind sea, as `swell_height` and `wind_wave_height`; with `weather` `air_temperature`, `dew_point`, `pressure`, `humidity` and `visibility`.'

export const include = wordSet({ values: EXTRA_GROUPS, description: INCLUDED })

/** `include` for the last readings of buoys. */
export const includeOfBuoys = wordSet({
  values: BUOY_GROUPS,
  description:
    'More members of last readings, as `peak_period`, `wind` and `swell` add them to readings; with `usual` how the last height compares with those of the same time of the year.',
})

export const bucketParameters = {
  bucket: choice({
    values: ['1h', '3h', '1d', '1mo'],
    synonyms: { hour: '1h', day: '1d', month: '1mo' },
    description:
      'Buckets in place of readings: hours, days or months of the clock of `timezone`, or of UTC, those with readings alone. At most ten years of a buoy by day, and a hundred times as many rows in all.',
  }),
  aggregation: choice({
    values: ['mean', 'max', 'min', 'median'],
    synonyms: { avg: 'mean' },
    default: 'mean',
    goesWith: 'bucket',
    description: 'With `bucket`: how values become one. Directions always have their circular mean.',
  }),
}

const LOCAL_DAYS =
  'Dates without a time are days of this zone, and so are buckets; times of the answer have its offset. Without it all is UTC.'
export const timezone = zoneName({ description: LOCAL_DAYS })
export const timezoneOfBuoy = zoneOrAuto({ description: `${LOCAL_DAYS} \`auto\` is the buoy's own.` })

/** The filter by `has` and `max_age`; null if it takes all buoys. */
export function latestFilter(
  { latest, asOf, readings, spectra }: Dataset,
  { has, max_age: maxAge }: LatestQuery,
): ((ordinal: number) => boolean) | null {
  if (has === undefined && maxAge === undefined) return null
  const wanted = (has ?? 0) & ~HAS_SPECTRUM
  const needsSpectra = ((has ?? 0) & HAS_SPECTRUM) !== 0
  // Buoys without a reading have no age.
  const since = maxAge === undefined ? -1 : Math.max(0, asOf - maxAge)
  return (ordinal) =>
    (latest.has[ordinal] & wanted) === wanted &&
    readings.newestTime(ordinal) >= since &&
    (!needsSpectra || spectra.count(ordinal) > 0)
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

/** The requested box of the globe; null without one. @throws ApiError 400 when both are given */
export function boxOf({ bounds: box, bbox: corners }: QueryOf<typeof boxParameters>): Bounds | null {
  if (box !== undefined && corners !== undefined)
    throw refused('bbox', 'does not go with bounds. Allowed: one of them')
  const given = box ?? corners
  return given === undefined ? null : boundsOnGlobe(given)
}

/** Reach of `near` without `radius`. */
const DEFAULT_RADIUS_KM = 100
/** A little more than half the circumference: all of the globe. */
const MAX_RADIUS_KM = 20100

export const buoyFilters = {
  ...boxParameters,
  near: point({ description: 'Only buoys within `radius` of this point, nearest first.' }),
  radius: integer({
    minimum: 1,
    maximum: MAX_RADIUS_KM,
    default: DEFAULT_RADIUS_KM,
    goesWith: 'near',
    description: 'Kilometres around `near`; ignored without it.',
  }),
  source: text({
    description:
      'Only buoys of this source: its name or a common alias (`NOAA/NDBC` is `NDBC`), ignoring case, accents, spaces and hyphens. Unknown: 400.',
  }),
  country: text({
    pattern: '^[A-Z]{2}$',
    allowed: 'an ISO 3166-1 alpha-2 code in capitals',
    description: 'Only buoys of this country.',
  }),
  ...latestFilters,
}

/** Ordinals of the buoys that pass every filter: ascending, with `near` by distance. @throws ApiError 400 */
export function matchingBuoys(
  dataset: Dataset,
  query: QueryOf<typeof buoyFilters>,
  activeOnly: boolean,
): ArrayLike<number> {
  const { catalog, groups, active, near: byDistance, boxes } = dataset
  const { near, source, country } = query
  const filter = latestFilter(dataset, query)
  const box = boxOf(query)
  const ofSource = source === undefined ? null : groupOfSource(dataset, source)
  const ofCountry = country === undefined ? null : (groups.byCountry.get(country) ?? EMPTY_GROUP)
  const pick = (group: Group): Uint32Array => (activeOnly ? group.active : group.all)
  if (near === undefined && box === null) {
    const ordinals =
      ofSource === null || ofCountry === null
        ? pick(ofSource ?? ofCountry ?? groups.everywhere)
        : intersect(pick(ofSource), pick(ofCountry))
    return filter === null ? ordinals : ordinals.filter(filter)
  }
  const accept = (ordinal: number): boolean =>
    (!activeOnly || active[ordinal] === 1) &&
    (filter === null || filter(ordinal)) &&
    (ofSource === null || holds(ofSource.all, ordinal)) &&
    (ofCountry === null || holds(ofCountry.all, ordinal)) &&
    (near === undefined || box === null || boundsContain(box, catalog.lat[ordinal], catalog.lng[ordinal]))
  if (near === undefined) return boxes.within(box!, accept)
  return byDistance.within(near.lat, near.lng, query.radius, accept)
}

/** Names that a refusal lists. */
const MOST_NAMES = 20

/** @throws ApiError 400 where no network of the snapshot has the name: an empty list would not say so */
function groupOfSource({ groups, catalog: { sources } }: Dataset, source: string): Group {
  const key = sourceKey(source)
  const group = groups.bySource.get(key)
  if (group !== undefined) return group
  const isKnown = sources.some(({ name, label, aliases }) =>
    [name, label ?? '', ...aliases].some((each) => sourceKey(each) === key),
  )
  if (isKnown || sources.length === 0) return EMPTY_GROUP
  const names = sources.slice(0, MOST_NAMES).map(({ name }) => name)
  const rest = sources.length > names.length ? ` and ${sources.length - names.length} more` : ''
  const allowed = `one of ${names.join(', ')}${rest}`
  throw refused('source', `names no network of this server. Allowed: ${allowed}`)
}

/** Members of both of two ascending lists. */
function intersect(a: Uint32Array, b: Uint32Array): number[] {
  const shared: number[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [left, right] = [a[i], b[j]]
    if (left === right) shared.push(left)
    if (left <= right) i++
    if (right <= left) j++
  }
  return shared
}

/** The largest page number. */
const MAX_PAGE = 2147483647

export const page = integer({ minimum: 1, maximum: MAX_PAGE, default: 1, description: 'Page, from 1.' })

/** `page` and `per_page` of a list of readings. */
export const pageParameters = (perPage: number, most: number) => ({
  page,
  per_page: integer({
    minimum: 1,
    default: perPage,
    description: `Readings a page; more than ${most} is taken as ${most}.`,
  }),
})
