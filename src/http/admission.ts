/** Who asks, and whether they may: the API key of a request and the quota that it is charged to. */
import type { AddressCounters } from '../access/address-counters.ts'
import { hourOf, resetAt, retryAfter } from '../access/hours.ts'
import type { KeyRing } from '../access/key-ring.ts'
import { KnownKeys } from '../access/known-keys.ts'
import { ASK, CLOSED, LeaseCounters, REFUSED } from '../access/lease-counters.ts'
import { isAnonymousRead, type AnonymousAccess } from './anonymous-access.ts'
import type { QuotaCounters } from '../access/quota.ts'
import type { TrustedProxies } from '../access/trusted-proxies.ts'
import type { ErrorDetails } from '../operation/errors.ts'
import type { RawQuery } from '../operation/query.ts'
import { AUTHORIZATION, FORWARDED, X_FORWARDED_FOR, type Exchange } from './exchange.ts'
import { timestampText } from '../sea/time.ts'
import { placeOfAddress, placeOfKey } from './listener-counts.ts'
import type { Holder } from './listeners.ts'
import type { Charge } from './reply.ts'
import type { Totals } from './totals.ts'

export interface AdmissionOptions {
  /** Leases where several replicas share the quotas. */
  quota: QuotaCounters | LeaseCounters
  /** Null where nobody without a key is counted. */
  addresses: AddressCounters | null
  proxies: TrustedProxies
  /** Calls per hour and address on the public operations without a key; 0 is unlimited. */
  anonymousQuota: number
  /** Whose pages may read keyed operations without a key. */
  anonymousAccess: AnonymousAccess
  /** Reads per hour and address of such pages, at least 1. */
  explorerQuota: number
  totals: Totals
}

/** Why a request is not answered. */
export interface Refusal {
  readonly code: 'unauthorized' | 'rate_limit_exceeded' | 'service_unavailable'
  readonly message: string
  /** Header lines in addition to those of every answer of the operation. */
  readonly headers: string
  /** Members of the error in addition to code and message. */
  readonly more: ErrorDetails
  /** Whether the request may be admitted within milliseconds. */
  readonly mayWait: boolean
}

/** For requests that are refused although the hour's quota may have calls for them. */
const SOON_SECONDS = 1
const UNSETTLED = 'The rest of the hourly quota is being settled between servers. Try again in a second'
const SHARE_IS_USED =
  "This server's share of the hourly quota is used up while it cannot ask the others. Try again in a second"
const CANNOT_CHECK = 'Quotas cannot be checked at the moment. Try again in a second'

const NO_KEY_REFUSAL = refusalOf('API key required')
const BAD_KEY_REFUSAL = refusalOf('Invalid API key')

/** In place of the row of a key. */
const NO_KEY = -2
const BAD_KEY = -1

const BEARER = 'bearer '

export class Admission {
  /** What the last request was charged, or null. One object serves all: one request is answered at a time. */
  charge: Charge | null = null
  /**
   * Whether the answer is for the client alone: a key, good or bad, came with the request, or it was charged.
   */
  isPersonal = false
  /** Whether the data served are a demo. */
  isDemo = false
  /** Whether a page of this server was let in without a key. */
  isPage = false
  /** The row of the key in the key ring, or −1 without a good one. */
  keyRow = -1
  /** The client, where clients have shares of something: the slot of its key, or −1 without one. */
  client = -1

  readonly #options: AdmissionOptions
  readonly #charge: Charge = { limit: 0, remaining: 0, reset: 0 }
  #keys: KeyRing
  #known = new KnownKeys()
  /** Address of the client that was charged last without a key. */
  #address = ''

  constructor(options: AdmissionOptions, keys: KeyRing) {
    this.#options = options
    this.#keys = keys
  }

  setKeys(keys: KeyRing): void {
    this.#keys = keys
    this.#known = new KnownKeys()
  }

