/** OGC EDR: what it says is what the API says, converted; what is wrong is refused by the names of EDR. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { edrPieces, isWithin } from '../../src/edr/coverage.ts'
import { COLLECTIONS } from '../../src/edr/collections.ts'
import { JsonWriter } from '../../src/dataset/json-writer.ts'
import { number, time } from '../../src/dataset/table.ts'
import { AskedPath, KEYED, viewOf } from '../answered.ts'
import { examplesSnapshots } from '../built_once.ts'
import { rounds } from '../rounds.ts'

const HOST = 'buoys.example.org'
const BASE = `http://${HOST}/edr`
const HEADERS = { ...KEYED, host: HOST }

const view = await viewOf(await examplesSnapshots())
const { catalog, asOf } = view.dataset
const path = new AskedPath(view, { edr: { publicUrl: null } })

interface NdArray {
  type: string
  shape: number[]
  values: (number | null)[]
}
interface Coverage {
  type: string
  id: string
  domain: {
    domainType: string
    axes: { t: { values: string[] }; x: { values: number[] }; y: { values: number[] } }
  }
  ranges: { [name: string]: NdArray }
  'groundswell:buoy'?: { id: number; name: string; slug: string; distance_km: number | null }
}
interface Collection {
  type: string
  coverages: Coverage[]
}

function ask(url: string, headers: { [name: string]: string } = HEADERS) {
  const { status, text, headers: head } = path.get(url, headers)
  return { status, head, text, body: text === '' ? null : (JSON.parse(text) as unknown) }
}
const data = (url: string): unknown => {
  const { status, body, text } = ask(url)
  assert.equal(status, 200, `${url}: ${text}`)
  return body
}

type Row = { readonly [member: string]: number | string | null }
const rowsOf = (url: string): Row[] => {
  const { data: found } = data(url) as { data: { readings: Row[]; rows?: Row[] } }
  return found.rows ?? found.readings
}

/** Names of EDR, members of the API, and what a member is divided by: written down a second time. */
const WAVES: [name: string, member: string, divisor: number][] = [
  ['sea_surface_wave_significant_height', 'significient_height', 1],
  ['sea_surface_wave_maximum_height', 'maximum_height', 1],
  ['period', 'period', 1],
  ['sea_surface_wave_period_at_variance_spectral_density_maximum', 'peak_period', 1],
  ['sea_surface_wave_from_direction', 'direction', 1],
  ['sea_surface_temperature', 'water_temperature', 1],
  ['sea_surface_swell_wave_significant_height', 'swell_height', 1],
]
const WEATHER: [name: string, member: string, divisor: number][] = [
  ['wind_speed', 'wind_speed', 3.6],
  ['wind_from_direction', 'wind_direction', 1],
  ['wind_speed_of_gust', 'gust_speed', 3.6],
  ['air_temperature', 'air_temperature', 1],
  ['air_pressure_at_mean_sea_level', 'pressure', 1],
  ['relative_humidity', 'humidity', 1],
]

function assertSame(
  coverage: Coverage,
  rows: readonly Row[],
  names: readonly (readonly [string, string, number])[],
): void {
  const { axes, domainType } = coverage.domain
  assert.deepEqual([coverage.type, domainType], ['Coverage', 'PointSeries'])
  assert.deepEqual(
    axes.t.values,
    rows.map((row) => row['time']),
  )
  for (const [name, member, divisor] of names) {
    const { shape, values } = coverage.ranges[name]
    assert.deepEqual(shape, [rows.length], name)
    rows.forEach((row, i) => {
      const right = row[member]
      if (right === null) assert.equal(values[i], null, name)
      else
        assert.ok(
          Math.abs(values[i]! - Number(right) / divisor) < 0.000_51,
          `${name}: ${values[i]} for ${right}`,
        )
    })
  }
}

const iso = (epoch: number): string => new Date(epoch * 1000).toISOString().replace('.000Z', 'Z')
const inRange = fc
  .tuple(fc.nat(5 * 86_400), fc.nat(86_400))
  .map(([ago, length]) => [iso(asOf - ago - length), iso(asOf - ago)] as const)
const buoy = fc.nat(catalog.id.length - 1)

