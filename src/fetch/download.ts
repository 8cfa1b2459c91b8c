/**
 * One download over HTTP. Nothing that a server says is believed: each step and the whole have a time limit,
 * the body has a size limit before and after decompression, redirects are few, and the body must look like
 * what was asked for before it replaces a file.
 */
import { renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable, Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { request, type Dispatcher } from 'undici'
import { randomName } from '../system/random-name.ts'
import type { Content } from '../sources/configuration-schema.ts'
import { NOT_PUBLIC } from './border.ts'

/** Temporary files begin with a dot, so that no adapter takes one for data. */
export const TEMPORARY_PREFIX = '.part-'

const MAX_REDIRECTS = 5
/** At the beginning of a body, to recognise what it is. */
const HEAD_BYTES = 1024

/** What the server said about a file when it sent it. */
export interface Validators {
  etag: string | null
  lastModified: string | null
}

export interface DownloadRequest {
  url: string
  /** Where the file goes; its folder exists. */
  path: string
  content: Content
  maxBytes: number
  headers: { readonly [name: string]: string }
  query: { readonly [name: string]: string }
  /** Of the file at `path`; null to ask for it anew. */
  validators: Validators | null
  /** The way to a URL that is `first` or that a redirect of it names. @throws NotPublicError */
  way: (url: URL, first: URL) => Dispatcher
  /** Ends it; its reason is a DownloadError. */
  signal: AbortSignal
}

export type DownloadResult = { state: 'unchanged' } | ({ state: 'fetched'; bytes: number } & Validators)

/** A download that failed; the message holds neither headers nor secret parameters. */
export class DownloadError extends Error {
  override name = 'DownloadError'
  /** HTTP status; null where there was no answer. */
  readonly status: number | null
  /** Whether the same request may succeed later. */
  readonly passing: boolean
  /** Seconds that the server asked to wait. */
  readonly retryAfter: number

  constructor(
    message: string,
    { status = null, passing = false, retryAfter = 0 }: Partial<DownloadError> = {},
  ) {
    super(message)
    this.status = status
    this.passing = passing
    this.retryAfter = retryAfter
  }
}

const PASSING_STATUS = new Set([408, 425, 429, 500, 502, 503, 504])

const NOT_PUBLIC_REASON =
  'leads to an address that is not public; "private": true at its host in "hosts" allows it'

/** Faults of our own disk, not of the server. */
const FILE_CODES = new Set([
  'EACCES',
  'EDQUOT',
  'EFBIG',
  'EIO',
  'EISDIR',
  'EMFILE',
  'ENOENT',
  'ENOSPC',
  'EROFS',
])

const UNDICI_REASONS: { readonly [code: string]: string } = {
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped coming',
  UND_ERR_SOCKET: 'the connection was cut',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer has another length than it said',
  UND_ERR_HEADERS_OVERFLOW: 'the headers are too large',
}

/**
 * Downloads a file, or leaves the present one when the server says that it is unchanged. A failure leaves the
 * present file as it was.
 * @throws DownloadError
 */
export async function download(wanted: DownloadRequest): Promise<DownloadResult> {
  const { signal } = wanted
  try {
    const { response, body } = await follow(wanted)
    if (response.statusCode === 304 && wanted.validators !== null) {
      await body.dump()
      return { state: 'unchanged' }
    }
    if (response.statusCode !== 200) {
      drop(body)
      throw new DownloadError(`HTTP status ${response.statusCode}`, {
        status: response.statusCode,
        passing: PASSING_STATUS.has(response.statusCode),
        retryAfter: secondsOf(response.headers['retry-after']),
      })
    }
    const bytes = await store(wanted, response, body)
    return {
      state: 'fetched',
      bytes,
      etag: single(response.headers.etag),
      lastModified: single(response.headers['last-modified']),
    }
  } catch (error) {
    if (error instanceof DownloadError) throw error
    signal.throwIfAborted()
    const { code } = error as { code?: unknown }
    if (code === NOT_PUBLIC) throw new DownloadError(NOT_PUBLIC_REASON)
    if (typeof code === 'string' && FILE_CODES.has(code))
      throw new DownloadError(`cannot be written (${code})`)
    throw new DownloadError(reasonOf(error), { passing: true })
  }
}

/** Codes and fixed words only: an error's own message may quote what the server sent. */
function reasonOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } }
  const word = typeof code === 'string' ? code : cause?.code
  if (typeof word !== 'string') return 'the answer is not valid HTTP'
  if (word.startsWith('HPE_')) return 'the answer is not valid HTTP'
  if (word.startsWith('Z_')) return 'the compressed answer is damaged'
  return UNDICI_REASONS[word] ?? word
}

type Response = Awaited<ReturnType<typeof request>>

