/** `init --table` and `init --kind`, and the page for owners of a buoy, followed as it is written. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readConfiguration } from '../../src/sources/configuration.ts'
import { openKind } from '../../src/sources/kinds.ts'
import type { TableOptions } from '../../src/sources/tables/column-map.ts'
import { runCli, temporaryFolder } from '../live.ts'
import { blocksOf, exampleOf, KINDS, textOf } from '../sources/examples.ts'
import { recordSource, rowTable } from '../sources/recorder.ts'
import { BARE, startProgram } from '../started_program.ts'

const textAt = (path: string): string => readFileSync(path, 'utf8')

/** The words of a command line. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word)

test('docs/your-buoys.md works as it is written, from an empty folder to a second network.', async (t) => {
  const cwd = temporaryFolder(t)
  const place = { cwd, env: { ...BARE, HOME: join(cwd, 'home') } }
  const found: string[] = []
  for (const { language, file, text } of blocksOf(textOf('docs/your-buoys.md'))) {
    if (file !== '') {
      mkdirSync(dirname(join(cwd, file)), { recursive: true })
      writeFileSync(join(cwd, file), text)
    }
    if (language !== 'sh') continue
    const [npx, name, command, ...words] = wordsOf(text.trim())
    assert.deepEqual([npx, name], ['npx', 'groundswell'])
    if (command !== 'run') {
      const program = startProgram(t, [command, ...words], place)
      assert.equal(await program.ended, 0, program.said)
      found.push(program.stdout)
      continue
    }
    const own = words.filter((word) => word !== '--port' && word !== '8081')
    const server = startProgram(
      t,
      ['run', ...own, '--port=0', '--admin-port=0', '--workers=1', '--drain-time=0s'],
      place,
    )
    const [, base] = await server.says(/listening on (\S+)/)
    const query = found.length < 4 ? 'inner' : 'reef'
    const answer = (await (await fetch(`${base}/buoys/search?query=${query}`)).json()) as {
      data: { buoys: { name: string; lat: number }[] }
    }
    const buoys = answer.data.buoys.map(({ name: buoy, lat }) => `${buoy} ${lat}`)
    found.push(buoys.sort().join(', '))
    await server.stop()
  }
  const [first, buoy, key, again, second, reefs] = found
  assert.match(first, /Date\/Time is time \(DD\/MM\/YYYY HH:mm\)\n {2}Hs is significantHeight/)
  assert.match(
    first,
    /\n {2}line 4: "01\/03\/2024 10:00" is 1 March 2024, 00:00 UTC; "1.25" is significantHeight 1.25 m,/,
  )
  assert.match(first, /"95" is direction from 95°/)
  assert.match(first, /Inner Bank lies at -27.5 153.6, 56 km from Brisbane, Australia: 3 rows /)
  assert.deepEqual([buoy, again], ['Inner Bank -27.5', 'Inner Bank -27.5'])
  assert.match(key, /^\S{20,}/m)
  assert.match(second, /north.csv, south.csv: later files with names such as \{station\}.csv are read, too/)
  assert.equal(reefs, 'North Reef -23.2, South Reef -23.9')
  assert.deepEqual(readdirSync(cwd).sort(), [
    'bank.csv',
    'data',
    'groundswell.config.json',
    'more',
    'more-data',
    'more.json',
  ])
  assert.ok(existsSync(join(cwd, 'data', 'keys.json')) && existsSync(join(cwd, 'more-data', 'snapshots')))
  const { of } = await doctorOf(join(cwd, 'more.json'))
  assert.equal(of('folder of snapshots'), `ok: ${join(cwd, 'more-data', 'snapshots')}`)
  const { of: ofBoth } = await doctorOf(join(cwd, 'more.json'), '--data', join(cwd, 'data'))
  assert.match(ofBoth('sources'), /is of other sources: "Harbour office"/)
})

/** What the doctor says of a check, all findings in one text. */
async function doctorOf(config: string, ...more: string[]) {
  const { stdout } = await runCli(['doctor', '--json', '--config', config, ...more])
  const { findings } = JSON.parse(stdout) as { findings: { check: string; level: string; found: string }[] }
  const of = (check: string): string =>
    findings
      .filter((one) => one.check === check)
      .map(({ level, found }) => `${level}: ${found}`)
      .join('\n')
  return { of }
}

const HEADER = 'Time (UTC),Hs (m),Tp (s)\n'
const WHERE = ['--lat', '44', '--lng', '-9']

