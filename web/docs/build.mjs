// Makes the documentation page: a page around the one file of Scalar, which npm fetches once and which is
// kept beside the installed packages. As a dependency Scalar would bring some four hundred others. Where the
// file cannot be fetched, the page says so and links the description.
import { execFile } from 'node:child_process'
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
import { promisify } from 'node:util'
import { asset, hashed, page, withNames } from '../site.build.mjs'

const here = dirname(fileURLToPath(import.meta.url))

/** The page has the explorer's colours and head. */
const EXPLORER_SHEETS = ['tokens', 'header'].map((name) =>
  join(dirname(here), 'explorer', 'styles', `${name}.css`),
)

export const SCALAR = {
  package: '@scalar/api-reference@1.72.1',
  file: 'package/dist/browser/standalone.js',
  // The hash of that file: wherever it comes from, only these bytes run in visitors' browsers.
  sha512:
    'b54dc9e1eb84a3995720ccb8d871782944ddba777300cb87a0ec366745aab8d01b76280b55d0323863c92680a686248d5519d281f36a6c1d5576221f3404c432',
  // The package names its licence without its text.
  notice:
    '/*! Scalar API Reference 1.72.1, MIT License, Copyright (c) 2023-present Scalar, ' +
    'https://github.com/scalar/scalar */\n',
}

/** Scalar tries whether it may evaluate text; the page's policy refuses that, and browsers report it. */
const BEFORE_SCALAR = 'globalThis.__zod_globalConfig = { jitless: true };\n'

/** Time that npm waits for an answer of the registry. */
const ANSWER_TIMEOUT_MS = 4000
/** Time for the whole fetch: 11 MB on a slow line. */
const FETCH_TIMEOUT_MS = 60_000

/** Scalar's script sets styles. Only our scripts run, and the page asks no other server. */
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
 * The files of the part `docs`. Without a network the page is a plain one, and `isWhole` is false.
 * @param {(line: string) => void} say is given why the page is a plain one
 * @param {string} [cache] folder for the fetched file
 */
export async function build(
  say,
  cache = join(dirname(dirname(here)), 'node_modules', '.cache', 'groundswell'),
) {
  let scalar = null
  try {
    scalar = await scalarFile(cache)
  } catch (error) {
    say(
      `the documentation page is a plain one, as ${SCALAR.package} cannot be fetched: ${error.message}; the next build tries again`,
    )
  }
  return { files: pageFiles(scalar), isWhole: scalar !== null }
}

/** @param {Uint8Array | null} scalar null for the plain page */
function pageFiles(scalar) {
  const sheets = [...EXPLORER_SHEETS, join(here, 'page.css')].map((sheet) => readFileSync(sheet))
  const read = (name) => readFileSync(join(here, name))
  const sources = [
    ['docs.css', Buffer.concat(sheets)],
    ['demo.js', read('demo.js')],
  ]
  if (scalar !== null) {
    const code = new TextDecoder().decode(scalar).replace(/\/\/# sourceMappingURL=\S+\s*$/, '')
    sources.push(
      ['scalar.js', Buffer.from(SCALAR.notice + BEFORE_SCALAR + code)],
      ['start.js', read('start.js')],
    )
  }
  const files = sources.map(([name, bytes]) => asset('/docs/', hashed(name, bytes), bytes))
  const names = files.map(({ file }) => file)
  const text = withNames(read(scalar === null ? 'plain.html' : 'page.html').toString(), names)
  // All addresses are relative, since a proxy may take a prefix off. The page is there also for those who
  // write a slash after its name.
  const pageAt = (path, file, up) => page(path, file, text.replaceAll('{{up}}', up), CONTENT_SECURITY_POLICY)
  return [pageAt('/docs', 'docs.html', './'), pageAt('/docs/', 'docs-slash.html', '../'), ...files]
}

/** The one file, from the cache or else from npm. @throws Error saying why it cannot be fetched */
async function scalarFile(cache) {
  const kept = join(cache, 'scalar-1.72.1.js')
  if (existsSync(kept)) {
    const bytes = readFileSync(kept)
    if (isGenuine(bytes)) return bytes
  }
  const folder = mkdtempSync(join(tmpdir(), 'groundswell-docs-'))
  const clear = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', clear)
  try {
    await pack(folder)
    const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))
    if (archive === undefined) throw new Error('npm wrote no archive')
    await run('tar', ['-xzf', archive, SCALAR.file], { cwd: folder })
    const bytes = readFileSync(join(folder, SCALAR.file))
    if (!isGenuine(bytes)) throw new Error('the file is not the expected one: its SHA-512 differs')
    mkdirSync(cache, { recursive: true })
    // Another build may read the file at the same moment.
    writeFileSync(`${kept}.${process.pid}`, bytes)
    renameSync(`${kept}.${process.pid}`, kept)
    return bytes
  } finally {
    clear()
    process.off('exit', clear)
  }
}

const isGenuine = (bytes) => createHash('sha512').update(bytes).digest('hex') === SCALAR.sha512

const run = promisify(execFile)

/** Lets npm, which knows registries, proxies and its own cache, put the package's archive into `folder`. */
async function pack(folder) {
  const options = [
    '--ignore-scripts',
    '--fetch-retries=0',
    `--fetch-timeout=${ANSWER_TIMEOUT_MS}`,
    '--loglevel=error',
  ]
  const how = { cwd: folder, timeout: FETCH_TIMEOUT_MS, shell: process.platform === 'win32' }
  try {
    await run('npm', ['pack', SCALAR.package, `--pack-destination=${folder}`, ...options], how)
  } catch (cause) {
    const reason = /npm (?:error|ERR!) (?!code|errno|syscall|A complete)(.+)/.exec(cause.stderr ?? '')?.[1]
    throw new Error(reason ?? 'npm took too long', { cause })
  }
}
