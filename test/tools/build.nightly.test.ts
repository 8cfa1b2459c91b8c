/** The build: what it leaves when it fails, is stopped, or runs several times at once, and what it says. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { transform } from 'esbuild'
import { ROOT } from '../docs/markdown.ts'
import { temporaryFolder } from '../live.ts'
import { fieldOf } from '../fields.ts'
import { startProgram, type Program } from '../started_program.ts'
import { until } from '../until.ts'

/** A clone with its packages and without `dist`. */
function clone(t: TestContext): string {
  const root = temporaryFolder(t)
  const parts =
    'package.json package-lock.json tsconfig.json tsconfig.build.json tsconfig.types.json bin clients src tools web'
  for (const part of parts.split(' '))
    fs.cpSync(join(ROOT, part), join(root, part), { recursive: true, preserveTimestamps: true })
  fs.symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  return root
}

const startBuild = (t: TestContext, root: string, ...options: string[]): Program =>
  startProgram(t, options, { command: [process.execPath, join(root, 'tools', 'build.mjs')] })

type Built = { code: unknown; said: string }
async function build(t: TestContext, root: string, ...options: string[]): Promise<Built> {
  const program = startBuild(t, root, ...options)
  return { code: await program.ended, said: program.said }
}

/** What builds have made or left. */
const made = (root: string): string[] => fs.readdirSync(root).filter((name) => name.startsWith('dist'))

/** Without what a quick build makes otherwise: names by content, and Brotli where it is the smaller one. */
const files = (root: string): string[] =>
  (fs.readdirSync(join(root, 'dist'), { recursive: true }) as string[])
    .filter((name) => !name.endsWith('.br'))
    .map((name) => name.replace(/-[A-Z\d]{8}(?=\.)/, ''))
    .toSorted()

/** The first tests build in it one after the other, since a build takes seconds. */
let root = ''
before((t) => (root = clone(t as TestContext)))

test('Several builds at once leave one whole program.', async (t) => {
  const builds = await Promise.all([build(t, root), build(t, root), build(t, root)])
  assert.deepEqual(fieldOf(builds, 'code'), [0, 0, 0], builds.map(({ said }) => said).join(''))
  assert.deepEqual(made(root), ['dist'])
  const { stdout } = spawnSync(process.execPath, [join(root, 'dist', 'cli.js'), '--version'], {
    encoding: 'utf8',
  })
  assert.match(stdout, /^groundswell \d/)
})

test('A failed build names the place and leaves the old program, and one is silent whose pages are kept from the one before.', async (t) => {
  const { ino } = fs.statSync(join(root, 'dist'))
  const file = join(root, 'src', 'routes.ts')
  const text = fs.readFileSync(file, 'utf8')
  fs.writeFileSync(file, `${text}\nconst = 1\n`)
  const { code, said } = await build(t, root)
  assert.equal(code, 1)
  assert.match(said, /^src\/routes\.ts\(\d+,\d+\): error .*\ngroundswell: .* cannot be compiled\n$/s)
  assert.equal(fs.statSync(join(root, 'dist')).ino, ino)
  assert.deepEqual(made(root), ['dist'])
  fs.writeFileSync(file, text)
  // A file that is gone from the sources is gone from the program.
  fs.rmSync(join(root, 'src', 'commands', 'health.ts'))
  assert.deepEqual(await build(t, root), { code: 0, said: '' })
  assert.ok(!fs.existsSync(join(root, 'dist', 'commands', 'health.js')))
})

test('A quick build leaves a program that is newer than its sources, and makes changed pages and what only a package needs after the program.', async (t) => {
  const whole = files(root)
  const inode = (): number => fs.statSync(join(root, 'dist')).ino
  const first = inode()
  assert.deepEqual(await build(t, root, '--quick'), { code: 0, said: '' })
  assert.equal(inode(), first)
  fs.utimesSync(join(root, 'web', 'explorer', 'main.tsx'), new Date(), new Date())
  const quick = startBuild(t, root, '--quick')
  const maker = join(root, 'dist', 'pages.pid')
  await until(() => fs.existsSync(maker))
  assert.ok(process.kill(Number(fs.readFileSync(maker, 'utf8')), 0))
  assert.deepEqual([await quick.ended, quick.said], [0, ''])
  assert.notEqual(inode(), first)
  // The maker of the pages writes to the same place, so the program has ended when it has, too.
  await until(() => made(root).length === 1 && files(root).length === whole.length)
  assert.deepEqual(files(root), whole)
  // A first start that was stopped before its end is ended by the next one, which builds nothing else.
  fs.rmSync(join(root, 'dist', 'library.d.ts'))
  fs.utimesSync(join(root, 'dist'), new Date(), new Date())
  const second = inode()
  assert.deepEqual(await build(t, root, '--quick'), { code: 0, said: '' })
  assert.deepEqual([inode(), files(root)], [second, whole])
})

