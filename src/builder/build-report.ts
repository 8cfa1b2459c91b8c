/** The reports of a build while it works and when it is done: progress, remarks, and refusals. */
import type { CataloguedBuoy } from '../snapshot/catalog.ts'
import type { FetchOutcome } from './fetch/fetch-sources.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { timestampText } from '../sea/time.ts'
import { type CountedDoubt, type Doubt, Doubts } from '../sources/doubts.ts'
import type { FileReport, Report } from '../sources/source.ts'
import { BuildError } from '../system/build-error.ts'
import { entryOf } from '../system/entry-of.ts'
import type { LogLine } from '../system/log.ts'
import { compareText, counted } from '../system/text.ts'
import { cutText } from '../system/log.ts'
import { IMPOSSIBLE, SUSPECT_TEXTS, type SuspectReason } from './quality.ts'
import {
  type LossDocument,
  lossLines,
  quoted,
  remarkOf,
  remarksOf,
  remarkText,
  REPORT_HEAD,
  type ReportDocument,
  type SourceDocument,
} from './report-document.ts'

const NO_SOURCE = 'command line'
/** Share of a source's files that may be left out whole; a single one always may. */
const MOST_LEFT_OUT = 0.1
const OTHER_UNIT: Doubt = {
  what: 'most values of a column are outside its limits: the others may be in another unit, too',
  remedy: 'check the unit of the file',
  isGrave: true,
}
const LEFT_OUT_REMEDY = 'repair or remove it'
/** Bad lines of one file that are shown one by one, and characters of each; other lines are only counted. */
const BAD_LINES_SHOWN = 5
/** Of the reason for a bad line, which may name the columns of a file. */
const REASON_CHARACTERS = 600
const TEXT_SHOWN = 40

/** Losses that are named, and characters of each; the others are only counted. */
const LOSSES_NAMED = 20
const TEXT_OF_LOSS = 300

/** Of a build without a reading. */
const REASONS_NAMED = 3

/** Shortest time between two lines of progress. */
const PROGRESS_INTERVAL_MS = 2000

interface BuildReportOptions {
  write: LogLine
  /** Milliseconds. */
  clock: () => number
  /** Share of a file's lines that may be bad, 0…1. */
  maxBadShare: number
}

/** A source's counts under way, and the files that are left out whole. */
interface SourceCounts extends Omit<SourceDocument, 'bad' | 'skipped' | 'doubts'> {
  readonly bad: Doubts
  readonly skipped: Doubts
  readonly doubts: Doubts
  readonly leftOut: string[]
}

interface NetworkCounts {
  buoys: number
  reporting: number
  newest: number
  readonly impossible: Doubts
  readonly doubtful: Doubts
}

/** Data of the snapshot before that the new one lacks. */
export interface Losses {
  /** Buoys of the folder's snapshot that the new one does not have. */
  buoys: readonly CataloguedBuoy[]
  /** Buoys that stay, with how many of their readings have no reading at their time any more. */
  readings: readonly { buoy: CataloguedBuoy; lost: number; of: number }[]
}

export class BuildReport implements Report {
  readonly #options: BuildReportOptions
  readonly maxBadShare: number
  #lastProgressMs = -Infinity
  readonly #beganMs: number
  readonly #read = { files: 0, rows: 0, bad_lines: 0 }
  readonly #sources = new Map<string | null, SourceCounts>()
  readonly #networks = new Map<string, NetworkCounts>()
  readonly #duplicates = new Doubts()
  readonly #months: string[] = []
  #losses: LossDocument = { buoys: 0, readings: 0, first: [] }
  #source: SourceCounts
  readonly #printed = new WeakSet<CountedDoubt>()

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

