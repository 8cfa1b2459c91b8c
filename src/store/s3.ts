/** A bucket as a store: S3's requests, signed where there are credentials, and what its faults mean. */
import { AwsV4Signer } from 'aws4fetch'
import { createHash } from 'node:crypto'
import type { StoreAddress } from './address.ts'
import {
  Calls,
  isPassing,
  retryAfterOf,
  wholeBody,
  type Call,
  type CallAnswer,
  type CallPlan,
} from './calls.ts'
import { credentialsOf, type CredentialSource } from './credentials.ts'
import { READ_STATUSES, readHeaders, readStream, readWhole } from './reading.ts'
import { readFault, readListing } from './s3-xml.ts'
import {
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
  type StoreObject,
} from './store.ts'

/** Of no bytes. */
const EMPTY_SHA256 = createHash('sha256').digest('hex')
/** Of one page of a listing: 1,000 names of 1,024 bytes and what stands around them. */
const MAX_PAGE_BYTES = 8 * 2 ** 20
/** Objects of a listing, unless the caller expects fewer. */
const MOST_OBJECTS = 1_000_000

/**
 * A clock that is off by more than this is reported when the store refuses it. S3 itself allows 15 minutes.
 */
const MINUTE_S = 60

const REGION = /^[a-z0-9-]{1,32}$/

/** How a bucket is addressed. */
interface Endpoint {
  /** Ends with a slash, and with the bucket where that is part of the path. */
  base: URL
  region: string
}

export class S3Store implements Store {
  readonly address: string
  readonly #prefix: string
  readonly #endpoint: Endpoint
  readonly #credentials: CredentialSource
  readonly #calls: Calls
  readonly #context: StoreContext
  readonly #signingKeys = new Map<string, ArrayBuffer>()
  /** Seconds by which the store's clock is ahead of ours; 0 until the store refuses ours. */
  #clockOffset = 0

  /** @throws StoreError for settings of the environment that cannot be used */
  constructor(address: StoreAddress & { kind: 's3' }, context: StoreContext) {
    this.address = address.text
    this.#prefix = address.prefix
    this.#endpoint = endpointOf(address.bucket, context.environment)
    this.#credentials = credentialsOf(context)
    this.#calls = new Calls(context)
    this.#context = context
  }

