// Vector tiles of the map. Those of the coast are of Natural Earth's 1:10m land and borders and 1:50m lakes,
// with the towns beside them.
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
 * The tiles of a zoom by `X-Y`.
 * @param {Record<string, object[]>} layers the GeoJSON features of each
 * @param {number} zoom
 * @returns {Map<string, Buffer>}
 */
export function tilesOf(layers, zoom) {
  const options = { maxZoom: zoom, indexMaxZoom: zoom, indexMaxPoints: 0, extent: EXTENT, buffer: BUFFER }
  const indexes = Object.entries(layers).map(([name, features]) => [
    name,
    new GeoJSONVT({ type: 'FeatureCollection', features }, options),
  ])
  const side = 2 ** zoom
  return new Map(
    Array.from({ length: side * side }, (_, i) => {
      const [x, y] = [i % side, Math.floor(i / side)]
      const tiles = indexes
        .map(([name, index]) => [name, index.getTile(zoom, x, y)])
        .filter(([, tile]) => tile !== null)
      for (const [, { features }] of tiles) {
        for (const feature of features) hideCuts(feature, x === 0, x === side - 1)
      }
      const options = { version: 2, extent: EXTENT }
      return [`${x}-${y}`, Buffer.from(fromGeojsonVt(Object.fromEntries(tiles), options))]
    }),
  )
}

/** GeoJSON-VT's number for polygons. */
const POLYGON = 3

/**
 * Shapes are cut at the antimeridian. An outline along the cut would be drawn as a line through Chukotka and
 * Antarctica: it goes beyond the edge of the tile, where nothing is drawn.
 */
function hideCuts({ type, geometry }, isWestmost, isEastmost) {
  if (type !== POLYGON) return
  for (const ring of geometry) {
    for (const point of ring) {
      if (isWestmost && point[0] === 0) point[0] = -BUFFER
      if (isEastmost && point[0] === EXTENT) point[0] = EXTENT + BUFFER
    }
  }
}

/**
 * The tiles of the coast. The features of `shapes` have a `kind`: `sea` is the whole tile, which covers the
 * coarse basemap, then come `land`, `lake` and `border`. Those of `towns` have a `name` and a `rank`.
 */
export const coastTiles = (towns) =>
  tilesOf({ shapes: world(), towns: towns.flatMap(([, ...some]) => some.map(pointOf)) }, COAST_ZOOM)

const pointOf = ([name, lat, lng, rank]) => ({
  type: 'Feature',
  properties: { name, rank },
  geometry: { type: 'Point', coordinates: [lng / 100, lat / 100] },
})

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
  return [
    ...polygons('sea', [[everywhere]]),
    ...polygons('land', landOf('10m')),
    ...polygons('lake', lakesOf('50m')),
    featureOf('border', 'MultiLineString', borders.coordinates),
  ]
}

const featureOf = (kind, type, coordinates) => ({
  type: 'Feature',
  properties: { kind },
  geometry: { type, coordinates },
})