test('Of a buoy a coverage has the readings of the API, with CF names and speeds in metres a second.', () => {
  fc.assert(
    fc.property(buoy, inRange, (ordinal, [start, end]) => {
      const slug = catalog.slugs[ordinal]
      for (const [id, names, query] of [
        ['waves', WAVES, 'include=peak_period,swell'],
        ['weather', WEATHER, 'include=wind,weather&rows=all'],
      ] as const) {
        const rows = rowsOf(
          `/v2/buoys/${slug}/readings?start_date=${start}&end_date=${end}&order=asc&per_page=100&${query}`,
        )
        const url = `/edr/collections/${id}/locations/${slug}?datetime=${start}/${end}`
        if (rows.length === 0) assert.deepEqual([ask(url).status, ask(url).text], [204, ''])
        else {
          const coverage = data(url) as Coverage
          assertSame(coverage, rows, names)
          assert.equal(coverage.id, `${BASE}/collections/${id}/locations/${slug}`)
          assert.equal(coverage['groundswell:buoy']?.slug, slug)
        }
      }
    }),
    { numRuns: rounds(20, 400) },
  )
})

const toRadians = (degrees: number): number => (degrees * Math.PI) / 180
/** Spherical law of cosines. */
function kilometres(lat: number, lng: number, otherLat: number, otherLng: number): number {
  const [a, b, turn] = [toRadians(lat), toRadians(otherLat), toRadians(otherLng - lng)]
  return 6371 * Math.acos(Math.min(1, Math.sin(a) * Math.sin(b) + Math.cos(a) * Math.cos(b) * Math.cos(turn)))
}

const place = fc.record({
  lat: fc.integer({ min: -900, max: 900 }),
  lng: fc.integer({ min: -1800, max: 1800 }),
})

test('Radius, cube and area have the buoys of a plain search, and the nearest active one within 50 km is at a position.', () => {
  const hour = `${iso(asOf - 3600)}/..`
  const slugsIn = (url: string): string[] => {
    const { status, body, text } = ask(url)
    if (status === 204) return []
    assert.equal(status, 200, text)
    const { type, coverages } = body as Collection
    assert.equal(type, 'CoverageCollection')
    return coverages.map((coverage) => coverage['groundswell:buoy']!.slug).sort()
  }
  const reporting = Array.from(catalog.id, (_, ordinal) => ordinal).filter(
    (ordinal) =>
      rowsOf(`/v2/buoys/${catalog.id[ordinal]}/readings?start_date=${iso(asOf - 3600)}`).length > 0,
  )
  const within = (accept: (lat: number, lng: number) => boolean): string[] =>
    reporting
      .filter((i) => accept(catalog.lat[i], catalog.lng[i]))
      .map((i) => catalog.slugs[i])
      .sort()
  fc.assert(
    fc.property(place, fc.integer({ min: 1, max: 4000 }), ({ lat: tenths, lng: lngTenths }, size) => {
      const [lat, lng] = [tenths / 10, lngTenths / 10]
      const point = `coords=POINT(${lng} ${lat})`
      assert.deepEqual(
        slugsIn(`/edr/collections/waves/radius?${point}&within=${size}&within-units=mi&datetime=${hour}`),
        within((buoyLat, buoyLng) => kilometres(lat, lng, buoyLat, buoyLng) <= size * 1.609344),
      )
      // No buoy lies on an edge.
      const [south, north] = [Math.max(-90, lat - size / 99.7), Math.min(90, lat + size / 99.7)]
      const [west, east] = [Math.max(-180, lng - size / 50), Math.min(180, lng + size / 50)]
      const inBox = within((y, x) => y >= south && y <= north && x >= west && x <= east)
      assert.deepEqual(
        slugsIn(`/edr/collections/waves/cube?bbox=${west},${south},${east},${north}&datetime=${hour}`),
        inBox,
      )
      // A triangle: the half of the box below its diagonal.
      const triangle = `POLYGON((${west} ${south}, ${east} ${south}, ${east} ${north}, ${west} ${south}))`
      assert.deepEqual(
        slugsIn(`/edr/collections/weather/area?coords=${triangle}&datetime=${hour}`),
        within(
          (y, x) =>
            y > south && x < east && x > west && (y - south) * (east - west) < (x - west) * (north - south),
        ),
      )
      const nearest = ask(`/edr/collections/waves/position?${point}`)
      const [best] = Array.from(catalog.id, (_, i) => ({
        i,
        km: kilometres(lat, lng, catalog.lat[i], catalog.lng[i]),
      }))
        .filter(({ i, km }) => view.dataset.active[i] === 1 && km <= 50)
        .toSorted((a, b) => a.km - b.km || a.i - b.i)
      assert.equal(nearest.status, best === undefined ? 204 : 200)
      if (best === undefined) return
      const { slug, distance_km: km } = (nearest.body as Coverage)['groundswell:buoy']!
      assert.equal(slug, catalog.slugs[best.i])
      assert.ok(Math.abs(km! - best.km) < 0.02)
    }),
    { numRuns: rounds(20, 400) },
  )
  assert.ok(slugsIn(`/edr/collections/waves/cube?bbox=-180,-90,180,90&datetime=${hour}`).length > 10)
})

