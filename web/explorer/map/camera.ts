/** Movements of the map, which are jumps for visitors who ask their system for less motion. */
import { LngLatBounds, type Map as MapView } from 'maplibre-gl'
import type { Position } from '../view.ts'
import { arcOf } from './arc.ts'

/** Pixels of the map that the panel covers, at its left and at its bottom. */
export interface Covered {
  left: number
  bottom: number
}

const FLIGHT_MS = 700
export const ZOOM_MS = 250
/** A position that is nearer to the edge is not in view. */
const EDGE_PIXELS = 40
/** From here on the surroundings of a buoy can be made out. */
const CLOSE_ZOOM = 3
const BUOY_ZOOM = 4.5
/** Room for the buttons at the right of the map and the legend at its bottom. */
const FRAME_PIXELS = { top: 40, right: 74, bottom: 96, left: 40 } as const
/** What is left of a small map around the frame; a map that is all frame shows nothing anew. */
const MOST_FRAME_SHARE = 0.6
const NARROW_PIXELS = 500
const NARROW_FRAME_PIXELS = { top: 24, right: 62, bottom: 84, left: 24 } as const
/** The closest first view: the coast is not loaded for it. */
const FIT_ZOOM = 3.9
/** What lies further south than Cape Horn has no buoys and much room on a flat map. */
const SOUTHMOST = -60
/** Tells movements of the page's own from those of the visitor. */
const OWN_MOVE = { isOwn: true } as const

export const duration = (ms: number): number =>
  matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : ms

/** Goes to a position, unless it is in view already. With `sameZoom` the map is only moved. */
export function bringIntoView(
  map: MapView,
  host: HTMLElement,
  { lat, lng }: Position,
  { left, bottom }: Covered,
  sameZoom: boolean,
): void {
  const { x, y } = map.project([lng, lat])
  const [right, lower] = [host.clientWidth - EDGE_PIXELS, host.clientHeight - bottom - EDGE_PIXELS]
  const isInView = x > left + EDGE_PIXELS && x < right && y > EDGE_PIXELS && y < lower
  if (isInView && (sameZoom || map.getZoom() >= CLOSE_ZOOM)) return
  map.easeTo({
    center: [lng, lat],
    zoom: sameZoom ? map.getZoom() : Math.max(map.getZoom(), BUOY_ZOOM),
    offset: [left / 2, -bottom / 2],
    duration: duration(FLIGHT_MS),
  })
}

/** Shows all positions at once, over the antimeridian where that is the shorter way around. */
export function fitPositions(
  map: MapView,
  host: HTMLElement,
  positions: readonly Position[],
  { left, bottom }: Covered,
  { maxZoom = FIT_ZOOM, isFlight = false } = {},
): void {
  if (positions.length === 0) return
  const [west, east] = arcOf(positions.map(({ lng }) => lng))
  const lats = positions.map(({ lat }) => lat)
  const frame = host.clientWidth < NARROW_PIXELS ? NARROW_FRAME_PIXELS : FRAME_PIXELS
  const [fromLeft, fromRight] = frameWithin(host.clientWidth, frame.left + left, frame.right)
  const lower = Math.max(frame.bottom, bottom + frame.top)
  const [fromTop, fromBottom] = frameWithin(host.clientHeight, frame.top, lower)
  map.fitBounds(
    new LngLatBounds([west, Math.min(...lats)], [east, Math.max(...lats)]),
    {
      padding: { left: fromLeft, right: fromRight, top: fromTop, bottom: fromBottom },
      maxZoom,
      duration: isFlight ? duration(FLIGHT_MS) : 0,
    },
    OWN_MOVE,
  )
  if (isFlight || isGlobe(map)) return
  // Antarctica goes out of view where the buoys leave room.
  const yOf = (lat: number): number => map.project([west, lat]).y
  const room = host.clientHeight - fromBottom - yOf(Math.min(...lats))
  const up = Math.min(host.clientHeight - bottom - yOf(SOUTHMOST), room)
  if (up > 0) map.panBy([0, -up], { duration: 0 }, OWN_MOVE)
}

export const isGlobe = (map: MapView): boolean => map.getProjection()?.type === 'globe'

/** Share of the free pane's smaller side that the disc of the globe takes. */
const DISC_SHARE = 0.9
/** MapLibre looks at the surface from so many heights of the map away. */
const CAMERA_HEIGHTS = 1.5
const TILE_PIXELS = 512

/** Shows the whole globe, with the middle of `positions` in front. */
export function fitGlobe(
  map: MapView,
  host: HTMLElement,
  positions: readonly Position[],
  { left, bottom }: Covered,
): void {
  const [west, east] = arcOf(positions.map(({ lng }) => lng))
  const lats = positions.map(({ lat }) => lat)
  const lat = positions.length === 0 ? map.getCenter().lat : (Math.min(...lats) + Math.max(...lats)) / 2
  const [width, height] = [host.clientWidth - left, host.clientHeight - bottom]
  const distance = CAMERA_HEIGHTS * host.clientHeight
  // The rim is where a line from the camera touches the sphere.
  const sine = Math.sin(Math.atan((DISC_SHARE * Math.min(width, height)) / 2 / distance))
  const radius = (distance * sine) / (1 - sine)
  map.jumpTo(
    {
      center: [positions.length === 0 ? map.getCenter().lng : (west + east) / 2, lat],
      zoom: Math.log2((2 * Math.PI * radius * Math.cos((lat * Math.PI) / 180)) / TILE_PIXELS),
      padding: { left, bottom, right: 0, top: 0 },
    },
    OWN_MOVE,
  )
}

function frameWithin(size: number, first: number, second: number): [number, number] {
  const factor = Math.min(1, (size * MOST_FRAME_SHARE) / (first + second))
  return [first * factor, second * factor]
}

export function zoomBy(map: MapView, levels: number): void {
  map.easeTo({ zoom: map.getZoom() + levels, duration: duration(ZOOM_MS) })
}
