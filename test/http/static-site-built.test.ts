/**
 * The built site: whole files, right compressed forms, a page that has all of its assets, a basemap that is
 * right at its seams.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { readSite, type StaticFile } from '../../src/server/static-files.ts'

const FILES = readSite(fileURLToPath(new URL('../../dist/site', import.meta.url)), {
  base_path: '/v2',
  explorer: 'open',
  contact: '',
})

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

test('The explorer names only files that exist, runs nothing inline, and has the base path.', () => {
  const page = textOf(find(/^\/$/))
  const named = [...page.matchAll(/"(assets\/[^"]+)"/g)].map(([, name]) => `/${name}`)
  assert.ok(named.length >= 8, 'the page names its files')
  for (const name of named)
    assert.ok(
      FILES.some(({ path }) => path === name),
      name,
    )
  assert.match(page, /data-base-path="\/v2"/)
  assert.ok(!page.includes('{{'), 'no mark is left')
  assert.doesNotMatch(page, /<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|<style|javascript:|https?:/)
})

test('The first view stays under 400 KB with either compression.', () => {
  const page = textOf(find(/^\/$/))
  const first = FILES.filter(
    ({ path }) => path === '/' || (page.includes(`"${path.slice(1)}"`) && !/basemap-50m|licences/.test(path)),
  )
  assert.ok(first.length >= 7, 'the files of the first view')
  for (const encoding of ['br', 'gzip'] as const) {
    const size = first.reduce(
      (sum, { bytes, compressed }) => sum + (compressed?.[encoding] ?? bytes).length,
      0,
    )
    assert.ok(size > 100_000 && size < 400_000, `${size} bytes with ${encoding}`)
  }
})

test('The licences of the packages in the bundle come with it.', () => {
  const text = textOf(find(/licences/))
  for (const name of ['maplibre-gl', 'uplot', 'world-atlas', 'earcut', 'gl-matrix']) {
    assert.match(text, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, 'm'))
  }
})

interface Basemap {
  features: {
    properties: { kind: string; name?: string }
    geometry: { type: string; coordinates: unknown }
  }[]
}

/** Whether a point is on land, by the crossings of a ray in the plane of the map. */
function isLand({ features }: Basemap, lat: number, lng: number): boolean {
  let crossings = 0
  for (const { properties, geometry } of features) {
    if (properties.kind !== 'land') continue
    for (const ring of geometry.coordinates as [number, number][][]) {
      for (let i = 1; i < ring.length; i++) {
        const [[x1, y1], [x2, y2]] = [ring[i - 1], ring[i]]
        if (y1 > lat !== y2 > lat && lng < ((x2 - x1) * (lat - y1)) / (y2 - y1) + x1) crossings++
      }
    }
  }
  return crossings % 2 === 1
}

for (const scale of ['110m', '50m']) {
  test(`The basemap of ${scale} has land and sea in the right places, also at antimeridian and pole.`, () => {
    const map = JSON.parse(textOf(find(new RegExp(`basemap-${scale}`)))) as Basemap
    for (const [place, lat, lng, expected] of [
      ['Biscay', 45, -4, false],
      ['the Baltic', 58, 20, false],
      ['the Pacific', 0, -150, false],
      ['beside the antimeridian', 20, 179.5, false],
      ['beyond the antimeridian', 20, -179.5, false],
      ['Spain', 40.4, -3.7, true],
      ['Sweden', 63, 15, true],
      ['Brazil', -10, -52, true],
      ['Chukotka, east', 67, 175, true],
      ['Chukotka, west', 66.8, -174, true],
      ['Antarctica', -85, 10, true],
      ['Antarctica beside the antimeridian', -85, 179, true],
    ] as const) {
      assert.equal(isLand(map, lat, lng), expected, place)
    }
    for (const { properties, geometry } of map.features) {
      if (properties.kind === 'name') continue
      const numbers = (geometry.coordinates as number[][][]).flat(2)
      assert.ok(
        numbers.every((value) => Math.abs(value) <= 180),
        properties.kind,
      )
    }
  })
}

test('Every country has its name on the map once.', () => {
  const map = JSON.parse(textOf(find(/basemap-110m/))) as Basemap
  const names = map.features.flatMap(({ properties }) => properties.name ?? [])
  assert.ok(names.length > 100 && names.includes('France') && names.includes('Brazil'), 'names')
  assert.equal(new Set(names).size, names.length)
})
