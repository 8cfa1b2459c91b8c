/**
 * Tables of which a part was understood and the rest ignored: each way in which that served wrong values,
 * with a variation of its own, is read right now, or asked about.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UNCOUNTED } from '../../src/sources/source.ts'
import { compileMap, type TableSpec } from '../../src/sources/tables/column-map.ts'
import { openJsonSource } from '../../src/sources/tables/json.ts'
import { layoutOf } from '../../src/sources/tables/layout.ts'
import type { Question } from '../../src/sources/tables/questions.ts'
import { findTable, openTable } from '../../src/sources/tables/table.ts'
import { folderOf, placesOf, record, type Recording, rowTable } from './recorder.ts'

const STATIONS = [{ identifier: 'B', name: 'Bank', lat: 44, lng: -9 }]
const ALL: TableSpec = { station: { is: 'B' } }
const UTC: TableSpec = { time: { offset: '+00:00' } }

/** What only the operator of a table can say. */
function questionsOf(text: string | Buffer, spec: TableSpec = ALL): Question[] {
  const asked: Question[] = []
  const [map] = compileMap('table', { tables: [spec] }).tables
  const [found] = findTable(Buffer.from(text), 'b.csv', map, UNCOUNTED)
  layoutOf(
    found,
    new Map(),
    () => undefined,
    (question) => asked.push(question),
  )
  return asked
}

type Give = (text: string, spec?: TableSpec) => Promise<Recording & { lines: string[] }>

const reader =
  (t: Parameters<typeof folderOf>[0]): Give =>
  async (text, spec = {}) => {
    const options = { stations: STATIONS, tables: [{ ...ALL, ...spec }] }
    const read = await record((path) => openTable(path, options), await folderOf(t, { 'b.csv': text }))
    return { ...read, lines: rowTable(read.rows).map((line) => line.replace('B/0 2024-03-', '')) }
  }

interface Read {
  what: string
  text: string
  spec?: TableSpec
  /**
   * The first rows: day of March 2024, time, height, maximum, period, peak period, direction, water, wind,
   * from, gust.
   */
  rows: string[]
}

const at = (...rows: string[]): string => rows.map((row) => `2024-03-01 ${row}\n`).join('')