test('A polygon with a hole holds what is between its rings.', () => {
  const square = (half: number): number[][] => [
    [-half, -half],
    [half, -half],
    [half, half],
    [-half, half],
    [-half, -half],
  ]
  const rings = [square(2), square(1)]
  fc.assert(
    fc.property(fc.integer({ min: -299, max: 299 }), fc.integer({ min: -299, max: 299 }), (x, y) => {
      const [lng, lat] = [x / 100 + 0.005, y / 100 + 0.005]
      const farthest = Math.max(Math.abs(lng), Math.abs(lat))
      assert.equal(isWithin({ kind: 'polygon', rings }, lat, lng), farthest > 1 && farthest < 2)
    }),
  )
})

test('Forecast and tides are the full hours of an interval as the API has them, and nothing where it has none.', () => {
  const coords = `coords=POINT(${catalog.lng[0]} ${catalog.lat[0]})`
  const [start, end] = [iso(asOf + 600), iso(asOf + 5 * 3600)]
  const { data: right } = data(
    `/v2/forecast?lat=${catalog.lat[0]}&lng=${catalog.lng[0]}&start=${iso(asOf + 3600)}&hours=5`,
  ) as { data: { time: string[]; waves_height: number[]; wind_speed: number[]; tide_level: number[] } }
  const waves = data(`/edr/collections/forecast/position?${coords}&datetime=${start}/${end}`) as Coverage
  assert.deepEqual(waves.domain.axes.t.values, right.time)
  assert.deepEqual(waves.ranges['sea_surface_wave_significant_height'].values, right.waves_height)
  waves.ranges['wind_speed'].values.forEach((speed, i) =>
    assert.ok(Math.abs(speed! - right.wind_speed[i] / 3.6) < 0.000_51),
  )
  const tides = data(`/edr/collections/tides/position?${coords}&datetime=${start}/${end}`) as Coverage
  assert.deepEqual(tides.ranges['water_surface_height_above_reference_datum'].values, right.tide_level)
  assert.equal(
    ask(`/edr/collections/tides/position?coords=POINT(0 -60)&datetime=${start}/${end}`).status,
    204,
  )
  assert.equal(ask(`/edr/collections/tides/position?${coords}&datetime=${start}`).status, 204)
})

test('GeoJSON has a feature and CSV a line for each time, with what EDR asks of their properties.', () => {
  const url = `/edr/collections/waves/locations/anglet?datetime=${iso(asOf - 7200)}/..&parameter-name=period`
  const coverage = data(url) as Coverage
  const { features } = data(`${url}&f=geojson`) as {
    features: { properties: Row; geometry: { coordinates: number[] } }[]
  }
  const times = coverage.domain.axes.t.values
  assert.deepEqual(
    features.map(({ properties }) => properties['datetime']),
    times,
  )
  assert.deepEqual(
    features.map(({ properties }) => properties['period']),
    coverage.ranges['period'].values,
  )
  for (const { properties, geometry } of features) {
    assert.deepEqual(Object.keys(properties), [
      'datetime',
      'label',
      'parameter-name',
      'edrqueryendpoint',
      'period',
    ])
    assert.deepEqual(geometry.coordinates, [
      coverage.domain.axes.x.values[0],
      coverage.domain.axes.y.values[0],
    ])
  }
  const [header, ...lines] = path.get(`${url}&f=CSV`, HEADERS).text.trim().split('\r\n')
  assert.equal(header, 'datetime,x,y,label,period')
  assert.deepEqual(
    lines.map((line) => line.split(',')[0]),
    times,
  )
})

test('All buoys are locations, and each leads to its own data.', () => {
  const { features } = data('/edr/collections/waves/locations') as {
    features: { id: string; properties: { edrqueryendpoint: string; label: string; datetime: string } }[]
  }
  assert.deepEqual(features.map(({ id }) => id).sort(), [...catalog.slugs].sort())
  for (const { id, properties } of features)
    assert.equal(properties.edrqueryendpoint, `${BASE}/collections/waves/locations/${id}`)
})