  /** Charges a request, and gives the reason for refusing it; null where it is not refused. */
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
      const remaining = quota.take(this.client, limit, now)
      return remaining >= REFUSED
        ? this.#charged(limit, remaining, now)
        : this.#unsettled(limit, remaining, now)
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
    return row === NO_KEY ? NO_KEY_REFUSAL : BAD_KEY_REFUSAL
  }

  /** Charges a request without a key to the address of its client. */
  #chargeAddress(exchange: Exchange, limit: number, now: number): Refusal | null {
    const { addresses, proxies } = this.#options
    if (addresses === null) return null
    const peer = exchange.address()
    const address = proxies.isEmpty
      ? peer
      : proxies.clientAddress(peer, exchange.headerValues(X_FORWARDED_FOR), exchange.headerValues(FORWARDED))
    this.#address = address
    const remaining = this.#takeOfAddress(limit, now)
    // An address passes this number of calls left once in an hour.
    if (remaining === limit >> 1) this.#lookForProxy(exchange, peer)
    return this.#charged(limit, remaining, now)
  }

  /**
   * Charges the request that was admitted last `calls` more, all of them or none; null where it may go on.
   * Calls without a quota cost nothing. Where replicas share the quotas, it is as many as this one has leased
   * just now: a lease is a small part of the quota, so that a request for all of its price at once would
   * mostly be refused.
   */
  chargeMore(calls: number, now: number): Refusal | null {
    const { quota } = this.#options
    const { client, charge } = this
    if ((client === -1 && !this.isPage) || charge === null) return null
    const { limit, remaining } = charge
    if (remaining < calls) return this.#charged(limit, REFUSED, now)
    if (this.isPage) {
      let left = remaining
      for (let i = 0; i < calls && left >= 0; i++) left = this.#takeOfAddress(limit, now)
      return this.#charged(limit, left, now)
    }
    if (quota instanceof LeaseCounters) {
      return this.#charged(limit, remaining - quota.takeUpTo(client, hourOf(now), calls), now)
    }
    if (!quota.takeMore(client, calls, limit, now)) return this.#charged(limit, REFUSED, now)
    return this.#charged(limit, remaining - calls, now)
  }

  #takeOfAddress(limit: number, now: number): number {
    return this.#options.addresses?.take(this.#address, limit, now, this.isPage ? 'page' : 'public') ?? -1
  }

  /**
   * Who holds a stream that the last request, which was admitted, begins. `clock`: epoch seconds; `ask` has
   * calls leased of the key in a slot.
   */
  holder(clock: () => number, ask: (slot: number, hour: number) => void): Holder & { place: number } {
    const { quota, addresses, anonymousAccess, explorerQuota } = this.#options
    if (this.keyRow === -1) {
      const address = this.#address
      const take = (): number => addresses?.take(address, explorerQuota, clock(), 'page') ?? -1
      return {
        place: placeOfAddress(address),
        isGood: () => anonymousAccess !== 'demo' || this.isDemo,
        pay: () => (take() >= 0 ? 'paid' : 'refused'),
      }
    }
    const digest = this.#keys.digest(this.keyRow)
    return {
      place: placeOfKey(this.client),
      isGood: () => this.#keys.findDigest(digest) !== -1,
      pay: () => {
        const row = this.#keys.findDigest(digest)
        if (row === -1) return 'refused'
        const [slot, now] = [this.#keys.slot(row), clock()]
        const remaining = quota.take(slot, this.#keys.quota(row), now)
        if (remaining >= 0) return 'paid'
        if (remaining === ASK) ask(slot, hourOf(now))
        return remaining === REFUSED ? 'refused' : 'later'
      },
    }
  }

  /**
   * Many clients behind a proxy that is not trusted share one quota. An address that has used half of it and
   * claims to speak for others is worth a line to the operator.
   */
  #lookForProxy(exchange: Exchange, peer: string): void {
    const { addresses, proxies } = this.#options
    const speaksForOthers =
      exchange.headerValues(X_FORWARDED_FOR) !== '' || exchange.headerValues(FORWARDED) !== ''
    if (speaksForOthers && !proxies.trusts(peer)) addresses?.sightProxy(peer)
  }

  /** Whether the header of a request has a key that there is. */
  hasKnownKey(exchange: Exchange): boolean {
    return this.#keys.find(bearerKey(exchange.header(AUTHORIZATION))) >= 0
  }

  /**
   * The row of the key that came with a request, `NO_KEY` or `BAD_KEY`. The header counts before the query.
   */
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
      mayWait: false,
    }
  }

  /** Refuses where nothing is leased: `why` is what `LeaseCounters.take` said. */
  #unsettled(limit: number, why: number, now: number): Refusal {
    const { quota, totals } = this.#options
    const headers = `\r\nRetry-After: ${SOON_SECONDS}`
    if (why === CLOSED) {
      totals.count('quota_away')
      return { code: 'service_unavailable', message: CANNOT_CHECK, headers, more: {}, mayWait: false }
    }
    const charge = this.#charge
    charge.limit = limit
    charge.remaining =
      quota instanceof LeaseCounters ? Math.min(limit, quota.pool(this.client, hourOf(now))) : 0
    charge.reset = resetAt(now)
    this.charge = charge
    const mayWait = why === ASK
    if (!mayWait) totals.count('quota_away')
    return {
      code: 'rate_limit_exceeded',
      message: mayWait ? UNSETTLED : SHARE_IS_USED,
      headers,
      more: { retry_after: SOON_SECONDS, reset_at: timestampText(charge.reset) },
      mayWait,
    }
  }
}

function refusalOf(message: string): Refusal {
  return { code: 'unauthorized', message, headers: '', more: {}, mayWait: false }
}

/**
 * The key in an `Authorization` value, '' where it holds none. Not by a pattern: V8 holds on to the text that
 * a pattern was last matched with.
 */
function bearerKey(authorization: string): string {
  const scheme = authorization.slice(0, BEARER.length).toLowerCase()
  return scheme === BEARER ? authorization.slice(BEARER.length).trim() : ''
}
