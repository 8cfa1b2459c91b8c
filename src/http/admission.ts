/**
 * The API key of a request and the quota that it is charged to. Pages of this server may read keyed
 * operations without a key if its operator opens the explorer.
 */
import type { AddressCounters } from '../access/address-counters.ts'
import { resetAt, retryAfter } from '../access/hours.ts'
import { type KeyRing, KnownKeys } from '../access/key-ring.ts'
import type { QuotaCounters } from '../access/quota.ts'
import type { TrustedProxies } from '../access/trusted-proxies.ts'
import { ApiError } from '../operation/errors.ts'
import type { RawQuery } from '../operation/query.ts'
import type { Exchange } from './exchange.ts'
import { placeOf } from './connections.ts'
import type { Holder } from './listeners.ts'
import type { Counters } from './counters.ts'

/** Pages read without a key: always, while data are a demo, if no proxy speaks for the visitor, never. */
export type AnonymousAccess = 'open' | 'demo' | 'direct' | 'keyed'

export interface AdmissionOptions {
  quota: QuotaCounters
  /** Null if nobody without a key is counted. */
  addresses: AddressCounters | null
  proxies: TrustedProxies
  /** Calls per hour and address on public operations without a key; 0 is unlimited. */
  anonymousQuota: number
  anonymousAccess: AnonymousAccess
  /** Calls per hour and address of pages that read without a key, at least 1. */
  explorerQuota: number
  counters: Counters
  /** Gets warnings of settings that the operator probably does not mean. */
  onWarning: (message: string) => void
}

/** The charge that rate headers show. */
export interface Charge {
  limit: number
  remaining: number
  /** Epoch seconds. */
  reset: number
}

const CANNOT_CHECK = new ApiError(
  'service_unavailable',
  'Quotas cannot be checked at the moment. Try again in a second',
  null,
  1,
)
const NO_KEY_REFUSAL = new ApiError('unauthorized', 'API key required')
const SEND_IT = 'Send it in the header Authorization: Bearer KEY, or as the parameter api_key=KEY'
const WITHOUT_BEARER = new ApiError(
  'unauthorized',
  `API key required: Authorization came without Bearer. ${SEND_IT}`,
)
const OTHER_HEADER = new ApiError('unauthorized', `API key required: X-API-Key is not read. ${SEND_IT}`)
const OTHER_PARAMETER = new ApiError(
  'unauthorized',
  `API key required: it came as another parameter. ${SEND_IT}`,
)

/** Parameters in which other services take a key. */
const KEY_PARAMETERS = ['key', 'apikey', 'apiKey', 'api-key', 'token', 'access_token']

/** The refusal of a request without a key. It names a key that came in another form. */
function withoutKey(exchange: Exchange, { names }: RawQuery): ApiError {
  const authorization = exchange.header('authorization')
  // `Bearer` alone is a key that is missing.
  if (authorization !== '' && !/^bearer\s*$/i.test(authorization)) return WITHOUT_BEARER
  if (exchange.header('x-api-key') !== '') return OTHER_HEADER
  return KEY_PARAMETERS.some((name) => names.includes(name)) ? OTHER_PARAMETER : NO_KEY_REFUSAL
}
const BAD_KEY_REFUSAL = new ApiError('unauthorized', 'Invalid API key')

/** `NO_KEY` and `BAD_KEY` take the place of a row of the key ring. */
const NO_KEY = -2
const BAD_KEY = -1

const BEARER = 'bearer '

/** The client of a request, and its charge. */
export interface Client {
  /** Why the request is refused, or null. */
  readonly refusal: ApiError | null
  /** Row in the key ring, −1 without a valid key. */
  readonly keyRow: number
  /** Slot of the key, −1 without a key. */
  readonly slot: number
  /** A page of this server was let in without a key. */
  readonly isPage: boolean
  /** The answer is for the client alone: a key, good or bad, came with the request, or it was charged. */
  readonly isPersonal: boolean
  readonly charge: Charge | null
  /** Address that was charged, '' with a key. */
  readonly address: string
}

export class Admission {
  readonly #options: AdmissionOptions
  #keys: KeyRing
  #known = new KnownKeys()

  constructor(options: AdmissionOptions, keys: KeyRing) {
    this.#options = options
    this.#keys = keys
  }