const READ: Read[] = [
  ...[
    'Time (UTC+9)',
    'Time [UTC+09:00]',
    'GMT+09:00',
    'Time (JST)',
    'Date/Time UTC+0900',
    'Time (UTC +9)',
  ].map((name) => ({
    what: `the zone of ${name}`,
    text: `${name},Hs (m)\n${at('10:00,1.2')}`,
    rows: ['01T01:00:00Z 1.2 - - - - - - - -'],
  })),
  {
    what: 'the zone west of Greenwich with a half hour',
    text: `Time (GMT-3:30),Hs (m)\n${at('10:00,1.2')}`,
    rows: ['01T13:30:00Z 1.2 - - - - - - - -'],
  },
  {
    what: 'the zone in a line of units',
    text: 'Time;Hs;Tp\nUTC+2;m;s\n2024-03-01 10:00;1,2;8\n',
    rows: ['01T08:00:00Z 1.2 - 8 8 - - - - -'],
  },
  {
    what: 'the zone in a column of its own',
    text: `Date,Time,Time zone,Hs (m)\n2024-03-01,10:00,UTC-5,1.2\n`,
    rows: ['01T15:00:00Z 1.2 - - - - - - - -'],
  },
  {
    what: 'times of fourteen digits, and of ten that can only be seconds',
    text: 'Time (UTC),Hs (m)\n20240301000000,1.1\n20240301120000,1.2\n',
    rows: ['01T00:00:00Z 1.1 - - - - - - - -', '01T12:00:00Z 1.2 - - - - - - - -'],
  },
  {
    what: 'years of two digits that only one order of regular steps explains',
    text: `Time (UTC),Hs (m)\n${[22, 23].map((h) => `24/03/01 ${h}:00,1\n`).join('')}${[0, 1, 2, 3].map((h) => `24/03/02 0${h}:00,1\n`).join('')}`,
    rows: [
      '01T22:00:00Z 1 - - - - - - - -',
      '01T23:00:00Z 1 - - - - - - - -',
      '02T00:00:00Z 1 - - - - - - - -',
    ],
  },
  {
    what: 'minutes in a column of their own',
    text: 'Date,Hour,Minute,Hs (m)\n2024-03-01,10,40,1.2\n2024-03-01,11,5,1.3\n',
    spec: UTC,
    rows: ['01T10:40:00Z 1.2 - - - - - - - -', '01T11:05:00Z 1.3 - - - - - - - -'],
  },
  {
    what: 'a month in small letters between year and day, and minutes under the same name',
    text: 'no,yyyy, mm, dd, hh, mm, Hs (m)\n1,2024,3,13,9,30,1.2\n1,2024,3,14,9,40,1.3\n',
    spec: UTC,
    rows: ['13T09:30:00Z 1.2 - - - - - - - -', '14T09:40:00Z 1.3 - - - - - - - -'],
  },
  {
    what: 'an hour behind a hyphen, and Hm0 with the letter O',
    text: 'time (YYYY-MM-DD-HH); Hmo (m)\n2024-03-13-09; 1.2\n2024-03-13-10; 1.3\n',
    spec: UTC,
    rows: ['13T09:00:00Z 1.2 - - - - - - - -', '13T10:00:00Z 1.3 - - - - - - - -'],
  },
  {
    what: 'a clock in Italian',
    text: 'Data,Ora,Altezza significativa (m)\n13.03.2024,12:00,1.2\n',
    spec: UTC,
    rows: ['13T12:00:00Z 1.2 - - - - - - - -'],
  },
  {
    what: 'a second header with the columns in another order',
    text: `Time (UTC),Hs (m),Tz (s),Tp (s)\n${at('00:00,1.2,5,9')}Time (UTC),Hs (m),Tp (s),Tz (s)\n${at('01:00,1.3,9.5,5')}`,
    rows: ['01T00:00:00Z 1.2 - 9 9 - - - - -', '01T01:00:00Z 1.3 - 9.5 9.5 - - - - -'],
  },
  {
    what: 'a second header with another unit, and the same one again',
    text: `Time (UTC),Hs (m)\n${at('00:00,1')}Time (UTC),Hs (cm)\n${at('01:00,12')}Time (UTC),Hs (cm)\n${at('02:00,13')}`,
    rows: [
      '01T00:00:00Z 1 - - - - - - - -',
      '01T01:00:00Z 0.12 - - - - - - - -',
      '01T02:00:00Z 0.13 - - - - - - - -',
    ],
  },
  {
    what: 'a direction beside the wind, which is that of the wind',
    text: `Time (UTC),Hs (m),Tp (s),Wind Speed (m/s),Direction (deg)\n${at('10:00,1.2,8,5,200')}`,
    rows: ['01T10:00:00Z 1.2 - 8 8 - - 18 200 -'],
  },
  {
    what: 'a direction beside the waves, and a direction of the wind',
    text: `Time (UTC),Hs (m),Dir (deg),Wind Speed (m/s),Wind Dir (deg)\n${at('10:00,1.2,200,5,90')}`,
    rows: ['01T10:00:00Z 1.2 - - - 200 - 18 90 -'],
  },
  {
    what: 'water by its full name beside TEMP',
    text: `Time (UTC),Hs (m),TEMP (C),Water Temp (C)\n${at('10:00,1.3,25,13')}`,
    rows: ['01T10:00:00Z 1.3 - - - - 13 - - -'],
  },
  {
    what: 'TEMP among the codes of Copernicus',
    text: `TIME (UTC),VAVH (m),TEMP (C)\n${at('10:00,1.3,13')}`,
    rows: ['01T10:00:00Z 1.3 - - - - 13 - - -'],
  },
  {
    what: 'negative directions that are no convention',
    text: `Time (UTC),Hs (m),Mean Dir (deg)\n${at('10:00,1.2,200', '11:00,1.3,-9', '12:00,1.3,-1')}`,
    rows: [
      '01T10:00:00Z 1.2 - - - 200 - - - -',
      '01T11:00:00Z 1.3 - - - - - - - -',
      '01T12:00:00Z 1.3 - - - - - - - -',
    ],
  },
  {
    what: 'directions from -180 to 180',
    text: `Time (UTC),Hs (m),Mean Dir (deg)\n${at('10:00,1,170', '11:00,1,-170', '12:00,1,-160', '13:00,1,-9', '14:00,1,-999')}`,
    rows: [170, 190, 200, 351, '-'].map((direction, i) => `01T1${i}:00:00Z 1 - - - ${direction} - - - -`),
  },
  {
    what: 'a wind of nines',
    text: `Time (UTC),Hs (m),Wind Speed (m/s),Gust (kt)\n${at('10:00,1.2,5,99.9', '11:00,1.3,99.0,9')}`,
    rows: ['01T10:00:00Z 1.2 - - - - - 18 - -', '01T11:00:00Z 1.3 - - - - - - - 16.67'],
  },
  {
    what: 'gusts that are nothing but nines, and a sign for degrees that is a letter',
    text: `Time (UTC),Hs (m),Gust (m/s),SST (ºC)\n${at('10:00,1.2,99.0,15', '11:00,1.3,99.0,16')}`,
    rows: ['01T10:00:00Z 1.2 - - - - 15 - - -', '01T11:00:00Z 1.3 - - - - 16 - - -'],
  },
  {
    what: 'a storm that leads up to 99 km/h',
    text: `Time (UTC),Hs (m),Wind Speed (km/h)\n${at('10:00,1.2,80', '11:00,1.3,99')}`,
    rows: ['01T10:00:00Z 1.2 - - - - - 80 - -', '01T11:00:00Z 1.3 - - - - - 99 - -'],
  },
  {
    what: 'a direction and a temperature of 0 at once',
    text: `Time (UTC),Hs (m),Mean Dir (deg),SST (C)\n${at('10:00,1,90,15', '11:00,1,0,0', '12:00,1,10,15.1')}`,
    rows: [
      '01T10:00:00Z 1 - - - 90 15 - - -',
      '01T11:00:00Z 1 - - - - - - - -',
      '01T12:00:00Z 1 - - - 10 15.1 - - -',
    ],
  },
  {
    what: 'flags by words under "Quality"',
    text: `Time (UTC),Hs (m),Quality\n${at('10:00,1.2,Good', '11:00,9.9,bad', '12:00,1.3,probably good')}`,
    rows: ['01T10:00:00Z 1.2 - - - - - - - -', '01T12:00:00Z 1.3 - - - - - - - -'],
  },
  {
    what: 'flags by numbers before the name',
    text: `Time (UTC),QC Hs,Hs (m)\n${at('10:00,1,1.2', '11:00,4,9.9')}`,
    rows: ['01T10:00:00Z 1.2 - - - - - - - -'],
  },
  {
    what: 'a flag behind each measure',
    text: `Time (UTC),Hs (m),QC,Tp (s),QC\n${at('10:00,1.2,1,8,4', '11:00,1.3,1,9,1', '12:00,9,4,9,1')}`,
    rows: ['01T10:00:00Z 1.2 - - - - - - - -', '01T11:00:00Z 1.3 - 9 9 - - - - -'],
  },
  {
    what: 'states of each measure',
    text: `Time (UTC),Hs (m),Hs_status,SST (C),SST_quality\n${at('10:00,1.2,ok,15,fail', '11:00,1.3,ok,15,pass')}`,
    rows: ['01T10:00:00Z 1.2 - - - - - - - -', '01T11:00:00Z 1.3 - - - - 15 - - -'],
  },
  {
    what: 'units in parentheses below the names',
    text: `Time,Hs,Tp,Dir\n(UTC),(ft),(s),(deg)\n${at('00:00,10,12,200')}`,
    rows: ['01T00:00:00Z 3.048 - 12 12 200 - - - -'],
  },
  {
    what: 'units in a column, row by row',
    text: `Time (UTC),Hs,Unit,Gust,Gust unit\n${at('00:00,10,cm,10,kt', '01:00,1,m,10,m/s', '02:00,1,ell,10,m/s')}`,
    rows: [
      '01T00:00:00Z 0.1 - - - - - - - 18.52',
      '01T01:00:00Z 1 - - - - - - - 36',
      '01T02:00:00Z - - - - - - - - 36',
    ],
  },
  {
    what: 'the whole sea beside its parts',
    text: `Time (UTC),Hs_1,Tp_1,Hs_2,Tp_2,Hs,Tp\n${at('10:00,0.5,4,1.1,12,1.2,11')}`,
    rows: ['01T10:00:00Z 1.2 - 11 11 - - - - -'],
  },
  {
    what: 'the surface beside the deep',
    text: `Time (UTC),Hs (m),Water Temperature_30 (C),Water Temperature_1 (C)\n${at('10:00,0.5,4,19')}`,
    rows: ['01T10:00:00Z 0.5 - - - - 19 - - -'],
  },
  {
    what: 'a temperature of the surface, and none at 30 m',
    text: `Time (UTC),Hs (m),Sea Temp (30 m) [C],Sea Temp (C),Surface Sea Temp (C)\n${at('10:00,0.5,4,9,19')}`,
    rows: ['01T10:00:00Z 0.5 - - - - 19 - - -'],
  },
  {
    what: 'UTC beside a local time',
    text: 'DateTimeUTC,UTCOffset,DateTime,Hs (m)\n2024-03-01 10:00,-5,2024-03-01 05:00,1.2\n',
    rows: ['01T10:00:00Z 1.2 - - - - - - - -'],
  },
  {
    what: 'a short name in brackets, which is no unit',
    text: `Time (UTC),Significant Wave Height (Hs),Peak Period (Tp) [s]\n${at('10:00,1.2,8')}`,
    rows: ['01T10:00:00Z 1.2 - 8 8 - - - - -'],
  },
  {
    what: "Puertos del Estado's names and dates",
    text: 'Valor nulo: -9999.9\t\nFecha (GMT)\tAltura Signif. del Oleaje(m)\tDirecc. Media de Proced.(0=N,90=E)\n2024 03 01 00\t0.58\t-9999.9\n2024 03 01 01\t0.57\t270\n',
    rows: ['01T00:00:00Z 0.58 - - - - - - - -', '01T01:00:00Z 0.57 - - - 270 - - - -'],
  },
  {
    what: "pandas' index of times, and points of the compass",
    text: ',Hs (m),Wave direction\n2024-03-01 10:00Z,1.2,NNW\n',
    rows: ['01T10:00:00Z 1.2 - - - 337.5 - - - -'],
  },
  {
    what: "the Finnish Meteorological Institute's names",
    text: 'Havaintoasema,Vuosi,Kuukausi,Päivä,Aika,Aikavyöhyke,Merkitsevä aallonkorkeus (m),Aallokon suunta (°)\nB,2024,3,1,00:30,UTC,1.2,200\n',
    rows: ['01T00:30:00Z 1.2 - - - 200 - - - -'],
  },
  {
    what: 'names in Japanese, Korean and Chinese',
    text: '日時,有義波高(m),최대파고(m),海面溫度(℃),風速(m/s)\n2024/03/01 09:00 JST,1.2,2.1,15,5\n',
    rows: ['01T00:00:00Z 1.2 2.1 - - - 15 18 - -'],
  },
  {
    what: 'months in Spanish',
    text: 'Fecha (UTC),Hs (m)\n01-dic-2023 00:00,9\n01-Mar-2024 00:00,1.2\n',
    rows: ['B/0 2023-12-01T00:00:00Z 9 - - - - - - - -', '01T00:00:00Z 1.2 - - - - - - - -'],
  },
]

