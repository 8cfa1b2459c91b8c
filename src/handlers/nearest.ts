/**
 * Operation 5, `GET /buoys/nearest`: active, physical buoys by great circle. `limit` 1 answers `data.buoy`,
 * above 1 `data.buoys`, nearest first, and `data.count`; nothing in range is a 404. Items carry
 * `last_reading` too, which clients rely on.
 */
import { notFound } from '../answers/errors.ts'
import { buoyColumns, buoyRows, lastReadingColumns, type OrdinalOf } from '../answers/buoy-table.ts'
import type { Dataset } from '../answers/dataset.ts'
import { FORMATS } from '../answers/shape.ts'
import type { Table } from '../answers/table.ts'
import { Literal } from '../answers/literals.ts'
import { endList, operation } from '../answers/operation.ts'
import { integer, number, type QueryOf } from '../answers/parameters.ts'
import { writeNearest, type NearestFound } from '../answers/fragments.ts'
import { include, latestFilter, latestFilters } from '../answers/measures.ts'
import { MOST_NEAREST } from '../index/nearest.ts'
import { haversineKm } from '../sea/geo.ts'

const BUOY = new Literal('{"buoy":')
const END = new Literal('}')
const BUOYS = new Literal('{"buoys":[')

const parameters = {
  lat: number({ required: true, minimum: -90, maximum: 90, description: 'Latitude, decimal degrees.' }),
  lng: number({ required: true, minimum: -180, maximum: 180, description: 'Longitude, decimal degrees.' }),
  max_distance: number({ minimum: 0, default: 150, description: 'Greatest distance in km.' }),
  limit: integer({ minimum: 1, maximum: MOST_NEAREST, default: 1, description: 'Most buoys to answer.' }),
  ...latestFilters,
  include,
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
      writeNearest(view.fragments, found, 1)
      writer.literal(END)
      return
    }
    writer.literal(BUOYS)
    writeNearest(view.fragments, found, found.count)
    endList(writer, found.count)
  },
  tables: {
    formats: FORMATS,
    isList: true,
    make: ({ view: { dataset }, query }) => tableOf(dataset, find(dataset, query), query),
  },
})

/** One for all requests of a thread, nearest first. */
const FOUND: NearestFound & { count: number } = {
  ordinals: new Uint32Array(0),
  hundredths: new Uint32Array(0),
  count: 0,
}
const FILTERED = new Uint32Array(MOST_NEAREST)

/** @throws ApiError 404 where there is none */
function find(dataset: Dataset, query: QueryOf<typeof parameters>): typeof FOUND {
  const { lat, lng, limit, max_distance: maxDistance } = query
  const { nearest, around, active, catalog } = dataset
  const filter = latestFilter(dataset, query)
  if (filter === null) {
    FOUND.ordinals = nearest.ordinals
    FOUND.hundredths = nearest.hundredths
    FOUND.count = nearest.find(lat, lng, limit, maxDistance)
    if (FOUND.count === 0) throw notFound('An active buoy within max_distance')
    return FOUND
  }
  // Not by the tree: where hardly any buoy is taken, it would look at all of them in the order of distance.
  const isTaken = (i: number): boolean => active[i] === 1 && catalog.virtual[i] === 0 && filter(i)
  FOUND.count = Math.min(limit, around.find(lat, lng, maxDistance, isTaken, 0, limit))
  if (FOUND.count === 0) throw notFound('An active buoy within max_distance that has and max_age take')
  FOUND.ordinals = around.ordinals
  FOUND.hundredths = FILTERED
  for (let i = 0; i < FOUND.count; i++) {
    const ordinal = around.ordinals[i]
    FILTERED[i] = Math.round(100 * haversineKm(lat, lng, catalog.lat[ordinal], catalog.lng[ordinal]))
  }
  return FOUND
}

function tableOf(dataset: Dataset, found: typeof FOUND, query: QueryOf<typeof parameters>): Table {
  const isSingle = query.limit === 1
  const { count } = found
  // What was found lies where the next request finds.
  const ordinals = found.ordinals.slice(0, count)
  const hundredths = found.hundredths.slice(0, count)
  const ordinalOf: OrdinalOf = (row) => ordinals[row]
  const { id, name, lat, lng, source, identifier } = buoyColumns(dataset, ordinalOf)
  return {
    columns: [
      id,
      name,
      lat,
      lng,
      source,
      identifier,
      ...lastReadingColumns(dataset, ordinalOf, 'subset', query.include),
      { kind: 'number', name: 'distance_km', unit: 'km', value: (row) => hundredths[row] / 100 },
    ],
    ...buoyRows(dataset, ordinals),
    total: count,
    name: 'nearest-buoys',
    list: isSingle ? { key: 'buoy', isSingle } : { key: 'buoys', after: `,"count":${count}` },
  }
}
