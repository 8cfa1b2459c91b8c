/**
 * Keeps a source's folder as its network's servers have it: which files to ask for, when, how often and how
 * gently. What cannot be fetched leaves the file of the last time in use. The folder is what the adapter
 * reads; what the servers said of each file lies in a hidden index beside them.
 */
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolder, readRegularFileSync } from '../system/files.ts'
import { LockError, lockInTurn, randomName, type Lock } from '../system/lock.ts'
import {
  DEFAULT_HOST_LIMITS,
  type Configuration,
  type ConfiguredSource,
  type Content,
  type Download,
  type HostLimits,
} from '../sources/configuration.ts'
import { BuildError } from '../system/build-error.ts'
import { DAY, dateText } from '../sea/time.ts'
import { openWays, wayTo } from './border.ts'
import {
  download,
  DownloadError,
  TEMPORARY_PREFIX,
  type DownloadRequest,
  type Validators,
} from './download.ts'

const INDEX_FILE = '.fetched.json'
const LOCK_FILE = '.fetching.lock'
/** Milliseconds to wait for another builder that fetches into the same folder. */
const LOCK_PATIENCE = 1000

/** Largest file where the configuration says nothing: the longest text of a network so far has 43 MB. */
const DEFAULT_MAX_BYTES = 256 * 2 ** 20
/** Files of one source: a template of stations and days can name very many. */
const MAX_FILES = 50_000

const ATTEMPTS = 4
/** Seconds before the second attempt; doubled for each further one. */
const FIRST_WAIT = 0.5
/** Seconds; a server that asks for more is left alone until the next build. */
const LONGEST_WAIT = 60
/** Downloads of one host that fail without an answer one after another before it is left alone. */
const SILENT_DOWNLOADS = 3

/** Failures of one source that are told one by one. */
const FAILURES_SHOWN = 50

/** Time limits, in seconds. */
export interface FetchTimeouts {
  connect: number
  /** From the request to the answer's headers. */
  headers: number
  /** Between two pieces of the body. */
  body: number
  /** For one file as a whole, all tries together. */
  whole: number
}

export const DEFAULT_TIMEOUTS: FetchTimeouts = { connect: 10, headers: 30, body: 30, whole: 600 }

export interface FetchContext {
  /** Epoch seconds. */
  clock: () => number
  /** A number in [0, 1). */
  random: () => number
  /** Told how far the work is, and what must not be lost. */
  report: { progress(message: string): void; line(message: string): void }
  timeouts?: FetchTimeouts
  /** Waits before another attempt; for tests. */
  pause?: (seconds: number) => Promise<void>
}

/** One file to ask for. */
export interface PlannedFile {
  url: string
  /** Path below the source's folder. */
  to: string
  content: Content
  maxBytes: number
  download: Download
}

/** What became of a source's files, for the report. */
export interface FetchOutcome {
  source: string
  files: number
  fetched: number
  unchanged: number
  /** Asked for so short a time ago that they were not asked for again. */
  fresh: number
  failed: number
  /** Removed, for the configuration no longer names them. */
  removed: number
  bytes: number
  /** How long all of it took, and how long it may take. */
  seconds: number
  within: number
  /**
   * When the file that was confirmed the longest time ago was so, epoch seconds; null when a file has never
   * come.
   */
  oldest: number | null
  /**
   * The first of the failures; `usedFrom` is when the file that stays in use came, null when there is none.
   */
  failures: { url: string; reason: string; usedFrom: number | null }[]
}

interface IndexEntry extends Validators {
  url: string
  bytes: number
  /** Of the file, to know it again. */
  modified: number
  /** When the server last gave or confirmed it, epoch seconds. */
  checked: number
}

type Index = Map<string, IndexEntry>

