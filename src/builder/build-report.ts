/** What a build reports while it works and when it is done: progress, remarks, and what was refused. */
import type { FetchOutcome } from './fetch/fetch-sources.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { timestampText } from '../sea/time.ts'
import { type CountedDoubt, type Doubt, Doubts } from '../sources/doubts.ts'
import type { FileReport, Report } from '../sources/source.ts'
import { BuildError } from '../system/build-error.ts'
import { lineText, type LogLine } from '../system/log.ts'
import { compareText, counted } from '../system/text.ts'
import type { CarriedOver } from './source-state.ts'
import { IMPOSSIBLE, SUSPECT_TEXTS, type SuspectReason } from './quality.ts'
import {
  BAD_LINES_KEPT,
  BAD_LINES_SHOWN,
  type DoubtDocument,
  EXAMPLE_SHOWN,
  IDENTIFIERS_KEPT,
  MONTHS_KEPT,
  type NetworkDocument,
  REASONS_KEPT,
  REMARKS_KEPT,
  REPORT_FORMAT,
  REPORT_VERSION,
  type ReportDocument,
  STATIONS_KEPT,
  type SourceDocument,
  addBounded,
  quoted,
} from './report-document.ts'
import { doubtText, fetchLine, readText } from './report-files.ts'
import { entryOf } from '../system/entry-of.ts'

const OTHER_REASONS = 'other reasons'
const NO_SOURCE = 'command line'
/** Share of a source's files that may be left out whole; a single one always may. */
const MOST_LEFT_OUT = 0.1
const OTHER_UNIT: Doubt = {
  what: 'most values of a column are outside its limits: the others may be in another unit, too',
  remedy: 'see in which unit the file is',
  isGrave: true,
}
const LEFT_OUT_REMEDY = 'mend it or take it away'

/** Shortest time between two lines of progress, without a terminal and on one. */
const PLAIN_INTERVAL_MS = 2000
const TERMINAL_INTERVAL_MS = 100

interface BuildReportOptions {
  /** Takes the messages of a log, or what a terminal shows. */
  write: LogLine
  /** A terminal gets one line of progress that is written over; a log gets a message now and then. */
  terminal: boolean
  /** Milliseconds. */
  clock: () => number
  /** Share of a file's lines that may be bad, 0…1. */
  maxBadShare: number
}

interface NetworkCounts {
  buoys: number
  reporting: number
  newest: number
  readonly impossible: { [reason: string]: number }
  readonly suspect: Map<SuspectReason, { readings: number; identifiers: Set<string> }>
}

export class BuildReport implements Report {
  readonly #options: BuildReportOptions
  readonly maxBadShare: number
  #lastProgressMs = -Infinity
  readonly #skipped = new Map<string, number>()
  readonly #beganMs: number
  #files = 0
  #rows = 0
  #bad = 0
  readonly #sources = new Map<string | null, SourceDocument>()
  readonly #networks = new Map<string, NetworkCounts>()
  readonly #duplicates: ReportDocument['duplicates'] = []
  #duplicateCount = 0
  readonly #months: string[] = []
  #source: SourceDocument
  readonly #doubts = new Map<SourceDocument, Doubts>()
  readonly #leftOut = new Map<SourceDocument, string[]>()
  readonly #printed = new WeakSet<CountedDoubt>()
  #monthsToWrite = 0
  #monthsWritten = 0
  #built: { id: string; asOf: number; published: boolean } | null = null

  constructor(options: BuildReportOptions) {
    this.#options = options
    this.maxBadShare = options.maxBadShare
    this.#beganMs = options.clock()
    this.#source = this.#sourceOf(null)
  }

  /**
   * Begins the source `name` of the configuration; null stands for the command line, and for none. Prints the
   * grave doubts of the source before.
   */
  begin(name: string | null): void {
    this.#printDoubts()
    this.#source = this.#sourceOf(name)
  }

  expectMonths(count: number): void {
    this.#monthsToWrite += count
  }

