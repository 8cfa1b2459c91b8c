/** Pointer and keyboard on the map: a click near a buoy means that buoy, any other on the sea that point. */
import type { Map as MapView } from 'maplibre-gl'
import type { Position } from '../view.ts'
import type { HoverText } from './hover.ts'
import { BUOY_LAYERS } from './layers.ts'

/** A click within this distance of a buoy means the buoy: a finger's width on a phone. */
const NEAR_PIXELS = 14
/** The coast is coarse: a click this near to the sea means the sea. */
const COAST_PIXELS = 12
const LAND_TEXT = 'This is land. Click on the sea to see conditions there.'

interface Pixel {
  x: number
  y: number
}

export function answerPointer(
  map: MapView,
  hover: HoverText,
  events: { onBuoy: (slug: string) => void; onPoint: (point: Position) => void },
): void {
  const canvas = map.getCanvas()
  map.on('click', ({ point, lngLat }) => {
    const buoy = buoyAt(map, point)
    hover.hide()
    if (buoy !== null) events.onBuoy(buoy.slug)
    else if (isLand(map, point)) hover.answer(LAND_TEXT, point)
    else events.onPoint(lngLat.wrap())
  })
  map.on('mousemove', ({ point }) => {
    const buoy = buoyAt(map, point)
    canvas.style.cursor = buoy === null ? '' : 'pointer'
    if (buoy === null) hover.hide()
    else hover.show(buoy.label === '' ? buoy.name : `${buoy.name}, ${buoy.label}`, point)
  })
  map.on('mouseout', () => hover.hide())
  map.on('movestart', () => hover.hide())
  canvas.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') events.onPoint(map.getCenter().wrap())
  })
}

interface DrawnBuoy {
  slug: string
  name: string
  /** Its height, or ''. */
  label: string
}

/** The nearest buoy that is near enough, or null. */
function buoyAt(map: MapView, { x, y }: Pixel): DrawnBuoy | null {
  const found = map.queryRenderedFeatures(
    [
      [x - NEAR_PIXELS, y - NEAR_PIXELS],
      [x + NEAR_PIXELS, y + NEAR_PIXELS],
    ],
    { layers: BUOY_LAYERS },
  )
  let [nearest, best] = [null as DrawnBuoy | null, Infinity]
  for (const { geometry, properties } of found) {
    if (geometry.type !== 'Point') continue
    const at = map.project(geometry.coordinates as [number, number])
    const distance = Math.hypot(at.x - x, at.y - y)
    if (distance < best) [nearest, best] = [properties as DrawnBuoy, distance]
  }
  return nearest
}

function isLand(map: MapView, { x, y }: Pixel): boolean {
  const isLandAt = (dx: number, dy: number): boolean =>
    map.queryRenderedFeatures([x + dx, y + dy], { layers: ['land'] }).length > 0
  const around = [-COAST_PIXELS, 0, COAST_PIXELS]
  return around.every((dx) => around.every((dy) => isLandAt(dx, dy)))
}
