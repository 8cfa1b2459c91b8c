/**
 * A bucket as a store. The AWS SDK, loaded at the first call, signs requests, finds credentials and reads
 * XML. Requests go through the one web client, so its limits of time and rate hold here too.
 */
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { ListObjectsV2CommandOutput, S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import type { StoreAddress } from './store-address.ts'
import {
  attemptsWithin,
  DEFAULT_LIMITS,
  READ_STATUSES,
  StoreError,
  type GetOptions,
  type Listing,
  type PutBody,
  type PutOptions,
  type ReadOptions,
  type Store,
  type StoreAnswer,
  type StoreContext,
  type StoredObject,
  type StoreLimits,
  type StoreObject,
} from './store.ts'
import {
  isPassing,
  readUpTo,
  RequestFault,
  retryAfterOf,
  WebClient,
  withAttempts,
  type WebAnswer,
} from './web-request.ts'

/** Bytes of one page of a listing: 1,000 names of 1,024 bytes and what stands around them. */
const MAX_PAGE_BYTES = 8 * 2 ** 20
/** Bytes of a fault's answer: enough for the XML of any store. */
const MAX_FAULT_BYTES = 64 * 1024
/** Objects of a listing, unless the caller expects fewer. */
const MOST_OBJECTS = 1_000_000
/** A clock off by more is reported when the store refuses it. S3 itself allows 15 minutes. */
const MINUTE_S = 60

const REGION = /^[a-z0-9-]{1,32}$/
/** Codes are words of letters; anything else is not repeated. */
const CODE = /^[A-Za-z0-9.]{1,64}$/

/** Variables that name where the SDK gets credentials. */
const NAMED_CREDENTIALS = [
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_PROFILE',
]

/** Codes of faults that do not pass: what each means, and what to do. */
const LASTING: { readonly [code: string]: readonly [what: string, advice: string] } = {
  InvalidAccessKeyId: ['the store does not know this access key', 'check AWS_ACCESS_KEY_ID'],
  SignatureDoesNotMatch: ['the secret does not fit the access key', 'check AWS_SECRET_ACCESS_KEY'],
  NoSuchBucket: ['there is no such bucket', 'check the address and AWS_ENDPOINT_URL_S3'],
}

type Sdk = typeof import('@aws-sdk/client-s3')

/** One attempt: the name of the object or listing for messages, and what came of it. */
interface Attempt {
  readonly what: string
  readonly signal: AbortSignal | undefined
  answer: WebAnswer | null
}

interface Opened {
  readonly sdk: Sdk
  readonly client: S3Client
  /** Where the credentials come from, for messages; null where there are none. */
  readonly from: string | null
}

export class S3Store implements Store {
  readonly address: string
  readonly #bucket: string
  readonly #prefix: string
  readonly #config: S3ClientConfig & { region: string }
  readonly #hasPair: boolean
  readonly #limits: StoreLimits
  readonly #web: WebClient
  readonly #context: StoreContext
  #opened: Promise<Opened> | null = null
  /** Serves new calls; where its credentials are refused, the next attempt asks for others. */
  #current: Opened | null = null
  /** Seconds by which the store's clock is ahead of ours; 0 until the store refuses ours. */
  #clockOffset = 0

  /** @throws StoreError for settings of the environment that cannot be used */
  constructor(address: StoreAddress & { kind: 's3' }, context: StoreContext) {
    this.address = address.text
    this.#bucket = address.bucket
    this.#prefix = address.prefix
    const credentials = keyPairOf(context.environment)
    this.#hasPair = credentials !== null
    this.#config = { ...endpointOf(context.environment), ...(credentials !== null && { credentials }) }
    this.#limits = { ...DEFAULT_LIMITS, ...context.limits }
    this.#web = new WebClient(this.#limits)
    this.#context = context
  }

  get(name: string, options: GetOptions = {}): Promise<StoreAnswer> {
    return this.#attempts(name, options.signal, (opened, attempt) =>
      this.#get(opened, attempt, name, options),
    )
  }

  read(name: string, options: ReadOptions): Promise<StoreObject | 'unchanged' | null> {
    return this.#attempts(name, options.signal, async (opened, attempt) => {
      const { status, headers, body } = await this.#get(opened, attempt, name, options)
      if (status === 404) return null
      if (status === 304) return 'unchanged'
      const { maxBytes } = options
      const tooLarge = (): StoreError => new StoreError(`${attempt.what}: has more than ${maxBytes} bytes`)
      if (Number(headers['content-length'] ?? 0) > maxBytes) {
        body.destroy()
        throw tooLarge()
      }
      return { bytes: await readUpTo(body, maxBytes, tooLarge), etag: headers.etag ?? null }
    })
  }

  put(name: string, body: PutBody, options: PutOptions = {}): Promise<'stored' | 'refused'> {
    const { ifNoneMatch, ifMatch, type, cacheControl, sha256, signal } = options
    return this.#attempts(name, signal, async ({ sdk, client }, attempt) => {
      const sent = body instanceof Uint8Array ? body : fileStream(body.path, body.bytes)
      const command = new sdk.PutObjectCommand({
        ...this.#object(name),
        Body: sent,
        ContentLength: body instanceof Uint8Array ? body.length : body.bytes,
        ContentType: type ?? 'application/octet-stream',
        CacheControl: cacheControl,
        IfNoneMatch: ifNoneMatch,
        IfMatch: ifMatch,
      })
      if (sha256 !== undefined) {
        command.middlewareStack.add(
          (next) => (given) => {
            const { headers } = given.request as { headers: { [name: string]: string } }
            headers['x-amz-content-sha256'] = sha256
            return next(given)
          },
          { step: 'build' },
        )
      }
      try {
        await client.send(command, sendOptions(attempt))
        return 'stored'
      } catch (error) {
        if (attempt.answer?.status === 412) return 'refused'
        throw error
      } finally {
        if (sent instanceof Readable) sent.destroy()
      }
    })
  }

  async list(
    prefix: string,
    { most = MOST_OBJECTS, signal }: { most?: number; signal?: AbortSignal | undefined } = {},
  ): Promise<Listing> {
    const objects: StoredObject[] = []
    let now: number | null = null
    let token: string | undefined
    do {
      const asked = {
        Bucket: this.#bucket,
        Prefix: `${this.#prefix}${prefix}`,
        EncodingType: 'url' as const,
        ContinuationToken: token,
      }
      const page = await this.#attempts(prefix, signal, async ({ sdk, client }, attempt) => {
        try {
          const output = await client.send(new sdk.ListObjectsV2Command(asked), sendOptions(attempt))
          const found = objectsOf(output)
          const date = Date.parse(attempt.answer?.headers.date ?? '') / 1000
          if (found !== null)
            return { found, date, next: output.NextContinuationToken, more: output.IsTruncated }
        } catch (error) {
          if (error instanceof RequestFault || attempt.answer?.status !== 200) throw error
        }
        throw new StoreError(
          `${this.address}: what answers is not S3: it lists no objects; check AWS_ENDPOINT_URL_S3`,
        )
      })
      now ??= Number.isFinite(page.date) ? page.date : null
      for (const { name, ...rest } of page.found) {
        if (name.startsWith(this.#prefix)) objects.push({ name: name.slice(this.#prefix.length), ...rest })
      }
      if (objects.length > most) {
        throw new StoreError(
          `${this.address}: has more than ${most} objects, so it is not a folder of snapshots`,
        )
      }
      token = page.more === true ? page.next : undefined
    } while (token !== undefined)
    return { objects, now }
  }

  remove(name: string, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    return this.#attempts(name, signal, async ({ sdk, client }, attempt) => {
      try {
        await client.send(new sdk.DeleteObjectCommand(this.#object(name)), sendOptions(attempt))
      } catch (error) {
        if (attempt.answer?.status !== 404) throw error
      }
    })
  }

  close(): Promise<void> {
    this.#web.close()
    return Promise.resolve()
  }

  #object(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: `${this.#prefix}${name}` }
  }

  async #get(
    { sdk, client }: Opened,
    attempt: Attempt,
    name: string,
    { range, ifNoneMatch }: GetOptions,
  ): Promise<StoreAnswer> {
    const command = new sdk.GetObjectCommand({
      ...this.#object(name),
      ...(range !== undefined && { Range: `bytes=${range.from}-${range.to ?? ''}` }),
      ...(ifNoneMatch != null && { IfNoneMatch: ifNoneMatch }),
    })
    try {
      await client.send(command, sendOptions(attempt))
    } catch (error) {
      // What the SDK cannot make out of the headers of an object does not matter here.
      if (attempt.answer === null || !READ_STATUSES.has(attempt.answer.status)) throw error
    }
    return attempt.answer as StoreAnswer
  }

  /** Makes a call, again where its fault may pass. @throws StoreError; what `signal` was aborted with */
  #attempts<T>(
    name: string,
    signal: AbortSignal | undefined,
    call: (opened: Opened, attempt: Attempt) => Promise<T>,
  ): Promise<T> {
    const what = `${this.address}/${name}`.replace(/\/$/, '')
    return withAttempts(attemptsWithin(this.#limits, this.#context.random, signal), async () => {
      const attempt: Attempt = { what, signal, answer: null }
      const opened = (this.#current = await (this.#opened ??= this.#open()))
      // The SDK signs by the system's clock.
      const now = (this.#context.clock() + this.#clockOffset) * 1000
      opened.client.config.systemClockOffset = now - Date.now()
      try {
        return await call(opened, attempt)
      } catch (error) {
        attempt.answer?.body.destroy()
        signal?.throwIfAborted()
        throw error instanceof RequestFault ? error : this.#faultOf(attempt, opened, error)
      }
    })
  }

  async #open(): Promise<Opened> {
    const sdk = await import('@aws-sdk/client-s3')
    const config: S3ClientConfig = {
      ...this.#config,
      requestHandler: {
        handle: (request: Request, { attempt }: { attempt: Attempt }) => this.#handle(request, attempt),
      },
      // This program makes attempts and pauses itself.
      maxAttempts: 1,
      expectContinueHeader: false,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      customUserAgent: 'groundswell',
      // This program reports faults itself.
      logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    }
    const client = new sdk.S3Client(config)
    if (this.#hasPair) return { sdk, client, from: 'AWS_ACCESS_KEY_ID' }
    try {
      await client.config.credentials()
      return { sdk, client, from: 'the AWS credential chain' }
    } catch (error) {
      const { name } = error as Error
      const named = NAMED_CREDENTIALS.find((variable) => (this.#context.environment[variable] ?? '') !== '')
      if (named !== undefined || name !== 'CredentialsProviderError') {
        this.#opened = null
        throw new StoreError(
          `${this.address}: ${named ?? 'the AWS credential chain'} gives no credentials (${CODE.test(name) ? name : 'unknown'})`,
          { passing: true, cause: error },
        )
      }
      // A public bucket is read without a signature.
      const unsigned = { signer: { sign: (request: unknown) => Promise.resolve(request) } } as object
      const credentials = { accessKeyId: 'none', secretAccessKey: 'none' }
      return { sdk, client: new sdk.S3Client({ ...config, ...unsigned, credentials }), from: null }
    }
  }

  /** What the SDK sends a request by. Bodies are bounded, except an object's. */
  async #handle(request: Request, attempt: Attempt): Promise<object> {
    const answer = await this.#web.ask({
      url: urlOf(request),
      method: request.method,
      headers: request.headers,
      body: request.body,
      signal: attempt.signal,
      prefix: `${attempt.what}: `,
    })
    const { status, headers } = answer
    const isObject = request.method === 'GET' && request.query?.['list-type'] === undefined
    let { body } = answer
    if (status !== 200 && status !== 206) body = Readable.from([await beginning(answer.body)])
    else if (!isObject) {
      const tooLarge = (): StoreError =>
        new StoreError(`${attempt.what}: has more than ${MAX_PAGE_BYTES} bytes`)
      body = Readable.from([await readUpTo(answer.body, MAX_PAGE_BYTES, tooLarge)])
    }
    attempt.answer = { status, headers, body }
    return { response: { statusCode: status, headers, body } }
  }

  /** The fault of an answer, in the words of who has to mend it. */
  #faultOf({ what, answer }: Attempt, opened: Opened, error: unknown): StoreError {
    const { from } = opened
    const { name, Region } = error as { name?: unknown; Region?: unknown }
    if (answer === null) {
      const code = typeof name === 'string' && CODE.test(name) ? name : 'unknown'
      // A source of credentials may answer the next time.
      const passing = name === 'CredentialsProviderError'
      return new StoreError(`${what}: the request cannot be made (${code}); check the credentials`, {
        passing,
        cause: error,
      })
    }
    const { status, headers } = answer
    const isCode =
      typeof name === 'string' && CODE.test(name) && !['Error', 'Unknown', 'UnknownError'].includes(name)
    const code = isCode ? name : ''
    const fault = { status, code: code === '' ? null : code, retryAfter: retryAfterOf(answer) }
    const lasting = (message: string): StoreError => new StoreError(message, fault)
    const again = (message: string): StoreError => new StoreError(message, { ...fault, passing: true })
    const said = code === '' ? String(status) : `${status} ${code}`
    const other = [headers['x-amz-bucket-region'], Region].find(
      (region): region is string => typeof region === 'string' && REGION.test(region),
    )
    const known = Object.hasOwn(LASTING, code) ? LASTING[code] : null
    if (known !== null) return lasting(`${what}: ${known[0]} (${said}); ${known[1]}`)
    switch (code) {
      case 'RequestTimeTooSkewed':
        return this.#skewed(what, answer, again, lasting)
      case 'ExpiredToken':
      case 'ExpiredTokenException':
      case 'InvalidToken':
        if (this.#hasPair) {
          return lasting(
            `${what}: the session token has expired (${said}); set AWS_SESSION_TOKEN and its key pair anew`,
          )
        }
        this.#reopen(opened)
        return again(`${what}: the session token has expired (${said})`)
      case 'XAmzContentSHA256Mismatch':
      case 'BadDigest':
        return again(`${what}: other bytes reached the store than were sent (${said})`)
      case 'RequestTimeout':
      case 'ConditionalRequestConflict':
      case 'OperationAborted':
        return again(`${what}: the store answered ${said}`)
    }
    const isElsewhere = status === 301 || status === 307 || code === 'AuthorizationHeaderMalformed'
    if (isElsewhere) {
      return lasting(
        other !== undefined && other !== this.#config.region
          ? `${what}: the bucket is in the region ${other} (${said}); set AWS_REGION=${other}`
          : `${what}: the bucket is somewhere else (${said}); check AWS_ENDPOINT_URL_S3 and AWS_REGION`,
      )
    }
    if (status === 401 || status === 403) {
      // A source of credentials that was away may be back for the next call.
      if (from === null) this.#reopen(opened)
      return lasting(
        from === null
          ? `${what}: the store refuses access without credentials (${said}); set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`
          : `${what}: the credentials of ${from} may not do this (${said}); check the policy of the bucket`,
      )
    }
    return (isPassing(status) ? again : lasting)(`${what}: the store answered ${said}`)
  }

  /** Has the next attempt look for credentials anew, unless another one has done so meanwhile. */
  #reopen(refused: Opened): void {
    if (this.#current === refused) this.#opened = null
  }

  /** A store refuses a clock too far off its own, which its answer tells: signing goes by that. */
  #skewed(
    what: string,
    { headers }: WebAnswer,
    again: (message: string) => StoreError,
    lasting: (message: string) => StoreError,
  ): StoreError {
    const store = Date.parse(headers.date ?? '') / 1000
    const offset = store - this.#context.clock()
    const minutes = Math.round(Math.abs(offset) / MINUTE_S)
    const isNew = Number.isFinite(offset) && Math.abs(offset - this.#clockOffset) > MINUTE_S
    if (!isNew) return lasting(`${what}: the store refuses the clock of this machine; set it`)
    this.#clockOffset = offset
    const message = `the clock of this machine is ${minutes} minutes ${offset > 0 ? 'behind' : 'ahead of'} the store's`
    this.#context.warn?.(
      `${this.address}: ${message}; requests are signed by the store's clock. Set the clock`,
    )
    return again(`${what}: ${message}`)
  }
}

