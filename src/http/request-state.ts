/**
 * What the parts of the request path share. One object serves all: one request is answered at a time. What its calls
 * return has the calls that may come next: `begin`, `admit`, then `pin` where a snapshot is named, and `describe` when
 * the answer is known. A head is written from `fields` after that. An error has `commonHeaders`, which say what is known by then.
 */
import type { KeyRing } from '../access/key-ring.ts'
import type { Declared, Operation, StreamOperation } from '../operation/operation.ts'
import type { View } from '../dataset/view.ts'
import { snapshotGone, snapshotId } from '../operation/errors.ts'
import type { RawQuery } from '../operation/query.ts'
import { MINUTE } from '../sea/time.ts'
import type { Exchange } from './exchange.ts'
import { Admission, type AdmissionOptions, type Refusal } from './admission.ts'
import { TAIL_BYTES, tailAt } from './envelope.ts'
import type { EventStreams } from './event-streams.ts'
import type { LongAnswers } from './long-answers.ts'
import { NO_LINK } from './links.ts'
import { rateHeaders, varyOf, VARY_BY_KEY, type HeadFields } from './reply.ts'
import { HeldViews, type ServedOptions, type ServedView } from './served.ts'
import type { Site } from './static-site.ts'

/** A snapshot may be published at any time; nobody is to see an old one for longer. */
const LONGEST_LIFETIME_SECONDS = 60

export interface RequestPathOptions extends AdmissionOptions, ServedOptions {
  operations: readonly Operation[]
  basePath: string
  /** Seconds between scheduled builds, which begin at multiples of it; 0 without a schedule. */
  refreshEvery: number
  long: LongAnswers
  /** One of several servers whose snapshots come from elsewhere: others may serve a snapshot before this one. */
  isReplica?: boolean
  /** Without it there are no streams of events. */
  stream?: { operation: StreamOperation; streams: EventStreams }
  /** Pages and their files. */
  site?: Site
  /** Epoch seconds with a fraction. */
  clock: () => number
  /** Gets faults of our own (`faultText`); never a key or a query. */
  onFault: (fault: string, operation: string) => void
}

/** Between the calls of a request. */
export type SharedState = Omit<RequestState, 'admit' | 'pin' | 'describe'>
export type Begun = Pick<RequestState, 'served' | 'admit'>
export type Admitted = Pick<RequestState, 'pin' | 'describe'>

export class RequestState {
  readonly options: RequestPathOptions
  readonly admission: Admission
  readonly held: HeldViews
  current: ServedView
  /** Answers the current request: the current snapshot, or a pinned one. */
  served: ServedView
  /** Fields of the head that is written next. */
  readonly fields: HeadFields = {
    low: 0,
    high: 0,
    personal: false,
    lifetime: 0,
    vary: varyOf({ access: 'public' }),
    charge: null,
    encoding: null,
    requestId: '',
    link: NO_LINK,
    ignored: '',
  }
  /** The request names only tags of other answers: it is compared once. */
  namesAnotherTag = false
  /** Time of the answer, epoch seconds. */
  second = 0
  tail = new Uint8Array(TAIL_BYTES)
  /** Seconds that an answer may be kept. */
  lifetime = 0

  constructor(options: RequestPathOptions, keys: KeyRing) {
    this.options = options
    this.admission = new Admission(options, keys)
    this.held = new HeldViews(options)
    this.served = this.current = this.held.current
  }

  hold(views: readonly View[], most: number): void {
    this.held.hold(views, most)
    this.served = this.current = this.held.current
    this.admission.isDemo = this.current.view?.dataset.demo === true
    this.second = 0
  }

  /** The current snapshot answers, unless the request pins another. */
  begin(now: number): Begun {
    this.served = this.current
    this.namesAnotherTag = false
    this.tick(now)
    return this
  }

  /** Checks and charges the key. */
  admit(exchange: Exchange, { access }: Declared, raw: RawQuery, now: number): Refusal | Admitted {
    const { admission, fields } = this
    const refusal = admission.admit(exchange, access, raw, now)
    exchange.keyRow = admission.keyRow
    fields.charge = admission.charge
    fields.personal = admission.isPersonal
    return refusal ?? this
  }

  /** What depends on the second of the answer is made once a second. */
  tick(now: number): void {
    const second = Math.floor(now)
    if (second === this.second || this.current.view === null) return
    this.second = second
    this.tail = tailAt(second)
    const { refreshEvery } = this.options
    this.lifetime =
      refreshEvery === 0
        ? LONGEST_LIFETIME_SECONDS
        : Math.min(LONGEST_LIFETIME_SECONDS, refreshEvery - (second % refreshEvery))
  }

  /** @throws ApiError 400, 410 */
  pin(value: string | null): void {
    const pinned = this.held.pinned(snapshotId('snapshot', value))
    if (pinned === null) throw snapshotGone('snapshot', this.current.view!.dataset.snapshotId)
    this.served = pinned
  }

  describe(operation: Operation, low: number, high: number, minute: number, link: Uint8Array): void {
    const { fields } = this
    const lifetime = this.served.isPinned ? this.#pinnedLifetime() : this.lifetime
    fields.low = low
    fields.high = high
    fields.vary = varyOf(operation, this.admission.isPage)
    fields.link = link
    // An answer about this minute is wrong in the next.
    fields.lifetime = minute === 0 ? lifetime : Math.min(lifetime, MINUTE - (this.second % MINUTE))
  }

  /** Seconds that a pinned snapshot will at least be held, according to the schedule. */
  #pinnedLifetime(): number {
    const { refreshEvery } = this.options
    if (refreshEvery === 0) return LONGEST_LIFETIME_SECONDS
    const swapsLeft = this.held.swapsLeft(this.served.pin)
    return refreshEvery - (this.second % refreshEvery) + (swapsLeft - 1) * refreshEvery
  }

  /** What an operation's errors share with its successes; rate headers once a request was charged. */
  commonHeaders(operation: Declared): string {
    const vary = operation.access === 'keyed' ? VARY_BY_KEY : ''
    return this.served.header + vary + rateHeaders(this.fields.charge) + this.fields.ignored
  }

  reportFault(fault: string, operation: Declared): void {
    this.options.totals.count('faults')
    this.options.onFault(fault, operation.name)
  }
}
