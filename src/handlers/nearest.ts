/**
 * Operation 5, `GET /buoys/nearest`: active, physical buoys by great circle. `limit` 1 answers `data.buoy`, above 1 `data.buoys`,
 * nearest first, and `data.count`; nothing in range is a 404. Items carry `last_reading` too, which clients rely on.
 */
import { notFound } from '../errors.ts'
import { operation } from '../operation.ts'
import { integer, number } from '../query.ts'
import { writeNearest } from '../shapes.ts'

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
    const { writer } = view.shapes
    const { catalog, active, points } = view.dataset
    const found = points.nearest(
      lat,
      lng,
      limit,
      maxDistance,
      (ordinal) => active[ordinal] === 1 && catalog.virtual[ordinal] === 0,
    )
    const count = found.ordinals.length
    if (count === 0) throw notFound('An active buoy within max_distance')
    if (limit === 1) {
      writer.text('{"buoy":')
      writeNearest(view.shapes, found.ordinals[0], found.km[0])
      writer.text('}')
      return ''
    }
    writer.text('{"buoys":[')
    for (let i = 0; i < count; i++) {
      if (i > 0) writer.comma()
      writeNearest(view.shapes, found.ordinals[i], found.km[i])
    }
    writer.text(`],"count":${count}}`)
    return ''
  },
})
