/** The borders inside the program, and what must not stand in its files. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const VENDORING = new URL('../tools/vendor.mjs', import.meta.url).href
const { VENDORED } = (await import(VENDORING)) as { VENDORED: { [specifier: string]: unknown } }

/** Files below a folder of the tree, as paths from its root, with slashes. */
function filesIn(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return []
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
    .toSorted()
}

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

/** Who imports what a pattern matches, as `FILE imports TARGET`. */
function whoImports(pattern: RegExp, from: (file: string) => boolean = () => true): string[] {
  return IMPORTS.filter(({ file, target, specifier }) => from(file) && pattern.test(target ?? specifier)).map(
    ({ file, specifier }) => `${file} imports ${specifier}`,
  )
}

/** The one file outside of the program that it may name, and only the explorer: for the types of answers. */
const PUBLISHED_CLIENT = 'clients/typescript/groundswell.ts'
/** What makes the explorer's map is a tool of the build. */
const isMapMaker = (file: string, target: string): boolean =>
  file === 'web/explorer/build.mjs' && target.startsWith('tools/basemap/')
const STREAMS_OF_CLIENT = 'tools/openapi/client_streams.ts'

test('Every import within the program names a file that is there, with its ending.', () => {
  assert.ok(IMPORTS.length > 100)
  for (const { file, target, specifier } of IMPORTS) {
    if (target === null) continue
    assert.match(specifier, /\.(tsx?|mjs|json)$/, `${file} imports ${specifier}`)
    assert.ok(existsSync(join(ROOT, target)), `${file} imports ${specifier}`)
    assert.ok(
      /^(src|web)\//.test(target) || target === PUBLISHED_CLIENT || isMapMaker(file, target),
      `${file} imports ${specifier}`,
    )
  }
})

/**
 * Which rooms may know which, from top to bottom: a file imports from its own room or from those of lower
 * levels, types included, so that no rooms import each other in a circle. A room is a folder of `src/` or one
 * file that lies in `src/` itself.
 */
