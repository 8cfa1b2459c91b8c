/** What the program writes by default stays out of the sources' history. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { readConfiguration } from '../src/sources/configuration.ts'
import { ROOT } from './docs/markdown.ts'

const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' })
const noHistory = existsSync(join(ROOT, '.git')) ? false : 'this is no clone: there is no history to look at'

test('No file of the history is one that is ignored.', { skip: noHistory }, () => {
  assert.equal(git('ls-files', '--cached', '--ignored', '--exclude-standard'), '')
})

test(
  'What commands write by default, examples fetch and a killed command leaves is ignored.',
  { skip: noHistory },
  () => {
    const examples = join(ROOT, 'data', 'examples')
    const environment = new Proxy<{ [name: string]: string }>({}, { get: () => 'x' })
    const folders = readdirSync(examples)
      .filter((file) => file.endsWith('.json'))
      .flatMap((file) => readConfiguration(join(examples, file), environment).sources)
      .filter(({ downloads }) => downloads.length > 0)
      .map(({ folder }) => relative(ROOT, resolve(folder)))
    assert.ok(folders.length > 3)
    const written = `data/keys.json data/keys.json.usage data/keys.json.lock/x/keys.json.0.tmp data/keys.json.lock.x/x
    data/snapshots/current data/snapshots/.tmp-0 dist dist.x/cli.js`
    const paths = [...new Set(folders.map((folder) => join(folder, 'any.txt'))), ...written.split(/\s+/)]
    assert.deepEqual(
      git('check-ignore', '--no-index', ...paths)
        .trim()
        .split('\n'),
      paths,
    )
  },
)
