/** Which buoys an operation is about: by box, distance, network, country and newest reading. */
import type { Dataset } from '../dataset/dataset.ts'
import { EMPTY_GROUP, holds, sourceKey, type Group } from '../index/groups.ts'
import { boundsContain } from '../sea/geo.ts'
import { ApiError } from './errors.ts'
import { boxOf, boxParameters, latestFilter, latestFilters } from './filter-parameters.ts'
import { integer, point, text, type QueryOf } from './parameters.ts'

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
    description: 'Kilometres around `near`; ignored without it.',
  }),
  source: text({
    description:
      'Only buoys of this source, by its name or a usual other one (`NOAA/NDBC` is `NDBC`); case, accents, blanks and hyphens do not count. One that the server has no data of is a 400.',
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
  return byDistance.within(near.lat, near.lng, query.radius, accept).map(({ ordinal }) => ordinal)
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
  throw new ApiError(
    'bad_request',
    `Parameter source names no network of this server. Allowed: one of ${names.join(', ')}${rest}`,
    { parameter: 'source' },
  )
}

/** What two ascending lists share. */
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
