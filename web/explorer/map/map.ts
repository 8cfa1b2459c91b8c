/**
 * The map: sea, land, names, buoys coloured by height. It shows the state of the page, and a
 * click on it opens a buoy or a point of the sea.
 */
import { computed, effect, signal, untracked } from '@preact/signals'
import {
  type GeoJSONSource,
  LngLat,
  Map as MapView,
  prewarm,
  setWorkerUrl,
  type StyleSpecification,
} from 'maplibre-gl'
import { about, beyond, map as shownMap, pause, showsGlobe as globe, update, view } from '../store.ts'
import { texts } from '../language.ts'
import { placeNames } from '../page.ts'
import { type Theme, theme } from '../theme.ts'
import { MAP_END } from '../view.ts'
import { addressIn, type Basemap, loadBasemap } from './basemap.ts'
import {
  bringIntoView,
  cameraNow,
  CLUSTER,
  dotsOf,
  fitFirst,
  frameOf,
  GLOBE_END,
  OWN_MOVE,
  position,
  shownBuoys,
} from './camera.ts'
import { type buoyFeatures, EMPTY, pointAt } from './features.ts'
import { NARROW_PIXELS, TILE_PIXELS, ZOOMS } from './first.ts'
import {
  ARROW_IMAGE,
  ARROW_LAYERS,
  ARROW_PIXELS,
  ARROWS_FROM,
  BOX_IMAGE,
  BUOY_LAYERS,
  DOT_IMAGE,
  FEW_DOTS,
  layers,
  namesFirst,
  OLD,
} from './layers.ts'
import { answerPointer } from './pointer.ts'
import { leashes } from './spread.ts'
import { keepLabelsWhole } from './whole_labels.ts'

const DOT_PIXELS = 5
/** Elements over the map. */
const COVERS = '#live, #map-tools, #legend, #credit, #panel, #beyond'

/**
 * Opens the map in `host`, whose data attributes hold the addresses of worker, basemap and what comes later.
 * Resolves once it is drawn.
 * @throws Error where the browser has no WebGL 2, or the basemap cannot be loaded
 */
export async function openMap(host: HTMLElement): Promise<void> {
  setWorkerUrl(addressIn(host, 'worker'))
  // The worker starts while the basemap is on its way.
  prewarm()
  const basemap = await loadBasemap(host)
  await pause()
  const painted = theme.peek()
  const map = createMap(host, styleOf(basemap, painted), addressIn(host, 'mapStyle') !== '')
  shownMap.value = map
  map.getCanvas().setAttribute('aria-label', texts.map.description)
  answerPointer(map)
  map.on('idle', () => {
    const count = countDrawn(map)
    host.dataset.drawn = String(count)
    showArrows(map, map.getZoom() >= ARROWS_FROM || count < FEW_DOTS)
  })
  map.on('moveend', (event) => {
    const { lat, lng } = map.getCenter().wrap()
    if ('isOwn' in event) return
    beyond.value = []
    update({ camera: { zoom: map.getZoom(), lat, lng } })
  })
  await map.once('style.load')
  await pause()
  addImages(map)
  // Names of countries are placed before the labels of buoys, which have room at four sides.
  if (map.getLayer('countries') !== undefined) map.moveLayer('countries', 'virtual-obstacles')
  show(map, basemap, painted)
  const whole = map.once('idle')
  // Labels are placed from the next one on.
  await map.once('render')
  keepLabelsWhole(map, () =>
    [...document.querySelectorAll(COVERS)].map((cover) => cover.getBoundingClientRect()),
  )
  basemap.showCredits(map)
  await whole
}

