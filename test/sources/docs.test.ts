/** What the pages about sources and `docs/adding-a-source.md` show works, and leaves no kind out. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { readConfiguration } from '../../src/sources/configuration.ts'
import { openKind } from '../../src/sources/kinds.ts'
import type { OpenSource, Source } from '../../src/sources/source.ts'
import { build } from '../builder/fake_source.ts'
import { temporaryFolder } from '../live.ts'
import { altimetrySample } from './netcdf_file.ts'
import { blocksOf, exampleOf, KINDS, textOf } from './examples.ts'
import { FIXTURES, recordSource, rowTable, type Recording } from './recorder.ts'

/** NetCDF cannot be shown in a page. */
const BINARY: { readonly [kind: string]: { readonly [file: string]: Uint8Array } } = {
  cmems: { 'plain.nc': readFileSync(join(FIXTURES, 'hostile', 'netcdf', 'plain.nc')) },
  altimetry: { 'global_vavh_l3_rt_s3a_20220101T000000_.nc': altimetrySample() },
}

async function layOut(t: TestContext, kinds: readonly string[]): Promise<string> {
  const root = temporaryFolder(t)
  for (const kind of kinds) {
    const { entry, files } = exampleOf(kind)
    const folder = join(root, entry.folder ?? '')
    const all = [
      ...files.map(({ file, text }) => [file, text] as const),
      ...Object.entries(BINARY[kind] ?? {}),
    ]
    for (const [file, content] of all) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), content)
    }
  }
  return root
}

/** The first row or other thing that the examples give, and whose it is, written down by hand. */
const GIVEN: { readonly [kind: string]: string } = {
  ndbc: 'EAST HATTERAS 41001/1 2024-03-01T00:50:00Z 1.4 - 8 8 210 21.3 18 220 25.2',
  candhis: 'Saint-Jean-de-Luz 06403/1 2024-03-01T01:00:00Z 0.4 0.6 5.2 - 284 12.4 - - -',
  meteofrance: 'Golfe du Lion 61002/0 2024-12-09T04:00:00Z 2.3 - 6 - 0 15.2 44.28 320 63',
  cmems: 'plain/0 2023-07-22T04:00:00Z 2.5 -',
  erddap: 'HARVEST, CA 071p1/0 2024-03-01T00:28:20Z 2.35 - 13.33 13.33 301.66 - - - -',
  table: 'Inner Bank bank/0 2024-03-01T00:00:00Z 1.25 2.1 9.1 9.1 95 26.4 - - -',
  json: 'Boya de Ejemplo 3545/0 2024-03-01T00:00:00Z 1.25 - 9.1 9.1 310 13.2 - - -',
  csv: 'Sète, large 02X04/0 2024-03-01T00:00:00Z 0.82 1.31 4.9 5.4 140.25 13.1 - - -',
  altimetry: 'Biscay 45N 5W',
  forecast: '43.54 1.5,1.62 310,312',
  tides: 'port_example 3',
  demo: 'East Hatteras 06403/0 2005-01-01T00:00:00Z',
}

/** What a source gives at the beginning of a year, with one row of each buoy. */
const firstRows = (source: Source, year: number): Promise<Recording> =>
  recordSource(
    { read: (sink, context) => source.read(sink, { ...context, asOf: Date.UTC(year) / 1000 }) },
    1,
    1,
  )

function firstOf({ buoys, rows, forecasts, harbours }: Recording): string {
  const places = forecasts.map(({ lat, values }) =>
    [lat, values.waveHeight?.join(), values.waveDirection?.join()].join(' '),
  )
  const ports = harbours.map(({ identifier, datumOffset }) => `${identifier} ${datumOffset}`)
  const first = [buoys[0]?.name, rowTable(rows)[0]].join(' ')
  return [first, ...places, ...ports].find((text) => text !== ' ') ?? ''
}

const ENVIRONMENT = { CANDHIS_KEY: 'x' }

