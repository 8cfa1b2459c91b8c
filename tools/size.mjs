// How much there is to read: `npm run size` prints lines and files of code room by room, and what a worker
// imports. Code is .ts, .tsx, .mjs, .js, .css and .wat; JSON is not.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { build } from 'esbuild'

const CODE = /\.(?:tsx?|mjs|js|css|wat)$/
/** Bounds that hold for the program and its pages, for what a worker imports, and for the tests. */
const MOST = { lines: 65_000, files: 430, worker: 16_000, tests: 58_000 }

const linesOf = (file) => readFileSync(file, 'utf8').split('\n').length - 1

function countedIn(...folders) {
  const tracked = execFileSync('git', ['ls-files', '-z', '--', ...folders], { encoding: 'utf8' })
  // A file that is deleted and not yet committed is still tracked.
  const files = tracked.split('\0').filter((file) => CODE.test(file) && existsSync(file))
  return files.map((file) => ({ file, lines: linesOf(file) }))
}

/** `src/handlers/chart.ts` is of `src/handlers/`; what lies in a folder itself is of that folder. */
const roomOf = (file) => `${file.split('/').slice(0, -1).slice(0, 2).join('/')}/`

const sum = (counted) => counted.reduce((total, { lines }) => total + lines, 0)

async function workerLines() {
  const worker = 'src/server/worker.ts'
  const { metafile } = await build({
    entryPoints: [worker],
    bundle: true,
    write: false,
    metafile: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
  const files = Object.keys(metafile.inputs).filter((file) => CODE.test(file))
  return files.map((file) => ({ file, lines: linesOf(file) }))
}

const row = (name, counted, most) =>
  `| ${[name, sum(counted), counted.length, most].map((cell) => String(cell ?? '')).join(' | ')} |\n`

const program = countedIn('src', 'web')
const rooms = new Map()
for (const one of program) rooms.set(roomOf(one.file), [...(rooms.get(roomOf(one.file)) ?? []), one])
const bySize = [...rooms].sort(([, a], [, b]) => sum(b) - sum(a))
process.stdout.write('| Room | Lines | Files | At most |\n| --- | ---: | ---: | --- |\n')
for (const [room, counted] of bySize) process.stdout.write(row(`\`${room}\``, counted))
process.stdout.write(row('**program and pages**', program, `${MOST.lines} lines, ${MOST.files} files`))
process.stdout.write(row('what a worker imports', await workerLines(), `${MOST.worker} lines`))
process.stdout.write(row('tests', countedIn('test'), `${MOST.tests} lines`))
process.stdout.write(row('tools, bench, deploy, clients', countedIn('tools', 'bench', 'deploy', 'clients')))
