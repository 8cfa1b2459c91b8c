/**
 * Static files as threads share them: read once and compressed once, in the main thread. `dist/site/PART/`
 * has the files of a part, some with `.br` and `.gz`, and `files.json`, a list of `SiteEntry`.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { KEPT } from '../http/exchange.ts'
import { EMBED_PATH, type SharedSite, type Variant } from '../http/static-site.ts'

export interface StaticFile {
  /** Absolute and exact, as in `/docs`: no file stands for a folder. */
  path: string
  /** The whole value of `Content-Type`. */
  type: string
  bytes: Uint8Array
  /** `immutable` where the name changes with the bytes, `revalidate` where the name stays. */
  cache: 'immutable' | 'revalidate'
  contentSecurityPolicy?: string
  link?: string
  /** With further headers, each after a CRLF; 200 OK if not given. */
  status?: string
  /** The bytes compressed beforehand, where that would take too long at start. */
  compressed?: { readonly [encoding in Compression]?: Uint8Array }
}

export interface SiteEntry {
  path: string
  file: string
  type: string
  cache: StaticFile['cache']
  contentSecurityPolicy?: string
  /** The text has marks such as `{{base_path}}`, for which the server puts in its `PageValues`. */
  template?: true
}

/** The first is for clients that take anything. Zstd saves less than Brotli, and no more clients take it. */
const COMPRESSIONS: readonly Compression[] = ['br', 'gzip']
type Compression = NonNullable<Variant['encoding']>
const COMPRESSION_ENDINGS: { readonly [encoding in Compression]: string } = { br: '.br', gzip: '.gz' }

/** Less than a tenth is not worth the client's work: images are compressed already. */
const WORTHWHILE = 0.9
/**
 * The description, 300 KB, takes 7 ms at this level, 33 ms at 9 for 3% less, and 400 ms at 11, which the
 * build uses.
 */
const BROTLI_QUALITY = 6

const MARK = /\{\{(base_path|explorer|refresh|contact|embed|map_style|public_url|title|logo|accent)\}\}/g

/** Values of the marks of pages, such as `{{base_path}}`. */
export interface PageValues {
  base_path: string
  /** Whether the pages may read without a key. */
  explorer: 'open' | 'keyed'
  /** Seconds between two scheduled builds; 0 where none are scheduled. */
  refresh: string
  /** Who issues keys; may be ''. */
  contact: string
  /** '' where only pages of this server may show a buoy in a frame. */
  embed: string
  /** Address of the map's style; '' for the page's own. */
  map_style: string
  /** Origin of the server; '' where it is not known. */
  public_url: string
  /** What the pages are called. */
  title: string
  /** Address of the operator's logo below the root; '' for none. */
  logo: string
  /** The operator's colour, `#rrggbb`; '' for the usual one. */
  accent: string
}

/** The style's address, and the origins of it and of all that it names. */
export interface MapStyle {
  /** An `https://` address or a path from the root. */
  readonly address: string
  readonly origins: readonly string[]
}

/** The list is empty where no pages were built. @throws Error when a list or a file cannot be read */
export function readSite(folder: string, values: PageValues): StaticFile[] {
  const parts = existsSync(folder) ? readdirSync(folder).toSorted() : []
  return parts.flatMap((name) => {
    const part = join(folder, name)
    const entries = JSON.parse(readFileSync(join(part, 'files.json'), 'utf8')) as SiteEntry[]
    return entries.map((entry) => readEntry(part, entry, values))
  })
}

function readEntry(part: string, { file, template, ...entry }: SiteEntry, values: PageValues): StaticFile {
  const bytes = readFileSync(join(part, file))
  if (template === true) {
    const text = bytes
      .toString('utf8')
      .replaceAll(MARK, (_mark, name: string) => htmlText(values[name as keyof PageValues]))
    return { ...entry, bytes: Buffer.from(text) }
  }
  const compressed: { [encoding in Compression]?: Uint8Array } = {}
  for (const encoding of COMPRESSIONS) {
    const path = join(part, file + COMPRESSION_ENDINGS[encoding])
    if (existsSync(path)) compressed[encoding] = readFileSync(path)
  }
  return { ...entry, bytes, compressed }
}