  file(path: string): FileReport {
    let rows = 0
    let bad = 0
    let fault = ''
    const outside = new Map<string, number>()
    return {
      rows: (count) => void (rows += count),
      skipped: (reason, station, times = 1) => {
        if (reason.includes(' outside ')) outside.set(reason, (outside.get(reason) ?? 0) + times)
        this.#skip(reason, station, times)
      },
      bad: (line, reason, text, times = 1) => {
        const shown = text === undefined ? null : quoted(text)
        fault ||= reason
        addBounded(this.#source.bad_reasons, reason, times)
        if (this.#source.bad.length < BAD_LINES_KEPT)
          this.#source.bad.push({ file: path, line, reason, text: shown })
        if (bad < BAD_LINES_SHOWN)
          this.line(`${path}:${line}: ${reason}${shown === null ? '' : `: ${shown}`}`, 'warning')
        bad += times
      },
      end: () => {
        const most = [...outside]
          .filter(([, times]) => times * 2 >= rows)
          .map(([reason]) => `${path}: ${reason}`)
        if (most.length > 0) this.doubt({ ...OTHER_UNIT, times: most.length, examples: most })
        return this.#endFile(path, rows, bad, fault)
      },
    }
  }

  doubt(doubt: Doubt): void {
    entryOf(this.#doubts, this.#source, () => new Doubts()).add(doubt)
  }

  /** A grave doubt of the build itself, about the folder or the configuration. */
  warn(what: string): void {
    this.doubt({ what, isGrave: true })
    this.#printDoubts()
  }

  withoutPosition(identifiers: readonly string[]): void {
    if (identifiers.length === 0) return
    const { without_position: known } = this.#source
    for (const identifier of identifiers.slice(0, STATIONS_KEPT - known.length)) known.push(identifier)
    this.doubt({
      what: 'stations are left out for lack of a position',
      times: identifiers.length,
      examples: identifiers,
      remedy: 'list them with their positions',
      isGrave: true,
    })
  }

  refused(reason: string): void {
    this.#source.refused = reason
    this.line(`${this.#source.name} is left out: ${reason}`, 'warning')
  }

  /** What a stale source gave at `lastRead` is carried over. */
  stale(name: string, lastRead: string | null, carried: CarriedOver): void {
    Object.assign(this.#sourceOf(name), { last_read: lastRead, stays: carried })
    const counts = Object.entries(carried)
      .filter(([, count]) => count > 0)
      .map(([what, count]) => `${count} ${what.replace('_', ' ')}`)
    this.line(
      `${name}: what it gave at ${lastRead ?? 'an unknown time'} stays: ${counts.join(', ') || 'nothing'}`,
    )
  }

  fetched({ source, ...document }: FetchOutcome): void {
    this.#sourceOf(source).fetch = document
    this.line(fetchLine(source, document))
  }

  impossible(network: string, what: keyof typeof IMPOSSIBLE): void {
    const { impossible } = this.#networkOf(network)
    impossible[IMPOSSIBLE[what]] = (impossible[IMPOSSIBLE[what]] ?? 0) + 1
  }

  /** Readings of a buoy that stay, but that somebody should look at. */
  suspect(network: string, identifier: string, reason: SuspectReason, readings: number): void {
    const { suspect } = this.#networkOf(network)
    const known = entryOf(suspect, reason, () => ({ readings: 0, identifiers: new Set<string>() }))
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

  month(text: string): void {
    if (this.#months.length < MONTHS_KEPT) this.#months.push(text)
    const most = Math.max(this.#monthsToWrite, ++this.#monthsWritten)
    this.progress(`wrote ${text}, ${this.#monthsWritten} of ${counted(most, 'month')}`)
  }

  built(id: string, asOf: number, published: boolean): void {
    this.#built = { id, asOf, published }
  }

  /** Shows how far the work is, unless it did so a moment ago. */
  progress(message: string): void {
    const { write, terminal, clock } = this.#options
    const now = clock()
    if (now - this.#lastProgressMs < (terminal ? TERMINAL_INTERVAL_MS : PLAIN_INTERVAL_MS)) return
    this.#lastProgressMs = now
    write(terminal ? `\r\x1b[K${message}` : message)
  }

  /** Writes a line that must not be lost. */
  readonly line: LogLine = (...event) => {
    const { write, terminal } = this.#options
    if (terminal) write(`\r\x1b[K${lineText(...event)}\n`)
    else write(...event)
  }

  summary(): void {
    this.line(`read ${readText(this.#files, this.#rows, this.#bad)}`)
    for (const [reason, count] of this.#skipped) this.line(`  ${count} × ${reason}`)
    for (const [name, { impossible }] of this.#networks) {
      for (const [reason, count] of Object.entries(impossible)) this.line(`  ${count} × ${reason} (${name})`)
    }
    for (const name of this.#withoutBuoys()) this.line(`  the network ${name} has no buoy in the snapshot`)
    if (this.#duplicateCount > 0)
      this.line(`  ${counted(this.#duplicateCount, 'buoy')} left out because another network has the same`)
  }

  /** The build as a document. @throws Error before the snapshot is built */
  document(): ReportDocument {
    if (this.#built === null) throw new Error('no snapshot is built')
    const { id, asOf, published } = this.#built
    const nowMs = this.#options.clock()
    return {
      format: REPORT_FORMAT,
      version: REPORT_VERSION,
      snapshot: id,
      announced: published,
      as_of: timestampText(asOf),
      built_at: timestampText(Math.floor(nowMs / 1000)),
      seconds: Math.round(nowMs - this.#beganMs) / 1000,
      files: this.#files,
      rows: this.#rows,
      bad_lines: this.#bad,
      months_written: this.#months,
      sources: [...this.#sources]
        .map(([name, document]) => ({ name, document, doubts: this.#doubts.get(document)?.list() ?? [] }))
        .filter(({ name, document, doubts }) => name !== null || document.files + doubts.length > 0)
        .map(({ document, doubts }) => ({ ...document, doubts: doubts.map(doubtDocument) })),
      networks: [...this.#networks]
        .sort(([a], [b]) => compareText(a, b))
        .map(([name, network]) => networkDocument(name, network)),
      networks_without_buoys: this.#withoutBuoys(),
      duplicates: this.#duplicates,
      duplicates_count: this.#duplicateCount,
    }
  }

  /**
   * Ends a source that was read. @throws BuildError where no file of it could be used, or where several and
   * more than a tenth of them could not
   */
  endSource(): void {
    const { files } = this.#source
    const left = this.#leftOut.get(this.#source) ?? []
    const most = Math.max(1, files * MOST_LEFT_OUT)
    if (left.length > 0 && (left.length > most || left.length === files))
      throw new BuildError(`${left.length} of ${counted(files, 'file')} cannot be used; ${left[0]}`)
  }

  /** A file is left out whole, which gives false, where more of its lines are bad than may be. */
  #endFile(path: string, rows: number, bad: number, fault: string): boolean {
    if (bad > BAD_LINES_SHOWN)
      this.line(`${path}: ${counted(bad - BAD_LINES_SHOWN, 'more bad line')}`, 'warning')
    this.#files++
    this.#rows += rows
    this.#bad += bad
    const source = this.#source
    source.files++
    source.rows += rows
    source.bad_lines += bad
    this.progress(`read ${counted(this.#files, 'file')}, ${counted(this.#rows, 'row')}`)
    if (bad / Math.max(1, bad + rows) <= this.maxBadShare) return true
    const share = `bad lines: ${bad} of ${bad + rows}, at most ${this.maxBadShare * 100} % may be bad (--max-bad)`
    const what = `${path}: ${rows === 0 ? fault : share}`
    entryOf(this.#leftOut, source, () => []).push(what)
    this.doubt({ what: 'a file is left out whole', examples: [what], remedy: LEFT_OUT_REMEDY, isGrave: true })
    return false
  }

  #printDoubts(): void {
    const { name } = this.#source
    for (const doubt of this.#doubts.get(this.#source)?.list() ?? []) {
      if (doubt.isGrave !== true || this.#printed.has(doubt)) continue
      this.#printed.add(doubt)
      const text = doubtText(doubtDocument(doubt))
      this.line(name === NO_SOURCE ? text : `${name}: ${text}`, 'warning')
    }
  }

  #skip(reason: string, station: string | undefined, times: number): void {
    const counted = this.#skipped.size < REASONS_KEPT || this.#skipped.has(reason) ? reason : OTHER_REASONS
    this.#skipped.set(counted, (this.#skipped.get(counted) ?? 0) + times)
    const { skipped, skipped_stations: stations } = this.#source
    addBounded(skipped, reason, times)
    if (station !== undefined && Object.hasOwn(skipped, reason)) {
      addBounded((stations[reason] ??= {}), station, times, STATIONS_KEPT)
    }
  }

  #withoutBuoys(): string[] {
    return [...this.#networks].flatMap(([name, { buoys }]) => (buoys === 0 ? [name] : [])).toSorted()
  }

  #sourceOf(name: string | null): SourceDocument {
    return entryOf(this.#sources, name, () => ({
      name: name ?? NO_SOURCE,
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
      doubts: [],
      fetch: null,
    }))
  }

  #networkOf(name: string): NetworkCounts {
    return entryOf(this.#networks, name, () => ({
      buoys: 0,
      reporting: 0,
      newest: -1,
      impossible: {},
      suspect: new Map(),
    }))
  }
}

function doubtDocument({ what, times, examples, remedy, isGrave = false }: CountedDoubt): DoubtDocument {
  const shown = examples.map((example) => quoted(example, EXAMPLE_SHOWN))
  return { what, times, examples: shown, remedy: remedy ?? null, grave: isGrave }
}

function networkDocument(
  name: string,
  { buoys, reporting, newest, impossible, suspect }: NetworkCounts,
): NetworkDocument {
  return {
    name,
    buoys,
    reporting,
    newest_reading: newest < 0 ? null : timestampText(newest),
    impossible,
    doubtful: [...suspect].map(([reason, { readings, identifiers }]) => ({
      reason: SUSPECT_TEXTS[reason],
      readings,
      buoys: identifiers.size,
      identifiers: [...identifiers].slice(0, IDENTIFIERS_KEPT),
    })),
  }
}
