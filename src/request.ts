/**
 * The way of a request, in this order:
 *
 *   method → route → snapshot → key → quota → query → cache or handler → conditional → reply
 *
 * Synchronous from end to end: the engine's request object is dead once a handler has returned.
 */
import type { AddressCounters, TrustedProxies } from './addresses.ts'
import { AnswerCache } from './cache.ts'
import { ApiError, type ErrorCode } from './errors.ts'
import type { Exchange } from './http/exchange.ts'
import type { KeyRing } from './keys.ts'
import { DEFAULT_LANGUAGE, LANGUAGES, preferredLanguage, type Language } from './language.ts'
import type { Operation, View } from './operation.ts'
import { RawQuery, readerOf, type QueryReader } from './query.ts'
import { resetAt, retryAfter, type QuotaCounters } from './quota.ts'
import { sendError, sendNotModified, sendPreflight, sendSuccess } from './reply.ts'
import { Router } from './routes.ts'
import { MINUTE, timestampText } from './time.ts'
import type { Totals } from './totals.ts'

export interface RequestPathOptions {
  operations: readonly Operation[]
  basePath: string
  quota: QuotaCounters
  /** Null where the public operations have no quota. */
  addresses: AddressCounters | null
  proxies: TrustedProxies
  /** Calls per hour and address on the public operations without a key; 0 is unlimited. */
  anonymousQuota: number
  /** Bytes of answers kept per snapshot; 0 keeps none. */
  answerCache: number
  /** What beside snapshot and query decides an answer: part of every ETag. */
  settingsTag: string
  /** Seconds between two expected snapshots. */
  refreshEvery: number
  totals: Totals
  /** The clock, epoch seconds with a fraction. */
  clock: () => number
  /** Told of faults of our own; never gets a key or a query. */
  onFault: (error: unknown, operation: string) => void
}

interface Target {
  operation: Operation
  reader: QueryReader<Operation['parameters']>
}

/** Seconds a client should wait while there is no snapshot yet. */
const NO_SNAPSHOT_RETRY = 5
const BEARER = /^bearer +/i

const ENVELOPE_START = '{"status":"success","data":'
const TIMESTAMP_START = '"timestamp":"'
/** `2026-03-27T09:00:00Z"}}` ends every answer. */
const TIMESTAMP_FROM_END = 23
/** Continues the `Vary` that ends the validators. */
const VARY_LANGUAGE = ', Accept-Language'

export class RequestPath {
  readonly #options: RequestPathOptions
  readonly #router: Router<Target>
  readonly #raw = new RawQuery()
  #keys: KeyRing
  #view: View | null = null
  #cache = new AnswerCache(0)
  #snapshotHeader = ''
  /** A key, good or bad, came with the request at hand: its answer is nobody else's. */
  #keySent = false
  #second = 0
  #timestamp = ''
  /** Seconds until the next snapshot is expected. */
  #lifetime = 0

