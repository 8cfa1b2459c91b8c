/**
 * Air temperature, dew point, pressure, humidity and visibility on their way from files of all kinds into
 * rows.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCmems } from '../../src/sources/cmems.ts'
import { openJsonSource } from '../../src/sources/tables/json.ts'
import { openMeteofrance } from '../../src/sources/meteofrance.ts'
import { openNdbc } from '../../src/sources/ndbc/ndbc.ts'
import { openTable } from '../../src/sources/tables/table.ts'
import { countSuspect, removeImpossible } from '../../src/builder/quality.ts'
import { batchOf } from '../builder/fake_source.ts'
import { IRISH_MAP } from './json_maps.ts'
import { timesOf, variable, writePlatform } from './netcdf_file.ts'
import { folderOf, record, rowTable } from './recorder.ts'

const STATIONS = '<stations><station id="41001" lat="34.7" lon="-72.2" name="S" type="buoy"/></stations>'
const LABELS = '#YY  MM DD hh mm WDIR WSPD GST  WVHT   DPD   APD MWD   PRES  ATMP  WTMP  DEWP  VIS'
const LIVE = `${LABELS} PTDY  TIDE
#yr  mo dy hr mn degT m/s  m/s     m   sec   sec degT   hPa  degC  degC  degC  nmi  hPa    ft
`
const ARCHIVE = (units = 'hPa  degC  degC  degC   mi'): string => `${LABELS}  TIDE
#yr  mo dy hr mn degT m/s  m/s     m   sec   sec degT   ${units}    ft
`
/** A line with a wave of 2 m at a minute; `air` is PRES, ATMP, WTMP, DEWP and VIS. */
const line = (minute: number, air: string, wave = '2.0 8 6.1 95', rest = 'MM MM'): string =>
  `2023 09 28 10 ${minute} MM MM MM ${wave} ${air} ${rest}\n`

async function ofNdbc(t: Parameters<typeof folderOf>[0], path: string, text: string) {
  const read = await record(openNdbc, await folderOf(t, { 'activestations.xml': STATIONS, [path]: text }))
  assert.deepEqual(read.bad, [])
  return { ...read, lines: rowTable(read.rows).map((row) => row.slice(row.indexOf(' ') + 12)) }
}

test('A live file marks missing weather by MM alone: 999.0 is a pressure, and nines elsewhere are wrong values.', async (t) => {
  const { lines, skipped, doubts } = await ofNdbc(
    t,
    'realtime2/41001.txt',
    `${LIVE}${line(10, '999.0 20.1 24.4 18.0 1.6')}${line(20, '1013.2 999.0 MM 999.0 99.0', 'MM MM MM MM')}` +
      line(30, '9999.0 -60.0 MM 45.1 54.0', 'MM MM MM MM'),
  )
  assert.deepEqual(lines, [
    '10:10:00Z 2 - 8 8 95 24.4 - - - | 20.1 18 999 - 2.96',
    '10:20:00Z - - - - - - - - - | - - 1013.2 - -',
    '10:30:00Z - - - - - - - - - | -60 - - - -',
  ])
  assert.deepEqual(Object.fromEntries(skipped), {
    'ATMP outside -60 to 60 °C': 1,
    'DEWP outside -60 to 45 °C': 2,
    'PRES outside 850 to 1090 hPa': 1,
    'VIS outside 0 to 100 km': 2,
  })
  assert.deepEqual(doubts, [])
})

test('An annual file marks each column by its own nines, and loses its visibility in miles and nothing else.', async (t) => {
  const path = 'stdmet/41001h2023.txt'
  const { lines, skipped, doubts } = await ofNdbc(
    t,
    path,
    ARCHIVE() +
      line(10, '1013.2 20.1 24.4 18.0 1.6', '2.0 8 6.1 95', '99.00') +
      line(40, '9999.0 999.0 999.0 999.0 99.0', '2.1 8 6.2 95', '99.00'),
  )
  assert.deepEqual(lines, [
    '10:10:00Z 2 - 8 8 95 24.4 - - - | 20.1 18 1013.2 - -',
    '10:40:00Z 2.1 - 8 8 95 - - - -',
  ])
  assert.deepEqual([...skipped], [])
  assert.deepEqual(doubts, [
    'a column of weather whose unit is not the usual one is left out × 1: stdmet/41001h2023.txt: VIS in mi',
  ])
  // A unit of weather that is another one costs its column, never the waves.
  const other = await ofNdbc(
    t,
    path,
    ARCHIVE('inHg degF  degC  degC  nmi') + line(10, '29.92 68.1 24.4 18.0 1.6', '2.0 8 6.1 95', 'MM'),
  )
  assert.deepEqual(other.lines, ['10:10:00Z 2 - 8 8 95 24.4 - - - | - 18 - - 2.96'])
  assert.deepEqual(other.doubts, [
    'a column of weather whose unit is not the usual one is left out × 2: stdmet/41001h2023.txt: ATMP in degF, stdmet/41001h2023.txt: PRES in inHg',
  ])
})