/** Sends the request, and follows redirects that neither leave HTTPS nor take a secret to another host. */
async function follow(wanted: DownloadRequest): Promise<{ response: Response; body: Response['body'] }> {
  const first = new URL(wanted.url)
  for (const [name, value] of Object.entries(wanted.query)) first.searchParams.set(name, value)
  let url = first
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await request(url, {
      dispatcher: wanted.way(url, first),
      signal: wanted.signal,
      headers: {
        'user-agent': 'groundswell',
        'accept-encoding': 'gzip',
        ...(url.origin === first.origin && wanted.headers),
        ...conditions(wanted.validators),
      },
    })
    const { statusCode, headers, body } = response
    const location = single(headers.location)
    if (![301, 302, 303, 307, 308].includes(statusCode) || location === null) return { response, body }
    drop(body)
    const next = URL.canParse(location, url.href) ? new URL(location, url) : null
    if (next === null || (next.protocol !== url.protocol && next.protocol !== 'https:')) {
      throw new DownloadError('redirected to where it does not go', { status: statusCode })
    }
    url = next
  }
  throw new DownloadError(`redirected more than ${MAX_REDIRECTS} times`)
}

function conditions(validators: Validators | null): { [name: string]: string } {
  return {
    ...(validators?.etag != null && { 'if-none-match': validators.etag }),
    ...(validators?.lastModified != null && { 'if-modified-since': validators.lastModified }),
  }
}

/** Ends an answer whose body is not wanted, and swallows the error that this raises. */
function drop(body: Response['body']): void {
  body.on('error', () => {})
  body.destroy()
}

function single(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && header.length <= 1000 ? header : null
}

/** `Retry-After` where it is a number of seconds, else 0. */
function secondsOf(header: string | string[] | undefined): number {
  const text = single(header) ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) : 0
}

/** Writes the body beside the file, inspects it, and replaces the file with it. Returns the file's bytes. */
async function store(wanted: DownloadRequest, response: Response, body: Response['body']): Promise<number> {
  const { path, maxBytes, signal } = wanted
  const encoding = single(response.headers['content-encoding'])?.toLowerCase() ?? 'identity'
  if (encoding !== 'identity' && encoding !== 'gzip' && encoding !== 'x-gzip') {
    drop(body)
    throw new DownloadError('comes in an encoding that was not asked for')
  }
  const said = single(response.headers['content-length'])
  const length = said === null ? null : Number(said)
  if (length !== null && length > maxBytes) {
    drop(body)
    throw tooLarge(maxBytes)
  }
  const temporary = join(
    dirname(path),
    `${TEMPORARY_PREFIX}${randomName()}-${path.slice(dirname(path).length + 1)}`,
  )
  const received = counter(maxBytes)
  const stored = counter(maxBytes)
  // Opened before anything can fail: an open under way would make the file again after its removal.
  const file = await open(temporary, 'w', 0o644)
  try {
    await pipeline(
      [
        body as Readable,
        received.stream,
        ...(encoding === 'identity' ? [] : [createGunzip()]),
        stored.stream,
        file.createWriteStream({ flush: true }),
      ],
      { signal },
    )
    if (length !== null && received.bytes() !== length) {
      throw new DownloadError('the answer has another length than it said', { passing: true })
    }
    await inspect(temporary, wanted)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  return stored.bytes()
}

function tooLarge(maxBytes: number): DownloadError {
  return new DownloadError(`has more than ${maxBytes} bytes`)
}

/**
 * Lets bytes through up to a limit: what a small compressed body expands to reaches the disk only up to it.
 */
function counter(maxBytes: number): { stream: Transform; bytes: () => number } {
  let bytes = 0
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > maxBytes) done(tooLarge(maxBytes))
      else done(null, chunk)
    },
  })
  return { stream, bytes: () => bytes }
}

/**
 * Refuses a file that is not what was asked for: error pages come with status 200, too. @throws DownloadError
 */
async function inspect(file: string, { content, maxBytes, signal }: DownloadRequest): Promise<void> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    let head = buffer.subarray(0, bytesRead)
    if (head[0] === 0x1f && head[1] === 0x8b) {
      const chunks: Buffer[] = []
      const expanded = counter(maxBytes)
      const sink = new Writable({
        write(chunk: Buffer, _encoding, done) {
          if (chunks.length === 0) chunks.push(chunk.subarray(0, HEAD_BYTES))
          done()
        },
      })
      await pipeline(
        [handle.createReadStream({ start: 0, autoClose: false }), createGunzip(), expanded.stream, sink],
        {
          signal,
        },
      )
      head = Buffer.concat(chunks)
    }
    const fault = contentFault(head, content)
    if (fault !== null) throw new DownloadError(fault)
  } finally {
    await handle.close()
  }
}

/** Why a body cannot be `content`, by its first bytes; null where it may be. */
export function contentFault(head: Uint8Array, content: Content): string | null {
  if (head.length === 0) return 'the answer is empty'
  if (content === 'any') return null
  const start = Buffer.from(head)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
  if (content === 'netcdf') {
    // Classic NetCDF in three versions, and NetCDF-4, which is HDF5.
    const isRight = (start.startsWith('CDF') && [1, 2, 5].includes(head[3])) || start.startsWith('\x89HDF')
    return isRight ? null : 'the answer is not a NetCDF file'
  }
  if (/^<(!doctype\s+html|html|head|body|\?php)/i.test(start)) return 'the answer is a web page'
  if (start.includes('\0')) return `the answer is not ${content}`
  const isRight =
    content === 'json'
      ? /^[[{]/.test(start)
      : content === 'xml'
        ? start.startsWith('<')
        : !start.startsWith('<')
  return isRight ? null : `the answer is not ${content}`
}