/** Escapes text for HTML, within quotation marks too. */
function htmlText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** @throws Error when two files have one path */
export function shareSite(files: readonly StaticFile[]): SharedSite {
  const forms = files.map((file) => formsOf(file))
  const length = forms.flat().reduce((sum, { bytes }) => sum + bytes.length, 0)
  const memory = new SharedArrayBuffer(length)
  const target = new Uint8Array(memory)
  let at = 0
  const paths = new Set<string>()
  const shared = files.map((file, i) => {
    if (paths.has(file.path)) throw new Error(`two files of the site have the path ${file.path}`)
    paths.add(file.path)
    const hash = createHash('sha256').update(file.bytes).digest('base64url').slice(0, 22)
    const variants = forms[i].map(({ encoding, bytes }) => {
      const start = at
      target.set(bytes, start)
      at += bytes.length
      // Strong, so each form has its own (RFC 9110, 8.8.3.3).
      const etag = `"${hash}${encoding === null ? '' : `-${encoding}`}"`
      const head = `${file.status ?? '200 OK'}${headersOf(file, etag)}${encoding === null ? '' : `\r\nContent-Encoding: ${encoding}`}`
      return { encoding, etag, head, start, end: at }
    })
    return { path: file.path, variants, notModified: `304 Not Modified${cachingOf(file)}` }
  })
  return { memory, files: shared }
}

/** The plain bytes and what is shorter, the plain ones last. */
function formsOf({ bytes, compressed }: StaticFile): { encoding: Compression | null; bytes: Uint8Array }[] {
  const made = compressed ?? {
    br: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    gzip: gzipSync(bytes),
  }
  const shorter = COMPRESSIONS.flatMap((encoding) => {
    const form = made[encoding]
    return form !== undefined && form.length < bytes.length * WORTHWHILE ? [{ encoding, bytes: form }] : []
  })
  return [...shorter, { encoding: null, bytes }]
}

const CACHE_CONTROL: { readonly [cache in StaticFile['cache']]: string } = {
  immutable: 'public, max-age=31536000, immutable',
  revalidate: 'no-cache',
}

/** Headers that a 304 repeats of the 200 (RFC 9110, 15.4.5), but for the ETag. */
function cachingOf({ cache }: StaticFile): string {
  return `${KEPT}\r\nCache-Control: ${CACHE_CONTROL[cache]}\r\nVary: Accept-Encoding\r\nAccess-Control-Allow-Origin: *`
}

function headersOf(file: StaticFile, etag: string): string {
  return (
    `\r\nContent-Type: ${file.type}\r\nETag: ${etag}${cachingOf(file)}` +
    '\r\nX-Content-Type-Options: nosniff' +
    // An address may hold what a visitor looks at, which is nobody else's business.
    '\r\nReferrer-Policy: no-referrer' +
    (file.link === undefined ? '' : `\r\nLink: ${file.link}`) +
    (file.contentSecurityPolicy === undefined
      ? ''
      : `\r\nContent-Security-Policy: ${file.contentSecurityPolicy}` +
        // Where others may show a page, only the policy can name them.
        (file.path === EMBED_PATH ? '' : '\r\nX-Frame-Options: DENY') +
        '\r\nCross-Origin-Opener-Policy: same-origin')
  )
}

/** The explorer's page with a policy that lets it ask these servers. */
export function allowServers(file: StaticFile, { origins }: MapStyle): StaticFile {
  const { contentSecurityPolicy: policy } = file
  if (file.path !== '/' || policy === undefined) return file
  const directives = policy
    .split('; ')
    .map((directive) =>
      /^(connect|img)-src /.test(directive) ? [directive, ...origins].join(' ') : directive,
    )
  return { ...file, contentSecurityPolicy: directives.join('; ') }
}

/** The page of one buoy with a policy that lets this server's own pages and these sites show it. */
export function allowFrames(file: StaticFile, origins: readonly string[]): StaticFile {
  const { contentSecurityPolicy: policy } = file
  if (file.path !== EMBED_PATH || policy === undefined) return file
  const ancestors = ["frame-ancestors 'self'", ...origins].join(' ')
  return { ...file, contentSecurityPolicy: policy.replace("frame-ancestors 'none'", ancestors) }
}
