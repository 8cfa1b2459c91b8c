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
import { type Bounds, type Camera, isSamePoint, type Position } from '../view.ts'
import { type Basemap, loadBasemap } from './basemap.ts'
import { bringIntoView, type Covered, fitGlobe, fitPositions, zoomBy } from './camera.ts'
import { buoyFeatures, EMPTY, markFeature, passFeatures, type PassPoint, type Target } from './features.ts'
import { firstBuoys, NARROW_PIXELS } from './first.ts'
import { BOX_IMAGE, BUOY_LAYERS, DOT_IMAGE, layers } from './layers.ts'
import { answerPointer, HoverText } from './pointer.ts'
import { spread } from './spread.ts'
import { type Box, keepLabelsWhole } from './whole_labels.ts'

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
  /** Brings a position into view, unless it is there already. What was clicked is not brought closer. */
  goTo(target: Position, covered: Covered): void
  moveTo(camera: Camera): void
  /**
   * Shows the buoys, on a narrow map those of the visitor's region, and again when the map changes its size,
   * until the visitor moves it.
   */
  fit(buoys: readonly ActiveBuoy[], covered: Covered): void
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
/** Pixels around a buoy of a narrow map whose buoys are drawn as one, up to a zoom. */
const CLUSTER = { radius: 22, maxZoom: 6 } as const
/** A zoom at which even a watch shows the whole world. */
const MIN_ZOOM = -2
const MAX_ZOOM = 10
/** The highest latitude of the map's middle: a flat map ends at 85°. */
const MOST_LATITUDE = 80
/** Points that lie close together are not brought closer than this. */
const PASS_ZOOM = 5

/** What lies over the map. */
const COVERS = '#live, #map-tools, #legend, #credit, #panel'

const DESCRIPTION = [
  'Map of buoys. Arrow keys move it, plus and minus zoom, Enter shows the conditions at its middle.',
  'The list beside it holds the same buoys.',
].join(' ')

/**
 * Opens the map in `host`, whose data attributes hold the addresses of worker, basemap and what comes later.
 * @throws Error where the browser has no WebGL 2, or the basemap cannot be loaded
 */
export async function openMap(
  host: HTMLElement,
  first: Look & { camera: Camera | null; buoys: readonly ActiveBuoy[]; clock: () => number },
  events: MapEvents,
): Promise<BuoyMap> {
  const addressOf = (name: string): string | null => {
    const address = host.dataset[name] ?? ''
    // The name of a bundle is not part of an address yet.
    return address === '' ? null : new URL(address, document.baseURI).href
  }
  setWorkerUrl(addressOf('worker') ?? '')
  // The worker starts while the basemap is on its way.
  prewarm()
  const basemap = await loadBasemap(addressOf)
  const map = createMap(host, styleOf(basemap, first, isNarrow(host)), first.camera)
  map.setMissingStyleImageResolver((id) => {
    if (id === BOX_IMAGE) map.addImage(id, { width: 1, height: 1, data: new Uint8Array(4) })
    if (id === DOT_IMAGE) map.addImage(id, disc(DOT_PIXELS), { sdf: true })
    return Promise.resolve()
  })
  map.getCanvas().setAttribute('aria-label', DESCRIPTION)
  host.classList.toggle('globe', first.globe)
  const controls = controlsOf(map, host, basemap, first)
  answerPointer(map, new HoverText(host), { ...events, onPoint: (point) => controls.click(point, events) })
  reportDrawn(map, events)
  await new Promise<void>((resolve) => void map.once('load', () => resolve()))
  keepLabelsWhole(map, () => coversOf(host))
  basemap.keepNear(map)
  reportMoves(map, events)
  return controls
}

function coversOf(host: HTMLElement): Box[] {
  const { left, top } = host.getBoundingClientRect()
  return [...document.querySelectorAll(COVERS)].map((cover) => {
    const { x, y, width, height } = cover.getBoundingClientRect()
    return { left: x - left, top: y - top, right: x - left + width, bottom: y - top + height }
  })
}

const isNarrow = (host: HTMLElement): boolean => host.clientWidth < NARROW_PIXELS

const DOT_PIXELS = 5

/** A signed distance field has 192 at its edge, and 8 steps for each pixel from there. */
function disc(size: number): { width: number; height: number; data: Uint8Array } {
  const data = new Uint8Array(4 * size * size)
  const middle = (size - 1) / 2
  for (let i = 0; i < size * size; i++) {
    const apart = Math.hypot((i % size) - middle, Math.floor(i / size) - middle)
    data[4 * i + 3] = 192 + 8 * (middle - apart)
  }
  return { width: size, height: size, data }
}

const sourceOf = (map: MapView, id: string): GeoJSONSource => map.getSource(id) as GeoJSONSource

type BuoyFeatures = ReturnType<typeof buoyFeatures>['features']