test('A wave sample that is sent twice takes its period from the second row, and each row keeps its own weather.', async (t) => {
  const { lines } = await ofNdbc(
    t,
    'realtime2/41001.txt',
    LIVE + line(20, '1013.4 20.3 24.4 18.0 MM') + line(10, 'MM 20.1 MM MM MM', '2.0 MM 6.1 95'),
  )
  assert.deepEqual(lines, [
    '10:10:00Z 2 - 8 8 95 24.4 - - - | 20.1 - - - -',
    '10:20:00Z - - - - - 24.4 - - - | 20.3 18 1013.4 - -',
  ])
})

const MARINE = 'numer_sta;date;lat;lon;t;td;u;pmer;HwaHwa;vv;pres'

test('Météo-France gives kelvin, pascals at sea level and metres; the pressure of a station is not read.', async (t) => {
  const folder = await folderOf(t, {
    'marine.20241209.csv':
      `${MARINE};\n6100002;20241209040000;42.1;4.7;288.35;281.15;62;101530;2.3;20000;101290;\n` +
      '6100002;20241209050000;42.1;4.7;15.2;8;0.62;1015.3;2.3;120000;101290;\n',
  })
  const { rows, skipped } = await record(openMeteofrance, folder)
  assert.deepEqual(rowTable(rows), [
    '61002/0 2024-12-09T04:00:00Z 2.3 - - - - - - - - | 15.2 8 1015.3 62 20',
    '61002/0 2024-12-09T05:00:00Z 2.3 - - - - - - - - | - - - 0.62 -',
  ])
  assert.deepEqual(Object.fromEntries(skipped), {
    'airTemperature outside -60 to 60 °C': 1,
    'dewPoint outside -60 to 45 °C': 1,
    'pressure outside 850 to 1090 hPa': 1,
    'visibility outside 0 to 100 km': 1,
  })
})

test('Copernicus: ATMS is at sea level, and ATMP only where its file says so; that of a platform 100 m high is left out.', async (t) => {
  const times = timesOf(['2023-08-20T00:00Z', '2023-08-20T01:00Z'])
  const waves = variable('VAVH', [2, 2.1], { units: 'm' })
  const air = [
    variable('DRYT', [11.5, -2], { units: 'degrees_C', standard_name: 'air_temperature' }),
    variable('DEWT', [281.15, NaN], { units: 'K', standard_name: 'dew_point_temperature' }),
    variable('RELH', [104, 0.8], { units: '%', standard_name: 'relative_humidity' }),
  ]
  const pressure = (name: string, standard: string, long = ''): ReturnType<typeof variable> =>
    variable(name, [1001.2, 1001.4], { units: 'hPa', standard_name: standard, long_name: long })
  const folder = await folderOf(t, {})
  const write = (code: string, ...rest: ReturnType<typeof variable>[]): void =>
    writePlatform(join(folder, `${code}.nc`), [waves, ...rest], {
      times,
      attributes: { platform_code: code },
    })
  write('P1', ...air, pressure('ATMS', 'air_pressure_at_mean_sea_level'))
  write('P2', pressure('ATMP', 'air_pressure', 'Atmospheric pressure at altitude'))
  write('P3', pressure('ATMP', 'air_pressure_at_sea_level'))
  write('P4', pressure('ATMP', 'air_pressure', 'Atmospheric pressure at sea level'))
  const { rows, doubts } = await record(openCmems, folder)
  assert.deepEqual(rowTable(rows), [
    'P1/0 2023-08-20T00:00:00Z 2 - - - - - - - - | 11.5 8 1001.2 104 -',
    'P1/0 2023-08-20T01:00:00Z 2.1 - - - - - - - - | -2 - 1001.4 0.8 -',
    'P2/0 2023-08-20T00:00:00Z 2 - - - - - - - -',
    'P2/0 2023-08-20T01:00:00Z 2.1 - - - - - - - -',
    'P3/0 2023-08-20T00:00:00Z 2 - - - - - - - - | - - 1001.2 - -',
    'P3/0 2023-08-20T01:00:00Z 2.1 - - - - - - - - | - - 1001.4 - -',
    'P4/0 2023-08-20T00:00:00Z 2 - - - - - - - - | - - 1001.2 - -',
    'P4/0 2023-08-20T01:00:00Z 2.1 - - - - - - - - | - - 1001.4 - -',
  ])
  assert.ok(
    doubts.includes(
      'air pressure that its file does not put at sea level is left out × 2: P2.nc: ATMP with air_pressure Atmospheric pressure at altitude',
    ),
    doubts.join('\n'),
  )
})

const TABLE = {
  stations: [{ identifier: 'B1', name: 'B', lat: 1, lng: 2 }],
  tables: [{ station: { is: 'B1' } }],
}