/** Labels avoid images: one without colour in which none may lie, and a small disc for a town. */
function addImages(map: MapView): void {
  map.addImage(BOX_IMAGE, { width: 1, height: 1, data: new Uint8Array(4) })
  const context = new OffscreenCanvas(DOT_PIXELS, DOT_PIXELS).getContext('2d')!
  context.fillStyle = '#7f898e'
  context.arc(DOT_PIXELS / 2, DOT_PIXELS / 2, DOT_PIXELS / 2, 0, 2 * Math.PI)
  context.fill()
  map.addImage(DOT_IMAGE, context.getImageData(0, 0, DOT_PIXELS, DOT_PIXELS))
  // Twice as fine as it is drawn, with room around it, in a colour that the theme decides.
  const [side, tip] = [2 * ARROW_PIXELS, 3]
  const arrow = new OffscreenCanvas(side, side).getContext('2d')!
  arrow.moveTo(side / 2, tip)
  arrow.lineTo(side - tip, side - tip)
  arrow.lineTo(tip, side - tip)
  arrow.fill()
  map.addImage(ARROW_IMAGE, arrow.getImageData(0, 0, side, side), { pixelRatio: 2, sdf: true })
}

function styleOf({ style, layersBelow, font }: Basemap, shown: Theme): StyleSpecification {
  return {
    ...style,
    sources: {
      ...style.sources,
      virtual: { type: 'geojson', data: EMPTY },
      buoys: {
        type: 'geojson',
        data: EMPTY,
        clusterRadius: CLUSTER.radius,
        clusterMaxZoom: CLUSTER.maxZoom,
        clusterProperties: {
          height: ['max', ['case', OLD, -1, ['coalesce', ['get', 'height'], -1]]],
          class: ['max', ['case', OLD, 0, ['coalesce', ['get', 'class'], 0]]],
          old: ['all', OLD],
        },
      },
      mark: { type: 'geojson', data: EMPTY },
      leashes: { type: 'geojson', data: EMPTY },
    },
    layers: [...layersBelow(shown), ...layers(shown, font)],
  }
}

function createMap(host: HTMLElement, style: StyleSpecification, isOperators: boolean): MapView {
  const { zoom, ...center } = untracked(() => cameraNow(frameOf(host)))
  const map = new MapView({
    container: host,
    style,
    // Ours is right, and to check it takes as long as to draw it.
    validateStyle: isOperators,
    center,
    zoom,
    minZoom: ZOOMS.least,
    maxZoom: ZOOMS.most,
    transformConstrain,
    maxPitch: 0,
    dragRotate: false,
    boxZoom: false,
    attributionControl: false,
    // MapLibre's own event does not say that the visitor has moved nothing.
    trackResize: false,
    // Fading keeps the processor busy on machines without a graphics card.
    fadeDuration: 0,
  })
  map.touchZoomRotate.disableRotation()
  map.keyboard.disableRotation()
  return map
}

/** Without this the world is as wide as the map is high, and an upright phone cannot show all of it. */
function transformConstrain(center: LngLat, zoom: number): { center: LngLat; zoom: number } {
  const end = globe.peek() ? GLOBE_END : MAP_END
  const lat = Math.min(end, Math.max(-end, center.lat))
  return {
    center: new LngLat(center.lng, lat),
    zoom: Math.min(ZOOMS.most, Math.max(ZOOMS.least, zoom)),
  }
}

/** Directions are shown where there is room for them. */
function showArrows(map: MapView, isNear: boolean): void {
  const visibility = isNear ? 'visible' : 'none'
  for (const id of ARROW_LAYERS) {
    if (map.getLayoutProperty(id, 'visibility') !== visibility)
      map.setLayoutProperty(id, 'visibility', visibility)
  }
}

/** How many buoys can be seen; those of a cluster are counted. */
function countDrawn(map: MapView): number {
  const drawn = map.queryRenderedFeatures({ layers: BUOY_LAYERS })
  // A buoy at the edge of two tiles is found twice.
  const counts = new Map<string, number>()
  for (const { properties: dot } of drawn) counts.set(`${dot.id} ${dot.cluster_id}`, dot.point_count ?? 1)
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}

