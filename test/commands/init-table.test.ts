/** What `init --table` understands of tables, and what it asks about; the whole command runs at night. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mock, test, type TestContext } from 'node:test'
import { proposeTables, type Told } from '../../src/commands/init-table.ts'
import { openKind } from '../../src/sources/kinds.ts'
import type { TableOptions } from '../../src/sources/tables/column-map.ts'
import { temporaryFolder } from '../live.ts'
import { recordSource, rowTable } from '../sources/recorder.ts'

const HEADER = 'Time (UTC),Hs (m),Tp (s)\n'
const WHERE = { lat: '44', lng: '-9' }
const NAMES = ['station', 'lat', 'lng', 'time-zone', 'time-format', 'good-flags', 'encoding', 'network']
const NOTHING = {
  ...Object.fromEntries(NAMES.map((name) => [name, ''])),
  delimiter: '',
  'no-header': false,
  column: [],
  unit: [],
} as unknown as Told

/** Has tables of a new folder proposed, by default its first file; `said` ends with a refusal. */
async function propose(
  t: TestContext,
  files: { [name: string]: string | Buffer },
  told: Partial<Told> = {},
  names = Object.keys(files).slice(0, 1),
) {
  const folder = temporaryFolder(t)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  let [said, kind] = ['', '']
  let options: TableOptions = {}
  const write = process.stdout.write.bind(process.stdout)
  // The runner writes its bytes there, too.
  const printed = mock.method(process.stdout, 'write', (text: string | Uint8Array) =>
    typeof text === 'string' ? (said += text) !== '' : write(text),
  )
  try {
    const paths = names.map((name) => join(folder, name))
    ;({ kind, options } = await proposeTables(paths, { ...NOTHING, ...told }))
  } catch (error) {
    said += (error as Error).message
  } finally {
    printed.mock.restore()
  }
  const read = async (): Promise<string[]> =>
    rowTable((await recordSource(openKind(kind, folder, { ...options }))).rows)
  return { said, kind, tables: options.tables ?? [], read }
}

test('Files of equal columns are one table, and the days of one decide the format of all.', async (t) => {
  const rows = (day: string): string =>
    `Date,Hs (m),Lat,Lon\n${day} 10:00,1.2,44,-9\n${day} 11:00,1.3,44,-9\n`
  const files = {
    'b_04.csv': rows('01/04/2024'),
    'b_03.csv': rows('13/03/2024'),
    'other.csv': `${HEADER}2024-03-01 10:00,1.2,8\n`,
  }
  const { said, tables, read } = await propose(t, files, { 'time-zone': 'UTC' }, ['b_04.csv', 'b_03.csv'])
  assert.deepEqual(
    tables.map(({ files: names, station }) => [names, station]),
    [['b_{digits}.csv', { is: 'b' }]],
    said,
  )
  assert.deepEqual(
    (await read()).map((row) => row.slice(0, 22)),
    ['b/0 2024-03-13T10:00:0', 'b/0 2024-03-13T11:00:0', 'b/0 2024-04-01T10:00:0', 'b/0 2024-04-01T11:00:0'],
  )
})

test('A list of stations, given or beside the tables, may begin with station, id or code.', async (t) => {
  for (const first of ['identifier', 'station', 'id', 'code']) {
    const files = {
      'north.csv': `${HEADER}2024-03-01 10:00,1.2,8\n`,
      'south.csv': `${HEADER}2024-03-01 10:00,2.2,8\n`,
      'stations.csv': `${first},name,lat,lng\nnorth,N,44,-9\nsouth,S,43,-9\n`,
    }
    const { said, read } = await propose(t, files, {}, Object.keys(files).slice(0, first === 'id' ? 3 : 2))
    assert.match(said, /stations.csv lists the stations/)
    assert.deepEqual(
      (await read()).map((row) => row.slice(0, 8)),
      ['north/0 ', 'south/0 '],
    )
  }
})