/** Writes files into a new folder and runs `init` there on the first ones. */
async function initialiseIn(
  t: TestContext,
  files: { [name: string]: string | Buffer },
  args: readonly string[],
) {
  const cwd = temporaryFolder(t)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  const place = { cwd, env: { ...BARE, HOME: cwd } }
  const run = startProgram(t, ['init', '--config', 'c.json', ...args], place)
  const code = await run.ended
  const config = (): { data: string; sources: [{ kind: string; folder: string; options: TableOptions }] } =>
    JSON.parse(textAt(join(cwd, 'c.json'))) as ReturnType<typeof config>
  const read = async (): Promise<string[]> => {
    const [{ kind, options }] = config().sources
    return rowTable((await recordSource(openKind(kind, cwd, { ...options }))).rows)
  }
  return { cwd, code, said: run.said, config, read, place }
}

test("The next month's file is read without a word, and a table of another name is a grave doubt.", async (t) => {
  const files = { 'bank_03.csv': `${HEADER}2024-03-01 10:00,1.2,8\n` }
  const args = ['--table', 'bank_03.csv', '--station', 'Bank', ...WHERE]
  const { cwd, code, said, config, place } = await initialiseIn(t, files, args)
  assert.equal(code, 0, said)
  assert.equal(config().sources[0].options.tables![0].files, 'bank_{digits}.csv')
  writeFileSync(join(cwd, 'bank_04.csv'), `${HEADER}2024-04-01 10:00,2.2,8\n`)
  writeFileSync(join(cwd, 'bank_test.csv'), `${HEADER}2024-05-01 10:00,9.2,8\n`)
  const build = startProgram(t, ['build', '--config', 'c.json'], place)
  assert.equal(await build.ended, 0, build.said)
  assert.match(
    build.said,
    /warning: \S.*a table in the folder is not read, as no map has its name: "bank_test.csv"/,
  )
  assert.match(build.said, /Own buoys: 2 files, 2 rows, 0 bad lines/)
})

test('Files of equal columns are one table, and the days of one decide the format of all.', async (t) => {
  const rows = (day: string): string =>
    `Date,Hs (m),Lat,Lon\n${day} 10:00,1.2,44,-9\n${day} 11:00,1.3,44,-9\n`
  const files = {
    'b_04.csv': rows('01/04/2024'),
    'b_03.csv': rows('13/03/2024'),
    'other.csv': `${HEADER}2024-03-01 10:00,1.2,8\n`,
  }
  const args = '--table b_04.csv b_03.csv --time-zone UTC'
  const { code, said, config, read } = await initialiseIn(t, files, args.split(' '))
  assert.equal(code, 0, said)
  assert.deepEqual(
    config().sources[0].options.tables!.map(({ files: names, station }) => [names, station]),
    [['b_{digits}.csv', { is: 'b' }]],
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
    const given = first === 'id' ? ['stations.csv'] : []
    const { code, said } = await initialiseIn(t, files, ['--table', 'north.csv', 'south.csv', ...given])
    assert.equal(code, 0, said)
    assert.match(
      said,
      /Own buoys: 2 buoys, 0 reporting in the last 24 hours, newest reading 2024-03-01T10:00:00Z/,
    )
  }
})

test('What init cannot guess is said by options, which are in the configuration and read so.', async (t) => {
  const cases: [text: string, args: string[], row: string, inMap: object][] = [
    [
      '2024-03-01T10:00Z;1,5;8\n2024-03-01T11:00Z;1,6;8\n',
      ['--no-header', '--delimiter', 'semicolon', '--column', 'time=1', '--column', 'significantHeight=2'],
      '1.5',
      { header: false, delimiter: ';' },
    ],
    [
      'Time (UTC),Hs,Gust\n2024-03-01 10:00,150,9\n',
      ['--unit', 'significantHeight=cm', '--unit', 'gustSpeed=m/s'],
      '1.5',
      { values: { significantHeight: { at: 'Hs', unit: 'cm' }, gustSpeed: { at: 'Gust', unit: 'm/s' } } },
    ],
    [
      'Moment (UTC),Sea,Hs (m)\n2024-03-01 10:00,1.5,9\n',
      ['--column', 'time=Moment', '--column', 'significantHeight=Sea', '--unit', 'significantHeight=m'],
      '1.5',
      { values: { significantHeight: { at: 'Sea', unit: 'm' } } },
    ],
  ]
  for (const [text, args, height, inMap] of cases) {
    const given = ['--table', 'b.csv', ...args, ...WHERE]
    const { code, said, config, read } = await initialiseIn(t, { 'b.csv': text }, given)
    assert.equal(code, 0, said)
    const [table] = config().sources[0].options.tables!
    assert.deepEqual(
      Object.fromEntries(Object.keys(inMap).map((key) => [key, table[key as 'values']])),
      inMap,
    )
    assert.equal((await read())[0].split(' ')[2], height)
  }
})

