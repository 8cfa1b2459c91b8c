/**
 * One call to a store over HTTP: limits of time for each step, and further attempts for what may pass.
 * Nothing that a server says is repeated in a message but codes of a known form.
 */
import { createReadStream } from 'node:fs'
import { PassThrough, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request, type Dispatcher } from 'undici'
import { readUpTo } from './web-request.ts'
import { DEFAULT_LIMITS, StoreError, type PutBody, type StoreContext, type StoreLimits } from './store.ts'

/** Of an answer that is a fault: enough for the XML of any store. */
const MAX_FAULT_BYTES = 64 * 1024
/** A store that asks for a longer wait is left alone: the caller tries again at its own time. */
const LONGEST_RETRY_AFTER_S = 10

export interface Call {
  method: 'GET' | 'PUT' | 'DELETE'
  url: URL
  headers: { [name: string]: string }
  body?: PutBody
}

export interface CallAnswer {
  status: number
  headers: { readonly [name: string]: string | undefined }
  body: Readable
}

/** What a call means by its answers. */
export interface CallPlan {
  /** What the message of a fault begins with. */
  what: string
  /** Made anew for each attempt: signatures hold the time. */
  make: () => Promise<Call>
  /** Statuses that are answers. */
  accepted: ReadonlySet<number>
  /** The fault of another status; `text` is the beginning of its body. */
  faultOf: (answer: CallAnswer, text: string) => StoreError
  signal?: AbortSignal | undefined
}

const PASSING_STATUS = new Set([408, 425, 429, 500, 502, 503, 504])

/** Whether a status may be another one next time. */
export const isPassing = (status: number): boolean => PASSING_STATUS.has(status)

export class Calls {
  readonly #agent: Agent
  readonly #limits: StoreLimits
  readonly #random: () => number

  constructor({ limits, random }: Pick<StoreContext, 'limits' | 'random'>) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits }
    this.#random = random
    this.#agent = new Agent({
      connect: { timeout: this.#limits.connectMs },
      // The timers of this file are exact, and name the step.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
      maxHeaderSize: 64 * 1024,
    })
  }

  /** @throws StoreError; what `signal` was aborted with */
  async answer(plan: CallPlan): Promise<CallAnswer> {
    return this.attempt(plan, (answer) => Promise.resolve(answer))
  }

  /** As `answer`, where taking the answer's body belongs to an attempt. */
  async attempt<T>(plan: CallPlan, take: (answer: CallAnswer) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await take(await this.#once(plan))
      } catch (error) {
        plan.signal?.throwIfAborted()
        if (!(error instanceof StoreError)) throw error
        const { attempts } = this.#limits
        if (!error.passing || error.retryAfter > LONGEST_RETRY_AFTER_S || attempt >= attempts) {
          throw withAttempts(error, attempt)
        }
        await sleep(this.#waitMs(attempt, error.retryAfter), undefined, { signal: plan.signal })
      }
    }
  }

  /** Chosen at random up to a bound that doubles, so that many clients do not come back at once. */
  #waitMs(attempt: number, retryAfterS: number): number {
    const { retryFirstMs, retryLongestMs } = this.#limits
    const bound = Math.min(retryLongestMs, retryFirstMs * 2 ** (attempt - 1))
    return Math.max(retryAfterS * 1000, bound * (0.5 + this.#random() / 2))
  }

  async #once(plan: CallPlan): Promise<CallAnswer> {
    const { what, accepted, faultOf } = plan
    const call = await plan.make()
    const watch = new Watch(what, plan.signal)
    const { answerMs, slowestBytesPerSecond } = this.#limits
    const sent = call.body === undefined ? 0 : bytesOf(call.body)
    watch.allow(answerMs + (sent / slowestBytesPerSecond) * 1000, 'did not answer in time')
    let response: Dispatcher.ResponseData
    try {
      response = await request(call.url, {
        dispatcher: this.#agent,
        method: call.method,
        headers: {
          'user-agent': 'groundswell',
          ...call.headers,
          ...(call.body !== undefined && { 'content-length': String(sent) }),
        },
        body: call.body === undefined ? null : streamOf(call.body),
        signal: watch.signal,
      })
    } catch (error) {
      watch.end()
      throw watch.reason ?? faultOfTransport(what, error, call.url)
    }
    const answer = this.#guarded(what, response, watch)
    if (accepted.has(answer.status)) return answer
    const text = await beginning(answer.body)
    throw faultOf(answer, text)
  }

  /** The answer with a body whose faults are StoreErrors, and that is cut off when it comes too slowly. */
  #guarded(what: string, response: Dispatcher.ResponseData, watch: Watch): CallAnswer {
    const { answerMs, stallMs, slowestBytesPerSecond } = this.#limits
    const headers: { [name: string]: string | undefined } = {}
    for (const [name, value] of Object.entries(response.headers)) {
      if (typeof value === 'string') headers[name] = value
    }
    const body = new PassThrough()
    // Whoever reads it hears of the error; without this, one that nobody reads any more would end the
    // process.
    body.on('error', () => {})
    const source = response.body
    // While nobody takes the bytes, it is not the store that is slow.
    let waitedMs = 0
    const began = performance.now()
    let bytes = 0
    source.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      const late = performance.now() - began - waitedMs - answerMs
      if (late > 0 && bytes < (late / 1000) * slowestBytesPerSecond) watch.cut('sends too slowly')
      else watch.allow(stallMs, 'stopped sending')
      if (body.write(chunk)) return
      source.pause()
      watch.pause()
      const since = performance.now()
      body.once('drain', () => {
        waitedMs += performance.now() - since
        watch.allow(stallMs, 'stopped sending')
        source.resume()
      })
    })
    source.on('error', (error) => {
      watch.end()
      body.destroy(watch.reason ?? watch.aborted ?? faultOfTransport(what, error, null))
    })
    source.on('end', () => {
      watch.end()
      body.end()
    })
    body.on('close', () => {
      watch.end()
      source.destroy()
    })
    watch.allow(stallMs, 'stopped sending')
    return { status: response.statusCode, headers, body }
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }
}

