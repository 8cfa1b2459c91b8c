/**
 * One download over HTTP from an untrusted server: time limits for each step and the whole, size limits
 * before and after decompression, few redirects, and a look at the body before it replaces a file.
 */
import { renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Content } from '../../sources/configuration-schema.ts'
import {
  RequestFault,
  statusFault,
  type WebAnswer,
  type WebClient,
} from '../../snapshot/store/web-request.ts'
import { TEMPORARY_PREFIX } from '../../snapshot/write-snapshot.ts'
import { errorCode } from '../../system/file-faults.ts'
import { randomName } from '../../system/replace-file.ts'

const MAX_REDIRECTS = 5
const HEAD_BYTES = 1024
/** A longer validator is not kept. */
const MAX_VALIDATOR_LENGTH = 1000

export interface Validators {
  etag: string | null
  lastModified: string | null
}

export interface DownloadRequest {
  url: string
  path: string
  content: Content
  maxBytes: number
  headers: { readonly [name: string]: string }
  query: { readonly [name: string]: string }
  /** Validators of the file at `path`; null to fetch it in any case. */
  validators: Validators | null
  /** The client for a URL: `first`, or where it redirects to. @throws where nobody may ask the URL */
  clientOf: (url: URL, first: URL) => WebClient
  /** Ends the download; its reason is a RequestFault. */
  signal: AbortSignal
}

type DownloadResult = { state: 'unchanged' } | ({ state: 'fetched'; bytes: number } & Validators)

/**
 * Downloads a file, or leaves the present one when it is unchanged or the download fails.
 * @throws RequestFault, with neither headers nor secret parameters in its message; faults of our own disk
 */
export async function download(wanted: DownloadRequest): Promise<DownloadResult> {
  const answer = await follow(wanted)
  const { status, headers } = answer
  if (status === 304 && wanted.validators !== null) return { state: 'unchanged' }
  if (status !== 200) throw statusFault(`HTTP status ${status}`, answer)
  try {
    const bytes = await store(wanted, answer)
    return {
      state: 'fetched',
      bytes,
      etag: validator(headers.etag),
      lastModified: validator(headers['last-modified']),
    }
  } catch (error) {
    wanted.signal.throwIfAborted()
    if (!errorCode(error).startsWith('Z_')) throw error
    throw new RequestFault('the compressed answer is damaged', { passing: true })
  } finally {
    answer.body.destroy()
  }
}

function validator(text: string | undefined): string | null {
  return text !== undefined && text.length <= MAX_VALIDATOR_LENGTH ? text : null
}

/** Sends the request; follows redirects that neither leave HTTPS nor take a secret to another host. */
async function follow(wanted: DownloadRequest): Promise<WebAnswer> {
  const { validators, signal } = wanted
  const first = new URL(wanted.url)
  for (const [name, value] of Object.entries(wanted.query)) first.searchParams.set(name, value)
  let url = first
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await wanted.clientOf(url, first).ask({
      url,
      headers: {
        'accept-encoding': 'gzip',
        ...(url.origin === first.origin && wanted.headers),
        ...(validators?.etag != null && { 'if-none-match': validators.etag }),
        ...(validators?.lastModified != null && { 'if-modified-since': validators.lastModified }),
      },
      signal,
    })
    const { location } = answer.headers
    if (![301, 302, 303, 307, 308].includes(answer.status) || location === undefined) return answer
    const next = URL.canParse(location, url.href) ? new URL(location, url) : null
    if (next === null || (next.protocol !== url.protocol && next.protocol !== 'https:')) {
      throw statusFault('redirects to an address that is not followed', answer)
    }
    answer.body.destroy()
    url = next
  }
  throw new RequestFault(`redirected more than ${MAX_REDIRECTS} times`)
}

/** Writes the body to a temporary file that replaces the file once inspected. Returns its bytes. */
async function store(wanted: DownloadRequest, { headers, body }: WebAnswer): Promise<number> {
  const { path, maxBytes, signal } = wanted
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (encoding !== 'identity' && encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new RequestFault('comes in an encoding that was not asked for')
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
  // Its name begins with a dot, so that no adapter takes it for data.
  const temporary = join(dirname(path), `${TEMPORARY_PREFIX}${randomName()}-${basename(path)}`)
  const stored = counter(maxBytes)
  // An open under way would make the file again after its removal, so it ends before anything can fail.
  const file = await open(temporary, 'w', 0o644)
  try {
    await pipeline(
      [
        body,
        counter(maxBytes).stream,
        ...(encoding === 'identity' ? [] : [createGunzip()]),
        stored.stream,
        file.createWriteStream({ flush: true }),
      ],
      { signal },
    )
    await inspect(temporary, wanted)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  return stored.bytes()
}

function tooLarge(maxBytes: number): RequestFault {
  return new RequestFault(`has more than ${maxBytes} bytes`)
}

/** Lets at most `maxBytes` through, so that no more of a small compressed body reaches the disk. */
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

/** Refuses a file that was not requested: error pages come with status 200, too. @throws RequestFault */
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
      const whole = handle.createReadStream({ start: 0, autoClose: false })
      await pipeline([whole, createGunzip(), expanded.stream, sink], { signal })
      head = Buffer.concat(chunks)
    }
    const fault = contentFault(head, content)
    if (fault !== null) throw new RequestFault(fault)
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
  const isRight = content === 'json' ? /^[[{]/.test(start) : start.startsWith('<') === (content === 'xml')
  return isRight ? null : `the answer is not ${content}`
}
