/** Pointer and keyboard on the map: a click near a buoy means that buoy, any other on the sea that point. */
import type { Map as MapView } from 'maplibre-gl'
import type { Position } from '../view.ts'
import { BUOY_LAYERS } from './layers.ts'

/** A click within this distance of a buoy means the buoy: a finger's width on a phone. */
const NEAR_PIXELS = 14

interface Pixel {
  x: number
  y: number
}

export function answerPointer(
  map: MapView,
  events: { onBuoy: (slug: string) => void; onPoint: (point: Position) => void },
): void {
  const canvas = map.getCanvas()
  map.on('click', ({ point, lngLat }) => {
    const slug = buoyAt(map, point)
    if (slug !== null) events.onBuoy(slug)
    else if (!isLand(map, point)) events.onPoint(lngLat.wrap())
  })
  map.on('mousemove', ({ point }) => {
    canvas.style.cursor = buoyAt(map, point) === null ? '' : 'pointer'
  })
  canvas.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') events.onPoint(map.getCenter().wrap())
  })
}

/** The slug of the nearest buoy that is near enough, or null. */
function buoyAt(map: MapView, { x, y }: Pixel): string | null {
  const found = map.queryRenderedFeatures(
    [
      [x - NEAR_PIXELS, y - NEAR_PIXELS],
      [x + NEAR_PIXELS, y + NEAR_PIXELS],
    ],
    { layers: BUOY_LAYERS },
  )
  let [nearest, best] = [null as string | null, Infinity]
  for (const { geometry, properties } of found) {
    if (geometry.type !== 'Point') continue
    const at = map.project(geometry.coordinates as [number, number])
    const distance = Math.hypot(at.x - x, at.y - y)
    if (distance < best) [nearest, best] = [properties.slug as string, distance]
  }
  return nearest
}

function isLand(map: MapView, { x, y }: Pixel): boolean {
  return map.queryRenderedFeatures([x, y], { layers: ['land'] }).length > 0
}
