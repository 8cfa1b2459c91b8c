import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openErddap } from '../../src/sources/tables/erddap.ts'
import { folderOf, record, rowLines, rowTable } from './recorder.ts'

const CDIP = `station_id,metaStationName,latitude,longitude,time,waveHs,waveTp,waveTa,waveDp,waveFlagPrimary
,,degrees_north,degrees_east,UTC,meter,second,second,degrees_true,1
071p1,"HARVEST, CA",34.4517,-120.7797,2024-01-01T00:28:20Z,2.3500001,13.333333,8.25,301.65625,1
071p1,"HARVEST, CA",34.4517,-120.7797,2024-01-01T00:58:20Z,9.99,13.333333,8.25,301.65625,4
100p1,"TORREY PINES OUTER, CA",32.9333,239.6093,2024-01-01T00:30:00Z,1.2,NaN,,360.0,1
`

test('CDIP: names in quotes, floats rounded once, bad flags left out, longitudes past 180 wrapped', async (t) => {
  const folder = await folderOf(t, { 'wave_agg.csv.gz': gzipSync(CDIP) })
  const { sources, buoys, rows, bad, skipped, doubts, understood } = await record(openErddap, folder)
  assert.deepEqual(bad, [])
  assert.deepEqual(doubts, [])
  assert.deepEqual(sources, [{ name: 'ERDDAP', network: 'national' }])
  assert.deepEqual(buoys, [
    { name: 'HARVEST, CA', source: 'ERDDAP', identifier: '071p1', lat: 34.4517, lng: -120.7797 },
    { name: 'TORREY PINES OUTER, CA', source: 'ERDDAP', identifier: '100p1', lat: 32.9333, lng: -120.3907 },
  ])
  assert.deepEqual(rowTable(rows), [
    '071p1/0 2024-01-01T00:28:20Z 2.35 - 13.333 13.333 301.66 - - - -',
    '100p1/0 2024-01-01T00:30:00Z 1.2 - - - 0 - - - -',
  ])
  assert.deepEqual(Object.fromEntries(skipped), {
    'significantHeight flagged bad': 1,
    'period flagged bad': 1,
    'peakPeriod flagged bad': 1,
    'direction flagged bad': 1,
    'a row without a value': 1,
  })
  assert.deepEqual([...understood], [['wave_agg.csv.gz', 3]])
})

const M01_INFO = `Row Type,Variable Name,Attribute Name,Data Type,Value
attribute,NC_GLOBAL,institution,String,Univ. of Maine
attribute,NC_GLOBAL,license,String,"Free to use,
without warranty"
attribute,NC_GLOBAL,station_name,String,M01
attribute,NC_GLOBAL,geospatial_lat_max,double,43.49693
attribute,NC_GLOBAL,geospatial_lat_min,double,43.4907
attribute,NC_GLOBAL,longitude,double,-67.875743
attribute,NC_GLOBAL,latitude,double,43.496932
variable,station,,String,
attribute,station,cf_role,String,timeseries_id
variable,significant_wave_height,,float,
attribute,significant_wave_height,_FillValue,float,-999.0
attribute,significant_wave_height,ancillary_variables,String,significant_wave_height_qc
attribute,significant_wave_height,standard_name,String,significant_height_of_wind_and_swell_waves
attribute,significant_wave_height,units,String,m
attribute,significant_wave_height_qc,_FillValue,byte,-128
attribute,significant_wave_height_qc,flag_meanings,String,quality_good out_of_range sensor_nonfunctional algorithm_failure
attribute,significant_wave_height_qc,flag_values,byte,"0, 1, 2, 3"
attribute,dominant_wave_period,standard_name,String,period
`

