// Compiles the program and builds the static files of the site, into the folder that its first argument
// names. `builds.mjs` runs it in a process group of its own, which a signal ends as a whole.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const source = join(root, 'src')
const [folder, stamp] = process.argv.slice(2)

const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
const options = ['--project', join(root, 'tsconfig.build.json'), '--outDir', folder]
const { status, stdout } = spawnSync(process.execPath, [tsc, ...options], { encoding: 'utf8' })
if (status !== 0) {
  process.stderr.write(stdout)
  process.exit(1)
}
copyFileSync(join(source, 'begin.mjs'), join(folder, 'begin.mjs'))
const guides = join('openapi', 'guides.md')
if (existsSync(join(source, guides))) copyFileSync(join(source, guides), join(folder, guides))
writeTypes()
await vendorPackages()
await finishChecks()
// Without a stamp the next launch tries again what could not be fetched.
if (await buildSite()) writeFileSync(join(folder, '.sources'), stamp)

/** Types of what the package exports. Its own files do without: they are nobody else's. */
function writeTypes() {
  const types = join(folder, '.types')
  const emit = ['--declaration', '--emitDeclarationOnly', '--outDir', types]
  const made = spawnSync(process.execPath, [tsc, ...options.slice(0, 2), ...emit], { encoding: 'utf8' })
  if (made.status !== 0) {
    process.stderr.write(made.stdout)
    process.exit(1)
  }
  const library = ['library', 'server/open-snapshot', 'server/start-server'].map((name) => `${name}.d.ts`)
  for (const file of library) {
    // Beside each of them lies a file of JavaScript, none of TypeScript.
    const text = readFileSync(join(types, file), 'utf8').replaceAll(/(from ['"]\..*)\.ts(['"])/g, '$1.js$2')
    writeFileSync(join(folder, file), text)
  }
  rmSync(types, { recursive: true })
}

/** A tree without that script imports its packages as they are installed. */
async function vendorPackages() {
  const script = join(root, 'tools', 'vendor.build.mjs')
  if (!existsSync(script)) return
  const { vendor } = await import(pathToFileURL(script).href)
  await vendor(folder)
}

/** A tree without that script checks queries by what ajv makes at run time. */
async function finishChecks() {
  const script = join(root, 'tools', 'query-checks.mjs')
  if (!existsSync(script)) return
  const { writeChecks } = await import(pathToFileURL(script).href)
  await writeChecks(folder)
}

/** Resolves to whether nothing is missing. */
async function buildSite() {
  const script = join(root, 'web', 'site.build.mjs')
  if (!existsSync(script)) return true
  try {
    const { buildSite } = await import(pathToFileURL(script).href)
    return await buildSite(join(folder, 'site'), join(root, 'dist', 'site'), (part) => process.send?.(part))
  } catch (error) {
    process.stderr.write(`the site cannot be built: ${error.message}\n`)
    process.exit(1)
  }
}
