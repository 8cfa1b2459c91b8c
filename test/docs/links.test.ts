/** What the documents name is there: files, anchors, scripts and options. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { LOADED } from '../commands/loaded.ts'
import { anchorsOf, filesBelow, linksOf, quotedIn, readDocument, ROOT, type Document } from './markdown.ts'

/** Without the guides of the API and forms for issues and changes, which are no pages. */
const DOCUMENTS = filesBelow('', '.md')
  .filter((path) => path !== 'src/openapi/guides.md' && !path.startsWith('.github/'))
  .map((path) => readDocument(path))
const documentAt = (path: string): Document =>
  DOCUMENTS.find((document) => document.path === path) ?? assert.fail(`${path} is missing`)

const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: { [name: string]: string }
}

/** Relative targets with the document that links them; an anchor alone leads to the document itself. */
const RELATIVE_LINKS = DOCUMENTS.flatMap((document) =>
  linksOf(document)
    .filter((link) => !/^[a-z][a-z0-9+.-]*:/i.test(link))
    .map((link) => {
      const [file, anchor = ''] = link.split('#')
      const target = file === '' ? document.path : normalize(join(dirname(document.path), decodeURI(file)))
      return { from: document.path, link, target: target.replace(/\/$/, ''), anchor }
    }),
)

test('Every relative link of every document leads to a file or a folder, and every anchor to a heading.', () => {
  assert.ok(RELATIVE_LINKS.length > 50)
  const broken = RELATIVE_LINKS.flatMap(({ from, link, target, anchor }) => {
    if (target.startsWith('..')) return [`${from} links ${link}, which is outside of the repository`]
    if (!existsSync(join(ROOT, target))) return [`${from} links ${link}, which does not exist`]
    if (anchor === '') return []
    if (!target.endsWith('.md')) return [`${from} links ${link}, which has no headings`]
    return anchorsOf(documentAt(target)).has(anchor)
      ? []
      : [`${from} links ${link}, but ${target} has no such heading`]
  })
  assert.deepEqual(broken, [])
})

test('Every document can be reached from the README.', () => {
  const reached = new Set(['README.md'])
  for (const path of reached) {
    for (const { target } of RELATIVE_LINKS.filter(({ from }) => from === path)) {
      if (target.endsWith('.md')) reached.add(target)
    }
  }
  assert.deepEqual(
    DOCUMENTS.map(({ path }) => path).filter((path) => !reached.has(path)),
    [],
    'link these from docs/README.md',
  )
})

const CODE = ['.ts', '.mts', '.mjs', '.py'].flatMap((ending) => filesBelow('', ending))
const isFolder = (path: string): boolean => existsSync(join(ROOT, path))

test('Every file of code and every folder of the sources that a document names exists.', () => {
  const missing = DOCUMENTS.flatMap((document) =>
    quotedIn(document)
      .flatMap((quoted) =>
        // `examplia` is a file of the reader, a star stands for several, and commands make some folders.
        /^(src|test|bench|docs|data|deploy|clients)\/[\w/-]*\/?$/.test(quoted)
          ? [quoted].filter((path) => !isFolder(path) && !/^(data\/snapshots|bench\/data)/.test(path))
          : (quoted.match(/(?<![\w*./-])[\w./-]+\.(?:ts|mts|mjs|py)(?![\w*./-])/g) ?? []).filter(
              (name) =>
                document.path !== 'CHANGELOG.md' && !/examplia/i.test(name) && !isCode(name, document),
            ),
      )
      .map((name) => `${document.path} names ${name}`),
  )
  assert.deepEqual(missing, [])
})

/** A name alone, or a path from the root, from `src` or from the document. */
function isCode(name: string, document: Document): boolean {
  const path = normalize(name)
  if (!path.includes('/')) return CODE.some((file) => file.endsWith(`/${path}`) || file === path)
  return ['', 'src', dirname(document.path)].some((folder) => CODE.includes(normalize(join(folder, name))))
}

