/** The two ways to ask for a box of the globe: `bounds` of the contract, and `bbox` of OGC and GeoJSON. */
import { boundsOnGlobe, type Bounds } from '../sea/geo.ts'
import { ApiError } from './errors.ts'
import { bbox, bounds, type QueryOf } from './parameters.ts'

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