test('What init cannot guess is said by options, which are in the configuration and read so.', async (t) => {
  const cases: [text: string, told: Partial<Told>, row: string, inMap: object][] = [
    [
      '2024-03-01T10:00Z;1,5;8\n2024-03-01T11:00Z;1,6;8\n',
      { 'no-header': true, delimiter: 'semicolon', column: ['time=1', 'significantHeight=2'] },
      '1.5',
      { header: false, delimiter: ';' },
    ],
    [
      'Time (UTC),Hs,Gust\n2024-03-01 10:00,150,9\n',
      { unit: ['significantHeight=cm', 'gustSpeed=m/s'] },
      '1.5',
      { values: { significantHeight: { at: 'Hs', unit: 'cm' }, gustSpeed: { at: 'Gust', unit: 'm/s' } } },
    ],
    [
      'Moment (UTC),Sea,Hs (m)\n2024-03-01 10:00,1.5,9\n',
      { column: ['time=Moment', 'significantHeight=Sea'], unit: ['significantHeight=m'] },
      '1.5',
      { values: { significantHeight: { at: 'Sea', unit: 'm' } } },
    ],
  ]
  for (const [text, told, height, inMap] of cases) {
    const { said, tables, read } = await propose(t, { 'b.csv': text }, { ...told, ...WHERE })
    assert.deepEqual({ ...tables[0], ...inMap }, tables[0], said)
    assert.equal((await read())[0].split(' ')[2], height)
  }
})

test('Rows of JSON and the objects in them become a map of places and units.', async (t) => {
  const rows = [10, 11].map((hour) => ({
    geometry: { type: 'Point', coordinates: [-9, 44] },
    properties: { moment: `2024-03-01T${hour}:00Z`, wind: { direction: 90 } },
    wave: { 'a/b': 1.5 },
  }))
  const files = { 'buoy.json': JSON.stringify({ answer: { 'a/b': rows }, more: [] }) }
  const column = ['time=/properties/moment', 'significantHeight=/wave/a~1b']
  const { said, kind, tables, read } = await propose(t, files, { column })
  assert.deepEqual([kind, tables[0]?.rows], ['json', '/answer/a~1b'], said)
  const { lat, lng, values } = tables[0]
  assert.deepEqual([lng, lat], ['/geometry/coordinates/0', '/geometry/coordinates/1'])
  assert.equal(values!.windDirection!.at, '/properties/wind/direction')
  assert.deepEqual(
    (await read()).map((row) => row.split(' ').slice(0, 3).join(' ')),
    ['buoy/0 2024-03-01T10:00:00Z 1.5', 'buoy/0 2024-03-01T11:00:00Z 1.5'],
  )
})

test('Lists below a list of names in JSON become a map by these names.', async (t) => {
  const all = [
    ['Time', 'H1/3', 'Hm0 (m)', 'lat', 'lon'],
    ['2024-03-01T10:00Z', '1.1', '1.5', 44, -9],
  ]
  const { said, tables } = await propose(t, { 'buoy.json': JSON.stringify({ all }) })
  const [{ rows, header, values }] = tables
  assert.deepEqual([rows, header, values!.significantHeight!.at], ['/all', '/all/0', '/@Hm0 (m)'])
  assert.match(said, /buoy lies at 44 -9, .*: 1 row /)
})

test('A text that is not UTF-8 is asked about with its first odd line, and read by the encoding that is told.', async (t) => {
  const rows = 'Île,2024-03-01 10:00,1.2\nÎle,2024-03-01 11:00,1.3\n'
  const files = { 'b.csv': Buffer.from(`station,Time (UTC),Hs (m)\n${rows}`, 'latin1') }
  assert.match((await propose(t, files)).said, /it is not UTF-8: line 2: .*\n.*--encoding$/)
  const wrong = await propose(t, files, { encoding: 'latin-9000' })
  assert.match(wrong.said, /--encoding: expected a name of the Encoding Standard/)
  const encoding = 'windows-1252'
  const listed = { ...files, 'stations.csv': 'id,name,lat,lng\nÎle,Île,48,-5\n' }
  const { said, tables } = await propose(t, listed, { encoding })
  assert.equal(tables[0]?.encoding, encoding, said)
  assert.match(said, /Île/)
  const plain = { 'b.csv': `${HEADER}2024-03-01 10:00,1.2,8\n` }
  const useless = await propose(t, plain, { encoding, ...WHERE })
  assert.match(useless.said, /--encoding changes nothing: the text is the same in UTF-8/)
})

