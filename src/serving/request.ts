/**
 * The way of a request, in this order:
 *
 *   method → route → snapshot → key → quota → pin → query → cache or handler → conditional → reply
 *
 * Synchronous from end to end, since the engine's request object is dead once a handler has returned; but for
 * expensive answers, which take what they need of the request and are made later, in slices.
 */
import { hourOf } from '../access/hours.ts'
import type { KeyRing } from '../access/key-ring.ts'
import { SEPARATOR } from '../answers/canonical.ts'
import { Digest } from '../answers/digest.ts'
import { ApiError } from '../answers/errors.ts'
import {
  EXPENSIVE_BYTES,
  EXPENSIVE_US,
  isExpensive,
  type Declared,
  type ExpensiveAnswer,
  type Operation,
  type StreamOperation,
  type View,
} from '../answers/operation.ts'
import { snapshotGone, snapshotId } from '../answers/pins.ts'
import { readerOf, type QueryReader } from '../answers/query.ts'
import { RawQuery } from '../answers/raw-query.ts'
import { shapeKey, shapeOf, type Format, type Shape } from '../answers/shape.ts'
import type { JsonWriter } from '../answers/json.ts'
import type { Steps } from '../system/steps.ts'
import {
  ACCEPT,
  ACCEPT_ENCODING,
  ACCEPT_LANGUAGE,
  IF_NONE_MATCH,
  type Again,
  type Exchange,
} from '../http/exchange.ts'
import type { ParkedRequests, Wait } from '../http/parked.ts'
import { OTHER_ROUTES } from '../metrics/requests.ts'
import { Router, type Route } from '../routes.ts'
import { DEFAULT_LANGUAGE, LANGUAGES, type Language } from '../sea/languages.ts'
import { MINUTE, timestampText } from '../sea/time.ts'
import { finish } from '../system/steps.ts'
import { FormatPreference } from './accept.ts'
import { Admission, type AdmissionOptions } from './admission.ts'
import type { AnsweredRequest, KeptAnswer } from './cache.ts'
import { FULL_RETRY_SECONDS, type EventStreams } from './event-streams.ts'
import { ENCODINGS, type CompressedAnswer } from './compressed.ts'
import { EncodingPreference, type Encoding } from './encoding.ts'
import { answerInSteps, beginAnswer, endAnswer, TAIL_BYTES, tailAt } from './envelope.ts'
import { BUSY_RETRY_SECONDS, type ExpensiveAnswers, type Kept } from './expensive-answers.ts'
import { preferredLanguage } from './language.ts'
import { linkHeader } from './links.ts'
import {
  callersRequestId,
  errorAnswer,
  rateHeaders,
  sendError,
  sendPreflight,
  streamHead,
  varyOf,
  varyOfPage,
  VARY_BY_KEY,
  type HeadFields,
} from './reply.ts'
import { priceOf, shapedAnswer } from './shaped.ts'
import { HeldViews, type ServedOptions, type ServedSnapshot } from './served.ts'
import type { Site } from './site.ts'

export interface RequestPathOptions extends AdmissionOptions, ServedOptions {
  operations: readonly Operation[]
  basePath: string
  /** Seconds between two scheduled builds, which begin at multiples of it; 0 where none are scheduled. */
  refreshEvery: number
  /** Makes expensive answers in slices; null where nobody waits meanwhile, and all are made at once. */
  expensive: ExpensiveAnswers | null
  /** What is answered with streams of events; without it there are none. */
  stream?: { operation: StreamOperation; streams: EventStreams }
  /** Pages and their files, beside the operations. */
  site?: Site
  /** Where several replicas share the quotas: holds requests that find none of theirs leased. */
  leases?: LeaseWaits
  /** The clock, epoch seconds with a fraction. */
  clock: () => number
  /** Gets faults of our own; never a key or a query. */
  onFault: (error: unknown, operation: string) => void
}