function styleOf(basemap: Basemap, look: Look, isClustered: boolean): StyleSpecification {
  const { theme, satellites } = look
  return {
    ...basemap.style,
    sources: {
      ...basemap.style.sources,
      virtual: { type: 'geojson', data: EMPTY },
      buoys: {
        type: 'geojson',
        data: EMPTY,
        cluster: isClustered,
        clusterRadius: CLUSTER.radius,
        clusterMaxZoom: CLUSTER.maxZoom,
        clusterProperties: {
          height: ['max', ['coalesce', ['get', 'height'], -1]],
          class: ['max', ['coalesce', ['get', 'class'], 0]],
        },
      },
      pass: { type: 'geojson', data: EMPTY },
      mark: { type: 'geojson', data: EMPTY },
    },
    layers: [
      ...basemap.below(theme),
      ...basemap.names(theme),
      ...layers({ theme, satellites, font: basemap.font }),
    ],
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
    const counts = drawn.map(({ properties: { id, cluster_id: cluster, point_count: count } }) =>
      cluster === undefined ? ([`buoy ${id}`, 1] as const) : ([`cluster ${cluster}`, Number(count)] as const),
    )
    // A buoy at the edge of two tiles is found twice.
    onDrawn([...new Map(counts).values()].reduce((sum, count) => sum + count, 0))
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

/** What the page can do, and what a click on the sea does. */
type Controls = BuoyMap & { click: (point: Position, events: MapEvents) => void }

function controlsOf(
  map: MapView,
  host: HTMLElement,
  basemap: Basemap,
  first: Look & { buoys: readonly ActiveBuoy[]; clock: () => number },
): Controls {
  const { clock } = first
  let look: Look = first
  let { buoys } = first
  let drawn: BuoyFeatures = []
  let marked: Target | null = null
  let clicked: Position | null = null
  let fitted: { buoys: readonly ActiveBuoy[]; covered: Covered } | null = null
  let isClustered = isNarrow(host)
  let spreadAt = NaN
  const refit = (): void => {
    if (fitted === null) return
    const { covered } = fitted
    const shown = firstBuoys(fitted.buoys, freeSize(host, covered), visitorZone())
    if (look.globe) fitGlobe(map, host, shown, covered)
    else fitPositions(map, host, shown, covered)
  }
  const drawMark = (): void => {
    const at = drawn.find(({ properties }) => properties.slug === marked?.slug)?.geometry.coordinates
    void sourceOf(map, 'mark').setData(marked === null ? EMPTY : markFeature(marked, look.units, clock(), at))
  }
  const drawBuoys = (): void => {
    spreadAt = spreadStep(map)
    const { features } = buoyFeatures(buoys, look.units, clock())
    const physical = features.filter(({ properties }) => !properties.virtual)
    const virtual = features.filter(({ properties }) => properties.virtual)
    // Those of a cluster lie together on purpose.
    drawn = [...(isClustered ? physical : spread(physical, spreadAt)), ...virtual]
    void sourceOf(map, 'virtual').setData({ ...EMPTY, features: virtual })
    void sourceOf(map, 'buoys').setData({ ...EMPTY, features: drawn.slice(0, physical.length) })
    drawMark()
  }
  map.once('style.load', drawBuoys)
  map.on('zoomend', () => {
    if (spreadStep(map) !== spreadAt) drawBuoys()
  })
  map.on('resize', () => {
    if (isClustered !== isNarrow(host)) {
      isClustered = isNarrow(host)
      void sourceOf(map, 'buoys').setClusterOptions({ cluster: isClustered })
      drawBuoys()
    }
    refit()
  })
  map.on('movestart', (event) => {
    // The visitor moved the map, by hand or by a search; resizing moves nothing.
    if (!('isOwn' in event)) fitted = null
  })
  return {
    setBuoys(next) {
      buoys = next
      drawBuoys()
    },
    tick() {
      if (agesOf(buoyFeatures(buoys, look.units, clock()).features) !== agesOf(drawn)) drawBuoys()
    },
    mark(target) {
      marked = target
      drawMark()
    },
    click(point, { onPoint }) {
      clicked = point
      onPoint(point)
    },
    goTo: (target, covered) => bringIntoView(map, host, target, covered, isSamePoint(target, clicked)),
    moveTo: ({ zoom, lat, lng }) => void map.jumpTo({ center: [lng, lat], zoom }),
    fit(next, covered) {
      fitted = { buoys: next, covered }
      refit()
    },
    zoomBy: (levels) => zoomBy(map, levels),
    setLook(next) {
      if (next.theme !== look.theme || next.satellites !== look.satellites) restyle(map, basemap, next)
      const hasNewGlobe = next.globe !== look.globe
      const hasNewUnits = next.units.height !== look.units.height
      look = next
      host.classList.toggle('globe', next.globe)
      if (hasNewGlobe) map.setProjection(projectionOf(next))
      if (hasNewGlobe && fitted !== null) refit()
      if (hasNewUnits) drawBuoys()
    },
    setPass(points, covered) {
      void sourceOf(map, 'pass').setData(passFeatures(points))
      fitted = null
      fitPositions(map, host, points, covered, { maxZoom: PASS_ZOOM, isFlight: true })
    },
    center() {
      clicked = centerOf(map)
      return clicked
    },
    bounds: () => boundsOf(map),
  }
}

const freeSize = (host: HTMLElement, { left, bottom }: Covered): { width: number; height: number } => ({
  width: host.clientWidth - left,
  height: host.clientHeight - bottom,
})

function visitorZone(): { timezone: string; hours: number } {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return { timezone: timeZone, hours: new Date().getTimezoneOffset() / -60 }
}

/** Dots are spread anew when the zoom has changed by half a level. */
const spreadStep = (map: MapView): number => Math.round(map.getZoom() * 2) / 2

/** The labels of old readings: all that changes with time alone. */
const agesOf = (features: BuoyFeatures): string =>
  features.flatMap(({ properties: { slug, old, label } }) => (old ? [`${slug} ${label}`] : [])).join()

function restyle(map: MapView, basemap: Basemap, { theme, satellites }: Look): void {
  const own = layers({ theme, satellites, font: basemap.font })
  for (const { id, ...layer } of [...basemap.below(theme), ...basemap.names(theme), ...own]) {
    for (const [name, value] of Object.entries(layer.paint ?? {})) {
      map.setPaintProperty(id, name as never, value as never)
    }
    if (layer.layout?.visibility !== undefined)
      map.setLayoutProperty(id, 'visibility', layer.layout.visibility)
  }
}
