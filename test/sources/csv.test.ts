import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import type { RowBatch } from '../../src/sea/row-batch.ts'
import { openCsv } from '../../src/sources/csv.ts'
import { BuildError } from '../../src/system/build-error.ts'
import { FIXTURES, folderOf, identifiersOf, record, RecordingSink, rowLines, rowTable } from './recorder.ts'

const SOURCES = 'name,network\nNorthwatch,national\n'
const BUOYS = 'source,identifier,name,lat,lng\nNorthwatch,A1,First,1,2\nNorthwatch,A2,Second,3,4\n'

test('The small fixture is read back value by value', async () => {
  const { sources, buoys, rows, bad, skipped, doubts, understood, ended } = await record(
    openCsv,
    join(FIXTURES, 'small'),
  )
  assert.deepEqual(bad, [])
  assert.deepEqual([...skipped], [])
  assert.deepEqual(doubts, [])
  assert.deepEqual(ended, ['sources.csv', 'buoys.csv', 'coastal.csv', 'national.csv', 'satellite.csv'])
  assert.deepEqual(Object.fromEntries(understood), {
    'sources.csv': 3,
    'buoys.csv': 10,
    'coastal.csv': 7,
    'national.csv': 14,
    'satellite.csv': 2,
  })
  assert.deepEqual(sources, [
    {
      name: 'Northwatch',
      network: 'national',
      credit: 'Northwatch, the made-up weather service',
      licence: 'CC0-1.0',
    },
    { name: 'Littoral', network: 'coastal', credit: 'Réseau Littoral (inventé)', licence: 'CC0-1.0' },
    { name: 'Skytrack', network: 'satellite' },
  ])
  assert.deepEqual(
    buoys.map((buoy) => Object.values(buoy)),
    [
      ['Northwatch', '61902', 'Golfe du Lion', 42.102, 4.703, 'FR', 'Europe/Paris'],
      ['Northwatch', '41901', 'Hatteras East', 34.746, -72.415],
      ['Northwatch', '51999', 'Taveuni', -16.8, 180, 'FJ', 'Pacific/Fiji'],
      ['Northwatch', '45901', 'Superior Mid', 47.585, -86.585, 'US'],
      ['Northwatch', '64045', 'Le Four', 54, -11],
      ['Littoral', '02X04', 'Sète, large', 43.37, 3.78, 'FR', 'Europe/Paris'],
      ['Littoral', '08504', 'Île d’Yeu Nord', 46.83, -2.29, 'FR', 'Europe/Paris'],
      ['Littoral', '04403', 'Le Four', 47.24, -2.78, 'FR', 'Europe/Paris'],
      ['Littoral', '97403', 'Rivière des Galets', -20.94, 55.28, 'RE', 'Indian/Reunion'],
      ['Skytrack', 'V0001', 'Biscay 45N 5W', 45, -5, true],
    ],
  )
  assert.deepEqual(rowTable(new Map([...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)))), [
    '02X04/0 2024-03-01T00:00:00Z 0.82 1.31 4.9 5.4 140.25 - - - -',
    '02X04/0 2024-03-01T00:30:00Z 0.85 1.4 5 5.5 139.5 - - - -',
    '02X04/0 2024-03-01T01:00:00Z 0.875 1.42 5.1 5.5 - - - - -',
    '04403/0 2024-03-01T00:00:00Z 1.7 2.6 10.8 12.5 265 - - - -',
    '08504/0 2024-03-01T00:30:00Z 3.21 5.05 12.4 13.9 284.7 - - - -',
    '08504/0 2024-03-01T00:00:00Z 3.15 4.98 12.6 14.1 285.1 - - - -',
    '08504/0 2024-03-01T01:00:00Z 3.3 5.12 12.2 13.7 284.2 - - - -',
    '41901/0 2024-03-01T00:00:00Z 1.5 - 8.5 8.5 95 20.1 21.6 80 28.8',
    '41901/0 2024-03-01T00:30:00Z 1.6 - 8.6 8.6 96 20.1 22.32 82 29.52',
    '41901/0 2024-03-01T01:00:00Z 1.8 - 9 9 98 20 23.4 85 30.6',
    '45901/0 2024-03-01T00:00:00Z 0 - - - - -0.4 3.6 270 -',
    '45901/0 2024-03-01T00:10:00Z 0.1 - 2.1 2.1 - -0.4 5.4 265 -',
    '51999/0 2024-03-01T00:00:00Z 1.2 - 11.5 12.1 178.5 28.75 18 110 -',
    '51999/0 2024-03-01T00:30:00Z 1.1 - 11.4 12 179 28.8 17.28 112 -',
    '51999/0 2024-03-01T01:00:00Z 1 - 11.4 11.9 181 28.8 16.2 108 -',
    '61902/0 2024-03-01T00:00:00Z 2.5 4.1 8.5 9.2 310 13.4 45.36 320 61.2',
    '61902/0 2024-03-01T00:30:00Z 2.4 3.9 8.3 9.1 312 13.4 43.2 318 58.68',
    '61902/0 2024-03-01T01:00:00Z 2.3 3.7 8.2 9.1 0 13.3 40.32 0 54',
    '61902/0 2024-03-01T01:10:00Z - - - - - 13.3 39.6 316 52.2',
    '61902/0 2024-03-01T02:00:00Z 2.1 - 8 9 308 - 36 314 -',
    '64045/0 2024-02-20T06:00:00Z 6 - 12 - 280 - 72 290 -',
    'V0001/0 2024-02-29T22:14:07Z 4.12 - - - - - - - -',
    'V0001/0 2024-03-01T10:31:52Z 3.98 - - - - - - - -',
  ])
})