  get(name: string, options: GetOptions = {}): Promise<StoreAnswer> {
    return readStream(this.#calls, this.#readPlan(name, options))
  }

  read(name: string, options: ReadOptions): Promise<StoreObject | 'unchanged' | null> {
    return readWhole(this.#calls, this.#readPlan(name, options), options.maxBytes)
  }

  async put(name: string, body: PutBody, options: PutOptions = {}): Promise<'stored' | 'present'> {
    const { ifNoneMatch, type, cacheControl, signal } = options
    const sha256 =
      options.sha256 ??
      (body instanceof Uint8Array ? createHash('sha256').update(body).digest('hex') : 'UNSIGNED-PAYLOAD')
    const headers = {
      'content-type': type ?? 'application/octet-stream',
      'x-amz-content-sha256': sha256,
      ...(cacheControl !== undefined && { 'cache-control': cacheControl }),
      ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
    }
    const answer = await this.#calls.answer(
      this.#plan(name, new Set(ifNoneMatch === undefined ? [200] : [200, 412]), signal, () => ({
        method: 'PUT',
        url: this.#urlOf(name),
        headers,
        body,
      })),
    )
    answer.body.resume()
    return answer.status === 412 ? 'present' : 'stored'
  }

  async list(
    prefix: string,
    { most = MOST_OBJECTS, signal }: { most?: number; signal?: AbortSignal | undefined } = {},
  ): Promise<Listing> {
    const objects: StoredObject[] = []
    let now: number | null = null
    let token: string | null = null
    do {
      const url = new URL(this.#endpoint.base)
      const query = {
        'list-type': '2',
        prefix: `${this.#prefix}${prefix}`,
        'encoding-type': 'url',
        ...(token !== null && { 'continuation-token': token }),
      }
      url.search = new URLSearchParams(query).toString().replaceAll('+', '%20')
      const plan = this.#plan(prefix, new Set([200]), signal, () => ({ method: 'GET', url, headers: {} }))
      const { page, date } = await this.#calls.attempt(plan, async (answer) => {
        const xml = await wholeBody(plan.what, answer, MAX_PAGE_BYTES)
        return { page: readListing(xml.toString('utf8')), date: Date.parse(answer.headers.date ?? '') / 1000 }
      })
      if (page === null) {
        throw new StoreError(
          `${this.address}: what answers is not S3: it lists no objects; check AWS_ENDPOINT_URL_S3`,
        )
      }
      now ??= Number.isFinite(date) ? date : null
      for (const { name, ...rest } of page.objects) {
        if (name.startsWith(this.#prefix)) objects.push({ name: name.slice(this.#prefix.length), ...rest })
      }
      if (objects.length > most) {
        throw new StoreError(
          `${this.address}: has more than ${most} objects, so it is not a folder of snapshots`,
        )
      }
      token = page.next
    } while (token !== null)
    return { objects, now }
  }

  async remove(name: string, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    const plan = this.#plan(name, new Set([200, 204, 404]), signal, () => ({
      method: 'DELETE',
      url: this.#urlOf(name),
      headers: {},
    }))
    const { body } = await this.#calls.answer(plan)
    body.resume()
  }

  close(): Promise<void> {
    return this.#calls.close()
  }

  #urlOf(name: string): URL {
    const key = `${this.#prefix}${name}`
    return new URL(key.split('/').map(encoded).join('/'), this.#endpoint.base)
  }

  #readPlan(name: string, options: GetOptions): CallPlan {
    return this.#plan(name, READ_STATUSES, options.signal, () => ({
      method: 'GET',
      url: this.#urlOf(name),
      headers: readHeaders(options),
    }))
  }

  #plan(
    name: string,
    accepted: ReadonlySet<number>,
    signal: AbortSignal | undefined,
    make: () => Call,
  ): CallPlan {
    const what = `${this.address}/${name}`.replace(/\/$/, '')
    return {
      what,
      make: () => this.#signed(make()),
      accepted,
      faultOf: (answer, text) => this.#faultOf(what, answer, text),
      signal,
    }
  }

  async #signed(call: Call): Promise<Call> {
    const credentials = await this.#credentials.current()
    const headers = { 'x-amz-content-sha256': EMPTY_SHA256, ...call.headers }
    if (credentials === null) return { ...call, headers }
    const now = (this.#context.clock() + this.#clockOffset) * 1000
    const signed = await new AwsV4Signer({
      ...credentials,
      method: call.method,
      url: call.url.href,
      headers,
      service: 's3',
      region: this.#endpoint.region,
      cache: this.#signingKeys,
      datetime: new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
    }).sign()
    return { ...call, headers: Object.fromEntries(signed.headers) }
  }

  /** The fault of an answer, in the words of who has to mend it. */
  #faultOf(what: string, answer: CallAnswer, text: string): StoreError {
    const { status, headers } = answer
    const { code, region } = readFault(text)
    const fault = { status, code: code === '' ? null : code, retryAfter: retryAfterOf(answer) }
    const lasting = (message: string): StoreError => new StoreError(message, fault)
    const again = (message: string): StoreError => new StoreError(message, { ...fault, passing: true })
    const said = code === '' ? String(status) : `${status} ${code}`
    const other = REGION.test(headers['x-amz-bucket-region'] ?? '') ? headers['x-amz-bucket-region'] : region
    switch (code) {
      case 'RequestTimeTooSkewed':
        return this.#skewed(what, answer, again, lasting)
      case 'ExpiredToken':
      case 'ExpiredTokenException':
      case 'InvalidToken':
        return this.#credentials.renew()
          ? again(`${what}: the session token has expired (${said})`)
          : lasting(
              `${what}: the session token has expired (${said}); set AWS_SESSION_TOKEN and its key pair anew`,
            )
      case 'InvalidAccessKeyId':
        return lasting(`${what}: the store does not know this access key (${said}); check AWS_ACCESS_KEY_ID`)
      case 'SignatureDoesNotMatch':
        return lasting(
          `${what}: the secret does not fit the access key (${said}); check AWS_SECRET_ACCESS_KEY`,
        )
      case 'NoSuchBucket':
        return lasting(
          `${what}: there is no such bucket (${said}); check the address and AWS_ENDPOINT_URL_S3`,
        )
      case 'XAmzContentSHA256Mismatch':
      case 'BadDigest':
        return again(`${what}: other bytes reached the store than were sent (${said})`)
      case 'RequestTimeout':
      case 'ConditionalRequestConflict':
      case 'OperationAborted':
        return again(`${what}: the store answered ${said}`)
    }
    const isElsewhere = status === 301 || status === 307 || code === 'AuthorizationHeaderMalformed'
    if (isElsewhere && other !== '' && other !== this.#endpoint.region) {
      return lasting(`${what}: the bucket is in the region ${other} (${said}); set AWS_REGION=${other}`)
    }
    if (isElsewhere)
      return lasting(
        `${what}: the bucket is somewhere else (${said}); check AWS_ENDPOINT_URL_S3 and AWS_REGION`,
      )
    if (status === 401 || status === 403) {
      const { from } = this.#credentials
      return lasting(
        from === null
          ? `${what}: the store refuses access without credentials (${said}); set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`
          : `${what}: the credentials of ${from} may not do this (${said}); check the policy of the bucket`,
      )
    }
    return isPassing(status)
      ? again(`${what}: the store answered ${said}`)
      : lasting(`${what}: the store answered ${said}`)
  }

  /**
   * A store refuses a clock that is too far off its own. Its own is in its answer, so signing goes by that.
   */
  #skewed(
    what: string,
    { headers }: CallAnswer,
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