test('Every script of npm that a document names is in package.json.', () => {
  const missing = DOCUMENTS.flatMap(({ path, text }) =>
    [...text.matchAll(/\bnpm (?:run(?: -s| --silent)? ([a-z][\w:-]*)|(test|start)\b)/g)]
      .map(([, script, short]) => script ?? short)
      .filter((script) => !Object.hasOwn(PACKAGE.scripts, script))
      .map((script) => `${path} names npm run ${script}`),
  )
  assert.deepEqual(missing, [])
})

test('The second command of the README is the one that the CI runs.', () => {
  const commands = documentAt('README.md')
    .text.split('\n')
    .filter((line) => line.startsWith('    '))
  assert.equal(commands[1].trim(), 'npm ci && npm test')
  assert.ok(readFileSync(join(ROOT, '.ci', 'run'), 'utf8').includes(`\n${commands[1].trim()}`))
})

const OPTIONS = new Set([
  'help',
  'version',
  ...Object.values(LOADED).flatMap(({ settings }) => Object.keys(settings)),
])

/** Options of npm, node, git and other programs, and of our benches and tests. */
const OTHER_OPTIONS = new Set(
  `import convert-to infilter omit no-save ignore-scripts test single-threaded-gc trace-gc perf-basic-prof
  cpu-prof limit include-children build pack breaking transport header root-types
  root-types-no-schema-prefix real`.split(/\s+/),
)
const INSTALLERS_OPTIONS = new Set(
  `ulimit prefix now file tag read-only cap-drop security-opt volume publish from-file from-literal
  kustomize`.split(/\s+/),
)

test('Every option that a document names is one of a command.', () => {
  const unknown = DOCUMENTS.filter(({ path }) => !/^(bench\/|CHANGELOG)/.test(path)).flatMap(
    ({ path, text }) =>
      [...text.matchAll(/(?<![\w|-])--([a-z][a-z-]*[a-z])\b/g)]
        .map(([, option]) => option)
        .filter((option) => !OPTIONS.has(option) && !OTHER_OPTIONS.has(option))
        .filter((option) => path !== 'docs/install.md' || !INSTALLERS_OPTIONS.has(option))
        .map((option) => `${path} names --${option}`),
  )
  assert.deepEqual(unknown, [])
})

test('Figures of speed are those of the bench, in the README with its machine and its day.', () => {
  const bench = documentAt('bench/README.md').text
  const of = (name: string): [cells: string[], peers: string[]] => {
    const rows = [...bench.matchAll(new RegExp(`^\\| ${name} +\\|(.*)\\|$`, 'gm'))]
    assert.equal(rows.length, 2, `${name} is a case beside the ceiling and beside the peers`)
    return rows.map(([, cells]) => cells.split('|').map((cell) => cell.trim())) as [string[], string[]]
  }
  const [[, share, , micros], [fastify, , nginx]] = of('detail')
  const [[, pageShare, , pageMicros], [pageFastify]] = of('readings 100')
  const [, day, machine] = /^(\d{4}-\d\d-\d\d), 2 cores \((.*), shared\)/m.exec(bench) ?? []
  const times = (cell: string): string => Number(cell).toFixed(1)
  const said = documentAt('README.md').text.replaceAll('\n', ' ')
  for (const text of [
    `details come at ${share} of the rate of the bare HTTP engine, and at ${nginx} of that of nginx`,
    `100 readings at ${pageShare} of the engine's`,
    `${micros} and ${pageMicros} µs of a shared core (${machine}, ${day}): ${times(fastify)} and ${times(pageFastify)} times`,
  ])
    assert.ok(said.includes(text), text)
  assert.equal(said.match(/ µs/g)?.length, 1, 'no other figure')
  const scaling = documentAt('docs/scaling.md').text
  const chartMicros = /^\| chart +\|[^|]*\|[^|]*\|[^|]*\| +([\d.]+) \|/m.exec(bench)?.[1]
  for (const text of [`detail | ${micros} µs: `, `a chart | ${pageMicros} µs; ${chartMicros} µs: `])
    assert.ok(scaling.includes(text), text)
})
