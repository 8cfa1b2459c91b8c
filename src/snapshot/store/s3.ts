/**
 * A bucket as a store, by the AWS SDK: its transport, retries, correction of the clock and chain of
 * credentials, loaded at the first call. Around each call is one bound of time and one of size, whatever the
 * SDK or the server does.
 */
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import {
  DEFAULT_LIMITS,
  StoreError,
  type BucketAddress,
  type GetOptions,
  type Listing,
  type PutBody,
  type PutOptions,
  type Store,
  type StoreContext,
  type StoredObject,
  type StoreLimits,
  type StoreStream,
} from './store.ts'
import { isPassing, networkFault, paced, within, withAttempts, type RequestFault } from './web-request.ts'

/** Bytes of an answer other than an object: a page of 1,000 names of 1,024 bytes, and the XML around them. */
const MAX_ANSWER_BYTES = 8 * 2 ** 20
/** Bounds of one listing. A store puts 1,000 objects on a page, and may leave pages empty. */
const MOST_OBJECTS = 1_000_000
const MOST_PAGES = 1_000
/** The SDK's pauses between attempts, all together. */
const PAUSES_MS = 30_000

/** Codes are words of letters; anything else is not repeated. */
const CODE = /^(?!Error$|Unknown)[A-Za-z0-9.]{1,64}$/
const ACCESS = /^(InvalidAccessKeyId|SignatureDoesNotMatch|AccessDenied|ExpiredToken\w*|InvalidToken)$/
const ELSEWHERE = /^(NoSuchBucket|AuthorizationHeaderMalformed|PermanentRedirect|TemporaryRedirect)$/
/** Refusals that the next call may not meet: it has other credentials by then, or the clock's correction. */
const PASSING =
  /^(ExpiredToken\w*|RequestTimeout|RequestTimeTooSkewed|SlowDown|OperationAborted|ConditionalRequestConflict|XAmzContentSHA256Mismatch|BadDigest)$/
const REGION = /^[a-z0-9-]{1,32}$/

type Sdk = typeof import('@aws-sdk/client-s3')

interface Opened {
  readonly sdk: Sdk
  readonly client: S3Client
}

/** A fault of the SDK: of the network with `code`, or an answer of the store with `name`. */
interface SdkError extends Error {
  readonly code?: string
  readonly $metadata?: { httpStatusCode?: number; attempts?: number }
  readonly $response?: { statusCode?: number; headers?: { [name: string]: string } }
  readonly Region?: unknown
}

export class S3Store implements Store {
  readonly address: string
  readonly #at: BucketAddress
  readonly #environment: StoreContext['environment']
  readonly #config: S3ClientConfig
  readonly #limits: StoreLimits
  readonly #random: () => number
  #opened: Promise<Opened> | null = null

  /** @throws StoreError for settings of the environment that cannot be used */
  constructor(address: BucketAddress, { environment, limits, random }: StoreContext) {
    this.address = address.text
    this.#at = address
    this.#environment = environment
    this.#limits = { ...DEFAULT_LIMITS, ...limits }
    this.#random = random
    this.#config = configOf(environment, this.#limits)
  }