/** The files of a source on a day. @throws BuildError when there are too many. */
export function planFiles({ downloads }: ConfiguredSource, now: number): PlannedFile[] {
  const planned = new Map<string, PlannedFile>()
  for (const entry of downloads) {
    const { url, to, stations, days = 1, content, maxBytes = DEFAULT_MAX_BYTES } = entry
    const byDay = /\{(YYYY|MM|DD)\}/.test(url)
    const spans = Array.from({ length: byDay ? days : 1 }, (_, i) => {
      const first = now - (byDay ? i : days - 1) * DAY
      const [year, month, day] = dateText(first).split('-')
      return { YYYY: year, MM: month, DD: day, from: dateText(first), until: dateText(now + DAY) }
    })
    for (const span of spans) {
      for (const station of stations ?? ['']) {
        const words: { [word: string]: string } = { ...span, station }
        const fill = (template: string): string =>
          template.replace(/\{([^{}]*)\}/g, (_, word: string) => words[word] ?? '')
        const path = fill(to)
        planned.set(path, {
          url: fill(url),
          to: path,
          content: content ?? contentOf(path),
          maxBytes,
          download: entry,
        })
        if (planned.size > MAX_FILES) throw new BuildError(`more than ${MAX_FILES} files`)
      }
    }
  }
  return [...planned.values()]
}

function contentOf(path: string): Content {
  const ending = /\.([a-z]+)(?:\.gz)?$/i.exec(path)?.[1].toLowerCase() ?? ''
  const known: { readonly [ending: string]: Content } = {
    txt: 'text',
    csv: 'text',
    tsv: 'text',
    json: 'json',
    geojson: 'json',
    xml: 'xml',
    nc: 'netcdf',
  }
  return Object.hasOwn(known, ending) ? known[ending] : 'any'
}

/** Which of the planned files a fetch at `now` would ask for. */
export function dueFiles(source: ConfiguredSource, now: number): PlannedFile[] {
  const index = readIndex(source.folder)
  return planFiles(source, now).filter((file) => isDue(source, file, index, now))
}

/**
 * As the schedule of builds, a refresh is aligned to the clock: otherwise a build a second early would ask
 * for nothing.
 */
function isDue(
  { folder, refresh }: ConfiguredSource,
  { to, url }: PlannedFile,
  index: Index,
  now: number,
): boolean {
  const entry = index.get(to)
  if (entry === undefined || entry.url !== url || !isThere(folder, to, entry)) return true
  return Math.floor(now / refresh) > Math.floor(entry.checked / refresh)
}

/** Whether the file is the one that the index speaks of. */
function isThere(folder: string, to: string, { bytes, modified }: IndexEntry): boolean {
  const info = statSync(join(folder, to), { throwIfNoEntry: false })
  return info !== undefined && info.size === bytes && info.mtimeMs === modified
}

/**
 * Fetches what is due of all sources, each source by itself. Never throws for what servers do: that is told
 * in the outcomes, in the order of the sources that fetch anything.
 */
export async function fetchSources(
  configuration: Configuration,
  context: FetchContext,
): Promise<FetchOutcome[]> {
  const { connect, headers, body } = context.timeouts ?? DEFAULT_TIMEOUTS
  const ways = openWays(
    {
      headersTimeout: headers * 1000,
      bodyTimeout: body * 1000,
      maxHeaderSize: 64 * 1024,
      pipelining: 1,
    },
    connect * 1000,
  )
  const allowed = new Set<string>()
  for (const [host, limits] of configuration.hosts) if (limits.private) allowed.add(host)
  const way: Way = (url, first) => wayTo(url, first, allowed, ways)
  const hosts = new Map<string, Host>()
  const hostOf = (url: string): Host => {
    const { host } = new URL(url)
    let known = hosts.get(host)
    if (known === undefined) {
      known = new Host(configuration.hosts.get(host) ?? DEFAULT_HOST_LIMITS)
      hosts.set(host, known)
    }
    return known
  }
  try {
    return await Promise.all(
      configuration.sources
        .filter(({ downloads }) => downloads.length > 0)
        .map((source) => fetchSource(source, hostOf, way, context)),
    )
  } finally {
    await Promise.all([ways.anywhere.destroy(), ways.public.destroy()])
  }
}

