/**
 * The map: sea, land, names, buoys coloured by height, satellite passes. Knows nothing of panels and of the
 * API's calls.
 */
import {
  LngLatBounds,
  Map as MapView,
  prewarm,
  setWorkerUrl,
  type ExpressionSpecification,
  type FilterSpecification,
  type GeoJSONSource,
  type LayerSpecification,
  type StyleSpecification,
} from 'maplibre-gl'
import type { MapBuoy, Reading, SatellitePass } from './api.ts'
import { CLASS_STARTS, HEIGHT_COLORS } from './heights.ts'

export type Theme = 'light' | 'dark'

export interface MapEvents {
  onBuoy: (slug: string) => void
  onPoint: (point: { lat: number; lng: number }) => void
  onMove: (camera: { zoom: number; lat: number; lng: number }) => void
  /** How many buoys can be seen, after everything has been drawn. */
  onDrawn: (count: number) => void
}

export interface BuoyMap {
  setBuoys(buoys: readonly MapBuoy[]): void
  /** Marks the buoy in the panel, or the point; null marks none. */
  mark(target: { lat: number; lng: number; last_reading?: Reading | null } | null): void
  /**
   * Brings a place into view, unless it is there already. `shown` are the pixels at each side that something
   * covers.
   */
  goTo(target: { lat: number; lng: number }, covered: { left: number; bottom: number }): void
  moveTo(camera: { zoom: number; lat: number; lng: number }): void
  /** Shows all places at once where they lie within half of the world. */
  fit(places: readonly { lat: number; lng: number }[]): void
  zoomBy(levels: number): void
  setTheme(theme: Theme): void
  setSatellites(visible: boolean): void
  setGlobe(globe: boolean): void
  /** Draws the region of a pass and its buoys; null draws none. */
  setPass(pass: SatellitePass | null, covered: { left: number; bottom: number }): void
  center(): { lat: number; lng: number }
}

/** Pixels within which a click means a buoy: a finger's width on a phone. */
const NEAR = 14
/** From here on the coarse coast looks coarse. */
const FINE_COAST_ZOOM = 4
const FONT = ['sans-serif']

const COLORS = {
  light: {
    sea: '#dde9f0',
    land: '#f6f4ee',
    coast: '#b9c6cc',
    border: '#dcd8cd',
    name: '#7d7a70',
    text: '#15313f',
    halo: '#f4f9fb',
    outline: '#16323f',
    mark: '#c2185b',
    pass: '#7b3fa0',
  },
  dark: {
    sea: '#0d1b25',
    land: '#1d2b35',
    coast: '#3a4d59',
    border: '#2e3f4a',
    name: '#8396a2',
    text: '#e6f0f5',
    halo: '#0b161e',
    outline: '#eef6fa',
    mark: '#ff7eb6',
    pass: '#c79bf2',
  },
} as const

const HEIGHT: ExpressionSpecification = ['coalesce', ['get', 'height'], -1]

function heightColor(theme: Theme): ExpressionSpecification {
  const colors = HEIGHT_COLORS[theme]
  return [
    'step',
    HEIGHT,
    colors[0],
    ...CLASS_STARTS.flatMap((start, i) => [start, colors[i + 1]]),
  ] as unknown as ExpressionSpecification
}

const kindIs = (kind: string): FilterSpecification => ['==', ['get', 'kind'], kind]
const PHYSICAL: FilterSpecification = ['!', ['get', 'virtual']]
const VIRTUAL: FilterSpecification = ['get', 'virtual']
const RADIUS: ExpressionSpecification = ['interpolate', ['linear'], ['zoom'], 0, 5, 3, 6.5, 7, 10]

