/**
 * One physical buoy under two networks: where the operator has put the networks in an order, the one that
 * comes first keeps the buoy and the other's is left out. A feed that has fallen silent does not push a
 * living one aside.
 */
import { haversineKm } from '../sea/geo.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { DAY } from '../sea/time.ts'

/** Seconds by which the preferred feed may be behind the other one. */
const SILENT = DAY

/** One degree of latitude, less than its true length. */
const KM_PER_DEGREE = 111

export interface SameBuoy {
  leftOut: BuoyRecord
  stays: BuoyRecord
  km: number
}

/**
 * Pairs of physical buoys of two networks of `prefer` within `withinKm` of each other; the preferred one is
 * that which stays.
 */
export function samePlaces(
  buoys: readonly BuoyRecord[],
  prefer: readonly string[],
  withinKm: number,
): SameBuoy[] {
  const rank = new Map(prefer.map((name, i) => [name, i]))
  const ranked = buoys.filter((buoy) => buoy.virtual !== true && rank.has(buoy.source))
  const pairs: SameBuoy[] = []
  for (const stays of ranked) {
    for (const leftOut of ranked) {
      if (rank.get(stays.source)! >= rank.get(leftOut.source)!) continue
      if (Math.abs(stays.lat - leftOut.lat) * KM_PER_DEGREE > withinKm) continue
      const km = haversineKm(stays.lat, stays.lng, leftOut.lat, leftOut.lng)
      if (km <= withinKm) pairs.push({ leftOut, stays, km })
    }
  }
  // The most preferred decide first, and of equal ones the nearest.
  return pairs.sort((a, b) => rank.get(a.stays.source)! - rank.get(b.stays.source)! || a.km - b.km)
}

/**
 * Decides which of the pairs leave a buoy out, each buoy once. `newestOf` tells the time of a buoy's newest
 * reading, −1 where it has none.
 */
export function leaveOut(pairs: readonly SameBuoy[], newestOf: (buoy: BuoyRecord) => number): SameBuoy[] {
  const out = new Map<BuoyRecord, SameBuoy>()
  for (const pair of pairs) {
    const { leftOut, stays } = pair
    if (out.has(leftOut) || out.has(stays)) continue
    if (newestOf(stays) + SILENT >= newestOf(leftOut)) out.set(leftOut, pair)
  }
  return [...out.values()]
}
