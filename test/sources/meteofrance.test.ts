import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openMeteofrance } from '../../src/sources/meteofrance.ts'
import { folderOf, record, rowTable } from './recorder.ts'
import { fieldOf, fieldsOf } from '../fields.ts'

const LABELS =
  'numer_sta;date;lat;lon;t;td;u;dd;ff;pmer;tmer;HwaHwa;PwaPwa;dwadwa;Hw1Hw1;Pw1Pw1;dw1dw1;Hw2Hw2;Pw2Pw2;dw2dw2;' +
  'tend;cod_tend;vv;ww;w1;w2;n;nbas;hbas;cl;cm;ch;rafper;per;phenspe1;phenspe2'
const HEADER = `${LABELS};\n`

/** A line with `mq` in all columns that are not given. */
function line(values: { readonly [label: string]: string | number }): string {
  return `${LABELS.split(';')
    .map((label) => values[label] ?? 'mq')
    .join(';')};\n`
}

const LION = { numer_sta: '6100002', lat: '42.102000', lon: '4.703000' }

test('Measured waves, water in kelvin and wind in metres a second become a reading of an anchored buoy', async (t) => {
  const folder = await folderOf(t, {
    'marine.20241209.csv':
      HEADER +
      line({
        ...LION,
        date: '20241209040000',
        HwaHwa: '2.300000',
        PwaPwa: '6.000000',
        dwadwa: 360,
        Hw1Hw1: '9.000000',
        tmer: '288.350000',
        dd: 320,
        ff: '12.300000',
        rafper: '17.500000',
        per: -10,
      }) +
      line({ ...LION, date: '20241209050000', tmer: '273.140000', ff: '0.000000' }),
    'bouees.20241210.csv.gz': gzipSync(
      HEADER.replace('\n', '\r\n') + line({ ...LION, lon: '4.7031', date: '20241210000000', HwaHwa: '.5' }),
    ),
    'notes.txt': 'x',
  })
  const { sources, buoys, rows, bad, skipped, doubts } = await record(openMeteofrance, folder)
  assert.deepEqual(bad, [])
  assert.deepEqual([...skipped], [])
  assert.deepEqual(doubts, ['files or folders are not read (not marine.YYYYMMDD.csv) × 1: notes.txt'])
  assert.deepEqual(sources, [
    { name: 'Météo-France', network: 'national', credit: 'Météo-France', licence: 'Licence Ouverte 2.0' },
  ])
  assert.deepEqual(buoys, [
    { name: 'Golfe du Lion', source: 'Météo-France', identifier: '61002', lat: 42.102, lng: 4.7031 },
  ])
  assert.deepEqual(rowTable(rows), [
    '61002/0 2024-12-09T04:00:00Z 2.3 - 6 - 0 15.2 44.28 320 63',
    '61002/0 2024-12-09T05:00:00Z - - - - - -0.01 0 - -',
    '61002/0 2024-12-10T00:00:00Z 0.5 - - - - - - - -',
  ])
})

test('Seven digits lose the two zeros behind the area, and ships and drifting buoys are left out', async (t) => {
  const at = { date: '20241209040000', lat: '15.84', lon: '-57.49', HwaHwa: 1 }
  const stations = ['4100300', '41097', '6100101', '6401234', 'FNFP', '6200551', '62551', '123456']
  const folder = await folderOf(t, {
    'marine.20241209.csv': HEADER + stations.map((numer_sta) => line({ ...at, numer_sta })).join(''),
  })
  const { buoys, skipped, bad, understood } = await record(openMeteofrance, folder)
  assert.deepEqual(bad, [])
  assert.deepEqual(fieldsOf(buoys, 'identifier', 'name'), [
    ['41097', 'Météo-France 41097'],
    ['41300', 'Météo-France 41300'],
    ['61101', 'Météo-France 61101'],
    ['6401234', 'Météo-France 6401234'],
  ])
  assert.deepEqual([...skipped], [['a ship or a drifting buoy', 4]])
  assert.deepEqual([...understood], [['marine.20241209.csv', 8]])
})

test('Malformed lines are reported with file and line, values out of bounds are counted', async (t) => {
  const good = { ...LION, date: '20241209040000', HwaHwa: 2 }
  const folder = await folderOf(t, {
    'marine.20241209.csv':
      HEADER +
      line(good) +
      'x;y\n' +
      line({ ...good, date: '20240230000000' }) +
      line({ ...good, numer_sta: 'é' }) +
      line({ ...good, HwaHwa: '2.3m' }) +
      '\n' +
      line({ ...good, date: '20241209050000', HwaHwa: 26, tmer: 15 }) +
      line({ ...good, date: '20241209060000', lat: 'mq', lon: 'mq' }) +
      line({ ...good, date: '20241209070000', HwaHwa: 'mq', PwaPwa: 7, lat: 95 }),
    'marine.20241210.csv': 'numer_sta;lat;lon;\n',
  })
  const { bad, doubts, skipped, rows } = await record(openMeteofrance, folder)
  assert.match(doubts.join('; '), /a position that is not on the globe does not count × 1: 61002(;|$)/)
  assert.deepEqual(bad, [
    'marine.20241209.csv:3 wrong number of fields',
    'marine.20241209.csv:4 no valid time',
    'marine.20241209.csv:5 no valid identifier of a station',
    'marine.20241209.csv:6 significantHeight is not a number',
    'marine.20241210.csv:1 the header lacks "date", the time; it has numer_sta, lat, lon',
  ])
  assert.deepEqual(Object.fromEntries(skipped), {
    'significantHeight outside 0 to 25 m': 1,
    'waterTemperature outside -5 to 45 °C': 1,
    'a row without a value': 1,
    'wave values without a significant height': 1,
  })
  assert.deepEqual(fieldOf(rows.get('61002/0'), 'time'), ['2024-12-09T04:00:00Z', '2024-12-09T06:00:00Z'])
})

test('A buoy that is at two places within hours is two buoys and left out; ISO times and longitudes to 360 are read', async (t) => {
  const folder = await folderOf(t, {
    'marine.20241209.csv':
      HEADER +
      line({ ...LION, date: '20241209040000', HwaHwa: 2 }) +
      line({ ...LION, date: '20241209100000', HwaHwa: 2, lat: '45.4', lon: '-7.8' }),
    'marine.20241210.csv':
      HEADER +
      line({ numer_sta: '6200001', date: '2024-12-09T04:00:00Z', HwaHwa: 3, lat: '45.2', lon: '355' }),
  })
  const { rows, buoys, doubts } = await record(openMeteofrance, folder)
  assert.deepEqual(fieldsOf(buoys, 'identifier', 'lng'), [['62001', -5]])
  assert.deepEqual(rowTable(rows), ['62001/0 2024-12-09T04:00:00Z 3 - - - - - - - -'])
  assert.match(doubts.join(), /^grave: one identifier stands for several stations.* × 1: 61002: 1 fixes at /)
})
