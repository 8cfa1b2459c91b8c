/**
 * The way of a request, in this order:
 *
 *   method → route → snapshot → key → quota → pin → query → conditional → cache or handler → reply
 *
 * Where the answer to this request target is kept, only method, key, quota, conditional and reply remain.
 *
 * All of it is synchronous, because the engine's request object is dead once a handler has returned. Only
 * expensive answers take what they need of the request, and are made later, in slices.
 */
import type { KeyRing } from '../access/key-ring.ts'
import { ApiError } from '../answers/errors.ts'
import type { Declared, View } from '../answers/operation.ts'
import { readerOf } from '../answers/query.ts'
import { ACCEPT_LANGUAGE, type Exchange } from '../http/exchange.ts'
import { OTHER_ROUTES } from '../metrics/requests.ts'
import { Router } from '../routes.ts'
import { MINUTE } from '../sea/time.ts'
import { Answering } from './answering.ts'
import type { AnsweredRequest } from './kept-answer.ts'
import { ignorableNames, ignoredHeader } from './ignored-parameters.ts'
import { DeferredAnswers } from './deferred-answers.ts'
import { LeaseParking } from './lease-waits.ts'
import { FAULT, sendError, sendPreflight } from './reply.ts'
import type { RequestPathOptions } from './request-options.ts'
import { RequestState } from './request-state.ts'
import type { StreamTarget, Target } from './request-target.ts'
import { Rewriter } from './rewriter.ts'
import { Sender } from './sender.ts'
import { hasUsualAccept, ShapedRequests } from './shaped-requests.ts'
import { beginStream } from './stream-requests.ts'

/** Seconds a client should wait before the first snapshot. */
const NO_SNAPSHOT_RETRY_SECONDS = 5
const NOT_PINNED = 'Parameter snapshot is not for streams. Allowed: nothing; they follow the current snapshot'

/** Paths of the admin port, which newcomers look for here. */
const ADMIN_PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz', '/status', '/metrics', '/log-level'])
const ON_ADMIN_PORT = 'No such path here. Health, status and metrics are on the admin port'

const STATIC = OTHER_ROUTES.indexOf('static')
const UNMATCHED = OTHER_ROUTES.indexOf('unmatched')

export class RequestPath {
  readonly #options: RequestPathOptions
  readonly #router: Router<Target | StreamTarget>
  /** Ordinal of the first route beside those of operations and streams. */
  readonly #otherRoutes: number
  readonly #state: RequestState
  readonly #sender: Sender
  readonly #answering: Answering
  /** Null where no replicas share the quotas. */
  readonly #parking: LeaseParking | null

  constructor(options: RequestPathOptions, keys: KeyRing) {
    this.#options = options
    const targets = targetsOf(options)
    this.#router = new Router(options.basePath, targets)
    this.#otherRoutes = targets.length
    const state = (this.#state = new RequestState(options, keys))
    const sender = (this.#sender = new Sender(state, new Rewriter(state, this.#router)))
    const deferred = new DeferredAnswers(state, sender)
    this.#answering = new Answering(state, sender, deferred, new ShapedRequests(state, sender, deferred))
    const { leases, totals } = options
    this.#parking =
      leases === undefined ? null : new LeaseParking(leases, totals, (exchange) => this.#serve(exchange))
  }

  setKeys(keys: KeyRing): void {
    this.#state.admission.setKeys(keys)
    this.#options.stream?.streams.keysChanged()
  }

  /** Bytes that kept answers take. */
  get cacheBytes(): number {
    return this.#state.held.cacheBytes
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
    this.#state.hold(views, most)
    this.#options.stream?.streams.serve(views.at(-1)!)
  }

  handle(exchange: Exchange): void {
    this.#options.totals.request()
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
    const served = (state.served = state.current)
    state.namesAnotherTag = false
    state.tick(now)
    const kept = served.cache.getByTarget(path, query)
    if (kept !== undefined && this.#isFor(exchange, kept)) {
      exchange.route = kept.index
      served.cache.asked(kept)
      // No key is in its query: the target of such a request is never remembered.
      state.raw.clear()
      state.fields.ignored = ''
      if (this.#admit(exchange, kept.operation, now)) this.#sender.sendKept(exchange, kept)
      return
    }
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
    state.raw.split(query)
    state.fields.ignored = ignoredHeader(state.raw, target.ignorable)
    if (served.view === null) {
      sendError(exchange, 'service_unavailable', 'No snapshot is loaded yet', now, {
        headers: `\r\nRetry-After: ${NO_SNAPSHOT_RETRY_SECONDS}${state.fields.ignored}`,
      })
      return
    }
    const operation = target.operation ?? target.stream
    if (!this.#admit(exchange, operation, now)) return
    try {
      const pin = state.raw.get('snapshot')
      if (target.operation === null) {
        if (pin !== '') throw new ApiError('bad_request', NOT_PINNED, { parameter: 'snapshot' })
        beginStream(state, exchange, state.served.view!, target, now)
        return
      }
      if (pin !== '') state.pin(pin)
      this.#answering.answer(exchange, state.served.view!, { target, path: args }, now)
    } catch (error) {
      this.#refuse(exchange, error, operation, now)
    }
  }

  /** Key and quota. False when the request was answered with a refusal, or waits. */
  #admit(exchange: Exchange, operation: Declared, now: number): boolean {
    const state = this.#state
    const { admission, fields } = state
    const refusal = admission.admit(exchange, operation.access, state.raw, now)
    exchange.keyRow = admission.keyRow
    fields.charge = admission.charge
    fields.personal = admission.isPersonal
    if (refusal === null) return true
    const waits = refusal.mayWait && this.#parking?.park(exchange, admission.client, now) === true
    if (waits) return false
    const { code, message, headers, more } = refusal
    sendError(exchange, code, message, now, { headers: state.commonHeaders(operation) + headers, more })
    return false
  }

  /** Whether an answer is right for a request of the same target now. */
  #isFor(exchange: Exchange, { operation, minute, negotiated, format }: AnsweredRequest): boolean {
    return (
      (minute === 0 || minute === Math.floor(this.#state.second / MINUTE)) &&
      (!negotiated || exchange.headerValues(ACCEPT_LANGUAGE) === '') &&
      // Targets of other formats are remembered where the query says the format.
      (format !== 'json' || operation.tables === undefined || hasUsualAccept(exchange))
    )
  }

  #refuse(exchange: Exchange, error: unknown, operation: Declared, now: number): void {
    const headers = this.#state.commonHeaders(operation)
    if (error instanceof ApiError) {
      sendError(exchange, error.code, error.message, now, { headers, details: error.details })
      return
    }
    this.#state.reportFault(error, operation)
    sendError(exchange, 'internal_error', FAULT, now, { headers })
  }
}

/** What each path leads to: the operations in their order, and streams behind them. */
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
