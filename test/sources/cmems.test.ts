/** In-situ NetCDF files of platforms into rows: made-up files that the tests write. */
import assert from 'node:assert/strict'
import { readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCmems } from '../../src/sources/cmems.ts'
import { flags, type Mooring, timesOf, variable, type Variable, writePlatform } from './netcdf_file.ts'
import { folderOf, gives, identifiersOf, record, rowLines } from './recorder.ts'
import { fieldOf, fieldsOf } from '../fields.ts'

const TWO = timesOf(['2023-08-20T00:00Z', '2023-08-20T01:00Z'])
const metres = (...values: number[]): Variable => variable('VAVH', values, { units: 'm' })

test('Variables are found by name, else by standard name, and become the contract’s units', async (t) => {
  const folder = await folderOf(t, { 'index_latest.txt': 'x', 'latest/20230820/x': '', 'monthly/x': '' })
  const times = timesOf(['2023-08-20T02:20:00Z'])
  const one = (name: string, value: number, units: string, standard?: string): Variable =>
    variable(name, [value], {
      units,
      ...(standard !== undefined && { standard_name: `sea_surface_${standard}` }),
    })
  const moment = 'wave_mean_period_from_variance_spectral_density_second_frequency_moment'
  writePlatform(
    join(folder, 'latest', '20230820', 'AR_TS_MO_P1_20230820.nc'),
    [
      one('VAVH', 1.234, 'm'),
      one('VHM0', 1.3, 'm', 'wave_significant_height'),
      one('VZMX', 2.001, 'm'),
      one('VTZA', 6.2, 's', 'wave_mean_period'),
      one('VTM02', 6.1, 's', moment),
      one('VTPK', 10.28, 's'),
      one('VMDR', 360, 'degree'),
      one('TEMP', 14.125, 'degrees_C'),
      one('WSPD', 6.6, 'm s-1'),
      one('WDIR', 243, 'degree'),
      one('GSPD', 10, 'm s-1'),
    ],
    { times, lat: [64.352], lng: [7.779_15], attributes: { source: 'moored surface buoy' } },
  )
  const unnamed = { platform_code: ' ', wmo_platform_code: '6200024', platform_name: '' }
  writePlatform(
    join(folder, 'monthly', 'P2.nc4'),
    [
      one('HEIGHT', 1.5, 'm', 'wave_significant_height'),
      one('THIRD', 8, 's', 'wave_significant_period'),
      one('VTPK', 12, 's'),
      one('TOWARDS', 10, 'degree', 'wave_to_direction'),
      one('WATER', 287.15, 'K', 'temperature'),
    ],
    { times, lat: [45], lng: [355], attributes: unnamed },
  )
  const { sources, buoys, rows, understood } = await gives(t, openCmems, folder, {
    buoys: ['6200024 Copernicus Marine 6200024 45 -5', 'P1 Platform One 64.352 7.77915'],
    doubts: [
      'files or folders are not read (not .nc) × 3: index_latest.txt, latest/20230820/x, monthly/x',
      'directions where waves or wind go to are turned by half a circle × 1: monthly/P2.nc4: TOWARDS',
    ],
  })
  assert.deepEqual(fieldsOf(sources, 'name', 'network', 'credit'), [
    ['Copernicus Marine', 'national', 'Generated using E.U. Copernicus Marine Service Information'],
  ])
  assert.deepEqual(fieldOf(buoys, 'type'), [undefined, 'moored surface buoy'])
  assert.deepEqual(rowLines(rows.get('P1/0')), [
    '2023-08-20T02:20:00Z 1.234 2.001 10.28 10.28 0 14.13 23.76 243 36',
  ])
  assert.deepEqual(rowLines(rows.get('6200024/0')), ['2023-08-20T02:20:00Z 1.5 - 8 12 190 14 - - -'])
  assert.deepEqual([...understood.values()], [1, 1])
})