test('Rows of JSON become a map of places, with every unit written down.', async (t) => {
  const rows = [10, 11].map((hour) => ({
    at: { moment: `2024-03-01T${hour}:00Z`, lat: 44 },
    wave: { 'a/b': 1.5 },
    lon: -9,
  }))
  const files = { 'buoy.json': JSON.stringify({ answer: { 'a/b': rows }, more: [] }) }
  const args =
    '--table buoy.json --column time=/at/moment --column lat=/at/lat --column significantHeight=/wave/a~1b'
  const { code, said, config, read } = await initialiseIn(t, files, args.split(' '))
  assert.equal(code, 0, said)
  assert.equal(config().sources[0].kind, 'json')
  assert.equal(config().sources[0].options.tables![0].rows, '/answer/a~1b')
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
  const files = { 'buoy.json': JSON.stringify({ all }) }
  const { code, said, config } = await initialiseIn(t, files, ['--table', 'buoy.json'])
  assert.equal(code, 0, said)
  const [{ rows, header, values }] = config().sources[0].options.tables!
  assert.deepEqual([rows, header, values!.significantHeight!.at], ['/all', '/all/0', '/@Hm0 (m)'])
  assert.match(said, /buoy lies at 44 -9, .*: 1 row [^]*1 file, 1 row, 0 bad lines/)
})

test('A text that is not UTF-8 is asked about with its first odd line, and read by the encoding that is told.', async (t) => {
  const rows = 'Île,2024-03-01 10:00,1.2\nÎle,2024-03-01 11:00,1.3\n'
  const files = { 'b.csv': Buffer.from(`station,Time (UTC),Hs (m)\n${rows}`, 'latin1') }
  const init = (...more: string[]) => initialiseIn(t, files, ['--table', 'b.csv', ...more, ...WHERE])
  const asked = await init()
  assert.equal(asked.code, 1, asked.said)
  assert.match(asked.said, /it is not UTF-8: line 2: .*\n.*--encoding\n$/)
  const wrong = await init('--encoding', 'latin-9000')
  assert.match(wrong.said, /--encoding: expected a name of the Encoding Standard/)
  const { code, said, config } = await initialiseIn(
    t,
    { ...files, 'stations.csv': 'id,name,lat,lng\nÎle,Île,48,-5\n' },
    ['--table', 'b.csv', '--encoding', 'windows-1252'],
  )
  assert.equal(code, 0, said)
  assert.equal(config().sources[0].options.tables![0].encoding, 'windows-1252')
  assert.match(said, /Île/)
  const plain = { 'b.csv': `${HEADER}2024-03-01 10:00,1.2,8\n` }
  const useless = await initialiseIn(t, plain, ['--table', 'b.csv', '--encoding', 'windows-1252', ...WHERE])
  assert.match(useless.said, /--encoding changes nothing: the text is the same in UTF-8/)
})

