/**
 * The way of a request, in this order:
 *
 *   method → route → snapshot → key → quota → query → cache or handler → conditional → reply
 *
 * Synchronous from end to end, since the engine's request object is dead once a handler has returned; but for
 * expensive answers, which take what they need of the request and are made later, in slices.
 */
import type { AddressCounters } from '../access/address-counters.ts'
import type { TrustedProxies } from '../access/trusted-proxies.ts'
import { AnswerCache, type AnsweredRequest, type KeptAnswer } from './cache.ts'
import { BUSY_RETRY_SECONDS, type ExpensiveAnswers, type Kept } from './expensive-answers.ts'
import { Digest } from '../answers/digest.ts'
import { EncodingPreference, type Encoding } from './encoding.ts'
import { ApiError } from '../answers/errors.ts'
import {
  ACCEPT_ENCODING,
  ACCEPT_LANGUAGE,
  AUTHORIZATION,
  FORWARDED,
  IF_NONE_MATCH,
  X_FORWARDED_FOR,
  type Again,
  type Exchange,
} from '../http/exchange.ts'
import { Literal } from '../answers/literals.ts'
import { type JsonWriter } from '../answers/json.ts'
import type { KeyRing } from '../access/key-ring.ts'
import { KnownKeys } from '../access/known-keys.ts'
import { DEFAULT_LANGUAGE, LANGUAGES, type Language } from '../sea/languages.ts'
import { preferredLanguage } from './language.ts'
import {
  META,
  META_BEGUN,
  PRELUDE_BYTES,
  type ExpensiveAnswer,
  type MetaBegun,
  type Operation,
  type View,
} from '../answers/operation.ts'
import { RawQuery } from '../answers/raw-query.ts'
import { readerOf, type QueryReader } from '../answers/query.ts'
import { resetAt, retryAfter } from '../access/hours.ts'
import type { QuotaCounters } from '../access/quota.ts'
import { ENCODINGS, type CompressedAnswer } from './compressed.ts'
import {
  callersRequestId,
  errorAnswer,
  Heads,
  rateHeaders,
  sendError,
  sendPreflight,
  varyOf,
  VARY_BY_KEY,
} from './reply.ts'
import type { Charge, HeadFields } from './reply.ts'
import { Router, type Route } from '../routes.ts'
import type { Site } from './site.ts'
import { finish, type Steps } from '../system/steps.ts'
import { MINUTE, timestampText } from '../sea/time.ts'
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
  /** Seconds between two scheduled builds, which begin at multiples of it; 0 where none are scheduled. */
  refreshEvery: number
  totals: Totals
  /** Where expensive answers are made; null where nobody has to wait for them, and all are made at once. */
  expensive: ExpensiveAnswers | null
  /** Pages and their files, beside the operations. */
  site?: Site
  /** The clock, epoch seconds with a fraction. */
  clock: () => number
  /** Told of faults of our own; never gets a key or a query. */
  onFault: (error: unknown, operation: string) => void
}

interface Target {
  operation: Operation
  /** Its number among the operations. */
  index: number
  reader: QueryReader<Operation['parameters']>
}

/** Seconds a client should wait while there is no snapshot yet. */
const NO_SNAPSHOT_RETRY = 5
/** Seconds: a snapshot may be published at any time, and nobody is to see an old one for longer. */
const LONGEST_LIFETIME = 60
const BEARER = 'bearer '

const ENVELOPE_START = new Literal('{"status":"success","data":')
const TIMESTAMP = new Literal('"timestamp":')
const ENVELOPE_END = new Literal('}}')
/** `2026-03-27T09:00:00Z"}}` ends every answer: what a kept one is given anew. */
const TAIL_LENGTH = 23

/** In place of the row of a key. */
const NO_KEY = -2
const BAD_KEY = -1

/** More than what follows the data and the members of `meta`. */
const ENVELOPE_END_BYTES = 64