test('Every rule of the format that the broken fixture breaks is reported with file and line', async () => {
  const { bad, badTexts, skipped, sources, buoys, rows } = await record(
    openCsv,
    join(FIXTURES, 'broken', 'csv'),
  )
  const textAt = (place: string): string => badTexts[bad.findIndex((line) => line.startsWith(place))]
  assert.equal(textAt('buoys.csv:7 '), '90.5')
  assert.equal(textAt('lines.csv:3 '), 'Northwatch,99999')
  assert.equal(textAt('lines.csv:8 '), '1709251200000')
  assert.equal(textAt('lines.csv:9 '), 'high')
  assert.equal(textAt('lines.csv:12 '), 'Northwatch,10001,2024-03-01T00:30:00Z,1.5,8,90')
  assert.deepEqual(bad, [
    'sources.csv:3 name is empty or has quotes',
    'sources.csv:4 network is not one of national, coastal, satellite',
    'sources.csv:5 a source with this name is listed above',
    'sources.csv:6 wrong number of fields',
    'buoys.csv:3 a buoy with this source and identifier is listed above',
    'buoys.csv:4 this source is not in sources.csv',
    'buoys.csv:5 identifier is not 1 to 64 characters without quotes',
    'buoys.csv:6 name is empty',
    'buoys.csv:7 lat is not a number from -90 to 90',
    'buoys.csv:8 lng is not a number from -180 to 180',
    'buoys.csv:9 country is not two capital letters',
    'buoys.csv:10 timezone is not an IANA time zone',
    'buoys.csv:11 virtual is not one of true, false, 1, 0',
    'buoys.csv:12 text after a closing quote',
    'buoys.csv:13 wrong number of fields',
    'buoys.csv:14 a quote is not closed',
    'header.csv:1 column 4 of the header is not one of source, identifier, time, significant_height, maximum_height, ' +
      'period, peak_period, direction, water_temperature, wind_speed, wind_direction, gust_speed, ' +
      'swell_height, swell_period, swell_direction, wind_wave_height, wind_wave_period, wind_wave_direction, ' +
      'air_temperature, dew_point, pressure, humidity, visibility',
    'lines.csv:3 this source and identifier are not in buoys.csv',
    ...[4, 5, 6, 7, 8].map(
      (line) =>
        `lines.csv:${line} time must be ISO 8601 with a zone (2026-03-27T09:00:00Z) or 9 to 10 digits of epoch seconds`,
    ),
    'lines.csv:9 significant_height is not a decimal number',
    'lines.csv:10 significant_height is not a decimal number',
    'lines.csv:12 wrong number of fields',
    'lines.csv:13 wrong number of fields',
    'lines.csv:14 a quote is not closed',
  ])
  assert.deepEqual(Object.fromEntries(skipped), {
    'significant_height outside 0 to 25 m': 1,
    'wave values without a significant height': 2,
    'direction outside 0 to 359.99 degree': 1,
  })
  assert.equal(sources.length, 1)
  assert.equal(buoys.length, 1)
  assert.deepEqual(rowTable(rows), [
    '10001/0 2024-03-01T00:00:00Z 1.5 - 8 - 90 12 - - -',
    // 1.5005 m in the file.
    '10001/0 2024-03-01T00:30:00Z 1.501 - 8 - 90 12 - - -',
    '10001/0 2024-03-01T01:00:00Z - - - - - 12 - - -',
    '10001/0 2024-03-01T01:30:00Z 1.5 - 8 - - 12 - - -',
    '10001/0 2024-03-01T02:30:00Z 1.5 - 8 - 0 0 - - -',
  ])
})

