// Builds the explorer: bundles the program, and puts the files of the map beside it. All but the page has its
// hash in its name, so that browsers keep it for a year.
import { build as bundle } from 'esbuild'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mapFiles, ofMap } from '../basemap/map.build.mjs'
import { asset, hashed, page, withNames } from '../site.build.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(dirname(here))

/** The sources of MapLibre, not its two bundles: page and worker then share half of their code, 90 KB. */
const maplibre = join(dirname(createRequire(import.meta.url).resolve('maplibre-gl/package.json')), 'src')

/** Where the package of MapLibre's matrices has a file for each kind. */
const MATRICES = 'gl-matrix/esm'

/** Browsers since early 2023, which all have module workers. */
const TARGET = ['chrome111', 'firefox114', 'safari16.4']

/** Nothing comes from another server, nothing is inline, and no text is evaluated. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Leaves out of MapLibre what the page does not use. Its sources say of each of their files that loading it
 * does something: of those that nothing is taken from, such as buttons, nothing does. Of the matrices all is
 * bundled that is named by way of their index. Tiles in the format MLT are 13 KB for what hardly any server
 * has.
 * @type {import('esbuild').Plugin}
 */
const lessOfMapLibre = {
  name: 'less-of-maplibre',
  setup(building) {
    const noTiles = 'Tiles in the format MLT are not supported: serve Mapbox vector tiles.'
    const none = `export const GEOMETRY_TYPE = {}\nexport function decodeTile() { throw new Error('${noTiles}') }`
    building.onResolve({ filter: /^@maplibre\/mlt$/ }, () => ({ path: 'mlt', namespace: 'none' }))
    building.onLoad({ filter: /^mlt$/, namespace: 'none' }, () => ({ contents: none }))
    building.onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, resolveDir, importer }) => {
      // Heights of the ground are registered by it.
      if (!importer.startsWith(maplibre) || path.endsWith('dem_data.ts')) return undefined
      return { path: join(resolveDir, path), sideEffects: false }
    })
    building.onLoad({ filter: /[/\\]maplibre-gl[/\\]package\.json$/ }, ({ path }) => {
      const { version } = JSON.parse(readFileSync(path, 'utf8'))
      return { contents: JSON.stringify({ version }), loader: 'json' }
    })
    building.onLoad({ filter: /[/\\]maplibre-gl[/\\]src[/\\].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const contents = text.replace(/^import \{(.*)\} from .gl-matrix.;$/gm, (_, names) =>
        names
          .split(', ')
          .filter((name) => !name.startsWith('type '))
          .map((name) => `import * as ${name} from ${JSON.stringify(`${MATRICES}/${name}.js`)};`)
          .join(' '),
      )
      return { contents, loader: 'ts' }
    })
  },
}

/** @returns {Promise<{ files: import('../site.build.mjs').BuiltFile[], isWhole: boolean }>} */
export async function build() {
  const [bundled, map] = [await bundleAll(), mapFiles()]
  const read = (name) => readFileSync(join(here, name))
  const icon = hashed('icon.svg', read('icon.svg'))
  const others = [
    ['share.png', read('share.png')],
    // For browsers that put the explorer among the apps of a device.
    ['manifest.webmanifest', Buffer.from(withNames(read('manifest.webmanifest').toString(), [icon]))],
    ['licences.txt', bundled.licences],
  ]
  const assets = [
    ...bundled.files,
    ...map.files,
    [icon, read('icon.svg')],
    ...others.map(([name, bytes]) => [hashed(name, bytes), bytes]),
  ]
  const names = [map.coast, ...assets.map(([name]) => name)]
  return {
    isWhole: true,
    files: [
      pageWith('/', 'index.html', names, bundled.needs),
      // The server answers with it below this path, too, and lets the operator name who may show it.
      pageWith('/embed/', 'embed.html', names, bundled.needs),
      ...assets.map(([name, bytes]) => asset('/assets/', name, bytes)),
    ],
  }
}

async function bundleAll() {
  const { outputFiles, metafile } = await bundle({
    entryPoints: {
      main: join(here, 'main.tsx'),
      embed: join(here, 'embed.tsx'),
      style: join(here, 'style.css'),
      'map-worker': join(maplibre, 'source', 'worker.ts'),
    },
    alias: { 'maplibre-gl': join(maplibre, 'index.ts') },
    plugins: [lessOfMapLibre],
    // MapLibre's makers build it so: its classes declare fields that their parents have set.
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    legalComments: 'none',
    target: TARGET,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    absWorkingDir: root,
    outdir: '/',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  const needs = Object.entries(metafile.outputs).map(([path, { imports }]) => [
    basename(path),
    imports.filter(({ kind }) => kind === 'import-statement').map((each) => basename(each.path)),
  ])
  // Of the client of the API a part is used that calls no package.
  const used = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((file) => inputs[file].bytesInOutput > 0),
  )
  return {
    needs: new Map(needs),
    licences: licencesOf(used),
    files: outputFiles.map(({ path, contents }) => [basename(path), contents]),
  }
}

/** The licences of all packages in the bundle, and of the data of the map. */
function licencesOf(files) {
  const packages = new Set()
  for (const file of files) {
    const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? []
    // A package inside the built files of another has no folder of its own; the other's licence covers it.
    if (folder !== undefined && existsSync(join(root, folder, 'package.json'))) packages.add(folder)
  }
  // Where the packages are installed changes nothing.
  const nameOf = (folder) => folder.slice(folder.lastIndexOf('node_modules/'))
  const folders = [...packages]
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
    .map((folder) => join(root, folder))
  return Buffer.from([...folders.map(licenceText), ofMap('licences.txt')].join(`\n${'-'.repeat(80)}\n\n`))
}

/** The licence of the package in `folder`, which requires that its text goes with it. */
function licenceText(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file))
  const parts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return `${name} ${version}\n\n${parts.join('\n\n') || `Licence: ${license}`}\n`
}

/**
 * A page with its files. The explorer names the parts of the map too, which it loads once it can be read.
 * @param {string[]} names of all files
 * @param {Map<string, string[]>} needs the files that each program begins with
 */
function pageWith(path, file, names, needs) {
  const up = '../'.repeat(path.split('/').length - 2)
  const named = (text) => withNames(text, names)
  const allOf = (program) => [named(program), ...needs.get(named(program))]
  const first = file === 'index.html' ? ['{{main.js}}', '{{still.js}}'] : ['{{embed.js}}']
  const [, ...preloads] = new Set(first.flatMap(allOf))
  const modules = allOf('{{map.js}}').filter((each) => !preloads.includes(each))
  const text = named(readFileSync(join(here, file), 'utf8'))
    .replace('{{map_modules}}', modules.map((each) => `assets/${each}`).join(' '))
    .replace(
      '{{preloads}}',
      preloads.map((each) => `<link rel="modulepreload" href="${up}assets/${each}">`).join('\n    '),
    )
  return page(path, file, text, CONTENT_SECURITY_POLICY)
}