  setKeys(keys: KeyRing): void {
    this.#keys = keys
    this.#known = new KnownKeys()
  }

  /** Charges a request. `isDemo`: the data served are a demo. */
  admit(
    exchange: Exchange,
    access: 'keyed' | 'public',
    query: RawQuery,
    now: number,
    isDemo: boolean,
  ): Client {
    const { addresses, anonymousQuota, anonymousAccess, explorerQuota, counters } = this.#options
    const row = this.#keyRow(exchange, query)
    if (row >= 0) return this.#chargeKey(row, now)
    if (access === 'public') {
      return anonymousQuota === 0 || addresses === null
        ? clientOf({ isPersonal: row !== NO_KEY })
        : this.#chargeAddress(exchange, anonymousQuota, now, false)
    }
    if (row === NO_KEY && addresses !== null && isAnonymousRead(exchange, anonymousAccess, isDemo)) {
      counters.count('explorer_reads')
      return this.#chargeAddress(exchange, explorerQuota, now, true)
    }
    counters.count('unauthorized')
    if (row === NO_KEY && anonymousAccess === 'direct') this.#lookForLockedPage(exchange, now)
    if (row === BAD_KEY) {
      counters.count('bad_keys')
      return clientOf({ refusal: BAD_KEY_REFUSAL, isPersonal: true })
    }
    return clientOf({ refusal: withoutKey(exchange, query) })
  }

  #chargeKey(row: number, now: number): Client {
    const { quota, counters } = this.#options
    const slot = this.#keys.slot(row)
    const limit = this.#keys.quota(row)
    if (quota.isClosed) {
      counters.count('quota_away')
      return clientOf({ refusal: CANNOT_CHECK, keyRow: row, slot, isPersonal: true })
    }
    const remaining = quota.take(slot, limit, now)
    const charge = chargeOf(limit, remaining, now)
    const refusal = remaining >= 0 ? null : this.#usedUp(limit, now)
    return { refusal, keyRow: row, slot, isPage: false, isPersonal: true, charge, address: '' }
  }

  #chargeAddress(exchange: Exchange, limit: number, now: number, isPage: boolean): Client {
    const { addresses, proxies, counters } = this.#options
    const peer = exchange.address()
    const address = addressOf(exchange, proxies, peer)
    const remaining = addresses!.take(address, limit, now, isPage ? 'page' : 'public')
    // Once an hour, an address has exactly this number of calls left.
    if (remaining === limit >> 1) this.#lookForProxy(exchange, peer, now)
    const charge = chargeOf(limit, remaining, now)
    let refusal: ApiError | null = null
    if (remaining < 0) {
      refusal = this.#usedUp(limit, now)
      counters.count(isPage ? 'explorer_refused' : 'rate_limited_addresses')
    }
    return { refusal, keyRow: -1, slot: -1, isPage, isPersonal: true, charge, address }
  }

  /** The holder of the stream that `client` begins. `isDemo`: the data served then are a demo. */
  holder(
    { keyRow, slot, address }: Client,
    clock: () => number,
    isDemo: () => boolean,
  ): Holder & { place: number } {
    const { quota, addresses, anonymousAccess, explorerQuota } = this.#options
    if (keyRow === -1) {
      return {
        place: placeOf(-1, addresses?.hashOf(address) ?? 0),
        isGood: () => anonymousAccess !== 'demo' || isDemo(),
        pay: () => (addresses?.take(address, explorerQuota, clock(), 'page') ?? -1) >= 0,
      }
    }
    const digest = this.#keys.digest(keyRow)
    return {
      place: placeOf(slot, 0),
      isGood: () => this.#keys.findDigest(digest) !== -1,
      pay: () => {
        const row = this.#keys.findDigest(digest)
        return row !== -1 && quota.take(this.#keys.slot(row), this.#keys.quota(row), clock()) >= 0
      },
    }
  }

  /** Warns of an address that has used half of its quota and claims to speak for others, like a proxy. */
  #lookForProxy(exchange: Exchange, peer: string, now: number): void {
    const { addresses, proxies, onWarning } = this.#options
    const speaksForOthers =
      exchange.headerValues('x-forwarded-for') !== '' || exchange.headerValues('forwarded') !== ''
    if (!speaksForOthers || proxies.trusts(peer) || addresses?.isFirstWarning(now) !== true) return
    onWarning(
      `${peer} has used half of its hour's requests without a key, and sends X-Forwarded-For or Forwarded: all clients of a proxy share one quota until it is trusted (--trusted-proxy ${peer})`,
    )
  }

  /**
   * Says why a page that a proxy forwards is asked for a key, and what to set, at the first one of an hour.
   */
  #lookForLockedPage(exchange: Exchange, now: number): void {
    const { addresses, onWarning } = this.#options
    if (!isAnonymousRead(exchange, 'open', false) || addresses?.isFirstWarning(now) !== true) return
    const peer = exchange.address()
    onWarning(
      `${peer} forwarded a request of the explorer, which asks its visitors for a key: without --explorer the pages are open for this machine alone, and a proxy speaks for others. --explorer open lets all visitors read, --trusted-proxy ${peer} counts each by its own address`,
    )
  }

  /** The row of the request's key, `NO_KEY` or `BAD_KEY`. The header counts before the query. */
  #keyRow(exchange: Exchange, query: RawQuery): number {
    const authorization = exchange.header('authorization')
    if (authorization !== '') {
      const known = this.#known.find(authorization)
      if (known !== -1) return known
      const key = bearerKey(authorization)
      const row = this.#keys.find(key)
      if (row !== -1) this.#known.add(authorization, row)
      if (key !== '') return Math.max(BAD_KEY, row)
    }
    if (query.names.length === 0) return NO_KEY
    const key = query.get('api_key')
    if (key === '') return NO_KEY
    return key === null ? BAD_KEY : Math.max(BAD_KEY, this.#keys.find(key))
  }

  #usedUp(limit: number, now: number): ApiError {
    this.#options.counters.count('rate_limited')
    const message = `The hourly quota of ${limit} requests is used up`
    return new ApiError('rate_limit_exceeded', message, null, retryAfter(now))
  }
}

