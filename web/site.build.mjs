// Builds the static files of the site, in one folder for each part: the files that the part's `build.mjs`
// makes, and their compressed bytes. Plain JavaScript, because it runs before anything is compiled.
// `server/static-files.ts` has the format of the folders.
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
 * A file that a part makes: its entry in `files.json`, and its bytes. `file` is a name without a folder.
 * @typedef {import('../src/server/static-files.ts').SiteEntry & { bytes: Uint8Array }} BuiltFile
 */

/**
 * Builds all parts below `target`. A part with unchanged sources is copied from `previous`, since compressing
 * takes seconds. A part is not whole if something could not be fetched; it is built anew the next time.
 * Resolves to whether all parts are whole.
 * @param {string} target
 * @param {string} previous
 * @param {(part: string) => void} onBuild is given each part that is built and not copied, before it is
 */
export async function buildSite(target, previous, onBuild) {
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
    onBuild(part)
    const { build } = await import(pathToFileURL(script).href)
    const { files, isWhole } = await build()
    await writePart(made, files)
    if (isWhole) writeFileSync(join(made, 'stamp'), stamp)
    else allWhole = false
  }
  return allWhole
}

/** A hash over all that decides a part: its sources, this file and the versions of all packages. */
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
 * For files above this size the highest quality takes 5 s, and saves a tenth over quality 9, which takes 0.3
 * s.
 */
const LARGE_BYTES = 1_000_000
const QUALITY_OF_LARGE = 9

const compressors = {
  '.br': (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]:
          bytes.length > LARGE_BYTES ? QUALITY_OF_LARGE : constants.BROTLI_MAX_QUALITY,
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
    // The server fills in a template at start, so it cannot be compressed here.
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
