/** Operation 1, `GET /buoys`: by id ascending, with `near` by distance; filters combine. */
import { boundsContain } from '../sea/geo.ts'
import { EMPTY_GROUP, holds, sourceKey, type Group } from '../index/groups.ts'
import { boxOf, boxParameters, include, latestFilter, latestFilters } from '../operation/filter-parameters.ts'
import { buoyRows } from '../operation/buoy-table.ts'
import { FORMATS } from '../operation/shape.ts'
import type { Table, TableRequest } from '../operation/answer-table.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { Literal } from '../dataset/literals.ts'
import { ApiError } from '../operation/errors.ts'
import { MAX_PAGE, operation, rowsOfPage, tablePage, writePaging } from '../operation/operation.ts'
import { endList } from '../dataset/json-writer.ts'
import type { View } from '../dataset/view.ts'
import { boolean, integer, point, text, type QueryOf } from '../operation/parameters.ts'

const MAX_PER_PAGE = 500
const DEFAULT_PER_PAGE = 50
/** Reach of `near` without `radius`. */
const DEFAULT_RADIUS_KM = 100
/** A little more than half the circumference: all of the globe. */
const MAX_RADIUS_KM = 20100

const parameters = {
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
    description: 'Only buoys of this country. Raises the default page size to 500.',
  }),
  active_only: boolean({ default: true, description: 'Only buoys with a recent reading.' }),
  ...latestFilters,
  include,
  page: integer({ minimum: 1, maximum: MAX_PAGE, default: 1, description: 'Page, from 1.' }),
  per_page: integer({
    minimum: 1,
    description: `Buoys a page: default ${DEFAULT_PER_PAGE}, with \`country\` ${MAX_PER_PAGE}; more than ${MAX_PER_PAGE} is taken as ${MAX_PER_PAGE}.`,
  }),
}

const BUOYS = new Literal('{"buoys":[')

export const listBuoys = operation({
  name: 'listBuoys',
  path: '/buoys',
  access: 'keyed',
  summary: 'List buoys',
  parameters,
  refusal: 'bad_request',
  errors: ['bad_request'],
  answer(view, query) {
    const { writer, list } = view.fragments
    const perPage = perPageOf(query)
    const ordinals = matching(view, query)
    const { from, to } = rowsOfPage(ordinals.length, query.page, perPage)
    writer.literal(BUOYS)
    list.writeList(ordinals, from, to)
    endList(writer, ordinals.length)
    return writePaging(writer, ordinals.length, query.page, perPage)
  },
  tables: { formats: FORMATS, isList: true, make: tableOf },
})

function tableOf({ view, query, isWhole }: TableRequest<typeof parameters>): Table {
  const matches = matching(view, query)
  const { from, to, paging } = tablePage(matches.length, isWhole, query.page, perPageOf(query))
  return {
    ...buoyRows('list', view.dataset, Uint32Array.from(matches).subarray(from, to), query.include),
    ...(paging && { paging }),
    total: matches.length,
    name: 'buoys',
    list: { key: 'buoys', after: `,"count":${matches.length}` },
  }
}

function perPageOf({ per_page: perPage, country }: QueryOf<typeof parameters>): number {
  return Math.min(perPage ?? (country === undefined ? DEFAULT_PER_PAGE : MAX_PER_PAGE), MAX_PER_PAGE)
}

/** Ordinals of the buoys that pass every filter, in the order of the answer. */
function matching({ dataset }: View, query: QueryOf<typeof parameters>): ArrayLike<number> {
  const { catalog, groups, active, near: byDistance, boxes } = dataset
  const { near, source, country, active_only: activeOnly } = query
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