/** Keeps the map, which is drawn for a theme, as the state of the page says, from now on. */
function show(map: MapView, { layersBelow, font }: Basemap, painted: Theme): void {
  const host = map.getContainer()
  const setData = (id: string, data: Parameters<GeoJSONSource['setData']>[0]): void =>
    void map.getSource<GeoJSONSource>(id)?.setData(data)
  const isNarrow = signal(host.clientWidth < NARROW_PIXELS)
  // Dots are spread again after each move, also after the first one, which fits the buoys.
  const zoom = signal(map.getZoom())
  const equator = signal(equatorOf(map))
  const measure = (): void => {
    zoom.value = map.getZoom()
    equator.value = equatorOf(map)
  }
  map.on('moveend', measure)
  // The buoys of a cluster lie together on purpose.
  const isClustered = computed(() => isNarrow.value && zoom.value < CLUSTER.maxZoom + 1)
  const dots = computed(() => dotsOf(isClustered.value ? null : equator.value))

  effect(() => {
    for (const [id, { key, filter }] of Object.entries(namesFirst(shownBuoys.value))) {
      // A style of the operator has other names.
      if (map.getLayer(id) === undefined) continue
      map.setLayoutProperty(id, 'symbol-sort-key', key, { validate: false })
      map.setFilter(id, filter, { validate: false })
    }
  })
  effect(() => {
    if (theme.value === painted) return
    painted = theme.value
    for (const { id, paint } of [...layersBelow(theme.value), ...layers(theme.value, font)]) {
      for (const [name, value] of Object.entries(paint ?? {})) {
        map.setPaintProperty(id, name as never, value as never)
      }
    }
  })
  /** The buoy of the panel, which is drawn above all others and in no cluster. */
  const marked = computed(() => {
    const { virtual, physical } = dots.value
    return [...virtual, ...physical].find(({ properties }) => properties.slug === about.value)
  })
  effect(() => {
    setData('leashes', {
      ...EMPTY,
      features: isClustered.value ? [] : leashes(dots.value.true, dots.value.physical),
    })
    const dot = marked.value
    const below = (features: ReturnType<typeof buoyFeatures>) => features.filter((each) => each !== dot)
    setData('virtual', { ...EMPTY, features: below(dots.value.virtual) })
    setData('buoys', { ...EMPTY, features: below(dots.value.physical) })
  })
  effect(() => void map.getSource<GeoJSONSource>('buoys')?.setClusterOptions({ cluster: isNarrow.value }))
  effect(() => {
    const dot = marked.value
    if (dot !== undefined) setData('mark', dot)
    else setData('mark', position.value === null ? EMPTY : pointAt(position.value))
  })

  const fit = (): void => {
    // Until the visitor looks at something.
    if (view.peek().camera === null && about.peek() === '') fitFirst(map)
  }
  effect(() => {
    map.setProjection({ type: globe.value ? 'globe' : 'mercator' })
    host.classList.toggle('globe', globe.value)
    fit()
    measure()
  })
  effect(() => {
    void shownBuoys.value
    fit()
  })
  let reached: string | null = null
  effect(() => {
    const isHere = about.value === '' || position.value !== null
    // Back from a buoy, a map that the visitor has not moved shows all of them again.
    if (about.value === '' && reached !== null && reached !== '') fit()
    if (!isHere || about.value === reached) return
    // A point is where the visitor clicked, unless it has a name or came with the address.
    const isClicked = view.peek().buoy === null && reached !== null && !placeNames.has(about.value)
    // A place named by the address lies among the operator's buoys, no further away than in their first view.
    if (reached === null && view.peek().camera === null && about.value !== '') fitFirst(map)
    if (position.value !== null) bringIntoView(map, position.value, isClicked)
    reached = about.value
  })
  new ResizeObserver(() => {
    const { clientWidth: width, clientHeight: height } = map.getCanvas()
    // The first call has the size that is drawn.
    if (host.clientWidth === width && host.clientHeight === height) return
    map.resize(OWN_MOVE).redraw()
    isNarrow.value = host.clientWidth < NARROW_PIXELS
    fit()
  }).observe(host)
}

/** Pixels of the equator: of a globe, whose zoom depends on what is in front, to the pixel. */
function equatorOf(map: MapView): number {
  const world = TILE_PIXELS * 2 ** map.getZoom()
  return globe.peek() ? Math.round(world / Math.cos((map.getCenter().lat * Math.PI) / 180)) : world
}
