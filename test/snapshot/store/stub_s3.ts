/**
 * A bucket for tests, in memory, over HTTP on a loopback port. It looks at who asks and not at the signature,
 * honours or ignores conditions, and fails on command.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { Chance } from '../../chance.ts'

interface StubOptions {
  /** The session token that requests must carry; null for none. */
  sessionToken?: string | null
  /** What requests without a signature may do. */
  anonymous?: 'nothing' | 'read'
  /** Whether If-None-Match and If-Match of a PUT are obeyed; several stores ignore them without a word. */
  conditions?: 'honour' | 'ignore' | 'refuse' | 'only If-None-Match'
  /** Epoch milliseconds; what Date and LastModified say, and what signatures are compared with. */
  clock?: () => number
  /** Objects of one page of a listing. */
  pageSize?: number
}

/** What goes wrong with one request. */
const FAULTS = {
  '503': 'SlowDown',
  '500': 'InternalError',
  hang: 'never answers',
  reset: 'cuts before anything is done',
  lost: 'does it, and cuts instead of answering',
  trickle: 'sends a byte every 20 ms',
  stall: 'sends half and no more',
  truncate: 'sends half and cuts',
  wrong: 'flips a bit',
  old: 'serves what the object was before',
}
export type Fault = keyof typeof FAULTS

export interface StubRequest {
  method: string
  /** Within the bucket. */
  key: string
  headers: IncomingMessage['headers']
}

interface Version {
  bytes: Buffer
  etag: string
  modified: number
}