function layers(theme: Theme, satellites: boolean): LayerSpecification[] {
  const color = COLORS[theme]
  const visibility = satellites ? 'visible' : 'none'
  return [
    { id: 'sea', type: 'background', paint: { 'background-color': color.sea } },
    {
      id: 'land',
      type: 'fill',
      source: 'basemap',
      filter: kindIs('land'),
      paint: { 'fill-color': color.land, 'fill-outline-color': color.coast },
    },
    {
      id: 'border',
      type: 'line',
      source: 'basemap',
      filter: kindIs('border'),
      paint: { 'line-color': color.border, 'line-width': 0.8 },
    },
    {
      id: 'pass-area',
      type: 'fill',
      source: 'pass',
      layout: { visibility },
      paint: { 'fill-color': color.pass, 'fill-opacity': 0.1 },
    },
    {
      id: 'pass-edge',
      type: 'line',
      source: 'pass',
      layout: { visibility },
      paint: { 'line-color': color.pass, 'line-width': 1.5, 'line-dasharray': [3, 2] },
    },
    {
      id: 'country',
      type: 'symbol',
      source: 'names',
      filter: ['<=', ['get', 'rank'], ['step', ['zoom'], 0, 2, 1, 3.5, 2]],
      layout: {
        'text-field': ['get', 'name'],
        'text-font': FONT,
        'text-size': ['interpolate', ['linear'], ['zoom'], 1, 10, 6, 13],
        'text-letter-spacing': 0.06,
        'text-max-width': 7,
      },
      paint: { 'text-color': color.name, 'text-halo-color': color.land, 'text-halo-width': 1 },
    },
    {
      id: 'virtual-buoys',
      type: 'circle',
      source: 'buoys',
      filter: VIRTUAL,
      layout: { visibility, 'circle-sort-key': HEIGHT },
      paint: {
        'circle-radius': RADIUS,
        'circle-color': color.sea,
        'circle-stroke-width': 3,
        'circle-stroke-color': heightColor(theme),
      },
    },
    {
      id: 'buoys',
      type: 'circle',
      source: 'buoys',
      filter: PHYSICAL,
      layout: { 'circle-sort-key': HEIGHT },
      paint: {
        'circle-radius': RADIUS,
        'circle-color': heightColor(theme),
        'circle-stroke-width': 1,
        'circle-stroke-color': color.outline,
      },
    },
    {
      id: 'mark',
      type: 'circle',
      source: 'mark',
      paint: {
        'circle-radius': ['interpolate', ['linear'], ['zoom'], 0, 7, 3, 9, 7, 12],
        // A buoy in the panel lies above its neighbours.
        'circle-color': ['case', ['has', 'height'], heightColor(theme), 'rgba(0,0,0,0)'],
        'circle-stroke-width': 3,
        'circle-stroke-color': color.mark,
      },
    },
    {
      id: 'labels',
      type: 'symbol',
      source: 'buoys',
      filter: satellites ? ['!=', ['get', 'id'], -1] : PHYSICAL,
      layout: {
        'text-field': [
          'step',
          ['zoom'],
          ['get', 'label'],
          3.6,
          [
            'format',
            ['get', 'label'],
            { 'font-scale': 1 },
            '\n',
            {},
            ['get', 'name'],
            { 'font-scale': 0.85 },
          ],
        ],
        'text-font': FONT,
        'text-size': 13,
        'text-variable-anchor': ['left', 'right', 'bottom', 'top'],
        'text-radial-offset': 0.85,
        'text-justify': 'auto',
        'text-max-width': 12,
        // The highest seas keep their labels where there is no room for all.
        'symbol-sort-key': ['-', 0, HEIGHT],
      },
      paint: { 'text-color': color.text, 'text-halo-color': color.halo, 'text-halo-width': 1.4 },
    },
  ]
}

const EMPTY = { type: 'FeatureCollection' as const, features: [] }

interface BasemapFeature {
  type: 'Feature'
  properties: { kind: string }
  geometry: { type: 'Point'; coordinates: number[] }
}

/**
 * `place` holds the addresses of worker and basemaps in its data attributes.
 * @throws Error where the browser has no WebGL 2
 */
