/** Movements of the map, which MapLibre makes jumps for visitors who ask their system for less motion. */
import { LngLatBounds, type Map as MapView } from 'maplibre-gl'
import type { ActiveBuoy } from '../api.ts'
import { coveredByPanel } from '../panel/panel.tsx'
import { byId } from '../store.ts'
import type { Position } from '../view.ts'
import { arcOf } from './arc.ts'
import { firstBuoys } from './first.ts'

const FLIGHT_MS = 700
/** A position that is nearer to the edge is not in view. */
const EDGE_PIXELS = 40
/** From here on the surroundings of a buoy can be made out. */
const CLOSE_ZOOM = 3
const BUOY_ZOOM = 4.5
/** The closest first view; that of a single buoy, around which a coast is to be seen; that of a part of the buoys. */
const FIT_ZOOM = { several: 9, one: 7.5, part: 3.9 } as const
/** Half of the largest dot. */
const DOT_PIXELS = 12
/** A flat map ends at this latitude. */
const MAP_END = 85
/** What lies further south than Cape Horn has no buoys and much room on a flat map. */
const SOUTHMOST = -60
/** Tells movements of the page's own from those of the visitor. */
export const OWN_MOVE = { isOwn: true } as const

/** Goes to a position, unless it is in view already. With `sameZoom` the map is only moved. */
export function bringIntoView(map: MapView, { lat, lng }: Position, sameZoom: boolean): void {
  const { clientWidth: width, clientHeight: height } = map.getContainer()
  const covered = coveredByPanel()
  const { x, y } = map.project([lng, lat])
  const [right, lower] = [width - EDGE_PIXELS, height - covered - EDGE_PIXELS]
  const isInView = x > EDGE_PIXELS && x < right && y > EDGE_PIXELS && y < lower
  if (isInView && (sameZoom || map.getZoom() >= CLOSE_ZOOM)) return
  map.easeTo({
    center: [lng, lat],
    zoom: sameZoom ? map.getZoom() : Math.max(map.getZoom(), BUOY_ZOOM),
    offset: [0, -covered / 2],
    duration: FLIGHT_MS,
  })
}

/** The first view: the buoys, on a narrow map those of the visitor's region, or the globe as a whole. */
export function fitFirst(map: MapView, buoys: readonly ActiveBuoy[], isGlobe: boolean): void {
  const { clientWidth: width, clientHeight: height } = map.getContainer()
  const covered = coveredByPanel()
  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions()
  const visitor = { timezone, hours: new Date().getTimezoneOffset() / -60 }
  const shown = firstBuoys(buoys, { width, height: height - covered }, visitor)
  if (isGlobe) return fitGlobe(map, shown)
  fitPositions(map, shown, shown.length < buoys.length ? { maxZoom: FIT_ZOOM.part } : {})
  if (shown.length === 0) return
  // Antarctica goes out of view where the buoys leave room.
  const yOf = (lat: number): number => map.project([map.getCenter().lng, lat]).y
  const room = height - coverOf(map).bottom - DOT_PIXELS - yOf(Math.min(...shown.map(({ lat }) => lat)))
  const up = Math.min(height - covered - yOf(SOUTHMOST), room)
  if (up > 0) map.panBy([0, -up], { duration: 0 }, OWN_MOVE)
}

/** Shows all positions at once, over the antimeridian where that is the shorter way around. */
export function fitPositions(
  map: MapView,
  positions: readonly Position[],
  options: { maxZoom?: number; isOwn?: boolean } = {},
): void {
  if (positions.length === 0) return
  const { maxZoom = positions.length === 1 ? FIT_ZOOM.one : FIT_ZOOM.several, isOwn = true } = options
  const { clientWidth: width, clientHeight: height } = map.getContainer()
  // A small map is not all frame.
  const edge = Math.min(EDGE_PIXELS, width / 16, height / 8)
  const cover = coverOf(map)
  const beside = (covered: number, size: number): number =>
    Math.min(Math.max(edge, covered + DOT_PIXELS), size)
  map.fitBounds(
    boundsOf(positions),
    {
      padding: {
        left: edge,
        top: beside(cover.top, height / 4),
        right: beside(cover.right, width / 4),
        bottom: beside(cover.bottom, height / 2),
      },
      maxZoom,
      duration: isOwn ? 0 : FLIGHT_MS,
    },
    isOwn ? OWN_MOVE : {},
  )
}

/** Pixels of the map that chips cover from its top, buttons from its right, legend or panel from its bottom. */
function coverOf(map: MapView): { top: number; right: number; bottom: number } {
  const whole = map.getContainer().getBoundingClientRect()
  const boxOf = (id: string): DOMRect => byId(id).getBoundingClientRect()
  return {
    top: boxOf('live').bottom - whole.top,
    right: whole.right - boxOf('map-tools').left,
    bottom: Math.max(coveredByPanel(), whole.bottom - boxOf('legend').top),
  }
}

function boundsOf(positions: readonly Position[]): LngLatBounds {
  const [west, east] = arcOf(positions.map(({ lng }) => lng))
  const lats = positions.map(({ lat }) => Math.min(MAP_END, Math.max(-MAP_END, lat)))
  return new LngLatBounds([west, Math.min(...lats)], [east, Math.max(...lats)])
}

/** Share of the free pane's smaller side that the disc of the globe takes. */
const DISC_SHARE = 0.9
/** MapLibre looks at the surface from this many heights of the map away. */
const CAMERA_HEIGHTS = 1.5
export const TILE_PIXELS = 512

/** Shows the whole globe, with the middle of `positions` in front. */
function fitGlobe(map: MapView, positions: readonly Position[]): void {
  const center = positions.length === 0 ? map.getCenter() : boundsOf(positions).getCenter()
  const { clientWidth: width, clientHeight: height } = map.getContainer()
  const bottom = coveredByPanel()
  const distance = CAMERA_HEIGHTS * height
  // The rim is where a line from the camera touches the sphere.
  const sine = Math.sin(Math.atan((DISC_SHARE * Math.min(width, height - bottom)) / 2 / distance))
  const radius = (distance * sine) / (1 - sine)
  map.jumpTo(
    {
      center,
      zoom: Math.log2((2 * Math.PI * radius * Math.cos((center.lat * Math.PI) / 180)) / TILE_PIXELS),
      padding: { left: 0, bottom, right: 0, top: 0 },
    },
    OWN_MOVE,
  )
}
