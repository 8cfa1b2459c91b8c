/**
 * What the documents name is there: files, anchors, scripts, options, settings, operations and parameters.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { variableOf } from '../../src/commands/command.ts'
import { LOADED } from '../commands/loaded.ts'
import { openApiDocument } from '../../src/openapi/document.ts'
import type { Settings } from '../../src/server/setting.ts'
import { ROUTED } from '../../src/routes.ts'
import {
  anchorsOf,
  filesBelow,
  linksOf,
  quotedIn,
  readDocument,
  ROOT,
  tableRows,
  type Document,
} from './markdown.ts'

/** Without the guides of the API, which are no page of their own. */
const DOCUMENTS = filesBelow('', '.md')
  .filter((path) => path !== 'src/openapi/guides.md')
  .map((path) => readDocument(path))
const documentAt = (path: string): Document =>
  DOCUMENTS.find((document) => document.path === path) ?? assert.fail(`${path} is missing`)

interface Package {
  version: string
  files: string[]
  scripts: { [name: string]: string }
}

const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Package

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

test('Every file of code that a document names exists.', () => {
  // `examplia` is what a reader of the walks writes; a star stands for several files.
  const missing = DOCUMENTS.filter(({ path }) => path !== 'CHANGELOG.md').flatMap((document) =>
    quotedIn(document)
      .flatMap((quoted) => quoted.match(/(?<![\w*./-])[\w./-]+\.(?:ts|mts|mjs|py)(?![\w*./-])/g) ?? [])
      .filter((name) => !/examplia/i.test(name))
      .filter((name) => {
        const path = normalize(name)
        if (!path.includes('/')) return !CODE.some((file) => file.endsWith(`/${path}`) || file === path)
        return ![path, join('src', path), normalize(join(dirname(document.path), path))].some((file) =>
          CODE.includes(file),
        )
      })
      .map((name) => `${document.path} names ${name}`),
  )
  assert.deepEqual(missing, [])
})

/** Folders that commands make. */
const MADE = ['data/snapshots', 'bench/data']

test('Every name that a document says a file has is in that file.', () => {
  const inFile = /`([A-Za-z_]\w+)`\s+(?:of|in)\s+(?:the table\s+)?`([\w./-]+\.(?:ts|mts|mjs))`/g
  const missing = DOCUMENTS.flatMap((document) =>
    [...document.prose.matchAll(inFile)]
      .filter(([, , file]) => CODE.includes(file))
      .filter(([, name, file]) => !readFileSync(join(ROOT, file), 'utf8').includes(name))
      .map(([, name, file]) => `${document.path} says that ${file} has ${name}`),
  )
  assert.deepEqual(missing, [])
})

test('Every folder of the sources that a document names exists.', () => {
  const missing = DOCUMENTS.flatMap((document) =>
    quotedIn(document)
      .filter((quoted) => /^(src|test|bench|docs|data|deploy|clients)\/[\w/-]*\/?$/.test(quoted))
      .filter((quoted) => !existsSync(join(ROOT, quoted)) && !MADE.some((made) => quoted.startsWith(made)))
      .map((quoted) => `${document.path} names ${quoted}`),
  )
  assert.deepEqual(missing, [])
})

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

/**
 * Options of other programs that documents name: npm, node, git, npm's lock files, cpulimit, and our benches
 * and tests.
 */
const OTHER_OPTIONS = new Set([
  'import',
  // Of LibreOffice.
  'convert-to',
  'infilter',
  'omit',
  'no-save',
  'ignore-scripts',
  'test',
  'single-threaded-gc',
  'trace-gc',
  'perf-basic-prof',
  'cpu-prof',
  'limit',
  'include-children',
  'build',
  'pack',
  'breaking',
  // Of deploy/fleet/fleet.mjs.
  'rolling',
  'rate',
  'restarts',
  'connections',
  'balancer',
  'redis',
])

