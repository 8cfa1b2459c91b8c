/** The configuration file: what it takes, what it refuses and how it says so. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { readConfiguration, type Configuration } from '../../src/sources/configuration.ts'
import { BuildError } from '../../src/system/build-error.ts'
import type { BuoyRecord } from '../../src/sea/records.ts'
import { temporaryFolder } from '../live.ts'
import { folderOf, recordSource } from './recorder.ts'

type Environment = { [name: string]: string }

function read(t: TestContext, value: unknown, environment: Environment = {}): Configuration {
  const file = join(temporaryFolder(t), 'groundswell.config.json')
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value))
  return readConfiguration(file, environment)
}

/** The complaint about `value`, without the file's name. */
function complaint(t: TestContext, value: unknown, environment: Environment = {}): string {
  try {
    read(t, value, environment)
  } catch (error) {
    assert.ok(error instanceof BuildError, String(error))
    const place = error.message.indexOf('groundswell.config.json: ')
    assert.ok(place > 0, error.message)
    return error.message.slice(place + 'groundswell.config.json: '.length)
  }
  return 'no complaint'
}

const CSV = { name: 'Own', kind: 'csv', folder: 'own' }
const own = (change: object): object => ({ sources: [{ ...CSV, ...change }] })
const FILE = { url: 'https://a.example/a.csv', to: 'a.csv' }
const fetching = (download: object): object => ({ sources: [{ ...CSV, fetch: [{ ...FILE, ...download }] }] })

const BUOY: BuoyRecord = {
  source: 'X',
  identifier: '41001',
  name: 'East Hatteras',
  lat: 34.7,
  lng: -72.3,
  type: 'buoy',
}

test('What is taken back has a station, a range in UTC, and known values or none.', (t) => {
  const dropping = (change: object): object =>
    own({ drop: [{ station: 'B1', from: '2026-03-01', until: '2026-03-02T10:30:00Z', ...change }] })
  const { terms } = read(t, dropping({ values: ['peakPeriod'] })).sources[0].source
  assert.deepEqual(terms?.drop, [
    {
      station: 'b1',
      from: Date.UTC(2026, 2, 1) / 1000,
      until: Date.UTC(2026, 2, 2, 10, 30) / 1000,
      measures: ['peakPeriod'],
    },
  ])
  const cases: [change: object, words: RegExp][] = [
    [{ from: '1 March' }, /drop\[0\]\.from must be a day or a time in UTC/],
    [{ from: '2026-02-30' }, /drop\[0\] names a day or a time that does not exist/],
    [{ until: '2026-03-01' }, /drop\[0\] has "until" at or before "from"/],
    [{ values: ['significantHeight'] }, /drop\[0\]\.values\[0\] is unknown/],
    [{ station: undefined }, /drop\[0\] lacks "station"/],
  ]
  for (const [change, words] of cases) assert.match(complaint(t, dropping(change)), words)
})

test('A source has its folder beside the file, its words about the network, and a refresh.', (t) => {
  const { sources, prefer, sameWithinKm, hosts } = read(t, {
    sources: [
      {
        ...CSV,
        network: 'coastal',
        label: 'Ours',
        aliases: ['Home'],
        credit: 'thanks',
        licence: 'free',
        refresh: '6h',
        complete: false,
      },
      { name: 'Demo', kind: 'demo' },
    ],
    prefer: ['Candhis', 'NDBC'],
    hosts: { 'A.example:81': { connections: 4 } },
  })
  const [own, demo] = sources
  assert.match(own.folder, /groundswell-test-\w+\/own$/)
  assert.deepEqual([own.refresh, own.source.complete, own.downloads], [21_600, false, []])
  assert.deepEqual(own.source.terms?.info, {
    network: 'coastal',
    label: 'Ours',
    aliases: ['Home'],
    credit: 'thanks',
    licence: 'free',
  })
  assert.deepEqual(
    [demo.folder, demo.refresh, demo.source.complete, demo.source.terms?.info],
    ['', 1800, true, {}],
  )
  assert.equal(typeof demo.source.defaultAsOf, 'function')
  assert.deepEqual([prefer, sameWithinKm], [['Candhis', 'NDBC'], 1])
  assert.deepEqual(hosts.get('a.example:81'), { connections: 4, gapMs: 200, private: false })
})

