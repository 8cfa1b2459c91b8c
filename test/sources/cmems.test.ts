/** In-situ NetCDF files of platforms into rows: made-up files that the tests write. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCmems } from '../../src/sources/cmems.ts'
import { assertWithstands, damaged } from './damage.ts'
import { folderOf, identifiersOf, record, rowLines } from './recorder.ts'
import { writePlatform, type Column } from './platform_file.ts'
import { fieldOf, fieldsOf } from '../fields.ts'

const metres = (...values: (number | null)[]): Column => ({
  values: values.map((value) => [value]),
  units: 'm',
})

test('Variables are found by name, else by standard name, and become the contract’s units', async (t) => {
  const folder = await folderOf(t, { 'index_latest.txt': 'x' })
  const column = (value: number, units: string, standard?: string): Column => ({
    values: [[value]],
    units,
    ...(standard !== undefined && { standard }),
  })
  await writePlatform(join(folder, 'latest', '20230820', 'AR_TS_MO_P1_20230820.nc'), {
    attributes: { source: 'moored surface buoy' },
    times: ['2023-08-20T02:20:00Z'],
    columns: {
      VAVH: column(1234, 'm'),
      VHM0: column(1300, 'm', 'sea_surface_wave_significant_height'),
      VZMX: column(2001, 'm'),
      VTZA: column(6200, 's', 'sea_surface_wave_mean_period'),
      VTM02: column(
        6100,
        's',
        'sea_surface_wave_mean_period_from_variance_spectral_density_second_frequency_moment',
      ),
      VTPK: column(10_280, 's'),
      VMDR: column(360_000, 'degree'),
      TEMP: column(14_125, 'degrees_C'),
      WSPD: column(6600, 'm s-1'),
      WDIR: column(243_000, 'degree'),
      GSPD: column(10_000, 'm s-1'),
    },
  })
  await writePlatform(join(folder, 'monthly', 'P2.nc4'), {
    attributes: { platform_code: ' ', wmo_platform_code: '6200024', platform_name: '' },
    times: ['2023-08-20T02:20:00Z'],
    // A platform that never moves.
    lat: [45],
    lng: [355],
    columns: {
      HEIGHT: column(1500, 'm', 'sea_surface_wave_significant_height'),
      THIRD: column(8000, 's', 'sea_surface_wave_significant_period'),
      VTPK: column(12_000, 's'),
      TOWARDS: column(10_000, 'degree', 'sea_surface_wave_to_direction'),
      WATER: column(287_150, 'K', 'sea_surface_temperature'),
    },
  })
  const { sources, buoys, rows, bad, skipped, doubts, understood } = await record(openCmems, folder)
  assert.deepEqual([bad, [...skipped]], [[], []])
  assert.deepEqual(doubts, [
    'files or folders are not read (not .nc) × 1: index_latest.txt',
    'directions where waves or wind go to are turned by half a circle × 1: monthly/P2.nc4: TOWARDS',
  ])
  assert.deepEqual(fieldsOf(sources, 'name', 'network', 'credit'), [
    ['Copernicus Marine', 'national', 'Generated using E.U. Copernicus Marine Service Information'],
  ])
  assert.deepEqual(buoys, [
    {
      name: 'Copernicus Marine 6200024',
      source: 'Copernicus Marine',
      identifier: '6200024',
      lat: 45,
      lng: -5,
    },
    {
      name: 'Platform One',
      type: 'moored surface buoy',
      source: 'Copernicus Marine',
      identifier: 'P1',
      lat: 64.352,
      lng: 7.779_15,
    },
  ])
  assert.deepEqual(rowLines(rows.get('P1/0')), [
    '2023-08-20T02:20:00Z 1.234 2.001 10.28 10.28 0 14.13 23.76 243 36',
  ])
  assert.deepEqual(rowLines(rows.get('6200024/0')), ['2023-08-20T02:20:00Z 1.5 - 8 12 190 14 - - -'])
  assert.deepEqual([...understood.values()], [1, 1])
})

test('Only values, times and positions with a good flag count, and wave values need a height', async (t) => {
  const folder = await folderOf(t, {})
  const all = Array.from({ length: 11 }, (_, i) => i)
  await writePlatform(join(folder, 'a.nc'), {
    times: all.map((i) => `2023-08-20T${String(i).padStart(2, '0')}:00:00Z`),
    timeFlags: all.map((i) => (i === 10 ? 4 : 1)),
    // It drifts.
    lat: all.map((i) => (i < 9 ? 50 + i / 100 : 10)),
    positionFlags: all.map((i) => (i === 9 ? 3 : i === 8 ? 7 : 1)),
    columns: {
      // Flags 0 to 9, one after another.
      VAVH: { ...metres(...all.map((i) => 1000 + i)), flags: all.map((i) => [i]) },
      VTPK: { values: all.map(() => [9000]), units: 's' },
      WSPD: { values: all.map((i) => [i === 9 ? 5000 : null]), units: 'm s-1', unflagged: true },
    },
  })
  const { rows, buoys, bad, skipped } = await record(openCmems, folder)
  assert.deepEqual(bad, ['a.nc:11 no valid time, or one that is not flagged as good'])
  assert.deepEqual(
    rows
      .get('P1/0')
      ?.map(({ time, significantHeight, windSpeed }) => [
        Number(time.slice(11, 13)),
        significantHeight,
        windSpeed,
      ]),
    [
      [1, 1.001, undefined],
      [2, 1.002, undefined],
      [5, 1.005, undefined],
      [7, 1.007, undefined],
      [8, 1.008, undefined],
      [9, undefined, 18],
    ],
  )
  assert.deepEqual(Object.fromEntries(skipped), {
    'a value that its quality flag does not call good': 5,
    'wave values without a significant height': 5,
  })
  assert.equal(buoys[0].lat, 50.08)
})

test('Of sensors at several depths the nearest to the surface counts, for wind that nearest to ten metres up', async (t) => {
  const folder = await folderOf(t, {})
  const times = ['2023-08-20T00:00:00Z', '2023-08-20T01:00:00Z']
  const waves: Column = { values: times.map(() => [null, null, 1000, null]), units: 'm' }
  const wind: Column = {
    values: [
      [2000, 1000, null, 3000],
      [2000, null, null, 3000],
    ],
    units: 'm s-1',
  }
  const water = (second: (number | null)[], flags?: number[][]): Column => ({
    values: [[null, null, 11_000, 12_000], second],
    units: 'degree_Celsius',
    ...(flags !== undefined && { flags }),
  })
  await writePlatform(join(folder, 'a.nc'), {
    times,
    depths: times.map(() => [-3, -10, 5, 1]),
    columns: {
      VAVH: waves,
      WSPD: wind,
      // What is nearest is not good in the second row.
      TEMP: water(
        [null, null, 11_000, 12_000],
        [
          [9, 9, 1, 1],
          [9, 9, 1, 4],
        ],
      ),
    },
  })
  await writePlatform(join(folder, 'b.nc'), {
    attributes: { platform_code: 'P2' },
    times,
    // By level alone; twelve metres down is not the surface.
    depths: [0, 3, 4, 12],
    columns: { VAVH: waves, TEMP: water([null, null, null, 9000]) },
  })
  await writePlatform(join(folder, 'c.nc'), {
    attributes: { platform_code: 'P3' },
    times,
    columns: { VAVH: waves, TEMP: water([null, null, 10_000, 9000]) },
  })
  const { rows, skipped, bad, doubts } = await record(openCmems, folder)
  assert.deepEqual([bad, doubts, [...skipped]], [[], [], []])
  const temperatures = (key: string) => rows.get(key)?.map(({ waterTemperature }) => waterTemperature)
  assert.deepEqual(temperatures('P1/0'), [12, 11])
  assert.deepEqual(fieldOf(rows.get('P1/0'), 'windSpeed'), [3.6, 7.2])
  assert.deepEqual(temperatures('P2/0'), [11, undefined])
  assert.deepEqual(temperatures('P3/0'), [11, 10], 'without depths in the order of the file')
})

test('A file without values of the preferred variable gives those of the next', async (t) => {
  const folder = await folderOf(t, {})
  await writePlatform(join(folder, 'a.nc'), {
    times: ['2023-08-20T00:00:00Z', '2023-08-20T01:00:00Z'],
    columns: {
      VAVH: metres(null, null),
      VHM0: metres(1100, null),
      VZMX: { ...metres(2000, 2000), units: 'fathom' },
    },
  })
  const { rows, doubts, skipped } = await record(openCmems, folder)
  assert.deepEqual(rowLines(rows.get('P1/0')), ['2023-08-20T00:00:00Z 1.1 - - - - - - - -'])
  assert.deepEqual(doubts, ['a variable in an unknown unit is left out × 1: a.nc: VZMX in "fathom"'])
  assert.deepEqual([...skipped], [['a row without a value', 1]])
})

test('The file that was made last counts, the position is the newest, and one jump of a mooring does not', async (t) => {
  const folder = await folderOf(t, {})
  const file = (name: string, made: string, day: string, height: number, lat: number, last = lat) =>
    writePlatform(join(folder, name), {
      attributes: { date_update: made },
      times: [`${day}T00:00:00Z`, `${day}T01:00:00Z`],
      lat: [lat, last],
      columns: { VAVH: metres(height, height) },
    })
  await file('a.nc', '2023-09-05T00:00:00Z', '2023-08-20', 1000, 60.001)
  await file('b.nc', '2023-08-20T02:00:00Z', '2023-08-20', 3000, 60.001)
  await file('c.nc', '2023-08-19T02:00:00Z', '2023-08-19', 2000, 60.002)
  await file('d.nc', '2023-08-21T02:00:00Z', '2023-08-21', 2500, 60.001, 60.1)
  const { rows, buoys } = await record(openCmems, folder)
  assert.equal(buoys.length, 1)
  assert.equal(buoys[0].lat, 60.001)
  const last = new Map(rows.get('P1/0')?.map(({ time, significantHeight }) => [time, significantHeight]))
  assert.deepEqual(
    [...last.values()].toSorted((x, y) => Number(x) - Number(y)),
    [1, 1, 2, 2, 2.5, 2.5],
  )
})

test('Platforms without waves or position are left out, and so are files of anything else', async (t) => {
  const folder = await folderOf(t, {
    'notes/classic.nc': 'CDF\u0001 is the older format',
    'notes/empty.nc': '',
  })
  const times = ['2023-08-20T00:00:00Z']
  const columns = { VAVH: metres(1000) }
  const at = (name: string) => join(folder, `${name}.nc`)
  await writePlatform(at('good'), { times, columns })
  await writePlatform(at('gauge'), {
    attributes: { platform_code: 'GAUGE' },
    times,
    columns: { TEMP: { values: [[1000]], units: 'degree_C' } },
  })
  await writePlatform(at('lost'), { attributes: { platform_code: 'LOST' }, times, lat: [99_999], columns })
  await writePlatform(at('nobody'), { attributes: { platform_code: '' }, times, columns })
  await writePlatform(at('calendar'), { times, timeUnits: 'fortnights since 1950-01-01', columns })
  await writePlatform(at('short'), { times, columns: { VAVH: metres(1000, 2000) } })
  await writePlatform(at('wide'), { times, lat: [1, 2], columns })
  await writePlatform(at('cut'), { times, columns })
  const { length } = readFileSync(at('cut'))
  await truncate(at('cut'), Math.floor(length * 0.7))
  const { buoys, rows, doubts, examples, bad } = await record(openCmems, folder)
  assert.deepEqual(identifiersOf(buoys), ['P1'])
  assert.equal(rows.get('P1/0')?.length, 1)
  assert.deepEqual(bad, [])
  assert.deepEqual(doubts.slice(1), [
    'platforms without waves are left out × 1: GAUGE',
    'no position × 1: LOST',
  ])
  assert.match(doubts[0], /^grave: a file is left out whole × 7: /)
  assert.deepEqual(
    examples.slice(0, 7).map((text) => text.replace(`${folder}/`, '')),
    [
      'calendar.nc: its times are in an unknown unit',
      'cut.nc: is not a whole NetCDF-4 (HDF5) file',
      'nobody.nc: does not name its platform in platform_code, wmo_platform_code, site_code',
      'short.nc: VAVH has another length than TIME',
      'wide.nc: LATITUDE has another length than TIME',
      'notes/classic.nc: is NetCDF-3 (classic); convert it to NetCDF-4, as with: nccopy -k nc4 FILE NEW',
      'notes/empty.nc: is not a whole NetCDF-4 (HDF5) file',
    ],
  )
})

test('A folder of which no file can be read is refused with the first reason, by name where it is NetCDF-3', async (t) => {
  const folder = await folderOf(t, { 'a/classic.nc': 'CDF\u0002 is the older format', 'b.nc': 'nothing' })
  await assert.rejects(
    record(openCmems, folder),
    /^BuildError: cmems: no file could be read; \S+\/b\.nc: is not a whole NetCDF-4 \(HDF5\) file$/,
  )
  await assert.rejects(
    record(openCmems, join(folder, 'a')),
    /cmems: no file could be read; \S+classic\.nc: is NetCDF-3 \(classic\); convert it to NetCDF-4/,
  )
})

test('Any damage to a file leads to sound rows or a clear refusal', async (t) => {
  const folder = await folderOf(t, {})
  await writePlatform(join(folder, 'a.nc'), {
    times: ['2023-08-20T00:00:00Z', '2023-08-20T01:00:00Z'],
    depths: [0, 1],
    columns: {
      VAVH: {
        values: [
          [1000, null],
          [1100, null],
        ],
        units: 'm',
      },
      TEMP: {
        values: [
          [null, 12_000],
          [null, 13_000],
        ],
        units: 'degree_C',
      },
    },
  })
  await assertWithstands(openCmems, { 'a.nc': damaged(readFileSync(join(folder, 'a.nc'))) }, { runs: 150 })
})
