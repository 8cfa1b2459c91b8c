// How much there is to read: `npm run size` prints characters and files of code room by room, and what a
// worker imports, with their bounds; it fails where one is exceeded, and warns where one is nearly reached.
// Characters, since a bound in lines is met by squeezing lines. Code is .ts, .tsx, .mjs, .js, .css and .wat;
// JSON is not.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { build } from 'esbuild'

const CODE = /\.(?:tsx?|mjs|js|css|wat)$/
/** The texts of the pages in other languages: a translation is not more to understand. */
const TRANSLATION = /^web\/explorer\/texts\/(?!en\.)/
/** What there may be. */
const BOUNDS = {
  program: { characters: 2_480_000, files: 410 },
  web: { characters: 410_000 },
  worker: { characters: 670_000 },
  tests: { characters: 2_250_000 },
  tools: { characters: 210_000 },
  docs: { words: 33_000 },
  allDocs: { words: 38_000 },
}
/**
 * What is owed: characters beyond a bound that climate, spectra, weather, EDR, the door of assistants and
 * their tests brought, and that are to be taken out again. From version 1.0 on these numbers may only fall.
 */
const OWED = {
  program: { characters: 315_000 },
  web: { characters: 20_000 },
  tests: { characters: 195_000 },
}
/** Above this share of a bound the next change will not fit: something has to go first. */
const NEAR = 0.97

const charactersOf = (file) => readFileSync(file, 'utf8').length

function countedIn(...folders) {
  const tracked = execFileSync('git', ['ls-files', '-z', '--', ...folders], { encoding: 'utf8' })
  // A file that is deleted and not yet committed is still tracked.
  const files = tracked.split('\0').filter((file) => CODE.test(file) && existsSync(file))
  return files.map((file) => ({ file, characters: charactersOf(file) }))
}

/** `src/handlers/chart.ts` is of `src/handlers/`; what lies in a folder itself is of that folder. */
const roomOf = (file) => `${file.split('/').slice(0, -1).slice(0, 2).join('/')}/`

const sum = (counted) => counted.reduce((total, { characters }) => total + characters, 0)

async function workerFiles() {
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
  return files.map((file) => ({ file, characters: charactersOf(file) }))
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
function bounded(name, found, most, owed = {}) {
  const shares = Object.entries(most).map(([what, count]) => found[what] / count)
  const greatest = Math.max(...shares)
  if (Object.entries(most).some(([what, count]) => found[what] > count + (owed[what] ?? 0))) isOver = true
  const bounds = Object.entries(most).map(([what, count]) => `${count} ${what}`)
  const percent = `${(100 * greatest).toFixed(1)} %`
  const verdict = greatest > NEAR ? `near: ${percent}` : 'met'
  line(
    name,
    found.characters ?? '',
    found.files ?? '',
    found.words ?? '',
    bounds.join(', '),
    greatest > 1 ? `over: ${percent}` : verdict,
  )
}

const counts = (counted) => ({ characters: sum(counted), files: counted.length })
const [src, web] = ['src', 'web'].map((folder) =>
  countedIn(folder).filter(({ file }) => !TRANSLATION.test(file)),
)
line('Room', 'Characters', 'Files', 'Words', 'At most', '')
line('---', '---:', '---:', '---:', '---', '---')
const rooms = new Map()
for (const one of [...src, ...web]) rooms.set(roomOf(one.file), [...(rooms.get(roomOf(one.file)) ?? []), one])
for (const [room, counted] of [...rooms].sort(([, a], [, b]) => sum(b) - sum(a)))
  line(`\`${room}\``, sum(counted), counted.length, '', '', '')
bounded('**program and pages**', counts([...src, ...web]), BOUNDS.program, OWED.program)
bounded('`web/`, all of it', counts(web), BOUNDS.web, OWED.web)
bounded('what a worker imports', counts(await workerFiles()), BOUNDS.worker, OWED.worker)
bounded('tests', counts(countedIn('test')), BOUNDS.tests, OWED.tests)
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
