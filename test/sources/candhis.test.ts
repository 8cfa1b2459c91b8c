import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openCandhis } from '../../src/sources/candhis.ts'
import { FIXTURES, folderOf, placesOf, record, rowTable } from './recorder.ts'
import { fieldOf, fieldsOf } from '../fields.ts'

const STATIONS = `ID,name,lat,lon,href,orga
06403,Saint-Jean-de-Luz,43.41,-1.68,https://example.org/?a=b,"A, B / C"
02B04,La Revellata,42.57,8.65,,
`

test('Archive and real-time files are read by the names of their columns, as feeds 0 and 1', async (t) => {
  const folder = await folderOf(t, {
    'candhis_stations.csv': STATIONS,
    'Candhis_06403_2022_arch.csv.gz': gzipSync(
      'DateHeure;H13D;H110D;HMAXD;TH13D;TAVGD;HM0;TP;T02;TE;THETAP;THETAM;SIGMAP;QUALITE;QUALITE\r\n' +
        '2022-01-01 00:00:00;0.68;0.86;1.18;10.8;8;0.7;12.19;8.2;10.69;315.63;318.77;32.25;1;1\r\n' +
        '2022-01-01 00:30:00;2;2.5;3.43;12.2;9.9;2.05;999.999;999.999;999.999;360;316;30.4;1;1\r\n',
    ),
    'Candhis_06403_2022_reel.csv': `Date;H1/3;Hmax;Th1/3;DirPic;EtalPic;TempMer
2022-01-01 01:00:00;0.4;0.6;5.2;284;28;12.4
2022-01-01 01:30:00;999.9999;999.9999;999.9999;999.9999;999.9999;12.5
`,
    'CANDHIS_02b04_2020_ARCH.CSV': '\ufeffDateHeure;HM0;TP\n2020-02-29 23:30:00;1.5;999.999\n',
    'notes.txt': 'x',
  })
  const { sources, buoys, rows, bad, skipped, doubts } = await record(openCandhis, folder)
  assert.deepEqual(bad, [])
  assert.deepEqual([...skipped], [])
  assert.match(doubts.join(), /^files or folders are not read \(not Candhis_.*\) × 1: notes\.txt$/)
  assert.deepEqual(fieldsOf(sources, 'name', 'network'), [['Candhis', 'coastal']])
  assert.deepEqual(buoys, [
    { source: 'Candhis', identifier: '02B04', name: 'La Revellata', lat: 42.57, lng: 8.65 },
    {
      source: 'Candhis',
      identifier: '06403',
      name: 'Saint-Jean-de-Luz',
      lat: 43.41,
      lng: -1.68,
    },
  ])
  assert.deepEqual(rowTable(rows), [
    '02B04/0 2020-02-29T23:30:00Z 1.5 - - - - - - - -',

    '06403/0 2022-01-01T00:00:00Z 0.68 1.18 10.8 12.19 315.63 - - - -',
    '06403/0 2022-01-01T00:30:00Z 2 3.43 12.2 - 0 - - - -',

    '06403/1 2022-01-01T01:00:00Z 0.4 0.6 5.2 - 284 12.4 - - -',
    '06403/1 2022-01-01T01:30:00Z - - - - - 12.5 - - -',
  ])
})

test('The spectral height stands in only where a file has no column of the mean of the highest third', async (t) => {
  const folder = await folderOf(t, {
    'candhis_stations.csv': STATIONS.replace('"A, B / C"', 'A').replaceAll(',', ';'),
    'Candhis_06403_2022_arch.csv':
      'DateHeure;HM0;H13D\n2022-01-01 00:00:00;1.6;1.5\n2022-01-01 00:30:00;1.6;999.999\n',
    'Candhis_06403_2022_reel.csv': 'Date;Hm0;TempMer\n2022-01-01 01:00:00;1.6;11\n',
  })
  const { rows, skipped } = await record(openCandhis, folder)
  assert.deepEqual(rowTable(rows), [
    '06403/0 2022-01-01T00:00:00Z 1.5 - - - - - - - -',
    '06403/1 2022-01-01T01:00:00Z 1.6 - - - - 11 - - -',
  ])
  assert.deepEqual([...skipped], [['a row without a value', 1]])
})