for (const { what, text, spec, rows } of READ) {
  test(`Nothing of a table is left over: ${what}.`, async (t) => {
    const { lines, bad } = await reader(t)(text, spec)
    assert.deepEqual(bad, [])
    assert.deepEqual(lines.slice(0, rows.length), rows)
  })
}

interface Asked {
  what: string
  text: string | Buffer
  spec?: TableSpec
  about: Question['about']
  column: string
  can?: string[]
}

const ASKED: Asked[] = [
  {
    what: 'years of two digits in three orders',
    text: 'Time (UTC),Hs (m)\n24/03/13 10:00,1.3\n24/03/14 11:00,1.4\n',
    about: 'timeFormat',
    column: 'Time',
    can: ['YY/MM/DD HH:mm', 'DD/MM/YY HH:mm'],
  },
  {
    what: 'a clock under an unknown name',
    text: 'Date (UTC),Xklok,Hs (m)\n13.03.2024,12:00,1.2\n',
    about: 'time',
    column: 'Date',
  },
  {
    what: 'minutes under an unknown name',
    text: 'Date (UTC),Hour,Xmi,Hs (m)\n2024-03-13,12,40,1.2\n',
    about: 'time',
    column: 'Date',
  },
  {
    what: 'two zones for one time',
    text: 'Date (UTC),Time (AEST),Hs (m)\n2024-03-01,10:00,1\n',
    about: 'zone',
    column: 'Date',
  },
  {
    what: 'several names under one identifier',
    text: `Time (UTC),Buoy Name,Hs (m)\n${at('10:00,North,1.2', '10:30,South,1.7')}`,
    about: 'station',
    column: 'Buoy Name',
  },
  {
    what: 'a column of few words',
    text: `Time (UTC),Xspot,Hs (m)\n${at('10:00,a,1', '10:30,b,2', '11:00,a,1', '11:30,b,2')}`,
    spec: {},
    about: 'station',
    column: 'Xspot',
  },
  {
    what: 'names of places under a name that is half known',
    text: `Time (UTC),Shore Name,Hs (m)\n${at('10:00,a,1', '10:30,b,2', '11:00,a,1', '11:30,b,2')}`,
    spec: {},
    about: 'station',
    column: 'Shore Name',
  },
  {
    what: 'a moment of which a word is not known',
    text: `Time (UTC),Closing Time,Hs (m)\n${at('10:00,10:20,1')}`,
    about: 'measure',
    column: 'Closing Time',
    can: ['time'],
  },
  {
    what: 'a speed without a unit',
    text: `Time (UTC),Hs (m),Wind Speed\n${at('10:00,1,3')}`,
    about: 'unit',
    column: 'Wind Speed',
    can: ['windSpeed'],
  },
  {
    what: 'WD alone',
    text: `Time (UTC),Hs (m),WD\n${at('10:00,1,35.2')}`,
    about: 'measure',
    column: 'WD',
    can: ['windDirection'],
  },
  {
    what: 'TEMP alone',
    text: `Time (UTC),Hs (m),TEMP\n${at('10:00,1,35.2')}`,
    about: 'measure',
    column: 'TEMP',
    can: ['waterTemperature', 'airTemperature'],
  },
  {
    what: 'a speed of nothing',
    text: `Time (UTC),Hs (m),Speed (kt)\n${at('10:00,1,3')}`,
    about: 'measure',
    column: 'Speed (kt)',
    can: ['windSpeed'],
  },
  {
    what: 'a direction between waves and wind',
    text: `Time (UTC),Hs (m),Direction,Wind Speed (kt)\n${at('10:00,1,3,4')}`,
    about: 'measure',
    column: 'Direction',
    can: ['direction', 'windDirection'],
  },
  {
    what: 'two parts of a sea',
    text: `Time (UTC),Hs_1,Hs_2\n${at('10:00,1,3')}`,
    about: 'measure',
    column: 'Hs_1',
  },
  {
    what: 'stations by their numbers in the names of columns, which are no hours',
    text: `Time (UTC),wave_height_51000h (m)\n${at('10:00,1')}`,
    about: 'measure',
    column: 'wave_height_51000h (m)',
  },
  {
    what: 'flags by letters',
    text: `Time (UTC),Hs (m),Quality\n${at('10:00,1,A')}`,
    about: 'flags',
    column: 'Quality',
  },
  {
    what: 'flags by numbers that mean anything',
    text: `Time (UTC),Hs (m),Flag\n${at('10:00,1,0')}`,
    about: 'flags',
    column: 'Flag',
  },
  {
    what: 'a unit that is none',
    text: `Time (UTC),Hs (m),Tp (fortnights)\n${at('10:00,1,8')}`,
    about: 'measure',
    column: 'Tp (fortnights)',
  },
  {
    what: 'a text that is not UTF-8',
    text: Buffer.from(`Time (UTC),Hs (m),Höhe\n${at('10:00,1,é')}`, 'latin1'),
    about: 'encoding',
    column: '',
  },
  {
    what: 'rows without a header',
    text: '2024-03-01T00:17:59.999Z,13.33,289.7\n2024-03-01T00:47:59.999Z,12.50,274.2\n',
    about: 'time',
    column: '',
  },
]

