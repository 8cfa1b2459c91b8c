/**
 * Real files of networks that publish tables and rows of JSON, against a plain reading of the same files:
 * whole documents, and integer arithmetic for units where the product multiplies floats.
 *
 * The files are not part of the repository; with made-up data the same is tested in test/sources.
 */
import assert from 'node:assert/strict'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { openErddap } from '../../src/sources/tables/erddap.ts'
import { openJsonSource as openJson } from '../../src/sources/tables/json.ts'
import { openMeteofrance } from '../../src/sources/meteofrance.ts'
import { IRISH_MAP, portusMap, SOFAR_MAP } from '../sources/json_maps.ts'
import { folderOf, record, type Row, rowLines } from '../sources/recorder.ts'
import { DATA, test } from './read-files.ts'

interface IrishRow {
  [field: string]: string | number | null
  time: string
  station_id: string
}

const irishBytes = (): Buffer =>
  gunzipSync(readFileSync(join(DATA, 'irish-imi', 'buoy_data_M2_M3_M4_M5.json.gz')))
const irishRows = (): IrishRow[] => JSON.parse(irishBytes().toString('utf8')) as IrishRow[]

/** What the files give with three decimals, as whole thousandths. */
const thousandths = (value: string | number | null): number => Math.round(Number(value) * 1000)
/** To the hundredth, half up. */
const hundredths = (thousandth: number): number => Math.floor((thousandth + 5) / 10) / 100
/** A knot is 1,852 m an hour, exactly. */
const kilometres = (value: string | number | null): number =>
  Math.floor((thousandths(value) * 1852 + 5000) / 10_000) / 100

/** The rows by station as they have to come out. */
function expectedIrish(): Map<string, Row[]> {
  const stations = new Map<string, Row[]>()
  for (const row of irishRows()) {
    const list = stations.get(row.station_id) ?? []
    stations.set(row.station_id, list)
    list.push({
      time: row.time,
      significantHeight: thousandths(row['wave_height']) / 1000,
      maximumHeight: thousandths(row['hmax']) / 1000,
      period: thousandths(row['wave_period']) / 1000,
      direction: Number(row['mean_wave_direction']),
      waterTemperature: hundredths(thousandths(row['sea_temperature'])),
      windSpeed: kilometres(row['wind_speed']),
      windDirection: Number(row['wind_direction']),
      gustSpeed: kilometres(row['gust']),
    })
  }
  return stations
}

function assertSameRows(rows: ReadonlyMap<string, Row[]>, expected: ReadonlyMap<string, Row[]>): void {
  assert.equal(rows.size, expected.size)
  for (const [station, list] of expected) {
    const found = rows.get(`${station}/0`) ?? []
    assert.equal(found.length, list.length, station)
    const order = Object.keys(list[0]) as (keyof Row)[]
    for (const [i, row] of list.entries()) {
      // Key by key: a comparison of 8,059 whole objects that fails takes minutes to print.
      for (const key of order) assert.equal(found[i][key], row[key], `${station} ${row.time} ${key}`)
      assert.equal(Object.keys(found[i]).length, order.length, `${station} ${row.time}`)
    }
  }
}

test('Irish rows of JSON come out value by value', async (t) => {
  const folder = await folderOf(t, {})
  cpSync(join(DATA, 'irish-imi', 'buoy_data_M2_M3_M4_M5.json.gz'), join(folder, 'rows.json.gz'))
  const { rows, bad, skipped, understood, buoys } = await record(
    (path) => openJson(path, { ...IRISH_MAP }),
    folder,
  )
  assert.deepEqual([bad, [...skipped]], [[], []])
  assert.equal(understood.get('rows.json.gz'), 8059)
  assertSameRows(rows, expectedIrish())
  const stations = JSON.parse(readFileSync(join(DATA, 'irish-imi', 'stations.json'), 'utf8')) as IrishRow[]
  for (const { identifier, lat, lng } of buoys) {
    const station = stations.find(({ station_id: name }) => name === identifier)
    assert.deepEqual([lat, lng], [station?.['latitude'], station?.['longitude']], identifier)
  }
  // Read off the file by eye.
  assert.deepEqual(rows.get('M4/0')?.[0], {
    time: '2025-11-01T00:00:00Z',
    significantHeight: 4.336,
    maximumHeight: 6.875,
    period: 7.852,
    direction: 256,
    waterTemperature: 12.59,
    windSpeed: 13.49,
    windDirection: 244,
    gustSpeed: 22.77,
  })
})

test('The same rows as the ERDDAP server writes them, as CSV, CSVP and JSON, come out alike', async (t) => {
  const labels = [
    'station_id',
    'longitude',
    'latitude',
    'time',
    'WindSpeed',
    'WindDirection',
    'Gust',
    'WaveHeight',
  ]
  labels.push('WavePeriod', 'MeanWaveDirection', 'Hmax', 'SeaTemperature', 'QC_Flag')
  const units = ['', 'degrees_east', 'degrees_north', 'UTC', 'knots', 'degrees true', 'knots', 'meters']
  units.push('seconds', 'degrees_true', 'meters', 'degrees_C', '')
  const fields = [
    'station_id',
    'longitude',
    'latitude',
    'time',
    'wind_speed',
    'wind_direction',
    'gust',
    'wave_height',
  ]
  fields.push('wave_period', 'mean_wave_direction', 'hmax', 'sea_temperature', 'qc_flag')
  const table = irishRows().map((row) => fields.map((field) => row[field]))
  const csv = table.map((cells) => cells.join(',')).join('\n')
  const withUnits = labels.map((label, i) => (units[i] === '' ? label : `${label} (${units[i]})`))
  const forms = {
    'IWBNetwork.csv': `${labels.join(',')}\n${units.join(',')}\n${csv}\n`,
    'IWBNetwork.csvp': `${withUnits.join(',')}\r\n${csv.replaceAll('\n', '\r\n')}\r\n`,
    'IWBNetwork.json': JSON.stringify({ table: { columnNames: labels, columnUnits: units, rows: table } }),
  }
  const expected = expectedIrish()
  for (const [name, content] of Object.entries(forms)) {
    const folder = await folderOf(t, {})
    writeFileSync(join(folder, name), content)
    const { rows, bad, skipped, understood } = await record(openErddap, folder)
    assert.deepEqual([bad, [...skipped]], [[], []], name)
    assert.equal(understood.get(name), 8059, name)
    assertSameRows(rows, expected)
  }
})

