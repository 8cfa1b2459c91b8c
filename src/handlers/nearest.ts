/**
 * Operation 5, `GET /buoys/nearest`: active, physical buoys by great circle, as `data.buoy` for `limit` 1,
 * else `data.buoys` and `data.count`; nothing in range is a 404. Clients rely on `last_reading`.
 */
import { notFound } from '../operation/errors.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { FORMATS } from '../operation/shape.ts'
import { Literal } from '../dataset/literals.ts'
import { operation } from '../operation/operation.ts'
import { endList } from '../dataset/json-writer.ts'
import { integer, number, type QueryOf } from '../operation/parameters.ts'
import type { Found } from '../index/near.ts'
import { writeNearest } from '../dataset/fragments.ts'
import { includeOfBuoys, latestFilter, latestFilters } from '../operation/filters.ts'

const MAX_LIMIT = 20

const BUOY = new Literal('{"buoy":')
const END = new Literal('}')
const BUOYS = new Literal('{"buoys":[')

const parameters = {
  lat: number({ required: true, minimum: -90, maximum: 90, description: 'Latitude, decimal degrees.' }),
  lng: number({ required: true, minimum: -180, maximum: 180, description: 'Longitude, decimal degrees.' }),
  max_distance: number({ minimum: 0, default: 150, description: 'Greatest distance in km.' }),
  limit: integer({ minimum: 1, maximum: MAX_LIMIT, default: 1, description: 'Most buoys to answer.' }),
  ...latestFilters,
  include: includeOfBuoys,
}

export const nearestBuoys = operation({
  name: 'nearestBuoys',
  path: '/buoys/nearest',
  access: 'public',
  summary: 'Nearest active buoys',
  parameters,
  refusal: 'bad_request',
  errors: ['bad_request', 'resource_not_found'],
  answer(view, query) {
    const { writer } = view.fragments
    const found = find(view.dataset, query)
    if (query.limit === 1) {
      writer.literal(BUOY)
      writeNearest(view.fragments, found)
      writer.literal(END)
      return
    }
    writer.literal(BUOYS)
    writeNearest(view.fragments, found)
    endList(writer, found.length)
  },
  tables: { formats: FORMATS, isList: true },
})

/** @throws ApiError 404 where there is none */
function find(dataset: Dataset, query: QueryOf<typeof parameters>): readonly Found[] {
  const { lat, lng, limit, max_distance: maxDistance } = query
  const { near, isActiveAndPhysical } = dataset
  const filter = latestFilter(dataset, query)
  const accept =
    filter === null ? isActiveAndPhysical : (i: number): boolean => isActiveAndPhysical(i) && filter(i)
  const found = near.nearest(lat, lng, limit, maxDistance, accept)
  if (found.length > 0) return found
  throw notFound(
    filter === null
      ? 'No active buoy lies within max_distance'
      : `No active buoy within max_distance passes ${filtersText(query)}`,
  )
}

function filtersText({ has, max_age: maxAge }: QueryOf<typeof parameters>): string {
  if (has === undefined) return 'the filter max_age'
  return maxAge === undefined ? 'the filter has' : 'the filters has and max_age'
}
