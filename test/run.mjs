// Runs the tests: `node test/run.mjs [--tier=fast|slow|nightly] [PART…]`, those of a tier, or those whose
// path contains one of the parts, or all. The name of a file says its tier: `x.slow.test.ts`,
// `x.nightly.test.ts`, and `x.test.ts` for the fast one. `--real=FOLDER` runs `x.real.test.ts` over files of
// the networks. At the end stand the files that took longest, and what was left out.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { run } from 'node:test'
import { tap } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import '../tools/test-packages.mjs'
import { compileInto } from './compile.mjs'

/**
 * Files at a time on two cores. Those of the slow tier wait as long as they compute: for a browser, for the
 * end of a server, for the next second of a quota.
 */
const CONCURRENCY = { fast: 4, slow: 6, nightly: 3, real: 2 }
/**
 * These begin first, in this order, since they take longest: otherwise one core would wait for them at the
 * end.
 */
const FIRST = [
  'test/package/',
  'test/web/',
  'test/long/',
  'test/faults/workers',
  'test/builder/publishing/',
  'test/access/keys-changes',
  'test/faults/',
  'test/attacks/',
  'test/api/',
  'test/commands/',
  'test/sources/demo',
]
/** A file's place among those; behind them for all others. */
const rankOf = (file) => FIRST.findIndex((start) => file.startsWith(start)) + 1 || FIRST.length + 1
/**
 * Fast files run in one process for each folder: Node would begin and load the same modules for each anew,
 * which takes half a second. Those that start a server wait for it, and have a process of their own. So has a
 * file that waits for something before it has its tests: Node would call its `after` as soon as the tests of
 * the others have ended.
 */
