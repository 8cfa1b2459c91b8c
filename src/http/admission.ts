/** The API key of a request and the quota that it is charged to. */
import type { AddressCounters } from '../access/address-counters.ts'
import { resetAt, retryAfter } from '../access/hours.ts'
import type { KeyRing } from '../access/key-ring.ts'
import { KnownKeys } from '../access/known-keys.ts'
import { isAnonymousRead, type AnonymousAccess } from './anonymous-access.ts'
import type { QuotaCounters } from '../access/quota.ts'
import type { TrustedProxies } from '../access/trusted-proxies.ts'
import type { ErrorDetails } from '../operation/errors.ts'
import type { RawQuery } from '../operation/query.ts'
import { AUTHORIZATION, FORWARDED, X_API_KEY, X_FORWARDED_FOR, type Exchange } from './exchange.ts'
import { timestampText } from '../sea/time.ts'
import { placeOfAddress, placeOfKey } from './listener-counts.ts'
import type { Holder } from './listeners.ts'
import type { Charge } from './reply.ts'
import type { Totals } from './totals.ts'

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
  totals: Totals
}

export interface Refusal {
  readonly code: 'unauthorized' | 'rate_limit_exceeded' | 'service_unavailable'
  readonly message: string
  /** Header lines in addition to those of every answer. */
  readonly headers: string
  readonly more: ErrorDetails
}

const CANNOT_CHECK: Refusal = {
  code: 'service_unavailable',
  message: 'Quotas cannot be checked at the moment. Try again in a second',
  headers: '\r\nRetry-After: 1',
  more: {},
}

const NO_KEY_REFUSAL = refusalOf('API key required')
/** For `Token KEY`, `Basic …`, a bare key, or another header: other services take those. */
const OTHER_FORM_REFUSAL = refusalOf('API key required. Send it as Authorization: Bearer KEY')
const BAD_KEY_REFUSAL = refusalOf('Invalid API key')

/** `NO_KEY` and `BAD_KEY` take the place of a row of the key ring. */
const NO_KEY = -2
const BAD_KEY = -1

const BEARER = 'bearer '

export class Admission {
  /** What the last request was charged. One object serves all: one request is answered at a time. */
  charge: Charge | null = null
  /** The answer is for the client alone: a key, good or bad, came with the request, or it was charged. */
  isPersonal = false
  /** The data served are a demo. */
  isDemo = false
  /** A page of this server was let in without a key. */
  isPage = false
  /** Row in the key ring, −1 without a good key. */
  keyRow = -1
  /** Slot of the key, by which clients have shares, −1 without one. */
  client = -1

  readonly #options: AdmissionOptions
  readonly #charge: Charge = { limit: 0, remaining: 0, reset: 0 }
  #keys: KeyRing
  #known = new KnownKeys()
  /** Address that was charged last without a key. */
  #address = ''

  constructor(options: AdmissionOptions, keys: KeyRing) {
    this.#options = options
    this.#keys = keys
  }

  setKeys(keys: KeyRing): void {
    this.#keys = keys
    this.#known = new KnownKeys()
  }

  /** Charges a request. @returns why it is refused, or null */
  admit(exchange: Exchange, access: 'keyed' | 'public', query: RawQuery, now: number): Refusal | null {
    const { quota, addresses, anonymousQuota, anonymousAccess, explorerQuota, totals } = this.#options
    this.charge = null
    this.isPage = false
    const row = this.#keyRow(exchange, query)
    this.isPersonal = row !== NO_KEY
    this.client = -1
    this.keyRow = Math.max(-1, row)
    if (row >= 0) {
      this.client = this.#keys.slot(row)
      const limit = this.#keys.quota(row)
      if (quota.isClosed) {
        totals.count('quota_away')
        return CANNOT_CHECK
      }
      return this.#charged(limit, quota.take(this.client, limit, now), now)
    }
    if (access === 'public') {
      return anonymousQuota === 0 ? null : this.#chargeAddress(exchange, anonymousQuota, now)
    }
    if (row === NO_KEY && addresses !== null && isAnonymousRead(exchange, anonymousAccess, this.isDemo)) {
      this.isPage = true
      totals.count('explorer_reads')
      return this.#chargeAddress(exchange, explorerQuota, now)
    }
    totals.count('unauthorized')
    if (row === BAD_KEY) totals.count('bad_keys')
    if (row === BAD_KEY) return BAD_KEY_REFUSAL
    return hasOtherForm(exchange) ? OTHER_FORM_REFUSAL : NO_KEY_REFUSAL
  }