export async function openMap(
  place: HTMLElement,
  first: {
    theme: Theme
    satellites: boolean
    globe: boolean
    camera: { zoom: number; lat: number; lng: number } | null
    buoys: readonly MapBuoy[]
  },
  events: MapEvents,
): Promise<BuoyMap> {
  const address = (name: string): string => new URL(place.dataset[name] ?? '', document.baseURI).href
  setWorkerUrl(address('worker'))
  // The worker starts while the basemap is on its way.
  prewarm()
  const basemap = await loadBasemap(address('basemap'))
  let { theme, satellites } = first
  const style: StyleSpecification = {
    version: 8,
    sources: {
      basemap: { type: 'geojson', data: basemap.shapes, tolerance: 0.3 },
      names: { type: 'geojson', data: basemap.names },
      buoys: { type: 'geojson', data: collectionOf(first.buoys) },
      pass: { type: 'geojson', data: EMPTY },
      mark: { type: 'geojson', data: EMPTY },
    },
    layers: layers(theme, satellites),
    projection: { type: first.globe ? 'globe' : 'mercator' },
  }
  const camera = first.camera ?? { zoom: place.clientWidth < 600 ? 0.6 : 1.4, lat: 25, lng: -30 }
  const map = new MapView({
    container: place,
    style,
    center: [camera.lng, camera.lat],
    zoom: camera.zoom,
    maxZoom: 10,
    maxPitch: 0,
    dragRotate: false,
    pitchWithRotate: false,
    attributionControl: false,
    // Fading keeps the processor busy where there is no graphics card.
    fadeDuration: 0,
  })
  map.touchZoomRotate.disableRotation()
  map.keyboard.disableRotation()
  const canvas = map.getCanvas()
  canvas.setAttribute(
    'aria-label',
    'Map of buoys. Arrow keys move it, plus and minus zoom, Enter shows the conditions at its middle. The list beside it holds the same buoys.',
  )

  const source = (id: string): GeoJSONSource => map.getSource(id) as GeoJSONSource
  let fine = false
  const refine = async (): Promise<void> => {
    if (fine || map.getZoom() <= FINE_COAST_ZOOM) return
    fine = true
    try {
      await source('basemap').setData((await loadBasemap(address('fineBasemap'))).shapes)
    } catch {
      // The coarse coast stays; the next movement tries again.
      fine = false
    }
  }

  const buoyAt = (point: { x: number; y: number }): string | null => {
    const found = map.queryRenderedFeatures(
      [
        [point.x - NEAR, point.y - NEAR],
        [point.x + NEAR, point.y + NEAR],
      ],
      { layers: ['buoys', 'virtual-buoys'] },
    )
    let [nearest, best] = [null as string | null, Infinity]
    for (const { geometry, properties } of found) {
      if (geometry.type !== 'Point') continue
      const at = map.project(geometry.coordinates as [number, number])
      const distance = Math.hypot(at.x - point.x, at.y - point.y)
      if (distance < best) [nearest, best] = [properties.slug as string, distance]
    }
    return nearest
  }
  const choose = (point: { x: number; y: number }, at: { lat: number; lng: number }): void => {
    const slug = buoyAt(point)
    if (slug !== null) events.onBuoy(slug)
    else if (map.queryRenderedFeatures([point.x, point.y], { layers: ['land'] }).length === 0) {
      events.onPoint(at)
    }
  }

  map.on('click', ({ point, lngLat }) => choose(point, lngLat.wrap()))
  map.on('mousemove', ({ point }) => {
    canvas.style.cursor = buoyAt(point) === null ? '' : 'pointer'
  })
  canvas.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') events.onPoint(map.getCenter().wrap())
  })
  map.on('idle', () => {
    const drawn = map.queryRenderedFeatures({ layers: ['buoys', 'virtual-buoys'] })
    events.onDrawn(new Set(drawn.map(({ properties }) => properties.id as number)).size)
  })
  await new Promise<void>((resolve) => void map.once('load', () => resolve()))
  void refine()
  map.on('moveend', () => {
    void refine()
    const { lat, lng } = map.getCenter().wrap()
    events.onMove({ zoom: map.getZoom(), lat, lng })
  })

  const restyle = (): void => {
    for (const { id, ...layer } of layers(theme, satellites)) {
      for (const [name, value] of Object.entries(layer.paint ?? {})) {
        map.setPaintProperty(id, name as never, value as never)
      }
      if (layer.layout?.visibility !== undefined)
        map.setLayoutProperty(id, 'visibility', layer.layout.visibility)
      if ('filter' in layer && id === 'labels') map.setFilter(id, layer.filter)
    }
  }

  return {
    setBuoys(buoys) {
      void source('buoys').setData(collectionOf(buoys))
    },
    mark(target) {
      void source('mark').setData(target === null ? EMPTY : markAt(target))
    },
    goTo({ lat, lng }, covered) {
      const { x, y } = map.project([lng, lat])
      const [width, height] = [place.clientWidth, place.clientHeight - covered.bottom]
      const margin = 40
      const inView = x > covered.left + margin && x < width - margin && y > margin && y < height - margin
      if (inView && map.getZoom() >= 3) return
      map.easeTo({
        center: [lng, lat],
        zoom: Math.max(map.getZoom(), 4.5),
        offset: [covered.left / 2, -covered.bottom / 2],
        duration: prefersStill() ? 0 : 700,
      })
    },
    moveTo({ zoom, lat, lng }) {
      map.jumpTo({ center: [lng, lat], zoom })
    },
    fit(places) {
      const bounds = places.reduce((box, { lat, lng }) => box.extend([lng, lat]), new LngLatBounds())
      if (bounds.isEmpty() || bounds.getEast() - bounds.getWest() > 180) return
      map.fitBounds(bounds, { padding: 60, maxZoom: FINE_COAST_ZOOM, duration: 0 })
    },
    zoomBy(levels) {
      map.easeTo({ zoom: map.getZoom() + levels, duration: prefersStill() ? 0 : 250 })
    },
    setTheme(next) {
      theme = next
      restyle()
    },
    setSatellites(visible) {
      satellites = visible
      restyle()
    },
    setGlobe(globe) {
      map.setProjection({ type: globe ? 'globe' : 'mercator' })
    },
    setPass(pass, covered) {
      void source('pass').setData(pass === null ? EMPTY : regionOf(pass))
      if (pass === null) return
      const { south, west, north, east } = pass.bounds
      const bounds = new LngLatBounds(
        [west, Math.max(south, -80)],
        [unwrapped(west, east), Math.min(north, 80)],
      )
      map.fitBounds(bounds, {
        padding: { top: 30, right: 30, left: covered.left + 30, bottom: covered.bottom + 30 },
        duration: prefersStill() ? 0 : 700,
        maxZoom: 5,
      })
    },
    center() {
      const { lat, lng } = map.getCenter().wrap()
      return { lat, lng }
    },
  }
}