for (const kind of KINDS) {
  test(`The example of ${kind} in the pages about sources is read as the page says.`, async (t) => {
    const root = await layOut(t, [kind])
    const { entry, commands } = exampleOf(kind)
    assert.equal(entry.kind, kind)
    const source = openKind(kind, entry.folder === undefined ? '' : join(root, entry.folder), entry.options)
    const recording = await firstRows(source, 2025)
    assert.ok(firstOf(recording).includes(GIVEN[kind]), firstOf(recording))
    assert.deepEqual([recording.bad, [...recording.skipped]], [[], []])
    const given = commands.flatMap((command) => [...command.matchAll(/--source (\w+)(?::(\S+))?/g)])
    // A map stands in a configuration alone.
    if (kind === 'json') return
    const [, , argument = ''] =
      given.find(([, named]) => named === kind) ?? assert.fail(`${kind}: no command`)
    assert.equal(argument, entry.folder ?? '')
  })
}

test(
  'All examples together are one configuration, and give one snapshot.',
  { timeout: 120_000 },
  async (t) => {
    const kinds = KINDS.filter((kind) => kind !== 'demo')
    const root = await layOut(t, kinds)
    const file = join(root, 'groundswell.config.json')
    writeFileSync(file, JSON.stringify({ sources: kinds.map((kind) => exampleOf(kind).entry) }))
    const { sources: configured } = readConfiguration(file, ENVIRONMENT)
    // Read in this process: ten reader processes would take half a minute to start.
    const sources = kinds.map((kind, i) =>
      openKind(kind, configured[i].folder, exampleOf(kind).entry.options),
    )
    const out = join(root, 'out')
    const lines: string[] = []
    const { parts } = await build(sources, out, {
      now: Date.UTC(2025, 0, 1) / 1000,
      write: (line) => void lines.push(line),
    })
    await loadSnapshot(out)
    const found = new Set<string>(parts.map(({ kind }) => kind))
    for (const kind of ['catalog', 'readings', 'passes', 'forecast', 'tides'])
      assert.ok(found.has(kind), `${kind} in ${[...found].join()}`)
  },
)

test('The command of demo:scale makes as many buoys as it says.', async () => {
  const { commands } = exampleOf('demo')
  const [, argument] = /--source demo:(scale,\S+)/.exec(commands.join('\n')) ?? assert.fail('no command')
  const source = openKind('demo', argument)
  const { buoys } = await firstRows(source, 2024)
  assert.equal(buoys.length, 5)
})

test('The adapter of docs/adding-a-source.md compiles, and a snapshot is built with it.', async (t) => {
  const root = temporaryFolder(t)
  const blocks = blocksOf(textOf('docs/adding-a-source.md'))
  const code = blocks.find(({ text }) => text.startsWith('/** Examplia')) ?? assert.fail('no adapter')
  const table = blocks.find(({ file }) => file === 'latest.csv') ?? assert.fail('no table')
  const sources = new URL('../../src/sources/', import.meta.url)
  const placed = code.text.replace(
    /from '(\.[^']+)'/g,
    (_, path: string) => `from '${new URL(path, sources).href}'`,
  )
  const file = join(root, 'examplia.ts')
  writeFileSync(file, placed)
  const { openExamplia } = (await import(pathToFileURL(file).href)) as { openExamplia: OpenSource }

  const folder = join(root, 'data')
  mkdirSync(folder)
  const more = [
    ...Array.from({ length: 20 }, () => 'B2,Inner Bank,45.6,-3,2024-03-01T00:00:00Z,50,'),
    'B2,Inner Bank,45.6,-3,yesterday,50,',
  ]
  writeFileSync(join(folder, 'latest.csv'), `${table.text}${more.join('\n')}\n`)
  const out = join(root, 'out')
  const lines: string[] = []
  const { asOf, parts } = await build([openExamplia(folder)], out, { write: (line) => void lines.push(line) })
  assert.equal(asOf, Date.UTC(2024, 2, 1, 1) / 1000)
  assert.equal(parts.find(({ kind }) => kind === 'catalog')?.rows, 2)
  assert.equal(parts.find(({ kind }) => kind === 'readings')?.rows, 3)
  assert.ok(
    lines.some((line) => line.includes('latest.csv:25: no valid time')),
    lines.join(''),
  )
  await loadSnapshot(out)
})
