/** `init --table` and `init --kind`, and the page for owners of a buoy, followed as it is written. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readConfiguration } from '../../src/sources/configuration.ts'
import { openKind } from '../../src/sources/kinds.ts'
import { runCli, temporaryFolder } from '../live.ts'
import { blocksOf, exampleOf, KINDS, textOf } from '../sources/examples.ts'
import { recordSource } from '../sources/recorder.ts'
import { BARE, startProgram } from '../started_program.ts'

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
  assert.match(first, /\n {2}groundswell doctor --config /)
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

/** Writes a table into a new folder and runs `init` there on it. */
async function initialiseIn(t: TestContext, name: string, text: string) {
  const cwd = temporaryFolder(t)
  writeFileSync(join(cwd, name), text)
  const place = { cwd, env: { ...BARE, HOME: cwd } }
  const args = ['--config', 'c.json', '--table', name, '--station', 'Bank', '--lat', '44', '--lng', '-9']
  const run = startProgram(t, ['init', ...args], place)
  return { cwd, code: await run.ended, said: run.said, place }
}

test("The next month's file is read without a word, and a table of another name is a grave doubt.", async (t) => {
  const { cwd, code, said, place } = await initialiseIn(t, 'bank_03.csv', `${HEADER}2024-03-01 10:00,1.2,8\n`)
  assert.equal(code, 0, said)
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

test('init refuses with a reason and leaves nothing behind.', async (t) => {
  const times = [1, 2, 3, 4].map((height) => `2024-03-01 10:00,${height},8\n`)
  const { cwd, code, said } = await initialiseIn(t, 'b.csv', `${HEADER}${times.join('')}`)
  assert.equal(code, 1)
  assert.match(said, /up to now; one identifier has two wave heights at many times/)
  assert.deepEqual(readdirSync(cwd), ['b.csv'])
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