test('NERACOOS: a description gives position, flags and markers; tables of one buoy fill each other', async (t) => {
  const folder = await folderOf(t, {
    'M01_accelerometer_info.csv': M01_INFO,
    'M01_accelerometer.json': JSON.stringify({
      table: {
        columnNames: [
          'station',
          'time',
          'significant_wave_height',
          'significant_wave_height_qc',
          'dominant_wave_period',
        ],
        columnTypes: ['String', 'double', 'float', 'byte', 'float'],
        columnUnits: [null, 'seconds since 1970-01-01T00:00:00Z', 'm', '1', 's'],
        rows: [
          ['M01', 1_601_910_000, 1.25, 0, 8],
          ['M01', 1_601_911_800.4, -999, null, 8],
          ['M01', 1_601_913_600, 3.5, 1, 8],
          ['M01', '2020-10-05T16:30:00Z', 1.5, 0, 8],
          ['M01', 1_601_917_200, '1.5', null, null],
          ['M01', 1_601_919_000, 1.5],
          ['M01', 1_601_919_000, { a: 1 }, 0, 8],
        ],
      },
    }),
    'M01_sbe.csv':
      'station,time,latitude,longitude,depth,temperature\n,UTC,degrees_north,degrees_east,m,celsius\n' +
      'M01,2020-10-05T15:00:00Z,43.49,-67.88,1.0,14.25\nM01,2020-10-05T15:00:00Z,43.49,-67.88,50.0,8.5\n',
  })
  const { sources, buoys, rows, bad, skipped } = await record(
    (path) =>
      openErddap(path, {
        source: 'NERACOOS',
        tables: [{ values: { waterTemperature: { at: 'temperature' } } }],
      }),
    folder,
  )
  assert.deepEqual(sources, [
    {
      name: 'NERACOOS',
      network: 'national',
      credit: 'Univ. of Maine',
      licence: 'Free to use, without warranty',
    },
  ])
  assert.deepEqual(bad, [
    'M01_accelerometer.json:4 no valid time',
    'M01_accelerometer.json:6 wrong number of fields',
    'M01_accelerometer.json:7 significantHeight is not a number',
  ])
  assert.deepEqual(buoys, [
    { name: 'M01', source: 'NERACOOS', identifier: 'M01', lat: 43.496932, lng: -67.875743 },
  ])
  assert.deepEqual(rowTable(rows), [
    'M01/0 2020-10-05T15:00:00Z 1.25 - 8 8 - 14.25 - - -',
    'M01/0 2020-10-05T17:00:00Z 1.5 - - - - - - - -',
  ])
  assert.equal(skipped.get('significantHeight flagged bad'), 1)
  assert.equal(skipped.get('a temperature deeper than 5 m'), 1)
  assert.equal(skipped.get('wave values without a significant height'), 2)
})

test('Standard names go before names of columns, directions towards which waves go are turned', async (t) => {
  const header = 'time,latitude,longitude,platform_code,hs,x,y,VTM02,wind,u_wind\n'
  const folder = await folderOf(t, {
    'info.csv':
      'Row Type,Variable Name,Attribute Name,Data Type,Value\n' +
      'attribute,x,standard_name,String,sea_surface_wave_significant_height\n' +
      'attribute,x,units,String,cm\n' +
      'attribute,y,standard_name,String,sea_surface_wave_to_direction\n' +
      'attribute,wind,standard_name,String,wind_speed\n',
    'waves.csv':
      header +
      'UTC,degrees_north,degrees_east,,m,,degree,s,m.s-1,m s-1\n' +
      '2024-01-01T00:00:00.000Z,50,-5,62107,9,231,200,7.5,10,3\n' +
      '2024-01-01T00:30,50,-5,62107,9,240,180,7.5,10,3\n',
  })
  const { rows, bad, doubts } = await record(openErddap, folder)
  assert.deepEqual(bad, [])
  assert.deepEqual(
    doubts.map((text) => text.replace(/ × .*/, '')),
    ['a second column for one measure is not read', 'period is the mean period, as there is no other'],
  )
  assert.deepEqual(rowLines(rows.get('62107/0')), [
    '2024-01-01T00:00:00Z 2.31 - 7.5 - 20 - 36 - -',
    '2024-01-01T00:30:00Z 2.4 - 7.5 - 0 - 36 - -',
  ])
})