test('Faults of the broken fixture are reported with file and line, and what is good in it is read', async () => {
  const { bad, skipped, rows, doubts } = await record(openCandhis, join(FIXTURES, 'broken', 'candhis'))
  assert.deepEqual(bad, [
    'candhis_stations.csv:3 a station without a valid code, latitude or longitude',
    'candhis_stations.csv:4 a station without a valid code, latitude or longitude',
    'Candhis_99X01_2024_arch.csv:3 no valid time',
    'Candhis_99X01_2024_arch.csv:4 no valid time',
    'Candhis_99X01_2024_arch.csv:5 wrong number of fields',
    'Candhis_99X01_2024_arch.csv:6 period is not a number',
  ])
  assert.deepEqual(Object.fromEntries(skipped), {
    'a row without a value': 1,
    'maximumHeight outside 0 to 50 m': 1,
  })
  assert.deepEqual(doubts, ['no position × 1: 99X02'])
  assert.deepEqual(fieldsOf(rows.get('99X01/0'), 'time', 'maximumHeight'), [
    ['2024-03-01T00:00:00Z', 2.4],
    ['2024-03-01T02:30:00Z', undefined],
    ['2024-03-01T03:00:00Z', undefined],
  ])
})

test('A header without time or height and a list without positions have clear messages', async (t) => {
  const folder = await folderOf(t, {
    'header/candhis_stations.csv': STATIONS,
    'header/Candhis_06403_2022_arch.csv': 'Jour;H13D\n2022-01-01 00:00:00;1\n',
    'list/candhis_stations.csv': 'code,name\n06403,x\n',
    'list/Candhis_06403_2022_arch.csv': 'DateHeure;H13D\n2022-01-01 00:00:00;1\n',
  })
  assert.deepEqual((await record(openCandhis, join(folder, 'header'))).bad, [
    'Candhis_06403_2022_arch.csv:1 the header lacks "Date", the time; it has Jour, H13D',
  ])
  const { skipped } = await record(openCandhis, join(folder, 'list'))
  assert.deepEqual([...skipped], [['a table without positions and measurements', 1]])
})

/** An answer of the API: all its values are texts. */
const answer = (entete: string[] | null, results: unknown, others: { [key: string]: unknown } = {}) =>
  JSON.stringify({ apiVer: '1.00', success: true, message: '', nbLig: 1, entete, results, ...others })

const infos = (name: string, lat: string, lng: string) =>
  answer(
    ['Nom', 'Latitude', 'Longitude', 'Profondeur', 'Directionnel', 'Capteur'],
    [[name, lat, lng, '60.000', '1', 'Houlographe']],
  )