test('Line ends, a byte order mark, gzip, the order of columns and columns left out make no difference', async (t) => {
  const plain = 'source,identifier,time,significant_height\nNorthwatch,A1,2024-03-01T00:00:00Z,1.25\n'
  const turned = '\ufefftime,significant_height,"identifier",source\r\n1709251200,1.250, A1 ,"Northwatch"'
  const expected = ['A1/0 2024-03-01T00:00:00Z 1.25 - - - - - - - -']
  for (const content of [plain, turned, gzipSync(turned)]) {
    const folder = await folderOf(t, {
      'sources.csv': SOURCES.replaceAll('\n', '\r\n'),
      'buoys.csv': `\ufeff${BUOYS}`,
      'readings/2024.csv': content,
    })
    const { rows, bad } = await record(openCsv, folder)
    assert.deepEqual(bad, [])
    assert.deepEqual(rowTable(rows), expected)
  }
})

test('Tables as spreadsheets write them, with semicolons, tabs or as UTF-16, are read like any other', async (t) => {
  const tables = {
    'sources.csv': 'name,network\nÎles,coastal\n',
    'buoys.csv': 'source,identifier,name,lat,lng\nÎles,1,Île,46.5,-2.25\n',
    'readings/a.csv': 'source,identifier,time,significant_height\nÎles,1,2024-03-01T00:00:00Z,1.5\n',
  }
  const forms: ((text: string) => string | Buffer)[] = [
    (text) => text.replaceAll(',', ';'),
    (text) => text.replaceAll(',', '\t'),
    (text) => Buffer.from(`\uFEFF${text.replaceAll(',', '\t')}`, 'utf16le'),
    (text) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
  ]
  for (const form of forms) {
    const folder = await folderOf(
      t,
      Object.fromEntries(Object.entries(tables).map(([name, text]) => [name, form(text)])),
    )
    const { buoys, rows, bad } = await record(openCsv, folder)
    assert.deepEqual(bad, [])
    assert.deepEqual(buoys, [{ source: 'Îles', identifier: '1', name: 'Île', lat: 46.5, lng: -2.25 }])
    assert.deepEqual(rowLines(rows.get('1/0')), ['2024-03-01T00:00:00Z 1.5 - - - - - - - -'])
  }
})

/** The two names of the buoy that got the row of a time, by that time. */
class NamesByTime extends RecordingSink {
  names: string[] = []

  rows(buoy: number, batch: RowBatch): void {
    const { source, identifier } = this.records[buoy]
    for (const time of batch.time.subarray(0, batch.length))
      this.names[time - 1_700_000_000] = `${source}|${identifier}`
  }
}