/** A longer answer may have to be made again for a client that is slow to read it. */
const LONG_BYTES = 64 * 1024
/** Milliseconds for which a client that is slow to read may hold on to a snapshot that has left. */
const LONGEST_HOLD_MS = 120_000

/** An expensive answer of more bytes is not kept: it would push out what many ask for. */
const MOST_KEPT_BYTES = 1024 * 1024

const FAULT = 'Internal error'
const BUSY = 'Too many long answers are being made. Try again later, or ask for less'
const TAKES_NO_BODY = 'A request for so long an answer has no body'

const TEXT = new TextEncoder()

/** What slow readers hold on to, so that it can be taken from them. */
interface Hold {
  view: View | null
}

export class RequestPath {
  readonly #options: RequestPathOptions
  readonly #router: Router<Target>
  readonly #raw = new RawQuery()
  readonly #digest = new Digest()
  readonly #encodings = new EncodingPreference(ENCODINGS)
  /** Once in an hour an address has so many calls left. */
  readonly #halfOfQuota: number
  #keys: KeyRing
  /** Seen since the keys changed. */
  readonly #knownKeys = new KnownKeys()
  #view: View | null = null
  #hold: Hold = { view: null }
  #cache = new AnswerCache(0)
  #snapshotHeader = ''
  #heads = new Heads('success', '', '')
  #notModifiedHeads = new Heads('not modified', '', '')
  /** Of the answer at hand; one object for all, since one is written at a time. */
  readonly #charge: Charge = { limit: 0, remaining: 0, reset: 0 }
  readonly #fields: HeadFields = {
    low: 0,
    high: 0,
    personal: false,
    lifetime: 0,
    vary: varyOf({ access: 'public' }),
    charge: null,
    encoding: null,
    requestId: '',
  }
  /** Whose request it is, for what clients have shares of: the slot of a key, or −1. */
  #client = -1
  #second = 0
  /** The tail of an answer of this second. */
  #tail = new Uint8Array(TAIL_LENGTH)
  /** Seconds that an answer may be kept. */
  #lifetime = 0

  constructor(options: RequestPathOptions, keys: KeyRing) {
    this.#options = options
    this.#halfOfQuota = options.anonymousQuota >> 1
    this.#keys = keys
    this.#router = new Router(
      options.basePath,
      options.operations.map((operation, index) => ({
        path: operation.path,
        target: { operation, index, reader: readerOf(operation.parameters, operation.refusal) },
      })),
    )
  }

  setKeys(keys: KeyRing): void {
    this.#keys = keys
    this.#knownKeys.clear()
  }

  setView(view: View): void {
    const { snapshotId } = view.dataset
    const { answerCache, settingsTag } = this.#options
    if (this.#view !== null) letGoLater(this.#hold)
    this.#hold = { view }
    this.#view = view
    this.#cache = new AnswerCache(answerCache)
    this.#snapshotHeader = `\r\nX-Snapshot-Id: ${snapshotId}`
    this.#heads = new Heads('success', snapshotId, settingsTag)
    this.#notModifiedHeads = new Heads('not modified', snapshotId, settingsTag)
    this.#second = 0
  }

  handle(exchange: Exchange): void {
    const { method, path, query } = exchange
    const now = this.#options.clock()
    this.#options.totals.count('requests')
    if (method !== 'GET' && method !== 'HEAD') {
      if (method === 'OPTIONS') sendPreflight(exchange)
      else sendError(exchange, 'method_not_allowed', 'Only GET, HEAD and OPTIONS are allowed', now)
      return
    }
    this.#tick(now)
    const kept = this.#cache.getByTarget(path, query)
    if (kept !== undefined && this.#isFor(exchange, kept)) {
      // No key is in its query: such a request is never remembered as it was spelled.
      this.#raw.clear()
      if (this.#admit(exchange, kept.operation, now)) this.#sendKept(exchange, kept)
      return
    }
    const route = this.#router.find(path)
    if (route === null) {
      if (this.#options.site?.serve(exchange) === true) return
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
    this.#raw.split(query)
    if (!this.#admit(exchange, route.target.operation, now)) return
    try {
      this.#answer(exchange, view, route, now)
    } catch (error) {
      this.#refuse(exchange, error, route.target.operation, now)
    }
  }

  /** Key and quota; sets who the answer is for. False when the request was answered with a refusal. */
  #admit(exchange: Exchange, operation: Operation, now: number): boolean {
    const { quota, addresses, anonymousQuota, proxies } = this.#options
    const fields = this.#fields
    fields.charge = null
    const row = this.#keyRow(exchange)
    // A key, good or bad, came with the request: its answer is nobody else's.
    fields.personal = row !== NO_KEY
    this.#client = -1
    if (row >= 0) {
      this.#client = this.#keys.slot(row)
      const limit = this.#keys.quota(row)
      return this.#charged(exchange, operation, limit, quota.take(this.#keys.slot(row), limit, now), now)
    }
    if (operation.access === 'keyed') {
      this.#options.totals.count('unauthorized')
      sendError(exchange, 'unauthorized', row === NO_KEY ? 'API key required' : 'Invalid API key', now, {
        headers: this.#commonHeaders(operation),
      })
      return false
    }
    if (anonymousQuota === 0 || addresses === null) return true
    const peer = exchange.address()
    const address = proxies.isEmpty
      ? peer
      : proxies.clientAddress(peer, exchange.headerValues(X_FORWARDED_FOR), exchange.headerValues(FORWARDED))
    const remaining = addresses.take(address, anonymousQuota, now)
    if (remaining === this.#halfOfQuota) this.#lookForProxy(exchange, peer)
    return this.#charged(exchange, operation, anonymousQuota, remaining, now)
  }

  /**
   * Many clients behind a proxy that is not trusted share one quota. One address that has used half of it,
   * and says that it speaks for others, is worth a line to the operator.
   */
  #lookForProxy(exchange: Exchange, peer: string): void {
    const { addresses, proxies } = this.#options
    const speaksForOthers =
      exchange.headerValues(X_FORWARDED_FOR) !== '' || exchange.headerValues(FORWARDED) !== ''
    if (speaksForOthers && !proxies.trusts(peer)) addresses?.sightProxy(peer)
  }

  /**
   * The row of the key that came with a request, `NO_KEY` or `BAD_KEY`. The header counts before the query.
   */
  #keyRow(exchange: Exchange): number {
    const authorization = exchange.header(AUTHORIZATION)
    if (authorization !== '') {
      const known = this.#knownKeys.find(authorization)
      if (known >= 0) return known
      const key = bearerKey(authorization)
      if (key !== '') {
        const row = this.#keys.find(key)
        if (row === -1) return BAD_KEY
        this.#knownKeys.add(authorization, row)
        return row
      }
    }
    if (this.#raw.length === 0) return NO_KEY
    const key = this.#raw.get('api_key')
    if (key === '') return NO_KEY
    return key === null ? BAD_KEY : Math.max(BAD_KEY, this.#keys.find(key))
  }

  #charged(exchange: Exchange, operation: Operation, limit: number, remaining: number, now: number): boolean {
    const charge = this.#charge
    charge.limit = limit
    charge.remaining = Math.max(0, remaining)
    charge.reset = resetAt(now)
    this.#fields.charge = charge
    this.#fields.personal = true
    if (remaining >= 0) return true
    const wait = retryAfter(now)
    this.#options.totals.count('rate_limited')
    sendError(exchange, 'rate_limit_exceeded', `The hourly quota of ${limit} requests is used up`, now, {
      headers: `${this.#commonHeaders(operation)}\r\nRetry-After: ${wait}`,
      more: { retry_after: wait, reset_at: timestampText(charge.reset) },
    })
    return false
  }

  /** What the errors of an operation share with its successes; rate headers once a request was charged. */
  #commonHeaders(operation: Operation): string {
    const vary = operation.access === 'keyed' ? VARY_BY_KEY : ''
    return this.#snapshotHeader + vary + rateHeaders(this.#fields.charge)
  }

  /** @throws ApiError */
  #answer(exchange: Exchange, view: View, { target, path }: Route<Target>, now: number): void {
    const { operation, reader } = target
    const digest = this.#digest.begin(target.index)
    const query = reader.read(this.#raw, digest)
    for (let i = 0; i < path.length; i++) digest.text(path[i])
    const language = languageOf(operation, query, exchange)
    if (operation.language === true) digest.text(language)
    const minute = operation.perMinute === true && query.time === undefined ? Math.floor(now / MINUTE) : 0
    if (minute !== 0) digest.number(minute)
    const { low, high } = digest
    if (this.#cache.isOff) {
      const body = this.#written(view, operation, query, path, now, language)
      this.#describe(operation, low, high, minute)
      if (body instanceof Uint8Array) this.#send(exchange, body, null, null)
      else this.#sendLater(exchange, operation, body, now, null)
      return
    }
    const canonical = [operation.name, ...path, reader.canonical(query), minute, language].join('\u0001')
    const kept = this.#cache.get(canonical)
    if (kept === undefined) {
      const negotiated = operation.language === true && query.locale === undefined
      const body = this.#written(view, operation, query, path, now, language)
      const request = { operation, low, high, minute, negotiated }
      this.#describe(operation, low, high, minute)
      if (body instanceof Uint8Array) {
        const put = this.#cache.put(canonical, request, body)
        this.#send(exchange, body, put, null)
        return
      }
      const cache = this.#cache
      const isKept = body.bytes <= MOST_KEPT_BYTES
      this.#sendLater(
        exchange,
        operation,
        body,
        now,
        isKept ? (answer) => keptBytes(cache.put(canonical, request, answer), answer) : null,
      )
      return
    }
    // Not where a key in the query or another language than the default has its say.
    const isForAll = !kept.negotiated || language === DEFAULT_LANGUAGE
    if (isForAll && this.#raw.get('api_key') === '') this.#cache.remember(exchange.path, exchange.query, kept)
    this.#sendKept(exchange, kept)
  }

  /** Whether an answer is good for one that asks now in the same words. */
  #isFor(exchange: Exchange, { minute, negotiated }: AnsweredRequest): boolean {
    return (
      (minute === 0 || minute === Math.floor(this.#second / MINUTE)) &&
      (!negotiated || exchange.header(ACCEPT_LANGUAGE) === '')
    )
  }

  #sendKept(exchange: Exchange, kept: KeptAnswer): void {
    const { operation, low, high, minute } = kept
    const encoding = this.#encodings.of(exchange.header(ACCEPT_ENCODING))
    const compressed =
      encoding === null ? null : this.#cache.compressed(kept, encoding, this.#second, this.#tail)
    const body = (compressed ?? kept).bytesAt(this.#second, this.#tail)
    this.#describe(operation, low, high, minute)
    this.#send(exchange, body, kept, compressed === null ? null : encoding)
  }

  /** Says in the fields of the head what answer it is. */
  #describe(operation: Operation, low: number, high: number, minute: number): void {
    const fields = this.#fields
    fields.low = low
    fields.high = high
    fields.vary = varyOf(operation)
    // An answer about this minute is no answer in the next.
    fields.lifetime =
      minute === 0 ? this.#lifetime : Math.min(this.#lifetime, MINUTE - (this.#second % MINUTE))
  }

  /** `kept`: what is kept of the answer, in `encoding`; null where nothing is. */
  #send(exchange: Exchange, body: Uint8Array, kept: KeptAnswer | null, encoding: Encoding | null): void {
    if (this.#sendNotModified(exchange)) return
    this.#fields.encoding = encoding
    const head = this.#heads.write(this.#fields)
    if (body.length <= LONG_BYTES) exchange.send(head, body)
    else exchange.send(head, body, this.#again(exchange, kept, encoding))
  }

  /**
   * Makes an answer that was sent just now once more: from what is kept of it, else from the snapshot, which
   * knows no encodings.
   */
  #again({ path, query }: Exchange, kept: KeptAnswer | null, encoding: Encoding | null): Again {
    const [hold, second, tail] = [this.#hold, this.#second, this.#tail]
    return () => {
      if (kept?.kept === true) {
        const compressed = encoding === null ? null : (kept[encoding] as CompressedAnswer)
        return compressed === null ? kept.bytesWith(tail) : compressed.bytesAt(second, tail)
      }
      return encoding !== null || hold.view === null ? null : this.#rewritten(hold.view, path, query, second)
    }
  }

  /**
   * The answer to a request that was admitted and answered at `second`. None of a language is so long that it
   * is made again.
   */
  #rewritten(view: View, path: string, query: string, second: number): Uint8Array | null {
    const route = this.#router.find(path)
    if (route === null) return null
    const { operation, reader, index } = route.target
    this.#raw.split(query)
    const values = reader.read(this.#raw, this.#digest.begin(index))
    const { writer } = view.fragments
    const begun = this.#begin(view, operation, values, route.path, second, DEFAULT_LANGUAGE)
    endEnvelope(writer, typeof begun === 'object' ? finish(begun.steps(writer)) : begun, second)
    return writer.answer()
  }

  /** Answers 304 where the client has the answer already. */
  #sendNotModified(exchange: Exchange): boolean {
    const fields = this.#fields
    fields.requestId = callersRequestId(exchange)
    const condition = exchange.header(IF_NONE_MATCH)
    // The first line mostly says it, and reading one costs a tenth of reading all.
    const holds =
      condition !== '' &&
      (this.#heads.matches(condition, fields) ||
        this.#heads.matches(exchange.headerValues(IF_NONE_MATCH), fields))
    if (!holds) return false
    fields.encoding = null
    exchange.send(this.#notModifiedHeads.write(fields), null)
    return true
  }

  /** Has an expensive answer made and sent in slices, from the snapshot of now. `keep` gets it in the end. */
  #sendLater(
    exchange: Exchange,
    operation: Operation,
    answer: ExpensiveAnswer,
    now: number,
    keep: ((answer: Uint8Array) => Kept | null) | null,
  ): void {
    const expensive = this.#options.expensive!
    if (this.#sendNotModified(exchange)) return
    const headers = this.#commonHeaders(operation)
    const busy = { headers: `${headers}\r\nRetry-After: ${BUSY_RETRY_SECONDS}` }
    const heads = this.#heads
    const fields = {
      ...this.#fields,
      encoding: null,
      charge: this.#fields.charge && { ...this.#fields.charge },
    }
    const head = (): Uint8Array => {
      this.#tick(this.#options.clock())
      fields.lifetime = this.#lifetime
      return heads.write(fields)
    }
    if (!expensive.hasPlace(this.#client)) {
      sendError(exchange, 'service_unavailable', BUSY, now, busy)
      return
    }
    const isTaken = expensive.add(
      {
        client: this.#client,
        head,
        steps: (writer) => this.#inSteps(answer, writer),
        refuse: (reply, fault) => {
          const { clock } = this.#options
          if (fault !== null) this.#tellFault(fault, operation)
          const [code, message] =
            fault === null ? (['service_unavailable', BUSY] as const) : (['internal_error', FAULT] as const)
          const options = fault === null ? busy : { headers }
          const error = errorAnswer(fields.requestId, code, message, clock(), options)
          reply.send(error.head, error.body)
        },
        onFault: (fault) => this.#tellFault(fault, operation),
        keep,
      },
      (events) => exchange.later(events),
    )
    if (!isTaken) sendError(exchange, 'bad_request', TAKES_NO_BODY, now, { headers })
  }

  *#inSteps(answer: ExpensiveAnswer, writer: JsonWriter): Steps<void> {
    const second = Math.floor(this.#options.clock())
    writer.ensure(PRELUDE_BYTES)
    writer.literal(ENVELOPE_START)
    const begun = yield* answer.steps(writer)
    endEnvelope(writer, begun, second)
  }

  #tellFault(error: unknown, operation: Operation): void {
    this.#options.totals.count('faults')
    this.#options.onFault(error, operation.name)
  }

  #refuse(exchange: Exchange, error: unknown, operation: Operation, now: number): void {
    const headers = this.#commonHeaders(operation)
    if (error instanceof ApiError) {
      sendError(exchange, error.code, error.message, now, { headers, details: error.details })
      return
    }
    this.#tellFault(error, operation)
    sendError(exchange, 'internal_error', FAULT, now, { headers })
  }

  /** What depends on the second of the answer is made once a second. */
  #tick(now: number): void {
    const second = Math.floor(now)
    if (second === this.#second || this.#view === null) return
    this.#second = second
    this.#tail = TEXT.encode(`${timestampText(second)}"}}`)
    const { refreshEvery } = this.#options
    this.#lifetime =
      refreshEvery === 0
        ? LONGEST_LIFETIME
        : Math.min(LONGEST_LIFETIME, refreshEvery - (second % refreshEvery))
  }

  #written(
    view: View,
    operation: Operation,
    query: Parameters<Operation['answer']>[1],
    path: readonly string[],
    now: number,
    language: Language,
  ): Uint8Array | ExpensiveAnswer {
    const { writer } = view.fragments
    let begun = this.#begin(view, operation, query, path, now, language)
    if (typeof begun === 'object') {
      if (this.#options.expensive !== null) return begun
      begun = finish(begun.steps(writer))
    }
    endEnvelope(writer, begun, this.#second)
    return writer.answer()
  }

  #begin(
    view: View,
    operation: Operation,
    query: Parameters<Operation['answer']>[1],
    path: readonly string[],
    now: number,
    language: Language,
  ): ReturnType<Operation['answer']> {
    const { writer } = view.fragments
    writer.begin()
    writer.ensure(PRELUDE_BYTES)
    writer.literal(ENVELOPE_START)
    return operation.answer(view, query, path, now, language)
  }
}

/** The clock alone would hold on to the snapshot. */
function letGoLater(hold: Hold): void {
  const held = new WeakRef(hold)
  const letGo = (): void => {
    const left = held.deref()
    if (left !== undefined) left.view = null
  }
  setTimeout(letGo, LONGEST_HOLD_MS).unref()
}

/** What is kept of `answer`, with its own tail. */
function keptBytes(kept: KeptAnswer | null, answer: Uint8Array): Kept | null {
  if (kept === null) return null
  const tail = new Uint8Array(answer.subarray(-TAIL_LENGTH))
  return () => (kept.kept ? kept.bytesWith(tail) : null)
}

/** Ends what `answer` began. `second`: of the answer, epoch seconds. */
function endEnvelope(writer: JsonWriter, begun: MetaBegun | void, second: number): void {
  writer.ensure(ENVELOPE_END_BYTES)
  if (begun !== META_BEGUN) writer.literal(META)
  writer.literal(TIMESTAMP)
  writer.timestamp(second)
  writer.literal(ENVELOPE_END)
}

/**
 * The key in an `Authorization` value, '' where there is none. Not by a pattern: V8 holds the text that one
 * was last matched with.
 */
function bearerKey(authorization: string): string {
  const scheme = authorization.slice(0, BEARER.length).toLowerCase()
  return scheme === BEARER ? authorization.slice(BEARER.length).trim() : ''
}

function languageOf(
  operation: Operation,
  query: Parameters<Operation['answer']>[1],
  exchange: Exchange,
): Language {
  if (operation.language !== true) return DEFAULT_LANGUAGE
  const locale = query.locale as Language | undefined
  if (locale !== undefined) return locale
  // Reading one value costs a tenth of reading all.
  return exchange.header(ACCEPT_LANGUAGE) === ''
    ? DEFAULT_LANGUAGE
    : preferredLanguage(exchange.headerValues(ACCEPT_LANGUAGE), LANGUAGES)
}