test('A server answers before its pages are made and serves them when they are, and no killed maker holds it up.', async (t) => {
  const root = clone(t)
  await build(t, root, '--quick')
  const [maker, site] = [join(root, 'dist', 'pages.pid'), join(root, 'dist', 'site')]
  await until(() => !fs.existsSync(maker))
  fs.renameSync(site, join(root, 'site'))
  const making = spawn('sleep', ['600'])
  t.after(() => making.kill())
  fs.writeFileSync(maker, String(making.pid))
  const options = [`--data=${join(root, 'data')}`, '--source=demo:scale,buoys=3,days=2', '--port=0']
  const server = startProgram(t, ['run', ...options], { command: [join(root, 'bin', 'groundswell')] })
  await server.says(/look around: /)
  const [page] = /(?<=look around: )[^\s#]+/.exec(server.said)!
  assert.equal((await fetch(`${page}v2/buoys/search?query=an`)).status, 200)
  const answer = await fetch(page)
  assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1'])
  assert.match(await answer.text(), /refresh/)
  // It leaves its file as one that was killed does.
  fs.renameSync(join(root, 'site'), site)
  making.kill()
  await until(async () => (await fetch(page)).status === 200)
})

test('A signal to the shell that builds and then runs a command ends both: a service in good order, others with the code of a shell.', async (t) => {
  const root = clone(t)
  for (const [command, signal, code] of [
    ['run', 'SIGINT', 0],
    ['serve', 'SIGTERM', 0],
    ['list', 'SIGINT', 130],
    ['list', 'SIGTERM', 143],
  ] as const) {
    // Otherwise there is nothing to build.
    fs.rmSync(join(root, 'dist'), { recursive: true, force: true })
    const program = startProgram(t, [command, '--data', join(root, 'data')], {
      command: [join(root, 'tools', 'groundswell')],
    })
    while (!made(root).some((name) => name.startsWith('dist.new'))) await setTimeout(2)
    program.kill(signal)
    assert.deepEqual([await program.ended, program.said], [code, ''], `${command} ${signal}`)
    assert.ok(!made(root).some((name) => name.startsWith('dist.new')))
  }
})

test('A Node that is too old is reported in one sentence, by the build and by the program, in a log of JSON as JSON.', (t) => {
  const { engines } = JSON.parse(fs.readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string }
  }
  const [major, minor] = engines.node.replace('>=', '').split('.').map(Number)
  const disguise = join(temporaryFolder(t), 'version.cjs')
  const says = (program: string, version: string, ...args: string[]): [number | null, string] => {
    fs.writeFileSync(
      disguise,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`,
    )
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--require', disguise, join(ROOT, program), ...args],
      { encoding: 'utf8' },
    )
    return [status, stderr]
  }
  for (const old of ['16.20.2', '18.20.8', `${major}.${minor - 1}.9`]) {
    const sentence = `groundswell: Node ${major}.${minor} or newer is needed, this is ${old}`
    for (const program of ['tools/build.mjs', 'dist/cli.js'])
      assert.deepEqual(says(program, old, '--help'), [1, `${sentence}\n`])
    const [, line] = says('dist/cli.js', old, 'serve', '--log-format=json')
    const { time, ...event } = JSON.parse(line) as { time: string }
    assert.ok(Number.isFinite(Date.parse(time)))
    assert.deepEqual(event, { level: 'error', message: sentence })
  }
  for (const good of [`${major}.${minor}.0`, `${major + 2}.0.0`])
    assert.deepEqual(says('dist/cli.js', good, '--help'), [0, ''])
})

test('What the build and the program begin with is readable for Node 12.', async () => {
  for (const file of ['tools/build.mjs', 'dist/cli.js']) {
    const text = fs.readFileSync(join(ROOT, file), 'utf8')
    const [asItIs, lowered] = await Promise.all(
      ['esnext', 'node12.20'].map((target) => transform(text, { target, format: 'esm' })),
    )
    assert.equal(asItIs.code, lowered.code)
    // Everything else is loaded after the look at the version.
    const beyondNode = text.replace("import { readFileSync } from 'node:fs'", '')
    assert.doesNotMatch(beyondNode, /^\s*import\b[^(]|^\s*export\b|\brequire\(/m)
  }
})
