import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { TableSpec } from '../../src/sources/tables/column-map.ts'
import { UNCOUNTED } from '../../src/sources/source.ts'
import { openJson as openTables, openJsonSource as openJson } from '../../src/sources/tables/json.ts'
import { BuildError } from '../../src/system/build-error.ts'
import { IRISH_MAP, type JsonMap, portusMap } from './json_maps.ts'
import { folderOf, placesOf, record, rowLines, rowTable } from './recorder.ts'

const IRISH: JsonMap = { ...IRISH_MAP, credit: 'Marine Institute', licence: 'CC BY 4.0' }

const IRISH_ROWS = [
  {
    time: '2025-11-01T00:00:00Z',
    station_id: 'M4',
    longitude: -9.9991,
    latitude: 55,
    wave_height: 4.336,
    wave_period: 7.852,
    hmax: 6.875,
    mean_wave_direction: 256,
    wind_speed: 19.923,
    sea_temperature: 13.385,
  },
  {
    time: '2025-11-01T00:00:00Z',
    station_id: 'M5',
    longitude: -6.7043,
    latitude: 51.6904,
    wave_height: null,
  },
  {
    time: '2025-11-01T01:00:00Z',
    station_id: 'M5',
    longitude: -6.7043,
    latitude: 51.6904,
    sea_temperature: 14,
  },
]

test('Ireland: rows that are objects, by a map', async (t) => {
  const folder = await folderOf(t, {
    'buoys.json.gz': gzipSync(JSON.stringify(IRISH_ROWS)),
    'notes.txt': 'x',
  })
  const { sources, buoys, rows, bad, skipped, doubts, understood } = await record(
    (path) => openJson(path, { ...IRISH }),
    folder,
  )
  assert.deepEqual(bad, [])
  assert.deepEqual(doubts, [
    'files or folders are not read (no table of the map matches) × 1: notes.txt',
    'a value of the map is in no row × 2: windDirection, gustSpeed',
  ])
  assert.deepEqual(sources, [
    {
      name: 'Irish Marine Institute',
      network: 'national',
      credit: 'Marine Institute',
      licence: 'CC BY 4.0',
    },
  ])
  assert.deepEqual(placesOf(buoys), [
    ['M4', 'Irish Marine Institute M4', 55, -9.9991],
    ['M5', 'Irish Marine Institute M5', 51.6904, -6.7043],
  ])
  assert.deepEqual(rowTable(rows), [
    'M4/0 2025-11-01T00:00:00Z 4.336 6.875 7.852 - 256 13.39 36.9 - -',
    'M5/0 2025-11-01T01:00:00Z - - - - - 14 - - -',
  ])
  assert.deepEqual([...skipped], [['a row without a value', 1]])
  assert.deepEqual([...understood], [['buoys.json.gz', 3]])
})

test('Puertos del Estado: names of columns in a header, values with a flag, the station in the name of the file', async (t) => {
  const columns = {
    significantHeight: 'Hm0 (m)',
    maximumHeight: 'H~0max~1x',
    peakPeriod: 'Tp (s)',
    period: 'Tabsent',
  }
  const map = portusMap(columns, [
    { identifier: '3545', name: 'Boya', lat: 43, lng: -9, country: 'ES', timezone: 'Europe/Madrid' },
  ])
  const folder = await folderOf(t, {
    'portus_StationData_3545.json': JSON.stringify([
      ['UTC', 'Hm0 (m)', 'Tp (s)', 'H~max/x'],
      [
        [1_779_408_000, [0.2, 1], [5.22, 1], [0.35, 4]],
        ['1779411600', ['0.30', '1.0'], [-9999.9, 9], [0.5, 0]],
      ],
    ]),
    'other.json': '{}',
  })
  const { buoys, rows, bad, skipped, doubts } = await record((path) => openJson(path, { ...map }), folder)
  assert.deepEqual(bad, [])
  assert.equal(doubts.length, 2)
  assert.deepEqual(buoys, [{ ...map.stations?.[0], source: 'Puertos del Estado' }])
  assert.deepEqual(rowLines(rows.get('3545/0')), [
    '2026-05-22T00:00:00Z 0.2 - - 5.22 - - - - -',
    '2026-05-22T01:00:00Z 0.3 0.5 - - - - - - -',
  ])
  assert.deepEqual([...skipped], [['maximumHeight flagged bad', 1]])
})

