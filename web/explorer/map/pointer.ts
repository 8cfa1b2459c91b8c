/**
 * Pointer and keyboard on the map: a click near a buoy means that buoy, any other on the sea that point. A small
 * text beside the pointer names the buoy, or says why a click was not answered.
 */
import type { GeoJSONSource, LngLat, Map as MapView } from 'maplibre-gl'
import type { Position } from '../view.ts'
import { duration, ZOOM_MS } from './camera.ts'
import { BUOY_LAYERS } from './layers.ts'

/** A click within this distance of a buoy means the buoy: a finger's width on a phone. */
const NEAR_PIXELS = 14
/** The coast is coarse: a click this near to the sea means the sea. */
const COAST_PIXELS = 12
/** Levels beyond the zoom at which a cluster falls apart: its buoys lie apart then. */
const CLUSTER_STEP = 0.5
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
    if (buoy !== null && 'cluster_id' in buoy) void openCluster(map, buoy.cluster_id, lngLat)
    else if (buoy !== null) events.onBuoy(buoy.slug)
    else if (isLand(map, point)) hover.answer(LAND_TEXT, point)
    else events.onPoint(lngLat.wrap())
  })
  map.on('mousemove', ({ point }) => {
    const buoy = buoyAt(map, point)
    canvas.style.cursor = buoy === null ? '' : 'pointer'
    if (buoy === null) hover.hide()
    else if ('cluster_id' in buoy) hover.show(`${buoy.point_count} buoys`, point)
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
  /** The buoy's height, or ''. */
  label: string
}

/** Buoys that a narrow map draws as one. */
interface Cluster {
  cluster_id: number
  point_count: number
}

/** Goes so close that the buoys of a cluster are seen. */
async function openCluster(map: MapView, cluster: number, center: LngLat): Promise<void> {
  const zoom = await (map.getSource('buoys') as GeoJSONSource).getClusterExpansionZoom(cluster)
  map.easeTo({ center, zoom: zoom + CLUSTER_STEP, duration: duration(ZOOM_MS) })
}

/** The nearest buoy or cluster that is near enough, or null. */
function buoyAt(map: MapView, { x, y }: Pixel): DrawnBuoy | Cluster | null {
  const found = map.queryRenderedFeatures(
    [
      [x - NEAR_PIXELS, y - NEAR_PIXELS],
      [x + NEAR_PIXELS, y + NEAR_PIXELS],
    ],
    { layers: BUOY_LAYERS },
  )
  let [nearest, best] = [null as DrawnBuoy | Cluster | null, Infinity]
  for (const { geometry, properties } of found) {
    if (geometry.type !== 'Point') continue
    const at = map.project(geometry.coordinates as [number, number])
    const distance = Math.hypot(at.x - x, at.y - y)
    if (distance < best) [nearest, best] = [properties as DrawnBuoy | Cluster, distance]
  }
  return nearest
}

/** By the fine coast where it is drawn, else by the coarse one. A style of the operator's has neither. */
function isLand(map: MapView, { x, y }: Pixel): boolean {
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

const APART_PIXELS = 14
/** A text that answers a click goes away by itself. */
const ANSWER_MS = 2500

export class HoverText {
  readonly #host: HTMLElement
  readonly #text = document.createElement('div')
  #timer = 0

  constructor(host: HTMLElement) {
    this.#host = host
    Object.assign(this.#text, { className: 'hover-text', hidden: true })
    this.#text.setAttribute('aria-hidden', 'true')
    host.append(this.#text)
  }

  /** Shows `text` at pixels of the host. */
  show(text: string, { x, y }: { x: number; y: number }): void {
    clearTimeout(this.#timer)
    this.#text.textContent = text
    this.#text.hidden = false
    const { offsetWidth: width, offsetHeight: height } = this.#text
    const isRight = x + APART_PIXELS + width < this.#host.clientWidth
    const left = isRight ? x + APART_PIXELS : Math.max(0, x - APART_PIXELS - width)
    this.#text.style.transform = `translate(${left}px, ${Math.max(0, y - height / 2)}px)`
  }

  answer(text: string, at: { x: number; y: number }): void {
    this.show(text, at)
    this.#timer = setTimeout(() => this.hide(), ANSWER_MS)
  }

  hide(): void {
    this.#text.hidden = true
  }
}