const ALONE = /\b(startLive|startProgram|runCli)\w*\(|^(const .*)?\bawait /m
const SLOWEST = 10
/** What `missingTool` in programs.ts gives as the reason of a test that is skipped. */
const NOT_INSTALLED = /^(\S+) is not installed: sudo apt-get install -y (.+)$/

/**
 * A process that does not end, such as by a timer that a failed test has left, fails, and the tests that it
 * was at are named. Long forms take hours. The limits are those of two quiet cores.
 */
const LONGEST_FILE_MS = { fast: 600_000, slow: 600_000 }
const LONGEST_FORM_MS = 7_200_000
/** What two quiet cores take to hash `HASHED`. */
const HASHED = Buffer.alloc(64 * 2 ** 20)
const USUAL_HASH_MS = 200

/** How many times longer this machine takes than a quiet one: by what waits for its cores, and by a hash. */
function slowness() {
  const began = performance.now()
  createHash('sha256').update(HASHED).digest()
  return Math.max(1, loadavg()[0] / availableParallelism(), (performance.now() - began) / USUAL_HASH_MS)
}

const tierOf = (file) => /\.(slow|nightly|real)\.test\.ts$/.exec(file)?.[1] ?? 'fast'
/**
 * Files of the other tiers that do more at night, by `test/rounds.ts`: more of what is random, and both
 * engines.
 */
const DOES_MORE = /\brounds\(|\b(SLOW_ENGINES|BY_NIGHT)\b|'\.\/browser\.ts'/
const isOf = (tier, file) =>
  tierOf(file) === tier || (tier === 'nightly' && DOES_MORE.test(readFileSync(file, 'utf8')))

/** Node starts each file with the arguments of its own that this process was started with. */
const PRELOADED = '--import=./test/setup.mjs'
if (!process.execArgv.includes(PRELOADED)) {
  const folder = mkdtempSync(join(tmpdir(), 'groundswell-compiled-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  // A terminal gives it to the process below, too, and that one ends first.
  process.on('SIGINT', () => {})
  await compileInto(folder)
  const env = { ...process.env, GROUNDSWELL_COMPILED: folder }
  const again = spawn(process.execPath, [PRELOADED, ...process.argv.slice(1)], { stdio: 'inherit', env })
  process.exit((await once(again, 'close'))[0] ?? 1)
}

const args = process.argv.slice(2)
const [, real] = args.map((arg) => /^--real=(.+)/.exec(arg)).find((found) => found !== null) ?? []
if (real !== undefined) process.env.GROUNDSWELL_REAL = resolve(real)
const tier = real === undefined ? args.find((arg) => arg.startsWith('--'))?.replace(/^--tier=/, '') : 'real'
if (tier !== undefined && !(tier in CONCURRENCY)) {
  process.stderr.write(`${tier} is not a tier; there are ${Object.keys(CONCURRENCY).join(', ')}\n`)
  process.exit(2)
}
// The processes of the files take it over.
if (tier === 'nightly') process.env.GROUNDSWELL_NIGHTLY = '1'
const parts = args.filter((arg) => !arg.startsWith('--'))
const files = readdirSync('test', { recursive: true })
  .map((file) => join('test', file).replaceAll('\\', '/'))
  .filter(
    (file) =>
      !file.includes('/node_modules/') &&
      file.endsWith('.test.ts') &&
      (tier === undefined ? tierOf(file) !== 'real' : isOf(tier, file)),
  )
  .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
  .toSorted((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
if (files.length === 0) {
  process.stderr.write('no test file matches\n')
  process.exit(1)
}

/** What Node runs as a file: one, or all of a folder by a module that imports them one after another. */
function processesOf(files) {
  const folders = new Map()
  for (const file of files) {
    const isAlone = tierOf(file) !== 'fast' || tier === 'nightly' || ALONE.test(readFileSync(file, 'utf8'))
    const name = isAlone ? file : dirname(file)
    folders.set(name, [...(folders.get(name) ?? []), file])
  }
  // The largest begin first, since they take long.
  const bySize = [...folders].toSorted(([, one], [, other]) => other.length - one.length)
  return bySize.map(([folder, [file, ...others]]) => {
    if (others.length === 0) return resolve(file)
    const together = join(process.env.GROUNDSWELL_COMPILED, `${folder.replaceAll('/', '-')}.mjs`)
    const lines = [file, ...others].map(
      (one) => `import ${JSON.stringify(pathToFileURL(resolve(one)).href)}\n`,
    )
    writeFileSync(together, lines.join(''))
    return together
  })
}

/** Tests that have begun and not ended, by their file. */
const underWay = new Map()

function begun({ file, name }) {
  if (file !== undefined) underWay.set(file, (underWay.get(file) ?? new Set()).add(name))
}

/** Says which tests a process was at when its time was over. */
function nameUnderWay({ name, details }) {
  if (details.error?.failureType !== 'testTimeoutFailure') return
  const members = name.endsWith('.mjs') ? `/${basename(name, '.mjs').replaceAll('-', '/')}/` : name
  for (const [file, names] of underWay) {
    if (!file.includes(members)) continue
    for (const test of names) {
      if (test !== file) process.stdout.write(`# Time was over within "${test}" of ${file}\n`)
    }
  }
}

const milliseconds = new Map()
const leftOut = new Map()
let leftOutTests = 0

function count({ nesting, file, name, details, skip }) {
  underWay.get(file)?.delete(name)
  const missing = typeof skip === 'string' ? NOT_INSTALLED.exec(skip) : null
  if (missing !== null) {
    leftOut.set(missing[1], missing[2])
    leftOutTests += 1
  }
  if (nesting !== 0 || file === undefined) return
  milliseconds.set(file, (milliseconds.get(file) ?? 0) + details.duration_ms)
}

function summary() {
  const order = [...milliseconds].toSorted(([, a], [, b]) => b - a)
  const sum = order.reduce((total, [, ms]) => total + ms, 0)
  const rows = order
    .slice(0, SLOWEST)
    .map(([file, ms]) => `# ${(ms / 1000).toFixed(1).padStart(6)} s  ${relative(process.cwd(), file)}\n`)
  process.stdout.write(
    `# ${order.length} files, ${Math.round(sum / 1000)} s of tests; the slowest:\n${rows.join('')}`,
  )
  if (leftOutTests === 0) return
  const packages = [...new Set([...leftOut.values()].flatMap((names) => names.split(' ')))]
  process.stdout.write(
    `# Left out ${leftOutTests} tests that need ${[...leftOut.keys()].join(', ')}: sudo apt-get install -y ${packages.join(' ')}\n`,
  )
}

run({
  files: processesOf(files),
  concurrency: CONCURRENCY[tier] ?? 3,
  timeout: (LONGEST_FILE_MS[tier] ?? LONGEST_FORM_MS) * slowness(),
})
  .on('test:dequeue', begun)
  .on('test:pass', count)
  .on('test:fail', (data) => {
    nameUnderWay(data)
    count(data)
    if (data.todo === undefined || data.todo === false) process.exitCode = 1
  })
  .compose(tap)
  .on('end', summary)
  .pipe(process.stdout, { end: false })
