/**
 * Operation 5, `GET /buoys/nearest`: active, physical buoys by great circle. `limit` 1 answers `data.buoy`,
 * above 1 `data.buoys`, nearest first, and `data.count`; nothing in range is a 404. Items carry
 * `last_reading` too, which clients rely on.
 */
import { notFound } from '../answers/errors.ts'
import {
  buoyColumns,
  buoyPlace,
  hasNoReading,
  lastReadingColumns,
  type OrdinalOf,
} from '../answers/buoy-table.ts'
import type { Dataset } from '../answers/dataset.ts'
import { FORMATS } from '../answers/shape.ts'
import { allRows, type Table } from '../answers/table.ts'
import { Literal } from '../answers/literals.ts'
import { endList, operation } from '../answers/operation.ts'
import { integer, number } from '../answers/parameters.ts'
import { writeNearest } from '../answers/fragments.ts'

const BUOY = new Literal('{"buoy":')
const END = new Literal('}')
const BUOYS = new Literal('{"buoys":[')

export const nearestBuoys = operation({
  name: 'nearestBuoys',
  path: '/buoys/nearest',
  access: 'public',
  summary: 'Nearest active buoys',
  parameters: {
    lat: number({ required: true, minimum: -90, maximum: 90, description: 'Latitude, decimal degrees.' }),
    lng: number({ required: true, minimum: -180, maximum: 180, description: 'Longitude, decimal degrees.' }),
    max_distance: number({ minimum: 0, default: 150, description: 'Greatest distance in km.' }),
    limit: integer({ minimum: 1, maximum: 20, default: 1, description: 'Most buoys to answer.' }),
  },
  refusal: 'bad_request',
  errors: ['bad_request', 'resource_not_found'],
  answer(view, { lat, lng, max_distance: maxDistance, limit }) {
    const { writer } = view.fragments
    const { nearest } = view.dataset
    const count = nearest.find(lat, lng, limit, maxDistance)
    if (count === 0) throw notFound('An active buoy within max_distance')
    if (limit === 1) {
      writer.literal(BUOY)
      writeNearest(view.fragments, nearest, 1)
      writer.literal(END)
      return
    }
    writer.literal(BUOYS)
    writeNearest(view.fragments, nearest, count)
    endList(writer, count)
  },
  tables: {
    formats: FORMATS,
    isList: true,
    make({ view: { dataset }, query: { lat, lng, max_distance: maxDistance, limit } }) {
      const count = dataset.nearest.find(lat, lng, limit, maxDistance)
      if (count === 0) throw notFound('An active buoy within max_distance')
      return tableOf(dataset, count, limit === 1)
    },
  },
})

/** The `count` buoys that were found last. */
function tableOf(dataset: Dataset, count: number, isSingle: boolean): Table {
  const ordinals = dataset.nearest.ordinals.slice(0, count)
  const hundredths = dataset.nearest.hundredths.slice(0, count)
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
      ...lastReadingColumns(dataset, ordinalOf, 'subset'),
      { kind: 'number', name: 'distance_km', unit: 'km', value: (row) => hundredths[row] / 100 },
    ],
    rows: count,
    runs: () => allRows(count),
    absent: { last_reading: hasNoReading(dataset, ordinalOf) },
    place: buoyPlace(dataset, ordinalOf),
    id: 'id',
    total: count,
    name: 'nearest-buoys',
    list: isSingle ? { key: 'buoy', isSingle } : { key: 'buoys', after: `,"count":${count}` },
  }
}
