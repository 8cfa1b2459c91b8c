/** What a first and a second start say: what they do, the explorer, and what to do about a busy port. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { missing } from '../http/server_for_tests.ts'
import { temporaryFolder } from '../live.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CLI = join(ROOT, 'dist', 'cli.js')
/** Lines of the build before those of the program, where the pages are built: one, and two if their fetch fails. */
const BUILD_LINES = 3
const LINES_BELOW = 11

interface Program {
  /** What it has said on both outputs. */
  lines(): string[]
  /** Resolves when a line has `text`, or when the program has ended. */
  says(text: string): Promise<void>
  /** Resolves to the exit code. */
  ended: Promise<number | null>
  stop(): Promise<number | null>
}

function start(t: TestContext, script: string, args: string[], cwd: string): Program {
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  const watching = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
      for (const look of watching) look()
    })
  }
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve)
  })
  return {
    lines: () => said.split('\n').slice(0, -1),
    says: (text) =>
      new Promise((resolve) => {
        const look = (): void => void (said.includes(text) && resolve())
        watching.add(look)
        look()
        void ended.then(() => resolve())
      }),
    ended,
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

test('A first start of the demo says ten lines at most, a second one four, and a third beside it where to look.', async (t) => {
  const folder = temporaryFolder(t)
  const from = (...args: string[]): Program =>
    start(
      t,
      CLI,
      [
        'run',
        '--data',
        folder,
        '--source=demo:scale,buoys=3,days=2',
        '--workers=1',
        '--admin-port=0',
        ...args,
      ],
      folder,
    )
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
  await first.says('curl -H')
  await first.says('admin port on')
  expectLines(first.lines().toSorted(), [
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
  await second.says('look around')
  await second.says('admin port on')
  expectLines(second.lines().toSorted(), [again[2], again[1], again[3], again[0]])

  const { port } = new URL(
    /http:\S+/.exec(second.lines().find((line) => line.startsWith('look around'))!)![0],
  )
  const third = from(`--port=${port}`)
  assert.equal(await third.ended, 1)
  assert.deepEqual(third.lines(), [
    `groundswell: cannot listen on 127.0.0.1:${port}: groundswell is running there already; ` +
      `open http://127.0.0.1:${port}/, or choose another port with --port (0 takes any free one)`,
  ])
  await second.stop()
})
