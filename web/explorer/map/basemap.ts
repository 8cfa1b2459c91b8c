/**
 * What lies below the buoys: the coarse basemap of the first view, tiles of the coast and names of towns for a
 * near map, or the style of the operator in place of all of them.
 */
import {
  addProtocol,
  type GeoJSONSource,
  type LayerSpecification,
  type Map as MapView,
  type StyleSpecification,
} from 'maplibre-gl'
import type { Theme } from '../theme.ts'
import { loadTowns } from '../towns.ts'
import { EMPTY, type PackedBasemap, pointAt, unpackBasemap } from './features.ts'
import { basemapLayers, FONT, nameLayers } from './layers.ts'

/** As `tools/basemap/coast.mjs` makes them. */
const COAST_ZOOMS = [4, 5] as const
const BUNDLE_ZOOM = 3
/** The largest towns have their names from here on. */
const TOWNS_ZOOM = 5

export interface Basemap {
  /** Those of a style but the layers. */
  style: Omit<StyleSpecification, 'layers'>
  /** The layers below all others, with names. */
  layersBelow: (theme: Theme) => LayerSpecification[]
  /** The font of labels: one that the style's glyphs have. */
  font: string[]
  /** Loads what only a near map needs. */
  keepNear: (map: MapView) => void
}

/** The address in a data attribute; '' where it has none. The name of a bundle is not part of it yet. */
export function addressIn(host: HTMLElement, name: string): string {
  const address = host.dataset[name] ?? ''
  return address === '' ? '' : new URL(address, document.baseURI).href
}

/** @throws Error when the basemap cannot be loaded */
export async function loadBasemap(host: HTMLElement): Promise<Basemap> {
  const own = addressIn(host, 'mapStyle')
  if (own !== '') return operatorsBasemap((await (await load(own)).json()) as StyleSpecification)
  const packed = (await (await load(addressIn(host, 'basemap'))).json()) as PackedBasemap
  serveCoast(addressIn(host, 'coast'))
  return {
    style: {
      version: 8,
      sources: {
        basemap: { type: 'geojson', data: unpackBasemap(packed), tolerance: 0.3 },
        coast: {
          type: 'vector',
          tiles: ['coast://{z}/{x}/{y}'],
          minzoom: COAST_ZOOMS[0],
          maxzoom: COAST_ZOOMS[1],
        },
        towns: { type: 'geojson', data: EMPTY },
      },
    },
    layersBelow: (theme) => [...basemapLayers(theme), ...nameLayers(theme)],
    font: FONT,
    keepNear: (map) => keepTowns(map, addressIn(host, 'towns')),
  }
}

async function load(address: string): Promise<Response> {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`${address} cannot be loaded: ${answer.status}`)
  return answer
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
  const textOf = (html = ''): string =>
    html
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll('&copy;', '©')
      .trim()
  const show = (): void => {
    const asked = Object.keys(map.getStyle().sources).map((id) => textOf(map.getSource(id)?.attribution))
    document.querySelector('#credit span')!.textContent = [...new Set(asked)].filter(Boolean).join(' · ')
  }
  map.on('sourcedata', ({ sourceDataType }) => {
    if (sourceDataType === 'metadata') show()
  })
  show()
}

/** Answers the tiles of the coast from bundles, each of which is loaded once. `address` has `*` for its name. */
function serveCoast(address: string): void {
  const bundles = new Map<string, Promise<ArrayBuffer>>()
  addProtocol('coast', async ({ url }) => {
    const [z = 0, x = 0, y = 0] = url.slice('coast://'.length).split('/').map(Number)
    const levels = z - BUNDLE_ZOOM
    const name = `${x >> levels}-${y >> levels}`
    const bundle =
      bundles.get(name) ?? load(address.replace('*', name)).then((answer) => answer.arrayBuffer())
    bundles.set(name, bundle)
    // The next tile tries again.
    bundle.catch(() => bundles.delete(name))
    return { data: tileIn(await bundle, levels, x, y) }
  })
}

/** The tile of a bundle, whose first numbers are the ends of all tiles. `levels` lie between the two. */
function tileIn(bundle: ArrayBuffer, levels: number, x: number, y: number): ArrayBuffer {
  const side = 2 ** levels
  const index = tilesAbove(levels) + (y % side) * side + (x % side)
  const count = tilesAbove(COAST_ZOOMS[1] - BUNDLE_ZOOM + 1)
  const ends = new Uint32Array(bundle, 0, count)
  const from = 4 * count
  return bundle.slice(from + (index === 0 ? 0 : (ends[index - 1] ?? 0)), from + (ends[index] ?? 0))
}

/** How many tiles a bundle has above so many levels: 4 of the first, 16 of the second. */
const tilesAbove = (levels: number): number => (4 ** levels - 4) / 3

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
