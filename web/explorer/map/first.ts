/** The first view of a flat map: which buoys it shows, from where, and what it leaves out. */
import { type Camera, MAP_END, type Position } from '../view.ts'
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
 */
export function firstBuoys<Buoy extends Zoned>(
  buoys: readonly Buoy[],
  { width, height }: { width: number; height: number },
  visitor: Visitor,
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

/** The place of the map, and how much of it is covered from its sides; `panel` of the bottom. Pixels. */
export type Frame = Readonly<Record<'width' | 'height' | 'top' | 'right' | 'bottom' | 'panel', number>>

/** The visitor's time zone: its IANA name, and its hours east of Greenwich. */
export interface Visitor {
  timezone: string
  hours: number
}

/** The view of a map without buoys: the Atlantic. */
const NO_BUOYS: Camera = { lat: 25, lng: -30, zoom: 1 }
/** At the least zoom even a watch shows the whole world; at the greatest, buoys at one pier lie apart. */
export const ZOOMS = { least: -2, most: 14 } as const
/** The world is this wide at zoom 0. */
export const TILE_PIXELS = 512
/** A position that is nearer to the edge is not in view. */
const EDGE_PIXELS = 40
/** From this zoom on a buoy is seen with the coast around it, and its neighbours have names. */
export const BUOY_ZOOM = 4.5
/**
 * The closest first view; that of a single buoy, around which a coast is to be seen; that of a part of the
 * buoys.
 */
const FIT_ZOOM = { several: 9, one: 7.5, part: 3.9 } as const
/** Half of the ring around a chosen dot. */
const RING_PIXELS = 18
/** South of Cape Horn are no buoys, and a flat map has much room for it. */
const SOUTHMOST = -60

/** A place on Mercator's map, in turns of the Earth from 0° 0° to the east and to the south. */
export const onMap = ({ lat, lng }: Position): { x: number; y: number } => ({
  x: lng / 360,
  y: -mercator(Math.max(-MAP_END, Math.min(MAP_END, lat))) / (2 * Math.PI),
})

function cameraAt(x: number, y: number, zoom: number): Camera {
  const lat = (Math.atan(Math.sinh(-2 * Math.PI * y)) * 180) / Math.PI
  return { lat: Math.max(-MAP_END, Math.min(MAP_END, lat)), lng: wrapped(x) * 360, zoom }
}

/** Turns to the east, from -0.5. */
export const wrapped = (turns: number): number => turns - Math.floor(turns + 0.5)

/** Place of a position on a flat map, the shorter way around from its middle, in pixels of its area. */
export function spotOf(
  position: Position,
  camera: Camera,
  { width, height }: Frame,
): { x: number; y: number } {
  const [at, middle] = [onMap(position), onMap(camera)]
  const world = TILE_PIXELS * 2 ** camera.zoom
  return { x: width / 2 + wrapped(at.x - middle.x) * world, y: height / 2 + (at.y - middle.y) * world }
}

/**
 * Shows the buoys, on a narrow map those of the visitor's region, over the antimeridian where that is
 * shorter.
 */
export function firstCamera(buoys: readonly Zoned[], frame: Frame, visitor: Visitor): Camera {
  const { width, height } = frame
  const shown = firstBuoys(buoys, { width, height: height - frame.panel }, visitor)
  if (shown.length === 0) return NO_BUOYS
  const [west, east] = arcOf(shown.map(({ lng }) => lng))
  const lats = shown.map(({ lat }) => lat)
  const [south, north] = [Math.min(...lats), Math.max(...lats)]
  const [first, last] = [onMap({ lat: north, lng: west }), onMap({ lat: south, lng: east })]
  // A small map is not all frame.
  const edge = Math.min(EDGE_PIXELS, width / 16, height / 8)
  const beside = (covered: number, most: number): number =>
    Math.min(Math.max(edge, covered + RING_PIXELS), most)
  const top = beside(frame.top, height / 4)
  const right = beside(frame.right, width / 4)
  const bottom = beside(frame.bottom, height / 2)
  const fitted = Math.log2(
    Math.min((width - edge - right) / (last.x - first.x), (height - top - bottom) / (last.y - first.y)) /
      TILE_PIXELS,
  )
  const several = shown.length === 1 ? FIT_ZOOM.one : FIT_ZOOM.several
  const most = shown.length < buoys.length ? FIT_ZOOM.part : several
  const zoom = Math.max(ZOOMS.least, Math.min(most, fitted))
  const world = TILE_PIXELS * 2 ** zoom
  const [x, y] = [
    (first.x + last.x + (right - edge) / world) / 2,
    (first.y + last.y + (bottom - top) / world) / 2,
  ]
  // Antarctica goes out of view where the buoys leave room.
  const yOf = (lat: number): number => height / 2 + (onMap({ lat, lng: 0 }).y - y) * world
  const room = height - frame.bottom - RING_PIXELS - yOf(south)
  const up = Math.max(0, Math.min(height - frame.panel - yOf(SOUTHMOST), room))
  return cameraAt(x, y - up / world, zoom)
}

/** Whether a spot of the map is clear of its edges and of controls over it. */
export const isClear = (
  { x, y }: { x: number; y: number },
  { width, height, top, right, panel }: Frame,
): boolean =>
  x > EDGE_PIXELS &&
  x < width - Math.max(EDGE_PIXELS, right + RING_PIXELS) &&
  y > Math.max(EDGE_PIXELS, top + RING_PIXELS) &&
  y < height - panel - EDGE_PIXELS

/** The camera that shows a position from near enough, in the middle of what the panel leaves free. */
export function cameraOn(position: Position, camera: Camera, frame: Frame): Camera {
  if (camera.zoom >= BUOY_ZOOM && isClear(spotOf(position, camera, frame), frame)) return camera
  const zoom = Math.max(camera.zoom, BUOY_ZOOM)
  const { x, y } = onMap(position)
  return cameraAt(x, y + frame.panel / 2 / (TILE_PIXELS * 2 ** zoom), zoom)
}

type Side = 'west' | 'east' | 'north' | 'south'

/** How many points of a map lie beyond its edges, by the side where they are; the most first. */
export function beyondOf(
  points: readonly { x: number; y: number }[],
  { width, height }: { width: number; height: number },
): { side: Side; count: number }[] {
  const counts = { west: 0, east: 0, north: 0, south: 0 }
  for (const { x, y } of points) {
    if (x < 0) counts.west++
    else if (x > width) counts.east++
    else if (y < 0) counts.north++
    else if (y > height) counts.south++
  }
  return (Object.entries(counts) as [Side, number][])
    .map(([side, count]) => ({ side, count }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
}
