/**
 * Pointer and keyboard on the map: a click near a buoy means that buoy, any other on the sea that point. A
 * small text next to the pointer names the buoy, or says why a click was not answered.
 */
import { type GeoJSONSource, type LngLat, type Map as MapView, type Point, Popup } from 'maplibre-gl'
import { texts } from '../language.ts'
import { openBuoy, openPoint } from '../store.ts'
import { BUOY_LAYERS, NEAR_PIXELS } from './layers.ts'

/** The coast is coarse: a click this near to the sea means the sea. */
const COAST_PIXELS = 12
/** Levels beyond the zoom at which a cluster falls apart: its buoys lie apart then. */
const CLUSTER_STEP = 0.5
const ZOOM_MS = 250

export function answerPointer(map: MapView): void {
  const canvas = map.getCanvas()
  const hint = new Popup({
    className: 'hover-text',
    offset: NEAR_PIXELS,
    closeButton: false,
    closeOnMove: true,
    focusAfterOpen: false,
  })
  const say = (text: string, at: LngLat): void => void hint.setLngLat(at).setText(text).addTo(map)
  map.on('click', ({ point, lngLat }) => {
    const buoy = buoyAt(map, point)
    if (buoy?.cluster_id !== undefined) void openCluster(map, buoy.cluster_id, lngLat)
    else if (buoy !== null) openBuoy(buoy.slug)
    else if (isLand(map, point)) say(texts.map.land, lngLat)
    else openPoint(lngLat.wrap())
  })
  map.on('mousemove', ({ point, lngLat }) => {
    const buoy = buoyAt(map, point)
    canvas.style.cursor = buoy === null ? '' : 'pointer'
    if (buoy === null) hint.remove()
    else if (buoy.cluster_id !== undefined) say(texts.map.cluster(buoy.point_count ?? 0), lngLat)
    else say(buoy.label === '' ? buoy.name : `${buoy.name}, ${buoy.label}`, lngLat)
  })
  map.on('mouseout', () => hint.remove())
  canvas.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') openPoint(map.getCenter().wrap())
  })
}

/** A buoy, or several that a narrow map draws as one. */
interface Drawn {
  slug: string
  name: string
  /** The buoy's height, or ''. */
  label: string
  cluster_id?: number
  point_count?: number
}

/** Goes so close that the buoys of a cluster are seen. */
async function openCluster(map: MapView, cluster: number, center: LngLat): Promise<void> {
  const zoom = await (map.getSource('buoys') as GeoJSONSource).getClusterExpansionZoom(cluster)
  map.easeTo({ center, zoom: zoom + CLUSTER_STEP, duration: ZOOM_MS })
}

/** The nearest buoy or cluster that is near enough, or null. */
function buoyAt(map: MapView, { x, y }: Point): Drawn | null {
  const found = map.queryRenderedFeatures(
    [
      [x - NEAR_PIXELS, y - NEAR_PIXELS],
      [x + NEAR_PIXELS, y + NEAR_PIXELS],
    ],
    { layers: BUOY_LAYERS },
  )
  let [nearest, best] = [null as Drawn | null, Infinity]
  for (const { geometry, properties } of found) {
    if (geometry.type !== 'Point') continue
    const at = map.project(geometry.coordinates as [number, number])
    const distance = Math.hypot(at.x - x, at.y - y)
    if (distance < best) [nearest, best] = [properties as Drawn, distance]
  }
  return nearest
}

/** By the fine coast if it is drawn, else by the coarse one. The operator's style has neither. */
function isLand(map: MapView, { x, y }: Point): boolean {
  const layers = ['land', 'land-lake', 'coast-sea', 'coast', 'coast-lake'].filter((id) => map.getLayer(id))
  const isLandAt = (dx: number, dy: number): boolean => {
    const found = new Set(
      map.queryRenderedFeatures([x + dx, y + dy], { layers }).map(({ layer }) => layer.id),
    )
    const name = found.has('coast-sea') ? 'coast' : 'land'
    return found.has(name) && !found.has(`${name}-lake`)
  }
  const around = [-COAST_PIXELS, 0, COAST_PIXELS]
  return around.every((dx) => around.every((dy) => isLandAt(dx, dy)))
}