test('Only values, times and positions with a good flag count, and wave values need a height', async (t) => {
  const folder = await folderOf(t, {})
  const all = Array.from({ length: 11 }, (_, i) => i)
  const mooring: Mooring = {
    times: timesOf(all.map((i) => `2023-08-20T${String(i).padStart(2, '0')}:00Z`)),
    // It drifts.
    lat: all.map((i) => (i < 9 ? 50 + i / 100 : 10)),
  }
  writePlatform(
    join(folder, 'a.nc'),
    [
      flags('TIME_QC', [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4]),
      flags('POSITION_QC', [1, 1, 1, 1, 1, 1, 1, 1, 7, 3, 1]),
      metres(...all.map((i) => 1 + i / 1000)),
      flags('VAVH_QC', all),
      variable('VTPK', Array(11).fill(9) as number[], { units: 's' }),
      variable('WSPD', [...(Array(9).fill(NaN) as number[]), 5, NaN], { units: 'm s-1' }),
    ],
    mooring,
  )
  const { rows, buoys } = await gives(t, openCmems, folder, {
    bad: ['a.nc:11 no valid time, or one that is not flagged as good'],
    skipped: {
      'a value that its quality flag does not call good': 5,
      'wave values without a significant height': 5,
    },
  })
  assert.deepEqual(
    rowLines(rows.get('P1/0')).map((line) => line.slice(11).replace(':00:00Z', '')),
    [...[1, 2, 5, 7, 8].map((flag) => `0${flag} 1.00${flag} - 9 9 - - - - -`), '09 - - - - - - 18 - -'],
  )
  assert.equal(buoys[0].lat, 50.08)
})

test('Of sensors at several depths the nearest to the surface counts, for wind that nearest to ten metres up', async (t) => {
  const folder = await folderOf(t, {})
  const none = NaN
  const waves = variable('VAVH', [none, none, 1, none, none, none, 1, none], { units: 'm' }, 4)
  const water = (...values: number[]): Variable => variable('TEMP', values, { units: 'degree_Celsius' }, 4)
  const write = (platform_code: string, ...variables: Variable[]) =>
    writePlatform(join(folder, `${platform_code}.nc`), [waves, ...variables], {
      times: TWO,
      attributes: { platform_code },
    })
  write(
    'P1',
    variable('DEPH', [-3, -10, 5, 1, -3, -10, 5, 1], { units: 'm' }, 4),
    variable('WSPD', [2, 1, none, 3, 2, none, none, 3], { units: 'm s-1' }, 4),
    // What is nearest is not good in the second row.
    water(none, none, 11, 12, none, none, 11, 12),
    { ...flags('TEMP_QC', [9, 9, 1, 1, 9, 9, 1, 4]), levels: 4 },
  )
  // By level alone; twelve metres down is not the surface.
  write('P2', variable('DEPH', [0, 3, 4, 12], { units: 'm' }), water(none, none, 11, 12, none, none, none, 9))
  write('P3', water(none, none, 11, 12, none, none, 10, 9))
  await gives(t, openCmems, folder, {
    rows: [
      'P1/0 2023-08-20T00:00:00Z 1 - - - - 12 3.6 - -',
      'P1/0 2023-08-20T01:00:00Z 1 - - - - 11 7.2 - -',
      'P2/0 2023-08-20T00:00:00Z 1 - - - - 11 - - -',
      'P2/0 2023-08-20T01:00:00Z 1 - - - - - - - -',
      // Without depths in the order of the file.
      'P3/0 2023-08-20T00:00:00Z 1 - - - - 11 - - -',
      'P3/0 2023-08-20T01:00:00Z 1 - - - - 10 - - -',
    ],
  })
})

test('A file without values of the preferred variable gives those of the next', async (t) => {
  const folder = await folderOf(t, {})
  const all = [
    metres(NaN, NaN),
    variable('VHM0', [1.1, NaN], { units: 'm' }),
    variable('VZMX', [2, 2], { units: 'fathom' }),
  ]
  writePlatform(join(folder, 'a.nc'), all, { times: TWO })
  await gives(t, openCmems, folder, {
    rows: ['P1/0 2023-08-20T00:00:00Z 1.1 - - - - - - - -'],
    doubts: ['a variable in an unknown unit is left out × 1: a.nc: VZMX in "fathom"'],
    skipped: { 'a row without a value': 1 },
  })
})