test('The two names of a row choose its buoy whatever row came before it', async (t) => {
  const names = ['A', 'AA', 'AB', 'B', 'é', 'x'.repeat(64)]
  const part = fc.constantFrom(...names)
  const pairs = names.flatMap((source) => names.map((identifier) => [source, identifier] as const))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(part, part), { minLength: 1, maxLength: 20 }), async (turns) => {
      const folder = await folderOf(t, {
        'sources.csv': `name,network\n${names.map((name) => `${name},coastal\n`).join('')}`,
        'buoys.csv': `source,identifier,name,lat,lng\n${pairs.map(([source, id]) => `${source},${id},Buoy,1,2\n`).join('')}`,
        'readings/a.csv': `source,identifier,time,significant_height\n${turns.map(([source, id], i) => `${source},${id},${1_700_000_000 + i},1\n`).join('')}`,
      })
      const sink = new NamesByTime()
      const file = { rows: () => {}, skipped: () => {}, bad: () => assert.fail(), end: () => true }
      const report = { maxBadShare: 0, doubt: () => {}, withoutPosition: () => {}, file: () => file }
      await openCsv(folder).read(sink, { asOf: null, now: 0, report })
      assert.deepEqual(
        sink.names,
        turns.map(([source, id]) => `${source}|${id}`),
      )
    }),
    { numRuns: 40 },
  )
})

test('A missing table or column ends the build with a message that names it', async (t) => {
  const folder = await folderOf(t, {
    'no-buoys/sources.csv': SOURCES,
    'no-column/sources.csv': SOURCES,
    'no-column/buoys.csv': 'source,identifier,name,lat\n',
    'twice/sources.csv': 'name,network,name\n',
    'unknown/sources.csv': 'colour,name,network\n',
    'forecast/sources.csv': SOURCES,
    'forecast/buoys.csv': BUOYS,
    'forecast/forecast/a.csv': 'lat,lng,time\n',
  })
  const reading = (name: string) => record(openCsv, join(folder, name))
  await assert.rejects(reading('no-buoys'), /buoys\.csv: cannot be read \(ENOENT\)/)
  await assert.rejects(reading('no-column'), /buoys\.csv: the header lacks the column lng/)
  await assert.rejects(reading('forecast'), /a\.csv: the header lacks the column run/)
  await assert.rejects(reading('twice'), /the header names a column twice/)
  await assert.rejects(
    reading('unknown'),
    /column 1 of the header is not one of name, network, credit, licence/,
  )
})

test('A folder without readings and files of other kinds are warned of', async (t) => {
  const folder = await folderOf(t, {
    'none/sources.csv': SOURCES,
    'none/buoys.csv': BUOYS,
    'other/sources.csv': SOURCES,
    'other/buoys.csv': BUOYS,
    'other/readings/notes.txt': 'x',
  })
  assert.match((await record(openCsv, join(folder, 'none'))).doubts.join(), /there are no readings × 1: none/)
  assert.match(
    (await record(openCsv, join(folder, 'other'))).doubts.join(),
    /files or folders are not read × 1: readings\/notes\.txt/,
  )
})

test('A credit that is too long is cut at a word, never within an address, and the build says so', async (t) => {
  const address = `https://terms.example/${'a'.repeat(40)}`
  const long = `${'word '.repeat(195)}${address} and more`
  const folder = await folderOf(t, {
    'sources.csv': `name,network,credit\nNorthwatch,national,${long}\n`,
    'buoys.csv': BUOYS,
    'readings/a.csv': 'source,identifier,time,significant_height\nNorthwatch,A1,2024-01-01T00:00:00Z,1.5\n',
  })
  const { sources, doubts } = await record(openCsv, folder)
  assert.equal(sources[0]?.credit, `${'word '.repeat(195).trim()}…`)
  assert.match(JSON.stringify(doubts), /longer than 1000 characters and is cut at a word/)
})

