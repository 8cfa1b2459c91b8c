/** The basemap: a coarse one for the first view, and a fine coast once the map is close. */
import type { GeoJSONSource, Map as MapView } from 'maplibre-gl'

/** From here on the coarse coast looks coarse. */
export const FINE_COAST_ZOOM = 4

interface BasemapFeature {
  type: 'Feature'
  properties: { kind: string }
  geometry: { type: 'Point'; coordinates: number[] }
}

/** As `basemap.mjs` makes it: land and borders, and the names of countries. */
export type Basemap = Awaited<ReturnType<typeof loadBasemap>>

/** @throws Error when the basemap cannot be loaded */
export async function loadBasemap(address: string) {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`the basemap cannot be loaded: ${answer.status}`)
  const { features } = (await answer.json()) as { features: BasemapFeature[] }
  const collection = (isWanted: (kind: string) => boolean) => ({
    type: 'FeatureCollection' as const,
    features: features.filter(({ properties }) => isWanted(properties.kind)),
  })
  return { shapes: collection((kind) => kind !== 'name'), names: collection((kind) => kind === 'name') }
}

/** Loads the fine coast into `basemap` as soon as the map is close enough to need it. */
export function keepCoastFine(map: MapView, basemap: GeoJSONSource, address: string): void {
  let isFine = false
  const refine = async (): Promise<void> => {
    if (isFine || map.getZoom() <= FINE_COAST_ZOOM) return
    isFine = true
    try {
      await basemap.setData((await loadBasemap(address)).shapes)
    } catch {
      // The coarse coast stays; the next movement tries again.
      isFine = false
    }
  }
  map.on('moveend', () => void refine())
  void refine()
}
