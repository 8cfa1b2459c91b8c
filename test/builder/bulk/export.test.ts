/** Exports: what other programs read in them, which files stay, and what failures leave behind. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { rollback } from '../../../src/snapshot/retained.ts'
import { decodeList, encodeList, type FileList } from '../../../src/snapshot/file-list.ts'
import { ExportFolder } from '../../../src/builder/bulk/export-folder.ts'
import { folderOf } from '../../../src/builder/bulk/bulk-tables.ts'
import { readManifest } from '../../../src/snapshot/read-snapshot.ts'
import { BuildError } from '../../../src/system/build-error.ts'
import { build, fakeSource, NETWORKS, SMALL_WORLD, type FakeBuoy, type FakeRow } from '../fake_source.ts'
import { temporaryFolder } from '../../live.ts'
import { EXPECTED } from '../../measures.ts'
import { MEASURE_OF } from '../../oracle/oracle.ts'
import { duck } from './duck.ts'
import { assertWhole, exportTo, filesIn, grown, listIn } from './exporting.ts'

const at = (text: string): number => Date.parse(text) / 1000
const reading = (time: string): FakeRow => ({ time: at(time), significantHeight: 1500 })

/** Wire name, code and codes per unit of each measure, written down a second time. */
const MEASURES = Object.entries(MEASURE_OF).map(([wire, name]) => [wire, name, EXPECTED[name][0]] as const)

const [COMMON_MEASURES, WEATHER_FROM] = [9, 15]

/** Swell has columns where one reading of the world has a value of it, and so has weather. */
const measuresOf = (world: readonly FakeBuoy[]) => {
  const groupOf = (from: number, to?: number) => {
    const group = MEASURES.slice(from, to)
    const isThere = world.some(({ rows }) =>
      rows.some(
        (row) => row.significantHeight !== undefined && group.some(([, name]) => row[name] !== undefined),
      ),
    )
    return isThere ? group : []
  }
  const common = MEASURES.slice(0, COMMON_MEASURES)
  return [...common, ...groupOf(COMMON_MEASURES, WEATHER_FROM), ...groupOf(WEATHER_FROM)]
}

/** The readings of a world, as DuckDB says them. */
function expectedRows(world: readonly FakeBuoy[]): object[] {
  return world
    .flatMap(({ identifier, source, rows }) =>
      rows.flatMap((row) =>
        row.significantHeight === undefined
          ? []
          : {
              identifier,
              source,
              time: new Date(row.time * 1000).toISOString().replace('T', ' ').replace('.000Z', '+00'),
              ...Object.fromEntries(
                measuresOf(world).map(([wire, name, scale]) => {
                  const code = row[name]
                  return [wire, code === undefined ? null : code / scale]
                }),
              ),
            },
      ),
    )
    .toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
}

const sortKey = ({ identifier, time }: { identifier: string; time: string }): string =>
  `${identifier} ${time}`

/** Codes that a build takes: no period of 0, no wind of more than 300 km/h. */
const CODES = {
  significantHeight: [0, 25_000],
  period: [1, 60_000],
  peakPeriod: [1, 60_000],
  direction: [0, 35_999],
  waterTemperature: [-500, 4500],
  windSpeed: [0, 30_000],
} as const
const SWELL_CODES = {
  swellHeight: [0, 25_000],
  swellDirection: [0, 35_999],
  windWavePeriod: [1, 60_000],
} as const
const WEATHER_CODES = { dewPoint: [-6000, 4500], pressure: [8500, 10_900] } as const
const codesOf = (bounds: { readonly [name: string]: readonly [min: number, max: number] }) =>
  fc.record(
    Object.fromEntries(Object.entries(bounds).map(([name, [min, max]]) => [name, fc.integer({ min, max })])),
    { requiredKeys: [] },
  )
const times = fc.integer({ min: at('2026-01-20T00:00:00Z'), max: at('2026-03-10T00:00:00Z') })
const rowAt = fc
  .tuple(
    times,
    codesOf(CODES),
    fc.boolean(),
    fc.option(codesOf(SWELL_CODES), { nil: {}, freq: 1 }),
    fc.option(codesOf(WEATHER_CODES), { nil: {}, freq: 1 }),
  )
  .map(([time, codes, hasMaximum, swell, weather]): FakeRow => {
    const row: FakeRow = { time, ...codes, ...swell, ...weather }
    // Builds take implausible maxima out.
    if (hasMaximum && row.significantHeight !== undefined)
      row.maximumHeight = Math.round(row.significantHeight * 1.5)
    return row
  })
