/**
 * The way of a request: method → route → key and quota → pin → query → kept answer, handler or the thread of
 * long answers → reply. Each step gets the values that the steps before it have made, and nothing else is
 * kept between two requests. It is synchronous: the engine's request object is dead once a handler has
 * returned.
 */
import type { KeyRing } from '../access/key-ring.ts'
import { ApiError, notFound, refused, snapshotGone, snapshotId } from '../operation/errors.ts'
import { nowOf, untilNextMinute, type Declared, type Operation } from '../operation/operation.ts'
import type { View } from '../dataset/view.ts'
import {
  EDR_PATH,
  type EdrGiven,
  edrRoute,
  formatAt,
  isDocument,
  isOfEdr,
  operationOf,
  PARAMETERS,
} from '../edr/paths.ts'
import type { TrustedProxies } from '../access/trusted-proxies.ts'
import { EtagHash, readerOf, RawQuery } from '../operation/query.ts'
import { faultText } from '../system/text.ts'
import { Admission, type AdmissionOptions, type Client, UNCHARGED } from './admission.ts'
import type { KnownTarget } from './answer-cache.ts'
import { answer, answerKnown } from './answering.ts'
import { edrAsked, isUsual, readAsked } from './asked.ts'
import { beginStream, feedOf, type Streaming } from './event-streams.ts'
import type { Exchange } from './exchange.ts'
import { ignorableNames, ignoredHeader, neededBy } from './ignored-parameters.ts'
import type { LongOptions } from './long-answers.ts'
import { Moments } from '../operation/envelope.ts'
import { KnownPaths } from './known-paths.ts'
import { callersRequestId, FAULT, sendError, sendPreflight, streamHead, TAKES_NO_BODY } from './reply.ts'
import { OTHER_ROUTES } from './request-counts.ts'
import { isStream, Router, type StreamTarget, type Target } from './router.ts'
import { commonHeaders, HeldViews, type Admitted, type ServedOptions, type ServedView } from './served.ts'
import type { Site } from './static-site.ts'
import { MCP_PATH, type ToolDoor } from './tool-door.ts'

const ONLY_READS = new ApiError('method_not_allowed', 'Only GET, HEAD and OPTIONS are allowed')
const NO_SUCH_PATH = notFound('No such path')
const NO_SNAPSHOT = new ApiError('service_unavailable', 'No snapshot is loaded yet', null, 5)
const NOT_PINNED = 'does not apply to streams, which follow the current snapshot. Allowed: no snapshot'
const NOT_HERE_YET = new ApiError(
  'service_unavailable',
  'The snapshot is not here yet. Another server may have it already. Try again',
  null,
  1,
)

const STATIC = OTHER_ROUTES.indexOf('static')
const UNMATCHED = OTHER_ROUTES.indexOf('unmatched')
const TOOLS = OTHER_ROUTES.indexOf('mcp')

/** Also the query of a known target, which never has a key in it. */
const NO_QUERY = new RawQuery('')

/** Programs know a file by how its address ends: `/readings.csv` is `/readings?format=csv`. */
const ENDING = /^(.+)\.(csv|ndjson|geojson|parquet)$/

function withFormat(query: string, ending: string): string {
  const format = `format=${ending}`
  return ending === '' || query.split('&').includes(format) ? query : `${query}&${format}`
}

export interface RequestPathOptions extends AdmissionOptions, ServedOptions, LongOptions {
  operations: readonly Operation[]
  basePath: string
  /** Seconds between scheduled builds, which begin at multiples of it; 0 without a schedule. */
  refreshEvery: number
  /** A mirror among several servers: others may serve a snapshot before this one. */
  isReplica?: boolean
  /** Without it there are no streams of events. */
  stream?: Streaming
  /** Pages and their files. */
  site?: Site
  /** Tools of assistants; without it there is no `/mcp`. */
  tools?: Pick<ToolDoor, 'handle'>
  /** Without it there is no EDR. */
  edr?: Edr
}

interface Edr {
  /** The origin that clients know this server by; null where `Host` says it. */
  readonly publicUrl: string | null
}

