/** The parts of the explorer that need no browser: view in the address, classes of height, `curl` lines. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import fc from 'fast-check'
import type { BuoyDetail } from '../../clients/typescript/groundswell.ts'
import {
  bucketOf,
  chartRange,
  curlLine,
  pastAddress,
  searchAddress,
  stationPage,
  trendAddress,
} from '../../web/explorer/addresses.ts'
import { Api, type ActiveBuoy } from '../../web/explorer/api.ts'
import { clockName, dayAndTime, dayText, UTC, zoneOf } from '../../web/explorer/format.ts'
import { buoyFeatures } from '../../web/explorer/map/features.ts'
import { classLabels, classOf, HEIGHT_COLORS } from '../../web/explorer/heights.ts'
import { namesOf, scaleOf, scalesOfSources } from '../../web/explorer/mine/units.ts'
import {
  FIRST_VIEW,
  formatView,
  METRICS,
  parseView,
  SEASONS,
  SPANS,
  ZONES,
  type ViewState,
} from '../../web/explorer/view.ts'

const METRIC = { height: 'm', speed: 'kmh', temperature: 'c' } as const

const rounded = (low: number, high: number, digits: number) =>
  fc.double({ min: low, max: high, noNaN: true }).map((value) => Number(value.toFixed(digits)) + 0)

const views: fc.Arbitrary<ViewState> = fc
  .record({
    camera: fc.option(
      fc.record({ zoom: rounded(0, 22, 2), lat: rounded(-90, 90, 3), lng: rounded(-180, 180, 3) }),
    ),
    buoy: fc.option(fc.stringMatching(/^[a-z0-9-]{1,40}$/)),
    point: fc.option(fc.record({ lat: rounded(-90, 90, 4), lng: rounded(-180, 180, 4) })),
    tab: fc.constantFrom('now' as const, 'seasons' as const, 'spectrum' as const, 'card' as const),
    range: fc.option(fc.constant({ from: '2026-01-31', to: '2026-02-01T05:30Z' })),
    beside: fc.option(fc.stringMatching(/^[a-z0-9-]{1,40}$/)),
    zone: fc.constantFrom(...ZONES),
    satellites: fc.boolean(),
    globe: fc.option(fc.boolean()),
    span: fc.constantFrom(...SPANS),
    metric: fc.constantFrom(...namesOf(METRICS)),
    season: fc.constantFrom(...SEASONS),
    year: fc.option(fc.integer({ min: 1900, max: 2200 })),
    against: fc.option(fc.integer({ min: 1900, max: 2200 })),
    units: fc.constantFrom({}, { height: 'ft' as const, speed: 'kn' as const, temperature: 'f' as const }),
  })
  // Without the null prototypes of fast-check's records.
  .map((view) => structuredClone(view))
  .map((view) => ({ ...view, point: view.buoy === null ? view.point : null }))

test('A view written into the address is read back unchanged.', () => {
  fc.assert(
    fc.property(views, (view) => {
      assert.deepEqual(parseView(formatView(view)), view)
    }),
  )
})

test('The first view has an empty address, and any text in an address is a view.', () => {
  assert.equal(formatView(FIRST_VIEW), '')
  assert.equal(formatView(parseView('map=-0.3/20/0')), 'map=-0.3/20/0', 'the whole world on a phone')
  assert.deepEqual(parseView(''), FIRST_VIEW)
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webFragments()), (fragment) => {
      const view = parseView(fragment)
      assert.deepEqual(parseView(formatView(view)), view)
    }),
  )
  const wrong = `map=1/2 map=1//2 map=99/0/0 map=1/91/0 map=NaN/0/0 buoy=../../x buoy=<script> buoy=Anglet
    lat=91&lng=0 lat=1 year=x days=3 from=2026-01-01 from=2026-01-02&to=2026-01-01 from=2026-13-01&to=2026-13-02
    from=now-7d&to=now beside=<b> zone=mars units=parsec,<script> units=`
  for (const nonsense of wrong.split(/\s+/)) {
    assert.deepEqual(parseView(nonsense), FIRST_VIEW, nonsense)
  }
})

test('A key never gets into the address of a view.', () => {
  assert.ok(!formatView(parseView('key=gsw_secret&buoy=anglet')).includes('secret'))
})

test('Every height has one class, named in the legend and coloured on both maps.', () => {
  for (const [unit, names, heights] of [
    ['m', '0 0.5 1 1.5 2.5 4 6+', [0, 0.49, 0.5, 0.99, 1, 2.49, 5.99, 6, 25]],
    ['ft', '0 2 3 5 8 13 20+', [0, 0.6, 0.61, 0.91, 0.92, 2.43, 6.09, 6.1, 25]],
  ] as const) {
    const scale = scaleOf('height', { ...METRIC, height: unit })
    assert.equal(classLabels(scale).join(' '), names)
    const classes = heights.map((height) => classOf(height, scale))
    assert.deepEqual(classes, [0, 0, 1, 1, 2, 3, 5, 6, 6])
  }
  assert.equal(new Set(HEIGHT_COLORS).size, 7)
})

test('A week of a silent buoy is the week before its newest reading; of others the server says it.', () => {
  const now = Date.UTC(2026, 10, 22, 12)
  const api = new Api('/v2', '', () => now, true)
  const datesOf = (newest: string | null, span: 1 | 2 | 7 | 28 | 365): (string | undefined)[] => {
    const range = chartRange(api, { last_reading_time: newest } as BuoyDetail, { span, range: null })
    return [range?.start, range?.end]
  }
  assert.deepEqual(datesOf('2026-11-22T11:30:00Z', 7), [undefined, undefined])
  assert.deepEqual(datesOf(null, 28), [undefined, undefined])
  assert.deepEqual(datesOf('2026-10-13T06:00:00Z', 7), ['2026-10-06T06:00:00Z', '2026-10-16T06:00:00Z'])
  assert.deepEqual(datesOf('2026-10-13T06:00:00Z', 2), ['2026-10-11T06:00:00Z', '2026-10-16T06:00:00Z'])
  assert.deepEqual(datesOf('2026-10-13T06:00:00Z', 1), ['2026-10-12T06:00:00Z', '2026-10-14T06:00:00Z'])
  assert.deepEqual(datesOf('2026-10-13T06:00:00Z', 365), ['2025-10-13T06:00:00Z', '2026-10-13T06:00:00Z'])
})

test('A chart has all readings of two weeks, and of longer ranges days or months, none narrower than a pixel.', () => {
  const api = new Api('/v2', '', () => 0, true)
  const asked = (start: string, end: string, pixels: number): string => {
    const bucket = bucketOf({ start, end }, pixels)
    const by = { bucket, zone: 'Europe/Paris', aggregation: 'max' } as const
    const { pathname, searchParams: of } = new URL(
      pastAddress(api, { id: 7, slug: 'a' }, { start, end }, by),
      'http://a',
    )
    const names = ['start_date', 'end_date', 'bucket', 'timezone', 'aggregation']
    return [pathname, ...names.map((name) => of.get(name))].join(' ').trimEnd()
  }
  assert.equal(asked('2026-01-01', '2026-01-17', 400), '/v2/buoys/a/readings/chart 2026-01-01 2026-01-17')
  // A day before and after, so that the first and the last one are whole by the clock of the zone.
  const days = '/v2/readings 2025-12-31 2026-01-19 1d Europe/Paris max'
  assert.equal(asked('2026-01-01', '2026-01-18', 400), days)
  assert.match(asked('2023-01-01', '2025-09-24', 4000), /2025-09-25 1d/)
  assert.match(asked('2023-01-01', '2025-09-25', 4000), /2022-12-01 2025-10-26 1mo/)
  assert.match(
    asked('2025-11-20T10:30:00Z', '2026-11-20T10:30Z', 900),
    /2025-11-19T10:30:00Z 2026-11-21T10:30:00Z 1d/,
  )
  const many = Array.from({ length: 500 }, (_, i) => i)
  const { searchParams } = new URL(trendAddress(api, many), 'http://a')
  assert.equal(searchParams.get('ids')!.split(',').length, 111)
})

test('A name that is longer than a query is cut between its characters.', () => {
  const api = new Api('/v2', '', () => 0, true)
  const name = '🌊'.repeat(200)
  const { searchParams } = new URL(searchAddress(api, name), 'http://a')
  assert.equal(searchParams.get('query'), '🌊'.repeat(100))
})

test('A curl line gives address and key to the shell unchanged, whatever they contain.', () => {
  const words = fc.string({ minLength: 1, maxLength: 30 }).filter((text) => !text.includes('\0'))
  fc.assert(
    fc.property(words, words, (address, key) => {
      const line = curlLine(address, key).replace(/^curl/, 'printf %s\\\\n')
      const shown = execFileSync('sh', ['-c', line], { encoding: 'utf8' })
      assert.equal(shown, `-H\nAuthorization: Bearer ${key}\n${address}\n`)
    }),
    { numRuns: 25 },
  )
  assert.equal(curlLine('http://a/', ''), "curl 'http://a/'")
})

test('On the map a reading of more than three hours ago is old and has its age, of satellites one of a day ago.', () => {
  const now = Date.parse('2026-11-22T12:00:00Z')
  const drawn = (time: string, virtual = false, name = 'A') => {
    const place = { id: 1, slug: 'a', name, lat: 0, lng: 0, virtual }
    const active = [{ ...place, last_reading: { significient_height: 1.84, time } } as unknown as ActiveBuoy]
    const [feature] = buoyFeatures(active, scalesOfSources(active, {}, METRIC), METRIC, now)
    return name === 'A' ? [feature?.properties.old, feature?.properties.label] : feature?.properties.name
  }
  assert.deepEqual(drawn('2026-11-22T09:00:00Z'), [false, '1.84 m'])
  assert.deepEqual(drawn('2026-11-22T08:59:00Z'), [true, '1.84 m · 3 h ago'])
  assert.deepEqual(drawn('2026-11-21T13:00:00Z'), [true, '1.84 m · 23 h ago'])
  assert.deepEqual(drawn('2026-11-22T03:00:00Z', true), [false, '1.84 m'])
  assert.deepEqual(drawn('2026-11-21T11:00:00Z', true), [true, '1.84 m · 25 h ago'])
  assert.equal(drawn('2026-11-22T09:00:00Z', false, 'M'.repeat(40)), 'M'.repeat(40))
  assert.equal(drawn('2026-11-22T09:00:00Z', false, 'M'.repeat(41)), `${'M'.repeat(39)}…`)
})

test('A clock has the name that people near it use, in winter and in summer, else that of its city.', () => {
  const zones = 'America/Los_Angeles Europe/Paris Australia/Sydney Indian/Reunion Etc/GMT+6 UTC'.split(' ')
  const namesAt = (day: string): string =>
    zones.map((zone) => clockName(new Date(day), zoneOf(zone))).join(' ')
  assert.equal(namesAt('2026-01-15'), 'PST CET AEDT Reunion UTC−6 UTC')
  assert.equal(namesAt('2026-07-15'), 'PDT CEST AEST Reunion UTC−6 UTC')
})

test('A date has its year where that is not the year of now, by the clock that it is written in.', () => {
  const now = Date.parse('2026-01-01T00:30:00Z')
  const time = new Date('2025-12-31T23:30:00Z')
  assert.equal(dayAndTime(time, UTC, now), 'Wed, 31 Dec 2025, 23:30')
  assert.equal(dayAndTime(time, zoneOf('Europe/Paris'), now), 'Thu 1 Jan, 00:30')
  assert.equal(dayText(time, zoneOf('Pacific/Honolulu'), now), '31 Dec')
})

test('Zones of the open sea read as hours from UTC, with the sign that people expect.', () => {
  const labels = ['Etc/GMT+6', 'Etc/GMT-11', 'Etc/GMT+12', 'Etc/GMT', 'Etc/UTC', 'UTC', 'America/New_York']
  assert.deepEqual(
    labels.map((name) => zoneOf(name).label),
    ['UTC−6', 'UTC+11', 'UTC−12', 'UTC', 'UTC', 'UTC', 'New York'],
  )
})

test("A station's page is its network's own, and no identifier can make it lead elsewhere.", () => {
  assert.equal(stationPage('NDBC', '41001'), 'https://www.ndbc.noaa.gov/station_page.php?station=41001')
  assert.equal(stationPage('NDBC', 'FWYF1'), 'https://www.ndbc.noaa.gov/station_page.php?station=fwyf1')
  const candhis = 'https://candhis.cerema.fr/_public_/campagne.php?Y2FtcD0wNjQwMw=='
  assert.equal(stationPage('Candhis', '06403'), candhis)
  const wrong = 'NDBC:41001&x=1 NDBC:"><script> Candhis:é Candhis:../06403 Somebody:41001 constructor:41001'
  for (const [source, identifier] of wrong.split(' ').map((each) => each.split(':'))) {
    assert.equal(stationPage(source, identifier), null, `${source} ${identifier}`)
  }
})