const worlds = fc.array(fc.uniqueArray(rowAt, { selector: ({ time }) => time, maxLength: 12 }), {
  minLength: 1,
  maxLength: 5,
})

/** A buoy for each list of rows, in turns of two networks. */
const worldOf = (lists: readonly (readonly FakeRow[])[]): FakeBuoy[] =>
  lists.map((rows, i) => ({
    ...SMALL_WORLD[i % 2],
    identifier: `B${i}`,
    name: `Buoy ${i}`,
    rows: rows.toSorted((a, b) => a.time - b.time),
  }))

test('DuckDB reads from the files every reading of random snapshots.', async (t) => {
  const { ask, close } = await duck()
  t.after(close)
  let ran = 0
  await fc.assert(
    fc.asyncProperty(worlds, async (lists) => {
      const world = worldOf(lists)
      fc.pre(world.some(({ rows }) => rows.some(({ significantHeight }) => significantHeight !== undefined)))
      const folder = temporaryFolder(t)
      const [dir, out] = [join(folder, 'snapshots'), join(folder, 'out')]
      await build([fakeSource(world)], dir)
      const { list } = await exportTo(dir, out)
      assertWhole(out)
      const rows = await ask(
        `SELECT b.source_identifier AS identifier, r.source, strftime(time, '%Y-%m-%d %H:%M:%S+00') AS time, ${measuresOf(
          world,
        )
          .map(([wire]) => wire)
          .join(', ')}
         FROM '${out}/readings/*/*.parquet' r JOIN '${out}/buoys-*.parquet' b ON b.id = buoy_id AND b.slug = buoy_slug AND b.source = r.source
         ORDER BY identifier, time`,
      )
      const expected = expectedRows(world)
      assert.deepEqual(
        rows.map((row) => Object.assign({}, row)),
        expected,
      )
      assert.equal(
        list.files.reduce((sum, file) => sum + (file.kind === 'readings' ? file.rows : 0), 0),
        expected.length,
      )
      ran++
    }),
    { numRuns: 6 },
  )
  assert.ok(ran >= 4)
})

/** Builds and exports the small world. */
async function exported(t: Parameters<typeof temporaryFolder>[0], world = SMALL_WORLD) {
  const folder = temporaryFolder(t)
  const [dir, out] = [join(folder, 'snapshots'), join(folder, 'out')]
  const manifest = await build([fakeSource(world)], dir)
  await exportTo(dir, out)
  return { folder, dir, out, id: manifest.id }
}