/** The time limit of a call's current step, and the caller's own signal. */
class Watch {
  readonly #what: string
  readonly #aborting = new AbortController()
  readonly #outer: AbortSignal | undefined
  readonly #onAbort = (): void => this.#aborting.abort(this.#outer?.reason)
  #timer: NodeJS.Timeout | null = null
  /** Set when a limit was passed. */
  reason: StoreError | null = null

  constructor(what: string, outer: AbortSignal | undefined) {
    this.#what = what
    this.#outer = outer
    if (outer?.aborted === true) this.#onAbort()
    else outer?.addEventListener('abort', this.#onAbort)
  }

  /** What the caller aborted it with; null where it did not. */
  get aborted(): Error | null {
    return this.#outer?.aborted === true ? (this.#outer.reason as Error) : null
  }

  get signal(): AbortSignal {
    return this.#aborting.signal
  }

  /** From now on the step may take so long. */
  allow(ms: number, otherwise: string): void {
    this.pause()
    this.#timer = setTimeout(() => this.cut(otherwise), ms)
  }

  /** Nothing is waited for. */
  pause(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  cut(why: string): void {
    this.reason ??= new StoreError(`${this.#what}: the store ${why}`, { passing: true })
    this.#aborting.abort(this.reason)
  }

  end(): void {
    this.pause()
    this.#outer?.removeEventListener('abort', this.#onAbort)
  }
}

function bytesOf(body: PutBody): number {
  return body instanceof Uint8Array ? body.length : body.bytes
}

function streamOf(body: PutBody): Uint8Array | Readable {
  // No more than its size: a file that grows meanwhile is refused by its hash, not by a broken connection.
  return body instanceof Uint8Array
    ? body
    : createReadStream(body.path, { end: Math.max(0, body.bytes - 1), highWaterMark: 256 * 1024 })
}

/** The beginning of a fault's body; what cannot be read is left out. */
async function beginning(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= MAX_FAULT_BYTES) break
    }
  } catch {
    // The status says enough.
  }
  body.destroy()
  return Buffer.concat(chunks).toString('utf8')
}

function withAttempts(error: StoreError, attempts: number): StoreError {
  if (attempts === 1) return error
  return new StoreError(`${error.message} (${attempts} attempts)`, error)
}

const TRANSPORT_FAULTS: { readonly [code: string]: string } = {
  UND_ERR_CONNECT_TIMEOUT: 'the store cannot be reached: no connection in time',
  UND_ERR_SOCKET: 'the store cut the connection',
  ECONNRESET: 'the store cut the connection',
  EPIPE: 'the store cut the connection',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer has another length than the store said',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'the file changed while it was sent',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  EAI_AGAIN: 'the name of the store cannot be looked up now',
}

/** Faults of our own disk while a file is sent. */
const FILE_CODES = new Set(['EACCES', 'EIO', 'EISDIR', 'EMFILE', 'ENOENT', 'EPERM'])

/** Codes and fixed words only: an error's own message may quote what a server sent. */
function faultOfTransport(what: string, error: unknown, url: URL | null): StoreError {
  const { code, cause, path } = error as { code?: unknown; cause?: { code?: unknown }; path?: unknown }
  const found = typeof code === 'string' ? code : cause?.code
  const word = typeof found === 'string' ? found : ''
  if (FILE_CODES.has(word) && typeof path === 'string') {
    return new StoreError(`${path}: cannot be read (${word})`, { cause: error })
  }
  const of = (text: string, passing = true): StoreError =>
    new StoreError(`${what}: ${text}`, { passing, code: word === '' ? null : word, cause: error })
  const host = url === null ? 'the store' : url.host
  if (word === 'ENOTFOUND') {
    return of(`there is no host ${host}; check the address and AWS_ENDPOINT_URL_S3`, false)
  }
  if (word === 'ECONNREFUSED') return of(`nothing listens at ${host}`)
  if (word.startsWith('HPE_')) return of(`${host} does not answer in HTTP; is it https:// or http://?`)
  if (/CERT|SELF_SIGNED|ALTNAME/.test(word)) {
    return of(
      `the certificate of ${host} is not trusted (${word}); NODE_EXTRA_CA_CERTS names a file of further authorities`,
      false,
    )
  }
  if (word === 'EPROTO' || word.startsWith('ERR_SSL')) {
    return of(`${host} does not speak TLS; is it http:// instead of https://?`, false)
  }
  return of(TRANSPORT_FAULTS[word] ?? (word === '' ? 'the answer is not valid HTTP' : `failed (${word})`))
}

/** `Retry-After` where it is a number of seconds, else 0. */
export function retryAfterOf({ headers }: CallAnswer): number {
  const text = headers['retry-after'] ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) : 0
}

/** The whole of a body. @throws StoreError for more than `maxBytes` */
export async function wholeBody(what: string, answer: CallAnswer, maxBytes: number): Promise<Buffer> {
  const tooLarge = (): StoreError => new StoreError(`${what}: has more than ${maxBytes} bytes`)
  if (Number(answer.headers['content-length'] ?? 0) > maxBytes) {
    answer.body.destroy()
    throw tooLarge()
  }
  return readUpTo(answer.body, maxBytes, tooLarge)
}
