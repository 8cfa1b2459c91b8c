/** The borders inside the program, and what must not stand in its files. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { filesBelow, ROOT } from './docs/markdown.ts'

const filesIn = (folder: string): string[] => filesBelow(folder, '').toSorted()
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

const isCode = (file: string): boolean => /\.(tsx?|mjs)$/.test(file)
const SOURCES = filesIn('src').filter(isCode)
const PAGES = filesIn('web').filter(isCode)

interface Import {
  file: string
  /** As it is written. */
  specifier: string
  /** The file it names, as a path from the root; null for packages and Node's own modules. */
  target: string | null
  /** Gone once it is compiled. */
  typeOnly: boolean
}

/** A command of the program is called `keys import`. */
const IMPORT =
  /(?<!'keys )\b(?:(import|export)(\s+type)?\b[^'"`;]*?\bfrom\s*|(import)\s*\(?\s*)(['"])([^'"]+)\4/g

function importsOf(file: string): Import[] {
  const code = textOf(file).replaceAll(/\/\*[^]*?\*\//g, '')
  return [...code.matchAll(IMPORT)].map((match) => {
    const specifier = match[5]
    return {
      file,
      specifier,
      target: specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : null,
      typeOnly: match[2] !== undefined,
    }
  })
}

const IMPORTS = [...SOURCES, ...PAGES].flatMap((file) => importsOf(file))

/**
 * Which rooms may know which, from top to bottom: a file imports from its own room or from those of lower
 * levels, types included, so that no rooms import each other in a circle. A room is a folder of `src/` or one
 * file that lies in `src/` itself.
 */
const LEVELS: readonly (readonly string[])[] = [
  ['cli.ts'],
  ['commands/', 'library.ts'],
  ['server/'],
  ['http/', 'long/', 'openapi/', 'builder/'],
  ['routes.ts'],
  ['handlers/', 'edr/'],
  ['operation/', 'access/', 'mcp/'],
  ['dataset/', 'sources/'],
  ['snapshot/'],
  ['climate/'],
  ['index/'],
  ['sea/', 'system/'],
]

test('The architecture page lists the rooms from the top to the bottom.', () => {
  const rows = textOf('docs/architecture.md').matchAll(/^\| (\d+) \| `([a-z.]+(?:\/|\.ts))` \|/gm)
  assert.deepEqual(
    [...rows].map(([, level, room]) => `${level} ${room}`),
    LEVELS.flatMap((rooms, i) => rooms.map((room) => `${i + 1} ${room}`)),
  )
})

/**
 * Plain JavaScript that runs before anything is compiled, what a browser runs, and the types of the published
 * client have no level: other tests say what they may know.
 */
const UNRANKED = /\.(mjs|mts)$|^(web|clients)\//

const roomOf = (file: string): string => {
  const path = file.slice('src/'.length)
  return path.includes('/') ? path.slice(0, path.indexOf('/') + 1) : path
}

const RANKED_IMPORTS = IMPORTS.flatMap(({ file, target }) =>
  target === null || UNRANKED.test(file) || UNRANKED.test(target)
    ? []
    : [{ file, target, from: roomOf(file), to: roomOf(target) }],
)

test('A file imports from its own room or from those of lower levels.', () => {
  const levelOf = (room: string): number => LEVELS.findIndex((rooms) => rooms.includes(room))
  for (const file of SOURCES.filter((source) => !UNRANKED.test(source))) {
    assert.ok(levelOf(roomOf(file)) >= 0, `${file}: give ${roomOf(file)} a place in LEVELS, or move the file`)
  }
  const upward = RANKED_IMPORTS.filter(({ from, to }) => from !== to && levelOf(to) <= levelOf(from)).map(
    ({ file, target, from, to }) =>
      `${file} imports ${target}, but ${to} does not stand below ${from}: move what both need to the lower room, or hand it down as an argument`,
  )
  assert.deepEqual(upward, [])
})

test('Threads that load and serve do not load the borders of countries, which take longer than all the rest.', () => {
  for (const thread of ['server/worker.ts', 'server/load-thread.ts', 'snapshot/read-thread.ts']) {
    const loaded = new Set([`src/${thread}`])
    for (const file of loaded) {
      for (const { file: from, target, typeOnly } of IMPORTS) {
        if (from === file && target !== null && !typeOnly) loaded.add(target)
      }
    }
    assert.ok(loaded.size > 10, thread)
    assert.ok(!loaded.has('src/sea/territory.ts'), thread)
  }
})

const textsOf = (imports: readonly Import[]): string[] =>
  imports.map(({ file, specifier }) => `${file} imports ${specifier}`)

const ASKING = ['src/snapshot/store/web-request.ts', 'src/snapshot/store/allowed-addresses.ts']

/** Files that alone know a package or a module, though others may know its types. */
const KNOWN_TO: readonly (readonly [what: RegExp, ...files: string[]])[] = [
  [/^h5wasm$/, 'src/sources/reading/netcdf.ts'],
  // It would read over the file system of the machine.
  [/^h5wasm\//],
  // Native code, which a hostile snapshot could crash.
  [/^msgpackr(-extract)?$/],
  // But for the port of the operators and those who ask web servers.
  [/^node:(http|https|http2|net|tls|dgram)$/, 'src/http/', 'src/server/admin.ts', ...ASKING],
  [/^@aws-sdk\//, 'src/snapshot/store/s3.ts'],
  [/^@redis\//, 'src/access/redis.ts'],
  [/^@modelcontextprotocol\//, 'src/commands/mcp.ts', 'src/mcp/server.ts'],
  [/\/uws-binding\.ts$/, 'src/http/engines/uws', 'src/http/engines/engine.ts'],
  [/\/uws\.ts$/, 'src/http/engines/engine.ts'],
  [/^src\/builder\/fetch\//, 'src/builder/fetch/', 'src/commands/build.ts'],
  [/^src\/handlers\//, 'src/routes.ts', 'src/long/'],
  // Of its code the explorer uses the stream of events.
  [/^clients\//, 'web/explorer/live/'],
]

test('Packages and modules are known to the files that alone may know them, and those do know them.', () => {
  for (const [what, ...files] of KNOWN_TO) {
    const known = IMPORTS.filter(({ target, specifier }) => what.test(target ?? specifier))
    const isAllowed = ({ file }: Import): boolean => files.some((start) => file.startsWith(start))
    assert.deepEqual(textsOf(known.filter((each) => !each.typeOnly && !isAllowed(each))), [])
    for (const start of files)
      assert.ok(
        known.some(({ file }) => file.startsWith(start)),
        `${start} does not import ${what}`,
      )
  }
})

const REQUEST = /^src\/(http|handlers|operation|dataset|access)\/|^src\/routes\.ts$/
const BUILD = /^src\/(builder|sources)\//

/** Borders besides those of the levels: files, and what they do not import. */
const BORDERS: { readonly [rule: string]: readonly [of: RegExp, never: RegExp] } = {
  // The two meet in the rooms below both.
  'The life of a request does not know that of a build.': [REQUEST, BUILD],
  'The life of a build knows that of a request for bulk files alone, which are tables of a snapshot.': [
    /^src\/(builder\/(?!bulk\/)|sources\/)/,
    REQUEST,
  ],
  'Adapters of sources turn bytes into rows and know nothing of snapshots.': [
    /^src\/sources\//,
    /^src\/(?!(sources|index|sea|system)\/)/,
  ],
  'Handlers import neither each other nor files, processes and threads: they turn arguments into bytes.': [
    /^src\/handlers\//,
    /^src\/(handlers|http|snapshot|access)\/|^node:/,
  ],
  'The explorer knows the server by the API alone.': [/^web\/explorer\//, /^src\//],
  'The server does not know the pages.': [/^src\//, /^web\//],
  'What is compiled imports nothing of what lies beside it.': [
    /\.tsx?$/,
    /^(test|bench|tools|data|deploy|docs)\//,
  ],
}

for (const [rule, [of, never]] of Object.entries(BORDERS)) {
  test(rule, () => {
    const found = IMPORTS.filter(
      ({ file, target, specifier }) => of.test(file) && never.test(target ?? specifier),
    )
    assert.deepEqual(textsOf(found), [])
    assert.ok(IMPORTS.some(({ file }) => of.test(file)))
  })
}

test('The client library of Redis is loaded when it is needed.', () => {
  assert.match(textOf('src/access/redis.ts'), /await import\('@redis\/client'\)/)
})

test('Tools know the program alone: tests and benches may use them, not the other way round.', () => {
  const outside = filesIn('tools')
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => importsOf(file))
    .filter(({ target }) => target !== null && !/^(src|tools|web)\//.test(target))
  assert.deepEqual(textsOf(outside), [])
})

/** What stands in the code of these files alone, comments left out. */
const PLACES: readonly [rule: string, pattern: RegExp, files: readonly string[], among?: string[]][] = [
  [
    'The clock is read where a process or thread begins, and handed on from there.',
    // `new Date(x)` only writes a given time, and `performance.now` is a stopwatch.
    /Date\.now|new Date\(\)|performance\.timeOrigin/,
    `cli.ts commands/build.ts commands/surroundings.ts http/engines/base.ts mcp/thread.ts
    server/start-server.ts server/worker.ts`.split(/\s+/),
  ],
  // A thread of the tests gets the name of its file as argument.
  ['Arguments are read where the program begins.', /process\.argv/, ['cli.ts', 'system/thread.dev.mjs']],
  [
    'The environment is read at the edge.',
    /process\.env/,
    // uWebSockets.js takes one setting from there and nowhere else.
    ['cli.ts', 'commands/surroundings.ts', 'http/engines/uws-binding.ts'],
  ],
  [
    'The exit code belongs to the commands.',
    /process\.exit(Code)?\b/,
    // In a worker thread it ends the thread.
    ['server/worker.ts'],
    SOURCES.filter((file) => !/^src\/(cli\.ts|commands\/)/.test(file)),
  ],
  ['Nothing is written past the log.', /\bconsole\./, []],
  ['Who asks web servers serves nobody.', /createServer|createConnection|connect\(/, [], ASKING],
  [
    'Chance decides the moment of a scheduled build, and which answer without a body ends its connection.',
    /Math\.random/,
    ['commands/surroundings.ts', 'http/engines/uws.ts'],
  ],
  [
    'Random bytes are for keys, ids of requests and temporary names.',
    /randomUUID|randomBytes|getRandomValues/,
    ['access/key-records.ts', 'http/reply.ts', 'system/replace-file.ts'],
  ],
  [
    'uWebSockets.js is loaded by one file.',
    // As the name of a module, or one it is made of.
    /['"`](uWebSockets\.js['"`]|@uwsjs\/)/,
    ['http/engines/uws-binding.ts'],
  ],
  [
    'The explorer puts text into the page as text.',
    /[iI]nnerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|srcdoc|\beval\b/,
    [],
    PAGES,
  ],
]

for (const [rule, pattern, files, among = SOURCES] of PLACES) {
  test(rule, () => {
    const found = among.filter((file) =>
      pattern.test(textOf(file).replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '')),
    )
    assert.deepEqual(
      found,
      files.map((file) => `src/${file}`),
    )
  })
}

test('No file is a drawer for what has no place.', () => {
  const own = ['src', 'test', 'bench', 'tools', 'web'].flatMap((folder) => filesIn(folder))
  const drawer = /(^|[/._-])(utils?|helpers?|common|misc|shared|stuff)([/._-]|$)/i
  assert.deepEqual(
    own.filter((file) => drawer.test(file)),
    [],
  )
})

test('Every file of the program begins by saying what it is for.', () => {
  for (const file of [...SOURCES, ...PAGES]) {
    const text = textOf(file).replace(/^#![^\n]*\n/, '')
    assert.match(text, file.endsWith('.mjs') ? /^(\/\*\*|\/\/ )/ : /^\/\*\* ?\S|^\/\*\*\n \* \S/, file)
  }
})

test('No file names a place on one machine or a registry of packages.', () => {
  const places = ['work', 'home', 'root', 'Users', 'opt'].map((name) => `(?<![\\w.~-])/${name}/`)
  const registries = ['registry\\.npm', 'npmmirror', 'artifactory', 'verdaccio', 'jfrog']
  const forbidden = new RegExp([...places, ...registries].join('|'), 'i')
  const single = `README.md SECURITY.md package.json package-lock.json tsconfig.json tsconfig.build.json
    tsconfig.types.json .npmrc .gitignore`.split(/\s+/)
  const folders = 'src web test bench tools data/fixtures data/examples .ci'.split(' ')
  const found = [...single, ...folders.flatMap((folder) => filesIn(folder))]
    .filter((file) => file !== 'test/tree.test.ts')
    .flatMap((file) =>
      textOf(file)
        .split('\n')
        .flatMap((line, i) => (forbidden.test(line) ? [`${file}:${i + 1}: ${line.slice(0, 100)}`] : [])),
    )
  assert.deepEqual(found, [])
})

interface Package {
  dependencies: { [name: string]: string }
  optionalDependencies: { [name: string]: string }
  devDependencies: { [name: string]: string }
}

const PACKAGE = JSON.parse(textOf('package.json')) as Package

interface LockFile {
  packages: { [path: string]: { version?: string; integrity?: string; hasInstallScript?: boolean } }
}

test('The lock file names no address, each entry has the hash of what it stands for, and every version is exact.', () => {
  for (const folder of ['', 'test/', 'bench/peers/', 'test/openapi/generators/']) {
    const file = `${folder}package-lock.json`
    const text = textOf(file)
    assert.ok(!text.includes('"resolved"'), file)
    const entries = Object.entries((JSON.parse(text) as LockFile).packages).filter(([path]) => path !== '')
    assert.ok(entries.length > 20, file)
    for (const [path, { integrity }] of entries)
      assert.match(integrity ?? '', /^sha512-[A-Za-z0-9+/]{86}==$/, `${file}: ${path}`)
  }
  const { devDependencies: ofTests } = JSON.parse(textOf('test/package.json')) as Package
  const { dependencies, optionalDependencies, devDependencies } = PACKAGE
  for (const table of [dependencies, optionalDependencies, devDependencies, ofTests]) {
    for (const [name, version] of Object.entries(table))
      assert.match(version, /^\d+\.\d+\.\d+(-r\.\d+)?$/, name)
  }
})

test('Nothing that is installed runs a script, and no package has one that is not known to be needless.', () => {
  assert.match(textOf('.npmrc'), /^ignore-scripts=true$/m)
  assert.equal(textOf('test/.npmrc'), textOf('.npmrc'))
  const scripted = ['package-lock.json', 'test/package-lock.json']
    .flatMap((file) => Object.entries((JSON.parse(textOf(file)) as LockFile).packages))
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
  assert.deepEqual(
    scripted.map(([path]) => path),
    ['node_modules/esbuild', 'node_modules/msgpackr-extract'],
  )
})

test('The program imports the packages that it declares and no others.', () => {
  const packageOf = (specifier: string): string =>
    specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/')
  const used = IMPORTS.filter(({ target, specifier }) => target === null && !specifier.startsWith('node:'))
  const { dependencies, devDependencies } = PACKAGE
  for (const { file, specifier, typeOnly } of used) {
    // TypeScript sources run in development alone; what runs in a browser is bundled with what it imports.
    const isBuilt = /\.dev\.mjs$|^web\//.test(file)
    const isBuild = file.endsWith('.build.mjs')
    const declared = {
      ...((isBuild || !isBuilt) && dependencies),
      ...((isBuild || isBuilt || typeOnly) && devDependencies),
    }
    assert.ok(packageOf(specifier) in declared, `${file} imports ${specifier}`)
  }
  const code = SOURCES.map((file) => textOf(file)).join('\n')
  for (const name of Object.keys(PACKAGE.dependencies))
    assert.ok(code.includes(`'${name}`), `${name} is not used`)
})