test('A Parquet file has times in UTC, doubles, units and credit.', async (t) => {
  const { ask, close } = await duck()
  t.after(close)
  const { out } = await exported(t)
  const march = `'${out}/readings/north/2026-03-*.parquet'`
  const types = await ask(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${march})`)
  const typeOf = Object.fromEntries(types.map((row) => [row['column_name'], row['column_type']]))
  assert.deepEqual(
    ['time', 'id', 'buoy_slug', 'significient_height', 'swell_height'].map((name) => typeOf[name]),
    ['TIMESTAMP WITH TIME ZONE', 'BIGINT', 'VARCHAR', 'DOUBLE', undefined],
  )
  const metadata = await ask(`SELECT decode(key) AS k, decode(value) AS v FROM parquet_kv_metadata(${march})`)
  const valueOf = Object.fromEntries(metadata.map((row) => [row['k'], String(row['v'])]))
  assert.deepEqual([valueOf['source'], valueOf['credit'], valueOf['licence']], ['North', 'made up', 'none'])
  const units = JSON.parse(valueOf['units']) as { [name: string]: string }
  assert.deepEqual([units['significient_height'], units['wind_speed']], ['m', 'km/h'])
  const [ids] = await ask(
    `SELECT min(id) AS least, min(buoy_id) AS buoy, min(epoch(time)) AS first FROM ${march}`,
  )
  assert.equal(Number(ids['least']), Number(ids['buoy']) * 1e10 + Number(ids['first']))
})

/** Readings of three buoys in two years that are over, and in the months of the last one. */
const YEARS: FakeBuoy[] = ['2024-02', '2024-11', '2025-03', '2025-12', '2026-01', '2026-02'].reduce(
  (world, month) =>
    world.map((buoy) => ({ ...buoy, rows: [...buoy.rows, reading(`${month}-05T00:00:00Z`)] })),
  SMALL_WORLD.slice(0, 3).map((buoy): FakeBuoy => ({ ...buoy, rows: [] })),
)

/** The years with a reading more of a buoy. */
const yearsWith = (identifier: string, time: string): FakeBuoy[] =>
  YEARS.map((buoy) =>
    buoy.identifier === identifier
      ? { ...buoy, rows: [...buoy.rows, reading(time)].toSorted((a, b) => a.time - b.time) }
      : buoy,
  )

const spansOf = (out: string, network: string): string[] =>
  filesIn(out).flatMap((file) => new RegExp(`^readings/${network}/(.+)-\\w{32}\\.`).exec(file)?.[1] ?? [])

test('A year that is over is one file of a network, which stays until something in it changes.', async (t) => {
  const { ask, close } = await duck()
  t.after(close)
  const { dir, out } = await exported(t, YEARS)
  for (const network of ['north', 'south'])
    assert.deepEqual(spansOf(out, network), ['2024', '2025', '2026-01', '2026-02'])
  const { files } = assertWhole(out)!
  assert.deepEqual(
    files.filter(({ network }) => network === 'South').map(({ year, month, rows }) => [year, month, rows]),
    [
      [2024, null, 2],
      [2025, null, 2],
      [2026, '2026-01', 1],
      [2026, '2026-02', 1],
    ],
  )
  const [{ rows }] = await ask(`SELECT count(*)::INTEGER AS rows FROM '${out}/readings/*/*.parquet'`)
  assert.equal(rows, 3 * 6)
  assert.equal((await exportTo(dir, out)).written.files, 0)
  // A late reading, and a new month.
  await build([fakeSource(yearsWith('02B', '2024-07-01T00:00:00Z'))], dir)
  const late = await exportTo(dir, out)
  assert.deepEqual([late.written.files, late.written.rows], [1, 3])
  await build([fakeSource(yearsWith('02B', '2026-03-01T00:00:00Z'))], dir)
  const next = await exportTo(dir, out)
  assert.deepEqual([next.written.files, next.written.rows], [1, 1])
})

test('When a year is over, one file takes the place of those of its months, and a rollback brings them back.', async (t) => {
  const { dir, out, id } = await exported(t, YEARS)
  const before = filesIn(out)
  await build([fakeSource(yearsWith('02B', '2027-01-01T00:00:00Z'))], dir)
  await exportTo(dir, out)
  assertWhole(out)
  assert.deepEqual(spansOf(out, 'north'), ['2024', '2025', '2026'])
  assert.deepEqual(spansOf(out, 'south'), ['2024', '2025', '2026', '2027-01'])
  await rollback(dir, id, 0)
  assert.equal((await exportTo(dir, out)).list.snapshot, id)
  assert.deepEqual(filesIn(out), before)
})

test('What a reader may still open stays for two minutes.', async (t) => {
  const { dir, out } = await exported(t)
  await build([fakeSource(grown(1))], dir)
  await exportTo(dir, out, Date.now() / 1000)
  const south = (): string[] => filesIn(out).filter((file) => file.startsWith('readings/south/'))
  assert.equal(south().length, 2)
  await exportTo(dir, out, Date.now() / 1000 + 3600)
  assert.equal(south().length, 1)
})

test('A damaged snapshot, and a list that cannot be read, leave the export before as it was.', async (t) => {
  const { dir, out, folder } = await exported(t)
  const before = assertWhole(out)
  await build([fakeSource(grown(1))], dir)
  const manifest = (await readManifest(dir))!
  const { file } = manifest.parts.find(
    ({ kind, month }) => kind === 'readings' && month === (2026 - 1970) * 12 + 2,
  )!
  truncateSync(join(dir, file), 100)
  await assert.rejects(exportTo(dir, out), new RegExp(`^SnapshotError: ${file}: has 100 bytes`))
  assert.deepEqual(assertWhole(out), before)
  assert.deepEqual(
    filesIn(out).filter((name) => name.includes('.tmp')),
    [],
  )
  mkdirSync(join(folder, 'foreign'))
  writeFileSync(join(folder, 'foreign', 'files.json'), '["mine"]')
  await assert.rejects(
    exportTo(dir, join(folder, 'foreign')),
    /^BuildError: .*files\.json: is not a list of exported files/,
  )
  assert.equal(readFileSync(join(folder, 'foreign', 'files.json'), 'utf8'), '["mine"]')
})

test('While one export is at work in a folder, another one is refused.', async (t) => {
  const { dir, out } = await exported(t)
  const first = new ExportFolder(out)
  await assert.rejects(exportTo(dir, out), /^BuildError: .*export\.lock/)
  first.close()
  await exportTo(dir, out)
  assertWhole(out)
})

test('A file that somebody removed or cut is written again.', async (t) => {
  const { dir, out } = await exported(t)
  const cut = listIn(out).files.find(({ kind }) => kind === 'readings')!
  truncateSync(join(out, cut.path), 10)
  const { written } = await exportTo(dir, out)
  assert.equal(written.files, 1)
  assertWhole(out)
})

test('Networks of any name get folders that are safe on every system.', async (t) => {
  assert.equal(folderOf('Météo-France'), 'meteo-france')
  assert.notEqual(folderOf('日本'), folderOf('中国'))
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (name) => {
      assert.match(folderOf(name), /^[a-z0-9][a-z0-9-]{0,79}$/)
    }),
  )
  // Names that differ in case alone share a folder, and lose nothing.
  const networks = ['=Net', 'net', '../Net'].map((name) => ({ ...NETWORKS[1], name }))
  const world = networks.map(({ name }, i) => ({
    ...SMALL_WORLD[1],
    source: name,
    identifier: `${i}`,
    name: `Buoy ${i}`,
  }))
  const folder = temporaryFolder(t)
  await build([fakeSource(world, networks)], join(folder, 'snapshots'))
  const { list } = await exportTo(join(folder, 'snapshots'), join(folder, 'out'))
  assertWhole(join(folder, 'out'))
  assert.equal(list.files.filter(({ kind }) => kind === 'readings').length, 3)
})

const listOf = (name: string): FileList => ({
  address: null,
  snapshot: 'ab'.repeat(12),
  as_of: '2026-03-27T12:00:00Z',
  networks: [{ name, source: name, credit: null, licence: name, made_from: 'cd'.repeat(32) }],
  months: [{ month: '2026-03', part: 'cd'.repeat(32) }],
  files: [
    {
      path: `readings/net/2026-03-${'cd'.repeat(16)}.parquet`,
      kind: 'readings',
      format: 'parquet',
      network: name,
      year: 2026,
      month: '2026-03',
      rows: 7,
      bytes: 8,
      sha256: 'cd'.repeat(32),
      snapshot: 'ab'.repeat(12),
      start: '2026-03-01T00:00:00Z',
      end: '2026-03-02T00:00:00Z',
    },
  ],
})

test('A list comes back through its bytes, and one that lies is refused in one sentence.', () => {
  for (const name of ['', 'Météo', '"\u0000'])
    assert.deepEqual(decodeList(encodeList(listOf(name)), 'x'), listOf(name))
  for (const field of ['path', 'kind', 'format', 'network', 'month', 'rows', 'bytes', 'sha256', 'start']) {
    for (const lie of ['../x', -1, 1.5, {}, 'readings/../../x.parquet', true, undefined]) {
      const document = JSON.parse(encodeList(listOf('a')).toString()) as {
        files: { [field: string]: unknown }[]
      }
      document.files[0][field] = field === 'network' && typeof lie === 'string' ? 7 : lie
      assert.throws(() => decodeList(Buffer.from(JSON.stringify(document)), 'x'), BuildError, field)
    }
  }
  fc.assert(fc.property(fc.uint8Array(), (bytes) => assert.throws(() => decodeList(bytes, 'x'), BuildError)))
})