const prefersStill = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches

async function loadBasemap(address: string) {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`the basemap cannot be loaded: ${answer.status}`)
  const { features } = (await answer.json()) as { features: BasemapFeature[] }
  const collection = (wanted: (kind: string) => boolean) => ({
    type: 'FeatureCollection' as const,
    features: features.filter(({ properties }) => wanted(properties.kind)),
  })
  return { shapes: collection((kind) => kind !== 'name'), names: collection((kind) => kind === 'name') }
}

function collectionOf(buoys: readonly MapBuoy[]) {
  return {
    type: 'FeatureCollection' as const,
    features: buoys.map(({ id, slug, name, virtual, lat, lng, last_reading: reading }) => ({
      type: 'Feature' as const,
      properties: {
        id,
        slug,
        name,
        virtual,
        height: reading?.significient_height ?? null,
        label: reading === null ? '' : `${reading.significient_height.toFixed(1)} m`,
      },
      geometry: { type: 'Point' as const, coordinates: [lng, lat] },
    })),
  }
}

function markAt({ lat, lng, last_reading: reading }: Parameters<BuoyMap['mark']>[0] & object) {
  return {
    type: 'Feature' as const,
    properties: reading === null || reading === undefined ? {} : { height: reading.significient_height },
    geometry: { type: 'Point' as const, coordinates: [lng, lat] },
  }
}

/** Bounds over the antimeridian have west greater than east. */
const unwrapped = (west: number, east: number): number => (east < west ? east + 360 : east)

function regionOf({ bounds: { south, west, north, east } }: SatellitePass) {
  const right = unwrapped(west, east)
  const corners = [
    [west, south],
    [right, south],
    [right, north],
    [west, north],
    [west, south],
  ]
  return {
    type: 'Feature' as const,
    properties: {},
    geometry: { type: 'Polygon' as const, coordinates: [corners] },
  }
}