test('A real table of JSON with a real description comes out row by row', async (t) => {
  const folder = await folderOf(t, {})
  const name = 'neracoos_M01_met_all_tabledap.json'
  cpSync(join(DATA, 'erddap', name), join(folder, name))
  cpSync(
    join(DATA, 'erddap', 'neracoos_M01_accelerometer_all_info.csv'),
    join(folder, 'neracoos_M01_info.csv'),
  )
  // It holds temperatures of the air alone; what is compared here is the reading.
  const tables = [{ values: { waterTemperature: { at: 'air_temperature' } } }]
  const { rows, buoys, bad, skipped, sources } = await record((path) => openErddap(path, { tables }), folder)
  const { table } = JSON.parse(readFileSync(join(DATA, 'erddap', name), 'utf8')) as {
    table: { rows: [string, number | null][] }
  }
  const warm = table.rows.filter(([, value]) => value !== null && value >= -5)
  assert.deepEqual(bad, [])
  assert.equal(skipped.get('a row without a value') ?? 0, table.rows.length - warm.length)
  assert.deepEqual([table.rows.length, warm.length], [3339, 2973])
  const found = rows.get('M01/0') ?? []
  assert.equal(found.length, warm.length)
  for (const [i, [time, value]] of warm.entries()) {
    assert.equal(found[i].time, time)
    const [sign, size] = [Math.sign(value!), Math.abs(thousandths(value))]
    assert.equal(found[i].waterTemperature, sign * hundredths(size) + 0, time)
  }
  assert.deepEqual(buoys, [
    { name: 'M01', source: 'ERDDAP', identifier: 'M01', lat: 43.496932310216565, lng: -67.87574274399701 },
  ])
  assert.equal(sources[0].credit, 'Univ. of Maine')
})

test('Real error pages are told apart from answers without rows', async (t) => {
  const folder = await folderOf(t, {})
  for (const name of ['500.html', '500_no_rows.html', '500_unrecognized_constraint.html']) {
    cpSync(join(DATA, 'erddap', 'errors', name), join(folder, name.replace('html', 'json')))
  }
  const { bad, skipped } = await record(openErddap, folder)
  assert.deepEqual(bad, [
    '500.json:1 an error message of the server instead of a table',
    '500_unrecognized_constraint.json:1 an error message of the server instead of a table',
  ])
  assert.deepEqual([...skipped], [['an answer without rows', 1]])
})

test('A real drifter, a real answer of Puertos del Estado and a real line of Météo-France come out', async (t) => {
  const drifter = await record((path) => openJson(path, { ...SOFAR_MAP }), join(DATA, 'sofar'))
  const { data } = JSON.parse(readFileSync(join(DATA, 'sofar', 'spotter_20180214.json'), 'utf8')) as {
    data: { waves: { [name: string]: string | number }[] }
  }
  assert.deepEqual(
    drifter.rows.get('SPOT-0070/0'),
    data.waves.map((row) => ({
      time: String(row['timestamp']).replace('.000Z', 'Z'),
      significantHeight: row['significantWaveHeight'],
      period: row['peakPeriod'],
      peakPeriod: row['peakPeriod'],
      direction: row['peakDirection'],
    })),
  )
  assert.deepEqual([drifter.buoys[0].lat, drifter.buoys[0].lng], [-62.5195, 172.13535])

  const portus = portusMap(
    { significantHeight: 'Hm0 (m)', maximumHeight: 'Hmax (m)', peakPeriod: 'Tp (s)' },
    [{ identifier: '3545', name: '3545', lat: 43, lng: -9 }],
  )
  const spanish = await record((path) => openJson(path, { ...portus }), join(DATA, 'api-samples'))
  assert.deepEqual(rowLines(spanish.rows.get('3545/0')), [
    '2026-05-22T00:00:00Z 0.2 0.35 5.22 5.22 - - - - -',
  ])

  const folder = await folderOf(t, {})
  const excerpt = join(DATA, 'api-samples', 'meteofrance_marine_20241209_excerpt.csv')
  cpSync(excerpt, join(folder, 'marine.20241209.csv'))
  const french = await record(openMeteofrance, folder)
  const [header, cells] = readFileSync(excerpt, 'utf8')
    .split('\n')
    .map((line) => line.split(';'))
  const cell = (label: string): number => Math.round(Number(cells[header.indexOf(label)]) * 100)
  assert.deepEqual(french.rows.get('41300/0'), [
    {
      time: '2024-12-09T04:00:00Z',
      waterTemperature: (cell('tmer') - 27_315) / 100,
      windSpeed: Math.round((cell('ff') * 36) / 10) / 100,
      windDirection: cell('dd') / 100,
      gustSpeed: Math.round((cell('rafper') * 36) / 10) / 100,
    },
  ])
  assert.deepEqual([french.buoys[0].lat, french.buoys[0].lng], [15.84, -57.49])
})