test('A fault is named by its place.', (t) => {
  const cases: [value: unknown, expected: RegExp][] = [
    ['{"sources": [', /^is not JSON: /],
    [[], /^the file must be an object in \{ \}$/],
    [{}, /^the file lacks "sources"$/],
    [{ sources: [] }, /^sources must have 1 or more elements$/],
    [{ sources: [CSV], source: 1 }, /^the file has an unknown key "source"$/],
    [own({ limits: { seconds: 0 } }), /^sources\[0\]\.limits\.seconds must be >= 1$/],
    [own({ limits: { megabytes: 64 } }), /^sources\[0\]\.limits\.megabytes must be >= 128$/],
    [
      { sources: [{ ...CSV, kind: 'noaa' }] },
      /^sources\[0\]\.kind is unknown: "noaa" \(known are ndbc, .*demo\)$/,
    ],
    [
      { sources: [{ ...CSV, kind: 'tabel' }] },
      /^sources\[0\]\.kind is unknown: "tabel": did you mean "table"\?/,
    ],
    [{ sources: [{ ...CSV, kind: 7 }] }, /^sources\[0\]\.kind must be one of ndbc, /],
    [own({ filder: {} }), /^sources\[0\] has an unknown key "filder"$/],
    [{ sources: [CSV, CSV] }, /^sources\[1\]\.name "Own" is the name of an earlier source$/],
    [own({ refresh: '30' }), /^sources\[0\]\.refresh must be a duration such as 30m$/],
    [own({ refresh: '367d' }), /^sources\[0\]\.refresh must be at most 366d$/],
    [own({ fetchWithin: '30 m' }), /^sources\[0\]\.fetchWithin must be a duration such as 30m$/],
    [own({ fetchWithin: '30d' }), /^sources\[0\]\.fetchWithin must be at most 20d$/],
    [own({ options: { a: 1 } }), /^sources\[0\]\.options must be absent: this kind of source takes none$/],
    [own({ filter: { box: { south: 50, west: 0, north: 40, east: 1 } } }), /box has south above north$/],
    [own({ filter: { box: { south: 91, west: 0, north: 40, east: 1 } } }), /box\.south must be <= 90$/],
    [
      { sources: [{ name: 'A', kind: 'csv', fetch: [FILE] }] },
      /^sources\[0\] must have property folder when/,
    ],
    [
      { sources: [CSV, { ...CSV, name: 'B', fetch: [FILE] }, { ...CSV, name: 'C', fetch: [FILE] }] },
      /^sources\[2\]\.folder is the folder that "B" fetches into$/,
    ],
    [{ sources: [CSV], hosts: { 'a.example': { gap: 1 } } }, /^hosts\.a\.example has an unknown key "gap"$/],
    [own({ name: 'a\nb' }), /^sources\[0\]\.name must be one line of 1 to 100 characters/],
    [{ sources: [{ name: 'A', kind: 'csv' }] }, /^sources\[0\] needs a folder$/],
    [
      { sources: [CSV], hosts: { 'https://a.example': { private: true } } },
      /^hosts has the key "https:\/\/a\.example", which is not a host such as mirror\.example or mirror\.example:8080$/,
    ],
    [
      fetching({ url: 'ftp://a.example/a' }),
      /^sources\[0\]\.fetch\[0\]\.url must be an address such as https:/,
    ],
    [
      fetching({ url: 'https://user:secret@a.example/a' }),
      /^sources\[0\]\.fetch\[0\]\.url must be an address such as https:/,
    ],
    [fetching({ to: '../a.csv' }), /^sources\[0\]\.fetch\[0\]\.to must be a path below the folder/],
    [fetching({ to: '/etc/a.csv' }), /^sources\[0\]\.fetch\[0\]\.to must be a path below the folder/],
    [fetching({ to: 'a/.fetched.json' }), /^sources\[0\]\.fetch\[0\]\.to must be a path below the folder/],
    [
      fetching({ stations: ['../x'], to: '{station}' }),
      /^sources\[0\]\.fetch\[0\]\.stations\[0\] must be 1 to 64 letters/,
    ],
    [
      fetching({ url: 'https://a.example/{station}' }),
      /^sources\[0\]\.fetch\[0\] has \{station\} but no "stations"$/,
    ],
    [fetching({ stations: ['A'] }), /^sources\[0\]\.fetch\[0\] needs \{station\} in "to"$/],
    [fetching({ url: 'https://a.example/{DD}' }), /has \{DD\} but no "days"$/],
    [fetching({ url: 'https://a.example/{DD}', days: 2 }), /needs \{YYYY\}, \{MM\} and \{DD\} in "to"$/],
    [
      fetching({ url: 'https://a.example/{DD}{from}', days: 2, to: '{YYYY}{MM}{DD}' }),
      /a day and of a range/,
    ],
    [fetching({ to: '{YYYY}.csv', days: 2 }), /names days in "to", so "url" has to name them too$/],
    [fetching({ url: 'https://a.example/{year}' }), /has the unknown word \{year\}/],
    [fetching({ headers: { 'x y': 'a' } }), /^sources\[0\]\.fetch\[0\]\.headers/],
    [fetching({ headers: { a: 'b\r\nc: d' } }), /^sources\[0\]\.fetch\[0\]\.headers\.a /],
    [
      fetching({ headers: { a: { env: 'KEY' } } }),
      /fetch\[0\] needs the environment variable KEY, which is not set$/,
    ],
    [
      fetching({ query: { a: { env: 'ODD' } } }),
      /fetch\[0\] takes ODD, which holds more than printable ASCII$/,
    ],
  ]
  for (const [value, expected] of cases) assert.match(complaint(t, value, { ODD: 'a\nb' }), expected)
  assert.match(complaint(t, { sources: Array.from({ length: 9 }, () => ({ kind: 1 })) }), /; and \d+ more$/)
})