for (const { what, text, spec, about, column, can } of ASKED) {
  test(`What a table does not say is asked: ${what}.`, () => {
    const [question, ...others] = questionsOf(text, spec)
    assert.deepEqual([question?.about, question?.column, others.length], [about, column, 0])
    if (can !== undefined) assert.deepEqual(question.can, can)
    assert.ok(question.why.length > 5)
  })
}

test('Years of two digits from 70 on are of the last century, and a format that a header names settles the order of dates', async (t) => {
  const read = reader(t)
  const old = await read('Time (UTC),Hs (m)\n15-Mar-98 10:00,1.3\n31-Dec-69 10:00,1\n01-Jan-70 00:00,2\n')
  assert.deepEqual(
    old.lines.map((line) => line.slice(0, 14)),
    ['B/0 1970-01-01', 'B/0 1998-03-15', 'B/0 2069-12-31'],
  )
  const named = await read('Time (UTC; dd/mm/yyyy hh:mm),Hs (m)\n01/03/2024 10:00,1.3\n')
  assert.deepEqual(named.lines, ['01T10:00:00Z 1.3 - - - - - - - -'])
})

test("Canada's MEDS is in UTC, counts longitudes to the west and marks with nines, unless a file has negative longitudes", async (t) => {
  const table = (lng: string): string =>
    'STN_ID,DATE,Q_FLAG,LATITUDE,LONGITUDE,DEPTH,VCAR,VTPK,SSTP\n' +
    `C1,03/14/2024 10:00,1,46.1,${lng},1500,2.1,9.1,99.9\nC1,03/14/2024 11:00,1,46.1,${lng},1500,2.2,99.9,5\n`
  for (const lng of ['55.2', '-55.2']) {
    const folder = await folderOf(t, { 'meds.csv': table(lng) })
    const { buoys, rows, doubts } = await record((path) => openTable(path, {}), folder)
    assert.deepEqual(placesOf(buoys), [['C1', 'TABLE C1', 46.1, -55.2]])
    assert.equal(
      doubts.some((text) => text.includes('count to the west')),
      lng === '55.2',
    )
    assert.deepEqual(rowTable(rows), [
      'C1/0 2024-03-14T10:00:00Z 2.1 - 9.1 9.1 - - - - -',
      'C1/0 2024-03-14T11:00:00Z 2.2 - - - - 5 - - -',
    ])
  }
})