  constructor(options: RequestPathOptions, keys: KeyRing) {
    this.#options = options
    this.#keys = keys
    this.#router = new Router(
      options.basePath,
      options.operations.map((operation) => ({
        path: operation.path,
        target: { operation, reader: readerOf(operation.parameters, operation.refusal) },
      })),
    )
  }

  setKeys(keys: KeyRing): void {
    this.#keys = keys
  }

  setView(view: View): void {
    this.#view = view
    this.#cache = new AnswerCache(this.#options.answerCache)
    this.#snapshotHeader = `\r\nX-Snapshot-Id: ${view.dataset.snapshotId}`
    this.#second = 0
  }

  handle(exchange: Exchange): void {
    const { method } = exchange
    const now = this.#options.clock()
    this.#options.totals.count('requests')
    if (method === 'OPTIONS') {
      sendPreflight(exchange)
      return
    }
    if (method !== 'GET' && method !== 'HEAD') {
      sendError(exchange, 'method_not_allowed', 'Only GET, HEAD and OPTIONS are allowed', now)
      return
    }
    const route = this.#router.find(exchange.path)
    if (route === null) {
      sendError(exchange, 'resource_not_found', 'No such path', now)
      return
    }
    const view = this.#view
    if (view === null) {
      sendError(exchange, 'service_unavailable', 'No snapshot is loaded yet', now, {
        headers: `\r\nRetry-After: ${NO_SNAPSHOT_RETRY}`,
      })
      return
    }
    this.#raw.split(exchange.query)
    const quotaHeaders = this.#admit(exchange, route.target.operation, now)
    if (quotaHeaders === null) return
    this.#answer(exchange, view, route.target, route.path, now, quotaHeaders)
  }

  /** Key and quota. Returns the rate headers of the answer, or null when the request was answered with a refusal. */
  #admit(exchange: Exchange, operation: Operation, now: number): string | null {
    const { quota, addresses, anonymousQuota, proxies } = this.#options
    const key = this.#presentedKey(exchange)
    this.#keySent = key !== ''
    const row = key === null || key === '' ? -1 : this.#keys.find(key)
    if (row !== -1) {
      const limit = this.#keys.quota(row)
      return this.#charged(exchange, limit, quota.take(this.#keys.slot(row), limit, now), now)
    }
    if (operation.access === 'keyed') {
      this.#options.totals.count('unauthorized')
      sendError(exchange, 'unauthorized', key === '' ? 'API key required' : 'Invalid API key', now, {
        headers: this.#snapshotHeader,
      })
      return null
    }
    if (anonymousQuota === 0 || addresses === null) return ''
    const peer = exchange.address()
    const address = proxies.isEmpty
      ? peer
      : proxies.clientAddress(
          peer,
          exchange.headerValues('x-forwarded-for'),
          exchange.headerValues('forwarded'),
        )
    return this.#charged(exchange, anonymousQuota, addresses.take(address, anonymousQuota, now), now)
  }

  /** The key a client sent: '' when there is none, null when it cannot be one. The header counts before the query. */
  #presentedKey(exchange: Exchange): string | null {
    const authorization = exchange.header('authorization')
    if (authorization !== '' && BEARER.test(authorization)) {
      const key = authorization.replace(BEARER, '').trim()
      if (key !== '') return key
    }
    return this.#raw.get('api_key')
  }

  #charged(exchange: Exchange, limit: number, remaining: number, now: number): string | null {
    const reset = resetAt(now)
    const headers =
      `\r\nX-RateLimit-Limit: ${limit}` +
      `\r\nX-RateLimit-Remaining: ${Math.max(0, remaining)}` +
      `\r\nX-RateLimit-Reset: ${reset}`
    if (remaining >= 0) return headers
    const wait = retryAfter(now)
    this.#options.totals.count('rate_limited')
    sendError(exchange, 'rate_limit_exceeded', `The hourly quota of ${limit} requests is used up`, now, {
      headers: `${headers}${this.#snapshotHeader}\r\nRetry-After: ${wait}`,
      more: { retry_after: wait, reset_at: timestampText(reset) },
    })
    return null
  }

  #answer(
    exchange: Exchange,
    view: View,
    { operation, reader }: Target,
    path: readonly string[],
    now: number,
    quotaHeaders: string,
  ): void {
    this.#tick(view, now)
    let headers = this.#snapshotHeader + quotaHeaders
    let body: Uint8Array
    try {
      const query = reader.read(this.#raw)
      const language = languageOf(operation, query, exchange)
      const untilMinute = operation.perMinute === true && query.time === undefined
      const minute = untilMinute ? Math.floor(now / MINUTE) : ''
      const request = `${operation.name}\u0001${path.join('\u0001')}\u0001${reader.canonical(query)}${minute}${operation.language === true ? language : ''}`
      // An answer about this minute is no answer in the next.
      const lifetime = untilMinute
        ? Math.min(this.#lifetime, MINUTE - (this.#second % MINUTE))
        : this.#lifetime
      headers += this.#validators(view, request, lifetime, this.#keySent || quotaHeaders !== '')
      if (operation.language === true) headers += VARY_LANGUAGE
      body = this.#cached(request) ?? this.#written(view, operation, query, path, now, language, request)
    } catch (error) {
      this.#refuse(exchange, error, operation, now, this.#snapshotHeader + quotaHeaders)
      return
    }
    if (matchesEtag(exchange.header('if-none-match'), headers)) sendNotModified(exchange, headers)
    else sendSuccess(exchange, headers, body)
  }

  #refuse(exchange: Exchange, error: unknown, operation: Operation, now: number, headers: string): void {
    if (error instanceof ApiError) {
      sendError(exchange, error.code, error.message, now, { headers, details: error.details })
      return
    }
    this.#options.totals.count('faults')
    this.#options.onFault(error, operation.name)
    const code: ErrorCode = 'internal_error'
    sendError(exchange, code, 'Internal error', now, { headers })
  }

  /** What depends on the second of the answer is made once a second. */
  #tick(view: View, now: number): void {
    const second = Math.floor(now)
    if (second === this.#second) return
    this.#second = second
    this.#timestamp = timestampText(second)
    const { refreshEvery } = this.#options
    const age = second - view.dataset.publishedAt
    this.#lifetime = refreshEvery - (((age % refreshEvery) + refreshEvery) % refreshEvery)
  }

  /** `lifetime` in seconds; `personal` answers are for nobody else. */
  #validators(view: View, request: string, lifetime: number, personal: boolean): string {
    return (
      `\r\nETag: W/"${view.dataset.snapshotId}-${this.#options.settingsTag}-${hashText(request)}"` +
      `\r\nCache-Control: ${personal ? 'private' : 'public'}, max-age=${lifetime}` +
      '\r\nVary: Accept-Encoding'
    )
  }

  #cached(request: string): Uint8Array | null {
    const answer = this.#cache.get(request)
    if (answer === undefined) return null
    const at = answer.length - TIMESTAMP_FROM_END
    for (let i = 0; i < this.#timestamp.length; i++) answer[at + i] = this.#timestamp.charCodeAt(i)
    return answer
  }

  #written(
    view: View,
    operation: Operation,
    query: Parameters<Operation['answer']>[1],
    path: readonly string[],
    now: number,
    language: Language,
    request: string,
  ): Uint8Array {
    const { writer } = view.shapes
    writer.begin()
    writer.text(ENVELOPE_START)
    const meta = operation.answer(view, query, path, now, language)
    writer.text(`,"meta":{${meta}${TIMESTAMP_START}${this.#timestamp}"}}`)
    const body = writer.answer()
    this.#cache.put(request, body)
    return body
  }
}

function languageOf(
  operation: Operation,
  query: Parameters<Operation['answer']>[1],
  exchange: Exchange,
): Language {
  if (operation.language !== true) return DEFAULT_LANGUAGE
  const locale = query.locale as Language | undefined
  return locale ?? preferredLanguage(exchange.headerValues('accept-language'), LANGUAGES)
}

/** Whether `If-None-Match` names the ETag among `headers`: weak comparison, any of a list, or `*` (RFC 9110, 13.1.2). */
function matchesEtag(condition: string, headers: string): boolean {
  if (condition === '') return false
  if (condition.trim() === '*') return true
  const start = headers.indexOf('\r\nETag: W/"') + '\r\nETag: W/'.length
  const tag = headers.slice(start, headers.indexOf('\r\n', start))
  return condition.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag)
}

/** 52 bits of a text as base 36: tells the answers of one snapshot apart, is no protection against an adversary. */
function hashText(text: string): string {
  let a = 0x811c9dc5
  let b = 0x9e3779b9
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit, 0x85ebca6b)
    b ^= b >>> 15
  }
  return ((a >>> 0) * 0x100000 + ((b >>> 12) & 0xfffff)).toString(36)
}
