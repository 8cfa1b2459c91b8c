/**
 * Keeps a folder as a source has it: a bucket, or a folder behind a web server. It reads the source's
 * manifest again and again; missing parts are fetched, then the manifest, which makes them the folder's
 * snapshot.
 *
 * Whatever a source does, the folder keeps a whole snapshot. A fault is logged when it begins and when it
 * ends.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ageText, timestampText } from '../../sea/time.ts'
import { decodeList, MAX_LIST_BYTES, snapshotList } from '../file-list.ts'
import { SnapshotError, type PartEntry } from '../snapshot-format.ts'
import { decodeManifest, MANIFEST_FILE, type Manifest, MAX_MANIFEST_BYTES } from '../manifest.ts'
import { writeDurably } from '../write-snapshot.ts'
import { fewAtATime, fetchPart } from '../store/fetch-part.ts'
import { readObject, type ReadableStore } from '../store/store.ts'
import { RequestFault, within } from '../store/web-request.ts'
import { BuildError } from '../../system/build-error.ts'
import { errorCode, isDiskFull, isSystemFault, whyNotWritten } from '../../system/file-faults.ts'
import { LockError, type Lock } from '../../system/lock.ts'
import { disownStrayFaults, owningStrayFaults } from '../../system/faults.ts'
import { megabytes, MirrorFolder, type Shown } from './mirror-folder.ts'
import type { LogLine } from '../../system/log.ts'

/** Longest wait after failures in a row, unless `poll` is longer. */
const LONGEST_RETRY_S = 60
/** Longest wait that a source may ask for by `Retry-After`. */
const LONGEST_RETRY_AFTER_S = 300
/** A wait is longer or shorter by up to this share, so that many mirrors do not ask at once. */
const JITTER = 0.1
/** One look in this many asks without the ETag: servers make ETags of seconds and size, so two may match. */
const LOOKS_PER_FULL_ONE = 12
const LONGEST_STOP_MS = 1000
const MANIFEST_MS = 30_000
const IS_IT_A_FOLDER = 'is this the address of a snapshot folder?'
/** Without the right to list a bucket, a name that is not there is forbidden. */
const ABSENT = new Set([403, 404])

export interface MirrorOptions {
  source: ReadableStore
  dir: string
  /** Seconds between two looks at the source. */
  poll: number
  clock: () => number
  random: () => number
  log: LogLine
}

type MirrorState = 'starting' | 'current' | 'fetching' | 'older' | 'failing'

type Found = { state: 'current' } | { state: 'older' | 'failing'; why: string; retryAfter: number }

export class Mirror {
  readonly #options: MirrorOptions
  readonly #folder: MirrorFolder
  readonly #stopping = new AbortController()
  /** Called when the folder has got another snapshot. */
  onPublished: () => void = () => {}
  /** Called with a manifest that the folder is to get. */
  onShown: (manifest: Manifest) => void = () => {}

  #state: MirrorState = 'starting'
  #error: string | null = null
  #lastSuccess: number | null = null
  #failures = 0
  #nextAt = 0
  /** The transfer under way, as `/status` shows it. */
  #loading: { id: string; parts: number; bytes: number; bytes_done: number } | null = null

  /** The last manifest dealt with, and its outcome. */
  #known: { etag: string; found: Found } | null = null
  /** The parts of the folder may be damaged: each is read again. */
  #isSuspect = false
  #looks = 0
  /** The snapshot of which all parts were read again after its loading failed. */
  #lookedThrough: string | null = null
  /** The fault that was logged last, while it lasts. */
  #logged: string | null = null
  #looking: Promise<void> | null = null
  /** Seconds that the source asked to wait. */
  #retryAfter = 0

  /** @throws BuildError when the folder cannot be made, or when a builder works in it */
  constructor(options: MirrorOptions) {
    const { dir, source, clock } = options
    this.#options = options
    this.#folder = new MirrorFolder(dir, source.address, clock)
  }