test('A column in an unknown unit or with flags that nothing explains is left out with a remark', async (t) => {
  const head = 'time,latitude,longitude,station,hs,wtmp,gust,tp,tp_qc\n'
  const units = 'UTC,degrees_north,degrees_east,,m,furlong,,s,1\n'
  const folder = await folderOf(t, { 'a.csv': `${head}${units}2024-01-01T00:00:00Z,50,-5,A,1,15,9,8,0\n` })
  const { rows, doubts } = await record(openErddap, folder)
  assert.deepEqual(rowLines(rows.get('A/0')), ['2024-01-01T00:00:00Z 1 - - - - - - - -'])
  assert.deepEqual(
    doubts.map((text) => text.replace(/^.*a\.csv: /, '')),
    ['tp flags in tp_qc', 'wtmp furlong', 'gust'],
  )
  const told = await record(
    (path) => openErddap(path, { tables: [{ flags: { tp_qc: [0] }, values: { gustSpeed: null } }] }),
    folder,
  )
  assert.deepEqual(rowLines(told.rows.get('A/0')), ['2024-01-01T00:00:00Z 1 - 8 8 - - - - -'])
  assert.equal(told.doubts.length, 1)
})

test('Flags of Copernicus, QARTOD and words are understood without a description', async (t) => {
  const folder = await folderOf(t, {
    'emodnet.csv':
      'PLATFORMCODE,time,latitude,longitude,VAVH,VAVH_QC,VTPK,VTPK_QC,TEMP\n' +
      ',UTC,degrees_north,degrees_east,m,,s,,degrees_C\n' +
      '6200001,2024-01-01T00:00:00Z,45.2,-5,1.5,1,9,4,13.2\n' +
      '6200001,2024-01-01T01:00:00Z,45.2,-5,1.6,0,9,7.0,13.2\n',
    'ioos.csv':
      'station,time,latitude,longitude,significant_wave_height_3,significant_wave_height_3_qc_agg,significant_wave_height_3_qc_tests\n' +
      ',UTC,degrees_north,degrees_east,m,,\n' +
      'A01,2024-01-01T00:00:00Z,42,-70,1.5,1,11111\n' +
      'A01,2024-01-01T01:00:00Z,42,-70,1.6,3,13111\n',
  })
  const { rows } = await record(openErddap, folder)
  assert.deepEqual(rowTable(rows), [
    '6200001/0 2024-01-01T00:00:00Z 1.5 - - - - 13.2 - - -',
    '6200001/0 2024-01-01T01:00:00Z - - - - - 13.2 - - -',
    'A01/0 2024-01-01T00:00:00Z 1.5 - - - - - - - -',
  ])
})

test('Counts of time since any day and of any step are read, and no other units of time', async (t) => {
  const table = (unit: string, time: string | number): string =>
    `time,latitude,longitude,station,hs\n${unit},,,,m\n${time},1,2,A,1\n`
  const folder = await folderOf(t, {
    'days/a.csv': table('days since 1950-01-01T00:00:00Z', 27028.5),
    'hours/a.csv': table('hours since 1970-01-01 00:00:0.0', '4.73364E5'),
    'millis/a.csv': table('milliseconds since 1970-01-01', 1_704_110_400_000),
    'offset/a.csv': table('seconds since 1970-01-01T00:00:00+02:00', 1),
    'local/a.csv': table('furlongs since 1970-01-01', 1),
    'early/a.csv': table('seconds since 1970-01-01', -1),
    'zone/a.csv': table('UTC', '2024-01-01T22:00:00+10:00'),
  })
  for (const name of ['days', 'hours', 'millis', 'zone']) {
    const { rows } = await record(openErddap, join(folder, name))
    assert.deepEqual(rowLines(rows.get('A/0')), ['2024-01-01T12:00:00Z 1 - - - - - - - -'], name)
  }
  for (const name of ['offset', 'local']) {
    const { bad } = await record(openErddap, join(folder, name))
    assert.deepEqual(bad, ['a.csv:2 the column time is in an unknown unit'], name)
  }
  assert.deepEqual((await record(openErddap, join(folder, 'early'))).bad, ['a.csv:3 no valid time'])
})

