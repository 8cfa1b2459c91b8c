/**
 * The map: sea, land, names, buoys coloured by height, satellite passes. It knows neither panels nor calls of
 * the API.
 */
import {
  type GeoJSONSource,
  LngLat,
  Map as MapView,
  prewarm,
  setWorkerUrl,
  type StyleSpecification,
} from 'maplibre-gl'
import type { ActiveBuoy } from '../api.ts'
import type { Units } from '../mine/units.ts'
import type { Theme } from '../scene.ts'
import type { Bounds, Camera, Position } from '../view.ts'
import {
  type Basemap,
  bringIntoView,
  type Covered,
  fitPositions,
  keepCoastFine,
  loadBasemap,
  zoomBy,
} from './camera.ts'
import { buoyFeatures, EMPTY, markFeature, passFeatures, type PassPoint, type Target } from './features.ts'
import { BOX_IMAGE, BUOY_LAYERS, layers } from './layers.ts'
import { answerPointer, HoverText } from './pointer.ts'

export interface MapEvents {
  onBuoy: (slug: string) => void
  onPoint: (point: Position) => void
  onMove: (camera: Camera) => void
  /** How many buoys can be seen, after everything has been drawn. */
  onDrawn: (count: number) => void
}

/** What decides how the map looks. */
export interface Look {
  theme: Theme
  satellites: boolean
  globe: boolean
  units: Units
}

export interface BuoyMap {
  setBuoys(buoys: readonly ActiveBuoy[]): void
  /** Brings what shows the age of readings up to now. */
  tick(): void
  /** Marks what the panel is about; null marks nothing. */
  mark(target: Target | null): void
  /** Brings a position into view, unless it is there already. */
  goTo(target: Position, covered: Covered): void
  moveTo(camera: Camera): void
  /** Shows all positions at once, and again when the map changes its size, until the visitor moves it. */
  fit(positions: readonly Position[], covered: Covered): void
  zoomBy(levels: number): void
  /** Changes what differs from the look so far. */
  setLook(look: Look): void
  /** Draws the points that a pass measured and goes there. */
  setPass(points: readonly PassPoint[], covered: Covered): void
  center(): Position
  /** Longitudes may go beyond 180°, and a view of the whole globe spans 360°. */
  bounds(): Bounds
}

/** The first view of a map that nobody has moved: the Atlantic. */
const FIRST_CENTER: Position = { lat: 25, lng: -30 }
const FIRST_ZOOM = { narrow: 0.6, wide: 1.4 } as const
const NARROW_PIXELS = 600
/** A zoom at which even a watch shows the whole world. */
const MIN_ZOOM = -2
const MAX_ZOOM = 10
/** The highest latitude of the map's middle: a flat map ends at 85°. */
const MOST_LATITUDE = 80
/** Points that lie close together are not brought closer than this. */
const PASS_ZOOM = 5

const DESCRIPTION = [
  'Map of buoys. Arrow keys move it, plus and minus zoom, Enter shows the conditions at its middle.',
  'The list beside it holds the same buoys.',
].join(' ')

/**
 * Opens the map in `host`, whose data attributes hold the addresses of worker and basemaps.
 * @throws Error where the browser has no WebGL 2
 */
export async function openMap(
  host: HTMLElement,
  first: Look & { camera: Camera | null; buoys: readonly ActiveBuoy[]; clock: () => number },
  events: MapEvents,
): Promise<BuoyMap> {
  setWorkerUrl(addressOf(host, 'worker'))
  // The worker starts while the basemap is on its way.
  prewarm()
  const basemap = await loadBasemap(addressOf(host, 'basemap'))
  const map = createMap(
    host,
    styleOf(basemap, first, buoyFeatures(first.buoys, first.units, first.clock())),
    first.camera,
  )
  map.setMissingStyleImageResolver((id) => {
    if (id === BOX_IMAGE) map.addImage(id, { width: 1, height: 1, data: new Uint8Array(4) })
    return Promise.resolve()
  })
  map.getCanvas().setAttribute('aria-label', DESCRIPTION)
  answerPointer(map, new HoverText(host), events)
  reportDrawn(map, events)
  await new Promise<void>((resolve) => void map.once('load', () => resolve()))
  keepCoastFine(map, sourceOf(map, 'basemap'), addressOf(host, 'fineBasemap'))
  reportMoves(map, events)
  return controlsOf(map, host, first, first.buoys, first.clock)
}

const addressOf = (host: HTMLElement, name: string): string =>
  new URL(host.dataset[name] ?? '', document.baseURI).href

const sourceOf = (map: MapView, id: string): GeoJSONSource => map.getSource(id) as GeoJSONSource

type BuoyFeatures = ReturnType<typeof buoyFeatures>

function styleOf(basemap: Basemap, look: Look, buoys: BuoyFeatures): StyleSpecification {
  return {
    version: 8,
    sources: {
      basemap: { type: 'geojson', data: basemap.shapes, tolerance: 0.3 },
      names: { type: 'geojson', data: basemap.names },
      buoys: { type: 'geojson', data: buoys },
      pass: { type: 'geojson', data: EMPTY },
      mark: { type: 'geojson', data: EMPTY },
    },
    layers: layers(look.theme, look.satellites),
    projection: projectionOf(look),
  }
}

const projectionOf = ({ globe }: Look): { type: 'globe' | 'mercator' } => ({
  type: globe ? 'globe' : 'mercator',
})