test('Wind of a mast far above 10 m is not the wind, with a doubt', async (t) => {
  const text = `Time (UTC),Hs (m),1-hour mean wind speed at 90m (m/s),wind speed at 10m (m/s)\n${at('10:00,1,20,9')}`
  const { lines, doubts } = await reader(t)(text)
  assert.deepEqual(lines, ['01T10:00:00Z 1 - - - - - 32.4 - -'])
  assert.match(doubts.join(), /^wind at another level than 10 m above the sea is left out.*at 90m/)
})

test('A second header with other columns ends the good part of a file, with a grave doubt and a count', async (t) => {
  const text = `Time (UTC),Hs (m)\n${at('00:00,1')}Time (UTC),Hmax (m)\n${at('01:00,12', '02:00,13')}`
  const { lines, doubts, skipped } = await reader(t)(text)
  assert.deepEqual(lines, ['01T00:00:00Z 1 - - - - - - - -'])
  assert.match(
    doubts.join(),
    /^grave: a file is not read from a second header on.*line 3: Time \(UTC\), Hmax \(m\)$/,
  )
  assert.equal(skipped.get('a line below a second header with other columns'), 3)
})

test('Rows of two buoys near each other under one identifier are not one buoy, and a listed place far from the rows is doubted', async (t) => {
  const rows = Array.from(
    { length: 12 },
    (_, i) => `2024-03-01T${10 + i}:00Z,${i % 2 === 0 ? '44,-9' : '44.2,-9.1'},${1 + i / 10}`,
  )
  const text = `Time,Lat,Lon,Hs (m)\n${rows.join('\n')}\n`
  const folder = await folderOf(t, { 'b.csv': text })
  const { doubts, buoys } = await record((path) => openTable(path, {}), folder)
  assert.deepEqual(buoys, [])
  assert.match(
    doubts.join(),
    /grave: one identifier stands for several stations.*b: 11 leaps of more than 16 km/,
  )
  const listed = { stations: [{ identifier: 'b', name: 'Bank', lat: 50, lng: -9 }] }
  const moved = await record((path) => openTable(path, listed), folder)
  assert.equal(moved.buoys.length, 1)
  assert.match(
    moved.doubts.join(),
    /grave: a station's rows are far from its place in the list.*b: 6\d\d km from 44/,
  )
})

