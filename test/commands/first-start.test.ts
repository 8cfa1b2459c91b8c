/** What a first and a second start say: what they do, the explorer, and what to do about a busy port. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missing } from '../http/server_for_tests.ts'
import { temporaryFolder } from '../live.ts'
import { BARE, startProgram, type Program } from '../started_program.ts'

/** Lines of the build before those of the program, where the pages are built: one, and two if their fetch fails. */
const BUILD_LINES = 3
const LINES_BELOW = 11

test('A first start of the demo says ten lines at most, a second one four, and a third beside it where to look.', async (t) => {
  const folder = temporaryFolder(t)
  const from = (...args: string[]): Program =>
    startProgram(
      t,
      [
        'run',
        `--data=${folder}`,
        '--source=demo:scale,buoys=3,days=2',
        '--workers=1',
        '--admin-port=0',
        ...args,
      ],
      { cwd: folder, env: BARE },
    )
  const linesOf = ({ said }: Program): string[] => said.split('\n').slice(0, -1)
  // Where the native engine does not load, a server says that, too: on Node 24 it wants a newer glibc than
  // some Debian has.
  const warnings = missing('uws') === false ? [] : [/^warning: uWebSockets.js cannot be loaded, /]
  const expectLines = (lines: string[], others: RegExp[]): void => {
    const expected = [...others, ...warnings]
    assert.equal(lines.length, expected.length, lines.join('\n'))
    lines.forEach((line, i) => assert.match(line, expected[i]))
    assert.ok(others.length + BUILD_LINES < LINES_BELOW)
    assert.doesNotMatch(lines.join('\n'), /\d (files|rows)|bad lines/)
  }
  const again = [
    /^serving snapshot \w{24}, data as of \S+ \(demo: its data are made up\)$/,
    /^groundswell listening on http:\S+$/,
    /^admin port on http:\S+$/,
    /^look around: http:\S+$/,
  ]

  const first = from('--port=0')
  await first.says(/curl -H/)
  await first.says(/admin port on/)
  expectLines(linesOf(first).toSorted(), [
    /^ {2}curl -H /,
    /^A key was issued for "demo" and is shown only once: gsw_\w+$/,
    again[2],
    /^building the demo, whose data are made up$/,
    again[1],
    again[3],
    again[0],
  ])
  await first.stop()

  const second = from('--port=0')
  await second.says(/look around/)
  await second.says(/admin port on/)
  expectLines(linesOf(second).toSorted(), [again[2], again[1], again[3], again[0]])

  const { port } = new URL(
    /http:\S+/.exec(linesOf(second).find((line) => line.startsWith('look around'))!)![0],
  )
  const third = from(`--port=${port}`)
  assert.equal(await third.ended, 1)
  assert.deepEqual(linesOf(third), [
    `groundswell: cannot listen on 127.0.0.1:${port}: groundswell is running there already; ` +
      `open http://127.0.0.1:${port}/, or choose another port with --port (0 takes any free one)`,
  ])
  await second.stop()
})
