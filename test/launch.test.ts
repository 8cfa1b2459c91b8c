/** The launcher: compiles when a source has changed and only then, and never leaves half of the compiled code behind. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './live.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** A program of two files; the second one is loaded late, as workers are. */
const PROGRAM = {
  'cli.ts': `/** Prints its arguments and what the other file says. */
export async function main(argv: readonly string[]): Promise<void> {
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
  for (const file of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src/launch.mjs']) {
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
  const child = spawn(process.execPath, [join(root, 'src', 'launch.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => (output[name] += chunk))
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...output }))
  })
}

const inode = (root: string): number => statSync(join(root, 'dist')).ino
const setWord = (root: string, word: string): void =>
  writeFileSync(join(root, 'src', 'word.ts'), PROGRAM['word.ts'].replace('first', word))

/** What lies in the folder beside its sources. */
const made = (root: string): string[] => readdirSync(root).filter((name) => name.startsWith('dist'))

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
  assert.deepEqual(made(root), ['dist'])
})

test('A source that does not compile is told with exit code 1, and the compiled code stays as it was.', async (t) => {
  const root = smallTree(t)
  await launch(root, '--build')
  const before = inode(root)
  writeFileSync(join(root, 'src', 'word.ts'), "export const word: number = 'no number'\n")
  const { code, stdout, stderr } = await launch(root)
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /src\/word\.ts.*TS2322/)
  assert.equal(inode(root), before)
  assert.deepEqual(made(root), ['dist'])
  setWord(root, 'mended')
  assert.equal((await launch(root)).stdout, 'mended')
})

test('Several launches at once all run the program as it is now, and leave one compiled tree.', async (t) => {
  const root = smallTree(t)
  for (const word of ['one', 'two', 'three']) {
    setWord(root, word)
    const launches = await Promise.all(Array.from({ length: 4 }, () => launch(root)))
    for (const each of launches) assert.deepEqual(each, { code: 0, stdout: word, stderr: '' })
    assert.deepEqual(made(root), ['dist'])
    assert.ok(readFileSync(join(root, 'dist', 'word.js'), 'utf8').includes(word))
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
