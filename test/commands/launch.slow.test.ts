/**
 * The launcher: compiles when a source has changed and only then, takes no code away from a process that
 * runs, never leaves half of the compiled code behind, and says what is missing.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../live.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * A program of two files; the second one is loaded late, as workers are: after a line of input, where its
 * arguments ask for that.
 */
const PROGRAM = {
  'cli.ts': `/** Prints its arguments and what the other file says. */
export async function main(argv: readonly string[]): Promise<void> {
  if (argv[0] === '--wait') {
    process.stdout.write('ready ')
    await new Promise((resolve) => process.stdin.once('data', resolve))
    process.stdin.destroy()
  }
  const { word } = await import('./word.ts')
  process.stdout.write([...argv, word].join(' '))
}
`,
  'word.ts': `/** What is printed. */
export const word: string = 'first'
`,
}

/** A folder with the launcher, the settings of the compiler and a small program. */
function smallTree(t: TestContext): string {
  const root = temporaryFolder(t)
  mkdirSync(join(root, 'src'))
  const scripts = ['launch', 'begin', 'builds', 'compile'].map((name) => `src/${name}.mjs`)
  for (const file of ['package.json', 'tsconfig.json', 'tsconfig.build.json', ...scripts]) {
    copyFileSync(join(ROOT, file), join(root, file))
  }
  for (const [file, text] of Object.entries(PROGRAM)) writeFileSync(join(root, 'src', file), text)
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  return root
}

interface Launch {
  code: number | null
  stdout: string
  stderr: string
}

function launch(root: string, ...args: string[]): Promise<Launch> {
  return startLaunch(root, ...args).end
}

function startLaunch(root: string, ...args: string[]): { child: ChildProcess; end: Promise<Launch> } {
  const child = spawn(process.execPath, [join(root, 'src', 'launch.mjs'), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => (output[name] += chunk))
  }
  const end = new Promise<Launch>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...output }))
  })
  return { child, end }
}

const inode = (root: string): number => statSync(join(root, 'dist')).ino
const setWord = (root: string, word: string): void =>
  writeFileSync(join(root, 'src', 'word.ts'), PROGRAM['word.ts'].replace('first', word))

/** What lies in the folder beside its sources. */
const made = (root: string): string[] => readdirSync(root).filter((name) => name.startsWith('dist'))
const buildsOf = (root: string): string[] => readdirSync(join(root, 'dist.d'))
const MADE = ['dist', 'dist.d']

test('The program is compiled when there is no compiled code, when a source has changed, and not otherwise.', async (t) => {
  const root = smallTree(t)
  assert.deepEqual(await launch(root, 'a', '--b'), { code: 0, stdout: 'a --b first', stderr: '' })
  const first = inode(root)
  assert.deepEqual(await launch(root), { code: 0, stdout: 'first', stderr: '' })
  assert.equal(inode(root), first)

  setWord(root, 'second')
  assert.equal((await launch(root)).stdout, 'second')
  const second = inode(root)
  assert.notEqual(second, first)

  // A new file, a changed setting of the compiler.
  writeFileSync(join(root, 'src', 'new.ts'), '/** Nothing yet. */\nexport const nothing = null\n')
  assert.deepEqual(await launch(root, '--build'), { code: 0, stdout: '', stderr: '' })
  assert.ok(existsSync(join(root, 'dist', 'new.js')))
  const third = inode(root)
  appendFileSync(join(root, 'tsconfig.build.json'), '\n')
  assert.equal((await launch(root, '--build')).code, 0)
  assert.notEqual(inode(root), third)
  assert.deepEqual(made(root), MADE)
  assert.equal(buildsOf(root).length, 4)

  // As after a change of the branch and back.
  rmSync(join(root, 'src', 'new.ts'))
  copyFileSync(join(ROOT, 'tsconfig.build.json'), join(root, 'tsconfig.build.json'))
  assert.equal((await launch(root)).stdout, 'second')
  assert.equal(inode(root), second)
})

test('A source that does not compile is reported with exit code 1, and the compiled code stays as it was.', async (t) => {
  const root = smallTree(t)
  await launch(root, '--build')
  const before = inode(root)
  writeFileSync(join(root, 'src', 'word.ts'), "export const word: number = 'no number'\n")
  const { code, stdout, stderr } = await launch(root)
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /src\/word\.ts.*TS2322/)
  assert.equal(inode(root), before)
  assert.deepEqual(made(root), MADE)
  setWord(root, 'mended')
  assert.equal((await launch(root)).stdout, 'mended')
})

test('Several launches at once all run the program as it is now, and leave one compiled tree.', async (t) => {
  const root = smallTree(t)
  for (const word of ['one', 'two', 'three']) {
    setWord(root, word)
    const launches = await Promise.all(Array.from({ length: 4 }, () => launch(root)))
    for (const each of launches) assert.deepEqual(each, { code: 0, stdout: word, stderr: '' })
    assert.deepEqual(made(root), MADE)
    assert.ok(readFileSync(join(root, 'dist', 'word.js'), 'utf8').includes(word))
  }
  assert.equal(buildsOf(root).length, 3)
})

test('A program that runs goes on with the code it began with when another version is compiled beside it.', async (t) => {
  const root = smallTree(t)
  const { child, end } = startLaunch(root, '--wait')
  await once(child.stdout!, 'data')
  setWord(root, 'second')
  assert.equal((await launch(root)).stdout, 'second')
  child.stdin!.end('go on\n')
  assert.deepEqual(await end, { code: 0, stdout: 'ready --wait first', stderr: '' })
})

