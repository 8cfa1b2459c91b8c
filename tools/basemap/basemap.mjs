// The basemap that the page always loads, a vector tile of the world from Natural Earth: land, lakes, the
// borders between countries, and a point for each name of a country or a sea.
import { feature as territory } from '@rapideditor/country-coder'
import { geoArea, geoCentroid, geoContains } from 'd3-geo'
import { readFileSync } from 'node:fs'
import { feature, mesh } from 'topojson-client'
import { tilesOf } from './coast.mjs'
import { landOf, lakesOf, readCountries } from './shapes.mjs'

/** Countries that are larger (some 2.4 million km², 320,000 km², 40,000 km²) have rank 0, 1 and 2, else 3. */
const RANK_STERADIANS = [0.06, 0.008, 0.001]

const REGION_NAMES = new Intl.DisplayNames('en', { type: 'region' })

/** From 0 for oceans to 3 for bays and straits. */
const SEAS = JSON.parse(readFileSync(new URL('seas.json', import.meta.url), 'utf8'))

/**
 * The tile's bytes: land, lakes and borders with a `kind`, and a point for each name, whose `kind` is country
 * or sea and whose `rank` goes from 0 for the largest to 3 for the smallest. A country has the names of its
 * `zones`.
 */
export function basemap() {
  const topology = readCountries('110m')
  const named = readCountries('50m')
  const shape = (kind, type, coordinates, more = {}) => ({
    type: 'Feature',
    properties: { kind, ...more },
    geometry: { type, coordinates },
  })
  const names = (kind, all) =>
    all.map(([name, lat, lng, rank, more]) => shape(kind, 'Point', [lng, lat], { name, rank, ...more }))
  const borders = mesh(topology, topology.objects.countries, (a, b) => a !== b).coordinates
  const features = [
    shape('land', 'MultiPolygon', landOf('110m')),
    shape('lake', 'MultiPolygon', lakesOf('110m')),
    shape('border', 'MultiLineString', borders),
    ...names('country', countryNames(feature(named, named.objects.countries).features)),
    ...names('sea', SEAS),
  ]
  return tilesOf({ shapes: features }, 0).get('0-0')
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
    const zones = zonesOf(new Intl.Locale(`und-${code}`)).join(' ')
    return [[REGION_NAMES.of(code), point[1], point[0], rank, { zones }]]
  })
}

/** The time zones of a region, as versions of Node have called them one after the other. */
const zonesOf = (region) => region.getTimeZones?.() ?? region.timeZones ?? []