function createMap(host: HTMLElement, style: StyleSpecification, camera: Camera | null): MapView {
  const firstZoom = host.clientWidth < NARROW_PIXELS ? FIRST_ZOOM.narrow : FIRST_ZOOM.wide
  const { zoom, lat, lng } = camera ?? { zoom: firstZoom, ...FIRST_CENTER }
  const map = new MapView({
    container: host,
    style,
    center: [lng, lat],
    zoom,
    minZoom: MIN_ZOOM,
    maxZoom: MAX_ZOOM,
    transformConstrain,
    maxPitch: 0,
    dragRotate: false,
    pitchWithRotate: false,
    attributionControl: false,
    // Fading keeps the processor busy on machines without a graphics card.
    fadeDuration: 0,
  })
  map.touchZoomRotate.disableRotation()
  map.keyboard.disableRotation()
  return map
}

/**
 * Without this the world is never smaller than the map is high, and an upright phone cannot show all of it at
 * once.
 */
function transformConstrain(center: LngLat, zoom: number): { center: LngLat; zoom: number } {
  const lat = Math.min(MOST_LATITUDE, Math.max(-MOST_LATITUDE, center.lat))
  return {
    center: new LngLat(center.lng, lat),
    zoom: Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom)),
  }
}

function reportDrawn(map: MapView, { onDrawn }: MapEvents): void {
  map.on('idle', () => {
    const drawn = map.queryRenderedFeatures({ layers: BUOY_LAYERS })
    onDrawn(new Set(drawn.map(({ properties }) => properties.id as number)).size)
  })
}

function reportMoves(map: MapView, { onMove }: MapEvents): void {
  map.on('moveend', (event) => {
    if (!('isOwn' in event)) onMove({ zoom: map.getZoom(), ...centerOf(map) })
  })
}

/** Degrees with three decimals: within 60 m. */
function boundsOf(map: MapView): Bounds {
  const bounds = map.getBounds()
  const rounded = (degrees: number): number => Number(degrees.toFixed(3))
  return {
    north: rounded(bounds.getNorth()),
    south: rounded(bounds.getSouth()),
    east: rounded(bounds.getEast()),
    west: rounded(bounds.getWest()),
  }
}

function centerOf(map: MapView): Position {
  const { lat, lng } = map.getCenter().wrap()
  return { lat, lng }
}

function controlsOf(
  map: MapView,
  host: HTMLElement,
  first: Look,
  firstBuoys: readonly ActiveBuoy[],
  clock: () => number,
): BuoyMap {
  let look = first
  let buoys = firstBuoys
  let marked: Target | null = null
  let ages = ''
  let fitted: { positions: readonly Position[]; covered: Covered } | null = null
  map.on('resize', () => {
    if (fitted !== null) fitPositions(map, host, fitted.positions, fitted.covered)
  })
  map.on('movestart', (event) => {
    // The visitor moved the map, by hand or by a search; resizing moves nothing.
    if (!('isOwn' in event)) fitted = null
  })
  const drawMark = (): void =>
    void sourceOf(map, 'mark').setData(marked === null ? EMPTY : markFeature(marked, clock()))
  const drawBuoys = (): void => {
    const drawn = buoyFeatures(buoys, look.units, clock())
    ages = agesOf(drawn)
    void sourceOf(map, 'buoys').setData(drawn)
  }
  return {
    setBuoys(next) {
      buoys = next
      drawBuoys()
    },
    tick() {
      if (agesOf(buoyFeatures(buoys, look.units, clock())) === ages) return
      drawBuoys()
      drawMark()
    },
    mark(target) {
      marked = target
      drawMark()
    },
    goTo: (target, covered) => bringIntoView(map, host, target, covered),
    moveTo: ({ zoom, lat, lng }) => void map.jumpTo({ center: [lng, lat], zoom }),
    fit(positions, covered) {
      fitted = { positions, covered }
      fitPositions(map, host, positions, covered)
    },
    zoomBy: (levels) => zoomBy(map, levels),
    setLook(next) {
      if (next.theme !== look.theme || next.satellites !== look.satellites) restyle(map, next)
      if (next.globe !== look.globe) map.setProjection(projectionOf(next))
      const hasNewUnits = next.units.height !== look.units.height
      look = next
      if (hasNewUnits) drawBuoys()
    },
    setPass(points, covered) {
      void sourceOf(map, 'pass').setData(passFeatures(points))
      fitted = null
      fitPositions(map, host, points, covered, { maxZoom: PASS_ZOOM, isFlight: true })
    },
    center: () => centerOf(map),
    bounds: () => boundsOf(map),
  }
}

/** The labels of old readings: all that changes with time alone. */
const agesOf = ({ features }: BuoyFeatures): string =>
  features.flatMap(({ properties: { slug, old, label } }) => (old ? [`${slug} ${label}`] : [])).join()

function restyle(map: MapView, { theme, satellites }: Look): void {
  for (const { id, ...layer } of layers(theme, satellites)) {
    for (const [name, value] of Object.entries(layer.paint ?? {})) {
      map.setPaintProperty(id, name as never, value as never)
    }
    if (layer.layout?.visibility !== undefined)
      map.setLayoutProperty(id, 'visibility', layer.layout.visibility)
    if ('filter' in layer && id === 'labels') map.setFilter(id, layer.filter)
  }
}