type Way = DownloadRequest['way']

async function fetchSource(
  source: ConfiguredSource,
  hostOf: (url: string) => Host,
  way: Way,
  context: FetchContext,
): Promise<FetchOutcome> {
  const { name, folder } = source
  const now = context.clock()
  const outcome: FetchOutcome = {
    source: name,
    files: 0,
    fetched: 0,
    unchanged: 0,
    fresh: 0,
    failed: 0,
    removed: 0,
    bytes: 0,
    seconds: 0,
    within: source.fetchWithin,
    oldest: null,
    failures: [],
  }
  let held: Lock
  let files: PlannedFile[]
  try {
    files = planFiles(source, now)
    makeFolder(folder)
    held = await lockInTurn(join(folder, LOCK_FILE), { patienceMs: LOCK_PATIENCE, longWork: true })
  } catch (error) {
    const reason =
      error instanceof LockError ? 'somebody else is fetching into the folder' : (error as Error).message
    outcome.failed = 1
    outcome.failures.push({ url: '', reason, usedFrom: null })
    context.report.line(`warning: ${name}: nothing is fetched: ${reason}`)
    return outcome
  }
  const began = performance.now()
  const limit = timeLimit(source.fetchWithin, `its source was not done within ${source.fetchWithin} s`, false)
  try {
    removeLeftovers(folder)
    const index = readIndex(folder)
    outcome.files = files.length
    outcome.removed = removeUnplanned(folder, index, files)
    let done = 0
    await Promise.all(
      files.map(async (file) => {
        if (isDue(source, file, index, now)) {
          await fetchFile(file, folder, index, hostOf(file.url), way, outcome, context, limit.signal)
        } else outcome.fresh++
        context.report.progress(`${name}: ${++done} of ${files.length} files`)
      }),
    )
    writeIndex(folder, index)
    outcome.seconds = Math.round((performance.now() - began) / 1000)
    const checked = files.map(({ to }) => index.get(to)?.checked ?? null)
    outcome.oldest = checked.includes(null) ? null : Math.min(...(checked as number[]))
    if (outcome.failed > 0) {
      const [{ url, reason }] = outcome.failures
      context.report.line(
        `warning: ${name}: ${outcome.failed} of ${files.length} files could not be fetched; ${url}: ${reason}`,
      )
    }
    return outcome
  } finally {
    limit.end()
    held.release()
  }
}

/** A signal with a DownloadError as its reason. */
function timeLimit(
  seconds: number,
  reason: string,
  passing: boolean,
): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new DownloadError(reason, { passing })), seconds * 1000)
  return { signal: controller.signal, end: () => clearTimeout(timer) }
}

async function fetchFile(
  file: PlannedFile,
  folder: string,
  index: Index,
  host: Host,
  way: Way,
  outcome: FetchOutcome,
  context: FetchContext,
  ofSource: AbortSignal,
): Promise<void> {
  const { url, to, content, maxBytes } = file
  const path = join(folder, to)
  const known = index.get(to)
  const entry = known !== undefined && known.url === url && isThere(folder, to, known) ? known : null
  try {
    makeFolder(dirname(path))
    const result = await host.run(ofSource, async () => {
      const { whole } = context.timeouts ?? DEFAULT_TIMEOUTS
      const limit = timeLimit(whole, `not done within ${whole} s, all tries together`, true)
      const signal = AbortSignal.any([limit.signal, ofSource])
      const { headers, query } = file.download
      try {
        return await withAttempts(context, signal, () =>
          download({ url, path, content, maxBytes, headers, query, validators: entry, way, signal }),
        )
      } finally {
        limit.end()
      }
    })
    const checked = Math.floor(context.clock())
    if (result.state === 'unchanged') {
      outcome.unchanged++
      index.set(to, { ...known!, checked })
      return
    }
    const { etag, lastModified, bytes } = result
    outcome.fetched++
    outcome.bytes += bytes
    index.set(to, { url, etag, lastModified, bytes, modified: statSync(path).mtimeMs, checked })
  } catch (error) {
    outcome.failed++
    if (outcome.failures.length >= FAILURES_SHOWN) return
    const reason =
      error instanceof DownloadError
        ? error.message
        : `cannot be written (${(error as NodeJS.ErrnoException).code})`
    outcome.failures.push({ url, reason, usedFrom: existsSync(path) ? (known?.checked ?? null) : null })
  }
}

