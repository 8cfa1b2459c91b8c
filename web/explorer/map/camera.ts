/** Movements of the map, which MapLibre makes jumps for visitors who ask their system for less motion. */
import { LngLatBounds, type Map as MapView } from 'maplibre-gl'
import type { ActiveBuoy } from '../api.ts'
import { coveredByPanel } from '../panel/panel.tsx'
import { byId, showsGlobe } from '../store.ts'
import { MAP_END, type Position } from '../view.ts'
import { arcOf, middleOf } from './arc.ts'
import { firstBuoys } from './first.ts'

const FLIGHT_MS = 700
/** A position that is nearer to the edge is not in view. */
const EDGE_PIXELS = 40
/** From here on a buoy is seen with the coast around it, and its neighbours have names. */
const BUOY_ZOOM = 4.5
/**
 * The closest first view; that of a single buoy, around which a coast is to be seen; that of a part of the
 * buoys.
 */
const FIT_ZOOM = { several: 9, one: 7.5, part: 3.9 } as const
/** Half of the largest dot. */
const DOT_PIXELS = 12
/** What lies further south than Cape Horn has no buoys and much room on a flat map. */
const SOUTHMOST = -60
/** Tells movements of the page's own from those of the visitor. */
export const OWN_MOVE = { isOwn: true } as const

/** The highest latitude of a globe's middle: at a pole itself a zoom means nothing. */
export const GLOBE_END = 89

/**
 * What the zoom of a globe with this in its middle has in addition to that of one as large that shows the
 * equator.
 */
const beyondEquator = (lat: number): number =>
  showsGlobe.peek() ? Math.log2(Math.cos((Math.min(GLOBE_END, Math.abs(lat)) * Math.PI) / 180)) : 0

/**
 * Goes to a position, unless it is in view already from near enough. With `sameZoom`, as for a point that was
 * clicked, the map is only moved.
 */
export function bringIntoView(map: MapView, { lat, lng }: Position, sameZoom: boolean): void {
  const { clientWidth: width, clientHeight: height } = map.getContainer()
  const covered = coveredByPanel()
  const { x, y } = map.project([lng, lat])
  const [right, lower] = [width - EDGE_PIXELS, height - covered - EDGE_PIXELS]
  const isInView = x > EDGE_PIXELS && x < right && y > EDGE_PIXELS && y < lower
  const now = map.getZoom() - beyondEquator(map.getCenter().lat)
  if (isInView && (sameZoom || now >= BUOY_ZOOM)) return
  map.easeTo({
    center: [lng, lat],
    zoom: (sameZoom ? now : Math.max(now, BUOY_ZOOM)) + beyondEquator(lat),
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
  fitPositions(map, shown, shown.length < buoys.length)
  if (shown.length === 0) return
  // Antarctica goes out of view where the buoys leave room.
  const yOf = (lat: number): number => map.project([map.getCenter().lng, lat]).y
  const room = height - coverOf(map).bottom - DOT_PIXELS - yOf(Math.min(...shown.map(({ lat }) => lat)))
  const up = Math.min(height - covered - yOf(SOUTHMOST), room)
  if (up > 0) map.panBy([0, -up], { duration: 0 }, OWN_MOVE)
}

/** Shows all positions at once, over the antimeridian where that is the shorter way around. */
function fitPositions(map: MapView, positions: readonly Position[], isPart: boolean): void {
  if (positions.length === 0) return
  const maxZoom = isPart ? FIT_ZOOM.part : positions.length === 1 ? FIT_ZOOM.one : FIT_ZOOM.several
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
      duration: 0,
    },
    OWN_MOVE,
  )
}

/**
 * Pixels of the map that chips cover from its top, buttons from its right, legend or panel from its bottom.
 */
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

/** From here a pole and what lies around it are seen. */
const MOST_GLOBE_LATITUDE = 70

/** Shows the whole globe, with the middle of `positions` in front. */
function fitGlobe(map: MapView, positions: readonly Position[]): void {
  const { lat, lng } = middleOf(positions) ?? map.getCenter()
  const center = { lat: Math.max(-MOST_GLOBE_LATITUDE, Math.min(MOST_GLOBE_LATITUDE, lat)), lng }
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
