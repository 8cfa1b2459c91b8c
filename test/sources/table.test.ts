/**
 * Tables of text: the shapes of networks and of owners, with what is recognised, and what is refused in
 * words.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TableSpec } from '../../src/sources/tables/column-map.ts'
import { openTable } from '../../src/sources/tables/table.ts'
import { folderOf, record, rowTable } from './recorder.ts'

const STATIONS = [{ identifier: 'B1', name: 'Bank', lat: -27.5, lng: 153.6 }]
const one = (spec: TableSpec = {}) => ({ stations: STATIONS, tables: [{ station: { is: 'B1' }, ...spec }] })

interface Good {
  what: string
  text: string | Uint8Array
  spec?: TableSpec
  rows: string[]
  columns?: RegExp
}

const AEST: TableSpec = { time: { offset: '+10:00' } }
const lines = (...rows: string[]): string => `${rows.join('\n')}\n`
const PLAIN = 'time,Hs\n2024-03-01T00:00:00Z,1.25\n'
const ROW = ['B1/0 2024-03-01T00:00:00Z 1.25 - - - - - - - -']

const GOOD: Good[] = [
  {
    what: "Queensland's archive: no units, local time, -99.9",
    text:
      'Date/Time,Hs,Hmax,Tz,Tp,Dir_Tp TRUE,SST\n2024-03-01T10:00:00,1.25,2.1,5.5,9.1,95.5,26.4\n' +
      '2024-03-01T10:30:00,1.3,-99.90,5.6,-99.90,-99.90,-99.90\n',
    spec: AEST,
    rows: [
      'B1/0 2024-03-01T00:00:00Z 1.25 2.1 9.1 9.1 95.5 26.4 - - -',
      'B1/0 2024-03-01T00:30:00Z 1.3 - - - - - - - -',
    ],
    columns: /^Date\/Time is time \(ISO\); Hs is significantHeight;.*; not used: Tz$/,
  },
  {
    what: 'units and a zone beside the names, and lines above the header',
    text:
      'Wave data of the last week\n\nDate/Time (AEST),Hs (m),Tp (s),Peak Direction (degrees),SST (degrees C)\n' +
      '2024-03-01T10:00:00,1.25,9.1,95.5,26.4\n',
    rows: ['B1/0 2024-03-01T00:00:00Z 1.25 - 9.1 9.1 95.5 26.4 - - -'],
  },
  {
    what: 'the Channel Coastal Observatory: tabs, months by name, 9999, a row flag',
    text:
      'Date/Time (GMT)\tLatitude\tLongitude\tFlag\tHs (m)\tHmax (m)\tTp (s)\tTz (s)\tWave direction (degrees)\tSpread (deg)\tSST (deg C)\n' +
      '01-Mar-2024 00:00:00\t50.7\t-1.6\t0\t1.25\t2.1\t9.1\t4.5\t200\t30\t9999\n' +
      '01-Mar-2024 00:30:00\t50.7\t-1.6\t3\t9.25\t2.1\t9.1\t4.5\t200\t30\t9.5\n',
    spec: { flags: { Flag: [0] } },
    rows: ['B1/0 2024-03-01T00:00:00Z 1.25 2.1 9.1 9.1 200 - - - -'],
  },
  {
    what: 'Manly Hydraulics Laboratory: months in capitals, padded cells, a comma within a unit',
    text:
      'MANLY HYDRAULICS LABORATORY\r\n\r\nSelection Restrictions : ,,DATA_STATUS <= 6.0000\r\n\r\n' +
      '        Date/Time,    Hsig (m),    Hmax (m),    Tz (s),    T P1 (s),    WDIR_BUOY (deg, TN)\r\n' +
      '01-MAR-2024 10:00,        1.25,         2.1,       5.5,         9.1,                    165\r\n' +
      '01-MAR-2024 11:00,       1.303,            ,       5.5,         9.1,                       \r\n',
    spec: AEST,
    rows: [
      'B1/0 2024-03-01T00:00:00Z 1.25 2.1 9.1 9.1 - - - - -',
      'B1/0 2024-03-01T01:00:00Z 1.303 - 9.1 9.1 - - - - -',
    ],
  },
  {
    what: 'Western Australia: flags before the name, of all waves and of the sea temperature',
    text:
      'Time (UTC), Site, Hsig (m), Tp (s), QF_waves, SST (degC), QF_sst, WindSpeed (m/s) \n' +
      '1612311807,Torbay,1.16,13.3,4,29.2,1,5.60 \n1612313607,Torbay,1.25,9.1,1,29.3,4,-9999.00 \n',
    spec: { flags: { QF_waves: [1], QF_sst: [1] } },
    rows: [
      'B1/0 2021-02-03T00:23:27Z - - - - - 29.2 20.16 - -',
      'B1/0 2021-02-03T00:53:27Z 1.25 - 9.1 9.1 - - - - -',
    ],
  },
  {
    what: "Canada's MEDS: a comma behind the last name, names twice, longitudes to the west",
    text:
      'STN_ID,DATE,Q_FLAG,LATITUDE,LONGITUDE,DEPTH,VCAR,VTPK,VWH$,VCMX,VTP$,WDIR,WSPD,WSS$,GSPD,WDIR,WSPD,SSTP,\n' +
      'C46206,02/29/2024 23:30,1,48.84,126.0,72,2.5,10.2,2.4,4.1,10.2,300,8.0,8,10.0,301,8.1,8.4,\n' +
      'C46206,03/01/2024 00:00,4,48.84,126.0,72,9.5,10.2,2.4,4.1,10.2,300,8.0,8,10.0,301,8.1,8.4,\n',
    spec: {
      station: 'STN_ID',
      values: { windSpeed: { at: 'WSPD', unit: 'm/s' }, gustSpeed: { at: 'GSPD', unit: 'm/s' } },
    },
    rows: ['C46206/0 2024-02-29T23:30:00Z 2.5 4.1 10.2 10.2 - 8.4 28.8 300 36'],
  },
  {
    what: 'a Spotter: epoch seconds and other columns',
    text:
      'Battery Voltage (V),Epoch Time,Significant Wave Height (m),Peak Period (s),Mean Period (s),Peak Direction (deg),Latitude (deg),Longitude (deg)\n' +
      '4.1,1709251200,1.25,9.1,5.5,310,-27.5,153.6\n',
    rows: ['B1/0 2024-03-01T00:00:00Z 1.25 - 9.1 9.1 310 - - - -'],
  },
  {
    what: 'blanks, a comment, a line of units',
    text: '# my buoy\ndate       time  hs   wspd\n-          UTC   m    kn\n2024-03-01 00:00 1.25 10\n',
    rows: ['B1/0 2024-03-01T00:00:00Z 1.25 - - - - - 18.52 - -'],
  },
  {
    what: 'semicolons and decimal commas, quotes',
    text: '"Zeit";"Hs (cm)"\n"01.03.2024 01:00";"125,0"\n',
    spec: { time: { at: 'Zeit', unit: 'DD.MM.YYYY HH:mm', zone: 'Europe/Berlin' } },
    rows: ROW,
  },
  {
    what: 'no header, columns by number, factor and offset, other marks of missing',
    text: '20240301 0000,112.5,x\n20240301 0030,-1,x\n20240301 0100,none,x\n',
    spec: {
      header: false,
      time: { at: 1, offset: '+00:00' },
      missing: [-1, 'none'],
      values: { significantHeight: { at: 2, unit: 'cm', factor: 1, offset: 12.5 } },
    },
    rows: ROW,
  },
  {
    what: 'a header that is told',
    text: 'Hs and time of the sea\nwhen|Hs\nWhen;Height\n2024-03-01T00:00:00Z;1.25\n',
    spec: {
      header: 'When;',
      time: { at: 'When' },
      values: { significantHeight: { at: 'Height', unit: 'm' }, period: null },
    },
    rows: ROW,
  },
  {
    what: 'a header whose words are more columns by blanks than by commas, as its rows are not',
    text: 'Date Time (UTC),Hs (m),Tp (s)\n2024-03-01 00:00,1.25,8\n',
    rows: ['B1/0 2024-03-01T00:00:00Z 1.25 - 8 8 - - - - -'],
  },
  {
    what: 'a line above the header with a name of the map',
    text: 'Export Time 2024-03-05 12:00\nTime,Hs (m)\n2024-03-01 00:00,1.25\n',
    spec: {
      time: { at: 'Time', unit: 'YYYY-MM-DD HH:mm', offset: '+00:00' },
      values: { significantHeight: { at: 'Hs' } },
    },
    rows: ROW,
  },
  {
    what: 'lines that end in a carriage return alone',
    text: PLAIN.replaceAll('\n', '\r'),
    rows: ROW,
  },
  { what: 'UTF-16 without a byte order mark', text: Buffer.from(PLAIN, 'utf16le'), rows: ROW },
  {
    what: '500 columns, as a Spotter has with its bands',
    text: lines(
      ['time', 'Hs', ...Array.from({ length: 498 }, (_, i) => `f_${i}`)].join(','),
      ['2024-03-01T00:00:00Z', '1.25', ...Array.from({ length: 498 }, () => '-')].join(','),
    ),
    rows: ROW,
  },
  {
    what: 'Latin-1',
    text: Buffer.from(PLAIN.replace('Hs', 'Hs,Höhe').replace('25\n', '25,é\n'), 'latin1'),
    rows: ROW,
  },
]

for (const { what, text, spec, rows, columns } of GOOD) {
  test(`A table is read: ${what}.`, async (t) => {
    const folder = await folderOf(t, { 'b.csv': text })
    const read = await record((path) => openTable(path, one(spec)), folder)
    assert.deepEqual(read.bad, [])
    assert.deepEqual(rowTable(read.rows), rows)
    if (columns !== undefined) assert.match(read.columns.join(), columns)
  })
}

interface Broken {
  what: string
  text: string
  spec?: TableSpec
  bad: RegExp
  rows?: number
}

const UTC: TableSpec = { time: { offset: '+00:00' } }

const BROKEN: Broken[] = [
  {
    what: 'mixed delimiters',
    text: lines('time,Hs', '2024-03-01T00:00:00Z,1', '2024-03-01T01:00:00Z;2'),
    bad: /^b\.csv:3 wrong number of fields$/,
    rows: 1,
  },
  {
    what: 'a column short',
    text: lines('time,Hs,Tp', '2024-03-01T00:00:00Z,1', '2024-03-01T01:00:00Z,2,8'),
    bad: /^b\.csv:2 wrong number of fields$/,
    rows: 1,
  },
  {
    what: 'N among numbers',
    text: lines('time,Hs,Wave direction', '2024-03-01T00:00:00Z,1,5', '2024-03-01T01:00:00Z,1,N'),
    bad: /^b\.csv:3 direction is/,
    rows: 1,
  },
  {
    what: 'columns of the map that are not there',
    text: lines('when,Height', '2024-03-01T00:00:00Z,1'),
    spec: {
      time: { at: 'when' },
      values: { significantHeight: { at: 'Hs', unit: 'm' }, period: { at: 'T', unit: 's' } },
    },
    bad: /^b\.csv:1 the header lacks "Hs", "T"; it has when, Height$/,
  },
  {
    what: 'dates whose order nothing tells',
    text: lines('Date,Hs', '01/03/2024 00:00,1', '02/03/2024 00:00,2'),
    spec: UTC,
    bad: /"01\/03\/2024 00:00"\) can be DD\/MM\/YYYY HH:mm or MM\/DD\/YYYY HH:mm: say which in "time" with "unit"$/,
  },
  {
    what: 'dates in two orders',
    text: lines('Date,Hs', '13/03/2024 00:00,1', '03/14/2024 00:00,2', '01/03/2024 00:00,1'),
    spec: UTC,
    bad: /the times of "Date" are in no one format \("13\/03\/2024 00:00" /,
  },
  {
    what: 'dates whose order changes after thousands of rows',
    text: lines(
      'Date,Hs',
      ...Array.from({ length: 3000 }, (_, i) => `01/${13 + (i % 15)}/2024 00:00,1`),
      ...Array.from({ length: 60 }, () => '13/02/2024 00:00,1'),
    ),
    spec: UTC,
    bad: /the times of "Date" are in no one format/,
  },
  {
    what: 'local time without a zone',
    text: lines('Local Time,Hs', '2024-03-01 00:00,1'),
    bad: /^b\.csv:1 the times of "Local Time" name no zone: say "offset" \("\+00:00" for UTC\) or "zone" in "time"$/,
  },
  {
    what: 'a time that daylight saving leaps over',
    text: lines('Date/Time,Hs', '2024-03-31 01:30,1', '2024-03-31 02:30,2', '2024-03-31 03:30,3'),
    spec: { time: { zone: 'Europe/Paris' } },
    bad: /^b\.csv:3 no valid time in the column Date\/Time$/,
    rows: 2,
  },
  {
    what: 'a word for a number',
    text: lines('time,Hs', '2024-03-01T00:00:00Z,high'),
    bad: /^b\.csv:2 significantHeight is not a number$/,
  },
  { what: 'an empty file', text: '', bad: /^b\.csv:1 it is empty$/ },
  {
    what: 'no column of times',
    text: lines('Hs,Tp', '1,8'),
    bad: /^b\.csv:1 no column is the time: one of Hs, Tp must be called time/,
  },
  {
    what: 'a header that is told and not there',
    text: PLAIN,
    spec: { header: 'Wave height' },
    bad: /^b\.csv:1 no line has "Wave height", the header$/,
  },
]

for (const { what, text, spec, bad, rows = 0 } of BROKEN) {
  test(`A broken table is reported with file, line and what to do: ${what}.`, async (t) => {
    const folder = await folderOf(t, { 'b.csv': text })
    const read = await record((path) => openTable(path, one(spec)), folder)
    assert.match(read.bad.join(), bad)
    assert.equal(rowTable(read.rows).length, rows)
  })
}

test('Nines are missing, a flag that nothing explains leaves its columns out, and a speed without a unit is not guessed', async (t) => {
  const folder = await folderOf(t, {
    'b.csv': lines('time,Hs,Tp,SST,WSPD,Flag', '2024-03-01T00:00:00Z,9999,999,99.9,5,1'),
    'c.csv': lines('time,Hs,WSPD,SST', '2024-03-01T00:00:00Z,1,5,9999', '2024-03-01T01:00:00Z,9999,5,-99.9'),
  })
  const { rows, doubts, skipped } = await record((path) => openTable(path, one()), folder)
  assert.deepEqual(rowTable(rows), ['B1/0 2024-03-01T00:00:00Z 1 - - - - - - - -'])
  assert.match(
    doubts.join('\n'),
    /grave: a column is left out, as what its flags mean is not known × 4: .*Hs flags in Flag/,
  )
  assert.match(doubts.join('\n'), /grave: a column without a unit is left out × 2: .*WSPD/)
  assert.match(doubts.join('\n'), /grave: heights without a unit are taken for metres/)
  assert.equal(skipped.get('a row without a value'), 1)
})

test('Files of many stations, of one each by their names, and a list of stations beside them', async (t) => {
  const row = (time: string) => `2024-03-01T${time}:00Z`
  const folder = await folderOf(t, {
    'stations.csv': 'identifier,name,lat,lng\nN1,North,50,1\nN2,Nook,51,2\n',
    'all.txt': lines(`time\tSite\tHs`, `${row('00:00')}\tN1\t1`, `${row('00:00')}\tN2\t2`),
    'wave_N1_2024.dat': PLAIN,
    'notes.doc': 'x',
  })
  const tables = [{ files: 'wave_{station}_2024.dat' }, {}]
  const { buoys, rows, doubts } = await record((path) => openTable(path, { source: 'Net', tables }), folder)
  assert.deepEqual(
    buoys.map(({ source, name }) => [source, name]),
    [
      ['Net', 'North'],
      ['Net', 'Nook'],
    ],
  )
  assert.deepEqual(rowTable(rows).toSorted(), [
    'N1/0 2024-03-01T00:00:00Z 1.25 - - - - - - - -',
    'N2/0 2024-03-01T00:00:00Z 2 - - - - - - - -',
  ])
  assert.match(doubts.join(), /files or folders are not read .*: notes\.doc/)
})
