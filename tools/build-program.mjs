// Builds the program into `dist/` for `build.mjs`. Plain JavaScript, because it runs before anything is
// compiled. Types are checked by `npm run typecheck`, not here.
import { build } from 'esbuild'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeChecks } from './query-checks.mjs'
import { isNewerThan } from './newer.mjs'
import { buildSite, isSiteKept } from '../web/site.build.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const source = join(root, 'src')
/** What takes seconds to make, by the versions and sources that decide it. `npm ci` clears it. */
const CACHE = join(root, 'node_modules', '.cache', 'groundswell')

/** What decides `dist`. */
const SOURCES = [
  'src',
  'tools',
  'web',
  'clients/typescript/groundswell.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.build.json',
  'tsconfig.json',
  'tsconfig.types.json',
]

/** The file that the program begins with, and the oldest Node that can read it. */
const START = join(source, 'cli.ts')
const START_TARGET = 'node12.20'

/** A file in `dist` with the id of the process that makes the pages, for `server/site-files.ts`. */
const PAGES_MAKER = 'pages.pid'
/** No build takes an hour. */
const ABANDONED_MS = 3_600_000
/** Exit codes of a shell for a process that such a signal has ended. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 }

/**
 * Builds everything into `folder`, which is empty or does not exist.
 * @param {string} folder
 * @param {(line: string) => void} say is given a line before what takes long
 * @param {boolean} isQuick whether the pages may be compressed less, as for a first look
 * @throws Error with the places of what is wrong
 */
export async function buildInto(folder, say = () => {}, isQuick = false) {
  await Promise.all([
    buildProgram(folder),
    completeProgram(folder),
    buildSite(join(folder, 'site'), CACHE, say, isQuick),
  ])
}

/** What runs. */
async function buildProgram(folder) {
  mkdirSync(folder, { recursive: true })
  await compile(folder)
  await writeChecks(folder)
}

/** What only a package needs. */
const completeProgram = (folder) => tsc('tsconfig.types.json', folder)

/** Whether `completeProgram` has come to its end. */
const isComplete = (folder) => existsSync(join(folder, 'library.d.ts'))

/**
 * Each source becomes one file, so that threads and processes find theirs. esbuild, which takes only what it
 * has to, turns the constants of a file into variables, and V8 reads these each time: a page of 100 readings
 * took a fifth longer.
 */
async function compile(folder) {
  const names = readdirSync(source, { recursive: true })
  for (const name of names) {
    if (/\.(json|md)$/.test(name)) cpSync(join(source, name), join(folder, name))
  }
  await tsc('tsconfig.build.json', folder)
  // It holds the files that it imports at once, so that all of that is readable for an old Node, too.
  const start = join(folder, 'cli.js')
  const { outputFiles } = await build({
    bundle: true,
    format: 'esm',
    platform: 'node',
    legalComments: 'none',
    logLevel: 'silent',
    write: false,
    outdir: folder,
    entryPoints: [START],
    target: START_TARGET,
    plugins: [laterImportsStay],
  })
  writeFileSync(start, outputFiles[0].contents)
  chmodSync(start, 0o755)
}

/** Imports on demand stay imports, of the compiled files. */
const laterImportsStay = {
  name: 'imports',
  setup: ({ onResolve }) => {
    onResolve({ filter: /./ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path: path.replace(/\.ts$/, '.js'), external: true } : undefined,
    )
  },
}

/** Compiles what the `project` names; it checks no types. */
async function tsc(project, folder) {
  const command = join(
    dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin',
    'tsc',
  )
  const options = ['--project', join(root, project), '--outDir', folder]
  const writing = spawn(process.execPath, [command, ...options], {
    cwd: root,
    // It says on standard output what is wrong.
    stdio: ['ignore', process.stderr, 'inherit'],
    detached: true,
  })
  // A build that is ended first ends the group of the compiler, which would make the removed folder again.
  const end = () => process.kill(-Number(writing.pid), 'SIGKILL')
  process.prependOnceListener('exit', end)
  const [code] = await once(writing, 'close')
  process.off('exit', end)
  if (code !== 0) throw new Error(`what ${project} names cannot be compiled`)
}

/** Puts `fresh` into the place of `dist`. Another build may do so at the same moment. */
function swap(fresh, dist) {
  const old = `${fresh}-old`
  for (;;) {
    try {
      if (lstatSync(dist, { throwIfNoEntry: false })) renameSync(dist, old)
      renameSync(fresh, dist)
      break
    } catch (error) {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error
      rmSync(old, { recursive: true, force: true })
    }
  }
  rmSync(old, { recursive: true, force: true })
}

/** Builds beside `dist` and then swaps the folders, so that a build that fails changes nothing. */
async function buildAndSwap(argv) {
  const say = argv.includes('--quiet') ? () => {} : (line) => process.stderr.write(`${line}\n`)
  for (const name of readdirSync(root).filter((name) => name.startsWith('dist.new-'))) {
    const left = join(root, name)
    if (Date.now() - statSync(left).mtimeMs > ABANDONED_MS) rmSync(left, { recursive: true, force: true })
  }
  const fresh = join(root, `dist.new-${process.pid}`)
  rmSync(fresh, { recursive: true, force: true })
  process.once('exit', () => rmSync(fresh, { recursive: true, force: true }))
  for (const [signal, code] of Object.entries(EXIT_CODES)) process.once(signal, () => process.exit(code))
  const dist = join(root, 'dist')
  const isQuick = argv.includes('--quick')
  if (argv.includes('--rest')) return buildRest(fresh, dist, say)
  const follow = () => {
    const rest = [join(root, 'tools', 'build.mjs'), '--rest', ...argv.filter((arg) => arg === '--quiet')]
    const maker = spawn(process.execPath, rest, { stdio: 'inherit' })
    maker.unref()
    return maker
  }
  if (isQuick && isSiteKept(CACHE) && existsSync(join(dist, 'site')) && isNewerThan(dist, SOURCES)) {
    // The first start was stopped before its end.
    if (!isComplete(dist)) follow()
    return
  }
  const began = new Date()
  const restFollows = isQuick && !isSiteKept(CACHE)
  await (restFollows ? buildProgram(fresh) : buildInto(fresh, say, isQuick))
  // What changes meanwhile is not in it.
  utimesSync(fresh, began, began)
  swap(fresh, dist)
  if (!restFollows) return
  // The program builds its first snapshot and serves meanwhile.
  writeFileSync(join(dist, PAGES_MAKER), String(follow().pid))
  utimesSync(dist, began, began)
}

/**
 * Makes the pages for the program in `dist`, and then, as nobody waits for it, all else that a package has.
 */
async function buildRest(fresh, dist, say) {
  // The first answer comes first. Its threads and processes begin with the same priority.
  setPriority(constants.priority.PRIORITY_LOW)
  const { mtime } = statSync(dist)
  try {
    if (!existsSync(join(dist, 'site'))) {
      await buildSite(fresh, CACHE, say, true)
      swap(fresh, join(dist, 'site'))
    }
  } finally {
    rmSync(join(dist, PAGES_MAKER), { force: true })
  }
  await completeProgram(dist)
  utimesSync(dist, mtime, mtime)
}

/**
 * @param {string[]} argv with `--quiet` only faults are said; `--quick` is for a clone, not for a package,
 * and builds nothing where `dist` is newer than the sources; `--rest` builds what `--quick` leaves for later
 */
export async function main(argv) {
  try {
    await buildAndSwap(argv)
  } catch (error) {
    process.stderr.write(`groundswell: ${error.message}\n`)
    process.exitCode = 1
  }
}