test('Cefas and Queensland: pairs of name and value, local times, texts for numbers', async (t) => {
  const map: JsonMap = {
    source: 'Cefas',
    network: 'coastal',
    tables: [
      {
        rows: '/rows',
        station: '/id',
        lat: '/lat',
        lng: '/lon',
        time: { at: '/time', unit: 'UTC', offset: '+10:00' },
        values: {
          significantHeight: { at: '/results/identifier=Hm0/value', unit: 'm', missing: ['-99.90'] },
          period: { at: '/results/identifier=Tpeak/value', unit: 's' },
        },
      },
    ],
  }
  const place = { lat: '-16.7', lon: '145.7' }
  const heights = (value: unknown): object[] => [{ identifier: 'Hm0', value }]
  const rows = [
    { id: 101, ...place, time: '2024-01-01T10:00:00', results: [null, ...heights('2.5')] },
    { id: 101, ...place, time: '2024-01-01T10:30:00+10:30', results: heights(-99.9) },
    {
      id: 101,
      ...place,
      time: '2024-01-01T12:00:00',
      results: [{ identifier: 'Tpeak', value: 9 }, ...heights(1)],
    },
    { id: 102, ...place, time: '2024-01-01T00:00:00', results: [] },
  ]
  const read = await record((path) => openJson(path, { ...map }), await folderOf(t, { 'a.json': { rows } }))
  assert.deepEqual(read.bad, [])
  assert.deepEqual(rowTable(read.rows), [
    '101/0 2024-01-01T00:00:00Z 2.5 - - - - - - - -',
    '101/0 2024-01-01T02:00:00Z 1 - 9 - - - - - -',
  ])
  assert.deepEqual([...read.skipped], [['a row without a value', 2]])
})

test('Rows that cannot be understood are reported by file and number, stations without a position by name', async (t) => {
  const folder = await folderOf(t, {
    'a.json': JSON.stringify([
      { time: '2025-11-01T00:00:00Z', station_id: 'M4', wave_height: 1 },
      7,
      { time: '2025-11-31T00:00:00Z', station_id: 'M4', wave_height: 1 },
      { time: '2025-11-01T00:00:00Z', station_id: 'M"4', wave_height: 1 },
      { time: '2025-11-01T00:00:00Z', station_id: 'M4', wave_height: '1,5' },
      { time: '2025-11-01T00:00:00Z', station_id: 'M4', wave_height: [1] },
      { time: '2025-11-01T00:00:00Z', station_id: 'M5', latitude: 50, longitude: -5, wave_height: 26 },
    ]),
    'b.json': '[1,2',
    'c.json': `${'['.repeat(65)}${']'.repeat(65)}`,
    'd.json': '"text"',
  })
  const { bad, doubts, skipped, buoys } = await record((path) => openJson(path, { ...IRISH }), folder)
  assert.deepEqual(bad, [
    'a.json:2 no valid time',
    'a.json:3 no valid time',
    'a.json:4 no valid identifier of a station',
    'a.json:5 significantHeight is not a number',
    'a.json:6 significantHeight is not a number',
    'b.json:1 not JSON, or cut off',
    'c.json:1 more than 64 levels of lists and objects',
    'd.json:1 it holds no table of the map',
  ])
  assert.equal(doubts.length, 2)
  assert.match(doubts[0], /^a value of the map is in no row × 7: maximumHeight, period, /)
  assert.equal(doubts[1], 'no position × 1: M4')
  assert.deepEqual(buoys, [])
  assert.deepEqual(Object.fromEntries(skipped), {
    'significantHeight outside 0 to 25 m': 1,
    'a row without a value': 1,
  })
})

test('A map that does not fit is refused with the place in it', async (t) => {
  const folder = await folderOf(t, { 'a.json': '[]' })
  const [table] = IRISH.tables
  const refusal = async (map: unknown): Promise<string> => {
    try {
      await record((path) => openJson(path, map as { [name: string]: unknown }), folder)
    } catch (error) {
      assert.ok(error instanceof BuildError, String(error))
      return error.message
    }
    return ''
  }
  const withTable = (change: object) => refusal({ ...IRISH, tables: [{ ...table, ...change }] })
  assert.equal(await refusal(IRISH), '')
  assert.match(
    await withTable({ time: { at: '/t', unit: 'stardate' } }),
    /time\/unit is neither a known unit of time nor a format/,
  )
  assert.match(
    await withTable({ values: { period: { at: '/p', unit: 'm' } } }),
    /values\/period\/unit is not a known unit of this measure/,
  )
  assert.match(
    await withTable({ values: { period: { at: '/p', unit: 's', direction: 'to' } } }),
    /has "direction" but is not a direction/,
  )
  assert.match(await withTable({ files: '{station}{station}.json' }), /more than once/)
  const place = { identifier: 'M4', name: 'M4', lat: 55, lng: -10 }
  assert.match(await refusal({ ...IRISH, stations: [{ ...place, timezone: 'Mars/Base' }] }), /timezone/)
})

const sorted = <R extends { time: string }>(rows: readonly R[] = []): R[] =>
  rows.toSorted((a, b) => (a.time < b.time ? -1 : 1))

