/**
 * Snapshots as they are served, a pinned one (`snapshot=ID`) with other heads and `meta`, and a request to
 * one of them.
 */
import { LRUCache } from 'lru-cache'
import type { View } from '../dataset/view.ts'
import type { Declared } from '../operation/operation.ts'
import type { Client } from './admission.ts'
import { AnswerCache } from './answer-cache.ts'
import type { Moment } from '../operation/envelope.ts'
import type { Exchange } from './exchange.ts'
import type { Format } from '../operation/shape.ts'
import { Heads, rateHeaders, snapshotHeaders, VARY_BY_KEY, type Asker } from './reply.ts'

/** Pinned answers' share of the answer cache: few clients pin, and none may take as much as all others. */
const PINNED_CACHE_SHARE = 1 / 16

export interface ServedOptions {
  /** Bytes of answers kept per snapshot; 0 keeps none. */
  answerCache: number
  /** The settings that decide an answer beside snapshot and query: part of every ETag. */
  settingsTag: string
}

export class ServedView {
  readonly view: View | null
  readonly cache: AnswerCache
  readonly isPinned: boolean
  /** The id of a pinned snapshot, else ''. */
  readonly pin: string
  /** Headers about the snapshot, each after a CRLF. */
  readonly header: string
  /** Heads of JSON. */
  readonly heads: Heads
  readonly notModifiedHeads: Heads
  readonly #headsOf = new Map<string, Heads>()
  readonly #tag: string

  /** `view` is null before the first snapshot. */
  constructor(view: View | null, isPinned: boolean, { answerCache, settingsTag }: ServedOptions) {
    const dataset = view?.dataset ?? null
    this.view = view
    this.isPinned = isPinned
    this.pin = isPinned ? dataset!.snapshotId : ''
    this.cache = new AnswerCache(isPinned ? answerCache * PINNED_CACHE_SHARE : answerCache)
    this.header = dataset === null ? '' : snapshotHeaders(dataset)
    // Bodies of pinned lists differ, and a client must not take one for the other.
    this.#tag = isPinned ? `${settingsTag}p` : settingsTag
    this.heads = new Heads('success', dataset, this.#tag)
    this.notModifiedHeads = new Heads('not modified', dataset, this.#tag)
  }

  headsOf(format: Format, kind: 'success' | 'part' = 'success'): Heads {
    const key = kind + format
    let heads = this.#headsOf.get(key)
    if (heads === undefined) {
      heads = new Heads(kind, this.view?.dataset ?? null, this.#tag, format)
      this.#headsOf.set(key, heads)
    }
    return heads
  }
}

/** A request that was admitted, as a value that goes from one step of its way to the next. */
export interface Admitted extends Asker {
  readonly exchange: Exchange
  readonly operation: Declared
  readonly client: Client
  /** The current snapshot, or a pinned one. */
  readonly served: ServedView
  /** Epoch seconds with a fraction. */
  readonly now: number
  readonly moment: Moment
}

/** Headers that an operation's errors share with its successes. */
export function commonHeaders({ served, operation, client, ignored }: Admitted): string {
  const vary = operation.access === 'keyed' ? VARY_BY_KEY : ''
  return served.header + vary + rateHeaders(client.charge) + ignored
}

/**
 * Seconds within which a replica gets a snapshot that another one serves: two looks at the source, and a
 * load.
 */
const ARRIVAL_SECONDS = 10
/** Unknown ids that are remembered; a request can name any 24 digits. */
const MOST_UNKNOWN = 1000

/** Snapshots, oldest first; the last is the current one. */
export class HeldViews {
  readonly #options: ServedOptions
  #views: readonly View[] = []
  /** By id, made when a client pins them. */
  readonly #pinned = new Map<string, ServedView>()
  /** How many snapshots may be held. */
  #most = 1
  /** Epoch seconds of the first request for an id that is not held; long ago for ids that were held. */
  readonly #unknown = new LRUCache<string, number>({ max: MOST_UNKNOWN })
  /** The view for clients that pin none. */
  current: ServedView
  /** Ids up to the newest snapshot that is known, oldest first. */
  known: readonly string[] = []

  constructor(options: ServedOptions) {
    this.#options = options
    this.current = new ServedView(null, false, options)
  }

  /** Serves the last of `views`, oldest first, from now on; others leave. */
  hold(views: readonly View[], most: number): void {
    for (const view of this.#views) {
      if (!views.includes(view)) this.#unknown.set(view.dataset.snapshotId, -Infinity)
    }
    this.#views = views
    this.#most = most
    // Kept answers may compare with a snapshot that has left (`since=ID`): all caches are new.
    this.#pinned.clear()
    this.current = new ServedView(views.at(-1)!, false, this.#options)
  }

  /** Null if the snapshot is not held. */
  pinned(id: string): ServedView | null {
    const known = this.#pinned.get(id)
    if (known !== undefined) return known
    const view = this.#views.find(({ dataset }) => dataset.snapshotId === id)
    if (view === undefined) return null
    const served = new ServedView(view, true, this.#options)
    this.#pinned.set(id, served)
    return served
  }

  /** Null for an unknown id, and while no snapshot is newer than the served one. */
  isToCome(id: string): boolean | null {
    const { known, current } = this
    const served = current.view!.dataset.snapshotId
    const at = known.indexOf(id)
    return at === -1 || known.at(-1) === served ? null : at > known.indexOf(served)
  }

  /**
   * A replica cannot know whether a snapshot that is not held has left or is still to come: it may come for a
   * while after the first request for it, unless this server held it before.
   */
  mayCome(id: string, now: number): boolean {
    const since = this.#unknown.get(id)
    if (since === undefined) this.#unknown.set(id, now)
    return since === undefined || now - since < ARRIVAL_SECONDS
  }

  /** Swaps after which a held snapshot leaves; 1: with the next. */
  swapsLeft(id: string): number {
    const at = this.#views.findIndex(({ dataset }) => dataset.snapshotId === id)
    return at + 1 + Math.max(0, this.#most - this.#views.length)
  }
}
