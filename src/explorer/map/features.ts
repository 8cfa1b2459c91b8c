/** Buoys, marks and passes as GeoJSON. */
import type { ReadingSummary, SatellitePass } from '../../../clients/typescript/groundswell.ts'
import type { ActiveBuoy } from '../api.ts'
import { quantityText, type Units } from '../mine/units.ts'
import type { Position } from '../view.ts'
import { withoutTwins } from './twins.ts'

export const EMPTY = { type: 'FeatureCollection' as const, features: [] }

/** What the panel is about: a buoy with or without a reading, or a point of the sea. */
export type Target = Position & { last_reading?: ReadingSummary | null }

export function buoyFeatures(buoys: readonly ActiveBuoy[], units: Units) {
  return {
    type: 'FeatureCollection' as const,
    features: withoutTwins(buoys).map(({ id, slug, name, virtual, lat, lng, last_reading: reading }) => ({
      type: 'Feature' as const,
      properties: {
        id,
        slug,
        name,
        virtual,
        height: reading?.significient_height ?? null,
        label: reading === null ? '' : quantityText('height', units, reading.significient_height, 1),
      },
      geometry: { type: 'Point' as const, coordinates: [lng, lat] },
    })),
  }
}

export function markFeature({ lat, lng, last_reading: reading }: Target) {
  return {
    type: 'Feature' as const,
    properties: reading === null || reading === undefined ? {} : { height: reading.significient_height },
    geometry: { type: 'Point' as const, coordinates: [lng, lat] },
  }
}

/** Bounds over the antimeridian have west greater than east. */
export const unwrapped = (west: number, east: number): number => (east < west ? east + 360 : east)

/** The box of a pass. */
export function passFeature({ bounds: { south, west, north, east } }: SatellitePass) {
  const right = unwrapped(west, east)
  const corners = [
    [west, south],
    [right, south],
    [right, north],
    [west, north],
    [west, south],
  ]
  return {
    type: 'Feature' as const,
    properties: {},
    geometry: { type: 'Polygon' as const, coordinates: [corners] },
  }
}