test('Spreadsheets and databases: decimal commas, cells without a value, their times, and no other digits', async (t) => {
  const given = async (separator: string, ...lines: string[][]) => {
    const table = (...rows: string[][]) => rows.map((row) => row.join(separator)).join('\n')
    const folder = await folderOf(t, {
      'sources.csv': SOURCES,
      'buoys.csv': 'sep=;\nsource;identifier;name;lat;lng\nNorthwatch;A1;First;54,5;10,2\n',
      'readings/a.csv': table(
        ['source', 'identifier', 'time', 'significant_height', 'period'],
        ...lines.map((line) => ['Northwatch', 'A1', ...line]),
      ),
    })
    const { rows, bad, buoys } = await record(openCsv, folder)
    assert.deepEqual([buoys[0].lat, buoys[0].lng], [54.5, 10.2])
    const heights = (rows.get('A1/0') ?? []).map(({ time, ...more }) => [
      time.slice(0, 16),
      ...Object.values(more),
    ])
    return { heights, bad: bad.length }
  }
  const none = ['NULL', '\\N', 'NaN', 'nan', 'N/A', ''].map((text, i) => [
    `2024-03-10T1${i}:00Z`,
    '1,5',
    text,
  ])
  assert.deepEqual(await given(';', ['2024-03-09T14:00Z', '1.25', '8,5'], ...none), {
    heights: [['2024-03-09T14:00', 1.25, 8.5], ...none.map(([time]) => [time.slice(0, 16), 1.5])],
    bad: 0,
  })
  for (const time of ['2024-03-10 14:00:00.123456+00', '2024-03-10 15:00:00.0000000 +01:00', '1710079200'])
    assert.deepEqual(await given(',', [time, '1', '']), { heights: [['2024-03-10T14:00', 1]], bad: 0 }, time)
  for (const time of ['45361', '20240310', '2024031014', '28501320', '202403101400', '2024-03-10 14:00:00'])
    assert.deepEqual(await given(',', [time, '1', '']), { heights: [], bad: 1 }, time)
})

test('An identifier of 64 characters is read, and one of 65 is not', async (t) => {
  const identifiers = ['x'.repeat(64), 'y'.repeat(65)]
  const folder = await folderOf(t, {
    'sources.csv': 'name,network\nNet,national\n',
    'buoys.csv': `source,identifier,name,lat,lng\n${identifiers.map((one) => `Net,${one},Buoy,1,2`).join('\n')}\n`,
  })
  const { buoys, bad } = await record(openCsv, folder)
  assert.deepEqual(identifiersOf(buoys), identifiers.slice(0, 1))
  assert.deepEqual(bad, ['buoys.csv:3 identifier is not 1 to 64 characters without quotes'])
})

const BASE = {
  'sources.csv': 'name,network\nNorthwatch,national\n',
  'buoys.csv': 'source,identifier,name,lat,lng\nNorthwatch,A1,First,1,2\n',
}
const RUN = Date.UTC(2026, 2, 27) / 1000
const HEADER =
  'lat,lng,run,time,wave_height,wave_period,wave_direction,swell_height,swell_period,swell_direction,wind_speed,wind_direction'

test('Forecast lines of a point are gathered over all files, in order of time, the later line counting.', async (t) => {
  const folder = await folderOf(t, {
    ...BASE,
    'forecast/a.csv': [
      HEADER,
      '43.5,-2,2026-03-27T00:00:00Z,2026-03-27T02:00:00Z,1.234,8.5,360,1.1,10.25,359.99,36.04,0',
      `43.5,-2,${RUN},${RUN + 3600},1.5,,,,,,,`,
      '-10,180,2026-03-27T02:00+02:00,2026-03-27T01:00:00Z,0,0,0,0,0,0,0,0',
      '',
    ].join('\n'),
    // Older runs do not count, whether they come later or first.
    'forecast/b.csv.gz': gzipSync(
      `time,wave_height,run,lng,lat\n${RUN + 3600},1.75,${RUN},-2,43.5\n${RUN + 3600},9,${RUN - 1},-2,43.5\n`,
    ),
    'forecast/c.csv': `lat,lng,run,time,wave_height\n7,8,${RUN},${RUN},3\n7,8,${RUN + 1},${RUN + 2},4\n`,
    'forecast/readme.txt': 'not a table',
  })
  const { forecasts, bad, skipped, doubts, understood } = await record(openCsv, folder)
  assert.deepEqual(bad, [])
  assert.deepEqual([...skipped], [['an older run of the same forecast point', 1]])
  assert.ok(doubts.includes('files or folders are not read × 1: forecast/readme.txt'))
  assert.deepEqual([understood.get('a.csv'), understood.get('b.csv.gz')], [3, 2])
  assert.deepEqual(forecasts.slice(0, 2), [
    {
      lat: 43.5,
      lng: -2,
      runAt: RUN,
      times: [RUN + 3600, RUN + 7200],
      values: {
        waveHeight: [1.75, 1.234],
        wavePeriod: [null, 8.5],
        waveDirection: [null, 0],
        swellHeight: [null, 1.1],
        swellPeriod: [null, 10.25],
        swellDirection: [null, 359.99],
        windSpeed: [null, 36.04],
        windDirection: [null, 0],
      },
    },
    {
      lat: -10,
      lng: 180,
      runAt: RUN,
      times: [RUN + 3600],
      values: {
        waveHeight: [0],
        wavePeriod: [0],
        waveDirection: [0],
        swellHeight: [0],
        swellPeriod: [0],
        swellDirection: [0],
        windSpeed: [0],
        windDirection: [0],
      },
    },
  ])
  const [{ runAt, times, values }] = forecasts.slice(2)
  assert.deepEqual([runAt, times, values.waveHeight], [RUN + 1, [RUN + 2], [4]])
})

