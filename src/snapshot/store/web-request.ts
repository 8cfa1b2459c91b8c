/**
 * The one way in which this program asks web servers: networks, mirrors and web stores. A request follows no
 * redirect. Each step has a limit of time, and a body one of rate.
 *
 * Messages hold codes and fixed words only: an error's own message may quote what a server sent.
 */
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PlainResponse, Request, TimeoutError } from 'got'
import { isPublic, literalAddress, NOT_PUBLIC, publicLookup } from './allowed-addresses.ts'

const MAX_HEADER_BYTES = 64 * 1024

/** All times in milliseconds. */
export interface RequestLimits {
  connectMs: number
  /** Time from the end of the request to the headers of the answer. */
  answerMs: number
  /** Between two pieces of a body. */
  stallMs: number
  /** A body may take `answerMs`, and the time that it needs at this rate; 0 for any time. */
  slowestBytesPerSecond: number
}

/** A request that failed, or an answer that cannot be used. */
export class RequestFault extends Error {
  override name = 'RequestFault'
  /** HTTP status; null where there was no answer, or where it broke off. */
  readonly status: number | null
  /** The server's own word for the fault, or the system's; null without one. */
  readonly code: string | null
  /** Whether the same request may succeed later. */
  readonly passing: boolean
  /** Seconds that the server asked to wait. */
  readonly retryAfter: number

  constructor(
    message: string,
    {
      status = null,
      code = null,
      passing = false,
      retryAfter = 0,
      cause,
    }: Partial<Pick<RequestFault, 'status' | 'code' | 'passing' | 'retryAfter'>> & { cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.code = code
    this.passing = passing
    this.retryAfter = retryAfter
  }
}

export interface WebAnswer {
  status: number
  /** Names in lower case. Only `set-cookie`, which nobody reads, may be a list. */
  headers: { readonly [name: string]: string | undefined }
  /**
   * The bytes as they come, still compressed. Fails with a RequestFault where they stop, come too slowly, or
   * end early. Read it or `destroy()` it.
   */
  body: Readable
}

export interface WebRequest {
  url: URL
  method?: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  headers?: { readonly [name: string]: string }
  /** What is sent; its length is in `headers`. */
  body?: Uint8Array | Readable | undefined
  signal?: AbortSignal | undefined
  /** What the messages of faults begin with. */
  prefix?: string
}

export class WebClient {
  readonly #limits: RequestLimits
  readonly #agent = {
    http: new HttpAgent({ keepAlive: true }),
    https: new HttpsAgent({ keepAlive: true }),
  }
  readonly #lookup: typeof publicLookup | undefined

  /** @param onlyPublic connects to public addresses only, whatever a name leads to */
  constructor(limits: RequestLimits, { onlyPublic = false } = {}) {
    this.#limits = limits
    this.#lookup = onlyPublic ? publicLookup : undefined
  }

  /** @throws RequestFault; what `signal` was aborted with */
  async ask(request: WebRequest): Promise<WebAnswer> {
    const { url, method = 'GET', headers, body: sent, signal } = request
    const { connectMs, answerMs, slowestBytesPerSecond } = this.#limits
    // What is sent may take as long as what comes.
    const sentBytes = sent === undefined ? 0 : Number(headers?.['content-length'] ?? 0)
    const sendMs = slowestBytesPerSecond === 0 ? 0 : (sentBytes / slowestBytesPerSecond) * 1000
    // It takes as long to load as all that a small command needs, and few commands ask a server.
    const { got } = await import('got')
    signal?.throwIfAborted()
    // An address is not looked up.
    const address = literalAddress(url)
    if (this.#lookup !== undefined && address !== null && !isPublic(address)) {
      throw faultOf({ code: NOT_PUBLIC }, request)
    }
    const stream = got.stream(url, {
      method,
      headers: { 'user-agent': 'groundswell', 'accept-encoding': 'identity', ...headers },
      agent: this.#agent,
      dnsLookup: this.#lookup as never,
      maxHeaderSize: MAX_HEADER_BYTES,
      timeout: {
        lookup: connectMs,
        connect: connectMs,
        secureConnect: connectMs,
        response: answerMs,
        ...(sent !== undefined && { send: answerMs + sendMs }),
      },
      retry: { limit: 0 },
      followRedirect: false,
      throwHttpErrors: false,
      decompress: false,
      ...(sent !== undefined && { body: sent as Uint8Array }),
      ...(signal !== undefined && { signal }),
    })
    try {
      const { statusCode: status, headers: received } = await new Promise<PlainResponse>(
        (resolve, reject) => {
          stream.once('response', resolve)
          // The listener stays, so that a late error does not end the process.
          stream.on('error', reject)
        },
      )
      const body = Readable.from(this.#pieces(stream, request), { objectMode: false })
      body.on('error', () => {})
      body.once('close', () => stream.destroy())
      // The answer has no body, and its connection can be used again.
      if (status === 304 || method === 'HEAD') body.resume()
      return { status, headers: received as WebAnswer['headers'], body }
    } catch (error) {
      stream.destroy()
      signal?.throwIfAborted()
      throw faultOf(error, request)
    }
  }

  /** While nobody takes the bytes, it is not the server that is slow. */
  async *#pieces(stream: Request, request: WebRequest): AsyncGenerator<Buffer> {
    const { answerMs, stallMs, slowestBytesPerSecond } = this.#limits
    const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    let [bytes, waitedMs] = [0, 0]
    for (;;) {
      let isStalled = false
      const timer = setTimeout(() => {
        isStalled = true
        stream.destroy()
      }, stallMs)
      const began = performance.now()
      let next: IteratorResult<Buffer>
      try {
        next = await iterator.next()
      } catch (error) {
        request.signal?.throwIfAborted()
        if (isStalled) throw faultWith(request, 'the server stopped sending', { passing: true })
        throw faultOf(error, request)
      } finally {
        clearTimeout(timer)
      }
      if (next.done === true) return
      bytes += next.value.length
      waitedMs += performance.now() - began
      const lateMs = waitedMs - answerMs
      if (lateMs > 0 && bytes < (lateMs / 1000) * slowestBytesPerSecond) {
        throw faultWith(request, 'the server sends too slowly', { passing: true })
      }
      yield next.value
    }
  }

