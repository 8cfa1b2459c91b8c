/**
 * The one way in which this program asks web servers: networks, mirrors and web stores. A request follows no
 * redirect. A timer of ours ends each step, whatever the server or a library does; a body has a limit of
 * rate.
 *
 * Messages hold codes and fixed words only: an error's own message may quote what a server sent.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { isPublic, literalAddress, NOT_PUBLIC, publicLookup } from './allowed-addresses.ts'

const MAX_HEADER_BYTES = 64 * 1024

/** All times in milliseconds. */
export interface RequestLimits {
  connectMs: number
  /** Time from the connection to the headers of the answer. */
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

interface WebRequest {
  url: URL
  headers?: { readonly [name: string]: string }
  signal?: AbortSignal | undefined
  /** The beginning of messages of faults. */
  prefix?: string
}

export class WebClient {
  readonly #limits: RequestLimits
  readonly #http = new HttpAgent({ keepAlive: true })
  readonly #https = new HttpsAgent({ keepAlive: true })
  readonly #onlyPublic: boolean

  /** @param onlyPublic connects to public addresses only, whatever a name leads to */
  constructor(limits: RequestLimits, { onlyPublic = false } = {}) {
    this.#limits = limits
    this.#onlyPublic = onlyPublic
  }

  /** @throws RequestFault; the reason of `signal` */
  async ask({ url, headers, signal, prefix = '' }: WebRequest): Promise<WebAnswer> {
    signal?.throwIfAborted()
    const { connectMs, answerMs } = this.#limits
    const isTls = url.protocol === 'https:'
    // An address is not looked up.
    const address = literalAddress(url)
    if (this.#onlyPublic && address !== null && !isPublic(address)) throw notPublic(prefix)
    const request = (isTls ? httpsRequest : httpRequest)(url, {
      headers: { 'user-agent': 'groundswell', 'accept-encoding': 'identity', ...headers },
      agent: isTls ? this.#https : this.#http,
      maxHeaderSize: MAX_HEADER_BYTES,
      ...(this.#onlyPublic && { lookup: publicLookup }),
      ...(signal !== undefined && { signal }),
    })
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve)
      // The listener stays, so that a late error does not end the process.
      request.on('error', (error) => reject(networkFault(error, url.host, prefix)))
      // An answer that changes the protocol (101) ends without any other event.
      request.once('close', () => reject(passing(prefix, CUT)))
    })
    const connected = new Promise((resolve) => {
      request.once('socket', (socket) => {
        if (socket.connecting) socket.once(isTls ? 'secureConnect' : 'connect', resolve)
        else resolve(null)
      })
    })
    try {
      request.end()
      await within(connectMs, () => passing(prefix, NO_CONNECTION), Promise.race([connected, answered]))
      const late = (): RequestFault => passing(prefix, 'the server did not answer in time')
      const response = await within(answerMs, late, answered)
      const { statusCode: status = 0, headers: received } = response
      const body = paced(response, this.#limits, (fault) => {
        signal?.throwIfAborted()
        return typeof fault === 'string' ? passing(prefix, fault) : networkFault(fault, url.host, prefix)
      })
      // The answer has no body, and its connection can be used again.
      if (status === 304) body.resume()
      return { status, headers: received as WebAnswer['headers'], body }
    } catch (error) {
      request.destroy()
      signal?.throwIfAborted()
      throw error
    }
  }

  /** Ends requests under way, too. */
  close(): void {
    this.#http.destroy()
    this.#https.destroy()
  }
}

/** Fails with what `late` makes or throws after `ms` milliseconds, whatever becomes of `work`. */
export async function within<T>(ms: number, late: () => Error, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  }).then(() => {
    throw late()
  })
  return Promise.race([work, limit]).finally(() => clearTimeout(timer))
}

/**
 * The bytes of an answer within limits of time, whatever its stream does. While nobody takes them, it is not
 * the server that is slow.
 * @param faultOf makes the body's error from a sentence or the stream's error
 */
export function paced(
  stream: Readable,
  limits: RequestLimits,
  faultOf: (fault: string | Error) => RequestFault,
): Readable {
  const body = Readable.from(pieces(stream, limits, faultOf), { objectMode: false })
  body.on('error', () => {})
  body.once('close', () => stream.destroy())
  return body
}