test('Answers of the API are read in the three forms of their sensors, by the names of their columns', async (t) => {
  const folder = await folderOf(t, {
    'getCampInfos_02911.json': infos('Les  Pierres Noires', '48.2903328', '-4.9683332'),
    'getCampInfos_03001.json': infos('Dunkerque', '51.1', '2.1'),
    'getCampInfos_02B04.json': infos('La Revellata', '42.57', '8.65'),
    'getCampListe.json': answer(
      ['Code campagne', 'Nom', 'Actif', 'Type données TR'],
      [['02911', 'x', '1', 'y']],
    ),
    'getCampZone.json': answer(['N° campagne'], ['02911']),
    'candhis_getCampTR_02911_directionnel_H13.json': answer(
      ['Date', 'H1/3 (m)', 'Hmax (m)', 'TH1/3 (s)', 'Dir. au pic (°)', 'Etal. au pic (°)', 'Temp. mer (°C)'],
      [
        ['2022-03-26 00:00', '1.1000', '1.9000', '11.6000', '360.0000', '19.0000', '10.4000'],
        ['2022-03-26 00:30', '999.9999', '999.9999', '999.9999', '999.9999', '999.9999', '10.5000'],
      ],
    ),
    'getCampTR_03001.json.gz': gzipSync(
      answer(
        ['Temp. mer (°C)', 'Dir. au pic (°)', 'T02 (s)', 'Hmax (m)', 'Hm0 (m)', 'Date'],
        [['999.9999', '46.0000', '3.2000', '999.9999', '0.8000', '2021-08-25 06:56']],
      ),
    ),
    'getCampTR_02b04.json': answer(
      ['Date', 'H1/3 (m)', 'Hmax (m)', 'TH1/3 (s)', 'T. au pic (s)', 'Temp. mer (°C)'],
      [['2022-03-12 15:30', 2.2, '3.5000', '11.0000', '16.7000', null]],
    ),
  })
  const { buoys, rows, bad, skipped, doubts, understood } = await record(openCandhis, folder)
  assert.deepEqual([bad, doubts], [[], []])
  assert.deepEqual([...skipped], [['a table without positions and measurements', 2]])
  assert.deepEqual(placesOf(buoys), [
    ['02911', 'Les Pierres Noires', 48.2903328, -4.9683332],
    ['02B04', 'La Revellata', 42.57, 8.65],
    ['03001', 'Dunkerque', 51.1, 2.1],
  ])
  assert.deepEqual(rowTable(rows), [
    '02911/1 2022-03-26T00:00:00Z 1.1 1.9 11.6 - 0 10.4 - - -',
    '02911/1 2022-03-26T00:30:00Z - - - - - 10.5 - - -',

    '02B04/1 2022-03-12T15:30:00Z 2.2 3.5 11 16.7 - - - - -',
    '03001/1 2021-08-25T06:56:00Z 0.8 - - - 46 - - - -',
  ])
  assert.equal(understood.get('candhis_getCampTR_02911_directionnel_H13.json'), 2)
})

test('An answer with a column of campaigns is of all of them, one of the archive is first, and the API counts before the CSV', async (t) => {
  const folder = await folderOf(t, {
    'candhis_stations.csv': STATIONS,
    'getCampInfos_06403.json': infos('Saint-Jean', '43.4', '-1.7'),
    'Candhis_06403_2022_reel.csv': 'Date;H1/3;TempMer\n2022-01-01 00:00:00;1;11\n2022-01-01 00:30:00;1;11\n',
    'a_listeTR.json': answer(
      ['Code campagne', 'Date', 'H1/3 (m)'],
      [
        ['06403', '2022-01-01 00:30', '2.0000'],
        ['02B04', '2022-01-01 00:30', '3.0000'],
        ['02B04', '2022-01-01 01:00'],
        ['what', '2022-01-01 01:00', '4.0000'],
      ],
    ),
    'getCampTD_06403.json': answer(
      ['DateHeure', 'H13D', 'QUALITE', 'TH13D', 'TP', 'QUALITE'],
      [['2022-01-01 00:00:00', '1.2300', '1', '10.8000', '12.1900', '1']],
    ),
  })
  const { buoys, rows, bad, doubts } = await record(openCandhis, folder)
  assert.match(doubts.join(), /× 1: 06403 at 2022-01-01T00:30:00Z$/)
  assert.deepEqual(bad, [
    'a_listeTR.json:3 wrong number of fields',
    'a_listeTR.json:4 no valid identifier of a station',
  ])
  assert.deepEqual(fieldsOf(buoys, 'identifier', 'name', 'lat'), [
    ['02B04', 'La Revellata', 42.57],
    ['06403', 'Saint-Jean', 43.4],
  ])
  const heights = (key: string) =>
    rows.get(key)?.map(({ time, significantHeight }) => `${time.slice(11, 16)} ${significantHeight}`)
  assert.deepEqual(heights('06403/0'), ['00:00 1.23'])
  assert.deepEqual(heights('06403/1'), ['00:00 1', '00:30 2'])
  assert.deepEqual(heights('02B04/1'), ['00:30 3'])
})