const escapeXml = (text: string): string => text.replaceAll(/[&<>"]/g, (c) => `&#${c.codePointAt(0)!};`)
const xmlOf = (root: string, content: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><${root}>${content}</${root}>`

const SKEW_MS = 15 * 60_000

/** A refusal with its status and S3's code. */
class Refusal {
  readonly status: number
  readonly code: string
  readonly more: string
  constructor(status: number, code: string, more = '') {
    this.status = status
    this.code = code
    this.more = more
  }
}

interface Reply {
  status: number
  headers: { [name: string]: string }
  body: Buffer
}

const BUCKET = {
  bucket: 'bucket',
  region: 'us-east-1',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}

export class StubS3 {
  readonly options: Required<StubOptions> & typeof BUCKET
  /** Each object with all that it was, oldest first. */
  readonly objects = new Map<string, Version[]>()
  /** All requests, as `METHOD KEY STATUS`. */
  readonly log: string[] = []
  /** Decides what goes wrong with a request. */
  faultOf: (request: StubRequest) => Fault | null = () => null
  readonly #server: Server
  port = 0

  constructor(options: StubOptions = {}) {
    this.options = {
      ...BUCKET,
      sessionToken: null,
      anonymous: 'nothing',
      conditions: 'honour',
      clock: Date.now,
      pageSize: 1000,
      ...options,
    }
    this.#server = createServer((request, response) => void this.#serve(request, response))
    this.#server.keepAliveTimeout = 1000
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(0, '127.0.0.1', resolve)
    })
    this.port = (this.#server.address() as AddressInfo).port
    return this
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** What a client needs in its environment. */
  get environment(): { [name: string]: string } {
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.options
    return {
      AWS_ENDPOINT_URL_S3: this.endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      ...(sessionToken !== null && { AWS_SESSION_TOKEN: sessionToken }),
    }
  }

  /** The bytes of an object now; undefined where there is none. */
  bytesOf(key: string): Buffer | undefined {
    return this.objects.get(key)?.at(-1)?.bytes
  }

  /** Stores an object without a request. @param modified epoch milliseconds */
  set(key: string, bytes: Buffer | string, modified = this.options.clock()): void {
    const body = Buffer.from(bytes)
    const etag = `"${createHash('md5').update(body).digest('hex')}"`
    this.objects.set(key, [...(this.objects.get(key) ?? []), { bytes: body, etag, modified }])
  }

  keys(prefix = ''): string[] {
    return [...this.objects.keys()].filter((key) => key.startsWith(prefix)).toSorted()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? ''
    let key = ''
    try {
      const chunks: Buffer[] = []
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
      const body = Buffer.concat(chunks)
      const [path, query = ''] = (request.url ?? '/').split('?')
      const decodedPath = path.split('/').map(decodeURIComponent).join('/')
      const { bucket } = this.options
      const isVirtual = (request.headers.host ?? '').startsWith(`${bucket}.`)
      const [named, ...rest] = decodedPath.slice(1).split('/')
      key = isVirtual ? decodedPath.slice(1) : rest.join('/')
      const fault = this.faultOf({ method, key, headers: request.headers })
      if (fault === 'hang') return
      if (fault === 'reset') {
        request.socket.destroy()
        return
      }
      if (fault === '503' || fault === '500') throw new Refusal(Number(fault), FAULTS[fault])
      this.#authorize(request, method, body)
      if (!isVirtual && named !== bucket) throw new Refusal(404, 'NoSuchBucket')
      const answer = this.#answer({ method, key, headers: request.headers }, query, body, fault)
      if (fault === 'lost') {
        this.log.push(`${method} ${key} lost`)
        request.socket.destroy()
        return
      }
      this.log.push(`${method} ${key} ${answer.status}`)
      await this.#send(response, answer, fault)
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(500, 'InternalError', String(error))
      this.log.push(`${method} ${key} ${refusal.status} ${refusal.code}`)
      if (response.headersSent || response.destroyed) return
      response.writeHead(refusal.status, {
        'content-type': 'application/xml',
        date: new Date(this.options.clock()).toUTCString(),
      })
      response.end(xmlOf('Error', `<Code>${refusal.code}</Code><Message>no</Message>${refusal.more}`))
    }
  }

  /** Who asks, where and when; signatures are the SDK's own affair. */
  #authorize({ headers }: IncomingMessage, method: string, body: Buffer): void {
    const { accessKeyId, sessionToken, region, anonymous, clock } = this.options
    const { authorization } = headers
    if (authorization === undefined) {
      if (anonymous === 'read' && method === 'GET') return
      throw new Refusal(403, 'AccessDenied')
    }
    const [, id, signedRegion] = /Credential=([^/]+)\/\d{8}\/([^/]+)\/s3\//.exec(authorization) ?? []
    if (id !== accessKeyId) throw new Refusal(403, 'InvalidAccessKeyId')
    if (signedRegion !== region) {
      throw new Refusal(400, 'AuthorizationHeaderMalformed', `<Region>${region}</Region>`)
    }
    const time = String(headers['x-amz-date'])
    const at = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
    if (!(Math.abs(at - clock()) <= SKEW_MS)) throw new Refusal(403, 'RequestTimeTooSkewed')
    if (sessionToken !== null && headers['x-amz-security-token'] !== sessionToken) {
      throw new Refusal(400, 'ExpiredToken')
    }
    const said = headers['x-amz-content-sha256']
    if (said !== 'UNSIGNED-PAYLOAD' && said !== createHash('sha256').update(body).digest('hex')) {
      throw new Refusal(400, 'XAmzContentSHA256Mismatch')
    }
  }

  #answer({ method, key, headers }: StubRequest, query: string, body: Buffer, fault: Fault | null): Reply {
    const date = new Date(this.options.clock()).toUTCString()
    const versions = this.objects.get(key)
    const current = versions?.at(-1)
    if (method === 'PUT') {
      const { conditions } = this.options
      const ifNoneMatch = headers['if-none-match']
      const ifMatch = headers['if-match']
      if (conditions === 'refuse' && (ifNoneMatch ?? ifMatch) !== undefined) {
        throw new Refusal(501, 'NotImplemented')
      }
      if (conditions === 'honour' && ifMatch !== undefined) {
        if (current === undefined) throw new Refusal(404, 'NoSuchKey')
        if (ifMatch !== current.etag) throw new Refusal(412, 'PreconditionFailed')
      }
      if (conditions !== 'ignore' && ifNoneMatch === '*' && current !== undefined) {
        throw new Refusal(412, 'PreconditionFailed')
      }
      this.set(key, body)
      return {
        status: 200,
        headers: { date, etag: this.objects.get(key)!.at(-1)!.etag },
        body: Buffer.alloc(0),
      }
    }
    if (method === 'DELETE') {
      this.objects.delete(key)
      return { status: 204, headers: { date }, body: Buffer.alloc(0) }
    }
    if (method !== 'GET') throw new Refusal(405, 'MethodNotAllowed')
    if (key === '') return { status: 200, headers: { date }, body: this.#listing(new URLSearchParams(query)) }
    const served = fault === 'old' ? (versions?.at(-2) ?? current) : current
    if (served === undefined) throw new Refusal(404, 'NoSuchKey')
    const { bytes, etag, modified } = served
    const base = { date, etag, 'last-modified': new Date(modified).toUTCString() }
    if (headers['if-none-match'] === etag) return { status: 304, headers: base, body: Buffer.alloc(0) }
    return { status: 200, headers: base, body: bytes }
  }

  #listing(query: URLSearchParams): Buffer {
    const prefix = query.get('prefix') ?? ''
    const after = query.get('continuation-token')
    const all = this.keys(prefix).filter(
      (key) => after === null || key > Buffer.from(after, 'base64').toString(),
    )
    const page = all.slice(0, this.options.pageSize)
    const entries = page.map((key) => {
      const { bytes, etag, modified } = this.objects.get(key)!.at(-1)!
      const time = new Date(modified).toISOString()
      return `<Contents><Key>${escapeXml(key)}</Key><LastModified>${time}</LastModified><ETag>${escapeXml(etag)}</ETag><Size>${bytes.length}</Size></Contents>`
    })
    const isTruncated = all.length > page.length
    const token = Buffer.from(page.at(-1) ?? '').toString('base64')
    const next = isTruncated ? `<NextContinuationToken>${token}</NextContinuationToken>` : ''
    const head = `<Name>${this.options.bucket}</Name><IsTruncated>${isTruncated}</IsTruncated>${next}`
    return Buffer.from(xmlOf('ListBucketResult', head + entries.join('')))
  }

  async #send(
    response: ServerResponse,
    { status, headers, body }: Reply,
    fault: Fault | null,
  ): Promise<void> {
    const bytes = Buffer.from(body)
    if (fault === 'wrong' && bytes.length > 0) bytes[bytes.length >> 1] ^= 1
    response.writeHead(status, {
      ...headers,
      ...(status !== 204 && status !== 304 && { 'content-length': String(bytes.length) }),
    })
    const half = bytes.subarray(0, bytes.length >> 1)
    if (fault === 'trickle') {
      for (let at = 0; at < bytes.length && !response.destroyed; at++) {
        response.write(bytes.subarray(at, at + 1))
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      response.end()
    } else if (fault === 'stall') response.write(half)
    else if (fault === 'truncate') response.write(half, () => response.destroy())
    else response.end(bytes)
  }
}

/** Fails about one call in `oneIn`, in an order that depends on `seed` alone. */
export function sometimes(
  oneIn: number,
  faults: readonly Fault[],
  seed = 1,
): (request: StubRequest) => Fault | null {
  const chance = new Chance(seed)
  return () => (chance.below(oneIn) === 0 ? chance.pick(faults) : null)
}

/** A stub of a bucket that ends with the test. */
export async function stubFor(t: TestContext, options: StubOptions = {}): Promise<StubS3> {
  const stub = await new StubS3(options).listen()
  t.after(() => stub.close())
  return stub
}
