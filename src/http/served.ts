/** Makes and sends one snapshot's answers. A pinned snapshot (`snapshot=ID`) has other heads and `meta`. */
import { LRUCache } from 'lru-cache'
import type { View } from '../dataset/view.ts'
import { AnswerCache, CompressionJobs } from './answer-cache.ts'
import type { Format } from '../operation/shape.ts'
import { Heads, snapshotHeaders, type NamedSnapshot } from './reply.ts'

/** Pinned answers' share of the answer cache: few clients pin, and none may take as much as all others. */
const PINNED_CACHE_SHARE = 1 / 16

export interface ServedOptions {
  /** Bytes of answers kept per snapshot; 0 keeps none. */
  answerCache: number
  /** What decides an answer in addition to snapshot and query: part of every ETag. */
  settingsTag: string
}

export class ServedView {
  readonly view: View | null
  cache: AnswerCache
  readonly isPinned: boolean
  /** The id of a pinned snapshot, else ''. */
  readonly pin: string
  /** Headers about the snapshot, each begun by CRLF. */
  readonly header: string
  /** Heads of the usual JSON. */
  readonly heads: Heads
  readonly #headsOf = new Map<string, Heads>()
  readonly #headsFor: (kind: 'success' | 'part', format: Format) => Heads
  readonly notModifiedHeads: Heads
  readonly #cacheBytes: number
  readonly #jobs: CompressionJobs

  /** `view` is null before the first snapshot. */
  constructor(
    view: View | null,
    isPinned: boolean,
    { answerCache, settingsTag }: ServedOptions,
    jobs: CompressionJobs,
  ) {
    const named = view === null ? null : namedSnapshot(view)
    const id = named?.snapshotId ?? ''
    // The bodies of lists differ, and a client must not take one for the other.
    const tag = isPinned ? `${settingsTag}p` : settingsTag
    this.view = view
    this.isPinned = isPinned
    this.pin = isPinned ? id : ''
    this.#cacheBytes = isPinned ? answerCache * PINNED_CACHE_SHARE : answerCache
    this.#jobs = jobs
    this.cache = new AnswerCache(this.#cacheBytes, jobs)
    this.header = named === null ? '' : snapshotHeaders(named)
    this.#headsFor = (kind, format) => new Heads(kind, named, tag, format)
    this.heads = this.headsOf('json')
    this.notModifiedHeads = new Heads('not modified', named, tag)
  }

  headsOf(format: Format): Heads {
    return this.#heads('success', format)
  }

  partialHeadsOf(format: Format): Heads {
    return this.#heads('part', format)
  }

  #heads(kind: 'success' | 'part', format: Format): Heads {
    const key = kind + format
    let heads = this.#headsOf.get(key)
    if (heads === undefined) this.#headsOf.set(key, (heads = this.#headsFor(kind, format)))
    return heads
  }

  /** Another snapshot has left: kept answers may compare with it (`since=ID`). */
  otherLeft(): void {
    this.cache = new AnswerCache(this.#cacheBytes, this.#jobs)
  }
}

function namedSnapshot({ dataset: { snapshotId, asOf, demo } }: View): NamedSnapshot {
  return { snapshotId, asOf, demo }
}

/** Snapshots, oldest first; the last is the current one. */
/** Seconds within which a replica gets a snapshot that another one serves: two looks at the source, and a load. */
const ARRIVAL_SECONDS = 10
/** Unknown ids that are remembered; any 24 digits can be asked for. */
const MOST_UNKNOWN = 1000

/**
 * Snapshots that clients ask for by their ids and that are not held. A replica cannot know whether such a one has left
 * or is still to come: it may come for a while from the first time that it is asked for, unless it has left here.
 */
export class UnknownSnapshots {
  /** When each was first asked for, epoch seconds; long ago for those that were held. */
  readonly #since = new LRUCache<string, number>({ max: MOST_UNKNOWN })

  left(id: string): void {
    this.#since.set(id, -Infinity)
  }

  mayCome(id: string, now: number): boolean {
    const since = this.#since.get(id)
    if (since === undefined) this.#since.set(id, now)
    return since === undefined || now - since < ARRIVAL_SECONDS
  }
}

export class HeldViews {
  readonly #options: ServedOptions
  #views: readonly View[] = []
  /** By id, made when a client pins them. */
  readonly #pinned = new Map<string, ServedView>()
  readonly #jobs = new CompressionJobs()
  /** How many snapshots may be held. */
  #most = 1
  readonly unknown = new UnknownSnapshots()
  /** For clients that pin none. */
  current: ServedView

  constructor(options: ServedOptions) {
    this.#options = options
    this.current = new ServedView(null, false, options, this.#jobs)
  }

  /** Serves the last of `views`, oldest first, from now on; others leave. */
  hold(views: readonly View[], most: number): void {
    const gone = this.#views.filter((view) => !views.includes(view))
    for (const { dataset } of gone) this.unknown.left(dataset.snapshotId)
    const hasOneLeft = gone.length > 0
    this.#views = views
    this.#most = most
    for (const [id, pinned] of this.#pinned) {
      if (views.some((view) => view === pinned.view)) {
        if (hasOneLeft) pinned.otherLeft()
        continue
      }
      this.#pinned.delete(id)
    }
    const view = views.at(-1)!
    if (this.current.view === view) {
      if (hasOneLeft) this.current.otherLeft()
      return
    }
    this.current = new ServedView(view, false, this.#options, this.#jobs)
  }

  /** Null if the snapshot is not held. */
  pinned(id: string): ServedView | null {
    const known = this.#pinned.get(id)
    if (known !== undefined) return known
    const view = this.viewOf(id)
    if (view === null) return null
    const served = new ServedView(view, true, this.#options, this.#jobs)
    this.#pinned.set(id, served)
    return served
  }

  viewOf(id: string): View | null {
    return this.#views.find(({ dataset }) => dataset.snapshotId === id) ?? null
  }

  /** Swaps after which a held snapshot leaves; 1: with the next. */
  swapsLeft(id: string): number {
    const at = this.#views.findIndex(({ dataset }) => dataset.snapshotId === id)
    return at + 1 + Math.max(0, this.#most - this.#views.length)
  }
}
