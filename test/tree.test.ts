/** The borders inside the program, and what must not stand in its files. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Files below a folder of the tree, as paths from its root, with slashes. */
function filesIn(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return []
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
    .filter((file) => !file.includes('node_modules/'))
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

/** The one file outside of the program that it may name, and only the explorer: for the types of answers. */
const PUBLISHED_CLIENT = 'clients/typescript/groundswell.ts'
const STREAMS_OF_CLIENT = 'tools/openapi/client_streams.ts'

/**
 * Which rooms may know which, from top to bottom: a file imports from its own room or from those of lower
 * levels, types included, so that no rooms import each other in a circle. A room is a folder of `src/` or one
 * file that lies in `src/` itself.
 */
const LEVELS: readonly (readonly string[])[] = [
  ['cli.ts'],
  ['commands/', 'library.ts'],
  ['server/'],
  ['long/'],
  ['http/', 'openapi/', 'routes.ts', 'builder/'],
  ['handlers/'],
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

const ASKING = ['src/snapshot/store/web-request.ts', 'src/snapshot/store/allowed-addresses.ts']

interface Border {
  /** Who is meant; all of the program without it. */
  of?: RegExp
  /** What they do not import. */
  never: RegExp
  /** Who does all the same, by how the path begins. */
  but?: readonly string[]
  /** Types are gone once it is compiled. */
  typesMay?: true
}

/** Borders besides those of the levels. In oxlint each exception would repeat the whole list of its rule. */
const BORDERS: { readonly [rule: string]: Border } = {
  // The two meet in the rooms below both.
  'The life of a request does not know that of a build.': {
    of: /^src\/(http|handlers|operation|dataset|access)\/|^src\/routes\.ts$/,
    never: /^src\/(builder|sources)\//,
  },
  'The life of a build does not know that of a request, but for bulk files, which are tables of a snapshot.':
    {
      of: /^src\/(builder|sources)\//,
      never: /^src\/(http|handlers|operation|dataset|access)\/|^src\/routes\.ts$/,
      but: ['src/builder/bulk/'],
    },
  'Adapters of sources turn bytes into rows and know nothing of snapshots.': {
    of: /^src\/sources\//,
    never: /^src\/(?!(sources|index|sea|system)\/)/,
  },
  'Handlers import neither each other nor files, processes and threads: they turn arguments into bytes.': {
    of: /^src\/handlers\//,
    never: /^src\/(handlers|http|snapshot|access)\/|^node:/,
  },
  'Handlers are known to the table of operations, and to what makes long answers of theirs.': {
    never: /^src\/handlers\//,
    but: ['src/routes.ts', 'src/long/'],
  },
  'HDF5 files are never read over the file system of the machine.': { never: /^h5wasm\// },
  'HDF5 files are read over the file system in memory by one file.': {
    never: /^h5wasm$/,
    but: ['src/sources/reading/netcdf.ts'],
    typesMay: true,
  },
  'uWebSockets.js is known to its own files alone.': {
    never: /\/uws-binding\.ts$/,
    but: ['src/http/engines/uws', 'src/http/engines/engine.ts'],
  },
  'The engine on uWebSockets.js is known to the choice of an engine alone.': {
    never: /\/uws\.ts$/,
    but: ['src/http/engines/engine.ts'],
  },
  'Sockets are opened under src/http alone, but for the port of the operators and by who asks web servers.': {
    never: /^node:(http|https|http2|net|tls|dgram)$/,
    but: ['src/http/', 'src/server/admin.ts', ...ASKING],
    typesMay: true,
  },
  'The SDK of buckets is known to one file.': {
    never: /^@aws-sdk\//,
    but: ['src/snapshot/store/s3.ts'],
    typesMay: true,
  },
  'The fetching is known to the command line and, as types, to the report.': {
    never: /^src\/builder\/fetch\//,
    but: ['src/builder/fetch/', 'src/commands/build.ts'],
    typesMay: true,
  },
  'The client library of Redis is known to one file.': {
    never: /^@redis\//,
    but: ['src/access/redis.ts'],
  },
  'The SDK for assistants is known to its command alone.': {
    never: /^@modelcontextprotocol\//,
    but: ['src/commands/mcp.ts'],
  },
  'The explorer knows the server by the API alone.': { of: /^web\/explorer\//, never: /^src\// },
  'The server does not know the pages.': { of: /^src\//, never: /^web\// },
  // The types of the published client are those of the API.
  'Of the code of the published client the explorer uses the stream of events.': {
    never: /^clients\//,
    but: ['web/explorer/live/'],
    typesMay: true,
  },
  'What is compiled imports nothing of what lies beside it.': {
    of: /\.tsx?$/,
    never: /^(test|bench|tools|data|deploy|docs)\//,
  },
  'Snapshots are decoded without native code, which a hostile one could crash.': {
    never: /^msgpackr(-extract)?$/,
  },
}

for (const [rule, { of = /^/, never, but = [], typesMay }] of Object.entries(BORDERS)) {
  test(rule, () => {
    const across = IMPORTS.filter(
      ({ file, target, specifier, typeOnly }) =>
        of.test(file) && never.test(target ?? specifier) && !(typeOnly && typesMay),
    )
    const found = across.filter(({ file }) => !but.some((start) => file.startsWith(start)))
    assert.deepEqual(
      found.map(({ file, specifier }) => `${file} imports ${specifier}`),
      [],
    )
    for (const start of but)
      assert.ok(
        across.some(({ file }) => file.startsWith(start)),
        `${start} does not`,
      )
    assert.ok(IMPORTS.some(({ file }) => of.test(file)))
  })
}

test('Every handler is in the table of operations.', () => {
  const table = new Set(IMPORTS.filter(({ file }) => file === 'src/routes.ts').map(({ target }) => target))
  const handlers = SOURCES.filter((file) => file.startsWith('src/handlers/'))
  assert.ok(handlers.length >= 12)
  for (const handler of handlers) assert.ok(table.has(handler), handler)
})

test('The description of the API is made from declarations, texts and the table of errors alone.', () => {
  const used = IMPORTS.filter(({ file, typeOnly }) => file.startsWith('src/openapi/') && !typeOnly)
    .map(({ target, specifier }) => target ?? specifier)
    .filter((target) => !target.startsWith('src/openapi/'))
  // Its guides are a text beside it.
  assert.deepEqual(new Set(used), new Set(['node:fs', 'src/operation/errors.ts']))
})

test('The client library of Redis is loaded when it is needed.', () => {
  assert.match(textOf('src/access/redis.ts'), /await import\('@redis\/client'\)/)
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

/** Files whose code, comments left out, a pattern matches. */
function filesWith(pattern: RegExp, files: readonly string[]): string[] {
  return files.filter((file) =>
    pattern.test(
      textOf(file)
        .replaceAll(/\/\*[^]*?\*\//g, '')
        .replaceAll(/^\s*\/\/.*$/gm, ''),
    ),
  )
}

/** What stands in the code of these files alone. */
const PLACES: readonly [rule: string, pattern: RegExp, files: readonly string[], among?: string[]][] = [
  // `new Date(x)` only writes a given time, and `performance.now` is a stopwatch.
  [
    'The clock is read where a process or thread begins, and handed on from there.',
    /Date\.now|new Date\(\)|performance\.timeOrigin/,
    [
      'src/cli.ts',
      'src/commands/build.ts',
      'src/commands/surroundings.ts',
      'src/http/engines/base.ts',
      'src/server/start-server.ts',
      'src/server/worker.ts',
    ],
  ],
  // A thread of the tests gets the name of its file as argument.
  [
    'Arguments are read where the program begins.',
    /process\.argv/,
    ['src/cli.ts', 'src/system/thread.dev.mjs'],
  ],
  // uWebSockets.js takes one setting from there and nowhere else; a variable says whether the start logs JSON.
  [
    'The environment is read at the edge.',
    /process\.env/,
    ['src/cli.ts', 'src/commands/surroundings.ts', 'src/http/engines/uws-binding.ts'],
  ],
  // In a worker thread it ends the thread.
  [
    'The exit code belongs to the commands.',
    /process\.exit(Code)?\b/,
    ['src/server/worker.ts'],
    SOURCES.filter((file) => file !== 'src/cli.ts' && !file.startsWith('src/commands/')),
  ],
  ['Nothing is written past the log.', /\bconsole\./, []],
  [
    'Who asks web servers only keeps connections and takes addresses apart.',
    /createServer|createConnection|connect\(/,
    [],
    ASKING,
  ],
  [
    'Chance decides the moment of a scheduled build, and which answer without a body ends its connection.',
    /Math\.random/,
    ['src/commands/surroundings.ts', 'src/http/engines/uws.ts'],
  ],
  [
    'Random bytes are for keys, ids of requests and temporary names.',
    /randomUUID|randomBytes|getRandomValues/,
    ['src/access/key-records.ts', 'src/http/reply.ts', 'src/system/replace-file.ts'],
  ],
  // Not in comments and messages: as the name of a module, or one it is made of.
  [
    'uWebSockets.js is loaded by one file.',
    /['"`](uWebSockets\.js['"`]|@uwsjs\/)/,
    ['src/http/engines/uws-binding.ts'],
  ],
  [
    'The explorer puts text into the page as text.',
    /[iI]nnerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|srcdoc|\beval\b/,
    [],
    PAGES,
  ],
]

for (const [rule, pattern, files, among = SOURCES] of PLACES) {
  test(rule, () => assert.deepEqual(filesWith(pattern, among), files))
}

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
    'tsconfig.types.json',
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
  for (const file of [
    'package-lock.json',
    'test/package-lock.json',
    'bench/peers/package-lock.json',
    'test/openapi/generators/package-lock.json',
  ]) {
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
  for (const { file, specifier } of used) {
    // TypeScript sources run in development alone; what runs in a browser is bundled with what it imports.
    // Where a build runs, all packages are there.
    const isBuilt = file.endsWith('.dev.mjs') || file.startsWith('web/')
    const { dependencies, devDependencies } = PACKAGE
    const declared = file.endsWith('.build.mjs')
      ? { ...dependencies, ...devDependencies }
      : isBuilt
        ? devDependencies
        : dependencies
    assert.ok(packageOf(specifier) in declared, `${file} imports ${specifier}`)
  }
  const code = SOURCES.map((file) => textOf(file)).join('\n')
  for (const name of Object.keys(PACKAGE.dependencies))
    assert.ok(code.includes(`'${name}`), `${name} is not used`)
})