const LEVELS: readonly (readonly string[])[] = [
  ['cli.ts'],
  ['commands/', 'library.ts'],
  ['server/'],
  ['http/', 'openapi/', 'routes.ts', 'builder/'],
  ['handlers/', 'formats/'],
  ['operation/', 'access/'],
  ['dataset/', 'sources/'],
  ['snapshot/'],
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

/** Rooms of one life that must not know those of the other: the two meet in the rooms below both. */
const LIVES = {
  request: ['http/', 'routes.ts', 'handlers/', 'formats/', 'operation/', 'dataset/', 'access/'],
  build: ['builder/', 'sources/'],
}
/** Bulk files are rows in a format, but a build writes them. */
const EXPORTED_FILES = 'src/formats/bulk/'
const KNOWN_TO_ADAPTERS = new Set(['sources/', 'index/', 'sea/', 'system/'])

/**
 * Plain JavaScript that runs before anything is compiled, and what a browser runs, have no level: other tests
 * say what they may know.
 */
const UNRANKED = /\.(mjs|mts)$|^web\//

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

test('The life of a request and the life of a build do not know each other.', () => {
  const across = RANKED_IMPORTS.filter(({ target }) => !target.startsWith(EXPORTED_FILES))
    .filter(
      ({ from, to }) =>
        (LIVES.request.includes(from) && LIVES.build.includes(to)) ||
        (LIVES.build.includes(from) && LIVES.request.includes(to)),
    )
    .map(
      ({ file, target }) =>
        `${file} imports ${target}: the two lives share only snapshot/, index/, sea/ and system/; move what both need there`,
    )
  assert.deepEqual(across, [])
})

test('Adapters of sources know nothing of snapshots.', () => {
  const found = RANKED_IMPORTS.filter(
    ({ from, to }) => from === 'sources/' && !KNOWN_TO_ADAPTERS.has(to),
  ).map(({ file, target }) => `${file} imports ${target}: an adapter turns bytes into rows and knows no more`)
  assert.deepEqual(found, [])
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

test('At most ten files lie directly in src/.', () => {
  const files = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isFile())
  assert.ok(
    files.length <= 10,
    `${files.length} files lie in src/: move those that are not an entry into a room`,
  )
})

const isHandler = (file: string): boolean => file.startsWith('src/handlers/')

test('Handlers import neither each other nor files, processes and threads: they turn arguments into bytes.', () => {
  assert.deepEqual(whoImports(/^src\/(handlers|http|snapshot|access)\/|^node:/, isHandler), [])
  assert.ok(SOURCES.filter(isHandler).length >= 12)
})

test('Handlers are known to the table of operations alone.', () => {
  assert.deepEqual(
    whoImports(/^src\/handlers\//, (file) => file !== 'src/routes.ts'),
    [],
  )
  const table = new Set(IMPORTS.filter(({ file }) => file === 'src/routes.ts').map(({ target }) => target))
  for (const handler of SOURCES.filter(isHandler)) assert.ok(table.has(handler), handler)
})

test('The description of the API is made from declarations, texts and the table of errors alone.', () => {
  const used = IMPORTS.filter(({ file, typeOnly }) => file.startsWith('src/openapi/') && !typeOnly)
    .map(({ target, specifier }) => target ?? specifier)
    .filter((target) => !target.startsWith('src/openapi/'))
  // Its guides are a text beside it.
  assert.deepEqual(new Set(used), new Set(['node:fs', 'src/operation/errors.ts']))
})

test('HDF5 files are read over the file system in memory, by one file, never over that of the machine.', () => {
  assert.deepEqual(whoImports(/^h5wasm\//), [])
  const named = IMPORTS.filter(({ specifier, typeOnly }) => specifier === 'h5wasm' && !typeOnly)
  assert.deepEqual(new Set(named.map(({ file }) => file)), new Set(['src/sources/reading/netcdf.ts']))
})

test('uWebSockets.js is known to its own files, and they to the choice of an engine alone.', () => {
  // In code, not in comments and messages: as the name of a module, or one it is made of.
  const named = SOURCES.filter((file) => /['"`](uWebSockets\.js['"`]|@uwsjs\/)/.test(textOf(file)))
  assert.deepEqual(named, ['src/http/engines/uws-binding.ts'])
  const binding = IMPORTS.filter(({ target }) => target === 'src/http/engines/uws-binding.ts').map(
    ({ file }) => file,
  )
  assert.deepEqual(
    binding.filter((file) => file !== 'src/http/engines/engine.ts'),
    ['uws-acceptor', 'uws-exchange', 'uws-later', 'uws'].map((name) => `src/http/engines/${name}.ts`),
  )
  const parts = IMPORTS.filter(({ target }) => /\/uws-(?!binding)/.test(target ?? '')).map(({ file }) => file)
  assert.deepEqual(
    parts.filter((file) => !file.startsWith('src/http/engines/uws')),
    [],
  )
  const engine = IMPORTS.filter(({ target }) => target === 'src/http/engines/uws.ts').map(({ file }) => file)
  assert.deepEqual(engine, ['src/http/engines/engine.ts'])
})

const ASKING = ['src/snapshot/store/web-request.ts', 'src/snapshot/store/allowed-addresses.ts']

test('Sockets are opened under src/http alone, but for the port of the operators.', () => {
  const opened = IMPORTS.filter(({ specifier }) => /^node:(http|https|http2|net|tls|dgram)$/.test(specifier))
    .filter(({ typeOnly }) => !typeOnly)
    .map(({ file }) => file)
    .filter((file) => !file.startsWith('src/http/'))
  assert.deepEqual(
    opened.filter((file) => !['src/server/admin.ts', ...ASKING].includes(file)),
    [],
  )
  // They keep connections for further requests, and take addresses apart.
  for (const file of ASKING) assert.ok(!/createServer|createConnection|connect\(/.test(textOf(file)), file)
})

test('Web servers are asked by one file, and the fetching is known to the command line and, as types, to the report.', () => {
  const asking = IMPORTS.filter(({ specifier }) => specifier === 'got').map(({ file }) => file)
  assert.deepEqual(asking, ['src/snapshot/store/web-request.ts'])
  const users = IMPORTS.filter(
    ({ target, typeOnly }) => target?.startsWith('src/builder/fetch/') === true && !typeOnly,
  )
  const files = new Set(
    users.map(({ file }) => file).filter((file) => !file.startsWith('src/builder/fetch/')),
  )
  assert.deepEqual([...files], ['src/commands/build.ts'])
})

test('The client library of Redis is known to one file, which loads it when it is needed.', () => {
  const named = SOURCES.filter((file) => textOf(file).includes("'@redis/client'"))
  assert.deepEqual(named, ['src/access/redis/redis-link.ts'])
  assert.match(textOf('src/access/redis/redis-link.ts'), /await import\('@redis\/client'\)/)
  assert.deepEqual(
    whoImports(/^@redis\//, (file) => file !== 'src/access/redis/redis-link.ts'),
    [],
  )
})

test('The explorer and the server know each other by the API alone.', () => {
  const isExplorer = (file: string): boolean => file.startsWith('web/explorer/')
  assert.deepEqual(
    whoImports(/^web\//, (file) => file.startsWith('src/')),
    [],
  )
  assert.deepEqual(whoImports(/^src\//, isExplorer), [])
  // The types of the published client are those of the API; of its code the explorer uses the stream of
  // events.
  const clientUsers = IMPORTS.filter(({ target }) => target === PUBLISHED_CLIENT)
  assert.ok(clientUsers.length > 5)
  for (const { file, typeOnly } of clientUsers) {
    assert.ok(isExplorer(file) && (typeOnly || file.startsWith('web/explorer/live/')), file)
  }
  assert.ok(PAGES.filter(isExplorer).length > 10)
})

test('Tools know the program alone: tests and benches may use them, not the other way round.', () => {
  const outside = filesIn('tools')
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => importsOf(file))
    .filter(({ target }) => target !== null && !/^(src|tools|web)\//.test(target))
    // The hand-written part of the client knows the types that are made.
    .filter(({ file, target }) => file !== STREAMS_OF_CLIENT || target !== PUBLISHED_CLIENT)
    .map(({ file, specifier }) => `${file} imports ${specifier}: move what both need into tools/`)
  assert.deepEqual(outside, [])
})

test('The explorer puts text into the page as text.', () => {
  const asMarkup =
    /[iI]nnerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|srcdoc|\beval\b/
  assert.deepEqual(filesWith(asMarkup, PAGES), [])
})

/** Files whose code, comments left out, a pattern matches. */
function filesWith(pattern: RegExp, files = SOURCES): string[] {
  return files.filter((file) =>
    pattern.test(
      textOf(file)
        .replaceAll(/\/\*[^]*?\*\//g, '')
        .replaceAll(/^\s*\/\/.*$/gm, ''),
    ),
  )
}

test('The clock is read where a process or thread begins, and handed on from there.', () => {
  // `new Date(x)` only writes a given time, without an argument it would read the clock. `performance.now` is
  // not a clock but a stopwatch: it measures how long something takes.
  const reading = filesWith(/Date\.now|new Date\(\)|performance\.timeOrigin/)
  assert.deepEqual(reading, [
    'src/cli.ts',
    'src/commands/build.ts',
    'src/commands/surroundings.ts',
    'src/http/engines/engine.ts',
    'src/server/start-server.ts',
    'src/server/worker.ts',
    // How far the clock of its context is from the one by which the AWS SDK signs.
    'src/snapshot/store/s3.ts',
  ])
})

test('Arguments, environment and exit code belong to the commands.', () => {
  const isCommands = (file: string): boolean => file === 'src/cli.ts' || file.startsWith('src/commands/')
  const elsewhere = (pattern: RegExp): string[] => filesWith(pattern).filter((file) => !isCommands(file))
  // A thread of the tests gets the name of its file as argument.
  assert.deepEqual(elsewhere(/process\.argv/), ['src/system/thread.dev.mjs'])
  // uWebSockets.js takes one setting from there and nowhere else.
  assert.deepEqual(elsewhere(/process\.env/), ['src/http/engines/uws-binding.ts'])
  // In a worker thread it ends the thread.
  assert.deepEqual(elsewhere(/process\.exit(Code)?\b/), ['src/server/worker.ts'])
  assert.deepEqual(elsewhere(/\bconsole\./), [])
  // Within the room one file reads each of them, and hands on what it read.
  assert.deepEqual(filesWith(/process\.argv/).filter(isCommands), ['src/cli.ts'])
  // A variable says whether a line of the start is JSON.
  assert.deepEqual(filesWith(/process\.env/).filter(isCommands), [
    'src/cli.ts',
    'src/commands/surroundings.ts',
  ])
})

test('Nothing is left to chance but ids of requests, keys, temporary names and the moment of a scheduled build.', () => {
  assert.deepEqual(filesWith(/Math\.random/), ['src/commands/surroundings.ts'])
  assert.deepEqual(filesWith(/randomUUID|randomBytes|getRandomValues/), [
    'src/access/key-records.ts',
    'src/http/reply.ts',
    'src/system/random-name.ts',
  ])
})

test('No file is a drawer for what has no place.', () => {
  const own = [...SOURCES, ...filesIn('test'), ...filesIn('bench'), ...filesIn('tools'), ...filesIn('web')]
  const drawers = own.filter(
    (file) =>
      !file.startsWith('bench/data/') &&
      /(^|[/._-])(utils?|helpers?|common|misc|shared|stuff)([/._-]|$)/i.test(file),
  )
  assert.deepEqual(drawers, [])
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
  const single = [
    'README.md',
    'SECURITY.md',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    '.npmrc',
    '.gitignore',
  ]
  const files = [
    ...single,
    ...['src', 'web', 'test', 'bench', 'tools', 'data/fixtures', 'data/examples', '.ci'].flatMap((folder) =>
      filesIn(folder),
    ),
  ]
  const found = files
    .filter(
      (file) =>
        existsSync(join(ROOT, file)) && !file.startsWith('bench/data/') && file !== 'test/tree.test.ts',
    )
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
  for (const file of ['package-lock.json', 'bench/peers/fastify/package-lock.json']) {
    const text = textOf(file)
    assert.ok(!text.includes('"resolved"'), file)
    const entries = Object.entries((JSON.parse(text) as LockFile).packages).filter(([path]) => path !== '')
    assert.ok(entries.length > 20, file)
    const without = entries.filter(
      ([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''),
    )
    assert.deepEqual(
      without.map(([path]) => path),
      [],
      file,
    )
  }
  for (const table of [PACKAGE.dependencies, PACKAGE.optionalDependencies, PACKAGE.devDependencies]) {
    for (const [name, version] of Object.entries(table))
      assert.match(version, /^\d+\.\d+\.\d+(-r\.\d+)?$/, name)
  }
})

test('Nothing that is installed runs a script, and no package has one that is not known to be needless.', () => {
  assert.match(textOf('.npmrc'), /^ignore-scripts=true$/m)
  const { packages } = JSON.parse(textOf('package-lock.json')) as LockFile
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true)
  assert.deepEqual(
    scripted.map(([path]) => path),
    ['node_modules/esbuild', 'node_modules/msgpackr-extract'],
  )
})

test('What is vendored is used, and is not installed beside it.', () => {
  for (const specifier of Object.keys(VENDORED)) {
    assert.ok(
      IMPORTS.some((each) => each.specifier === specifier),
      `${specifier} is not used`,
    )
    assert.ok(!(specifier in PACKAGE.dependencies), specifier)
  }
})

test('Snapshots are decoded without native code, which a hostile one could crash.', () => {
  const loading = IMPORTS.filter(({ specifier }) => /^msgpackr(-extract)?$/.test(specifier))
  assert.deepEqual(loading, [])
})

test('The program imports the packages that it declares and no others.', () => {
  const packageOf = (specifier: string): string =>
    specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/')
  const used = IMPORTS.filter(({ target, specifier }) => target === null && !specifier.startsWith('node:'))
  for (const { file, specifier } of used) {
    // TypeScript sources run in development alone; what runs in a browser is bundled with what it imports;
    // what is vendored lies in the compiled code. Where a build runs, all packages are there.
    const isBuilt = file.endsWith('.dev.mjs') || file.startsWith('web/')
    const { dependencies, devDependencies } = PACKAGE
    const declared = file.endsWith('.build.mjs')
      ? { ...dependencies, ...devDependencies }
      : isBuilt || specifier in VENDORED
        ? devDependencies
        : dependencies
    assert.ok(packageOf(specifier) in declared, `${file} imports ${specifier}`)
  }
  const code = SOURCES.map((file) => textOf(file)).join('\n')
  for (const name of Object.keys(PACKAGE.dependencies))
    assert.ok(code.includes(`'${name}`), `${name} is not used`)
})
