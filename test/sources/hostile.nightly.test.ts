/** Single files that once took a build, or its memory, or its time with them. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readConfiguration } from '../../src/sources/configuration.ts'
import { openCsv } from '../../src/sources/csv.ts'
import { openErddap } from '../../src/sources/tables/erddap.ts'
import { openForecast } from '../../src/sources/forecast/forecast-source.ts'
import { openJsonSource as openJson } from '../../src/sources/tables/json.ts'
import { openCandhis } from '../../src/sources/candhis.ts'
import { openNdbc } from '../../src/sources/ndbc/ndbc.ts'
import { type OpenSource } from '../../src/sources/source.ts'
import { BuildError } from '../../src/system/build-error.ts'
import { openTides } from '../../src/sources/tides-source.ts'
import { plainMap } from './json_maps.ts'
import { folderOf, record } from './recorder.ts'

const MEGABYTES_64 = 64 * 2 ** 20

const MAP = { ...plainMap('/rows', '/id', '/time', '/hs') }
const openMapped: OpenSource = (folder) => openJson(folder, MAP)

const NDBC_FILES = {
  'activestations_1.xml': '<stations><station id="41001" lat="34" lon="-72" name="A"/></stations>',
  'realtime2/41001.txt': '#YY MM DD hh mm WVHT DPD APD MWD PTDY\n2024 01 01 00 00 1.5 8 6 200 MM\n',
}

test('8 MB of XML elements in each other are no list, and the rest of the source is read', async (t) => {
  const bomb = Buffer.alloc(2 ** 23, '<a>')
  const folder = await folderOf(t, { ...NDBC_FILES, 'activestations_2.xml': bomb })
  const { bad, rows } = await record(openNdbc, folder)
  assert.deepEqual(bad, ['activestations_2.xml:1 not well-formed XML; the rest of the file is not read'])
  assert.deepEqual([...rows.keys()], ['41001/1'])
})

test('64 MB of JSON of empty rows are refused before they are parsed', async (t) => {
  const bomb = Buffer.alloc(MEGABYTES_64 - 2, '{},')
  const folder = await folderOf(t, {
    'a.json': Buffer.concat([Buffer.from('['), bomb]),
    'b.json': JSON.stringify({ rows: [{ id: 'a', time: '2024-01-01T00:00:00Z', hs: 1.5 }] }),
  })
  const { bad, understood } = await record(openMapped, folder)
  assert.deepEqual(bad, ['a.json:1 more than 16777216 values'])
  assert.equal(understood.get('b.json'), 1)
})

test('Rows of JSON that cannot be understood have one fixed reason, however many they are', async (t) => {
  const folder = await folderOf(t, { 'a.json': `{"rows":[${'{},'.repeat(300_000)}{}]}` })
  const { bad } = await record(openMapped, folder)
  assert.equal(bad.length, 300_001)
  const reasons = new Set(bad.map((line) => line.replace(/^a\.json:\d+ /, '')))
  assert.deepEqual([...reasons], ['no valid time'])
})

test('JSON that is nested without end is refused by every kind that reads JSON', async (t) => {
  const bomb = Buffer.alloc(MEGABYTES_64 / 4, '{"a":')
  const files = { 'getCampTR_06403.json': bomb, 'a_1.json': bomb }
  for (const open of [openMapped, openForecast, openErddap, openCandhis, openTides]) {
    const told = await record(open, await folderOf(t, files)).then(
      ({ bad, doubts }) => [...bad, ...doubts].join('\n'),
      (error: unknown) => {
        assert.ok(error instanceof BuildError, String(error))
        return error.message
      },
    )
    assert.match(told, /more than 64 levels|larger than 1048576 bytes|no station that can be used|neither/)
  }
})

test('A line of a hundred million fields, and one without end, are bad lines', async (t) => {
  const folder = await folderOf(t, {
    ...NDBC_FILES,
    'station_table_1.txt': Buffer.alloc(2 ** 23, '|'),
    'station_table_2.txt': Buffer.alloc(2 ** 23, '\n'),
    'stdmet/41001h2020.txt': Buffer.alloc(MEGABYTES_64, '9 '),
    'stdmet/41001h2021.txt.gz': gzipSync(Buffer.alloc(MEGABYTES_64, '9'), { level: 1 }),
  })
  const { bad, rows } = await record(openNdbc, folder)
  assert.deepEqual(bad.toSorted(), [
    '41001h2020.txt:1 no header line of an NDBC standard meteorological file',
    '41001h2021.txt.gz:1 no header line of an NDBC standard meteorological file',
    'station_table_1.txt:1 not a line of the station table',
  ])
  assert.equal(rows.get('41001/1')?.length, 1)
})

const CSV_FILES = {
  'sources.csv': 'name,network\nS,national\n',
  'buoys.csv': 'source,identifier,name,lat,lng\nS,b,Buoy,45,-5\n',
  'readings/a.csv': 'source,identifier,time,significant_height\nS,b,1709251200,1.5\n',
}

test('A pipe or a device in the place of a file that is opened by its name is refused, and nothing waits', async (t) => {
  for (const [open, files, name] of [
    [openCsv, CSV_FILES, 'sources.csv'],
    [openCsv, CSV_FILES, 'buoys.csv'],
  ] as const) {
    const folder = await folderOf(t, files)
    const path = join(folder, name)
    for (const put of [
      () => execFileSync('mkfifo', [path]),
      () => symlinkSync('/dev/zero', path),
      () => mkdirSync(path),
    ]) {
      rmSync(path, { recursive: true })
      put()
      await assert.rejects(record(open, folder), (error: unknown) => {
        assert.ok(error instanceof BuildError, String(error))
        assert.match(error.message, /(sources|buoys)\.csv: is not a regular file$|columns\.json is missing/)
        return true
      })
    }
  }
})

test('Pipes and devices among the files of a folder are passed over', async (t) => {
  const files = { ...CSV_FILES, 'forecast/none.csv': 'lat,lng,run,time\n' }
  const folder = await folderOf(t, files)
  for (const name of ['readings/b.csv', 'forecast/b.csv', 'passes.csv']) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    execFileSync('mkfifo', [join(folder, name)])
    symlinkSync('/dev/zero', join(folder, name.replace('.csv', '2.csv')))
  }
  const { understood } = await record(openCsv, folder)
  assert.equal(understood.get('a.csv'), 1)
})

test('A configuration that is a pipe, a device or endless is refused in a sentence', async (t) => {
  const folder = await folderOf(t, {})
  const path = join(folder, 'groundswell.config.json')
  execFileSync('mkfifo', [path])
  for (const [file, text] of [
    [path, /config\.json: is not a regular file$/],
    ['/dev/zero', /^\/dev\/zero: is not a regular file$/],
    [join(folder, 'none'), /none: cannot be read \(ENOENT\): there is no such file or folder$/],
  ] as const) {
    assert.throws(
      () => readConfiguration(file, {}),
      (error: unknown) => {
        assert.ok(error instanceof BuildError)
        assert.match(error.message, text)
        return true
      },
    )
  }
})
