// How much there is to read: `npm run size` prints lines and files of code room by room, and what a worker
// imports, with their bounds; it fails where one is exceeded. Code is .ts, .tsx, .mjs, .js, .css and .wat; JSON is not.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { build } from 'esbuild'

const CODE = /\.(?:tsx?|mjs|js|css|wat)$/
/** What there may be. */
const BOUNDS = {
  program: { lines: 55_000, files: 350 },
  src: { lines: 46_500 },
  web: { lines: 8600 },
  worker: { lines: 16_000 },
  tests: { lines: 47_000 },
  tools: { lines: 9500 },
  docs: { words: 30_000 },
  allDocs: { words: 38_000 },
}

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

const wordsOf = (file) =>
  readFileSync(file, 'utf8')
    .split(/\s+/)
    .filter((word) => word !== '').length

function words(...paths) {
  const tracked = execFileSync('git', ['ls-files', '--', ...paths], { encoding: 'utf8' })
    .trim()
    .split('\n')
  return tracked
    .filter((file) => file.endsWith('.md') && existsSync(file))
    .reduce((all, file) => all + wordsOf(file), 0)
}

const line = (...cells) => process.stdout.write(`| ${cells.join(' | ')} |\n`)
let isOver = false

/** A row of what has a bound: `found` has the same members. */
function bounded(name, found, most) {
  const over = Object.keys(most).filter((what) => found[what] > most[what])
  if (over.length > 0) isOver = true
  const bounds = Object.entries(most).map(([what, count]) => `${count} ${what}`)
  line(
    name,
    found.lines ?? '',
    found.files ?? '',
    found.words ?? '',
    bounds.join(', '),
    over.length > 0 ? 'over' : 'met',
  )
}

const counts = (counted) => ({ lines: sum(counted), files: counted.length })
const [src, web] = [countedIn('src'), countedIn('web')]
line('Room', 'Lines', 'Files', 'Words', 'At most', '')
line('---', '---:', '---:', '---:', '---', '---')
const rooms = new Map()
for (const one of [...src, ...web]) rooms.set(roomOf(one.file), [...(rooms.get(roomOf(one.file)) ?? []), one])
for (const [room, counted] of [...rooms].sort(([, a], [, b]) => sum(b) - sum(a)))
  line(`\`${room}\``, sum(counted), counted.length, '', '', '')
bounded('**program and pages**', counts([...src, ...web]), BOUNDS.program)
bounded('`src/`, all of it', counts(src), BOUNDS.src)
bounded('`web/`, all of it', counts(web), BOUNDS.web)
bounded('what a worker imports', counts(await workerLines()), BOUNDS.worker)
bounded('tests', counts(countedIn('test')), BOUNDS.tests)
bounded(
  'tools, bench, deploy, clients',
  counts(countedIn('tools', 'bench', 'deploy', 'clients')),
  BOUNDS.tools,
)
bounded('docs', { words: words('docs') }, BOUNDS.docs)
bounded(
  'docs, README and CONTRIBUTING',
  { words: words('docs', 'README.md', 'CONTRIBUTING.md') },
  BOUNDS.allDocs,
)
// What was met has to stay so.
if (isOver) process.exitCode = 1