test('init refuses with a reason.', async (t) => {
  const good = `${HEADER}2024-03-01 10:00,1.2,8\n`
  const stations = { 'b.csv': good, 'stations.csv': 'id,name,lat,lng\nother,O,1,2\n' }
  const cases: [text: string | typeof stations, told: Partial<Told>, says: RegExp][] = [
    [good, { 'good-flags': '1' }, /--good-flags changes nothing: no column is of flags/],
    [
      'Epoch,Hs (m)\n1709287200,1.2\n',
      { column: ['time=Epoch'], 'time-format': 'seconds since 1970-01-01', 'time-zone': 'UTC' },
      /--time-zone changes nothing/,
    ],
    [
      good,
      { column: ['significantHight=Hs'] },
      /--column: unknown "significantHight": did you mean "significantHeight"\?/,
    ],
    [good, { column: ['Hs'] }, /--column: expected time=…, not "Hs"/],
    [good, { column: ['windSpeed=Wind'] }, /the header lacks "Wind"; it has Time, Hs, Tp/],
    [good, { unit: ['windSpeed=kn'] }, /--unit windSpeed=kn: no column is known to be windSpeed/],
    [good, { unit: ['significantHeight=parsec'] }, /is not a known unit of this measure/],
    [`${HEADER}2090-03-01 10:00,1.2,8\n`, {}, /all times are in the future \(the first is 2090-/],
    [stations, { lat: '', lng: '' }, /no position is known of b: list it in /],
    ['2024-03-01T10:00Z,1.2\n2024-03-01T11:00Z,1.2\n', {}, /give --no-header and the numbers of columns/],
    ['', {}, /b.csv: it is empty/],
    [
      'Time (UTC),Hxx (m),Tp (s)\n2024-03-01 10:00,1.2,8\n',
      {},
      /no column is known to be the wave height; name it: --column significantHeight=NAME/,
    ],
    ['Xtime (UTC),Hs (m)\n2024-03-01 10:00,1.2\n', {}, /: --column time=NAME$/],
    [HEADER, {}, /no row follows the header/],
    ['#YY  MM DD hh mm WDIR WSPD\n', {}, /a file of NDBC, .* --kind ndbc/],
    ['DateHeure;H1/3;Hmax\n2024-03-01 10:00;1;2\n', {}, /is a file of Candhis/],
    ['numer_sta;date;HwaHwa\n', {}, /a file of Météo-France/],
    ['{"table":{"columnNames":[]}}', {}, /a file of ERDDAP/],
    ['{"data":{"spotterId":"SPOT-1"}}', {}, /is an answer for a Spotter/],
  ]
  for (const [files, told, says] of cases) {
    const { said, tables } = await propose(t, typeof files === 'string' ? { 'b.csv': files } : files, {
      ...WHERE,
      ...told,
    })
    assert.match(said, says)
    assert.deepEqual(tables, [])
  }
  const { said } = await propose(t, {}, {}, ['north/b.csv', 'south/b.csv'])
  assert.match(said, /the tables are in several folders/)
  const inland = await propose(t, { 'b.csv': good }, { lat: '48', lng: '68' })
  assert.match(inland.said, /lies at 48 68, in Kazakhstan/)
})

test('What a table does not say is asked for, one after the other.', async (t) => {
  const text = 'Date,Hs,Flag\n01/02/2024 10:00,1.5,A\n02/03/2024 10:00,9,B\n'
  const told: { [name: string]: string } = {}
  for (const [option, value] of [
    ['time-format', 'DD/MM/YYYY HH:mm'],
    ['time-zone', 'Europe/Paris'],
    ['good-flags', 'A'],
    ['lng', '-4.5'],
    ['lat', '48.5'],
  ]) {
    const { said, tables } = await propose(t, { 'b.txt': text }, told)
    assert.match(said, new RegExp(`--${option}$`))
    assert.deepEqual(tables, [])
    told[option] = value
  }
  const { said, read } = await propose(t, { 'b.txt': text }, told)
  assert.match(said, /heights without a unit are taken for metres: Hs/)
  assert.deepEqual(await read(), ['b/0 2024-02-01T09:00:00Z 1.5 - - - - - - - -'])
})
