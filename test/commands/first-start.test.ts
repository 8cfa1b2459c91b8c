/** What a first and a second start say: a line a phase, the explorer, and what to do about a busy port. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { missing } from '../http/server_for_tests.ts'
import { temporaryFolder } from '../live.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CLI = join(ROOT, 'dist', 'cli.js')
/** Lines of the launcher before those of the program, where everything is to be compiled. */
const PHASES = ['compiling, once after each change of the sources', 'fetching the documentation page (once)']
const LINES_BELOW = 10

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

/** A folder with the launcher, a program that ends at once, and a documentation page of one file. */
function smallTree(t: TestContext): string {
  const root = temporaryFolder(t)
  for (const room of ['docs', 'openapi']) mkdirSync(join(root, 'src', room), { recursive: true })
  copyFileSync(join(ROOT, 'src', 'openapi', 'guides.md'), join(root, 'src', 'openapi', 'guides.md'))
  // Without a source of the room its folder is not made.
  writeFileSync(join(root, 'src', 'openapi', 'guides.ts'), 'export {}\n')
  const scripts = ['launch', 'begin', 'builds', 'compile', 'site.build'].map((name) => `src/${name}.mjs`)
  for (const file of ['package.json', 'tsconfig.json', 'tsconfig.build.json', ...scripts])
    copyFileSync(join(ROOT, file), join(root, file))
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  setWord(root, 'first')
  writeFileSync(
    join(root, 'src', 'docs', 'build.mjs'),
    "export const build = async () => ({ files: [{ file: 'a.txt', bytes: Buffer.from('a') }], isWhole: true })\n",
  )
  return root
}

function setWord(root: string, word: string): void {
  const program = `/** Says a word. */\nexport async function main(): Promise<void> {\n  process.stdout.write('${word}\\n')\n}\n`
  writeFileSync(join(root, 'src', 'cli.ts'), program)
}

async function launch(t: TestContext, root: string, ...args: string[]): Promise<string[]> {
  const program = start(t, join(root, 'src', 'launch.mjs'), args, root)
  assert.equal(await program.ended, 0, program.lines().join('\n'))
  return program.lines()
}

test('A service that is compiled first says so in one line, and in one more where the documentation page is built.', async (t) => {
  const root = smallTree(t)
  assert.deepEqual(await launch(t, root, 'run'), [...PHASES, 'first'])
  assert.deepEqual(await launch(t, root, 'run'), ['first'])
  setWord(root, 'second')
  assert.deepEqual(await launch(t, root, 'run'), [PHASES[0], 'second'])
  setWord(root, 'third')
  assert.deepEqual(await launch(t, root, 'run', '--log-level=warning'), ['third'])
  setWord(root, 'fourth')
  const [line, ...rest] = await launch(t, root, 'run', '--log-format=json')
  const { time, ...event } = JSON.parse(line) as { [name: string]: string }
  assert.ok(Math.abs(Date.parse(time) - Date.now()) < 600_000)
  assert.deepEqual([event, rest], [{ level: 'info', message: PHASES[0] }, ['fourth']])
  // What a script reads stays as it is.
  setWord(root, 'fifth')
  assert.deepEqual(await launch(t, root, 'list'), ['fifth'])
})

test('A first start of the demo says fewer than ten lines, a second one four, and a third beside it where to look.', async (t) => {
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
    assert.ok(others.length + PHASES.length < LINES_BELOW)
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
