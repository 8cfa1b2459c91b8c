/** Movements of the map. They are jumps for visitors who ask their system for less motion. */
import { LngLatBounds, type Map as MapView } from 'maplibre-gl'
import type { SatellitePass } from '../../../clients/typescript/groundswell.ts'
import type { Position } from '../view.ts'
import { FINE_COAST_ZOOM } from './coast.ts'
import { unwrapped } from './features.ts'

/** Pixels of the map that the panel covers, at its left and at its bottom. */
export interface Covered {
  left: number
  bottom: number
}

const FLIGHT_MS = 700
const ZOOM_MS = 250
/** A position that is nearer to the edge is not in view. */
const EDGE_PIXELS = 40
/** From here on the surroundings of a buoy can be made out. */
const CLOSE_ZOOM = 3
const BUOY_ZOOM = 4.5
const FIT_PIXELS = 60
const PASS_PIXELS = 30
const PASS_ZOOM = 5
/** Nearer to the poles a flat map has no room for a pass. */
const PASS_LATITUDE = 80

const duration = (ms: number): number => (matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : ms)

/** Goes to a position, unless it is in view already. */
export function bringIntoView(
  map: MapView,
  host: HTMLElement,
  { lat, lng }: Position,
  { left, bottom }: Covered,
): void {
  const { x, y } = map.project([lng, lat])
  const [right, lower] = [host.clientWidth - EDGE_PIXELS, host.clientHeight - bottom - EDGE_PIXELS]
  const isInView = x > left + EDGE_PIXELS && x < right && y > EDGE_PIXELS && y < lower
  if (isInView && map.getZoom() >= CLOSE_ZOOM) return
  map.easeTo({
    center: [lng, lat],
    zoom: Math.max(map.getZoom(), BUOY_ZOOM),
    offset: [left / 2, -bottom / 2],
    duration: duration(FLIGHT_MS),
  })
}

/** Shows all positions at once where they lie within half of the world. */
export function fitPositions(map: MapView, positions: readonly Position[]): void {
  const bounds = positions.reduce((box, { lat, lng }) => box.extend([lng, lat]), new LngLatBounds())
  if (bounds.isEmpty() || bounds.getEast() - bounds.getWest() > 180) return
  map.fitBounds(bounds, { padding: FIT_PIXELS, maxZoom: FINE_COAST_ZOOM, duration: 0 })
}

/** Shows the box of a pass. */
export function fitBounds(
  map: MapView,
  { south, west, north, east }: SatellitePass['bounds'],
  { left, bottom }: Covered,
): void {
  const bounds = new LngLatBounds(
    [west, Math.max(south, -PASS_LATITUDE)],
    [unwrapped(west, east), Math.min(north, PASS_LATITUDE)],
  )
  map.fitBounds(bounds, {
    padding: { top: PASS_PIXELS, right: PASS_PIXELS, left: left + PASS_PIXELS, bottom: bottom + PASS_PIXELS },
    duration: duration(FLIGHT_MS),
    maxZoom: PASS_ZOOM,
  })
}

export function zoomBy(map: MapView, levels: number): void {
  map.easeTo({ zoom: map.getZoom() + levels, duration: duration(ZOOM_MS) })
}