test('Times on the wall clock of a zone are summer and winter time, and the hour that comes twice is read twice', async (t) => {
  const clock = ['07-01T12:00', '10-27T01:30', '10-27T02:30', '10-27T02:30', '10-27T03:30']
  const expected = ['07-01T10:00', '10-26T23:30', '10-27T00:30', '10-27T01:30', '10-27T02:30']
  const map = (time: object): JsonMap => ({
    source: 'G',
    network: 'coastal',
    stations: [{ identifier: 'A', name: 'A', lat: 50, lng: 3 }],
    tables: [
      {
        files: '{station}.json',
        rows: '',
        time: { at: '/t', unit: 'UTC', ...time },
        values: { significantHeight: { at: '/h', unit: 'm' } },
      },
    ],
  })
  const rising = clock.map((text, i) => ({ t: `2024-${text}`, h: i }))
  for (const rows of [rising, rising.toReversed()]) {
    // The clock leaps over the last one.
    const text = JSON.stringify([...rows, { t: '2024-03-31T02:30', h: 1 }])
    const folder = await folderOf(t, { 'A.json': text })
    const read = await record((path) => openJson(path, map({ zone: 'Europe/Berlin' })), folder)
    assert.deepEqual(
      sorted(read.rows.get('A/0')).map(({ time, significantHeight }) => [time, significantHeight]),
      expected.map((time, i) => [`2024-${time}:00Z`, i]),
    )
    assert.deepEqual(read.bad, ['A.json:6 no valid time'])
    const fixed = await record((path) => openJson(path, map({ offset: '+01:00' })), folder)
    assert.match(
      fixed.doubts.join(),
      /^a time comes twice with other values.* × 1: A at 2024-10-27T01:30:00Z$/,
    )
  }
  for (const time of [{ zone: 'Europe/Nowhere' }, { zone: 'Europe/Berlin', offset: '+01:00' }])
    assert.throws(
      () => openJson('', { ...map(time) }),
      /time\/zone is not an IANA time zone, or stands beside/,
    )
})

test('A star stands for each list of a list, in the places of its station and its condition too', async (t) => {
  const list = (code: string, what: string, values: readonly number[]): object => ({
    place: { code },
    what,
    rows: values.map((value, i) => ({ t: `2024-01-27T0${i}:00Z`, value })),
  })
  const lists = [list('A', 'Hm0', [152, 160]), list('A', 'Th0', [250, 255]), list('B', 'Hm0', [90])]
  const table = (what: string, values: NonNullable<TableSpec['values']>) => ({
    rows: '/lists/*/rows',
    when: { at: '/lists/*/what', is: what },
    station: '^/lists/*/place/code',
    time: { at: '/t', unit: 'UTC' },
    values,
  })
  const map: JsonMap = {
    source: 'RWS',
    network: 'national',
    stations: ['A', 'B'].map((identifier) => ({ identifier, name: identifier, lat: 50, lng: 3 })),
    tables: [
      table('Hm0', { significantHeight: { at: '/value', unit: 'cm' } }),
      table('Th0', { direction: { at: '/value', unit: 'degree', direction: 'to' } }),
    ],
  }
  const folder = await folderOf(t, { 'a.json': JSON.stringify({ lists }) })
  const { rows, bad } = await record((path) => openJson(path, { ...map }), folder)
  assert.deepEqual(bad, [])
  assert.deepEqual(rowTable(rows), [
    'A/0 2024-01-27T00:00:00Z 1.52 - - - 70 - - - -',
    'A/0 2024-01-27T01:00:00Z 1.6 - - - 75 - - - -',
    'B/0 2024-01-27T00:00:00Z 0.9 - - - - - - - -',
  ])
})

test('An element that rows of a table pick by a member is looked for once, not for each row.', () => {
  const COUNT = 500
  let reads = 0
  const stations = Array.from({ length: COUNT }, (_, i) => ({
    get id() {
      reads++
      return `s${i % (COUNT / 2)}`
    },
    place: i,
  }))
  const rows = Array.from({ length: COUNT }, (_, i) => ({ height: i }))
  const [table] = openTables({ stations, rows }, { rows: '/rows' }, UNCOUNTED)
  const fields = [7, COUNT / 2 - 1].map((i) => table.column(`^/stations/id=s${i}/place`))
  const none = table.column('^/stations/id=x/place')
  let count = 0
  for (; table.next(); count++) {
    assert.deepEqual(
      fields.map((field) => table.number(field)),
      [7, COUNT / 2 - 1],
      'the first of two',
    )
    assert.ok(Number.isNaN(table.number(none)))
  }
  assert.deepEqual([count, reads], [COUNT, COUNT])
})
