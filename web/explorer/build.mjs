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
  const preloads = needs.get(named(file === 'index.html' ? '{{main.js}}' : '{{embed.js}}'))
  const map = named('{{map.js}}')
  const modules = [map, ...needs.get(map).filter((each) => !preloads.includes(each))]
  const text = named(readFileSync(join(here, file), 'utf8'))
    .replace('{{map_modules}}', modules.map((each) => `assets/${each}`).join(' '))
    .replace(
      '{{preloads}}',
      preloads.map((each) => `<link rel="modulepreload" href="${up}assets/${each}">`).join('\n    '),
    )
  return page(path, file, text, CONTENT_SECURITY_POLICY)
}