test('A table without stations belongs to the station of its name, whose position a list gives', async (t) => {
  const table = 'time,hs\nUTC,m\n2024-01-01T00:00:00Z,1\n'
  const folder = await folderOf(t, {
    'stations.csv': 'identifier,name,lat,lng\nM01,Jordan Basin,43.49,-67.88\nM0,Other,1,1\n',
    'M01_all.csv': table,
    'X9.csv': table,
  })
  const { buoys, rows, doubts } = await record(openErddap, folder)
  assert.deepEqual(buoys, [
    { source: 'ERDDAP', identifier: 'M01', name: 'Jordan Basin', lat: 43.49, lng: -67.88 },
  ])
  assert.deepEqual([...rows.keys()], ['M01/0'])
  assert.deepEqual(doubts, ['no position × 1: X9'])
})

test('Answers without rows count as empty, errors and other files are reported', async (t) => {
  const folder = await folderOf(t, {
    'a.csv':
      'Error {\n    code=404;\n    message="Not Found: Your query produced no matching results. (nRows = 0)";\n}\n',
    'b.json':
      '<!DOCTYPE html><html><body><h1>HTTP Status 500 - Query error: Unrecognized variable</h1></body></html>',
    'c.csv': 'time,hs\n',
    'd.csv': 'time,hs\n2024-01-01T00:00:00Z,1\n',
    'e.json': '{"table":{"columnNames":["time"]}}',
    'f.json': '{"table":',
    'g.csv': 'station,hs\n,m\nA,1\n',
    'h.csv': 'time,salinity\nUTC,1e-3\n2024-01-01T00:00:00Z,1\n',
    'k.json': `{"a":${'['.repeat(100)}`,
    'info.csv': 'a,b\n,\n',
  })
  const { bad, skipped, doubts } = await record(openErddap, folder)
  assert.deepEqual([...skipped], [['an answer without rows', 1]])
  assert.deepEqual(bad, [
    'info.csv:1 it is not the description of a dataset',
    'b.json:1 an error message of the server instead of a table',
    'e.json:1 no table with columnNames and rows',
    'f.json:1 not JSON, or cut off',
    'g.csv:2 no column is the time: one of station, hs must be called time, or named in "time"',
    'k.json:1 more than 64 levels of lists and objects',
  ])
  assert.equal(doubts.length, 2)
  assert.match(doubts[0], /^grave: a column without a unit is left out .*d\.csv: hs$/)
  assert.match(doubts[1], /grave: a table has no column that is read .*h\.csv/)
})

const KEYS = 'time,latitude,longitude'
const KEY_UNITS = 'UTC,degrees_north,degrees_east'
const described = (...attributes: string[]): string =>
  `Row Type,Variable Name,Attribute Name,Data Type,Value\n${attributes.map((line) => `attribute,${line}\n`).join('')}`

test('Two stations whose column of identifiers has an unknown name are not one', async (t) => {
  const table = (station: string): string =>
    `${KEYS},${station},hs\n${KEY_UNITS},,m\n` +
    [10, 11, 12]
      .map((hour) => `2024-01-01T${hour}:00Z,-30,153,EAST,1\n2024-01-01T${hour}:00Z,-32,115,WEST,3\n`)
      .join('')
  for (const known of ['site_code', 'STN_ID', 'site', 'station_id']) {
    const { rows } = await record(openErddap, await folderOf(t, { 'waves.csv': table(known) }))
    assert.deepEqual([...rows.keys()], ['EAST/0', 'WEST/0'])
  }
  const folder = await folderOf(t, { 'waves.csv': table('whereabouts') })
  const { rows, doubts } = await record(openErddap, folder)
  assert.equal(rows.size, 0)
  assert.match(
    doubts.join(),
    /,grave: one identifier stands for several stations.*: waves: 3 fixes at -30 153, 3 fixes at -32 115$/,
  )
  const option = await record((path) => openErddap(path, { tables: [{ station: 'whereabouts' }] }), folder)
  assert.deepEqual([...option.rows.keys()], ['EAST/0', 'WEST/0'])
})

