/**
 * `run` with a configuration that cannot be read, in a folder that a demo was built in before: nothing is
 * ever served in place of the sources that the operator named.
 */
import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { builtOnce } from '../built_once.ts'
import { runCliWell, temporaryFolder } from '../live.ts'
import { until } from '../until.ts'
import { BARE, startProgram, type Program } from '../started_program.ts'

const FIXTURES = fileURLToPath(new URL('../../data/fixtures/small', import.meta.url))

function start(t: TestContext, args: string[]): Program {
  const usual = ['--workers=1', '--drain-time=0', '--admin-port=0', '--port=0']
  return startProgram(t, ['run', ...usual, ...args], { env: BARE })
}

/** A data folder that has the snapshot of a demo, as after a first look at the program. */
async function withDemo(t: TestContext): Promise<string> {
  const data = temporaryFolder(t)
  const small = ['--source=demo:scale,buoys=3,days=2']
  const made = await builtOnce('small-demo', (out) => runCliWell(['build', ...small, '--out', out]))
  cpSync(made, join(data, 'snapshots'), { recursive: true })
  return data
}

const source = (more: object): object => ({ name: 'A', kind: 'csv', folder: 'a', ...more })
const json = (...sources: object[]): string => JSON.stringify({ sources })

test('A configuration that cannot be read ends the start with one sentence, and the demo of the folder is not served.', async (t) => {
  const data = await withDemo(t)
  const config = join(temporaryFolder(t), 'misspelt.json')
  writeFileSync(config, json(source({ folders: 'a' })))
  const program = start(t, ['--data', data, '--config', config])
  // A server that serves goes on for ever.
  const code = await Promise.race([
    program.ended,
    program.says(/listening/).then(
      () => 'serves',
      () => program.ended,
    ),
  ])
  assert.equal(code, 1, program.said)
  assert.equal(program.said, `groundswell: ${config}: sources[0] has an unknown key "folders"\n`)
})

test('A demo is never served in place of sources that give nothing yet: 503 until their own first snapshot.', async (t) => {
  const data = await withDemo(t)
  const folder = temporaryFolder(t)
  const config = join(folder, 'configuration.json')
  writeFileSync(config, json(source({})))
  // Whoever asks by a loopback address may look at the pages of a demo without a key, and of nothing else.
  const program = start(t, ['--data', data, '--config', config, '--every=1s', '--host=0.0.0.0'])
  const [, port] = await program.says(/listening on http:\S+:(\d+)/)
  const [, admin] = await program.says(/admin port on (\S+)/)
  const api = `http://127.0.0.1:${port}/v2`
  assert.match(program.said, /^warning: the snapshot in \S+ was refused: .*made-up data.*$/m)
  const ready = await fetch(`${admin}/readyz`)
  assert.deepEqual([ready.status, (await fetch(`${api}/countries`)).status], [503, 503])
  const status = (await (await fetch(`${admin}/status`)).json()) as { explorer: { access: string } }
  assert.equal(status.explorer.access, 'keyed')
  assert.doesNotMatch(program.said, /serving snapshot/)

  cpSync(FIXTURES, join(folder, 'a'), { recursive: true })
  await program.says(/serving snapshot \w{24}, data as of \S+$/m)
  assert.equal((await fetch(`${admin}/readyz`)).status, 200)
  assert.doesNotMatch(program.said, /serving snapshot .*demo/)
  assert.equal(await program.stop(), 0)
})

test('A configuration that goes wrong while the server runs fails that build, and the server serves on.', async (t) => {
  const folder = temporaryFolder(t)
  cpSync(FIXTURES, join(folder, 'a'), { recursive: true })
  const config = join(folder, 'configuration.json')
  writeFileSync(config, json(source({})))
  const program = start(t, ['--data', join(folder, 'data'), '--config', config, '--every=1s'])
  await program.says(/listening/)
  const [, admin] = await program.says(/admin port on (\S+)/)
  const builds = async (): Promise<number> =>
    ((await (await fetch(`${admin}/status`)).json()) as { build: { built: number } }).build.built
  writeFileSync(config, '{ "sources": [')
  await program.says(/is not JSON/)
  await program.says(/warning: build failed \(1 in a row\): \S+configuration\.json: is not JSON/)
  assert.equal((await fetch(`${admin}/readyz`)).status, 200)
  const built = await builds()
  writeFileSync(config, json(source({})))
  await until(async () => (await builds()) > built)
  assert.equal(await program.stop(), 0)
})