  /** Looks at once, then again and again until `stop`. Resolves when the first look has ended. */
  start(): Promise<void> {
    const { source, dir, log } = this.#options
    log(`mirroring ${source.address} into ${dir}`)
    const first = this.look()
    void first.then(() => this.#follow())
    return first
  }

  /** Looks at the source now. Never rejects. @param force also takes an older manifest than what is held */
  async look(force = false): Promise<void> {
    while (this.#looking !== null) await this.#looking
    if (this.#stopping.signal.aborted) return
    if (force) this.#known = null
    this.#looking = this.#lookOnce(force).finally(() => (this.#looking = null))
    await this.#looking
  }

  /** The loader refused the folder's snapshot: each part is read again once, and damaged ones fetched. */
  refused(id: string): void {
    if (id === this.#lookedThrough || this.#folder.held()?.id !== id) return
    this.#lookedThrough = id
    this.#isSuspect = true
    this.#known = null
    void this.look()
  }

  /** Gives up the transfer; files that have come stay for the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    // Waiting for a lock cannot be given up at once.
    await Promise.race([this.#looking, sleep(LONGEST_STOP_MS, undefined, { ref: false })])
    await this.#options.source.close()
  }

  /** Whether the last look at the source reached it. */
  isUp(): boolean {
    return this.#state !== 'failing' && this.#lastSuccess !== null
  }

  status(): object {
    const { source, clock } = this.#options
    const held = this.#folder.held()
    const since = this.#lastSuccess ?? (held === null ? null : this.#folder.publishedAt())
    return {
      source: source.address,
      state: this.#state,
      snapshot: held?.id ?? null,
      last_success_at: textOf(this.#lastSuccess),
      age_seconds: since === null ? null : Math.max(0, Math.round(clock() - since)),
      last_error: this.#error,
      failures_in_row: this.#failures,
      next_at: this.#nextAt === 0 ? null : textOf(this.#nextAt),
      loading: this.#loading && { ...this.#loading },
    }
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#wait()
      if (!signal.aborted) await this.look()
    }
  }

  async #wait(): Promise<void> {
    const { poll, clock, random } = this.#options
    const longest = Math.max(poll, LONGEST_RETRY_S)
    const doublings = Math.min(Math.max(this.#failures - 1, 0), 16)
    const regular = Math.min(longest, poll * 2 ** doublings)
    const seconds = Math.max(this.#retryAfter, regular * (1 + JITTER * (2 * random() - 1)))
    this.#nextAt = clock() + seconds
    await sleep(seconds * 1000, undefined, { signal: this.#stopping.signal }).catch(() => {})
  }

  async #lookOnce(force: boolean): Promise<void> {
    let found: Found
    try {
      found = await owningStrayFaults((ended) =>
        this.#find(force, AbortSignal.any([this.#stopping.signal, ended])),
      )
    } catch (error) {
      found = this.#foundFault(error)
    } finally {
      this.#loading = null
    }
    if (!this.#stopping.signal.aborted) this.#report(found)
  }

  /** Asks for the manifest, and brings the folder to its state. */
  async #find(force: boolean, signal: AbortSignal): Promise<Found> {
    const known = this.#looks++ % LOOKS_PER_FULL_ONE === 0 ? null : this.#known
    const shown = await readShown(this.#options.source, known?.etag ?? null, signal)
    if (shown === 'unchanged') return known!.found
    this.#known = null
    const found = await this.#bringTo(shown, force, signal)
    if (shown.etag !== null) this.#known = { etag: shown.etag, found }
    return found
  }

  async #bringTo(shown: Shown, force: boolean, signal: AbortSignal): Promise<Found> {
    const folder = this.#folder
    const { manifest } = shown
    const isHeld = (): boolean => folder.held()?.id === manifest.id && folder.isOurs()
    if (!this.#isSuspect && isHeld() && folder.missing(manifest).length === 0) return { state: 'current' }
    const lock = await folder.lock()
    try {
      const held = folder.held()
      if (!force && held !== null && folder.isOurs() && manifest.asOf < held.asOf) {
        const why = `${this.#options.source.address}: shows snapshot ${manifest.id}, which is not taken, since its data is older: a cache or store lags, or a rollback was published; POST /reload takes it`
        return { state: 'older', why, retryAfter: 0 }
      }
      this.onShown(manifest)
      const missing = this.#isSuspect ? await folder.damaged(manifest, signal) : folder.missing(manifest)
      if (missing.length > 0 || !isHeld()) await this.#bring(shown, missing, lock, signal)
      this.#isSuspect = false
      return { state: 'current' }
    } finally {
      lock.release()
    }
  }

  async #bring(shown: Shown, missing: PartEntry[], lock: Lock, signal: AbortSignal): Promise<void> {
    const { source, dir, log } = this.#options
    const { id, parts } = shown.manifest
    await this.#folder.makeRoom(missing, lock)
    const began = performance.now()
    const bytes = missing.reduce((sum, part) => sum + part.bytes, 0)
    const loading = { id, parts: missing.length, bytes, bytes_done: 0 }
    this.#loading = loading
    this.#state = 'fetching'
    const onBytes = (count: number): void => void (loading.bytes_done += count)
    // The largest parts come first.
    const queue = missing.toSorted((a, b) => b.bytes - a.bytes)
    await fewAtATime(
      queue,
      (entry, ending) => fetchPart({ source, dir, entry, signal: ending, onBytes }),
      signal,
    )
    if (this.#folder.held()?.id !== id) await this.#fetchFileList(id, lock, signal)
    signal.throwIfAborted()
    this.#folder.publish(shown, lock)
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    log(
      `mirrored snapshot ${id} from ${source.address} into ${dir}: ${missing.length} of ${parts.length} parts, ${megabytes(loading.bytes_done)} in ${seconds} s`,
    )
    disownStrayFaults(() => this.onPublished())
  }

  /** The list of a snapshot's exported files; no snapshot waits for it. */
  async #fetchFileList(id: string, lock: Lock, signal: AbortSignal): Promise<void> {
    const { source, dir, log } = this.#options
    const file = snapshotList(id)
    try {
      const found = await readObject(source, file, { maxBytes: MAX_LIST_BYTES, signal })
      if (found === null || found === 'unchanged') return
      decodeList(found.bytes, `${source.address}: ${file}`)
      writeDurably(dir, file, found.bytes, lock.folder)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof RequestFault && ABSENT.has(error.status ?? 0)) return
      if (!(error instanceof RequestFault) && !(error instanceof BuildError)) throw error
      log(`${error.message}; snapshot ${id} comes without its list of bulk files`, 'warning')
    }
  }

  #foundFault(error: unknown): Found {
    const failing = (why: string, retryAfter = 0): Found => ({ state: 'failing', why, retryAfter })
    if (error instanceof RequestFault) return failing(error.message, error.retryAfter)
    if (error instanceof BuildError) return failing(error.message)
    if (error instanceof LockError) return failing(`${error.message}; give each mirror a folder of its own`)
    if (isSystemFault(error)) {
      const what = isDiskFull(error) ? whyNotWritten(error) : `cannot be written (${errorCode(error)})`
      return failing(`${this.#options.dir}: ${what}`)
    }
    // Without its message, which may quote an address with a key.
    const stack = (error instanceof Error ? error.stack : undefined) ?? ''
    const at = stack.slice(Math.max(0, stack.indexOf('\n    at ')))
    return failing(`a fault of this program: ${error instanceof Error ? error.name : 'a value'}${at}`)
  }

  /** Keeps the result of a look, and logs its news. */
  #report(found: Found): void {
    const { source, clock, log } = this.#options
    this.#state = found.state
    if (found.state === 'current') {
      this.#error = null
      this.#failures = 0
      this.#retryAfter = 0
      this.#lastSuccess = clock()
      if (this.#logged !== null) log(`the mirror of ${source.address} is current again`)
      this.#logged = null
      return
    }
    this.#error = found.why
    this.#failures = found.state === 'failing' ? this.#failures + 1 : 0
    this.#retryAfter = Math.min(found.retryAfter, LONGEST_RETRY_AFTER_S)
    // A fault that differs only in its numbers (another byte, more attempts) is the same fault.
    const kind = found.why.replaceAll(/\d+/g, '0')
    if (kind === this.#logged) return
    this.#logged = kind
    log(`${found.why}; ${this.#stays()}`, 'warning')
  }

  #stays(): string {
    const held = this.#folder.held()
    if (held === null) return 'there is no snapshot yet, so it is tried again'
    const age = Math.max(0, this.#options.clock() - held.asOf)
    return `snapshot ${held.id} stays, its data ${ageText(age)} old (${timestampText(held.asOf)})`
  }
}

function textOf(time: number | null): string | null {
  return time === null ? null : timestampText(Math.floor(time))
}

/** @throws RequestFault when the source shows no manifest */
async function readShown(
  source: ReadableStore,
  etag: string | null,
  signal: AbortSignal,
): Promise<(Shown & { etag: string | null }) | 'unchanged'> {
  const fault = (what: string): RequestFault => new RequestFault(`${source.address}: ${what}`)
  const asked = { maxBytes: MAX_MANIFEST_BYTES, ifNoneMatch: etag, signal }
  const late = (): RequestFault => fault(`${MANIFEST_FILE} did not come within ${MANIFEST_MS / 1000} s`)
  const found = await within(MANIFEST_MS, late, readObject(source, MANIFEST_FILE, asked))
  if (found === 'unchanged') return found
  if (found === null) throw fault(`${MANIFEST_FILE} is not there (404); ${IS_IT_A_FOLDER}`)
  const { bytes, modified } = found
  const isDated = modified !== null && modified > 0 && modified < 2 ** 32
  try {
    const manifest = decodeManifest(bytes, MANIFEST_FILE)
    return { manifest, bytes, publishedAt: isDated ? modified : null, etag: found.etag }
  } catch (error) {
    throw error instanceof SnapshotError ? fault(`${error.message}; ${IS_IT_A_FOLDER}`) : error
  }
}
