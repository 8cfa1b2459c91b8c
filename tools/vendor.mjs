// Puts into the compiled code what the program uses of packages that it would be wrong to install. Plain
// JavaScript, because it runs before the compiled code does. Sources that are not compiled, as in tests, import
// the packages themselves.
import { build } from 'esbuild'
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'

const require = createRequire(import.meta.url)

/** Imports for which `vendor/IMPORT.js` stands in, and why the package is not installed. */
export const VENDORED = {
  h5wasm: 'three builds of it, 14 MB, would be installed; one is used',
  'msgpackr/pack': 'it would install native code by a script; that code is never used',
  'msgpackr/unpack': 'as `msgpackr/pack`',
  '@neaps/tide-database': '31 MB would be installed; the fields that are used take 2.4 MB',
  typebox: 'as one file it loads in a tenth of the time',
  '@modelcontextprotocol/server': '17 MB would be installed, for `mcp` alone; minified it takes 0.5 MB',
  '@modelcontextprotocol/server/stdio': 'as `@modelcontextprotocol/server`',
}
/** Packages that come with those above, and lie in their files. */
const BROUGHT = { '@modelcontextprotocol/server': ['@modelcontextprotocol/core', 'zod'] }
export const TIDES = '@neaps/tide-database'

/** This quality takes 0.3 s. Quality 5 takes 0.5 s and saves nothing; quality 9 takes 1.8 s and saves a tenth. */
const QUALITY = 4

/**
 * Puts all into `folder`, the one that is called `vendor`; the stations of tides are those of the installed package.
 * @param {string} folder
 */
export async function vendor(folder) {
  mkdirSync(join(folder, dirname(TIDES)), { recursive: true })
  writeFileSync(join(folder, `${TIDES}.js`), `export { stations } from '${TIDES}'\n`)
  writeFileSync(join(folder, 'LICENCES.txt'), licences())
  await bundle({
    entryPoints: Object.keys(VENDORED)
      .filter((specifier) => specifier !== TIDES)
      .map((specifier) => ({ in: fileURLToPath(import.meta.resolve(specifier)), out: specifier })),
    outdir: folder,
    splitting: true,
    minify: true,
  })
}

/**
 * Puts the stations of tides into a folder that `vendor` has filled or is filling. They take two seconds.
 * @param {string} folder
 * @param {string} cache folder that keeps them
 */
export async function vendorTides(folder, cache) {
  writeFileSync(join(folder, `${TIDES}.json.br`), await stationsOf(cache))
  writeFileSync(join(folder, `${TIDES}.js`), STATIONS_MODULE)
}

/**
 * Bundles for Node and writes the files. esbuild itself would go on writing when a signal has ended the build.
 * @param {import('esbuild').BuildOptions} options
 */
export async function bundle(options) {
  const { outputFiles } = await build({
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    legalComments: 'none',
    logLevel: 'silent',
    write: false,
    ...options,
  })
  for (const { path, contents } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, contents)
  }
}

const STATIONS_MODULE = `import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
const bytes = readFileSync(new URL('./tide-database.json.br', import.meta.url))
export const stations = JSON.parse(brotliDecompressSync(bytes).toString('utf8'))
`

/**
 * The tide stations with the fields that `sources/tides-source.ts` looks at, compressed, from the cache where it
 * has them.
 */
async function stationsOf(cache) {
  const { version } = JSON.parse(readFileSync(manifestOf(TIDES), 'utf8'))
  const kept = join(cache, `tide-stations-${version}-q${QUALITY}.json.br`)
  try {
    return readFileSync(kept)
  } catch {
    // The file is not made yet.
  }
  const { stations } = await import(TIDES)
  const text = JSON.stringify(stations.filter(({ kind }) => kind === 'tide').map(slim))
  const bytes = await promisify(brotliCompress)(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    },
  })
  try {
    mkdirSync(cache, { recursive: true })
    // Another compilation may read the file at the same moment.
    writeFileSync(`${kept}.${process.pid}`, bytes)
    renameSync(`${kept}.${process.pid}`, kept)
  } catch {
    // Installed packages that cannot be written to: it is made again the next time.
  }
  return bytes
}

/** A station that is not taken passes on only the reason: its licence may not allow more. */
function slim(station) {
  const { kind, id, type, license } = station
  if (type !== 'reference' || license?.commercial_use !== true) {
    return { kind, id, type, license: { commercial_use: license?.commercial_use } }
  }
  const { name, latitude, longitude, source, attribution, chart_datum, datums, harmonic_constituents } =
    station
  return {
    kind,
    id,
    type,
    license: { type: license.type, commercial_use: true },
    name,
    latitude,
    longitude,
    source: { name: source?.name, url: source?.url },
    attribution,
    chart_datum,
    datums: { MSL: datums?.MSL, ...(chart_datum !== undefined && { [chart_datum]: datums?.[chart_datum] }) },
    harmonic_constituents: harmonic_constituents?.map(({ name: constituent, amplitude, phase }) => ({
      name: constituent,
      amplitude,
      phase,
    })),
  }
}

/** The licences of what is vendored. */
function licences() {
  return licenceTexts([...vendoredPackages().keys()].map((name) => dirname(manifestOf(name))))
}

/** The licences of the packages in `folders`, which require that their text goes with them, and `more` texts. */
export function licenceTexts(folders, more = []) {
  const texts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file))
    const parts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
    return `${name} ${version}\n\n${parts.join('\n\n') || `Licence: ${license}`}\n`
  })
  return [...texts, ...more].join(`\n${'-'.repeat(80)}\n\n`)
}

/** The packages in `vendor/`, and why each is not installed. */
export function vendoredPackages() {
  const reasons = new Map()
  for (const [specifier, reason] of Object.entries(VENDORED)) {
    const name = packageOf(specifier)
    if (reasons.has(name)) continue
    reasons.set(name, reason)
    for (const brought of BROUGHT[name] ?? []) reasons.set(brought, `comes with \`${name}\``)
  }
  return reasons
}

/** The name of the package that an import names. */
function packageOf(specifier) {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Not by `require.resolve`: some packages do not export theirs. */
function manifestOf(name) {
  const folder = (require.resolve.paths(name) ?? [])
    .map((path) => join(path, name, 'package.json'))
    .find((path) => {
      try {
        return readFileSync(path).length > 0
      } catch {
        return false
      }
    })
  if (folder === undefined) throw new Error(`${name} is not installed`)
  return folder
}