/** The beginning of a fault's body. What cannot be read is left out: the status says enough. */
async function beginning(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= MAX_FAULT_BYTES) break
    }
  } catch {
    // The bytes that have come are all there is.
  }
  body.destroy()
  return Buffer.concat(chunks)
}

interface Request {
  readonly method: 'GET' | 'PUT' | 'DELETE'
  readonly protocol: string
  readonly hostname: string
  readonly port?: number
  readonly path: string
  readonly query?: { readonly [name: string]: string | string[] | null }
  readonly headers: { readonly [name: string]: string }
  readonly body?: Uint8Array | Readable
}

function urlOf({ protocol, hostname, port, path, query = {} }: Request): URL {
  const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`)
  const pairs = Object.entries(query).map(
    ([name, value]) => `${encoded(name)}=${encoded(String(value ?? ''))}`,
  )
  url.search = pairs.join('&')
  return url
}

/** As S3 signs it: everything but letters, digits and -._~ is escaped. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** No more than `bytes` of a file: one that grows meanwhile is refused by its hash. */
function fileStream(path: string, bytes: number): Readable {
  const stream = createReadStream(path, { end: Math.max(0, bytes - 1), highWaterMark: 256 * 1024 })
  // The sender hears of the fault, which may come before anybody listens.
  stream.on('error', () => {})
  return stream
}

const sendOptions = (attempt: Attempt): object => ({ attempt })

/** The objects of a page; null for something else than a listing. */
function objectsOf(output: ListObjectsV2CommandOutput): StoredObject[] | null {
  const { Contents = [], EncodingType } = output
  if (output.Name === undefined && output.Contents === undefined) return null
  if (output.IsTruncated === true && output.NextContinuationToken === undefined) return null
  const objects = Contents.map(({ Key = '', Size = NaN, LastModified }) => ({
    name: EncodingType === 'url' ? decoded(Key) : Key,
    bytes: Size,
    modified: (LastModified?.getTime() ?? NaN) / 1000,
  }))
  const isPlain = objects.every(
    ({ name, bytes, modified }) => name !== '' && Number.isSafeInteger(bytes) && Number.isFinite(modified),
  )
  return isPlain ? objects : null
}

/** Names are encoded as in forms; empty where a name cannot be decoded. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return ''
  }
}

/** The key pair of the environment; null where the SDK is to look for credentials. @throws StoreError */
function keyPairOf(environment: StoreContext['environment']) {
  const accessKeyId = environment.AWS_ACCESS_KEY_ID ?? ''
  const secretAccessKey = environment.AWS_SECRET_ACCESS_KEY ?? ''
  const sessionToken = environment.AWS_SESSION_TOKEN ?? ''
  if ((accessKeyId === '') !== (secretAccessKey === '')) {
    const [has, lacks] =
      accessKeyId === '' ? ['SECRET_ACCESS_KEY', 'ACCESS_KEY_ID'] : ['ACCESS_KEY_ID', 'SECRET_ACCESS_KEY']
    throw new StoreError(`AWS_${has} is set and AWS_${lacks} is not: set both, or neither`)
  }
  if (accessKeyId === '') return null
  for (const [name, value] of Object.entries({
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  })) {
    if (/\s/.test(value)) throw new StoreError(`${name}: holds white space`)
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken !== '' && { sessionToken }) }
}

function endpointOf(environment: StoreContext['environment']): S3ClientConfig & { region: string } {
  const region = environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION ?? ''
  if (region !== '' && !REGION.test(region))
    throw new StoreError('AWS_REGION: is not the name of a region such as eu-west-3')
  const style = environment.AWS_S3_ADDRESSING_STYLE ?? ''
  if (!['', 'auto', 'path', 'virtual'].includes(style)) {
    throw new StoreError('AWS_S3_ADDRESSING_STYLE: expected one of auto, path, virtual')
  }
  const variable = (environment.AWS_ENDPOINT_URL_S3 ?? '') === '' ? 'AWS_ENDPOINT_URL' : 'AWS_ENDPOINT_URL_S3'
  const endpoint = environment[variable] ?? ''
  const forcePathStyle = style === 'path' || (style !== 'virtual' && endpoint !== '')
  if (endpoint === '') return { region: region === '' ? 'us-east-1' : region, forcePathStyle }
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new StoreError(`${variable}: is not a URL such as https://s3.example.com`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new StoreError(
      `${variable}: holds a user or a password; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    )
  }
  return { region: region === '' ? guessedRegion(url) : region, endpoint, forcePathStyle }
}

/** The region where none is named: the one in the endpoint's host, or what most stores take. */
function guessedRegion({ hostname }: URL): string {
  if (hostname.endsWith('.r2.cloudflarestorage.com')) return 'auto'
  return /^s3[.-](?:dualstack\.)?([a-z]{2,3}(?:-[a-z0-9]+)+)\./.exec(hostname)?.[1] ?? 'us-east-1'
}
