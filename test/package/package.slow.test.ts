/**
 * The package as its users get it: packed, installed into an empty project from npm's cache, and used there.
 * One archive and one installation for everything, since each takes seconds.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { launchBrowser } from '../../tools/browser.ts'
import { linksOf, ROOT } from '../docs/markdown.ts'
import { temporaryFolder } from '../live.ts'
import { BY_NIGHT } from '../rounds.ts'
import { startProgram } from '../started_program.ts'

const run = promisify(execFile)
/** Everything that a server needs to run, in MB. The AWS SDK for buckets takes 14 of them. */
const MAX_INSTALLED_MB = 200

/** Packs what `npm run build` has made. `files` are the paths in the archive. */
async function pack(t: TestContext): Promise<{ archive: string; files: string[] }> {
  const folder = temporaryFolder(t)
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: ROOT,
    maxBuffer: 2 ** 26,
  })
  const [{ filename, files }] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[]
  return { archive: join(folder, filename), files: files.map(({ path }) => path) }
}

/** Files below a folder, as paths from it. */
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

test('The package', async (t) => {
  const { archive, files } = await pack(t)
  const project = temporaryFolder(t)
  writeFileSync(join(project, 'package.json'), '{"name":"empty","private":true,"type":"module"}')
  const installed = await run('npm', ['install', '--prefer-offline', archive], { cwd: project })
  const own = join(project, 'node_modules', 'groundswell')
  const cli = join(project, 'node_modules', '.bin', 'groundswell')
  const env = { PATH: process.env['PATH'] ?? '', HOME: project }
  const command = (...args: string[]) => run(cli, args, { cwd: project, env })

  await t.test(
    'installs with no warning, no script and no native code but of the HTTP engine and of what is optional to msgpackr.',
    () => {
      // What npm says about the machine's own settings is not about the package.
      const said = (installed.stdout + installed.stderr)
        .split('\n')
        .filter((line) => /warn|EBADENGINE|script|deprecated|vulnerab/i.test(line))
        .filter((line) => !/Unknown (user|env|project|global|builtin) config/.test(line))
      // Optional to msgpackr, and not loaded: `docs/install.md` says how to leave it out.
      assert.deepEqual(
        said.filter((line) => !/install-scripts/.test(line)),
        [],
      )
      const lock = JSON.parse(readFileSync(join(project, 'node_modules', '.package-lock.json'), 'utf8')) as {
        packages: { [path: string]: { hasInstallScript?: boolean } }
      }
      assert.deepEqual(
        Object.entries(lock.packages)
          .filter(([, { hasInstallScript }]) => hasInstallScript === true)
          .map(([path]) => path),
        ['node_modules/msgpackr-extract'],
      )
      const packages = join(project, 'node_modules')
      const all = filesBelow(packages)
      // The HTTP engine, and what is optional to msgpackr.
      const native = all.filter((file) => /\.(node|so|dll|dylib|gyp)$/.test(file))
      for (const file of native) assert.match(file, /^(@uwsjs\/|(@msgpackr-extract\/)?msgpackr-extract)/)
      const sizes = all.map((file) => statSync(join(packages, file)).size)
      const megabytes = sizes.reduce((sum, size) => sum + size, 0) / 1e6
      assert.ok(megabytes < MAX_INSTALLED_MB, `${megabytes} MB`)
    },
  )

  await t.test(
    'holds the program, the client, the examples for operators, and no document with a dead link.',
    () => {
      const rooms = new Set(files.map((file) => file.split('/')[0]))
      const usual = `CHANGELOG.md CONTRIBUTING.md LICENSE README.md SECURITY.md THIRD_PARTY.md bench bin clients
        data deploy dist docs package.json web`
      assert.deepEqual([...rooms].toSorted(), usual.split(/\s+/))
      const some = `bin/groundswell dist/cli.js dist/library.js dist/library.d.ts dist/openapi/guides.md
        dist/operation/query-check.js dist/site/explorer/files.json clients/typescript/groundswell.ts
        clients/openapi.json deploy/Dockerfile deploy/kubernetes/deployment.yaml
        deploy/systemd/groundswell.service`
      for (const file of some.split(/\s+/))
        assert.ok(files.includes(file) && existsSync(join(own, file)), file)
      assert.ok(!existsSync(join(own, 'src')) && !existsSync(join(own, 'test')))
      const documents = filesBelow(own).filter((file) => file.endsWith('.md'))
      assert.ok(documents.length > 10)
      const dead = documents.flatMap((path) => {
        const text = readFileSync(join(own, path), 'utf8')
        return linksOf({ path, text, prose: text })
          .filter((link) => !/^([a-z][a-z0-9+.-]*:|#)/i.test(link))
          .map((link) => normalize(join(dirname(path), decodeURI(link.split('#')[0]))))
          .filter((target) => !existsSync(join(own, target)))
          .map((target) => `${path} links ${target}`)
      })
      assert.deepEqual(dead, [])
    },
  )

  await t.test('has entries and types that every resolver of modules of today finds.', async () => {
    const checks = temporaryFolder(t)
    cpSync(join(ROOT, 'test', 'package', 'checks'), checks, { recursive: true })
    await run('npm', ['ci'], { cwd: checks })
    const { stdout } = await run(process.execPath, ['check.mjs', archive], { cwd: checks })
    assert.deepEqual(JSON.parse(stdout), [])
  })

  await t.test('shows itself in an empty folder: demo, key, explorer and documentation.', async (t) => {
    const folder = temporaryFolder(t)
    const server = startProgram(t, ['--port=0', '--admin-port=off', '--workers=1'], {
      command: [cli],
      cwd: folder,
      env: { ...env, XDG_DATA_HOME: join(folder, 'xdg') },
    })
    const [, address] = await server.says(/look around: (\S+)\n/)
    assert.ok(existsSync(join(folder, 'xdg', 'groundswell', 'keys.json')))
    assert.deepEqual(readdirSync(folder), ['xdg'])

    const browser = await launchBrowser()
    t.after(() => browser.close())
    const page = await browser.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(String(error)))
    await page.goto(address)
    await page.locator('#content .buoys a').first().waitFor()
    await page.locator('#map[data-drawn]:not([data-drawn="0"])').waitFor({ state: 'attached' })
    await page.goto(new URL('/docs', address).href)
    await page.getByText('Nearest').first().waitFor()
    assert.ok((await page.content()).includes('/docs/scalar-'), 'the page with Scalar, not the plain one')
    assert.deepEqual(errors, [])
    await browser.close()
    assert.equal(await server.stop(), 0)
  })

  await t.test('says its version by npx, and has a first configuration.', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    const said = await run('npx', ['groundswell', '--version'], { cwd: project, env })
    assert.equal(said.stdout, `groundswell ${version}\n`)
    await command('init')
    const dry = await command('build', '--config', 'groundswell.config.json', '--dry-run')
    assert.match(dry.stdout, /would fetch 10 of 10 files/)
  })

  await t.test('has a library with types, and a client.', { skip: BY_NIGHT }, async () => {
    const demo = ['--source', 'demo:scale,buoys=3,days=5', '--as-of', '2026-11-01T06:00:00Z']
    await command('build', ...demo, '--out', join(project, 'sea'))
    const client = join(own, 'clients', 'typescript')
    cpSync(join(client, 'groundswell.ts'), join(project, 'groundswell.ts'))
    const says = readFileSync(join(client, 'README.md'), 'utf8')
    const [, dependency] = /^npm install (openapi-fetch@\S+)$/m.exec(says)!
    await run('npm', ['install', '--prefer-offline', dependency], { cwd: project })
    const [, version, options] = /^npx openapi-typescript@(\S+) \S+ (.*)$/m.exec(says)!
    const maker = join(ROOT, 'test', 'node_modules', 'openapi-typescript')
    assert.ok(readFileSync(join(maker, 'package.json'), 'utf8').includes(`"version": "${version}"`))
    const description = join(own, 'clients', 'openapi.json')
    const makes = [join(maker, 'bin', 'cli.js'), description, ...options.split(' ')]
    await run(process.execPath, makes, { cwd: project })
    writeFileSync(
      join(project, 'program.ts'),
      `import { openSnapshot, startServer, type Reading, type Server } from 'groundswell'
import { Groundswell } from './groundswell.ts'

const snapshot = await openSnapshot('sea')
const server: Server = await startServer({ snapshots: 'sea', keys: 'none.json', port: 0, adminPort: 'off', workers: 1, log: () => {} })
const [buoy] = snapshot.buoys
const newest: Reading | null = snapshot.newestReading(buoy)
const { data } = await new Groundswell({ baseUrl: server.url }).get('/buoys/nearest', { query: { lat: buoy.lat, lng: buoy.lng } })
const found = 'buoy' in data ? data.buoy.name : ''
const rows = [...snapshot.readings(buoy, { until: newest?.time ?? new Date() })].length
console.log(JSON.stringify({ id: snapshot.id, found, rows, count: buoy.readingCount }))
await server.stop()
`,
    )
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          target: 'es2023',
          module: 'nodenext',
          strict: true,
          // Also those of the package.
          skipLibCheck: false,
          allowImportingTsExtensions: true,
          rewriteRelativeImportExtensions: true,
          typeRoots: [join(ROOT, 'node_modules', '@types')],
          types: ['node'],
          outDir: 'out',
        },
        files: ['program.ts'],
      }),
    )
    // That of the project: a tool among the packages of tests brings an older one.
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    await run(process.execPath, [tsc, '--project', project]).catch((error: { stdout: string }) =>
      assert.fail(error.stdout),
    )
    const { stdout } = await run(process.execPath, ['out/program.js'], { cwd: project, env })
    const { id, found, rows, count } = JSON.parse(stdout) as { [name: string]: string & number }
    assert.match(id, /^[0-9a-f]{24}$/)
    assert.notEqual(found, '')
    assert.ok(count > 1 && rows === count - 1, stdout)
  })
})
