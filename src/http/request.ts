/**
 * The way of a request: method → route → snapshot → key → quota → pin → query → conditional → cache or
 * handler → reply. It is synchronous: the engine's request object is dead once a handler has returned. Only
 * expensive answers take what they need of the request, and are made later, in slices.
 */
import type { KeyRing } from '../access/key-ring.ts'
import { ApiError } from '../operation/errors.ts'
import { nowOf, type Declared } from '../operation/operation.ts'
import type { View } from '../dataset/view.ts'
import { readerOf, RawQuery } from '../operation/query.ts'
import type { Exchange } from './exchange.ts'
import { OTHER_ROUTES } from './request-counts.ts'
import { TagNumber } from '../operation/tag-number.ts'
import { Router, type StreamTarget, type Target } from './router.ts'
import { MINUTE, timestampText } from '../sea/time.ts'
import { faultText } from '../system/fault-text.ts'
import type { KnownTarget } from './answer-cache.ts'
import { Answering, isUsual } from './answering.ts'
import { ignorableNames, ignoredHeader } from './ignored-parameters.ts'
import { FULL_RETRY_SECONDS } from './event-streams.ts'
import { LongRequests } from './long-requests.ts'
import { callersRequestId, FAULT, sendError, sendPreflight, streamHead, TAKES_NO_BODY } from './reply.ts'
import {
  RequestState,
  type Admitted,
  type Begun,
  type RequestPathOptions,
  type SharedState,
} from './request-state.ts'
import { Sender } from './sender.ts'

/** Seconds a client should wait before the first snapshot. */
const NO_SNAPSHOT_RETRY_SECONDS = 5
const NOT_PINNED =
  'Parameter snapshot does not apply to streams, which follow the current snapshot. Allowed: no snapshot'

/** Paths of the admin port, which newcomers look for here. */
const ADMIN_PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz', '/status', '/metrics', '/log-level'])
const ON_ADMIN_PORT = 'No such path here. Health, status and metrics are on the admin port'

const NOT_HERE_RETRY_SECONDS = 1
const NOT_HERE_YET = new ApiError(
  'service_unavailable',
  'The snapshot is not here. Another server may have it already, and this one gets it within seconds. Try again',
)

const TOO_MANY_STREAMS = 'Too many streams of events are open. Try again later'
const TOO_MANY_STREAMS_OF_ONE = 'Too many streams of events are open with this key. Close one first'

const STATIC = OTHER_ROUTES.indexOf('static')
const UNMATCHED = OTHER_ROUTES.indexOf('unmatched')

/** Stands for that of a known target, too: a key in the query is never in one. */
const NO_QUERY = new RawQuery('')

export class RequestPath {
  readonly #options: RequestPathOptions
  readonly #router: Router<Target | StreamTarget>
  /** Ordinal of the first route after those of operations and streams. */
  readonly #otherRoutes: number
  readonly #state: SharedState
  readonly #sender: Sender
  readonly #answering: Answering

