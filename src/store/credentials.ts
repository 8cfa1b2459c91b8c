/**
 * Credentials of a bucket: a key pair of the environment, with a session token or not; what a container's
 * endpoint gives, renewed before it expires; or none, for public buckets.
 */
import { readRegularFileSync } from '../system/files.ts'
import { errorCode } from '../system/file-faults.ts'
import { Calls, isPassing, wholeBody } from './calls.ts'
import { StoreError, type StoreContext } from './store.ts'

export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

export interface CredentialSource {
  /** Where they come from, for messages; null where there are none. */
  readonly from: string | null
  /** Null where there are none: requests are not signed. @throws StoreError */
  current(): Promise<Credentials | null>
  /** The store refused what `current` gave as expired. Whether asking again may give others. */
  renew(): boolean
}

/** Where ECS gives credentials under a path alone. */
const ECS_ORIGIN = 'http://169.254.170.2'
/** Hosts that may be asked without TLS: this machine, and the agents of ECS and EKS on it. */
const PLAIN_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|169\.254\.170\.(2|23)|\[fd00:ec2::23\])$/
/** What is left of a time to live when new credentials are asked for, in seconds. */
const RENEW_AHEAD_S = 300
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_TOKEN_BYTES = 64 * 1024

/** @throws StoreError for half a pair, or an endpoint that must not be asked */
export function credentialsOf(context: StoreContext): CredentialSource {
  const { environment } = context
  const id = environment.AWS_ACCESS_KEY_ID ?? ''
  const secret = environment.AWS_SECRET_ACCESS_KEY ?? ''
  if ((id === '') !== (secret === '')) {
    const [has, lacks] =
      id === '' ? ['SECRET_ACCESS_KEY', 'ACCESS_KEY_ID'] : ['ACCESS_KEY_ID', 'SECRET_ACCESS_KEY']
    throw new StoreError(`AWS_${has} is set and AWS_${lacks} is not: set both, or neither`)
  }
  if (id !== '') {
    for (const [name, value] of Object.entries({ AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret })) {
      if (/\s/.test(value)) throw new StoreError(`${name}: holds white space`)
    }
    const token = environment.AWS_SESSION_TOKEN ?? ''
    const pair = { accessKeyId: id, secretAccessKey: secret, ...(token !== '' && { sessionToken: token }) }
    return { from: 'AWS_ACCESS_KEY_ID', current: () => Promise.resolve(pair), renew: () => false }
  }
  const endpoint = containerEndpoint(environment)
  if (endpoint !== null) return new ContainerCredentials(endpoint, context)
  return { from: null, current: () => Promise.resolve(null), renew: () => false }
}

function containerEndpoint(environment: StoreContext['environment']): { url: URL; variable: string } | null {
  const relative = environment.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI ?? ''
  const full = environment.AWS_CONTAINER_CREDENTIALS_FULL_URI ?? ''
  const [text, variable] =
    relative === ''
      ? [full, 'AWS_CONTAINER_CREDENTIALS_FULL_URI']
      : [`${ECS_ORIGIN}${relative}`, 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI']
  if (text === '') return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) throw new StoreError(`${variable}: is not a URL`)
  if (relative !== '' && url.origin !== ECS_ORIGIN) {
    throw new StoreError(`${variable}: is not a path that begins with "/"`)
  }
  if (url.protocol === 'http:' && !PLAIN_HOST.test(url.hostname)) {
    throw new StoreError(
      `${variable}: ${url.host} would get the authorization token without TLS; expected https://, or http:// to loopback, 169.254.170.2, 169.254.170.23 or fd00:ec2::23`,
    )
  }
  return { url, variable }
}

/** What the endpoint of ECS, EKS or a side-car gives. */
class ContainerCredentials implements CredentialSource {
  readonly from: string
  readonly #url: URL
  readonly #context: StoreContext
  #known: { credentials: Credentials; expires: number } | null = null
  #asking: Promise<Credentials> | null = null

  constructor({ url, variable }: { url: URL; variable: string }, context: StoreContext) {
    this.from = variable
    this.#url = url
    this.#context = context
  }

  async current(): Promise<Credentials> {
    const left = this.#known === null ? -Infinity : this.#known.expires - this.#context.clock()
    if (this.#known !== null && left > RENEW_AHEAD_S) return this.#known.credentials
    try {
      return await (this.#asking ??= this.#ask().finally(() => (this.#asking = null)))
    } catch (error) {
      // Those that still hold are better than none.
      if (this.#known !== null && left > 0) return this.#known.credentials
      throw error
    }
  }

  renew(): boolean {
    const had = this.#known !== null
    this.#known = null
    return had
  }

  async #ask(): Promise<Credentials> {
    const calls = new Calls(this.#context)
    const what = `${this.from} (${this.#url.host})`
    try {
      const bytes = await calls.attempt(
        {
          what,
          make: () =>
            Promise.resolve({
              method: 'GET' as const,
              url: this.#url,
              headers: { accept: 'application/json', ...this.#authorization() },
            }),
          accepted: new Set([200]),
          faultOf: ({ status }) =>
            new StoreError(`${what}: answered ${status} instead of credentials`, {
              status,
              passing: isPassing(status),
            }),
        },
        (answer) => wholeBody(what, answer, MAX_ANSWER_BYTES),
      )
      this.#known = parseCredentials(bytes, what, this.#context.clock())
      return this.#known.credentials
    } finally {
      await calls.close()
    }
  }

  /** Read anew each time: EKS replaces the file. */
  #authorization(): { authorization?: string } {
    const { environment } = this.#context
    const file = environment.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE ?? ''
    let token = environment.AWS_CONTAINER_AUTHORIZATION_TOKEN ?? ''
    if (file !== '') {
      try {
        token = readRegularFileSync(file, MAX_TOKEN_BYTES).toString('utf8').trim()
      } catch (error) {
        throw new StoreError(
          `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: ${file} cannot be read (${errorCode(error)})`,
          { cause: error },
        )
      }
    }
    if (/[^\x20-\x7e]/.test(token)) {
      throw new StoreError('AWS_CONTAINER_AUTHORIZATION_TOKEN: holds line breaks or other control characters')
    }
    return token === '' ? {} : { authorization: token }
  }
}

function parseCredentials(
  bytes: Buffer,
  what: string,
  now: number,
): { credentials: Credentials; expires: number } {
  const malformed = new StoreError(`${what}: answered something else than credentials`)
  let body: { [name: string]: unknown } | null
  try {
    body = JSON.parse(bytes.toString('utf8')) as { [name: string]: unknown } | null
  } catch {
    throw malformed
  }
  const { AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: expiration } = body ?? {}
  if (typeof id !== 'string' || typeof secret !== 'string' || id === '' || secret === '') throw malformed
  const expires = typeof expiration === 'string' ? Date.parse(expiration) / 1000 : Infinity
  return {
    credentials: {
      accessKeyId: id,
      secretAccessKey: secret,
      ...(typeof token === 'string' && token !== '' && { sessionToken: token }),
    },
    // What does not say when it expires is asked for again after a while.
    expires: Number.isFinite(expires) ? expires : now + 2 * RENEW_AHEAD_S,
  }
}
