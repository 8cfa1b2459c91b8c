/** Buoys as GeoJSON. */
import type { ReadingSummary } from '../../../clients/typescript/groundswell.ts'
import type { ActiveBuoy } from '../api.ts'
import { agoText, isOld } from '../format.ts'
import { classOf } from '../heights.ts'
import { scaledText, scaleOf, type Scale, type Scales, type Units } from '../mine/units.ts'
import type { Position } from '../view.ts'

const HOUR_MS = 3_600_000

export const EMPTY = { type: 'FeatureCollection' as const, features: [] }

export const pointAt = ({ lat, lng }: Position) => ({
  type: 'Feature' as const,
  properties: {},
  geometry: { type: 'Point' as const, coordinates: [lng, lat] },
})

/** Characters of a name on the map; the panel has it in full length. */
const MOST_CHARACTERS = 40

/** `now` in epoch milliseconds. */
export function buoyFeatures(
  buoys: readonly ActiveBuoy[],
  scalesOf: (buoy: ActiveBuoy) => Scales,
  units: Units,
  now: number,
) {
  return buoys.map((buoy) => {
    const { id, slug, name, virtual, last_reading: reading } = buoy
    const isStale = reading === null || isOld(Date.parse(reading.time), now, virtual)
    const from = reading?.direction ?? null
    const height = reading?.significient_height
    const characters = Array.from(name)
    return {
      ...pointAt(buoy),
      properties: {
        id,
        slug,
        name:
          characters.length > MOST_CHARACTERS
            ? `${characters.slice(0, MOST_CHARACTERS - 1).join('')}…`
            : name,
        virtual,
        // The height orders dots, its class colours them.
        ...(height !== undefined && { height, class: classOf(height, scaleOf('height', units)) }),
        old: isStale,
        // A direction of hours ago says nothing.
        ...(from !== null && !isStale && { from }),
        label: reading === null ? '' : labelOf(reading, virtual, scalesOf(buoy)('height'), now),
      },
    }
  })
}

/** `1.8 m`, and of an old reading `1.8 m · 5 h ago`. */
function labelOf(reading: ReadingSummary, virtual: boolean, scale: Scale, now: number): string {
  const height = scaledText(scale, reading.significient_height)
  const time = Date.parse(reading.time)
  if (!isOld(time, now, virtual)) return height
  // In whole hours, so that it changes once an hour.
  const hours = Math.floor((now - time) / HOUR_MS)
  return `${height} · ${agoText(now - hours * HOUR_MS, now)}`
}
