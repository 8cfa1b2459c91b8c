// Runs the command line from compiled code that is never older than the sources: compiles first where there is something to
// compile, and builds the static files of the site beside it. Plain JavaScript, so that it runs on a fresh clone. An installed
// package has no sources and starts at once.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const stampFile = join(dist, '.sources')

/** A hash over everything that goes into the compiled code. */
function sourcesStamp() {
  const hash = createHash('sha256')
  const files = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
  for (const file of [
    ...['tsconfig.json', 'tsconfig.build.json', 'package.json'].map((name) => join(root, name)),
    ...files,
  ]) {
    hash
      .update(`${file.slice(root.length)}\0`)
      .update(readFileSync(file))
      .update('\0')
  }
  return hash.digest('hex')
}

function isFresh(stamp) {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp
}

/** Compiles beside the old code and puts it in place whole, so that nobody ever imports half of it. */
async function compile(stamp) {
  const fresh = join(root, `dist.${process.pid}`)
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh)
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
  const options = ['--project', join(root, 'tsconfig.build.json'), '--outDir', fresh]
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...options], { encoding: 'utf8' })
  if (status !== 0) {
    rmSync(fresh, { recursive: true, force: true })
    process.stderr.write(stdout)
    process.exit(1)
  }
  // What could not be fetched is tried again the next time.
  if (await buildSite(fresh)) writeFileSync(join(fresh, '.sources'), stamp)
  const old = join(root, `dist.old-${process.pid}`)
  // Another process may have been faster with the same sources and run from its code by now: that one stays.
  if (!isFresh(stamp)) {
    renameIfPossible(dist, old)
    renameIfPossible(fresh, dist)
  }
  rmSync(fresh, { recursive: true, force: true })
  rmSync(old, { recursive: true, force: true })
}

/** @param {string} fresh the folder of the compiled code @returns whether everything could be had */
async function buildSite(fresh) {
  const script = join(root, 'src', 'site.build.mjs')
  if (!existsSync(script)) return true
  try {
    const { buildSite } = await import(pathToFileURL(script).href)
    return await buildSite(join(fresh, 'site'), join(dist, 'site'))
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    process.stderr.write(`the site cannot be built: ${error.message}\n`)
    process.exit(1)
  }
}

/** Another process may do the same at the same moment. */
function renameIfPossible(from, to) {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error
  }
}

const stamp = sourcesStamp()
if (!isFresh(stamp)) await compile(stamp)
if (process.argv[2] !== '--build') {
  const { main } = await import(join(dist, 'cli.js'))
  await main(process.argv.slice(2))
}
