import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openCandhis } from '../../src/sources/candhis.ts'
import { BuildError } from '../../src/sources/source.ts'
import { FIXTURES, folderOf, record } from './recorder.ts'

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
  const { sources, buoys, rows, bad, skipped, warnings } = await record(openCandhis, folder)
  assert.deepEqual(bad, [])
  assert.deepEqual([...skipped], [])
  assert.deepEqual(warnings, ['candhis: 1 ignored: "notes.txt"'])
  assert.deepEqual(
    sources.map(({ name, network }) => [name, network]),
    [['Candhis', 'coastal']],
  )
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
  assert.deepEqual(
    [...rows],
    [
      ['02B04/0', [{ time: '2020-02-29T23:30:00Z', significantHeight: 1.5 }]],
      [
        '06403/0',
        [
          {
            time: '2022-01-01T00:00:00Z',
            significantHeight: 0.68,
            maximumHeight: 1.18,
            period: 10.8,
            peakPeriod: 12.19,
            direction: 315.63,
          },
          {
            time: '2022-01-01T00:30:00Z',
            significantHeight: 2,
            maximumHeight: 3.43,
            period: 12.2,
            direction: 0,
          },
        ],
      ],
      [
        '06403/1',
        [
          {
            time: '2022-01-01T01:00:00Z',
            significantHeight: 0.4,
            maximumHeight: 0.6,
            period: 5.2,
            direction: 284,
            waterTemperature: 12.4,
          },
          { time: '2022-01-01T01:30:00Z', waterTemperature: 12.5 },
        ],
      ],
    ],
  )
})

test('The spectral height stands in only where a file has no column of the mean of the highest third', async (t) => {
  const folder = await folderOf(t, {
    'candhis_stations.csv': STATIONS.replace('"A, B / C"', 'A').replaceAll(',', ';'),
    'Candhis_06403_2022_arch.csv':
      'DateHeure;HM0;H13D\n2022-01-01 00:00:00;1.6;1.5\n2022-01-01 00:30:00;1.6;999.999\n',
    'Candhis_06403_2022_reel.csv': 'Date;Hm0;TempMer\n2022-01-01 01:00:00;1.6;11\n',
  })
  const { rows, skipped } = await record(openCandhis, folder)
  assert.deepEqual(
    [...rows],
    [
      ['06403/0', [{ time: '2022-01-01T00:00:00Z', significantHeight: 1.5 }]],
      ['06403/1', [{ time: '2022-01-01T01:00:00Z', significantHeight: 1.6, waterTemperature: 11 }]],
    ],
  )
  assert.deepEqual([...skipped], [['no value', 1]])
})

test('Faults of the broken fixture are reported with file and line, and what is good in it is read', async () => {
  const { bad, skipped, rows, warnings } = await record(openCandhis, join(FIXTURES, 'broken', 'candhis'))
  assert.deepEqual(bad, [
    'candhis_stations.csv:3 a station without a valid ID, lat or lon',
    'candhis_stations.csv:4 a station without a valid ID, lat or lon',
    'Candhis_99X01_2024_arch.csv:3 no valid date and time',
    'Candhis_99X01_2024_arch.csv:4 no valid date and time',
    'Candhis_99X01_2024_arch.csv:5 wrong number of fields',
    'Candhis_99X01_2024_arch.csv:6 TH13D is no decimal number',
  ])
  assert.deepEqual(
    [...skipped],
    [
      ['no value', 1],
      ['HMAXD outside 0 to 50 m', 1],
    ],
  )
  assert.deepEqual(warnings, ['candhis: campaign 99X02 has no position and is left out'])
  assert.deepEqual(
    rows.get('99X01/0')?.map(({ time, maximumHeight }) => [time, maximumHeight]),
    [
      ['2024-03-01T00:00:00Z', 2.4],
      ['2024-03-01T02:30:00Z', undefined],
      ['2024-03-01T03:00:00Z', undefined],
    ],
  )
})

test('A header without time or height, a list without positions and an empty folder are told clearly', async (t) => {
  const folder = await folderOf(t, {
    'header/candhis_stations.csv': STATIONS,
    'header/Candhis_06403_2022_arch.csv': 'Jour;H13D\n2022-01-01 00:00:00;1\n',
    'list/candhis_stations.csv': 'code,name\n06403,x\n',
    'list/Candhis_06403_2022_arch.csv': 'DateHeure;H13D\n2022-01-01 00:00:00;1\n',
    'empty/candhis_stations.csv': STATIONS,
  })
  assert.deepEqual((await record(openCandhis, join(folder, 'header'))).bad, [
    'Candhis_06403_2022_arch.csv:1 the header lacks DateHeure (Date) or H13D (H1/3, Hm0)',
  ])
  assert.deepEqual((await record(openCandhis, join(folder, 'list'))).bad, [
    'candhis_stations.csv:1 the header lacks ID, name, lat or lon',
  ])
  await assert.rejects(record(openCandhis, join(folder, 'empty')), /holds no data files/)
  await assert.rejects(record(openCandhis, join(folder, 'absent')), BuildError)
})

const SHARED = join(import.meta.dirname, '..', '..', '..', 'shared', 'data', 'candhis')

test(
  'Ten years of a real campaign give as many values as were counted in its files by other means',
  { skip: existsSync(SHARED) ? false : 'needs real Candhis files, which are not part of the repository' },
  async () => {
    const { rows, bad } = await record(openCandhis, SHARED)
    const archive = rows.get('06403/0') ?? []
    assert.deepEqual(bad, [])
    assert.equal(archive.length, 162_246)
    assert.equal(archive.filter(({ peakPeriod }) => peakPeriod !== undefined).length, 160_795)
    assert.equal(rows.get('06403/1')?.length, 128)
  },
)
