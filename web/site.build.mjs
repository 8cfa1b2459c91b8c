// Builds the static files of the site, in one folder for each part: the files that the part's `build.mjs`
// makes, and their compressed bytes. Plain JavaScript, because it runs before anything is compiled.
// `server/static-files.ts` has the format of the folders.
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { isNewerThan } from '../tools/newer.mjs'

const source = dirname(fileURLToPath(import.meta.url))

/** Folders with a `build.mjs` that exports `build(say): Promise<{ files, isWhole }>`. */
const PARTS = ['explorer', 'docs']

/**
 * A file that a part makes: its entry in `files.json`, and its bytes. `file` is a name without a folder.
 * @typedef {import('../src/server/static-files.ts').SiteEntry & { bytes: Uint8Array }} BuiltFile
 */

const TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
  png: 'image/png',
  webmanifest: 'application/manifest+json',
  txt: 'text/plain; charset=utf-8',
  pbf: 'application/vnd.mapbox-vector-tile',
}

/** As esbuild puts it into names. */
const HASH = /-[0-9A-Z]{8}(?=\.\w+$)/

/** The name of a file with a hash of its bytes, by which browsers keep it for a year. */
export function hashed(name, bytes) {
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8).toUpperCase()
  return name.replace(/(?=\.\w+$)/, `-${hash}`)
}

/**
 * A file of a part, `file` being its name with a hash.
 * @param {string} folder its path up to the name
 * @returns {BuiltFile}
 */
export function asset(folder, file, bytes) {
  return { path: `${folder}${file}`, file, type: typeOf(file), cache: 'immutable', bytes }
}

const typeOf = (file) => TYPES[file.slice(file.lastIndexOf('.') + 1)]

/** A page of a part. @returns {BuiltFile} */
export function page(path, file, text, contentSecurityPolicy) {
  const bytes = Buffer.from(text)
  return { path, file, type: typeOf(file), cache: 'revalidate', contentSecurityPolicy, template: true, bytes }
}

/** A text with the names of `files`, which have hashes, in place of marks such as `{{main.js}}`. */
export function withNames(text, files) {
  const names = new Map(files.map((file) => [file.replace(HASH, ''), file]))
  return text.replaceAll(/\{\{([\w*-]+\.\w+)\}\}/g, (_, name) => names.get(name))
}

/**
 * Builds all parts below `target`. A part that is newer than its sources is copied from `cache`, since
 * compressing takes seconds. A part lacks something if that could not be fetched; it is built again the next
 * time.
 * @param {string} target
 * @param {string} cache
 * @param {(line: string) => void} say is given a line before a part is built and not copied, and where it
 * lacks something
 * @param {boolean} isQuick whether to compress in a tenth of the time, to a tenth more bytes, unless better
 * ones are kept
 */
export async function buildSite(target, cache, say, isQuick) {
  const kept = PARTS.map((part) => keptPart(part, cache, isQuick))
  if (!isQuick && !kept.every(isCurrent)) say('building the pages, once for each change of them')
  await Promise.all(
    kept.map((folder, i) => buildPart(PARTS[i], join(target, PARTS[i]), folder, say, isQuick)),
  )
}

/** Whether `buildSite` has nothing to do but to copy. */
export const isSiteKept = (cache) => PARTS.every((part) => isCurrent(keptPart(part, cache, true)))

function keptPart(part, cache, isQuick) {
  const best = join(cache, `site-${part}`)
  return isQuick && !isCurrent(best) ? `${best}-quick` : best
}

async function buildPart(part, made, kept, say, isQuick) {
  if (isCurrent(kept)) {
    cpSync(kept, made, { recursive: true })
    return
  }
  const began = new Date()
  const { build } = await import(pathToFileURL(join(source, part, 'build.mjs')).href)
  const { files, isWhole } = await build(say)
  await writePart(made, files, isQuick)
  if (!isWhole) return
  const cache = dirname(kept)
  mkdirSync(cache, { recursive: true })
  const fresh = mkdtempSync(join(cache, 'fresh-'))
  cpSync(made, fresh, { recursive: true })
  // What changes meanwhile is not in it.
  utimesSync(fresh, began, began)
  // Another build may put its own there meanwhile, which a third one may be copying.
  try {
    if (!isCurrent(kept)) rmSync(kept, { recursive: true, force: true })
    renameSync(fresh, kept)
  } catch {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/**
 * Whether a kept part was built after the last change of all that decides any part. `npm ci` clears the
 * cache.
 */
const isCurrent = (folder) => isNewerThan(folder, ['web', 'clients', 'tools', 'package-lock.json'])

/**
 * The quality of brotli for files of at most this many bytes. A higher one would take seconds in all, and
 * save a fiftieth of the next two sizes.
 */
const QUALITIES = [
  [200_000, 11],
  [1_000_000, 10],
  [Infinity, 9],
]
const QUICK_QUALITY = 5

const compressors = {
  '.br': (bytes, isQuick) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: isQuick
          ? QUICK_QUALITY
          : QUALITIES.find(([most]) => bytes.length <= most)[1],
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      },
    }),
  '.gz': (bytes) => promisify(gzip)(bytes, { level: 9 }),
}

/** @param {string} folder @param {BuiltFile[]} files @param {boolean} isQuick */
async function writePart(folder, files, isQuick) {
  mkdirSync(folder, { recursive: true })
  const written = files.map(async ({ bytes, ...entry }) => {
    if (entry.file !== basename(entry.file)) throw new Error(`${entry.file} is not a plain name`)
    writeFileSync(join(folder, entry.file), bytes)
    // The server fills in a template at start, so it cannot be compressed here.
    if (entry.template === true) return
    for (const [ending, compress] of Object.entries(compressors)) {
      const compressed = await compress(bytes, isQuick)
      if (compressed.length < bytes.length) writeFileSync(join(folder, entry.file + ending), compressed)
    }
  })
  await Promise.all(written)
  const entries = files.map(({ bytes: _bytes, ...entry }) => entry)
  writeFileSync(join(folder, 'files.json'), `${JSON.stringify(entries, null, 1)}\n`)
}
