// Cuts the basemap from Natural Earth (by way of world-atlas): land, the borders between countries, and a
// point for each name.
import { geoArea, geoCentroid, geoContains, geoEquirectangular } from 'd3-geo'
import { geoProject } from 'd3-geo-projection'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { feature, mesh } from 'topojson-client'

const require = createRequire(import.meta.url)

/** Smaller countries (some 40,000 km²) have no name on the map. */
const NAMED_STERADIANS = 0.001
/** Larger countries (some 2.4 million km², some 320,000 km²) have rank 0 and 1. */
const RANK_STERADIANS = [0.06, 0.008]

/** A tenth of a degree are eleven kilometres, a hundredth is one: finer than each coast is drawn. */
const STEPS_A_DEGREE = { '110m': 10, '50m': 100 }

/**
 * A GeoJSON collection. Each feature has the property `kind` (`land`, `border` or `name`); names also have
 * `name` and `rank`, from 0 for the largest countries to 2 for the smallest.
 * @param {'110m' | '50m'} scale of Natural Earth; only the coarse one, which the page always loads, has names
 */
export function basemap(scale) {
  const steps = STEPS_A_DEGREE[scale]
  const topology = JSON.parse(readFileSync(require.resolve(`world-atlas/countries-${scale}.json`), 'utf8'))
  const features = [
    ...polygonsOf(feature(topology, topology.objects.land), steps).map((coordinates) => ({
      type: 'Feature',
      properties: { kind: 'land' },
      geometry: { type: 'Polygon', coordinates },
    })),
    {
      type: 'Feature',
      properties: { kind: 'border' },
      geometry: rounded(
        mesh(topology, topology.objects.countries, (a, b) => a !== b),
        steps,
      ),
    },
    ...(scale === '110m' ? namesOf(feature(topology, topology.objects.countries).features) : []),
  ]
  return { type: 'FeatureCollection', features }
}

/**
 * The polygons, cut at the antimeridian. On the sphere they cross it; in the plane of a map they would run
 * round the world. Projecting them to degrees cuts them.
 */
function polygonsOf(land, steps) {
  const degrees = geoEquirectangular()
    .scale(180 / Math.PI)
    .translate([0, 0])
    .precision(0)
    .reflectY(true)
  const flat = geoProject(land, degrees)
  const geometries =
    flat.type === 'FeatureCollection' ? flat.features.map((each) => each.geometry) : [flat.geometry]
  return geometries.flatMap((geometry) => {
    const { coordinates } = rounded(geometry, steps)
    return geometry.type === 'Polygon' ? [coordinates] : coordinates
  })
}

function rounded(geometry, steps) {
  const round = (value) =>
    typeof value === 'number' ? Math.round(value * steps) / steps : withoutRepeats(value.map(round))
  return { ...geometry, coordinates: geometry.coordinates.map(round) }
}

function withoutRepeats(points) {
  if (!Array.isArray(points[0]) || typeof points[0][0] !== 'number') return points
  return points.filter(([x, y], i) => i === 0 || x !== points[i - 1][0] || y !== points[i - 1][1])
}

/** One point for each country's name, in its largest polygon: no name is on the map twice. */
function namesOf(countries) {
  return countries.flatMap(({ properties, geometry }) => {
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
    const parts = polygons.map((coordinates) => ({ type: 'Polygon', coordinates }))
    const largest = parts.reduce((a, b) => (geoArea(b) > geoArea(a) ? b : a))
    const area = geoArea(largest)
    const point = geoCentroid(largest)
    // A centroid outside its country would name its neighbour.
    if (area < NAMED_STERADIANS || !geoContains(largest, point)) return []
    const rank = RANK_STERADIANS.filter((least) => area <= least).length
    return [
      {
        type: 'Feature',
        properties: { kind: 'name', name: properties.name, rank },
        geometry: { type: 'Point', coordinates: point.map((degrees) => Math.round(degrees * 100) / 100) },
      },
    ]
  })
}