/** Where a bucket is, by the environment. @throws StoreError */
function endpointOf(bucket: string, environment: StoreContext['environment']): Endpoint {
  const region = environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION ?? ''
  if (region !== '' && !REGION.test(region))
    throw new StoreError('AWS_REGION: is not the name of a region such as eu-west-3')
  const variable = (environment.AWS_ENDPOINT_URL_S3 ?? '') === '' ? 'AWS_ENDPOINT_URL' : 'AWS_ENDPOINT_URL_S3'
  const custom = environment[variable] ?? ''
  const style = environment.AWS_S3_ADDRESSING_STYLE ?? ''
  if (!['', 'auto', 'path', 'virtual'].includes(style)) {
    throw new StoreError('AWS_S3_ADDRESSING_STYLE: expected one of auto, path, virtual')
  }
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  const text = custom === '' ? `https://s3.${region === '' ? 'us-east-1' : region}.${suffix}` : custom
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new StoreError(`${variable}: is not a URL such as https://s3.example.com`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new StoreError(
      `${variable}: holds a user or a password; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    )
  }
  // The certificate of AWS covers one label: a bucket with dots has to be in the path.
  const isVirtual = style === 'virtual' || (style !== 'path' && custom === '' && !bucket.includes('.'))
  const base = new URL(url)
  if (isVirtual) base.hostname = `${bucket}.${url.hostname}`
  base.pathname = `${url.pathname.replace(/\/$/, '')}/${isVirtual ? '' : `${bucket}/`}`
  return { base, region: region === '' ? guessedRegion(url) : region }
}

/** The region where none is named: the one in the endpoint's host, or what most stores take. */
function guessedRegion({ hostname }: URL): string {
  if (hostname.endsWith('.r2.cloudflarestorage.com')) return 'auto'
  return /^s3[.-](?:dualstack\.)?([a-z]{2,3}(?:-[a-z0-9]+)+)\./.exec(hostname)?.[1] ?? 'us-east-1'
}

/** As S3 signs it: everything but letters, digits and -._~ is escaped. */
function encoded(segment: string): string {
  return encodeURIComponent(segment).replaceAll(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