test('Documents and the list of locations need no key, data do; an address by Host is of one client.', () => {
  const open = { host: HOST }
  const paths = [
    '',
    '/',
    '/conformance',
    '/api',
    '/collections',
    ...COLLECTIONS.map(({ id }) => `/collections/${id}`),
  ]
  for (const one of [...paths, '/collections/waves/locations']) {
    const { status, head } = ask(`/edr${one}`, open)
    assert.deepEqual([status, head['cache-control'].split(',')[0]], [200, 'private'], one)
    assert.equal(path.get(`/edr${one}`, { ...open, 'if-none-match': head['etag'] }).status, 304, one)
  }
  const refused = ask('/edr/collections/waves/locations/anglet', open)
  assert.equal(refused.status, 401)
  assert.deepEqual([(refused.body as Row)['code'], (refused.body as Row)['error']], ['401', 'unauthorized'])
  const known = new AskedPath(view, { edr: { publicUrl: 'https://w.example' } })
  const landing = known.get('/edr', { host: 'evil.example' })
  assert.match(landing.headers['cache-control'], /^public/)
  assert.doesNotMatch(landing.text, /evil/)
  for (const host of ['', 'a"b', 'a b', '<x>', 'x/y', 'h:123456'])
    assert.equal(ask('/edr', { host }).status, 400, host)
  assert.equal(new AskedPath(view).get('/edr', open).status, 404)
})

/** What the EDR plugin of QGIS sends, and the tests of xpublish-edr, with a place and a time of ours. */
const OTHERS = [
  'position?crs=CRS84&f=CoverageJSON&parameter-name=period&datetime=START/END&coords=Point (-1.61499999999999999 43.53199999999999648)',
  'position?coords=POINT(-1.615 43.532)',
  'position?coords=POINT(-1.615 43.532)&f=csv&parameter-name=period&datetime=END',
  'position?coords=POINT(-1.615%2043.532)&f=geojson&parameter-name=period',
  'radius?crs=CRS84&f=GeoJSON&datetime=START/END&coords=Point (-1.6 43.5)&within=25&within-units=km',
  'area?crs=CRS84&f=CoverageJSON&datetime=START/END&coords=Polygon ((-2 43, -1 43, -1 44, -2 44, -2 43))',
  'area?coords=POLYGON((-2 43, -2 44, -1 44, -1 43, -2 43))&f=csv',
  'area?coords=POLYGON((-2 43, -2 44, -1 44, -1 43, -2 43))&f=geojson',
  'cube?bbox=-2,43,-1,44',
  'cube?crs=CRS84&f=CSV&datetime=START/END&bbox=-2.0,43.0,-1.0,44.0',
  'locations/anglet?crs=CRS84&f=CoverageJSON&parameter-name=period&datetime=START/END',
]

test('What other programs send is answered: times without a zone are UTC, and WKT has blanks and any case.', () => {
  const [start, end] = [asOf - 7200, asOf].map((epoch) => iso(epoch).slice(0, -1))
  for (const other of OTHERS) {
    const query = other.replace('START', start).replace('END', end).replaceAll(' ', '%20')
    const { status, text } = path.get(`/edr/collections/waves/${query}`, HEADERS)
    assert.equal(status, 200, `${other}: ${text}`)
    assert.match(text, /\d/)
  }
  const { features } = data('/edr/collections/waves/locations?bbox=-2,43,-1,44') as {
    features: { id: string; geometry: { coordinates: number[] } }[]
  }
  const inside = catalog.slugs.filter(
    (_, i) => catalog.lng[i] >= -2 && catalog.lng[i] <= -1 && catalog.lat[i] >= 43 && catalog.lat[i] <= 44,
  )
  assert.deepEqual(features.map(({ id }) => id).sort(), inside.sort())
  const { parameter_names: names } = data('/edr/collections/waves') as {
    parameter_names: { period: { observedProperty: { id: string } } }
  }
  const page = path.get(names.period.observedProperty.id.replace(`http://${HOST}`, ''), { host: HOST })
  assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/plain; charset=utf-8'])
  assert.match(page.text, /^period: wave period as its source defines it/)
})