export interface LeaseWaits {
  readonly parked: ParkedRequests
  /** `count` requests wait for calls of the key in `slot`; they are woken by the slot. */
  ask(slot: number, hour: number, count: number): void
}

interface StreamTarget {
  stream: StreamOperation
  index: number
  reader: QueryReader<StreamOperation['parameters']>
}

interface Target {
  operation: Operation
  /** Its ordinal among the operations. */
  index: number
  reader: QueryReader<Operation['parameters']>
}

/** Seconds a client should wait before the first snapshot. */
const NO_SNAPSHOT_RETRY_SECONDS = 5
/** A snapshot may be published at any time, and nobody is to see an old one for longer. */
const LONGEST_LIFETIME_SECONDS = 60
/** A request that finds no call of its quota leased waits so long. */
const LONGEST_LEASE_WAIT_MS = 50
/** A longer answer may have to be made again for a client that is slow to read it. */
const LONG_BYTES = 64 * 1024

/** An expensive answer of more bytes is not kept: it would push out what many ask for. */
const MOST_KEPT_BYTES = 1024 * 1024

const FAULT = 'Internal error'
const BUSY = 'Too many long answers are being made. Try again later, or ask for less'
const TAKES_NO_BODY = 'A request for so long an answer has no body'
const NOT_PINNED = 'Parameter snapshot is not for streams. Allowed: nothing; they follow the current snapshot'
const TOO_MANY_STREAMS = 'Too many streams of events are open. Try again later'
const TOO_MANY_STREAMS_OF_ONE = 'Too many streams of events are open with this key. Close one first'

const JSON_FORMAT: Format = 'json'

/** How an expensive answer is sent, and who gets it in the end. */
interface Later {
  readonly format: Format
  readonly isLong: boolean
  /** In calls of the quota. */
  readonly price: number
  readonly keep: ((answer: Uint8Array) => Kept | null) | null
}

const NOT_KEPT: Later = { format: JSON_FORMAT, isLong: false, price: 1, keep: null }

/** What was read of a request. */
interface Asked {
  readonly query: Parameters<Operation['answer']>[1]
  readonly now: number
  readonly language: Language
  readonly minute: number
}

const STATIC = OTHER_ROUTES.indexOf('static')
const UNMATCHED = OTHER_ROUTES.indexOf('unmatched')

