/** `init --table` and `init --kind`, and the page for owners of a buoy, followed as it is written. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readConfiguration } from '../../src/sources/configuration.ts'
import { openKind } from '../../src/sources/kinds.ts'
import { runCli, temporaryFolder } from '../live.ts'
import { blocksOf, exampleOf, KINDS, textOf } from '../sources/examples.ts'
import { recordSource, rowTable } from '../sources/recorder.ts'

/** Runs `init --table` on a file in a folder of its own, and reads what the written configuration reads. */
async function initialise(t: TestContext, file: string, text: string, options: readonly string[]) {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, file), text)
  const config = join(folder, 'c.json')
  const places = ['--config', config, '--data', join(folder, 'data')]
  const run = await runCli(['init', '--table', join(folder, file), ...options, ...places])
  const read = async (): Promise<string[]> => {
    const [{ kind, folder: place }] = readConfiguration(config, {}).sources
    const { options: map } = (JSON.parse(textAt(config)) as { sources: [{ options: object }] }).sources[0]
    return rowTable((await recordSource(openKind(kind, place, { ...map }))).rows)
  }
  return { ...run, read, isBuilt: existsSync(join(folder, 'data', 'snapshots', 'manifest.msgpack')) }
}

const textAt = (path: string): string => readFileSync(path, 'utf8')

test('docs/your-buoys.md works as it is written: its file and its command give the readings of the file.', async (t) => {
  const [table, command] = blocksOf(textOf('docs/your-buoys.md'))
  const words = [...command.text.trim().matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, word]) => quoted ?? word,
  )
  assert.deepEqual(words.slice(0, 5), ['npx', 'groundswell', 'init', '--table', table.file])
  const { code, stdout, stderr, read, isBuilt } = await initialise(t, table.file, table.text, words.slice(5))
  assert.equal(code, 0, stderr)
  assert.match(stdout, /Date\/Time is time \(DD\/MM\/YYYY HH:mm\)\n {2}Hs is significantHeight/)
  assert.ok(isBuilt)
  assert.deepEqual(await read(), [
    'Inner Bank/0 2024-03-01T00:00:00Z 1.25 2.1 9.1 9.1 95 26.4 - - -',
    'Inner Bank/0 2024-03-01T00:30:00Z 1.3 - 9.3 9.3 96 26.4 - - -',
    'Inner Bank/0 2024-03-13T00:00:00Z 1.1 1.9 8.9 8.9 97 26.2 - - -',
  ])
})

test('What a table does not say is asked for by the option that says it, one after the other.', async (t) => {
  const text = 'Date,Hs,Flag\n01/02/2024 10:00,1.5,A\n02/03/2024 10:00,9,B\n'
  const given: string[] = []
  for (const [option, value] of [
    ['--time-format', 'DD/MM/YYYY HH:mm'],
    ['--time-zone', 'Europe/Paris'],
    ['--good-flags', 'A'],
    ['--lat', '48.5'],
    ['--lng', '-4.5'],
  ]) {
    const { code, stderr } = await initialise(t, 'b.txt', text, given)
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`${option}\\n$`))
    given.push(option, value)
  }
  const { code, stderr, stdout, read } = await initialise(t, 'b.txt', text, given)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /taken for metres, as it has no unit: Hs/)
  assert.deepEqual(await read(), ['b/0 2024-02-01T09:00:00Z 1.5 - - - - - - - -'])
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
