/**
 * Operation 5, `GET /buoys/nearest`: active, physical buoys by great circle. `limit` 1 answers `data.buoy`,
 * above 1 `data.buoys`, nearest first, and `data.count`; nothing in range is a 404. Items carry
 * `last_reading` too, which clients rely on.
 */
import { notFound } from '../answers/errors.ts'
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
})