test('init refuses with a reason and leaves nothing behind.', async (t) => {
  const good = `${HEADER}2024-03-01 10:00,1.2,8\n`
  const cases: [files: { [name: string]: string }, args: string[], says: RegExp][] = [
    [
      { 'b.csv': good },
      ['--good-flags', '1', ...WHERE],
      /--good-flags changes nothing: no column is of flags/,
    ],
    [
      { 'b.csv': 'Epoch,Hs (m)\n1709287200,1.2\n' },
      ['--column', 'time=Epoch', '--time-format', 'seconds since 1970-01-01', '--time-zone', 'UTC', ...WHERE],
      /--time-zone changes nothing/,
    ],
    [
      { 'b.csv': good },
      ['--column', 'significantHight=Hs', ...WHERE],
      /--column: unknown "significantHight": did you mean "significantHeight"\?/,
    ],
    [{ 'b.csv': good }, ['--column', 'Hs', ...WHERE], /--column: expected time=…, not "Hs"/],
    [
      { 'b.csv': good },
      ['--column', 'windSpeed=Wind', ...WHERE],
      /the header lacks "Wind"; it has Time, Hs, Tp/,
    ],
    [
      { 'b.csv': good },
      ['--unit', 'windSpeed=kn', ...WHERE],
      /--unit windSpeed=kn: no column is known to be windSpeed/,
    ],
    [
      { 'b.csv': good },
      ['--unit', 'significantHeight=parsec', ...WHERE],
      /is not a known unit of this measure/,
    ],
    [
      { 'b.csv': `${HEADER}2090-03-01 10:00,1.2,8\n` },
      WHERE,
      /all times are in the future \(the first is 2090-/,
    ],
    [
      { 'b.csv': good, 'stations.csv': 'id,name,lat,lng\nother,O,1,2\n' },
      [],
      /no position is known of b: list it in /,
    ],
    [
      { 'b.csv': '2024-03-01T10:00Z,1.2\n2024-03-01T11:00Z,1.2\n' },
      WHERE,
      /give --no-header and the numbers of columns/,
    ],
    [{ 'b.csv': '' }, WHERE, /b.csv: it is empty/],
    [
      { 'b.csv': 'Time (UTC),Hxx (m),Tp (s)\n2024-03-01 10:00,1.2,8\n' },
      WHERE,
      /no column is known to be the wave height; name it: --column significantHeight=NAME/,
    ],
    [{ 'b.csv': 'Xtime (UTC),Hs (m)\n2024-03-01 10:00,1.2\n' }, WHERE, /: --column time=NAME\n/],
    [
      { 'b.csv': `${HEADER}${[1, 2, 3, 4].map((height) => `2024-03-01 10:00,${height},8\n`).join('')}` },
      ['--station', 'B', ...WHERE],
      /up to now; one identifier has two wave heights at many times/,
    ],
    [{ 'b.csv': HEADER }, WHERE, /no row follows the header/],
    [{ 'b.csv': '#YY  MM DD hh mm WDIR WSPD\n' }, WHERE, /a file of NDBC, .* --kind ndbc/],
    [{ 'b.csv': 'DateHeure;H1/3;Hmax\n2024-03-01 10:00;1;2\n' }, WHERE, /is a file of Candhis/],
    [{ 'b.csv': 'numer_sta;date;HwaHwa\n' }, WHERE, /a file of Météo-France/],
    [{ 'b.csv': '{"table":{"columnNames":[]}}' }, WHERE, /a file of ERDDAP/],
    [{ 'b.csv': '{"data":{"spotterId":"SPOT-1"}}' }, WHERE, /is an answer for a Spotter/],
  ]
  for (const [files, args, says] of cases) {
    const { cwd, code, said } = await initialiseIn(t, files, ['--table', 'b.csv', ...args])
    assert.ok(code === 1 || code === 2, said)
    assert.match(said, says)
    assert.deepEqual(readdirSync(cwd).sort(), Object.keys(files).sort(), said)
  }
})

test('What a table does not say is asked for, one after the other.', async (t) => {
  const text = 'Date,Hs,Flag\n01/02/2024 10:00,1.5,A\n02/03/2024 10:00,9,B\n'
  const given: string[] = []
  for (const [option, value] of [
    ['--time-format', 'DD/MM/YYYY HH:mm'],
    ['--time-zone', 'Europe/Paris'],
    ['--good-flags', 'A'],
    ['--lng', '-4.5'],
    ['--lat', '48.5'],
    ['', ''],
  ]) {
    const { code, said, read } = await initialiseIn(t, { 'b.txt': text }, ['--table', 'b.txt', ...given])
    assert.equal(code, option === '' ? 0 : 1, said)
    given.push(option, value)
    if (option !== '') assert.match(said, new RegExp(`${option}\\n$`))
    else {
      assert.match(said, /heights without a unit are taken for metres: Hs/)
      assert.deepEqual(await read(), ['b/0 2024-02-01T09:00:00Z 1.5 - - - - - - - -'])
    }
  }
})

test('init --kind writes an example of every kind, which its configuration reads.', async (t) => {
  // No page shows NetCDF.
  for (const kind of KINDS.filter((name) => !['cmems', 'altimetry', 'demo'].includes(name))) {
    const config = join(temporaryFolder(t), 'c.json')
    const { code, stderr } = await runCli(['init', '--kind', kind, '--config', config])
    assert.equal(code, 0, stderr)
    const [configured] = readConfiguration(config, { CANDHIS_KEY: 'x' }).sources
    const { options } = exampleOf(kind).entry
    const { bad, understood } = await recordSource(openKind(kind, configured.folder, options))
    assert.deepEqual(bad, [])
    assert.ok(understood.size > 0, kind)
  }
})
