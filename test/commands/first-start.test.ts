/** What a first and a second start say: what they do, the explorer, and what to do about a busy port. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { missing } from '../http/server_for_tests.ts'
import { temporaryFolder } from '../live.ts'
import { findTool, missingTool } from '../programs.ts'
import { BARE, startProgram, type Program } from '../started_program.ts'

const USUAL = ['run', '--source=demo:scale,buoys=3,days=2', '--workers=1', '--admin-port=0']

test('A first start of the demo says ten lines at most, a second one five, and a third beside it where to look.', async (t) => {
  const folder = temporaryFolder(t)
  const from = (...args: string[]): Program =>
    startProgram(t, [...USUAL, `--data=${folder}`, ...args], { cwd: folder, env: BARE })
  const linesOf = ({ said }: Program): string[] => said.split('\n').slice(0, -1)
  // Where the native engine does not load, a server says that, too: on Node 24 it wants a newer glibc than
  // some Debian has.
  const warnings = missing('uws') === false ? [] : [/^warning: uWebSockets.js cannot be loaded, /]
  const expectLines = (lines: string[], others: RegExp[]): void => {
    const expected = [...others, ...warnings]
    assert.equal(lines.length, expected.length, lines.join('\n'))
    lines.forEach((line, i) => assert.match(line, expected[i]))
    assert.doesNotMatch(lines.join('\n'), /\d (files|rows)|bad lines/)
  }
  const again = [
    /^serving snapshot \w{24}, data as of \S+ \(demo: its data are made up\)$/,
    /^groundswell listening on http:\S+$/,
    /^admin port on http:\S+$/,
    /^look around: http:\S+$/,
    /^keys are in \S+keys\.json: "groundswell keys issue /,
  ]

  const first = from('--port=0')
  await first.says(/not shown in a log/)
  await first.says(/admin port on/)
  expectLines(linesOf(first).toSorted(), [
    again[2],
    /^building the demo, whose data are made up$/,
    again[1],
    again[3],
    again[0],
    /^the key \w+ was issued for "demo" and is not shown in a log: "groundswell keys rotate \w+ --keys \S+" replaces it/,
  ])
  assert.doesNotMatch(first.said, /gsw_/)
  await first.stop()

  const second = from('--port=0')
  await second.says(/keys are in/)
  await second.says(/admin port on/)
  expectLines(linesOf(second).toSorted(), [again[2], again[1], again[4], again[3], again[0]])

  const { port } = new URL(
    /http:\S+/.exec(linesOf(second).find((line) => line.startsWith('look around'))!)![0],
  )
  const third = from(`--port=${port}`)
  assert.equal(await third.ended, 1)
  assert.match(
    third.said,
    new RegExp(`^groundswell: cannot listen on 127.0.0.1:${port}: .*EADDRINUSE.*--port`),
  )
  await second.stop()
})

test(
  'A terminal shows the first key of own data once, with a request to copy.',
  { skip: missingTool('script', 'bsdutils') },
  async (t) => {
    const folder = temporaryFolder(t)
    const bay = join(folder, 'bay')
    mkdirSync(join(bay, 'readings'), { recursive: true })
    writeFileSync(join(bay, 'sources.csv'), 'name,network\nBay,coastal\n')
    writeFileSync(join(bay, 'buoys.csv'), 'source,identifier,name,lat,lng\nBay,A,Reef,37.8,-122.6\n')
    writeFileSync(
      join(bay, 'readings', 'a.csv'),
      `source,identifier,time,significant_height\nBay,A,${Math.floor(Date.now() / 1000) - 60},1.5\nBay,A,never,1\n`,
    )
    const start = `exec ${process.execPath} dist/cli.js run --data=${folder}/data --source=csv:${bay} --port=0 --workers=1 --admin-port=0 --max-bad=60%`
    const seen = startProgram(t, [], {
      command: [findTool('script')!, '-qefc', start, '/dev/null'],
      env: BARE,
    })
    const [, key] = await seen.says(/A key was issued for "operator" and is shown only once: (gsw_\w+)/)
    const [, address] = await seen.says(/curl -H 'Authorization: Bearer gsw_\w+' '([^']+)'/)
    await seen.says(/warning: \S+a\.csv:3: time must be ISO 8601/)
    const answer = await fetch(address, { headers: { authorization: `Bearer ${key}` } })
    assert.equal(answer.status, 200)
    await seen.stop()
  },
)