test('Faulty forecast lines are reported with file and line and left out.', async (t) => {
  const good = `1,2,${RUN},${RUN},1`
  const folder = await folderOf(t, {
    ...BASE,
    'forecast/lines.csv': [
      'lat,lng,run,time,wave_height',
      good,
      `91,2,${RUN},${RUN},1`,
      `1,181,${RUN},${RUN},1`,
      `1,2,yesterday,${RUN},1`,
      `1,2,${RUN},2026-03-27,1`,
      `1,2,${RUN},${RUN},high`,
      `1,2,${RUN},${RUN},1.2345`,
      `1,2,${RUN}`,
      `1,2,${RUN},${RUN + 1},25.1`,
      '',
    ].join('\n'),
  })
  const { forecasts, bad, skipped } = await record(openCsv, folder)
  const time = 'must be ISO 8601 with a zone (2026-03-27T09:00:00Z) or 9 to 10 digits of epoch seconds'
  assert.deepEqual(bad, [
    'lines.csv:3 lat is not a number from -90 to 90',
    'lines.csv:4 lng is not a number from -180 to 180',
    `lines.csv:5 run ${time}`,
    `lines.csv:6 time ${time}`,
    'lines.csv:7 wave_height is not a decimal number',
    'lines.csv:9 wrong number of fields',
  ])
  assert.deepEqual([...skipped], [['wave_height outside 0 to 25 m', 1]])
  assert.deepEqual(forecasts.length, 1)
  assert.deepEqual(forecasts[0].times, [RUN, RUN + 1])
  assert.deepEqual(forecasts[0].values.waveHeight, [1.235, null])
})

test('Spots are read with their own ids, faulty ones reported.', async (t) => {
  const folder = await folderOf(t, {
    ...BASE,
    'spots.csv': [
      'name,id,lng,lat',
      '"Lafitenia, le  reef",7,-1.61,43.42',
      'Last,4294967295,180,-90',
      'Again,7,0,0',
      'None,0,0,0',
      'Large,4294967296,0,0',
      'Word,x,0,0',
      ' ,8,0,0',
      'North,9,0,91',
      'East,10,-181,0',
      '',
    ].join('\n'),
  })
  const { spots, bad } = await record(openCsv, folder)
  assert.deepEqual(spots, [
    { id: 7, name: 'Lafitenia, le reef', lat: 43.42, lng: -1.61 },
    { id: 4_294_967_295, name: 'Last', lat: -90, lng: 180 },
  ])
  assert.deepEqual(bad, [
    'spots.csv:4 a spot with this id is listed above',
    'spots.csv:5 id is not a whole number from 1 to 4294967295',
    'spots.csv:6 id is not a whole number from 1 to 4294967295',
    'spots.csv:7 id is not a whole number from 1 to 4294967295',
    'spots.csv:8 name is empty',
    'spots.csv:9 lat is not a number from -90 to 90',
    'spots.csv:10 lng is not a number from -180 to 180',
  ])
  const lacking = await folderOf(t, { ...BASE, 'spots.csv': 'id,name\n1,One\n' })
  await assert.rejects(record(openCsv, lacking), BuildError)
})
