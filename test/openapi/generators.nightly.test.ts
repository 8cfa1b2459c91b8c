/**
 * Other generators of clients that people use, upon the published description: what each makes compiles under
 * strict types and reads a page from a real server. Their packages are installed when the test runs.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { fixtureSnapshots } from '../built_once.ts'
import { startLive, temporaryFolder } from '../live.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const GENERATORS = fileURLToPath(new URL('generators', import.meta.url))
const MODULES = join(GENERATORS, 'node_modules')

interface Generator {
  /** Its command, with the description in `openapi.json`. */
  command: string[]
  /**
   * A program over what it makes: with the address of the operations and a key, it prints the names of two
   * buoys.
   */
  program: string
}

const GENERATED: { readonly [name: string]: Generator } = {
  '@hey-api/openapi-ts': {
    command: ['@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.json', '-o', 'hey'],
    program: `import { client } from './hey/client.gen'
import { listBuoys } from './hey/sdk.gen'
import type { ListBuoysAnswer } from './hey/types.gen'
const [baseUrl, key] = process.argv.slice(2)
client.setConfig({ baseUrl: baseUrl!, auth: key! })
const { data, error } = await listBuoys({ query: { per_page: 2, active_only: false } })
if (data === undefined) throw new Error(JSON.stringify(error))
const names: string[] = (data as ListBuoysAnswer).data.buoys.map(({ name }) => name)
console.log(JSON.stringify(names))
`,
  },
  orval: {
    command: 'orval/dist/bin/orval.js --input openapi.json --output orval.ts --client fetch'.split(' '),
    program: `import { listBuoys, type ListBuoysAnswer } from './orval'
const [baseUrl, key] = process.argv.slice(2)
// Its paths begin below the address of the operations.
const { fetch } = globalThis
globalThis.fetch = (path, init) => fetch(baseUrl! + String(path), init)
const answer = await listBuoys({ per_page: 2, active_only: false }, { headers: { Authorization: 'Bearer ' + key } })
if (answer.status !== 200) throw new Error(String(answer.status))
const page = answer.data
if (typeof page === 'string' || !('data' in page)) throw new Error('another format')
const names: string[] = (page as ListBuoysAnswer).data.buoys.map(({ name }) => name)
console.log(JSON.stringify(names))
`,
  },
}

const OPTIONS = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules', '@types')],
  },
  include: ['*.ts'],
}

test('Clients of the usual generators compile, and read a page from a real server.', async (t) => {
  if (!existsSync(MODULES))
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: GENERATORS, stdio: 'pipe' })
  const live = await startLive(t, { snapshots: await fixtureSnapshots() })
  const page = await fetch(`${live.base}/buoys?per_page=2&active_only=false`, {
    headers: { authorization: `Bearer ${live.key}` },
  })
  const { data } = (await page.json()) as { data: { buoys: { name: string }[] } }
  const expected = data.buoys.map(({ name }) => name)
  assert.equal(expected.length, 2)
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  for (const [name, { command, program }] of Object.entries(GENERATED)) {
    await t.test(`${name}.`, (own) => {
      const folder = temporaryFolder(own)
      const run = (...args: string[]): string =>
        execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
      copyFileSync(join(ROOT, 'clients', 'openapi.json'), join(folder, 'openapi.json'))
      symlinkSync(MODULES, join(folder, 'node_modules'))
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(OPTIONS))
      run(join(MODULES, command[0]), ...command.slice(1))
      writeFileSync(join(folder, 'program.ts'), program)
      run(tsc, '-p', folder)
      const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs')
      assert.deepEqual(JSON.parse(run(tsx, 'program.ts', live.base, live.key)), expected)
    })
  }
})