export class RequestPath {
  readonly #options: RequestPathOptions
  readonly #router: Router<Target | StreamTarget>
  /** Ordinal of the first route after operations and streams. */
  readonly #otherRoutes: number
  readonly #targets: readonly (Target | StreamTarget)[]
  readonly #admission: Admission
  readonly #held: HeldViews
  readonly #moments: Moments
  readonly #paths: KnownPaths
  /** The list of buoys, which needs no key as EDR has it. */
  readonly #listForAll: Declared

  constructor(options: RequestPathOptions, keys: KeyRing) {
    this.#options = options
    const targets = targetsOf(options)
    this.#router = new Router(
      options.basePath,
      targets.map((target) => ({ path: target.operation.path, target })),
    )
    this.#otherRoutes = targets.length
    this.#targets = targets
    const list = options.operations.find(({ name }) => name === 'listBuoys')!
    this.#listForAll = { ...list, access: 'public' }
    this.#admission = new Admission(options, keys)
    this.#held = new HeldViews(options)
    this.#moments = new Moments(options.refreshEvery)
    this.#paths = new KnownPaths(
      options.basePath,
      targets.map((target) => target.operation.path),
    )
  }

  setKeys(keys: KeyRing): void {
    this.#admission.setKeys(keys)
    this.#options.stream?.listeners.keysChanged()
  }

  /** Serves the last of `views`, and the earlier ones to clients that pin them. `most`: how many are held. */
  hold(views: readonly View[], most: number): void {
    this.#held.hold(views, most)
    this.#options.stream?.listeners.serve(feedOf(views.at(-1)!))
  }

  /** Snapshots that are known, oldest first: those after the served one are still to come. */
  know(ids: readonly string[]): void {
    this.#held.known = ids
  }

  handle(exchange: Exchange): void {
    this.#options.counters.count('requests')
    const { method, path, query } = exchange
    const now = this.#options.clock()
    exchange.requestId = callersRequestId(exchange)
    if (method !== 'GET' && method !== 'HEAD') {
      if (path === MCP_PATH && this.#handleTools(exchange)) return
      if (method === 'OPTIONS') sendPreflight(exchange)
      else sendError(exchange, ONLY_READS, now)
      return
    }
    const served = this.#held.current
    if (this.#options.edr !== undefined && isOfEdr(path)) {
      this.#handleEdr(exchange, this.#options.edr, served, now)
      return
    }
    const known = served.cache.known(path, query)
    if (known !== undefined && this.#answerKnown(exchange, served, known, now)) return
    const [, plain = path, ending = ''] = ENDING.exec(path) ?? []
    const route = this.#router.find(plain)
    if (route === null || (ending !== '' && isStream(route.target))) {
      this.#answerOther(exchange, served, now)
      return
    }
    const { target } = route
    exchange.route = target.index
    const asked = withFormat(query, ending)
    const raw = asked === '' ? NO_QUERY : new RawQuery(asked, target.reader.known)
    const ignored = ignoredHeader(raw, target.ignorable, target.needed)
    if (served.view === null) {
      sendError(exchange, NO_SNAPSHOT, now, ignored)
      return
    }
    let request = this.#admit(exchange, served, target.operation, raw, ignored, now)
    if (request === null) return
    try {
      const pin = raw.get('snapshot')
      if (isStream(target)) {
        if (pin !== '') throw refused('snapshot', NOT_PINNED)
        if (exchange.cameWithBody) throw new ApiError('bad_request', TAKES_NO_BODY)
        this.#beginStream(request, target, raw)
        return
      }
      if (pin !== '') request = { ...request, served: this.#pinned('snapshot', pin) }
      const asked = readAsked(request, { target, path: route.path }, raw)
      // Caches that pass over `Vary` would give a table to clients that ask for JSON.
      if (asked.shape !== null && asked.shape.format !== 'json' && !asked.shape.isExplicit)
        request = { ...request, client: { ...request.client, isPersonal: true } }
      const { comparesWith } = target.operation
      if (comparesWith !== undefined) this.#pinned(comparesWith, raw.get(comparesWith))
      const lifetime = this.#lifetimeOf(request, asked.until)
      answer(this.#options, request, asked, lifetime, raw.get('api_key') !== '')
    } catch (error) {
      this.#refuse(request, this.#mayCome(error, raw, now) ? NOT_HERE_YET : error)
    }
  }

  #handleTools(exchange: Exchange): boolean {
    const { tools } = this.#options
    if (tools === undefined) return false
    exchange.route = this.#otherRoutes + TOOLS
    tools.handle(exchange)
    return true
  }

  /** Charges a request as one for a list that needs no key: 204, or an error. */
  charge(exchange: Exchange): void {
    const { clock } = this.#options
    const now = clock()
    const isDemo = this.#held.current.view?.dataset.demo === true
    const { refusal } = this.#admission.admit(exchange, 'public', NO_QUERY, now, isDemo)
    if (refusal === null) exchange.send('204 No Content', null)
    else sendError(exchange, refusal, now)
  }

  /** Answers EDR: an operation by other parameters, or a document. */
  #handleEdr(exchange: Exchange, { publicUrl }: Edr, served: ServedView, now: number): void {
    const path = exchange.path.slice(EDR_PATH.length).replace(/\/$/, '')
    const route = edrRoute(path)
    if (route === null && !isDocument(path)) {
      exchange.route = this.#otherRoutes + UNMATCHED
      sendError(exchange, NO_SUCH_PATH, now)
      return
    }
    const { name, access } =
      route === null ? ({ name: 'listBuoys', access: 'public' } as const) : operationOf(route)
    const target = this.#targets.find(({ operation }) => operation.name === name)! as Target
    exchange.route = route === null ? this.#otherRoutes + STATIC : target.index
    if (served.view === null) {
      sendError(exchange, NO_SNAPSHOT, now)
      return
    }
    const raw = exchange.query === '' ? NO_QUERY : new RawQuery(exchange.query)
    const operation = access === 'public' ? this.#listForAll : target.operation
    const admitted =
      route === null
        ? this.#admitted(exchange, served, operation, UNCHARGED, '', now)
        : this.#admit(exchange, served, operation, raw, '', now)
    if (admitted === null) return
    // An answer with addresses by `Host` is for this client alone.
    const isPersonal = publicUrl === null || admitted.client.isPersonal
    let request: Admitted = { ...admitted, client: { ...admitted.client, isPersonal } }
    try {
      const base = `${publicUrl ?? originOf(exchange, this.#options.proxies)}${EDR_PATH}`
      const pin = raw.get('snapshot')
      if (pin !== '') request = { ...request, served: this.#pinned('snapshot', pin) }
      const given = Object.fromEntries(PARAMETERS.map((each) => [each, raw.get(each)])) as EdrGiven
      // A forecast without a beginning begins now.
      const isOfNow = name === 'forecast' && !/^\d/.test(given.datetime ?? '')
      const until = isOfNow ? untilNextMinute(undefined, now) : 0
      const asked = edrAsked(target, { base, path, given }, formatAt(path, given), until)
      answer(this.#options, request, asked, this.#lifetimeOf(request, until), true)
    } catch (error) {
      this.#refuse(request, error)
    }
  }

  /** Whether a refusal is of a snapshot that another replica serves, and this one may get within seconds. */
  #mayCome(error: unknown, raw: RawQuery, now: number): boolean {
    if (!(error instanceof ApiError) || error.code !== 'snapshot_gone') return false
    const id = raw.get(String(error.details?.['parameter'])) ?? ''
    return this.#held.isToCome(id) ?? (this.#options.isReplica === true && this.#held.mayCome(id, now))
  }

  /** Key and quota. @returns null if the request was refused */
  #admit(
    exchange: Exchange,
    served: ServedView,
    operation: Declared,
    raw: RawQuery,
    ignored: string,
    now: number,
  ): Admitted | null {
    const isDemo = served.view!.dataset.demo
    const client = this.#admission.admit(exchange, operation.access, raw, now, isDemo)
    exchange.keyRow = client.keyRow
    const request = this.#admitted(exchange, served, operation, client, ignored, now)
    if (client.refusal === null) return request
    this.#refuse(request, client.refusal)
    return null
  }

  #admitted(
    exchange: Exchange,
    served: ServedView,
    operation: Declared,
    client: Client,
    ignored: string,
    now: number,
  ): Admitted {
    const { requestId } = exchange
    return {
      exchange,
      operation,
      client,
      requestId,
      served,
      ignored,
      now,
      moment: this.#moments.momentAt(now),
    }
  }

  /** @returns false if the request has to be read after all */
  #answerKnown(exchange: Exchange, served: ServedView, known: KnownTarget, now: number): boolean {
    const { target, until, ignored } = known
    const { operation, index } = target
    const isOver = until !== 0 && now >= until
    if (isOver || !isUsual(exchange, operation)) return false
    exchange.route = index
    const request = this.#admit(exchange, served, operation, NO_QUERY, ignored, now)
    if (request !== null) answerKnown(this.#options, request, known, this.#lifetimeOf(request, until))
    return true
  }

  /** Answers with a page, or 404. */
  #answerOther(exchange: Exchange, { header }: ServedView, now: number): void {
    const { path } = exchange
    if (path === MCP_PATH && this.#handleTools(exchange)) return
    exchange.route = this.#otherRoutes + STATIC
    if (this.#options.site?.serve(exchange, header) === true) return
    exchange.route = this.#otherRoutes + UNMATCHED
    const near = this.#paths.near(path)
    sendError(exchange, near === null ? NO_SUCH_PATH : notFound(`No such path. Did you mean ${near}?`), now)
  }

  /** @throws ApiError 400, 410 */
  #pinned(parameter: string, value: string | null): ServedView {
    const pinned = this.#held.pinned(snapshotId(parameter, value))
    if (pinned === null) throw snapshotGone(parameter, this.#held.current.view!.dataset.snapshotId)
    return pinned
  }

  #lifetimeOf({ served: { isPinned, pin }, moment }: Admitted, until: number): number {
    return this.#moments.lifetimeOf(moment, until, isPinned ? this.#held.swapsLeft(pin) : 0)
  }

  #refuse(request: Admitted, error: unknown): void {
    const isKnown = error instanceof ApiError
    if (!isKnown) {
      this.#options.counters.count('faults')
      this.#options.onFault(faultText(error), request.operation.name)
    }
    sendError(request.exchange, isKnown ? error : FAULT, request.now, commonHeaders(request))
  }

  #beginStream(request: Admitted, { operation, reader }: StreamTarget, raw: RawQuery): void {
    const { exchange, client, served, now } = request
    const { clock, counters, stream } = this.#options
    const view = served.view!
    const texts = reader.textsOf(raw)
    const buoys = operation.buoys(view, reader.read(texts, new EtagHash(), nowOf(operation, view, now)))
    const isDemo = (): boolean => this.#held.current.view!.dataset.demo
    const holder = this.#admission.holder(client, clock, isDemo)
    const head = streamHead(request.requestId, commonHeaders(request))
    beginStream(stream!, counters, exchange, { head, view, buoys, holder })
  }
}

/** A host, and perhaps a port. */
const HOST = /^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?$/

/** The origin by which the client knows this server. @throws ApiError 400 */
function originOf(exchange: Exchange, proxies: TrustedProxies): string {
  const host = exchange.headerValues('host')
  if (!HOST.test(host))
    throw new ApiError('bad_request', 'Header Host is malformed. Allowed: a host, with a port')
  const isSecure =
    !proxies.isEmpty &&
    exchange.headerValues('x-forwarded-proto') === 'https' &&
    proxies.trusts(exchange.address())
  return `${isSecure ? 'https' : 'http'}://${host}`
}

/** The operations in their order, then the stream. */
function targetsOf({ operations, stream }: RequestPathOptions): readonly (Target | StreamTarget)[] {
  const all = [...operations, ...(stream === undefined ? [] : [stream.operation])]
  const names = ignorableNames(all)
  return all.map((operation, index) => {
    const reader = readerOf(operation.parameters, operation.refusal)
    return { operation, index, reader, ignorable: names[index], needed: neededBy(operation) }
  })
}