  get(name: string, { ifNoneMatch, signal }: GetOptions = {}): Promise<StoreStream | 'unchanged' | null> {
    const asked = { ...this.#object(name), ...(ifNoneMatch != null && { IfNoneMatch: ifNoneMatch }) }
    return this.#call(name, signal, async ({ sdk, client }, abortSignal) => {
      try {
        const { Body, ETag, LastModified } = await client.send(new sdk.GetObjectCommand(asked), {
          abortSignal,
        })
        const body = paced(Body as Readable, this.#limits, (fault) => {
          signal?.throwIfAborted()
          return typeof fault === 'string'
            ? new StoreError(`${this.address}/${name}: ${fault}`, { passing: true })
            : networkFault(fault, this.#host, `${this.address}/${name}: `)
        })
        return {
          etag: ETag ?? null,
          modified: LastModified === undefined ? null : LastModified.getTime() / 1000,
          body,
        }
      } catch (error) {
        if (isStatus(error, 304) && ifNoneMatch != null) return 'unchanged'
        if (isStatus(error, 404) && (error as Error).name !== 'NoSuchBucket') return null
        throw error
      }
    })
  }

  put(name: string, body: PutBody, options: PutOptions = {}): Promise<'stored' | 'refused'> {
    const { ifNoneMatch, ifMatch, type, cacheControl, sha256, signal } = options
    const isFile = !(body instanceof Uint8Array)
    const bytes = isFile ? body.bytes : body.length
    const { attempts, answerMs, slowestBytesPerSecond } = this.#limits
    const requestTimeout = answerMs + (bytes / slowestBytesPerSecond) * 1000
    const once = (): Promise<'stored' | 'refused'> =>
      this.#call(
        name,
        signal,
        async ({ sdk, client }, abortSignal) => {
          const stream = isFile ? fileStream(body.path, body.bytes) : null
          const command = new sdk.PutObjectCommand({
            ...this.#object(name),
            Body: stream ?? (body as Uint8Array),
            ContentLength: bytes,
            ContentType: type ?? 'application/octet-stream',
            CacheControl: cacheControl,
            IfNoneMatch: ifNoneMatch,
            IfMatch: ifMatch,
          })
          if (sha256 !== undefined) withHash(command, sha256)
          try {
            await client.send(command, { abortSignal, requestTimeout })
            return 'stored'
          } catch (error) {
            if (isStatus(error, 412)) return 'refused'
            throw error
          } finally {
            stream?.destroy()
          }
        },
        requestTimeout,
      )
    // The SDK does not send a file twice.
    return isFile ? withAttempts({ most: attempts, random: this.#random, signal }, once) : once()
  }

  async list(prefix: string, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<Listing> {
    const { bucket, prefix: folder } = this.#at
    const objects: StoredObject[] = []
    const tokens = new Set<string | undefined>()
    let now: number | null = null
    let token: string | undefined
    do {
      const asked = { Bucket: bucket, Prefix: `${folder}${prefix}`, ContinuationToken: token }
      const page = await this.#call(prefix, signal, ({ sdk, client }, abortSignal) => {
        const command = new sdk.ListObjectsV2Command(asked)
        onAnswer(command, ({ headers }) => {
          const told = Date.parse(headers.date ?? '') / 1000
          now ??= Number.isNaN(told) ? null : told
        })
        return client.send(command, { abortSignal })
      })
      if (page.Name === undefined) throw this.#notS3('it lists no objects')
      for (const { Key = '', Size = NaN, LastModified } of page.Contents ?? []) {
        const modified = (LastModified?.getTime() ?? NaN) / 1000
        if (!Number.isSafeInteger(Size) || Number.isNaN(modified))
          throw this.#notS3('an object has no size or time')
        if (Key.startsWith(folder)) objects.push({ name: Key.slice(folder.length), bytes: Size, modified })
      }
      token = page.IsTruncated === true ? (page.NextContinuationToken ?? '') : undefined
      if (token === '' || tokens.has(token) || tokens.size >= MOST_PAGES || objects.length > MOST_OBJECTS) {
        throw new StoreError(
          `${this.address}: its list does not end within ${MOST_OBJECTS} objects and ${MOST_PAGES} pages, or repeats itself; is it a folder of snapshots?`,
        )
      }
      tokens.add(token)
    } while (token !== undefined)
    return { objects, now }
  }

  remove(name: string, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    return this.#call(name, signal, async ({ sdk, client }, abortSignal) => {
      await client
        .send(new sdk.DeleteObjectCommand(this.#object(name)), { abortSignal })
        .catch((error: unknown) => {
          if (!isStatus(error, 404)) throw error
        })
    })
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => null)
    opened?.client.destroy()
  }

  get #host(): string {
    const { endpoint } = this.#config
    return typeof endpoint === 'string' ? new URL(endpoint).host : `${this.#at.bucket}.s3.amazonaws.com`
  }

  #object(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#at.bucket, Key: `${this.#at.prefix}${name}` }
  }

  #notS3(why: string): StoreError {
    return new StoreError(
      `${this.address}: the server does not answer as S3: ${why}; check AWS_ENDPOINT_URL_S3`,
    )
  }

  /**
   * A call within its time, of which each attempt may take `attemptMs`.
   * @throws StoreError or RequestFault; the reason of `signal`
   */
  async #call<T>(
    name: string,
    signal: AbortSignal | undefined,
    send: (opened: Opened, abortSignal: AbortSignal) => Promise<T>,
    attemptMs = this.#limits.answerMs,
  ): Promise<T> {
    const what = `${this.address}/${name}`.replace(/\/$/, '')
    signal?.throwIfAborted()
    const ending = new AbortController()
    const ended = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal])
    const late = (): StoreError => new StoreError(`${what}: the call did not end in time`, { passing: true })
    const ms = this.#limits.attempts * (this.#limits.connectMs + attemptMs) + PAUSES_MS
    try {
      return await within(ms, late, (async () => send(await (this.#opened ??= this.#open()), ended))())
    } catch (error) {
      signal?.throwIfAborted()
      ending.abort()
      throw error instanceof StoreError ? error : this.#faultOf(what, error as SdkError)
    }
  }

  async #open(): Promise<Opened> {
    const sdk = await import('@aws-sdk/client-s3')
    const client = new sdk.S3Client(this.#config)
    try {
      if (this.#config.credentials === undefined) await client.config.credentials()
      return { sdk, client: bounded(client) }
    } catch (error) {
      const named = NAMED_CREDENTIALS.find((variable) => (this.#environment[variable] ?? '') !== '')
      if (named !== undefined || (error as Error).name !== 'CredentialsProviderError') {
        this.#opened = null
        throw new StoreError(`${this.address}: ${named ?? 'the AWS credential chain'} gives no credentials`, {
          passing: true,
          cause: error,
        })
      }
      // A public bucket is read without a signature.
      const signer = { sign: (request: unknown) => Promise.resolve(request) } as never
      const credentials = { accessKeyId: 'none', secretAccessKey: 'none' }
      return { sdk, client: bounded(new sdk.S3Client({ ...this.#config, signer, credentials })) }
    }
  }

  /** One sentence for each class of faults. */
  #faultOf(what: string, error: SdkError): RequestFault {
    const { name, Region, $metadata, $response } = error
    const status = $metadata?.httpStatusCode ?? $response?.statusCode ?? null
    const attempts = $metadata?.attempts ?? 1
    const made = attempts > 1 ? ` (${attempts} attempts)` : ''
    const passing = (sentence: string): StoreError =>
      new StoreError(`${what}: ${sentence}`, { passing: true, cause: error })
    if (name === 'CredentialsProviderError') {
      this.#opened = null
      return passing('no credentials could be obtained; check their source')
    }
    // The SDK gives this name to connections that break, too.
    if (name === 'TimeoutError' && (error.code === undefined || error.code === 'ETIMEDOUT'))
      return passing(`the server did not answer in time${made}`)
    if (status === null) {
      const fault = networkFault(error, this.#host, `${what}: `)
      return new StoreError(`${fault.message}${made}`, fault)
    }
    if (status === 200) return this.#notS3('its answer cannot be read')
    const code = CODE.test(name) ? name : null
    const said = code === null ? String(status) : `${status} ${code}`
    const answered = (sentence: string): StoreError =>
      new StoreError(`${what}: ${sentence}`, {
        status,
        code,
        passing: PASSING.test(name) || isPassing(status),
        cause: error,
      })
    if (ELSEWHERE.test(name) || status === 301 || status === 307) {
      const told = $response?.headers?.['x-amz-bucket-region'] ?? Region
      const where = typeof told === 'string' && REGION.test(told) ? `here, but in the region ${told}` : 'here'
      return answered(
        `the bucket is not ${where} (${said}); check the address, AWS_ENDPOINT_URL_S3 and AWS_REGION`,
      )
    }
    if (ACCESS.test(name) || status === 401 || status === 403) {
      // The next call may get other credentials.
      this.#opened = null
      return answered(
        `the store refuses access (${said}); check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and the policy of the bucket`,
      )
    }
    return answered(`the store answered ${said}${made}`)
  }
}

/** Variables that name where the SDK gets credentials. */
const NAMED_CREDENTIALS = [
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_PROFILE',
]

function isStatus(error: unknown, status: number): boolean {
  return (error as SdkError).$metadata?.httpStatusCode === status
}

interface Answer {
  statusCode: number
  headers: { [name: string]: string | undefined }
  body: Readable
}

/** Has `take` see each answer before the SDK reads it. */
function onAnswer(
  {
    middlewareStack,
  }: Pick<S3Client, 'middlewareStack'> | Pick<InstanceType<Sdk['ListObjectsV2Command']>, 'middlewareStack'>,
  take: (answer: Answer, command: string | undefined) => void,
): void {
  ;(middlewareStack as S3Client['middlewareStack']).add(
    (next, { commandName }) =>
      async (given) => {
        const result = await next(given)
        take(result.response as Answer, commandName)
        return result
      },
    { step: 'deserialize', priority: 'low' },
  )
}

/** Bounds each answer that is not the bytes of an object. */
function bounded(client: S3Client): S3Client {
  onAnswer(client, (answer, command) => {
    const isObject = command === 'GetObjectCommand' && answer.statusCode === 200
    if (!isObject) answer.body = Readable.from(beginningOf(answer.body))
  })
  return client
}

/** A body that is too long is cut, so that it is not valid XML. */
async function* beginningOf(body: Readable): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) return
    yield chunk
  }
}

/** Has the store compare what comes with a hash that is known already. */
function withHash(command: InstanceType<Sdk['PutObjectCommand']>, sha256: string): void {
  command.middlewareStack.add(
    (next) => (given) => {
      const { headers } = given.request as { headers: { [name: string]: string } }
      headers['x-amz-content-sha256'] = sha256
      return next(given)
    },
    { step: 'build' },
  )
}

/** No more than `bytes` of a file: one that grows meanwhile is refused by its hash. */
function fileStream(path: string, bytes: number): Readable {
  const stream = createReadStream(path, { end: Math.max(0, bytes - 1), highWaterMark: 256 * 1024 })
  // The sender hears of the fault, which may come before anybody listens.
  stream.on('error', () => {})
  return stream
}

/** @throws StoreError for variables that cannot be used */
function configOf(environment: StoreContext['environment'], limits: StoreLimits): S3ClientConfig {
  const value = (name: string): string => environment[name] ?? ''
  const [accessKeyId, secretAccessKey] = [value('AWS_ACCESS_KEY_ID'), value('AWS_SECRET_ACCESS_KEY')]
  if ((accessKeyId === '') !== (secretAccessKey === '')) {
    throw new StoreError(
      'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: one is set and the other is not: set both, or neither',
    )
  }
  const sessionToken = value('AWS_SESSION_TOKEN')
  const region = value('AWS_REGION') || value('AWS_DEFAULT_REGION')
  if (region !== '' && !REGION.test(region)) {
    throw new StoreError('AWS_REGION: is not the name of a region such as eu-west-3')
  }
  const variable = value('AWS_ENDPOINT_URL_S3') === '' ? 'AWS_ENDPOINT_URL' : 'AWS_ENDPOINT_URL_S3'
  const endpoint = value(variable)
  const { protocol, search, username, password } = new URL(URL.canParse(endpoint) ? endpoint : 'none:')
  if (endpoint !== '' && !(/^https?:$/.test(protocol) && `${search}${username}${password}` === '')) {
    throw new StoreError(
      `${variable}: is not a URL such as https://s3.example.com, without user and password`,
    )
  }
  const style = value('AWS_S3_ADDRESSING_STYLE')
  return {
    region: region === '' ? 'us-east-1' : region,
    forcePathStyle: style === 'path' || (style !== 'virtual' && endpoint !== ''),
    ...(endpoint !== '' && { endpoint }),
    ...(accessKeyId !== '' && {
      credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== '' && { sessionToken }) },
    }),
    requestHandler: {
      connectionTimeout: limits.connectMs,
      requestTimeout: limits.answerMs,
      throwOnRequestTimeout: true,
    },
    maxAttempts: limits.attempts,
    expectContinueHeader: false,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    customUserAgent: 'groundswell',
    // This program reports faults itself.
    logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  }
}