test('Answers without data, errors of the API, other units and cells that are not text are distinguished', async (t) => {
  const table = ['Date', 'H1/3 (m)']
  const files: { [name: string]: string } = {
    'candhis_stations.csv': STATIONS,
    'getCampTR_06403_a.json': answer(table, [
      ['2022-01-01 00:00', '1;2'],
      ['2022-01-01 00:30', { value: 1 }],
      'whatever',
      ['2022-01-01 01:00', '1.5000'],
    ]),
    'getCampTR_06403_b.json': answer(null, null, { success: false, message: 'Pas de données', nbLig: 0 }),
    'getCampTR_06403_c.json': answer(null, null, { success: false, message: 'Clé inconnue', nbLig: 0 }),
    'getCampTR_06403_d.json': answer(['Jour', 'H1/3 (m)'], [['2022-01-01 02:00', '150']]),
    'getCampTR_06403_e.json': '<html>',
    'getCampTR_06403_f.json': 'null',
    'getCampTR_06403_i.json': answer(table, [['2022-01-01 03:00', '1.0000']], { success: false }),
    'getCampTR_g.json': answer(table, [['2022-01-01 02:00', '150']]),
    'getCampInfos_h.json': infos('Nobody', '1', '2'),
    'getCampInfos_02911.json': infos('Nowhere', '91', '2'),
  }
  const { rows, bad, skipped } = await record(openCandhis, await folderOf(t, files))
  assert.deepEqual(bad, [
    'getCampInfos_02911.json:1 a station without a valid code, latitude or longitude',
    'getCampInfos_h.json:1 a station without a valid code, latitude or longitude',
    'getCampTR_06403_a.json:1 significantHeight is not a number',
    'getCampTR_06403_a.json:2 significantHeight is not a number',
    'getCampTR_06403_a.json:3 wrong number of fields',
    'getCampTR_06403_c.json:1 not an answer of the API with a table',
    'getCampTR_06403_e.json:1 not JSON, or cut off',
    'getCampTR_06403_f.json:1 not an answer of the API with a table',
    'getCampTR_06403_i.json:1 not an answer of the API with a table',
    'getCampTR_g.json:1 no valid identifier of a station',
  ])
  assert.deepEqual(Object.fromEntries(skipped), {
    'an answer without rows': 1,
    'a table without positions and measurements': 1,
  })
  assert.deepEqual(fieldOf(rows.get('06403/1'), 'significantHeight'), [1.5])
})

test('Files of spreadsheets: commas, another separator, ISO times with a zone, a code without its zero', async (t) => {
  const folder = await folderOf(t, {
    'candhis_stations.csv': STATIONS.replace('06403', '6403'),
    'Candhis_06403_2022_arch.csv': 'DateHeure;H13D\n2022-07-01T00:00:00+02:00;1,5\n2022-07-01 00:30:00;1.6\n',
    'getCampTR_06403.json': JSON.stringify({
      success: true,
      entete: ['Date', 'H1/3 (cm)', 'Hm0 (m)'],
      results: [['2024-01-01 00:00:00', '200', '2.1']],
    }),
    'Candhis_06403_2023_arch.csv': 'DateHeure,H13D\n2023-07-01T00:00:00Z,1.7\n',
  })
  const { rows, bad, doubts } = await record(openCandhis, folder)
  assert.deepEqual([bad, doubts], [[], []])
  assert.deepEqual(fieldOf(rows.get('06403/1'), 'significantHeight'), [2])
  assert.deepEqual(fieldsOf(rows.get('06403/0'), 'time', 'significantHeight'), [
    ['2022-06-30T22:00:00Z', 1.5],
    ['2022-07-01T00:30:00Z', 1.6],
    ['2023-07-01T00:00:00Z', 1.7],
  ])
})
