// The basemap that the page always loads, from Natural Earth: land, lakes, the borders between countries, and a
// point for each name of a country or a sea.
import { feature as territory } from '@rapideditor/country-coder'
import { geoArea, geoCentroid, geoContains } from 'd3-geo'
import { readFileSync } from 'node:fs'
import { feature, mesh } from 'topojson-client'
import { landOf, lakesOf, readCountries } from './shapes.mjs'

/** Countries that are larger (some 2.4 million km², 320,000 km², 40,000 km²) have rank 0, 1 and 2, else 3. */
const RANK_STERADIANS = [0.06, 0.008, 0.001]

const REGION_NAMES = new Intl.DisplayNames('en', { type: 'region' })

/** A tenth of a degree are eleven kilometres: finer than the coast is drawn. */
const STEPS_A_DEGREE = 10

/** From 0 for oceans to 3 for bays and straits. */
const SEAS = JSON.parse(readFileSync(new URL('seas.json', import.meta.url), 'utf8'))

/**
 * GeoJSON for the explorer: land, lakes and borders with a `kind`, and a point for each name, whose `kind` is
 * country or sea and whose `rank` goes from 0 for the largest to 3 for the smallest. Coordinates of rings and
 * lines are packed: in tenths of a degree, each point as its difference to the one before.
 */
export function basemap() {
  const topology = readCountries('110m')
  const named = readCountries('50m')
  const shape = (kind, type, coordinates, more = {}) => ({
    type: 'Feature',
    properties: { kind, ...more },
    geometry: { type, coordinates },
  })
  const polygons = (kind, all) =>
    shape(
      kind,
      'MultiPolygon',
      all.map((rings) => rings.map(differences)),
    )
  const names = (kind, all) =>
    all.map(([name, lat, lng, rank]) => shape(kind, 'Point', [lng, lat], { name, rank }))
  const borders = mesh(topology, topology.objects.countries, (a, b) => a !== b).coordinates
  return {
    type: 'FeatureCollection',
    features: [
      polygons('land', landOf('110m')),
      polygons('lake', lakesOf('110m')),
      shape('border', 'MultiLineString', borders.map(differences)),
      ...names('country', countryNames(feature(named, named.objects.countries).features)),
      ...names('sea', SEAS),
    ],
  }
}

function differences(line) {
  let [lastX, lastY] = [0, 0]
  return line.flatMap((point, i) => {
    const [x, y] = point.map((degrees) => Math.round(degrees * STEPS_A_DEGREE))
    const step = [x - lastX, y - lastY]
    ;[lastX, lastY] = [x, y]
    return i > 0 && step[0] === 0 && step[1] === 0 ? [] : [step]
  })
}

/** One point for each country's name, in its largest polygon: no name is on the map twice. */
function countryNames(countries) {
  const largest = new Map()
  for (const { id, properties, geometry } of countries) {
    // The words of the API. What it does not know are disputed grounds, which nobody looks for.
    const code = territory(id ?? properties.name)?.properties.iso1A2
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
    for (const coordinates of code === undefined ? [] : polygons) {
      const polygon = { type: 'Polygon', coordinates }
      const area = geoArea(polygon)
      if (area > (largest.get(code)?.area ?? 0)) largest.set(code, { area, polygon })
    }
  }
  return [...largest].flatMap(([code, { area, polygon }]) => {
    const rank = RANK_STERADIANS.filter((least) => area <= least).length
    const point = geoCentroid(polygon)
    // A centroid outside its country would name its neighbour; around an island is its own sea.
    if (rank < RANK_STERADIANS.length && !geoContains(polygon, point)) return []
    const [lng, lat] = point.map((degrees) => Math.round(degrees * STEPS_A_DEGREE) / STEPS_A_DEGREE)
    return [[REGION_NAMES.of(code), lat, lng, rank]]
  })
}
