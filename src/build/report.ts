/**
 * What a build says while it works and when it is done: progress, remarks, and what was refused, by file and
 * line. The same is kept beside the snapshot as a document, in JSON and as a page.
 */
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FetchOutcome } from '../fetch/mirror.ts'
import { readRegularFileSync } from '../system/files.ts'
import { randomName } from '../system/lock.ts'
import { type FileReport, type Report } from '../sources/source.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { timestampText } from '../sea/time.ts'
import { DOUBTS, IMPOSSIBLE, type Doubt } from './quality.ts'
import type { Staying } from './given.ts'
import { bytesBelow, bytesOf, Work } from './progress.ts'
import { TEMPORARY_PREFIX } from '../snapshot/write.ts'

/** Bad lines of one file that are told one by one; the rest is told as a number. */
const BAD_LINES_SHOWN = 5
/** Characters of a bad text that are shown. */
const TEXT_SHOWN = 40
/** Bad lines of a source that the document holds. */
const BAD_LINES_KEPT = 200
/** Remarks, duplicates and identifiers that the document holds of each kind. */
const REMARKS_KEPT = 200
const IDENTIFIERS_KEPT = 20
/**
 * Stations that the document names in one list or under one reason: ten times what the largest networks have.
 */
const STATIONS_KEPT = 20_000
const STATIONS_SHOWN = 12
/** Reasons are fixed texts of adapters; a slip there must not fill the memory. */
const REASONS_KEPT = 500
const OTHER_REASONS = 'other reasons'
/** All that the bounds here allow, in the longest words. */
const MAX_REPORT_BYTES = 2 ** 27
/** Progress lines come at most this often, in milliseconds, where nobody watches a terminal. */
const PLAIN_INTERVAL = 2000
const TERMINAL_INTERVAL = 100

export interface BuildReportOptions {
  /** Share of a file's lines that may be bad, 0…1. */
  maxBadShare: number
  write: (text: string) => void
  /** A terminal gets one line that is written over; anything else gets plain lines. */
  terminal: boolean
  clock: () => number
}

/**
 * Rows, lines and files are counted over the whole build; what is told one by one is bounded. Times are as on
 * the wire.
 */
export interface ReportDocument {
  format: 'groundswell-report'
  version: 1
  snapshot: string
  /** False for one that was kept only, since a rollback held. */
  announced: boolean
  as_of: string
  built_at: string
  seconds: number
  files: number
  rows: number
  bad_lines: number
  months_written: string[]
  sources: SourceDocument[]
  networks: NetworkDocument[]
  /** Networks that sources told of and that have no buoy in the snapshot. */
  networks_without_buoys: string[]
  duplicates: { left_out: string; stays: string; km: number }[]
  duplicates_count: number
}

export interface SourceDocument {
  /** As the configuration calls it; "command line" for all sources without a configuration. */
  name: string
  /** Why nothing of it was read; null when it was. */
  refused: string | null
  /** When a source that was refused was read last; null for one that was read, or never was. */
  last_read: string | null
  /** What a source that was refused gave then, and what is still there; null as above. */
  stays: Staying | null
  files: number
  rows: number
  bad_lines: number
  bad_reasons: { [reason: string]: number }
  /** The first bad lines, with the beginning of the text that is to blame where that is known. */
  bad: { file: string; line: number; reason: string; text: string | null }[]
  /** Rows or values left out by a rule of the format, by reason. */
  skipped: { [reason: string]: number }
  /** Of those, how many of which station, where the rule says something about a station. */
  skipped_stations: { [reason: string]: { [identifier: string]: number } }
  /** Stations left out because nothing says where they lie. */
  without_position: string[]
  warnings: string[]
  fetch: FetchDocument | null
}

export interface FetchDocument {
  files: number
  /** How long it took, and how long it might have taken. */
  seconds: number
  seconds_allowed: number
  fetched: number
  unchanged: number
  not_due: number
  failed: number
  removed: number
  bytes: number
  /**
   * The file whose server has been heard of the longest time ago was so at this time; null when one has never
   * come.
   */
  oldest: string | null
  failures: { url: string; reason: string; used_from: string | null }[]
}

