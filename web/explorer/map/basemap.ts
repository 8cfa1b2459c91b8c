/**
 * The map below the buoys: a coarse map of the world, tiles with coast and towns for a near map, or the
 * operator's style in place of both.
 */
import type { LayerSpecification, Map as MapView, StyleSpecification } from 'maplibre-gl'
import type { Theme } from '../theme.ts'
import { basemapLayers, FONT, nameLayers } from './layers.ts'

/** As `tools/basemap/coast.mjs` makes its tiles. */
export const COAST_ZOOM = 4

export interface Basemap {
  /** A style without its layers. */
  style: Omit<StyleSpecification, 'layers'>
  /** The layers below all others, with names. */
  layersBelow: (theme: Theme) => LayerSpecification[]
  /** The font of labels: one that the style's glyphs have. */
  font: string[]
  /** Shows who made the map, where that is not in the page. */
  showCredits: (map: MapView) => void
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
      },
    },
    layersBelow: (theme) => [...basemapLayers(theme), ...nameLayers(theme)],
    font: FONT,
    showCredits: () => {},
  }
}

function operatorsBasemap({ layers, ...style }: StyleSpecification): Basemap {
  const fonts = layers.map(({ layout }) => (layout as { 'text-font'?: unknown } | undefined)?.['text-font'])
  const isNames = (font: unknown): font is string[] =>
    Array.isArray(font) &&
    font.length > 0 &&
    font.every((name) => typeof name === 'string' && name !== 'literal')
  return { style, layersBelow: () => layers, font: fonts.find(isNames) ?? FONT, showCredits }
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
