/** What the program writes by default stays out of the sources' history. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readConfiguration } from '../src/sources/configuration.ts'
import { temporaryFolder } from './live.ts'
import { CLI, startProgram } from './started_program.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const git = (cwd: string, ...args: string[]): string => execFileSync('git', args, { cwd, encoding: 'utf8' })
const noHistory = existsSync(join(ROOT, '.git')) ? false : 'this is no clone: there is no history to look at'

test('No file of the history is one that is ignored.', { skip: noHistory }, () => {
  assert.equal(git(ROOT, 'ls-files', '--cached', '--ignored', '--exclude-standard'), '')
})

test('What build, keys, serve and run write by default is ignored.', async (t) => {
  const clone = temporaryFolder(t)
  git(clone, 'init', '--quiet')
  mkdirSync(join(clone, 'data'))
  copyFileSync(join(ROOT, '.gitignore'), join(clone, '.gitignore'))
  // The data folder of a clone; this one has the compiled code of another.
  const env = { ...process.env, GROUNDSWELL_DATA: 'data' }
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, [CLI, ...args], {
      cwd: clone,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  run('build', '--source', 'demo:scale,buoys=2,days=3')
  const { key } = JSON.parse(run('keys', 'issue', '--owner', 'a', '--json')) as { key: string }
  const args = ['run', '--port=0', '--admin-port=off', '--workers=1', '--every=0']
  const server = startProgram(t, args, { cwd: clone, env })
  const [, address] = await server.says(/listening on (\S+)/)
  const answer = await fetch(`${address}/buoys`, { headers: { authorization: `Bearer ${key}` } })
  assert.equal(answer.status, 200)
  await answer.arrayBuffer()
  await server.stop()
  const written = readdirSync(join(clone, 'data'))
  for (const name of ['keys.json', 'keys.json.usage', 'snapshots']) assert.ok(written.includes(name), name)
  assert.equal(git(clone, 'status', '--porcelain', '--untracked-files=all'), '?? .gitignore\n')
})

test('What the examples fetch, and what a killed command leaves, is ignored.', { skip: noHistory }, () => {
  const examples = join(ROOT, 'data', 'examples')
  const environment = new Proxy<{ [name: string]: string }>({}, { get: () => 'x' })
  const folders = readdirSync(examples)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => readConfiguration(join(examples, file), environment).sources)
    .filter(({ downloads }) => downloads.length > 0)
    .map(({ folder }) => relative(ROOT, resolve(folder)))
  assert.ok(folders.length > 3)
  const left = [
    'data/keys.json.lock/x/keys.json.0.tmp',
    'data/keys.json.lock.x/x',
    'data/snapshots/.tmp-0',
    'dist',
    'dist.x/cli.js',
  ]
  const paths = [...new Set(folders.map((folder) => join(folder, 'any.txt'))), ...left]
  const ignored = execFileSync('git', ['check-ignore', '--no-index', ...paths], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  assert.deepEqual(ignored.trim().split('\n'), paths)
})
