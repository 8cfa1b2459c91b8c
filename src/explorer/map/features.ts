/** Buoys, marks and passes as GeoJSON. */
import type { ReadingSummary, SatellitePass } from '../../../clients/typescript/groundswell.ts'
import type { ActiveBuoy } from '../api.ts'
import { quantityText, type Units } from '../mine/units.ts'
import type { Position } from '../view.ts'
import { withoutTwins } from './twins.ts'

/** Code points of a name on the map; the panel has it in full length. */
const MOST_CHARACTERS = 40

function shortened(name: string): string {
  const all = Array.from(name)
  return all.length <= MOST_CHARACTERS ? name : `${all.slice(0, MOST_CHARACTERS - 1).join('')}…`
}

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
        shortName: shortened(name),
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

/** A point that a pass measured, in the order of the track. */
export interface PassPoint extends Position {
  slug: string
  name: string
  /** Metres. */
  height: number
  /** ISO 8601. */
  time: string
}

/** The points that `pass` measured, where no later one has measured them since. */
export function passPoints(pass: SatellitePass, buoys: readonly ActiveBuoy[]): PassPoint[] {
  return buoys
    .flatMap(({ slug, name, lat, lng, last_reading: reading, ...more }) =>
      reading !== null && 'pass_id' in more && more.pass_id === pass.id
        ? [{ slug, name, lat, lng, height: reading.significient_height, time: reading.time }]
        : [],
    )
    .toSorted((a, b) => a.time.localeCompare(b.time))
}

/** The points of a pass, and the shorter way from each to the next. */
export function passFeatures(points: readonly PassPoint[]) {
  const coordinates: [number, number][] = []
  for (const { lat, lng } of points) {
    const before = coordinates.at(-1)?.[0] ?? lng
    coordinates.push([before + wrapped(lng - before), lat])
  }
  return {
    type: 'FeatureCollection' as const,
    features: [
      ...(coordinates.length < 2
        ? []
        : [
            {
              type: 'Feature' as const,
              properties: {},
              geometry: { type: 'LineString' as const, coordinates },
            },
          ]),
      ...coordinates.map((each) => ({
        type: 'Feature' as const,
        properties: {},
        geometry: { type: 'Point' as const, coordinates: each },
      })),
    ],
  }
}

/** Degrees between −180 and 180. */
const wrapped = (degrees: number): number => ((((degrees + 180) % 360) + 360) % 360) - 180