  file(path: string): FileReport {
    let rows = 0
    let bad = 0
    let fault = ''
    const outside = new Map<string, number>()
    return {
      rows: (count) => void (rows += count),
      skipped: (what, station, times = 1) => {
        if (what.includes(' outside ')) outside.set(what, (outside.get(what) ?? 0) + times)
        this.#source.skipped.add({ what, times, examples: station === undefined ? [] : [station] })
      },
      bad: (line, reason, text, times = 1) => {
        const what = cutText(reason, REASON_CHARACTERS)
        fault ||= what
        const place = `${path}:${line}`
        const example = text === undefined ? place : `${place}: ${text}`
        this.#source.bad.add({ what, times, examples: [example] })
        const shown = text === undefined ? '' : `: ${quoted(text, TEXT_SHOWN)}`
        if (bad < BAD_LINES_SHOWN) this.line(`${place}: ${what}${shown}`, 'warning')
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
    this.#source.doubts.add(doubt)
  }

  /** A grave doubt of the build itself, about the folder or the configuration. */
  warn(what: string): void {
    this.doubt({ what, isGrave: true })
    this.#printDoubts()
  }

  withoutPosition(identifiers: readonly string[]): void {
    if (identifiers.length === 0) return
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

  /** A stale source's data of `lastRead` are carried over. */
  stale(name: string, lastRead: string): void {
    this.#sourceOf(name).last_read = lastRead
    this.line(`${name}: its data of ${lastRead} stay`)
  }

  fetched({ source, ...document }: FetchOutcome): void {
    this.#sourceOf(source).fetch = document
  }

  impossible(network: string, what: keyof typeof IMPOSSIBLE): void {
    this.#networkOf(network).impossible.add({ what: IMPOSSIBLE[what] })
  }

  /** A spike of a buoy, which stays unless its source leaves spikes out. */
  spike({ source, identifier }: BuoyRecord, text: string, isDropped: boolean): void {
    const { impossible, doubtful } = this.#networkOf(source)
    const examples = [`${identifier} at ${text}`]
    if (isDropped) impossible.add({ what: `${SUSPECT_TEXTS.spike}, left out`, examples })
    else doubtful.add({ what: SUSPECT_TEXTS.spike, examples })
  }

  /** Rows or values of a buoy that the configuration takes back. */
  takenBack({ source, identifier }: BuoyRecord, times: number, text: string): void {
    const examples = [`${identifier} ${text}`]
    this.#networkOf(source).impossible.add({ what: 'taken back by "drop"', times, examples })
  }

  /** Readings of a buoy that stay, but that somebody should look at. */
  suspect(network: string, identifier: string, reason: SuspectReason, readings: number): void {
    const what = SUSPECT_TEXTS[reason]
    this.#networkOf(network).doubtful.add({ what, times: readings, examples: [identifier] })
  }

  /** The snapshot's data of a network; `newest` in epoch seconds, −1 where the input has no reading. */
  network(
    name: string,
    { buoys, reporting, newest }: { buoys: number; reporting: number; newest: number },
  ): void {
    Object.assign(this.#networkOf(name), { buoys, reporting, newest })
  }

  duplicate(leftOut: BuoyRecord, stays: BuoyRecord, km: number): void {
    const nameOf = ({ source, identifier }: BuoyRecord): string => `${source} ${identifier}`
    const example = `${nameOf(leftOut)}: ${nameOf(stays)} is ${Math.round(km * 1000) / 1000} km away`
    this.#duplicates.add({ what: 'another network has the same buoy', examples: [example] })
  }

  /** Names what the new snapshot lacks of the one before. */
  lost({ buoys, readings }: Losses): void {
    const nameOf = ({ source, identifier, name }: CataloguedBuoy): string =>
      `${source} ${identifier} (${name})`
    const all = [
      ...buoys.map((buoy) => `${nameOf(buoy)} is no longer in the service`),
      ...readings.map(
        ({ buoy, lost, of }) => `${nameOf(buoy)} lost ${lost} of ${counted(of, 'past reading')}`,
      ),
    ]
    this.#losses = {
      buoys: buoys.length,
      readings: readings.reduce((sum, { lost }) => sum + lost, 0),
      first: all.slice(0, LOSSES_NAMED).map((text) => quoted(text, TEXT_OF_LOSS)),
    }
    for (const text of lossLines(this.#losses)) this.line(text, 'warning')
  }

  /** What left most of the input out, in words: "; REASON; REASON". */
  reasons(): string {
    return [...this.#sources.values()]
      .flatMap(({ bad, skipped, doubts }) => [bad, skipped, doubts].flatMap((all) => all.list()))
      .toSorted((a, b) => b.times - a.times)
      .slice(0, REASONS_NAMED)
      .map((doubt) => `; ${remarkText(remarkOf(doubt), 1)}`)
      .join('')
  }

  /** A month was written. `most`: months to write in this build. */
  month(text: string, most: number): void {
    const written = this.#months.push(text)
    this.progress(`wrote ${text}, ${written} of ${counted(most, 'month')}`)
  }

  /** Shows how far the work is, unless it did so a moment ago. */
  progress(message: string): void {
    const now = this.#options.clock()
    if (now - this.#lastProgressMs < PROGRESS_INTERVAL_MS) return
    this.#lastProgressMs = now
    this.line(message)
  }

  /** Writes a line that must not be lost. */
  readonly line: LogLine = (...event) => this.#options.write(...event)

  document({ id, asOf, published }: { id: string; asOf: number; published: boolean }): ReportDocument {
    const nowMs = this.#options.clock()
    return {
      ...REPORT_HEAD,
      snapshot: id,
      announced: published,
      as_of: timestampText(asOf),
      built_at: timestampText(Math.floor(nowMs / 1000)),
      seconds: Math.round(nowMs - this.#beganMs) / 1000,
      ...this.#read,
      months_written: this.#months,
      sources: [...this.#sources]
        .filter(([name, { files, doubts }]) => name !== null || files + doubts.list().length > 0)
        .map(([, { bad, skipped, doubts, leftOut: _leftOut, ...counts }]) => ({
          ...counts,
          bad: remarksOf(bad),
          skipped: remarksOf(skipped),
          doubts: remarksOf(doubts),
        })),
      networks: [...this.#networks]
        .sort(([a], [b]) => compareText(a, b))
        .map(([name, { newest, impossible, doubtful, ...counts }]) => ({
          name,
          ...counts,
          newest_reading: newest < 0 ? null : timestampText(newest),
          impossible: remarksOf(impossible),
          doubtful: remarksOf(doubtful),
        })),
      duplicates: remarksOf(this.#duplicates),
      losses: this.#losses,
    }
  }

  /**
   * Ends a source that was read. @throws BuildError where no file of it could be used, or where several and
   * more than a tenth of them could not
   */
  endSource(): void {
    const { files, leftOut } = this.#source
    const most = Math.max(1, files * MOST_LEFT_OUT)
    if (leftOut.length > 0 && (leftOut.length > most || leftOut.length === files))
      throw new BuildError(`${leftOut.length} of ${counted(files, 'file')} cannot be used; ${leftOut[0]}`)
  }

  /** Ends a file. Returns false for a file that is left out whole, as too many of its lines are bad. */
  #endFile(path: string, rows: number, bad: number, fault: string): boolean {
    if (bad > BAD_LINES_SHOWN)
      this.line(`${path}: ${counted(bad - BAD_LINES_SHOWN, 'more bad line')}`, 'warning')
    for (const counts of [this.#read, this.#source]) {
      counts.files++
      counts.rows += rows
      counts.bad_lines += bad
    }
    this.progress(`read ${counted(this.#read.files, 'file')}, ${counted(this.#read.rows, 'row')}`)
    if (bad / Math.max(1, bad + rows) <= this.maxBadShare) return true
    const share = `bad lines: ${bad} of ${bad + rows}, at most ${this.maxBadShare * 100} % may be bad (--max-bad)`
    const what = `${path}: ${rows === 0 ? fault : share}`
    this.#source.leftOut.push(what)
    this.doubt({ what: 'a file is left out whole', examples: [what], remedy: LEFT_OUT_REMEDY, isGrave: true })
    return false
  }

  #printDoubts(): void {
    const { name, doubts } = this.#source
    for (const doubt of doubts.list()) {
      if (doubt.isGrave !== true || this.#printed.has(doubt)) continue
      this.#printed.add(doubt)
      const text = `grave: ${remarkText(remarkOf(doubt))}`
      this.line(name === NO_SOURCE ? text : `${name}: ${text}`, 'warning')
    }
  }

  #sourceOf(name: string | null): SourceCounts {
    return entryOf(this.#sources, name, () => ({
      name: name ?? NO_SOURCE,
      refused: null,
      last_read: null,
      files: 0,
      rows: 0,
      bad_lines: 0,
      bad: new Doubts(),
      skipped: new Doubts(),
      doubts: new Doubts(),
      leftOut: [],
      fetch: null,
    }))
  }

  #networkOf(name: string): NetworkCounts {
    return entryOf(this.#networks, name, () => ({
      buoys: 0,
      reporting: 0,
      newest: -1,
      impossible: new Doubts(),
      doubtful: new Doubts(),
    }))
  }
}