test('A document that gives the unit of its rows is read by it, and the contradiction with the map is doubted', async (t) => {
  const document = (unit: string, value: number): object => ({
    station: 'A',
    lat: 54,
    lng: 8,
    series: [{ shortname: 'SIGH', unit, values: [{ at: '2024-03-01T10:00:00+01:00', value, unit }] }],
  })
  const map = (value: object): object => ({
    rows: '/series/shortname=SIGH/values',
    station: '^/station',
    lat: '^/lat',
    lng: '^/lng',
    time: { at: '/at', unit: 'ISO' },
    values: { significantHeight: { at: '/value', ...value } },
  })
  const read = async (unit: string, number: number, value: object) => {
    const folder = await folderOf(t, { 'a.json': document(unit, number) })
    const { rows, doubts } = await record((path) => openJsonSource(path, { tables: [map(value)] }), folder)
    return [rows.get('A/0')?.[0]?.significantHeight, doubts.length]
  }
  assert.deepEqual(await read('cm', 132, { unit: 'cm' }), [1.32, 0])
  assert.deepEqual(await read('m', 1.4, { unit: 'cm' }), [1.4, 1])
  assert.deepEqual(await read('cm', 140, { unit: 'm', factor: 0.01 }), [1.4, 0])
  assert.deepEqual(await read('1/100 m', 140, { unit: 'cm' }), [1.4, 0])
  assert.deepEqual(await read('cm', 140, { unitAt: '/unit' }), [1.4, 0])
  assert.deepEqual(await read('ft', 10, { unitAt: '^/series/shortname=SIGH/unit' }), [3.048, 0])
})

