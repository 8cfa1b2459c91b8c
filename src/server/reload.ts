/** Loads what is new of the snapshot that a supply shows, and hands it on. A fault keeps the old one. */
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import { MANIFEST_FILE, type Manifest } from '../snapshot/manifest.ts'
import type { Changes } from '../snapshot/row-changes.ts'
import { Loader, type LoaderOptions } from './load.ts'
import { listKept } from '../snapshot/retained.ts'
import { memoryLimit, refuseOverLimit, leastThreadBytes } from '../snapshot/catalog-summary.ts'
import type { LoadedParts, PublishedManifest } from '../snapshot/read-snapshot.ts'
import type { IndexedSnapshot } from '../dataset/view.ts'
import type { LogLine } from '../system/log.ts'
import { accepts, type Supply } from './supply.ts'

/** The pause after a first refusal, doubled after each further one: parts may arrive after their manifest. */
const FIRST_RETRY_MS = 2000
const LONGEST_RETRY_MS = 600_000
/** Snapshots tried in a row: a builder that publishes a newer one may remove parts of the older one. */
const ATTEMPTS = 3

/** Time from a swap to a collection: before, a thread may still refer to the snapshot that it released. */
const COLLECT_AFTER_MS = 10_000

export interface ReloadState {
  /** Epoch seconds of the last attempt, or null. */
  at: number | null
  /** Null when the attempt succeeded. */
  error: string | null
  /** Seconds from noticing the snapshot to serving it. */
  took: number | null
  /** Seconds of `took` for reading and checking, and for the workers to take the snapshot over. */
  loadTook: number | null
  swapTook: number | null
  loaded: number
  refused: number
  /** `since` is epoch seconds. */
  loading: { id: string; since: number } | null
}

interface ReloaderOptions extends Omit<LoaderOptions, 'heapMiB'> {
  supply: Supply
  /** Snapshots for clients that pin them, the current one included. */
  hold?: number
  /** Bytes that the held snapshots and a new one may take together; 0 for what the machine has. */
  maxMemory: number
  /** Number of workers: each has fragments of its own, and scratch memory. */
  threads: number
  /** Called with each manifest other than the served one. */
  onSeen?: (manifest: Manifest) => void
  clock: () => number
  log: LogLine
  /**
   * Serves the last of `held`; the others, oldest first, are for clients that pin them. May reject. `fresh`
   * is the one that was not held before.
   */
  serve: (
    held: readonly IndexedSnapshot[],
    changes: readonly Changes[],
    fresh: IndexedSnapshot,
  ) => Promise<void>
  letGo?: (held: readonly IndexedSnapshot[]) => Promise<void>
  /** Frees parts that no held snapshot has; `last` does so on the thread that loads. */
  collect?: (last: () => void) => void
}

export class Reloader {
  readonly state: ReloadState = {
    at: null,
    error: null,
    took: null,
    loadTook: null,
    swapTook: null,
    loaded: 0,
    refused: 0,
    loading: null,
  }
  readonly #options: ReloaderOptions
  /** Oldest first; the last is the current one. */
  #held: readonly IndexedSnapshot[] = []
  /** Between any two held snapshots, in one direction. */
  #changes: readonly Changes[] = []
  /** Whether the log has said that memory is too small. */
  #isShort = false
  /** The last refused manifest, known by its id or, where it cannot be read, by its fault. */
  #refused: { mark: string; retryAt: number; wait: number } | null = null
  #running: Promise<void> | null = null
  #again = false
  #isFollowing = false
  readonly #loader: Loader
  #collection: NodeJS.Timeout | null = null
  readonly #stopping = new AbortController()
  #hasLookedBack = false

  constructor(options: ReloaderOptions) {
    this.#options = options
    this.#loader = new Loader(options)
  }

  get snapshot(): IndexedSnapshot | null {
    return this.#held.at(-1) ?? null
  }

  get held(): readonly IndexedSnapshot[] {
    return this.#held
  }

