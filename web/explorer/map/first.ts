/** Which buoys the first view of the map shows. */
import type { Position } from '../view.ts'
import { arcOf } from './arc.ts'

interface Zoned extends Position {
  /** IANA name of the time zone at the buoy. */
  timezone?: string
}

/** Narrower maps show a part of the world first. */
export const NARROW_PIXELS = 600
/** Latitudes between which a first view lies where it can: no buoy is further south or north. */
const [SOUTH, NORTH] = [-60, 80]
/** A time zone is 15° wide; its neighbours belong to its region. */
const DEGREES_AN_HOUR = 15
const REGION_DEGREES = 30

/**
 * The buoys that the first view is made for: all of one region; on a narrow map else those of the visitor's
 * time zone, or at the longitudes around it. A wide map shows as much of the world as it has room for between
 * the polar seas, where most buoys are.
 * @param size the part of the map that nothing covers, in pixels
 * @param visitor IANA name of the time zone, and its hours east of Greenwich
 */
export function firstBuoys<Buoy extends Zoned>(
  buoys: readonly Buoy[],
  { width, height }: { width: number; height: number },
  visitor: { timezone: string; hours: number },
): readonly Buoy[] {
  const [west, east] = arcOf(buoys.map(({ lng }) => lng))
  const near = buoys.filter(({ timezone }) => timezone === visitor.timezone)
  if (width < NARROW_PIXELS && east - west > 2 * REGION_DEGREES) {
    if (near.length > 0) return near
    const middle = visitor.hours * DEGREES_AN_HOUR
    const around = within(buoys, middle - REGION_DEGREES, 2 * REGION_DEGREES)
    if (around.length > 0) return around
  }
  const degrees = (width / height) * (mercator(NORTH) - mercator(SOUTH)) * (180 / Math.PI)
  if (east - west <= degrees) return buoys
  const [first, last] = arcOf(near.map(({ lng }) => lng))
  const middle = near.length > 0 ? (first + last) / 2 : visitor.hours * DEGREES_AN_HOUR
  if (within(buoys, middle - REGION_DEGREES, 2 * REGION_DEGREES).length > 0)
    return within(buoys, middle - degrees / 2, degrees)
  let most: readonly Buoy[] = []
  for (const { lng } of buoys) {
    const shown = within(buoys, lng, degrees)
    if (shown.length > most.length) most = shown
  }
  return most
}

/** Buoys that are at most this many degrees east of `west`. */
const within = <Buoy extends Position>(buoys: readonly Buoy[], west: number, degrees: number): Buoy[] =>
  buoys.filter(({ lng }) => (((lng - west) % 360) + 360) % 360 <= degrees)

const mercator = (lat: number): number => Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360))

export type Side = 'west' | 'east' | 'north' | 'south'

/** How many points of a map lie beyond its edges, by the side where they are; the most first. */
export function beyondOf(
  points: readonly { x: number; y: number }[],
  { width, height }: { width: number; height: number },
): { side: Side; count: number }[] {
  const sideOf = ({ x, y }: { x: number; y: number }): Side | null => {
    if (x < 0 || x > width) return x < 0 ? 'west' : 'east'
    if (y < 0 || y > height) return y < 0 ? 'north' : 'south'
    return null
  }
  const sides = points.map(sideOf)
  return (['west', 'east', 'north', 'south'] as const)
    .map((side) => ({ side, count: sides.filter((each) => each === side).length }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
}