  #chargeAddress(exchange: Exchange, limit: number, now: number): Refusal | null {
    const { addresses, proxies } = this.#options
    if (addresses === null) return null
    const peer = exchange.address()
    const address = proxies.isEmpty
      ? peer
      : proxies.clientAddress(peer, exchange.headerValues(X_FORWARDED_FOR), exchange.headerValues(FORWARDED))
    this.#address = address
    const remaining = this.#takeOfAddress(limit, now)
    // Once an hour, an address has exactly this number of calls left.
    if (remaining === limit >> 1) this.#lookForProxy(exchange, peer)
    return this.#charged(limit, remaining, now)
  }

  #takeOfAddress(limit: number, now: number): number {
    return this.#options.addresses?.take(this.#address, limit, now, this.isPage ? 'page' : 'public') ?? -1
  }

  /** Who holds the stream that the request admitted last begins. */
  holder(clock: () => number): Holder & { place: number } {
    const { quota, addresses, anonymousAccess, explorerQuota } = this.#options
    if (this.keyRow === -1) {
      const address = this.#address
      const take = (): number => addresses?.take(address, explorerQuota, clock(), 'page') ?? -1
      return {
        place: placeOfAddress(addresses?.hashOf(address) ?? 0),
        isGood: () => anonymousAccess !== 'demo' || this.isDemo,
        pay: () => take() >= 0,
      }
    }
    const digest = this.#keys.digest(this.keyRow)
    return {
      place: placeOfKey(this.client),
      isGood: () => this.#keys.findDigest(digest) !== -1,
      pay: () => {
        const row = this.#keys.findDigest(digest)
        return row !== -1 && quota.take(this.#keys.slot(row), this.#keys.quota(row), clock()) >= 0
      },
    }
  }

  /** Warns of an address that has used half of its quota and claims to speak for others, like a proxy. */
  #lookForProxy(exchange: Exchange, peer: string): void {
    const { addresses, proxies } = this.#options
    const speaksForOthers =
      exchange.headerValues(X_FORWARDED_FOR) !== '' || exchange.headerValues(FORWARDED) !== ''
    if (speaksForOthers && !proxies.trusts(peer)) addresses?.sightProxy(peer)
  }

  /** The row of the request's key, `NO_KEY` or `BAD_KEY`. The header counts before the query. */
  #keyRow(exchange: Exchange, query: RawQuery): number {
    const authorization = exchange.header(AUTHORIZATION)
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

  #charged(limit: number, remaining: number, now: number): Refusal | null {
    const charge = this.#charge
    charge.limit = limit
    charge.remaining = Math.max(0, remaining)
    charge.reset = resetAt(now)
    this.charge = charge
    this.isPersonal = true
    if (remaining >= 0) return null
    this.#options.totals.count('rate_limited')
    if (this.isPage) this.#options.totals.count('explorer_refused')
    else if (this.keyRow === -1) this.#options.totals.count('rate_limited_addresses')
    const wait = retryAfter(now)
    return {
      code: 'rate_limit_exceeded',
      message: `The hourly quota of ${limit} requests is used up`,
      headers: `\r\nRetry-After: ${wait}`,
      more: { retry_after: wait, reset_at: timestampText(charge.reset) },
    }
  }
}

function refusalOf(message: string): Refusal {
  return { code: 'unauthorized', message, headers: '', more: {} }
}

/** Whether what may be a key came in a form that is not taken. */
function hasOtherForm(exchange: Exchange): boolean {
  const authorization = exchange.header(AUTHORIZATION)
  const isOther = authorization !== '' && authorization.trim().toLowerCase() !== BEARER.trim()
  return isOther || exchange.header(X_API_KEY) !== ''
}

/** '' without a key. Not by a pattern: V8 retains the text that a pattern was last matched with. */
function bearerKey(authorization: string): string {
  const scheme = authorization.slice(0, BEARER.length).toLowerCase()
  return scheme === BEARER ? authorization.slice(BEARER.length).trim() : ''
}
