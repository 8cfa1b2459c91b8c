/**
 * What lies below the buoys: the coarse basemap of the first view, tiles of the coast and names of towns for a
 * near map, or the style of the operator in place of all of them.
 */
import type { GeoJSONSource, LayerSpecification, Map as MapView, StyleSpecification } from 'maplibre-gl'
import type { Theme } from '../theme.ts'
import { loadTowns } from '../towns.ts'
import { EMPTY, pointAt } from './features.ts'
import { basemapLayers, FONT, nameLayers } from './layers.ts'

/** As `tools/basemap/coast.mjs` makes its tiles. */
const COAST_ZOOM = 4
/** The largest towns have their names from here on. */
const TOWNS_ZOOM = 5

export interface Basemap {
  /** A style without its layers. */
  style: Omit<StyleSpecification, 'layers'>
  /** The layers below all others, with names. */
  layersBelow: (theme: Theme) => LayerSpecification[]
  /** The font of labels: one that the style's glyphs have. */
  font: string[]
  /** Loads what only a near map needs. */
  keepNear: (map: MapView) => void
}

/** The address in a data attribute; '' where it has none. That of the coast has `*` for the tile. */
export function addressIn(host: HTMLElement, name: string): string {
  const address = host.dataset[name] ?? ''
  return address === '' ? '' : new URL(address, document.baseURI).href
}

/** @throws Error when the operator's style cannot be loaded */
export async function loadBasemap(host: HTMLElement): Promise<Basemap> {
  const own = addressIn(host, 'mapStyle')
  if (own !== '') return operatorsBasemap((await (await fetch(own)).json()) as StyleSpecification)
  const coast = addressIn(host, 'coast').replace('*', '{x}-{y}')
  return {
    style: {
      version: 8,
      sources: {
        basemap: { type: 'vector', tiles: [addressIn(host, 'basemap')], maxzoom: 0 },
        coast: { type: 'vector', tiles: [coast], minzoom: COAST_ZOOM, maxzoom: COAST_ZOOM },
        towns: { type: 'geojson', data: EMPTY },
      },
    },
    layersBelow: (theme) => [...basemapLayers(theme), ...nameLayers(theme)],
    font: FONT,
    keepNear: (map) => keepTowns(map, addressIn(host, 'towns')),
  }
}

function operatorsBasemap({ layers, ...style }: StyleSpecification): Basemap {
  const fonts = layers.map(({ layout }) => (layout as { 'text-font'?: unknown } | undefined)?.['text-font'])
  const isNames = (font: unknown): font is string[] =>
    Array.isArray(font) &&
    font.length > 0 &&
    font.every((name) => typeof name === 'string' && name !== 'literal')
  return { style, layersBelow: () => layers, font: fonts.find(isNames) ?? FONT, keepNear: showCredits }
}

/** Puts what the sources ask for in place of the credit of the page's own map, as text without markup. */
function showCredits(map: MapView): void {
  const textOf = (html = ''): string => html.replaceAll(/<[^>]*>/g, '').replaceAll('&copy;', '©')
  const show = (): void => {
    const asked = Object.keys(map.getStyle().sources).map((id) => textOf(map.getSource(id)?.attribution))
    document.querySelector('#credit span')!.textContent = [...new Set(asked)].filter(Boolean).join(' · ')
  }
  map.on('sourcedata', ({ sourceDataType }) => {
    if (sourceDataType === 'metadata') show()
  })
  show()
}

/** Loads the towns as soon as the map is close enough to name them; a load that failed is tried again. */
function keepTowns(map: MapView, address: string): void {
  let isAsked = false
  const show = async (): Promise<void> => {
    if (isAsked || map.getZoom() < TOWNS_ZOOM) return
    isAsked = true
    try {
      const towns = await loadTowns(address)
      const features = towns.map((town) => ({ ...pointAt(town), properties: town }))
      await map.getSource<GeoJSONSource>('towns')?.setData({ ...EMPTY, features })
    } catch {
      isAsked = false
    }
  }
  map.on('moveend', () => void show())
  void show()
}
