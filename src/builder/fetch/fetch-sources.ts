/**
 * Keeps a source's folder up to date with its network's servers, gently. A file that cannot be fetched stays
 * in use; a hidden index holds what the servers said about each file, and says which files are due.
 */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  DEFAULT_HOST_LIMITS,
  type Configuration,
  type ConfiguredSource,
  type HostLimits,
} from '../../sources/configuration.ts'
import { literalAddress } from '../../snapshot/store/allowed-addresses.ts'
import {
  RequestFault,
  WebClient,
  withAttempts,
  type RequestLimits,
} from '../../snapshot/store/web-request.ts'
import { timestampText, DAY, dateText } from '../../sea/time.ts'
import type { FetchDocument } from '../report-document.ts'
import { errorCode, isSystemFault } from '../../system/file-faults.ts'
import { makeFolder, readRegularFileSync } from '../../system/regular-files.ts'
import { LockError, lockInTurn, type Lock } from '../../system/lock.ts'
import { owningStrayFaults } from '../../system/faults.ts'
import { TEMPORARY_PREFIX, writeDurably } from '../../snapshot/write-snapshot.ts'
import { download, type DownloadRequest, type Validators } from './download.ts'
import { entryOf } from '../../system/entry-of.ts'
import type { LogLine } from '../../system/log.ts'
import type { Content, Download } from '../../sources/configuration-schema.ts'
import { BuildError } from '../../system/build-error.ts'
import { compareText } from '../../system/text.ts'

const LOCK_FILE = '.fetching.lock'
/** How long to wait for another builder that fetches into the same folder. */
const LOCK_PATIENCE_MS = 1000

/** A server that asks for a longer wait is left alone until the next build. */
const ATTEMPTS = { most: 4, firstPauseMs: 500, longestPauseMs: 60_000, longestRetryAfterS: 60 }
/** A host is left alone after this many downloads in a row without an answer. */
const MAX_UNANSWERED = 3

const FAILURES_SHOWN = 50

/** Times in milliseconds. */
interface FetchLimits extends RequestLimits {
  /** Limit of one file, all attempts together. */
  wholeMs: number
}

/** A network may be as slow as it likes, within the limit of the whole. */
const DEFAULT_LIMITS: FetchLimits = {
  connectMs: 10_000,
  answerMs: 30_000,
  stallMs: 30_000,
  slowestBytesPerSecond: 0,
  wholeMs: 600_000,
}

export interface FetchContext {
  clock: () => number
  random: () => number
  report: { progress(message: string): void; line: LogLine }
  limits?: FetchLimits
  /** Waits `ms` milliseconds before another attempt; for tests. */
  pause?: (ms: number) => Promise<void>
}

/** The outcome for a source's files, as the report has it. */
export type FetchOutcome = FetchDocument & { source: string }

/**
 * Fetches the files of all sources that are due. A server's fault is in the outcomes and never thrown. They
 * have the order of the sources that fetch anything.
 */
export async function fetchSources(
  configuration: Configuration,
  context: FetchContext,
): Promise<FetchOutcome[]> {
  const { limits = DEFAULT_LIMITS } = context
  // A connection of one client is never used again by the other.
  const anywhere = new WebClient(limits)
  const toPublic = new WebClient(limits, { onlyPublic: true })
  const clientOf: ClientOf = (url, first) => {
    const isWritten =
      url.origin === first.origin && (literalAddress(url) !== null || url.hostname === 'localhost')
    if (isWritten || configuration.hosts.get(url.host)?.private === true) return anywhere
    return toPublic
  }
  const hosts = new Map<string, Host>()
  const hostOf = (url: string): Host => {
    const { host } = new URL(url)
    return entryOf(hosts, host, () => new Host(configuration.hosts.get(host) ?? DEFAULT_HOST_LIMITS))
  }
  try {
    return await Promise.all(
      configuration.sources
        .filter(({ downloads }) => downloads.length > 0)
        .map((source) => fetchSource(source, hostOf, clientOf, context)),
    )
  } finally {
    anywhere.close()
    toPublic.close()
  }
}

/** Requests to one host: few at a time, not too close together, none once it does not answer. */
class Host {
  readonly #limits: HostLimits
  readonly #waiting: (() => void)[] = []
  #running = 0
  #nextStart = 0
  #unanswered = 0