export interface NetworkDocument {
  name: string
  buoys: number
  /** Buoys with a reading in this build's input. */
  reporting: number
  newest_reading: string | null
  /** Values taken out, by reason. */
  impossible: { [reason: string]: number }
  /** Readings of the months that were written; they stay as they are. */
  doubtful: { reason: string; readings: number; buoys: number; identifiers: string[] }[]
}

const REPORT_FILE = /^report-([0-9a-f]{24})\.(json|html)$/

/** The snapshot that a file of reports belongs to; null for other files. */
export function reportedSnapshot(file: string): string | null {
  return REPORT_FILE.exec(file)?.[1] ?? null
}

interface Section {
  readonly document: SourceDocument
}

interface NetworkCounts {
  buoys: number
  reporting: number
  newest: number
  readonly impossible: { [reason: string]: number }
  readonly doubts: Map<Doubt, { readings: number; identifiers: Set<string> }>
}

export class BuildReport implements Report {
  readonly #options: BuildReportOptions
  readonly #skipped = new Map<string, number>()
  readonly #began: number
  #lastProgress = -Infinity
  #files = 0
  #rows = 0
  #bad = 0
  readonly #sections = new Map<string | null, Section>()
  readonly #networks = new Map<string, NetworkCounts>()
  readonly #duplicates: ReportDocument['duplicates'] = []
  #duplicateCount = 0
  readonly #months: string[] = []
  #section: Section
  #reading: Work | null = null
  #writing: Work | null = null
  #built: { id: string; asOf: number; announced: boolean } | null = null

  constructor(options: BuildReportOptions) {
    this.#options = options
    this.#began = options.clock()
    this.#section = this.#sectionOf(null)
  }

  /**
   * What comes now is of the source `name` of the configuration, null: of those of the command line, and of
   * none. The files in `folder` are what is to be read.
   */
  begin(name: string | null, folder?: string): void {
    this.#section = this.#sectionOf(name)
    this.#reading = folder === undefined ? null : new Work(bytesBelow(folder), this.#options.clock())
  }

  /** So many months are to be written from now on. */
  expectMonths(count: number): void {
    this.#writing = new Work(count, this.#options.clock())
  }

