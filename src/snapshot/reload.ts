/**
 * Keeps up with a folder: notices a new manifest, loads only the parts that are not in memory, and hands the snapshot on. Whatever goes
 * wrong leaves the old one in place, and says so once.
 */
import { watch, type FSWatcher } from 'node:fs'
import { MANIFEST_FILE, SnapshotError } from './format.ts'
import { loadSnapshot, readManifest, type LoadedSnapshot, type PublishedManifest } from './read.ts'

/** Milliseconds between two looks at the folder; a watch on it mostly notices sooner. */
const POLL_INTERVAL = 1000
/** A builder may remove parts while we load them, after announcing a newer snapshot: then we begin again with that one. */
const ATTEMPTS = 3

export interface ReloadState {
  /** Epoch seconds of the last attempt; null when there was none. */
  at: number | null
  /** What was wrong with it, null when it went well. */
  error: string | null
  /** Seconds from noticing to serving. */
  took: number | null
  loaded: number
  refused: number
}

export interface ReloaderOptions {
  dir: string
  /** Bytes that all parts in memory, old and new, may take together; 0 is unlimited. */
  maxMemory: number
  clock: () => number
  log: (line: string) => void
  /** Makes a loaded snapshot the served one; rejects when it cannot be served. */
  serve: (snapshot: LoadedSnapshot) => Promise<void>
}

export class Reloader {
  readonly state: ReloadState = { at: null, error: null, took: null, loaded: 0, refused: 0 }
  readonly #options: ReloaderOptions
  #snapshot: LoadedSnapshot | null = null
  /** The manifest that was refused last, and why: not tried again until it changes or somebody asks for it. */
  #refused = ''
  #running: Promise<void> | null = null
  #again = false
  #watcher: FSWatcher | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(options: ReloaderOptions) {
    this.#options = options
  }

  get snapshot(): LoadedSnapshot | null {
    return this.#snapshot
  }

  /** Begins to look at the folder by itself. */
  start(): void {
    this.#timer = setInterval(() => void this.look(), POLL_INTERVAL)
    try {
      // Some file systems cannot be watched; the poll is enough then.
      this.#watcher = watch(this.#options.dir, (_event, file) => {
        if (file === MANIFEST_FILE) void this.look()
      })
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch {
      this.#watcher = null
    }
  }

  stop(): void {
    this.#watcher?.close()
    if (this.#timer !== null) clearInterval(this.#timer)
  }

  /** Looks for a new snapshot now, also for one that was refused before when `force` is set. Never rejects. */
  async look(force = false): Promise<void> {
    if (force) this.#refused = ''
    if (this.#running !== null) {
      this.#again = true
      await this.#running
      return
    }
    this.#running = this.#lookUntilQuiet()
    await this.#running
  }

  async #lookUntilQuiet(): Promise<void> {
    try {
      do {
        this.#again = false
        await this.#lookOnce()
      } while (this.#again)
    } finally {
      this.#running = null
    }
  }

  async #lookOnce(): Promise<void> {
    const { dir, clock, log } = this.#options
    let seen = ''
    try {
      const manifest = await readManifest(dir)
      if (manifest === null || manifest.id === this.#snapshot?.id) return
      seen = manifest.id
      if (seen === this.#refused) return
      const began = clock()
      const snapshot = await this.#load(manifest)
      await this.#options.serve(snapshot)
      this.#snapshot = snapshot
      this.#refused = ''
      this.state.at = clock()
      this.state.error = null
      this.state.took = this.state.at - began
      this.state.loaded++
    } catch (error) {
      const { message } = error as Error
      // A manifest that cannot be read has no id; its message tells one fault from the next.
      const mark = seen === '' ? message : seen
      if (mark === this.#refused) return
      this.#refused = mark
      this.state.at = clock()
      this.state.error = message
      this.state.refused++
      const stays = this.#snapshot === null ? '' : `; snapshot ${this.#snapshot.id} keeps serving`
      log(`warning: the snapshot in ${dir} was refused: ${message}${stays}`)
    }
  }

  async #load(manifest: PublishedManifest): Promise<LoadedSnapshot> {
    for (let attempt = 1; ; attempt++) {
      this.#refuseOverLimit(manifest)
      try {
        return await loadSnapshot(this.#options.dir, this.#snapshot ?? undefined)
      } catch (error) {
        const now = await readManifest(this.#options.dir)
        if (attempt === ATTEMPTS || now === null || now.id === manifest.id) throw error
      }
    }
  }

  /** @throws SnapshotError when the parts in memory and the new ones together would pass the limit. */
  #refuseOverLimit(manifest: PublishedManifest): void {
    const { maxMemory } = this.#options
    const held = new Map(this.#snapshot?.parts.map(({ entry }) => [entry.file, entry.bytes]))
    let bytes = [...held.values()].reduce((sum, part) => sum + part, 0)
    for (const part of manifest.parts) if (!held.has(part.file)) bytes += part.bytes
    if (maxMemory === 0 || bytes <= maxMemory) return
    throw new SnapshotError(
      `snapshot ${manifest.id} would take the parts in memory to ${bytes} bytes while it is loaded, the limit is ${maxMemory} (--max-memory)`,
    )
  }
}