/** The address of a client, past the proxies that speak for it. */
export function addressOf(exchange: Exchange, proxies: TrustedProxies, peer = exchange.address()): string {
  if (proxies.isEmpty) return peer
  const forwardedFor = exchange.headerValues('x-forwarded-for')
  return proxies.clientAddress(peer, forwardedFor, exchange.headerValues('forwarded'))
}

/** The client of a free request. */
export const UNCHARGED = clientOf({})

/** A client that was charged nothing. */
function clientOf({ refusal = null, keyRow = -1, slot = -1, isPersonal = false }: Partial<Client>): Client {
  return { refusal, keyRow, slot, isPage: false, isPersonal, charge: null, address: '' }
}

function chargeOf(limit: number, remaining: number, now: number): Charge {
  return { limit, remaining: Math.max(0, remaining), reset: resetAt(now) }
}

/** '' without a key. Not by a pattern: V8 retains the text that a pattern was last matched with. */
function bearerKey(authorization: string): string {
  const scheme = authorization.slice(0, BEARER.length).toLowerCase()
  return scheme === BEARER ? authorization.slice(BEARER.length).trim() : ''
}

/**
 * Whether a page of this server asks, by `fetch` or `EventSource`. Browsers let no page write `Sec-Fetch-*`
 * itself (W3C Fetch Metadata; Fetch, "forbidden request-header"). A script outside of a browser can; the
 * quota of its address bounds what it takes. Pages of other origins (another port is
 * one, `same-site`), opened addresses, links, frames and images do not count. Browsers send these headers to
 * HTTPS and loopback addresses only, so DNS rebinding does not pass either.
 */
export function isAnonymousRead(
  exchange: Exchange,
  anonymousAccess: AnonymousAccess,
  isDemo: boolean,
): boolean {
  if (anonymousAccess === 'keyed' || (anonymousAccess === 'demo' && !isDemo)) return false
  // All lines of a header are compared: two must not pass for one.
  if (exchange.headerValues('sec-fetch-site') !== 'same-origin') return false
  const mode = exchange.headerValues('sec-fetch-mode')
  if (mode !== 'cors' && mode !== 'same-origin') return false
  if (exchange.headerValues('sec-fetch-dest') !== 'empty') return false
  if (anonymousAccess !== 'direct') return true
  return exchange.headerValues('x-forwarded-for') === '' && exchange.headerValues('forwarded') === ''
}