test('What the map says beats what is well known: good flags, the encoding, the station, a zone', async (t) => {
  const read = reader(t)
  const flagged = `Time (UTC),Hs (m),Q_FLAG\n${at('10:00,1,1', '11:00,2,6')}`
  assert.deepEqual((await read(flagged)).lines.length, 2)
  assert.deepEqual((await read(flagged, { flags: { Q_FLAG: [1] } })).lines, [
    '01T10:00:00Z 1 - - - - - - - -',
  ])
  const zoned = `Time (UTC+9),Hs (m)\n${at('10:00,1')}`
  assert.deepEqual((await read(zoned, UTC)).lines, ['01T10:00:00Z 1 - - - - - - - -'])
  const named = `Time (UTC),Name,Hs (m)\n${at('10:00,a,1', '11:00,b,2')}`
  assert.equal((await read(named)).lines.length, 0)
  assert.equal((await read(named, { name: null })).lines.length, 2)
  const folder = await folderOf(t, {
    'b.csv': Buffer.concat([
      Buffer.from('Time (UTC),'),
      Buffer.from([0x97, 0x4c, 0x8b, 0x60, 0x94, 0x67, 0x8d, 0x82]),
      Buffer.from(`(m)\n${at('10:00,1')}`),
    ]),
  })
  const options = { stations: STATIONS, tables: [{ ...ALL, encoding: 'shift_jis' }] }
  const { rows, doubts } = await record((path) => openTable(path, options), folder)
  assert.deepEqual([rowTable(rows), doubts], [['B/0 2024-03-01T10:00:00Z 1 - - - - - - - -'], []])
  assert.throws(
    () => compileMap('table', { tables: [{ encoding: 'klingon' }] }),
    /encoding is not an encoding/,
  )
})
