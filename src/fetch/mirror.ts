/**
 * Keeps a source's folder up to date with its network's servers: which files to ask for, when, how often and
 * how gently. Where a file cannot be fetched, the one of last time stays in use. The adapter reads the
 * folder; a hidden index in it holds what the servers said about each file.
 */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_HOST_LIMITS, type Configuration, type ConfiguredSource } from '../sources/configuration.ts'
import { makeFolder } from '../system/files.ts'
import { LockError, lockInTurn, type Lock } from '../system/lock.ts'
import { openWays, wayTo } from './border.ts'
import { download, DownloadError, TEMPORARY_PREFIX, type DownloadRequest } from './download.ts'
import { isThere, readIndex, writeIndex, type Index } from './fetched.ts'
import { Host } from './host.ts'
import { planFiles, type PlannedFile } from './plan.ts'

const LOCK_FILE = '.fetching.lock'
/** How long to wait for another builder that fetches into the same folder. */
const LOCK_PATIENCE_MS = 1000

const ATTEMPTS = 4
/** Before the second attempt; doubled for each further one. */
const RETRY_FIRST_SECONDS = 0.5
/** A server that asks for a longer wait is left alone until the next build. */
const RETRY_LONGEST_SECONDS = 60

/** Failures of one source that are listed one by one. */
const FAILURES_SHOWN = 50

/** Time limits, in seconds. */
export interface FetchTimeouts {
  connect: number
  /** From the request to the answer's headers. */
  headers: number
  /** Between two pieces of the body. */
  body: number
  /** For one file, all attempts together. */
  whole: number
}

const DEFAULT_TIMEOUTS: FetchTimeouts = { connect: 10, headers: 30, body: 30, whole: 600 }

export interface FetchContext {
  /** Epoch seconds. */
  clock: () => number
  /** A number in [0, 1). */
  random: () => number
  /** Takes how far the work is, and what must not be lost. */
  report: { progress(message: string): void; line(message: string): void }
  timeouts?: FetchTimeouts
  /** Waits before another attempt; for tests. */
  pause?: (seconds: number) => Promise<void>
}

/** What became of a source's files, for the report. */
export interface FetchOutcome {
  source: string
  files: number
  fetched: number
  unchanged: number
  /** Not asked for, since they were confirmed a short time ago. */
  fresh: number
  failed: number
  /** Removed, since the configuration no longer names them. */
  removed: number
  bytes: number
  /** How long it took, and how long it may take. */
  seconds: number
  within: number
  /**
   * When the file that was confirmed longest ago was confirmed, epoch seconds; null while one has never come.
   */
  oldest: number | null
  /** The first failures; `usedFrom` is when the file that stays in use was confirmed, null without a file. */
  failures: { url: string; reason: string; usedFrom: number | null }[]
}

/** The planned files that a fetch at `now` would ask for. */
export function dueFiles(source: ConfiguredSource, now: number): PlannedFile[] {
  const index = readIndex(source.folder)
  return planFiles(source, now).filter((file) => isDue(source, file, index, now))
}

/**
 * A refresh is aligned to the clock, as builds are: otherwise a build a second early would ask for nothing.
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

/**
 * Fetches what is due of all sources, each source by itself. Never throws for what servers do: the outcomes
 * say it, in the order of the sources that fetch anything.
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
  const outcome = newOutcome(source)
  let held: Lock
  let files: PlannedFile[]
  try {
    files = planFiles(source, now)
    makeFolder(folder)
    held = await lockInTurn(join(folder, LOCK_FILE), { patienceMs: LOCK_PATIENCE_MS, longWork: true })
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
    const { signal } = limit
    await Promise.all(
      files.map(async (file) => {
        if (isDue(source, file, index, now)) {
          const host = hostOf(file.url)
          await fetchFile(file, host, { folder, index, way, outcome, signal }, context)
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

function newOutcome({ name, fetchWithin }: ConfiguredSource): FetchOutcome {
  return {
    source: name,
    files: 0,
    fetched: 0,
    unchanged: 0,
    fresh: 0,
    failed: 0,
    removed: 0,
    bytes: 0,
    seconds: 0,
    within: fetchWithin,
    oldest: null,
    failures: [],
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

/** What the files of a source share. */
interface SourceFetch {
  readonly folder: string
  readonly index: Index
  readonly way: Way
  readonly outcome: FetchOutcome
  /** Ends all that is fetched for the source. */
  readonly signal: AbortSignal
}

async function fetchFile(
  file: PlannedFile,
  host: Host,
  { folder, index, way, outcome, signal: ofSource }: SourceFetch,
  context: FetchContext,
): Promise<void> {
  const { url, to, content, maxBytes } = file
  const path = join(folder, to)
  const known = index.get(to)
  const entry = known !== undefined && known.url === url && isThere(folder, to, known) ? known : null
  try {
    makeFolder(dirname(path))
    const result = await host.run(ofSource, async () => {
      const { whole } = context.timeouts ?? DEFAULT_TIMEOUTS
      const limit = timeLimit(whole, `not done within ${whole} s, all attempts together`, true)
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

/** Tries again after a passing failure, with pauses that grow and differ from client to client. */
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
      const isPassing =
        error instanceof DownloadError && error.passing && error.retryAfter <= RETRY_LONGEST_SECONDS
      if (!isPassing || made === ATTEMPTS || signal.aborted) throw error
      const wait = RETRY_FIRST_SECONDS * 2 ** (made - 1) * (0.5 + random())
      await pause(Math.max(wait, error.retryAfter))
      signal.throwIfAborted()
    }
  }
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

/** Removes what a killed fetch left half-written. Run under the folder's lock. */
function removeLeftovers(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && entry.name.startsWith(TEMPORARY_PREFIX))
      rmSync(join(entry.parentPath, entry.name), { force: true })
  }
}
