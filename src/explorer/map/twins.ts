/** One buoy in two networks is one dot of the map. */
import type { ActiveBuoy } from '../api.ts'

/**
 * Networks give the position of one mooring to a hundredth of a degree, and move its name's case and accents.
 */
const SAME_DEGREES = 0.01
/** Buoys of any name that are nearer to each other than this, some hundred metres, are one. */
const AT_DEGREES = 0.001

/**
 * The buoys without those that another network has too: of two the one with the newer reading stays, else the
 * first.
 */
export function withoutTwins(buoys: readonly ActiveBuoy[]): readonly ActiveBuoy[] {
  const byLat = buoys.filter(({ virtual }) => !virtual).toSorted((a, b) => a.lat - b.lat)
  const hidden = new Set<ActiveBuoy>()
  byLat.forEach((one, i) => {
    for (let k = i + 1; k < byLat.length; k++) {
      const other = byLat[k]
      if (other === undefined || other.lat - one.lat > SAME_DEGREES) break
      if (areOne(one, other)) hidden.add(isBetter(one, other) ? other : one)
    }
  })
  return hidden.size === 0 ? buoys : buoys.filter((buoy) => !hidden.has(buoy))
}

function areOne(one: ActiveBuoy, other: ActiveBuoy): boolean {
  if (one.source === other.source) return false
  const across = Math.abs(one.lng - other.lng)
  const east = Math.min(across, 360 - across) * Math.cos((one.lat * Math.PI) / 180)
  const apart = Math.max(east, Math.abs(one.lat - other.lat))
  return apart <= AT_DEGREES || (apart <= SAME_DEGREES && folded(one.name) === folded(other.name))
}

function isBetter(one: ActiveBuoy, other: ActiveBuoy): boolean {
  const [mine, theirs] = [one.last_reading_time ?? '', other.last_reading_time ?? '']
  return mine === theirs ? one.id < other.id : mine > theirs
}

const folded = (name: string): string => name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