  start(): void {
    const { supply } = this.#options
    if (this.#isFollowing || supply.follow === undefined) return
    this.#isFollowing = true
    supply.follow((again) => void this.poll(again), this.#stopping.signal)
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Gives up the load. */
  stop(): void {
    this.#stopping.abort()
    this.#loader.end()
    if (this.#collection !== null) clearTimeout(this.#collection)
  }

  /** With `force`, also tries a snapshot that was refused before. Never rejects. */
  async poll(force = false): Promise<void> {
    if (force) this.#refused = null
    if (this.#running !== null) {
      this.#again = true
      await this.#running
      return
    }
    this.#running = this.#pollUntilQuiet()
    await this.#running
  }

  async #pollUntilQuiet(): Promise<void> {
    try {
      do {
        this.#again = false
        await this.#pollOnce()
      } while (this.#again)
    } finally {
      this.#running = null
    }
  }

  async #pollOnce(): Promise<void> {
    const { supply, clock, log } = this.#options
    let seen = ''
    try {
      const manifest = await supply.look()
      if (manifest === null) {
        if (this.snapshot === null) return
        throw new SnapshotError(`${MANIFEST_FILE}: is missing`)
      }
      if (manifest.id === this.snapshot?.id) {
        this.#refused = null
        this.state.error = null
        // The first snapshot is served before.
        if (this.#isFollowing && !this.#hasLookedBack) await this.#lookBack()
        return
      }
      seen = manifest.id
      this.#options.onSeen?.(manifest)
      if (this.#refused?.mark === seen && performance.now() < this.#refused.retryAt) return
      const began = performance.now()
      this.state.loading = { id: seen, since: clock() }
      log(`loading snapshot ${seen}`, 'debug')
      const snapshot = await this.#load(manifest)
      if (this.#isStopping) return
      const loadedAt = performance.now()
      if (snapshot.filesFault !== null) log(`${snapshot.filesFault}; GET /files lists nothing`, 'warning')
      const held = heldWith(snapshot, this.#held, this.#options.hold ?? 1)
      if (!(await this.#serve(held, snapshot))) return
      this.#refused = null
      this.state.at = clock()
      this.state.error = null
      this.state.took = (performance.now() - began) / 1000
      this.state.loadTook = (loadedAt - began) / 1000
      this.state.swapTook = (performance.now() - loadedAt) / 1000
      const { loadTook, swapTook } = this.state
      log(
        `snapshot ${seen} was read in ${loadTook.toFixed(3)} s and taken over in ${swapTook.toFixed(3)} s`,
        'debug',
      )
      this.state.loaded++
    } catch (error) {
      if (!this.#isStopping) this.#refuse(seen, (error as Error).message)
    } finally {
      this.state.loading = null
    }
  }

  /**
   * After a start, loads the snapshots before the one that is served, as far as the folder keeps them: a
   * server that had run on would hold them, and clients that pinned them there ask here. A fault leaves that
   * snapshot out.
   */
  async #lookBack(): Promise<void> {
    this.#hasLookedBack = true
    const { dir, hold = 1, threads, maxMemory, supply, log } = this.#options
    const ids = new Set(this.#held.map(({ id }) => id))
    const earlier = listKept(dir).flatMap(({ id, manifest, waiting, builtAt }): PublishedManifest[] => {
      const isWanted = manifest !== null && !waiting && !ids.has(id) && accepts(supply, manifest)
      return isWanted ? [{ ...manifest, publishedAt: Math.floor(builtAt) }] : []
    })
    const limit = memoryLimit(maxMemory)
    for (let manifest = earlier.pop(); manifest !== undefined; manifest = earlier.pop()) {
      if (this.#isStopping || this.#held.length >= hold) return
      const { id, parts } = manifest
      const threadBytes = leastThreadBytes(parts)
      if (!fits(() => refuseOverLimit({ id, parts, threadBytes }, this.#held, threads, limit))) return
      try {
        const snapshot = await this.#loader.load(manifest, partsOf(this.#held))
        if (!(await this.#serve([snapshot, ...this.#held], snapshot))) return
      } catch (error) {
        if (this.#isStopping) return
        log(`snapshot ${id} is not held for pinned reads: ${(error as Error).message}`, 'warning')
      }
    }
  }

  /** @returns false where the server stops meanwhile */
  async #serve(held: readonly IndexedSnapshot[], fresh: IndexedSnapshot): Promise<boolean> {
    const changes = await this.#compare(held)
    if (this.#isStopping) return false
    await this.#options.serve(held, changes, fresh)
    this.#hold(held)
    this.#changes = changes
    return true
  }

  /** Parts that no snapshot holds stay in memory until each thread has collected garbage. */
  #hold(held: readonly IndexedSnapshot[]): void {
    this.#held = held
    this.#collection ??= setTimeout(() => {
      this.#collection = null
      this.#options.collect?.(() => this.#loader.collect())
    }, COLLECT_AFTER_MS).unref()
  }

  /** `id` is empty where the manifest cannot be read. */
  #refuse(id: string, message: string): void {
    const { dir, supply, clock, log } = this.#options
    const mark = id === '' ? message : id
    const isSame = this.#refused?.mark === mark
    if (id === '' && isSame) return
    const wait = isSame ? Math.min(this.#refused!.wait * 2, LONGEST_RETRY_MS) : FIRST_RETRY_MS
    this.#refused = { mark, wait, retryAt: performance.now() + wait }
    const isNews = !isSame || message !== this.state.error
    this.state.at = clock()
    this.state.error = message
    this.state.refused++
    if (id !== '') supply.refused(id)
    if (!isNews) return
    const stays = this.snapshot === null ? '' : `; snapshot ${this.snapshot.id} keeps serving`
    log(`the snapshot in ${dir} was refused: ${message}${stays}`, 'warning')
  }

  async #load(published: PublishedManifest): Promise<IndexedSnapshot> {
    const { supply } = this.#options
    let manifest = published
    for (let attempt = 1; ; attempt++) {
      if (!accepts(supply, manifest)) {
        throw new SnapshotError(
          `snapshot ${manifest.id} is a demo with made-up data; this server has other sources`,
        )
      }
      // Room is made by the manifest before anything is read, then for the loaded snapshot.
      await this.#makeRoom(manifest, leastThreadBytes(manifest.parts))
      try {
        const loaded = await this.#loader.load(manifest, partsOf(this.#held))
        await this.#makeRoom(manifest, loaded.threadBytes)
        return loaded
      } catch (error) {
        if (this.#isStopping) throw error
        const now = await supply.look()
        if (attempt === ATTEMPTS || now === null || now.id === manifest.id) throw error
        manifest = now
      }
    }
  }

  /** The changes between held snapshots; known ones are kept. */
  async #compare(held: readonly IndexedSnapshot[]): Promise<readonly Changes[]> {
    const ids = new Set(held.map(({ id }) => id))
    const changes = this.#changes.filter(({ since, until }) => ids.has(since) && ids.has(until))
    const after = held.at(-1)!
    for (const before of held.slice(0, -1)) {
      if (changes.some(({ since, until }) => isPair(since, until, before.id, after.id))) continue
      try {
        changes.push(await this.#loader.compare(before, after))
      } catch (error) {
        // Unknown changes do not keep an old snapshot: a client that asks gets 410, and takes the lists.
        if (this.#isStopping) return changes
        this.#options.log(
          `the changes from snapshot ${before.id} to ${after.id} are not known: ${(error as Error).message}`,
          'warning',
        )
      }
    }
    return changes
  }

  /**
   * Releases held snapshots, the oldest first, until the new one fits into memory.
   * @throws SnapshotError where it does not fit with the current one alone either; then none leaves
   */
  async #makeRoom({ id, parts }: PublishedManifest, threadBytes: number): Promise<void> {
    const { maxMemory, threads, hold = 1, log, letGo } = this.#options
    const limit = memoryLimit(maxMemory)
    const refuse = (held: readonly IndexedSnapshot[]): void =>
      refuseOverLimit({ id, parts, threadBytes }, held, threads, limit)
    let held = this.#held
    while (held.length > 1 && !fits(() => refuse(held))) held = held.slice(1)
    refuse(held)
    if (held.length === this.#held.length) {
      if (held.length + 1 >= hold) this.#isShort = false
      return
    }
    await letGo?.(held)
    this.#hold(held)
    if (this.#isShort || held.length + 1 >= hold) return
    this.#isShort = true
    log(
      `${held.length + 1} snapshots are held for pinned reads and changes, --hold-snapshots says ${hold}: more would pass ${limit.bytes} bytes (${limit.name})`,
      'warning',
    )
  }
}

const isPair = (a: string, b: string, c: string, d: string): boolean =>
  (a === c && b === d) || (a === d && b === c)

function fits(check: () => void): boolean {
  try {
    check()
    return true
  } catch (error) {
    if (error instanceof SnapshotError) return false
    throw error
  }
}

/** `snapshot` and the newest of `held`, `most` in all. One that is held already moves to the end. */
function heldWith(
  snapshot: IndexedSnapshot,
  held: readonly IndexedSnapshot[],
  most: number,
): readonly IndexedSnapshot[] {
  return [...held.filter(({ id }) => id !== snapshot.id), snapshot].slice(-most)
}

/** Each part once; null where there are none. */
function partsOf(held: readonly IndexedSnapshot[]): LoadedParts | null {
  if (held.length === 0) return null
  return {
    parts: [...new Map(held.flatMap(({ parts }) => parts).map((part) => [part.entry.file, part])).values()],
  }
}