test('Builds that no process has run from for days are cleared away, others are not.', async (t) => {
  const root = smallTree(t)
  await launch(root, '--build')
  const [first] = buildsOf(root)
  setWord(root, 'second')
  await launch(root, '--build')
  const second = buildsOf(root).find((name) => name !== first)!
  const daysAgo = new Date(Date.now() - 3 * 86_400_000)
  for (const name of [first, second]) utimesSync(join(root, 'dist.d', name, '.sources'), daysAgo, daysAgo)
  // A process marks the build that it runs from.
  const { child, end } = startLaunch(root, '--wait')
  await once(child.stdout!, 'data')
  const now = new Date()
  utimesSync(join(root, 'dist.d', second, '.sources'), now, now)
  setWord(root, 'third')
  await launch(root, '--build')
  assert.ok(!buildsOf(root).includes(first))
  assert.ok(buildsOf(root).includes(second))
  child.stdin!.end('go on\n')
  assert.equal((await end).stdout, 'ready --wait second')
})

test('What runs from a build marks it as in use.', () => {
  const stamp = join(ROOT, 'dist', '.sources')
  const daysAgo = new Date(Date.now() - 3 * 86_400_000)
  utimesSync(stamp, daysAgo, daysAgo)
  spawnSync(process.execPath, [join(ROOT, 'dist', 'cli.js'), '--help'])
  assert.ok(Date.now() - statSync(stamp).mtimeMs < 3_600_000)
})

/** Processes that run something in `root`. */
function runningIn(root: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((name) => {
      try {
        return readFileSync(join('/proc', name, 'cmdline'), 'utf8').includes(root)
      } catch {
        return false
      }
    })
}

test(
  'A signal while it compiles ends the compiler too, leaves nothing, and gives the documented exit code.',
  { skip: process.platform === 'linux' ? false : 'it looks for processes in /proc' },
  async (t) => {
    for (const [signal, arg, expected] of [
      ['SIGINT', '--build', 130],
      ['SIGTERM', '--build', 143],
      ['SIGTERM', 'serve', 0],
    ] as const) {
      const root = smallTree(t)
      const { child, end } = startLaunch(root, arg)
      while (!existsSync(join(root, 'dist.d')) || buildsOf(root).length === 0) await setTimeout(2)
      child.kill(signal)
      const stderr = arg === 'serve' ? 'compiling, once after each change of the sources\n' : ''
      assert.deepEqual(await end, { code: expected, stdout: '', stderr })
      assert.deepEqual(made(root), ['dist.d'])
      assert.deepEqual(buildsOf(root), [])
      while (runningIn(root).length > 0) await setTimeout(20)
    }
  },
)

test('A clone that cannot be written to is reported in a sentence when it has to be compiled, and runs when not.', async (t) => {
  const root = smallTree(t)
  // For a user who may write anywhere, as the one of a container, this does what a read-only disk does to
  // others.
  writeFileSync(join(root, 'dist.d'), '')
  const { code, stdout, stderr } = await launch(root)
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^groundswell: \S+ cannot be written \(E[A-Z]+\).*"npm run build"[^\n]*\n$/)
  rmSync(join(root, 'dist.d'))
  await launch(root, '--build')
  rmSync(join(root, 'dist'))
  mkdirSync(join(root, 'dist'))
  assert.equal((await launch(root)).stdout, 'first')
})

test('For a package, the compiled code is a folder of files, and afterwards a link again.', async (t) => {
  const root = smallTree(t)
  assert.equal((await launch(root, '--pack')).code, 0)
  assert.ok(!lstatSync(join(root, 'dist')).isSymbolicLink())
  assert.ok(existsSync(join(root, 'dist', 'cli.js')))
  assert.equal((await launch(root, '--build')).code, 0)
  assert.ok(lstatSync(join(root, 'dist')).isSymbolicLink())
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: { [name: string]: string }
  }
  assert.match(scripts['package'], /launch\.mjs --pack && npm pack && .*launch\.mjs --build$/)
})

test('A Node that is too old is reported in one sentence before anything else, by the clone and by the package.', (t) => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string }
  }
  const [major, minor] = engines.node.replace('>=', '').split('.').map(Number)
  const says = (program: string, version: string): { status: number | null; stderr: string } => {
    const disguise = join(temporaryFolder(t), 'version.cjs')
    writeFileSync(
      disguise,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`,
    )
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--require', disguise, join(ROOT, program), '--help'],
      { encoding: 'utf8' },
    )
    return { status, stderr }
  }
  for (const program of ['tools/launch.mjs', 'dist/cli.js']) {
    for (const old of ['16.20.2', '18.20.8', `${major}.${minor - 1}.9`]) {
      assert.deepEqual(says(program, old), {
        status: 1,
        stderr: `groundswell: Node ${major}.${minor} or newer is needed, this is ${old}\n`,
      })
    }
    for (const good of [`${major}.${minor}.0`, `${major + 2}.0.0`])
      assert.deepEqual(says(program, good), { status: 0, stderr: '' })
  }
  // What an old Node has to read before that: nothing that came after ES2020, and nothing loaded that did.
  for (const file of ['launch', 'begin']) {
    const text = readFileSync(join(ROOT, 'src', `${file}.mjs`), 'utf8')
    assert.doesNotMatch(text, /\?\.|\?\?|^await |from 'node:/m, file)
  }
})

test('An installed package, which has no sources, would start without the launcher.', () => {
  const { bin, files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    bin: { [name: string]: string }
    files: string[]
  }
  assert.equal(bin['groundswell'], 'dist/cli.js')
  assert.ok(files.includes('dist') && !files.includes('src'))
  assert.ok(readFileSync(join(ROOT, 'src', 'cli.ts'), 'utf8').startsWith('#!/usr/bin/env node\n'))
})
