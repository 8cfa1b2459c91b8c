// Compiles the program and builds the static files of the site, into the folder that its first argument
// names. `builds.mjs` runs it in a process group of its own, which a signal ends as a whole.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const source = dirname(fileURLToPath(import.meta.url))
const root = dirname(source)
const [folder, stamp] = process.argv.slice(2)

const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
const options = ['--project', join(root, 'tsconfig.build.json'), '--outDir', folder]
const { status, stdout } = spawnSync(process.execPath, [tsc, ...options], { encoding: 'utf8' })
if (status !== 0) {
  process.stderr.write(stdout)
  process.exit(1)
}
copyFileSync(join(source, 'begin.mjs'), join(folder, 'begin.mjs'))
await vendorPackages()
// Without a stamp the next launch tries again what could not be fetched.
if (await buildSite()) writeFileSync(join(folder, '.sources'), stamp)

/** A tree without that script imports its packages as they are installed. */
async function vendorPackages() {
  const script = join(source, 'vendor.build.mjs')
  if (!existsSync(script)) return
  const { vendor } = await import(pathToFileURL(script).href)
  await vendor(folder)
}

/** Resolves to whether nothing is missing. */
async function buildSite() {
  const script = join(source, 'site.build.mjs')
  if (!existsSync(script)) return true
  try {
    const { buildSite } = await import(pathToFileURL(script).href)
    return await buildSite(join(folder, 'site'), join(root, 'dist', 'site'))
  } catch (error) {
    process.stderr.write(`the site cannot be built: ${error.message}\n`)
    process.exit(1)
  }
}
