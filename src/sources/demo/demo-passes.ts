/**
 * Satellite passes of the demonstration. Orbits are circles with the inclinations and equator crossings of the
 * Radar Altimeter Database System, within some ten km of the real tracks. A pass follows from mission, cycle
 * and number alone.
 */
import { haversineKm, wrapLongitude } from '../../sea/geo.ts'
import { missionOfSlug, passAt } from '../../sea/missions.ts'
import type { PassRecord } from '../../sea/records.ts'
import { DAY } from '../../sea/time.ts'
import data from './stations.json' with { type: 'json' }

/** A pass gives a virtual buoy a reading if it crosses the buoy's latitude within this distance. */
const REACH_KM = 25
const RADIANS = Math.PI / 180

/** Passes mission by mission, ascending, that begin after `from` and end at or before `to` (epoch seconds). */
export function* passesBetween(
  from: number,
  to: number,
  buoys: readonly { buoy: number; lat: number; lng: number }[],
): Generator<PassRecord> {
  // Degrees of inclination, turns of the earth under the orbit in a cycle, and degrees east of the crossing of the
  // equator that the mission's numbers count from.
  for (const [slug, orbit] of Object.entries(data.orbits)) {
    const { phases } = missionOfSlug(slug)!
    const [{ from: begin, equator, days, passes }] = phases
    // A pass is half a turn of the satellite, from one turning point of the latitude to the next.
    const seconds = (days * DAY) / passes
    const speed = Math.PI / seconds
    const earthSpeed = (360 * orbit.turns) / (days * DAY)
    const [sin, cos] = [Math.sin(orbit.inclination * RADIANS), Math.cos(orbit.inclination * RADIANS)]
    const north = Math.round((Math.asin(sin) / RADIANS) * 1e4) / 1e4
    for (let n = Math.ceil((Math.max(from, begin) - equator) / seconds + 0.5); ; n++) {
      const crossing = equator + n * seconds
      const startedAt = Math.floor(crossing - seconds / 2) + 1
      const endedAt = Math.floor(crossing + seconds / 2)
      if (endedAt > to) break
      const numbered = passAt(phases, crossing)!
      const lngAt = (time: number): number => {
        const angle = speed * (time - crossing)
        const along = Math.atan2(cos * Math.sin(angle), Math.cos(angle)) / RADIANS
        return wrapLongitude(orbit.equatorLng + n * 180 + along - earthSpeed * (time - equator))
      }
      const observations = buoys.flatMap(({ buoy, lat, lng }) => {
        const angle = Math.asin(Math.sin(lat * RADIANS) / sin)
        const time = Math.round(crossing + (numbered.number % 2 === 1 ? angle : -angle) / speed)
        // The time is NaN where the orbit does not go so far from the equator.
        return haversineKm(lat, lng, lat, lngAt(time)) <= REACH_KM ? [{ buoy, time }] : []
      })
      const ends = [startedAt, endedAt].map((time) => Math.round(lngAt(time) * 1e4) / 1e4)
      // A track never reverses in longitude; an inclination above 90 degrees goes west.
      const [west, east] = cos > 0 ? ends : ends.toReversed()
      const bounds = { south: -north, west, north, east }
      yield { mission: slug, ...numbered, startedAt, endedAt, bounds, observations }
    }
  }
}