/** Tries again what may pass, with pauses that grow and differ from one client to the next. */
async function withAttempts<T>(
  context: FetchContext,
  signal: AbortSignal,
  attempt: () => Promise<T>,
): Promise<T> {
  const { random } = context
  const pause =
    context.pause ?? ((seconds: number) => sleep(seconds * 1000, undefined, { signal }).catch(() => {}))
  for (let made = 1; ; made++) {
    try {
      return await attempt()
    } catch (error) {
      const isPassing = error instanceof DownloadError && error.passing && error.retryAfter <= LONGEST_WAIT
      if (!isPassing || made === ATTEMPTS || signal.aborted) throw error
      const wait = FIRST_WAIT * 2 ** (made - 1) * (0.5 + random())
      await pause(Math.max(wait, error.retryAfter))
      signal.throwIfAborted()
    }
  }
}

/** Requests to one host: a few at a time, not too close together, none any more when it does not answer. */
class Host {
  readonly #limits: HostLimits
  readonly #waiting: (() => void)[] = []
  #running = 0
  #nextStart = 0
  #silent = 0

  constructor(limits: HostLimits) {
    this.#limits = limits
  }

  /** @throws DownloadError that of `task`, or that the host is left alone */
  async run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.connections) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#running++
    try {
      if (this.#silent >= SILENT_DOWNLOADS) throw new DownloadError('the host does not answer')
      signal.throwIfAborted()
      await this.#keepGap()
      signal.throwIfAborted()
      const result = await task()
      this.#silent = 0
      return result
    } catch (error) {
      const isSilent = error instanceof DownloadError && error.status === null && error.passing
      if (isSilent) this.#silent++
      throw error
    } finally {
      // Whoever waits takes over the place.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }

  async #keepGap(): Promise<void> {
    const now = performance.now()
    const start = Math.max(now, this.#nextStart)
    this.#nextStart = start + this.#limits.gapMs
    if (start > now) await sleep(start - now)
  }
}

/** Two hundred thousand files, the most that any source may have, at some 300 bytes. */
const MAX_INDEX_BYTES = 2 ** 26

/** An index that cannot be read is as if there were none: everything is asked for anew. */
function readIndex(folder: string): Index {
  try {
    const entries = JSON.parse(
      readRegularFileSync(join(folder, INDEX_FILE), MAX_INDEX_BYTES).toString('utf8'),
    ) as [string, IndexEntry][]
    return new Map(entries)
  } catch {
    return new Map()
  }
}

function writeIndex(folder: string, index: Index): void {
  const temporary = join(folder, `${TEMPORARY_PREFIX}${randomName()}-index`)
  const entries = [...index].sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(temporary, `${JSON.stringify(entries)}\n`)
  renameSync(temporary, join(folder, INDEX_FILE))
}

/**
 * Removes the files that once were fetched and are no longer planned: days gone by, stations taken off the
 * list.
 */
function removeUnplanned(folder: string, index: Index, files: readonly PlannedFile[]): number {
  const planned = new Set(files.map(({ to }) => to))
  let removed = 0
  for (const [to, entry] of index) {
    if (planned.has(to)) continue
    if (isThere(folder, to, entry)) {
      rmSync(join(folder, to), { force: true })
      removed++
    }
    index.delete(to)
  }
  return removed
}

/** Removes what a killed fetch left half-written. Run under the folder's lock. */
function removeLeftovers(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && entry.name.startsWith(TEMPORARY_PREFIX))
      rmSync(join(entry.parentPath, entry.name), { force: true })
  }
}