/** What is wrong, and the parameter that has to be named. */
const WRONG: [query: string, parameter: string][] = [
  ['locations/anglet?f=netCDF', 'f'],
  ['locations/anglet?f=CSV&f=CSV', 'f'],
  ['locations/anglet?crs=EPSG:4326', 'crs'],
  ['locations/anglet?parameter-name=height', 'parameter-name'],
  ['locations/anglet?parameter-name=period,', 'parameter-name'],
  ['locations/anglet?datetime=yesterday', 'datetime'],
  ['locations/anglet?datetime=2026-02-30T00:00:00Z', 'datetime'],
  ['locations/anglet?datetime=2026-03-01T00:00:00Z,2026-03-02T00:00:00Z', 'datetime'],
  ['locations/anglet?datetime=../..', 'datetime'],
  ['locations/anglet?datetime=2026-03-02T00:00:00Z/2026-03-01T00:00:00Z', 'datetime'],
  ['locations/anglet?datetime=R5/2026-03-02T00:00:00Z/PT1H', 'datetime'],
  ['locations/anglet?snapshot=x', 'snapshot'],
  ['position', 'coords'],
  ['position?coords=43.5,-1.6', 'coords'],
  ['position?coords=POINT(-1.6)', 'coords'],
  ['position?coords=POINT(-181 43.5)', 'coords'],
  ['position?coords=POINT(1 91)', 'coords'],
  ['position?coords=MULTIPOINT((-1.6 43.5),(1 2))', 'coords'],
  ['position?coords=POINT Z(-1.6 43.5 0)', 'coords'],
  ['radius?coords=POINT(-1.6 43.5)&within=10', 'within-units'],
  ['radius?coords=POINT(-1.6 43.5)&within-units=km', 'within'],
  ['radius?coords=POINT(-1.6 43.5)&within=-1&within-units=km', 'within'],
  ['radius?coords=POINT(-1.6 43.5)&within=1e3&within-units=km', 'within'],
  ['radius?coords=POINT(-1.6 43.5)&within=10&within-units=furlong', 'within-units'],
  ['radius?coords=POINT(-1.6 43.5)&within=10&within-units=toString', 'within-units'],
  ['area?coords=POLYGON((0 0,1 0,1 1,0 1))', 'coords'],
  ['area?coords=POLYGON((0 0,1 0,0 0))', 'coords'],
  ['area?coords=POLYGON(0 0,1 0,1 1,0 0)', 'coords'],
  ['area?coords=POINT(0 0)', 'coords'],
  ['cube?bbox=1,2,3', 'bbox'],
  ['cube?bbox=0,50,1,40', 'bbox'],
  ['cube?bbox=0,0,0,1,1,1', 'bbox'],
  ['cube', 'bbox'],
]

test('Whatever is wrong is a 400 with the name of the parameter, or a 404 where nothing is, and never a 422.', () => {
  for (const [query, parameter] of WRONG) {
    const { status, body, text } = ask(`/edr/collections/waves/${query.replaceAll(' ', '%20')}`)
    const { message, description, code } = body as { message: string; description: string; code: string }
    assert.deepEqual([status, code, /^Parameter (\S+) /.exec(message)?.[1]], [400, '400', parameter], text)
    assert.equal(description, message)
  }
  const hours = ask(
    `/edr/collections/tides/position?coords=POINT(0 0)&datetime=${iso(asOf)}/${iso(asOf + 90 * 86_400)}`,
  )
  assert.match(hours.text, /Parameter datetime has too many hours/)
  for (const one of [
    'x',
    'collections/x',
    'collections/waves/items',
    'collections/waves/locations/nix',
    'collections/tides/cube',
  ])
    assert.equal(ask(`/edr/${one}`).status, 404, one)
  const junk = fc.stringMatching(/^[ -~]{0,40}$/).map(encodeURIComponent)
  const name = fc.constantFrom('coords', 'datetime', 'f', 'crs', 'parameter-name', 'bbox', 'within')
  const query = fc.constantFrom('locations/anglet', 'position', 'radius', 'area', 'cube')
  fc.assert(
    fc.property(query, name, junk, (of, parameter, text) => {
      const { status, body } = ask(`/edr/collections/waves/${of}?${parameter}=${text}`)
      assert.ok([200, 204, 400].includes(status), `${status}`)
      if (status === 400) assert.match((body as { message: string }).message, /^Parameter [a-z-]+ /)
    }),
    { numRuns: rounds(30, 300) },
  )
})

test('More than two million values are a 413 that says how to ask for less.', () => {
  const rows = { from: 0, step: 1, count: 2_000_001 }
  const table = {
    columns: [time('time', (row) => row), number('tide_level', () => 1)],
    runs: [() => rows],
    place: { kind: 'point' as const, lat: () => 0, lng: () => 0 },
    total: rows.count,
    name: '',
    list: null,
  }
  const form = {
    collection: 'tides',
    format: 'CoverageJSON',
    parameters: ['water_surface_height_above_reference_datum'],
    base: BASE,
    isOfLocations: false,
    isMany: false,
    place: { lat: 0, lng: 0 },
    within: null,
  } as const
  const run = (): unknown => edrPieces(table, form, String).next(new JsonWriter(1024))
  assert.throws(run, { code: 'too_large', message: /more than 2000000 values\. Allowed: a shorter datetime/ })
  rows.count = 3
  assert.equal(run(), false)
})