  /** Ends requests under way, too. */
  close(): void {
    this.#agent.http.destroy()
    this.#agent.https.destroy()
  }
}

/** `Retry-After` where it is a number of seconds, else 0. */
export function retryAfterOf({ headers }: Pick<WebAnswer, 'headers'>): number {
  const text = headers['retry-after'] ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) : 0
}

const PASSING_STATUS = new Set([408, 425, 429, 500, 502, 503, 504])

/** Whether a status may be another one next time. */
export const isPassing = (status: number): boolean => PASSING_STATUS.has(status)

export function statusFault(message: string, answer: WebAnswer): RequestFault {
  const { status } = answer
  answer.body.destroy()
  return new RequestFault(message, {
    status,
    passing: isPassing(status),
    retryAfter: retryAfterOf(answer),
  })
}

/** The whole of a body. @throws what `tooLarge` makes, as soon as more than `maxBytes` have come */
export async function readUpTo(body: Readable, maxBytes: number, tooLarge: () => Error): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}

export interface Attempts {
  most: number
  /** Pause before the second attempt, about; doubled for each further one. */
  firstPauseMs: number
  longestPauseMs: number
  /** A server that asks for a longer wait is left alone: the caller tries again at its own time. */
  longestRetryAfterS: number
  /** A number in [0, 1): many clients do not come back at once. */
  random: () => number
  signal?: AbortSignal | undefined
  /** Waits this many milliseconds; for tests. */
  pause?: (ms: number) => Promise<void>
}

export async function withAttempts<T>(attempts: Attempts, attempt: () => Promise<T>): Promise<T> {
  const { most, firstPauseMs, longestPauseMs, longestRetryAfterS, random, signal } = attempts
  const pause =
    attempts.pause ?? ((ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {}))
  for (let made = 1; ; made++) {
    try {
      return await attempt()
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof RequestFault)) throw error
      if (!error.passing || error.retryAfter > longestRetryAfterS || made >= most) {
        throw made === 1 ? error : new RequestFault(`${error.message} (${made} attempts)`, error)
      }
      const bound = Math.min(longestPauseMs, firstPauseMs * 2 ** (made - 1))
      await pause(Math.max(error.retryAfter * 1000, bound * (0.5 + random())))
      signal?.throwIfAborted()
    }
  }
}

function faultWith(
  { prefix = '' }: WebRequest,
  message: string,
  more: ConstructorParameters<typeof RequestFault>[1],
): RequestFault {
  return new RequestFault(`${prefix}${message}`, more)
}

const CUT = 'the server cut the connection'

const REASONS: { readonly [code: string]: string } = {
  ECONNRESET: CUT,
  EPIPE: CUT,
  ERR_STREAM_PREMATURE_CLOSE: CUT,
  ERR_HTTP_CONTENT_LENGTH_MISMATCH: 'the answer has another length than its headers state',
  HPE_HEADER_OVERFLOW: 'the headers of the answer are too large',
  EAI_AGAIN: 'the name of the server cannot be looked up now',
}

/** Faults of our own disk while a file is sent. */
const FILE_CODES = new Set(['EACCES', 'EIO', 'EISDIR', 'EMFILE', 'ENOENT', 'EPERM'])

function faultOf(error: unknown, request: WebRequest): RequestFault {
  const { host } = request.url
  const { code: found, path } = error as { code?: unknown; path?: unknown }
  const code = typeof found === 'string' ? found : null
  const word = code ?? 'unknown'
  const passing = (reason: string): RequestFault =>
    faultWith(request, reason, { passing: true, code, cause: error })
  const lasting = (reason: string): RequestFault => faultWith(request, reason, { code, cause: error })
  if (FILE_CODES.has(word) && typeof path === 'string') {
    return new RequestFault(`${path}: cannot be read (${word})`, { cause: error })
  }
  const { name, event } = error as TimeoutError
  // An aborted signal has an error of this name, too.
  if (name === 'TimeoutError' && event !== undefined) {
    return passing(
      event === 'response' || event === 'send'
        ? 'the server did not answer in time'
        : 'the server cannot be reached: no connection in time',
    )
  }
  if (word === NOT_PUBLIC) {
    return lasting('leads to an address that is not public; "private": true at its host in "hosts" allows it')
  }
  if (Object.hasOwn(REASONS, word)) return passing(REASONS[word])
  if (word === 'ENOTFOUND') return passing(`there is no host ${host}; check the address`)
  if (word === 'ECONNREFUSED') return passing(`nothing listens at ${host}`)
  if (word.startsWith('HPE_')) return passing(`${host} does not answer in HTTP; is it https:// or http://?`)
  if (/CERT|SELF_SIGNED|ALTNAME|VERIFY/.test(word)) {
    return lasting(
      `the certificate of ${host} is not trusted (${word}); NODE_EXTRA_CA_CERTS names a file of further authorities`,
    )
  }
  if (word === 'EPROTO' || word.startsWith('ERR_SSL')) {
    return lasting(`${host} does not speak TLS; is it http:// instead of https://?`)
  }
  return passing(`the request failed (${word})`)
}