async function ofTable(t: Parameters<typeof folderOf>[0], text: string) {
  const folder = await folderOf(t, { 'a.csv': text })
  return record((argument) => openTable(argument, TABLE), folder)
}

test('Tables may have kilopascals, inches of mercury, Fahrenheit, percent, fractions and miles, by usual names.', async (t) => {
  const [inches, fractions] = [
    'Air Temp (degF),Dew Point (K),Barometric Pressure (inHg),Relative Humidity (%),Visibility (nmi)\n2024-03-01T00:00:00Z,1.25,59,281.15,29.92,88.5,1.6\n',
    'air_temperature (°C),dewpoint (C),MSLP (kPa),RH,visibility (m)\n2024-03-01T00:00:00Z,1.25,15,8,101.32,,2960\n',
  ]
  const imperial = await ofTable(t, `time,Hs (m),${inches}`)
  assert.deepEqual(rowTable(imperial.rows), [
    'B1/0 2024-03-01T00:00:00Z 1.25 - - - - - - - - | 15 8 1013.2 88.5 2.96',
  ])
  const metric = await ofTable(t, `time,Hs (m),${fractions}`)
  assert.deepEqual(rowTable(metric.rows), [
    'B1/0 2024-03-01T00:00:00Z 1.25 - - - - - - - - | 15 8 1013.2 - 2.96',
  ])
  const shares = await ofTable(t, 'time,Hs (m),relative_humidity (1)\n2024-03-01T00:00:00Z,1.25,0.885\n')
  assert.deepEqual(rowTable(shares.rows), ['B1/0 2024-03-01T00:00:00Z 1.25 - - - - - - - - | - - - 88.5 -'])
  // A visibility without a unit may be in three.
  const bare = await ofTable(t, 'time,Hs (m),visibility\n2024-03-01T00:00:00Z,1.25,9\n')
  assert.deepEqual(rowTable(bare.rows), ['B1/0 2024-03-01T00:00:00Z 1.25 - - - - - - - -'])
  assert.match(bare.doubts.join(), /a column without a unit is left out × 1: a\.csv: visibility/)
})

test('The humidity of a Spotter is that of its hull and is never read, in whatever unit.', async (t) => {
  for (const label of ['Humidity (%rel)', 'Humidity (%)', 'humidity']) {
    const { rows, columns } = await ofTable(
      t,
      `Battery Voltage (V),${label},Epoch Time,Significant Wave Height (m)\n4.1,44.8,1709251200,1.25\n`,
    )
    assert.deepEqual(rowTable(rows), ['B1/0 2024-03-01T00:00:00Z 1.25 - - - - - - - -'], label)
    assert.match(columns.join(), /not used: .*Humidity|not used: .*humidity/i)
  }
})

test('Ireland: pressure and air temperature come from the rows of its JSON by a map.', async (t) => {
  const row = { time: '2025-11-01T00:00:00Z', station_id: 'M4', latitude: 55, longitude: -9.9991 }
  const folder = await folderOf(t, {
    'a.json': [{ ...row, wave_height: 4.336, atmospheric_pressure: 981.897, air_temperature: 10.801 }],
  })
  const map = {
    ...IRISH_MAP.tables[0],
    values: {
      significantHeight: { at: '/wave_height', unit: 'm' },
      airTemperature: { at: '/air_temperature', unit: 'degree_C' },
      pressure: { at: '/atmospheric_pressure', unit: 'mbar' },
    },
  }
  const { rows } = await record((argument) => openJsonSource(argument, { tables: [map] }), folder)
  assert.deepEqual(rowTable(rows), ['M4/0 2025-11-01T00:00:00Z 4.336 - - - - - - - - | 10.8 - 981.9 - -'])
})

test('A humidity that is a fraction is taken out, and a dew point half a degree above the air is suspect.', () => {
  const time = Date.UTC(2026, 2, 1) / 1000
  const humidity = [0, 88, 105, 106, 5000]
  const batch = batchOf(humidity.map((code, i) => ({ time: time + i, humidity: code })))
  const said: string[] = []
  removeImpossible(batch, false, (what) => said.push(what))
  assert.deepEqual([...batch.columns.humidity.subarray(0, 5)], [65_535, 65_535, 65_535, 106, 5000])
  assert.deepEqual(said, ['fraction', 'fraction', 'fraction'])
  const dew = [1050, 1051, 900, -32_768]
  const rows = batchOf(dew.map((code, i) => ({ time: time + i, airTemperature: 1000, dewPoint: code })))
  const suspects: unknown[] = []
  // A table of weather has no heights.
  const columns = { ...rows.columns, significantHeight: new Uint16Array(0) }
  const table = {
    month: 674,
    buoys: Uint32Array.of(7),
    start: Uint32Array.of(0, 4),
    time: rows.time,
    columns,
  }
  countSuspect(table, (...each) => suspects.push(each))
  assert.deepEqual(suspects, [[7, 'dew', 1]])
})
