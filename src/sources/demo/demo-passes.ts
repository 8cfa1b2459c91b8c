/**
 * Satellite passes of the demonstration, with readings of the made-up sea. Orbits are circles with the
 * inclinations and equator crossings of the Radar Altimeter Database System, within some ten km of the real
 * tracks. A pass follows from mission, cycle and number alone.
 */
import { RowBatch } from '../../sea/row-batch.ts'
import { haversineKm, wrapLongitude, type Bounds } from '../../sea/geo.ts'
import { MISSIONS, passAt } from '../../sea/missions.ts'
import { DAY } from '../../sea/time.ts'
import type { FileReport, Sink } from '../source.ts'
import type { PassRecord } from '../../sea/records.ts'
import { Sea, STEP, type Place } from './demo-sea.ts'
import data from './stations.json' with { type: 'json' }

/** Passes reach back at least this long: the ten-day orbits pass every point once in that time. */
const WINDOW_DAYS = 10

/** Degrees: ice may begin here, and a track ends. */
const MAX_LAT = 72

/** A pass gives a virtual buoy a reading if it crosses the buoy's latitude within this distance. */
const REACH_KM = 25

const RADIANS = Math.PI / 180

interface Orbit {
  /** Degrees. */
  readonly inclination: number
  /** Turns of the earth under the orbit in a cycle. */
  readonly turns: number
  /** Degrees east of the reference crossing in each of the mission's phases. */
  readonly equatorLng: readonly number[]
}

const ORBITS: { readonly [slug: string]: Orbit } = data.orbits

interface VirtualBuoy extends Place {
  buoy: number
}

interface Track {
  /** Epoch seconds and degrees. */
  equatorTime: number
  equatorLng: number
  ascends: boolean
  sin: number
  cos: number
  /** Radians a second of the satellite on its orbit, and of the earth under it. */
  speed: number
  earthSpeed: number
}

/**
 * Sends all passes that end at or before `asOf` (epoch seconds), and the readings that they give `buoys`. The
 * window begins with a month, so that a later build leaves closed months as they are.
 */
export function sendPasses(
  sink: Sink,
  file: FileReport,
  buoys: readonly VirtualBuoy[],
  asOf: number,
  seed: number,
): void {
  const tenth = new Date((asOf - WINDOW_DAYS * DAY) * 1000)
  const from = Date.UTC(tenth.getUTCFullYear(), tenth.getUTCMonth(), 1) / 1000
  const times = new Map<number, number[]>(buoys.map(({ buoy }) => [buoy, []]))
  for (const pass of passesBetween(from, asOf, buoys)) {
    sink.pass(pass)
    for (const { buoy, time } of pass.observations) times.get(buoy)?.push(time)
  }
  const batch = new RowBatch(256)
  for (const place of buoys) {
    const { buoy } = place
    const sea = new Sea(place, seed)
    batch.clear()
    for (const time of times.get(buoy)?.sort((a, b) => a - b) ?? []) {
      // Centimetres, in thousandths.
      const height = Math.round(sea.at(Math.floor(time / STEP)).height * 100) * 10
      batch.columns.significantHeight[batch.add(time)] = height
    }
    if (batch.length > 0) sink.rows(buoy, batch)
    file.rows(batch.length)
  }
}

/** Passes mission by mission, ascending in time. */
function* passesBetween(from: number, asOf: number, buoys: readonly VirtualBuoy[]): Generator<PassRecord> {
  for (const { slug, phases } of MISSIONS) {
    if (!Object.hasOwn(ORBITS, slug)) continue
    const { inclination, turns, equatorLng } = ORBITS[slug]
    for (const [i, phase] of phases.entries()) {
      if (phase.passes === 0) continue
      const first = Math.max(from, phase.from)
      const last = Math.min(asOf, (phases[i + 1]?.from ?? Infinity) - 1)
      const seconds = (phase.days * DAY) / phase.passes
      const earthSpeed = (2 * Math.PI * turns) / (phase.days * DAY)
      const speed = Math.PI / seconds
      const [sin, cos] = [Math.sin(inclination * RADIANS), Math.cos(inclination * RADIANS)]
      const half = Math.asin(Math.min(1, Math.sin(MAX_LAT * RADIANS) / sin)) / speed
      for (let n = Math.ceil((first + half - phase.equator) / seconds); ; n++) {
        const equatorTime = phase.equator + n * seconds
        const startedAt = Math.ceil(equatorTime - half)
        const endedAt = Math.floor(equatorTime + half)
        if (endedAt > last) break
        const numbered = passAt(phases, equatorTime)
        if (numbered === null) continue
        const track: Track = {
          equatorTime,
          // From one crossing to the next the satellite goes half around, and the earth turns on.
          equatorLng:
            equatorLng[i] + ((n % phase.passes) * 180 - ((n % phase.passes) * turns * 360) / phase.passes),
          ascends: numbered.number % 2 === 1,
          sin,
          cos,
          speed,
          earthSpeed,
        }
        yield {
          mission: slug,
          ...numbered,
          startedAt,
          endedAt,
          bounds: boundsOf(track, startedAt, endedAt),
          observations: buoys.flatMap(({ buoy, lat, lng }) => {
            const time = secondAt(track, lat, lng)
            return time >= startedAt && time <= endedAt ? [{ buoy, time }] : []
          }),
        }
      }
    }
  }
}

function pointAt(track: Track, time: number): { lat: number; lng: number } {
  const { equatorTime, equatorLng, ascends, sin, cos, speed, earthSpeed } = track
  const since = time - equatorTime
  const angle = speed * since
  const lat = Math.asin(sin * Math.sin(angle)) / RADIANS
  const along = Math.atan2(cos * Math.sin(angle), Math.cos(angle)) - earthSpeed * since
  return { lat: ascends ? lat : -lat, lng: wrapLongitude(equatorLng + along / RADIANS) }
}

/** A track never reverses in latitude or longitude, so its two ends are the corners of its bounds. */
function boundsOf(track: Track, startedAt: number, endedAt: number): Bounds {
  const [start, end] = [pointAt(track, startedAt), pointAt(track, endedAt)]
  const places = (degrees: number): number => Math.round(degrees * 1e4) / 1e4
  // An inclination above 90 degrees goes west.
  const [west, east] = track.cos > 0 ? [start.lng, end.lng] : [end.lng, start.lng]
  return {
    south: places(Math.min(start.lat, end.lat)),
    west: places(west),
    north: places(Math.max(start.lat, end.lat)),
    east: places(east),
  }
}

/** The whole second at which a track crosses a point's latitude; NaN when the point is out of reach. */
function secondAt(track: Track, lat: number, lng: number): number {
  // The angle is NaN where the orbit does not go so far from the equator.
  const angle = Math.asin(Math.sin(lat * RADIANS) / track.sin)
  const time = Math.round(track.equatorTime + (track.ascends ? angle : -angle) / track.speed)
  const point = pointAt(track, time)
  return haversineKm(lat, lng, point.lat, point.lng) <= REACH_KM ? time : NaN
}