  constructor(options: RequestPathOptions, keys: KeyRing) {
    this.#options = options
    const targets = targetsOf(options)
    this.#router = new Router(options.basePath, targets)
    this.#otherRoutes = targets.length
    const state: SharedState = new RequestState(options, keys)
    this.#state = state
    const sender = (this.#sender = new Sender(state))
    this.#answering = new Answering(state, sender, new LongRequests(state, sender))
  }

  setKeys(keys: KeyRing): void {
    this.#state.admission.setKeys(keys)
    this.#options.stream?.streams.keysChanged()
  }

  setView(view: View): void {
    this.hold([view], 1)
  }

  /** Serves the last of `views`, and the earlier ones to those who pin them. `most`: how many are held. */
  hold(views: readonly View[], most: number): void {
    this.#state.hold(views, most)
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
    const state = this.#state
    const begun = state.begin(now)
    const { served } = begun
    const known = served.cache.known(path, query)
    if (known !== undefined && this.#answerKnown(exchange, begun, known, now)) return
    const route = this.#router.find(path)
    if (route === null) {
      exchange.route = this.#otherRoutes + STATIC
      if (this.#options.site?.serve(exchange, served.header) === true) return
      exchange.route = this.#otherRoutes + UNMATCHED
      const message = ADMIN_PATHS.has(path) ? ON_ADMIN_PORT : 'No such path'
      sendError(exchange, 'resource_not_found', message, now)
      return
    }
    const { target, path: args } = route
    exchange.route = target.index
    const raw = query === '' ? NO_QUERY : new RawQuery(query, target.reader.known)
    state.fields.ignored = ignoredHeader(raw, target.ignorable)
    if (served.view === null) {
      sendError(exchange, 'service_unavailable', 'No snapshot is loaded yet', now, {
        headers: `\r\nRetry-After: ${NO_SNAPSHOT_RETRY_SECONDS}${state.fields.ignored}`,
      })
      return
    }
    const operation = target.operation ?? target.stream
    const admitted = this.#admit(exchange, begun, operation, raw, now)
    if (admitted === null) return
    try {
      const pin = raw.get('snapshot')
      if (target.operation === null) {
        if (pin !== '') throw new ApiError('bad_request', NOT_PINNED, { parameter: 'snapshot' })
        beginStream(state, exchange, state.served.view!, { target, raw }, now)
        return
      }
      if (pin !== '') admitted.pin(pin)
      this.#answering.answer(exchange, admitted, state.served.view!, { target, path: args, raw }, now)
    } catch (error) {
      this.#refuse(exchange, this.#mayCome(error, raw, now) ? NOT_HERE_YET : error, operation, now)
    }
  }

  /** Whether a refusal is of a snapshot that another replica serves, and this one may get within seconds. */
  #mayCome(error: unknown, raw: RawQuery, now: number): boolean {
    if (this.#options.isReplica !== true) return false
    if (!(error instanceof ApiError) || error.code !== 'snapshot_gone') return false
    const id = raw.get(String(error.details?.['parameter'])) ?? ''
    return this.#state.held.unknown.mayCome(id, now)
  }

  /** @returns false if the request has to be read after all */
  #answerKnown(
    exchange: Exchange,
    begun: Begun,
    { target: { operation, index }, canonical, kept, low, high, minute, ignored }: KnownTarget,
    now: number,
  ): boolean {
    const state = this.#state
    const isNow = minute === 0 || minute === Math.floor(now / MINUTE)
    if (!isNow || !isUsual(exchange, operation)) return false
    exchange.route = index
    state.fields.ignored = ignored
    const admitted = this.#admit(exchange, begun, operation, NO_QUERY, now)
    if (admitted === null) return true
    admitted.describe(operation, low, high, minute, kept.link)
    this.#sender.sendKept(exchange, canonical, kept, 'json')
    return true
  }

  /** Key and quota. @returns null if the request was refused */
  #admit(exchange: Exchange, begun: Begun, operation: Declared, raw: RawQuery, now: number): Admitted | null {
    const state = this.#state
    const outcome = begun.admit(exchange, operation, raw, now)
    if (!('code' in outcome)) return outcome
    const { code, message, headers, more } = outcome
    sendError(exchange, code, message, now, { headers: state.commonHeaders(operation) + headers, more })
    return null
  }

  #refuse(exchange: Exchange, error: unknown, operation: Declared, now: number): void {
    const headers =
      this.#state.commonHeaders(operation) +
      (error === NOT_HERE_YET ? `\r\nRetry-After: ${NOT_HERE_RETRY_SECONDS}` : '')
    if (error instanceof ApiError) {
      sendError(exchange, error.code, error.message, now, { headers, details: error.details })
      return
    }
    this.#state.reportFault(faultText(error), operation)
    sendError(exchange, 'internal_error', FAULT, now, { headers })
  }
}

/** The operations in their order, then the stream. */
function targetsOf({
  operations,
  stream,
}: RequestPathOptions): { path: string; target: Target | StreamTarget }[] {
  const streams = stream === undefined ? [] : [{ ...stream.operation, isStream: true }]
  const names = ignorableNames([...operations, ...streams])
  const targets: { path: string; target: Target | StreamTarget }[] = operations.map((operation, index) => {
    const reader = readerOf(operation.parameters, operation.refusal)
    return {
      path: operation.path,
      target: { operation, stream: null, index, reader, ignorable: names[index] },
    }
  })
  if (stream !== undefined) {
    const { path, parameters, refusal } = stream.operation
    const index = operations.length
    const reader = readerOf(parameters, refusal)
    targets.push({
      path,
      target: { operation: null, stream: stream.operation, index, reader, ignorable: names[index] },
    })
  }
  return targets
}

function beginStream(
  state: SharedState,
  exchange: Exchange,
  view: View,
  { target: { stream, reader }, raw }: { target: StreamTarget; raw: RawQuery },
  now: number,
): void {
  const { clock, stream: streaming } = state.options
  const texts = reader.textsOf(raw)
  const buoys = stream.buoys(view, reader.read(texts, new TagNumber(), nowOf(stream, view, now)))
  const holder = state.admission.holder(clock)
  const headers = state.commonHeaders(stream)
  const head = streamHead(callersRequestId(exchange), headers)
  const { place } = holder
  const refusal = streaming!.streams.begin(exchange, { head, buoys, holder, place })
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
