// Compiled code, one folder for each state of the sources:
//
//   dist.d/STAMP/   a build; its files never change, so a process runs from there,
//                   whatever is compiled meanwhile
//   dist            a link to the newest
//
// So a server whose clone is updated goes on with the code it began with, and so do its next worker and its
// next build.
import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { wantsInfo, wantsJson, writeEarly } from '../src/begin.mjs'

let isJson = false
/** Whether each phase of the work is said. */
let areSaid = false

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const builds = join(root, 'dist.d')

/**
 * A process marks the build it runs from every ten minutes. Two days leave time for a machine that sleeps
 * meanwhile.
 */
const UNUSED_MS = 172_800_000
/** No compilation takes an hour. */
const ABANDONED_MS = 3_600_000

/** What takes long enough to be said, each in one line. `compile.mjs` sends the names of its own. */
const PHASES = {
  compile: 'compiling, once after each change of the sources',
  docs: 'fetching the documentation page (once)',
}

/** Characters of a child's output that are kept, from its end. */
const OUTPUT_CHARACTERS = 100_000

/** Exit codes of a shell for a process that such a signal has ended. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 }

/**
 * Compiles if the sources have changed, then runs the command line.
 * @param {string[]} argv `--build` only compiles, `--pack` leaves `dist` as a folder of real files, as a
 * package needs it
 * @param {import('../src/begin.mjs').Signals} signals
 */
export async function launch(argv, signals) {
  isJson = wantsJson(argv)
  // A service that is stopped before it serves has stopped in good order.
  const isService = argv[0] === 'serve' || argv[0] === 'run'
  // Scripts may take what other commands write to standard error for a fault.
  areSaid = isService && wantsInfo(argv)
  const stopping = new AbortController()
  signals.onStop((signal) => {
    process.exitCode = isService ? 0 : EXIT_CODES[signal]
    stopping.abort()
  })
  const build = await buildOf(sourcesStamp(), stopping.signal)
  if (build === null) return
  if (argv[0] === '--build') return
  if (argv[0] === '--pack') {
    if (!isBuildOf(build, sourcesStamp())) {
      process.stderr.write(
        'groundswell: no package is made: it would lack the documentation page, which npm has to fetch once (see above)\n',
      )
      process.exitCode = 1
      return
    }
    unlinkFor(build)
    return
  }
  const { main } = await import(join(build, 'cli.js'))
  await main(argv, signals)
}

/** A hash over everything that goes into the compiled code. */
function sourcesStamp() {
  const hash = createHash('sha256')
  const files = ['src', 'web', 'tools']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  files.sort((a, b) => (a < b ? -1 : 1))
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

/**
 * The folder of the build with this stamp. Null where it cannot be made; the reason is written and the exit
 * code set.
 */
async function buildOf(stamp, signal) {
  const named = join(builds, stamp.slice(0, 16))
  if (!isBuildOf(named, stamp)) {
    try {
      const made = await compile(named, stamp, signal)
      if (made === null) return null
      pointTo(made)
      collect(made)
      return made
    } catch (error) {
      if (error.code === undefined) throw error
      writeEarly(
        `groundswell: ${root} cannot be written (${error.code}), and its sources have changed since they were compiled: run "npm run build" there as its owner`,
        isJson,
      )
      process.exitCode = 1
      return null
    }
  }
  try {
    pointTo(named)
  } catch {
    // `dist` stays as it is without the right to write here, and what it leads to runs all the same.
  }
  return named
}

function isBuildOf(folder, stamp) {
  const file = join(folder, '.sources')
  return existsSync(file) && readFileSync(file, 'utf8') === stamp
}

/**
 * Compiles into a folder of its own and moves that among the other builds as a whole, so that no process
 * imports half of it.
 */
async function compile(named, stamp, signal) {
  mkdirSync(builds, { recursive: true })
  const fresh = join(builds, `.new-${randomUUID()}`)
  mkdirSync(fresh)
  try {
    const temporary = join(fresh, '.tmp')
    mkdirSync(temporary)
    say('compile')
    const code = await run(join(root, 'tools', 'compile.mjs'), [fresh, stamp], temporary, signal)
    if (signal.aborted) return null
    if (code !== 0) {
      process.exitCode = 1
      return null
    }
    rmSync(temporary, { recursive: true, force: true })
    // A build that lacks something serves this launch only.
    const target = isBuildOf(fresh, stamp) ? named : `${named}-${randomUUID().slice(0, 8)}`
    try {
      renameSync(fresh, target)
    } catch (error) {
      // Another process has compiled the same sources meanwhile.
      if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error
    }
    return target
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

function say(phase) {
  if (areSaid && phase in PHASES) writeEarly(PHASES[phase], isJson, 'info')
}

/** Runs a script in a process group of its own, which `signal` ends. Resolves to its exit code. */
function run(script, args, temporary, signal) {
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', ...(isJson ? ['pipe', 'pipe'] : ['inherit', 'inherit']), 'ipc'],
    detached: true,
    env: { ...process.env, TMPDIR: temporary },
  })
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The process has ended by itself.
    }
  }
  if (signal.aborted) end()
  signal.addEventListener('abort', end)
  child.on('message', say)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => (output = (output + text).slice(-OUTPUT_CHARACTERS)))
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      writeEarly(output, isJson)
      resolve(code)
    })
  })
}

/** Makes `dist` a link to `build`, in one step. */
function pointTo(build) {
  const target = join('dist.d', build.slice(builds.length + 1))
  if (linkOf(dist) === target) return
  // `dist` is a folder of an earlier version, or a package was made of it: a process may run from it.
  if (linkOf(dist) === null && existsSync(dist)) renameSync(dist, join(builds, `former-${randomUUID()}`))
  const link = join(builds, `.link-${randomUUID()}`)
  symlinkSync(target, link)
  renameSync(link, dist)
}

/** Makes `dist` a folder with the files of `build`. */
function unlinkFor(build) {
  const copy = join(builds, `.pack-${randomUUID()}`)
  cpSync(build, copy, { recursive: true })
  rmSync(dist, { recursive: true, force: true })
  renameSync(copy, dist)
}

function linkOf(path) {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

/** Removes builds that no process has run from for long, and what killed processes left. */
function collect(current) {
  for (const name of readdirSync(builds)) {
    const path = join(builds, name)
    const stamp = join(path, '.sources')
    const marked = statSync(stamp, { throwIfNoEntry: false }) ?? lstatSync(path, { throwIfNoEntry: false })
    const age = Date.now() - (marked?.mtimeMs ?? Infinity)
    if (path !== current && age > (name.startsWith('.') ? ABANDONED_MS : UNUSED_MS))
      rmSync(path, { recursive: true, force: true })
  }
}