  constructor(limits: HostLimits) {
    this.#limits = limits
  }

  /** @throws RequestFault of `task`, or because the host is left alone */
  async run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.connections) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#running++
    try {
      if (this.#unanswered >= MAX_UNANSWERED) throw new RequestFault('the host does not answer')
      signal.throwIfAborted()
      await this.#keepGap()
      signal.throwIfAborted()
      const result = await task()
      this.#unanswered = 0
      return result
    } catch (error) {
      const isUnanswered = error instanceof RequestFault && error.status === null && error.passing
      if (isUnanswered) this.#unanswered++
      throw error
    } finally {
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

type ClientOf = DownloadRequest['clientOf']

async function fetchSource(
  source: ConfiguredSource,
  hostOf: (url: string) => Host,
  clientOf: ClientOf,
  context: FetchContext,
): Promise<FetchOutcome> {
  const { name, folder } = source
  const now = context.clock()
  const outcome = newOutcome(source)
  let held: Lock
  let files: PlannedFile[]
  try {
    files = planFiles(source, now)
    makeFolder(folder)
    held = await lockInTurn(join(folder, LOCK_FILE), { patienceMs: LOCK_PATIENCE_MS })
  } catch (error) {
    const reason =
      error instanceof LockError ? 'somebody else is fetching into the folder' : (error as Error).message
    outcome.failed = 1
    outcome.failures.push({ url: '', reason, used_from: null })
    context.report.line(`${name}: nothing is fetched: ${reason}`, 'warning')
    return outcome
  }
  const began = performance.now()
  const signal = timeLimit(
    source.fetchWithin,
    `its source was not done within ${source.fetchWithin} s`,
    false,
  )
  try {
    removeLeftovers(folder)
    const index = readIndex(folder)
    outcome.files = files.length
    outcome.removed = removeUnplanned(folder, index, files)
    let done = 0
    await Promise.all(
      files.map(async (file) => {
        if (isDue(source, file, index, now)) {
          const host = hostOf(file.url)
          await fetchFile(file, host, { folder, index, clientOf, outcome, signal }, context)
        } else outcome.not_due++
        context.report.progress(`${name}: ${++done} of ${files.length} files`)
      }),
    )
    writeIndex(folder, index)
    outcome.seconds = Math.round((performance.now() - began) / 1000)
    const checked = files.map(({ to }) => index.get(to)?.checked ?? null)
    if (!checked.includes(null)) outcome.oldest = timestampText(Math.min(...(checked as number[])))
    if (outcome.failed > 0) {
      const [{ url, reason }] = outcome.failures
      context.report.line(
        `${name}: ${outcome.failed} of ${files.length} files could not be fetched; ${url}: ${reason}`,
        'warning',
      )
    }
    return outcome
  } finally {
    held.release()
  }
}

function newOutcome({ name, fetchWithin }: ConfiguredSource): FetchOutcome {
  return {
    source: name,
    files: 0,
    fetched: 0,
    seconds: 0,
    seconds_allowed: fetchWithin,
    unchanged: 0,
    not_due: 0,
    failed: 0,
    removed: 0,
    bytes: 0,
    oldest: null,
    failures: [],
  }
}

/** A signal with a RequestFault as its reason. The timer keeps no process. */
function timeLimit(seconds: number, reason: string, passing: boolean): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(new RequestFault(reason, { passing })), seconds * 1000).unref()
  return controller.signal
}

interface SourceFetch {
  readonly folder: string
  readonly index: Index
  readonly clientOf: ClientOf
  readonly outcome: FetchOutcome
  /** Ends all that is fetched for the source. */
  readonly signal: AbortSignal
}