test('The file that was made last counts, other values at its times are counted, and one jump of a mooring is none', async (t) => {
  const folder = await folderOf(t, {})
  const file = (name: string, made: string, day: string, height: number, lat: number, last = lat) =>
    writePlatform(join(folder, name), [metres(height, height)], {
      attributes: { date_update: made },
      times: timesOf([`${day}T00:00Z`, `${day}T01:00Z`]),
      lat: [lat, last],
    })
  file('a.nc', '2023-09-05T00:00:00Z', '2023-08-20', 1, 60.001)
  file('b.nc', '2023-08-20T02:00:00Z', '2023-08-20', 3, 60.001)
  file('c.nc', '2023-08-19T02:00:00Z', '2023-08-19', 2, 60.002)
  file('d.nc', '2023-08-21T02:00:00Z', '2023-08-21', 2.5, 60.001, 60.1)
  const doubts = ['times come again with another wave height, and the later one counts × 2: a.nc: P1']
  const { rows, buoys } = await gives(t, openCmems, folder, { doubts })
  assert.deepEqual(fieldOf(buoys, 'lat'), [60.001])
  const last = new Map(rows.get('P1/0')?.map(({ time, significantHeight }) => [time, significantHeight]))
  const heights = [...last.values()].map(Number).toSorted((a, b) => a - b)
  assert.deepEqual(heights, [1, 1, 2, 2, 2.5, 2.5])
  for (const name of ['a.nc', 'b.nc']) file(name, '2023-08-20T02:00:00Z', '2023-08-20', 3, -43)
  const apart = await record(openCmems, folder)
  assert.equal(apart.rows.size, 0)
  assert.match(apart.doubts.join(), /grave: one identifier stands for several stations.* at -43 -10/)
})

test('A code that stands for none names no platform, and the next one does', async (t) => {
  for (const code of ['UNKNOWN', 'Unknown', 'N/A', 'n/a', 'None', '1', ' ', '0000', '99999', '---']) {
    const folder = await folderOf(t, {})
    const write = (more: object) =>
      writePlatform(join(folder, 'a.nc'), [metres(1, 2)], {
        times: TWO,
        attributes: { platform_code: code, ...more },
      })
    write({})
    const reason = /does not name its platform in platform_code, wmo_platform_code, site_code$/
    await assert.rejects(record(openCmems, folder), reason)
    write({ site_code: 'CAPE' })
    assert.deepEqual([...(await record(openCmems, folder)).rows.keys()], ['CAPE/0'])
  }
})

test('Platforms without waves or position are left out, and so are files of anything else', async (t) => {
  const folder = await folderOf(t, {
    'notes/classic.nc': 'CDF\u0001 is the older format',
    'notes/empty.nc': '',
  })
  const write = (name: string, variables: Variable[], mooring: Mooring = {}) =>
    writePlatform(join(folder, `${name}.nc`), variables, { times: TWO, ...mooring })
  const waves = [metres(1, 1)]
  write('good', waves)
  write('gauge', [variable('TEMP', [1, 1], { units: 'degree_C' })], {
    attributes: { platform_code: 'GAUGE' },
  })
  write('lost', waves, { lat: [99_999], attributes: { platform_code: 'LOST' } })
  write('nobody', waves, { attributes: { platform_code: '' } })
  write('calendar', waves, { times: { ...TWO, attributes: { units: 'fortnights since 1950-01-01' } } })
  write('short', [metres(1, 2, 3)])
  write('wide', waves, { lat: [1, 2, 3] })
  write('cut', waves)
  const { length } = readFileSync(join(folder, 'cut.nc'))
  truncateSync(join(folder, 'cut.nc'), Math.floor(length * 0.7))
  const { buoys, examples } = await gives(t, openCmems, folder, {
    rows: ['00', '01'].map((hour) => `P1/0 2023-08-20T${hour}:00:00Z 1 - - - - - - - -`),
    doubts: [
      /^grave: a file is left out whole × 7: /,
      'platforms without waves are left out × 1: GAUGE',
      'a position that is not on the globe does not count × 2: LOST',
      'no position × 1: LOST',
    ],
  })
  assert.deepEqual(identifiersOf(buoys), ['P1'])
  const classic = 'is NetCDF-3 (classic); convert it to NetCDF-4, as with: nccopy -k nc4 FILE NEW'
  assert.deepEqual(
    examples.slice(0, 7).map((text) => text.replace(`${folder}/`, '')),
    [
      'calendar.nc: its times are in an unknown unit',
      'cut.nc: is not a whole NetCDF-4 (HDF5) file',
      'nobody.nc: does not name its platform in platform_code, wmo_platform_code, site_code',
      'short.nc: VAVH has another length than TIME',
      'wide.nc: LATITUDE has another length than TIME',
      `notes/classic.nc: ${classic}`,
      'notes/empty.nc: is not a whole NetCDF-4 (HDF5) file',
    ],
  )
  const unread = await folderOf(t, { 'a.nc': 'nothing', 'b.nc': 'CDF\u0002' })
  const first =
    /^BuildError: cmems: no file could be read; \S+\/a\.nc: is not a whole NetCDF-4 \(HDF5\) file$/
  await assert.rejects(record(openCmems, unread), first)
})
