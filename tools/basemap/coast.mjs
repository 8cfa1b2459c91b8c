// Vector tiles of the map. Those of the coast are of Natural Earth's 1:10m land and borders and 1:50m lakes.
import { GeoJSONVT } from '@maplibre/geojson-vt'
import { fromGeojsonVt } from '@maplibre/vt-pbf'
import { mesh } from 'topojson-client'
import { landOf, lakesOf, readCountries } from './shapes.mjs'

/** Tiles of this zoom are drawn at all higher ones; a page asks for none below it. */
const COAST_ZOOM = 4
/** Steps of a tile's width: as fine as MapLibre draws, 300 m of the coast. The data have 400 m. */
const EXTENT = 8192
/** Steps around a tile, for lines along its edges. */
const BUFFER = 64

/**
 * The tiles of a zoom by `X-Y`, each of the one layer `shapes`.
 * @param {object} collection GeoJSON
 * @param {number} zoom
 * @returns {Map<string, Buffer>}
 */
export function tilesOf(collection, zoom) {
  const options = { maxZoom: zoom, indexMaxZoom: zoom, indexMaxPoints: 0, extent: EXTENT, buffer: BUFFER }
  const index = new GeoJSONVT(collection, options)
  const side = 2 ** zoom
  return new Map(
    Array.from({ length: side * side }, (_, i) => {
      const [x, y] = [i % side, Math.floor(i / side)]
      const shapes = index.getTile(zoom, x, y)
      return [`${x}-${y}`, Buffer.from(fromGeojsonVt({ shapes }, { version: 2, extent: EXTENT }))]
    }),
  )
}

/**
 * The tiles of the coast. Their features have a `kind`: `sea` is the whole tile, which covers the coarse
 * basemap, then come `land`, `lake` and `border`.
 */
export const coastTiles = () => tilesOf(world(), COAST_ZOOM)

function world() {
  const topology = readCountries('10m')
  const polygons = (kind, all) => all.map((coordinates) => featureOf(kind, 'Polygon', coordinates))
  const borders = mesh(topology, topology.objects.countries, (a, b) => a !== b)
  // Somewhat more than the world: the clipping leaves no seam at its edges.
  const [west, east, south, north] = [-190, 190, -89, 89]
  const everywhere = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return {
    type: 'FeatureCollection',
    features: [
      ...polygons('sea', [[everywhere]]),
      ...polygons('land', landOf('10m')),
      ...polygons('lake', lakesOf('50m')),
      featureOf('border', 'MultiLineString', borders.coordinates),
    ],
  }
}

const featureOf = (kind, type, coordinates) => ({
  type: 'Feature',
  properties: { kind },
  geometry: { type, coordinates },
})
