// Builds the static files of the site, below one folder for each part: what a part's `build.mjs` gives,
// compressed as far as it goes. Plain JavaScript, as it runs before anything is compiled. Format of the
// folders: `serving/site.ts`.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const source = dirname(fileURLToPath(import.meta.url))

/** Folders with a `build.mjs` that exports `build(): Promise<{ files, isWhole }>`. */
const PARTS = ['explorer', 'docs']

/**
 * A file that a part gives: what stands in `files.json`, and its bytes. `file` is without a folder.
 * @typedef {import('./serving/site.ts').SiteEntry & { bytes: Uint8Array }} BuiltFile
 */

/**
 * Builds all parts below `target`. A part whose sources are those of the one in `previous` is taken over from
 * there: compressing takes seconds. One that says it is not whole (something could not be fetched) is built
 * anew the next time. Resolves to whether all are whole.
 * @param {string} target
 * @param {string} previous
 */
export async function buildSite(target, previous) {
  let allWhole = true
  for (const part of PARTS) {
    const script = join(source, part, 'build.mjs')
    if (!existsSync(script)) continue
    const [made, old] = [join(target, part), join(previous, part)]
    const stamp = stampOf(part)
    const stampFile = join(old, 'stamp')
    if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) {
      cpSync(old, made, { recursive: true })
      continue
    }
    const { build } = await import(pathToFileURL(script).href)
    const { files, isWhole } = await build()
    await writePart(made, files)
    if (isWhole) writeFileSync(join(made, 'stamp'), stamp)
    else allWhole = false
  }
  return allWhole
}

/** A hash over what a part is made of: its sources, this file and the versions of all packages. */
function stampOf(part) {
  const hash = createHash('sha256')
  const files = readdirSync(join(source, part), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
  const lock = join(dirname(source), 'package-lock.json')
  for (const file of [...files, fileURLToPath(import.meta.url), ...(existsSync(lock) ? [lock] : [])]) {
    hash
      .update(`${file.slice(source.length)}\0`)
      .update(readFileSync(file))
      .update('\0')
  }
  return hash.digest('hex')
}

/**
 * The highest quality takes 5 s for the largest file, and makes a tenth less of it than this one does in 0.3
 * s.
 */
const LARGE = 1_000_000
const QUALITY_OF_LARGE = 9

const compressors = {
  '.br': (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]:
          bytes.length > LARGE ? QUALITY_OF_LARGE : constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      },
    }),
  '.gz': (bytes) => promisify(gzip)(bytes, { level: 9 }),
}

/** @param {string} folder @param {BuiltFile[]} files */
async function writePart(folder, files) {
  mkdirSync(folder, { recursive: true })
  const written = files.map(async ({ bytes, ...entry }) => {
    if (entry.file !== basename(entry.file)) throw new Error(`${entry.file} is not a plain name`)
    writeFileSync(join(folder, entry.file), bytes)
    // A template gets its last bytes at start.
    if (entry.template === true) return
    for (const [ending, compress] of Object.entries(compressors)) {
      const compressed = await compress(bytes)
      if (compressed.length < bytes.length) writeFileSync(join(folder, entry.file + ending), compressed)
    }
  })
  await Promise.all(written)
  const entries = files.map(({ bytes: _bytes, ...entry }) => entry)
  writeFileSync(join(folder, 'files.json'), `${JSON.stringify(entries, null, 1)}\n`)
}