export class RequestPath {
  readonly #options: RequestPathOptions
  readonly #router: Router<Target | StreamTarget>
  /** Ordinal of the first route beside those of operations and streams. */
  readonly #otherRoutes: number
  readonly #raw = new RawQuery()
  readonly #digest = new Digest()
  readonly #encodings = new EncodingPreference(ENCODINGS)
  readonly #formats = new FormatPreference()
  readonly #admission: Admission
  readonly #held: HeldViews
  #current: ServedSnapshot
  /** What the request that is being answered is answered from: the current snapshot, or a pinned one. */
  #served: ServedSnapshot
  /** Of the head that is written next; one object serves all, since one answer is written at a time. */
  readonly #fields: HeadFields = {
    low: 0,
    high: 0,
    personal: false,
    lifetime: 0,
    vary: varyOf({ access: 'public' }),
    charge: null,
    encoding: null,
    requestId: '',
    link: '',
  }
  /** The links of the answer that was written last. */
  #link = ''
  #second = 0
  #mayPark = true
  readonly #leaseWait: Wait = {
    ms: LONGEST_LEASE_WAIT_MS,
    run: (exchange) => this.#serve(exchange),
    onAnswered: (waitedMs) => this.#options.totals.countWait(waitedMs),
    late: (exchange) => {
      this.#options.totals.count('parked_late')
      this.#mayPark = false
      try {
        this.#serve(exchange)
      } finally {
        this.#mayPark = true
      }
    },
  }
  /** The tail of an answer of this second. */
  #tail = new Uint8Array(TAIL_BYTES)
  /** Seconds that an answer may be kept. */
  #lifetime = 0

  constructor(options: RequestPathOptions, keys: KeyRing) {
    this.#options = options
    this.#admission = new Admission(options, keys)
    this.#held = new HeldViews(options)
    this.#served = this.#current = this.#held.current
    const { basePath, operations, stream } = options
    const targets: { path: string; target: Target | StreamTarget }[] = operations.map((operation, index) => ({
      path: operation.path,
      target: { operation, index, reader: readerOf(operation.parameters, operation.refusal) },
    }))
    if (stream !== undefined) {
      const { path, parameters, refusal } = stream.operation
      const reader = readerOf(parameters, refusal)
      targets.push({ path, target: { stream: stream.operation, index: operations.length, reader } })
    }
    this.#router = new Router(basePath, targets)
    this.#otherRoutes = targets.length
  }

  setKeys(keys: KeyRing): void {
    this.#admission.setKeys(keys)
    this.#options.stream?.streams.keysChanged()
  }

  /** Bytes that kept answers take. */
  get cacheBytes(): number {
    return this.#held.cacheBytes
  }

  /** Serves one snapshot and holds no other. */
  setView(view: View): void {
    this.hold([view], 1)
  }

  /**
   * Serves the last of `views`, and the others, which were served before it, to those who pin them. `most`:
   * how many are held at a time.
   */
  hold(views: readonly View[], most: number): void {
    this.#held.hold(views, most)
    this.#served = this.#current = this.#held.current
    this.#admission.isDemo = this.#current.view?.dataset.demo === true
    this.#second = 0
    this.#options.stream?.streams.serve(views.at(-1)!)
  }

  handle(exchange: Exchange): void {
    this.#options.totals.count('requests')
    this.#serve(exchange)
  }

  #serve(exchange: Exchange): void {
    const { method, path, query } = exchange
    const now = this.#options.clock()
    if (method !== 'GET' && method !== 'HEAD') {
      if (method === 'OPTIONS') sendPreflight(exchange)
      else sendError(exchange, 'method_not_allowed', 'Only GET, HEAD and OPTIONS are allowed', now)
      return
    }
    const served = (this.#served = this.#current)
    this.#tick(now)
    const kept = served.cache.getByTarget(path, query)
    if (kept !== undefined && this.#isFor(exchange, kept)) {
      exchange.route = kept.index
      // No key is in its query: the target of such a request is never remembered.
      this.#raw.clear()
      if (this.#admit(exchange, kept.operation, now)) this.#sendKept(exchange, kept)
      return
    }
    const route = this.#router.find(path)
    if (route === null) {
      exchange.route = this.#otherRoutes + STATIC
      if (this.#options.site?.serve(exchange, served.header) === true) return
      exchange.route = this.#otherRoutes + UNMATCHED
      sendError(exchange, 'resource_not_found', 'No such path', now)
      return
    }
    exchange.route = route.target.index
    if (served.view === null) {
      sendError(exchange, 'service_unavailable', 'No snapshot is loaded yet', now, {
        headers: `\r\nRetry-After: ${NO_SNAPSHOT_RETRY_SECONDS}`,
      })
      return
    }
    this.#raw.split(query)
    const { target, path: args } = route
    const operation = 'stream' in target ? target.stream : target.operation
    if (!this.#admit(exchange, operation, now)) return
    try {
      const pin = this.#raw.get('snapshot')
      if ('stream' in target) {
        if (pin !== '') throw new ApiError('bad_request', NOT_PINNED, { parameter: 'snapshot' })
        this.#stream(exchange, this.#served.view!, target, now)
        return
      }
      if (pin !== '') this.#pin(pin)
      this.#answer(exchange, this.#served.view!, { target, path: args }, now)
    } catch (error) {
      this.#refuse(exchange, error, operation, now)
    }
  }

  /** Answers with a stream of events. @throws ApiError */
  #stream(exchange: Exchange, view: View, { stream, reader, index }: StreamTarget, now: number): void {
    const { clock, leases } = this.#options
    const buoys = stream.buoys(view, reader.read(this.#raw, this.#digest.begin(index)))
    const holder = this.#admission.holder(clock, (slot, hour) => leases?.ask(slot, hour, 1))
    const headers = this.#commonHeaders(stream)
    const head = streamHead(callersRequestId(exchange), headers)
    const { place } = holder
    const refusal = this.#options.stream!.streams.begin(exchange, { head, buoys, holder, place })
    if (refusal === null) return
    if (refusal === 'body') {
      sendError(exchange, 'bad_request', TAKES_NO_BODY, now, { headers })
      return
    }
    const full = { headers: `${headers}\r\nRetry-After: ${FULL_RETRY_SECONDS}` }
    if (refusal === 'in all') {
      sendError(exchange, 'service_unavailable', TOO_MANY_STREAMS, now, full)
      return
    }
    sendError(exchange, 'rate_limit_exceeded', TOO_MANY_STREAMS_OF_ONE, now, {
      ...full,
      more: { retry_after: FULL_RETRY_SECONDS, reset_at: timestampText(now + FULL_RETRY_SECONDS) },
    })
  }

  /** Key and quota. False when the request was answered with a refusal. */
  #admit(exchange: Exchange, operation: Declared, now: number): boolean {
    const admission = this.#admission
    const refusal = admission.admit(exchange, operation.access, this.#raw, now)
    exchange.keyRow = admission.keyRow
    this.#fields.charge = admission.charge
    this.#fields.personal = admission.isPersonal
    if (refusal === null) return true
    if (refusal.mayWait && this.#park(exchange, now)) return false
    const { code, message, headers, more } = refusal
    sendError(exchange, code, message, now, { headers: this.#commonHeaders(operation) + headers, more })
    return false
  }

  /** Puts a request off until calls of its quota are leased. @returns false where it is to be refused instead */
  #park(exchange: Exchange, now: number): boolean {
    const { leases, totals } = this.#options
    if (leases === undefined || !this.#mayPark) return false
    const { client } = this.#admission
    const before = leases.parked.count
    if (!leases.parked.park(exchange, client, this.#leaseWait)) return false
    // One that waits on is asked for by who woke it.
    if (leases.parked.count > before) {
      totals.count('parked')
      leases.ask(client, hourOf(now), 1)
    }
    return true
  }

  /** Answers from the snapshot that the request names. @throws ApiError 400, 410 */
  #pin(value: string | null): void {
    const pinned = this.#held.pinned(snapshotId('snapshot', value))
    if (pinned === null) throw snapshotGone('snapshot', this.#current.view!.dataset.snapshotId)
    this.#served = pinned
  }

  /** What the errors of an operation share with its successes; rate headers once a request was charged. */
  #commonHeaders(operation: Declared): string {
    const vary = operation.access === 'keyed' ? VARY_BY_KEY : ''
    return this.#served.header + vary + rateHeaders(this.#fields.charge)
  }

  /** @throws ApiError */
  #answer(exchange: Exchange, view: View, { target, path }: Route<Target>, now: number): void {
    const { operation, reader } = target
    const digest = this.#digest.begin(target.index)
    const shape = this.#shapeOf(exchange, operation)
    const query = reader.read(this.#raw, digest)
    for (let i = 0; i < path.length; i++) digest.text(path[i])
    const language = languageOf(operation, query, exchange)
    if (operation.language === true) digest.text(language)
    const minute = operation.perMinute === true && query.time === undefined ? Math.floor(now / MINUTE) : 0
    if (minute !== 0) digest.number(minute)
    if (shape !== null) {
      this.#answerShaped(exchange, view, { target, path }, shape, { query, now, language, minute })
      return
    }
    const { low, high } = digest
    const { cache, isPinned } = this.#served
    if (cache.isOff) {
      const body = this.#written(view, target, query, path, now, language)
      this.#describe(operation, low, high, minute, this.#link)
      if (body instanceof Uint8Array) this.#send(exchange, body, null, null)
      else this.#sendLater(exchange, operation, body, now, NOT_KEPT)
      return
    }
    const canonical = [operation.name, ...path, reader.canonical(query), minute, language].join(SEPARATOR)
    const kept = cache.get(canonical)
    if (kept === undefined) {
      this.#options.totals.count('made')
      const negotiated = operation.language === true && query.locale === undefined
      const body = this.#written(view, target, query, path, now, language)
      const link = this.#link
      const request = { operation, index: target.index, low, high, minute, negotiated, format: JSON_FORMAT }
      this.#describe(operation, low, high, minute, link)
      if (body instanceof Uint8Array) {
        const put = cache.put(canonical, request, body, link)
        this.#send(exchange, body, put, null)
        return
      }
      const isKept = body.bytes <= MOST_KEPT_BYTES
      this.#sendLater(exchange, operation, body, now, {
        ...NOT_KEPT,
        keep: isKept
          ? (answer) => keptBytes(cache.put(canonical, request, answer, link), answer, JSON_FORMAT)
          : null,
      })
      return
    }
    // Not where a key in the query, a pin, or a language other than the default decides.
    const isForAll = !isPinned && (!kept.negotiated || language === DEFAULT_LANGUAGE)
    if (isForAll && this.#raw.get('api_key') === '') cache.remember(exchange.path, exchange.query, kept)
    this.#sendKept(exchange, kept)
  }

  /** The shape that a request asks for, null for the usual JSON. @throws ApiError 400 */
  #shapeOf(exchange: Exchange, { tables, parameters }: Operation): Shape | null {
    if (!this.#raw.mayShape && (tables === undefined || hasUsualAccept(exchange))) return null
    const canInclude = 'include' in parameters
    return shapeOf(tables, canInclude, this.#raw, (formats) =>
      this.#formats.of(exchange.headerValues(ACCEPT), formats),
    )
  }

  /**
   * Answers as a table. A short answer is made now and kept, a longer one is made in slices, and one that is too
   * long to be kept has more time. @throws ApiError
   */
  #answerShaped(
    exchange: Exchange,
    view: View,
    { target, path }: Route<Target>,
    shape: Shape,
    { query, now, language, minute }: Asked,
  ): void {
    const { operation, reader, index } = target
    const { cache, pin, isPinned } = this.#served
    const isPaged = this.#raw.get('page') !== '' || this.#raw.get('per_page') !== ''
    const key = `${shapeKey(shape)}|${isPaged ? 'p' : ''}`
    const { low, high } = this.#digest.text(key)
    const { format } = shape
    const canonical = [operation.name, ...path, reader.canonical(query), minute, language, key].join(
      SEPARATOR,
    )
    const kept = cache.isOff ? undefined : cache.get(canonical)
    if (kept !== undefined) {
      const isForAll = !isPinned && shape.isExplicit && this.#raw.get('api_key') === '' && !kept.negotiated
      if (isForAll) cache.remember(exchange.path, exchange.query, kept)
      this.#sendKept(exchange, kept)
      return
    }
    this.#options.totals.count('made')
    const isWhole = format !== 'json' && !isPaged
    const { basePath } = this.#options
    const request = { view, query, path, now, language, isWhole }
    const { expensive, rows, microseconds, headers } = shapedAnswer(
      operation,
      request,
      shape,
      basePath,
      reader.given(this.#raw),
      isPinned,
    )
    this.#link = headers
    this.#describe(operation, low, high, minute, headers)
    const negotiated = operation.language === true && query.locale === undefined
    const answered = { operation, index, low, high, minute, negotiated, format }
    if (
      this.#options.expensive === null ||
      (expensive.bytes <= EXPENSIVE_BYTES && microseconds <= EXPENSIVE_US)
    ) {
      const { writer } = view.fragments
      writer.begin()
      finish(stepsOf(expensive, writer, format, this.#second, pin))
      const body = writer.answer()
      this.#send(
        exchange,
        body,
        cache.isOff ? null : cache.put(canonical, answered, body, headers),
        null,
        format,
      )
      return
    }
    const isKept = !cache.isOff && expensive.bytes <= MOST_KEPT_BYTES
    this.#sendLater(exchange, operation, expensive, now, {
      format,
      isLong: expensive.bytes > MOST_KEPT_BYTES,
      price: isWhole ? priceOf(rows) : 1,
      keep: isKept
        ? (answer) => keptBytes(cache.put(canonical, answered, answer, headers), answer, format)
        : null,
    })
  }

  /** Whether an answer is right for a request of the same target now. */
  #isFor(exchange: Exchange, { operation, minute, negotiated, format }: AnsweredRequest): boolean {
    return (
      (minute === 0 || minute === Math.floor(this.#second / MINUTE)) &&
      (!negotiated || exchange.header(ACCEPT_LANGUAGE) === '') &&
      // Targets of other formats are remembered where the query says the format.
      (format !== JSON_FORMAT || operation.tables === undefined || hasUsualAccept(exchange))
    )
  }

  #sendKept(exchange: Exchange, kept: KeptAnswer): void {
    const { operation, low, high, minute } = kept
    this.#options.totals.count('kept')
    const served = this.#served
    const encoding = this.#encodings.of(exchange.header(ACCEPT_ENCODING))
    const compressed =
      encoding === null ? null : served.cache.compressed(kept, encoding, this.#second, this.#tail)
    const body = (compressed ?? kept).bytesAt(this.#second, kept.ownTail ?? this.#tail)
    const hasLink = served.isPinned || kept.format !== JSON_FORMAT
    this.#describe(operation, low, high, minute, hasLink ? served.cache.linkOf(kept) : '')
    this.#send(exchange, body, kept, compressed === null ? null : encoding, kept.format)
  }

  /** Says in the fields of the head what answer it is. */
  #describe(operation: Operation, low: number, high: number, minute: number, link: string): void {
    const fields = this.#fields
    const { isPinned } = this.#served
    const lifetime = isPinned ? this.#pinnedLifetime() : this.#lifetime
    fields.low = low
    fields.high = high
    fields.vary = this.#admission.isPage ? varyOfPage(operation) : varyOf(operation)
    fields.link = link
    // An answer about this minute is wrong in the next.
    fields.lifetime = minute === 0 ? lifetime : Math.min(lifetime, MINUTE - (this.#second % MINUTE))
  }

  /** Seconds that a pinned snapshot will at least be held, as far as the schedule says. */
  #pinnedLifetime(): number {
    const { refreshEvery } = this.#options
    if (refreshEvery === 0) return LONGEST_LIFETIME_SECONDS
    const swapsLeft = this.#held.swapsLeft(this.#served.pin)
    return refreshEvery - (this.#second % refreshEvery) + (swapsLeft - 1) * refreshEvery
  }

  /** `kept`: what is kept of the answer, in `encoding`; null where nothing is. */
  #send(
    exchange: Exchange,
    body: Uint8Array,
    kept: KeptAnswer | null,
    encoding: Encoding | null,
    format: Format = JSON_FORMAT,
  ): void {
    if (this.#sendNotModified(exchange)) return
    this.#fields.encoding = encoding
    const served = this.#served
    const heads = format === JSON_FORMAT ? served.heads : served.headsOf(format)
    const head = heads.write(this.#fields)
    if (body.length <= LONG_BYTES) exchange.send(head, body)
    else exchange.send(head, body, this.#again(exchange, kept, encoding, format))
  }

  /**
   * Makes an answer that was sent just now once more: from what is kept of it, else from the snapshot, which
   * knows no encodings and only the usual JSON.
   */
  #again(
    { path, query }: Exchange,
    kept: KeptAnswer | null,
    encoding: Encoding | null,
    format: Format,
  ): Again {
    const { hold, pin } = this.#served
    const [second, tail] = [this.#second, kept?.ownTail ?? this.#tail]
    return () => {
      if (kept?.kept === true) {
        const compressed = encoding === null ? null : (kept[encoding] as CompressedAnswer)
        return compressed === null ? kept.bytesWith(tail) : compressed.bytesAt(second, tail)
      }
      return encoding !== null || format !== JSON_FORMAT || hold.view === null
        ? null
        : this.#rewritten(hold.view, pin, path, query, second)
    }
  }

  /**
   * The answer to a request that was admitted and answered at `second`. None of a language is so long that it
   * is made again.
   */
  #rewritten(view: View, pin: string, path: string, query: string, second: number): Uint8Array | null {
    const route = this.#router.find(path)
    if (route === null || 'stream' in route.target) return null
    const { operation, reader, index } = route.target
    this.#raw.split(query)
    // Long ones with fewer fields are made in slices, so that it is hardly ever one of these.
    if (shapeOf(operation.tables, 'include' in operation.parameters, this.#raw, () => JSON_FORMAT) !== null)
      return null
    const values = reader.read(this.#raw, this.#digest.begin(index))
    const { writer } = view.fragments
    let begun: ReturnType<Operation['answer']>
    try {
      begun = beginAnswer(view, operation, values, route.path, second, DEFAULT_LANGUAGE)
    } catch (error) {
      // Changes since a snapshot that has left meanwhile.
      if (error instanceof ApiError) return null
      throw error
    }
    endAnswer(writer, isExpensive(begun) ? finish(begun.steps(writer)) : begun, second, pin)
    return writer.answer()
  }

  /** Answers 304 where the client has the answer already. @returns whether it does */
  #sendNotModified(exchange: Exchange): boolean {
    const fields = this.#fields
    fields.requestId = callersRequestId(exchange)
    const condition = exchange.header(IF_NONE_MATCH)
    // The first line mostly decides, and reading one costs a tenth of reading all.
    const holds =
      condition !== '' &&
      (this.#served.heads.matches(condition, fields) ||
        this.#served.heads.matches(exchange.headerValues(IF_NONE_MATCH), fields))
    if (!holds) return false
    fields.encoding = null
    exchange.send(this.#served.notModifiedHeads.write(fields), null)
    return true
  }

  /**
   * Has an expensive answer made and sent in slices, from the snapshot of its request. `keep` gets it in the end. A
   * long one has more time, and is never kept.
   */
  #sendLater(
    exchange: Exchange,
    operation: Operation,
    answer: ExpensiveAnswer,
    now: number,
    { format, isLong, price, keep }: Later,
  ): void {
    const expensive = this.#options.expensive!
    const { client } = this.#admission
    if (this.#sendNotModified(exchange)) return
    const headers = this.#commonHeaders(operation)
    const busy = { headers: `${headers}\r\nRetry-After: ${BUSY_RETRY_SECONDS}` }
    if (!expensive.hasSlot(client)) {
      this.#options.totals.count('long_refused')
      sendError(exchange, 'service_unavailable', BUSY, now, busy)
      return
    }
    if (this.#refuseUnpaid(exchange, operation, price, now)) return
    const { pin } = this.#served
    const heads = this.#served.headsOf(format)
    const fields = {
      ...this.#fields,
      encoding: null,
      charge: this.#fields.charge && { ...this.#fields.charge },
    }
    const head = (): Uint8Array => {
      this.#tick(this.#options.clock())
      if (pin === '') fields.lifetime = this.#lifetime
      return heads.write(fields)
    }
    const isTaken = expensive.add(
      {
        client,
        head,
        steps: (writer) => stepsOf(answer, writer, format, Math.floor(this.#options.clock()), pin),
        ...(isLong && { mostBytes: answer.bytes }),
        refuse: (reply, fault) => {
          const { clock } = this.#options
          if (fault !== null) this.#reportFault(fault, operation)
          else this.#options.totals.count('long_refused')
          const [code, message] =
            fault === null ? (['service_unavailable', BUSY] as const) : (['internal_error', FAULT] as const)
          const options = fault === null ? busy : { headers }
          const error = errorAnswer(fields.requestId, code, message, clock(), options)
          reply.send(error.head, error.body)
        },
        onFault: (fault) => this.#reportFault(fault, operation),
        keep,
      },
      (events) => exchange.later(events),
    )
    if (isTaken) this.#options.totals.count('long')
    else sendError(exchange, 'bad_request', TAKES_NO_BODY, now, { headers })
  }

  /** Charges the calls that an answer costs beyond the one that every request does. @returns whether it is refused */
  #refuseUnpaid(exchange: Exchange, operation: Operation, price: number, now: number): boolean {
    if (price === 1 || exchange.method === 'HEAD') return false
    const refusal = this.#admission.chargeMore(price - 1, now)
    if (refusal === null) return false
    const { code, message, headers, more } = refusal
    sendError(exchange, code, message, now, { headers: this.#commonHeaders(operation) + headers, more })
    return true
  }

  #reportFault(error: unknown, operation: Declared): void {
    this.#options.totals.count('faults')
    this.#options.onFault(error, operation.name)
  }

  #refuse(exchange: Exchange, error: unknown, operation: Declared, now: number): void {
    const headers = this.#commonHeaders(operation)
    if (error instanceof ApiError) {
      sendError(exchange, error.code, error.message, now, { headers, details: error.details })
      return
    }
    this.#reportFault(error, operation)
    sendError(exchange, 'internal_error', FAULT, now, { headers })
  }

  /** What depends on the second of the answer is made once a second. */
  #tick(now: number): void {
    const second = Math.floor(now)
    if (second === this.#second || this.#current.view === null) return
    this.#second = second
    this.#tail = tailAt(second)
    const { refreshEvery } = this.#options
    this.#lifetime =
      refreshEvery === 0
        ? LONGEST_LIFETIME_SECONDS
        : Math.min(LONGEST_LIFETIME_SECONDS, refreshEvery - (second % refreshEvery))
  }

  #written(
    view: View,
    { operation, reader }: Target,
    query: Parameters<Operation['answer']>[1],
    path: readonly string[],
    now: number,
    language: Language,
  ): Uint8Array | ExpensiveAnswer {
    const { writer } = view.fragments
    const { pin } = this.#served
    let begun = beginAnswer(view, operation, query, path, now, language)
    const paging = isExpensive(begun) ? begun.paging : begun
    this.#link =
      pin === '' || paging === undefined
        ? ''
        : linkHeader(this.#options.basePath, operation.path, path, reader.given(this.#raw), pin, paging)
    if (isExpensive(begun)) {
      if (this.#options.expensive !== null) return begun
      begun = finish(begun.steps(writer))
    }
    endAnswer(writer, begun, this.#second, pin)
    return writer.answer()
  }
}

/** All of an answer, step by step. */
function stepsOf(
  answer: ExpensiveAnswer,
  writer: JsonWriter,
  format: Format,
  second: number,
  pin: string,
): Steps<unknown> {
  return format === JSON_FORMAT ? answerInSteps(answer, writer, second, pin) : answer.steps(writer)
}

/** Most clients say no more. */
function hasUsualAccept(exchange: Exchange): boolean {
  const accept = exchange.header(ACCEPT)
  return accept === '' || accept === '*/*' || accept === 'application/json'
}

/** What is kept of `answer`, with its own tail. */
function keptBytes(kept: KeptAnswer | null, answer: Uint8Array, format: Format): Kept | null {
  if (kept === null) return null
  if (format !== JSON_FORMAT) return () => (kept.kept ? kept.bytesWith(kept.ownTail!) : null)
  const tail = new Uint8Array(answer.subarray(-TAIL_BYTES))
  return () => (kept.kept ? kept.bytesWith(tail) : null)
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
