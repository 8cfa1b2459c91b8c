// The coast of a near map: vector tiles of Natural Earth's 1:10m land and borders and 1:50m lakes, packed into a
// few bundles.
import { GeoJSONVT } from '@maplibre/geojson-vt'
import { fromGeojsonVt } from '@maplibre/vt-pbf'
import { mesh } from 'topojson-client'
import { landOf, lakesOf, readCountries } from './shapes.mjs'

/** Tiles of the last zoom are drawn at all higher ones; a page asks for none below the first. */
export const COAST_ZOOMS = [4, 5]
/** The tiles below one tile of this zoom are a bundle. */
const BUNDLE_ZOOM = 3
/** Steps of a tile's width: as fine as MapLibre draws, 150 m at the last zoom. The data have 400 m. */
const EXTENT = 8192
/** Steps that a line may leave its way at the first zoom, about half a pixel. */
const TOLERANCE = 8
/** Steps around a tile, for lines along its edges. */
const BUFFER = 64

/**
 * The bundles, by their tile's `X-Y`. A bundle holds all tiles of its part of the world, zoom by zoom and row by
 * row: first where each one ends, in bytes from the end of these numbers, as little-endian Uint32, then the
 * tiles, each of the one layer `coast`. Its features have a `kind`: `sea` is the whole tile, which covers the
 * coarse basemap, then come `land`, `lake` and `border`.
 * @returns {Map<string, Buffer>}
 */
export function coastBundles() {
  const index = new GeoJSONVT(world(), {
    maxZoom: COAST_ZOOMS.at(-1),
    indexMaxZoom: COAST_ZOOMS.at(-1),
    indexMaxPoints: 0,
    tolerance: TOLERANCE,
    extent: EXTENT,
    buffer: BUFFER,
  })
  const side = 2 ** BUNDLE_ZOOM
  return new Map(
    Array.from({ length: side * side }, (_, i) => {
      const [x, y] = [i % side, Math.floor(i / side)]
      return [`${x}-${y}`, bundled(tilesBelow(x, y).map((tile) => encoded(index, tile)))]
    }),
  )
}

function tilesBelow(x, y) {
  return COAST_ZOOMS.flatMap((z) => {
    const side = 2 ** (z - BUNDLE_ZOOM)
    return Array.from({ length: side * side }, (_, i) => [
      z,
      x * side + (i % side),
      y * side + Math.floor(i / side),
    ])
  })
}

const encoded = (index, [z, x, y]) =>
  Buffer.from(fromGeojsonVt({ coast: index.getTile(z, x, y) }, { version: 2, extent: EXTENT }))

function bundled(tiles) {
  const ends = Buffer.alloc(4 * tiles.length)
  let end = 0
  tiles.forEach((tile, i) => ends.writeUInt32LE((end += tile.length), 4 * i))
  return Buffer.concat([ends, ...tiles])
}

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