test('A well-known name counts more than a standard name that contradicts it, an option more than both', async (t) => {
  const folder = await folderOf(t, {
    'met_info.csv': described(
      'dpd,standard_name,String,sea_surface_swell_wave_period',
      'apd,standard_name,String,sea_surface_swell_wave_period',
      'mwd,standard_name,String,sea_surface_wave_to_direction',
    ),
    'met.csv': `${KEYS},station,wvht,dpd,apd,mwd\n${KEY_UNITS},,m,s,s,degree\n2024-01-01T00:00Z,41,-71,B,0.8,4,3.3,108\n`,
  })
  const { rows, doubts } = await record(openErddap, folder)
  assert.deepEqual(rows.get('B/0'), [
    { time: '2024-01-01T00:00:00Z', significantHeight: 0.8, period: 4, peakPeriod: 4, direction: 108 },
  ])
  assert.match(doubts.join(), /^a standard name contradicts .* × 3: .*dpd with .*, .*apd with .*, .*mwd/)
  const values = { peakPeriod: null, period: { at: 'apd' }, direction: null }
  const told = await record((path) => openErddap(path, { tables: [{ values }] }), folder)
  assert.deepEqual(told.rows.get('B/0'), [
    { time: '2024-01-01T00:00:00Z', significantHeight: 0.8, period: 3.3 },
  ])
  assert.deepEqual(told.doubts, [])
})

test("Flags mean what words say, and a mooring's depth takes no surface temperature away", async (t) => {
  const head = `${KEYS},STN_ID,Q_FLAG,depth,VCAR,SSTP\n${KEY_UNITS},,,m,m,°C\n`
  const lines = ['1,80,3.6,4.9', '4,80,9.0,4.9', '0,80,3.7,5'].map(
    (rest, hour) => `2024-01-01T0${hour}:00Z,45,-51,C1,${rest}\n`,
  )
  const folder = await folderOf(t, {
    'meds.csv': head + lines.join(''),
    'meds_info.csv': described(
      'Q_FLAG,comment,String,"0: Blank - no control 1: Good - correct 4: Erroneous - wrong"',
      'SSTP,standard_name,String,sea_surface_temperature',
      'longitude,scale_factor,String,-1',
    ),
  })
  const { rows, skipped, doubts } = await record(openErddap, folder)
  assert.deepEqual(
    rows.get('C1/0')?.map(({ significantHeight, waterTemperature }) => [significantHeight, waterTemperature]),
    [
      [3.6, 4.9],
      [3.7, 5],
    ],
  )
  assert.equal(skipped.get('significantHeight flagged bad'), 1)
  assert.match(
    doubts.join(),
    /^grave: values are taken as they are, though .* scale factor × 1: .*longitude$/,
  )
  const wrong = described('Q_FLAG,flag_values,String,"0, 1"', 'Q_FLAG,flag_meanings,String,"good"')
  const unsure = await folderOf(t, { 'meds.csv': head + lines.join(''), 'meds_info.csv': wrong })
  assert.match((await record(openErddap, unsure)).doubts.join(), /as what its flags mean is not known/)
})

test('A direction whose long name says where waves go is turned, and a unit that its description denies is doubted', async (t) => {
  const folder = await folderOf(t, {
    'w_info.csv': described(
      'wave_direction,long_name,String,Direction waves travel towards',
      'hs,units,String,ft',
    ),
    'w.csv': `${KEYS},station,hs,wave_direction\n${KEY_UNITS},,m,degree\n2024-01-01T00:00Z,41,-71,B,0.8,108\n`,
  })
  const { rows, doubts } = await record(openErddap, folder)
  assert.deepEqual(rows.get('B/0'), [
    { time: '2024-01-01T00:00:00Z', significantHeight: 0.8, direction: 288 },
  ])
  assert.deepEqual(doubts, [
    'grave: the unit of a column is not the one of its description × 1: w.csv: hs in m',
  ])
})
