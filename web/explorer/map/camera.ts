/**
 * The map's contents by the state of the page, whoever draws it: its area, its first view, its dots. MapLibre
 * makes movements jumps for visitors who ask their system for less motion.
 */
import { computed } from '@preact/signals'
import type { Map as MapView } from 'maplibre-gl'
import { coveredByPanel } from '../panel/panel.tsx'
import {
  about,
  beyond,
  buoys,
  byId,
  now,
  page,
  scalesOf,
  showsGlobe,
  showsSatellites,
  silent,
  units,
  view,
} from '../store.ts'
import { type Camera, type Position } from '../view.ts'
import { middleOf } from './arc.ts'
import { buoyFeatures } from './features.ts'
import {
  beyondOf,
  BUOY_ZOOM,
  cameraOn,
  firstBuoys,
  firstCamera,
  type Frame,
  isClear,
  spotOf,
  TILE_PIXELS,
  type Visitor,
} from './first.ts'
import { spread } from './spread.ts'

const FLIGHT_MS = 700
/** Tells movements of the page's own from those of the visitor. */
export const OWN_MOVE = { isOwn: true } as const
/** The highest latitude of a globe's middle: at a pole itself a zoom means nothing. */
export const GLOBE_END = 89
/** Pixels around a buoy of a narrow map whose buoys are drawn as one, up to a zoom. */
export const CLUSTER = { radius: 22, maxZoom: 6 } as const

/** The map's place, and what chips cover of it at its top, buttons at its right, legend or panel below. */
export function frameOf(host: HTMLElement): Frame {
  const whole = host.getBoundingClientRect()
  const boxOf = (id: string): DOMRect => byId(id).getBoundingClientRect()
  const panel = coveredByPanel()
  return {
    width: Math.max(1, whole.width),
    height: Math.max(1, whole.height),
    top: boxOf('live').bottom - whole.top,
    right: whole.right - boxOf('map-tools').left,
    bottom: Math.max(panel, whole.bottom - boxOf('legend').top),
    panel,
  }
}

const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions()
const visitorNow = (): Visitor => ({ timezone, hours: new Date().getTimezoneOffset() / -60 })

const isShown = ({ virtual }: { virtual: boolean }): boolean => showsSatellites.value || !virtual
/** The buoys that report: these decide what the first view shows. */
export const shownBuoys = computed(() => (buoys.value ?? []).filter(isShown))
// Readings grow old without an answer: as a text they are the same until one has.
const featuresText = computed(() =>
  JSON.stringify(
    buoyFeatures(
      [...shownBuoys.value, ...silent.value.filter(isShown)],
      scalesOf.value,
      units.value,
      now.value,
    ),
  ),
)
const features = computed(() => JSON.parse(featuresText.value) as ReturnType<typeof buoyFeatures>)

/**
 * All buoys as dots: their real places, and drawn places so that none covers another. `equator` in pixels;
 * null if neighbours are drawn as one.
 */
export function dotsOf(equator: number | null) {
  const physical = features.value.filter(({ properties }) => !properties.virtual)
  return {
    virtual: features.value.filter(({ properties }) => properties.virtual),
    physical: equator === null ? physical : spread(physical, equator),
    true: physical,
  }
}

/** The position of the panel's buoy or point; null while it is not known. */
export const position = computed<Position | null>(() => {
  const { buoy: slug, point } = view.value
  if (slug === null) return point
  const known = [...(buoys.value ?? []), ...silent.value].find((buoy) => buoy.slug === slug)
  if (known !== undefined) return known
  // The silent ones come last, and a guest knows few.
  const { subject } = page.value
  if (subject.kind === 'buoy' && subject.buoy.slug === slug) return subject.buoy
  return subject.kind === 'known' && subject.slug === slug ? subject.known : null
})

/** The first view of a flat map: of the address, or of the buoys; with what the panel is about in it. */
export function cameraNow(frame: Frame): Camera {
  const camera = view.value.camera ?? firstCamera(shownBuoys.value, frame, visitorNow())
  return position.value === null ? camera : cameraOn(position.value, camera, frame)
}

/** Says which buoys a flat map leaves out, where the visitor has not moved it. */
export function sayBeyond(camera: Camera, frame: Frame): void {
  const isFirst = view.peek().camera === null && about.peek() === ''
  const free = { width: frame.width, height: frame.height - frame.panel }
  const spots = shownBuoys.peek().map((buoy) => spotOf(buoy, camera, frame))
  if (isFirst) beyond.value = beyondOf(spots, free)
}

/** The first view: the buoys, on a narrow map those of the visitor's region, or the globe as a whole. */
export function fitFirst(map: MapView): void {
  const frame = frameOf(map.getContainer())
  if (showsGlobe.peek()) {
    fitGlobe(map, frame)
    beyond.value = []
    return
  }
  const { zoom, ...center } = firstCamera(shownBuoys.peek(), frame, visitorNow())
  // A globe before it has left its own.
  const padding = { left: 0, top: 0, right: 0, bottom: 0 }
  map.jumpTo({ center, zoom, padding }, OWN_MOVE)
  sayBeyond({ ...center, zoom }, frame)
}

/**
 * By how much the zoom of a globe with `lat` in its middle exceeds that of an equal one with the equator
 * there.
 */
const beyondEquator = (lat: number): number =>
  showsGlobe.peek() ? Math.log2(Math.cos((Math.min(GLOBE_END, Math.abs(lat)) * Math.PI) / 180)) : 0

/**
 * Goes to a position, unless it is in view already from near enough. With `sameZoom`, as for a point that was
 * clicked, the map is only moved.
 */
export function bringIntoView(map: MapView, { lat, lng }: Position, sameZoom: boolean): void {
  const frame = frameOf(map.getContainer())
  const zoom = map.getZoom() - beyondEquator(map.getCenter().lat)
  if (isClear(map.project([lng, lat]), frame) && (sameZoom || zoom >= BUOY_ZOOM)) return
  map.easeTo({
    center: [lng, lat],
    zoom: (sameZoom ? zoom : Math.max(zoom, BUOY_ZOOM)) + beyondEquator(lat),
    offset: [0, -frame.panel / 2],
    duration: FLIGHT_MS,
  })
}

/** Share of the free pane's smaller side that the disc of the globe takes. */
const DISC_SHARE = 0.9
/** MapLibre looks at the surface from this many heights of the map away. */
const CAMERA_HEIGHTS = 1.5
/** From this latitude on a pole and its surroundings are seen. */
const MOST_GLOBE_LATITUDE = 70

/** Shows the whole globe, with the middle of the buoys in front. */
function fitGlobe(map: MapView, { width, height, panel: bottom }: Frame): void {
  const shown = firstBuoys(shownBuoys.peek(), { width, height: height - bottom }, visitorNow())
  const { lat, lng } = middleOf(shown) ?? map.getCenter()
  const center = { lat: Math.max(-MOST_GLOBE_LATITUDE, Math.min(MOST_GLOBE_LATITUDE, lat)), lng }
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