  file(path: string): FileReport {
    return new FileCount(path, this.#options.maxBadShare, this)
  }

  warn(message: string): void {
    const { warnings } = this.#section.document
    if (warnings.length < REMARKS_KEPT) warnings.push(message)
    this.line(`warning: ${message}`)
  }

  withoutPosition(kind: string, identifiers: readonly string[]): void {
    if (identifiers.length === 0) return
    const { without_position: known } = this.#section.document
    for (const identifier of identifiers.slice(0, STATIONS_KEPT - known.length)) known.push(identifier)
    const some = JSON.stringify(identifiers.slice(0, STATIONS_SHOWN)).slice(1, -1)
    const rest = identifiers.length > STATIONS_SHOWN ? ', …' : ''
    this.warn(`${kind}: ${identifiers.length} left out for want of a position: ${some}${rest}`)
  }

  /** The present source cannot be read. */
  refused(reason: string): void {
    const { document } = this.#section
    document.refused = reason
    this.line(`warning: ${document.name} is left out: ${reason}`)
  }

  /** What a source that was refused gave at `lastRead` stays. */
  silent(name: string, lastRead: string | null, stays: Staying): void {
    Object.assign(this.#sectionOf(name).document, { last_read: lastRead, stays })
    const parts = Object.entries(stays)
      .filter(([, number]) => number > 0)
      .map(([what, number]) => `${number} ${what.replace('_', ' ')}`)
    this.line(
      `${name}: what it gave at ${lastRead ?? 'an unknown time'} stays: ${parts.join(', ') || 'nothing'}`,
    )
  }

  fetched(outcome: FetchOutcome): void {
    const time = (epoch: number | null): string | null => (epoch === null ? null : timestampText(epoch))
    this.#sectionOf(outcome.source).document.fetch = {
      files: outcome.files,
      fetched: outcome.fetched,
      seconds: outcome.seconds,
      seconds_allowed: outcome.within,
      unchanged: outcome.unchanged,
      not_due: outcome.fresh,
      failed: outcome.failed,
      removed: outcome.removed,
      bytes: outcome.bytes,
      oldest: time(outcome.oldest),
      failures: outcome.failures.map(({ url, reason, usedFrom }) => ({
        url,
        reason,
        used_from: time(usedFrom),
      })),
    }
    this.line(fetchLine(outcome))
  }

  /** A value was taken out of a network's rows. */
  impossible(network: string, what: keyof typeof IMPOSSIBLE): void {
    const { impossible } = this.#networkOf(network)
    impossible[IMPOSSIBLE[what]] = (impossible[IMPOSSIBLE[what]] ?? 0) + 1
  }

  /** Readings of a buoy that stay, but that somebody should look at. */
  doubtful(network: string, identifier: string, doubt: Doubt, readings: number): void {
    const { doubts } = this.#networkOf(network)
    const known = doubts.get(doubt) ?? { readings: 0, identifiers: new Set() }
    doubts.set(doubt, known)
    known.readings += readings
    known.identifiers.add(identifier)
  }

  /** What the snapshot has of a network; `newest` in epoch seconds, −1 where the input has no reading. */
  network(
    name: string,
    { buoys, reporting, newest }: { buoys: number; reporting: number; newest: number },
  ): void {
    Object.assign(this.#networkOf(name), { buoys, reporting, newest })
  }

  /** Two networks have the same buoy. */
  duplicate(leftOut: BuoyRecord, stays: BuoyRecord, km: number): void {
    this.#duplicateCount++
    if (this.#duplicates.length >= REMARKS_KEPT) return
    const nameOf = ({ source, identifier }: BuoyRecord): string => `${source} ${identifier}`
    this.#duplicates.push({
      left_out: nameOf(leftOut),
      stays: nameOf(stays),
      km: Math.round(km * 1000) / 1000,
    })
  }

  /** A month was written. */
  month(text: string): void {
    if (this.#months.length < REMARKS_KEPT * 10) this.#months.push(text)
    this.#writing?.add(1)
    const writing = this.#writing
    const [done, left] =
      writing === null ? [] : [`${writing.count} months`, writing.left(this.#options.clock())]
    this.progress(withRest(`wrote ${text}`, done, left))
  }

  /** The snapshot is there; `announced` unless a rollback holds. */
  built(id: string, asOf: number, announced: boolean): void {
    this.#built = { id, asOf, announced }
  }

  /** Tells how far the work is; swallowed when the last one was a moment ago. */
  progress(message: string): void {
    const now = this.#options.clock()
    if (now - this.#lastProgress < (this.#options.terminal ? TERMINAL_INTERVAL : PLAIN_INTERVAL)) return
    this.#lastProgress = now
    if (this.#options.terminal) this.#options.write(`\r\x1b[K${message}`)
    else this.#options.write(`${message}\n`)
  }

  /** Tells something that must not be lost. */
  line(message: string): void {
    this.#options.write(this.#options.terminal ? `\r\x1b[K${message}\n` : `${message}\n`)
  }

  /** The sum of it, at the end. */
  summary(): void {
    this.line(`read ${this.#files} files, ${this.#rows} rows, ${this.#bad} bad lines`)
    for (const [reason, count] of this.#skipped) this.line(`  ${count} × ${reason}`)
    for (const [name, { impossible }] of this.#networks) {
      for (const [reason, count] of Object.entries(impossible)) this.line(`  ${count} × ${reason} (${name})`)
    }
    for (const name of this.#withoutBuoys()) this.line(`  the network ${name} has no buoy in the snapshot`)
    if (this.#duplicateCount > 0)
      this.line(`  ${this.#duplicateCount} buoys left out for those of other networks`)
  }

  /** The build as a document. @throws Error before the snapshot is built */
  document(): ReportDocument {
    if (this.#built === null) throw new Error('no snapshot is built')
    const { id, asOf, announced } = this.#built
    const now = this.#options.clock()
    return {
      format: 'groundswell-report',
      version: 1,
      snapshot: id,
      announced,
      as_of: timestampText(asOf),
      built_at: timestampText(Math.floor(now / 1000)),
      seconds: Math.round(now - this.#began) / 1000,
      files: this.#files,
      rows: this.#rows,
      bad_lines: this.#bad,
      months_written: this.#months,
      sources: [...this.#sections]
        .filter(([name, { document }]) => name !== null || document.files + document.warnings.length > 0)
        .map(([, { document }]) => document),
      networks: [...this.#networks]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, network]) => networkDocument(name, network)),
      networks_without_buoys: this.#withoutBuoys(),
      duplicates: this.#duplicates,
      duplicates_count: this.#duplicateCount,
    }
  }

  #withoutBuoys(): string[] {
    return [...this.#networks].flatMap(([name, { buoys }]) => (buoys === 0 ? [name] : [])).toSorted()
  }

  #sectionOf(name: string | null): Section {
    let section = this.#sections.get(name)
    if (section === undefined) {
      section = {
        document: {
          name: name ?? 'command line',
          refused: null,
          last_read: null,
          stays: null,
          files: 0,
          rows: 0,
          bad_lines: 0,
          bad_reasons: {},
          bad: [],
          skipped: {},
          skipped_stations: {},
          without_position: [],
          warnings: [],
          fetch: null,
        },
      }
      this.#sections.set(name, section)
    }
    return section
  }

  #networkOf(name: string): NetworkCounts {
    let network = this.#networks.get(name)
    if (network === undefined) {
      network = { buoys: 0, reporting: 0, newest: -1, impossible: {}, doubts: new Map() }
      this.#networks.set(name, network)
    }
    return network
  }

  /** @internal A file is done. */
  fileDone(path: string, rows: number, bad: number): void {
    this.#files++
    this.#rows += rows
    this.#bad += bad
    const { document } = this.#section
    document.files++
    document.rows += rows
    document.bad_lines += bad
    this.#reading?.add(bytesOf(path))
    const left = this.#reading?.left(this.#options.clock())
    this.progress(withRest(`read ${this.#files} files`, `${this.#rows} rows`, left))
  }

  /** @internal A row was left out by a rule. */
  skip(reason: string, station: string | undefined, times: number): void {
    const counted = this.#skipped.size < REASONS_KEPT || this.#skipped.has(reason) ? reason : OTHER_REASONS
    this.#skipped.set(counted, (this.#skipped.get(counted) ?? 0) + times)
    const { skipped, skipped_stations: stations } = this.#section.document
    count(skipped, reason, times)
    if (station !== undefined && Object.hasOwn(skipped, reason)) {
      count((stations[reason] ??= {}), station, times, STATIONS_KEPT)
    }
  }

  /** @internal Lines could not be understood, the first of them as described. */
  badLine(line: SourceDocument['bad'][number], times: number): void {
    const { document } = this.#section
    count(document.bad_reasons, line.reason, times)
    if (document.bad.length < BAD_LINES_KEPT) document.bad.push(line)
  }
}

/** How many keys objects of counts have: asking the objects would take as long as they are. */
const countedKeys = new WeakMap<object, number>()

function count(
  counts: { [key: string]: number },
  key: string,
  times: number,
  most: number = REASONS_KEPT,
): void {
  if (Object.hasOwn(counts, key)) {
    counts[key] += times
    return
  }
  const keys = countedKeys.get(counts) ?? 0
  if (keys >= most) return
  // An own one, whatever it is called.
  Object.defineProperty(counts, key, { value: times, enumerable: true, writable: true, configurable: true })
  countedKeys.set(counts, keys + 1)
}

/** The stations with the highest counts, in words. */
function stationsText(counts: { readonly [identifier: string]: number } = {}): string {
  const stations = Object.entries(counts).sort(([, a], [, b]) => b - a)
  const shown = stations.slice(0, STATIONS_SHOWN).map(([identifier, n]) => `${identifier} ${n}`)
  const rest = stations.length - shown.length
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

function fetchLine(outcome: FetchOutcome): string {
  const { source, files, fetched, unchanged, fresh, failed, bytes, seconds, within } = outcome
  const parts = [
    `${fetched} fetched (${bytes} bytes)`,
    ...(unchanged > 0 ? [`${unchanged} unchanged`] : []),
    ...(fresh > 0 ? [`${fresh} not due`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ]
  return `${source}: ${files} files in ${seconds} of at most ${within} s: ${parts.join(', ')}`
}

function networkDocument(
  name: string,
  { buoys, reporting, newest, impossible, doubts }: NetworkCounts,
): NetworkDocument {
  return {
    name,
    buoys,
    reporting,
    newest_reading: newest < 0 ? null : timestampText(newest),
    impossible,
    doubtful: [...doubts].map(([doubt, { readings, identifiers }]) => ({
      reason: DOUBTS[doubt],
      readings,
      buoys: identifiers.size,
      identifiers: [...identifiers].slice(0, IDENTIFIERS_KEPT),
    })),
  }
}

/** A message with what is known beside it. */
function withRest(message: string, ...rest: (string | undefined)[]): string {
  return [message, ...rest.filter((text) => text !== undefined && text !== '')].join(', ')
}

/** The beginning of a text in quotes; nothing in it steers a terminal or turns its reading round. */
function quoted(text: string): string {
  const cut = text.slice(0, TEXT_SHOWN)
  // Formats (Cf) turn the direction of what follows; surrogates, private and unassigned ones (C) show
  // nothing.
  const visible = JSON.stringify(cut).replace(
    /[\p{C}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
  return text.length > TEXT_SHOWN ? `${visible}…` : visible
}

class FileCount implements FileReport {
  readonly #path: string
  readonly #maxBadShare: number
  readonly #report: BuildReport
  #rows = 0
  #bad = 0

  constructor(path: string, maxBadShare: number, report: BuildReport) {
    this.#path = path
    this.#maxBadShare = maxBadShare
    this.#report = report
  }

  rows(count: number): void {
    this.#rows += count
  }

  skipped(reason: string, station?: string, times = 1): void {
    this.#report.skip(reason, station, times)
  }

  bad(line: number, reason: string, text?: string, times = 1): void {
    const shown = text === undefined ? null : quoted(text)
    this.#report.badLine({ file: this.#path, line, reason, text: shown }, times)
    if (this.#bad < BAD_LINES_SHOWN)
      this.#report.line(`${this.#path}:${line}: ${reason}${shown === null ? '' : `: ${shown}`}`)
    this.#bad += times
  }

  end(): void {
    if (this.#bad > BAD_LINES_SHOWN)
      this.#report.line(`${this.#path}: ${this.#bad - BAD_LINES_SHOWN} more bad lines`)
    this.#report.fileDone(this.#path, this.#rows, this.#bad)
    const share = this.#bad / Math.max(1, this.#bad + this.#rows)
    if (share > this.#maxBadShare) {
      throw new BuildError(
        `${this.#path}: ${this.#bad} of ${this.#bad + this.#rows} lines are bad, at most ${this.#maxBadShare * 100} % may be (--max-bad)`,
      )
    }
  }
}

/**
 * Puts a report beside its snapshot, in JSON and as a page; one of an earlier build of the same snapshot
 * goes.
 */
export function writeReport(dir: string, document: ReportDocument): void {
  const texts = { json: `${JSON.stringify(document, null, 2)}\n`, html: reportPage(document) }
  for (const [ending, text] of Object.entries(texts)) {
    const file = `report-${document.snapshot}.${ending}`
    try {
      putInPlace(dir, file, text)
    } catch (error) {
      throw new BuildError(`${join(dir, file)}: cannot be written (${(error as NodeJS.ErrnoException).code})`)
    }
  }
}

const TRIES = 5

/**
 * The builder's lock is given back by now: the next one may take the temporary file for a dead builder's and
 * remove it.
 */
function putInPlace(dir: string, file: string, text: string): void {
  for (let made = 1; ; made++) {
    const temporary = join(dir, `${TEMPORARY_PREFIX}${randomName()}-${file}`)
    try {
      writeFileSync(temporary, text)
      renameSync(temporary, join(dir, file))
      return
    } catch (error) {
      rmSync(temporary, { force: true })
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || made === TRIES) throw error
    }
  }
}

/** The report of the newest build in a folder. @throws BuildError when there is none or it cannot be read */
export function newestReport(dir: string): ReportDocument {
  const files = readdirSync(dir)
    .filter((file) => file.endsWith('.json') && reportedSnapshot(file) !== null)
    .map((file) => ({ file, time: statSync(join(dir, file), { throwIfNoEntry: false })?.mtimeMs ?? -1 }))
    .sort((a, b) => a.time - b.time)
  const newest = files.at(-1)?.file
  if (newest === undefined) throw new BuildError(`${dir}: there is no report in this folder`)
  try {
    const document = JSON.parse(
      readRegularFileSync(join(dir, newest), MAX_REPORT_BYTES).toString('utf8'),
    ) as ReportDocument
    if (document.format === 'groundswell-report' && document.version === 1) return document
  } catch {
    // As one of another form.
  }
  throw new BuildError(`${join(dir, newest)}: is no report`)
}

type Row = readonly (string | number)[]

interface Table {
  title: string
  head: readonly string[]
  rows: readonly Row[]
}

/** What both the page and the terminal show. */
function tablesOf(document: ReportDocument): Table[] {
  const { sources, networks, duplicates, duplicates_count: duplicateCount } = document
  const counts = (of: { readonly [reason: string]: number }): Row[] =>
    Object.entries(of).map(([reason, n]) => [reason, n])
  return [
    {
      title: 'Sources',
      head: ['source', 'files', 'rows', 'bad lines', 'state'],
      rows: sources.map(({ name, files, rows, bad_lines: bad, refused, last_read: lastRead }) => [
        name,
        files,
        rows,
        bad,
        refused === null ? 'read' : `${refused}${lastRead === null ? '' : `; in use: that of ${lastRead}`}`,
      ]),
    },
    {
      title: 'Networks',
      head: ['network', 'buoys', 'reporting', 'newest reading'],
      rows: networks.map(({ name, buoys, reporting, newest_reading: newest }) => [
        name,
        buoys,
        reporting,
        newest ?? 'none',
      ]),
    },
    {
      title: 'Fetched',
      head: [
        'source',
        'files',
        'fetched',
        'unchanged',
        'not due',
        'failed',
        'bytes',
        'seconds',
        'of',
        'oldest',
      ],
      rows: sources.flatMap(({ name, fetch }) =>
        fetch === null
          ? []
          : [
              [
                name,
                fetch.files,
                fetch.fetched,
                fetch.unchanged,
                fetch.not_due,
                fetch.failed,
                fetch.bytes,
                fetch.seconds,
                fetch.seconds_allowed,
                fetch.oldest ?? 'never',
              ],
            ],
      ),
    },
    {
      title: 'Not fetched',
      head: ['source', 'address', 'reason', 'in use: the file of'],
      rows: sources.flatMap(({ name, fetch }) =>
        (fetch?.failures ?? []).map(({ url, reason, used_from: from }) => [
          name,
          url,
          reason,
          from ?? 'none',
        ]),
      ),
    },
    {
      title: 'Bad lines by reason',
      head: ['source', 'reason', 'lines'],
      rows: sources.flatMap(({ name, bad_reasons: reasons }) => counts(reasons).map((row) => [name, ...row])),
    },
    {
      title: 'The first bad lines',
      head: ['file', 'line', 'reason', 'text'],
      rows: sources.flatMap(({ bad }) =>
        bad.map(({ file, line, reason, text }) => [file, line, reason, text ?? '']),
      ),
    },
    {
      title: 'Left out by rules of the format',
      head: ['source', 'reason', 'rows or values', 'most at'],
      rows: sources.flatMap(({ name, skipped, skipped_stations: stations }) =>
        Object.entries(skipped).map(([reason, n]) => [name, reason, n, stationsText(stations?.[reason])]),
      ),
    },
    {
      title: 'Left out for want of a position',
      head: ['source', 'stations', 'identifiers'],
      rows: sources.flatMap(({ name, without_position: identifiers }) =>
        identifiers.length === 0
          ? []
          : [
              [
                name,
                identifiers.length,
                `${identifiers.slice(0, STATIONS_SHOWN).join(' ')}${identifiers.length > STATIONS_SHOWN ? ' …' : ''}`,
              ],
            ],
      ),
    },
    {
      title: 'Impossible values, taken out',
      head: ['network', 'reason', 'values'],
      rows: networks.flatMap(({ name, impossible }) => counts(impossible).map((row) => [name, ...row])),
    },
    {
      title: 'Doubtful readings, which stay',
      head: ['network', 'reason', 'readings', 'buoys', 'of'],
      rows: networks.flatMap(({ name, doubtful }) =>
        doubtful.map(({ reason, readings, buoys, identifiers }) => [
          name,
          reason,
          readings,
          buoys,
          `${identifiers.join(' ')}${buoys > identifiers.length ? ' …' : ''}`,
        ]),
      ),
    },
    {
      title: `Buoys of two networks (${duplicateCount})`,
      head: ['left out', 'stays', 'km apart'],
      rows: duplicates.map(({ left_out: leftOut, stays, km }) => [leftOut, stays, km]),
    },
    {
      title: 'Remarks',
      head: ['source', 'remark'],
      rows: sources.flatMap(({ name, warnings }) => warnings.map((warning) => [name, warning])),
    },
  ].filter(({ rows }) => rows.length > 0)
}

function headLine({ files, rows, bad_lines: bad, seconds, months_written: months }: ReportDocument): string {
  return `${files} files, ${rows} rows, ${bad} bad lines, ${months.length} months written, ${seconds} s`
}

/** Older reports do not say it: there was no other way. */
function announcedText({ announced = true }: Partial<ReportDocument>): string {
  return announced ? '' : ', not announced when it was built: a rollback held'
}

/** The report as lines for a terminal. */
export function reportLines(document: ReportDocument): string[] {
  const { snapshot, as_of: asOf, built_at: builtAt } = document
  return [
    `snapshot ${snapshot}, data as of ${asOf}, built ${builtAt}${announcedText(document)}`,
    headLine(document),
    ...tablesOf(document).flatMap(({ title, head, rows }) => {
      const lines = [head, ...rows].map((row) => row.map((cell) => oneLine(String(cell))))
      const widths = head.map((_, column) => Math.max(...lines.map((row) => row[column].length)))
      return [
        '',
        title,
        ...lines.map((row) =>
          `  ${row.map((cell, column) => cell.padEnd(widths[column])).join('  ')}`.trimEnd(),
        ),
      ]
    }),
  ]
}

/** Names come from files: no character of theirs steers a terminal. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, '�')
}

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(value: string | number): string {
  return oneLine(String(value)).replace(/[&<>"']/g, (character) => ENTITIES[character])
}

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color-scheme:light dark}' +
  'table{border-collapse:collapse;margin:.5rem 0 1.5rem;display:block;overflow-x:auto}' +
  'th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #8886;vertical-align:top}' +
  'td.n{text-align:right;font-variant-numeric:tabular-nums}'

/** The report as a page that needs nothing else and runs no script. */
export function reportPage(document: ReportDocument): string {
  const { snapshot, as_of: asOf, built_at: builtAt } = document
  const cell = (value: string | number): string =>
    typeof value === 'number' ? `<td class="n">${value}</td>` : `<td>${escaped(value)}</td>`
  const tables = tablesOf(document).map(
    ({ title, head, rows }) =>
      `<h2>${escaped(title)}</h2>\n<table>\n<thead><tr>${head.map((name) => `<th scope="col">${escaped(name)}</th>`).join('')}</tr></thead>\n` +
      `<tbody>\n${rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('\n')}\n</tbody>\n</table>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Build of snapshot ${escaped(snapshot)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Build of snapshot ${escaped(snapshot)}</h1>
<p>Data as of ${escaped(asOf)}, built ${escaped(builtAt)}${announcedText(document)}: ${escaped(headLine(document))}.</p>
${tables.join('\n')}
</body>
</html>
`
}