/** Options of npm, docker, kubectl and systemctl on the page about installing. */
const INSTALLERS_OPTIONS = new Set(
  'ulimit prefix now file tag read-only cap-drop security-opt volume publish from-file from-literal kustomize'.split(
    ' ',
  ),
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

/** Which settings each table of the manual has, beside those that it refers to. */
function tablesOfSettings(): { readonly [heading: string]: Settings } {
  // `doctor`, `health` and `init` share their settings with these, and the list of commands says so.
  const { serve, build, run, doctor: _doctor, health: _health, init: _init, ...others } = LOADED
  const known = new Set([...Object.keys(serve.settings), ...Object.keys(build.settings)])
  const further = Object.entries(run.settings).filter(([option]) => !known.has(option))
  return {
    'Settings of serve and run': serve.settings,
    'Settings of build': build.settings,
    'Further settings of run': Object.fromEntries(further),
    'Settings of the other commands': Object.assign(
      {},
      ...Object.values(others).map(({ settings }) => settings),
    ) as Settings,
  }
}

/** Defaults that are said in words, since a machine, a clock or another option decides them. */
const DEFAULTS_IN_WORDS = new Set(['workers', 'as-of', 'to', 'data'])

test('The operator’s manual documents every setting with its variable, its default and its bounds, and no other.', () => {
  const manual = documentAt('docs/settings.md')
  for (const [heading, settings] of Object.entries(tablesOfSettings())) {
    const [, ...rows] = tableRows(manual, heading)
    assert.deepEqual(
      rows.map(([option]) => /^`--([a-z-]+)/.exec(option)?.[1] ?? option).toSorted(),
      Object.keys(settings).toSorted(),
      heading,
    )
    for (const [cell, variable, fallback, meaning] of rows) {
      const option = /^`--([a-z-]+)/.exec(cell)![1]
      const { placeholder, required, flag, under, default: text = '', parse } = settings[option]
      assert.equal(cell, `\`--${option}${placeholder === '' ? '' : ` ${placeholder}`}\``)
      assert.equal(variable, `\`${variableOf(option)}\``, option)
      assert.ok(meaning.length > 10, option)
      const isBounded = meaning.replaceAll('`', '').includes(parse.range ?? '')
      assert.ok(isBounded, `--${option} has to say: ${parse.range}`)
      if (DEFAULTS_IN_WORDS.has(option)) continue
      if (under !== undefined) {
        assert.equal(fallback, `\`${under}\` in the data folder`, option)
        continue
      }
      const none = flag === true ? 'off' : required === true ? 'required' : 'none'
      assert.equal(fallback, text === '' ? none : `\`${text}\``, option)
    }
  }
})

test('The operator’s manual documents every command.', () => {
  const [, ...rows] = tableRows(documentAt('docs/settings.md'), 'Commands')
  const named = rows.flatMap(([cell]) =>
    [...cell.matchAll(/`((?:keys )?[a-z-]+)[^`]*`/g)].map(([, name]) => name),
  )
  assert.deepEqual(named.toSorted(), Object.keys(LOADED).toSorted())
})

test('The HTTP reference has every operation with all of its parameters, and no others.', () => {
  const pages = DOCUMENTS.filter(({ path }) => /^docs\/http(-\w+)?\.md$/.test(path))
  const pageOf = new Map<string, Document>()
  for (const page of pages) {
    for (const [, path] of page.prose.matchAll(/^## GET (\S+)$/gm)) {
      assert.ok(!pageOf.has(path), `${path} is described twice`)
      pageOf.set(path, page)
    }
  }
  const paths = ROUTED.map(({ path }) => path)
  assert.deepEqual([...pageOf.keys()].toSorted(), paths.toSorted())
  const [, ...list] = tableRows(documentAt('docs/http.md'), 'Operations')
  assert.deepEqual(
    list.map(([cell]) => /^\[`([^`]+)`\]\(/.exec(cell)?.[1]),
    paths,
  )
  for (const { path, parameters } of ROUTED) {
    const [, ...rows] = tableRows(pageOf.get(path)!, `GET ${path}`)
    const named = rows.flatMap(([cell]) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name))
    assert.deepEqual(named.toSorted(), Object.keys(parameters).toSorted(), path)
    for (const [cell, , meaning] of rows) {
      for (const [, name] of cell.matchAll(/`([^`]+)`/g)) {
        const { enum: words = [] } = parameters[name].wire as { enum?: string[] }
        for (const word of words) assert.ok(meaning.includes(`\`${word}\``), `${path}: ${name}=${word}`)
        assert.equal(cell.includes(`**\`${name}\`**`), parameters[name].required, `${path}: ${name}`)
      }
    }
  }
})

test('The package holds every document that its README leads to.', () => {
  const isPacked = (path: string): boolean =>
    path === 'package.json' ||
    PACKAGE.files.some((entry) => {
      const [start, end = ''] = entry.split('*')
      return (
        path === entry ||
        path.startsWith(`${entry}/`) ||
        (end !== '' && path.startsWith(start) && path.endsWith(end))
      )
    })
  const outside = RELATIVE_LINKS.filter(({ from, target }) => {
    if (!isPacked(from)) return false
    return (
      !isPacked(target) &&
      !(
        statSync(join(ROOT, target)).isDirectory() &&
        PACKAGE.files.some((entry) => entry.startsWith(`${target}/`))
      )
    )
  }).map(({ from, link }) => `${from} links ${link}, which \`files\` of package.json leaves out`)
  assert.deepEqual(outside, [])
  for (const path of ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/operating.md'])
    assert.ok(isPacked(path), path)
})

test('The changelog has the version of the package, and says which one the API has.', () => {
  const { prose } = documentAt('CHANGELOG.md')
  const versions = [...prose.matchAll(/^## \[([^\]]+)\](?: - \d{4}-\d{2}-\d{2})?$/gm)].map(([, name]) => name)
  assert.equal(versions[0], 'Unreleased')
  assert.equal(versions[1], PACKAGE.version)
  const { version } = openApiDocument(ROUTED, '/v2').info
  assert.ok(prose.includes(`version ${version}`))
  assert.ok(prose.includes(`\`/v${version.split('.')[0]}\``))
})

test('A page of the documents has at most 300 lines.', () => {
  // The format of snapshots is one page: readers in other languages are written from it alone.
  const long = DOCUMENTS.filter(
    ({ path, text }) => path.startsWith('docs/') && text.trimEnd().split('\n').length > 300,
  ).map(({ path }) => path)
  assert.deepEqual(long, ['docs/snapshot-format.md'])
})

test('The README is read in two minutes.', () => {
  const lines = documentAt('README.md').text.trimEnd().split('\n')
  assert.ok(lines.length <= 160, `${lines.length} lines`)
})