async function fetchFile(
  file: PlannedFile,
  host: Host,
  { folder, index, clientOf, outcome, signal: ofSource }: SourceFetch,
  context: FetchContext,
): Promise<void> {
  const { url, to, content, maxBytes } = file
  const path = join(folder, to)
  const known = index.get(to)
  const entry = known !== undefined && known.url === url && isThere(folder, to, known) ? known : null
  try {
    makeFolder(dirname(path))
    const result = await host.run(ofSource, async () => {
      const seconds = (context.limits ?? DEFAULT_LIMITS).wholeMs / 1000
      const limit = timeLimit(seconds, `not done within ${seconds} s, all attempts together`, true)
      const signal = AbortSignal.any([limit, ofSource])
      const { headers, query } = file.download
      const wanted = { url, path, content, maxBytes, headers, query, validators: entry, clientOf }
      return withAttempts({ ...ATTEMPTS, ...context, signal }, () =>
        owningStrayFaults((ended) => download({ ...wanted, signal: AbortSignal.any([signal, ended]) })),
      )
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
    const usedFrom = existsSync(path) && known !== undefined ? timestampText(known.checked) : null
    outcome.failures.push({ url, reason: reasonOf(error), used_from: usedFrom })
  }
}

/** An unknown error's own message may hold a secret. */
function reasonOf(error: unknown): string {
  if (error instanceof RequestFault) return error.message
  if (isSystemFault(error)) return `cannot be written (${errorCode(error)})`
  return `a fault of this program (${error instanceof Error ? error.name : typeof error}, ${errorCode(error)})`
}

/** Removes fetched files that are no longer planned: past days, stations that left the list. */
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

/** Removes half-written files of a killed fetch. Run under the folder's lock. */
function removeLeftovers(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && entry.name.startsWith(TEMPORARY_PREFIX))
      rmSync(join(entry.parentPath, entry.name), { force: true })
  }
}

/** Bytes where the configuration names no limit; the longest text of a network so far has 43 MB. */
const DEFAULT_MAX_BYTES = 256 * 2 ** 20
/** Most files of one source: a template of stations and days can name very many. */
const MAX_FILES = 50_000

interface PlannedFile {
  url: string
  /** Path below the source's folder. */
  to: string
  content: Content
  maxBytes: number
  download: Download
}

/** The files of a source on a day. @throws BuildError when there are too many. */
export function planFiles({ downloads }: ConfiguredSource, now: number): PlannedFile[] {
  const planned = new Map<string, PlannedFile>()
  for (const entry of downloads) {
    const { url, to, stations, days = 1, content, maxBytes = DEFAULT_MAX_BYTES } = entry
    const byDay = /\{(YYYY|MM|DD)\}/.test(url)
    const periods = Array.from({ length: byDay ? days : 1 }, (_, i) => {
      const first = now - (byDay ? i : days - 1) * DAY
      const [year, month, day] = dateText(first).split('-')
      return { YYYY: year, MM: month, DD: day, from: dateText(first), until: dateText(now + DAY) }
    })
    for (const period of periods) {
      for (const station of stations ?? ['']) {
        const words: { [word: string]: string } = { ...period, station }
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

export function dueFiles(source: ConfiguredSource, now: number): PlannedFile[] {
  const index = readIndex(source.folder)
  return planFiles(source, now).filter((file) => isDue(source, file, index, now))
}

/** Refreshes follow the clock, as builds do: counted from the last fetch, one could be a second too late. */
export function isDue(
  { folder, refresh }: ConfiguredSource,
  { to, url }: PlannedFile,
  index: Index,
  now: number,
): boolean {
  const entry = index.get(to)
  if (entry === undefined || entry.url !== url || !isThere(folder, to, entry)) return true
  return Math.floor(now / refresh) > Math.floor(entry.checked / refresh)
}

const INDEX_FILE = '.fetched.json'
/** 200,000 files at some 300 bytes: more than any source may have. */
const MAX_INDEX_BYTES = 2 ** 26

interface IndexEntry extends Validators {
  url: string
  bytes: number
  /** The file's time of change, to recognise it. */
  modified: number
  /** When the server last gave or confirmed it, epoch seconds. */
  checked: number
}

/** Entries by path below the source's folder. */
export type Index = Map<string, IndexEntry>

export function isThere(folder: string, to: string, { bytes, modified }: IndexEntry): boolean {
  const info = statSync(join(folder, to), { throwIfNoEntry: false })
  return info !== undefined && info.size === bytes && info.mtimeMs === modified
}

/** The index of a folder; empty if it cannot be read, and then every file is fetched again. */
export function readIndex(folder: string): Index {
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
  const entries = [...index].sort(([a], [b]) => compareText(a, b))
  writeDurably(folder, INDEX_FILE, Buffer.from(`${JSON.stringify(entries)}\n`))
}
