/** Buoys and passes as GeoJSON. */
import type { ReadingSummary, SatellitePass } from '../../../clients/typescript/groundswell.ts'
import type { ActiveBuoy } from '../api.ts'
import { duration, isOld } from '../format.ts'
import { classOf } from '../heights.ts'
import { scaledText, scaleOf, scalesOfSources, type Scale, type Units } from '../mine/units.ts'
import type { Position } from '../view.ts'

const HOUR_MS = 3_600_000

export const EMPTY = { type: 'FeatureCollection' as const, features: [] }

export const pointAt = ({ lat, lng }: Position) => ({
  type: 'Feature' as const,
  properties: {},
  geometry: { type: 'Point' as const, coordinates: [lng, lat] },
})

/** `now` in epoch milliseconds. */
export function buoyFeatures(buoys: readonly ActiveBuoy[], units: Units, now: number) {
  const scalesOf = scalesOfSources(buoys, units)
  return buoys.map((buoy) => {
    const { id, slug, name, virtual, last_reading: reading } = buoy
    const height = reading?.significient_height
    return {
      ...pointAt(buoy),
      properties: {
        id,
        slug,
        name,
        virtual,
        // By the height dots are placed, by its class coloured.
        ...(height !== undefined && { height, class: classOf(height, scaleOf('height', units)) }),
        // Readings of satellites are rings at any age: they are hours old when they come.
        old: !virtual && reading !== null && isOld(Date.parse(reading.time), now),
        label: reading === null ? '' : labelOf(reading, virtual, scalesOf(buoy)('height'), now),
      },
    }
  })
}

/** `1.8 m`, and of an old reading `1.8 m · 5 h ago`, in whole hours. */
function labelOf(reading: ReadingSummary, virtual: boolean, scale: Scale, now: number): string {
  const height = scaledText(scale, reading.significient_height)
  const time = Date.parse(reading.time)
  if (virtual || !isOld(time, now)) return height
  const hours = Math.floor((now - time) / HOUR_MS)
  return `${height} · ${duration(hours * 3600)} ago`
}

/** The points that `pass` measured, in the order of its track, where no later one has measured them since. */
export function passPoints(pass: SatellitePass, buoys: readonly ActiveBuoy[]): ActiveBuoy[] {
  return buoys
    .filter((buoy) => 'pass_id' in buoy && buoy.pass_id === pass.id && buoy.last_reading !== null)
    .toSorted((a, b) => (a.last_reading_time ?? '').localeCompare(b.last_reading_time ?? ''))
}