test('Secrets come from the environment, and no complaint holds one.', (t) => {
  const { sources } = read(t, fetching({ headers: { Authorization: { env: 'KEY' }, accept: 'a/b' } }), {
    KEY: 's3cret',
  })
  assert.deepEqual(sources[0].downloads[0].headers, { Authorization: 's3cret', accept: 'a/b' })
  assert.ok(
    !complaint(t, fetching({ headers: { a: { env: 'KEY' } } }), { KEY: 's3cret\n' }).includes('s3cret'),
    'told',
  )
})

test('A filter takes buoys by box, kind of station and identifier, without case.', (t) => {
  const cases: [filter: object, isWanted: boolean][] = [
    [{}, true],
    [{ box: { south: 30, west: -80, north: 40, east: -70 } }, true],
    [{ box: { south: 30, west: 170, north: 40, east: -70 } }, true],
    [{ box: { south: 30, west: -70, north: 40, east: 0 } }, false],
    [{ types: ['Buoy', 'fixed'] }, true],
    [{ types: ['fixed'] }, false],
    [{ stations: ['41001', '2'] }, true],
    [{ stations: ['2'] }, false],
    [{ except: ['41001'] }, false],
    [{ types: ['buoy'], except: ['2'] }, true],
  ]
  for (const [filter, isWanted] of cases) {
    const { sources } = read(t, { sources: [{ ...CSV, filter }] })
    assert.equal(sources[0].source.terms?.accepts(BUOY), isWanted, JSON.stringify(filter))
  }
  const { sources } = read(t, { sources: [{ ...CSV, filter: { types: ['buoy'], stations: ['02b04'] } }] })
  const { type: _, ...untyped } = BUOY
  assert.equal(sources[0].source.terms?.accepts({ ...BUOY, identifier: '02B04' }), true)
  assert.equal(sources[0].source.terms?.accepts({ ...BUOY, identifier: '02B04', type: '' }), false)
  // As a snapshot has it.
  assert.equal(sources[0].source.terms?.accepts({ ...untyped, identifier: '02B04' }), true)
})

test('Any JSON is a configuration or is refused with its place.', (t) => {
  const file = join(temporaryFolder(t), 'groundswell.config.json')
  fc.assert(
    fc.property(
      fc.oneof(
        fc.jsonValue(),
        fc.jsonValue().map((value) => ({ sources: [{ ...CSV, fetch: [value], filter: value }] })),
      ),
      (value) => {
        writeFileSync(file, JSON.stringify(value))
        assert.throws(() => readConfiguration(file, {}), BuildError)
      },
    ),
    { numRuns: 60 },
  )
})

const EXAMPLES = fileURLToPath(new URL('../../data/examples', import.meta.url))

test('The examples are configurations.', () => {
  const names = readdirSync(EXAMPLES).filter((name) => name.endsWith('.config.json'))
  assert.deepEqual(names.toSorted(), [
    'first.config.json',
    'french-coast.config.json',
    'ndbc-world.config.json',
  ])
  for (const name of names) {
    const { sources } = readConfiguration(join(EXAMPLES, name), { CANDHIS_KEY: 'x' })
    assert.ok(sources.length > 0 && sources.every(({ downloads }) => downloads.length > 0), name)
  }
  const own = readFileSync(fileURLToPath(new URL('../../docs/configuration.md', import.meta.url)), 'utf8')
  for (const name of names) assert.ok(own.includes(`data/examples/${name}`), name)
})

test('A configuration that is not UTF-8 is refused, and a byte order mark is not in the way.', (t) => {
  const file = join(temporaryFolder(t), 'groundswell.config.json')
  const text = JSON.stringify({ sources: [{ ...CSV, label: 'Météo' }] })
  writeFileSync(file, Buffer.from(text, 'latin1'))
  assert.throws(() => readConfiguration(file, {}), { message: `${file}: is not UTF-8` })
  writeFileSync(file, `\ufeff${text}`)
  assert.equal(readConfiguration(file, {}).sources[0].name, CSV.name)
})

test('A source is read within the limits that its entry sets.', async (t) => {
  const bomb = gzipSync(`[${'{"hourly":{"time":[]}},'.repeat(1_500_000)}{}]`)
  const folder = await folderOf(t, { 'bomb.json.gz': bomb })
  const { sources } = read(t, {
    sources: [{ name: 'F', kind: 'forecast', folder, limits: { megabytes: 128 } }],
  })
  await assert.rejects(
    recordSource(sources[0].source),
    /forecast: it needs more than 128 MiB of memory, its limit/,
  )
})