async function* pieces(
  stream: Readable,
  { answerMs, stallMs, slowestBytesPerSecond }: RequestLimits,
  faultOf: (fault: string | Error) => RequestFault,
): AsyncGenerator<Buffer> {
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const stopped = (): Error => faultOf('the server stopped sending')
  let [bytes, waitedMs] = [0, 0]
  for (;;) {
    const began = performance.now()
    const next = await within(stallMs, stopped, iterator.next()).catch((error: Error) => {
      throw error instanceof RequestFault ? error : faultOf(error)
    })
    if (next.done === true) return
    bytes += next.value.length
    waitedMs += performance.now() - began
    const lateMs = waitedMs - answerMs
    if (lateMs > 0 && bytes < (lateMs / 1000) * slowestBytesPerSecond) {
      throw faultOf('the server sends too slowly')
    }
    yield next.value
  }
}

const PASSING_STATUS = new Set([408, 425, 429, 500, 502, 503, 504])

/** Whether the next try may get another status. */
export const isPassing = (status: number): boolean => PASSING_STATUS.has(status)

/** The fault of an answer that is read no further. */
export function statusFault(message: string, { status, headers, body }: WebAnswer): RequestFault {
  body.destroy()
  const asked = headers['retry-after'] ?? ''
  const retryAfter = /^\d{1,6}$/.test(asked) ? Number(asked) : 0
  return new RequestFault(message, { status, passing: isPassing(status), retryAfter })
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
  firstPauseMs?: number
  longestPauseMs?: number
  /** A server that asks for a longer wait is left alone: the caller tries again at its own time. */
  longestRetryAfterS?: number
  /** A number in [0, 1): many clients do not come back at once. */
  random: () => number
  signal?: AbortSignal | undefined
  /** Waits this many milliseconds; for tests. */
  pause?: (ms: number, signal?: AbortSignal) => Promise<void>
}

export async function withAttempts<T>(attempts: Attempts, attempt: () => Promise<T>): Promise<T> {
  const { most, random, signal, ...pauses } = attempts
  const { firstPauseMs, longestPauseMs, longestRetryAfterS, pause } = { ...PAUSES, ...pauses }
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
      await pause(Math.max(error.retryAfter * 1000, bound * (0.5 + random())), signal)
      signal?.throwIfAborted()
    }
  }
}

const PAUSES = {
  firstPauseMs: 100,
  longestPauseMs: 5000,
  longestRetryAfterS: 10,
  pause: (ms: number, signal?: AbortSignal): Promise<void> =>
    sleep(ms, undefined, { signal }).catch(() => {}),
}

const CUT = 'the server cut the connection'
const NO_CONNECTION = 'the server cannot be reached: no connection in time'

const REASONS: { readonly [code: string]: string } = {
  ECONNRESET: CUT,
  EPIPE: CUT,
  ERR_STREAM_PREMATURE_CLOSE: CUT,
  ETIMEDOUT: NO_CONNECTION,
  HPE_HEADER_OVERFLOW: 'the headers of the answer are too large',
  EAI_AGAIN: 'the name of the server cannot be looked up now',
}

const passing = (prefix: string, reason: string): RequestFault =>
  new RequestFault(`${prefix}${reason}`, { passing: true })

function notPublic(prefix: string): RequestFault {
  return new RequestFault(
    `${prefix}leads to an address that is not public; "private": true at its host in "hosts" allows it`,
    { code: NOT_PUBLIC },
  )
}

/** A failed connection, in words for the person who has to repair it. */
export function networkFault(error: Error, host: string, prefix: string): RequestFault {
  const { code: found } = error as { code?: unknown }
  const code = typeof found === 'string' ? found : 'unknown'
  const fault = (isPassing: boolean, reason: string): RequestFault =>
    new RequestFault(`${prefix}${reason}`, { passing: isPassing, code, cause: error })
  if (code === NOT_PUBLIC) return notPublic(prefix)
  if (Object.hasOwn(REASONS, code)) return fault(true, REASONS[code])
  if (code === 'ENOTFOUND') return fault(true, `there is no host ${host}; check the address`)
  if (code === 'ECONNREFUSED') return fault(true, `nothing listens at ${host}`)
  if (code.startsWith('HPE_')) {
    return fault(true, `${host} does not answer in HTTP; is it https:// or http://?`)
  }
  if (/CERT|SELF_SIGNED|ALTNAME|VERIFY/.test(code)) {
    return fault(
      false,
      `the certificate of ${host} is not trusted (${code}); NODE_EXTRA_CA_CERTS names a file of further authorities`,
    )
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    return fault(false, `${host} does not speak TLS; is it http:// instead of https://?`)
  }
  return fault(true, `the request failed (${code})`)
}
